/* SPDX-License-Identifier: Apache-2.0 */
/* A check of every setter of typed views: values are read without views and set through them, into
 * an empty edit, which must become the same object; and into an edit of the object itself, after
 * each was removed, which must leave no change. Headers of views consist of macros, which are
 * defined here in other ways, and the headers are included again. VIEW_HEADERS is a file that
 * includes them all; it must have been included before. Gives edit_kinds[] and edit_field_count. If
 * every_accessor.h is included too, it must be first. */
#ifndef TESTS_SUPPORT_EVERY_SETTER_H
#define TESTS_SUPPORT_EVERY_SETTER_H

#include "support/edit_checks.h"
#include "support/test.h"

#pragma GCC diagnostic ignored "-Wdeprecated-declarations"
#pragma GCC diagnostic ignored "-Wconversion"      /* 32 bits are read as 64 */
#pragma GCC diagnostic ignored "-Wunused-function" /* lists and maps that no field has */

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

/* ---- first: declare a function for each type ---- */

#define KI_VIEW_AGAIN
#undef KI_VIEW_INNER
#define KI_VIEW_INNER(L)
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
#include VIEW_HEADERS

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
        for (; edit_next(&iter, &name, &value); index++, walk->writes++)

/* Elements are in the list already when it is edited in place: they rotate, or are edited. */
#define EDIT_VALUES(T, put)                                                         \
    EDIT_EACH(T##_list)                                                             \
    {                                                                               \
        if (walk->mode == IN_PLACE) {                                               \
            T##_list_remove_at(at, 0);                                              \
        }                                                                           \
        if (!edit_append_null(at.place, &value)) {                                  \
            T##_list_append(at, read_##put(walk, &value));                          \
            edit_repair(walk, at.place, NULL, &value,                               \
                        walk->mode == IN_PLACE ? ki_value_count(from) - 1 : index); \
        }                                                                           \
    }                                                                               \
    }
#define EDIT_MESSAGES(T)                                                            \
    EDIT_EACH(T##_list)                                                             \
    {                                                                               \
        if (walk->mode == IN_PLACE && ki_value_type(&value) != KI_TYPE_NULL) {      \
            edit_##T(walk, &value, T##_list_edit_at(at, index));                    \
        } else if (walk->mode != IN_PLACE && !edit_append_null(at.place, &value)) { \
            edit_##T(walk, &value, T##_list_append(at));                            \
        }                                                                           \
    }                                                                               \
    }
#define EDIT_ENTRIES(T, put, copy)                                 \
    EDIT_EACH(T##_map)                                             \
    {                                                              \
        if (edit_read_key(&name, key) && walk->mode == IN_PLACE) { \
            T##_map_remove(at, key);                               \
        }                                                          \
        copy T##_map_set(at, key, read_##put(walk, &value));       \
        edit_repair(walk, at.place, key, &value, 0);               \
    }                                                              \
    }
#define BY_COPY(T, put)                                  \
    if (walk->mode == COPY) {                            \
        T##_map_copy(at, key, read_##put(walk, &value)); \
    } else
#define EDIT_MAPPED(T)                                        \
    EDIT_EACH(T##_map)                                        \
    {                                                         \
        if (edit_read_key(&name, key)) {                      \
            edit_##T(walk, &value, T##_map_edit_at(at, key)); \
        }                                                     \
    }                                                         \
    }
EDIT_VALUES(ki_text, ki_place_set_text)
EDIT_VALUES(ki_int64, ki_place_set_int64)
EDIT_VALUES(ki_bool, ki_place_set_bool)
EDIT_VALUES(ki_double, ki_place_set_double)
EDIT_VALUES(ki_bytes, ki_place_set_bytes)
EDIT_VALUES(ki_quantity, ki_place_set_quantity)
EDIT_VALUES(ki_timestamp, ki_place_set_time)
EDIT_VALUES(ki_int_or_string, ki_place_set_int_or_string)
EDIT_VALUES(ki_value, ki_place_set_value)
EDIT_ENTRIES(ki_text, ki_place_set_text, BY_COPY(ki_text, ki_place_copy_text))
EDIT_ENTRIES(ki_int64, ki_place_set_int64, )
EDIT_ENTRIES(ki_bool, ki_place_set_bool, )
EDIT_ENTRIES(ki_double, ki_place_set_double, )
EDIT_ENTRIES(ki_bytes, ki_place_set_bytes, )
EDIT_ENTRIES(ki_quantity, ki_place_set_quantity, BY_COPY(ki_quantity, ki_place_copy_quantity))
EDIT_ENTRIES(ki_timestamp, ki_place_set_time, )
EDIT_ENTRIES(ki_int_or_string, ki_place_set_int_or_string, )
EDIT_ENTRIES(ki_value, ki_place_set_value, )
EDIT_MESSAGES(ki_text_list)
EDIT_MESSAGES(ki_text_map)
EDIT_MAPPED(ki_text_list)
EDIT_MAPPED(ki_text_map)

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
        if (edit_is_there(walk, from, name, &seen, &value) &&      \
            !(walk->mode == COPY && has_copy_##put)) {             \
            if (walk->mode == IN_PLACE) {                          \
                KI_VIEW_NAME(KI_T, remove)(at);                    \
            }                                                      \
            KI_VIEW_NAME(KI_T, set)(at, read_##put(walk, &value)); \
            edit_repair(walk, at.place, name, &value, 0);          \
        }                                                          \
    }
#define KI_VIEW_COPY(V, put, copy, name)                                            \
    {                                                                               \
        ki_value value;                                                             \
        static bool seen = true;                                                    \
        if (walk->mode == COPY && edit_is_there(walk, from, name, &seen, &value)) { \
            KI_VIEW_NAME(KI_T, copy)(at, read_##put(walk, &value));                 \
        }                                                                           \
    }
#define KI_VIEW_DESCEND(R, edit, set, remove, name)                        \
    {                                                                      \
        static bool seen;                                                  \
        R view;                                                            \
        if (edit_is_there(walk, from, name, &seen, &view.value)) {         \
            if (walk->mode == IN_PLACE) {                                  \
                KI_VIEW_NAME(KI_T, remove)(at);                            \
                KI_VIEW_NAME(KI_T, set)(at, view);                         \
            }                                                              \
            if (edit_has_plain_keys(walk, &view.value)) {                  \
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
            if (edit_is_first_of_key(&list.value, i, key_name, key)) {                \
                R##_edit element = R##_list_edit_at(KI_VIEW_NAME(KI_T, edit)(at), i); \
                assert_int_equal(KI_VIEW_NAME(KI_T, reach)(at, key).place.node,       \
                                 element.place.node);                                 \
                walk->keys++;                                                         \
            }                                                                         \
        }                                                                             \
    }

#include VIEW_HEADERS

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

#define KI_VIEW_KIND(T, api_version, kind) {api_version, kind, edit_root_##T},
static const edit_kind edit_kinds[] = {
#include VIEW_HEADERS
};

/* ---- and how many fields there are ---- */

#undef KI_VIEW_KIND
#undef KI_VIEW_SET
#undef KI_VIEW_DESCEND
#define KI_VIEW_KIND(T, api_version, kind)
#define KI_VIEW_SET(V, put, set, remove, name) +1
#define KI_VIEW_DESCEND(R, edit, set, remove, name) +1
static const size_t edit_field_count = 0
#include VIEW_HEADERS
    ;

#endif
