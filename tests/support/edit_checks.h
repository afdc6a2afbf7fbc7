/* SPDX-License-Identifier: Apache-2.0 */
/* Checks of the setters of typed views, for every_setter.h: values are read without views, and
 * objects that were written are compared with those that the values are from. */
#ifndef TESTS_SUPPORT_EDIT_CHECKS_H
#define TESTS_SUPPORT_EDIT_CHECKS_H

#include <kinformer/edit.h>
#include <kinformer/view.h>

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
    /* Whether times and quantities may be written in another way than in the object: a time in UTC
     * and in whole seconds, a quantity that is a number as a string. */
    bool is_by_meaning;
    ki_buf text; /* of the value that is set */
    bool is_cut; /* it has a NUL inside, so that a C string ends too early */
} edit_walk;

/** The setters of a kind. */
typedef struct edit_kind {
    const char *api_version; /* NULL: any */
    const char *kind;
    void (*fill)(edit_walk *walk, const ki_object *object, ki_edit *edit);
} edit_kind;

/** Sets all fields of an object, in the mode of the walk. The result must be the same as `json`,
 *  which is the same object as `from`; that is in either encoding. Owner: caller, of the result. */
ki_object *edit_check_object(edit_walk *walk, const edit_kind *kind, const ki_object *from,
                             const ki_object *json);

/** The kind of an object; fails if there is none. */
const edit_kind *edit_kind_of(const edit_kind *kinds, size_t count, ki_str api_version,
                              ki_str kind);

/* ---- for the macros ---- */

/** Whether a field is there, and not null. `seen` is the setter's own. */
bool edit_is_there(edit_walk *walk, const ki_value *parent, const char *name, bool *seen,
                   ki_value *ret_value);

/* By the function that sets: the value for it, which is valid until the next is read. */
const char *read_ki_place_set_text(edit_walk *walk, const ki_value *value);
const char *read_ki_place_set_quantity(edit_walk *walk, const ki_value *value);
bool read_ki_place_set_bool(edit_walk *walk, const ki_value *value);
int64_t read_ki_place_set_int64(edit_walk *walk, const ki_value *value);
double read_ki_place_set_double(edit_walk *walk, const ki_value *value);
ki_str read_ki_place_set_bytes(edit_walk *walk, const ki_value *value);
ki_timestamp read_ki_place_set_time(edit_walk *walk, const ki_value *value);
ki_timestamp read_ki_place_set_micro_time(edit_walk *walk, const ki_value *value);
ki_int_or_string read_ki_place_set_int_or_string(edit_walk *walk, const ki_value *value);
ki_value read_ki_place_set_value(edit_walk *walk, const ki_value *value);
ki_str read_ki_place_set_json(edit_walk *walk, const ki_value *value);
ki_text read_ki_place_copy_text(edit_walk *walk, const ki_value *value);
ki_quantity read_ki_place_copy_quantity(edit_walk *walk, const ki_value *value);

/** Replaces a string that was cut. `name` is NULL for the last element of a list. */
void edit_repair(edit_walk *walk, ki_place at, const char *name, const ki_value *value,
                 size_t index);

/** Copies the key of an entry; false if it cannot be passed as a C string. */
bool edit_read_key(const ki_value *key, char text[static 4096]);

/** Whether the keys of a map can be passed as C strings; true for other types. */
bool edit_has_plain_keys(edit_walk *walk, const ki_value *map);

/** Whether element `index` is the first with its key, which is copied to `key`. */
bool edit_is_first_of_key(const ki_value *list, size_t index, const char *name,
                          char key[static 4096]);

/** Gets the next element or entry; entries that are null are skipped. */
bool edit_next(ki_value_iter *iter, ki_value *key, ki_value *value);

/** Appends an element that is null, for which there is no setter; false if it is not null. */
bool edit_append_null(ki_place list, const ki_value *value);

#endif
