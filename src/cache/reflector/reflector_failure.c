/* SPDX-License-Identifier: Apache-2.0 */
/* Reporting of failed attempts: all of them to the program's callback, only news to the log.
 *
 * A series of failures begins with the first and ends when a list is complete, an event or bookmark
 * arrives, or an accepted watch has lasted for 5 s. The log gets a line at WARNING for the first
 * failure of a series and for each change of its class, one per minute while it lasts, and one at
 * its end, also at WARNING: a log at that level must not show an outage without its end. The
 * attempts in between are logged at DEBUG. An expired watch is routine, as in client-go: a line at
 * INFO, and not part of an outage. */
#include <errno.h>

#include <kinformer/status.h>

#include "base/digits.h"
#include "base/error.h"
#include "base/log.h"
#include "base/time_units.h"
#include "cache/reflector/reflector.h"

#define REMINDER_NS (60 * KI__SECOND_NS)
#define PROOF_NS (5 * KI__SECOND_NS) /* a watch that lasts this long works */

/* ---- names and classes ---- */

const char *ki_watch_operation_name(ki_watch_operation operation)
{
    static const char *const names[] = {
        [KI_OPERATION_LIST] = "list",
        [KI_OPERATION_STREAMING_LIST] = "streaming list",
        [KI_OPERATION_WATCH] = "watch",
    };
    _Static_assert(sizeof(names) / sizeof(names[0]) == KI_OPERATION_MAX, "a name for each");
    return (size_t)operation < KI_OPERATION_MAX ? names[operation] : "unknown";
}

const char *ki_failure_class_name(ki_failure_class failure_class)
{
    static const char *const names[] = {
        [KI_FAILURE_NONE] = "none",
        [KI_FAILURE_CONNECTION] = "connection",
        [KI_FAILURE_TLS] = "TLS",
        [KI_FAILURE_AUTHENTICATION] = "authentication",
        [KI_FAILURE_FORBIDDEN] = "forbidden",
        [KI_FAILURE_NOT_FOUND] = "not found",
        [KI_FAILURE_EXPIRED] = "expired",
        [KI_FAILURE_THROTTLED] = "throttled",
        [KI_FAILURE_SERVER] = "server",
        [KI_FAILURE_REJECTED] = "rejected",
        [KI_FAILURE_RESPONSE] = "response",
        [KI_FAILURE_LOCAL] = "local",
    };
    _Static_assert(sizeof(names) / sizeof(names[0]) == KI_FAILURE_CLASS_MAX, "a name for each");
    return (size_t)failure_class < KI_FAILURE_CLASS_MAX ? names[failure_class] : "unknown";
}

static ki_failure_class classify_status(const ki_error *error)
{
    if (ki_error_is_unauthorized(error)) {
        return KI_FAILURE_AUTHENTICATION;
    }
    if (ki_error_is_forbidden(error)) {
        return KI_FAILURE_FORBIDDEN;
    }
    if (ki_error_is_not_found(error)) {
        return KI_FAILURE_NOT_FOUND;
    }
    if (ki_error_is_resource_expired(error) || ki_error_is_gone(error)) {
        return KI_FAILURE_EXPIRED;
    }
    if (ki_error_is_too_many_requests(error)) {
        return KI_FAILURE_THROTTLED;
    }
    bool server = error->http_code >= 500 || ki_error_is_timeout(error) ||
                  ki_error_is_server_timeout(error) || ki_error_is_internal_error(error);
    return server ? KI_FAILURE_SERVER : KI_FAILURE_REJECTED;
}

ki_failure_class ki_failure_classify(const ki_error *error)
{
    int code = error != NULL ? error->code : 0;
    switch (code) {
    case 0:
        return KI_FAILURE_NONE;
    case KI_ERR_STATUS:
    case KI_ERR_NOT_FOUND:
    case KI_ERR_EXISTS:
        return ki__error_is_status(error) ? classify_status(error) : KI_FAILURE_RESPONSE;
    case KI_ERR_TLS:
        return KI_FAILURE_TLS;
    case KI_ERR_DENIED:
        return KI_FAILURE_AUTHENTICATION;
    case KI_ERR_TRUNCATED:
        return KI_FAILURE_CONNECTION;
    case -ENOMEM:
    case -EMFILE:
    case -ENFILE:
    case -ENOBUFS:
    case -EINVAL:
    case -E2BIG:
    case KI_ERR_BUSY:
    case KI_ERR_LIMIT:
    case KI_ERR_OVER_LIMIT:
    case KI_ERR_INVALID:
        return KI_FAILURE_LOCAL;
    case -EBADMSG:
        return KI_FAILURE_RESPONSE;
    default:
        return code > KI_ERR_FIRST ? KI_FAILURE_CONNECTION : KI_FAILURE_RESPONSE;
    }
}

ki_watch_operation ki__reflector_operation(const ki_reflector *r)
{
    switch (r->state) {
    case KI_REFLECTOR_STREAMING:
        return KI_OPERATION_STREAMING_LIST;
    case KI_REFLECTOR_LISTING:
        return KI_OPERATION_LIST;
    case KI_REFLECTOR_WATCHING:
    case KI_REFLECTOR_NEW:
    case KI_REFLECTOR_BACKOFF:
    case KI_REFLECTOR_STOPPED:
    case KI_REFLECTOR_STATE_MAX:
        break;
    }
    return KI_OPERATION_WATCH;
}

/* ---- the log ---- */

enum { SECONDS_SIZE = KI__DIGITS_SIZE + 3 };

/* "12.3s" */
static ki_str seconds(uint64_t ns, char room[static SECONDS_SIZE])
{
    uint64_t tenths = (ns + 50 * KI__MS_NS) / (100 * KI__MS_NS);
    ki_str digits = ki__digits(tenths / 10, room);
    char *end = room + KI__DIGITS_SIZE - 1;
    *end++ = '.';
    *end++ = (char)('0' + tenths % 10);
    *end++ = 's';
    return ki_str_make(digits.ptr, (size_t)(end - digits.ptr));
}

static void log_failure(const ki_reflector *r, ki_log_level level, const char *message,
                        const ki_watch_failure *failure)
{
    const ki_log *log = ki__engine_log(r->engine);
    char status[KI__DIGITS_SIZE];
    char attempt[KI__DIGITS_SIZE];
    char failing[SECONDS_SIZE];
    char retry[SECONDS_SIZE];
    if (!ki__log_accepts(log, level)) {
        return;
    }
    const ki_error *error = failure->error;
    bool responded = error->http_code > 0;
    const ki_log_field fields[] = {
        {"name", ki_str_from(r->options.name)},
        {"operation", ki_str_from(ki_watch_operation_name(failure->operation))},
        {"url", ki_str_from(failure->url)},
        {"class", ki_str_from(ki_failure_class_name(failure->failure_class))},
        {"code", ki_str_from(ki_error_name(error->code))},
        {"error", ki_str_from(error->message)},
        {"attempt", ki__digits(failure->attempt, attempt)},
        {"failing_for", seconds(ki__ms_to_ns(failure->failing_ms), failing)},
        {"retry_in", seconds(ki__ms_to_ns(failure->retry_delay_ms), retry)},
        {"http_status",
         ki__digits((uint64_t)(responded ? error->http_code : 0), status)}, /* last */
    };
    size_t count = sizeof(fields) / sizeof(fields[0]) - (responded ? 0 : 1);
    ki__log_write(log, level, "reflector", message, fields, count);
}

void ki__reflector_log_routine(const ki_reflector *r, const char *message, const ki_error *error)
{
    KI__LOG(ki__engine_log(r->engine), KI_LOG_DEBUG, "reflector", message,
            {"name", ki_str_from(r->options.name)},
            {"code", ki_str_from(ki_error_name(error->code))},
            {"error", ki_str_from(error->message)});
}

/* Chooses level and text for a failure, and updates the state of the series. */
static void log_next(ki_reflector *r, const ki_watch_failure *failure)
{
    ki_failure_class class = failure->failure_class;
    if (class == KI_FAILURE_EXPIRED && failure->operation == KI_OPERATION_WATCH) {
        log_failure(r, KI_LOG_INFO, "resource version expired; relisting", failure);
    } else if (class != r->failing.logged) {
        r->failing.logged = class;
        ki__timer_set_after(&r->reminder, REMINDER_NS);
        log_failure(r, KI_LOG_WARNING, "request failed", failure);
    } else {
        log_failure(r, KI_LOG_DEBUG, "request failed again", failure);
    }
}

/* ---- failures ---- */

static ki_watch_failure describe(const ki_reflector *r, ki_watch_operation operation,
                                 const ki_error *error, uint64_t delay_ns)
{
    return (ki_watch_failure){
        .size = sizeof(ki_watch_failure),
        .operation = operation,
        .failure_class = ki_failure_classify(error),
        .error = error,
        .url = r->source.url != NULL ? r->source.url : "",
        .attempt = r->failing.attempts,
        .failing_ms = (ki__engine_now(r->engine) - r->failing.since) / KI__MS_NS,
        .retry_delay_ms = ki__ns_to_ms(delay_ns),
    };
}

static void note(ki_reflector *r, ki_watch_operation operation, const ki_error *error)
{
    ki__mutex_lock(&r->shared.lock);
    ki_health *health = &r->shared.health;
    ki__error_copy(&r->shared.reason, error);
    health->reason_class = ki_failure_classify(error);
    health->reason_operation = operation;
    ki__mutex_unlock(&r->shared.lock);
}

void ki__reflector_note_reason(ki_reflector *r, const ki_error *error)
{
    note(r, ki__reflector_operation(r), error);
}

void ki__reflector_report(ki_reflector *r, ki_watch_operation operation, const ki_error *error,
                          const ki_object *status, uint64_t delay_ns)
{
    uint64_t now = ki__engine_now(r->engine);
    if (r->failing.attempts++ == 0) {
        r->failing.since = now;
    }
    note(r, operation, error);
    ki__mutex_lock(&r->shared.lock);
    r->shared.health.failures++;
    r->shared.health.failed_attempts = r->failing.attempts;
    r->shared.times.failing = r->failing.since;
    ki__mutex_unlock(&r->shared.lock);
    ki_watch_failure failure = describe(r, operation, error, delay_ns);
    failure.status = status;
    log_next(r, &failure);
    if (r->options.on_watch_error != NULL && !ki__reflector_is_stopping(r)) {
        r->options.on_watch_error(r, &failure, r->options.user);
    }
}

/* ---- reminders and the end ---- */

void ki__reflector_on_reminder(ki__timer *timer)
{
    ki_reflector *r = KI__CONTAINER_OF(timer, ki_reflector, reminder);
    if (ki__reflector_is_stopping(r)) {
        return;
    }
    ki__timer_set_after(timer, REMINDER_NS);
    if (ki__reflector_is_accepted(r)) {
        return; /* the next attempt is in progress, and looks good */
    }
    const ki_health *health = &r->shared.health; /* written by this thread only */
    uint64_t now = ki__engine_now(r->engine);
    uint64_t until = r->shared.times.backoff_until;
    ki_error error = KI_ERROR_INIT;
    ki__error_copy(&error, &r->shared.reason);
    ki_watch_failure failure =
        describe(r, health->reason_operation, &error, until > now ? until - now : 0);
    log_failure(r, KI_LOG_WARNING, "requests still failing", &failure);
}

static void log_recovery(const ki_reflector *r)
{
    char attempts[KI__DIGITS_SIZE];
    char failing[SECONDS_SIZE];
    uint64_t now = ki__engine_now(r->engine);
    KI__LOG(ki__engine_log(r->engine), KI_LOG_WARNING, "reflector", "recovered",
            {"name", ki_str_from(r->options.name)},
            {"url", ki_str_from(r->source.url != NULL ? r->source.url : "")},
            {"failed_attempts", ki__digits(r->failing.attempts, attempts)},
            {"failing_for", seconds(now - r->failing.since, failing)});
}

void ki__reflector_recovered(ki_reflector *r)
{
    ki__mutex_lock(&r->shared.lock);
    ki_health *health = &r->shared.health;
    if (r->shared.reason.code != 0) {
        ki__error_clear(&r->shared.reason);
        health->reason_class = KI_FAILURE_NONE;
    }
    health->failed_attempts = 0;
    r->shared.times.failing = 0;
    ki__mutex_unlock(&r->shared.lock);
    if (r->failing.logged != KI_FAILURE_NONE) {
        ki__timer_cancel(&r->reminder);
        log_recovery(r);
    }
    r->failing.attempts = 0;
    r->failing.logged = KI_FAILURE_NONE;
}

void ki__reflector_await_proof(ki_reflector *r)
{
    ki__timer_set_after(&r->proof, PROOF_NS);
}

/* The list before this watch has proven useful, too. */
void ki__reflector_on_proof(ki__timer *timer)
{
    ki_reflector *r = KI__CONTAINER_OF(timer, ki_reflector, proof);
    if (ki__reflector_is_stopping(r)) {
        return;
    }
    ki__backoff_reset(&r->backoff);
    ki__reflector_recovered(r);
}
