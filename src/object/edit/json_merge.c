/* SPDX-License-Identifier: Apache-2.0 */
/* Merge patches (RFC 7386) and comparison of values: both traverse two values in parallel with an
 * explicit stack. The members of a map are sorted once before lookups, so that neither takes more
 * than n log n steps per level of depth. */
#include <kinformer/encoding.h>
#include <kinformer/error.h>

#include "base/alloc.h"
#include "base/assert.h"
#include "object/edit/json_edit.h"
#include "object/edit/json_members.h"

typedef struct frame {
    ki_value left;               /* target or left operand; a map, a list or none */
    ki_value right;              /* the patch, or the right operand */
    ki__member_run left_members; /* merge only */
    ki__member_run right_members;
    ki_value_iter iter;
    ki_value_iter other; /* comparison of lists: iterator over the right one */
    bool second;         /* merge: second pass, over the patch */
} frame;

typedef struct walk {
    const ki_alloc *alloc;
    frame *frames;
    size_t depth;
    size_t cap;
    ki__members members; /* of all frames, the deepest last */
} walk;

static void walk_init(walk *w, const ki_alloc *alloc)
{
    *w = (walk){.alloc = ki__alloc_or_default(alloc)};
    ki__members_init(&w->members, alloc);
}

static void walk_done(walk *w)
{
    ki__members_done(&w->members);
    ki__free(w->alloc, w->frames);
}

/* ---- stack ---- */

static int push(walk *w, ki_value left, ki_value right)
{
    void *frames = w->frames;
    int r = ki__array_reserve(w->alloc, &frames, &w->cap, w->depth + 1, sizeof(frame));
    w->frames = frames;
    if (r < 0) {
        return r;
    }
    frame *f = &w->frames[w->depth];
    *f = (frame){.left = left, .right = right};
    r = ki__members_add_map(&w->members, &right, &f->right_members);
    w->depth += r == 0 ? 1 : 0;
    return r;
}

static void pop(walk *w)
{
    ki__members_drop(&w->members, w->frames[--w->depth].right_members.from);
}

/* Starts an iterator; the value must be a map or a list. */
static void begin(const ki_value *container, ki_value_iter *iter)
{
    int r = ki_value_iter_begin(container, iter);
    ki_assert(r == 0);
}

/* ---- merge ---- */

static int open_map(walk *w, const ki_value *target, const ki_value *patch, ki__out *out)
{
    bool is_map = ki_value_type(target) == KI_TYPE_MAP;
    int r = push(w, is_map ? *target : (ki_value){0}, *patch);
    if (r < 0) {
        return r;
    }
    frame *f = &w->frames[w->depth - 1];
    r = ki__members_add_map(&w->members, &f->left, &f->left_members);
    if (r < 0) {
        return r;
    }
    f->second = !is_map;
    begin(is_map ? target : patch, &f->iter);
    ki__out_char(out, '{');
    return out->error;
}

/* Writes a name, and the value if it is final; a map of the patch is opened instead. */
static int put(walk *w, const ki_value *key, const ki_value *target, const ki_value *patch,
               ki__out *out)
{
    ki__put_name_value(out, key);
    if (patch != NULL && ki_value_type(patch) == KI_TYPE_MAP) {
        return open_map(w, target, patch, out);
    }
    ki__put_value(out, patch != NULL ? patch : target);
    return out->error;
}

static int merge_member(walk *w, const ki_value *key, const ki_value *value, ki__out *out)
{
    frame *f = &w->frames[w->depth - 1];
    const ki_value none = {0};
    ki_value patch = {0};
    int r = ki__members_find(&w->members, f->right_members, key, &patch);
    if (r < 0) {
        return r;
    }
    if (!f->second) {
        bool removed = r > 0 && ki_value_type(&patch) == KI_TYPE_NULL;
        return removed ? 0 : put(w, key, value, r > 0 ? &patch : NULL, out);
    }
    if (patch.bytes != value->bytes || ki_value_type(value) == KI_TYPE_NULL) {
        return 0; /* a duplicate, or nothing to remove */
    }
    ki_value old;
    r = ki__members_find(&w->members, f->left_members, key, &old);
    return r != 0 ? (r < 0 ? r : 0) : put(w, key, &none, value, out);
}

/* End of a map: continues with the patch, or closes the map. */
static int end_map(walk *w, ki__out *out)
{
    frame *f = &w->frames[w->depth - 1];
    if (!f->second) {
        f->second = true;
        begin(&f->right, &f->iter);
        return 0;
    }
    pop(w);
    ki__out_char(out, '}');
    return out->error;
}

int ki__json_merge(const ki_value *target, const ki_value *patch, const ki_alloc *alloc,
                   ki_buf *buf)
{
    if (ki_value_type(patch) != KI_TYPE_MAP) {
        return ki_value_write_json(patch, buf);
    }
    walk w;
    walk_init(&w, alloc);
    ki__out out = ki__out_to(buf);
    int r = open_map(&w, target, patch, &out);
    while (r == 0 && w.depth != 0) {
        ki_value key;
        ki_value value;
        r = ki_value_iter_next(&w.frames[w.depth - 1].iter, &key, &value);
        if (r >= 0) {
            r = r > 0 ? merge_member(&w, &key, &value, &out) : end_map(&w, &out);
        }
    }
    walk_done(&w);
    return r;
}

/* ---- comparison ---- */

static bool same_number(const ki_value *a, const ki_value *b)
{
    ki_str left;
    ki_str right;
    int64_t x;
    int64_t y;
    bool have_text = ki_value_number_text(a, &left) == 0 && ki_value_number_text(b, &right) == 0;
    if (have_text && ki_str_eq(left, right)) {
        return true;
    }
    if (ki_value_int64(a, &x) == 0 && ki_value_int64(b, &y) == 0) {
        return x == y;
    }
    double u;
    double v;
    return !have_text && ki_value_double(a, &u) == 0 && ki_value_double(b, &v) == 0 && u == v;
}

static int same_scalar(walk *w, const ki_value *a, const ki_value *b, bool *ret_same)
{
    bool x = false;
    bool y = false;
    ki_str text = {0};
    int r = 0;
    switch (ki_value_type(a)) {
    case KI_TYPE_STRING:
        r = ki__members_text(&w->members, a, &text);
        *ret_same = r == 0 && ki_value_equals(b, text);
        return r;
    case KI_TYPE_NUMBER:
        *ret_same = same_number(a, b);
        return 0;
    case KI_TYPE_BOOL:
        *ret_same = ki_value_bool(a, &x) == 0 && ki_value_bool(b, &y) == 0 && x == y;
        return 0;
    case KI_TYPE_NONE:
    case KI_TYPE_NULL:
    case KI_TYPE_LIST:
    case KI_TYPE_MAP:
    case KI_TYPE_MAX:
        break;
    }
    *ret_same = true;
    return 0;
}

/* Compares two values; pushes containers instead of descending. */
static int same_step(walk *w, const ki_value *a, const ki_value *b, bool *ret_same)
{
    ki_type type = ki_value_type(a);
    if (type != ki_value_type(b)) {
        *ret_same = false;
        return 0;
    }
    if (type != KI_TYPE_MAP && type != KI_TYPE_LIST) {
        return same_scalar(w, a, b, ret_same);
    }
    *ret_same = ki_value_count(a) == ki_value_count(b);
    int r = *ret_same ? push(w, *a, *b) : 0;
    if (r == 0 && *ret_same) {
        frame *f = &w->frames[w->depth - 1];
        begin(a, &f->iter);
        begin(b, &f->other);
    }
    return r;
}

/* Compares one child of the value on top of the stack. */
static int same_child(walk *w, bool *ret_same)
{
    frame *f = &w->frames[w->depth - 1];
    ki_value key;
    ki_value a;
    ki_value b = {0};
    int r = ki_value_iter_next(&f->iter, &key, &a);
    if (r <= 0) {
        pop(w);
        return r == KI_ERR_NOT_KEPT ? 0 : r; /* what was kept is the same */
    }
    bool map = ki_value_type(&f->left) == KI_TYPE_MAP;
    r = map ? ki__members_find(&w->members, f->right_members, &key, &b)
            : ki_value_iter_next(&f->other, NULL, &b);
    if (r <= 0) {
        *ret_same = false;
        return r;
    }
    return same_step(w, &a, &b, ret_same);
}

int ki__json_same(const ki_value *a, const ki_value *b, const ki_alloc *alloc, bool *ret_same)
{
    walk w;
    walk_init(&w, alloc);
    bool same = true;
    int r = same_step(&w, a, b, &same);
    while (r == 0 && same && w.depth != 0) {
        r = same_child(&w, &same);
    }
    walk_done(&w);
    if (r == 0) {
        *ret_same = same;
    }
    return r;
}
