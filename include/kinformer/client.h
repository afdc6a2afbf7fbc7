/* SPDX-License-Identifier: Apache-2.0 */
/* The client: connections to one API server, according to a configuration. Informers and factories
 * use it, and all kinds of requests are made with it (see request.h and discovery.h).
 *
 *   ki_client *client = NULL;
 *   ki_informer *pods = NULL;
 *   r = ki_client_new(NULL, &client, &error);       as kubectl would, on its own thread
 *   r = ki_client_informer(client, KI_CORE_V1_PODS, NULL, &pods, &error);
 *   r = ki_informer_on_change(pods, fn, user, NULL, &error);
 *   r = ki_client_start(client, &error);
 *
 * Credentials are kept current: files are read again, plugins are run again.
 *
 * All work of a client and its informers happens on "the client's thread": its own, or, with the
 * option `loop`, the thread that runs that loop at the time (loop.h). */
#ifndef KINFORMER_CLIENT_H
#define KINFORMER_CLIENT_H

#include <kinformer/defs.h>
#include <kinformer/error.h>
#include <kinformer/factory.h>
#include <kinformer/informer.h>
#include <kinformer/log.h>
#include <kinformer/resource.h>

KI_BEGIN_DECLS

typedef struct ki_client ki_client;
typedef struct ki_config ki_config; /* <kinformer/config.h> */
typedef struct ki_loop ki_loop;     /* <kinformer/loop.h> */

/** Whether programs named by a configuration may be run to get credentials. An untrusted kubeconfig
 *  could name any program. */
typedef enum ki_exec_policy {
    KI_EXEC_DENY,   /* none */
    KI_EXEC_LISTED, /* those of `exec_allowed` */
    KI_EXEC_ALLOW,  /* any program that the configuration names */
    KI_EXEC_MAX
} ki_exec_policy;

typedef enum ki_client_http {
    KI_CLIENT_HTTP_AUTO, /* lists over HTTP/1.1, watches over HTTP/2 if the server supports it */
    KI_CLIENT_HTTP_1_1,
    KI_CLIENT_HTTP_2, /* everything over HTTP/2 if the server supports it */
    KI_CLIENT_HTTP_MAX
} ki_client_http;

typedef struct ki_client_options {
    size_t size;             /* see KI_OPTIONS_INIT */
    const ki_config *config; /* kept by reference; NULL: ki_config_load() without options */

    /** Kept by reference. NULL: a private one with its own thread, which uses `alloc` and `log`
     *  (they must outlive the client). */
    ki_loop *loop;
    const ki_alloc *alloc;
    const ki_log *log;
    uint32_t handler_threads; /* of the private loop, as in ki_loop_options; 0: 256 */

    const char *user_agent; /* "agent/1.2"; the library appends its own; NULL: that alone */

    /** Client-side rate limit in requests per second, and burst size. Watches and later pages of a
     *  list are not limited. 0: 5 and 10, as in client-go; `qps` below 0: no limit. */
    double qps;
    uint32_t burst;

    uint32_t request_timeout_ms; /* of requests without their own; 0: KI_REQUEST_TIMEOUT_MS */

    ki_exec_policy exec_policy;
    /** Absolute paths, or names without '/', which match programs found in $PATH;
     *  NULL-terminated. */
    const char *const *exec_allowed;
    bool exec_interactive;    /* plugins may use the terminal of this process */
    uint32_t exec_timeout_ms; /* 0: 60 s; after it, the plugin and its children are killed */

    bool allow_insecure; /* accept configurations that disable verification of the server */
    /** Without `proxy-url`: use HTTPS_PROXY, HTTP_PROXY and NO_PROXY, read when the client is
     *  created. */
    bool environment_proxy;
    const char *unix_socket; /* connect to this path; the server's host is only used as a name */
    ki_client_http http;
} ki_client_options;

/** Creates a client; does not connect yet. `options` may be NULL.
 *  Owner:  caller; release with ki_client_unref().  Thread: any.  Blocks: yes, for files.
 *  Errors: those of ki_config_load() if there is no configuration;
 *          KI_ERR_DENIED     the configuration requires a plugin or disables verification, and the
 *                            options do not allow it;
 *          KI_ERR_INVALID    unusable certificates, keys or URLs;
 *          -errno  a file cannot be read, too many threads or descriptors;  -ENOMEM, -E2BIG.
 *  Since:  0.1 */
KI_API KI_NODISCARD int ki_client_new(const ki_client_options *options, ki_client **ret_client,
                                      ki_error *error);

/** Takes and releases references. Releasing the last one stops the informers of
 *  ki_client_informer(). When these have stopped, and factories, sources and requests that use the
 *  client have ended, all connections are closed; if the client has its own thread, that exits too.
 *  If another thread is the client's thread, it waits until that has released the client.
 *  ki_client_unref() always returns NULL; both accept NULL.
 *  Thread: any, including callbacks.  Blocks: ki_client_unref() may, as described.  Since: 0.1 */
KI_API ki_client *ki_client_ref(ki_client *client);
KI_API ki_client *ki_client_unref(ki_client *client);

/** Releases the client and waits until its thread has exited. As ki_client_unref(), but if the
 *  client has its own thread, it waits for it: informers have stopped, handlers have received their
 *  last event, and requests have ended. For the end of a program: a thread that closes connections
 *  during process exit may use libraries that are already unloaded. References to the client's
 *  informers may be released before or after. Other references to the client, and factories, must
 *  be released before; it waits for them. Always returns NULL; accepts NULL.
 *  Thread: any except the client's thread and those of handlers.  Blocks: yes.  Since: 0.1 */
KI_API ki_client *ki_client_close(ki_client *client);

/** Returns an informer of the client. Without `options` (NULL) it is shared: each resource has one,
 *  which every call returns. With options (selectors, a namespace, indexes, a resync period and so
 *  on) each call creates another one. Start it with ki_client_start(). It runs until the client
 *  ends, even if it is released; one with options can be stopped earlier with ki_informer_stop().
 *  Owner:  caller; release with ki_informer_unref().  Thread: any.  Blocks: no.
 *  Errors: as ki_factory_informer().
 *  Since:  0.1 */
KI_API KI_NODISCARD int ki_client_informer(ki_client *client, const ki_resource *resource,
                                           const ki_informer_options *options,
                                           ki_informer **ret_informer, ki_error *error);

/** Starts the client's informers that are not started. Call it again after creating more.
 *  Thread: any.  Blocks: no.  Errors: -ENOMEM.  Since: 0.1 */
KI_API KI_NODISCARD int ki_client_start(ki_client *client, ki_error *error);

/** Waits until the client's started informers and their handlers have synced. A `timeout_ms` of 0
 *  only checks, UINT32_MAX waits forever. The message of `error` names the informer that is
 *  furthest behind, and its latest failure.
 *  Thread: any; on the client's thread and inside callbacks only with a `timeout_ms` of 0.
 *  Blocks: yes.
 *  Errors: as ki_factory_wait_for_sync().
 *  Since:  0.1 */
KI_API KI_NODISCARD int ki_client_wait_for_sync(ki_client *client, uint32_t timeout_ms,
                                                ki_error *error);

/** Creates a factory on this client. `options` may be NULL.
 *  Owner:  caller; release with ki_factory_unref().  Thread: any.  Blocks: no.
 *  Errors: as ki_projection_new();  -EINVAL  the options have an engine or a source;  -ENOMEM,
 *          -E2BIG.
 *  Since:  0.1 */
KI_API KI_NODISCARD int ki_client_factory(ki_client *client, const ki_factory_options *options,
                                          ki_factory **ret_factory, ki_error *error);

KI_AUTO_DEFINE(ki_client, ki_client_close)

KI_END_DECLS

#endif
