/* SPDX-License-Identifier: Apache-2.0 */
/* Requests the pages of a list from the source, one at a time. */
#include "wire/pages.h"

#include "base/assert.h"
#include "base/error.h"

void ki__pages_init(ki__pages *pages, const ki_source *source, const ki__pages_sink *sink,
                    void *user, const ki_alloc *alloc, ki__hash_key hash_key)
{
    *pages = (ki__pages){.source = source, .sink = sink, .user = user};
    ki__paging_init(&pages->paging, alloc, hash_key);
}

void ki__pages_done(ki__pages *pages)
{
    ki_assert(!pages->active);
    ki__paging_done(&pages->paging);
}

static void end(ki__pages *pages, const ki_error *error, const ki_object *status)
{
    pages->active = false;
    ki__paging_end(&pages->paging);
    pages->sink->on_end(error == NULL ? pages->paging.version : NULL, error, status, pages->user);
}

static void on_event(ki_watch_event_type type, const ki_object *object, const ki_error *error,
                     void *user)
{
    (void)type;
    (void)error; /* a list has objects only */
    ki__pages *pages = user;
    if (object != NULL) {
        ki__paging_note_key(&pages->paging, ki_object_key(object));
        pages->sink->on_object(object, pages->user);
    }
}

static void on_skipped(ki_watch_event_type type, const char *key, const char *resource_version,
                       const ki_error *error, void *user)
{
    (void)type;
    (void)resource_version;
    ki__pages *pages = user;
    ki__paging_note_key(&pages->paging, key);
    pages->sink->on_skipped(key, error, pages->user);
}

static void on_alive(size_t bytes, void *user)
{
    ki__pages *pages = user;
    pages->sink->on_alive(bytes, pages->user);
}

static void on_retry(const ki_error *error, const ki_object *status, uint64_t delay_ms, void *user)
{
    ki__pages *pages = user;
    if (pages->sink->on_retry != NULL) {
        pages->sink->on_retry(error, status, delay_ms, pages->user);
    }
}

static void on_end(const ki_list_meta *meta, const ki_error *error, const ki_object *status,
                   void *user);

static int request_page(ki__pages *pages, ki_error *error)
{
    const ki_list_options options = ki__paging_options(&pages->paging);
    const ki_source_sink sink = {
        .size = sizeof(sink),
        .on_event = on_event,
        .on_skipped = on_skipped,
        .on_alive = on_alive,
        .on_retry = on_retry,
        .on_end = on_end,
        .user = pages,
    };
    const ki_source *source = pages->source;
    int r = source->list(&options, &sink, source->user, &pages->call, error);
    if (r < 0) {
        pages->call = NULL;
        return r;
    }
    if (pages->paused && source->pause != NULL) {
        source->pause(pages->call, true, source->user);
    }
    return 0;
}

int ki__pages_begin(ki__pages *pages, const ki_list_options *options, bool may_restart,
                    ki_error *error)
{
    ki_assert(!pages->active);
    ki__paging_begin(&pages->paging, options, may_restart);
    int r = request_page(pages, error);
    pages->active = r == 0;
    return r;
}

void ki__pages_cancel(ki__pages *pages)
{
    void *call = pages->call;
    pages->call = NULL;
    pages->active = false;
    ki__paging_end(&pages->paging);
    if (call != NULL) {
        pages->source->cancel(call, pages->source->user);
    }
}

void ki__pages_pause(ki__pages *pages, bool paused)
{
    const ki_source *source = pages->source;
    pages->paused = paused;
    if (pages->call != NULL && source->pause != NULL) {
        source->pause(pages->call, paused, source->user);
    }
}

/* Acts on the verdict; `error` and `status` are those of a failure. A next page that the source
 * rejects at once counts as a failed page, with its verdict in the next iteration. */
static void follow(ki__pages *pages, ki__paging_verdict verdict, const ki_error *error,
                   const ki_object *status)
{
    ki_error failure;
    ki__error_init(&failure);
    for (;;) {
        switch (verdict) {
        case KI__PAGING_COMPLETE:
            end(pages, NULL, NULL);
            return;
        case KI__PAGING_FAILED:
            end(pages, error, status);
            return;
        case KI__PAGING_RESTART:
            pages->sink->on_restart(pages->user);
            if (!pages->active) {
                return; /* cancelled by the callback */
            }
            break;
        case KI__PAGING_NEXT:
            break;
        }
        ki__error_clear(&failure);
        if (request_page(pages, &failure) == 0) {
            return;
        }
        error = &failure;
        status = NULL;
        verdict = ki__paging_fail(&pages->paging, error);
    }
}

static void on_end(const ki_list_meta *meta, const ki_error *error, const ki_object *status,
                   void *user)
{
    ki__pages *pages = user;
    ki_error failure = KI_ERROR_INIT;
    pages->call = NULL;
    if (error != NULL) {
        follow(pages, ki__paging_fail(&pages->paging, error), error, status);
    } else if (meta == NULL) {
        (void)ki__error_set(&failure, KI_ERR_INVALID, "list without metadata");
        end(pages, &failure, NULL);
    } else {
        ki__paging_verdict verdict = ki__paging_take(&pages->paging, meta, &failure);
        follow(pages, verdict, &failure, NULL);
    }
}
