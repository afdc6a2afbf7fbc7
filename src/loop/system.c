/* SPDX-License-Identifier: Apache-2.0 */
/* The system's clocks and random source: the only place where they are read. */
#include "loop/system.h"

#include <errno.h>
#include <sys/random.h>
#include <time.h>

#include <kinformer/clock.h>

#include "base/time_units.h"

uint64_t ki__system_now_ns(void)
{
    struct timespec now;
    (void)clock_gettime(CLOCK_MONOTONIC, &now); /* cannot fail */
    return (uint64_t)now.tv_sec * KI__SECOND_NS + (uint64_t)now.tv_nsec;
}

static uint64_t monotonic_ns(void *user)
{
    (void)user;
    return ki__system_now_ns();
}

static int64_t realtime_ns(void *user)
{
    (void)user;
    struct timespec now;
    (void)clock_gettime(CLOCK_REALTIME, &now);
    return (int64_t)now.tv_sec * (int64_t)KI__SECOND_NS + now.tv_nsec;
}

static int fill(void *bytes, size_t len, void *user)
{
    (void)user;
    char *place = bytes;
    while (len != 0) {
        ssize_t got = getrandom(place, len, 0);
        if (got < 0 && errno != EINTR) {
            return -errno;
        }
        if (got > 0) {
            place += got;
            len -= (size_t)got;
        }
    }
    return 0;
}

const ki_clock *ki_clock_system(void)
{
    static const ki_clock clock = {
        .size = sizeof(clock), .monotonic_ns = monotonic_ns, .realtime_ns = realtime_ns};
    return &clock;
}

int64_t ki_clock_now_ns(const ki_clock *clock)
{
    return clock != NULL ? clock->realtime_ns(clock->user) : realtime_ns(NULL);
}

const ki_random *ki_random_system(void)
{
    static const ki_random random = {.size = sizeof(random), .fill = fill};
    return &random;
}
