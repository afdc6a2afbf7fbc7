/* SPDX-License-Identifier: Apache-2.0 */
/* Every setter of every typed view, on every golden vector and in both encodings. Values are read
 * without views and set through them: into an empty edit, which must become the same object; and
 * into an edit of the object itself, after each was removed, which must leave no change. The
 * headers are included again with other macros, as in test_view_golden.c. */
#include <kinformer/edit.h>
#include <kinformer/encoding.h>

#include "api_headers.h"
#include "object/text/base64.h"
#include "object/text/rfc3339.h"
#include "support/golden.h"
#include "support/same_value.h"
#include "support/test.h"

#pragma GCC diagnostic ignored "-Wdeprecated-declarations"
#pragma GCC diagnostic ignored "-Wconversion" /* 32 bits are read as 64 */

typedef enum walk_mode {
    BUILD,    /* from nothing, by set */
    COPY,     /* from nothing, by copy where there is one */
    IN_PLACE, /* remove and set each field of the object */
} walk_mode;

typedef struct edit_walk {
    walk_mode mode;
    size_t fields; /* that were set in some object */
    size_t writes;
    size_t keys; /* elements found by key */
    size_t cut;  /* strings with a NUL inside */
    ki_buf text; /* of the value that is set */
    bool is_cut; /* it has a NUL inside, so that a C string ends too early */
} edit_walk;

/* ---- values, read without views ---- */

static bool is_there(edit_walk *walk, const ki_value *parent, const char *name, bool *seen,
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

/* By the function that sets: the value for it. */
static const char *read_ki_place_set_text(edit_walk *walk, const ki_value *value)
{
    ki_str text = read_string(walk, value);
    const char *start = text.len != 0 ? text.ptr : "";
    walk->is_cut = strlen(start) != text.len;
    return start;
}

static const char *read_ki_place_set_quantity(edit_walk *walk, const ki_value *value)
{
    return read_ki_place_set_text(walk, value);
}

static bool read_ki_place_set_bool(edit_walk *walk, const ki_value *value)
{
    (void)walk;
    bool flag = false;
    assert_int_equal(ki_value_bool(value, &flag), 0);
    return flag;
}

static int64_t read_ki_place_set_int64(edit_walk *walk, const ki_value *value)
{
    (void)walk;
    int64_t number = 0;
    assert_int_equal(ki_value_int64(value, &number), 0);
    return number;
}

static double read_ki_place_set_double(edit_walk *walk, const ki_value *value)
{
    (void)walk;
    double number = 0;
    assert_int_equal(ki_value_double(value, &number), 0);
    return number;
}

static ki_str read_ki_place_set_bytes(edit_walk *walk, const ki_value *value)
{
    size_t len = 0;
    ki_str text = read_string(walk, value);
    assert_int_equal(ki__base64_decode(text, walk->text.data, &len), 0);
    return ki_str_make(text.ptr, len);
}

static ki_timestamp read_ki_place_set_time(edit_walk *walk, const ki_value *value)
{
    ki_timestamp time = {0, 0};
    assert_int_equal(ki__rfc3339_read_nanos(read_string(walk, value), &time.seconds, &time.nanos),
                     0);
    return time;
}

static ki_timestamp read_ki_place_set_micro_time(edit_walk *walk, const ki_value *value)
{
    return read_ki_place_set_time(walk, value);
}

static ki_int_or_string read_ki_place_set_int_or_string(edit_walk *walk, const ki_value *value)
{
    return ki_value_type(value) == KI_TYPE_STRING
               ? ki_int_or_string_text(read_ki_place_set_text(walk, value))
               : ki_int_or_string_int((int32_t)read_ki_place_set_int64(walk, value));
}

static ki_value read_ki_place_set_value(edit_walk *walk, const ki_value *value)
{
    (void)walk;
    return *value;
}

static ki_str read_ki_place_set_json(edit_walk *walk, const ki_value *value)
{
    ki_buf_clear(&walk->text);
    assert_int_equal(ki_value_write_json(value, &walk->text), 0);
    return ki_buf_str(&walk->text);
}

static ki_text read_ki_place_copy_text(edit_walk *walk, const ki_value *value)
{
    (void)walk;
    return ki_view_text(value, 0, NULL, NULL);
}

static ki_quantity read_ki_place_copy_quantity(edit_walk *walk, const ki_value *value)
{
    (void)walk;
    return ki_view_quantity(value, 0, NULL);
}

/* Replaces a string that was cut. `name` is NULL for the last element of a list. */
static void repair(edit_walk *walk, ki_place at, const char *name, const ki_value *value,
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

/* Those that have a copy too. */
enum {
    has_copy_ki_place_set_text = 1,
    has_copy_ki_place_set_quantity = 1,
    has_copy_ki_place_set_value = 1,
    has_copy_ki_place_set_bool = 0,
    has_copy_ki_place_set_int64 = 0,
    has_copy_ki_place_set_double = 0,
    has_copy_ki_place_set_bytes = 0,
    has_copy_ki_place_set_time = 0,
    has_copy_ki_place_set_micro_time = 0,
    has_copy_ki_place_set_int_or_string = 0,
};

/* The key of an entry; false if it cannot be passed as a C string. */
static bool read_key(const ki_value *key, char text[static 4096])
{
    int len = ki_value_get_string(key, text, 4096);
    return len >= 0 && strlen(text) == (size_t)len;
}

/* Whether the keys of a map can be passed as C strings; true for other types. */
static bool has_plain_keys(edit_walk *walk, const ki_value *map)
{
    char text[4096];
    ki_value_iter iter = {0};
    ki_value key;
    ki_value value;
    if (ki_value_type(map) != KI_TYPE_MAP || ki_value_iter_begin(map, &iter) < 0) {
        return true;
    }
    while (ki_value_iter_next(&iter, &key, &value) > 0) {
        if (!read_key(&key, text)) {
            walk->cut++;
            return false;
        }
    }
    return true;
}

/* Whether element `index` is the first with its key, which is copied to `key`. */
static bool is_first_of_key(const ki_value *list, size_t index, const char *name,
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

/* The next element or entry; entries that are null are skipped. */
static bool next_value(ki_value_iter *iter, ki_value *key, ki_value *value)
{
    int r;
    do {
        r = ki_value_iter_next(iter, key, value);
    } while (r > 0 && ki_value_type(&iter->container) == KI_TYPE_MAP &&
             ki_value_type(value) == KI_TYPE_NULL);
    return r > 0;
}

/* ---- first: declare a function for each type ---- */

#define KI_VIEW_AGAIN
#undef KI_VIEW_TYPE
#undef KI_VIEW_LIST
#undef KI_VIEW_MAP
#undef KI_VIEW_KIND
#undef KI_VIEW_BEGIN
#undef KI_VIEW_END
#undef KI_VIEW_READ
#undef KI_VIEW_READ_OR
#undef KI_VIEW_WRAP
#undef KI_VIEW_SET
#undef KI_VIEW_COPY
#undef KI_VIEW_DESCEND
#undef KI_VIEW_KEYED
#define KI_VIEW_BEGIN
#define KI_VIEW_END
#define KI_VIEW_READ(R, read, function, has, get, number, name)
#define KI_VIEW_READ_OR(R, read, otherwise, function, has, get, number, name)
#define KI_VIEW_WRAP(R, function, has, get, number, name)
#define KI_VIEW_SET(V, put, set, remove, name)
#define KI_VIEW_COPY(V, put, copy, name)
#define KI_VIEW_DESCEND(R, edit, set, remove, name)
#define KI_VIEW_KEYED(f, R, key, key_number)
#define DECLARE(T) static void edit_##T(edit_walk *walk, const ki_value *from, T##_edit at);
#define KI_VIEW_TYPE(T) DECLARE(T)
#define KI_VIEW_LIST(T) DECLARE(T##_list)
#define KI_VIEW_MAP(T) DECLARE(T##_map)
#define KI_VIEW_KIND(T, api_version, kind)
#include "api_headers.h"

/* ---- then: define it ---- */

#define EDIT_EACH(T)                                                         \
    static void edit_##T(edit_walk *walk, const ki_value *from, T##_edit at) \
    {                                                                        \
        char key[4096];                                                      \
        ki_value_iter iter = {0};                                            \
        ki_value name;                                                       \
        ki_value value;                                                      \
        size_t index = 0;                                                    \
        (void)key;                                                           \
        assert_int_equal(ki_value_iter_begin(from, &iter), 0);               \
        for (; next_value(&iter, &name, &value); index++, walk->writes++)

/* Elements are in the list already when it is edited in place: they rotate, or are edited. */
#define EDIT_VALUES(T, put)                                                \
    EDIT_EACH(T##_list)                                                    \
    {                                                                      \
        if (walk->mode == IN_PLACE) {                                      \
            T##_list_remove_at(at, 0);                                     \
        }                                                                  \
        T##_list_append(at, read_##put(walk, &value));                     \
        repair(walk, at.place, NULL, &value,                               \
               walk->mode == IN_PLACE ? ki_value_count(from) - 1 : index); \
    }                                                                      \
    }
#define EDIT_MESSAGES(T)                                                                      \
    EDIT_EACH(T##_list)                                                                       \
    {                                                                                         \
        edit_##T(walk, &value,                                                                \
                 walk->mode == IN_PLACE ? T##_list_edit_at(at, index) : T##_list_append(at)); \
    }                                                                                         \
    }
#define EDIT_ENTRIES(T, put, copy)                            \
    EDIT_EACH(T##_map)                                        \
    {                                                         \
        if (read_key(&name, key) && walk->mode == IN_PLACE) { \
            T##_map_remove(at, key);                          \
        }                                                     \
        copy T##_map_set(at, key, read_##put(walk, &value));  \
        repair(walk, at.place, key, &value, 0);               \
    }                                                         \
    }
#define BY_COPY(T, put)                                  \
    if (walk->mode == COPY) {                            \
        T##_map_copy(at, key, read_##put(walk, &value)); \
    } else
#define EDIT_MAPPED(T)                                        \
    EDIT_EACH(T##_map)                                        \
    {                                                         \
        if (read_key(&name, key)) {                           \
            edit_##T(walk, &value, T##_map_edit_at(at, key)); \
        }                                                     \
    }                                                         \
    }
EDIT_VALUES(ki_text, ki_place_set_text)
EDIT_VALUES(ki_int64, ki_place_set_int64)
EDIT_VALUES(ki_bool, ki_place_set_bool)
EDIT_VALUES(ki_quantity, ki_place_set_quantity)
EDIT_VALUES(ki_value, ki_place_set_value)
EDIT_ENTRIES(ki_text, ki_place_set_text, BY_COPY(ki_text, ki_place_copy_text))
EDIT_ENTRIES(ki_quantity, ki_place_set_quantity, BY_COPY(ki_quantity, ki_place_copy_quantity))
EDIT_ENTRIES(ki_bytes, ki_place_set_bytes, )
EDIT_ENTRIES(ki_timestamp, ki_place_set_time, )
EDIT_ENTRIES(ki_value, ki_place_set_value, )
EDIT_MAPPED(ki_text_list)

#undef KI_VIEW_TYPE
#undef KI_VIEW_LIST
#undef KI_VIEW_MAP
#undef KI_VIEW_KIND
#undef KI_VIEW_BEGIN
#undef KI_VIEW_END
#undef KI_VIEW_SET
#undef KI_VIEW_COPY
#undef KI_VIEW_DESCEND
#undef KI_VIEW_KEYED

#define KI_VIEW_TYPE(T)
#define KI_VIEW_LIST(T) EDIT_MESSAGES(T)
#define KI_VIEW_MAP(T) EDIT_MAPPED(T)
#define KI_VIEW_KIND(T, api_version, kind)                                             \
    static void edit_root_##T(edit_walk *walk, const ki_object *object, ki_edit *edit) \
    {                                                                                  \
        ki_value root = ki_object_root(object);                                        \
        edit_##T(walk, &root, T##_edit_of(edit));                                      \
    }
#define KI_VIEW_BEGIN                                                             \
    static void KI_VIEW_NAME(edit_, KI_T)(edit_walk * walk, const ki_value *from, \
                                          KI_VIEW_NAME(KI_T, _edit) at)           \
    {                                                                             \
        (void)walk;                                                               \
        (void)from;                                                               \
        (void)at;
#define KI_VIEW_END }
#define KI_VIEW_SET(V, put, set, remove, name)                     \
    {                                                              \
        static bool seen;                                          \
        ki_value value;                                            \
        if (is_there(walk, from, name, &seen, &value) &&           \
            !(walk->mode == COPY && has_copy_##put)) {             \
            if (walk->mode == IN_PLACE) {                          \
                KI_VIEW_NAME(KI_T, remove)(at);                    \
            }                                                      \
            KI_VIEW_NAME(KI_T, set)(at, read_##put(walk, &value)); \
            repair(walk, at.place, name, &value, 0);               \
        }                                                          \
    }
#define KI_VIEW_COPY(V, put, copy, name)                                       \
    {                                                                          \
        ki_value value;                                                        \
        static bool seen = true;                                               \
        if (walk->mode == COPY && is_there(walk, from, name, &seen, &value)) { \
            KI_VIEW_NAME(KI_T, copy)(at, read_##put(walk, &value));            \
        }                                                                      \
    }
#define KI_VIEW_DESCEND(R, edit, set, remove, name)                        \
    {                                                                      \
        static bool seen;                                                  \
        R view;                                                            \
        if (is_there(walk, from, name, &seen, &view.value)) {              \
            if (walk->mode == IN_PLACE) {                                  \
                KI_VIEW_NAME(KI_T, remove)(at);                            \
                KI_VIEW_NAME(KI_T, set)(at, view);                         \
            }                                                              \
            if (has_plain_keys(walk, &view.value)) {                       \
                edit_##R(walk, &view.value, KI_VIEW_NAME(KI_T, edit)(at)); \
            } else {                                                       \
                KI_VIEW_NAME(KI_T, set)(at, view);                         \
            }                                                              \
        }                                                                  \
    }
/* The place by key is that of the first element with the key. */
#define KI_VIEW_KEYED(f, R, key, key_number) \
    EDIT_KEYED(R, _##f, _edit_##f, _edit_##f##_by_##key, #key)
#define EDIT_KEYED(R, read, edit, reach, key_name)                                    \
    if (walk->mode == IN_PLACE) {                                                     \
        char key[4096];                                                               \
        KI_T view = {*from};                                                          \
        R##_list list = KI_VIEW_NAME(KI_T, read)(view);                               \
        for (size_t i = 0; i < R##_list_count(list); i++) {                           \
            if (is_first_of_key(&list.value, i, key_name, key)) {                     \
                R##_edit element = R##_list_edit_at(KI_VIEW_NAME(KI_T, edit)(at), i); \
                assert_int_equal(KI_VIEW_NAME(KI_T, reach)(at, key).place.node,       \
                                 element.place.node);                                 \
                walk->keys++;                                                         \
            }                                                                         \
        }                                                                             \
    }

#include "api_headers.h"

/* ---- the kinds ---- */

#undef KI_VIEW_LIST
#undef KI_VIEW_MAP
#undef KI_VIEW_KIND
#undef KI_VIEW_BEGIN
#undef KI_VIEW_END
#undef KI_VIEW_SET
#undef KI_VIEW_COPY
#undef KI_VIEW_DESCEND
#undef KI_VIEW_KEYED
#define KI_VIEW_LIST(T)
#define KI_VIEW_MAP(T)
#define KI_VIEW_BEGIN
#define KI_VIEW_END
#define KI_VIEW_SET(V, put, set, remove, name)
#define KI_VIEW_COPY(V, put, copy, name)
#define KI_VIEW_DESCEND(R, edit, set, remove, name)
#define KI_VIEW_KEYED(f, R, key, key_number)

typedef struct edit_kind {
    const char *api_version; /* NULL: any */
    const char *kind;
    void (*fill)(edit_walk *walk, const ki_object *object, ki_edit *edit);
} edit_kind;

#define KI_VIEW_KIND(T, api_version, kind) {api_version, kind, edit_root_##T},
static const edit_kind kinds[] = {
#include "api_headers.h"
};

/* ---- and how many fields there are ---- */

#undef KI_VIEW_KIND
#undef KI_VIEW_SET
#undef KI_VIEW_DESCEND
#define KI_VIEW_KIND(T, api_version, kind)
#define KI_VIEW_SET(V, put, set, remove, name) +1
#define KI_VIEW_DESCEND(R, edit, set, remove, name) +1
static const size_t field_count = 0
#include "api_headers.h"
    ;

static const edit_kind *kind_of(const golden_record *record)
{
    for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++) {
        if (ki_str_eq_text(record->kind, kinds[i].kind) &&
            (kinds[i].api_version == NULL ||
             ki_str_eq_text(record->api_version, kinds[i].api_version))) {
            return &kinds[i];
        }
    }
    fail_msg("no view of %.*s %.*s", KI_STR_ARG(record->api_version), KI_STR_ARG(record->kind));
    return NULL;
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
static bool is_within(const ki_value *a, const ki_value *b)
{
    ki_type type = ki_value_type(a);
    ki_value_iter iter = {0};
    ki_value key;
    ki_value value;
    ki_value other;
    size_t index = 0;
    bool same = type == ki_value_type(b) && same_scalar(a, b);
    if (!same || (type != KI_TYPE_LIST && type != KI_TYPE_MAP)) {
        return same || print_difference(a, b);
    }
    assert_int_equal(ki_value_iter_begin(a, &iter), 0);
    for (; same && ki_value_iter_next(&iter, &key, &value) > 0; index++) {
        if (type == KI_TYPE_LIST) {
            other = ki_view_element(b, index);
            same = is_within(&value, &other);
        } else if (ki_value_type(&value) != KI_TYPE_NULL) {
            same =
                has_value(b, &key, &other) ? is_within(&value, &other) : print_difference(&key, b);
        }
    }
    return same;
}

static void assert_within(const ki_object *a, const ki_object *b, walk_mode mode)
{
    ki_value left = ki_object_root(a);
    ki_value right = ki_object_root(b);
    if (!is_within(&left, &right)) {
        fail_msg("%s, mode %d: objects differ", ki_object_kind(a), mode);
    }
}

/* `from` and `json` are the same object; `from` is in either encoding. */
static void check_object(edit_walk *walk, const edit_kind *kind, const ki_object *from,
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
    assert_within(json, made, walk->mode);
    assert_within(made, json, walk->mode);
    ki_object_unref(made);
    (void)ki_edit_unref(edit);
}

static void check_record(const golden_record *record, void *user)
{
    edit_walk *walk = user;
    ki_object *proto = NULL;
    ki_object *json = NULL;
    const edit_kind *kind = kind_of(record);
    assert_int_equal(
        ki_object_from_protobuf(record->protobuf.ptr, record->protobuf.len, NULL, &proto, NULL), 0);
    assert_int_equal(ki_object_from_json(record->json.ptr, record->json.len, NULL, &json, NULL), 0);
    for (walk->mode = BUILD; walk->mode <= IN_PLACE; walk->mode++) {
        check_object(walk, kind, json, json);
        check_object(walk, kind, proto, json);
    }
    ki_object_unref(proto);
    ki_object_unref(json);
}

static void every_setter_writes_what_its_path_reads(void **state)
{
    (void)state;
    edit_walk walk = {.mode = BUILD};
    ki_buf_init(&walk.text, NULL, SAME_TEXT_MAX);
    size_t records = golden_each(TEST_DATA_DIR "/protobuf", check_record, &walk);
    print_message("%zu objects, %zu fields, %zu writes, %zu by key; %zu strings with NUL\n",
                  records, walk.fields, walk.writes, walk.keys, walk.cut);
    assert_true(records > 2000);
    assert_true(walk.keys > 1000);
    assert_true(walk.cut < walk.writes / 100);
    assert_int_equal(walk.fields, field_count); /* each was set once, or more often */
    ki_buf_done(&walk.text);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_setter_writes_what_its_path_reads),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
