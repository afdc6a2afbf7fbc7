/* SPDX-License-Identifier: Apache-2.0 */
/* Makes a check of every accessor of typed views: the macros that generated headers consist of,
 * defined once more. To be included after the headers themselves. What an accessor must give is
 * read by path from the JSON of the same object. */
#ifndef TESTS_SUPPORT_VIEW_CHECKS_H
#define TESTS_SUPPORT_VIEW_CHECKS_H

#include <kinformer/view.h>

typedef struct view_walk {
    size_t reads;  /* values that accessors gave */
    size_t absent; /* defaults that they gave */
    size_t fields; /* that were there in some object */
} view_walk;

/* One accessor, while it is checked. */
typedef struct view_check {
    view_walk *walk;
    const char *type;
    const char *name;
    ki_value there; /* by path; of KI_TYPE_NONE if it is absent */
    bool is_there;  /* not null */
} view_check;

/** Reads a field by path, and compares what the functions has and get say. `seen` is the accessor's
 *  own. */
view_check view_check_field(view_walk *walk, const char *type, const char *name, bool *seen,
                            const ki_value *parent, bool has, int r, const ki_value *got);

void view_check_text(const view_check *check, ki_text text, const char *otherwise);
void view_check_bool(const view_check *check, bool flag, bool otherwise);
void view_check_int(const view_check *check, int64_t number, int64_t otherwise);
void view_check_double(const view_check *check, double number, double otherwise);
void view_check_bytes(const view_check *check, ki_bytes bytes);
void view_check_time(const view_check *check, ki_timestamp time);
void view_check_duration(const view_check *check, int64_t nanoseconds);
void view_check_quantity(const view_check *check, ki_quantity quantity);
void view_check_int_or_string(const view_check *check, ki_int_or_string value);
void view_check_value(const view_check *check, const ki_value *value);

/** A container must have as many elements as there are by path. */
void view_check_count(const view_check *check, size_t count);

/** Element `index`, or the entry of a key, by path; fails if there is none. */
view_check view_check_element(const view_check *check, size_t index);
view_check view_check_entry(const view_check *check, ki_text key);

/** Whether a key can be passed as a C string: it is copied to `text`. */
bool view_check_key(ki_text key, char text[static 4096]);

/** The next element of a list whose member `name` is a string, which is copied to `key`. */
bool view_check_next_key(ki_value_iter *iter, const char *name, char key[static 4096],
                         ki_value *ret_element);

/** What a key has found: the first element with that key, so not one behind `element`. */
void view_check_found(const view_check *check, const ki_value *element, const char *name,
                      const char *key, const ki_value *found);

/* ---- the macros ---- */

#define VIEW_CHECK_LIST(T, check_item)                                   \
    static void check_##T##_list(const view_check *check, T##_list list) \
    {                                                                    \
        size_t index = 0;                                                \
        view_check_count(check, T##_list_count(list));                   \
        KI_EACH(T, item, list)                                           \
        {                                                                \
            view_check inner = view_check_element(check, index);         \
            check_item(&inner, item);                                    \
            if (index == 1) {                                            \
                check_item(&inner, T##_list_at(list, index));            \
            }                                                            \
            index++;                                                     \
        }                                                                \
    }

#define VIEW_CHECK_MAP(T, check_item)                                 \
    static void check_##T##_map(const view_check *check, T##_map map) \
    {                                                                 \
        char text[4096];                                              \
        view_check_count(check, T##_map_count(map));                  \
        KI_EACH_ENTRY(T, key, item, map)                              \
        {                                                             \
            view_check inner = view_check_entry(check, key);          \
            check_item(&inner, item);                                 \
            if (view_check_key(key, text)) {                          \
                check_item(&inner, T##_map_get(map, text));           \
            }                                                         \
        }                                                             \
    }

#endif
