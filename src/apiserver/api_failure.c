/* SPDX-License-Identifier: Apache-2.0 */
/* Failure texts. Codes, reasons, details and causes are those of kube-apiserver, because clients
 * act on them; the messages are our own except for the few that old clients match. */
#include "apiserver/api_failure.h"

#include <kinformer/status.h>

#include "base/digits.h"
#include "object/edit/json_out.h"

#define MESSAGE_MAX ((size_t)16 << 10)
#define CAUSES_MAX ((size_t)1 << 20)

void ki__api_failure_init(ki__api_failure *failure, const ki_alloc *alloc)
{
    *failure = (ki__api_failure){0};
    ki_buf_init(&failure->message, alloc, MESSAGE_MAX);
    ki_buf_init(&failure->token, alloc, MESSAGE_MAX);
    ki_buf_init(&failure->more_causes, alloc, CAUSES_MAX);
}

void ki__api_failure_done(ki__api_failure *failure)
{
    ki_buf_done(&failure->message);
    ki_buf_done(&failure->token);
    ki_buf_done(&failure->more_causes);
}

void ki__api_failure_clear(ki__api_failure *failure)
{
    failure->code = 0;
    failure->name = failure->group = failure->kind = NULL;
    ki_buf_clear(&failure->message);
}

/* A truncated message is acceptable. */
static int uncut(int r)
{
    return r == KI_ERR_LIMIT ? 0 : r;
}

int ki__api_fail(ki__api_failure *failure, int code, ki_reason reason, ...)
{
    failure->code = code;
    failure->reason = reason;
    ki_buf_clear(&failure->message);
    ki__out out = ki__out_to(&failure->message);
    va_list texts;
    va_start(texts, reason);
    ki__out_vtexts(&out, texts);
    va_end(texts);
    return uncut(out.error);
}

/* "pods", or "deployments.apps". */
static void add_resource(ki__out *out, const char *what, const char *group)
{
    ki__out_texts(out, what, group[0] != '\0' ? "." : "", group, NULL);
}

static int fail_named(ki__api_failure *failure, int code, ki_reason reason,
                      const ki__api_type *type, const char *name, const char *text, const char *why)
{
    failure->code = code;
    failure->reason = reason;
    failure->name = name;
    failure->group = ki_resource_group(type->resource);
    failure->kind = ki_resource_name(type->resource);
    ki_buf_clear(&failure->message);
    ki__out out = ki__out_to(&failure->message);
    add_resource(&out, failure->kind, failure->group);
    ki__out_texts(&out, " \"", name, "\" ", text, why, NULL);
    return uncut(out.error);
}

int ki__api_fail_not_found(ki__api_failure *failure, const ki__api_type *type, const char *name)
{
    return fail_named(failure, 404, KI_REASON_NOT_FOUND, type, name, "not found", "");
}

int ki__api_fail_exists(ki__api_failure *failure, const ki__api_type *type, const char *name)
{
    return fail_named(failure, 409, KI_REASON_ALREADY_EXISTS, type, name, "already exists", "");
}

int ki__api_fail_conflict(ki__api_failure *failure, const ki__api_type *type, const char *name,
                          const char *why)
{
    return fail_named(failure, 409, KI_REASON_CONFLICT, type, name, "cannot be changed: ", why);
}

int ki__api_fail_too_large(ki__api_failure *failure, uint64_t wanted, uint64_t current)
{
    char digits[2][KI__DIGITS_SIZE];
    failure->retry_after_s = 1;
    failure->causes[0] =
        (ki__api_cause){"ResourceVersionTooLarge", "Too large resource version", NULL};
    failure->cause_count = 1;
    /* Old clients recognize it by this message only. */
    return ki__api_fail(failure, 504, KI_REASON_TIMEOUT,
                        "Too large resource version: ", ki__digits(wanted, digits[0]).ptr,
                        ", current: ", ki__digits(current, digits[1]).ptr, NULL);
}

int ki__api_fail_invalid(ki__api_failure *failure, const ki__api_type *type, const char *name)
{
    failure->code = 422;
    failure->reason = KI_REASON_INVALID;
    failure->name = name;
    failure->group = type != NULL ? ki_resource_group(type->resource) : "meta.k8s.io";
    failure->kind = type != NULL            ? ki_resource_kind(type->resource)
                    : failure->kind != NULL ? failure->kind
                                            : "ListOptions";
    ki_buf_clear(&failure->message);
    ki__out out = ki__out_to(&failure->message);
    add_resource(&out, failure->kind, failure->group);
    ki__out_char(&out, ' ');
    ki__out_quoted(&out, ki_str_from(name));
    ki__out_text(&out, " is invalid: ");
    return uncut(out.error);
}

int ki__api_fail_field(ki__api_failure *failure, const ki__api_type *type, const char *name,
                       const ki__api_cause *cause)
{
    bool again = failure->code == 422;
    int r = again ? 0 : ki__api_fail_invalid(failure, type, name);
    ki__out out = ki__out_to(&failure->message);
    ki__out_fail(&out, r);
    ki__out_texts(&out, again ? "; " : "", cause->field, ": ", cause->message, NULL);
    if (failure->cause_count < KI__API_CAUSES_MAX) {
        failure->causes[failure->cause_count++] = *cause;
    }
    return uncut(out.error);
}

int ki__api_forbid_option(ki__api_failure *failure, const char *option, const char *message)
{
    const ki__api_cause cause = {"FieldValueForbidden", message, option};
    return ki__api_fail_field(failure, NULL, "", &cause);
}

/* ---- as JSON ---- */

static void write_causes(const ki__api_failure *failure, ki__out *out)
{
    ki__put_name(out, "causes");
    ki__put_list(out);
    for (size_t i = 0; i < failure->cause_count; i++) {
        const ki__api_cause *cause = &failure->causes[i];
        ki__put_map(out);
        ki__put_member(out, "reason", cause->reason);
        ki__put_member(out, "message", cause->message);
        if (cause->field != NULL) {
            ki__put_member(out, "field", cause->field);
        }
        ki__put_end(out);
    }
    ki__out_str(out, ki_buf_str(&failure->more_causes));
    ki__put_end(out);
}

static void write_details(const ki__api_failure *failure, ki__out *out)
{
    const char *const members[][2] = {
        {"name", failure->name}, {"group", failure->group}, {"kind", failure->kind}};
    ki__put_name(out, "details");
    ki__put_map(out);
    for (size_t i = 0; i < 3; i++) {
        if (members[i][1] != NULL && members[i][1][0] != '\0') {
            ki__put_member(out, members[i][0], members[i][1]);
        }
    }
    if (failure->cause_count != 0 || failure->more_causes.len != 0) {
        write_causes(failure, out);
    }
    if (failure->retry_after_s != 0) {
        ki__put_name(out, "retryAfterSeconds");
        ki__put_u64(out, failure->retry_after_s);
    }
    ki__put_end(out);
}

int ki__api_failure_write(const ki__api_failure *failure, ki_buf *buf)
{
    ki__out out = ki__out_to(buf);
    ki__out_text(&out, "{\"kind\":\"Status\",\"apiVersion\":\"v1\",\"metadata\":{");
    if (failure->token.len != 0) {
        ki__put_member_str(&out, "continue", ki_buf_str(&failure->token));
    }
    ki__out_text(&out, "},\"status\":\"Failure\"");
    ki__put_member_str(&out, "message", ki_buf_str(&failure->message));
    if (failure->reason != KI_REASON_UNKNOWN) {
        ki__put_member(&out, "reason", ki_reason_text(failure->reason));
    }
    if (failure->name != NULL || failure->kind != NULL || failure->cause_count != 0 ||
        failure->more_causes.len != 0 || failure->retry_after_s != 0) {
        write_details(failure, &out);
    }
    ki__put_name(&out, "code");
    ki__put_u64(&out, (uint64_t)failure->code);
    ki__out_char(&out, '}');
    return out.error;
}

int ki__api_success_write(const ki__api_type *type, const ki_object *object, ki_buf *buf)
{
    const char *group = ki_resource_group(type->resource);
    ki__out out = ki__out_to(buf);
    ki__out_text(&out, "{\"kind\":\"Status\",\"apiVersion\":\"v1\",\"metadata\":{},"
                       "\"status\":\"Success\",\"details\":{");
    ki__put_member(&out, "name", ki_object_name(object));
    if (group[0] != '\0') {
        ki__put_member(&out, "group", group);
    }
    ki__put_member(&out, "kind", ki_resource_name(type->resource));
    ki__put_member(&out, "uid", ki_object_uid(object));
    ki__out_text(&out, "}}");
    return out.error;
}
