/* SPDX-License-Identifier: Apache-2.0 */
/* The client: connections to one API server, as a configuration says, on a loop. Informers and
 * factories take their objects through it, and requests of all kinds are made with it (see
 * request.h and discovery.h).
 *
 *   ki_client *client = NULL;
 *   r = ki_client_new(NULL, &client, &error);       as kubectl would, on a thread of its own
 *   r = ki_client_factory(client, NULL, &factory, &error);
 *
 * Credentials are kept current while it lives: files are read again, plugins are run again. */
#ifndef KINFORMER_CLIENT_H
#define KINFORMER_CLIENT_H

#include <kinformer/config.h>
#include <kinformer/defs.h>
#include <kinformer/error.h>
#include <kinformer/factory.h>
#include <kinformer/informer.h>
#include <kinformer/loop.h>
#include <kinformer/resource.h>

KI_BEGIN_DECLS

typedef struct ki_client ki_client;

/** Whether programs that a configuration names may be run to get credentials. A kubeconfig of a
 *  stranger could name any. */
typedef enum ki_exec_policy {
    KI_EXEC_DENY,   /* none */
    KI_EXEC_LISTED, /* those of `exec_allowed` */
    KI_EXEC_ALLOW,  /* whatever the configuration names */
    KI_EXEC_MAX
} ki_exec_policy;

typedef enum ki_client_http {
    KI_CLIENT_HTTP_AUTO, /* lists by HTTP/1.1, watches by 2 if the server can */
    KI_CLIENT_HTTP_1_1,
    KI_CLIENT_HTTP_2, /* everything by 2 if the server can */
    KI_CLIENT_HTTP_MAX
} ki_client_http;

typedef struct ki_client_options {
    size_t size;             /* see KI_OPTIONS_INIT */
    const ki_config *config; /* kept by reference; NULL: ki_config_load() without options */

    /** Kept by reference. NULL: one of the client's own, which a thread runs, with `alloc` and
     * `log` (which must outlive the client). */
    ki_loop *loop;
    const ki_alloc *alloc;
    const ki_log *log;
    uint32_t handler_threads; /* of the client's own loop, as in ki_loop_options; 0: 256 */

    const char *user_agent; /* the program, such as "agent/1.2"; ours is added. NULL: ours alone */

    /** Requests in a second, and how many may come at once after a pause. Watches do not count, nor
     * do the pages of a list after its first. 0: 5 and 10, as in client-go; `qps` below 0: as many
     * as asked for. */
    double qps;
    uint32_t burst;

    uint32_t request_timeout_ms; /* of requests that name none; 0: KI_REQUEST_TIMEOUT_MS */

    ki_exec_policy exec_policy;
    /** Absolute paths, or names without '/', which match what $PATH leads to; ends with NULL. */
    const char *const *exec_allowed;
    bool exec_interactive;    /* plugins may talk to the terminal of this process */
    uint32_t exec_timeout_ms; /* 0: 60 s; then the plugin and its children are killed */

    bool allow_insecure;     /* accept configurations that ask not to verify the server */
    bool environment_proxy;  /* without `proxy-url`: HTTPS_PROXY, HTTP_PROXY, NO_PROXY, read now */
    const char *unix_socket; /* connect to this path; the server's host is only a name then */
    ki_client_http http;
} ki_client_options;

/** A client. Nothing is connected yet. `options` may be NULL.
 *  Owner:  release with ki_client_unref().  Thread: any.  Blocks: yes, for files.
 *  Errors: those of ki_config_load() if there is no configuration;
 *          KI_ERR_DENIED     the configuration wants a plugin or no verification, and the options
 *                            do not allow it;
 *          KI_ERR_INVALID    certificates, keys or URLs that cannot be used;
 *          -errno  a file cannot be read, no threads, no descriptors;  -ENOMEM, -E2BIG.
 *  Since:  0.1 */
KI_API KI_NODISCARD int ki_client_new(const ki_client_options *options, ki_client **ret_client,
                                      ki_error *error);

/** References. Informers and factories that were made with it hold one, and so do requests, until
 *  they end and nobody has their call any more. The last one closes all connections; if the client
 *  has a thread, it ends too. If another thread runs the loop, it waits until that has let go of
 *  the client. ki_client_unref() always returns NULL; NULL is fine for both.
 *  Thread: any, also inside callbacks.  Blocks: as said.  Since: 0.1 */
KI_API ki_client *ki_client_ref(ki_client *client);
KI_API ki_client *ki_client_unref(ki_client *client);

/** ki_client_unref(), and then, if the client has a thread of its own, waits until that has ended:
 *  until informers that are being stopped, and requests that are being ended, have let go of the
 *  client too, and handlers have heard the last. For the end of a program: a thread that closes
 *  connections while the process exits may find libraries gone that it needs. Always returns NULL;
 *  NULL is fine.
 *  Thread: any but that of the loop and those of handlers.  Blocks: yes.  Since: 0.1 */
KI_API ki_client *ki_client_close(ki_client *client);

/** What it was made of, or made for itself.
 *  Owner: borrowed.  Thread: any.  Blocks: no.  Since: 0.1 */
KI_API const ki_config *ki_client_config(const ki_client *client);
KI_API ki_loop *ki_client_loop(const ki_client *client);
KI_API ki_engine *ki_client_engine(const ki_client *client);

/** The transport, for sources. Whoever takes it by its `ref` keeps the client.
 *  Owner: borrowed.  Thread: any.  Blocks: no.  Since: 0.1 */
KI_API const ki_transport *ki_client_transport(const ki_client *client);

/** A factory on this client: ki_factory_new() with engine and transport set. `options` may be NULL.
 *  Owner:  release with ki_factory_unref().  Thread: any.  Blocks: no.
 *  Errors: as ki_factory_new();  -EINVAL  the options name another engine or source.
 *  Since:  0.1 */
KI_API KI_NODISCARD int ki_client_factory(ki_client *client, const ki_factory_options *options,
                                          ki_factory **ret_factory, ki_error *error);

KI_END_DECLS

#endif
