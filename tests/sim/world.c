/* SPDX-License-Identifier: Apache-2.0 */
/* Choices, time and memory. Invariant: nothing here or above it depends on anything but the seed
 * (or the bytes that stand in its place): no address, no clock, no order of anything that has
 * none. */
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "sim/sim.h"

enum { STUCK_STEPS = 100000, STEPS_OF_BYTES = 5000 };

/* ---- choices ---- */

static uint64_t mix(uint64_t *state)
{
    uint64_t z = (*state += UINT64_C(0x9e3779b97f4a7c15));
    z = (z ^ (z >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
    z = (z ^ (z >> 27)) * UINT64_C(0x94d049bb133111eb);
    return z ^ (z >> 31);
}

static uint32_t draw_byte(sim *s)
{
    return s->byte < s->options.len ? s->options.bytes[s->byte++] : 0;
}

bool sim_is_exhausted(const sim *s)
{
    return s->options.bytes != NULL && (s->byte >= s->options.len || s->steps > STEPS_OF_BYTES);
}

uint32_t sim_draw(sim *s, sim_topic topic, uint32_t n)
{
    if (s->options.bytes == NULL) {
        return (uint32_t)((mix(&s->random[topic]) >> 32) * n >> 32);
    }
    uint32_t value = draw_byte(s);
    if (n > 256) {
        value = value << 16 | draw_byte(s) << 8 | draw_byte(s);
    }
    return value % n;
}

bool sim_once_in(sim *s, sim_topic topic, uint32_t n)
{
    return sim_draw(s, topic, n) == n - 1;
}

/* As likely between 1 and 2 as between 1,000 and 2,000. */
uint64_t sim_draw_skewed(sim *s, sim_topic topic, uint64_t low, uint64_t high)
{
    if (low == 0) {
        low = high / 1024 + 1;
        if (sim_draw(s, topic, 4) == 0) {
            return 0;
        }
    }
    uint32_t doublings = 0;
    while (doublings < 40 && low << (doublings + 1) <= high) {
        doublings++;
    }
    uint64_t value = low << sim_draw(s, topic, doublings + 1);
    value += value / 1024 * sim_draw(s, topic, 1024);
    return value < high ? value : high;
}

static int fill_entropy(void *bytes, size_t len, void *user)
{
    sim *s = user;
    char *out = bytes;
    for (size_t i = 0; i < len; i++) {
        out[i] = (char)(mix(&s->random[SIM_ENTROPY]) >> 56);
    }
    return 0;
}

/* ---- time ---- */

static uint64_t read_monotonic(void *user)
{
    const sim *s = user;
    return s->now;
}

static int64_t read_realtime(void *user)
{
    const sim *s = user;
    return (int64_t)s->now + s->realtime_offset;
}

static bool is_before(const sim_event *a, const sim_event *b)
{
    return a->at < b->at || (a->at == b->at && a->order < b->order);
}

void sim_at(sim *s, uint64_t at, sim_fire fire, void *arg, uint64_t tag)
{
    if (s->event_count == s->event_cap) {
        s->event_cap = s->event_cap != 0 ? s->event_cap * 2 : 256;
        s->events = realloc(s->events, s->event_cap * sizeof(*s->events));
    }
    /* Of things that happen at once, any may be first. */
    uint64_t order = (uint64_t)sim_draw(s, SIM_ORDER, 256) << 56 | ++s->order;
    sim_event event = {.at = at, .order = order, .fire = fire, .arg = arg, .tag = tag};
    size_t i = s->event_count++;
    while (i > 0 && is_before(&event, &s->events[(i - 1) / 2])) {
        s->events[i] = s->events[(i - 1) / 2];
        i = (i - 1) / 2;
    }
    s->events[i] = event;
}

static sim_event pop_event(sim *s)
{
    sim_event first = s->events[0];
    sim_event last = s->events[--s->event_count];
    size_t i = 0;
    for (;;) {
        size_t child = 2 * i + 1;
        if (child >= s->event_count) {
            break;
        }
        if (child + 1 < s->event_count && is_before(&s->events[child + 1], &s->events[child])) {
            child++;
        }
        if (!is_before(&s->events[child], &last)) {
            break;
        }
        s->events[i] = s->events[child];
        i = child;
    }
    s->events[i] = last;
    return first;
}

/* Moves the clock to what comes next; false if that is after `until`. */
static bool move_on(sim *s, uint64_t until)
{
    uint64_t next = s->event_count != 0 ? s->events[0].at : UINT64_MAX;
    uint64_t engine = ki_engine_deadline(s->engine);
    next = next < engine ? next : engine;
    if (next > until) {
        s->now = until > s->now ? until : s->now;
        return false;
    }
    if (next > s->now) {
        s->counts[SIM_COUNT_SIM_SECONDS] += next / SIM_SECOND - s->now / SIM_SECOND;
        s->now = next;
        s->steps_now = 0;
    }
    return true;
}

/* What follows every step. */
static void finish_step(sim *s)
{
    if (s->changed) {
        s->changed = false;
        sim_net_pump(s);
    }
    s->steps++;
    s->counts[SIM_COUNT_STEPS]++;
    if (++s->steps_now > STUCK_STEPS) {
        sim_violation(s, "I16", "the time does not advance: something is repeated forever");
    }
    sim_check_step(s);
}

void sim_settle(sim *s)
{
    while (ki_engine_deadline(s->engine) <= s->now) {
        (void)ki_engine_run(s->engine, 1);
        finish_step(s);
    }
}

bool sim_step(sim *s, uint64_t until)
{
    if (!move_on(s, until)) {
        return false;
    }
    bool event_due = s->event_count != 0 && s->events[0].at <= s->now;
    bool engine_due = ki_engine_deadline(s->engine) <= s->now;
    if (event_due && (!engine_due || sim_draw(s, SIM_ORDER, 4) == 0)) {
        sim_event event = pop_event(s);
        event.fire(s, event.arg, event.tag);
    } else {
        (void)ki_engine_run(s->engine, 1);
    }
    finish_step(s);
    return true;
}

/* ---- memory ---- */

typedef union block {
    size_t size;
    max_align_t align;
} block;

static bool fails(sim *s)
{
    bool failed = s->memory_rate != 0 && !s->healed && !s->reading &&
                  sim_draw(s, SIM_MEMORY_CHOICE, 65536) < s->memory_rate;
    s->counts[SIM_COUNT_NO_MEMORY] += failed;
    return failed;
}

static void *client_alloc(size_t size, void *user)
{
    sim *s = user;
    block *b = fails(s) ? NULL : malloc(sizeof(*b) + size);
    if (b == NULL) {
        return NULL;
    }
    b->size = size;
    s->live_blocks++;
    s->live_bytes += size;
    s->peak_bytes = s->live_bytes > s->peak_bytes ? s->live_bytes : s->peak_bytes;
    return b + 1;
}

static void client_free(void *memory, void *user)
{
    sim *s = user;
    block *b = (block *)memory - 1;
    s->live_blocks--;
    s->live_bytes -= b->size;
    free(b);
}

static void *client_realloc(void *memory, size_t size, void *user)
{
    size_t old = ((block *)memory - 1)->size;
    void *grown =
        client_alloc(size, user); /* always another place: who keeps the old one is wrong */
    if (grown != NULL) {
        memcpy(grown, memory, old < size ? old : size);
        client_free(memory, user);
    }
    return grown;
}

/* ---- the whole ---- */

void sim_world_init(sim *s, const sim_options *options)
{
    *s = (sim){.options = *options};
    uint64_t state = options->seed;
    for (int i = 0; i < SIM_TOPIC_MAX; i++) {
        s->random[i] = mix(&state);
    }
    s->now = SIM_SECOND;
    s->realtime_offset = INT64_C(1700000000) * (int64_t)SIM_SECOND;
    s->clock = (ki_clock){.monotonic_ns = read_monotonic, .realtime_ns = read_realtime, .user = s};
    s->entropy = (ki_random){.fill = fill_entropy, .user = s};
    s->client_alloc = (ki_alloc){
        .alloc = client_alloc, .realloc = client_realloc, .free = client_free, .user = s};
}

void sim_world_done(sim *s)
{
    for (size_t i = 0; i < s->event_count; i++) {
        sim_net_forget(&s->events[i]);
    }
    free(s->events);
}

/* ---- telling ---- */

void sim_trace(const sim *s, const char *format, ...)
{
    if (!s->options.trace) {
        return;
    }
    va_list args;
    va_start(args, format);
    (void)printf("%10.3f  ", (double)(s->now - SIM_SECOND) / 1e9);
    (void)vprintf(format, args);
    (void)printf("\n");
    (void)fflush(stdout);
    va_end(args);
}

void sim_violation(const sim *s, const char *invariant, const char *format, ...)
{
    char text[512];
    va_list args;
    va_start(args, format);
    (void)vsnprintf(text, sizeof(text), format, args);
    va_end(args);
    if (s->options.on_violation != NULL) {
        s->options.on_violation(s, invariant, text);
    }
    (void)printf("%s is violated at step %llu, %.3f s: %s\n", invariant,
                 (unsigned long long)s->steps, (double)(s->now - SIM_SECOND) / 1e9, text);
    (void)fflush(stdout);
    if (s->options.abort) {
        abort();
    }
    _Exit(1);
}
