/* SPDX-License-Identifier: Apache-2.0 */
#include "apiserver/validate/coerce.h"

#include <errno.h>

#include <kinformer/error.h>

#include "base/alloc.h"
#include "object/edit/json_out.h"
#include "object/edit/json_tree.h"

enum { PATH_MAX_BYTES = 1024, UNKNOWN_BYTES = 64 << 10 };

/* A value that has not been visited yet. */
typedef struct task {
    uint32_t at;   /* in the tree */
    uint32_t node; /* of the schema; 0: none, so all fields are unknown */
    bool keeps;    /* preserves unknown fields */
} task;

typedef struct worker {
    const ki__structural *schema;
    ki__tree tree;
    task *tasks;
    size_t count;
    size_t cap;
    ki__unknown *unknown;
    bool changed;
} worker;

/* ---- unknown fields ---- */

void ki__unknown_init(ki__unknown *unknown, const ki_alloc *alloc)
{
    *unknown = (ki__unknown){0};
    ki_buf_init(&unknown->texts, alloc, UNKNOWN_BYTES);
}

void ki__unknown_done(ki__unknown *unknown)
{
    ki_buf_done(&unknown->texts);
}

const char *ki__unknown_next(const ki__unknown *unknown, const char *last)
{
    const char *best = NULL;
    const char *text = unknown->texts.data;
    for (size_t i = 0; i < unknown->count; i++) {
        if ((last == NULL || strcmp(text, last) > 0) && (best == NULL || strcmp(text, best) < 0)) {
            best = text;
        }
        text += strlen(text) + 1;
    }
    return best;
}

/* Appends one path element. */
static void write_step(const ki__tree *tree, uint32_t at, ki__out *out)
{
    uint32_t parent = tree->nodes[at].parent;
    if (tree->nodes[parent].type == KI_TYPE_LIST) {
        uint64_t index = 0;
        for (uint32_t i = tree->nodes[at].prev; i != KI__TREE_NONE; i = tree->nodes[i].prev) {
            index++;
        }
        ki__out_index(out, index);
        return;
    }
    ki__out_text(out, out->buf->len != 0 ? "." : "");
    ki__out_str(out, ki__tree_name(tree, at));
}

static int write_path(worker *w, uint32_t at, ki_buf *buf)
{
    uint32_t *steps = NULL;
    size_t count = 0;
    size_t cap = 0;
    int r = 0;
    for (uint32_t i = at; r == 0 && w->tree.nodes[i].parent != KI__TREE_NONE;
         i = w->tree.nodes[i].parent) {
        void *block = steps;
        r = ki__array_reserve(w->tree.alloc, &block, &cap, count + 1, sizeof(*steps));
        steps = block;
        if (r == 0) {
            steps[count++] = i;
        }
    }
    ki__out out = ki__out_to(buf);
    ki__out_fail(&out, r);
    while (count != 0 && out.error == 0) {
        write_step(&w->tree, steps[--count], &out);
    }
    ki__free(w->tree.alloc, steps);
    return out.error == KI_ERR_LIMIT ? 0 : out.error; /* a long path is truncated */
}

static int remove_unknown(worker *w, uint32_t at)
{
    int r = 0;
    w->changed = true;
    if (w->unknown->count < KI__UNKNOWN_MAX) {
        ki_buf path;
        ki_buf_init(&path, w->tree.alloc, PATH_MAX_BYTES);
        r = write_path(w, at, &path);
        size_t len = strlen(ki_buf_text(&path));
        r = r < 0 ? r : ki_buf_add(&w->unknown->texts, ki_buf_text(&path), len + 1);
        w->unknown->count += r == 0 ? 1 : 0;
        ki_buf_done(&path);
    }
    ki__tree_remove(&w->tree, at);
    return r == KI_ERR_LIMIT ? 0 : r;
}

/* ---- traversal ---- */

static int push(worker *w, uint32_t at, uint32_t node, bool keeps)
{
    ki_type type = w->tree.nodes[at].type;
    if (type != KI_TYPE_MAP && type != KI_TYPE_LIST) {
        return 0;
    }
    void *tasks = w->tasks;
    int r = ki__array_reserve(w->tree.alloc, &tasks, &w->cap, w->count + 1, sizeof(*w->tasks));
    w->tasks = tasks;
    if (r == 0) {
        w->tasks[w->count++] = (task){at, node, keeps};
    }
    return r;
}

static bool has_default(const ki__structural *schema, uint32_t node)
{
    ki_type type = ki_value_type(&schema->nodes[node].default_value);
    return node != 0 && type != KI_TYPE_NONE && type != KI_TYPE_NULL;
}

static bool is_wrong_null(const worker *w, uint32_t at, uint32_t node)
{
    return node != 0 && w->tree.nodes[at].type == KI_TYPE_NULL && !w->schema->nodes[node].nullable;
}

/* Replaces a null by the schema's default. */
static int replace_null(worker *w, uint32_t at, uint32_t node, uint32_t *ret_at)
{
    uint32_t made;
    int r = ki__tree_add(&w->tree, &w->schema->nodes[node].default_value, &made);
    if (r == 0) {
        ki__tree_node *old = ki__tree_at(&w->tree, at);
        ki__tree_at(&w->tree, made)->name = old->name;
        ki__tree_at(&w->tree, made)->name_len = old->name_len;
        ki__tree_insert(&w->tree, old->parent, at, made);
        ki__tree_remove(&w->tree, at);
        w->changed = true;
        *ret_at = made;
    }
    return r;
}

static bool is_meta(ki_str name)
{
    return ki_str_eq_text(name, "apiVersion") || ki_str_eq_text(name, "kind") ||
           ki_str_eq_text(name, "metadata");
}

static bool is_metadata_field(ki_str name)
{
    static const char *const fields[] = {
        "name",
        "generateName",
        "namespace",
        "selfLink",
        "uid",
        "resourceVersion",
        "generation",
        "creationTimestamp",
        "labels",
        "deletionTimestamp",
        "deletionGracePeriodSeconds",
        "annotations",
        "ownerReferences",
        "finalizers",
        "managedFields",
    };
    for (size_t i = 0; i < sizeof(fields) / sizeof(fields[0]); i++) {
        if (ki_str_eq_text(name, fields[i])) {
            return true;
        }
    }
    return false;
}

/* Metadata of the object or of an embedded one: removes unknown members. */
static int prune_metadata(worker *w, uint32_t at)
{
    int r = 0;
    uint32_t child = w->tree.nodes[at].type == KI_TYPE_MAP ? w->tree.nodes[at].first : 0;
    while (child != KI__TREE_NONE && r == 0) {
        uint32_t next = ki__tree_next(&w->tree, child);
        if (!is_metadata_field(ki__tree_name(&w->tree, child))) {
            r = remove_unknown(w, child);
        }
        child = next;
    }
    return r;
}

/* Handles one member of a map. */
static int coerce_member(worker *w, const task *t, uint32_t at)
{
    const ki__structural_node *n = &w->schema->nodes[t->node];
    ki_str name = ki__tree_name(&w->tree, at);
    bool whole = t->node == KI__STRUCTURAL_ROOT || n->embedded;
    if (whole && is_meta(name)) {
        return ki_str_eq_text(name, "metadata") ? prune_metadata(w, at) : 0;
    }
    const ki__structural_property *p =
        t->node != 0 ? ki__structural_find(w->schema, t->node, name) : NULL;
    bool property = p != NULL && p->node != 0;
    if (!property && (t->node == 0 || n->more != KI__STRUCTURAL_MORE_ALLOWED)) {
        return t->keeps ? 0 : remove_unknown(w, at);
    }
    uint32_t node = property ? p->node : n->more_node;
    int r = 0;
    if (is_wrong_null(w, at, node)) {
        if (!has_default(w->schema, node)) {
            w->changed = true;
            ki__tree_remove(&w->tree, at);
            return 0;
        }
        r = replace_null(w, at, node, &at);
    }
    return r < 0 ? r : push(w, at, node, node != 0 && w->schema->nodes[node].preserve);
}

static int add_defaults(worker *w, const task *t)
{
    const ki__structural_node *n = &w->schema->nodes[t->node];
    int r = 0;
    for (size_t i = 0; i < n->property_count && r == 0; i++) {
        const ki__structural_property *p = &w->schema->properties[n->property + i];
        uint32_t made;
        if (!has_default(w->schema, p->node) ||
            ki__tree_get(&w->tree, t->at, p->name) != KI__TREE_NONE) {
            continue;
        }
        r = ki__tree_add(&w->tree, &w->schema->nodes[p->node].default_value, &made);
        r = r < 0 ? r : ki__tree_set(&w->tree, t->at, p->name, made);
        r = r < 0 ? r : push(w, made, p->node, w->schema->nodes[p->node].preserve);
        w->changed = true;
    }
    return r;
}

static int coerce_map(worker *w, const task *t)
{
    int r = 0;
    uint32_t child = w->tree.nodes[t->at].first;
    while (child != KI__TREE_NONE && r == 0) {
        uint32_t next = ki__tree_next(&w->tree, child);
        r = coerce_member(w, t, child);
        child = next;
    }
    return r < 0 || t->node == 0 ? r : add_defaults(w, t);
}

static int coerce_list(worker *w, const task *t)
{
    uint32_t items = w->schema->nodes[t->node].items;
    int r = 0;
    uint32_t child = w->tree.nodes[t->at].first;
    while (child != KI__TREE_NONE && r == 0) {
        uint32_t next = ki__tree_next(&w->tree, child);
        if (is_wrong_null(w, child, items) && has_default(w->schema, items)) {
            r = replace_null(w, child, items, &child);
        }
        bool keeps = t->keeps || (items != 0 && w->schema->nodes[items].preserve);
        if (r == 0 && (items != 0 || !keeps)) {
            r = push(w, child, items, keeps);
        }
        child = next;
    }
    return r;
}

static int run(worker *w, const ki_object *object, uint32_t *ret_root)
{
    ki_value value = ki_object_root(object);
    int r = ki__tree_add(&w->tree, &value, ret_root);
    r = r < 0 ? r
              : push(w, *ret_root, KI__STRUCTURAL_ROOT,
                     w->schema->nodes[KI__STRUCTURAL_ROOT].preserve);
    while (r == 0 && w->count != 0) {
        task t = w->tasks[--w->count];
        r = w->tree.nodes[t.at].type == KI_TYPE_MAP ? coerce_map(w, &t) : coerce_list(w, &t);
        r = r == 0 && ki__tree_is_spent(&w->tree) ? KI_ERR_LIMIT : r;
    }
    return r;
}

int ki__coerce(const ki__structural *schema, ki_object *object, size_t max_bytes,
               ki__unknown *unknown, ki_object **ret_object)
{
    worker w = {.schema = schema, .unknown = unknown};
    uint32_t root;
    ki__tree_init(&w.tree, schema->alloc);
    int r = run(&w, object, &root);
    if (r == 0 && !w.changed) {
        *ret_object = ki_object_ref(object);
    } else if (r == 0) {
        ki_object_options options = {
            .size = sizeof(options), .alloc = schema->alloc, .max_bytes = max_bytes};
        ki_buf text;
        ki_buf_init(&text, schema->alloc, max_bytes);
        r = ki__tree_write(&w.tree, root, &text);
        r = r < 0 ? r : ki_object_from_json(text.data, text.len, &options, ret_object, NULL);
        ki_buf_done(&text);
    }
    ki__free(schema->alloc, w.tasks);
    ki__tree_done(&w.tree);
    return r == KI_ERR_DEPTH ? KI_ERR_LIMIT : r;
}
