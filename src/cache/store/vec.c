/* SPDX-License-Identifier: Apache-2.0 */
/* Invariants: a parent is never older than its children, so everything that an edit owns is
 * reachable through nodes it owns; all leaves are at the same depth. */
#include "cache/store/vec.h"

#include <errno.h>

#include "base/alloc.h"
#include "base/assert.h"

/* 64^6 exceeds the largest id. */
enum { MAX_HEIGHT = 6 };

/* Shift of an id to get its slot in a node `level` levels above the leaves. */
static uint32_t shift_of(uint32_t level)
{
    return KI__VEC_BITS * level;
}

static uint64_t capacity(const ki__vec *vec)
{
    return vec->height != 0 ? UINT64_C(1) << shift_of(vec->height) : 0;
}

const ki__vec_node *ki__vec_next_leaf(const ki__vec *vec, uint64_t *id)
{
    uint64_t at = *id / KI__VEC_WIDTH * KI__VEC_WIDTH;
    while (at < capacity(vec)) {
        const ki__vec_node *node = vec->root;
        uint32_t level = vec->height - 1;
        while (level != 0) {
            const ki__vec_node *child = node->slots[(at >> shift_of(level)) % KI__VEC_WIDTH].child;
            if (child == NULL) {
                break;
            }
            node = child;
            level--;
        }
        if (level == 0) {
            *id = at;
            return node;
        }
        at = ((at >> shift_of(level)) + 1) << shift_of(level); /* skips the empty part */
    }
    return NULL;
}

/* Makes the node at *ref owned by the edit, creating it if there is none. */
static int own(ki__edit *edit, ki__vec_node **ref)
{
    if (*ref == NULL) {
        *ref = ki__edit_new(edit, sizeof(ki__vec_node));
        return *ref != NULL ? 0 : -ENOMEM;
    }
    if (ki__edit_owns(edit, *ref)) {
        return 0;
    }
    size_t size = sizeof(ki__vec_node);
    ki__vec_node *copy = ki__edit_copy(edit, *ref, size, size, size);
    if (copy == NULL) {
        return -ENOMEM;
    }
    *ref = copy;
    return 0;
}

/* Adds levels at the top until there is space for `id`. */
static int grow(ki__edit *edit, ki__vec *vec, uint32_t id)
{
    if (vec->root == NULL) {
        uint32_t height = 1;
        while ((uint64_t)id >> shift_of(height) != 0) {
            height++;
        }
        int r = own(edit, &vec->root);
        if (r < 0) {
            return r;
        }
        vec->height = height;
        return 0;
    }
    while (id >= capacity(vec)) {
        ki_assert(vec->height < MAX_HEIGHT);
        ki__vec_node *top = ki__edit_new(edit, sizeof(*top));
        if (top == NULL) {
            return -ENOMEM;
        }
        top->slots[0].child = vec->root;
        vec->root = top;
        vec->height++;
    }
    return 0;
}

int ki__vec_touch(ki__edit *edit, ki__vec *vec, uint32_t id, ki__slot **ret_slot)
{
    int r = grow(edit, vec, id);
    if (r < 0) {
        return r;
    }
    ki__vec_node **ref = &vec->root;
    for (uint32_t level = vec->height - 1;; level--) {
        r = own(edit, ref);
        if (r < 0) {
            ki__vec_prune(edit, vec, id);
            return r;
        }
        ki__slot *slot = &(*ref)->slots[(id >> shift_of(level)) % KI__VEC_WIDTH];
        if (level == 0) {
            *ret_slot = slot;
            return 0;
        }
        ref = &slot->child;
    }
}

ki__slot *ki__vec_touched(const ki__edit *edit, const ki__vec *vec, uint32_t id)
{
    ki__vec_node *node = vec->root;
    for (uint32_t level = vec->height - 1; level != 0; level--) {
        ki_assert(ki__edit_owns(edit, node));
        node = node->slots[(id >> shift_of(level)) % KI__VEC_WIDTH].child;
    }
    ki_assert(ki__edit_owns(edit, node));
    return &node->slots[id % KI__VEC_WIDTH];
}

static bool node_is_empty(const ki__vec_node *node)
{
    uint64_t any = 0;
    for (size_t i = 0; i < KI__VEC_WIDTH; i++) {
        any |= node->slots[i].bits;
    }
    return any == 0;
}

void ki__vec_prune(ki__edit *edit, ki__vec *vec, uint32_t id)
{
    ki__vec_node **path[MAX_HEIGHT];
    ki__vec_node **ref = &vec->root;
    uint32_t lowest = vec->height; /* level of the last node of the path */
    while (lowest != 0 && *ref != NULL) {
        path[--lowest] = ref;
        ref = &(*ref)->slots[(id >> shift_of(lowest)) % KI__VEC_WIDTH].child;
    }
    for (uint32_t level = lowest; level < vec->height; level++) {
        /* After a failed ki__vec_touch() the last node may be one of an older version. */
        if (!ki__edit_owns(edit, *path[level]) || !node_is_empty(*path[level])) {
            return;
        }
        ki__edit_free(edit, *path[level], sizeof(**path[level]));
        *path[level] = NULL;
    }
    vec->height = 0;
}

static void release_leaf(const ki__vec_node *leaf, uint32_t first,
                         void (*release)(ki__slot slot, uint32_t id, void *user), void *user)
{
    for (uint32_t i = 0; release != NULL && i < KI__VEC_WIDTH; i++) {
        if (leaf->slots[i].bits != 0) {
            release(leaf->slots[i], first + i, user);
        }
    }
}

size_t ki__vec_free(const ki_alloc *alloc, const ki__vec *vec, uint64_t birth,
                    void (*release)(ki__slot slot, uint32_t id, void *user), void *user)
{
    struct {
        ki__vec_node *node;
        uint32_t next; /* next slot to visit */
    } stack[MAX_HEIGHT + 1];
    uint32_t first = 0; /* id of the first slot below the current node */
    uint32_t depth = 0;
    size_t freed = 0;

    if (vec->root == NULL || vec->root->birth < birth) {
        return 0;
    }
    stack[0].node = vec->root;
    stack[0].next = 0;
    for (;;) {
        ki__vec_node *node = stack[depth].node;
        uint32_t level = vec->height - 1 - depth;
        if (level == 0) {
            release_leaf(node, first, release, user);
        }
        if (level == 0 || stack[depth].next == KI__VEC_WIDTH) {
            ki__free(alloc, node);
            freed += sizeof(*node);
            if (depth-- == 0) {
                return freed;
            }
            continue;
        }
        uint32_t i = stack[depth].next++;
        ki__vec_node *child = node->slots[i].child;
        if (child != NULL && child->birth >= birth) {
            uint32_t span = shift_of(level);
            uint32_t above = shift_of(level + 1);
            first = (above < 32 ? first >> above << above : 0) | i << span;
            stack[++depth].node = child;
            stack[depth].next = 0;
        }
    }
}
