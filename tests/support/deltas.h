/* SPDX-License-Identifier: Apache-2.0 */
/* Queues and handlers for tests: objects named by one word, and what comes out as text. */
#ifndef TESTS_SUPPORT_DELTAS_H
#define TESTS_SUPPORT_DELTAS_H

#include <kinformer/handler.h>
#include <kinformer/parts/queue.h>

/** What was popped or delivered, as text. What does not fit fails the test. */
typedef struct test_log {
    char text[8192];
    size_t len;
    int answer;     /* what processing and handlers return; 0 unless a test sets it */
    uint64_t calls; /* of processing or of handlers */
    uint64_t destroyed;
} test_log;

/** An object "name@version" of uid "u<name>", or "name@version/uid"; NULL only without memory. */
ki_object *test_thing(const ki_alloc *alloc, const char *spec);

/** Puts "+thing" (added), "~thing" (updated), "-thing" (deleted), "-name?" (deleted by key),
 *  "=thing,thing;unread version" (replaced), "!" (resync) or "#version" (bookmark) into a queue. */
int test_put(ki_queue *queue, const ki_alloc *alloc, const char *spec);

/** The same for many, separated by blanks; all must succeed. A replacement has no blanks then:
 *  "=a@1,b@2#5" is one at version 5. */
void test_put_all(ki_queue *queue, const char *specs);

/** Logs a batch: its deltas as "Added a@1" and so on in braces, "*" before it if it is initial, "?"
 *  after deletions whose final state is unknown. To be used as a process function. */
int test_log_deltas(const ki_deltas *deltas, void *log);

/** Pops all there is without waiting, and compares with `expected`. */
void test_pops(ki_queue *queue, size_t max_keys, const char *expected);

/** A handler that logs "+a@1", with "!" if initial, "~a@1>2", "-a@1", with "?" if the final state
 * is unknown, and for syncs "=a@1". */
ki_handler test_log_handler(test_log *log);

/** Appends to a log. */
void test_say(test_log *log, const char *text);
/** Compares a log with what is expected, and empties it. */
void test_said(test_log *log, const char *expected);

#endif
