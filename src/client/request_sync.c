/* SPDX-License-Identifier: Apache-2.0 */
/* Requests that wait for their answer, the short forms of them, whole lists in pages, and trying a
 * write again that met another. */
#include <errno.h>
#include <string.h>
#include <time.h>

#include <kinformer/pager.h>
#include <kinformer/status.h>

#include "base/alloc.h"
#include "base/error.h"
#include "base/options.h"
#include "client/request.h"
#include "loop/loop.h"
#include "object/object_list.h"
#include "wire/page_progress.h"

enum { ATTEMPTS = 5, BETWEEN_NS = 10000000, OBJECTS_MAX = 5000000 };

/* ---- waiting ---- */

static int refuse_inside(ki_error *error)
{
    return ki__error_set(error, KI_ERR_BUSY,
                         "inside the loop nobody can wait for it: use ki_client_start()");
}

static bool is_ended(const void *arg)
{
    return atomic_load(&((ki_client_call *)(uintptr_t)arg)->ended);
}

int ki_client_do(ki_client *client, const ki_client_request *request, ki_client_answer *ret_answer,
                 ki_error *error)
{
    KI__REQUIRE(client, error);
    KI__REQUIRE(request, error);
    ki_client_call *call = NULL;
    if (ret_answer != NULL) {
        *ret_answer =
            (ki_client_answer){.resource_version = "", .continue_token = "", .remaining = -1};
    }
    if (ki__engine_is_inside(client->engine)) {
        return refuse_inside(error);
    }
    int r = ki__call_start(client, request, false, NULL, NULL, &call, error);
    if (r < 0) {
        return r;
    }
    r = ki__loop_wait(client->loop, is_ended, call);
    if (r < 0) {
        ki_client_call_cancel(call);
        r = r == KI_ERR_BUSY
                ? refuse_inside(error)
                : ki__error_set(error, r, "the loop was stopped before there was an answer");
    } else {
        r = call->result;
        if (r < 0 && error != NULL) {
            *error = call->error;
        }
        if (ret_answer != NULL) {
            *ret_answer = call->answer;
            call->answer = (ki_client_answer){0};
        }
    }
    (void)ki_client_call_unref(call);
    return r;
}

/* ---- short forms ---- */

/* Does it, and gives the object of the answer, or the Status of a refusal. */
static int do_for_object(ki_client *client, const ki_client_request *request,
                         ki_object **ret_object, ki_object **reterr_status, ki_error *error)
{
    ki_client_answer answer;
    int r = ki_client_do(client, request, &answer, error);
    ki_object **out = r < 0 ? reterr_status : ret_object;
    if (out != NULL) {
        *out = answer.object;
        answer.object = NULL;
    }
    ki_client_answer_done(&answer);
    return r;
}

int ki_client_get(ki_client *client, const ki_resource *resource, const char *name_space,
                  const char *name, ki_object **ret_object, ki_object **reterr_status,
                  ki_error *error)
{
    KI__REQUIRE(client, error);
    KI__REQUIRE(resource, error);
    KI__REQUIRE(name, error);
    KI__REQUIRE(ret_object, error);
    ki_client_request request = KI_OPTIONS_INIT(ki_client_request);
    request.verb = KI_VERB_GET;
    request.resource = resource;
    request.name_space = name_space;
    request.name = name;
    return do_for_object(client, &request, ret_object, reterr_status, error);
}

static int write_object(ki_client *client, ki_verb verb, const ki_resource *resource,
                        const ki_object *object, const char *subresource, ki_object **ret_object,
                        ki_object **reterr_status, ki_error *error)
{
    ki_client_request request = KI_OPTIONS_INIT(ki_client_request);
    request.verb = verb;
    request.resource = resource;
    request.object = object;
    request.subresource = subresource;
    return do_for_object(client, &request, ret_object, reterr_status, error);
}

int ki_client_create(ki_client *client, const ki_resource *resource, const ki_object *object,
                     ki_object **ret_object, ki_object **reterr_status, ki_error *error)
{
    KI__REQUIRE(client, error);
    KI__REQUIRE(resource, error);
    KI__REQUIRE(object, error);
    return write_object(client, KI_VERB_CREATE, resource, object, "", ret_object, reterr_status,
                        error);
}

int ki_client_update(ki_client *client, const ki_resource *resource, const ki_object *object,
                     ki_object **ret_object, ki_object **reterr_status, ki_error *error)
{
    KI__REQUIRE(client, error);
    KI__REQUIRE(resource, error);
    KI__REQUIRE(object, error);
    return write_object(client, KI_VERB_UPDATE, resource, object, "", ret_object, reterr_status,
                        error);
}

int ki_client_update_status(ki_client *client, const ki_resource *resource, const ki_object *object,
                            ki_object **ret_object, ki_object **reterr_status, ki_error *error)
{
    KI__REQUIRE(client, error);
    KI__REQUIRE(resource, error);
    KI__REQUIRE(object, error);
    return write_object(client, KI_VERB_UPDATE, resource, object, "status", ret_object,
                        reterr_status, error);
}

int ki_client_patch(ki_client *client, const ki_resource *resource, const char *name_space,
                    const char *name, ki_patch_type type, ki_str patch, ki_object **ret_object,
                    ki_object **reterr_status, ki_error *error)
{
    KI__REQUIRE(client, error);
    KI__REQUIRE(resource, error);
    KI__REQUIRE(name, error);
    ki_client_request request = KI_OPTIONS_INIT(ki_client_request);
    request.verb = KI_VERB_PATCH;
    request.resource = resource;
    request.name_space = name_space;
    request.name = name;
    request.patch_type = type;
    request.body = patch;
    return do_for_object(client, &request, ret_object, reterr_status, error);
}

int ki_client_apply(ki_client *client, const ki_resource *resource, const ki_object *object,
                    const char *field_manager, bool force, ki_object **ret_object,
                    ki_object **reterr_status, ki_error *error)
{
    KI__REQUIRE(client, error);
    KI__REQUIRE(resource, error);
    KI__REQUIRE(object, error);
    KI__REQUIRE(field_manager, error);
    ki_client_request request = KI_OPTIONS_INIT(ki_client_request);
    request.verb = KI_VERB_APPLY;
    request.resource = resource;
    request.object = object;
    request.field_manager = field_manager;
    request.force = force;
    return do_for_object(client, &request, ret_object, reterr_status, error);
}

int ki_client_delete(ki_client *client, const ki_resource *resource, const char *name_space,
                     const char *name, ki_object **reterr_status, ki_error *error)
{
    KI__REQUIRE(client, error);
    KI__REQUIRE(resource, error);
    KI__REQUIRE(name, error);
    ki_client_request request = KI_OPTIONS_INIT(ki_client_request);
    request.verb = KI_VERB_DELETE;
    request.resource = resource;
    request.name_space = name_space;
    request.name = name;
    return do_for_object(client, &request, NULL, reterr_status, error);
}

/* ---- lists in pages ---- */

typedef struct listing {
    ki_client *client;
    ki_client_request request; /* of the first page */
    ki_client_answer page;     /* the last that came; the next borrows its token */
    ki__collect found;
    char version[256];
    size_t pages;
    uint64_t unread; /* objects of all pages that could not be read */
    ki__progress progress;
} listing;

/* All pages are of one moment, which the first one tells. */
static int check_version(listing *l, ki_error *error)
{
    ki_str version = ki_str_from(l->page.resource_version);
    if (version.len >= sizeof(l->version)) {
        return ki__error_set(error, KI_ERR_LIMIT, "the resource version of the list is too long");
    }
    if (l->pages == 0) {
        memcpy(l->version, version.ptr, version.len + 1);
        return 0;
    }
    return ki_str_eq_text(version, l->version)
               ? 0
               : ki__error_set(error, KI_ERR_STALE, "the pages of the list are of two moments");
}

static int take_page(listing *l, ki_error *error)
{
    int r = check_version(l, error);
    size_t count = ki_list_count(l->page.list);
    for (size_t i = 0; r == 0 && i < count; i++) {
        const ki_object *object = ki_list_at(l->page.list, i);
        ki__progress_note_key(&l->progress, ki_str_from(ki_object_key(object)));
        r = ki__collect_append(&l->found, object);
        r = r < 0 ? ki__error_set(error, r, "the objects of the list: %s", ki_error_text(r)) : 0;
    }
    l->page.list = ki_list_free(l->page.list);
    l->pages++;
    l->unread += l->page.unread;
    if (r == 0 && l->unread > OBJECTS_MAX) {
        r = ki__error_set(error, KI_ERR_LIMIT, "%d objects of the list cannot be read",
                          OBJECTS_MAX);
    }
    const char *token = l->page.continue_token;
    if (r == 0 && token[0] != '\0') {
        r = ki__progress_next_page(&l->progress, ki_str_from(token), error);
    }
    return r;
}

/* The page after the last. 1: there is none. */
static int next_page(listing *l, ki_error *error)
{
    ki_client_request request = l->request;
    ki_client_answer next;
    const char *token = l->pages != 0 ? l->page.continue_token : "";
    if (l->pages != 0 && token[0] == '\0') {
        return 1;
    }
    if (l->pages != 0) {
        request.list.resource_version = "";
        request.list.resource_version_match = "";
        request.list.continue_token = token;
    }
    int r = ki_client_do(l->client, &request, &next, error);
    ki_client_answer_done(&l->page);
    l->page = next;
    return r == 0 ? take_page(l, error) : r;
}

static int read_pages(listing *l, ki_error *error)
{
    int r = 0;
    while (r == 0) {
        r = next_page(l, error);
    }
    return r < 0 ? r : 0;
}

/* Whether all pages together cannot be had any more. */
static bool is_too_late(const listing *l, const ki_error *error)
{
    return l->pages != 0 && (error->code == KI_ERR_STALE || ki_error_is_resource_expired(error) ||
                             ki_error_is_gone(error));
}

static void forget_pages(listing *l)
{
    ki__collect_clear(&l->found);
    ki_client_answer_done(&l->page);
    l->pages = 0;
    l->unread = 0;
    ki__progress_reset(&l->progress);
}

int ki_client_list(ki_client *client, const ki_resource *resource, const char *name_space,
                   const ki_list_options *options, ki_list **ret_list, ki_object **reterr_status,
                   ki_error *error)
{
    KI__REQUIRE(client, error);
    KI__REQUIRE(resource, error);
    KI__REQUIRE(ret_list, error);
    listing l = {.client = client, .request = KI_OPTIONS_INIT(ki_client_request)};
    ki_error failure = KI_ERROR_INIT;
    int r = ki__options_take(&l.request.list, sizeof(l.request.list), options, &failure);
    l.request.verb = KI_VERB_LIST;
    l.request.resource = resource;
    l.request.name_space = name_space;
    if (l.request.list.limit == 0) {
        l.request.list.limit = KI_PAGER_LIMIT;
    }
    ki__collect_init(&l.found, client->alloc, (ki__hash_key){0}, OBJECTS_MAX);
    ki__progress_init(&l.progress, client->alloc, ki__engine_hash_key(client->engine));
    if (r == 0) {
        r = read_pages(&l, &failure);
    }
    if (r < 0 && is_too_late(&l, &failure)) {
        forget_pages(&l);
        l.request.list.limit = 0;
        l.request.list.continue_token = "";
        r = read_pages(&l, &failure);
    }
    if (r == 0) {
        r = ki__list_of(client->alloc, l.found.objects, l.found.count, ret_list);
        r = r < 0 ? ki__error_code(&failure, r) : 0;
    }
    if (r < 0 && error != NULL) {
        *error = failure;
    }
    if (r < 0 && reterr_status != NULL) { /* a page that came has no object */
        *reterr_status = l.page.object;
        l.page.object = NULL;
    }
    forget_pages(&l);
    return r;
}

/* ---- conflicts ---- */

/* Ten milliseconds, and up to a tenth more. */
static void rest(ki_client *client)
{
    uint64_t ns = BETWEEN_NS + ki__engine_random(client->engine, BETWEEN_NS / 10);
    struct timespec left = {.tv_nsec = (long)ns};
    while (clock_nanosleep(CLOCK_MONOTONIC, 0, &left, &left) == EINTR) {
    }
}

int ki_client_retry_on_conflict(ki_client *client, int (*attempt)(void *user, ki_error *error),
                                void *user, ki_error *error)
{
    KI__REQUIRE(client, error);
    KI__REQUIRE(attempt, error);
    if (ki__engine_is_inside(client->engine)) {
        return refuse_inside(error);
    }
    ki_error failure = KI_ERROR_INIT;
    int r = 0;
    for (int i = 0; i < ATTEMPTS; i++) {
        if (i != 0) {
            rest(client);
        }
        failure = KI_ERROR_INIT;
        r = attempt(user, &failure);
        if (r >= 0 || !ki_error_is_conflict(&failure)) {
            break;
        }
    }
    if (r < 0 && error != NULL) {
        *error = failure;
    }
    return r;
}
