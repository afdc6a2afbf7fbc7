/* SPDX-License-Identifier: Apache-2.0 */
/* A model of an API server with a clock that tests move, and requests to it in one line. JSON in
 * and out may be written with ' for ". */
#ifndef TESTS_SUPPORT_API_H
#define TESTS_SUPPORT_API_H

#include "apiserver/exchange.h"
#include "support/test.h"

#define PODS "/api/v1/namespaces/ns/pods"
#define ALL_PODS "/api/v1/pods"

typedef struct test_api {
    const ki_alloc *alloc;
    uint64_t now_ns; /* of both clocks */
    uint64_t seed;
    ki_clock clock;
    ki_random random;
    ki__api_model *model;
    ki__api_server *server;
    int failed; /* the first -ENOMEM, if `may_fail`; then nothing more is done */
    bool may_fail;
    int status; /* of the last request */
    uint32_t retry_after;
    ki_buf body;        /* of the last request */
    const char *accept; /* headers of requests; NULL: none */
    const char *content_type;
    const char *user_agent;
} test_api;

/** A model and a server with these options, each of which may be NULL. */
void test_api_init(test_api *api, const ki_alloc *alloc, const ki__api_model_options *model,
                   const ki__api_server_options *server);
void test_api_done(test_api *api);

/** Makes a request and pulls its whole answer; a watch is pulled until it waits. The status, which
 *  is also in `api`; -1 if the connection broke, -2 if it was refused. */
int test_api_call(test_api *api, const char *method, const char *target, const char *body);

/** The same for GET. */
int test_api_get(test_api *api, const char *target);

/** Creates a pod with labels such as "'app':'web'" in the namespace `name_space`. */
int test_api_pod(test_api *api, const char *name_space, const char *name, const char *labels);

/** Begins an exchange; NULL if `may_fail` and there is no memory. */
ki__api_exchange *test_api_open(test_api *api, const char *method, const char *target,
                                const char *body);

/** Pulls what there is, in pieces of `piece` bytes, and appends it to `out`; the last result. */
int test_api_pull(test_api *api, ki__api_exchange *x, size_t piece, ki_buf *out);

/** Pulls a watch and gives its events in short, such as "ADDED ns/a@2 BOOKMARK @5! ERROR 410"; the
 *  '!' marks the end of the initial events. Valid until the next call. */
const char *test_api_events(test_api *api, ki__api_exchange *x);

/** The names and versions of the items of the last list, such as "a@2 b@3". */
const char *test_api_items(test_api *api);

/** The value at a path of the last answer as JSON without quotes; "" if there is none. */
const char *test_api_at(test_api *api, const char *path);

/** The model's version, as text for a target. Valid for four calls. */
const char *test_api_version(const test_api *api);

#define assert_status(api, code)                                           \
    do {                                                                   \
        if ((api)->status != (code)) {                                     \
            fail_msg("status %d instead of %d: %s", (api)->status, (code), \
                     ki_buf_text(&(api)->body));                           \
        }                                                                  \
    } while (0)

#endif
