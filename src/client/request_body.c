/* SPDX-License-Identifier: Apache-2.0 */
/* Bodies in JSON. Memory for an object is taken once, so that no copy of a Secret is left behind
 * when a buffer grows. */
#include "client/request_body.h"

#include <errno.h>
#include <string.h>

#include "object/json_write.h"

/* ---- objects ---- */

static bool has_member(const ki_object *object, const char *name)
{
    ki_value root = ki_object_root(object);
    ki_value value;
    return ki_value_member(&root, ki_str_from(name), &value) == 0;
}

/* A member before all others, which begin with what `out` has. */
static int add_text_member(ki_buf *out, const char *name, const char *value)
{
    int r = ki_buf_add_char(out, '"');
    if (r == 0) {
        r = ki_buf_add_text(out, name);
    }
    if (r == 0) {
        r = ki_buf_add_text(out, "\":");
    }
    if (r == 0) {
        r = ki__json_write_string(out, ki_str_from(value));
    }
    return r == 0 ? ki_buf_add_char(out, ',') : r;
}

/* The bytes of a JSON object that has members, with those that it lacks before them. */
static int add_with_kind(const ki_object *object, ki_str bytes, ki_buf *out)
{
    int r = ki_buf_add_char(out, '{');
    if (r == 0 && !has_member(object, "apiVersion")) {
        r = add_text_member(out, "apiVersion", ki_object_api_version(object));
    }
    if (r == 0 && !has_member(object, "kind")) {
        r = add_text_member(out, "kind", ki_object_kind(object));
    }
    const char *brace = memchr(bytes.ptr, '{', bytes.len);
    size_t skip = brace != NULL ? (size_t)(brace - bytes.ptr) + 1 : 0;
    return r == 0 ? ki_buf_add(out, bytes.ptr + skip, bytes.len - skip) : r;
}

int ki__body_of_object(const ki_object *object, ki_buf *out)
{
    enum { ROOM = 4096 }; /* for kind and apiVersion, whose lengths objects limit */
    ki_str bytes = ki_object_bytes(object);
    if (ki_object_encoding(object) != KI_ENCODING_JSON) {
        return ki_object_is_complete(object) ? ki_object_write_json(object, out) : KI_ERR_NO_SCHEMA;
    }
    char *room = NULL;
    int r = ki_buf_reserve(out, bytes.len + ROOM, &room);
    if (r < 0) {
        return r;
    }
    ki_buf_commit(out, 0);
    /* One that has neither a name nor anything else is sent as it is; the server says no to it. */
    if (!has_member(object, "metadata") ||
        (has_member(object, "apiVersion") && has_member(object, "kind"))) {
        return ki_buf_add_str(out, bytes);
    }
    return add_with_kind(object, bytes, out);
}

/* ---- deletions ---- */

/* Everything after the first failure is left out. */
typedef struct writer {
    ki_buf *out;
    int result;
} writer;

static void put(writer *w, const char *text)
{
    if (w->result == 0) {
        w->result = ki_buf_add_text(w->out, text);
    }
}

static void put_string(writer *w, const char *name, const char *value)
{
    if (value == NULL || value[0] == '\0') {
        return;
    }
    put(w, name);
    if (w->result == 0) {
        w->result = ki__json_write_string(w->out, ki_str_from(value));
    }
}

static void put_number(writer *w, const char *name, uint32_t value)
{
    char digits[11];
    size_t at = sizeof(digits) - 1;
    digits[at] = '\0';
    do {
        digits[--at] = (char)('0' + value % 10);
        value /= 10;
    } while (value != 0);
    put(w, name);
    put(w, &digits[at]);
}

static bool has(const char *text)
{
    return text != NULL && text[0] != '\0';
}

int ki__body_of_deletion(const ki_client_request *q, ki_buf *out)
{
    static const char *const policies[KI_PROPAGATION_MAX] = {
        [KI_PROPAGATION_DEFAULT] = "",
        [KI_PROPAGATION_BACKGROUND] = "Background",
        [KI_PROPAGATION_FOREGROUND] = "Foreground",
        [KI_PROPAGATION_ORPHAN] = "Orphan",
    };
    writer w = {.out = out};
    put(&w, "{\"kind\":\"DeleteOptions\",\"apiVersion\":\"v1\"");
    if (q->at_once || q->grace_seconds != 0) {
        put_number(&w, ",\"gracePeriodSeconds\":", q->grace_seconds);
    }
    if (has(q->uid) || has(q->if_version)) {
        put(&w, ",\"preconditions\":{");
        put_string(&w, "\"uid\":", q->uid);
        put_string(&w,
                   has(q->uid) ? ",\"resourceVersion\":" : "\"resourceVersion\":", q->if_version);
        put(&w, "}");
    }
    put_string(&w, ",\"propagationPolicy\":", policies[q->propagation]);
    put(&w, q->dry_run ? ",\"dryRun\":[\"All\"]}" : "}");
    return w.result;
}
