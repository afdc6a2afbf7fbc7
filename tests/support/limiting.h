/* SPDX-License-Identifier: Apache-2.0 */
/* An informer with a limit of its memory, and a source with objects of 8 KB. */
#ifndef TESTS_SUPPORT_LIMITING_H
#define TESTS_SUPPORT_LIMITING_H

#include <kinformer/health.h>
#include <kinformer/informer.h>
#include <kinformer/parts/local_source.h>

#include "support/test.h"
#include "support/world.h"

enum { LIMITED_BODY = 8000, LIMITED_MAX = 200000 }; /* enough for 20 to 24 objects */

typedef struct limited {
    test_alloc alloc;
    test_world world;
    ki_engine *engine;
    ki_local_source *source;
    ki_informer *informer;
    unsigned version;
    unsigned reports; /* of KI_ERR_OVER_LIMIT */
    unsigned failures;
    ki_error report; /* the last one */
    unsigned changes[3];
} limited;

/** An object with `body` bytes in .data and the labels app and odd. */
ki_object *limited_pod(limited *f, int number, size_t body);
void limited_put(limited *f, int number, size_t body);
void limited_put_many(limited *f, int from, int to);
void limited_take_many(limited *f, int from, int to);

/** An engine and a source. */
void limited_begin_world(limited *f);
/** The same with a running informer and `count` objects; its limit is LIMITED_MAX unless set. */
void limited_begin(limited *f, ki_informer_options *options, int count);
void limited_end(limited *f);

/** Longer than any backoff. */
void limited_wait(limited *f);

/** For handlers: counts them. `user` is the fixture. */
void limited_on_change(const ki_change *change, void *user);

ki_health limited_health(ki_informer *informer, ki_error *reason);

#endif
