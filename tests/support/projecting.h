/* SPDX-License-Identifier: Apache-2.0 */
/* Random projections of an object, and what must be read of it then: by the plain reading of the
 * paths at each place, without the tree that they are compiled to. */
#ifndef TESTS_SUPPORT_PROJECTING_H
#define TESTS_SUPPORT_PROJECTING_H

#include <stdio.h>
#include <string.h>

#include <kinformer/encoding.h>
#include <kinformer/object.h>
#include <kinformer/path.h>
#include <kinformer/projection.h>

#include "support/same_value.h"

enum { RULE_STEPS_MAX = 16, RULE_NAME_MAX = 128, RULES_MAX = 32, RULE_DEPTH_MAX = 64 };

typedef struct rule {
    bool drop;
    bool given;
    size_t count;
    char steps[RULE_STEPS_MAX][RULE_NAME_MAX]; /* "" is [*] */
} rule;

typedef struct rules {
    rule at[RULES_MAX];
    size_t count;
    bool keeps; /* there is a keep */
    char keep[RULES_MAX * 512];
    char drop[RULES_MAX * 512];
} rules;

typedef struct rule_place {
    const char *names[RULE_DEPTH_MAX]; /* "" is an element */
    size_t count;
} rule_place;

/* ---- the rules, plainly ---- */

static inline bool rule_leads(const rule *r, const rule_place *place, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        if (r->steps[i][0] != '\0' && strcmp(r->steps[i], place->names[i]) != 0) {
            return false;
        }
    }
    return true;
}

typedef enum rule_class { RULE_NONE, RULE_PART, RULE_ALL } rule_class;

static inline rule_class rules_class(const rules *all, const rule_place *place)
{
    bool kept = !all->keeps;
    bool keeps = false;
    bool drops = false;
    for (size_t i = 0; i < all->count; i++) {
        const rule *r = &all->at[i];
        if (r->count <= place->count) {
            bool covers = rule_leads(r, place, r->count);
            if (covers && r->drop) {
                return RULE_NONE;
            }
            kept = kept || covers;
        } else if (rule_leads(r, place, place->count)) {
            *(r->drop ? &drops : &keeps) = true;
        }
    }
    return kept ? (drops ? RULE_PART : RULE_ALL) : (keeps ? RULE_PART : RULE_NONE);
}

static inline rule_class rules_class_below(const rules *all, rule_place place, const char *name)
{
    place.names[place.count++] = name;
    return rules_class(all, &place);
}

/* Whether a member of the map there may be missing. */
static inline bool rules_miss(const rules *all, const rule_place *place)
{
    bool misses = rules_class_below(all, *place, "no such name") == RULE_NONE;
    for (size_t i = 0; i < all->count; i++) {
        const rule *r = &all->at[i];
        misses = misses || (r->count > place->count && r->steps[place->count][0] != '\0' &&
                            rule_leads(r, place, place->count) &&
                            rules_class_below(all, *place, r->steps[place->count]) == RULE_NONE);
    }
    return misses;
}

/* ---- random rules ---- */

static inline uint64_t rule_random(uint64_t *state, uint64_t limit)
{
    uint64_t z = (*state += UINT64_C(0x9e3779b97f4a7c15));
    z = (z ^ (z >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
    z = (z ^ (z >> 27)) * UINT64_C(0x94d049bb133111eb);
    return (z ^ (z >> 31)) % limit;
}

/* A random child; false if there is none, or its name cannot be written plainly. */
static inline bool rule_child(uint64_t *seed, ki_value *value, char name[RULE_NAME_MAX])
{
    ki_value_iter iter;
    ki_value key;
    ki_value child;
    bool map = ki_value_type(value) == KI_TYPE_MAP;
    size_t count = ki_value_count(value);
    if (count == 0 || ki_value_iter_begin(value, &iter) < 0) {
        return false;
    }
    for (uint64_t i = rule_random(seed, count) + 1; i != 0; i--) {
        if (ki_value_iter_next(&iter, &key, &child) <= 0) {
            return false;
        }
    }
    *value = child;
    name[0] = '\0';
    if (map && (ki_value_get_string(&key, name, RULE_NAME_MAX) <= 0 || strlen(name) == 0 ||
                strpbrk(name, "'\"\\") != NULL)) {
        return false;
    }
    if (rule_random(seed, 24) == 0) {
        name[0] = '\0';
    } else if (rule_random(seed, 24) == 0) {
        (void)snprintf(name, RULE_NAME_MAX, "other");
    }
    return true;
}

static inline void rule_print(const rule *r, char *list, size_t size)
{
    size_t len = strlen(list);
    const char *comma = len != 0 ? ", " : "";
    for (size_t i = 0; i < r->count; i++) {
        len +=
            (size_t)snprintf(list + len, size - len,
                             r->steps[i][0] == '\0' ? "%s[*]%.0s" : "%s['%s']", comma, r->steps[i]);
        comma = "";
    }
}

static inline bool rules_add(rules *all, const rule *r)
{
    size_t size = sizeof(all->keep);
    char *list = r->drop ? all->drop : all->keep;
    if (all->count == RULES_MAX || r->count == 0 || strlen(list) + 400 > size) {
        return false;
    }
    for (size_t i = 0, len = 0; i < r->count; i++) {
        len += strlen(r->steps[i]) + 8;
        if (len > 380) {
            return false;
        }
    }
    all->at[all->count++] = *r;
    if (r->given) {
        rule_print(r, list, size);
    }
    return true;
}

static inline void rules_add_usual(rules *all)
{
    static const char *const usual[] = {"name",       "namespace",         "uid",
                                        "generation", "resourceVersion",   "creationTimestamp",
                                        "labels",     "deletionTimestamp", "ownerReferences"};
    bool labels = false;
    for (size_t i = 0; i < all->count; i++) {
        const rule *r = &all->at[i];
        labels = labels || (!r->drop && r->count > 2 && strcmp(r->steps[0], "metadata") == 0 &&
                            strcmp(r->steps[1], "labels") == 0);
    }
    rule r = {.count = 1};
    (void)snprintf(r.steps[0], RULE_NAME_MAX, "%s", "kind");
    (void)rules_add(all, &r);
    (void)snprintf(r.steps[0], RULE_NAME_MAX, "%s", "apiVersion");
    (void)rules_add(all, &r);
    (void)snprintf(r.steps[0], RULE_NAME_MAX, "%s", "metadata");
    r.count = 2;
    for (size_t i = 0; i < sizeof(usual) / sizeof(usual[0]); i++) {
        (void)snprintf(r.steps[1], RULE_NAME_MAX, "%s", usual[i]);
        if (!labels || strcmp(usual[i], "labels") != 0) {
            (void)rules_add(all, &r);
        }
    }
}

/** Random paths to what is in the object, and some that lead nowhere. */
static inline void rules_random(rules *all, const ki_object *object, uint64_t *seed)
{
    *all = (rules){0};
    size_t drops = rule_random(seed, 3) == 0 ? rule_random(seed, 8) : 0;
    size_t keeps = drops != 0 && rule_random(seed, 2) == 0 ? 0 : rule_random(seed, 8);
    for (size_t i = 0; i < keeps + drops; i++) {
        rule r = {.drop = i >= keeps, .given = true};
        ki_value value = ki_object_root(object);
        size_t most = 1 + rule_random(seed, 7);
        while (r.count < most && rule_child(seed, &value, r.steps[r.count])) {
            r.count++;
        }
        while (r.count != 0 && r.steps[r.count - 1][0] == '\0') {
            r.count--; /* a list with all its elements */
        }
        (void)rules_add(all, &r);
    }
    for (size_t i = 0; i < all->count; i++) {
        all->keeps = all->keeps || !all->at[i].drop;
    }
    if (all->keeps) {
        rules_add_usual(all);
    }
}

/* ---- what must be read ---- */

static inline bool rule_says(const char *what, const rule_place *place)
{
    (void)fprintf(stderr, "  %s at ", what);
    for (size_t i = 0; i < place->count; i++) {
        (void)fprintf(stderr, ".%s", place->names[i][0] != '\0' ? place->names[i] : "[*]");
    }
    (void)fprintf(stderr, "\n");
    return false;
}

static inline bool rules_hold(const rules *all, const ki_value *full, const ki_value *part,
                              const rule_place *place);

static inline bool rule_holds_below(const rules *all, const ki_value *full, const ki_value *part,
                                    const rule_place *at)
{
    ki_type type = ki_value_type(full);
    if (rules_class(all, at) == RULE_ALL) {
        return same_value(full, part, NULL) || rule_says("another value", at);
    }
    if (type != ki_value_type(part)) {
        return rule_says("another type", at);
    }
    if (type != KI_TYPE_LIST && type != KI_TYPE_MAP) {
        return same_value(full, part, NULL) || rule_says("another scalar", at);
    }
    return rules_hold(all, full, part, at);
}

static inline bool rule_list_holds(const rules *all, const ki_value *full, const ki_value *part,
                                   const rule_place *place)
{
    rule_place at = *place;
    at.names[at.count++] = "";
    bool none = rules_class(all, &at) == RULE_NONE;
    ki_value_iter left;
    ki_value_iter right;
    ki_value a;
    ki_value b;
    if (ki_value_iter_begin(full, &left) < 0 || ki_value_iter_begin(part, &right) < 0) {
        return rule_says("no iteration", place);
    }
    if (none) {
        return (ki_value_iter_next(&right, NULL, &b) == KI_ERR_NOT_KEPT &&
                ki_value_element(part, 0, &b) == KI_ERR_NOT_KEPT) ||
               rule_says("elements that were not kept", place);
    }
    while (ki_value_iter_next(&left, NULL, &a) > 0) {
        if (ki_value_iter_next(&right, NULL, &b) <= 0) {
            return rule_says("too few elements", place);
        }
        if (!rule_holds_below(all, &a, &b, &at)) {
            return false;
        }
    }
    return ki_value_iter_next(&right, NULL, &b) == 0 || rule_says("another end", place);
}

static inline bool rule_member_holds(const rules *all, const ki_value *full, const ki_value *part,
                                     const rule_place *at, bool *ret_kept)
{
    ki_value a;
    ki_value b;
    ki_str name = ki_str_from(at->names[at->count - 1]);
    int r = ki_value_member(full, name, &a);
    int s = ki_value_member(part, name, &b);
    *ret_kept = rules_class(all, at) != RULE_NONE;
    if (!*ret_kept) {
        return s == KI_ERR_NOT_KEPT || rule_says("a member that was not kept", at);
    }
    if (r != s) {
        return rule_says("another code", at);
    }
    return r < 0 || rule_holds_below(all, &a, &b, at);
}

/** Whether what is read of a partly kept list or map is what the rules say. */
static inline bool rules_hold(const rules *all, const ki_value *full, const ki_value *part,
                              const rule_place *place)
{
    if (place->count + 2 >= RULE_DEPTH_MAX) {
        return true;
    }
    if (ki_value_type(full) == KI_TYPE_LIST) {
        return rule_list_holds(all, full, part, place);
    }
    ki_value_iter iter;
    ki_value key;
    ki_value value;
    size_t count = 0;
    rule_place at = *place;
    at.names[at.count++] = "no such name";
    bool kept;
    bool holds =
        ki_value_iter_begin(full, &iter) == 0 && rule_member_holds(all, full, part, &at, &kept);
    ki_buf name;
    ki_buf_init(&name, NULL, SAME_TEXT_MAX);
    while (holds && ki_value_iter_next(&iter, &key, &value) > 0) {
        ki_buf_clear(&name);
        holds = ki_value_copy_string(&key, &name) == 0;
        at.names[place->count] = ki_buf_text(&name);
        if (holds && name.len != 0 && strlen(ki_buf_text(&name)) == name.len) {
            holds = rule_member_holds(all, full, part, &at, &kept);
        } else { /* an empty name, or one with NUL, that no path has: like any other */
            kept = rules_class_below(all, *place, "no such name") != RULE_NONE;
        }
        count += kept;
    }
    ki_buf_done(&name);
    int end = 1;
    size_t found = 0;
    holds = holds && ki_value_iter_begin(part, &iter) == 0;
    for (; holds && (end = ki_value_iter_next(&iter, &key, &value)) > 0;) {
        found++;
    }
    return holds && ((found == count || rule_says("another number of members", place)) &&
                     (end == (rules_miss(all, place) ? KI_ERR_NOT_KEPT : 0) ||
                      rule_says("another end", place)));
}

/** The same for each of the paths that were given. */
static inline bool rules_hold_by_path(const rules *all, const ki_value *full, const ki_value *part)
{
    bool holds = true;
    for (size_t i = 0; holds && i < all->count; i++) {
        const rule *r = &all->at[i];
        rule_place place = {.count = r->count};
        ki_path *path = NULL;
        ki_path_iter *left = NULL;
        ki_path_iter *right = NULL;
        char text[512] = "";
        for (size_t j = 0; j < r->count; j++) {
            place.names[j] = r->steps[j];
        }
        rule_print(r, text, sizeof(text));
        rule_class kept = rules_class(all, &place);
        holds = ki_path_compile(text, NULL, &path, NULL) == 0 &&
                ki_path_iter_begin(path, full, &left) == 0 &&
                ki_path_iter_begin(path, part, &right) == 0;
        int a = 1;
        int b = 1;
        while (holds && !r->drop && kept == RULE_ALL && a > 0) {
            ki_value x;
            ki_value y;
            a = ki_path_iter_next(left, &x);
            b = ki_path_iter_next(right, &y);
            holds = (a == b || b == KI_ERR_NOT_KEPT) && (b <= 0 || same_value(&x, &y, NULL));
            a = b > 0 ? a : 0;
        }
        ki_value value;
        bool star = strstr(text, "[*]") != NULL; /* may end at what the object has */
        if (holds && r->drop && !star) {
            holds = ki_path_first(path, part, &value) == KI_ERR_NOT_KEPT;
        }
        (void)ki_path_iter_end(left);
        (void)ki_path_iter_end(right);
        (void)ki_path_unref(path);
        holds = holds || rule_says(text, &place);
    }
    return holds;
}

#endif
