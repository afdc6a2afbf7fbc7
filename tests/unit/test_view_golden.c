/* SPDX-License-Identifier: Apache-2.0 */
/* Every accessor of every typed view, on every golden vector and in both encodings, against what
 * paths read from Go's JSON. The checks are made of the headers themselves: they consist of macros,
 * which are defined here in other ways, and the headers are included again. */
#include <kinformer/encoding.h>

#include "api_headers.h"
#include "support/golden.h"
#include "support/test.h"
#include "support/view_checks.h"

#pragma GCC diagnostic ignored "-Wdeprecated-declarations"

#define KI_VIEW_AGAIN
#undef KI_DEPRECATED
#define KI_DEPRECATED

/* Setters are checked by test_view_edit_golden.c. */
#undef KI_VIEW_SET
#undef KI_VIEW_COPY
#undef KI_VIEW_DESCEND
#undef KI_VIEW_REACH
#define KI_VIEW_SET(V, put, set, remove, name)
#define KI_VIEW_COPY(V, put, copy, name)
#define KI_VIEW_DESCEND(R, edit, set, remove, name)
#define KI_VIEW_REACH(R, function, list, key_name)

/* ---- first: declare a function for each type ---- */

#undef KI_VIEW_TYPE
#undef KI_VIEW_LIST
#undef KI_VIEW_MAP
#undef KI_VIEW_KIND
#undef KI_VIEW_BEGIN
#undef KI_VIEW_END
#undef KI_VIEW_READ
#undef KI_VIEW_READ_OR
#undef KI_VIEW_WRAP
#undef KI_VIEW_FIND
#define KI_VIEW_BEGIN
#define KI_VIEW_END
#define KI_VIEW_READ(R, read, function, has, get, number, name)
#define KI_VIEW_READ_OR(R, read, otherwise, function, has, get, number, name)
#define KI_VIEW_WRAP(R, function, has, get, number, name)
#define KI_VIEW_FIND(R, function, list, key_number, name)
#define KI_VIEW_TYPE(T) static void check_##T(const view_check *check, T view);
#define KI_VIEW_LIST(T) static void check_##T##_list(const view_check *check, T##_list list);
#define KI_VIEW_MAP(T) static void check_##T##_map(const view_check *check, T##_map map);
#define KI_VIEW_KIND(T, api_version, kind)
#include "api_headers.h"

/* ---- then: define it ---- */

static void check_value(const view_check *check, ki_value value)
{
    view_check_value(check, &value);
}
static void check_text(const view_check *check, ki_text text)
{
    view_check_text(check, text, NULL);
}
static void check_int(const view_check *check, int64_t number)
{
    view_check_int(check, number, 0);
}
static void check_bool(const view_check *check, bool flag)
{
    view_check_bool(check, flag, false);
}
VIEW_CHECK_LIST(ki_text, check_text)
VIEW_CHECK_LIST(ki_int64, check_int)
VIEW_CHECK_LIST(ki_bool, check_bool)
VIEW_CHECK_LIST(ki_quantity, view_check_quantity)
VIEW_CHECK_LIST(ki_value, check_value)
VIEW_CHECK_MAP(ki_text, check_text)
VIEW_CHECK_MAP(ki_text_list, check_ki_text_list)
VIEW_CHECK_MAP(ki_bytes, view_check_bytes)
VIEW_CHECK_MAP(ki_quantity, view_check_quantity)
VIEW_CHECK_MAP(ki_timestamp, view_check_time)
VIEW_CHECK_MAP(ki_value, check_value)

#undef KI_VIEW_TYPE
#undef KI_VIEW_LIST
#undef KI_VIEW_MAP
#undef KI_VIEW_KIND
#undef KI_VIEW_BEGIN
#undef KI_VIEW_END
#undef KI_VIEW_READ
#undef KI_VIEW_READ_OR
#undef KI_VIEW_WRAP
#undef KI_VIEW_FIND

#define STRING(x) STRING_OF(x)
#define STRING_OF(x) #x

#define KI_VIEW_TYPE(T)
#define KI_VIEW_LIST(T) VIEW_CHECK_LIST(T, check_##T)
#define KI_VIEW_MAP(T) VIEW_CHECK_MAP(T, check_##T)
#define KI_VIEW_KIND(T, api_version, kind)                                                      \
    static void check_root_##T(view_walk *walk, const ki_object *object, const ki_object *json) \
    {                                                                                           \
        T view = T##_of(object);                                                                \
        view_check check = {walk, #T, "_of", ki_object_root(json), true};                       \
        assert_true(ki_view_exists(view));                                                      \
        check_##T(&check, view);                                                                \
    }
#define KI_VIEW_BEGIN                                                          \
    static void KI_VIEW_NAME(check_, KI_T)(const view_check *check, KI_T view) \
    {                                                                          \
        (void)check;                                                           \
        (void)view;
#define KI_VIEW_END }

#define CHECK_FIELD(has_name, get_name, name)                                              \
    static bool seen;                                                                      \
    ki_value got = {0};                                                                    \
    int r = KI_VIEW_NAME(KI_T, get_name)(view, &got);                                      \
    view_check c = view_check_field(check->walk, STRING(KI_T), name, &seen, &check->there, \
                                    KI_VIEW_NAME(KI_T, has_name)(view), r, &got);
/* By the function that reads: what checks it. */
#define check_ki_view_text view_check_text
#define check_ki_view_bool view_check_bool
#define check_ki_view_int32 view_check_int
#define check_ki_view_int64 view_check_int
#define check_ki_view_double view_check_double
#define check_ki_view_bytes view_check_bytes
#define check_ki_view_time view_check_time
#define check_ki_view_duration view_check_duration
#define check_ki_view_quantity view_check_quantity
#define check_ki_view_int_or_string view_check_int_or_string
#define check_ki_view_child check_value
#define KI_VIEW_READ(R, read, function, has, get, number, name)             \
    {                                                                       \
        CHECK_FIELD(has, get, name)                                         \
        KI_VIEW_NAME(check_, read)(&c, KI_VIEW_NAME(KI_T, function)(view)); \
    }
#define KI_VIEW_READ_OR(R, read, otherwise, function, has, get, number, name)          \
    {                                                                                  \
        CHECK_FIELD(has, get, name)                                                    \
        KI_VIEW_NAME(check_, read)(&c, KI_VIEW_NAME(KI_T, function)(view), otherwise); \
    }
#define KI_VIEW_WRAP(R, function, has, get, number, name) \
    {                                                     \
        CHECK_FIELD(has, get, name)                       \
        R child = KI_VIEW_NAME(KI_T, function)(view);     \
        if (c.is_there) {                                 \
            KI_VIEW_NAME(check_, R)(&c, child);           \
        } else {                                          \
            check_value(&c, child.value);                 \
        }                                                 \
    }
#define KI_VIEW_FIND(R, function, list, key_number, name)                       \
    {                                                                           \
        ki_value all = KI_VIEW_NAME(KI_T, list)(view).value;                    \
        ki_value_iter iter = {0};                                               \
        ki_value element;                                                       \
        char key[4096];                                                         \
        bool open = ki_value_iter_begin(&all, &iter) == 0;                      \
        while (open && view_check_next_key(&iter, name, key, &element)) {       \
            R found = KI_VIEW_NAME(KI_T, function)(view, key);                  \
            view_check_found(check, &element, name, key, &found.value);         \
        }                                                                       \
        R none = KI_VIEW_NAME(KI_T, function)(view, "no element has this key"); \
        assert_false(ki_view_exists(none));                                     \
    }

#include "api_headers.h"

/* ---- the kinds ---- */

#undef KI_VIEW_TYPE
#undef KI_VIEW_LIST
#undef KI_VIEW_MAP
#undef KI_VIEW_KIND
#undef KI_VIEW_BEGIN
#undef KI_VIEW_END
#undef KI_VIEW_READ
#undef KI_VIEW_READ_OR
#undef KI_VIEW_WRAP
#undef KI_VIEW_FIND

#define KI_VIEW_TYPE(T)
#define KI_VIEW_LIST(T)
#define KI_VIEW_MAP(T)
#define KI_VIEW_BEGIN
#define KI_VIEW_END
#define KI_VIEW_READ(R, read, function, has, get, number, name)
#define KI_VIEW_READ_OR(R, read, otherwise, function, has, get, number, name)
#define KI_VIEW_WRAP(R, function, has, get, number, name)
#define KI_VIEW_FIND(R, function, list, key_number, name)

typedef struct view_kind {
    const char *api_version; /* NULL: any */
    const char *kind;
    void (*check)(view_walk *walk, const ki_object *object, const ki_object *json);
} view_kind;

#define KI_VIEW_KIND(T, api_version, kind) {api_version, kind, check_root_##T},
static const view_kind kinds[] = {
#include "api_headers.h"
};

/* ---- and how many fields there are ---- */

#undef KI_VIEW_KIND
#undef KI_VIEW_READ
#undef KI_VIEW_READ_OR
#undef KI_VIEW_WRAP
#define KI_VIEW_KIND(T, api_version, kind)
#define KI_VIEW_READ(R, read, function, has, get, number, name) +1
#define KI_VIEW_READ_OR(R, read, otherwise, function, has, get, number, name) +1
#define KI_VIEW_WRAP(R, function, has, get, number, name) +1
static const size_t field_count = 0
#include "api_headers.h"
    ;

static const view_kind *kind_of(const golden_record *record)
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

static void check_record(const golden_record *record, void *user)
{
    const ki_object_options options = {.max_depth = 1024};
    ki_object *proto = NULL;
    ki_object *json = NULL;
    const view_kind *kind = kind_of(record);
    assert_int_equal(
        ki_object_from_protobuf(record->protobuf.ptr, record->protobuf.len, NULL, &proto, NULL), 0);
    assert_int_equal(ki_object_from_json(record->json.ptr, record->json.len, &options, &json, NULL),
                     0);
    kind->check(user, proto, json);
    kind->check(user, json, json);
    ki_object_unref(proto);
    ki_object_unref(json);
}

static void every_accessor_reads_what_its_path_reads(void **state)
{
    (void)state;
    view_walk walk = {0};
    size_t records = golden_each(TEST_DATA_DIR "/protobuf", check_record, &walk);
    print_message("%zu objects, %zu fields, %zu reads, %zu of absent fields\n", records,
                  walk.fields, walk.reads, walk.absent);
    assert_true(records > 2000);
    assert_int_equal(walk.fields, field_count); /* each was there once, or more often */
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_accessor_reads_what_its_path_reads),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
