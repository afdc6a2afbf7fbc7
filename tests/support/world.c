/* SPDX-License-Identifier: Apache-2.0 */
#include "support/world.h"

#include "support/test.h"

#define DATE_NS INT64_C(1700000000000000000)

static uint64_t monotonic(void *user)
{
    return ((test_world *)user)->now;
}

static int64_t realtime(void *user)
{
    return DATE_NS + (int64_t)((test_world *)user)->now;
}

static int fill(void *bytes, size_t len, void *user)
{
    test_world *world = user;
    for (size_t i = 0; i < len; i++) {
        ((unsigned char *)bytes)[i] = (unsigned char)test_random(&world->seed);
    }
    return 0;
}

static void wake(void *user)
{
    ((test_world *)user)->wakes++;
}

void test_world_init(test_world *world)
{
    *world = (test_world){.now = TEST_SECOND, .seed = 1};
    world->clock = (ki_clock){.monotonic_ns = monotonic, .realtime_ns = realtime, .user = world};
    world->random = (ki_random){.fill = fill, .user = world};
}

ki_engine_options test_world_engine_options(test_world *world, const ki_alloc *alloc)
{
    ki_engine_options options = KI_OPTIONS_INIT(ki_engine_options);
    options.alloc = alloc;
    options.clock = &world->clock;
    options.random = &world->random;
    options.wake = wake;
    options.wake_user = world;
    return options;
}

void test_world_settle(ki_engine *engine)
{
    size_t rounds = 0;
    while (ki_engine_run(engine, 0) != 0) {
        assert_true(++rounds < 100000); /* or it never comes to rest */
    }
}

void test_world_advance(test_world *world, ki_engine *engine, uint64_t ns)
{
    uint64_t end = world->now + ns;
    test_world_settle(engine);
    for (;;) {
        uint64_t deadline = ki_engine_deadline(engine);
        if (deadline > end) {
            break;
        }
        world->now = deadline > world->now ? deadline : world->now;
        test_world_settle(engine);
    }
    world->now = end;
}
