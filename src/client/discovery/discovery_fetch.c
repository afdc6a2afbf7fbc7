/* SPDX-License-Identifier: Apache-2.0 */
/* Both lists of groups are requested together, then missing group versions, a few at a time. A
 * group version whose server does not respond is marked as failed; general failures, such as a lost
 * connection, fail the whole discovery.
 *
 * Invariant: a slot is in use exactly while its call is in progress. */
#include "client/discovery/discovery_fetch.h"

#include <errno.h>
#include <string.h>

#include "base/alloc.h"
#include "base/error.h"
#include "base/log.h"
#include "client/discovery/discovery_read.h"

enum { PATH_MAX_LEN = 512, HTTP_NOT_FOUND = 404 };

typedef enum subject { SUBJECT_API, SUBJECT_APIS, SUBJECT_VERSION } subject;

typedef struct pending_request {
    struct ki__discovery_fetch *fetch;
    ki_call *call; /* NULL: free */
    subject what;
    size_t number; /* index of the group version */
} pending_request;

struct ki__discovery_fetch {
    const ki_alloc *alloc;
    const ki_log *log;
    ki__discovery_requester requester;
    ki__discovery_done on_done;
    void *user;
    ki__discovery_builder builder;
    pending_request slots[KI__DISCOVERY_PARALLEL];
    size_t lists_missing; /* pending, of the two */
    bool one_missing;     /* the server does not have one of them */
    size_t next;          /* next group version to check */
    ki_error error;       /* the reason it ended */
    bool failed;
};

static void on_response(ki_call *call, const ki_response *response, const ki_error *error,
                        void *user);

/* ---- requests ---- */

static pending_request *free_slot(ki__discovery_fetch *fetch)
{
    for (size_t i = 0; i < KI__DISCOVERY_PARALLEL; i++) {
        if (fetch->slots[i].call == NULL) {
            return &fetch->slots[i];
        }
    }
    return NULL;
}

static bool is_idle(const ki__discovery_fetch *fetch)
{
    for (size_t i = 0; i < KI__DISCOVERY_PARALLEL; i++) {
        if (fetch->slots[i].call != NULL) {
            return false;
        }
    }
    return true;
}

static int send_request(ki__discovery_fetch *fetch, pending_request *slot, const char *path,
                        ki_error *error)
{
    bool version = slot->what == SUBJECT_VERSION;
    slot->fetch = fetch;
    return fetch->requester.get(path, version ? "application/json" : KI__DISCOVERY_ACCEPT, version,
                                on_response, slot, fetch->requester.user, &slot->call, error);
}

static int request_list(ki__discovery_fetch *fetch, subject what, ki_error *error)
{
    pending_request *slot = &fetch->slots[what]; /* the first requests: all slots are free */
    slot->what = what;
    return send_request(fetch, slot, what == SUBJECT_API ? "/api" : "/apis", error);
}

/* Group and version were validated when they were added. */
static int request_version(ki__discovery_fetch *fetch, pending_request *slot, size_t number,
                           ki_error *error)
{
    const ki__discovery_version *version = &fetch->builder.versions[number];
    const char *group = ki__discovery_builder_text(&fetch->builder, version->group);
    const char *parts[] = {group[0] != '\0' ? "/apis/" : "/api", group, "/",
                           ki__discovery_builder_text(&fetch->builder, version->version)};
    ki_buf path;
    ki_buf_init(&path, fetch->alloc, PATH_MAX_LEN);
    int r = 0;
    for (size_t i = 0; r == 0 && i < sizeof(parts) / sizeof(parts[0]); i++) {
        r = ki_buf_add_text(&path, parts[i]);
    }
    if (r < 0) {
        (void)ki__error_code(error, r);
    } else {
        slot->what = SUBJECT_VERSION;
        slot->number = number;
        r = send_request(fetch, slot, ki_buf_text(&path), error);
    }
    ki_buf_done(&path);
    return r;
}

/* ---- completion ---- */

static void end_calls(ki__discovery_fetch *fetch)
{
    for (size_t i = 0; i < KI__DISCOVERY_PARALLEL; i++) {
        ki_call *call = fetch->slots[i].call;
        fetch->slots[i].call = NULL;
        if (call != NULL) {
            fetch->requester.end(call, false, fetch->requester.user);
        }
    }
}

void ki__discovery_fetch_end(ki__discovery_fetch *fetch)
{
    if (fetch != NULL) {
        end_calls(fetch);
        ki__discovery_builder_done(&fetch->builder);
        ki__free(fetch->alloc, fetch);
    }
}

static void fail(ki__discovery_fetch *fetch, int r, const ki_error *error)
{
    if (!fetch->failed) {
        fetch->failed = true;
        if (error != NULL && error->code != 0) {
            ki__error_copy(&fetch->error, error);
        } else {
            (void)ki__error_code(&fetch->error, r);
        }
        end_calls(fetch);
    }
}

static void finish(ki__discovery_fetch *fetch)
{
    ki_discovery *discovery = NULL;
    if (!fetch->failed) {
        int r = ki__discovery_builder_finish(&fetch->builder, &discovery);
        if (r < 0) {
            fail(fetch, r, NULL);
        }
    }
    ki__discovery_done on_done = fetch->on_done;
    void *user = fetch->user;
    ki_error error = KI_ERROR_INIT;
    ki__error_copy(&error, &fetch->error);
    ki__discovery_fetch_end(fetch);
    on_done(discovery, discovery != NULL ? NULL : &error, user);
    (void)ki_discovery_unref(discovery);
}

/* Requests what is still missing, or completes. */
static void request_next(ki__discovery_fetch *fetch)
{
    const ki__discovery_builder *builder = &fetch->builder;
    while (!fetch->failed && fetch->lists_missing == 0 && fetch->next < builder->version_count) {
        pending_request *slot = free_slot(fetch);
        if (slot == NULL) {
            return;
        }
        size_t number = fetch->next++;
        if (builder->versions[number].state == KI__DISCOVERY_WANTED) {
            ki_error error = KI_ERROR_INIT;
            int r = request_version(fetch, slot, number, &error);
            if (r < 0) {
                fail(fetch, r, &error);
            }
        }
    }
    if (is_idle(fetch)) {
        finish(fetch);
    }
}

/* ---- responses ---- */

/* A server with only one of the two lists is accepted, e.g. one that serves a single group. */
static void take_list(ki__discovery_fetch *fetch, bool core, const ki_response *response,
                      const ki_error *error)
{
    ki_error own = KI_ERROR_INIT;
    fetch->lists_missing--;
    if (error != NULL && error->http_code == HTTP_NOT_FOUND && !fetch->one_missing) {
        fetch->one_missing = true;
        return;
    }
    if (error != NULL) {
        fail(fetch, error->code, error);
        return;
    }
    int r = ki__discovery_read_groups(&fetch->builder, core, response->body, &own);
    if (r < 0) {
        ki_error on_done = KI_ERROR_INIT;
        (void)ki__error_set(&on_done, r, "the server's list of API groups: %s", own.message);
        fail(fetch, r, &on_done);
    }
}

static bool concerns_all(const ki_error *error)
{
    return !ki__error_is_status(error) && error->code != -ETIMEDOUT;
}

static void take_version(ki__discovery_fetch *fetch, size_t number, const ki_response *response,
                         const ki_error *error)
{
    ki_error own = KI_ERROR_INIT;
    ki__discovery_version *version = &fetch->builder.versions[number];
    if (error == NULL) {
        int r = ki__discovery_read_resources(&fetch->builder, number, response->body, &own);
        if (r == 0) {
            return;
        }
        if (ki__discovery_is_fatal(r)) {
            fail(fetch, r, &own);
            return;
        }
        error = &own;
    } else if (concerns_all(error)) {
        fail(fetch, error->code, error);
        return;
    }
    version->state = KI__DISCOVERY_FAILED;
    KI__LOG(fetch->log, KI_LOG_INFO, "discovery", "discovery of a group version failed",
            {"group", ki_str_from(ki__discovery_builder_text(&fetch->builder, version->group))},
            {"version", ki_str_from(ki__discovery_builder_text(&fetch->builder, version->version))},
            {"error", ki_str_from(error->message)});
}

static void on_response(ki_call *call, const ki_response *response, const ki_error *error,
                        void *user)
{
    pending_request *slot = user;
    ki__discovery_fetch *fetch = slot->fetch;
    slot->call = NULL;
    fetch->requester.end(call, true, fetch->requester.user);
    if (slot->what == SUBJECT_VERSION) {
        take_version(fetch, slot->number, response, error);
    } else {
        take_list(fetch, slot->what == SUBJECT_API, response, error);
    }
    request_next(fetch);
}

int ki__discovery_fetch_start(const ki_alloc *alloc, const ki_log *log,
                              const ki__discovery_requester *requester, ki__discovery_done on_done,
                              void *user, ki__discovery_fetch **ret_fetch, ki_error *error)
{
    ki__discovery_fetch *fetch = ki__alloc_zero(alloc, sizeof(*fetch));
    if (fetch == NULL) {
        return ki__error_code(error, -ENOMEM);
    }
    fetch->alloc = alloc;
    fetch->log = log;
    fetch->requester = *requester;
    fetch->on_done = on_done;
    fetch->user = user;
    fetch->lists_missing = 2;
    ki__discovery_builder_init(&fetch->builder, alloc);
    int r = request_list(fetch, SUBJECT_API, error);
    if (r == 0) {
        r = request_list(fetch, SUBJECT_APIS, error);
    }
    if (r < 0) {
        ki__discovery_fetch_end(fetch);
        return r;
    }
    *ret_fetch = fetch;
    return 0;
}
