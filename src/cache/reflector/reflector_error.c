/* SPDX-License-Identifier: Apache-2.0 */
/* Classification of errors. A Status has the same meaning in a response and in a watch event. */
#include <errno.h>
#include <string.h>

#include <kinformer/status.h>

#include "base/error.h"
#include "cache/reflector/reflector.h"
#include "object/value.h"

#define INTERNAL_WINDOW_NS (60 * KI__SECOND_NS) /* a series of 500s ends after this time */
#define TOO_LARGE_CAUSE "ResourceVersionTooLarge"
#define TOO_LARGE_TEXT "Too large resource version"

/* Whether a cause has this message, as in servers of 1.17 and 1.18. */
static bool has_cause_message(const ki_object *status, const char *text)
{
    if (!ki_object_is_status(status)) {
        return false;
    }
    ki_value root = ki_object_root(status);
    ki_value details = ki__value_child(&root, "details");
    ki_value causes = ki__value_child(&details, "causes");
    ki_value_iter iter;
    ki_value cause;
    if (ki_value_type(&causes) != KI_TYPE_LIST || ki_value_iter_begin(&causes, &iter) < 0) {
        return false;
    }
    while (ki_value_iter_next(&iter, NULL, &cause) > 0) {
        ki_value message = ki__value_child(&cause, "message");
        if (ki_value_equals(&message, ki_str_from(text))) {
            return true;
        }
    }
    return false;
}

static bool is_too_large(const ki_error *error, const ki_object *status)
{
    if (ki_status_has_cause(status, TOO_LARGE_CAUSE)) {
        return true;
    }
    if (!ki_error_is_timeout(error) && !ki_error_is_internal_error(error)) {
        return false;
    }
    return strstr(error->message, TOO_LARGE_TEXT) != NULL ||
           has_cause_message(status, TOO_LARGE_TEXT);
}

static ki__trouble classify_status(const ki_error *error, const ki_object *status)
{
    if (is_too_large(error, status)) {
        return KI__TROUBLE_TOO_LARGE;
    }
    if (ki_error_is_resource_expired(error) || ki_error_is_gone(error)) {
        return KI__TROUBLE_EXPIRED;
    }
    if (ki_error_is_too_many_requests(error)) {
        return KI__TROUBLE_BUSY;
    }
    if (ki_error_is_not_found(error) || ki_error_is_unauthorized(error)) {
        return KI__TROUBLE_FINAL;
    }
    return ki_error_is_internal_error(error) ? KI__TROUBLE_INTERNAL : KI__TROUBLE_OTHER;
}

ki__trouble ki__reflector_classify(const ki_error *error, const ki_object *status)
{
    switch (error->code) {
    case KI_ERR_STATUS:
    case KI_ERR_NOT_FOUND:
    case KI_ERR_EXISTS:
        return ki__error_is_status(error) ? classify_status(error, status) : KI__TROUBLE_OTHER;
    case -ECONNREFUSED:
        return KI__TROUBLE_REFUSED;
    case KI_ERR_TLS:
    case KI_ERR_DENIED:
    case KI_ERR_OVER_LIMIT:
        return KI__TROUBLE_FINAL;
    case -ENOMEM:
    case -EMFILE:
    case -ENFILE:
    case -ENOBUFS:
    case KI_ERR_BUSY:
        return KI__TROUBLE_MEMORY;
    case -EPROTO: /* of HTTP/2, such as a GOAWAY */
    case -EIO:
        return KI__TROUBLE_NETWORK;
    default:
        return ki_error_is_retriable(error->code) ? KI__TROUBLE_NETWORK : KI__TROUBLE_OTHER;
    }
}

bool ki__reflector_may_retry_internal(ki_reflector *r)
{
    uint64_t now = ki__engine_now(r->engine);
    uint64_t window = r->times.internal_error_retry_ns;
    if (r->last_internal == 0 || now - r->last_internal >= INTERNAL_WINDOW_NS) {
        r->first_internal = now;
    }
    r->last_internal = now;
    if (now - r->first_internal <= window && window != 0) {
        return true;
    }
    r->last_internal = 0;
    return false;
}

bool ki__reflector_reencode(ki_reflector *r, const ki_error *error)
{
    if (error->code != KI_ERR_NO_SCHEMA || r->reencoded) {
        return false;
    }
    r->reencoded = true; /* a second change fails like any other error */
    ki__reflector_log_routine(r, "encoding changed; repeating the request", error);
    ki__reflector_go(r, r->state);
    return true;
}
