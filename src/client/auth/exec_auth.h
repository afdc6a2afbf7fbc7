/* SPDX-License-Identifier: Apache-2.0 */
/* Credentials from an exec plugin: when to run it, how long its result is valid, and the credential
 * of requests in between.
 *
 * It is run for the first request, when the credential has expired, and when the server rejected
 * it; one run at a time, for which requests wait. A failed run is retried with a backoff of one
 * second to a minute; until then requests fail with the reason. A wrong clock or a server that
 * rejects everything causes a run every few seconds at most, and then less and less often; the
 * current credential is used meanwhile. */
#ifndef KI_CLIENT_AUTH_EXEC_AUTH_H
#define KI_CLIENT_AUTH_EXEC_AUTH_H

#include <kinformer/client.h>

#include "client/auth/exec_command.h"
#include "client/auth/exec_credential.h"
#include "client/auth/exec_plugin.h"

/** The current credential. */
typedef struct ki__exec_secret {
    ki__secrets secrets;  /* holds all strings */
    ki_str authorization; /* "Bearer ..."; empty if the plugin returned no token */
    ki_str certificate;
    ki_str key;
    bool expires;
    int64_t expires_at; /* seconds since 1970 */
} ki__exec_secret;

/** Notified of the result, on the thread of the loop. */
typedef struct ki__exec_listener {
    /** The plugin returned another certificate and key, or none (both empty). Returns 0, or why
     *  they cannot be used; the run has failed then. */
    int (*certificate)(ki_str certificate, ki_str key, void *user, ki_error *error);
    /** A run has ended; requests may retry. `renewed`: with a new credential. Called last:
     *  ki__exec_auth_done() is allowed inside. */
    void (*ended)(bool renewed, const ki_error *error, void *user);
    /** The CA to pass to a plugin, PEM, or empty. */
    ki_str (*ca)(void *user);
    void *user;
} ki__exec_listener;

/** Embedded in its user. Members are private. */
typedef struct ki__exec_auth {
    ki_loop *loop;
    ki_engine *engine;
    const ki_config *config;
    ki__exec_listener listener;
    ki__exec_command command;
    ki__exec_plugin plugin;
    bool interactive; /* allowed by the options */
    uint64_t timeout_ns;
    bool has; /* `secret` is set */
    ki__exec_secret secret;
    bool refused;      /* by the server */
    bool for_refused;  /* the current or last run */
    bool failed;       /* the last run failed with `failure` */
    ki_error failure;  /* of the last run */
    uint64_t next;     /* earliest next run, monotonic */
    uint64_t pause_ns; /* pause before it */
    uint64_t ended_at; /* end of the last run, monotonic */
} ki__exec_auth;

/** Whether the configuration has a plugin and no credential that takes precedence over it. */
bool ki__exec_auth_is_configured(const ki_config *config);

/** Runs nothing yet. Call ki__exec_auth_done() after a failure too. The loop and the configuration
 *  must outlive it.
 *  Errors: as ki__exec_command_init(); KI_ERR_DENIED also if the plugin requires an interactive
 *  terminal and may not have it. */
int ki__exec_auth_init(ki__exec_auth *auth, ki_loop *loop, const ki_config *config,
                       const ki_client_options *options, const ki__exec_listener *listener,
                       ki_error *error);
void ki__exec_auth_done(ki__exec_auth *auth);

/** 0 if there is a usable credential; -EAGAIN: wait for the end of a run; otherwise why there is
 *  none. */
int ki__exec_auth_get(ki__exec_auth *auth, ki_error *error);

/** The server rejected the current credential. */
void ki__exec_auth_refused(ki__exec_auth *auth);

#endif
