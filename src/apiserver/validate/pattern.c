/* SPDX-License-Identifier: Apache-2.0 */
/* Each part of an expression is one block of code, entered at its first instruction and left after
 * its last, with relative jumps. Blocks can therefore be moved and copied, which is how repetition
 * works, and no syntax tree is needed. */
#include "apiserver/validate/pattern.h"

#include <errno.h>

#include <kinformer/error.h>

#include "apiserver/validate/pattern_code.h"
#include "base/alloc.h"
#include "base/utf8.h"

/* ---- the code ---- */

int ki__pattern_emit(ki__pattern *p, ki__pattern_op op, uint32_t value)
{
    if (p->count == KI__PATTERN_CODE_MAX) {
        return KI_ERR_LIMIT;
    }
    void *code = p->code;
    int r = ki__array_reserve(p->alloc, &code, &p->cap, p->count + 1, sizeof(*p->code));
    p->code = code;
    if (r == 0) {
        p->code[p->count++] = (ki__pattern_step){.op = op, .value = value};
    }
    return r;
}

/* Inserts an instruction before the block from `at` to the end of the code. */
static int insert(ki__pattern *p, size_t at, ki__pattern_op op, int32_t jump)
{
    int r = ki__pattern_emit(p, op, 0);
    if (r == 0) {
        memmove(p->code + at + 1, p->code + at, (p->count - at - 1) * sizeof(*p->code));
        p->code[at] = (ki__pattern_step){.op = op, .jump = jump};
    }
    return r;
}

/* Appends a copy of a block. */
static int copy(ki__pattern *p, size_t at, size_t len)
{
    int r = 0;
    for (size_t i = 0; i < len && r == 0; i++) {
        r = ki__pattern_emit(p, KI__PATTERN_FAIL, 0);
        if (r == 0) {
            p->code[p->count - 1] = p->code[at + i];
        }
    }
    return r;
}

static int emit_jump(ki__pattern *p, ki__pattern_op op, size_t to)
{
    int r = ki__pattern_emit(p, op, 0);
    if (r == 0) {
        p->code[p->count - 1].jump = (int32_t)to - (int32_t)(p->count - 1);
    }
    return r;
}

/* Repeats the block from `at` to the end any number of times. */
static int star(ki__pattern *p, size_t at)
{
    int r = insert(p, at, KI__PATTERN_SPLIT, 0);
    r = r < 0 ? r : emit_jump(p, KI__PATTERN_JUMP, at);
    if (r == 0) {
        p->code[at].jump = (int32_t)(p->count - at);
    }
    return r;
}

static int optional(ki__pattern *p, size_t at)
{
    int r = insert(p, at, KI__PATTERN_SPLIT, 0);
    if (r == 0) {
        p->code[at].jump = (int32_t)(p->count - at);
    }
    return r;
}

int ki__pattern_repeat(ki__pattern *p, size_t at, uint32_t least, uint32_t most)
{
    size_t len = p->count - at;
    if (least == 0 && most == KI__PATTERN_NO_MOST) {
        return star(p, at);
    }
    if (most == 0) {
        p->count = at;
        return 0;
    }
    int r = 0;
    for (uint32_t i = 1; i < least && r == 0; i++) {
        r = copy(p, at, len);
    }
    if (most == KI__PATTERN_NO_MOST) { /* the last one repeats */
        return r < 0 ? r : emit_jump(p, KI__PATTERN_SPLIT, p->count - len);
    }
    size_t first = at; /* start of the optional copies */
    if (least != 0 && most > least) {
        first = p->count;
        r = r < 0 ? r : copy(p, at, len);
    }
    if (most > least) {
        r = r < 0 ? r : optional(p, first);
        for (uint32_t i = least + 1; i < most && r == 0; i++) {
            r = copy(p, first, len + 1);
        }
        /* Each optional copy contains the next: skipping one skips the rest. */
        for (size_t i = first; r == 0 && i < p->count; i += len + 1) {
            p->code[i].jump = (int32_t)(p->count - i);
        }
    }
    return r;
}

int ki__pattern_next_alternative(ki__pattern *p, size_t at, size_t *chain)
{
    int r = insert(p, at, KI__PATTERN_SPLIT, 0);
    r = r < 0 ? r : ki__pattern_emit(p, KI__PATTERN_JUMP, 0);
    if (r == 0) {
        p->code[at].jump = (int32_t)(p->count - at);
        p->code[p->count - 1].value = (uint32_t)*chain;
        *chain = p->count;
    }
    return r;
}

void ki__pattern_end_alternatives(ki__pattern *p, size_t chain)
{
    while (chain != 0) {
        ki__pattern_step *step = &p->code[chain - 1];
        step->jump = (int32_t)(p->count - (chain - 1));
        chain = step->value;
        step->value = 0;
    }
}

ki__pattern *ki__pattern_free(ki__pattern *p)
{
    if (p != NULL) {
        ki__free(p->alloc, p->code);
        ki__free(p->alloc, p->ranges);
        ki__free(p->alloc, p);
    }
    return NULL;
}

/* ---- execution ---- */

typedef struct machine {
    const ki__pattern *p;
    uint32_t *now;   /* program counters of the threads at this character */
    uint32_t *next;  /* and at the next one */
    uint32_t *marks; /* by instruction: 1 + the text position where it was last reached */
    uint32_t *stack;
    size_t next_count;
    bool matched;
    uint32_t *steps;
} machine;

static bool is_word(uint32_t c)
{
    return c < 128 &&
           ((c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_');
}

/* The character at an offset and its length; U+FFFD for invalid UTF-8. */
static uint32_t decode(ki_str text, size_t at, size_t *ret_len)
{
    ki_str rest = ki_str_make(text.ptr + at, text.len - at);
    size_t len = ki__utf8_length(rest);
    const unsigned char *b = (const unsigned char *)rest.ptr;
    *ret_len = len != 0 ? len : 1;
    switch (len) {
    case 1:
        return b[0];
    case 2:
        return (uint32_t)(b[0] & 0x1f) << 6 | (b[1] & 0x3f);
    case 3:
        return (uint32_t)(b[0] & 0x0f) << 12 | (uint32_t)(b[1] & 0x3f) << 6 | (b[2] & 0x3f);
    case 4:
        return (uint32_t)(b[0] & 0x07) << 18 | (uint32_t)(b[1] & 0x3f) << 12 |
               (uint32_t)(b[2] & 0x3f) << 6 | (b[3] & 0x3f);
    default:
        return 0xfffd;
    }
}

/* Whether an empty-width assertion holds at an offset. */
static bool holds(ki__pattern_op op, ki_str text, size_t at)
{
    bool before = at != 0 && is_word((unsigned char)text.ptr[at - 1]);
    bool after = at != text.len && is_word((unsigned char)text.ptr[at]);
    switch (op) {
    case KI__PATTERN_BEGIN:
        return at == 0;
    case KI__PATTERN_END:
        return at == text.len;
    case KI__PATTERN_BEGIN_LINE:
        return at == 0 || text.ptr[at - 1] == '\n';
    case KI__PATTERN_END_LINE:
        return at == text.len || text.ptr[at] == '\n';
    case KI__PATTERN_WORD_BOUNDARY:
        return before != after;
    default:
        return before == after;
    }
}

static bool take_step(machine *m)
{
    *m->steps -= *m->steps != 0 ? 1 : 0;
    return *m->steps != 0;
}

/* Adds a thread, and all threads reachable from it without consuming a character, to the next
 * list. */
static bool add_thread(machine *m, uint32_t pc, ki_str text, size_t at)
{
    size_t depth = 0;
    m->stack[depth++] = pc;
    while (depth != 0) {
        pc = m->stack[--depth];
        if (m->marks[pc] == at + 1) {
            continue;
        }
        if (!take_step(m)) {
            return false;
        }
        m->marks[pc] = (uint32_t)at + 1;
        const ki__pattern_step *step = &m->p->code[pc];
        switch (step->op) {
        case KI__PATTERN_MATCH:
            m->matched = true;
            return true;
        case KI__PATTERN_SPLIT:
            m->stack[depth++] = pc + 1;
            m->stack[depth++] = (uint32_t)((int32_t)pc + step->jump);
            break;
        case KI__PATTERN_JUMP:
            m->stack[depth++] = (uint32_t)((int32_t)pc + step->jump);
            break;
        case KI__PATTERN_CHAR:
        case KI__PATTERN_ANY:
        case KI__PATTERN_ANY_IN_LINE:
        case KI__PATTERN_CLASS:
            m->next[m->next_count++] = pc;
            break;
        case KI__PATTERN_FAIL:
            break;
        default:
            if (holds(step->op, text, at)) {
                m->stack[depth++] = pc + 1;
            }
            break;
        }
    }
    return true;
}

static bool in_class(const ki__pattern *p, const ki__pattern_step *step, uint32_t c)
{
    const ki__pattern_range *ranges = p->ranges + step->value;
    size_t low = 0;
    size_t high = step->count;
    while (low < high) { /* number of ranges that begin at or before c */
        size_t middle = low + (high - low) / 2;
        if (ranges[middle].from <= c) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    return low != 0 && c <= ranges[low - 1].to;
}

static bool takes(const ki__pattern *p, const ki__pattern_step *step, uint32_t c)
{
    switch (step->op) {
    case KI__PATTERN_CHAR:
        return step->value == c;
    case KI__PATTERN_ANY:
        return true;
    case KI__PATTERN_ANY_IN_LINE:
        return c != '\n';
    default:
        return in_class(p, step, c) != step->negated;
    }
}

static int run(machine *m, ki_str text)
{
    size_t now_count = 0;
    size_t at = 0;
    bool left = add_thread(m, 0, text, 0);
    while (left && !m->matched && at < text.len) {
        uint32_t *swap = m->now;
        m->now = m->next;
        m->next = swap;
        now_count = m->next_count;
        m->next_count = 0;
        size_t len;
        uint32_t c = decode(text, at, &len);
        for (size_t i = 0; i < now_count && left && !m->matched; i++) {
            uint32_t pc = m->now[i];
            left = take_step(m);
            if (left && takes(m->p, &m->p->code[pc], c)) {
                left = add_thread(m, pc + 1, text, at + len);
            }
        }
        at += len;
        left = left && (m->matched || add_thread(m, 0, text, at));
    }
    return m->matched ? 1 : left ? 0 : KI_ERR_LIMIT;
}

int ki__pattern_match(const ki__pattern *p, ki_str text, uint32_t *steps)
{
    size_t count = p->count;
    if (text.len >= UINT32_MAX) {
        return KI_ERR_LIMIT;
    }
    /* Stack size: each instruction is marked once per position and pushes at most two. */
    uint32_t *block = ki__alloc_array(p->alloc, 5 * count + 2, sizeof(*block));
    if (block == NULL) {
        return -ENOMEM;
    }
    memset(block, 0, (5 * count + 2) * sizeof(*block));
    machine m = {
        .p = p,
        .now = block,
        .next = block + count,
        .marks = block + 2 * count,
        .stack = block + 3 * count,
        .steps = steps,
    };
    int r = run(&m, text);
    ki__free(p->alloc, block);
    return r;
}
