/* SPDX-License-Identifier: Apache-2.0 */
/* Names, texts and changes as JSON. Values of fields are truncated, so that a page stays readable
 * whatever objects contain. */
#include "monitor_server/monitor_json.h"

#include <errno.h>
#include <string.h>

#include <kinformer/diff.h>

#include "base/ascii.h"
#include "base/digits.h"
#include "base/utf8.h"

enum { VALUE_MAX = 200, FIELDS_MAX = 20, SEARCH_MAX = 256 << 10, VALUE_BYTES = 8 << 20 };

/* ---- members ---- */

void ki__put_named_u64(ki__out *out, const char *name, uint64_t number)
{
    ki__put_name(out, name);
    ki__put_u64(out, number);
}

void ki__put_named_bool(ki__out *out, const char *name, bool flag)
{
    ki__put_name(out, name);
    ki__put_bool(out, flag);
}

void ki__put_named_time(ki__out *out, const char *name, int64_t seconds)
{
    ki__put_name(out, name);
    ki__put_time(out, seconds);
}

void ki__put_named_ms(ki__out *out, const char *name, uint64_t ms)
{
    ki__put_name(out, name);
    if (ms == UINT64_MAX) {
        ki__put_null(out);
    } else {
        ki__put_u64(out, ms);
    }
}

void ki__put_named_text(ki__out *out, const char *name, ki_str text, size_t max)
{
    if (text.len <= max) {
        ki__put_member_str(out, name, text);
        return;
    }
    while (max > 0 && ((unsigned char)text.ptr[max] & 0xc0) == 0x80) {
        max--; /* not inside a character */
    }
    ki_buf shortened;
    char digits[KI__DIGITS_SIZE];
    ki_buf_init(&shortened, out->buf->alloc, max + 64);
    ki__out o = ki__out_to(&shortened);
    ki__out_str(&o, ki_str_make(text.ptr, max));
    ki__out_texts(&o, "... (", ki__digits(text.len, digits).ptr, " bytes)", NULL);
    ki__out_fail(out, o.error);
    ki__put_member_str(out, name, ki_buf_str(&shortened));
    ki_buf_done(&shortened);
}

/* ---- names ---- */

static size_t number_of(const ki__gathered *g, size_t at)
{
    const char *name = ki_informer_name(g->informers[at].informer);
    size_t number = 1;
    for (size_t i = 0; i < at; i++) {
        number += strcmp(ki_informer_name(g->informers[i].informer), name) == 0;
    }
    return number;
}

static void write_path_name(ki__out *out, const ki__gathered *g, size_t at)
{
    size_t number = number_of(g, at);
    ki__out_text(out, ki_informer_name(g->informers[at].informer));
    if (number > 1) {
        ki__out_char(out, '~');
        ki__out_u64(out, number);
    }
}

void ki__put_path_name(ki__out *out, const ki__gathered *g, size_t at)
{
    ki_buf name;
    ki_buf_init(&name, out->buf->alloc, 4096);
    ki__out o = ki__out_to(&name);
    write_path_name(&o, g, at);
    ki__out_fail(out, o.error);
    ki__put_member_str(out, "path", ki_buf_str(&name));
    ki_buf_done(&name);
}

size_t ki__find_path_name(const ki__gathered *g, ki_str wanted)
{
    ki_buf name;
    size_t found = SIZE_MAX;
    ki_buf_init(&name, g->alloc, 4096);
    for (size_t i = 0; i < g->informer_count && found == SIZE_MAX; i++) {
        ki_buf_clear(&name);
        ki__out o = ki__out_to(&name);
        write_path_name(&o, g, i);
        found = o.error == 0 && ki_str_eq(ki_buf_str(&name), wanted) ? i : found;
    }
    ki_buf_done(&name);
    return found;
}

/* ---- differences ---- */

static void put_value(ki__out *out, const char *name, const ki_value *value)
{
    ki_buf text;
    if (ki_value_type(value) == KI_TYPE_NONE) {
        return;
    }
    ki_buf_init(&text, out->buf->alloc, VALUE_BYTES);
    int r = ki_value_type(value) == KI_TYPE_STRING ? ki_value_copy_string(value, &text)
                                                   : ki_value_write_json(value, &text);
    if (r == KI_ERR_LIMIT) {
        ki__put_member(out, name, "(too large)");
    } else {
        ki__out_fail(out, r);
        ki__put_named_text(out, name, ki_buf_str(&text), VALUE_MAX);
    }
    ki_buf_done(&text);
}

void ki__put_fields(ki__out *out, const ki_object *before, const ki_object *after, bool values)
{
    static const char *const skip[] = {"metadata.managedFields", "metadata.resourceVersion"};
    const ki_diff_options options = {
        .size = sizeof(options),
        .alloc = out->buf->alloc,
        .max_changes = FIELDS_MAX + 1,
        .skip = skip,
        .skip_count = sizeof(skip) / sizeof(skip[0]),
    };
    ki_diff *diff = NULL;
    ki__out_fail(out, ki_object_diff(before, after, &options, &diff, NULL));
    size_t count = ki_diff_count(diff);
    ki__put_name(out, "fields");
    ki__put_list(out);
    for (size_t i = 0; i < count && i < FIELDS_MAX; i++) {
        const ki_diff_change *change = ki_diff_at(diff, i);
        ki__put_map(out);
        ki__put_named_text(out, "path", ki_str_from(change->path), VALUE_MAX);
        ki__put_named_bool(out, "added", change->type == KI_DIFF_ADDED);
        ki__put_named_bool(out, "removed", change->type == KI_DIFF_REMOVED);
        ki__put_named_bool(out, "values", values);
        if (values) {
            put_value(out, "before", &change->before);
            put_value(out, "after", &change->after);
        }
        ki__put_end(out);
    }
    ki__put_end(out);
    ki__put_named_bool(out, "more", count > FIELDS_MAX);
    (void)ki_diff_unref(diff);
}

/* ---- changes ---- */

static void put_change(ki__out *out, const ki_monitor_server *server,
                       const ki__recorded_change *change)
{
    ki_change as_delivered = {.size = sizeof(as_delivered), .type = change->type};
    ki__put_map(out);
    ki__put_named_time(out, "time", change->time_s);
    ki__put_member(out, "informer", change->name);
    ki__put_member(out, "type", ki_change_name(&as_delivered));
    ki__put_named_text(out, "namespace", ki_str_from(ki_object_namespace(change->object)),
                       VALUE_MAX);
    ki__put_named_text(out, "name", ki_str_from(ki_object_name(change->object)), VALUE_MAX);
    if (change->old != NULL && !change->secret) {
        ki__put_fields(out, change->old, change->object, server->objects);
    }
    ki__put_named_bool(out, "secret", change->secret);
    ki__put_end(out);
}

/* Ignores case in ASCII. */
static bool contains(ki_str text, ki_str part)
{
    for (size_t i = 0; i + part.len <= text.len; i++) {
        if (ki__str_eq_nocase(ki_str_make(text.ptr + i, part.len), part)) {
            return true;
        }
    }
    return part.len == 0;
}

/* Whether a string of a JSON text, other than names of members, contains `part`, which is escaped
 * in the same way. */
static bool has_value(ki_str json, ki_str part)
{
    for (size_t i = 0; i < json.len; i++) {
        if (json.ptr[i] != '"') {
            continue;
        }
        size_t from = ++i;
        while (i < json.len && json.ptr[i] != '"') {
            i += json.ptr[i] == '\\' ? 2 : 1;
        }
        bool is_name = i + 1 < json.len && json.ptr[i + 1] == ':';
        if (!is_name && i < json.len && contains(ki_str_make(json.ptr + from, i - from), part)) {
            return true;
        }
    }
    return part.len == 0;
}

/* `filter` as it is in JSON, without quotes: also what is searched for in "namespace/name". */
static int escape(ki_str filter, ki_buf *json, ki_str *ret_escaped)
{
    ki__out out = ki__out_document(json);
    ki__put_string(&out, filter);
    int r = ki__out_commit(&out);
    if (r == 0) {
        *ret_escaped = ki_str_make(json->data + 1, json->len - 2);
    }
    return r;
}

static bool is_shown(const ki__recorded_change *change, ki_str json, ki_str filter, ki_str escaped)
{
    return has_value(json, escaped) || contains(ki_str_from(ki_object_key(change->object)), filter);
}

/* Whether it is a change of this object since it was opened. */
static bool is_later(const ki__recorded_change *change, const ki__opened_object *opened)
{
    return change->number > opened->after && change->held == opened->informer &&
           strcmp(ki_object_key(change->object), ki_object_key(opened->object)) == 0;
}

void ki__put_changes(ki__out *out, ki_monitor_server *server, ki_str filter,
                     const ki__opened_object *opened)
{
    const ki__monitor_slots *slots = &server->slots;
    ki_str escaped = {0};
    ki_buf needle;
    ki_buf_init(&needle, server->alloc, SEARCH_MAX);
    ki__out_fail(out, escape(filter, &needle, &escaped));
    ki__put_name(out, "changes");
    ki__put_list(out);
    for (uint64_t i = 0; i < KI__CHANGES && i < slots->change_count && out->error == 0; i++) {
        const ki__recorded_change *change =
            &slots->changes[(slots->change_count - 1 - i) % KI__CHANGES];
        if (change->number == 0 || (opened != NULL && !is_later(change, opened))) {
            continue;
        }
        ki_buf json;
        ki_buf_init(&json, server->alloc, SEARCH_MAX);
        ki__out o = ki__out_document(&json);
        put_change(&o, server, change);
        ki__out_fail(out, o.error);
        if (is_shown(change, ki_buf_str(&json), filter, escaped)) {
            ki__put_json(out, ki_buf_str(&json));
        }
        ki_buf_done(&json);
    }
    ki__put_end(out);
    ki_buf_done(&needle);
}
