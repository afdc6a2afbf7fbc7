/* SPDX-License-Identifier: Apache-2.0 */
/* A check of every accessor of typed views: their headers consist of macros, which are defined here
 * in other ways, and the headers are included again. VIEW_HEADERS is a file that includes them all;
 * it must have been included before. Gives view_kinds[] and view_field_count. */
#ifndef TESTS_SUPPORT_EVERY_ACCESSOR_H
#define TESTS_SUPPORT_EVERY_ACCESSOR_H

#include "support/test.h"
#include "support/view_checks.h"

#pragma GCC diagnostic ignored "-Wdeprecated-declarations"
#pragma GCC diagnostic ignored "-Wunused-function" /* lists and maps that no field has */

#define KI_VIEW_AGAIN
#undef KI_DEPRECATED
#define KI_DEPRECATED

#undef KI_VIEW_INNER
#define KI_VIEW_INNER(L)
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
#include VIEW_HEADERS

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
static void check_double(const view_check *check, double number)
{
    view_check_double(check, number, 0);
}
VIEW_CHECK_LIST(ki_text, check_text)
VIEW_CHECK_LIST(ki_int64, check_int)
VIEW_CHECK_LIST(ki_bool, check_bool)
VIEW_CHECK_LIST(ki_double, check_double)
VIEW_CHECK_LIST(ki_bytes, view_check_bytes)
VIEW_CHECK_LIST(ki_quantity, view_check_quantity)
VIEW_CHECK_LIST(ki_timestamp, view_check_time)
VIEW_CHECK_LIST(ki_int_or_string, view_check_int_or_string)
VIEW_CHECK_LIST(ki_value, check_value)
VIEW_CHECK_MAP(ki_text, check_text)
VIEW_CHECK_MAP(ki_int64, check_int)
VIEW_CHECK_MAP(ki_bool, check_bool)
VIEW_CHECK_MAP(ki_double, check_double)
VIEW_CHECK_MAP(ki_bytes, view_check_bytes)
VIEW_CHECK_MAP(ki_quantity, view_check_quantity)
VIEW_CHECK_MAP(ki_timestamp, view_check_time)
VIEW_CHECK_MAP(ki_int_or_string, view_check_int_or_string)
VIEW_CHECK_MAP(ki_value, check_value)
VIEW_CHECK_LIST(ki_text_list, check_ki_text_list)
VIEW_CHECK_LIST(ki_text_map, check_ki_text_map)
VIEW_CHECK_MAP(ki_text_list, check_ki_text_list)
VIEW_CHECK_MAP(ki_text_map, check_ki_text_map)

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

#include VIEW_HEADERS

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
static const view_kind view_kinds[] = {
#include VIEW_HEADERS
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
static const size_t view_field_count = 0
#include VIEW_HEADERS
    ;

/** The checks of a kind, or NULL. */
static const view_kind *view_kind_of(ki_str api_version, ki_str kind)
{
    for (size_t i = 0; i < sizeof(view_kinds) / sizeof(view_kinds[0]); i++) {
        if (ki_str_eq_text(kind, view_kinds[i].kind) &&
            (view_kinds[i].api_version == NULL ||
             ki_str_eq_text(api_version, view_kinds[i].api_version))) {
            return &view_kinds[i];
        }
    }
    return NULL;
}

#endif
