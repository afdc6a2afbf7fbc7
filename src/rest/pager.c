/* SPDX-License-Identifier: Apache-2.0 */
/* ki_pager: pages of a source, and a collector for their objects. Its task carries start, pause and
 * cancel from any thread into ki_engine_run(). */
#include <errno.h>
#include <stdatomic.h>
#include <string.h>

#include <kinformer/parts/pager.h>

#include "base/alloc.h"
#include "base/engine.h"
#include "base/error.h"
#include "base/options.h"
#include "base/refs.h"
#include "wire/list_collector.h"
#include "wire/pages.h"
#include "wire/source_options.h"

_Static_assert((int)KI_PAGER_LIMIT == (int)KI__PAGE_LIMIT, "informers use the same");

struct ki_pager {
    ki__refs refs;
    ki_engine *engine;
    const ki_alloc *alloc;
    ki_source source;
    ki_pager_options options; /* its pointers to other options are no longer valid */
    char *text;               /* backing store of the next */
    ki_list_options list;
    ki__task task;
    atomic_bool cancelled;
    atomic_bool paused;
    /* Inside ki_engine_run() only. */
    bool begun;
    bool ended; /* its own reference has been dropped */
    ki__pages pages;
    ki__collect found;
};

ki_pager *ki_pager_ref(ki_pager *pager)
{
    if (pager != NULL) {
        ki__refs_take(&pager->refs);
    }
    return pager;
}

ki_pager *ki_pager_unref(ki_pager *pager)
{
    if (pager == NULL || !ki__refs_drop(&pager->refs) || ki__engine_is_inherited(pager->engine)) {
        return NULL;
    }
    ki_engine *engine = pager->engine;
    ki__pages_done(&pager->pages);
    ki__collect_clear(&pager->found);
    ki__free(pager->alloc, pager->text);
    ki__free(pager->alloc, pager);
    (void)ki_engine_unref(engine);
    return NULL;
}

/* Drops the collected objects and its own reference. */
static void finish(ki_pager *pager)
{
    pager->ended = true;
    ki__collect_clear(&pager->found);
    (void)ki_pager_unref(pager);
}

static void call_done(ki_pager *pager, const char *version, const ki_error *error,
                      const ki_object *status)
{
    ki__collect_pack(&pager->found);
    const ki_replacement list = {
        .size = sizeof(list),
        .objects = pager->found.objects,
        .object_count = pager->found.count,
        .unread = pager->found.unread,
        .unread_count = pager->found.unread_count,
        .resource_version = version,
    };
    const ki_pager_result result = {
        .size = sizeof(result),
        .list = error == NULL ? &list : NULL,
        .error = error,
        .status = status,
        .pages = pager->pages.paging.count,
    };
    if (!atomic_load(&pager->cancelled)) {
        pager->options.on_end(pager, &result, pager->options.user);
    }
    finish(pager);
}

static void give_up(ki_pager *pager, int code)
{
    ki_error error;
    ki__error_init(&error);
    (void)ki__error_code(&error, code);
    ki__pages_cancel(&pager->pages);
    call_done(pager, NULL, &error, NULL);
}

static void on_object(const ki_object *object, void *user)
{
    ki_pager *pager = user;
    if (atomic_load(&pager->cancelled)) {
        return; /* the task that ends it is posted */
    }
    if (pager->options.on_object != NULL) {
        pager->options.on_object(pager, object, pager->options.user);
        return;
    }
    int r = ki__collect_append(&pager->found, object);
    if (r < 0) {
        give_up(pager, r);
    }
}

static void on_skipped(const char *key, const ki_error *error, void *user)
{
    ki_pager *pager = user;
    if (atomic_load(&pager->cancelled)) {
        return;
    }
    ki__engine_report(pager->engine, "pager", "", ki_str_from(key), error);
    int r = pager->options.on_object == NULL ? ki__collect_add_unread(&pager->found, key) : 0;
    if (r < 0) {
        give_up(pager, r);
    }
}

static void on_alive(size_t bytes, void *user)
{
    (void)bytes;
    (void)user;
}

static void on_restart(void *user)
{
    ki_pager *pager = user;
    ki__collect_clear(&pager->found);
}

static void on_end(const char *version, const ki_error *error, const ki_object *status, void *user)
{
    call_done(user, version, error, status);
}

static const ki__pages_sink sink = {
    .on_object = on_object,
    .on_skipped = on_skipped,
    .on_alive = on_alive,
    .on_restart = on_restart,
    .on_end = on_end,
};

static void begin(ki_pager *pager)
{
    ki_error error = KI_ERROR_INIT;
    bool may_restart = pager->options.on_object == NULL && !pager->options.no_full_list;
    pager->begun = true;
    pager->pages.paused = atomic_load(&pager->paused);
    if (ki__pages_begin(&pager->pages, &pager->list, may_restart, &error) < 0) {
        call_done(pager, NULL, &error, NULL);
    }
}

static void work(ki__task *task)
{
    ki_pager *pager = KI__CONTAINER_OF(task, ki_pager, task);
    if (pager->ended) {
        /* A late call. */
    } else if (atomic_load(&pager->cancelled)) {
        ki__pages_cancel(&pager->pages);
        finish(pager);
    } else if (!pager->begun) {
        begin(pager);
    } else {
        ki__pages_pause(&pager->pages, atomic_load(&pager->paused));
    }
    (void)ki_pager_unref(pager); /* of the posted task */
}

/* A posted task holds a reference. */
static void post(ki_pager *pager)
{
    (void)ki_pager_ref(pager);
    if (!ki__engine_post(pager->engine, &pager->task)) {
        (void)ki_pager_unref(pager);
    }
}

void ki_pager_cancel(ki_pager *pager)
{
    if (pager == NULL) {
        return;
    }
    atomic_store(&pager->cancelled, true);
    post(pager);
}

void ki_pager_pause(ki_pager *pager, bool paused)
{
    if (pager == NULL) {
        return;
    }
    atomic_store(&pager->paused, paused);
    post(pager);
}

static int check_options(const ki_pager_options *o, ki_error *error)
{
    if (o->engine == NULL || o->source == NULL || o->source->list == NULL ||
        o->source->cancel == NULL) {
        return ki__error_set(error, -EINVAL, "pager: engine and source (list, cancel) must be set");
    }
    if (o->on_end == NULL) {
        return ki__error_set(error, -EINVAL, "on_end: must not be NULL");
    }
    return 0;
}

static int read_list_options(ki_pager *pager, ki_error *error)
{
    int r = ki__texts_copy_list_options(pager->alloc, pager->options.list, &pager->list,
                                        &pager->text, error);
    if (r == 0 && pager->list.limit == 0) {
        pager->list.limit = KI_PAGER_LIMIT;
    }
    return r;
}

int ki_pager_start(const ki_pager_options *options, ki_pager **ret_pager, ki_error *error)
{
    KI__REQUIRE(options, error);
    KI__REQUIRE(ret_pager, error);
    ki_pager_options o = {0};
    int r = KI__TAKE(ki_pager_options, &o, options, error);
    if (r < 0) {
        return r;
    }
    r = check_options(&o, error);
    ki_source source;
    if (r >= 0) {
        r = KI__TAKE(ki_source, &source, o.source, error);
    }
    if (r < 0) {
        return r;
    }
    KI__REQUIRE_OWN_ENGINE(o.engine, error);
    const ki_alloc *alloc = ki__engine_alloc(o.engine);
    ki_pager *pager = ki__alloc_zero(alloc, sizeof(*pager));
    if (pager == NULL) {
        return ki__error_code(error, -ENOMEM);
    }
    ki__refs_init(&pager->refs);
    pager->engine = ki_engine_ref(o.engine);
    pager->alloc = alloc;
    pager->source = source;
    pager->options = o;
    ki__task_init(&pager->task, work);
    ki__pages_init(&pager->pages, &pager->source, &sink, pager, alloc,
                   ki__engine_hash_key(o.engine));
    ki__collect_init(&pager->found, alloc, ki__engine_hash_key(o.engine), o.max_objects);
    r = read_list_options(pager, error);
    if (r < 0) {
        (void)ki_pager_unref(pager);
        return r;
    }
    (void)ki_pager_ref(pager); /* its own, until it ends */
    post(pager);
    *ret_pager = pager;
    return 0;
}
