/* SPDX-License-Identifier: Apache-2.0 */
#include "support/edit_checks.h"

#include <kinformer/encoding.h>
#include <kinformer/error.h>

#include "object/text/base64.h"
#include "object/text/rfc3339.h"
#include "support/same_value.h"
#include "support/test.h"

/* ---- values, read without views ---- */

bool edit_is_there(edit_walk *walk, const ki_value *parent, const char *name, bool *seen,
                   ki_value *ret_value)
{
    if (ki_value_member(parent, ki_str_from(name), ret_value) < 0 ||
        ki_value_type(ret_value) == KI_TYPE_NULL) {
        return false;
    }
    walk->fields += !*seen;
    walk->writes++;
    *seen = true;
    return true;
}

static ki_str read_string(edit_walk *walk, const ki_value *value)
{
    ki_buf_clear(&walk->text);
    assert_int_equal(ki_value_copy_string(value, &walk->text), 0);
    return ki_buf_str(&walk->text);
}

const char *read_ki_place_set_text(edit_walk *walk, const ki_value *value)
{
    ki_str text = read_string(walk, value);
    const char *start = text.len != 0 ? text.ptr : "";
    walk->is_cut = strlen(start) != text.len;
    return start;
}

const char *read_ki_place_set_quantity(edit_walk *walk, const ki_value *value)
{
    ki_str number;
    if (ki_value_number_text(value, &number) == 0) {
        ki_buf_clear(&walk->text);
        assert_int_equal(ki_buf_add_str(&walk->text, number), 0);
        return ki_buf_text(&walk->text);
    }
    return read_ki_place_set_text(walk, value);
}

bool read_ki_place_set_bool(edit_walk *walk, const ki_value *value)
{
    (void)walk;
    bool flag = false;
    assert_int_equal(ki_value_bool(value, &flag), 0);
    return flag;
}

int64_t read_ki_place_set_int64(edit_walk *walk, const ki_value *value)
{
    (void)walk;
    int64_t number = 0;
    assert_int_equal(ki_value_int64(value, &number), 0);
    return number;
}

double read_ki_place_set_double(edit_walk *walk, const ki_value *value)
{
    (void)walk;
    double number = 0;
    assert_int_equal(ki_value_double(value, &number), 0);
    return number;
}

ki_str read_ki_place_set_bytes(edit_walk *walk, const ki_value *value)
{
    size_t len = 0;
    ki_str text = read_string(walk, value);
    assert_int_equal(ki__base64_decode(text, walk->text.data, &len), 0);
    return ki_str_make(text.ptr, len);
}

ki_timestamp read_ki_place_set_time(edit_walk *walk, const ki_value *value)
{
    ki_timestamp time = {0, 0};
    assert_int_equal(ki__rfc3339_read_nanos(read_string(walk, value), &time.seconds, &time.nanos),
                     0);
    return time;
}

ki_timestamp read_ki_place_set_micro_time(edit_walk *walk, const ki_value *value)
{
    return read_ki_place_set_time(walk, value);
}

ki_int_or_string read_ki_place_set_int_or_string(edit_walk *walk, const ki_value *value)
{
    return ki_value_type(value) == KI_TYPE_STRING
               ? ki_int_or_string_text(read_ki_place_set_text(walk, value))
               : ki_int_or_string_int((int32_t)read_ki_place_set_int64(walk, value));
}

ki_value read_ki_place_set_value(edit_walk *walk, const ki_value *value)
{
    (void)walk;
    return *value;
}

ki_str read_ki_place_set_json(edit_walk *walk, const ki_value *value)
{
    ki_buf_clear(&walk->text);
    assert_int_equal(ki_value_write_json(value, &walk->text), 0);
    return ki_buf_str(&walk->text);
}

ki_text read_ki_place_copy_text(edit_walk *walk, const ki_value *value)
{
    (void)walk;
    return ki_view_text(value, 0, NULL, NULL);
}

ki_quantity read_ki_place_copy_quantity(edit_walk *walk, const ki_value *value)
{
    (void)walk;
    return ki_view_quantity(value, 0, NULL);
}

void edit_repair(edit_walk *walk, ki_place at, const char *name, const ki_value *value,
                 size_t index)
{
    if (walk->is_cut) {
        if (name == NULL) {
            ki_place_remove_at(at, index);
        }
        ki_place_set_value(at, name, *value);
        walk->is_cut = false;
        walk->cut++;
    }
}

bool edit_read_key(const ki_value *key, char text[static 4096])
{
    int len = ki_value_get_string(key, text, 4096);
    return len >= 0 && strlen(text) == (size_t)len;
}

bool edit_has_plain_keys(edit_walk *walk, const ki_value *map)
{
    char text[4096];
    ki_value_iter iter = {0};
    ki_value key;
    ki_value value;
    if (ki_value_type(map) != KI_TYPE_MAP || ki_value_iter_begin(map, &iter) < 0) {
        return true;
    }
    while (ki_value_iter_next(&iter, &key, &value) > 0) {
        if (!edit_read_key(&key, text)) {
            walk->cut++;
            return false;
        }
    }
    return true;
}

bool edit_is_first_of_key(const ki_value *list, size_t index, const char *name,
                          char key[static 4096])
{
    ki_value element = ki_view_element(list, index);
    ki_value member = ki_value_at(&element, name);
    int len = ki_value_get_string(&member, key, 4096);
    bool first = len >= 0 && strlen(key) == (size_t)len;
    for (size_t i = 0; first && i < index; i++) {
        element = ki_view_element(list, i);
        member = ki_value_at(&element, name);
        first = !ki_value_equals_text(&member, key);
    }
    return first;
}

bool edit_next(ki_value_iter *iter, ki_value *key, ki_value *value)
{
    int r;
    do {
        r = ki_value_iter_next(iter, key, value);
    } while (r > 0 && ki_value_type(&iter->container) == KI_TYPE_MAP &&
             ki_value_type(value) == KI_TYPE_NULL);
    return r > 0;
}

bool edit_append_null(ki_place list, const ki_value *value)
{
    bool is_null = ki_value_type(value) == KI_TYPE_NULL;
    if (is_null) {
        ki_place_set_value(list, NULL, *value);
    }
    return is_null;
}

/* ---- comparison ---- */

static bool reads_time(const ki_value *value, int64_t *ret_seconds)
{
    char text[64];
    int32_t nanos;
    int len = ki_value_get_string(value, text, sizeof(text));
    return len >= 0 &&
           ki__rfc3339_read_nanos(ki_str_make(text, (size_t)len), ret_seconds, &nanos) == 0;
}

/* Whether both are the same time in seconds, or one is a number and the other its text. */
static bool means_the_same(const ki_value *a, const ki_value *b)
{
    int64_t left;
    int64_t right;
    ki_str number;
    if (ki_value_type(a) == KI_TYPE_STRING && ki_value_type(b) == KI_TYPE_STRING) {
        return reads_time(a, &left) && reads_time(b, &right) && left == right;
    }
    return (ki_value_number_text(a, &number) == 0 && ki_value_equals(b, number)) ||
           (ki_value_number_text(b, &number) == 0 && ki_value_equals(a, number));
}

static bool has_value(const ki_value *map, const ki_value *key, ki_value *ret_value)
{
    return same_find(map, key, ret_value) && ki_value_type(ret_value) != KI_TYPE_NULL;
}

static bool print_difference(const ki_value *a, const ki_value *b)
{
    ki_buf text;
    ki_buf_init(&text, NULL, SAME_TEXT_MAX);
    (void)!ki_value_write_json(a, &text);
    (void)!ki_buf_add_str(&text, ki_str_from(" is not "));
    (void)!ki_value_write_json(b, &text);
    print_message("%.1000s\n", text.data);
    ki_buf_done(&text);
    return false;
}

/* Whether all of `a` is in `b`. Members that are null count as absent: setters cannot set them. */
static bool is_within(const edit_walk *walk, const ki_value *a, const ki_value *b)
{
    ki_type type = ki_value_type(a);
    ki_value_iter iter = {0};
    ki_value key;
    ki_value value;
    ki_value other;
    size_t index = 0;
    bool same = type == ki_value_type(b) && same_scalar(a, b);
    if (!same || (type != KI_TYPE_LIST && type != KI_TYPE_MAP)) {
        return same || (walk->is_by_meaning && means_the_same(a, b)) || print_difference(a, b);
    }
    assert_int_equal(ki_value_iter_begin(a, &iter), 0);
    for (; same && ki_value_iter_next(&iter, &key, &value) > 0; index++) {
        if (type == KI_TYPE_LIST) {
            other = ki_view_element(b, index);
            same = is_within(walk, &value, &other);
        } else if (ki_value_type(&value) != KI_TYPE_NULL) {
            same = has_value(b, &key, &other) ? is_within(walk, &value, &other)
                                              : print_difference(&key, b);
        }
    }
    return same;
}

static void assert_within(const edit_walk *walk, const ki_object *a, const ki_object *b)
{
    ki_value left = ki_object_root(a);
    ki_value right = ki_object_root(b);
    if (!is_within(walk, &left, &right)) {
        fail_msg("%s, mode %d: objects differ", ki_object_kind(a), walk->mode);
    }
}

ki_object *edit_check_object(edit_walk *walk, const edit_kind *kind, const ki_object *from,
                             const ki_object *json)
{
    ki_error error = KI_ERROR_INIT;
    ki_edit *edit = NULL;
    ki_object *made = NULL;
    const ki_edit_options options = {.size = sizeof(options), .max_bytes = 1 << 29};
    assert_int_equal(ki_edit_new(walk->mode == IN_PLACE ? from : NULL, &options, &edit, &error), 0);
    if (walk->mode != IN_PLACE && kind->api_version == NULL) {
        ki_edit_set_string(edit, "apiVersion", ki_object_api_version(json));
    }
    kind->fill(walk, from, edit);
    if (ki_edit_object(edit, &made, &error) < 0) {
        fail_msg("%s: %s", kind->kind, error.message);
    }
    assert_within(walk, json, made);
    assert_within(walk, made, json);
    (void)ki_edit_unref(edit);
    return made;
}

const edit_kind *edit_kind_of(const edit_kind *kinds, size_t count, ki_str api_version, ki_str kind)
{
    for (size_t i = 0; i < count; i++) {
        if (ki_str_eq_text(kind, kinds[i].kind) &&
            (kinds[i].api_version == NULL || ki_str_eq_text(api_version, kinds[i].api_version))) {
            return &kinds[i];
        }
    }
    fail_msg("no view of %.*s %.*s", KI_STR_ARG(api_version), KI_STR_ARG(kind));
    return NULL;
}
