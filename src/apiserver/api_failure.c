/* SPDX-License-Identifier: Apache-2.0 */
/* The vocabulary of failures. Codes, reasons, details and causes are those of a real server, since
 * clients decide by them; the sentences are our own but for the few that old clients look for. */
#include "apiserver/api_failure.h"

#include "object/edit/json_emit.h"

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

/* A message that is cut at its limit is good enough. */
static int uncut(int r)
{
    return r == KI_ERR_LIMIT ? 0 : r;
}

int ki__api_fail(ki__api_failure *failure, int code, ki_reason reason, ...)
{
    failure->code = code;
    failure->reason = reason;
    ki_buf_clear(&failure->message);
    va_list texts;
    va_start(texts, reason);
    int r = ki__emit_texts(&failure->message, texts);
    va_end(texts);
    return uncut(r);
}

static void about(ki__api_failure *failure, const ki__api_type *type, const char *name)
{
    failure->name = name;
    failure->group = ki_resource_group(type->resource);
    failure->kind = ki_resource_name(type->resource);
}

/* "pods", or "deployments.apps". */
static int add_resource(ki_buf *out, const char *what, const char *group)
{
    return uncut(ki__emit_text(out, what, group[0] != '\0' ? "." : "", group, NULL));
}

static int fail_named(ki__api_failure *failure, const ki__api_type *type, const char *name,
                      const char *text)
{
    about(failure, type, name);
    int r = add_resource(&failure->message, failure->kind, failure->group);
    r = r < 0 ? r : ki__emit_text(&failure->message, " \"", name, "\" ", text, NULL);
    return uncut(r);
}

int ki__api_fail_not_found(ki__api_failure *failure, const ki__api_type *type, const char *name)
{
    int r = ki__api_fail(failure, 404, KI_REASON_NOT_FOUND, NULL);
    return r < 0 ? r : fail_named(failure, type, name, "not found");
}

int ki__api_fail_exists(ki__api_failure *failure, const ki__api_type *type, const char *name)
{
    int r = ki__api_fail(failure, 409, KI_REASON_ALREADY_EXISTS, NULL);
    return r < 0 ? r : fail_named(failure, type, name, "already exists");
}

int ki__api_fail_conflict(ki__api_failure *failure, const ki__api_type *type, const char *name,
                          const char *why)
{
    int r = ki__api_fail(failure, 409, KI_REASON_CONFLICT, NULL);
    r = r < 0 ? r : fail_named(failure, type, name, "cannot be changed: ");
    return r < 0 ? r : uncut(ki_buf_add_text(&failure->message, why));
}

int ki__api_fail_too_large(ki__api_failure *failure, uint64_t wanted, uint64_t current)
{
    /* Old clients know it by these words alone. */
    int r = ki__api_fail(failure, 504, KI_REASON_TIMEOUT, "Too large resource version: ", NULL);
    r = r < 0 ? r : ki__emit_u64(&failure->message, wanted);
    r = r < 0 ? r : ki_buf_add_text(&failure->message, ", current: ");
    r = r < 0 ? r : ki__emit_u64(&failure->message, current);
    failure->retry_after_s = 1;
    failure->causes[0] =
        (ki__api_cause){"ResourceVersionTooLarge", "Too large resource version", NULL};
    failure->cause_count = 1;
    return r;
}

int ki__api_fail_invalid(ki__api_failure *failure, const ki__api_type *type, const char *name)
{
    int r = ki__api_fail(failure, 422, KI_REASON_INVALID, NULL);
    failure->name = name;
    failure->group = type != NULL ? ki_resource_group(type->resource) : "meta.k8s.io";
    failure->kind = type != NULL            ? ki_resource_kind(type->resource)
                    : failure->kind != NULL ? failure->kind
                                            : "ListOptions";
    r = r < 0 ? r : add_resource(&failure->message, failure->kind, failure->group);
    r = r < 0 ? r : ki_buf_add_char(&failure->message, ' ');
    r = r < 0 ? r : ki__emit_quoted(&failure->message, ki_str_from(name));
    r = r < 0 ? r : ki_buf_add_text(&failure->message, " is invalid: ");
    return uncut(r);
}

int ki__api_fail_field(ki__api_failure *failure, const ki__api_type *type, const char *name,
                       const ki__api_cause *cause)
{
    int r = failure->code == 422 ? ki_buf_add_text(&failure->message, "; ")
                                 : ki__api_fail_invalid(failure, type, name);
    r = r < 0 ? r : ki__emit_text(&failure->message, cause->field, ": ", cause->message, NULL);
    if (failure->cause_count < KI__API_CAUSES_MAX) {
        failure->causes[failure->cause_count++] = *cause;
    }
    return uncut(r);
}

/* ---- as JSON ---- */

static int write_causes(const ki__api_failure *failure, ki_buf *out)
{
    int r = ki_buf_add_text(out, "\"causes\":[");
    for (size_t i = 0; i < failure->cause_count && r == 0; i++) {
        const ki__api_cause *cause = &failure->causes[i];
        r = ki_buf_add_text(out, i != 0 ? ",{" : "{");
        r = r < 0 ? r : ki__emit_member(out, "reason", ki_str_from(cause->reason), true);
        r = r < 0 ? r : ki__emit_member(out, "message", ki_str_from(cause->message), false);
        if (cause->field != NULL) {
            r = r < 0 ? r : ki__emit_member(out, "field", ki_str_from(cause->field), false);
        }
        r = r < 0 ? r : ki_buf_add_char(out, '}');
    }
    r = r < 0 ? r : ki_buf_add_str(out, ki_buf_str(&failure->more_causes));
    return r < 0 ? r : ki_buf_add_char(out, ']');
}

static int write_details(const ki__api_failure *failure, ki_buf *out)
{
    const char *const members[][2] = {
        {"name", failure->name}, {"group", failure->group}, {"kind", failure->kind}};
    bool first = true;
    int r = ki_buf_add_text(out, ",\"details\":{");
    for (size_t i = 0; i < 3 && r == 0; i++) {
        if (members[i][1] != NULL && members[i][1][0] != '\0') {
            r = ki__emit_member(out, members[i][0], ki_str_from(members[i][1]), first);
            first = false;
        }
    }
    if (r == 0 && (failure->cause_count != 0 || failure->more_causes.len != 0)) {
        r = first ? 0 : ki_buf_add_char(out, ',');
        r = r < 0 ? r : write_causes(failure, out);
        first = false;
    }
    if (r == 0 && failure->retry_after_s != 0) {
        r = ki__emit_text(out, first ? "" : ",", "\"retryAfterSeconds\":", NULL);
        r = r < 0 ? r : ki__emit_u64(out, failure->retry_after_s);
    }
    return r < 0 ? r : ki_buf_add_char(out, '}');
}

int ki__api_failure_write(const ki__api_failure *failure, ki_buf *out)
{
    int r = ki_buf_add_text(out, "{\"kind\":\"Status\",\"apiVersion\":\"v1\",\"metadata\":{");
    if (failure->token.len != 0) {
        r = r < 0 ? r : ki__emit_member(out, "continue", ki_buf_str(&failure->token), true);
    }
    r = r < 0 ? r : ki_buf_add_text(out, "},\"status\":\"Failure\"");
    r = r < 0 ? r : ki__emit_member(out, "message", ki_buf_str(&failure->message), false);
    if (failure->reason != KI_REASON_UNKNOWN) {
        r = r < 0 ? r
                  : ki__emit_member(out, "reason", ki_str_from(ki_reason_text(failure->reason)),
                                    false);
    }
    if (failure->name != NULL || failure->kind != NULL || failure->cause_count != 0 ||
        failure->more_causes.len != 0 || failure->retry_after_s != 0) {
        r = r < 0 ? r : write_details(failure, out);
    }
    r = r < 0 ? r : ki_buf_add_text(out, ",\"code\":");
    r = r < 0 ? r : ki__emit_u64(out, (uint64_t)failure->code);
    return r < 0 ? r : ki_buf_add_char(out, '}');
}

int ki__api_success_write(const ki__api_type *type, const ki_object *object, ki_buf *out)
{
    const char *group = ki_resource_group(type->resource);
    int r = ki_buf_add_text(out, "{\"kind\":\"Status\",\"apiVersion\":\"v1\",\"metadata\":{},"
                                 "\"status\":\"Success\",\"details\":{");
    r = r < 0 ? r : ki__emit_member(out, "name", ki_str_from(ki_object_name(object)), true);
    if (group[0] != '\0') {
        r = r < 0 ? r : ki__emit_member(out, "group", ki_str_from(group), false);
    }
    r = r < 0 ? r
              : ki__emit_member(out, "kind", ki_str_from(ki_resource_name(type->resource)), false);
    r = r < 0 ? r : ki__emit_member(out, "uid", ki_str_from(ki_object_uid(object)), false);
    return r < 0 ? r : ki_buf_add_text(out, "}}");
}
