/* SPDX-License-Identifier: Apache-2.0 */
/* Bytes by field: a tree of paths, to which the extents of values in the bytes of objects are
 * added. In JSON a child reaches from its name to that of the next child, in protobuf from its tag
 * to its end; all other bytes belong to the list or map itself. So every byte is counted once. */
#include <errno.h>

#include <kinformer/field_sizes.h>
#include <kinformer/packed.h>

#include "base/alloc.h"
#include "base/assert.h"
#include "base/error.h"
#include "base/sort.h"
#include "object/edit/path_text.h"
#include "object/json/json_value.h"
#include "object/object.h"
#include "object/proto/proto_wire.h"

enum {
    DEPTH_MAX = 16, /* steps of a path in `keep` and `drop` */
    NODES_MAX = 8192,
    CHILDREN_MAX = 128,
    NAME_BYTES = 512,
    NAMES_BYTES = 1 << 20,
    PATH_BYTES = DEPTH_MAX * (4 * NAME_BYTES + 8),
    NONE = 0, /* no child: the root is nobody's */
};

typedef struct node {
    uint32_t parent;
    uint32_t first_child;
    uint32_t next;
    uint32_t child_count;
    uint32_t name; /* offset in the names */
    uint16_t name_len;
    uint8_t depth; /* number of steps */
    bool element;  /* [*] */
    uint64_t bytes;
    uint64_t values;
} node;

struct ki_field_sizes {
    const ki_alloc *alloc;
    node *nodes; /* [0] is the object; parents come before their children */
    uint32_t count;
    uint32_t cap;
    ki_buf names;
};

int ki_field_sizes_new(const ki_alloc *alloc, ki_field_sizes **ret_sizes, ki_error *error)
{
    KI__REQUIRE(ret_sizes, error);
    alloc = ki__alloc_or_default(alloc);
    ki_field_sizes *sizes = ki__alloc_zero(alloc, sizeof(*sizes));
    node *nodes = ki__alloc_zero(alloc, 64 * sizeof(*nodes));
    if (sizes == NULL || nodes == NULL) {
        ki__free(alloc, sizes);
        ki__free(alloc, nodes);
        return ki__error_code(error, -ENOMEM);
    }
    sizes->alloc = alloc;
    sizes->nodes = nodes;
    sizes->count = 1;
    sizes->cap = 64;
    ki_buf_init(&sizes->names, alloc, NAMES_BYTES);
    *ret_sizes = sizes;
    return 0;
}

ki_field_sizes *ki_field_sizes_unref(ki_field_sizes *sizes)
{
    if (sizes != NULL) {
        ki_buf_done(&sizes->names);
        ki__free(sizes->alloc, sizes->nodes);
        ki__free(sizes->alloc, sizes);
    }
    return NULL;
}

uint64_t ki_field_sizes_total(const ki_field_sizes *sizes)
{
    return sizes != NULL ? sizes->nodes[0].bytes : 0;
}

/* ---- the tree ---- */

static ki_str name_of(const ki_field_sizes *sizes, const node *n)
{
    return ki_str_make(n->name_len != 0 ? sizes->names.data + n->name : "", n->name_len);
}

/* A new node; NONE if there are too many, so that its bytes stay with its parent. */
static int add_node(ki_field_sizes *sizes, uint32_t parent, bool element, ki_str name,
                    uint32_t *ret_node)
{
    *ret_node = NONE;
    if (sizes->count == NODES_MAX || sizes->nodes[parent].child_count == CHILDREN_MAX) {
        return 0;
    }
    if (sizes->count == sizes->cap) {
        node *nodes =
            ki__realloc_array(sizes->alloc, sizes->nodes, (size_t)sizes->cap * 2, sizeof(*nodes));
        if (nodes == NULL) {
            return -ENOMEM;
        }
        sizes->nodes = nodes;
        sizes->cap *= 2;
    }
    uint32_t at = (uint32_t)sizes->names.len;
    int r = ki_buf_add(&sizes->names, name.ptr, name.len);
    if (r < 0) {
        return r == KI_ERR_LIMIT ? 0 : r;
    }
    node *p = &sizes->nodes[parent];
    sizes->nodes[sizes->count] = (node){.parent = parent,
                                        .next = p->first_child,
                                        .name = at,
                                        .name_len = (uint16_t)name.len,
                                        .depth = (uint8_t)(p->depth + 1),
                                        .element = element};
    p->first_child = *ret_node = sizes->count++;
    p->child_count++;
    return 0;
}

/* The node of a member, or of the elements of a list. */
static int find_node(ki_field_sizes *sizes, uint32_t parent, const ki_value *key,
                     uint32_t *ret_node)
{
    char room[NAME_BYTES];
    ki_str name = ki_str_make(room, 0);
    bool element = ki_value_type(key) != KI_TYPE_STRING;
    if (!element && ki_value_string(key, &name) < 0) {
        int len = ki_value_get_string(key, room, sizeof(room));
        name = ki_str_make(room, len < 0 ? sizeof(room) : (size_t)len);
    }
    *ret_node = NONE;
    if (name.len >= sizeof(room)) {
        return 0;
    }
    for (uint32_t i = sizes->nodes[parent].first_child; i != NONE; i = sizes->nodes[i].next) {
        const node *n = &sizes->nodes[i];
        if (n->element == element && ki_str_eq(name_of(sizes, n), name)) {
            *ret_node = i;
            return 0;
        }
    }
    return add_node(sizes, parent, element, name, ret_node);
}

/* ---- an object ---- */

/* A list or map. Where a child of JSON ends is known when the next one is read. */
typedef struct frame {
    ki_value_iter iter;
    uint32_t node;
    uint32_t child_node; /* of the child before, or NONE */
    size_t left;         /* bytes that belong to no child yet */
    ki_value child;
    const char *child_start;
    const char *child_end; /* protobuf; NULL if not known yet */
} frame;

typedef struct walk {
    ki_field_sizes *sizes;
    size_t depth;
    frame frames[DEPTH_MAX];
} walk;

static void open(walk *w, const ki_value *value, uint32_t at, size_t bytes)
{
    const node *n = &w->sizes->nodes[at];
    if (bytes == 0 || n->depth == DEPTH_MAX ||
        ki_str_eq(name_of(w->sizes, n), ki_str_from("fieldsV1"))) {
        return; /* counts as a value without parts */
    }
    frame *f = &w->frames[w->depth]; /* not more than the depth of the node */
    if (ki_value_iter_begin(value, &f->iter) < 0) {
        return;
    }
    f->node = at;
    f->left = bytes;
    f->child_node = NONE;
    w->depth++;
}

/* Where the tag of a child is that was read between two positions of its iterator. Before it may be
 * fields that JSON does not have, which belong to the message, or the tag of an inlined message. */
static const char *find_tag(const char *before, const char *after, const ki_value *value)
{
    const char *p = before;
    while (p < after) {
        ki__proto_item item = ki__proto_item_at(p);
        if (item.after == after || p == value->bytes) { /* or the first of a list or map */
            return p;
        }
        p = item.after < after ? item.after : item.payload.ptr;
    }
    return after;
}

/* Adds the child before, which ends at `end` or earlier. Returns its bytes. */
static size_t end_child(walk *w, frame *f, const char *end)
{
    node *n = &w->sizes->nodes[f->child_node];
    end = f->child_end != NULL ? f->child_end : end;
    size_t bytes = end > f->child_start ? (size_t)(end - f->child_start) : 0;
    bytes = bytes < f->left ? bytes : f->left;
    f->left -= bytes;
    n->bytes += bytes;
    n->values += bytes != 0; /* of protobuf, absent fields that JSON includes have none */
    return bytes;
}

static int step(walk *w)
{
    frame *f = &w->frames[w->depth - 1];
    ki_value key = {0};
    ki_value value = {0};
    uint32_t at = NONE;
    const char *start = f->iter.next;
    bool more = ki_value_iter_next(&f->iter, &key, &value) > 0;
    const char *end = f->iter.next;
    int r = more ? find_node(w->sizes, f->node, &key, &at) : 0;
    if (r < 0) {
        return r;
    }
    if (f->iter.container.ops != &ki__json_value_ops) {
        start = find_tag(start, end, &value);
    } else {
        start = !more ? end : ki_value_type(&key) == KI_TYPE_STRING ? key.bytes : value.bytes;
        end = NULL;
    }
    const ki_value child = f->child;
    uint32_t child_node = f->child_node;
    size_t bytes = child_node != NONE ? end_child(w, f, start) : 0;
    f->child_node = at;
    f->child = value;
    f->child_start = start;
    f->child_end = end;
    w->depth -= !more;
    open(w, &child, child_node, bytes);
    return 0;
}

int ki_field_sizes_add(ki_field_sizes *sizes, const ki_object *object, ki_error *error)
{
    KI__REQUIRE(sizes, error);
    KI__REQUIRE(object, error);
    ki_object *plain = NULL;
    walk w = {.sizes = sizes};
    int r = ki_object_unpack(object, &plain, error);
    if (r < 0) {
        return r;
    }
    ki_value root = ki_object_root(plain);
    size_t bytes = ki_object_bytes(plain).len;
    sizes->nodes[0].bytes += bytes;
    sizes->nodes[0].values++;
    open(&w, &root, 0, bytes);
    while (r == 0 && w.depth != 0) {
        r = step(&w);
    }
    (void)ki_object_unref(plain);
    return r < 0 ? ki__error_code(error, r) : 0;
}

/* ---- results ---- */

typedef struct row {
    const ki_field_sizes *sizes;
    uint32_t node;
    bool rest;
    bool shown;
    uint64_t bytes; /* of its own */
} row;

/* Largest first; equal ones in an order that does not depend on that of the objects. */
static int compare(const void *a, const void *b)
{
    const row *x = a;
    const row *y = b;
    if (x->shown != y->shown) {
        return x->shown ? -1 : 1;
    }
    if (x->bytes != y->bytes) {
        return x->bytes > y->bytes ? -1 : 1;
    }
    int order = 0;
    uint32_t i = x->node;
    uint32_t k = y->node;
    while (order == 0 && i != k) { /* names from the end: all that matters is that it is an order */
        order = ki_str_cmp(name_of(x->sizes, &x->sizes->nodes[i]),
                           name_of(x->sizes, &x->sizes->nodes[k]));
        i = x->sizes->nodes[i].parent;
        k = x->sizes->nodes[k].parent;
    }
    return order;
}

/* Counts small fields in what contains them. */
static void fold(const ki_field_sizes *sizes, uint64_t min_bytes, row *rows)
{
    for (uint32_t i = 0; i < sizes->count; i++) {
        rows[i] = (row){.sizes = sizes, .node = i, .bytes = sizes->nodes[i].bytes};
        if (i != 0) {
            rows[sizes->nodes[i].parent].bytes -= sizes->nodes[i].bytes;
        }
    }
    for (uint32_t i = sizes->count; i-- != 0;) {
        row *parent = &rows[sizes->nodes[i].parent];
        rows[i].shown = rows[i].bytes != 0 && (i == 0 || rows[i].bytes >= min_bytes);
        if (i != 0) {
            parent->bytes += rows[i].shown ? 0 : rows[i].bytes;
            parent->rest = parent->rest || rows[i].rest || rows[i].shown;
        }
    }
}

/* The buffer has space for the longest path. */
static void write_path(const ki_field_sizes *sizes, uint32_t at, ki_buf *path)
{
    uint32_t steps[DEPTH_MAX];
    size_t count = 0;
    for (; at != 0; at = sizes->nodes[at].parent) {
        steps[count++] = at;
    }
    ki_buf_clear(path);
    ki__out out = ki__out_to(path);
    ki__out_char(&out, '$'); /* cut off later: for the dot before the first name */
    while (count != 0) {
        const node *n = &sizes->nodes[steps[--count]];
        if (n->element) {
            ki__out_text(&out, "[*]");
        } else {
            ki__path_text_member(&out, name_of(sizes, n));
        }
    }
    ki_assert(out.error == 0);
}

int ki_field_sizes_visit(const ki_field_sizes *sizes, uint64_t min_bytes,
                         void (*visit)(const ki_field_size *field, void *user), void *user)
{
    KI__REQUIRE(sizes, NULL);
    KI__REQUIRE(visit, NULL);
    ki_buf path;
    ki_buf_init(&path, sizes->alloc, PATH_BYTES);
    row *rows = ki__alloc_array(sizes->alloc, sizes->count, sizeof(*rows));
    char *room;
    int r = rows != NULL ? ki_buf_reserve(&path, PATH_BYTES, &room) : -ENOMEM;
    if (r == 0) {
        fold(sizes, min_bytes, rows);
        ki__sort(rows, sizes->count, sizeof(*rows), compare);
    }
    for (uint32_t i = 0; r == 0 && i < sizes->count && rows[i].shown; i++) {
        write_path(sizes, rows[i].node, &path);
        const ki_field_size field = {.size = sizeof(field),
                                     .path = ki_buf_text(&path) + 1,
                                     .bytes = rows[i].bytes,
                                     .values = sizes->nodes[rows[i].node].values,
                                     .rest = rows[i].rest};
        visit(&field, user);
    }
    ki_buf_done(&path);
    ki__free(sizes->alloc, rows);
    return r;
}
