/* SPDX-License-Identifier: Apache-2.0 */
#include "apiserver/fault.h"

#include <string.h>

/* splitmix64 */
static uint64_t draw(uint64_t *state)
{
    uint64_t z = (*state += UINT64_C(0x9e3779b97f4a7c15));
    z = (z ^ (z >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
    z = (z ^ (z >> 27)) * UINT64_C(0x94d049bb133111eb);
    return z ^ (z >> 31);
}

static bool fits(const ki__api_rule *rule, const ki__api_point *point)
{
    bool verb = rule->verbs == 0 || (rule->verbs >> point->verb & 1) != 0;
    return verb && (rule->resource == NULL || strcmp(rule->resource, point->resource) == 0);
}

static void add_failure(ki__api_plan *plan, const ki__api_plan *more)
{
    if (more->http_code != 0) {
        plan->http_code = more->http_code;
        plan->retry_after_s = more->retry_after_s;
        plan->in_stream = more->in_stream;
    }
    if (more->cut) {
        plan->cut = true;
        plan->cut_after = more->cut_after;
    }
}

static void add(ki__api_plan *plan, const ki__api_plan *more)
{
    add_failure(plan, more);
    plan->refuse |= more->refuse;
    plan->latency_ms += more->latency_ms;
    plan->drop_after_ms = more->drop_after_ms != 0 ? more->drop_after_ms : plan->drop_after_ms;
    plan->expire |= more->expire;
    plan->stale |= more->stale;
    plan->no_end_bookmark |= more->no_end_bookmark;
    plan->plain_end_bookmark |= more->plain_end_bookmark;
    plan->shuffle = more->shuffle != 0 ? more->shuffle : plan->shuffle;
    plan->skip_event = more->skip_event != 0 ? more->skip_event : plan->skip_event;
    plan->rewind = more->rewind != 0 ? more->rewind : plan->rewind;
    plan->bookmark_ahead += more->bookmark_ahead;
    plan->mix_pages |= more->mix_pages;
    plan->bare_deletes |= more->bare_deletes;
    plan->unknown_field |= more->unknown_field;
}

void ki__api_rules_decide(const ki__api_point *point, ki__api_plan *plan, void *user)
{
    ki__api_rules *rules = user;
    for (size_t i = 0; i < rules->count; i++) {
        ki__api_rule *rule = &rules->rules[i];
        if (!fits(rule, point)) {
            continue;
        }
        uint64_t number = draw(&rules->random) %
                          1000000; /* always drawn, so that rules do not influence each other */
        bool due = rule->seen++ >= rule->skip && (rule->times == 0 || rule->used < rule->times);
        if (due && number < rule->rate) {
            rule->used++;
            add(plan, &rule->plan);
        }
    }
}
