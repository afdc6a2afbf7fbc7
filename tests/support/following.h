/* SPDX-License-Identifier: Apache-2.0 */
/* For the tests of informers over real sockets: one that follows the pods of a namespace of
 * fault_server.py, where each namespace is a world of its own. */
#ifndef TESTS_SUPPORT_FOLLOWING_H
#define TESTS_SUPPORT_FOLLOWING_H

#include <kinformer/informer.h>

#include "support/transporting.h"

enum { FOLLOWING_LOG = 16384 };

typedef struct following_options {
    const char *name_space;
    bool no_streaming;
    size_t max_object_bytes;
    uint64_t watch_idle_ms;
} following_options;

typedef struct following {
    transporting *t;
    ki_informer *informer;
    char name_space[40];
    unsigned errors; /* received by the handler of watch errors */
} following;

/** An informer over the transport, started. */
void following_open(following *f, transporting *t, ki__curl *curl,
                    const following_options *options);
void following_stop(following *f); /* and waits until it has */
/** What the cache has: "a=11 b=12 ", names and versions. */
void following_describe(following *f, char *text, size_t size);
bool following_has(following *f, const char *wanted);
/** Runs the loop until the cache has just that. */
void following_expect(following *f, const char *wanted);

#endif
