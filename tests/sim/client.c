/* SPDX-License-Identifier: Apache-2.0 */
/* Informers, of every kind that the options allow, and what the program does with them. */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include <kinformer/index.h>
#include <kinformer/parts/shared_informer.h>
#include <kinformer/parts/source.h>

#include "cache/informer/informer.h"
#include "cache/store/version.h"
#include "sim/sim.h"

#define RETRY_NS (2 * SIM_SECOND)

bool sim_in_scope(const sim_informer *informer, const ki_object *object)
{
    switch (informer->scope) {
    case SIM_SCOPE_ALL:
    case SIM_SCOPE_MAX:
        return true;
    case SIM_SCOPE_LABEL:
        return sim_has_label_a(object);
    case SIM_SCOPE_NAMESPACE:
        return strcmp(ki_object_namespace(object), "ns0") == 0;
    case SIM_SCOPE_FIELD:
        return strcmp(ki_object_namespace(object), "ns1") == 0;
    }
    return true;
}

bool sim_client_is_running(const sim_informer *informer)
{
    return informer->informer != NULL && !informer->stopping;
}

/* ---- what happens by itself ---- */

static sim_informer *any_informer(sim *s)
{
    if (s->informer_count == 0) {
        return NULL;
    }
    sim_informer *informer = &s->informers[sim_draw(s, SIM_CLIENT, (uint32_t)s->informer_count)];
    return sim_client_is_running(informer) ? informer : NULL;
}

static void on_late(sim *s, void *arg, uint64_t tag)
{
    (void)arg;
    (void)tag;
    if (s->healed) {
        return;
    }
    sim_informer *informer = any_informer(s);
    if (informer != NULL) {
        (void)sim_handler_add(informer, true);
    }
    sim_after(s, sim_draw_skewed(s, SIM_CLIENT, SIM_MS, 2 * SIM_MINUTE), on_late, NULL, 0);
}

static void on_remove(sim *s, void *arg, uint64_t tag)
{
    (void)arg;
    (void)tag;
    if (s->healed) {
        return;
    }
    sim_informer *informer = any_informer(s);
    if (informer != NULL && informer->handler_count != 0) {
        sim_handler *handler =
            &informer->handlers[sim_draw(s, SIM_CLIENT, (uint32_t)informer->handler_count)];
        if (sim_handler_is_active(handler)) {
            sim_handler_remove(handler);
        }
    }
    sim_after(s, sim_draw_skewed(s, SIM_CLIENT, SIM_MS, 2 * SIM_MINUTE), on_remove, NULL, 0);
}

static void on_renew(sim *s, void *arg, uint64_t tag)
{
    (void)arg;
    (void)tag;
    sim_informer *informer = any_informer(s);
    if (s->healed || s->informer_count == SIM_INFORMERS) {
        return;
    }
    if (informer != NULL) {
        sim_informer_stop(informer);
        sim_count_up(s, SIM_COUNT_RESTARTED_CLIENTS);
        (void)sim_informer_start(s);
    }
    sim_after(s, sim_draw_skewed(s, SIM_CLIENT, SIM_SECOND, 3 * SIM_MINUTE), on_renew, NULL, 0);
}

/* ---- informers ---- */

static int make_source(sim_informer *informer, ki_source *source, ki_error *error)
{
    ki_transport transport = sim_transport(informer);
    ki_source_http_options options = KI_OPTIONS_INIT(ki_source_http_options);
    options.engine = informer->s->engine;
    options.transport = &transport;
    options.resource = informer->s->resources[informer->type];
    options.name_space = informer->scope == SIM_SCOPE_NAMESPACE ? "ns0" : NULL;
    options.json_only = informer->json;
    return ki_source_http_new(&options, source, error);
}

static void draw_kind(sim_informer *informer)
{
    sim *s = informer->s;
    static const uint32_t pages[] = {0, 0, 1, 2, 5};
    informer->type = sim_draw(s, SIM_CLIENT, 4) == 0 ? 1 : 0;
    informer->scope = sim_draw(s, SIM_CLIENT, 2) == 0
                          ? SIM_SCOPE_ALL
                          : (sim_scope)sim_draw(s, SIM_CLIENT, SIM_SCOPE_MAX);
    informer->deltas = sim_draw(s, SIM_CLIENT, 3) == 0;
    informer->json = sim_draw(s, SIM_CLIENT, 2) == 0;
    informer->stale_start = sim_once_in(s, SIM_CLIENT, 8);
    informer->page_size = pages[sim_draw(s, SIM_CLIENT, 5)];
    informer->resync_ms = sim_draw(s, SIM_CLIENT, 3) == 0
                              ? (uint32_t)sim_draw_skewed(s, SIM_CLIENT, 1500, 120000)
                              : 0;
    informer->server = (int)sim_draw(s, SIM_CLIENT, (uint32_t)s->server_count);
    informer->no_streaming = sim_once_in(s, SIM_CLIENT, 3);
    informer->first_handlers = sim_draw(s, SIM_CLIENT, 4);
    informer->works = sim_once_in(s, SIM_CLIENT, 4);
    informer->transforms = (s->options.seed + (uint64_t)informer->id) % 4 == 0;
    uint64_t mixed = (s->options.seed + (uint64_t)informer->id) * UINT64_C(0x9e3779b97f4a7c15);
    if (mixed >> 62 == 0) { /* some cannot hold anything, some hold all */
        informer->max_bytes = 4000 + (mixed >> 32) % 16000;
        informer->at_limit = (ki_at_limit)((mixed >> 16) % KI_AT_LIMIT_MAX);
        if (informer->at_limit == KI_AT_LIMIT_PACK && !ki__codec_is_built()) {
            informer->at_limit = KI_AT_LIMIT_REFUSE;
        }
    }
    /* What a transform makes here is whole again. */
    if (!informer->transforms && (s->options.seed + (uint64_t)informer->id) % 4 != 1) {
        informer->keep = (sim_keep)((s->options.seed / 4 + (uint64_t)informer->id) % SIM_KEEP_MAX);
    }
    informer->packed =
        ki__codec_is_built() && (s->options.seed / 16 + (uint64_t)informer->id) % 3 == 0;
}

/* The same object in JSON, whatever it was in; without memory occasionally. */
static int to_json(const ki_object *object, ki_object **ret_object, void *user)
{
    const sim *s = user;
    ki_object_options options = KI_OPTIONS_INIT(ki_object_options);
    ki_buf json;
    ki_buf_init(&json, &s->client_alloc, 1 << 20);
    options.alloc = &s->client_alloc;
    int r = ki_object_write_json(object, &json);
    if (r >= 0) {
        r = ki_object_from_json(ki_buf_text(&json), json.len, &options, ret_object, NULL);
    }
    ki_buf_done(&json);
    return r;
}

/* The objects here are small and few, and checks read all of them at each version. */
void sim_informer_tune_packer(sim_informer *informer)
{
    ki__packer *packer = informer->informer->store->packer;
    if (packer != NULL) {
        packer->packs_all = true;
        packer->keep_open = 2;
        atomic_store(&packer->open_max, KI__PACK_OPENED_BYTES);
    }
}

static int make_informer(sim_informer *informer, ki_error *error)
{
    sim *s = informer->s;
    ki_source source = {0};
    ki_index by_app = {0};
    int r = make_source(informer, &source, error);
    if (r < 0) {
        return r;
    }
    ki_informer_options options = KI_OPTIONS_INIT(ki_informer_options);
    options.engine = s->engine;
    options.source = &source;
    options.resource = s->resources[informer->type];
    options.label_selector = informer->scope == SIM_SCOPE_LABEL ? "app=a" : NULL;
    options.field_selector = informer->scope == SIM_SCOPE_FIELD ? "metadata.namespace=ns1" : NULL;
    options.resync_ms = informer->resync_ms;
    options.queue = informer->deltas ? KI_QUEUE_DELTA_FIFO : KI_QUEUE_FIFO;
    options.no_streaming = informer->no_streaming;
    options.allow_stale_start = informer->stale_start;
    options.page_size = informer->page_size;
    static const char *const keeps[SIM_KEEP_MAX] = {
        [SIM_KEEP_NODE] = ".spec.nodeName",
        [SIM_KEEP_LABEL] = ".spec.nodeName, .metadata.labels.app",
        [SIM_KEEP_DELIVERS] = ".metadata.labels['app'],.spec['nodeName']",
    };
    options.keep = keeps[informer->keep];
    options.max_bytes = informer->max_bytes;
    options.at_limit = informer->at_limit;
    options.deliver_unkept = informer->keep == SIM_KEEP_DELIVERS;
    options.storage = informer->packed ? KI_STORAGE_PACKED : KI_STORAGE_DEFAULT;
    options.transform = informer->transforms ? to_json : NULL;
    options.transform_user = s;
    options.check_mutations = sim_once_in(s, SIM_CLIENT, 4);
    r = ki_index_by_label("app", "app", &s->client_alloc, &by_app);
    if (r == 0) {
        options.indexes = (const ki_index *[]){&by_app};
        options.index_count = 1;
        r = ki_informer_new(&options, &informer->informer, error);
        if (r == 0) {
            sim_informer_tune_packer(informer);
        }
        if (r < 0 && by_app.destroy != NULL) {
            by_app.destroy(by_app.user);
        }
    }
    if (r < 0 && source.destroy != NULL) {
        source.destroy(source.user);
    }
    return r;
}

static void on_start(sim *s, void *arg, uint64_t tag)
{
    sim_informer *informer = arg;
    ki_error error = KI_ERROR_INIT;
    (void)tag;
    if (informer->stopping) {
        return;
    }
    int r = informer->informer == NULL ? make_informer(informer, &error) : 0;
    if (r == 0 && informer->handler_count == 0) {
        if (informer->works && informer->work.queue == NULL) {
            sim_work_start(informer);
        }
        for (uint32_t i = informer->first_handlers; i > 0; i--) {
            (void)sim_handler_add(informer, false);
        }
    }
    if (r == 0) {
        informer->head_at_start = s->model->head;
        r = ki_informer_start(informer->informer, &error);
    }
    if (r == -ENOMEM) {
        sim_after(s, RETRY_NS, on_start, informer, 0);
    } else if (r < 0) {
        sim_violation(s, "setup", "an informer does not start: %s: %s", ki_error_name(r),
                      error.message);
    }
}

sim_informer *sim_informer_start(sim *s)
{
    sim_informer *informer = &s->informers[s->informer_count];
    *informer = (sim_informer){.s = s, .id = s->informer_count};
    s->informer_count++;
    draw_kind(informer);
    sim_informer_begin(s, informer);
    return informer;
}

void sim_informer_begin(sim *s, sim_informer *informer)
{
    sim_trace(s,
              "informer %d: type %d scope %d%s%s%s%s%s keep %d max %llu at %d page %u "
              "resync %u",
              informer->id, informer->type, (int)informer->scope, informer->deltas ? " deltas" : "",
              informer->json ? " json" : "", informer->stale_start ? " stale-start" : "",
              informer->transforms ? " transforms" : "", informer->packed ? " packed" : "",
              (int)informer->keep, (unsigned long long)informer->max_bytes, (int)informer->at_limit,
              informer->page_size, informer->resync_ms);
    on_start(s, informer, 0);
}

void sim_informer_stop(sim_informer *informer)
{
    if (informer->stopping) {
        return;
    }
    sim_trace(informer->s, "informer %d: stop", informer->id);
    if (informer->informer != NULL) {
        ki_informer_stop(informer->informer);
    }
    sim_work_stop(&informer->work);
    informer->stopping = true;
    informer->stopped_at = informer->s->now;
}

/* ---- the whole ---- */

static void on_report(const ki_report *report, void *user)
{
    sim *s = user;
    sim_trace(s, "report: %s %s %.*s: %s", report->component, report->name, (int)report->key.len,
              report->key.ptr != NULL ? report->key.ptr : "", report->error->message);
}

void sim_engine_start(sim *s)
{
    ki_engine_options options = KI_OPTIONS_INIT(ki_engine_options);
    options.alloc = &s->client_alloc;
    options.clock = &s->clock;
    options.random = &s->entropy;
    options.on_report = on_report;
    options.report_user = s;
    options.reports_per_second = 1000;
    uint32_t rate = s->memory_rate;
    s->memory_rate = 0;
    if (ki_engine_new(&options, &s->engine, NULL) < 0) {
        sim_violation(s, "setup", "no engine");
    }
    s->memory_rate = rate;
}

void sim_client_start(sim *s)
{
    sim_engine_start(s);
    for (uint32_t i = 1 + sim_draw(s, SIM_CLIENT, 5) / 3; i > 0; i--) {
        (void)sim_informer_start(s);
    }
    if (s->faults[SIM_LATE]) {
        sim_after(s, 0, on_late, NULL, 0);
    }
    if (s->faults[SIM_REMOVE]) {
        sim_after(s, sim_draw_skewed(s, SIM_CLIENT, SIM_MS, SIM_MINUTE), on_remove, NULL, 0);
    }
    if (s->faults[SIM_RENEW]) {
        sim_after(s, sim_draw_skewed(s, SIM_CLIENT, SIM_MS, SIM_MINUTE), on_renew, NULL, 0);
    }
}

void sim_client_wake_all(sim *s)
{
    for (int i = 0; i < s->informer_count; i++) {
        for (int j = 0; j < s->informers[i].handler_count; j++) {
            sim_handler_wake(&s->informers[i].handlers[j]);
        }
    }
}

void sim_client_done(sim *s)
{
    for (int i = 0; i < s->informer_count; i++) {
        sim_informer *informer = &s->informers[i];
        sim_handlers_done(informer);
        sim_work_done(&informer->work);
        informer->informer = ki_informer_unref(informer->informer);
    }
    for (int i = 0; ki_engine_deadline(s->engine) <= s->now && i < 1000; i++) {
        (void)ki_engine_run(s->engine, 0);
    }
    sim_net_done(s);
    s->engine = ki_engine_unref(s->engine);
    for (int i = 0; i < s->informer_count; i++) {
        for (int j = 0; j < s->informers[i].handler_count; j++) {
            const sim_handler *handler = &s->informers[i].handlers[j];
            if (handler->destroyed != 1) {
                sim_violation(s, "I12", "handler %d of informer %d was destroyed %d times", j, i,
                              handler->destroyed);
            }
        }
    }
    if (s->live_blocks != 0) {
        sim_violation(s, "I16", "%zu blocks were never freed", s->live_blocks);
    }
}
