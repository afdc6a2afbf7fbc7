/* SPDX-License-Identifier: Apache-2.0 */
/* Differences as paths with both values: traverses two objects in parallel with an explicit stack.
 * Map members and keyed list elements are sorted once per pair, so that no pair of objects takes
 * more than n log n steps per level of depth. */
#include <errno.h>

#include <kinformer/diff.h>
#include <kinformer/encoding.h>

#include "base/alloc.h"
#include "base/error.h"
#include "base/options.h"
#include "object/edit/json_diff.h"
#include "object/edit/json_edit.h"
#include "object/edit/json_members.h"
#include "object/edit/path_text.h"
#include "object/object.h"

enum { CHANGES_DEFAULT = 1000, CHANGES_MAX = 1000000, DEPTH_DEFAULT = 64, DEPTH_MAX = 1024 };
#define PATH_BYTES_MAX ((size_t)8 << 20)

/* Members that may be the key of list elements, best first. */
static const char *const keys[] = {"name", "type", "key", "uid", "ip"};

typedef struct change {
    ki_diff_change shown; /* its path is set at the end */
    size_t path;          /* offset in `paths` */
} change;

struct ki_diff {
    const ki_alloc *alloc;
    ki_object *before;
    ki_object *after;
    change *changes;
    size_t count;
    size_t cap;
    ki_buf paths; /* consecutive C strings */
    bool complete;
};

typedef enum frame_kind {
    FRAME_MAP,
    FRAME_KEYED,   /* a list whose elements have a key */
    FRAME_INDEXED, /* any other list of maps */
} frame_kind;

typedef struct frame {
    ki_value before;
    ki_value after;
    frame_kind kind;
    const char *key; /* keyed: name of the key */
    ki__member_run old_members;
    ki__member_run new_members;
    ki_value_iter iter;
    ki_value_iter other; /* indexed: iterator over the old list */
    bool removing;       /* not indexed: second pass, over the old value */
    uint64_t index;      /* indexed: of the next element */
    size_t path_len;
} frame;

typedef struct differ {
    ki_diff *diff;
    const ki_alloc *alloc;
    const ki_diff_options *options;
    frame *frames;
    size_t depth;
    size_t cap;
    ki__members members; /* of all frames */
    ki_buf path;         /* of the current value */
} differ;

/* ---- results ---- */

static int record(differ *d, ki_diff_type type, const ki_value *before, const ki_value *after)
{
    ki_diff *diff = d->diff;
    if (diff->count == d->options->max_changes) {
        return KI_ERR_LIMIT;
    }
    void *changes = diff->changes;
    int r = ki__array_reserve(d->alloc, &changes, &diff->cap, diff->count + 1, sizeof(change));
    diff->changes = changes;
    size_t at = diff->paths.len;
    r = r < 0 ? r : ki_buf_add(&diff->paths, ki_buf_text(&d->path), d->path.len + 1);
    if (r == 0) {
        diff->changes[diff->count++] = (change){
            .shown = {.size = sizeof(ki_diff_change),
                      .type = type,
                      .before = *before,
                      .after = *after},
            .path = at,
        };
    }
    return r;
}

static bool is_skipped(const differ *d)
{
    for (size_t i = 0; i < d->options->skip_count; i++) {
        if (ki_str_eq_text(ki_buf_str(&d->path), d->options->skip[i])) {
            return true;
        }
    }
    return false;
}

/* ---- lists ---- */

/* The member of an element that may be its key; KI_TYPE_NONE if it has none. */
static ki_value key_of(const ki_value *element, const char *key)
{
    ki_value value;
    bool has = ki_value_member(element, ki_str_from(key), &value) == 0 &&
               ki_value_type(&value) == KI_TYPE_STRING;
    return has ? value : (ki_value){0};
}

static bool is_list_of_maps(const ki_value *list)
{
    ki_value_iter iter;
    ki_value element;
    if (ki_value_type(list) != KI_TYPE_LIST || ki_value_iter_begin(list, &iter) < 0) {
        return false;
    }
    while (ki_value_iter_next(&iter, NULL, &element) > 0) {
        if (ki_value_type(&element) != KI_TYPE_MAP) {
            return false;
        }
    }
    return true;
}

/* Sorts the elements of a list by a key: 1, or 0 if a key is missing or a duplicate. */
static int add_list(differ *d, const ki_value *list, const char *key, ki__member_run *ret_run)
{
    ki_value_iter iter;
    ki_value element;
    size_t from = d->members.count;
    int r = ki_value_iter_begin(list, &iter);
    while (r == 0 && ki_value_iter_next(&iter, NULL, &element) > 0) {
        ki_value value = key_of(&element, key);
        if (ki_value_type(&value) == KI_TYPE_NONE) {
            return 0;
        }
        r = ki__members_add(&d->members, &value, &element);
    }
    if (r < 0) {
        return r;
    }
    *ret_run = ki__members_sort(&d->members, from);
    for (size_t i = from + 1; i < d->members.count; i++) {
        if (ki_str_eq(d->members.items[i - 1].name, d->members.items[i].name)) {
            return 0;
        }
    }
    return 1;
}

/* Chooses the key of two lists, and sorts their elements by it. */
static int choose_key(differ *d, frame *f)
{
    size_t from = d->members.count;
    f->kind = FRAME_INDEXED;
    f->old_members.from = from;
    for (size_t i = 0; i < sizeof(keys) / sizeof(keys[0]); i++) {
        int r = add_list(d, &f->before, keys[i], &f->old_members);
        r = r <= 0 ? r : add_list(d, &f->after, keys[i], &f->new_members);
        if (r < 0) {
            return r;
        }
        if (r > 0) {
            f->kind = FRAME_KEYED;
            f->key = keys[i];
            return 0;
        }
        ki__members_drop(&d->members, from);
        f->old_members = (ki__member_run){.from = from};
    }
    return ki_value_iter_begin(&f->before, &f->other);
}

/* ---- traversal ---- */

static int push(differ *d, const ki_value *before, const ki_value *after)
{
    void *frames = d->frames;
    int r = ki__array_reserve(d->alloc, &frames, &d->cap, d->depth + 1, sizeof(frame));
    d->frames = frames;
    if (r < 0) {
        return r;
    }
    frame *f = &d->frames[d->depth++];
    *f = (frame){.before = *before, .after = *after, .path_len = d->path.len};
    if (ki_value_type(after) == KI_TYPE_LIST) {
        r = choose_key(d, f);
    } else {
        r = ki__members_add_map(&d->members, before, &f->old_members);
        r = r < 0 ? r : ki__members_add_map(&d->members, after, &f->new_members);
    }
    return r < 0 ? r : ki_value_iter_begin(after, &f->iter);
}

/* Sets the path to a child of the value on top of the stack. */
static int set_path(differ *d, const frame *f, const ki_value *key)
{
    ki__buf_truncate(&d->path, f->path_len);
    ki__out out = {.buf = &d->path};
    ki_str name = {0};
    if (f->kind == FRAME_INDEXED) {
        ki__out_index(&out, f->index);
        return out.error;
    }
    int r = ki__members_text(&d->members, key, &name);
    if (r < 0) {
        return r;
    }
    if (f->kind == FRAME_MAP) {
        ki__path_text_member(&out, name);
    } else {
        ki__path_text_keyed(&out, f->key, name);
    }
    return out.error;
}

/* Compares the two values at the path. */
static int compare(differ *d, const ki_value *before, const ki_value *after)
{
    ki_type type = ki_value_type(after);
    bool same = type == ki_value_type(before);
    bool inside =
        same && (type == KI_TYPE_MAP || (is_list_of_maps(before) && is_list_of_maps(after)));
    if (is_skipped(d)) {
        return 0;
    }
    if (inside && d->depth < d->options->max_depth) {
        return push(d, before, after);
    }
    int r = same ? ki__json_same(before, after, d->alloc, &same) : 0;
    return r < 0 || same ? r : record(d, KI_DIFF_CHANGED, before, after);
}

static int step_indexed(differ *d, frame *f)
{
    ki_value before = {0};
    ki_value after = {0};
    bool has_after = ki_value_iter_next(&f->iter, NULL, &after) > 0;
    bool has_before = ki_value_iter_next(&f->other, NULL, &before) > 0;
    if (!has_before && !has_after) {
        d->depth--;
        return 0;
    }
    int r = set_path(d, f, NULL);
    f->index++;
    if (r < 0 || (has_before && has_after)) {
        return r < 0 ? r : compare(d, &before, &after);
    }
    return is_skipped(d) ? 0
                         : record(d, has_after ? KI_DIFF_ADDED : KI_DIFF_REMOVED, &before, &after);
}

static int end_walk(differ *d, frame *f)
{
    if (!f->removing) {
        f->removing = true;
        return ki_value_iter_begin(&f->before, &f->iter);
    }
    ki__members_drop(&d->members, f->old_members.from);
    d->depth--;
    return 0;
}

static int step_named(differ *d, frame *f)
{
    const ki_value none = {0};
    ki_value key;
    ki_value value;
    ki_value first = {0};
    ki_value other = {0};
    if (ki_value_iter_next(&f->iter, &key, &value) <= 0) {
        return end_walk(d, f);
    }
    if (f->kind == FRAME_KEYED) {
        key = key_of(&value, f->key);
    }
    int r =
        ki__members_find(&d->members, f->removing ? f->old_members : f->new_members, &key, &first);
    int found = r < 0 ? r
                      : ki__members_find(&d->members, f->removing ? f->new_members : f->old_members,
                                         &key, &other);
    bool ignored = first.bytes != value.bytes; /* a duplicate name: the first one counts */
    if (found < 0 || ignored || (f->removing && found > 0)) {
        return found < 0 ? found : 0;
    }
    r = set_path(d, f, &key);
    if (r < 0 || found > 0) {
        return r < 0 ? r : compare(d, &other, &value);
    }
    if (is_skipped(d)) {
        return 0;
    }
    return f->removing ? record(d, KI_DIFF_REMOVED, &value, &none)
                       : record(d, KI_DIFF_ADDED, &none, &value);
}

static int walk(differ *d)
{
    ki_value before = ki_object_root(d->diff->before);
    ki_value after = ki_object_root(d->diff->after);
    int r = push(d, &before, &after);
    while (r == 0 && d->depth != 0) {
        frame *f = &d->frames[d->depth - 1];
        r = f->kind == FRAME_INDEXED ? step_indexed(d, f) : step_named(d, f);
    }
    d->diff->complete = r == 0;
    return r == KI_ERR_LIMIT ? 0 : r;
}

/* ---- API ---- */

static int read_options(const ki_diff_options *options, ki_diff_options *ret_options,
                        ki_error *error)
{
    ki_diff_options o;
    int r = KI__TAKE(ki_diff_options, &o, options, error);
    if (r < 0) {
        return r;
    }
    if (o.max_changes > CHANGES_MAX) {
        return ki__error_set(error, -EINVAL, "max_changes: must not be more than %d", CHANGES_MAX);
    }
    if (o.max_depth > DEPTH_MAX) {
        return ki__error_set(error, -EINVAL, "max_depth: must not be more than %d", DEPTH_MAX);
    }
    if (o.skip == NULL && o.skip_count != 0) {
        return ki__error_null(error, "skip");
    }
    o.alloc = ki__alloc_or_default(o.alloc);
    o.max_changes = o.max_changes != 0 ? o.max_changes : CHANGES_DEFAULT;
    o.max_depth = o.max_depth != 0 ? o.max_depth : DEPTH_DEFAULT;
    *ret_options = o;
    return 0;
}

int ki_object_diff(const ki_object *before, const ki_object *after, const ki_diff_options *options,
                   ki_diff **ret_diff, ki_error *error)
{
    KI__REQUIRE(before, error);
    KI__REQUIRE(after, error);
    KI__REQUIRE(ret_diff, error);
    ki_diff_options o;
    int r = read_options(options, &o, error);
    if (r < 0) {
        return r;
    }
    ki_diff *diff = ki__alloc_zero(o.alloc, sizeof(*diff));
    if (diff == NULL) {
        return ki__error_code(error, -ENOMEM);
    }
    diff->alloc = o.alloc;
    diff->before = ki_object_ref(before);
    diff->after = ki_object_ref(after);
    ki_buf_init(&diff->paths, o.alloc, PATH_BYTES_MAX);
    differ d = {.diff = diff, .alloc = o.alloc, .options = &o};
    ki__members_init(&d.members, o.alloc);
    ki_buf_init(&d.path, o.alloc, PATH_BYTES_MAX);
    r = walk(&d);
    ki__members_done(&d.members);
    ki_buf_done(&d.path);
    ki__free(o.alloc, d.frames);
    if (r < 0) {
        (void)ki_diff_unref(diff);
        return ki__error_code(error, r);
    }
    for (size_t i = 0; i < diff->count; i++) {
        diff->changes[i].shown.path = diff->paths.data + diff->changes[i].path;
    }
    *ret_diff = diff;
    return 0;
}

ki_diff *ki_diff_unref(ki_diff *diff)
{
    if (diff != NULL) {
        ki_object_unref(diff->before);
        ki_object_unref(diff->after);
        ki_buf_done(&diff->paths);
        ki__free(diff->alloc, diff->changes);
        ki__free(diff->alloc, diff);
    }
    return NULL;
}

size_t ki_diff_count(const ki_diff *diff)
{
    return diff != NULL ? diff->count : 0;
}

const ki_diff_change *ki_diff_at(const ki_diff *diff, size_t index)
{
    return index < ki_diff_count(diff) ? &diff->changes[index].shown : NULL;
}

bool ki_diff_is_complete(const ki_diff *diff)
{
    return diff != NULL && diff->complete;
}

int ki_object_merge_patch(const ki_object *before, const ki_object *after, ki_buf *out,
                          ki_error *error)
{
    KI__REQUIRE(before, error);
    KI__REQUIRE(after, error);
    KI__REQUIRE(out, error);
    const ki_object *objects[2] = {before, after};
    for (size_t i = 0; i < 2; i++) {
        int r = ki__object_require_whole(objects[i], error);
        if (r < 0) {
            return r;
        }
        if (!ki_object_is_complete(objects[i])) {
            return ki__error_set(error, KI_ERR_NO_SCHEMA,
                                 "%s %s: has fields that the library has no schema for",
                                 ki_object_kind(objects[i]), ki_object_key(objects[i]));
        }
    }
    ki_value from = ki_object_root(before);
    ki_value to = ki_object_root(after);
    ki__out text = ki__out_to(out);
    (void)ki__json_diff(&from, &to, KI__DIFF_MERGE_PATCH, out->alloc, &text);
    int r = ki__out_commit(&text);
    return r < 0 ? ki__error_code(error, r) : out->len - text.start > strlen("{}");
}
