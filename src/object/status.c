/* SPDX-License-Identifier: Apache-2.0 */
/* Conversion of Status objects to errors, texts of reasons, and the predicates of apimachinery's
 * api/errors. A Status is untrusted: its members may have any type or size, and its text is
 * sanitized. */
#include <errno.h>

#include <kinformer/status.h>

#include "base/ascii.h"
#include "base/error.h"
#include "base/options.h"
#include "base/time_units.h"
#include "object/value.h"

static const char *const reasons[] = {
#define REASON_TEXT(name, text, code) [KI_REASON_##name] = (text),
    KI_REASON_MAP(REASON_TEXT)
#undef REASON_TEXT
};
_Static_assert(sizeof(reasons) / sizeof(reasons[0]) == KI_REASON_MAX, "a text for each reason");

const char *ki_reason_text(ki_reason reason)
{
    return (size_t)reason < KI_REASON_MAX ? reasons[reason] : "";
}

ki_reason ki_reason_from(ki_str text)
{
    for (size_t i = KI_REASON_UNKNOWN + 1; i < KI_REASON_MAX; i++) {
        if (ki_str_eq_text(text, reasons[i])) {
            return (ki_reason)i;
        }
    }
    return KI_REASON_UNKNOWN;
}

bool ki_object_is_status(const ki_object *object)
{
    if (object == NULL || strcmp(ki_object_kind(object), "Status") != 0) {
        return false;
    }
    const char *api_version = ki_object_api_version(object);
    return strcmp(api_version, "v1") == 0 || strcmp(api_version, "meta.k8s.io/v1") == 0;
}

static ki_reason reason_of(const ki_value *status)
{
    char text[64]; /* longer than any known reason */
    ki_value value = ki__value_child(status, "reason");
    int len = ki_value_get_string(&value, text, sizeof(text));
    return len > 0 ? ki_reason_from(ki_str_make(text, (size_t)len)) : KI_REASON_UNKNOWN;
}

static void add_string(ki_error *error, const ki_value *value)
{
    char text[2 * sizeof(error->message) + 1]; /* twice the size, since some characters shrink */
    ki__error_add(error, ki_str_make(text, ki__value_prefix(value, text, sizeof(text))));
}

static void add_message(ki_error *error, const ki_value *status)
{
    ki_value message = ki__value_child(status, "message");
    add_string(error, &message);
    if (error->message[0] != '\0') {
        return;
    }
    ki__error_add(error, ki_str_from(ki_error_text(KI_ERR_STATUS)));
    ki_value reason = ki__value_child(status, "reason");
    if (ki_value_type(&reason) == KI_TYPE_STRING && !ki_value_equals(&reason, ki_str_from(""))) {
        ki__error_add(error, ki_str_from(": "));
        add_string(error, &reason);
    }
}

/* A known reason takes precedence; otherwise the HTTP code decides. */
static int code_of(ki_reason reason, int http_code)
{
    switch (reason) {
    case KI_REASON_NOT_FOUND:
        return KI_ERR_NOT_FOUND;
    case KI_REASON_ALREADY_EXISTS:
        return KI_ERR_EXISTS;
    case KI_REASON_UNKNOWN:
        return http_code == 404 ? KI_ERR_NOT_FOUND : KI_ERR_STATUS;
    default:
        return KI_ERR_STATUS;
    }
}

int ki_status_to_error(const ki_object *status, ki_error *error)
{
    KI__REQUIRE(status, error);
    if (!ki_object_is_status(status)) {
        return ki__error_set(error, KI_ERR_INVALID, "not a Status object");
    }
    ki_value root = ki_object_root(status);
    ki_value outcome = ki__value_child(&root, "status");
    if (ki_value_equals(&outcome, ki_str_from("Success"))) {
        return 0;
    }
    ki_reason reason = reason_of(&root);
    int http_code = ki__value_child_count(&root, "code");
    if (error != NULL) {
        ki_value details = ki__value_child(&root, "details");
        ki__error_clear(error);
        error->code = code_of(reason, http_code);
        error->http_code = http_code;
        error->reason = reason;
        int32_t seconds = ki__value_child_count(&details, "retryAfterSeconds");
        error->retry_after_ms = ki__seconds_to_ms((uint64_t)seconds);
        add_message(error, &root);
    }
    return code_of(reason, http_code);
}

static ki_value string_member(const ki_value *map, const char *name)
{
    ki_value value = ki__value_child(map, name);
    return ki_value_type(&value) == KI_TYPE_STRING ? value : (ki_value){0};
}

ki_value ki_status_message(const ki_object *status)
{
    if (!ki_object_is_status(status)) {
        return (ki_value){0};
    }
    ki_value root = ki_object_root(status);
    return string_member(&root, "message");
}

static ki_value causes_of(const ki_object *status)
{
    if (!ki_object_is_status(status)) {
        return (ki_value){0};
    }
    ki_value root = ki_object_root(status);
    ki_value details = ki__value_child(&root, "details");
    return ki__value_child(&details, "causes");
}

int ki_status_cause_at(const ki_object *status, size_t index, ki_status_cause *ret_cause)
{
    KI__REQUIRE(status, NULL);
    KI__REQUIRE_SIZED(ki_status_cause, ret_cause, NULL);
    ki_value causes = causes_of(status);
    ki_value cause;
    int64_t at = (int64_t)index; /* negative if too large */
    if (at < 0 || ki_value_element(&causes, at, &cause) < 0) {
        return KI_ERR_NOT_FOUND;
    }
    const ki_status_cause found = {
        .size = sizeof(found),
        .type = string_member(&cause, "reason"),
        .message = string_member(&cause, "message"),
        .field = string_member(&cause, "field"),
    };
    return KI__GIVE(ki_status_cause, ret_cause, &found);
}

bool ki_status_has_cause(const ki_object *status, const char *type)
{
    ki_value causes = causes_of(status);
    ki_value_iter iter;
    if (ki_value_type(&causes) != KI_TYPE_LIST || ki_value_iter_begin(&causes, &iter) < 0) {
        return false;
    }
    ki_value cause;
    while (ki_value_iter_next(&iter, NULL, &cause) > 0) {
        ki_value reason = ki__value_child(&cause, "reason");
        if (ki_value_equals(&reason, ki_str_from(type))) {
            return true;
        }
    }
    return false;
}

/* ---- responses without a Status ---- */

static const struct response {
    int code;
    ki_reason reason;
    const char *text;
} responses[] = {
    {400, KI_REASON_BAD_REQUEST, "the server rejected the request"},
    {401, KI_REASON_UNAUTHORIZED, "the server requires valid credentials"},
    {403, KI_REASON_FORBIDDEN, "the server denied access to the requested resource"},
    {404, KI_REASON_NOT_FOUND, "the server could not find the requested resource"},
    {405, KI_REASON_METHOD_NOT_ALLOWED,
     "the server does not allow this method on the requested resource"},
    {406, KI_REASON_NOT_ACCEPTABLE, "the server cannot respond in an acceptable content type"},
    {409, KI_REASON_CONFLICT, "the server reported a conflict"},
    {415, KI_REASON_UNSUPPORTED_MEDIA_TYPE,
     "the server does not support the content type of the request"},
    {422, KI_REASON_INVALID, "the server reported the request as invalid"},
    {429, KI_REASON_TOO_MANY_REQUESTS, "the server received too many requests; try again later"},
    {503, KI_REASON_SERVICE_UNAVAILABLE, "the server is currently unable to handle the request"},
    {504, KI_REASON_TIMEOUT,
     "the server did not respond in time and may still be processing the request"},
};

static const struct response *find_response(int http_code)
{
    for (size_t i = 0; i < sizeof(responses) / sizeof(responses[0]); i++) {
        if (responses[i].code == http_code) {
            return &responses[i];
        }
    }
    return NULL;
}

static ki_reason reason_of_http(int http_code, bool is_post)
{
    const struct response *response = find_response(http_code);
    if (response == NULL) {
        return http_code >= 500 ? KI_REASON_INTERNAL_ERROR : KI_REASON_UNKNOWN;
    }
    return http_code == 409 && is_post ? KI_REASON_ALREADY_EXISTS : response->reason;
}

static void begin_message(ki_error *error, int code, int http_code)
{
    const struct response *response = find_response(http_code);
    if (response != NULL) {
        (void)ki__error_set(error, code, "%s", response->text);
    } else if (http_code >= 500) {
        (void)ki__error_set(error, code, "the server failed with status code %d", http_code);
    } else {
        (void)ki__error_set(error, code, "the server responded with status code %d", http_code);
    }
}

static void add_lower_case(ki_error *error, const char *text)
{
    for (; *text != '\0'; text++) {
        char c = *text >= 'A' && *text <= 'Z' ? (char)(*text - 'A' + 'a') : *text;
        ki__error_add(error, ki_str_make(&c, 1));
    }
}

static void add_request(ki_error *error, const char *verb, const char *resource, const char *name)
{
    const char *const parts[] = {verb, resource, name};
    const char *before = " (";
    bool any = false;
    for (size_t i = 0; i < sizeof(parts) / sizeof(parts[0]); i++) {
        if (parts[i] == NULL || parts[i][0] == '\0') {
            continue;
        }
        ki__error_add(error, ki_str_from(before));
        if (i == 0) {
            add_lower_case(error, verb);
        } else {
            ki__error_add(error, ki_str_from(parts[i]));
        }
        before = " ";
        any = true;
    }
    if (any) {
        ki__error_add(error, ki_str_from(")"));
    }
}

int ki_status_from_http(int http_code, const char *verb, const char *resource, const char *name,
                        ki_str body, uint32_t retry_after_ms, ki_error *error)
{
    ki_reason reason = reason_of_http(http_code, verb != NULL && strcmp(verb, "POST") == 0);
    int code = code_of(reason, http_code);
    if (error == NULL) {
        return code;
    }
    begin_message(error, code, http_code);
    error->reason = reason;
    error->http_code = http_code;
    error->retry_after_ms = retry_after_ms;
    add_request(error, verb, resource, name);
    body = ki__trim(body, " \t\r\n");
    if (body.len != 0) {
        ki__error_add(error, ki_str_from(": "));
        ki__error_add(error, body);
    }
    return code;
}

/* ---- predicates ---- */

static bool has_reason(const ki_error *error, ki_reason reason)
{
    return error != NULL && ki__error_is_status(error) && error->reason == reason;
}

static bool has_code(const ki_error *error, int http_code)
{
    return error != NULL && ki__error_is_status(error) && error->http_code == http_code;
}

static bool has_reason_or_code(const ki_error *error, ki_reason reason, int http_code)
{
    return has_reason(error, reason) ||
           (has_reason(error, KI_REASON_UNKNOWN) && has_code(error, http_code));
}

bool ki_error_is_not_found(const ki_error *error)
{
    return (error != NULL && error->code == KI_ERR_NOT_FOUND) ||
           has_reason_or_code(error, KI_REASON_NOT_FOUND, 404);
}

bool ki_error_is_already_exists(const ki_error *error)
{
    return (error != NULL && error->code == KI_ERR_EXISTS) ||
           has_reason(error, KI_REASON_ALREADY_EXISTS);
}

bool ki_error_is_conflict(const ki_error *error)
{
    return has_reason_or_code(error, KI_REASON_CONFLICT, 409);
}

bool ki_error_is_invalid(const ki_error *error)
{
    return has_reason_or_code(error, KI_REASON_INVALID, 422);
}

bool ki_error_is_gone(const ki_error *error)
{
    return has_reason_or_code(error, KI_REASON_GONE, 410);
}

bool ki_error_is_resource_expired(const ki_error *error)
{
    return has_reason(error, KI_REASON_EXPIRED);
}

bool ki_error_is_not_acceptable(const ki_error *error)
{
    return has_reason_or_code(error, KI_REASON_NOT_ACCEPTABLE, 406);
}

bool ki_error_is_unsupported_media_type(const ki_error *error)
{
    return has_reason_or_code(error, KI_REASON_UNSUPPORTED_MEDIA_TYPE, 415);
}

bool ki_error_is_method_not_supported(const ki_error *error)
{
    return has_reason_or_code(error, KI_REASON_METHOD_NOT_ALLOWED, 405);
}

bool ki_error_is_service_unavailable(const ki_error *error)
{
    return has_reason_or_code(error, KI_REASON_SERVICE_UNAVAILABLE, 503);
}

bool ki_error_is_bad_request(const ki_error *error)
{
    return has_reason_or_code(error, KI_REASON_BAD_REQUEST, 400);
}

bool ki_error_is_unauthorized(const ki_error *error)
{
    return has_reason_or_code(error, KI_REASON_UNAUTHORIZED, 401);
}

bool ki_error_is_forbidden(const ki_error *error)
{
    return has_reason_or_code(error, KI_REASON_FORBIDDEN, 403);
}

bool ki_error_is_timeout(const ki_error *error)
{
    return has_reason_or_code(error, KI_REASON_TIMEOUT, 504);
}

bool ki_error_is_server_timeout(const ki_error *error)
{
    return has_reason(error, KI_REASON_SERVER_TIMEOUT);
}

bool ki_error_is_internal_error(const ki_error *error)
{
    return has_reason_or_code(error, KI_REASON_INTERNAL_ERROR, 500);
}

bool ki_error_is_too_many_requests(const ki_error *error)
{
    return has_reason(error, KI_REASON_TOO_MANY_REQUESTS) || has_code(error, 429);
}

bool ki_error_is_request_entity_too_large(const ki_error *error)
{
    return has_reason(error, KI_REASON_REQUEST_ENTITY_TOO_LARGE) || has_code(error, 413);
}

bool ki_error_is_store_read_error(const ki_error *error)
{
    return has_reason(error, KI_REASON_STORE_READ_ERROR);
}

bool ki_error_suggests_delay(const ki_error *error, uint32_t *ret_ms)
{
    if (error == NULL || !ki__error_is_status(error)) {
        return false;
    }
    if (error->retry_after_ms == 0 && error->reason != KI_REASON_SERVER_TIMEOUT) {
        return false;
    }
    if (ret_ms != NULL) {
        *ret_ms = error->retry_after_ms;
    }
    return true;
}
