/* SPDX-License-Identifier: Apache-2.0 */
/* Random places in objects for property tests of edits: steps from the root, the same as a path in
 * some spelling, and a comparison of two objects everywhere but at one place. */
#ifndef TESTS_SUPPORT_RANDOM_PLACE_H
#define TESTS_SUPPORT_RANDOM_PLACE_H

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <kinformer/object.h>

#include "support/same_value.h"
#include "support/test.h"

enum { PLACE_STEPS_MAX = 8, PLACE_NAME_MAX = 128, PLACE_PATH_MAX = 4096 };

typedef struct place_step {
    char name[PLACE_NAME_MAX]; /* of a member */
    size_t index;              /* of an element; SIZE_MAX: it is a member */
} place_step;

typedef struct random_place {
    place_step steps[PLACE_STEPS_MAX];
    size_t count;
    ki_value value; /* what is there; of KI_TYPE_NONE: nothing */
    char path[PLACE_PATH_MAX];
} random_place;

static inline uint64_t place_below(uint64_t *seed, uint64_t limit)
{
    return test_random(seed) % limit;
}

/* A name that a path can have, as a C string. */
static inline bool place_take_name(const ki_value *key, char name[PLACE_NAME_MAX])
{
    ki_buf text;
    ki_buf_init(&text, NULL, SAME_TEXT_MAX);
    bool fits = ki_value_copy_string(key, &text) == 0 && text.len < PLACE_NAME_MAX &&
                (text.len == 0 || memchr(text.data, '\0', text.len) == NULL);
    if (fits) {
        (void)snprintf(name, PLACE_NAME_MAX, "%.*s", KI_STR_ARG(ki_buf_str(&text)));
    }
    ki_buf_done(&text);
    return fits;
}

/* Appends to the path. */
static inline void place_put(random_place *place, const char *text)
{
    size_t len = strlen(place->path);
    assert_true(len + strlen(text) < PLACE_PATH_MAX);
    memcpy(place->path + len, text, strlen(text) + 1);
}

/* ['name'], with escapes. */
static inline void place_put_quoted(random_place *place, const char *name)
{
    place_put(place, "['");
    for (const char *p = name; *p != '\0'; p++) {
        const char text[3] = {*p == '\'' || *p == '\\' ? '\\' : *p, *p, '\0'};
        place_put(place, text[0] == '\\' ? text : text + 1);
    }
    place_put(place, "']");
}

static inline bool place_is_plain(const char *name)
{
    return name[0] != '\0' &&
           strspn(name, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ") == strlen(name);
}

/** Moves to a member, which need not exist. */
static inline void place_to_member(random_place *place, const char *name, bool quoted)
{
    place_step *step = &place->steps[place->count++];
    ki_value found = {0};
    (void)snprintf(step->name, sizeof(step->name), "%s", name);
    step->index = SIZE_MAX;
    if (quoted || !place_is_plain(name)) {
        place_put_quoted(place, name);
    } else {
        place_put(place, place->count > 1 ? "." : "");
        place_put(place, name);
    }
    int r = ki_value_member(&place->value, ki_str_from(step->name), &found);
    place->value = r == 0 ? found : (ki_value){0};
}

/* Whether the element at `index` is the first that has this name. */
static inline bool place_has_name(const ki_value *list, size_t index, char name[PLACE_NAME_MAX])
{
    ki_value element;
    ki_value value;
    if (ki_value_element(list, (int64_t)index, &element) < 0 ||
        ki_value_member(&element, ki_str_from("name"), &value) < 0 ||
        ki_value_type(&value) != KI_TYPE_STRING || !place_take_name(&value, name)) {
        return false;
    }
    for (size_t i = 0; i < index; i++) {
        assert_int_equal(ki_value_element(list, (int64_t)i, &element), 0);
        if (ki_value_member(&element, ki_str_from("name"), &value) == 0 &&
            ki_value_equals(&value, ki_str_from(name))) {
            return false;
        }
    }
    return place_is_plain(name);
}

/** Moves to an element, by its index from either end, or by its name. */
static inline void place_to_element(random_place *place, size_t index, size_t count, uint64_t *seed)
{
    char name[PLACE_NAME_MAX];
    char text[PLACE_NAME_MAX + 16];
    uint64_t how = place_below(seed, 3);
    place->steps[place->count++].index = index;
    if (how == 0 && place_has_name(&place->value, index, name)) {
        (void)snprintf(text, sizeof(text), "[name=%s]", name);
    } else if (how == 1) {
        (void)snprintf(text, sizeof(text), "[-%zu]", count - index);
    } else {
        (void)snprintf(text, sizeof(text), "[%zu]", index);
    }
    place_put(place, text);
    ki_value element;
    assert_int_equal(ki_value_element(&place->value, (int64_t)index, &element), 0);
    place->value = element;
}

/* One step further down at random; false if there is none. */
static inline bool place_step_down(random_place *place, uint64_t *seed)
{
    size_t count = ki_value_count(&place->value);
    ki_value_iter iter;
    ki_value key;
    ki_value value;
    char name[PLACE_NAME_MAX];
    if (count == 0 || place->count == PLACE_STEPS_MAX - 1) {
        return false;
    }
    size_t index = (size_t)place_below(seed, count);
    if (ki_value_type(&place->value) == KI_TYPE_LIST) {
        place_to_element(place, index, count, seed);
        return true;
    }
    assert_int_equal(ki_value_iter_begin(&place->value, &iter), 0);
    for (size_t i = 0; i <= index; i++) {
        assert_int_equal(ki_value_iter_next(&iter, &key, &value), 1);
    }
    if (!place_take_name(&key, name)) {
        return false;
    }
    place_to_member(place, name, place_below(seed, 4) == 0);
    return true;
}

/** The root. */
static inline random_place place_root(const ki_object *object)
{
    return (random_place){.value = ki_object_root(object)};
}

/** A place in the object, at least one step down; not apiVersion, kind or metadata, whose types are
 *  checked. */
static inline random_place place_in(const ki_object *object, uint64_t *seed)
{
    for (;;) {
        random_place place = place_root(object);
        size_t steps = 1 + (size_t)place_below(seed, 7);
        while (steps-- != 0 && place_step_down(&place, seed)) {
        }
        if (place.count == 0 || strcmp(place.steps[0].name, "metadata") == 0 ||
            strcmp(place.steps[0].name, "apiVersion") == 0 ||
            strcmp(place.steps[0].name, "kind") == 0) {
            if (place_below(seed, 8) == 0) {
                place = place_root(object);
                place_to_member(&place, "added", false);
                return place;
            }
            continue;
        }
        return place;
    }
}

/* ---- comparing ---- */

/* The child that a step leads to; of KI_TYPE_NONE: none. */
static inline ki_value place_child(const ki_value *from, const place_step *step)
{
    ki_value found = {0};
    int r = step->index == SIZE_MAX ? ki_value_member(from, ki_str_from(step->name), &found)
                                    : ki_value_element(from, (int64_t)step->index, &found);
    return r == 0 ? found : (ki_value){0};
}

/* Whether all members of `a` but one are in `b`, and the same. */
static inline bool place_same_members(const ki_value *a, const ki_value *b, const char *but)
{
    ki_value_iter iter;
    ki_value key;
    ki_value value;
    ki_value other;
    bool same = ki_value_iter_begin(a, &iter) == 0;
    while (same && ki_value_iter_next(&iter, &key, &value) > 0) {
        same = ki_value_equals(&key, ki_str_from(but)) ||
               (same_find(b, &key, &other) && same_value(&value, &other, NULL));
    }
    return same;
}

/** Whether lists are the same but for one element, which may be gone from `b`. */
static inline bool place_same_elements(const ki_value *a, const ki_value *b, size_t but, bool gone)
{
    ki_value x;
    ki_value y;
    size_t left = ki_value_count(a);
    bool same = left == ki_value_count(b) + (gone ? 1 : 0);
    for (size_t i = 0; same && i < left; i++) {
        size_t j = gone && i > but ? i - 1 : i;
        same = i == but || (ki_value_element(a, (int64_t)i, &x) == 0 &&
                            ki_value_element(b, (int64_t)j, &y) == 0 && same_value(&x, &y, NULL));
    }
    return same;
}

/** Whether `after` is the same as `before` everywhere but at the place, where something is, or
 *  nothing if `gone`. Maps on the way may be new: then there is nothing else in them. What is there
 *  now becomes *ret_value. */
static inline bool place_same_but(const ki_object *before, const ki_object *after,
                                  const random_place *place, bool gone, ki_value *ret_value)
{
    const ki_value none = {0};
    ki_value a = ki_object_root(before);
    ki_value b = ki_object_root(after);
    bool same = true;
    for (size_t i = 0; same && i < place->count; i++) {
        const place_step *step = &place->steps[i];
        bool last = i + 1 == place->count;
        bool is_new = ki_value_type(&a) == KI_TYPE_NONE || ki_value_type(&a) == KI_TYPE_NULL;
        if (step->index != SIZE_MAX) {
            same = place_same_elements(&a, &b, step->index, gone && last);
        } else {
            same = (is_new || place_same_members(&a, &b, step->name)) &&
                   (is_new ? ki_value_count(&b) == (gone && last ? 0 : 1)
                           : place_same_members(&b, &a, step->name));
        }
        a = is_new ? none : place_child(&a, step);
        b = gone && last && step->index != SIZE_MAX ? none : place_child(&b, step);
    }
    *ret_value = b;
    return same && (ki_value_type(&b) == KI_TYPE_NONE) == gone;
}

#endif
