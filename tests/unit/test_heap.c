/* SPDX-License-Identifier: Apache-2.0 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include <kinformer/error.h>

#include "base/heap.h"
#include "base/list.h"
#include "support/test.h"

enum { ELEMENTS = 300 };

struct element {
    uint64_t key;
    ki__heap_node node; /* not first, so that the way from node to element is tested too */
};

static bool before(const ki__heap_node *a, const ki__heap_node *b)
{
    return KI__CONTAINER_OF(a, const struct element, node)->key <
           KI__CONTAINER_OF(b, const struct element, node)->key;
}

static struct element *element_of(ki__heap_node *node)
{
    return node != NULL ? KI__CONTAINER_OF(node, struct element, node) : NULL;
}

/* The invariant of src/base/heap.c, and that what is not in the heap says so. */
static void check(const ki__heap *heap, const struct element *elements, size_t count)
{
    size_t inside = 0;
    for (size_t i = 0; i < count; i++) {
        inside += elements[i].node.position != 0;
    }
    assert_int_equal(heap->count, inside);
    for (size_t i = 0; i < heap->count; i++) {
        assert_int_equal(heap->nodes[i]->position, i + 1);
        if (i > 0 && before(heap->nodes[i], heap->nodes[(i - 1) / 2])) {
            fail_msg("element %zu comes before its parent", i);
        }
    }
}

static void empty_heap_gives_nothing(void **state)
{
    (void)state;
    test_alloc alloc;
    test_alloc_init(&alloc);
    ki__heap heap;
    ki__heap_init(&heap, &alloc.table, before, 1);
    assert_null(ki__heap_peek(&heap));
    struct element loose = {0};
    ki__heap_remove(&heap, &loose.node);
    ki__heap_done(&heap);
    assert_int_equal(alloc.calls, 0);
    test_alloc_done(&alloc);
}

static int compare_keys(const void *a, const void *b)
{
    uint64_t x = *(const uint64_t *)a;
    uint64_t y = *(const uint64_t *)b;
    return x < y ? -1 : x > y;
}

static void taking_the_first_out_sorts(void **state)
{
    (void)state;
    static struct element elements[ELEMENTS];
    uint64_t keys[ELEMENTS];
    uint64_t random = 3;
    for (int round = 0; round < 50; round++) {
        /* Few different keys in some rounds, so that many are equal. */
        uint64_t range = round % 2 == 0 ? UINT64_MAX : 10;
        ki__heap heap;
        ki__heap_init(&heap, NULL, before, ELEMENTS);
        for (size_t i = 0; i < ELEMENTS; i++) {
            keys[i] = test_random(&random) % range;
            elements[i] = (struct element){.key = keys[i]};
            assert_int_equal(ki__heap_push(&heap, &elements[i].node), 0);
        }
        check(&heap, elements, ELEMENTS);
        qsort(keys, ELEMENTS, sizeof(keys[0]), compare_keys);
        for (size_t i = 0; i < ELEMENTS; i++) {
            struct element *first = KI__CONTAINER_OF(ki__heap_peek(&heap), struct element, node);
            assert_int_equal(first->key, keys[i]);
            ki__heap_remove(&heap, &first->node);
            assert_int_equal(first->node.position, 0);
        }
        assert_null(ki__heap_peek(&heap));
        ki__heap_done(&heap);
    }
}

/* The first is the least of all that are inside: found the slow way. */
static void check_first(const ki__heap *heap, const struct element *elements)
{
    const struct element *first = element_of(ki__heap_peek(heap));
    for (size_t i = 0; i < ELEMENTS; i++) {
        if (elements[i].node.position != 0) {
            assert_non_null(first);
            assert_true(first->key <= elements[i].key);
        }
    }
}

static void random_operations_keep_the_order(void **state)
{
    (void)state;
    static struct element elements[ELEMENTS];
    memset(elements, 0, sizeof(elements));
    uint64_t random = 4;
    ki__heap heap;
    ki__heap_init(&heap, NULL, before, ELEMENTS);
    for (int i = 0; i < 50000; i++) {
        struct element *e = &elements[test_random(&random) % ELEMENTS];
        if (e->node.position == 0) {
            e->key = test_random(&random) % 1000;
            assert_int_equal(ki__heap_push(&heap, &e->node), 0);
        } else {
            ki__heap_remove(&heap, &e->node);
            assert_int_equal(e->node.position, 0);
        }
        check_first(&heap, elements);
        if (i % 16 == 0) {
            check(&heap, elements, ELEMENTS);
        }
    }
    ki__heap_done(&heap);
}

/* Every place of heaps of every small size. */
static void remove_works_at_every_place(void **state)
{
    (void)state;
    struct element elements[16];
    for (size_t count = 1; count <= 16; count++) {
        for (size_t place = 0; place < count; place++) {
            ki__heap heap;
            ki__heap_init(&heap, NULL, before, 16);
            for (size_t i = 0; i < count; i++) {
                elements[i] = (struct element){.key = 100 + (i * 7) % 16};
                assert_int_equal(ki__heap_push(&heap, &elements[i].node), 0);
            }
            struct element *e = element_of(heap.nodes[place]);
            ki__heap_remove(&heap, &e->node);
            ki__heap_remove(&heap, &e->node); /* twice is allowed */
            check(&heap, elements, count);
            assert_int_equal(heap.count, count - 1);
            ki__heap_done(&heap);
        }
    }
}

static void limit_is_exact_and_room_comes_back(void **state)
{
    (void)state;
    struct element elements[11] = {0};
    ki__heap heap;
    ki__heap_init(&heap, NULL, before, 10);
    for (size_t i = 0; i < 10; i++) {
        assert_int_equal(ki__heap_push(&heap, &elements[i].node), 0);
    }
    assert_int_equal(ki__heap_push(&heap, &elements[10].node), KI_ERR_LIMIT);
    check(&heap, elements, 11);
    assert_int_equal(elements[10].node.position, 0);
    ki__heap_remove(&heap, &elements[4].node);
    assert_int_equal(ki__heap_push(&heap, &elements[10].node), 0);
    check(&heap, elements, 11);
    ki__heap_done(&heap);
}

static void done_lets_the_elements_go(void **state)
{
    (void)state;
    struct element elements[3] = {0};
    ki__heap heap;
    ki__heap_init(&heap, NULL, before, 3);
    for (int round = 0; round < 2; round++) { /* and the heap may be used again */
        for (size_t i = 0; i < 3; i++) {
            assert_int_equal(ki__heap_push(&heap, &elements[i].node), 0);
        }
        ki__heap_done(&heap);
        check(&heap, elements, 3);
        assert_null(ki__heap_peek(&heap));
    }
}

/* On failure the heap must be what it was, and still give everything in order. */
static int fill(const ki_alloc *alloc, void *user)
{
    struct element *elements = user;
    memset(elements, 0, ELEMENTS * sizeof(*elements));
    uint64_t random = 5;
    int r = 0;
    size_t pushed = 0;
    ki__heap heap;
    ki__heap_init(&heap, alloc, before, ELEMENTS);
    while (pushed < ELEMENTS) {
        elements[pushed].key = test_random(&random);
        r = ki__heap_push(&heap, &elements[pushed].node);
        if (r < 0) {
            assert_int_equal(elements[pushed].node.position, 0);
            break;
        }
        pushed++;
    }
    check(&heap, elements, ELEMENTS);
    assert_int_equal(heap.count, pushed);
    uint64_t last = 0;
    for (struct element *e; (e = element_of(ki__heap_peek(&heap))) != NULL; pushed--) {
        assert_true(e->key >= last);
        last = e->key;
        ki__heap_remove(&heap, &e->node);
    }
    assert_int_equal(pushed, 0);
    ki__heap_done(&heap);
    return r;
}

static void failed_growth_leaves_the_heap(void **state)
{
    (void)state;
    static struct element elements[ELEMENTS];
    test_alloc_sweep(fill, elements);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(empty_heap_gives_nothing),
        cmocka_unit_test(taking_the_first_out_sorts),
        cmocka_unit_test(random_operations_keep_the_order),
        cmocka_unit_test(remove_works_at_every_place),
        cmocka_unit_test(limit_is_exact_and_room_comes_back),
        cmocka_unit_test(done_lets_the_elements_go),
        cmocka_unit_test(failed_growth_leaves_the_heap),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
