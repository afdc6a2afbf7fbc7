/* SPDX-License-Identifier: Apache-2.0 */
#include "apiserver/validate/invalid.h"

#include <errno.h>

#include <kinformer/error.h>

#include "base/alloc.h"
#include "object/edit/json_out.h"

static const struct {
    const char *cause; /* as in details.causes */
    const char *text;
    bool shows_value;
} reasons[] = {
    [KI__INVALID_VALUE] = {"FieldValueInvalid", "Invalid value", true},
    [KI__INVALID_TYPE] = {"FieldValueTypeInvalid", "Invalid value", true},
    [KI__INVALID_REQUIRED] = {"FieldValueRequired", "Required value", false},
    [KI__INVALID_FORBIDDEN] = {"FieldValueForbidden", "Forbidden", false},
    [KI__INVALID_TOO_LONG] = {"FieldValueTooLong", "Too long", false},
    [KI__INVALID_TOO_MANY] = {"FieldValueTooMany", "Too many", true},
    [KI__INVALID_DUPLICATE] = {"FieldValueDuplicate", "Duplicate value", true},
    [KI__INVALID_NOT_SUPPORTED] = {"FieldValueNotSupported", "Unsupported value", true},
};

void ki__invalid_init(ki__invalid *list, const ki_alloc *alloc)
{
    *list = (ki__invalid){.alloc = ki__alloc_or_default(alloc)};
    ki_buf_init(&list->texts, list->alloc, KI__INVALID_BYTES_MAX);
}

void ki__invalid_done(ki__invalid *list)
{
    ki__free(list->alloc, list->items);
    ki_buf_done(&list->texts);
    *list = (ki__invalid){.alloc = list->alloc};
}

static ki_str text_at(const ki__invalid *list, size_t at, size_t len)
{
    return ki_str_make(len != 0 ? list->texts.data + at : "", len);
}

/* Whether an earlier item is equal. */
static bool is_repeated(const ki__invalid *list, const ki__invalid_item *item)
{
    ki_str field = text_at(list, item->field, item->field_len);
    ki_str body = text_at(list, item->body, item->body_len);
    for (const ki__invalid_item *other = list->items; other != item; other++) {
        if (other->reason == item->reason &&
            ki_str_eq(text_at(list, other->field, other->field_len), field) &&
            ki_str_eq(text_at(list, other->body, other->body_len), body)) {
            return true;
        }
    }
    return false;
}

static void write_item(ki__invalid_item *item, ki_str field, ki_str value, ki_str detail,
                       ki__out *out)
{
    item->field = out->buf->len;
    item->field_len = field.len;
    ki__out_str(out, field);
    item->body = out->buf->len;
    ki__out_text(out, reasons[item->reason].text);
    if (value.len != 0 && reasons[item->reason].shows_value) {
        ki__out_text(out, ": ");
        ki__out_str(out, value);
    }
    if (detail.len != 0) {
        ki__out_text(out, ": ");
        ki__out_str(out, detail);
    }
    item->body_len = out->buf->len - item->body;
}

int ki__invalid_add(ki__invalid *list, ki__invalid_reason reason, ki_str field, ki_str value,
                    ki_str detail)
{
    if (list->count == KI__INVALID_MAX) {
        list->left_out++;
        return 0;
    }
    void *items = list->items;
    int r =
        ki__array_reserve(list->alloc, &items, &list->cap, list->count + 1, sizeof(*list->items));
    list->items = items;
    ki__invalid_item item = {.reason = reason};
    ki__out out = ki__out_to(&list->texts);
    ki__out_fail(&out, r);
    write_item(&item, field, value, detail, &out);
    r = ki__out_commit(&out);
    if (r < 0) {
        list->left_out += r == KI_ERR_LIMIT ? 1 : 0;
        return r == KI_ERR_LIMIT ? 0 : r;
    }
    list->items[list->count++] = item;
    return 0;
}

int ki__invalid_add_text(ki__invalid *list, ki__invalid_reason reason, const char *field,
                         ki_str value, const char *detail)
{
    ki_buf quoted;
    ki_buf_init(&quoted, list->alloc, KI__INVALID_BYTES_MAX);
    ki__out out = ki__out_to(&quoted);
    ki__out_quoted(&out, value);
    int r = out.error;
    if (r == 0 || r == KI_ERR_LIMIT) { /* a long value is truncated */
        r = ki__invalid_add(list, reason, ki_str_from(field), ki_buf_str(&quoted),
                            ki_str_from(detail));
    }
    ki_buf_done(&quoted);
    return r;
}

/* ---- formatting values ---- */

/* JSON without insignificant white space, as Go writes it. */
static void write_compact(ki_str json, ki__out *out)
{
    bool inside = false;
    size_t start = 0;
    for (size_t i = 0; i < json.len; i++) {
        char c = json.ptr[i];
        if (inside && c == '\\') {
            i++;
        } else if (c == '"') {
            inside = !inside;
        } else if (!inside && (c == ' ' || c == '\n' || c == '\r' || c == '\t')) {
            ki__out_str(out, ki_str_make(json.ptr + start, i - start));
            start = i + 1;
        }
    }
    ki__out_str(out, ki_str_make(json.ptr + start, json.len - start));
}

void ki__invalid_show_json(const ki_value *value, ki__out *out)
{
    ki_buf text;
    ki_buf_init(&text, out->buf->alloc, SIZE_MAX);
    ki__out_fail(out, ki_value_write_json(value, &text));
    if (out->error == 0) {
        write_compact(ki_buf_str(&text), out);
    }
    ki_buf_done(&text);
}

void ki__invalid_show(const ki_value *value, ki__out *out)
{
    if (ki_value_type(value) != KI_TYPE_STRING) {
        ki__invalid_show_json(value, out);
        return;
    }
    ki_buf text;
    ki_buf_init(&text, out->buf->alloc, KI__INVALID_BYTES_MAX);
    ki__out_fail(out, ki_value_copy_string(value, &text));
    ki__out_quoted(out, ki_buf_str(&text));
    ki_buf_done(&text);
}

/* ---- the Status ---- */

static void remove_repeated(ki__invalid *list)
{
    size_t kept = 0;
    for (size_t i = 0; i < list->count; i++) {
        list->items[kept] = list->items[i];
        kept += is_repeated(list, &list->items[kept]) ? 0 : 1;
    }
    list->count = kept;
}

static int add_cause(const ki__invalid *list, const ki__invalid_item *item, ki_buf *causes)
{
    ki__out out = ki__out_to(causes);
    ki__out_text(&out, causes->len != 0 ? "," : "");
    ki__put_map(&out);
    ki__put_member(&out, "reason", reasons[item->reason].cause);
    ki__put_member_str(&out, "message", text_at(list, item->body, item->body_len));
    ki__put_member_str(&out, "field", text_at(list, item->field, item->field_len));
    ki__put_end(&out);
    return ki__out_commit(&out);
}

static void add_messages(const ki__invalid *list, ki__out *out)
{
    ki__out_text(out, list->count > 1 ? "[" : "");
    for (size_t i = 0; i < list->count && out->error == 0; i++) {
        const ki__invalid_item *item = &list->items[i];
        ki__out_text(out, i != 0 ? ", " : "");
        ki__out_str(out, text_at(list, item->field, item->field_len));
        ki__out_text(out, ": ");
        ki__out_str(out, text_at(list, item->body, item->body_len));
    }
    ki__out_text(out, list->count > 1 ? "]" : "");
}

int ki__invalid_fail(ki__invalid *list, ki__api_failure *failure, const ki__api_type *type,
                     const char *name)
{
    if (ki__invalid_is_empty(list)) {
        return 0;
    }
    remove_repeated(list);
    int r = ki__api_fail_invalid(failure, type, name);
    ki__out out = ki__out_to(&failure->message);
    ki__out_fail(&out, r);
    add_messages(list, &out);
    r = out.error == KI_ERR_LIMIT ? 0 : out.error; /* a truncated message is acceptable */
    for (size_t i = 0; i < list->count && r == 0; i++) {
        r = add_cause(list, &list->items[i], &failure->more_causes);
    }
    return r == KI_ERR_LIMIT ? 0 : r;
}
