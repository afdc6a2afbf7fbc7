/* SPDX-License-Identifier: Apache-2.0 */
/* One history: a time with faults, a time without, and the end. */
#include <stdlib.h>
#include <string.h>

#include "sim/sim.h"

#define CONVERGE_NS \
    (12 * SIM_MINUTE) /* the longest wait a server may ask for, and a silent stream */

static void run_until(sim *s, uint64_t until)
{
    while (sim_step(s, until)) {
    }
}

/* The time of faults. */
static void suffer(sim *s, uint64_t until)
{
    while (!sim_is_exhausted(s) && sim_step(s, until)) {
    }
}

/* Faults that nothing but luck makes up for: a client that was lied to stays wrong. */
static bool must_converge(const sim *s)
{
    return !s->byzantine;
}

/* Not a multiple of a second: otherwise every look could come at the moment of a resync, when its
 * events wait for handlers. */
#define LOOK_NS (5 * SIM_SECOND + 617 * SIM_MS)

/* I11: those who sleep delay nobody, so they are left to sleep until all others are done. */
void sim_converge(sim *s)
{
    uint64_t limit = s->now + CONVERGE_NS;
    const char *wrong = "nothing happens";
    while (wrong != NULL && s->now < limit) {
        uint64_t until = s->now + LOOK_NS;
        run_until(s, until < limit ? until : limit);
        wrong = sim_check_converged(s, false);
    }
    if (wrong == NULL) {
        sim_client_wake_all(s);
        sim_settle(s);
        sim_check_step(s);
        wrong = sim_check_converged(s, true);
    }
    if (wrong != NULL && must_converge(s)) {
        sim_violation(s, "L1", "after %llu s without faults: %s",
                      (unsigned long long)((s->now - s->heal_at) / SIM_SECOND), wrong);
    }
    s->counts[SIM_COUNT_CONVERGED] += wrong == NULL;
}

static void stop_all(sim *s)
{
    for (int i = 0; i < s->informer_count; i++) {
        sim_informer_stop(&s->informers[i]);
    }
    s->writes_left = 0;
    s->ending = true;
    run_until(s, s->now + 2 * SIM_SECOND);
    sim_check_step(s);
    for (int i = 0; i < s->informer_count; i++) {
        if (!s->informers[i].over) {
            sim_violation(s, "L3", "informer %d has not stopped", i);
        }
    }
    run_until(s, s->now + SIM_MINUTE); /* for work that is under way */
}

static void live(sim *s)
{
    uint64_t faults_ns = sim_draw_skewed(s, SIM_SETUP, 30 * SIM_SECOND, 20 * SIM_MINUTE);
    s->heal_at = s->now + faults_ns;
    s->writes_left = (uint32_t)sim_draw_skewed(s, SIM_SETUP, 2, 80);
    sim_client_start(s);
    sim_faults_start(s);
    sim_load_start(s);
    if (s->faults[SIM_STOP_EARLY]) {
        suffer(s, s->now + sim_draw_skewed(s, SIM_SETUP, 1, faults_ns));
        return;
    }
    suffer(s, s->heal_at);
    sim_faults_heal(s);
    s->writes_left = s->writes_left < 6 ? s->writes_left : 6;
    run_until(s, s->now + 2 * SIM_MINUTE);
    s->writes_left = 0;
    sim_converge(s);
}

void sim_begin(sim *s, const sim_options *options)
{
    sim_world_init(s, options);
    s->server_count = 1 + (int)sim_draw(s, SIM_SETUP, SIM_SERVERS);
    s->key_count = 1 + sim_draw(s, SIM_SETUP, SIM_KEYS);
    sim_faults_draw(s);
    sim_servers_init(s);
}

void sim_end(sim *s)
{
    stop_all(s);
    sim_client_done(s);
    sim_servers_done(s);
    sim_world_done(s);
}

void sim_run(const sim_options *options, uint64_t counts[SIM_COUNT_MAX])
{
    static sim s; /* one at a time */
    sim_begin(&s, options);
    live(&s);
    sim_end(&s);
    for (int i = 0; i < SIM_COUNT_MAX; i++) {
        counts[i] += s.counts[i];
    }
}
