/* SPDX-License-Identifier: Apache-2.0 */
/* For the tests of the embedded API server: one that runs on a thread of its own, a client on a
 * loop beside it, and raw sockets for what no client would send. */
#ifndef TESTS_SUPPORT_SERVING_H
#define TESTS_SUPPORT_SERVING_H

#include <kinformer/apiserver.h>

#include "support/transporting.h"

typedef struct serving {
    test_alloc alloc;
    size_t fds;
    ki_apiserver *server;
    transporting t;
    exchange e; /* of the last request */
    bool asked;
    bool left;
} serving;

/** A server with these options, which may be NULL, and a client of it. */
void serving_begin(serving *s, ki_apiserver_options *options);
/** Ends the client. */
void serving_leave(serving *s);
/** Ends both: nothing may be left, neither connections, memory nor descriptors. */
void serving_end(serving *s);

/** Makes a request and waits for its end. The status, or 0 if there was no answer. JSON in `body`
 *  may be written with ' for ". */
int serving_ask(serving *s, const char *method, const char *path, const char *query,
                const char *body);
/** The body of the last answer. */
const char *serving_text(const serving *s);
/** Whether the last answer has a text in it, headers included. */
bool serving_has(const serving *s, const char *text);

/** Creates a config map of that name in "default". */
void serving_put(serving *s, const char *name);

/** A connection to the server with nothing sent yet. */
int serving_connect(const serving *s);
/** Sends text, then reads until the server closes, or for `ms` milliseconds. What came, valid until
 *  the next call; *ret_closed: whether the server closed. */
const char *serving_raw(int fd, const char *text, size_t len, int ms, bool *ret_closed);

/** The same, but reads until a text has come, for ten seconds at most. */
const char *serving_until(int fd, const char *text, const char *until, bool *ret_closed);

/** How many connections the server has open, after it had some time to come down to `want`. */
size_t serving_open(const serving *s, size_t want);

#define assert_answer(s, code)                                                          \
    do {                                                                                \
        if ((s)->e.status != (code)) {                                                  \
            fail_msg("%d instead of %d: %s", (s)->e.status, (code), serving_text((s))); \
        }                                                                               \
    } while (0)

#endif
