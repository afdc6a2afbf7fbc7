/* SPDX-License-Identifier: Apache-2.0 */
/* An API server inside the program: for tests of controllers and informers, for demos, and for
 * trying things out. It keeps everything in memory and speaks HTTP on a socket of this machine, so
 * that kubectl, curl and clients in any language can use it as well.
 *
 *   ki_apiserver *server;
 *   int r = ki_apiserver_new(NULL, &server, &error);       listens when it returns
 *   ... ki_apiserver_url(server), or ki_apiserver_write_kubeconfig() ...
 *   ki_apiserver_unref(server);
 *
 * It is a library of its own, kinformer-apiserver, which brings libkinformer as a static library;
 * <kinformer/kinformer.h> does not include this header. docs/embedded-apiserver.md tells what it
 * does as a real server does, and what it does not. */
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

    /** The loop it runs on. NULL: one of its own, with a thread. */
    ki_loop *loop;
    const ki_alloc *alloc; /* NULL: the default; not for what the HTTP and TLS libraries take */
    const ki_log *log;     /* NULL: none; must outlive the server */

    /** An address and a port: "127.0.0.1:0" (the default), "[::1]:8001". Port 0 is one that is
     *  free. Who listens on more than this machine should ask for a token, and use TLS. */
    const char *listen;
    /** HTTPS, with a certificate that is made now; the kubeconfig has the authority that signed it.
     */
    bool tls;
    /** Requests must have "Authorization: Bearer" with this token; NULL: they need none, but those
     *  that a web page may have sent are refused: 403 for a foreign Host, Origin or Sec-Fetch-Site,
     *  415 for a body without Content-Type. */
    const char *token;
    /** Names or addresses that clients may call it by, in their Host header, besides the address
     *  listened on, loopback addresses, "localhost", "*.localhost" and "kubernetes"; ends with
     * NULL. The certificate is for them as well. NULL: none. */
    const char *const *allowed_hosts;
    /** What goes wrong, as ki_apiserver_set_faults() reads it; NULL: nothing. */
    const char *faults;
    uint64_t seed; /* of the faults that have a rate; 0: a random one */

    /** Objects may be made in namespaces that do not exist, and deleting a namespace leaves what is
     *  in it. */
    bool any_namespace;

    /** Dependents of deleted objects stay as they are, and finalizers "orphan" and
     *  "foregroundDeletion" wait for somebody else, as on a kube-apiserver without a
     *  kube-controller-manager. */
    bool no_garbage_collection;

    /* Limits. 0 stands for the value that is told. */
    size_t max_connections;   /* 1,000; more wait until one ends */
    size_t max_body_bytes;    /* 3 MiB: of a request's body, and of an object */
    size_t max_objects;       /* 1,048,576 */
    size_t max_history;       /* 65,536 changes that watches can go back */
    size_t max_history_bytes; /* 256 MiB: of the objects in them, roughly */

    /* Times. The same. */
    uint64_t request_timeout_ns; /* 30 s: for a request to arrive, from its first line */
    uint64_t idle_timeout_ns;    /* 120 s: without a request, or with an answer nobody reads */
    uint64_t bookmark_ns;        /* a minute: between the bookmarks of a watch */
    uint64_t watch_timeout_ns;   /* half an hour: the end of watches that name none */
} ki_apiserver_options;

/** A server that listens. `options` may be NULL.
 *  Owner:  release with ki_apiserver_unref().
 *  Thread: any; if the loop is the program's, the one that runs it, or while nobody does.
 *  Blocks: no.
 *  Errors: -EADDRINUSE and so on  what the system says of the address;
 *          KI_ERR_INVALID  `listen`, `token` or `faults` cannot be read;
 *          KI_ERR_UNSUPPORTED  `tls`, and the HTTP library was built without it;
 *          -EMFILE, -ENFILE, -EAGAIN, -ENOMEM, -EINVAL, -E2BIG.
 *  Since:  0.1 */
KI_API KI_NODISCARD int ki_apiserver_new(const ki_apiserver_options *options,
                                         ki_apiserver **ret_server, ki_error *error);

/** References. The last one closes all connections and frees everything. ki_apiserver_unref()
 *  always returns NULL; NULL is fine for both.
 *  Thread: any; but for the last one as ki_apiserver_new().
 *  Blocks: the last one waits for the thread of a loop of its own.  Since: 0.1 */
KI_API ki_apiserver *ki_apiserver_ref(ki_apiserver *server);
KI_API ki_apiserver *ki_apiserver_unref(ki_apiserver *server);

/** Where it listens, such as "http://127.0.0.1:41234".
 *  Owner: the server's.  Thread: any.  Blocks: no.  Since: 0.1 */
KI_API const char *ki_apiserver_url(const ki_apiserver *server);

/** The certificate of the authority that signed the server's, in PEM; "" without TLS.
 *  Owner: the server's.  Thread: any.  Blocks: no.  Since: 0.1 */
KI_API const char *ki_apiserver_ca(const ki_apiserver *server);

/* All that follows may be called on any thread, and waits for no more than the requests that are
 * being answered at the moment. */

/** Appends a kubeconfig with which clients reach this server: YAML, in the subset that is JSON. It
 *  holds the token, if there is one.
 *  Thread: any.  Blocks: no.  Errors: KI_ERR_LIMIT, -ENOMEM.  Since: 0.1 */
KI_API KI_NODISCARD int ki_apiserver_write_kubeconfig(const ki_apiserver *server, ki_buf *out);

/** A client of this server: ki_client_new() with the server's address, authority and token.
 * `options` may be NULL; its `config` must be. Unless `qps` is set, requests are not limited.
 *  Owner:  release with ki_client_unref() or ki_client_close(). It does not hold the server.
 *  Thread: any.  Blocks: no.
 *  Errors: as ki_client_new();  -EINVAL  `config` is set.  Since: 0.1 */
KI_API KI_NODISCARD int ki_apiserver_client(const ki_apiserver *server,
                                            const ki_client_options *options,
                                            ki_client **ret_client, ki_error *error);

/** Sets what goes wrong from now on, in place of what was set before; "" or NULL: nothing. Rules
 *  stand in lines, or between semicolons; each is made of words with commas between them:
 *
 *    what       latency=200ms   status=500   status=429,retry-after=1   refuse   cut=1000 (bytes)
 *               drop=5s (ends watches)   expire   stale   lag=2s   no-end-bookmark
 *               plain-end-bookmark   in-stream (with status: as an event of a watch)
 *               bare-deletes   unknown-field (of a newer API, in each object)
 *    for which  verb=list   verb=get+list+watch   resource=pods
 *    how often  rate=10%   times=3   skip=2
 *
 *  such as "status=500,verb=list,rate=10%; cut=5000,verb=watch". `lag` is for the whole server:
 *  watches, and what `stale` reads, are that far behind. docs/embedded-apiserver.md tells more.
 *  Thread: any.  Blocks: no.
 *  Errors: KI_ERR_INVALID  with the place in `error`;  KI_ERR_LIMIT  too many rules;  -ENOMEM.
 *          On failure what was set stays.
 *  Since:  0.1 */
KI_API KI_NODISCARD int ki_apiserver_set_faults(ki_apiserver *server, const char *faults,
                                                ki_error *error);

/** Makes an object, or puts it in the place of the one of that name, status included and whatever
 *  their versions. Faults do not apply. The namespace is made if it is missing.
 *  Thread: any.  Blocks: no.
 *  Errors: KI_ERR_NOT_FOUND  no resource is of this kind;
 *          KI_ERR_STATUS   the server refused it; `error` tells why;
 *          KI_ERR_LIMIT, -ENOMEM.
 *  Since:  0.1 */
KI_API KI_NODISCARD int ki_apiserver_apply(ki_apiserver *server, const ki_object *object,
                                           ki_error *error);

/** Deletes an object as a client would: one with finalizers is marked only.
 *  `name_space` is "" for resources without namespaces.
 *  Thread: any.  Blocks: no.
 *  Errors: KI_ERR_STATUS  with its code and reason, such as 404;  -ENOMEM.  Since: 0.1 */
KI_API KI_NODISCARD int ki_apiserver_delete(ki_apiserver *server, const ki_resource *resource,
                                            const char *name_space, const char *name,
                                            ki_error *error);

/** The object of that name as it is now, whatever faults and lag there are: for tests that compare.
 *  `name_space` is "" for resources without namespaces.
 *  Owner:  release with ki_object_unref().  Thread: any.  Blocks: no.
 *  Errors: KI_ERR_STATUS  with its code and reason: 404 if there is none;  -EINVAL  no name;
 *          -ENOMEM.
 *  Since:  0.1 */
KI_API KI_NODISCARD int ki_apiserver_get(ki_apiserver *server, const ki_resource *resource,
                                         const char *name_space, const char *name,
                                         ki_object **ret_object, ki_error *error);

/** All objects of a resource, in the order of their keys, the same way. `name_space` is "" for all
 *  of them; `label_selector` may be NULL.
 *  Owner:  release with ki_list_unref().  Thread: any.  Blocks: no.
 *  Errors: KI_ERR_STATUS  there is no such resource, or the selector cannot be read;  -ENOMEM.
 *  Since:  0.1 */
KI_API KI_NODISCARD int ki_apiserver_list(ki_apiserver *server, const ki_resource *resource,
                                          const char *name_space, const char *label_selector,
                                          ki_list **ret_list, ki_error *error);

/** Applies many objects: JSON, one after the other or in lists, or YAML with any number of
 *  documents, each as deep as objects may be. *ret_count, if not NULL, is how many there were, set
 *  on failure as well: what came before the one that failed stays.
 *  Thread: any.  Blocks: no.
 *  Errors: as ki_apiserver_apply();  KI_ERR_SYNTAX and so on;  `error` has the line and column,
 *          of the mistake or of the beginning of the object.
 *  Since:  0.1 */
KI_API KI_NODISCARD int ki_apiserver_load(ki_apiserver *server, ki_str objects, size_t *ret_count,
                                          ki_error *error);

/** The resource version of the last write.
 *  Thread: any.  Blocks: no.  Since: 0.1 */
KI_API uint64_t ki_apiserver_version(ki_apiserver *server);

/** Forgets all history: watches and continue tokens from before get 410. Open watches go on.
 *  Thread: any.  Blocks: no.  Since: 0.1 */
KI_API void ki_apiserver_expire_history(ki_apiserver *server);

/** Ends all open watches, as a server does that is asked to stop.
 *  Thread: any.  Blocks: no.  Since: 0.1 */
KI_API void ki_apiserver_drop_watches(ki_apiserver *server);

/** Breaks all open connections, in the middle of what they were doing.
 *  Thread: any.  Blocks: no.  Since: 0.1 */
KI_API void ki_apiserver_cut(ki_apiserver *server);

/** What it has done so far, and holds now. */
typedef struct ki_apiserver_stats {
    uint64_t connections; /* accepted so far */
    uint64_t requests;
    size_t open_connections;
    size_t open_watches;
    size_t objects;
} ki_apiserver_stats;

/** Fills `ret_stats`.  Thread: any.  Blocks: no.  Since: 0.1 */
KI_API void ki_apiserver_get_stats(ki_apiserver *server, ki_apiserver_stats *ret_stats);

KI_END_DECLS

#endif
