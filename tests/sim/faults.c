/* SPDX-License-Identifier: Apache-2.0 */
/* What goes wrong. Each history draws some of the faults, so that each has calm around it in some
 * and company in others; from a certain moment on nothing goes wrong any more. */
#include <stdio.h>
#include <string.h>

#include "sim/sim.h"

static const char *const names[] = {
    [SIM_LAG] = "lag",
    [SIM_MOVE] = "move",
    [SIM_REFUSE] = "refuse",
    [SIM_RESET] = "reset",
    [SIM_CUT] = "cut",
    [SIM_STALL] = "stall",
    [SIM_SPLIT] = "split",
    [SIM_DELAY] = "delay",
    [SIM_RESTART] = "restart",
    [SIM_COMPACT] = "compact",
    [SIM_WINDOW] = "window",
    [SIM_ERRORS] = "errors",
    [SIM_STREAM_ERRORS] = "stream-errors",
    [SIM_BUSY] = "busy",
    [SIM_DROP] = "drop",
    [SIM_NO_END] = "no-end",
    [SIM_NO_STREAM] = "no-stream",
    [SIM_JUMP] = "jump",
    [SIM_MEMORY] = "memory",
    [SIM_POISON] = "poison",
    [SIM_LATE] = "late",
    [SIM_REMOVE] = "remove",
    [SIM_REENTRANT] = "reentrant",
    [SIM_SLOW] = "slow",
    [SIM_RENEW] = "renew",
    [SIM_STOP_EARLY] = "stop-early",
    [SIM_SKIP] = "skip",
    [SIM_REWIND] = "rewind",
    [SIM_AHEAD] = "ahead",
    [SIM_BARE] = "bare",
    [SIM_MIX] = "mix",
    [SIM_STALE] = "stale",
    [SIM_RESTORE] = "restore",
};
_Static_assert(sizeof(names) / sizeof(names[0]) == SIM_FAULT_MAX, "a name for each");

const char *sim_fault_name(sim_fault fault)
{
    return names[fault];
}

/* ---- which ---- */

static bool is_allowed(const sim *s, int fault)
{
    uint64_t bit = UINT64_C(1) << fault;
    return (s->options.without & bit) == 0 &&
           (s->options.only == 0 || (s->options.only & bit) != 0);
}

void sim_faults_draw(sim *s)
{
    static const uint32_t odds[] = {2, 3, 5, 12}; /* one in so many; many at once, or few */
    uint32_t odd = odds[sim_draw(s, SIM_SETUP, 4)];
    bool byzantine = sim_draw(s, SIM_SETUP, 8) == 7;
    for (int i = 0; i < SIM_FAULT_MAX; i++) {
        bool on = sim_draw(s, SIM_SETUP, odd) == odd - 1;
        if (i == SIM_STOP_EARLY) {
            on = sim_draw(s, SIM_SETUP, 8) == 7;
        }
        s->faults[i] = on && is_allowed(s, i) && (byzantine || i < SIM_FIRST_BYZANTINE);
        s->byzantine = s->byzantine || (s->faults[i] && i >= SIM_FIRST_BYZANTINE);
        if (s->faults[i]) {
            sim_trace(s, "fault: %s", names[i]);
        }
    }
    if (s->faults[SIM_MEMORY]) {
        s->memory_rate = (uint32_t)sim_draw_skewed(s, SIM_SETUP, 20, 2000);
    }
}

/* ---- with requests ---- */

static void decide_sound(sim *s, const ki__api_point *point, ki__api_plan *plan)
{
    static const int codes[] = {500, 503, 504, 410, 403, 500};
    if (sim_is_on(s, SIM_DELAY) && sim_once_in(s, SIM_SERVER, 3)) {
        plan->latency_ms = sim_draw_skewed(s, SIM_SERVER, 1, 20000);
    }
    if (sim_is_on(s, SIM_ERRORS) && sim_once_in(s, SIM_SERVER, 4)) {
        plan->http_code = codes[sim_draw(s, SIM_SERVER, 6)];
    }
    if (sim_is_on(s, SIM_STREAM_ERRORS) && sim_once_in(s, SIM_SERVER, 4)) {
        plan->http_code = codes[sim_draw(s, SIM_SERVER, 4)];
        plan->in_stream = true;
    }
    if (sim_is_on(s, SIM_BUSY) && sim_once_in(s, SIM_SERVER, 4)) {
        plan->http_code = 429;
        plan->retry_after_s = sim_draw(s, SIM_SERVER, 8);
    }
    if (sim_is_on(s, SIM_CUT) && sim_once_in(s, SIM_SERVER, 3)) {
        plan->cut = true;
        plan->cut_after = sim_draw_skewed(s, SIM_SERVER, 0, 6000);
    }
    if (sim_is_on(s, SIM_DROP) && sim_once_in(s, SIM_SERVER, 2)) {
        plan->drop_after_ms = sim_draw_skewed(s, SIM_SERVER, 1, 60000);
    }
    if (sim_is_on(s, SIM_WINDOW) && sim_once_in(s, SIM_SERVER, 6)) {
        plan->expire = true;
    }
    if (point->streams && sim_is_on(s, SIM_NO_END) && sim_once_in(s, SIM_SERVER, 2)) {
        plan->no_end_bookmark = sim_draw(s, SIM_SERVER, 2) == 0;
        plan->plain_end_bookmark = !plan->no_end_bookmark;
    }
    plan->shuffle = sim_draw(s, SIM_SERVER, 2) == 0 ? 0 : 1 + sim_draw(s, SIM_SERVER, 100000);
}

static void decide_unsound(sim *s, ki__api_plan *plan)
{
    if (sim_is_on(s, SIM_SKIP) && sim_once_in(s, SIM_SERVER, 3)) {
        plan->skip_event = 1 + sim_draw(s, SIM_SERVER, 10);
    }
    if (sim_is_on(s, SIM_REWIND) && sim_once_in(s, SIM_SERVER, 3)) {
        plan->rewind = 1 + sim_draw(s, SIM_SERVER, 4);
    }
    if (sim_is_on(s, SIM_AHEAD) && sim_once_in(s, SIM_SERVER, 3)) {
        plan->bookmark_ahead = 1 + sim_draw(s, SIM_SERVER, 5);
    }
    plan->bare_deletes = sim_is_on(s, SIM_BARE) && sim_once_in(s, SIM_SERVER, 2);
    plan->mix_pages = sim_is_on(s, SIM_MIX) && sim_once_in(s, SIM_SERVER, 2);
    plan->stale = sim_is_on(s, SIM_STALE) && sim_once_in(s, SIM_SERVER, 2);
}

void sim_faults_decide(const ki__api_point *point, ki__api_plan *plan, void *user)
{
    sim *s = user;
    if (point->verb != KI__API_LIST && point->verb != KI__API_WATCH) {
        return; /* the load is not disturbed */
    }
    decide_sound(s, point, plan);
    decide_unsound(s, plan);
}

/* ---- by themselves ---- */

static void restore(sim *s)
{
    uint64_t floor = s->model->compacted > s->model->floor ? s->model->compacted : s->model->floor;
    uint64_t back = sim_draw_skewed(s, SIM_SERVER, 0, s->model->head - floor);
    uint64_t rv = s->model->head - back;
    if (ki__api_model_restore(s->model, rv) < 0) {
        return;
    }
    sim_trace(s, "servers go back to %llu, from a backup", (unsigned long long)rv);
    for (int type = 0; type < SIM_TYPES; type++) {
        for (int key = 0; key < SIM_KEYS; key++) {
            sim_record *record = &s->records[type][key];
            while (record->count != 0 && record->versions[record->count - 1].rv > rv) {
                (void)ki_object_unref(record->versions[--record->count].object);
            }
        }
    }
    s->read_sequence = ki__api_model_after(s->model, rv);
}

static void on_fault(sim *s, void *arg, uint64_t tag)
{
    (void)arg;
    if (s->healed || s->ending) {
        return;
    }
    switch ((sim_fault)tag) {
    case SIM_RESET:
        sim_net_break_one(s, false);
        break;
    case SIM_STALL:
        sim_net_break_one(s, true);
        break;
    case SIM_RESTART:
        sim_server_restart(s, &s->servers[sim_draw(s, SIM_SERVER, (uint32_t)s->server_count)],
                           sim_draw_skewed(s, SIM_SERVER, 0, 60 * SIM_SECOND));
        break;
    case SIM_COMPACT:
        ki__api_model_compact(s->model, s->model->head - sim_draw(s, SIM_SERVER, 4));
        break;
    case SIM_DROP:
        ki__api_server_drop_watches(
            s->servers[sim_draw(s, SIM_SERVER, (uint32_t)s->server_count)].server,
            sim_draw(s, SIM_SERVER, 2) == 0);
        break;
    case SIM_JUMP:
        s->now += sim_draw_skewed(s, SIM_SERVER, SIM_MS, 15 * SIM_MINUTE);
        s->realtime_offset += (int64_t)sim_draw(s, SIM_SERVER, 7200) * (int64_t)SIM_SECOND;
        sim_trace(s, "the clock leaps");
        break;
    case SIM_RESTORE:
        restore(s);
        break;
    default:
        break;
    }
    sim_after(s, sim_draw_skewed(s, SIM_SERVER, 100 * SIM_MS, 3 * SIM_MINUTE), on_fault, NULL, tag);
}

void sim_faults_start(sim *s)
{
    static const sim_fault timed[] = {SIM_RESET, SIM_STALL, SIM_RESTART, SIM_COMPACT,
                                      SIM_DROP,  SIM_JUMP,  SIM_RESTORE};
    for (size_t i = 0; i < sizeof(timed) / sizeof(timed[0]); i++) {
        if (s->faults[timed[i]]) {
            sim_after(s, sim_draw_skewed(s, SIM_SERVER, SIM_MS, SIM_MINUTE), on_fault, NULL,
                      timed[i]);
        }
    }
}

void sim_faults_heal(sim *s)
{
    sim_trace(s, "nothing goes wrong any more");
    s->healed = true;
    s->memory_rate = 0;
    sim_servers_heal(s);
}
