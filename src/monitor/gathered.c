/* SPDX-License-Identifier: Apache-2.0 */
/* Collects the parts of a client. References are taken with the lock of the members held, where
 * nothing may be allocated, so arrays are allocated before; everything else is read without it. */
#include "monitor/gathered.h"

#include <errno.h>
#include <string.h>

#include <kinformer/consistency.h>

#include "base/alloc.h"
#include "base/assert.h"
#include "base/error.h"
#include "base/utf8.h"
#include "client/client.h"

enum { LABELS_MAX = 64 << 20, HANDLERS_MIN = 16 };

/* ---- members ---- */

typedef struct taking {
    ki__gathered *g;
    size_t seen[KI__MEMBER_KINDS]; /* how many there are, at most */
    size_t room[KI__MEMBER_KINDS];
} taking;

static bool is_of(const ki__member *member, const ki_client *client)
{
    return member->owner == NULL || member->owner == client;
}

/* Up to release_members(), the lock of the members is held. */

/* Counts a member. Whether there is space for it, and a reference was taken. */
static bool take(taking *t, ki__member_kind kind, size_t count, ki__refs *refs)
{
    t->seen[kind]++;
    return count < t->room[kind] && ki__refs_try_take(refs);
}

static void take_informer(taking *t, ki__member *member)
{
    ki_informer *informer = KI__CONTAINER_OF(member, ki_informer, member);
    ki__gathered *g = t->g;
    if (take(t, KI__MEMBER_INFORMER, g->informer_count, &informer->users)) {
        g->informers[g->informer_count++].informer = informer;
    }
}

static void add_queue(ki__gathered *g, ki_workqueue *queue, const char *name)
{
    g->queues[g->queue_count++] = (ki__queue_row){.queue = queue, .name = name};
}

static void take_controller(taking *t, ki__member *member)
{
    ki_controller *controller = KI__CONTAINER_OF(member, ki_controller, member);
    ki__gathered *g = t->g;
    t->seen[KI__MEMBER_QUEUE]++;
    if (g->queue_count >= t->room[KI__MEMBER_QUEUE]) {
        t->seen[KI__MEMBER_CONTROLLER]++;
    } else if (take(t, KI__MEMBER_CONTROLLER, g->controller_count, &controller->refs)) {
        g->controllers[g->controller_count++].controller = controller;
        ki_workqueue *queue = controller->options.queue; /* the controller has a reference */
        add_queue(g, ki_workqueue_ref(queue),
                  queue->name[0] != '\0' ? queue->name : ki__controller_name(controller));
    }
}

static void take_queue(taking *t, ki__member *member)
{
    ki_workqueue *queue = KI__CONTAINER_OF(member, ki_workqueue, member);
    if (take(t, KI__MEMBER_QUEUE, t->g->queue_count, &queue->refs)) {
        add_queue(t->g, queue, queue->name[0] != '\0' ? queue->name : "queue");
    }
}

static void take_leader(taking *t, ki__member *member)
{
    ki_leader *leader = KI__CONTAINER_OF(member, ki_leader, member);
    if (take(t, KI__MEMBER_LEADER, t->g->leader_count, &leader->users)) {
        t->g->leaders[t->g->leader_count++].leader = leader;
    }
}

static void take_recorder(taking *t, ki__member *member)
{
    ki_recorder *recorder = KI__CONTAINER_OF(member, ki_recorder, member);
    if (take(t, KI__MEMBER_RECORDER, t->g->recorder_count, &recorder->users)) {
        t->g->recorders[t->g->recorder_count++].recorder = recorder;
    }
}

static void take_member(ki__member *member, void *user)
{
    static void (*const takes[KI__MEMBER_KINDS])(taking * t, ki__member * member) = {
        [KI__MEMBER_INFORMER] = take_informer, [KI__MEMBER_CONTROLLER] = take_controller,
        [KI__MEMBER_QUEUE] = take_queue,       [KI__MEMBER_LEADER] = take_leader,
        [KI__MEMBER_RECORDER] = take_recorder,
    };
    taking *t = user;
    if (is_of(member, t->g->client)) {
        takes[member->kind](t, member);
    }
}

static void release_members(ki__gathered *g)
{
    for (size_t i = 0; i < g->handler_count; i++) {
        (void)ki_registration_unref(g->handlers[i].registration);
    }
    for (size_t i = 0; i < g->informer_count; i++) {
        (void)ki_informer_unref(g->informers[i].informer);
    }
    for (size_t i = 0; i < g->queue_count; i++) {
        (void)ki_workqueue_unref(g->queues[i].queue);
    }
    for (size_t i = 0; i < g->controller_count; i++) {
        (void)ki_controller_unref(g->controllers[i].controller);
    }
    for (size_t i = 0; i < g->leader_count; i++) {
        (void)ki_leader_unref(g->leaders[i].leader);
    }
    for (size_t i = 0; i < g->recorder_count; i++) {
        (void)ki_recorder_unref(g->recorders[i].recorder);
    }
    ki__free(g->alloc, g->handlers);
    ki__free(g->alloc, g->informers);
    ki__free(g->alloc, g->queues);
    ki__free(g->alloc, g->controllers);
    ki__free(g->alloc, g->leaders);
    ki__free(g->alloc, g->recorders);
    *g = (ki__gathered){.alloc = g->alloc, .client = g->client, .text = g->text};
}

static int make_room(ki__gathered *g, taking *t)
{
    taking next = {.g = g};
    for (size_t i = 0; i < KI__MEMBER_KINDS; i++) {
        next.room[i] = t->seen[i] + 1;
    }
    *t = next;
    const size_t *room = t->room;
    g->informers = ki__alloc_array(g->alloc, room[KI__MEMBER_INFORMER], sizeof(g->informers[0]));
    g->controllers =
        ki__alloc_array(g->alloc, room[KI__MEMBER_CONTROLLER], sizeof(g->controllers[0]));
    g->queues = ki__alloc_array(g->alloc, room[KI__MEMBER_QUEUE], sizeof(g->queues[0]));
    g->leaders = ki__alloc_array(g->alloc, room[KI__MEMBER_LEADER], sizeof(g->leaders[0]));
    g->recorders = ki__alloc_array(g->alloc, room[KI__MEMBER_RECORDER], sizeof(g->recorders[0]));
    bool ok = g->informers != NULL && g->controllers != NULL && g->queues != NULL &&
              g->leaders != NULL && g->recorders != NULL;
    return ok ? 0 : -ENOMEM;
}

/* Repeats until all fit: members may join between two visits. */
static int take_members(ki__gathered *g)
{
    ki__list *members = ki__engine_members(ki_client_engine(g->client));
    taking t = {.g = g};
    bool all = false;
    ki__members_visit(members, take_member, &t);
    while (!all) {
        release_members(g);
        int r = make_room(g, &t);
        if (r < 0) {
            return r;
        }
        ki__members_visit(members, take_member, &t);
        all = true;
        for (size_t i = 0; i < KI__MEMBER_KINDS; i++) {
            all = all && t.seen[i] <= t.room[i];
        }
    }
    return 0;
}

/* ---- labels ---- */

void ki__label_value(ki__out *out, const char *text)
{
    for (ki_str rest = ki_str_from(text); rest.len != 0;) {
        size_t len = ki__utf8_length(rest);
        if (len == 0) {
            ki__out_text(out, "\xef\xbf\xbd");
            len = 1;
        } else if (rest.ptr[0] == '\n') {
            ki__out_text(out, "\\n");
        } else {
            ki__out_text(out, rest.ptr[0] == '\\' || rest.ptr[0] == '"' ? "\\" : "");
            ki__out_str(out, ki_str_make(rest.ptr, len));
        }
        rest = ki_str_make(rest.ptr + len, rest.len - len);
    }
}

/* `before` precedes the value, such as `name="`; a `number` above 1 is appended to it. */
static void add_label(ki__out *out, const char *before, const char *value, size_t number)
{
    ki__out_text(out, before);
    ki__label_value(out, value);
    if (number > 1) {
        ki__out_char(out, '#');
        ki__out_u64(out, number);
    }
    ki__out_char(out, '"');
}

static void informer_labels(const ki__gathered *g, const void *of, size_t number, ki__out *out)
{
    (void)g;
    const ki__informer_row *row = of;
    const ki_resource *resource = ki_informer_resource(row->informer);
    bool known = resource != NULL;
    add_label(out, "name=\"", ki_informer_name(row->informer), number);
    add_label(out, ",group=\"", known ? ki_resource_group(resource) : "", 0);
    add_label(out, ",version=\"", known ? ki_resource_version(resource) : "", 0);
    add_label(out, ",resource=\"", known ? ki_resource_name(resource) : "", 0);
}

const char *ki__handler_name(const ki__handler_row *row)
{
    return row->lag.name[0] != '\0' ? row->lag.name : "handler";
}

static void handler_labels(const ki__gathered *g, const void *of, size_t number, ki__out *out)
{
    const ki__handler_row *row = of;
    const ki__labels *labels = &g->informers[row->informer_at].labels;
    char *room;
    int r = ki_buf_reserve(out->buf, labels->len, &room); /* may move what is copied */
    if (r == 0) {
        memcpy(room, out->buf->data + labels->at, labels->len);
        ki_buf_commit(out->buf, labels->len);
    }
    ki__out_fail(out, r);
    add_label(out, ",handler=\"", ki__handler_name(row), number);
}

const char *ki__controller_name(const ki_controller *controller)
{
    const ki_workqueue *queue = controller->options.queue;
    return controller->name[0] != '\0' ? controller->name
           : queue->name[0] != '\0'    ? queue->name
                                       : "controller";
}

static void controller_labels(const ki__gathered *g, const void *of, size_t number, ki__out *out)
{
    (void)g;
    const ki__controller_row *row = of;
    add_label(out, "controller=\"", ki__controller_name(row->controller), number);
}

/* Both labels have the name, as in controller-runtime. */
static void queue_labels(const ki__gathered *g, const void *of, size_t number, ki__out *out)
{
    (void)g;
    const ki__queue_row *row = of;
    add_label(out, "name=\"", row->name, number);
    add_label(out, ",controller=\"", row->name, number);
}

static void leader_labels(const ki__gathered *g, const void *of, size_t number, ki__out *out)
{
    (void)g;
    add_label(out, "name=\"", ((const ki__leader_row *)of)->leader->name, number);
}

static void recorder_labels(const ki__gathered *g, const void *of, size_t number, ki__out *out)
{
    (void)g;
    add_label(out, "controller=\"", ((const ki__recorder_row *)of)->recorder->controller, number);
}

typedef void write_row(const ki__gathered *g, const void *row, size_t number, ki__out *out);

static int write_labels(ki__gathered *g, const void *row, size_t number, write_row *write,
                        ki__labels *labels)
{
    ki__out out = ki__out_to(&g->text);
    write(g, row, number, &out);
    labels->at = out.start;
    labels->len = g->text.len - out.start;
    return out.error;
}

/* Writes the labels of all rows of a kind. */
static int label_rows(ki__gathered *g, void *rows, size_t count, size_t size, size_t labels_at,
                      write_row *write)
{
    int r = 0;
    for (size_t i = 0; r == 0 && i < count; i++) {
        char *row = (char *)rows + i * size;
        ki__labels *labels = (ki__labels *)(void *)(row + labels_at);
        r = write_labels(g, row, 0, write, labels);
        labels->key_at = labels->at;
        labels->key_len = labels->len;
        size_t number = 1;
        for (size_t k = 0; r == 0 && k < i; k++) {
            const ki__labels *other =
                (const ki__labels *)(void *)((char *)rows + k * size + labels_at);
            number += other->key_len == labels->key_len &&
                      memcmp(g->text.data + other->key_at, g->text.data + labels->key_at,
                             labels->key_len) == 0;
        }
        if (r == 0 && number > 1) {
            r = write_labels(g, row, number, write, labels);
        }
    }
    return r;
}

#define LABEL_ROWS(g, rows, count, write)               \
    label_rows((g), (rows), (count), sizeof((rows)[0]), \
               (size_t)((char *)&(rows)->labels - (char *)(rows)), (write))

static int label_all(ki__gathered *g)
{
    int r = LABEL_ROWS(g, g->informers, g->informer_count, informer_labels);
    if (r == 0 && g->handler_count != 0) {
        r = LABEL_ROWS(g, g->handlers, g->handler_count, handler_labels);
    }
    if (r == 0) {
        r = LABEL_ROWS(g, g->controllers, g->controller_count, controller_labels);
    }
    r = r < 0 ? r : LABEL_ROWS(g, g->queues, g->queue_count, queue_labels);
    r = r < 0 ? r : LABEL_ROWS(g, g->leaders, g->leader_count, leader_labels);
    return r < 0 ? r : LABEL_ROWS(g, g->recorders, g->recorder_count, recorder_labels);
}

/* ---- numbers ---- */

/* Handlers that are added between two calls are left out. */
static int take_handlers(ki__gathered *g, size_t at)
{
    ki_registration *few[HANDLERS_MIN];
    ki_registration **taken = few;
    ki_informer *informer = g->informers[at].informer;
    size_t room = HANDLERS_MIN;
    size_t count = ki__informer_get_handlers(informer, taken, room);
    int r = 0;
    if (count > room) {
        for (size_t i = 0; i < room; i++) {
            (void)ki_registration_unref(taken[i]);
        }
        room = count;
        taken = ki__alloc_array(g->alloc, room, sizeof(ki_registration *));
        count = taken != NULL ? ki__informer_get_handlers(informer, taken, room) : 0;
        r = taken != NULL ? 0 : -ENOMEM;
    }
    count = count < room ? count : room;
    r = r < 0 ? r
              : ki__array_reserve(g->alloc, (void **)&g->handlers, &g->handler_cap,
                                  g->handler_count + count, sizeof(g->handlers[0]));
    for (size_t i = 0; i < count; i++) {
        if (r < 0) {
            (void)ki_registration_unref(taken[i]);
            continue;
        }
        g->handlers[g->handler_count++] =
            (ki__handler_row){.registration = taken[i], .informer_at = at};
    }
    if (taken != few) {
        ki__free(g->alloc, taken);
    }
    return r;
}

/* Drops stopped informers. */
static void read_informers(ki__gathered *g)
{
    size_t count = 0;
    for (size_t i = 0; i < g->informer_count; i++) {
        ki__informer_row row = {.informer = g->informers[i].informer};
        row.health.size = sizeof(row.health);
        int r = ki_informer_get_health(row.informer, &row.health, NULL);
        ki_assert(r == 0); /* its size is right */
        if (ki__informer_was_stopped(row.informer)) {
            (void)ki_informer_unref(row.informer);
            continue;
        }
        ki__informer_get_stats(row.informer, &row.stats);
        g->informers[count++] = row;
    }
    g->informer_count = count;
}

static void read_cells(uint64_t *cells, const _Atomic uint64_t *from, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        cells[i] = ki__counter_read(&from[i]);
    }
}

static void read_controller(ki__controller_row *row)
{
    const ki__controller_stats *stats = &row->controller->stats;
    uint64_t started = ki__counter_read(&stats->started);
    read_cells(row->results, stats->results, KI__RECONCILE_RESULTS);
    read_cells(row->times, stats->times, KI__HISTOGRAM_CELLS(KI__RECONCILE_BOUNDS));
    row->given_up = ki__counter_read(&stats->given_up);
    row->behind = ki__counter_read(&stats->behind);
    row->pending_writes = ki_consistency_count(row->controller->options.consistency);
    row->timeouts = ki__counter_read(&stats->timeouts);
    row->active = ki__counter_read(&stats->active);
    row->workers = started != 0 ? started : ki__counter_read(&stats->workers);
}

static int read_all(ki__gathered *g)
{
    int r = 0;
    read_informers(g);
    for (size_t i = 0; r == 0 && i < g->informer_count; i++) {
        r = take_handlers(g, i);
    }
    for (size_t i = 0; i < g->handler_count; i++) {
        g->handlers[i].informer = &g->informers[g->handlers[i].informer_at];
        g->handlers[i].lag = ki__registration_get_lag(g->handlers[i].registration);
    }
    for (size_t i = 0; i < g->controller_count; i++) {
        read_controller(&g->controllers[i]);
    }
    for (size_t i = 0; i < g->queue_count; i++) {
        g->queues[i].stats.size = sizeof(g->queues[i].stats);
        (void)ki_workqueue_get_stats(g->queues[i].queue, &g->queues[i].stats);
    }
    for (size_t i = 0; i < g->leader_count; i++) {
        g->leaders[i].leading = ki_leader_is(g->leaders[i].leader);
        g->leaders[i].slow_renewals = ki__counter_read(&g->leaders[i].leader->slow_renewals);
    }
    for (size_t i = 0; i < g->recorder_count; i++) {
        g->recorders[i].stats.size = sizeof(g->recorders[i].stats);
        (void)ki_recorder_get_stats(g->recorders[i].recorder, &g->recorders[i].stats);
    }
    return r;
}

int ki__gather(ki_client *client, ki__gathered *ret_gathered)
{
    ki__gathered *g = ret_gathered;
    *g = (ki__gathered){.alloc = client->alloc, .client = client};
    ki_buf_init(&g->text, g->alloc, LABELS_MAX);
    int r = take_members(g);
    r = r < 0 ? r : read_all(g);
    r = r < 0 ? r : label_all(g);
    if (r < 0) {
        ki__gathered_done(g);
    }
    return r;
}

void ki__gathered_done(ki__gathered *gathered)
{
    release_members(gathered);
    ki_buf_done(&gathered->text);
}
