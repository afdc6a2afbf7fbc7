/* SPDX-License-Identifier: Apache-2.0 */
/* Leader election: creation, references, and what other threads may ask. The state machine is in
 * leader_election.c. */
#include "controller/leader.h"

#include <errno.h>
#include <string.h>

#include <kinformer/buf.h>

#include "base/alloc.h"
#include "base/error.h"
#include "base/options.h"
#include "base/process.h"
#include "base/time_units.h"

enum {
    LEASE_MS = 15000,
    RENEW_MS = 10000,
    RETRY_MS = 2000,
    JITTER_TENTHS = 12, /* the renew deadline is at least 1.2 retry periods */
};

/* ---- creation ---- */

static int check_durations(ki_leader_options *o, ki_error *error)
{
    o->lease_duration_ms = o->lease_duration_ms != 0 ? o->lease_duration_ms : LEASE_MS;
    o->renew_deadline_ms = o->renew_deadline_ms != 0 ? o->renew_deadline_ms : RENEW_MS;
    o->retry_period_ms = o->retry_period_ms != 0 ? o->retry_period_ms : RETRY_MS;
    if (o->lease_duration_ms <= o->renew_deadline_ms) {
        return ki__error_set(error, -EINVAL,
                             "lease_duration_ms: must be longer than renew_deadline_ms");
    }
    if (UINT64_C(10) * o->renew_deadline_ms <= (uint64_t)JITTER_TENTHS * o->retry_period_ms) {
        return ki__error_set(error, -EINVAL,
                             "renew_deadline_ms: must be longer than 1.2 times retry_period_ms");
    }
    return 0;
}

static int check_strings(const ki_leader_options *o, ki_error *error)
{
    if (o->name == NULL || o->name[0] == '\0') {
        return ki__error_set(error, -EINVAL, "name: must be set to the name of the Lease");
    }
    if (o->identity == NULL || o->identity[0] == '\0') {
        return ki__error_set(error, -EINVAL, "identity: must not be empty");
    }
    if (strlen(o->identity) > KI__IDENTITY_MAX) {
        return ki__error_set(error, KI_ERR_LIMIT, "identity: longer than %d bytes",
                             KI__IDENTITY_MAX);
    }
    return 0;
}

static char *place(char **room, const char *text)
{
    size_t size = strlen(text) + 1;
    char *copy = memcpy(*room, text, size);
    *room += size;
    return copy;
}

static void run_task(ki__task *task)
{
    ki_leader *leader = KI__CONTAINER_OF(task, ki_leader, task);
    ki__leader_run(leader);
    ki__leader_release(leader); /* of the posted task */
}

static int init_parts(ki_leader *leader)
{
    int r = ki__timer_init(&leader->next, leader->engine, ki__leader_on_next);
    if (r == 0) {
        r = ki__timer_init(&leader->deadline, leader->engine, ki__leader_on_deadline);
    }
    if (r == 0) {
        r = ki__mutex_init(&leader->lock);
    }
    if (r == 0) {
        r = ki__cond_init(&leader->turn);
        if (r < 0) {
            ki__mutex_done(&leader->lock);
        }
    }
    if (r < 0) {
        ki__timer_done(&leader->deadline);
        ki__timer_done(&leader->next);
    }
    return r;
}

static uint64_t in_seconds(uint32_t ms)
{
    return (ms / 1000 + (ms % 1000 != 0)) * KI__SECOND_NS;
}

int ki__leader_new(ki_engine *engine, const ki_leader_options *options, const ki__lease_api *api,
                   ki_leader **ret_leader, ki_error *error)
{
    ki_leader_options o = *options;
    int r = check_strings(&o, error);
    if (r == 0) {
        r = check_durations(&o, error);
    }
    if (r < 0) {
        return r;
    }
    const char *name_space = o.name_space != NULL ? o.name_space : "";
    size_t texts = strlen(name_space) + strlen(o.name) + strlen(o.identity) + 3;
    const ki_alloc *alloc = ki__engine_alloc(engine);
    ki_leader *leader = ki__alloc_zero(alloc, sizeof(*leader) + texts);
    if (leader == NULL) {
        return ki__error_code(error, -ENOMEM);
    }
    leader->engine = engine;
    leader->alloc = alloc;
    r = init_parts(leader);
    if (r < 0) {
        ki__free(alloc, leader);
        return ki__error_code(error, r);
    }
    (void)ki_engine_ref(engine);
    ki__refs_init(&leader->users);
    ki__refs_init(&leader->parts);
    ki__task_init(&leader->task, run_task);
    leader->process = ki__process();
    leader->api = *api;
    leader->options = o;
    char *room = (char *)(leader + 1);
    leader->name_space = place(&room, name_space);
    leader->name = place(&room, o.name);
    leader->identity = place(&room, o.identity);
    leader->lease_ns = in_seconds(o.lease_duration_ms);
    leader->renew_ns = ki__ms_to_ns(o.renew_deadline_ms);
    leader->retry_ns = ki__ms_to_ns(o.retry_period_ms);
    atomic_init(&leader->term, -1);
    (void)ki__members_join(ki__engine_members(engine), &leader->member, KI__MEMBER_LEADER, NULL);
    *ret_leader = leader;
    return 0;
}

/* ---- references ---- */

void ki__leader_hold(ki_leader *leader)
{
    ki__refs_take(&leader->parts);
}

void ki__leader_release(ki_leader *leader)
{
    if (!ki__refs_drop(&leader->parts) || ki__is_inherited(leader->process)) {
        return;
    }
    ki__members_leave(&leader->member);
    const ki_leader_options o = leader->options;
    const ki__lease_api api = leader->api;
    ki_engine *engine = leader->engine;
    ki__lease_done(&leader->lease);
    ki__timer_done(&leader->deadline);
    ki__timer_done(&leader->next);
    ki__cond_done(&leader->turn);
    ki__mutex_done(&leader->lock);
    ki__free(leader->alloc, leader);
    if (api.destroy != NULL) {
        api.destroy(api.user);
    }
    (void)ki_engine_unref(engine);
    if (o.destroy != NULL) {
        o.destroy(o.user);
    }
}

ki_leader *ki_leader_ref(ki_leader *leader)
{
    if (leader != NULL) {
        ki__refs_take(&leader->users);
    }
    return leader;
}

ki_leader *ki_leader_unref(ki_leader *leader)
{
    if (leader != NULL && ki__refs_drop(&leader->users)) {
        ki_leader_stop(leader);
        ki__leader_release(leader);
    }
    return NULL;
}

/* ---- start and stop ---- */

/* Requires the lock. */
static void post_locked(ki_leader *leader)
{
    if (!atomic_load(&leader->ended) && ki__engine_post(leader->engine, &leader->task)) {
        ki__leader_hold(leader);
    }
}

int ki_leader_start(ki_leader *leader, ki_error *error)
{
    KI__REQUIRE(leader, error);
    KI__REQUIRE_OWN(leader->process, error);
    ki__mutex_lock(&leader->lock);
    ki__leader_wish before = leader->wish;
    bool ended = atomic_load(&leader->ended);
    if (before == KI__LEADER_WISH_NONE && !ended) {
        leader->wish = KI__LEADER_WISH_START;
        ki__leader_hold(leader); /* until it has ended */
        post_locked(leader);
    }
    ki__mutex_unlock(&leader->lock);
    if (before == KI__LEADER_WISH_STOP || ended) {
        return ki__error_set(error, KI_ERR_STOPPED, "the election was stopped");
    }
    if (before == KI__LEADER_WISH_START) {
        return ki__error_set(error, KI_ERR_EXISTS, "the election was started before");
    }
    return 0;
}

void ki_leader_stop(ki_leader *leader)
{
    if (leader == NULL || ki__is_inherited(leader->process)) {
        return;
    }
    ki__mutex_lock(&leader->lock);
    if (leader->wish == KI__LEADER_WISH_NONE && !atomic_load(&leader->ended)) {
        ki__leader_hold(leader); /* until it has ended */
    }
    if (leader->wish != KI__LEADER_WISH_STOP) {
        leader->wish = KI__LEADER_WISH_STOP;
        atomic_store(&leader->term, -1);
        post_locked(leader);
    }
    ki__mutex_unlock(&leader->lock);
}

/* ---- any thread ---- */

bool ki_leader_holds(const ki_leader *leader, int64_t term)
{
    if (leader == NULL || term < 0 || ki__is_inherited(leader->process) ||
        atomic_load(&leader->term) != term) {
        return false;
    }
    const ki_clock *clock = ki__engine_clock(leader->engine);
    return clock->monotonic_ns(clock->user) < atomic_load(&leader->valid_until);
}

int64_t ki_leader_term(const ki_leader *leader)
{
    int64_t term = leader != NULL ? atomic_load(&leader->term) : -1;
    return ki_leader_holds(leader, term) ? term : -1;
}

bool ki_leader_is(const ki_leader *leader)
{
    return ki_leader_term(leader) >= 0;
}

const char *ki_leader_identity(const ki_leader *leader)
{
    return leader != NULL ? leader->identity : "";
}

int ki_leader_holder(ki_leader *leader, ki_buf *out)
{
    KI__REQUIRE(leader, NULL);
    KI__REQUIRE(out, NULL);
    KI__REQUIRE_OWN(leader->process, NULL);
    ki__mutex_lock(&leader->lock);
    int r = ki_buf_add_text(out, leader->holder);
    ki__mutex_unlock(&leader->lock);
    return r;
}

void ki__leader_wait(ki_leader *leader, bool (*is_over)(const void *arg), const void *arg)
{
    ki__mutex_lock(&leader->lock);
    while (!ki_leader_is(leader) && !is_over(arg)) {
        ki__cond_wait(&leader->turn, &leader->lock);
    }
    ki__mutex_unlock(&leader->lock);
}

void ki__leader_wake(ki_leader *leader)
{
    ki__mutex_lock(&leader->lock);
    ki__cond_wake_all(&leader->turn);
    ki__mutex_unlock(&leader->lock);
}
