/* SPDX-License-Identifier: Apache-2.0 */
/* The monitor server: metrics, health checks and a web page of a client's caches, over HTTP.
 *
 *   ki_monitor_server *monitor;
 *   int r = ki_monitor_server_new(client, NULL, &monitor, &error);
 *   ... ki_monitor_server_url(monitor) ...
 *   ki_monitor_server_unref(monitor);
 *
 *   /metrics               ki_client_write_metrics(), in the format that the client accepts
 *   /healthz, /readyz      ki_client_check_live() and _ready(): 200 or 503; ?verbose: all parts
 *   /debug/                the page: informers, handlers, queues, controllers and changes
 *   /debug/informers.json  the same as JSON
 *   /debug/objects/...     the objects of the caches, if `objects` is set
 *   /debug/events          updates of the page, as server-sent events
 *
 * It runs on the loop of the client, without a thread of its own, and only reads: GET and HEAD.
 * Until the page is opened, events are processed as without it.
 *
 * It is a separate library, kinformer-http; <kinformer/kinformer.h> does not include this header.
 * docs/monitor-server.md describes the page and its protection. */
#ifndef KINFORMER_MONITOR_SERVER_H
#define KINFORMER_MONITOR_SERVER_H

#include <kinformer/alloc.h>
#include <kinformer/checks.h>
#include <kinformer/client.h>
#include <kinformer/defs.h>
#include <kinformer/error.h>

KI_BEGIN_DECLS

typedef struct ki_monitor_server ki_monitor_server;
typedef struct ki_manager ki_manager; /* <kinformer/manager.h> */

typedef struct ki_monitor_server_options {
    size_t size;           /* see KI_OPTIONS_INIT */
    const ki_alloc *alloc; /* NULL: the default; not used by the HTTP and TLS libraries */

    /** Address and port, such as "127.0.0.1:0" (the default; port 0 is any free port) or
     *  "[::1]:8080", or "unix:" and the path of a socket, which only its owner may connect to. An
     *  address that other machines can reach requires `token` or `client_ca`. */
    const char *listen;
    /** Require this token: as "Authorization: Bearer", or as the password of any user in
     *  "Authorization: Basic", which browsers ask for. NULL: none. */
    const char *token;
    /** Use TLS with this certificate chain and key, in PEM; both or neither. */
    const char *certificate;
    const char *private_key;
    /** Require a client certificate that one of these CAs, in PEM, has signed. Requires TLS. */
    const char *client_ca;
    /** Answer /healthz, /livez and /readyz, without any details, to everyone: for probes of a
     *  kubelet. */
    bool open_probes;
    /** Names or addresses that clients may use in their Host header, in addition to the listen
     *  address, loopback addresses, "localhost" and "*.localhost"; NULL-terminated. Not checked
     *  with `token` or `client_ca`. NULL: none. */
    const char *const *allowed_hosts;

    /** Show the objects of the caches, and the values of changed fields. Never those of Secrets.
     *  All users who can connect can then read what the client can. */
    bool objects;
    const ki_check_options *checks; /* for /healthz and /readyz; copied; NULL: the defaults */

    /* Limits. 0: the default given here. */
    uint32_t max_connections;    /* 64; further ones wait until one is closed. Half of them, at
                                  * most, are open pages, so that probes are answered */
    uint32_t request_timeout_ms; /* 10 s: for receiving a request */
    uint32_t idle_timeout_ms;    /* 60 s: without a request, or with a response that is not read */
} ki_monitor_server_options;

/** Creates a server that listens when the call returns, and serves while the client's loop runs.
 *  `options` may be NULL. It keeps a reference to the client.
 *  Owner:  caller; release with ki_monitor_server_unref(), before ki_client_close().
 *  Thread: any.  Blocks: no.
 *  Errors: -EADDRINUSE and so on  the error of the system for this address;
 *          KI_ERR_INVALID  `listen`, `token`, `allowed_hosts` or a part of TLS is invalid;
 *          KI_ERR_DENIED   other machines can reach the address, and there is neither `token` nor
 *                          `client_ca`;
 *          KI_ERR_UNSUPPORTED  TLS, and the HTTP library was built without it;
 *          -EMFILE, -ENFILE, -ENOMEM, -EINVAL, -E2BIG.
 *  Since:  0.1 */
KI_API KI_NODISCARD int ki_monitor_server_new(ki_client *client,
                                              const ki_monitor_server_options *options,
                                              ki_monitor_server **ret_server, ki_error *error);

/** Takes and releases references. Releasing the last one closes all connections.
 *  ki_monitor_server_unref() always returns NULL; both accept NULL.
 *  Thread: any.  Blocks: the last ki_monitor_server_unref() waits for a step of the loop.
 *  Since: 0.1 */
KI_API ki_monitor_server *ki_monitor_server_ref(ki_monitor_server *server);
KI_API ki_monitor_server *ki_monitor_server_unref(ki_monitor_server *server);

/** Returns the address, such as "http://127.0.0.1:41234" or "unix:/run/app.sock".
 *  Owner: the server.  Thread: any.  Blocks: no.  Since: 0.1 */
KI_API const char *ki_monitor_server_url(const ki_monitor_server *server);

/** Creates a server for the client of a manager, which ki_manager_close() releases. `options` and
 *  `ret_server` may be NULL.
 *  Owner:  the manager; *ret_server is valid until that is closed.
 *  Thread: any.  Blocks: no.  Errors: as ki_monitor_server_new().  Since: 0.1 */
KI_API KI_NODISCARD int ki_manager_serve(ki_manager *manager,
                                         const ki_monitor_server_options *options,
                                         ki_monitor_server **ret_server, ki_error *error);

KI_AUTO_DEFINE(ki_monitor_server, ki_monitor_server_unref)

KI_END_DECLS

#endif
