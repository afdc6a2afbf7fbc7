/* SPDX-License-Identifier: Apache-2.0 */
/* Which fields differ. Both sides are walked at once, with a stack of our own: usually the same
 * members stand in the same order on both sides, and only where they do not one is looked for. What
 * is deep or different beyond all measure is told as a whole, or not at all. */
#include "cli/diff.h"

#include <stdlib.h>
#include <string.h>

#include "cli/report_failure.h"
#include "cli/text.h"

enum { DEPTH_MAX = 48, CHANGES_MAX = 1000, SEARCHES_MAX = 10000 };

/* What the elements of a list may be told apart by, best first. */
static const char *const identities[] = {"name", "type", "key", "uid", "ip"};

typedef struct side {
    ki_value container;
    ki_iter iter;
    bool has; /* a current item, that is */
    ki_value key;
    ki_value item;
} side;

typedef struct frame {
    side before;
    side after;
    const char *identity; /* of a list: its elements have it; NULL: they are counted */
    bool is_list;
    size_t index;
    size_t path_len; /* of the container */
} frame;

typedef struct diffing {
    frame *frames;
    size_t depth;
    ki_buf path;
    ki_buf texts[2];
    void (*tell)(const cli_change *change, void *user);
    void *user;
    size_t changes;
    size_t searches;
    bool gave_up;
} diffing;

/* ---- values ---- */

static bool same_text(diffing *d, const ki_value *a, const ki_value *b, bool json)
{
    const ki_value *values[2] = {a, b};
    for (size_t i = 0; i < 2; i++) {
        ki_buf_clear(&d->texts[i]);
        int r = json ? ki_value_write_json(values[i], &d->texts[i])
                     : ki_value_copy_string(values[i], &d->texts[i]);
        if (r < 0) {
            cli_fail_memory();
        }
    }
    return ki_str_eq(ki_buf_str(&d->texts[0]), ki_buf_str(&d->texts[1]));
}

static bool same_number(diffing *d, const ki_value *a, const ki_value *b)
{
    int64_t whole[2];
    if (ki_value_int64(a, &whole[0]) == 0 && ki_value_int64(b, &whole[1]) == 0) {
        return whole[0] == whole[1];
    }
    return same_text(d, a, b, true);
}

static bool same_plain(diffing *d, const ki_value *a, const ki_value *b)
{
    switch (ki_value_type(a)) {
    case KI_TYPE_STRING:
        return same_text(d, a, b, false);
    case KI_TYPE_NUMBER:
        return same_number(d, a, b);
    case KI_TYPE_NONE:
    case KI_TYPE_NULL:
        return true;
    case KI_TYPE_BOOL:
    case KI_TYPE_LIST:
    case KI_TYPE_MAP:
    case KI_TYPE_MAX:
        break;
    }
    return same_text(d, a, b, true);
}

/* ---- paths ---- */

static bool is_plain_name(ki_str name)
{
    for (size_t i = 0; i < name.len; i++) {
        char c = name.ptr[i];
        bool plain = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
                     c == '_' || c == '-';
        if (!plain) {
            return false;
        }
    }
    return name.len > 0;
}

/* The text of a key, in texts[0]. */
static ki_str key_text(diffing *d, const ki_value *key)
{
    ki_buf_clear(&d->texts[0]);
    if (ki_value_copy_string(key, &d->texts[0]) < 0) {
        cli_fail_memory();
    }
    return ki_buf_str(&d->texts[0]);
}

static void set_path(diffing *d, const frame *f, const ki_value *key)
{
    d->path.len = f->path_len;
    if (f->is_list && f->identity == NULL) {
        cli_putf(&d->path, "[%zu]", f->index);
        return;
    }
    ki_str text = key_text(d, key);
    if (f->is_list) {
        cli_putf(&d->path, "[%s=", f->identity);
        cli_put_str(&d->path, text);
        cli_put_char(&d->path, ']');
    } else if (is_plain_name(text)) {
        cli_put(&d->path, f->path_len != 0 ? "." : "");
        cli_put_str(&d->path, text);
    } else {
        cli_put(&d->path, "['");
        cli_put_str(&d->path, text);
        cli_put(&d->path, "']");
    }
}

static bool is_left_out(const diffing *d)
{
    ki_str path = ki_buf_str(&d->path);
    return ki_str_eq_text(path, "metadata.resourceVersion") ||
           ki_str_eq_text(path, "metadata.managedFields");
}

/* ---- telling ---- */

static void tell(diffing *d, const ki_value *before, const ki_value *after)
{
    if (d->changes++ >= CHANGES_MAX) {
        d->gave_up = true;
        return;
    }
    cli_change change = {.path = ki_buf_str(&d->path)};
    if (before != NULL) {
        change.before = *before;
    }
    if (after != NULL) {
        change.after = *after;
    }
    d->tell(&change, d->user);
}

/* ---- containers ---- */

static bool element_has(const ki_value *element, const char *identity, ki_value *ret_key)
{
    return ki_value_member(element, ki_str_from(identity), ret_key) == 0 &&
           ki_value_type(ret_key) == KI_TYPE_STRING;
}

/* Whether all elements are maps, and if `identity` is not NULL, maps that have it. */
static bool all_have(const ki_value *list, const char *identity)
{
    ki_iter iter;
    ki_value element;
    ki_value key;
    if (ki_value_iter(list, &iter) < 0) {
        return false;
    }
    while (ki_iter_next(&iter, NULL, &element) > 0) {
        if (ki_value_type(&element) != KI_TYPE_MAP ||
            (identity != NULL && !element_has(&element, identity, &key))) {
            return false;
        }
    }
    return true;
}

static const char *identity_of(const ki_value *before, const ki_value *after)
{
    for (size_t i = 0; i < sizeof(identities) / sizeof(identities[0]); i++) {
        if (all_have(before, identities[i]) && all_have(after, identities[i])) {
            return identities[i];
        }
    }
    return NULL;
}

static void advance(const frame *f, side *s)
{
    s->has = ki_iter_next(&s->iter, &s->key, &s->item) > 0;
    if (s->has && f->is_list && f->identity != NULL) {
        (void)element_has(&s->item, f->identity, &s->key);
    }
}

static void push(diffing *d, const ki_value *before, const ki_value *after, bool is_list)
{
    frame *f = &d->frames[d->depth++];
    *f = (frame){.is_list = is_list, .path_len = d->path.len};
    f->before.container = *before;
    f->after.container = *after;
    if (is_list) {
        f->identity = identity_of(before, after);
    }
    (void)!ki_value_iter(before, &f->before.iter); /* they are containers */
    (void)!ki_value_iter(after, &f->after.iter);
    advance(f, &f->before);
    advance(f, &f->after);
}

/* Compares the two values at the path. */
static void compare(diffing *d, const ki_value *before, const ki_value *after)
{
    if (is_left_out(d)) {
        return;
    }
    ki_type type = ki_value_type(before);
    bool same_type = type == ki_value_type(after);
    bool is_list = same_type && type == KI_TYPE_LIST;
    bool inside = same_type && type == KI_TYPE_MAP;
    if (is_list) {
        inside = all_have(before, NULL) && all_have(after, NULL);
    }
    if (inside && d->depth < DEPTH_MAX) {
        push(d, before, after, is_list);
    } else if (!same_type || !same_plain(d, before, after)) {
        tell(d, before, after);
    }
}

/* Looks for a key on one side. */
static bool find(diffing *d, const frame *f, const side *where, const ki_value *key,
                 ki_value *ret_item)
{
    ki_str text = key_text(d, key);
    if (d->searches++ >= SEARCHES_MAX) {
        d->gave_up = true;
        return false;
    }
    if (!f->is_list) {
        return ki_value_member(&where->container, text, ret_item) >= 0;
    }
    ki_iter iter;
    ki_value item;
    ki_value found;
    (void)!ki_value_iter(&where->container, &iter);
    while (ki_iter_next(&iter, NULL, &item) > 0) {
        if (element_has(&item, f->identity, &found) && ki_value_equals(&found, text)) {
            *ret_item = item;
            return true;
        }
    }
    return false;
}

/* Lists whose elements have no names: by their places. */
static void step_counted(diffing *d, frame *f)
{
    ki_value before = f->before.item;
    ki_value after = f->after.item;
    bool has_before = f->before.has;
    bool has_after = f->after.has;
    set_path(d, f, NULL);
    f->index++;
    advance(f, &f->before);
    advance(f, &f->after);
    if (has_before && has_after) {
        compare(d, &before, &after);
    } else {
        tell(d, has_before ? &before : NULL, has_after ? &after : NULL);
    }
}

static void drop_before(diffing *d, frame *f)
{
    set_path(d, f, &f->before.key);
    if (!is_left_out(d)) {
        tell(d, &f->before.item, NULL);
    }
    advance(f, &f->before);
}

/* Both have an item, but of other names; or one has none any more. */
static void step_apart(diffing *d, frame *f)
{
    ki_value other;
    if (!f->after.has) {
        if (!find(d, f, &f->after, &f->before.key, &other) && !d->gave_up) {
            drop_before(d, f);
        } else {
            advance(f, &f->before);
        }
        return;
    }
    ki_value after = f->after.item;
    if (!find(d, f, &f->before, &f->after.key, &other)) {
        set_path(d, f, &f->after.key);
        advance(f, &f->after);
        if (!d->gave_up && !is_left_out(d)) {
            tell(d, NULL, &after);
        }
        return;
    }
    ki_value before = other;
    if (f->before.has && !find(d, f, &f->after, &f->before.key, &other) && !d->gave_up) {
        drop_before(d, f);
        return;
    }
    set_path(d, f, &f->after.key);
    advance(f, &f->after);
    if (f->before.has) { /* its turn comes when the other side gets there */
        advance(f, &f->before);
    }
    compare(d, &before, &after);
}

static void step_named(diffing *d, frame *f)
{
    if (!f->before.has || !f->after.has || !same_plain(d, &f->before.key, &f->after.key)) {
        step_apart(d, f);
        return;
    }
    ki_value before = f->before.item;
    ki_value after = f->after.item;
    set_path(d, f, &f->after.key);
    advance(f, &f->before);
    advance(f, &f->after);
    compare(d, &before, &after);
}

bool cli_diff(const ki_value *before, const ki_value *after,
              void (*told)(const cli_change *change, void *user), void *user)
{
    diffing d = {.tell = told, .user = user};
    d.frames = calloc(DEPTH_MAX, sizeof(*d.frames));
    if (d.frames == NULL) {
        cli_fail_memory();
    }
    cli_text_init(&d.path);
    cli_text_init(&d.texts[0]);
    cli_text_init(&d.texts[1]);
    cli_put(&d.path, "");
    compare(&d, before, after);
    while (d.depth > 0 && !d.gave_up) {
        frame *f = &d.frames[d.depth - 1];
        if (!f->before.has && !f->after.has) {
            d.depth--;
        } else if (f->is_list && f->identity == NULL) {
            step_counted(&d, f);
        } else {
            step_named(&d, f);
        }
    }
    free(d.frames);
    ki_buf_done(&d.path);
    ki_buf_done(&d.texts[0]);
    ki_buf_done(&d.texts[1]);
    return !d.gave_up;
}
