/* SPDX-License-Identifier: Apache-2.0 */
/* Every order of a few things: up to two objects, four writes, two handlers, and a watch that is
 * closed, against every moment of a client that lists and watches. Bugs of this kind need few
 * things, but those in one particular order.
 *
 * An order is a row of choices. They are counted through as the digits of a number are: run, look
 * how many choices there were at each place, and continue with the next row. */
#include <stdio.h>
#include <string.h>

#include "sim/sim.h"

enum { CHOICES_MAX = 64, CLIENT_STEPS_MAX = 12 };

typedef struct row {
    uint32_t taken[CHOICES_MAX];
    uint32_t among[CHOICES_MAX];
    uint32_t count; /* places that were met */
} row;

/* What there is to happen. */
typedef struct scope {
    const char *name;
    uint32_t writes;
    uint32_t closes;
    uint32_t adds;    /* of handlers */
    uint32_t removes; /* of the first handler */
    bool deltas;
    bool no_streaming;
} scope;

static const scope scopes[] = {
    {"list, writes and a close", 4, 1, 0, 0, false, true},
    {"stream, writes and a close", 4, 1, 0, 0, false, false},
    {"list, writes and a close, by keys", 4, 1, 0, 0, true, true},
    {"list, writes and handlers", 3, 0, 1, 1, false, true},
    {"stream, writes and handlers", 3, 0, 1, 1, false, false},
    {"list, writes and handlers, by keys", 3, 0, 1, 1, true, true},
    {"stream, everything", 2, 1, 1, 1, false, false},
    {"list, everything", 2, 1, 1, 1, false, true},
    {"list, everything, by keys", 2, 1, 1, 1, true, true},
};

static uint32_t choose(row *r, uint32_t place, uint32_t among)
{
    r->among[place] = among;
    r->count = place + 1;
    return r->taken[place];
}

/* The next row; false after the last. */
static bool next_row(row *r)
{
    while (r->count > 0) {
        uint32_t last = r->count - 1;
        if (++r->taken[last] < r->among[last]) {
            memset(&r->taken[r->count], 0, sizeof(r->taken) - r->count * sizeof(r->taken[0]));
            return true;
        }
        r->count--;
    }
    return false;
}

/* ---- one order ---- */

typedef struct play {
    sim *s;
    row *choices;
    uint32_t place;
    scope left;
    uint32_t client_steps;
} play;

/* What may be written: each object can be made, or changed or deleted. */
static void write_one(play *p)
{
    sim *s = p->s;
    char path[64];
    char body[160];
    uint32_t options[4];
    uint32_t count = 0;
    for (uint32_t key = 0; key < 2; key++) {
        bool there = sim_record_at(s, 0, (int)key, UINT64_MAX) != NULL;
        options[count++] = key * 2;
        if (there) {
            options[count++] = key * 2 + 1;
        }
    }
    uint32_t option = options[choose(p->choices, p->place++, count)];
    int key = (int)option / 2;
    bool there = sim_record_at(s, 0, key, UINT64_MAX) != NULL;
    (void)snprintf(path, sizeof(path),
                   there ? "/api/v1/namespaces/ns%d/pods/k%d" : "/api/v1/namespaces/ns%d/pods",
                   key % 3, key);
    (void)snprintf(body, sizeof(body),
                   "{\"metadata\":{\"name\":\"k%d\",\"labels\":{\"app\":\"a\",\"n\":\"%u\"}}}", key,
                   ++s->write_number);
    int status = !there              ? sim_request(s, "POST", path, body)
                 : (option & 1) == 0 ? sim_request(s, "PUT", path, body)
                                     : sim_request(s, "DELETE", path, "");
    if (status >= 300) {
        sim_violation(s, "setup", "writing gives %d", status);
    }
    sim_read_log(s);
    if (s->changed) {
        s->changed = false;
        sim_net_pump(s);
    }
}

/* One thing that the network or a timer brings, and all that the client does about it. */
static void step_client(play *p)
{
    sim *s = p->s;
    p->client_steps++;
    if (ki_engine_deadline(s->engine) > s->now) {
        (void)sim_step(s, s->now + 5 * SIM_SECOND);
    }
    sim_settle(s);
}

static bool client_can_step(const play *p)
{
    const sim *s = p->s;
    uint64_t next = s->event_count != 0 ? s->events[0].at : UINT64_MAX;
    uint64_t engine = ki_engine_deadline(s->engine);
    next = next < engine ? next : engine;
    return p->client_steps < CLIENT_STEPS_MAX && next <= s->now + 5 * SIM_SECOND;
}

static void handler_goes(play *p)
{
    sim_handler *handler = &p->s->informers[0].handlers[0];
    if (sim_handler_is_active(handler)) {
        sim_handler_remove(handler);
    }
}

static bool step(play *p)
{
    enum { WRITE, CLIENT, CLOSE, COME, GO } options[5];
    uint32_t count = 0;
    if (p->left.writes != 0) {
        options[count++] = WRITE;
    }
    if (client_can_step(p)) {
        options[count++] = CLIENT;
    }
    if (p->left.closes != 0 && p->s->servers[0].server->watch_count != 0) {
        options[count++] = CLOSE;
    }
    if (p->left.adds != 0) {
        options[count++] = COME;
    }
    if (p->left.removes != 0) {
        options[count++] = GO;
    }
    bool only_client = count == 1 && options[0] == CLIENT;
    if (count == 0 || only_client || p->place + 2 >= CHOICES_MAX) {
        return false; /* the rest has no order */
    }
    switch (options[choose(p->choices, p->place++, count)]) {
    case WRITE:
        p->left.writes--;
        write_one(p);
        break;
    case CLIENT:
        step_client(p);
        break;
    case CLOSE:
        p->left.closes--;
        ki__api_server_drop_watches(p->s->servers[0].server, false);
        break;
    case COME:
        p->left.adds--;
        (void)sim_handler_add(&p->s->informers[0], true);
        break;
    case GO:
        p->left.removes--;
        handler_goes(p);
        break;
    }
    sim_check_step(p->s);
    return true;
}

static void run_order(const sim_options *options, const scope *what, row *choices)
{
    static sim s; /* one at a time */
    static const uint8_t nothing[1];
    sim_options quiet = *options;
    quiet.bytes = nothing; /* every other choice is the first */
    quiet.len = 0;
    quiet.without = UINT64_MAX;
    sim_begin(&s, &quiet);
    s.faults[SIM_DROP] = what->closes != 0; /* which excuses a list */
    sim_engine_start(&s);
    sim_informer *informer = &s.informers[s.informer_count++];
    *informer = (sim_informer){
        .s = &s,
        .json = true,
        .deltas = what->deltas,
        .no_streaming = what->no_streaming,
        .first_handlers = 1,
    };
    sim_informer_begin(&s, informer);
    play p = {.s = &s, .choices = choices, .left = *what};
    while (step(&p)) {
    }
    s.healed = true;
    sim_converge(&s);
    sim_end(&s);
}

uint64_t sim_small(const sim_options *options, bool quick, uint64_t only)
{
    uint64_t number = 0;
    for (size_t i = 0; i < sizeof(scopes) / sizeof(scopes[0]); i++) {
        row choices = {0};
        scope what = scopes[i];
        what.writes -= quick;
        uint64_t before = number;
        do {
            sim_options here = *options;
            here.trace = options->trace && number == only;
            options->on_start(number);
            run_order(&here, &what, &choices);
            if (number++ == only) {
                return number;
            }
        } while (next_row(&choices));
        (void)printf("%-40s %8llu orders\n", what.name, (unsigned long long)(number - before));
    }
    return number;
}
