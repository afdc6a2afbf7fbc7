/* SPDX-License-Identifier: Apache-2.0 */
/* A transport that answers what a test tells it, in pieces of any size, and writes down what it was
 * asked. As the contract of transports wants it, answers come in ki_engine_run() only. */
#ifndef TESTS_SUPPORT_FAKE_TRANSPORT_H
#define TESTS_SUPPORT_FAKE_TRANSPORT_H

#include <kinformer/buf.h>
#include <kinformer/parts/transport.h>

#include "base/engine.h"
#include "support/world.h"

enum { FAKE_ANSWERS = 64, FAKE_ASKED = 256 };

typedef struct fake_asked {
    uint64_t at;
    char path[128];
    char query[512];
    char accept[256];
    uint64_t idle_timeout_ms;
    bool stream;
    bool later_page;
} fake_asked;

typedef struct fake_answer {
    enum { FAKE_HEAD, FAKE_BODY, FAKE_OVER } what;
    int status;
    char type[96];
    char retry_after[32];
    ki_buf body;
    int error; /* FAKE_OVER: 0 if the answer is complete */
} fake_answer;

typedef struct fake_transport {
    ki_transport table;
    const test_world *world;
    ki_engine *engine;
    fake_asked asked[FAKE_ASKED];
    size_t count;
    bool open;
    bool paused;
    size_t cancels;
    size_t users;      /* who copied the table and are not done yet */
    bool takes_writes; /* false: every request must be a GET */
    int refuse;        /* what the next request gets at once, if not 0 */
    size_t piece;      /* the size of the pieces that bodies are cut into; 0: whole */
    void (*respond)(struct fake_transport *transport, const fake_asked *asked, void *user);
    void *respond_user;
    ki_http_sink sink;
    ki__task task;
    fake_answer answers[FAKE_ANSWERS];
    size_t first;
    size_t last;
} fake_transport;

void fake_transport_init(fake_transport *transport, ki_engine *engine, const test_world *world);
void fake_transport_done(fake_transport *transport);
const fake_asked *fake_transport_last(const fake_transport *transport);

/* To be said in this order, to the request that is open. */
void fake_head(fake_transport *transport, int status, const char *type, const char *retry_after);
void fake_body(fake_transport *transport, ki_str bytes);
/** The same for text with ' in place of ". */
void fake_body_text(fake_transport *transport, const char *text);
void fake_over(fake_transport *transport, int error);
/** A whole answer in JSON. */
void fake_answer_json(fake_transport *transport, int status, const char *text);

#endif
