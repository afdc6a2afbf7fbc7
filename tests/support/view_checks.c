/* SPDX-License-Identifier: Apache-2.0 */
#include "support/view_checks.h"

#include <stdio.h>

#include <kinformer/error.h>

#include "object/text/base64.h"
#include "object/text/duration.h"
#include "object/text/rfc3339.h"
#include "support/same_value.h"
#include "support/test.h"

/* What a path reads as text. */
static void read_text(const view_check *check, ki_buf *out)
{
    ki_buf_init(out, NULL, SAME_TEXT_MAX);
    assert_int_equal(ki_value_copy_string(&check->there, out), 0);
}

#define EXPECT(condition)                                                 \
    do {                                                                  \
        if (!(condition)) {                                               \
            fail_msg("%s.%s: not " #condition, check->type, check->name); \
        }                                                                 \
    } while (0)

view_check view_check_field(view_walk *walk, const char *type, const char *name, bool *seen,
                            const ki_value *parent, bool has, int r, const ki_value *got)
{
    char path[128];
    (void)snprintf(path, sizeof(path), "['%s']", name);
    view_check it = {walk, type, name, ki_value_at(parent, path), false};
    view_check *check = &it;
    ki_type found = ki_value_type(&it.there);
    it.is_there = found != KI_TYPE_NONE && found != KI_TYPE_NULL;
    EXPECT(has == it.is_there);
    EXPECT(r == (found == KI_TYPE_NONE ? KI_ERR_NOT_FOUND : 0));
    EXPECT(r < 0 || ki_value_type(got) == found);
    if (it.is_there) {
        walk->reads++;
        walk->fields += !*seen;
        *seen = true;
    } else {
        walk->absent++;
    }
    return it;
}

static void expect_text(const view_check *check, ki_text text, ki_str expected)
{
    ki_buf copy;
    ki_buf_init(&copy, NULL, SAME_TEXT_MAX);
    EXPECT(ki_text_append(text, &copy) == 0);
    EXPECT(ki_str_eq(ki_buf_str(&copy), expected));
    EXPECT(ki_text_equals(text, expected));
    EXPECT(text.encoding != NULL || ki_str_eq(ki_str_make(text.ptr, text.len), expected));
    char room[512];
    int len = ki_text_copy(text, room, sizeof(room));
    EXPECT(expected.len < sizeof(room) ? len == (int)expected.len && room[len] == '\0'
                                       : len == KI_ERR_LIMIT);
    EXPECT(len <= 0 || memcmp(room, expected.ptr, expected.len) == 0);
    EXPECT(expected.len == 0 || ki_text_copy(text, room, expected.len) == KI_ERR_LIMIT);
    ki_buf_done(&copy);
}

void view_check_text(const view_check *check, ki_text text, const char *otherwise)
{
    ki_buf expected;
    if (!check->is_there) {
        expect_text(check, text, ki_str_from(otherwise));
        return;
    }
    read_text(check, &expected);
    expect_text(check, text, ki_buf_str(&expected));
    ki_buf_done(&expected);
}

void view_check_bool(const view_check *check, bool flag, bool otherwise)
{
    bool expected = otherwise;
    EXPECT(!check->is_there || ki_value_bool(&check->there, &expected) == 0);
    EXPECT(flag == expected);
}

void view_check_int(const view_check *check, int64_t number, int64_t otherwise)
{
    int64_t expected = otherwise;
    EXPECT(!check->is_there || ki_value_int64(&check->there, &expected) == 0);
    EXPECT(number == expected);
}

void view_check_double(const view_check *check, double number, double otherwise)
{
    double expected = otherwise;
    EXPECT(!check->is_there || ki_value_double(&check->there, &expected) == 0);
    EXPECT(memcmp(&number, &expected, sizeof(number)) == 0);
}

void view_check_bytes(const view_check *check, ki_bytes bytes)
{
    ki_buf expected;
    ki_buf copy;
    size_t len = 0;
    ki_buf_init(&copy, NULL, SAME_TEXT_MAX);
    EXPECT(ki_bytes_append(bytes, &copy) == 0);
    if (check->is_there) {
        read_text(check, &expected);
        EXPECT(ki__base64_decode(ki_buf_str(&expected), expected.data, &len) == 0);
        EXPECT(ki_str_eq(ki_buf_str(&copy), ki_str_make(expected.data, len)));
        ki_buf_done(&expected);
    }
    char room[64];
    int r = ki_bytes_copy(bytes, room, sizeof(room));
    EXPECT(copy.len == len);
    EXPECT(r == (len > sizeof(room) ? KI_ERR_LIMIT : (int)len));
    EXPECT(r <= 0 || memcmp(room, copy.data, len) == 0);
    EXPECT(len == 0 || ki_bytes_copy(bytes, room, len - 1) == KI_ERR_LIMIT);
    ki_buf_done(&copy);
}

void view_check_time(const view_check *check, ki_timestamp time)
{
    int64_t seconds = 0;
    int32_t nanos = 0;
    ki_buf text;
    if (check->is_there) {
        read_text(check, &text);
        EXPECT(ki__rfc3339_read_nanos(ki_buf_str(&text), &seconds, &nanos) == 0);
        ki_buf_done(&text);
    }
    EXPECT(time.seconds == seconds);
    EXPECT(time.nanos == nanos);
}

void view_check_duration(const view_check *check, int64_t nanoseconds)
{
    int64_t expected = 0;
    ki_buf text;
    if (check->is_there) {
        read_text(check, &text);
        EXPECT(ki__duration_read(ki_buf_str(&text), &expected) == 0);
        ki_buf_done(&text);
    }
    EXPECT(nanoseconds == expected);
}

void view_check_quantity(const view_check *check, ki_quantity quantity)
{
    double real;
    if (ki_value_type(&check->there) == KI_TYPE_NUMBER) { /* JSON may have one */
        ki_buf number;
        ki_buf_init(&number, NULL, SAME_TEXT_MAX);
        EXPECT(ki_value_write_json(&check->there, &number) == 0);
        expect_text(check, quantity.text, ki_buf_str(&number));
        ki_buf_done(&number);
    } else {
        view_check_text(check, quantity.text, "");
    }
    EXPECT(ki_quantity_double(quantity, &real) == (check->is_there ? 0 : KI_ERR_INVALID));
}

void view_check_int_or_string(const view_check *check, ki_int_or_string value)
{
    EXPECT(value.is_string == (ki_value_type(&check->there) == KI_TYPE_STRING));
    if (value.is_string) {
        view_check_text(check, value.text, NULL);
        EXPECT(value.number == 0);
    } else {
        view_check_int(check, value.number, 0);
        EXPECT(value.text.len == 0);
    }
}

void view_check_value(const view_check *check, const ki_value *value)
{
    EXPECT(same_value(value, &check->there, NULL));
}

/* ---- lists and maps ---- */

void view_check_count(const view_check *check, size_t count)
{
    EXPECT(count == ki_value_count(&check->there));
}

view_check view_check_element(const view_check *check, size_t index)
{
    view_check inner = *check;
    EXPECT(ki_value_element(&check->there, (int64_t)index, &inner.there) == 0);
    inner.is_there = ki_value_type(&inner.there) != KI_TYPE_NULL;
    check->walk->reads++;
    return inner;
}

view_check view_check_entry(const view_check *check, ki_text key)
{
    view_check inner = *check;
    ki_buf name;
    ki_buf_init(&name, NULL, SAME_TEXT_MAX);
    EXPECT(ki_text_append(key, &name) == 0);
    EXPECT(ki_value_member(&check->there, ki_buf_str(&name), &inner.there) == 0);
    inner.is_there = ki_value_type(&inner.there) != KI_TYPE_NULL;
    check->walk->reads++;
    ki_buf_done(&name);
    return inner;
}

bool view_check_key(ki_text key, char text[static 4096])
{
    int len = ki_text_copy(key, text, 4096);
    return len >= 0 && strlen(text) == (size_t)len;
}

bool view_check_next_key(ki_value_iter *iter, const char *name, char key[static 4096],
                         ki_value *ret_element)
{
    while (ki_value_iter_next(iter, NULL, ret_element) > 0) {
        ki_value member = ki_value_at(ret_element, name);
        int len = ki_value_get_string(&member, key, 4096);
        if (len >= 0 && strlen(key) == (size_t)len) {
            return true;
        }
    }
    return false;
}

void view_check_found(const view_check *check, const ki_value *element, const char *name,
                      const char *key, const ki_value *found)
{
    ki_value member = ki_value_at(found, name);
    EXPECT(ki_value_equals_text(&member, key));
    EXPECT((const char *)found->bytes <= (const char *)element->bytes);
    check->walk->reads++;
}
