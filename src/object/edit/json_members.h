/* SPDX-License-Identifier: Apache-2.0 */
/* Members of maps, sorted by decoded name, so that a parallel traversal of two values finds a
 * member of the other one in log n steps. They form a stack: those of the last opened map are
 * dropped first. */
#ifndef KI_OBJECT_EDIT_JSON_MEMBERS_H
#define KI_OBJECT_EDIT_JSON_MEMBERS_H

#include <kinformer/alloc.h>
#include <kinformer/buf.h>
#include <kinformer/value.h>

typedef struct ki__member {
    ki_str name;
    char *owned; /* the decoded name, if it has escapes; else NULL */
    ki_value value;
} ki__member;

/** The members of one map. */
typedef struct ki__member_run {
    size_t from;
    size_t count;
} ki__member_run;

typedef struct ki__members {
    const ki_alloc *alloc;
    ki__member *items;
    size_t count;
    size_t cap;
    ki_buf name; /* the current name, if it has escapes */
} ki__members;

void ki__members_init(ki__members *members, const ki_alloc *alloc);
void ki__members_done(ki__members *members);

/** Drops all but the first `count`. */
void ki__members_drop(ki__members *members, size_t count);

/** The decoded text of a string; valid until the next call of any function here.
 *  Errors: KI_ERR_TYPE, -ENOMEM. */
int ki__members_text(ki__members *members, const ki_value *string, ki_str *ret_text);

/** Adds a member named by the string `key`. Errors: -ENOMEM. */
int ki__members_add(ki__members *members, const ki_value *key, const ki_value *value);

/** Sorts the members after the first `from`. Duplicate names keep the order of the text. */
ki__member_run ki__members_sort(ki__members *members, size_t from);

/** Adds the members of a map, sorted; none if it is not a map. Errors: -ENOMEM. */
int ki__members_add_map(ki__members *members, const ki_value *map, ki__member_run *ret_run);

/** The first member named `key`: 1, or 0 if there is none. Errors: -ENOMEM. */
int ki__members_find(ki__members *members, ki__member_run run, const ki_value *key,
                     ki_value *ret_member);

#endif
