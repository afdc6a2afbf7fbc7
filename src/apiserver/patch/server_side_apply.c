/* SPDX-License-Identifier: Apache-2.0 */
/* Updates and applies both compare the old object with the new one. The writer then owns what
 * changed; removed fields have no owner. */
#include "apiserver/patch/server_side_apply.h"

#include <errno.h>

#include "base/alloc.h"
#include "base/error.h"
#include "object/edit/apply_merge.h"
#include "object/edit/field_layout.h"

/* The objects of a write, and their differences. */
typedef struct work {
    const ki__apply_write *write;
    ki__managers *managers;
    ki__tree tree;
    uint32_t old;    /* nodes; none: no object */
    uint32_t now;    /* initially equal to `old` for an apply */
    uint32_t config; /* the applied configuration */
    ki__field_set changed;
    ki__field_set removed;
} work;

static void work_init(work *w, const ki__apply_write *write, ki__managers *managers)
{
    *w = (work){.write = write, .managers = managers};
    ki__tree_init(&w->tree, managers->alloc);
    ki__field_set_init(&w->changed, managers->alloc);
    ki__field_set_init(&w->removed, managers->alloc);
}

static void work_done(work *w)
{
    ki__field_set_done(&w->changed);
    ki__field_set_done(&w->removed);
    ki__tree_done(&w->tree);
}

static int add_node(work *w, const ki_value *value, uint32_t *ret_node)
{
    if (ki_value_type(value) == KI_TYPE_NONE) {
        *ret_node = KI__TREE_NONE;
        return 0;
    }
    return ki__tree_add(&w->tree, value, ret_node);
}

/* ---- sets ---- */

/* Keeps only fields that the write can change. */
static void keep_part(ki__field_set *set, ki__apply_part part)
{
    static const char status[] = "f:status";
    size_t kept = 0;
    for (size_t i = 0; i < set->count && part != KI__APPLY_ALL; i++) {
        bool in = ki__field_path_is_in(set->paths[i], ki_str_from(status));
        if (in == (part == KI__APPLY_STATUS)) {
            set->paths[kept++] = set->paths[i];
        }
    }
    set->count = part != KI__APPLY_ALL ? kept : set->count;
}

static int compare(work *w, uint32_t old, uint32_t now)
{
    const ki__merge_type *type = &w->write->type;
    ki__layout before = {.alloc = w->tree.alloc};
    ki__layout after = {.alloc = w->tree.alloc};
    w->changed.count = 0;
    w->removed.count = 0;
    int r = ki__layout_init(&before, &w->tree, old, type, false, &w->managers->text, NULL);
    r = r < 0 ? r : ki__layout_init(&after, &w->tree, now, type, false, &w->managers->text, NULL);
    r = r < 0 ? r : ki__layout_compare(&before, &after, &w->tree, &w->changed, &w->removed);
    ki__layout_done(&before);
    ki__layout_done(&after);
    keep_part(&w->changed, w->write->part);
    keep_part(&w->removed, w->write->part);
    return r == 0 && ki__tree_is_spent(&w->tree) ? KI_ERR_LIMIT : r;
}

/* Removes changed and removed fields from all managers except the writer. */
static void take_from_others(work *w, const ki__manager *writer)
{
    for (size_t i = 0; i < w->managers->count; i++) {
        ki__manager *m = &w->managers->items[i];
        if (m != writer) {
            ki__field_set_subtract(&m->fields, &w->changed);
            ki__field_set_subtract(&m->fields, &w->removed);
        }
    }
}

static void set_time(ki__manager *m, const ki__manager *who)
{
    if (who->has_time) {
        m->has_time = true;
        m->time = who->time;
    }
}

/* ---- updates ---- */

static int own_changes(work *w, const ki__manager *who)
{
    ki__manager *m;
    take_from_others(w, NULL);
    if (w->changed.count == 0) {
        ki__managers_drop_empty(w->managers);
        return 0;
    }
    m = ki__managers_find(w->managers, who);
    int r = m == NULL ? ki__managers_add(w->managers, who, &m) : 0;
    r = r < 0 ? r : ki__field_set_unite(&m->fields, &w->changed);
    if (r == 0) {
        set_time(m, who);
        ki__managers_drop_empty(w->managers);
    }
    return r;
}

int ki__apply_update(const ki__apply_write *write, const ki_value *old, const ki_value *now,
                     ki__managers *managers)
{
    work w;
    work_init(&w, write, managers);
    int r = add_node(&w, old, &w.old);
    r = r < 0 ? r : add_node(&w, now, &w.now);
    r = r < 0 ? r : compare(&w, w.old, w.now);
    r = r < 0 ? r : own_changes(&w, &write->who);
    r = r < 0 ? r : ki__managers_limit(managers);
    work_done(&w);
    return r;
}

/* ---- applying ---- */

/* Fields of an object without managedFields are assigned to a pseudo manager, so that changing them
 * is a conflict. */
static int own_before_first(work *w)
{
    ki__manager who = w->write->who;
    who.applies = false;
    ki__manager_set_name(&who, ki_str_from("before-first-apply"));
    int r = compare(w, KI__TREE_NONE, w->old);
    return r < 0 ? r : own_changes(w, &who);
}

/* The object is passed without its managedFields, which are a separate argument. */
static void forget_owners(work *w)
{
    uint32_t metadata = ki__tree_get(&w->tree, w->now, ki_str_from("metadata"));
    uint32_t owners = metadata != KI__TREE_NONE
                          ? ki__tree_get(&w->tree, metadata, ki_str_from("managedFields"))
                          : (uint32_t)KI__TREE_NONE;
    if (owners != KI__TREE_NONE) {
        ki__tree_remove(&w->tree, owners);
    }
}

static int read_config(work *w, ki__field_set *set, ki_error *error)
{
    ki__layout layout;
    ki_str bad = ki_str_make("", 0);
    int r = ki__layout_init(&layout, &w->tree, w->config, &w->write->type, true, &w->managers->text,
                            &bad);
    r = r < 0 ? r : ki__layout_to_set(&layout, set);
    ki__layout_done(&layout);
    if (r == KI_ERR_INVALID) {
        ki_buf text;
        ki_buf_init(&text, w->tree.alloc, 200);
        ki__out path = ki__out_to(&text);
        ki__field_path_write(bad, &path);
        ki__error_set(error, r, "%s: duplicate list element, or element without its key",
                      path.error < 0 && path.error != KI_ERR_LIMIT ? "" : ki_buf_text(&text));
        ki_buf_done(&text);
    }
    keep_part(set, w->write->part);
    return r;
}

/* Removes fields that the manager applied before and that no manager owns now. */
static int prune(work *w, const ki__field_set *last)
{
    ki__layout layout;
    size_t count = w->managers->count;
    const ki__field_set **owned = ki__alloc_array(w->tree.alloc, count + 1, sizeof(*owned));
    if (owned == NULL) {
        return -ENOMEM;
    }
    for (size_t i = 0; i < count; i++) {
        owned[i] = &w->managers->items[i].fields;
    }
    int r = ki__layout_init(&layout, &w->tree, w->now, &w->write->type, false, &w->managers->text,
                            NULL);
    r = r < 0 ? r : ki__merge_prune(&w->tree, &layout, last, owned, count);
    ki__layout_done(&layout);
    ki__free(w->tree.alloc, owned);
    return r;
}

static int add_conflict(ki__apply_conflicts *conflicts, size_t manager, ki_str path)
{
    void *items = conflicts->items;
    int r = ki__array_reserve(conflicts->alloc, &items, &conflicts->cap, conflicts->count + 1,
                              sizeof(*conflicts->items));
    conflicts->items = items;
    if (r == 0) {
        conflicts->items[conflicts->count++] = (ki__apply_conflict){manager, path};
    }
    return r;
}

static int find_conflicts(const work *w, const ki__manager *writer, ki__apply_conflicts *conflicts)
{
    int r = 0;
    for (size_t i = 0; i < w->managers->count; i++) {
        const ki__manager *m = &w->managers->items[i];
        for (size_t j = 0; m != writer && j < w->changed.count && r == 0; j++) {
            if (ki__field_set_has(&m->fields, w->changed.paths[j])) {
                r = add_conflict(conflicts, i, w->changed.paths[j]);
            }
        }
    }
    return r;
}

/* Computes the new object; `set` are the fields that the manager owns from now on, `last` those it
 * owned before. */
static int merge(work *w, ki__field_set *set, ki__field_set *last, ki__manager **ret_writer)
{
    const ki__manager *who = &w->write->who;
    ki__manager *m = ki__managers_find(w->managers, who);
    int r = 0;
    if (m == NULL) {
        r = ki__managers_add(w->managers, who, &m);
        if (r < 0) {
            return r;
        }
        m->has_time = false;
    }
    *last = m->fields;
    m->fields = *set;
    ki__field_set_init(set, last->alloc);
    memcpy(m->api_version, who->api_version, sizeof(m->api_version));
    *ret_writer = m;
    r = ki__merge_objects(&w->tree, w->now, w->config, &w->write->type);
    return r < 0 ? r : prune(w, last);
}

static int finish(work *w, ki__manager *writer, ki__apply_conflicts *conflicts, ki_buf *out)
{
    const ki__manager *who = &w->write->who;
    int r = compare(w, w->old, w->now);
    if (r == 0 && !w->write->force) {
        r = find_conflicts(w, writer, conflicts);
    }
    if (r < 0 || conflicts->count != 0) {
        return r;
    }
    if (w->changed.count != 0 || w->removed.count != 0) {
        set_time(writer, who); /* otherwise it stays, even if unset */
    }
    take_from_others(w, writer);
    ki__managers_drop_empty(w->managers);
    ki__merge_drop_emptied(&w->tree, w->now);
    forget_owners(w);
    return ki__tree_write(&w->tree, w->now, out);
}

int ki__apply_config(const ki__apply_write *write, const ki_value *old, const ki_value *config,
                     ki__managers *managers, ki__apply_conflicts *conflicts, ki_buf *out,
                     ki_error *error)
{
    work w;
    ki__field_set set;
    ki__field_set last;
    ki__manager *writer;
    work_init(&w, write, managers);
    ki__field_set_init(&set, managers->alloc);
    ki__field_set_init(&last, managers->alloc);
    int r = add_node(&w, old, &w.old);
    r = r < 0 ? r : add_node(&w, config, &w.config);
    r = r < 0 ? r : read_config(&w, &set, error);
    if (r == 0 && w.old == KI__TREE_NONE) {
        r = ki__tree_new(&w.tree, KI_TYPE_MAP, &w.now);
    } else if (r == 0) {
        r = managers->count == 0 ? own_before_first(&w) : 0;
        r = r < 0 ? r : ki__tree_copy(&w.tree, w.old, &w.now);
    }
    r = r < 0 ? r : merge(&w, &set, &last, &writer);
    r = r < 0 ? r : finish(&w, writer, conflicts, out);
    ki__field_set_done(&set);
    ki__field_set_done(&last);
    work_done(&w);
    return r;
}

int ki__apply_ignore_unchanged(const ki__apply_write *write, const ki_value *last,
                               const ki_value *live, ki__managers *managers,
                               ki__apply_conflicts *conflicts)
{
    work w;
    ki__field_set own;
    size_t kept = 0;
    work_init(&w, write, managers);
    ki__field_set_init(&own, managers->alloc);
    int r = add_node(&w, last, &w.config);
    r = r < 0 ? r : add_node(&w, live, &w.now);
    r = r < 0 ? r : read_config(&w, &own, NULL);
    r = r < 0 ? r : compare(&w, w.config, w.now);
    if (r == 0) {
        ki__field_set_subtract(&own, &w.changed);
        ki__field_set_subtract(&own, &w.removed);
        for (size_t i = 0; i < conflicts->count; i++) {
            if (!ki__field_set_has(&own, conflicts->items[i].path)) {
                conflicts->items[kept++] = conflicts->items[i];
            }
        }
        conflicts->count = kept;
    }
    ki__field_set_done(&own);
    work_done(&w);
    return r;
}
