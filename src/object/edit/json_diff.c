/* SPDX-License-Identifier: Apache-2.0 */
/* Creates patches by traversing two maps in parallel. The members of each pair of maps are visited
 * in two passes: those of the new map for additions and changes, those of the old map for removals.
 * A map of a merge patch is written before it is known whether it has any changes, and removed
 * again if it has none. */
#include "object/edit/json_diff.h"

#include <kinformer/error.h>

#include "base/alloc.h"
#include "base/assert.h"
#include "object/edit/json_edit.h"
#include "object/edit/json_members.h"

typedef struct frame {
    ki_value before;
    ki_value after;
    ki__member_run old_members;
    ki__member_run new_members;
    ki_value_iter iter;
    bool removing;   /* second pass, over the old map */
    size_t start;    /* merge patch: output length before the name of this map */
    size_t inside;   /* merge patch: output length after its bracket */
    size_t path_len; /* JSON patch: length of its pointer */
} frame;

typedef struct differ {
    ki__diff_form form;
    const ki_alloc *alloc;
    frame *frames;
    size_t depth;
    size_t cap;
    ki__members members; /* of all frames */
    ki_buf path;         /* JSON patch: pointer to the current member */
    ki__out *out;
} differ;

static bool is_map(const ki_value *value)
{
    return ki_value_type(value) == KI_TYPE_MAP;
}

/* In a merge patch null means absent. */
static bool is_absent(const differ *d, const ki_value *value)
{
    ki_type type = ki_value_type(value);
    return type == KI_TYPE_NONE || (type == KI_TYPE_NULL && d->form == KI__DIFF_MERGE_PATCH);
}

/* ---- stack ---- */

static int push(differ *d, const ki_value *before, const ki_value *after, size_t start)
{
    void *frames = d->frames;
    int r = ki__array_reserve(d->alloc, &frames, &d->cap, d->depth + 1, sizeof(frame));
    d->frames = frames;
    if (r < 0) {
        return r;
    }
    if (d->form == KI__DIFF_MERGE_PATCH) {
        ki__out_char(d->out, '{');
    }
    frame *f = &d->frames[d->depth++];
    *f = (frame){.before = *before,
                 .after = *after,
                 .start = start,
                 .inside = d->out->buf->len,
                 .path_len = d->path.len};
    r = ki__members_add_map(&d->members, before, &f->old_members);
    r = r < 0 ? r : ki__members_add_map(&d->members, after, &f->new_members);
    return r < 0 ? r : ki_value_iter_begin(after, &f->iter);
}

static void pop(differ *d)
{
    frame *f = &d->frames[--d->depth];
    ki__members_drop(&d->members, f->old_members.from);
    if (d->form != KI__DIFF_MERGE_PATCH || d->out->error < 0) {
        return;
    }
    if (d->out->buf->len == f->inside && d->depth != 0) {
        ki__buf_truncate(d->out->buf, f->start);
    } else {
        ki__out_char(d->out, '}');
    }
}

/* ---- output ---- */

/* Sets the pointer to a member of the open map. */
static int set_path(differ *d, const ki_value *key)
{
    ki_str name;
    ki__buf_truncate(&d->path, d->frames[d->depth - 1].path_len);
    int r = ki__members_text(&d->members, key, &name);
    r = r < 0 ? r : ki_buf_add_char(&d->path, '/');
    for (size_t i = 0; i < name.len && r == 0; i++) {
        char c = name.ptr[i];
        r = c == '~'   ? ki_buf_add_text(&d->path, "~0")
            : c == '/' ? ki_buf_add_text(&d->path, "~1")
                       : ki_buf_add_char(&d->path, c);
    }
    return r;
}

static int put_operation(differ *d, const char *op, const ki_value *key, const ki_value *value)
{
    int r = set_path(d, key);
    if (r < 0) {
        return r;
    }
    ki__put_comma(d->out);
    ki__out_texts(d->out, "{\"op\":\"", op, "\",\"path\":", NULL);
    ki__put_string(d->out, ki_buf_str(&d->path));
    if (value != NULL) {
        ki__put_name(d->out, "value");
        ki__put_value(d->out, value);
    }
    ki__out_char(d->out, '}');
    return d->out->error;
}

static int put_set(differ *d, const ki_value *key, const ki_value *before, const ki_value *after)
{
    if (d->form == KI__DIFF_OPERATIONS) {
        bool is_new = ki_value_type(before) == KI_TYPE_NONE;
        return put_operation(d, is_new ? "add" : "replace", key, after);
    }
    ki__put_name_value(d->out, key);
    ki__put_value(d->out, after);
    return d->out->error;
}

static int put_remove(differ *d, const ki_value *key)
{
    if (d->form == KI__DIFF_OPERATIONS) {
        return put_operation(d, "remove", key, NULL);
    }
    ki__put_name_value(d->out, key);
    ki__out_text(d->out, "null");
    return d->out->error;
}

/* ---- traversal ---- */

static int open_member(differ *d, const ki_value *key, const ki_value *before,
                       const ki_value *after)
{
    size_t start = d->out->buf->len;
    int r = 0;
    if (d->form == KI__DIFF_MERGE_PATCH) {
        ki__put_name_value(d->out, key);
        r = d->out->error;
    } else {
        r = set_path(d, key);
    }
    return r < 0 ? r : push(d, before, after, start);
}

static int compare(differ *d, const ki_value *key, const ki_value *before, const ki_value *after)
{
    bool same = false;
    if (is_map(before) && is_map(after)) {
        return open_member(d, key, before, after);
    }
    int r = ki__json_same(before, after, d->alloc, &same);
    return r < 0 || same ? r : put_set(d, key, before, after);
}

static int step(differ *d)
{
    frame *f = &d->frames[d->depth - 1];
    ki_value key;
    ki_value value;
    ki_value first = {0};
    ki_value other = {0};
    if (ki_value_iter_next(&f->iter, &key, &value) <= 0) {
        if (f->removing) {
            pop(d);
            return d->out->error;
        }
        f->removing = true;
        return ki_value_iter_begin(&f->before, &f->iter);
    }
    int r =
        ki__members_find(&d->members, f->removing ? f->old_members : f->new_members, &key, &first);
    r = r < 0 ? r
              : ki__members_find(&d->members, f->removing ? f->new_members : f->old_members, &key,
                                 &other);
    if (r < 0 || first.bytes != value.bytes || is_absent(d, &value)) {
        return r < 0 ? r : 0; /* a duplicate name, or absent */
    }
    if (f->removing) {
        return is_absent(d, &other) ? put_remove(d, &key) : 0;
    }
    return compare(d, &key, &other, &value);
}

int ki__json_diff(const ki_value *before, const ki_value *after, ki__diff_form form,
                  const ki_alloc *alloc, ki__out *out)
{
    ki_assert(is_map(before));
    ki_assert(is_map(after));
    differ d = {.form = form, .alloc = ki__alloc_or_default(alloc), .out = out};
    ki__members_init(&d.members, d.alloc);
    ki_buf_init(&d.path, d.alloc, out->buf->max);
    int r = push(&d, before, after, out->buf->len);
    while (r == 0 && d.depth != 0) {
        r = step(&d);
    }
    ki__members_done(&d.members);
    ki_buf_done(&d.path);
    ki__free(d.alloc, d.frames);
    ki__out_fail(out, r);
    return out->error;
}
