/* SPDX-License-Identifier: Apache-2.0 */
/* For tests of the monitor server: an embedded API server, a client of it, the monitor server of
 * that client, and HTTP requests over plain sockets. */
#ifndef TESTS_SUPPORT_MONITORING_H
#define TESTS_SUPPORT_MONITORING_H

#include <kinformer/apiserver.h>
#include <kinformer/client.h>
#include <kinformer/monitor_server.h>

#include "support/test.h"

typedef struct monitoring {
    test_alloc alloc; /* of the client and the monitor server */
    ki_apiserver *server;
    ki_client *client;
    ki_monitor_server *monitor;
    ki_buf response; /* of the last request */
    int status;
} monitoring;

/** Two pods and a Secret on the server, and informers of pods, config maps and secrets that have
 *  synced. `options` may be NULL. */
void monitoring_begin(monitoring *m, const ki_monitor_server_options *options);
void monitoring_end(monitoring *m);

/** Loads YAML into the API server. */
void monitoring_load(monitoring *m, const char *yaml);

/** A connection to the monitor server. */
int monitoring_connect(const monitoring *m);
/** Sends text and reads until the server closes, for `ms` milliseconds at most. Whether it did. */
bool monitoring_raw(monitoring *m, const char *text, size_t len, int ms);

/** GET with these header lines, each with its CR and LF; with Host unless they have one. Returns
 *  the status. */
int monitoring_get(monitoring *m, const char *target, const char *headers);
/** The body of the last response, or all of it if it has none. */
const char *monitoring_body(const monitoring *m);
/** Fails the test unless the last response, with its headers, has this text. */
void monitoring_has(const monitoring *m, const char *text);
void monitoring_lacks(const monitoring *m, const char *text);
/** Repeats a request until the response has this text, for up to 30 s. */
void monitoring_until(monitoring *m, const char *target, const char *headers, const char *text);

#endif
