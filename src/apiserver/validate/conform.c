/* SPDX-License-Identifier: Apache-2.0 */
/* The traversal: a stack of frames, each of which validates one value against one schema node. When
 * a frame ends, its parent decides about its errors: those of a member count, those of an
 * alternative only if no other alternative matches. If none matches, the errors of the alternative
 * that passed the most checks are reported, as in kube-apiserver. */
#include "apiserver/validate/conform.h"

#include <errno.h>

#include <kinformer/error.h>

#include "apiserver/validate/conform_parts.h"
#include "base/alloc.h"
#include "object/edit/json_edit.h"
#include "object/edit/json_out.h"
#include "object/json/json_skip.h"

/* Relation of a frame to its parent. */
typedef enum frame_role { ROLE_MEMBER, ROLE_ELEMENT, ROLE_BRANCH, ROLE_NOT } frame_role;

typedef enum frame_phase {
    PHASE_SELF,
    PHASE_ANY_OF,
    PHASE_ONE_OF,
    PHASE_ALL_OF,
    PHASE_NOT,
    PHASE_OPEN,
    PHASE_CHILDREN,
    PHASE_END,
} frame_phase;

/* State of the alternatives checked so far. */
typedef struct choice {
    size_t next;
    size_t valid; /* number of matching ones */
    size_t base;  /* index of their first error */
    size_t best;  /* number of errors of the best non-matching one; kept from `base` */
    bool has_best;
    uint32_t best_matches;
    uint32_t first_matches; /* of the first matching one */
} choice;

struct ki__conform_frame {
    uint32_t node;
    frame_role role;
    frame_phase phase;
    ki_value value;
    ki_value key;  /* of a member */
    size_t path;   /* length of the path without this frame */
    size_t errors; /* number of errors before this frame */
    size_t left_out;
    size_t texts;
    size_t failures;
    uint32_t matches;
    choice choice;
    ki_value_iter iter;
    size_t index;
    size_t seen;
};

int ki__conform_take(ki__conform_walk *w, size_t steps)
{
    w->steps -= steps < w->steps ? (uint32_t)steps : w->steps;
    return w->steps != 0 ? 0 : KI_ERR_LIMIT;
}

/* ---- errors ---- */

ki_str ki__conform_name(const ki__conform_walk *w)
{
    ki_str path = ki_buf_str(&w->path);
    size_t skip = w->prefix < path.len ? w->prefix : path.len;
    skip += skip != 0 && skip < path.len && path.ptr[skip] == '.' ? 1 : 0;
    return ki_str_make(path.len != 0 ? path.ptr + skip : "", path.len - skip);
}

int ki__conform_add(ki__conform_walk *w, ki__invalid_reason reason, ki_str shown,
                    const char *detail)
{
    ki_str path = ki_buf_str(&w->path);
    w->failures++;
    return ki__invalid_add(w->errors, reason, path.len != 0 ? path : ki_str_from("<nil>"), shown,
                           ki_str_from(detail));
}

int ki__conform_add_in_body(ki__conform_walk *w, ki__invalid_reason reason, ki_str shown,
                            const char *rest)
{
    ki_buf_clear(&w->detail);
    ki__out out = ki__out_to(&w->detail);
    ki__out_str(&out, ki__conform_name(w));
    ki__out_texts(&out, " in body ", rest, NULL);
    return out.error < 0 ? out.error : ki__conform_add(w, reason, shown, w->detail.data);
}

int ki__conform_add_loose(ki__conform_walk *w, const char *detail)
{
    ki_str field = w->prefix != 0 ? ki_str_make(w->path.data, w->prefix) : ki_str_from("<nil>");
    w->failures++;
    return ki__invalid_add(w->errors, KI__INVALID_VALUE, field, ki_str_from("\"\""),
                           ki_str_from(detail));
}

/* "spec" must validate ... */
static int add_choice_error(ki__conform_walk *w, const char *text, const char *more)
{
    ki_buf text_of;
    ki_buf_init(&text_of, w->alloc, KI__INVALID_BYTES_MAX);
    ki__out out = ki__out_to(&text_of);
    ki__out_quoted(&out, ki__conform_name(w));
    ki__out_texts(&out, " must ", text, more, NULL);
    int r = out.error < 0 ? out.error : ki__conform_add_loose(w, text_of.data);
    ki_buf_done(&text_of);
    return r;
}

/* Removes the errors added since the frame began. */
static void drop_errors(ki__conform_walk *w, const ki__conform_frame *f)
{
    w->errors->count = f->errors;
    w->errors->left_out = f->left_out;
    ki__buf_truncate(&w->errors->texts, f->texts);
}

/* ---- frames ---- */

static int push(ki__conform_walk *w, uint32_t node, frame_role role, const ki_value *value,
                const ki_value *key, size_t path)
{
    void *frames = w->frames;
    int r = ki__conform_take(w, 1);
    r = r < 0 ? r : ki__array_reserve(w->alloc, &frames, &w->cap, w->depth + 1, sizeof(*w->frames));
    w->frames = frames;
    if (r == 0) {
        w->frames[w->depth++] = (ki__conform_frame){
            .node = node,
            .role = role,
            .value = *value,
            .key = key != NULL ? *key : (ki_value){0},
            .path = path,
            .errors = w->errors->count,
            .left_out = w->errors->left_out,
            .texts = w->errors->texts.len,
        };
        w->branches += role == ROLE_BRANCH || role == ROLE_NOT ? 1 : 0;
    }
    return r;
}

/* The old value at the path of a frame; KI_TYPE_NONE if it cannot be identified, as in lists. */
static ki_value find_old(ki__conform_walk *w, const ki_value *root, size_t depth)
{
    ki_value old = *root;
    for (size_t i = 1; i < depth; i++) {
        const ki__conform_frame *f = &w->frames[i];
        ki_value child;
        if (f->role == ROLE_ELEMENT) {
            return (ki_value){0};
        }
        if (f->role != ROLE_MEMBER) {
            continue;
        }
        ki_buf_clear(&w->text);
        if (ki_value_copy_string(&f->key, &w->text) < 0 ||
            ki_value_member(&old, ki_buf_str(&w->text), &child) < 0) {
            return (ki_value){0};
        }
        old = child;
    }
    return old;
}

/* Whether an invalid value is unchanged and therefore accepted. */
static int is_unchanged(ki__conform_walk *w, const ki_value *old_root, bool *ret_unchanged)
{
    const ki__conform_frame *f = &w->frames[w->depth - 1];
    *ret_unchanged = false;
    if (ki_value_type(old_root) == KI_TYPE_NONE || w->errors->left_out != 0 ||
        f->role == ROLE_BRANCH || f->role == ROLE_NOT) {
        return 0;
    }
    int r = ki__conform_take(w, w->old_steps);
    ki_value old = r == 0 ? find_old(w, old_root, w->depth) : (ki_value){0};
    if (ki_value_type(&old) == KI_TYPE_NONE) {
        return r;
    }
    return ki__json_same(&f->value, &old, w->alloc, ret_unchanged);
}

/* ---- alternatives ---- */

/* Replaces the errors of the best alternative so far by those of this one. */
static void keep_best(ki__conform_walk *w, choice *c, const ki__conform_frame *child)
{
    ki__invalid *list = w->errors;
    size_t count = list->count - child->errors;
    memmove(list->items + c->base, list->items + child->errors, count * sizeof(*list->items));
    list->count = c->base + count;
    c->has_best = true;
    c->best = child->failures;
    c->best_matches = child->matches;
}

static void end_alternative(ki__conform_walk *w, ki__conform_frame *f,
                            const ki__conform_frame *child)
{
    choice *c = &f->choice;
    if (f->phase == PHASE_ALL_OF) {
        c->valid += child->failures == 0 ? 1 : 0;
        f->failures += child->failures;
        f->matches += child->matches;
    } else if (child->failures == 0) {
        c->first_matches = c->valid == 0 ? child->matches : c->first_matches;
        c->valid++;
        c->has_best = false;
        w->errors->count = c->base;
        c->next = f->phase == PHASE_ANY_OF ? SIZE_MAX : c->next;
    } else if (c->valid == 0 && (!c->has_best || child->matches > c->best_matches)) {
        keep_best(w, c, child);
    } else {
        drop_errors(w, child);
    }
}

static int end_choice(ki__conform_walk *w, ki__conform_frame *f, size_t count)
{
    choice *c = &f->choice;
    int r = 0;
    if (c->has_best) {
        f->failures += c->best;
        f->matches += c->best_matches;
    } else if (c->valid != 0 && f->phase != PHASE_ALL_OF) {
        f->matches += f->phase == PHASE_ANY_OF || c->valid == 1 ? c->first_matches : 0;
    }
    w->failures = 0;
    if (f->phase == PHASE_ANY_OF && c->valid == 0) {
        r = add_choice_error(w, "validate at least one schema (anyOf)", "");
    } else if (f->phase == PHASE_ONE_OF && c->valid != 1) {
        ki_buf_clear(&w->text);
        ki__out out = ki__out_to(&w->text);
        if (c->valid == 0) {
            ki__out_text(&out, "Found none valid");
        } else {
            ki__out_text(&out, "Found ");
            ki__out_u64(&out, c->valid);
            ki__out_text(&out, " valid alternatives");
        }
        r = out.error < 0
                ? out.error
                : add_choice_error(w, "validate one and only one schema (oneOf). ", w->text.data);
    } else if (f->phase == PHASE_ALL_OF && c->valid != count) {
        r = add_choice_error(w, "validate all the schemas (allOf)",
                             c->valid == 0 ? ". None validated" : "");
    }
    f->failures += w->failures;
    return r;
}

/* Starts the next alternative of a group, or ends the group. */
static int step_choice(ki__conform_walk *w, ki__conform_frame *f, ki__structural_branch which)
{
    const ki__structural_node *n = &w->schema->nodes[f->node];
    size_t count = n->branch[which].count;
    choice *c = &f->choice;
    if (c->next == 0) {
        *c = (choice){.base = w->errors->count};
    }
    if (c->next < count) {
        uint32_t branch = w->schema->branches[n->branch[which].first + c->next++];
        ki_value value = f->value;
        return push(w, branch, ROLE_BRANCH, &value, NULL, w->path.len);
    }
    int r = count != 0 ? end_choice(w, f, count) : 0;
    f->phase++;
    f->choice = (choice){0};
    return r;
}

static int step_not(ki__conform_walk *w, ki__conform_frame *f)
{
    uint32_t node = w->schema->nodes[f->node].not_node;
    f->phase = PHASE_OPEN;
    ki_value value = f->value;
    return node != 0 ? push(w, node, ROLE_NOT, &value, NULL, w->path.len) : 0;
}

/* ---- one value ---- */

static int step_self(ki__conform_walk *w, ki__conform_frame *f)
{
    const ki__structural_node *n = &w->schema->nodes[f->node];
    const char *start = f->value.bytes;
    size_t len = (size_t)(ki__json_skip_value(start) - start);
    int r = ki__conform_take(w, len / 16);
    w->failures = 0;
    r = r < 0 ? r : ki__conform_value(w, n, &f->value, &f->matches);
    if (r == 0 && w->branches == 0 && n->list != KI__STRUCTURAL_ATOMIC &&
        ki_value_type(&f->value) == KI_TYPE_LIST) {
        r = ki__conform_list(w, n, &f->value);
    }
    if (r == 0 && w->branches == 0 && n->embedded && ki_value_type(&f->value) == KI_TYPE_MAP) {
        r = ki__conform_embedded(w, &f->value);
    }
    f->failures += w->failures;
    bool null = ki_value_type(&f->value) == KI_TYPE_NULL;
    f->phase = null ? PHASE_END : PHASE_ANY_OF;
    return r;
}

/* Starts the members or elements. */
static int step_open(ki__conform_walk *w, ki__conform_frame *f)
{
    const ki__structural_node *n = &w->schema->nodes[f->node];
    ki_type type = ki_value_type(&f->value);
    bool map = type == KI_TYPE_MAP;
    f->phase = PHASE_END;
    if ((!map && type != KI_TYPE_LIST) || ki_value_iter_begin(&f->value, &f->iter) < 0) {
        return 0;
    }
    if (!map && n->items == 0) {
        return 0;
    }
    f->phase = PHASE_CHILDREN;
    f->seen = w->seen_count;
    if (!map || n->required_count == 0) {
        return 0;
    }
    void *seen = w->seen;
    int r = ki__conform_take(w, n->required_count / 16);
    r = r < 0 ? r
              : ki__array_reserve(w->alloc, &seen, &w->seen_cap, w->seen_count + n->required_count,
                                  1);
    w->seen = seen;
    if (r == 0) {
        memset(w->seen + w->seen_count, 0, n->required_count);
        w->seen_count += n->required_count;
    }
    return r;
}

static int add_forbidden(ki__conform_walk *w, ki_str name)
{
    ki_buf_clear(&w->shown);
    ki_buf_clear(&w->detail);
    ki__out shown = ki__out_to(&w->shown);
    ki__out detail = ki__out_to(&w->detail);
    ki__out_quoted(&shown, name);
    ki__out_fail(&detail, shown.error);
    ki__out_str(&detail, ki__conform_name(w));
    ki__out_char(&detail, '.');
    ki__out_str(&detail, name);
    ki__out_text(&detail, " in body is a forbidden property");
    return detail.error < 0
               ? detail.error
               : ki__conform_add(w, KI__INVALID_VALUE, ki_buf_str(&w->shown), w->detail.data);
}

static int add_step(ki__conform_walk *w, ki_str name)
{
    ki__out out = ki__out_to(&w->path);
    ki__out_text(&out, w->path.len != 0 ? "." : "");
    ki__out_str(&out, name);
    return out.error;
}

static int step_member(ki__conform_walk *w, ki__conform_frame *f, const ki_value *key,
                       const ki_value *value)
{
    const ki__structural_node *n = &w->schema->nodes[f->node];
    ki_buf_clear(&w->text);
    int r = ki_value_copy_string(key, &w->text);
    ki_str name = ki_buf_str(&w->text);
    const ki__structural_property *p =
        r == 0 ? ki__structural_find(w->schema, f->node, name) : NULL;
    if (p != NULL && p->required != 0) {
        w->seen[f->seen + p->required - 1] = 1;
    }
    uint32_t node = p != NULL && p->node != 0 ? p->node : n->more_node;
    if (r == 0 && node == 0 && n->more == KI__STRUCTURAL_MORE_FORBIDDEN) {
        w->failures = 0;
        r = add_forbidden(w, name);
        f->failures += w->failures;
    }
    if (r < 0 || node == 0) {
        return r;
    }
    size_t path = w->path.len;
    r = add_step(w, name);
    return r < 0 ? r : push(w, node, ROLE_MEMBER, value, key, path);
}

static int step_element(ki__conform_walk *w, ki__conform_frame *f, const ki_value *value)
{
    size_t path = w->path.len;
    ki__out out = ki__out_to(&w->path);
    ki__out_index(&out, f->index++);
    return out.error < 0
               ? out.error
               : push(w, w->schema->nodes[f->node].items, ROLE_ELEMENT, value, NULL, path);
}

/* Reports missing required members. */
static int end_children(ki__conform_walk *w, ki__conform_frame *f)
{
    const ki__structural_node *n = &w->schema->nodes[f->node];
    int r = 0;
    f->phase = PHASE_END;
    if (ki_value_type(&f->value) != KI_TYPE_MAP || n->required_count == 0) {
        return 0;
    }
    w->failures = 0;
    for (size_t i = 0; i < n->property_count && r == 0; i++) {
        const ki__structural_property *p = &w->schema->properties[n->property + i];
        if (p->required == 0 || w->seen[f->seen + p->required - 1] != 0) {
            continue;
        }
        size_t path = w->path.len;
        r = add_step(w, p->name);
        r = r < 0 ? r : ki__conform_add(w, KI__INVALID_REQUIRED, (ki_str){0}, "");
        ki__buf_truncate(&w->path, path);
    }
    w->seen_count = f->seen;
    f->failures += w->failures;
    return r;
}

static int step_children(ki__conform_walk *w, ki__conform_frame *f)
{
    ki_value key;
    ki_value value;
    int r = ki__conform_take(w, 1);
    if (r < 0) {
        return r;
    }
    if (ki_value_iter_next(&f->iter, &key, &value) <= 0) {
        return end_children(w, f);
    }
    return ki_value_type(&f->value) == KI_TYPE_MAP ? step_member(w, f, &key, &value)
                                                   : step_element(w, f, &value);
}

/* Ends the top frame and passes its result to its parent. */
static int step_end(ki__conform_walk *w, const ki_value *old)
{
    ki__conform_frame *child = &w->frames[w->depth - 1];
    bool unchanged = false;
    int r = child->failures != 0 ? is_unchanged(w, old, &unchanged) : 0;
    if (r < 0) {
        return r;
    }
    if (unchanged) {
        child->failures = 0;
        drop_errors(w, child);
    }
    w->depth--;
    ki__buf_truncate(&w->path, child->path);
    if (w->depth == 0) {
        return 0;
    }
    ki__conform_frame *f = &w->frames[w->depth - 1];
    if (child->role == ROLE_BRANCH) {
        w->branches--;
        end_alternative(w, f, child);
    } else if (child->role == ROLE_NOT) {
        w->branches--;
        drop_errors(w, child);
        w->failures = 0;
        r = child->failures == 0 ? add_choice_error(w, "not validate the schema (not)", "") : 0;
        f->failures += w->failures;
    } else {
        f->failures += child->failures;
        f->matches += child->matches;
    }
    return r;
}

static int step(ki__conform_walk *w, const ki_value *old)
{
    ki__conform_frame *f = &w->frames[w->depth - 1];
    switch (f->phase) {
    case PHASE_SELF:
        return step_self(w, f);
    case PHASE_ANY_OF:
        return step_choice(w, f, KI__STRUCTURAL_ANY_OF);
    case PHASE_ONE_OF:
        return step_choice(w, f, KI__STRUCTURAL_ONE_OF);
    case PHASE_ALL_OF:
        return step_choice(w, f, KI__STRUCTURAL_ALL_OF);
    case PHASE_NOT:
        return step_not(w, f);
    case PHASE_OPEN:
        return step_open(w, f);
    case PHASE_CHILDREN:
        return step_children(w, f);
    case PHASE_END:
        break;
    }
    return step_end(w, old);
}

int ki__conform(const ki__structural *schema, uint32_t node, const ki_value *value,
                const ki_value *old, const char *path, ki__invalid *errors)
{
    ki__conform_walk w = {
        .schema = schema,
        .errors = errors,
        .alloc = schema->alloc,
        .prefix = strlen(path),
        .steps = KI__CONFORM_STEPS_MAX,
    };
    ki_buf_init(&w.path, w.alloc, SIZE_MAX);
    ki_buf_init(&w.text, w.alloc, SIZE_MAX);
    ki_buf_init(&w.shown, w.alloc, SIZE_MAX);
    ki_buf_init(&w.detail, w.alloc, SIZE_MAX);
    if (ki_value_type(old) != KI_TYPE_NONE) {
        const char *start = old->bytes;
        w.old_steps = 1 + (size_t)(ki__json_skip_value(start) - start) / 16;
    }
    int r = ki_buf_add_text(&w.path, path);
    r = r < 0 ? r : push(&w, node, ROLE_MEMBER, value, NULL, w.path.len);
    while (r == 0 && w.depth != 0) {
        r = step(&w, old);
    }
    ki__free(w.alloc, w.frames);
    ki__free(w.alloc, w.seen);
    ki_buf_done(&w.path);
    ki_buf_done(&w.text);
    ki_buf_done(&w.shown);
    ki_buf_done(&w.detail);
    return r;
}
