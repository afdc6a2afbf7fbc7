/* SPDX-License-Identifier: Apache-2.0 */
/* JSON bodies of requests. */
#include "rest/request_body.h"

#include <kinformer/encoding.h>

#include "base/digits.h"
#include "base/time_units.h"
#include "object/json/json_write.h"

/* ---- objects ---- */

int ki__body_of_object(const ki_object *object, ki_buf *out)
{
    if (ki_object_encoding(object) == KI_ENCODING_JSON) {
        return ki_buf_add_str(out, ki_object_bytes(object));
    }
    return ki_object_is_complete(object) ? ki_object_write_json(object, out) : KI_ERR_NO_SCHEMA;
}

/* ---- deletions ---- */

/* Writes nothing after the first error. */
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
        w->result = ki_buf_add_json_string(w->out, ki_str_from(value));
    }
}

static void put_number(writer *w, const char *name, uint32_t value)
{
    char room[KI__DIGITS_SIZE];
    put(w, name);
    put(w, ki__digits(value, room).ptr);
}

static bool has(const char *text)
{
    return text != NULL && text[0] != '\0';
}

int ki__body_of_deletion(const ki_request *q, ki_buf *out)
{
    static const char *const policies[KI_PROPAGATION_MAX] = {
        [KI_PROPAGATION_DEFAULT] = "",
        [KI_PROPAGATION_BACKGROUND] = "Background",
        [KI_PROPAGATION_FOREGROUND] = "Foreground",
        [KI_PROPAGATION_ORPHAN] = "Orphan",
    };
    writer w = {.out = out};
    put(&w, "{\"kind\":\"DeleteOptions\",\"apiVersion\":\"v1\"");
    if (q->at_once || q->grace_ms != 0) {
        put_number(&w, ",\"gracePeriodSeconds\":", ki__ms_to_seconds(q->grace_ms));
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
