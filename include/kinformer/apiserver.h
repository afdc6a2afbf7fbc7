/* SPDX-License-Identifier: Apache-2.0 */
/* The embedded API server: for tests of controllers and informers, demos, and experiments. It keeps
 * everything in memory and serves HTTP on a local socket, so that kubectl, curl and clients in any
 * language can use it too.
 *
 *   ki_apiserver *server;
 *   int r = ki_apiserver_new(NULL, &server, &error);       listens when it returns
 *   ... ki_apiserver_url(server), or ki_apiserver_write_kubeconfig() ...
 *   ki_apiserver_unref(server);
 *
 * It is a separate library, kinformer-apiserver, which includes libkinformer as a static library;
 * <kinformer/kinformer.h> does not include this header. docs/embedded-apiserver.md describes what
 * it does like a real server, and what it does not. */
#ifndef KINFORMER_APISERVER_H
#define KINFORMER_APISERVER_H

#include <kinformer/alloc.h>
#include <kinformer/buf.h>
#include <kinformer/client.h>
#include <kinformer/defs.h>
#include <kinformer/error.h>
#include <kinformer/log.h>
#include <kinformer/loop.h>
#include <kinformer/object.h>
#include <kinformer/request.h>
#include <kinformer/resource.h>
#include <kinformer/store.h>
#include <kinformer/str.h>

KI_BEGIN_DECLS

typedef struct ki_apiserver ki_apiserver;

typedef struct ki_apiserver_options {
    size_t size; /* see KI_OPTIONS_INIT */

    /** The loop to run on. NULL: a private one, with a thread. */
    ki_loop *loop;
    const ki_alloc *alloc; /* NULL: the default; not used by the HTTP and TLS libraries */
    const ki_log *log;     /* NULL: none; must outlive the server */

    /** Address and port: "127.0.0.1:0" (the default), "[::1]:8001". Port 0 is any free port. If it
     *  is reachable from other machines, require a token and use TLS. */
    const char *listen;
    /** Use HTTPS, with a certificate created at start; the kubeconfig contains the CA that signed
     *  it. */
    bool tls;
    /** Require this bearer token ("Authorization: Bearer"). NULL: no authentication, but requests
     *  that a web page may have sent are rejected: 403 for a foreign Host, Origin or
     *  Sec-Fetch-Site, 415 for a body without Content-Type. */
    const char *token;
    /** Names or addresses that clients may use in their Host header, in addition to the listen
     *  address, loopback addresses, "localhost", "*.localhost" and "kubernetes"; NULL-terminated.
     *  The certificate covers them too. NULL: none. */
    const char *const *allowed_hosts;
    /** Faults to inject, as for ki_apiserver_set_faults(); NULL: none. */
    const char *faults;
    uint64_t seed; /* for faults that have a rate; 0: a random seed */

    /** Allow objects in namespaces that do not exist; deleting a namespace then does not delete its
     *  objects. */
    bool any_namespace;

    /** Keep dependents of deleted objects, and leave the finalizers "orphan" and
     *  "foregroundDeletion" to other controllers, as a kube-apiserver without a
     *  kube-controller-manager does. */
    bool no_garbage_collection;

    /* Limits. 0: the default given here. */
    size_t max_connections;   /* 1,000; further ones wait until one is closed */
    size_t max_body_bytes;    /* 3 MiB: of the body of a request, and of an object */
    size_t max_objects;       /* 1,048,576 */
    size_t max_history;       /* 65,536 changes kept for watches */
    size_t max_history_bytes; /* 256 MiB: of the objects in these changes, approximately */

    /* Times. 0: the default given here. */
    uint32_t request_timeout_ms; /* 30 s: for receiving a request, from its first line */
    uint32_t idle_timeout_ms;  /* 120 s: without a request, or with a response that the client does
                                  not read */
    uint32_t bookmark_ms;      /* 1 min: between the bookmarks of a watch */
    uint32_t watch_timeout_ms; /* 30 min: for watches without a timeout of their own */
} ki_apiserver_options;

/** Creates a server that listens when the call returns. `options` may be NULL.
 *  Owner:  caller; release with ki_apiserver_unref().
 *  Thread: any; with a loop of the program: the thread that runs it, or while it is not running.
 *  Blocks: no.
 *  Errors: -EADDRINUSE and so on  the error of the system for this address;
 *          KI_ERR_INVALID  `listen`, `token` or `faults` is invalid;
 *          KI_ERR_UNSUPPORTED  `tls`, and the HTTP library was built without it;
 *          -EMFILE, -ENFILE, -EAGAIN, -ENOMEM, -EINVAL, -E2BIG.
 *  Since:  0.1 */
KI_API KI_NODISCARD int ki_apiserver_new(const ki_apiserver_options *options,
                                         ki_apiserver **ret_server, ki_error *error);

/** Takes and releases references. Releasing the last one closes all connections and frees the
 *  server. ki_apiserver_unref() always returns NULL; both accept NULL.
 *  Thread: any; for the last one as ki_apiserver_new().
 *  Blocks: the last ki_apiserver_unref() waits for the thread of a private loop.  Since: 0.1 */
KI_API ki_apiserver *ki_apiserver_ref(ki_apiserver *server);
KI_API ki_apiserver *ki_apiserver_unref(ki_apiserver *server);

/** Returns the URL of the server, such as "http://127.0.0.1:41234".
 *  Owner: the server.  Thread: any.  Blocks: no.  Since: 0.1 */
KI_API const char *ki_apiserver_url(const ki_apiserver *server);

/** Returns the certificate of the CA that signed the server's certificate, in PEM; "" without TLS.
 *  Owner: the server.  Thread: any.  Blocks: no.  Since: 0.1 */
KI_API const char *ki_apiserver_ca(const ki_apiserver *server);

/* The functions below may be called on any thread. They wait at most for requests that are being
 * processed at the moment. */

/** Appends a kubeconfig for clients of this server: YAML, in the subset that is JSON. It contains
 *  the token, if there is one.
 *  Thread: any.  Blocks: no.  Errors: KI_ERR_LIMIT, -ENOMEM.  Since: 0.1 */
KI_API KI_NODISCARD int ki_apiserver_write_kubeconfig(const ki_apiserver *server, ki_buf *out);

/** Creates a client of this server: ki_client_new() with the server's address, CA and token.
 *  `options` may be NULL; its `config` must be NULL. Unless `qps` is set, requests are not rate
 *  limited.
 *  Owner:  caller; release with ki_client_unref() or ki_client_close(). It holds no reference to
 *          the server.
 *  Thread: any.  Blocks: no.
 *  Errors: as ki_client_new();  -EINVAL  `config` is set.  Since: 0.1 */
KI_API KI_NODISCARD int ki_apiserver_client(const ki_apiserver *server,
                                            const ki_client_options *options,
                                            ki_client **ret_client, ki_error *error);

/** Sets the faults to inject from now on, replacing earlier ones; "" or NULL: none. Rules are
 *  separated by line breaks or semicolons; each consists of words separated by commas:
 *
 *    what       latency=200ms   status=500   status=429,retry-after=1   refuse   cut=1000 (bytes)
 *               drop=5s (ends watches)   expire   stale   lag=2s   no-end-bookmark
 *               plain-end-bookmark   in-stream (with status: as an event of a watch)
 *               bare-deletes   unknown-field (of a newer API, in each object)
 *    for which  verb=list   verb=get+list+watch   resource=pods
 *    how often  rate=10%   times=3   skip=2
 *
 *  such as "status=500,verb=list,rate=10%; cut=5000,verb=watch". `lag` applies to the whole server:
 *  watches, and reads with `stale`, are behind by that time. docs/embedded-apiserver.md has the
 *  details.
 *  Thread: any.  Blocks: no.
 *  Errors: KI_ERR_INVALID  with the position in `error`;  KI_ERR_LIMIT  too many rules;  -ENOMEM.
 *          On failure the earlier faults remain.
 *  Since:  0.1 */
KI_API KI_NODISCARD int ki_apiserver_set_faults(ki_apiserver *server, const char *faults,
                                                ki_error *error);

/** Creates an object, or replaces the one with the same name, including its status and regardless
 *  of resourceVersions. Faults do not apply. A missing namespace is created.
 *  Thread: any.  Blocks: no.
 *  Errors: KI_ERR_NOT_FOUND  no resource has this kind;
 *          KI_ERR_STATUS   the server rejected the object; `error` has the reason;
 *          KI_ERR_LIMIT, -ENOMEM.
 *  Since:  0.1 */
KI_API KI_NODISCARD int ki_apiserver_apply(ki_apiserver *server, const ki_object *object,
                                           ki_error *error);

/** Deletes an object as a request would: an object with finalizers is only marked. `name_space` is
 *  "" for cluster-scoped resources.
 *  Thread: any.  Blocks: no.
 *  Errors: KI_ERR_NOT_FOUND;  KI_ERR_STATUS  with HTTP code and reason;  -ENOMEM.  Since: 0.1 */
KI_API KI_NODISCARD int ki_apiserver_delete(ki_apiserver *server, const ki_resource *resource,
                                            const char *name_space, const char *name,
                                            ki_error *error);

/** Gets the current state of an object, regardless of faults and lag, for comparison in tests.
 *  `name_space` is "" for cluster-scoped resources.
 *  Owner:  caller; release with ki_object_unref().  Thread: any.  Blocks: no.
 *  Errors: KI_ERR_NOT_FOUND;  KI_ERR_STATUS  with HTTP code and reason;  -EINVAL  no name;
 *          -ENOMEM.
 *  Since:  0.1 */
KI_API KI_NODISCARD int ki_apiserver_get(ki_apiserver *server, const ki_resource *resource,
                                         const char *name_space, const char *name,
                                         ki_object **ret_object, ki_error *error);

/** Lists the current objects of a resource, sorted by key, regardless of faults and lag.
 *  `name_space` is "" for all of them; `label_selector` may be NULL.
 *  Owner:  caller; release with ki_list_unref().  Thread: any.  Blocks: no.
 *  Errors: KI_ERR_NOT_FOUND  unknown resource;  KI_ERR_STATUS  invalid selector;  -ENOMEM.
 *  Since:  0.1 */
KI_API KI_NODISCARD int ki_apiserver_list(ki_apiserver *server, const ki_resource *resource,
                                          const char *name_space, const char *label_selector,
                                          ki_list **ret_list, ki_error *error);

/** Applies many objects: JSON, one after the other or in lists, or YAML with any number of
 *  documents, each nested as deep as objects may be. *ret_count, if not NULL, is the number of
 *  applied objects, also set on failure: objects before the one that failed remain.
 *  Thread: any.  Blocks: no.
 *  Errors: as ki_apiserver_apply();  KI_ERR_SYNTAX and so on;  `error` has the line and column of
 *          the syntax error or of the start of the object.
 *  Since:  0.1 */
KI_API KI_NODISCARD int ki_apiserver_load(ki_apiserver *server, ki_str objects, size_t *ret_count,
                                          ki_error *error);

/** Applies the objects of a file, such as a manifest with custom resource definitions. As
 *  ki_apiserver_load(); messages begin with the path.
 *  Thread: any.  Blocks: for reading the file.
 *  Errors: as ki_apiserver_load();  -ENOENT and so on  the error of the system for this file;
 *          KI_ERR_INVALID  not a regular file.
 *  Since:  0.1 */
KI_API KI_NODISCARD int ki_apiserver_load_file(ki_apiserver *server, const char *path,
                                               size_t *ret_count, ki_error *error);

/** Returns the resourceVersion of the last write.
 *  Thread: any.  Blocks: no.  Since: 0.1 */
KI_API uint64_t ki_apiserver_version(ki_apiserver *server);

/** Expires all history: watches and continue tokens from before fail with 410. Open watches
 *  continue.
 *  Thread: any.  Blocks: no.  Since: 0.1 */
KI_API void ki_apiserver_expire_history(ki_apiserver *server);

/** Ends all open watches, as a server that shuts down does.
 *  Thread: any.  Blocks: no.  Since: 0.1 */
KI_API void ki_apiserver_drop_watches(ki_apiserver *server);

/** Breaks all open connections immediately, without completing responses.
 *  Thread: any.  Blocks: no.  Since: 0.1 */
KI_API void ki_apiserver_break_connections(ki_apiserver *server);

/** The counters and the current content of a server. */
typedef struct ki_apiserver_stats {
    size_t size;          /* see KI_OPTIONS_INIT */
    uint64_t connections; /* accepted so far */
    uint64_t requests;
    size_t open_connections;
    size_t open_watches;
    size_t objects;
} ki_apiserver_stats;

/** Fills `ret_stats` with the counters of the server.  Thread: any.  Blocks: no.  Since: 0.1 */
KI_API int ki_apiserver_get_stats(ki_apiserver *server, ki_apiserver_stats *ret_stats);

KI_AUTO_DEFINE(ki_apiserver, ki_apiserver_unref)

KI_END_DECLS

#endif
