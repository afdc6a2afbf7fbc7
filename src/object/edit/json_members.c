/* SPDX-License-Identifier: Apache-2.0 */
#include "object/edit/json_members.h"

#include <errno.h>

#include <kinformer/error.h>

#include "base/alloc.h"
#include "base/sort.h"

void ki__members_init(ki__members *members, const ki_alloc *alloc)
{
    alloc = ki__alloc_or_default(alloc);
    *members = (ki__members){.alloc = alloc};
    ki_buf_init(&members->name, alloc, SIZE_MAX);
}

void ki__members_drop(ki__members *members, size_t count)
{
    while (members->count != count) {
        ki__free(members->alloc, members->items[--members->count].owned);
    }
}

void ki__members_done(ki__members *members)
{
    ki__members_drop(members, 0);
    ki__free(members->alloc, members->items);
    ki_buf_done(&members->name);
}

int ki__members_text(ki__members *members, const ki_value *string, ki_str *ret_text)
{
    int r = ki_value_string(string, ret_text);
    if (r != KI_ERR_NOT_PLAIN) {
        return r;
    }
    ki_buf_clear(&members->name);
    r = ki_value_copy_string(string, &members->name);
    *ret_text = ki_buf_str(&members->name);
    return r;
}

/* Of duplicate names the first in the text sorts first: it is the one that counts. */
static int compare_members(const void *a, const void *b)
{
    const ki__member *x = a;
    const ki__member *y = b;
    int order = ki_str_cmp(x->name, y->name);
    const char *left = x->value.bytes;
    const char *right = y->value.bytes;
    return order != 0 ? order : (left > right) - (left < right);
}

int ki__members_add(ki__members *members, const ki_value *key, const ki_value *value)
{
    void *items = members->items;
    int r = ki__array_reserve(members->alloc, &items, &members->cap, members->count + 1,
                              sizeof(ki__member));
    members->items = items;
    ki__member made = {.value = *value};
    r = r < 0 ? r : ki__members_text(members, key, &made.name);
    if (r < 0) {
        return r;
    }
    if (made.name.len != 0 && made.name.ptr == members->name.data) {
        made.owned = ki__alloc(members->alloc, made.name.len + 1);
        if (made.owned == NULL) {
            return -ENOMEM;
        }
        memcpy(made.owned, made.name.ptr, made.name.len);
        made.name.ptr = made.owned;
    }
    members->items[members->count++] = made;
    return 0;
}

ki__member_run ki__members_sort(ki__members *members, size_t from)
{
    ki__member_run run = {from, members->count - from};
    if (run.count != 0) {
        ki__sort(&members->items[from], run.count, sizeof(ki__member), compare_members);
    }
    return run;
}

int ki__members_add_map(ki__members *members, const ki_value *map, ki__member_run *ret_run)
{
    ki_value_iter iter;
    ki_value key;
    ki_value value;
    size_t from = members->count;
    int r = 0;
    if (ki_value_type(map) == KI_TYPE_MAP && ki_value_iter_begin(map, &iter) == 0) {
        while (r == 0 && (r = ki_value_iter_next(&iter, &key, &value)) > 0) {
            r = ki__members_add(members, &key, &value);
        }
    }
    r = r == KI_ERR_NOT_KEPT ? 0 : r; /* the kept members count */
    *ret_run = r == 0 ? ki__members_sort(members, from) : (ki__member_run){.from = from};
    return r;
}

int ki__members_find(ki__members *members, ki__member_run run, const ki_value *key,
                     ki_value *ret_member)
{
    ki_str name;
    size_t low = run.from;
    size_t end = low + run.count;
    int r = run.count != 0 ? ki__members_text(members, key, &name) : 0;
    if (r < 0 || run.count == 0) {
        return r;
    }
    for (size_t high = end; low < high;) {
        size_t middle = low + (high - low) / 2;
        if (ki_str_cmp(members->items[middle].name, name) < 0) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    if (low == end || !ki_str_eq(members->items[low].name, name)) {
        return 0;
    }
    *ret_member = members->items[low].value;
    return 1;
}
