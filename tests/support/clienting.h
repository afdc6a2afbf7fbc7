/* SPDX-License-Identifier: Apache-2.0 */
/* For the tests of the client: a scripted API server, and a client of it. */
#ifndef TESTS_SUPPORT_CLIENTING_H
#define TESTS_SUPPORT_CLIENTING_H

#include <pthread.h>
#include <stdatomic.h>

#include <kinformer/request.h>

#include "support/transporting.h"

typedef struct clienting {
    test_alloc alloc;
    size_t fds; /* before all */
    test_server server;
    ki_config *config;
    ki_loop *loop; /* NULL: the client has its own */
    ki_client *client;
    ki_log log;
    pthread_mutex_t lock;
    ki_buf logged;
    ki_buf asked; /* what clienting_asked() found */
    char text[8192];
} clienting;

/** A server, and a configuration that leads there; the context's namespace is "shop". */
void clienting_begin(clienting *c);
/** A loop that nobody runs. */
void clienting_loop(clienting *c);
/** The client, with `options` (NULL: none, but without a rate limit). */
void clienting_open(clienting *c, ki_client_options *options);
/** Releases all; nothing may be left: memory, descriptors. */
void clienting_end(clienting *c);

/** Sets the server's response to the next request; ' is replaced by ". */
void clienting_answer(clienting *c, const char *json);
/** What the server was asked since the last time, a request after the other, with an empty line
 *  between them: method and target, headers, body. Without Accept and User-Agent of ours. */
const char *clienting_asked(clienting *c);
/** Forgets it, and what was to be answered. */
void clienting_forget(clienting *c);

/** An object from JSON with ' in place of ". */
ki_object *clienting_object(const char *json);

uint64_t clienting_now_ms(void);
/** Until the flag is set, or the test fails after 20 seconds. Runs the loop if there is one that
 *  nobody runs. */
void clienting_until(clienting *c, atomic_bool *flag);

#endif
