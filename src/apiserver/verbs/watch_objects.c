/* SPDX-License-Identifier: Apache-2.0 */
/* WATCH: existing objects as ADDED, if requested; then each change after the requested version in
 * log order, up to the server's position; bookmarks in between.
 *
 * For a watch with selectors, an object that starts to match is ADDED, and one that no longer
 * matches is DELETED, in its previous state with the version of the change. */
#include <errno.h>

#include "apiserver/encode.h"
#include "apiserver/exchange.h"
#include "apiserver/verbs/compose.h"
#include "base/assert.h"
#include "base/digits.h"
#include "base/time_units.h"

/* ---- the start ---- */

static int check_options(ki__api_exchange *x)
{
    const ki__api_route *route = &x->route;
    bool initial = route->send_initial != KI__API_UNSET;
    bool not_older = strcmp(route->rv_match, "NotOlderThan") == 0;
    int r = 0;
    if (initial && !not_older) {
        r = ki__api_forbid_option(&x->failure, "resourceVersionMatch",
                                  "sendInitialEvents requires \"NotOlderThan\"");
    }
    if (r == 0 && initial && x->server->options.watch_list == KI__API_WATCH_LIST_OFF) {
        r = ki__api_forbid_option(&x->failure, "sendInitialEvents",
                                  "forbidden for watch: this server has no WatchList");
    }
    if (r == 0 && route->rv_match[0] != '\0' && !initial) {
        r = ki__api_forbid_option(&x->failure, "resourceVersionMatch",
                                  "forbidden for watch without sendInitialEvents");
    }
    if (r == 0 && route->rv_match[0] != '\0' && !not_older) {
        const ki__api_cause cause = {"FieldValueNotSupported", "supported values: \"NotOlderThan\"",
                                     "resourceVersionMatch"};
        r = ki__api_fail_field(&x->failure, NULL, "", &cause);
    }
    if (r == 0 && route->rv_match[0] != '\0' && route->token[0] != '\0') {
        r = ki__api_forbid_option(&x->failure, "resourceVersionMatch",
                                  "forbidden together with continue");
    }
    return r;
}

/* A watch that starts with an ERROR event, for errors that servers detect late. */
static int end_inside(ki__api_exchange *x)
{
    ki_buf status;
    ki_buf_init(&status, x->alloc, SIZE_MAX);
    int r = ki__api_failure_write(&x->failure, &status);
    if (r == 0) {
        r = ki__api_encode_event_json(x, KI_WATCH_EVENT_ERROR, ki_buf_str(&status));
    }
    ki_buf_done(&status);
    if (r == 0) {
        x->failure.code = 0;
        x->status = 200;
        x->stage = KI__API_STAGE_TEXT;
    }
    return r;
}

static int take_initial(ki__api_exchange *x, uint64_t at)
{
    while (x->item_count != 0) {
        ki_object_unref(x->items[--x->item_count]);
    }
    int r = 0;
    for (size_t i = 0; i < x->type->count && r == 0; i++) {
        const ki__api_key *key = x->type->keys[i];
        ki_object *object = ki__api_key_at(key, at);
        if (object != NULL && ki__api_in_scope(x, ki__api_key_text(key)) &&
            ki__api_matches(x, object)) {
            r = ki__api_add_item(x, object);
        }
    }
    uint64_t state = x->plan.shuffle;
    for (size_t i = x->item_count; r == 0 && state != 0 && i > 1; i--) {
        state = state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
        size_t j = (size_t)(state >> 33) % i;
        ki_object *swap = x->items[i - 1];
        x->items[i - 1] = x->items[j];
        x->items[j] = swap;
    }
    return r;
}

static uint64_t after_ms(uint64_t now, int64_t ms)
{
    return ms >= 0 ? now + (uint64_t)ms * KI__MS_NS : UINT64_MAX;
}

static void set_timers(ki__api_exchange *x)
{
    const ki__api_server_options *options = &x->server->options;
    ki__api_watch *watch = &x->watch;
    uint64_t now = ki__api_model_now(x->model);
    int64_t timeout_s = x->route.timeout_s > 0 ? x->route.timeout_s : options->watch_timeout_s;
    timeout_s = timeout_s < 86400 ? timeout_s : 86400; /* one day, to rule out overflow */
    watch->end_at = after_ms(now, timeout_s * 1000);
    watch->drop_at =
        x->plan.drop_after_ms != 0 ? now + x->plan.drop_after_ms * KI__MS_NS : UINT64_MAX;
    watch->bookmark_at = UINT64_MAX;
    watch->last_bookmark_at = UINT64_MAX;
    if (x->route.bookmarks) {
        watch->bookmark_at = after_ms(now, options->bookmark_ms);
        if (options->last_bookmark_ms >= 0 && timeout_s * 1000 > options->last_bookmark_ms) {
            watch->last_bookmark_at = after_ms(now, timeout_s * 1000 - options->last_bookmark_ms);
        }
    }
}

/* Starts to send changes after `rv`. */
static void open_watch(ki__api_exchange *x, uint64_t rv)
{
    ki__api_watch *watch = &x->watch;
    watch->epoch = x->model->epoch;
    watch->after = rv;
    watch->sequence = ki__api_model_after(x->model, rv);
    uint64_t back = watch->sequence - x->model->sequence;
    back = back < x->plan.rewind ? back : x->plan.rewind;
    if (back != 0) {
        watch->sequence -= back;
        watch->after = 0;
    }
    watch->hold.applied = rv < x->model->head ? rv : x->model->head;
    if (back != 0) {
        watch->hold.applied = ki__api_model_entry(x->model, watch->sequence)->rv - 1;
    }
    set_timers(x);
    ki__list_push_back(&x->server->watches, &watch->link);
    ki__list_push_back(&x->model->readers, &watch->hold.link);
    x->server->watch_count++;
    x->status = 200;
    x->stage = KI__API_STAGE_WATCH;
}

void ki__api_watch_close(ki__api_exchange *x)
{
    if (!ki__list_is_empty(&x->watch.link)) {
        ki__list_remove(&x->watch.link);
        ki__list_remove(&x->watch.hold.link);
        x->server->watch_count--;
    }
}

/* A watch of changes after a version. */
static int watch_from(ki__api_exchange *x, uint64_t rv)
{
    uint64_t oldest = ki__api_server_oldest(x->server);
    if (rv < oldest || x->plan.expire) {
        int r = ki__api_fail_expired(x, rv, oldest);
        return r < 0 || x->server->options.expired_as_response ? r : end_inside(x);
    }
    open_watch(x, rv);
    return 0;
}

/* A watch that starts with the existing objects. */
static int watch_all(ki__api_exchange *x, uint64_t at)
{
    int r = take_initial(x, at);
    if (r == 0) {
        x->rv = at;
        open_watch(x, at);
    }
    return r;
}

/* A streaming list: the server's objects, not older than `rv`; the final bookmark follows when the
 * server has reached the current head, if the request requires that. */
static int watch_list(ki__api_exchange *x, uint64_t rv)
{
    int r = ki__api_is_fresh(x, rv);
    if (r < 0 || (r == 0 && x->failure.code == 0)) {
        return r;
    }
    if (r == 0) {
        return end_inside(x);
    }
    bool newest = x->route.rv[0] == '\0' && !x->plan.stale;
    uint64_t at = x->server->reader.applied;
    x->watch.end_after = newest ? x->model->head : at;
    x->watch.initial_end_pending = x->route.bookmarks && !x->plan.no_end_bookmark;
    return watch_all(x, at);
}

static int start(ki__api_exchange *x, uint64_t rv)
{
    bool newest = x->route.rv[0] == '\0' && !x->plan.stale;
    uint64_t now_at = newest ? x->model->head : x->server->reader.applied;
    bool ignored = x->server->options.watch_list == KI__API_WATCH_LIST_IGNORED;
    ki__api_flag initial = ignored ? KI__API_UNSET : x->route.send_initial;
    if (initial == KI__API_TRUE) {
        return watch_list(x, rv);
    }
    if (rv != 0) {
        return watch_from(x, rv);
    }
    if (initial == KI__API_FALSE) {
        open_watch(x, now_at);
        return 0;
    }
    return watch_all(x, now_at);
}

int ki__api_do_watch(ki__api_exchange *x)
{
    uint64_t rv = 0;
    bool ignored = x->server->options.watch_list == KI__API_WATCH_LIST_IGNORED;
    int r = ki__api_read_selectors(x);
    r = r < 0 || x->failure.code != 0 || ignored ? r : check_options(x);
    r = r < 0 || x->failure.code != 0 ? r : ki__api_read_rv(x, &rv);
    if (r < 0 || x->failure.code != 0) {
        return r;
    }
    if (x->plan.http_code != 0) {
        r = ki__api_fail_as_planned(x);
        return r < 0 ? r : end_inside(x);
    }
    if (x->server->watch_count >= x->server->options.watches_max) {
        x->failure.retry_after_s = 1;
        return ki__api_fail(&x->failure, 429, KI_REASON_TOO_MANY_REQUESTS,
                            "too many watches are open", NULL);
    }
    return start(x, rv);
}

/* ---- events ---- */

/* The version up to which everything has been sent. */
static uint64_t seen(const ki__api_exchange *x)
{
    return x->watch.hold.applied;
}

static int send_bookmark(ki__api_exchange *x, bool end)
{
    ki_buf json;
    ki_buf_init(&json, x->alloc, 4096);
    char room[KI__DIGITS_SIZE];
    ki__out out = ki__out_to(&json);
    ki__api_compose_begin(x->shown, &out);
    ki__out_text(&out, "\"metadata\":{");
    ki__put_member_str(&out, "resourceVersion", ki__digits(seen(x) + x->plan.bookmark_ahead, room));
    ki__out_text(&out, ",\"creationTimestamp\":null");
    if (end && !x->plan.plain_end_bookmark) {
        ki__out_text(&out, ",\"annotations\":{\"k8s.io/initial-events-end\":\"true\"}");
    }
    ki__out_text(&out, "}}");
    int r = out.error;
    r = r < 0 ? r : ki__api_encode_event_json(x, KI_WATCH_EVENT_BOOKMARK, ki_buf_str(&json));
    ki_buf_done(&json);
    return r;
}

/* A DELETED event without object data. In protobuf even that has a kind. */
static int send_bare(ki__api_exchange *x)
{
    const ki_resource *resource = x->shown->resource;
    ki_buf json;
    ki_buf_init(&json, x->alloc, 4096);
    ki__out out = ki__out_to(&json);
    ki__put_map(&out);
    if (x->encoding != KI_ENCODING_JSON) {
        ki__put_member(&out, "kind", ki_resource_kind(resource));
        ki__put_member(&out, "apiVersion", ki_resource_api_version(resource));
    }
    ki__put_end(&out);
    int r = out.error;
    r = r < 0 ? r : ki__api_encode_event_json(x, KI_WATCH_EVENT_DELETED, ki_buf_str(&json));
    ki_buf_done(&json);
    return r;
}

static int send_deleted(ki__api_exchange *x, const ki__api_entry *entry)
{
    if (x->plan.bare_deletes) {
        return send_bare(x);
    }
    if (entry->change == KI__API_DELETED) {
        return ki__api_encode_event(x, KI_WATCH_EVENT_DELETED, entry->object);
    }
    ki_object *object;
    int r = ki__api_restamp(x->model, x->type, entry->before, entry->rv, &object);
    if (r == 0) {
        r = ki__api_encode_event(x, KI_WATCH_EVENT_DELETED, object);
        ki_object_unref(object);
    }
    return r;
}

static int send_change(ki__api_exchange *x, const ki__api_entry *entry)
{
    if (entry->key->type != x->type || !ki__api_in_scope(x, ki__api_key_text(entry->key))) {
        return 0;
    }
    bool was = entry->before != NULL && ki__api_matches(x, entry->before);
    bool is = entry->change != KI__API_DELETED && ki__api_matches(x, entry->object);
    if (!was && !is) {
        return 0;
    }
    if (x->watch.changes + 1 != x->plan.skip_event) {
        int r = !is   ? send_deleted(x, entry)
                : was ? ki__api_encode_event(x, KI_WATCH_EVENT_MODIFIED, entry->object)
                      : ki__api_encode_event(x, KI_WATCH_EVENT_ADDED, entry->object);
        if (r < 0) {
            return r;
        }
    }
    x->watch.changes++;
    return 0;
}

/* Sends the next change that the server has applied: 1, or 0 if there is none. */
static int next_change(ki__api_exchange *x)
{
    ki__api_watch *watch = &x->watch;
    uint64_t applied = x->server->reader.applied;
    const ki__api_entry *entry = ki__api_model_entry(x->model, watch->sequence);
    if (entry == NULL || entry->rv > applied) {
        watch->hold.applied = watch->hold.applied < applied ? applied : watch->hold.applied;
        return 0;
    }
    if (watch->initial_end_pending && watch->hold.applied < watch->end_after &&
        watch->end_after < entry->rv) {
        watch->hold.applied = watch->end_after; /* versions in between have no changes */
        return 1;
    }
    int r = entry->rv > watch->after ? send_change(x, entry) : 0;
    if (r < 0) {
        return r;
    }
    watch->hold.applied = watch->hold.applied < entry->rv ? entry->rv : watch->hold.applied;
    watch->sequence++;
    return 1;
}

static int send_due_bookmark(ki__api_exchange *x, uint64_t now)
{
    ki__api_watch *watch = &x->watch;
    uint64_t *due = now >= watch->bookmark_at        ? &watch->bookmark_at
                    : now >= watch->last_bookmark_at ? &watch->last_bookmark_at
                                                     : NULL;
    if (due == NULL) {
        return 0;
    }
    /* No bookmark before the end of the initial events, nor for a version the client has passed. */
    bool sound = !watch->initial_end_pending && x->server->reader.applied >= watch->after;
    int r = sound ? send_bookmark(x, false) : 0;
    if (r == 0) {
        bool periodic = due == &watch->bookmark_at;
        *due = periodic ? after_ms(now, x->server->options.bookmark_ms) : UINT64_MAX;
    }
    return r;
}

static void end_watch(ki__api_exchange *x)
{
    ki__api_watch_close(x);
    x->stage = KI__API_STAGE_END;
}

static int fill(ki__api_exchange *x)
{
    ki__api_watch *watch = &x->watch;
    uint64_t now = ki__api_model_now(x->model);
    if (watch->dropped || watch->epoch != x->model->epoch || now >= watch->drop_at ||
        now >= watch->end_at ||
        watch->sequence < x->model->sequence) { /* the last condition: too slow for the history */
        end_watch(x);
        return 0;
    }
    int r;
    if (x->item_next < x->item_count) {
        r = ki__api_encode_event(x, KI_WATCH_EVENT_ADDED, x->items[x->item_next]);
        x->item_next += r == 0 ? 1 : 0;
        return r < 0 ? r : 1;
    }
    if (watch->initial_end_pending && seen(x) >= watch->end_after) {
        r = send_bookmark(x, true);
        watch->initial_end_pending = r < 0;
        return r < 0 ? r : 1;
    }
    uint64_t before = seen(x);
    r = next_change(x);
    if (r != 0 || (watch->initial_end_pending && seen(x) != before)) {
        return r < 0 ? r : 1;
    }
    if (x->shown->removed) { /* all changes were sent; there will be no more */
        end_watch(x);
        return 0;
    }
    return send_due_bookmark(x, now);
}

int ki__api_watch_fill(ki__api_exchange *x)
{
    int r = fill(x);
    if (r < 0 && r != -ENOMEM) { /* not representable in the client's encoding */
        x->broken = true;
        end_watch(x);
        return 0;
    }
    return r;
}
