/* SPDX-License-Identifier: Apache-2.0 */
/* The reflector as a whole: making it, stopping it anywhere, pausing, health, and how often it may
 * knock.  threads: yes */
#include <errno.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>

#include <kinformer/parts/store_write.h>
#include <kinformer/store.h>

#include "support/objects.h"
#include "support/reflecting.h"

/* ---- making ---- */

static void it_needs_engine_source_and_target(void **state)
{
    (void)state;
    reflecting r;
    reflecting_init(&r);
    ki_reflector *reflector = NULL;
    ki_error error = KI_ERROR_INIT;
    ki_reflector_options o = r.options;
    o.engine = NULL;
    assert_int_equal(ki_reflector_new(&o, &reflector, &error), -EINVAL);
    o = r.options;
    o.source = NULL;
    assert_int_equal(ki_reflector_new(&o, &reflector, &error), -EINVAL);
    o = r.options;
    o.target = NULL;
    assert_int_equal(ki_reflector_new(&o, &reflector, &error), -EINVAL);
    ki_source source = r.source.table;
    source.watch = NULL;
    o = r.options;
    o.source = &source;
    assert_int_equal(ki_reflector_new(&o, &reflector, &error), -EINVAL);
    ki_reflector_target target = r.target;
    target.replace = NULL;
    o = r.options;
    o.target = &target;
    assert_int_equal(ki_reflector_new(&o, &reflector, &error), -EINVAL);
    o = r.options;
    o.size = sizeof(o) * 100;
    assert_int_equal(ki_reflector_new(&o, &reflector, &error), -EINVAL);
    assert_int_equal(ki_reflector_new(NULL, &reflector, &error), -EINVAL);
    static char long_text[(256 << 10) + 2];
    memset(long_text, 'x', sizeof(long_text) - 1);
    o = r.options;
    o.label_selector = long_text;
    assert_int_equal(ki_reflector_new(&o, &reflector, &error), KI_ERR_LIMIT);
    assert_null(reflector);
    assert_int_equal(r.source.destroyed, 0); /* it is theirs on success only */
    assert_null(ki_reflector_ref(NULL));
    assert_null(ki_reflector_unref(NULL));
    reflecting_done(&r);
}

static void name_and_description(void **state)
{
    (void)state;
    reflecting r;
    reflecting_init(&r);
    r.options.expected_kind = "Pod";
    char name[] = "mine";
    r.options.name = name;
    assert_int_equal(ki_reflector_new(&r.options, &r.reflector, NULL), 0);
    name[0] = 'X'; /* it has a copy */
    assert_string_equal(ki_reflector_name(r.reflector), "mine");
    assert_string_equal(ki_reflector_description(r.reflector), "Pod");
    reflecting_done(&r);
    reflecting_init(&r);
    r.options.name = NULL;
    r.options.description = "all pods of node 1";
    assert_int_equal(ki_reflector_new(&r.options, &r.reflector, NULL), 0);
    assert_string_equal(ki_reflector_name(r.reflector), "reflector");
    assert_string_equal(ki_reflector_description(r.reflector), "all pods of node 1");
    reflecting_done(&r);
}

static void one_that_was_never_started_is_just_freed(void **state)
{
    (void)state;
    reflecting r;
    reflecting_init(&r);
    assert_int_equal(ki_reflector_new(&r.options, &r.reflector, NULL), 0);
    reflecting_expect_state(&r, KI_REFLECTOR_NEW, "");
    r.reflector = ki_reflector_unref(r.reflector);
    assert_int_equal(r.source.destroyed, 1);
    assert_int_equal(r.destroyed, 1);
    assert_int_equal(r.stopped, 0);
    reflecting_done(&r);
}

static void starting_twice_or_after_stop_is_refused(void **state)
{
    (void)state;
    reflecting r;
    reflecting_init(&r);
    reflecting_start(&r);
    assert_int_equal(ki_reflector_start(r.reflector), KI_ERR_EXISTS);
    ki_reflector_stop(r.reflector);
    assert_int_equal(ki_reflector_start(r.reflector), KI_ERR_STOPPED);
    reflecting_settle(&r);
    assert_int_equal(ki_reflector_start(r.reflector), KI_ERR_STOPPED);
    reflecting_done(&r);
}

static void states_have_names(void **state)
{
    (void)state;
    assert_string_equal(ki_reflector_state_name(KI_REFLECTOR_NEW), "new");
    assert_string_equal(ki_reflector_state_name(KI_REFLECTOR_STREAMING), "streaming");
    assert_string_equal(ki_reflector_state_name(KI_REFLECTOR_LISTING), "listing");
    assert_string_equal(ki_reflector_state_name(KI_REFLECTOR_WATCHING), "watching");
    assert_string_equal(ki_reflector_state_name(KI_REFLECTOR_BACKOFF), "backoff");
    assert_string_equal(ki_reflector_state_name(KI_REFLECTOR_STOPPED), "stopped");
    assert_string_equal(ki_reflector_state_name(KI_REFLECTOR_STATE_MAX), "unknown");
}

static void the_version_is_copied_if_it_fits(void **state)
{
    (void)state;
    reflecting r;
    reflecting_init(&r);
    reflecting_sync(&r);
    char text[3] = "x";
    assert_int_equal(ki_reflector_last_sync_resource_version(r.reflector, text, 2), KI_ERR_LIMIT);
    assert_string_equal(text, "x");
    assert_int_equal(ki_reflector_last_sync_resource_version(r.reflector, text, 3), 2);
    assert_string_equal(text, "10");
    reflecting_done(&r);
}

static void health_fits_the_struct_of_the_caller(void **state)
{
    (void)state;
    reflecting r;
    reflecting_init(&r);
    reflecting_sync(&r);
    struct {
        ki_health health;
        uint64_t later;
    } newer = {.health.size = sizeof(newer), .later = 1};
    assert_int_equal(ki_reflector_get_health(r.reflector, &newer.health, NULL), 0);
    assert_int_equal(newer.health.state, KI_REFLECTOR_WATCHING);
    assert_int_equal(newer.later, 0); /* not known here */
    newer.health.size = 0;
    newer.later = 1;
    assert_int_equal(ki_reflector_get_health(r.reflector, &newer.health, NULL), 0);
    assert_int_equal(newer.later, 1);
    ki_health health = {.size = 1};
    assert_int_equal(ki_reflector_get_health(r.reflector, &health, NULL), -EINVAL);
    health.size = SIZE_MAX;
    assert_int_equal(ki_reflector_get_health(r.reflector, &health, NULL), -EINVAL);
    reflecting_done(&r);
}

static void health_shows_what_it_waits_for(void **state)
{
    (void)state;
    reflecting r;
    reflecting_init(&r);
    reflecting_sync_by_list(&r);
    assert_int_equal(reflecting_health(&r).state_ms, 0);
    assert_int_equal(reflecting_health(&r).since_sync_ms, 0);
    assert_true(reflecting_health(&r).since_bookmark_ms == UINT64_MAX); /* never */
    reflecting_advance(&r, 5 * TEST_SECOND);
    assert_int_equal(reflecting_health(&r).state_ms, 5000);
    assert_int_equal(reflecting_health(&r).since_sync_ms, 5000);
    fake_end_status(&r.source, 403, "Forbidden", "you may not");
    reflecting_settle(&r);
    ki_health health = reflecting_health(&r);
    assert_int_equal(health.state_ms, 0);
    assert_int_equal(health.state, KI_REFLECTOR_BACKOFF);
    assert_int_equal(health.next, KI_REFLECTOR_LISTING);
    assert_in_range(health.retry_delay_ms, 800, 1600);
    assert_int_equal(reflecting_reason(&r).reason, KI_REASON_FORBIDDEN);
    assert_string_equal(reflecting_reason(&r).message, "you may not");
    assert_true(health.synced); /* what was there stays */
    reflecting_advance(&r, health.retry_delay_ms * TEST_MS);
    health = reflecting_health(&r);
    assert_int_equal(health.state, KI_REFLECTOR_LISTING);
    assert_int_equal(health.retry_delay_ms, 0);
    assert_int_equal(reflecting_reason(&r).http_code, 403); /* until it is over */
    reflecting_done(&r);
}

/* ---- stopping ---- */

/* Brings a reflector into a state. */
static void bring_to(reflecting *r, ki_reflector_state where)
{
    switch (where) {
    case KI_REFLECTOR_NEW:
        assert_int_equal(ki_reflector_new(&r->options, &r->reflector, NULL), 0);
        break;
    case KI_REFLECTOR_STREAMING:
        reflecting_start(r);
        fake_event(&r->source, KI_WATCH_EVENT_ADDED, fake_pod("a", 1));
        break;
    case KI_REFLECTOR_LISTING:
        r->options.no_streaming = true;
        reflecting_start(r);
        fake_event(&r->source, KI_WATCH_EVENT_ADDED, fake_pod("a", 1));
        fake_end_list(&r->source, "5", "more");
        reflecting_settle(r);
        fake_event(&r->source, KI_WATCH_EVENT_ADDED, fake_pod("b", 1));
        break;
    case KI_REFLECTOR_WATCHING:
        r->options.resync_period_ms = 10 * 1000;
        reflecting_sync(r);
        break;
    case KI_REFLECTOR_BACKOFF:
        reflecting_sync(r);
        fake_error_event(&r->source, 429, "", "wait");
        break;
    case KI_REFLECTOR_STOPPED:
        reflecting_start(r);
        ki_reflector_stop(r->reflector);
        break;
    case KI_REFLECTOR_STATE_MAX:
        fail();
    }
    reflecting_settle(r);
    assert_int_equal(reflecting_health(r).state, where);
}

static void it_stops_from_every_state(void **state)
{
    (void)state;
    for (int where = KI_REFLECTOR_NEW; where < KI_REFLECTOR_STATE_MAX; where++) {
        reflecting r;
        reflecting_init(&r);
        bring_to(&r, (ki_reflector_state)where);
        size_t requests = r.source.count;
        ki_reflector_stop(r.reflector);
        ki_reflector_stop(r.reflector);
        reflecting_settle(&r);
        assert_int_equal(reflecting_health(&r).state, KI_REFLECTOR_STOPPED);
        assert_int_equal(r.stopped, 1);
        assert_false(r.source.open);
        assert_true(ki_engine_deadline(r.engine) == UINT64_MAX);
        ki_reflector_pause(r.reflector, true); /* too late, and no harm */
        reflecting_advance(&r, 3600 * TEST_SECOND);
        assert_int_equal(r.source.count, requests);
        assert_int_equal(r.stopped, 1);
        reflecting_done(&r);
    }
}

static ki_reflector *to_stop;
static void (*plain_cancel)(void *call, void *user);

static void cancel_and_stop(void *call, void *user)
{
    plain_cancel(call, user);
    ki_reflector_stop(to_stop);
}

/* The loop may be stopped as soon as the reflector has stopped: nothing may wait for it. */
static void a_stop_that_comes_too_late_leaves_nothing_in_the_engine(void **state)
{
    (void)state;
    reflecting r;
    reflecting_init(&r);
    plain_cancel = r.source.table.cancel;
    r.source.table.cancel = cancel_and_stop;
    bring_to(&r, KI_REFLECTOR_WATCHING);
    to_stop = r.reflector;
    ki_reflector_stop(r.reflector);
    while (r.stopped == 0) {
        assert_int_equal(ki_engine_run(r.engine, 1), 1);
    }
    assert_true(ki_engine_deadline(r.engine) == UINT64_MAX);
    ki_reflector_stop(r.reflector);
    assert_true(ki_engine_deadline(r.engine) == UINT64_MAX);
    reflecting_done(&r);
}

static void it_stops_before_the_task_that_begins_a_phase(void **state)
{
    (void)state;
    reflecting r;
    reflecting_init(&r);
    assert_int_equal(ki_reflector_new(&r.options, &r.reflector, NULL), 0);
    assert_int_equal(ki_reflector_start(r.reflector), 0);
    ki_reflector_stop(r.reflector);
    reflecting_settle(&r);
    assert_int_equal(r.source.count, 0);
    assert_int_equal(r.stopped, 1);
    reflecting_done(&r);
}

static void releasing_a_running_reflector_does_not_end_it(void **state)
{
    (void)state;
    reflecting r;
    reflecting_init(&r);
    reflecting_sync(&r);
    ki_reflector *reflector = r.reflector;
    (void)ki_reflector_unref(reflector);
    fake_event(&r.source, KI_WATCH_EVENT_ADDED, fake_pod("b", 11));
    reflecting_expect(&r, "+b@11");
    ki_reflector_stop(reflector);
    reflecting_settle(&r);
    assert_int_equal(r.stopped, 1);
    assert_int_equal(r.destroyed, 1);
    r.reflector = NULL;
    reflecting_done(&r);
}

static void stop_it(reflecting *r)
{
    ki_reflector_stop(r->reflector);
}

/* The callbacks before a list is complete, and how to get them called. Whether it was one. */
static bool provoke_before_sync(reflecting *r, char at)
{
    fake_source *s = &r->source;
    if (strchr("=LETIP", at) == NULL) {
        return false;
    }
    r->hook_at = at == 'L' ? '=' : at == 'T' ? 'E' : at == 'I' || at == 'P' ? '!' : at;
    r->options.no_streaming = strchr("LEP", at) != NULL;
    reflecting_start(r);
    switch (at) {
    case '=': /* replace, by a stream */
        fake_event(s, KI_WATCH_EVENT_ADDED, fake_pod("a", 1));
        fake_bookmark(s, "10", true);
        break;
    case 'L': /* replace, by pages */
        fake_end_list(s, "10", "");
        break;
    case 'E': /* the list failed */
        fake_end_status(s, 403, "Forbidden", "no");
        break;
    case 'T': /* the target refuses what was streamed */
        r->fail = KI_ERR_LIMIT;
        fake_bookmark(s, "10", true);
        break;
    case 'I': /* a report: the stream never ends */
        fake_alive(s, 0);
        reflecting_advance(r, 15 * TEST_SECOND);
        break;
    default: /* a report: an object of the list was skipped */
        fake_skipped(s, KI_WATCH_EVENT_ADDED, "default/z", "", KI_ERR_SYNTAX);
        break;
    }
    return true;
}

/* The others. */
static void provoke(reflecting *r, char at)
{
    fake_source *s = &r->source;
    r->hook = stop_it;
    if (provoke_before_sync(r, at)) {
        return;
    }
    r->hook_at = at == 'W' ? 'E' : at == 'K' ? '-' : strchr("ORY", at) != NULL ? '!' : at;
    r->options.resync_period_ms = 10 * 1000;
    reflecting_sync_by_list(r);
    r->fail = at == 'R' || at == 'Y' ? KI_ERR_LIMIT : 0;
    switch (at) {
    case 'W': /* the watch was refused */
        fake_end_status(s, 403, "Forbidden", "no");
        break;
    case '+':
        fake_event(s, KI_WATCH_EVENT_ADDED, fake_pod("b", 11));
        break;
    case '~':
    case 'R': /* a report: the target did not take it */
        fake_event(s, KI_WATCH_EVENT_MODIFIED, fake_pod("a", 11));
        break;
    case '-':
        fake_event(s, KI_WATCH_EVENT_DELETED, fake_pod("b", 11));
        break;
    case 'K': /* remove_key */
        fake_skipped(s, KI_WATCH_EVENT_DELETED, "default/a", "11", KI_ERR_SYNTAX);
        break;
    case '!': /* a report: an event was skipped */
        fake_skipped(s, KI_WATCH_EVENT_DELETED, "", "11", KI_ERR_SYNTAX);
        break;
    case 'O': /* a report: an event from the past */
        fake_event(s, KI_WATCH_EVENT_MODIFIED, fake_pod("a", 2));
        break;
    case 'B':
        fake_bookmark(s, "11", false);
        break;
    case 'S':
    case '?':
    case 'Y': /* a report: the resync failed */
        reflecting_advance(r, 10 * TEST_SECOND);
        break;
    default:
        assert_int_equal(at, 'X');
        ki_reflector_stop(r->reflector);
        break;
    }
}

static void it_stops_from_inside_every_callback(void **state)
{
    (void)state;
    for (const char *at = "=LEWTIP+~-K!ORBYS?X"; *at != '\0'; at++) {
        reflecting r;
        reflecting_init(&r);
        provoke(&r, *at);
        /* More of everything, which must not be delivered any more. */
        if (r.source.open) {
            fake_event(&r.source, KI_WATCH_EVENT_ADDED, fake_pod("z", 100));
            fake_bookmark(&r.source, "101", true);
            fake_skipped(&r.source, KI_WATCH_EVENT_ADDED, "default/z", "", KI_ERR_SYNTAX);
            fake_end_watch(&r.source);
        }
        reflecting_settle(&r);
        assert_int_equal(r.stopped, 1);
        assert_int_equal(reflecting_health(&r).state, KI_REFLECTOR_STOPPED);
        assert_null(strstr(r.heard, "z@100"));
        assert_null(strstr(r.heard, "B101"));
        size_t requests = r.source.count;
        reflecting_advance(&r, 3600 * TEST_SECOND);
        assert_int_equal(r.source.count, requests);
        reflecting_done(&r);
    }
}

static void stop_and_let_go(reflecting *r)
{
    ki_reflector_stop(r->reflector);
    (void)ki_reflector_unref(r->reflector);
}

static void the_last_reference_may_go_inside_a_callback(void **state)
{
    (void)state;
    for (const char *at = "+EX"; *at != '\0'; at++) {
        reflecting r;
        reflecting_init(&r);
        provoke(&r, *at); /* nothing is said before it settles */
        r.hook = stop_and_let_go;
        reflecting_settle(&r);
        assert_int_equal(r.stopped, 1);
        assert_int_equal(r.destroyed, 1);
        assert_int_equal(r.source.destroyed, 1);
        r.reflector = NULL;
        reflecting_done(&r);
    }
}

/* ---- pausing ---- */

static void a_pause_reaches_the_source_and_is_no_silence(void **state)
{
    (void)state;
    reflecting r;
    reflecting_init(&r);
    reflecting_sync(&r);
    ki_reflector_pause(r.reflector, true);
    ki_reflector_pause(r.reflector, true);
    reflecting_settle(&r);
    assert_true(r.source.paused);
    assert_true(reflecting_health(&r).paused);
    reflecting_advance(&r, 7200 * TEST_SECOND);
    assert_int_equal(r.source.count, 1);
    fake_event(&r.source, KI_WATCH_EVENT_ADDED, fake_pod("b", 11)); /* some may still come */
    reflecting_expect(&r, "+b@11");
    ki_reflector_pause(r.reflector, false);
    reflecting_settle(&r);
    assert_false(r.source.paused);
    assert_int_equal(r.source.count, 1);
    reflecting_advance(&r, 180 * TEST_SECOND); /* from now on silence counts */
    assert_int_equal(r.source.count, 2);
    reflecting_done(&r);
}

static void a_pause_holds_for_every_call_that_is_made_meanwhile(void **state)
{
    (void)state;
    for (int streaming = 0; streaming <= 1; streaming++) {
        reflecting r;
        reflecting_init(&r);
        r.options.no_streaming = streaming == 0;
        assert_int_equal(ki_reflector_new(&r.options, &r.reflector, NULL), 0);
        ki_reflector_pause(r.reflector, true); /* before it starts */
        reflecting_settle(&r);
        assert_int_equal(ki_reflector_start(r.reflector), 0);
        reflecting_settle(&r);
        assert_true(r.source.paused);
        reflecting_advance(&r, 600 * TEST_SECOND);
        assert_int_equal(r.source.count, 1); /* also a list, or a stream, may be paused */
        if (streaming == 0) {
            fake_end_list(&r.source, "5", "more");
            reflecting_settle(&r);
            assert_true(r.source.paused); /* the next page */
            fake_end_list(&r.source, "5", "");
            reflecting_settle(&r);
            assert_true(r.source.paused); /* the watch */
        }
        ki_reflector_pause(r.reflector, false);
        reflecting_settle(&r);
        assert_false(r.source.paused);
        reflecting_done(&r);
    }
}

static void a_source_that_cannot_pause_is_left_alone(void **state)
{
    (void)state;
    reflecting r;
    reflecting_init(&r);
    r.source.table.pause = NULL;
    reflecting_sync_by_list(&r);
    ki_reflector_pause(r.reflector, true);
    reflecting_settle(&r);
    assert_false(r.source.paused);
    fake_end_watch(&r.source);
    reflecting_settle(&r);
    reflecting_done(&r);
}

/* ---- how often it may knock ---- */

typedef struct bad_server {
    const char *name;
    void (*respond)(fake_source *source, const fake_request *request, void *user);
} bad_server;

static void refuse_all(fake_source *source, const fake_request *request, void *user)
{
    (void)request;
    (void)user;
    fake_end_error(source, -ECONNREFUSED);
}

static void close_all(fake_source *source, const fake_request *request, void *user)
{
    (void)user;
    if (request->watch) {
        fake_end_watch(source);
    } else {
        fake_end_list(source, "5", "");
    }
}

static void expire_all(fake_source *source, const fake_request *request, void *user)
{
    (void)user;
    if (request->watch) {
        fake_error_event(source, 410, "Expired", "too old");
    } else {
        fake_end_status(source, 410, "Expired", "too old");
    }
}

static void expire_watches(fake_source *source, const fake_request *request, void *user)
{
    (void)user;
    if (request->initial) {
        fake_end_status(source, 400, "BadRequest", "no");
    } else if (request->watch) {
        fake_end_status(source, 410, "Expired", "the list took longer than the window");
    } else {
        fake_end_list(source, "5", "");
    }
}

static unsigned next_version = 100;

static void one_event_each(fake_source *source, const fake_request *request, void *user)
{
    (void)user;
    if (request->initial) {
        fake_bookmark(source, "50", true);
    } else if (request->watch) {
        fake_event(source, KI_WATCH_EVENT_ADDED, fake_pod("a", next_version++));
        fake_end_watch(source);
    }
}

static void cut_streams(fake_source *source, const fake_request *request, void *user)
{
    (void)user;
    if (request->watch) {
        fake_event(source, KI_WATCH_EVENT_ADDED, fake_pod("a", next_version++));
        fake_end_error(source, -ECONNRESET);
    } else {
        fake_end_status(source, 503, "ServiceUnavailable", "no");
    }
}

static void poison(fake_source *source, const fake_request *request, void *user)
{
    (void)user;
    if (request->initial) {
        fake_bookmark(source, "50", true);
        fake_skipped(source, KI_WATCH_EVENT_MAX, "", "", KI_ERR_SYNTAX);
    } else if (request->watch) {
        fake_skipped(source, KI_WATCH_EVENT_MAX, "", "", KI_ERR_SYNTAX);
    } else {
        fake_end_list(source, "50", "");
    }
}

static void from_the_past(fake_source *source, const fake_request *request, void *user)
{
    (void)user;
    if (request->initial) {
        fake_bookmark(source, "50", true);
        fake_event(source, KI_WATCH_EVENT_MODIFIED, fake_pod("a", 3));
    } else if (!request->watch) {
        fake_end_list(source, "50", "");
    }
}

static void no_such_resource(fake_source *source, const fake_request *request, void *user)
{
    (void)request;
    (void)user;
    fake_end_status(source, 404, "NotFound", "the resource is not served here");
}

static const bad_server bad_servers[] = {
    {"refuses every connection", refuse_all},
    {"closes every watch at once", close_all},
    {"says 410 to everything", expire_all},
    {"forgets faster than it lists", expire_watches},
    {"cuts streams and has no lists", cut_streams},
    {"sends what nobody can read", poison},
    {"sends events from the past", from_the_past},
    {"does not have the resource", no_such_resource},
};

static size_t requests_between(const fake_source *source, uint64_t from, uint64_t to)
{
    size_t count = 0;
    for (size_t i = 0; i < source->count; i++) {
        count += source->requests[i].at >= from && source->requests[i].at < to;
    }
    return count;
}

/* Waits are 0.8, 1.6, 3.2 ... 30 s and longer, and each may have up to three requests: a stream, a
 * list, a list without version. */
static void attempts_in_a_minute_follow_the_back_off(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof(bad_servers) / sizeof(bad_servers[0]); i++) {
        reflecting r;
        reflecting_init(&r);
        r.source.respond = bad_servers[i].respond;
        reflecting_start(&r);
        uint64_t start = r.world.now;
        reflecting_advance(&r, 30 * 60 * TEST_SECOND);
        for (uint64_t minute = 0; minute < 30; minute++) {
            size_t count = requests_between(&r.source, start + minute * 60 * TEST_SECOND,
                                            start + (minute + 1) * 60 * TEST_SECOND);
            size_t most = minute == 0 ? 24 : minute == 1 ? 12 : 9;
            if (count > most) {
                fail_msg("a server that %s: %zu requests in minute %u", bad_servers[i].name, count,
                         (unsigned)minute);
            }
        }
        assert_true(r.source.count > 30); /* but it never gives up */
        reflecting_done(&r);
    }
}

/* As proxies do that take an answer for complete when it pauses. What each brings is news, so that
 * waits do not grow; yet there is one. */
static void watches_that_end_after_one_event_are_resumed_about_once_a_second(void **state)
{
    (void)state;
    reflecting r;
    reflecting_init(&r);
    r.source.respond = one_event_each;
    reflecting_start(&r);
    fake_end_watch(&r.source); /* that came of the streaming list */
    reflecting_settle(&r);
    uint64_t start = r.world.now + TEST_SECOND;
    reflecting_advance(&r, 121 * TEST_SECOND);
    assert_in_range(requests_between(&r.source, start, r.world.now), 120 * 10 / 16, 120 * 10 / 8);
    assert_int_equal(reflecting_health(&r).relists, 0);
    reflecting_done(&r);
}

/* A healthy server that ends each watch after a second or so gets one request for each. */
static void watches_that_live_are_resumed_at_once_but_at_most_once_a_second(void **state)
{
    (void)state;
    reflecting r;
    reflecting_init(&r);
    reflecting_sync(&r);
    uint64_t start = r.world.now;
    for (int i = 0; i < 60; i++) {
        reflecting_advance(&r, TEST_SECOND);
        fake_end_watch(&r.source);
        reflecting_settle(&r);
    }
    assert_int_equal(requests_between(&r.source, start, r.world.now + 1), 61);
    assert_int_equal(reflecting_health(&r).backoffs, 0);
    reflecting_done(&r);
}

static void the_waits_of_many_reflectors_spread(void **state)
{
    (void)state;
    enum { MANY = 200 };
    uint64_t least = UINT64_MAX;
    uint64_t most = 0;
    for (uint64_t i = 0; i < MANY; i++) {
        reflecting *r = test_malloc(sizeof(*r));
        reflecting_init(r);
        r->world.seed = i;
        (void)ki_engine_unref(r->engine); /* another one, of that seed */
        ki_engine_options options = test_world_engine_options(&r->world, &r->alloc.table);
        assert_int_equal(ki_engine_new(&options, &r->engine, NULL), 0);
        r->options.engine = r->engine;
        r->source.engine = r->engine;
        reflecting_start(r);
        fake_end_error(&r->source, -ECONNREFUSED);
        reflecting_settle(r);
        uint64_t wait = reflecting_health(r).retry_delay_ms * TEST_MS;
        least = wait < least ? wait : least;
        most = wait > most ? wait : most;
        reflecting_done(r);
        test_free(r);
    }
    assert_true(least < 850 * TEST_MS && most > 1550 * TEST_MS);
}

/* ---- hazards: what went wrong elsewhere ---- */

/* The cache of a slow-moving resource, while the server compacts: bookmarks keep it from expiring,
 * and nothing is listed again. */
static void an_hour_without_events_does_not_list_again(void **state)
{
    (void)state;
    reflecting r;
    reflecting_init(&r);
    reflecting_sync(&r);
    char version[16];
    for (unsigned minute = 0; minute < 60; minute++) {
        reflecting_advance(&r, 60 * TEST_SECOND);
        if (minute % 7 == 6) {
            fake_end_watch(&r.source);
            reflecting_settle(&r);
        }
        (void)snprintf(version, sizeof(version), "%u", 100 + minute);
        fake_alive(&r.source, 50);
        fake_bookmark(&r.source, version, false);
        reflecting_settle(&r);
        assert_false(fake_last(&r.source)->initial && r.source.count > 1);
    }
    assert_int_equal(reflecting_health(&r).relists, 0);
    assert_string_equal(fake_last(&r.source)->version, "154"); /* of the minute before */
    reflecting_done(&r);
}

/* A bookmark that was ahead of events which had yet to come. */
static void a_lying_bookmark_is_put_right_by_a_list(void **state)
{
    (void)state;
    reflecting r;
    reflecting_init(&r);
    reflecting_sync(&r);
    fake_bookmark(&r.source, "20", false);
    fake_event(&r.source, KI_WATCH_EVENT_DELETED, fake_pod("a", 15));
    reflecting_expect(&r, "B20");
    reflecting_advance(&r, 2 * TEST_SECOND);
    assert_string_equal(fake_last(&r.source)->version, "20");
    fake_bookmark(&r.source, "20", true);
    reflecting_expect(&r, "=()@20"); /* the deletion is found */
    reflecting_done(&r);
}

/* Initial events in any order, cut in the middle: their versions must not count. */
static void a_cut_stream_leaves_no_version_behind(void **state)
{
    (void)state;
    reflecting r;
    reflecting_init(&r);
    reflecting_start(&r);
    fake_event(&r.source, KI_WATCH_EVENT_ADDED, fake_pod("z", 90));
    fake_event(&r.source, KI_WATCH_EVENT_ADDED, fake_pod("a", 3));
    fake_end_error(&r.source, -ECONNRESET);
    reflecting_expect_state(&r, KI_REFLECTOR_STREAMING, "");
    assert_string_equal(fake_last(&r.source)->version, "");
    reflecting_done(&r);
}

/* A custom resource definition that was deleted. */
static void a_resource_that_is_gone_is_seen_in_the_health(void **state)
{
    (void)state;
    reflecting r;
    reflecting_init(&r);
    r.source.respond = no_such_resource;
    reflecting_start(&r);
    reflecting_advance(&r, 600 * TEST_SECOND);
    ki_health health = reflecting_health(&r);
    assert_int_equal(health.state, KI_REFLECTOR_BACKOFF);
    assert_int_equal(reflecting_reason(&r).reason, KI_REASON_NOT_FOUND);
    assert_false(health.synced);
    r.source.respond = close_all; /* and it comes back */
    reflecting_advance(&r, 61 * TEST_SECOND);
    assert_true(reflecting_health(&r).synced);
    reflecting_done(&r);
}

static void ten_thousand_reconnects_leave_no_timer_behind(void **state)
{
    (void)state;
    reflecting r;
    reflecting_init(&r);
    r.options.resync_period_ms = 3600 * 1000;
    reflecting_sync(&r);
    size_t blocks = r.alloc.live_blocks;
    for (int i = 0; i < 10000; i++) {
        reflecting_advance(&r, TEST_SECOND);
        fake_end_watch(&r.source);
        reflecting_settle(&r);
        r.source.count = 1;
        r.heard[0] = '\0';
    }
    assert_int_equal(r.alloc.live_blocks, blocks);
    reflecting_done(&r); /* which looks for timers */
}

/* ---- without memory ---- */

/* The server of the sweep: two pods, a stream or pages, and one change after each list. */
static void good_server(fake_source *source, const fake_request *request, void *user)
{
    bool pages = user != NULL;
    if (request->initial && !pages) {
        fake_event(source, KI_WATCH_EVENT_ADDED, fake_pod("a", 1));
        fake_event(source, KI_WATCH_EVENT_ADDED, fake_pod("b", 2));
        fake_skipped(source, KI_WATCH_EVENT_ADDED, "default/poison", "3", KI_ERR_SYNTAX);
        fake_bookmark(source, "10", true);
        fake_event(source, KI_WATCH_EVENT_MODIFIED, fake_pod("a", 11));
        fake_event(source, KI_WATCH_EVENT_DELETED, fake_pod("b", 12));
    } else if (request->initial) {
        fake_end_status(source, 400, "BadRequest", "no");
    } else if (!request->watch && request->token[0] == '\0') {
        fake_event(source, KI_WATCH_EVENT_ADDED, fake_pod("a", 1));
        fake_skipped(source, KI_WATCH_EVENT_ADDED, "default/poison", "3", KI_ERR_SYNTAX);
        fake_end_list(source, "10", "next");
    } else if (!request->watch) {
        fake_event(source, KI_WATCH_EVENT_ADDED, fake_pod("b", 2));
        fake_end_list(source, "10", "");
    } else if (strcmp(request->version, "10") == 0) {
        fake_event(source, KI_WATCH_EVENT_MODIFIED, fake_pod("a", 11));
        fake_event(source, KI_WATCH_EVENT_DELETED, fake_pod("b", 12));
    } else if (strcmp(request->version, "11") == 0) {
        fake_event(source, KI_WATCH_EVENT_DELETED, fake_pod("b", 12));
    }
}

static void check_store(ki_store *store)
{
    ki_snapshot *snapshot = ki_store_snapshot(store);
    const ki_object *a = ki_snapshot_get(snapshot, "default/a");
    assert_non_null(a);
    assert_string_equal(ki_object_resource_version(a), "11");
    assert_int_equal(ki_snapshot_count(snapshot), 1);
    assert_string_equal(ki_snapshot_resource_version(snapshot), "12");
    (void)ki_snapshot_unref(snapshot);
}

typedef struct sweep {
    test_world world;
    ki_engine *engine;
    ki_store *store;
    ki_reflector *reflector;
    fake_source source;
} sweep;

static int sweep_begin(sweep *s, const ki_alloc *alloc, void *pages)
{
    test_world_init(&s->world);
    ki_engine_options engine_options = test_world_engine_options(&s->world, alloc);
    int r = ki_engine_new(&engine_options, &s->engine, NULL);
    if (r < 0) {
        return r;
    }
    ki_store_options store_options = KI_OPTIONS_INIT(ki_store_options);
    store_options.alloc = alloc;
    r = ki_store_new(&store_options, &s->store, NULL);
    if (r < 0) {
        return r;
    }
    fake_source_init(&s->source, s->engine, &s->world);
    s->source.respond = good_server;
    s->source.respond_user = pages;
    /* A store, so that the target needs memory as well. */
    ki_reflector_target target = {0};
    assert_int_equal(ki_reflector_target_store(s->store, &target), 0);
    ki_reflector_options options = KI_OPTIONS_INIT(ki_reflector_options);
    options.engine = s->engine;
    options.source = &s->source.table;
    options.target = &target;
    options.label_selector = "app=web";
    r = ki_reflector_new(&options, &s->reflector, NULL);
    if (r < 0) {
        target.destroy(target.user);
    }
    return r;
}

/* Whatever fails, and for however long: when there is memory again, the store is right. */
static int survive(const ki_alloc *alloc, void *pages)
{
    sweep *s = test_calloc(1, sizeof(*s));
    test_alloc *failing = alloc->user;
    int r = sweep_begin(s, alloc, pages);
    if (r == 0) {
        assert_int_equal(ki_reflector_start(s->reflector), 0);
        test_world_advance(&s->world, s->engine, 600 * TEST_SECOND);
        failing->fail_onwards = false; /* now there is memory */
        failing->fail_at = 0;
        test_world_advance(&s->world, s->engine, 120 * TEST_SECOND);
        check_store(s->store);
        ki_reflector_stop(s->reflector);
        test_world_settle(s->engine);
    }
    (void)ki_reflector_unref(s->reflector);
    if (s->engine != NULL && s->store != NULL) {
        fake_source_done(&s->source);
    }
    (void)ki_store_unref(s->store);
    (void)ki_engine_unref(s->engine);
    test_free(s);
    return r;
}

static void lack_of_memory_never_stops_it_permanently(void **state)
{
    (void)state;
    int pages = 1;
    test_alloc_sweep(survive, NULL);
    test_alloc_sweep(survive, &pages);
}

/* ---- threads ---- */

typedef struct crowd {
    reflecting r;
    atomic_bool over;
} crowd;

static void *bother(void *user)
{
    crowd *c = user;
    bool paused = false;
    while (!atomic_load(&c->over)) {
        char text[64];
        assert_true(ki_reflector_last_sync_resource_version(c->r.reflector, text, 64) >= 0);
        (void)reflecting_health(&c->r);
        ki_reflector_pause(c->r.reflector, paused = !paused);
        (void)ki_reflector_unref(ki_reflector_ref(c->r.reflector));
    }
    ki_reflector_stop(c->r.reflector);
    return NULL;
}

static void other_threads_may_ask_pause_and_stop(void **state)
{
    (void)state;
    crowd *c = test_calloc(1, sizeof(*c));
    reflecting_init(&c->r);
    reflecting_sync(&c->r);
    pthread_t threads[2];
    for (size_t i = 0; i < 2; i++) {
        assert_int_equal(pthread_create(&threads[i], NULL, bother, c), 0);
    }
    for (unsigned i = 0; i < 2000; i++) {
        fake_event(&c->r.source, KI_WATCH_EVENT_MODIFIED, fake_pod("a", 11 + i));
        reflecting_settle(&c->r);
        c->r.heard[0] = '\0';
    }
    atomic_store(&c->over, true);
    while (c->r.stopped == 0) {
        reflecting_settle(&c->r);
    }
    for (size_t i = 0; i < 2; i++) {
        assert_int_equal(pthread_join(threads[i], NULL), 0);
    }
    reflecting_done(&c->r);
    test_free(c);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(it_needs_engine_source_and_target),
        cmocka_unit_test(name_and_description),
        cmocka_unit_test(one_that_was_never_started_is_just_freed),
        cmocka_unit_test(starting_twice_or_after_stop_is_refused),
        cmocka_unit_test(states_have_names),
        cmocka_unit_test(the_version_is_copied_if_it_fits),
        cmocka_unit_test(health_fits_the_struct_of_the_caller),
        cmocka_unit_test(health_shows_what_it_waits_for),
        cmocka_unit_test(it_stops_from_every_state),
        cmocka_unit_test(a_stop_that_comes_too_late_leaves_nothing_in_the_engine),
        cmocka_unit_test(it_stops_before_the_task_that_begins_a_phase),
        cmocka_unit_test(releasing_a_running_reflector_does_not_end_it),
        cmocka_unit_test(it_stops_from_inside_every_callback),
        cmocka_unit_test(the_last_reference_may_go_inside_a_callback),
        cmocka_unit_test(a_pause_reaches_the_source_and_is_no_silence),
        cmocka_unit_test(a_pause_holds_for_every_call_that_is_made_meanwhile),
        cmocka_unit_test(a_source_that_cannot_pause_is_left_alone),
        cmocka_unit_test(attempts_in_a_minute_follow_the_back_off),
        cmocka_unit_test(watches_that_end_after_one_event_are_resumed_about_once_a_second),
        cmocka_unit_test(watches_that_live_are_resumed_at_once_but_at_most_once_a_second),
        cmocka_unit_test(the_waits_of_many_reflectors_spread),
        cmocka_unit_test(an_hour_without_events_does_not_list_again),
        cmocka_unit_test(a_lying_bookmark_is_put_right_by_a_list),
        cmocka_unit_test(a_cut_stream_leaves_no_version_behind),
        cmocka_unit_test(a_resource_that_is_gone_is_seen_in_the_health),
        cmocka_unit_test(ten_thousand_reconnects_leave_no_timer_behind),
        cmocka_unit_test(lack_of_memory_never_stops_it_permanently),
        cmocka_unit_test(other_threads_may_ask_pause_and_stop),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
