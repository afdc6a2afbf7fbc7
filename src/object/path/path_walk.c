/* SPDX-License-Identifier: Apache-2.0 */
/* Path evaluation: a state machine that descends step by step and backtracks to the last choice
 * when a branch ends. A choice is a frame; there are never more frames than steps with a choice,
 * because a step has one frame at a time. The operands of a filter's terms are evaluated by the
 * same machine on top of the filter's frame, and dropped once a term is true. So there is no
 * recursion, neither on the document nor on the path.
 *
 * The open lists and maps of all recursive descents (`..`) share one stack: a later descent starts
 * at the current position of an earlier one, so together they are never deeper than the document.
 *
 * The bytes read by an evaluation are limited, because several descents or unions in a row can
 * reach every value in very many ways. */
#include <errno.h>

#include "base/alloc.h"
#include "base/assert.h"
#include "base/error.h"
#include "object/path/path.h"
#include "object/value.h"

#define DEPTH_MAX 1024  /* maximum depth of objects */
#define INLINE_FRAMES 8 /* enough to find the first value without an allocation */
#define NOT_TESTING SIZE_MAX

/* Cost is counted in bytes skipped; a visit of a value costs as much as this many. */
#define VISIT_COST 64
#define BUDGET_BASE ((uint64_t)64 << 20)
#define BUDGET_TIMES 256 /* times the size of the whole object */

typedef struct frame {
    uint8_t step;       /* index of its step */
    uint8_t member;     /* current member of a union; otherwise the step itself */
    bool begun;         /* the member or descent has yielded a value */
    size_t depth;       /* entries of the shared stack below this belong to others */
    ki_value node;      /* input of the step; for a descent, the last value it yielded */
    ki_value_iter iter; /* over the children of the node */
    int64_t index;      /* slice: index of the next element */
    int64_t wanted;     /* slice: next element to yield */
    int64_t end;        /* slice: end, exclusive */
} frame;

typedef struct walk {
    const ki_path *path;
    ki_value value;   /* current value */
    uint8_t at;       /* next step from there */
    bool begun;       /* the first value was requested */
    bool right;       /* evaluating the right operand of a term */
    bool no_schema;   /* a branch ended at fields without a schema */
    bool not_kept;    /* a map or list had members that were not kept */
    uint8_t term;     /* current term */
    size_t testing;   /* frame of its filter */
    ki_value element; /* element it is tested on */
    ki_value left;    /* value of its left operand */
    uint64_t budget;  /* remaining cost */
    uint64_t longest; /* upper bound for the cost of a single move */
    size_t count;     /* frames in use */
    frame *frames;    /* capacity: path->frame_count */
    size_t depth;     /* lists and maps opened by descents */
    size_t depth_cap;
    ki_value_iter *open;
} walk;

struct ki_path_iter {
    walk walk;
    int failure; /* sticky error code */
    bool found;  /* it has yielded a value */
    frame frames[];
};

/* Result of a move; errors are negative. */
enum { GO_BACK, GO_DOWN, FOUND, OVER };

static void walk_init(walk *w, const ki_path *path, const ki_value *root, frame *frames)
{
    uint64_t len = root->len;
    w->path = path;
    w->value = *root;
    w->at = path->first;
    w->begun = ki_value_type(root) == KI_TYPE_NONE; /* no value: nothing to find */
    w->right = false;
    w->no_schema = false;
    w->not_kept = ki__value_is_not_kept(root);
    w->testing = NOT_TESTING;
    w->budget = BUDGET_BASE + BUDGET_TIMES * (len < UINT32_MAX ? len : UINT32_MAX);
    w->longest = len;
    w->count = 0;
    w->frames = frames;
    w->depth = 0;
    w->depth_cap = 0;
    w->open = NULL;
}

static void walk_done(walk *w)
{
    ki__free(w->path->alloc, w->open);
}

static int charge(walk *w, uint64_t cost)
{
    if (cost > w->budget) {
        return KI_ERR_LIMIT;
    }
    w->budget -= cost;
    return 0;
}

/* The next child; charges for the bytes between it and the previous one. Members that were not kept
 * are reported at the end of the evaluation, or at once in a filter, whose result they affect. */
static int next_child(walk *w, ki_value_iter *iter, ki_value *ret_value)
{
    uintptr_t before = (uintptr_t)iter->next;
    int r = ki_value_iter_next(iter, NULL, ret_value);
    uintptr_t after = (uintptr_t)iter->next;
    uint64_t passed = after > before ? after - before : 0;
    int charged = charge(w, VISIT_COST + (passed < w->longest ? passed : w->longest));
    if (r == KI_ERR_NOT_KEPT && w->testing == NOT_TESTING) {
        w->not_kept = true;
        r = 0;
    }
    return charged < 0 ? charged : r;
}

/* Number of children of a list or a map. */
static int count_children(walk *w, const ki_value *container, int64_t *ret_count)
{
    ki_value_iter iter;
    ki_value child;
    int64_t count = 0;
    int r = ki_value_iter_begin(container, &iter);
    while (r >= 0 && (r = next_child(w, &iter, &child)) > 0) {
        count++;
    }
    *ret_count = count;
    return r;
}

/* A lookup in `value` costs no more than skipping it, which the parent frame pays for. If a value
 * may be searched more often than it is skipped, each lookup is charged here. */
static int charge_lookup(walk *w, const ki_value *value)
{
    int64_t count;
    if (!w->path->multiplies) {
        return 0;
    }
    bool not_kept = w->not_kept;
    int r = count_children(w, value, &count);
    w->not_kept = not_kept;
    return r == KI_ERR_TYPE || r == KI_ERR_NOT_KEPT ? 0 : r;
}

/* The single value of a field or an index: 1, or 0 if there is none. If it was not kept, the whole
 * evaluation fails: its result would depend on the value. */
static int look_up(walk *w, const ki__path_step *step, const ki_value *value, ki_value *ret_value)
{
    int r = charge_lookup(w, value);
    if (r < 0) {
        return r;
    }
    r = step->kind == KI__PATH_FIELD ? ki_value_member(value, step->name, ret_value)
                                     : ki_value_element(value, step->from, ret_value);
    w->no_schema = w->no_schema || r == KI_ERR_NO_SCHEMA;
    return r == KI_ERR_NOT_KEPT ? r : r >= 0;
}

/* ---- lists, maps, slices and unions ---- */

static int begin_slice(walk *w, frame *f, const ki__path_step *step)
{
    int64_t from = step->from;
    int64_t to = step->to;
    if (from < 0 || to < 0) {
        int64_t count;
        int r = count_children(w, &f->node, &count);
        if (r < 0) {
            return r;
        }
        from += from < 0 ? count : 0;
        to += to < 0 ? count : 0;
    }
    f->index = 0;
    f->wanted = from > 0 ? from : 0;
    f->end = to;
    return 0;
}

static int next_in_slice(walk *w, frame *f, const ki__path_step *step)
{
    while (f->wanted < f->end) {
        int r = next_child(w, &f->iter, &w->value);
        if (r <= 0) {
            return r;
        }
        if (f->index++ == f->wanted) {
            f->wanted = step->by < f->end - f->wanted ? f->wanted + step->by : f->end;
            return 1;
        }
    }
    return 0;
}

/* The next value of a union member, or of a slice or '*' on its own: 1, or 0 after the last. */
static int next_of_member(walk *w, frame *f, const ki__path_step *step)
{
    bool begun = f->begun;
    f->begun = true;
    if (step->kind == KI__PATH_FIELD || step->kind == KI__PATH_INDEX) {
        int r = begun ? 0 : charge(w, VISIT_COST);
        return begun || r < 0 ? r : look_up(w, step, &f->node, &w->value);
    }
    bool slice = step->kind == KI__PATH_SLICE;
    if (!begun) {
        if (slice && ki_value_type(&f->node) != KI_TYPE_LIST) {
            f->iter = (ki_value_iter){0}; /* empty iterator */
        } else if (ki_value_iter_begin(&f->node, &f->iter) < 0) {
            return 0;
        }
        int r = slice ? begin_slice(w, f, step) : 0;
        if (r < 0) {
            return r;
        }
    }
    return slice ? next_in_slice(w, f, step) : next_child(w, &f->iter, &w->value);
}

static int next_of_union(walk *w, frame *f)
{
    const ki__path_step *step = &w->path->steps[f->step];
    for (;;) {
        const ki__path_step *member = &w->path->steps[f->member];
        int r = next_of_member(w, f, member);
        if (r != 0 || step->kind != KI__PATH_UNION || member->next == KI__PATH_NONE) {
            w->at = step->next;
            return r;
        }
        f->member = member->next;
        f->begun = false;
    }
}

/* ---- descents ---- */

/* Opens the last value of the descent, if it is a list or a map. */
static int open_node(walk *w, const ki_value *node)
{
    ki_value_iter iter;
    if (ki_value_iter_begin(node, &iter) < 0) {
        return 0;
    }
    if (w->depth == DEPTH_MAX) {
        return KI_ERR_LIMIT;
    }
    void *block = w->open;
    int r = ki__array_reserve(w->path->alloc, &block, &w->depth_cap, w->depth + 1, sizeof(iter));
    if (r < 0) {
        return r;
    }
    w->open = block;
    w->open[w->depth++] = iter;
    return 0;
}

/* Pre-order: a node before its descendants. */
static int next_of_descent(walk *w, frame *f)
{
    w->at = w->path->steps[f->step].next;
    if (!f->begun) {
        f->begun = true;
        w->value = f->node;
        return 1;
    }
    int r = open_node(w, &f->node);
    while (r == 0 && w->depth > f->depth) {
        r = next_child(w, &w->open[w->depth - 1], &f->node);
        if (r == 0) {
            w->depth--;
        }
    }
    if (r > 0) {
        w->value = f->node;
    }
    return r;
}

/* ---- filters ---- */

static int begin_term(walk *w, uint8_t term)
{
    w->term = term;
    w->right = false;
    w->value = w->element;
    w->at = w->path->terms[term].left;
    return 1;
}

/* The first term of the next alternative after that of `term`, or none. */
static uint8_t next_alternative(const ki_path *path, uint8_t term)
{
    while (path->terms[term].and_next) {
        term++;
    }
    return path->terms[term].last ? KI__PATH_NONE : (uint8_t)(term + 1);
}

/* Called when an element is done, and when a term of the current one is false. */
static int next_of_filter(walk *w, frame *f)
{
    const ki__path_step *step = &w->path->steps[f->step];
    size_t index = (size_t)(f - w->frames);
    if (w->testing == index) {
        uint8_t term = next_alternative(w->path, w->term);
        if (term != KI__PATH_NONE) {
            return begin_term(w, term);
        }
    }
    w->testing = NOT_TESTING;
    int r = next_child(w, &f->iter, &w->element);
    if (r <= 0) {
        return r;
    }
    w->testing = index;
    return begin_term(w, step->inner);
}

/* At the end of one operand of a term. */
static int test(walk *w)
{
    const ki__path_term *term = &w->path->terms[w->term];
    bool literal = term->literal.type != KI_TYPE_NONE;
    int r = 1;
    if (term->op != KI__PATH_EXISTS) {
        if (!literal && !w->right) {
            w->left = w->value;
            w->value = w->element;
            w->at = term->right;
            w->right = true;
            return GO_DOWN;
        }
        ki__path_operand left;
        ki__path_operand right;
        ki__path_operand_from(literal ? &w->value : &w->left, &left);
        if (!literal) {
            ki__path_operand_from(&w->value, &right);
        }
        r = ki__path_compare((ki__path_op)term->op, &left, literal ? &term->literal : &right,
                             w->path->alloc);
    }
    if (r <= 0) {
        return r < 0 ? r : GO_BACK;
    }
    /* The term is true: drop the remaining branches of its operands. */
    frame *f = &w->frames[w->testing];
    w->count = w->testing + 1;
    w->depth = f->depth;
    if (term->and_next) {
        (void)begin_term(w, (uint8_t)(w->term + 1)); /* cannot fail */
        return GO_DOWN;
    }
    w->testing = NOT_TESTING;
    w->value = w->element;
    w->at = w->path->steps[f->step].next;
    return GO_DOWN;
}

/* ---- the machine ---- */

/* Pushes the frame of a step with a choice; backtracking to it yields its first value. */
static int push_frame(walk *w, const ki__path_step *step)
{
    ki_assert(w->count < w->path->frame_count);
    frame *f = &w->frames[w->count];
    ki_type type = ki_value_type(&w->value);
    if (step->kind == KI__PATH_FILTER) {
        if (type != KI_TYPE_LIST || ki_value_iter_begin(&w->value, &f->iter) < 0) {
            return GO_BACK;
        }
    } else if (step->kind != KI__PATH_DESCEND && type != KI_TYPE_LIST && type != KI_TYPE_MAP) {
        return GO_BACK;
    }
    f->step = w->at;
    f->member = step->kind == KI__PATH_UNION ? step->inner : w->at;
    f->begun = false;
    f->depth = w->depth;
    f->node = w->value;
    w->count++;
    return GO_BACK;
}

static int move_down(walk *w)
{
    if (w->at == KI__PATH_NONE) {
        return w->testing != NOT_TESTING ? test(w) : FOUND;
    }
    const ki__path_step *step = &w->path->steps[w->at];
    if (step->kind != KI__PATH_FIELD && step->kind != KI__PATH_INDEX) {
        return push_frame(w, step);
    }
    ki_value value;
    int r = look_up(w, step, &w->value, &value);
    if (r <= 0) {
        return r < 0 ? r : GO_BACK;
    }
    w->value = value;
    w->at = step->next;
    return GO_DOWN;
}

static int next_of_frame(walk *w, frame *f)
{
    switch (w->path->steps[f->step].kind) {
    case KI__PATH_DESCEND:
        return next_of_descent(w, f);
    case KI__PATH_FILTER:
        return next_of_filter(w, f);
    default:
        return next_of_union(w, f);
    }
}

static int move_back(walk *w)
{
    while (w->count > 0) {
        frame *f = &w->frames[w->count - 1];
        w->right = false; /* right operands have no frames */
        int r = next_of_frame(w, f);
        if (r != 0) {
            return r < 0 ? r : GO_DOWN;
        }
        w->count--;
    }
    return OVER;
}

/* The next value: 1, 0 after the last, or an error. */
static int walk_next(walk *w)
{
    int r = w->begun ? GO_BACK : GO_DOWN;
    w->begun = true;
    while (r == GO_DOWN || r == GO_BACK) {
        r = r == GO_DOWN ? move_down(w) : move_back(w);
    }
    return r == OVER && w->not_kept ? KI_ERR_NOT_KEPT : r < 0 ? r : r == FOUND;
}

int ki_path_first(const ki_path *path, const ki_value *root, ki_value *ret_value)
{
    KI__REQUIRE(path, NULL);
    KI__REQUIRE(root, NULL);
    KI__REQUIRE(ret_value, NULL);
    frame inline_frames[INLINE_FRAMES];
    frame *frames = inline_frames;
    walk w;
    int failure = ki__path_failure(path, root);
    if (failure < 0) {
        return failure;
    }
    if (path->frame_count > INLINE_FRAMES) {
        frames = ki__alloc_array(path->alloc, path->frame_count, sizeof(*frames));
        if (frames == NULL) {
            return -ENOMEM;
        }
    }
    walk_init(&w, path, root, frames);
    int r = walk_next(&w);
    if (r > 0) {
        *ret_value = w.value;
    }
    walk_done(&w);
    if (frames != inline_frames) {
        ki__free(path->alloc, frames);
    }
    if (r == 0) {
        return w.no_schema ? KI_ERR_NO_SCHEMA : KI_ERR_NOT_FOUND;
    }
    return r < 0 ? r : 0;
}

int ki_path_iter_begin(const ki_path *path, const ki_value *root, ki_path_iter **ret_iter)
{
    KI__REQUIRE(path, NULL);
    KI__REQUIRE(root, NULL);
    KI__REQUIRE(ret_iter, NULL);
    ki_path_iter *iter =
        ki__alloc(path->alloc, sizeof(*iter) + path->frame_count * sizeof(iter->frames[0]));
    if (iter == NULL) {
        return -ENOMEM;
    }
    walk_init(&iter->walk, path, root, iter->frames);
    iter->failure = ki__path_failure(path, root);
    iter->found = false;
    *ret_iter = iter;
    return 0;
}

int ki_path_iter_next(ki_path_iter *iter, ki_value *ret_value)
{
    KI__REQUIRE(iter, NULL);
    KI__REQUIRE(ret_value, NULL);
    if (iter->failure < 0) {
        return iter->failure;
    }
    int r = walk_next(&iter->walk);
    if (r == 0 && iter->walk.no_schema && !iter->found) {
        r = KI_ERR_NO_SCHEMA;
    }
    if (r < 0) {
        iter->failure = r;
    } else if (r > 0) {
        iter->found = true;
        *ret_value = iter->walk.value;
    }
    return r;
}

ki_path_iter *ki_path_iter_end(ki_path_iter *iter)
{
    if (iter != NULL) {
        walk_done(&iter->walk);
        ki__free(iter->walk.path->alloc, iter);
    }
    return NULL;
}
