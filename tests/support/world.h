/* SPDX-License-Identifier: Apache-2.0 */
/* A world for code that runs on an engine: a clock that does not advance until the test moves it,
 * and randomness that is the same each time. */
#ifndef TESTS_SUPPORT_WORLD_H
#define TESTS_SUPPORT_WORLD_H

#include <stdatomic.h>

#include <kinformer/parts/engine.h>

#include "support/by_value.h"

#define TEST_MS UINT64_C(1000000)
#define TEST_SECOND UINT64_C(1000000000)

typedef struct test_world {
    uint64_t now; /* monotonic; realtime is this plus a fixed date */
    uint64_t seed;
    atomic_uint_fast64_t wakes; /* calls of the engine's wake, on any thread */
    ki_clock clock;
    ki_random random;
} test_world;

void test_world_init(test_world *world);

/** Options for an engine in this world; change what is to be different. */
ki_engine_options test_world_engine_options(test_world *world, const ki_alloc *alloc);

/** Runs the engine until nothing is due. */
void test_world_settle(ki_engine *engine);

/** Moves the time on by `ns`, stopping at each deadline on the way to run what is due. */
void test_world_advance(test_world *world, ki_engine *engine, uint64_t ns);

#endif
