/* SPDX-License-Identifier: Apache-2.0 */
/* Page after page, as client-go's tools/pager: the later ones carry the token alone, neither
 * resource version nor match; the version of the list is that of the first. What client-go does not
 * check is checked here: pages of two different moments are never put together, and a server cannot
 * keep us turning pages for ever that bring nothing new. */
#include "wire/pages.h"

#include <errno.h>
#include <string.h>

#include <kinformer/status.h>

#include "base/assert.h"
#include "base/error.h"
#include "base/mutant.h"

void ki__pages_init(ki__pages *pages, const ki_source *source, const ki__pages_sink *sink,
                    void *user, const ki_alloc *alloc, ki__hash_key hash_key)
{
    *pages = (ki__pages){.source = source, .sink = sink, .user = user};
    ki__progress_init(&pages->progress, alloc, hash_key);
    ki_buf_init(&pages->token, alloc, KI__TOKEN_MAX);
}

void ki__pages_done(ki__pages *pages)
{
    ki_assert(!pages->active);
    ki__progress_reset(&pages->progress);
    ki_buf_done(&pages->token);
}

static void end(ki__pages *pages, const ki_error *error, const ki_object *status)
{
    pages->active = false;
    ki__progress_reset(&pages->progress);
    pages->sink->on_end(error == NULL ? pages->version : NULL, error, status, pages->user);
}

static void on_event(ki_event_type type, const ki_object *object, const ki_error *error, void *user)
{
    (void)type;
    (void)error; /* a list has objects only */
    ki__pages *pages = user;
    if (object != NULL) {
        ki__progress_note_key(&pages->progress, ki_str_from(ki_object_key(object)));
        pages->sink->on_object(object, pages->user);
    }
}

static void on_set_aside(ki_event_type type, const char *key, const char *resource_version,
                         const ki_error *error, void *user)
{
    (void)type;
    (void)resource_version;
    ki__pages *pages = user;
    ki__progress_note_key(&pages->progress, ki_str_from(key));
    pages->sink->on_set_aside(key, error, pages->user);
}

static void on_alive(size_t bytes, void *user)
{
    ki__pages *pages = user;
    pages->sink->on_alive(bytes, pages->user);
}

static void on_retry(const ki_error *error, const ki_object *status, uint64_t delay_ns, void *user)
{
    ki__pages *pages = user;
    if (pages->sink->on_retry != NULL) {
        pages->sink->on_retry(error, status, delay_ns, pages->user);
    }
}

static void on_end(const ki_list_meta *meta, const ki_error *error, const ki_object *status,
                   void *user);

static int ask(ki__pages *pages, const ki_list_options *options, ki_error *error)
{
    const ki_source_sink sink = {
        .on_event = on_event,
        .on_set_aside = on_set_aside,
        .on_alive = on_alive,
        .on_retry = on_retry,
        .on_end = on_end,
        .user = pages,
    };
    const ki_source *source = pages->source;
    int r = source->list(options, &sink, source->user, &pages->call, error);
    if (r < 0) {
        pages->call = NULL;
        return r;
    }
    if (pages->paused && source->pause != NULL) {
        source->pause(pages->call, true, source->user);
    }
    return 0;
}

static void begin(ki__pages *pages)
{
    pages->later = false;
    pages->version[0] = '\0';
    ki__progress_reset(&pages->progress);
    ki_buf_clear(&pages->token);
}

int ki__pages_begin(ki__pages *pages, const ki_list_options *options, bool may_restart,
                    ki_error *error)
{
    ki_assert(!pages->active);
    pages->first = *options;
    pages->may_restart = may_restart;
    pages->count = 0;
    begin(pages);
    int r = ask(pages, &pages->first, error);
    pages->active = r == 0;
    return r;
}

void ki__pages_cancel(ki__pages *pages)
{
    void *call = pages->call;
    pages->call = NULL;
    pages->active = false;
    ki__progress_reset(&pages->progress);
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

/* Everything at once, from the original resource version. */
static void start_again(ki__pages *pages)
{
    pages->may_restart = false;
    begin(pages);
    pages->sink->on_restart(pages->user);
    if (!pages->active) {
        return; /* cancelled from in there */
    }
    ki_list_options everything = pages->first;
    everything.limit = 0;
    everything.continue_token = "";
    ki_error failure = KI_ERROR_INIT;
    if (ask(pages, &everything, &failure) < 0) {
        end(pages, &failure, NULL);
    }
}

static void fail(ki__pages *pages, const ki_error *error, const ki_object *status)
{
    bool expired = ki_error_is_resource_expired(error) || ki_error_is_gone(error);
    if (pages->later && expired && pages->may_restart) {
        start_again(pages);
    } else {
        end(pages, error, status);
    }
}

/* The first page tells the version of the list; the others must be of the same. */
static int take_version(ki__pages *pages, const char *version, ki_error *error)
{
    size_t len = strlen(version);
    if (len > KI__VERSION_MAX) {
        return ki__error_set(error, KI_ERR_LIMIT, "the resource version of the list has %zu bytes",
                             len);
    }
    if (!pages->later) {
        memcpy(pages->version, version, len + 1);
        return 0;
    }
    if (strcmp(version, pages->version) == 0 || KI__MUTANT(4)) {
        return 0;
    }
    (void)ki__error_set(error, KI_ERR_STALE, "a page shows resource version ");
    ki__error_add(error, ki_str_from(version));
    ki__error_add(error, ki_str_from(", the first one showed "));
    ki__error_add(error, ki_str_from(pages->version));
    return KI_ERR_STALE;
}

/* The token for the next page, which must lead on. */
static int take_token(ki__pages *pages, const char *token, ki_error *error)
{
    int r = ki__progress_next_page(&pages->progress, ki_str_from(token), error);
    if (r < 0) {
        return r;
    }
    ki_buf_clear(&pages->token);
    r = ki_buf_add_text(&pages->token, token);
    if (r == KI_ERR_LIMIT) {
        return ki__error_set(error, r, "the continue token has over %d bytes", KI__TOKEN_MAX);
    }
    return r < 0 ? ki__error_code(error, r) : 0;
}

static int ask_next(ki__pages *pages, const char *token, ki_error *error)
{
    int r = take_token(pages, token, error);
    if (r < 0) {
        return r;
    }
    ki_list_options next = pages->first;
    next.resource_version = "";
    next.resource_version_match = "";
    next.continue_token = ki_buf_text(&pages->token);
    return ask(pages, &next, error);
}

static void on_end(const ki_list_meta *meta, const ki_error *error, const ki_object *status,
                   void *user)
{
    ki__pages *pages = user;
    ki_error failure = KI_ERROR_INIT;
    pages->call = NULL;
    if (error != NULL) {
        fail(pages, error, status);
        return;
    }
    if (meta == NULL) {
        (void)ki__error_set(&failure, KI_ERR_INVALID, "the list ended without its metadata");
        end(pages, &failure, NULL);
        return;
    }
    int r =
        take_version(pages, meta->resource_version != NULL ? meta->resource_version : "", &failure);
    if (r == KI_ERR_STALE && pages->may_restart) {
        start_again(pages);
        return;
    }
    if (r < 0) {
        end(pages, &failure, NULL);
        return;
    }
    pages->count++;
    pages->later = true;
    const char *token = meta->continue_token != NULL ? meta->continue_token : "";
    if (token[0] == '\0' || KI__MUTANT(6)) {
        end(pages, NULL, NULL);
    } else if (ask_next(pages, token, &failure) < 0) {
        fail(pages, &failure, NULL);
    }
}
