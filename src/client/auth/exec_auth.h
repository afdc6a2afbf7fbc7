/* SPDX-License-Identifier: Apache-2.0 */
/* Credentials from an exec plugin: when it is run, how long its result is valid, and what requests
 * receive meanwhile.
 *
 * It is run for the first request, when the credential has expired, and when the server rejected
 * it; one run at a time, for which requests wait. A failed run is retried after a pause that grows
 * from one second to a minute; requests before that fail with the reason. A wrong clock or a server
 * that rejects everything causes a run every few seconds at most, and then less and less often; the
 * current credential is used meanwhile. */
#ifndef KI_CLIENT_AUTH_EXEC_AUTH_H
#define KI_CLIENT_AUTH_EXEC_AUTH_H

#include <kinformer/client.h>

#include "client/auth/exec_command.h"
#include "client/auth/exec_credential.h"
#include "client/auth/exec_plugin.h"

/** What is there. */
typedef struct ki__exec_secret {
    ki__secrets secrets;  /* all of it */
    ki_str authorization; /* "Bearer ..."; empty if the plugin gave no token */
    ki_str certificate;
    ki_str key;
    bool expires;
    int64_t expires_at; /* seconds since 1970 */
} ki__exec_secret;

/** Notified of the result, on the thread of the loop. */
typedef struct ki__exec_listener {
    /** Another certificate and key came, or none (both empty). 0, or why they cannot be used; then
     *  the run has failed. */
    int (*certificate)(ki_str certificate, ki_str key, void *user, ki_error *error);
    /** A run is over; requests may ask again. `renewed`: with something new. The last thing that is
     *  done: ki__exec_auth_done() may be called in it. */
    void (*ended)(bool renewed, const ki_error *error, void *user);
    /** The CA that is passed to a plugin, PEM, or empty. */
    ki_str (*ca)(void *user);
    void *user;
} ki__exec_listener;

/** Part of the thing that uses it. Its members are private. */
typedef struct ki__exec_auth {
    ki_loop *loop;
    ki_engine *engine;
    const ki_config *config;
    ki__exec_listener listener;
    ki__exec_command command;
    ki__exec_plugin plugin;
    bool interactive; /* the options allow it */
    uint64_t timeout_ns;
    bool has; /* `secret` is one */
    ki__exec_secret secret;
    bool refused;      /* by the server */
    bool for_refused;  /* the present run, or the last */
    bool failed;       /* the last run, for the reason that `failure` tells */
    ki_error failure;  /* of it */
    uint64_t next;     /* no run before, monotonic */
    uint64_t pause_ns; /* before it */
    uint64_t ended_at; /* the last run, monotonic */
} ki__exec_auth;

/** Whether the configuration has a plugin, and nothing that goes before it. */
bool ki__exec_auth_is_wanted(const ki_config *config);

/** Runs nothing yet. Also fine to be done with after a failure. The loop and the configuration must
 *  outlive it. Errors: as ki__exec_command_init(); KI_ERR_DENIED also if the plugin wants to talk
 * to a person, and may not. */
int ki__exec_auth_init(ki__exec_auth *auth, ki_loop *loop, const ki_config *config,
                       const ki_client_options *options, const ki__exec_listener *listener,
                       ki_error *error);
void ki__exec_auth_done(ki__exec_auth *auth);

/** 0 if what is there can be used, if need be after -EAGAIN: wait for the end of a run. Otherwise
 *  why there is nothing. */
int ki__exec_auth_get(ki__exec_auth *auth, ki_error *error);

/** The server refused what is there. */
void ki__exec_auth_refused(ki__exec_auth *auth);

#endif
