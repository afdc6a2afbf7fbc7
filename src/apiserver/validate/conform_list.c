/* SPDX-License-Identifier: Apache-2.0 */
/* Lists of type set or map: rejects duplicates. Elements, or their keys, are serialized in
 * canonical form, sorted, and compared with their neighbors. */
#include <errno.h>

#include <kinformer/error.h>

#include "apiserver/validate/conform_parts.h"
#include "base/alloc.h"
#include "base/sort.h"
#include "object/edit/json_out.h"

enum { KEYS_MAX = 16 };

typedef struct entry {
    const char *text;
    size_t at; /* offset in the text, until all are written */
    size_t len;
    size_t index;
} entry;

typedef struct lister {
    ki_buf texts;
    entry *entries;
    size_t count;
    size_t cap;
    ki_str keys[KEYS_MAX]; /* sorted */
    size_t key_count;
} lister;

static int compare(const void *a, const void *b)
{
    const entry *left = a;
    const entry *right = b;
    int order =
        ki_str_cmp(ki_str_make(left->text, left->len), ki_str_make(right->text, right->len));
    return order != 0 ? order : left->index < right->index ? -1 : 1;
}

static int compare_keys(const void *a, const void *b)
{
    return ki_str_cmp(*(const ki_str *)a, *(const ki_str *)b);
}

/* Keys are plain names; no field has any other name. */
static void read_keys(lister *l, const ki_value *keys)
{
    ki_value_iter iter;
    ki_value key;
    if (ki_value_iter_begin(keys, &iter) < 0) {
        return;
    }
    while (l->key_count < KEYS_MAX && ki_value_iter_next(&iter, NULL, &key) > 0) {
        l->key_count += ki_value_string(&key, &l->keys[l->key_count]) == 0 ? 1 : 0;
    }
    ki__sort(l->keys, l->key_count, sizeof(l->keys[0]), compare_keys);
}

/* {"name":"a"}, the form in errors. */
static void write_keys(const lister *l, const ki_value *element, ki__out *out)
{
    ki__put_map(out);
    for (size_t i = 0; i < l->key_count && out->error == 0; i++) {
        ki_value value;
        if (ki_value_member(element, l->keys[i], &value) == 0) {
            ki__put_name_str(out, l->keys[i]);
            ki__invalid_show_json(&value, out);
        }
    }
    ki__put_end(out);
}

static int add_entry(lister *l, const ki_alloc *alloc, bool map, const ki_value *element)
{
    void *entries = l->entries;
    int r = ki__array_reserve(alloc, &entries, &l->cap, l->count + 1, sizeof(*l->entries));
    l->entries = entries;
    ki__out out = ki__out_to(&l->texts);
    ki__out_fail(&out, r);
    if (map) {
        write_keys(l, element, &out);
    } else {
        ki__invalid_show(element, &out);
    }
    if (out.error == 0) {
        l->entries[l->count] = (entry){NULL, out.start, l->texts.len - out.start, l->count};
        l->count++;
    }
    return out.error;
}

/* Adds an error for element `index` of the current list. */
static int add_error(ki__conform_walk *w, ki__invalid_reason reason, size_t index, ki_str shown,
                     const char *detail)
{
    ki__out out = ki__out_to(&w->path);
    ki__out_index(&out, index);
    int r = out.error < 0 ? out.error : ki__conform_add(w, reason, shown, detail);
    ki__buf_truncate(&w->path, out.start);
    return r;
}

/* The second of two equal elements is the error. */
static int report(ki__conform_walk *w, lister *l)
{
    int r = 0;
    for (size_t i = 0; i < l->count; i++) {
        l->entries[i].text = l->texts.data + l->entries[i].at;
    }
    ki__sort(l->entries, l->count, sizeof(*l->entries), compare);
    size_t run = 1;
    for (size_t i = 1; i < l->count && r == 0; i++) {
        const entry *e = &l->entries[i];
        ki_str text = ki_str_make(e->text, e->len);
        run = ki_str_eq(text, ki_str_make(e[-1].text, e[-1].len)) ? run + 1 : 1;
        if (run == 2) {
            r = add_error(w, KI__INVALID_DUPLICATE, e->index, text, "");
        }
    }
    return r;
}

static int refuse_element(ki__conform_walk *w, size_t index, const ki_value *element)
{
    ki_buf_clear(&w->shown);
    ki__out out = ki__out_to(&w->shown);
    ki__invalid_show(element, &out);
    return out.error < 0 ? out.error
                         : add_error(w, KI__INVALID_VALUE, index, ki_buf_str(&w->shown),
                                     "must be an object for an array of list-type map");
}

int ki__conform_list(ki__conform_walk *w, const ki__structural_node *n, const ki_value *list)
{
    ki_value_iter iter;
    ki_value element;
    bool map = n->list == KI__STRUCTURAL_MAP;
    bool refused = false;
    lister l = {0};
    int r = ki_value_iter_begin(list, &iter);
    ki_buf_init(&l.texts, w->alloc, SIZE_MAX);
    if (map) {
        read_keys(&l, &n->keys);
    }
    while (r == 0 && !refused && ki_value_iter_next(&iter, NULL, &element) > 0) {
        ki_type type = ki_value_type(&element);
        refused = map && type != KI_TYPE_MAP && type != KI_TYPE_NULL;
        r = ki__conform_take(w, 1);
        if (r == 0) {
            r = refused ? refuse_element(w, l.count, &element)
                        : add_entry(&l, w->alloc, map, &element);
        }
    }
    if (r == 0 && !refused && l.count > 1) {
        r = report(w, &l);
    }
    ki__free(w->alloc, l.entries);
    ki_buf_done(&l.texts);
    return r;
}
