/* SPDX-License-Identifier: Apache-2.0 */
/* For tests of credentials: a configuration made of a user's and a cluster's fields, credentials
 * and a transport of it, a clock that can be moved on, and plugins that do as a file says. */
#ifndef TESTS_SUPPORT_CREDENTIALING_H
#define TESTS_SUPPORT_CREDENTIALING_H

#include "client/auth/credentials.h"
#include "support/configs.h"
#include "support/transporting.h"

typedef struct credentialing {
    transporting t;
    ki_clock clock;
    uint64_t ahead_ns;     /* of the system's clock: monotonic ... */
    int64_t real_ahead_ns; /* ... and the time of day */
    test_folder folder;    /* for files and the plugin */
    const ki_config *config;
    ki__credentials *credentials;
    ki_client_options options;
} credentialing;

void credentialing_begin(credentialing *c);
/** Closes all. Nothing may be left. */
void credentialing_end(credentialing *c);

/** Loads a configuration: fields of the cluster and of the user, in YAML's braces; in them DIR is
 *  the folder. `server` is a URL. */
void credentialing_load(credentialing *c, const char *server, const char *cluster,
                        const char *user);
/** Makes credentials of it. */
int credentialing_new(credentialing *c, ki_error *error);
/** And a transport; what fails then fails the test. */
void credentialing_open(credentialing *c);

/** Asks for a path, and gives what is in the body: valid until the next call. "" if the request
 *  failed; *ret_code has the status, or the error. */
const char *credentialing_ask(credentialing *c, const char *path, const char *query, int *ret_code,
                              ki_error *ret_error);

void credentialing_pass(credentialing *c, uint64_t seconds);

/** Copies a file of the server's to one of the folder. */
void credentialing_copy(credentialing *c, const test_server *server, const char *from,
                        const char *to);

/** A plugin "DIR/plugin" that counts its runs and writes what is in the file "answer". */
void credentialing_plugin(credentialing *c);
/** One that does something else. */
void credentialing_script(credentialing *c, const char *text);
size_t credentialing_runs(const credentialing *c);
/** What it answers: fields of the status. */
void credentialing_answer(credentialing *c, const char *status);

#endif
