/* SPDX-License-Identifier: Apache-2.0 */
/* Requests to the API server: read, write, patch, apply and delete objects, one at a time. What
 * should be known at all times is better watched by an informer.
 *
 *   r = ki_client_get(client, KI_CORE_V1_PODS, "default", "web", &pod, NULL, &error);
 *   if (r < 0 && ki_error_is_not_found(&error)) ...
 *
 * Each request can wait for its answer (ki_client_do() and the short forms) or give it to a
 * function on the loop (ki_client_call()). Requests that the server asks to repeat later are
 * repeated, up to ten times; what it says in the end is the answer, an error of KI_ERR_STATUS with
 * its Status where it refused (see status.h). */
#ifndef KINFORMER_REQUEST_H
#define KINFORMER_REQUEST_H

#include <kinformer/client.h>
#include <kinformer/defs.h>
#include <kinformer/error.h>
#include <kinformer/list.h>
#include <kinformer/merge.h>
#include <kinformer/object.h>
#include <kinformer/resource.h>
#include <kinformer/str.h>

KI_BEGIN_DECLS

typedef enum ki_verb {
    KI_VERB_GET,
    KI_VERB_LIST,
    KI_VERB_CREATE,
    KI_VERB_UPDATE,
    KI_VERB_PATCH,
    KI_VERB_APPLY, /* server-side apply */
    KI_VERB_DELETE,
    KI_VERB_DELETE_COLLECTION,
    KI_VERB_RAW, /* `method` and `path` as they are; the answer has its bytes */
    KI_VERB_MAX
} ki_verb;

/** What happens to the dependents of what is deleted. */
typedef enum ki_propagation {
    KI_PROPAGATION_DEFAULT, /* the server's choice */
    KI_PROPAGATION_BACKGROUND,
    KI_PROPAGATION_FOREGROUND,
    KI_PROPAGATION_ORPHAN,
    KI_PROPAGATION_MAX
} ki_propagation;

/** How long a request may take with all its repetitions, if it does not say. */
#define KI_REQUEST_TIMEOUT_MS 60000

/** A request. Everything is copied or counted when it is taken; text may be NULL for "". */
typedef struct ki_request {
    size_t size; /* see KI_OPTIONS_INIT */
    ki_verb verb;
    const ki_resource *resource; /* required, except for KI_VERB_RAW */

    /** Of one object: "" is that of `object`, else that of the configuration. For a list "" is all
     * namespaces; a collection to delete must name one if the resource has any. Not for resources
     * without namespaces. */
    const char *name_space;
    const char *name;        /* "": that of `object` */
    const char *subresource; /* such as "status"; "": the object itself */

    /* What to send: one of the two. A patch is JSON text; so is what is applied, or an object. */
    const ki_object *object; /* goes in its own encoding */
    ki_str body;             /* JSON; the name for the path must be in `name` */
    ki_patch_type patch_type;

    const char *field_manager;    /* required for KI_VERB_APPLY */
    const char *field_validation; /* "Strict", "Warn", "Ignore" or "" */
    bool force;                   /* apply: take fields from other managers */
    bool dry_run;

    const ki_list_options
        *list; /* of lists and of collections to delete; of GET: resource_version */

    /* Of deletions. */
    ki_propagation propagation;
    bool at_once;           /* grace period of 0 seconds */
    uint32_t grace_seconds; /* 0: the server's */
    const char *uid;        /* only if it still is this object */
    const char *if_version; /* only if it still is this resource version */

    bool json;           /* the answer in JSON; otherwise protobuf for kinds that have it */
    uint32_t timeout_ms; /* 0: that of the client; UINT32_MAX: none */
    bool no_retry;       /* once only */

    /* Of KI_VERB_RAW. */
    const char *method;       /* "": GET */
    const char *path;         /* from the root of the server, encoded: "/version" */
    const char *query;        /* encoded, without '?' */
    const char *accept;       /* "": application/json */
    const char *content_type; /* of `body`; "": application/json */
} ki_request;

/** What the server answered. Members that the request does not bring are NULL or empty. */
typedef struct ki_response {
    int http_code;     /* of the last try; 0: none came */
    ki_object *object; /* the object; for deletions what was deleted, or a Status; on a failure the
                          Status, if there is one */
    ki_list *list;     /* of KI_VERB_LIST, in the order of the server; of KI_VERB_DELETE_COLLECTION
                          what was deleted, if the server tells */
    const char *resource_version; /* of the list */
    const char *continue_token;   /* of the list; "" at its end */
    int64_t remaining;            /* objects after this page, if the server said; else -1 */
    uint64_t unread;              /* objects of the list that could not be read, and are not in it;
                                     each was reported to the engine */
    ki_str body;                  /* of KI_VERB_RAW; of a failure, the beginning */
    ki_str content_type;          /* of KI_VERB_RAW */
    struct ki_response_memory *memory; /* private */
} ki_response;

/** Frees what an answer holds, and empties it. Fine for one that is zeroed.
 *  Thread: any.  Blocks: no.  Since: 0.1 */
KI_API void ki_response_done(ki_response *answer);

/** Makes a request and waits for its answer. If nobody runs the loop at the time, the caller does,
 *  until the answer is there or somebody wants to run it for ever. `ret_answer` may be NULL; it is
 * set on failure too (see `object` there), and must be given to ki_response_done() in any
 * case. Thread: any but that of the loop.  Blocks: yes. Errors: KI_ERR_STATUS   the server refused:
 * see status.h; KI_ERR_INVALID, -EINVAL  names that cannot be; members that are missing or too
 * many; -ETIMEDOUT;  KI_ERR_TLS, -ECONNREFUSED and so on: no connection; KI_ERR_LIMIT    the answer
 * is too large;  KI_ERR_SYNTAX and so on: it cannot be read; KI_ERR_BUSY     called inside the
 * loop, where waiting would never end; KI_ERR_STOPPED  the loop was stopped;  -ENOMEM, -E2BIG.
 *  Since:  0.1 */
KI_API KI_NODISCARD int ki_client_do(ki_client *client, const ki_request *request,
                                     ki_response *ret_answer, ki_error *error);

typedef struct ki_call ki_call;

/** Receives the answer, once, on the loop (see also ki_loop_stop()). `answer` is valid during the
 *  call only (take references of what is in it); `error` is NULL on success. */
typedef void (*ki_call_done)(ki_call *call, const ki_response *answer, const ki_error *error,
                             void *user);

/** Makes a request whose answer is told to `done`, never from inside this. `ret_call` may be NULL.
 *  If the loop is stopped before there is an answer, `done` receives KI_ERR_STOPPED (see
 *  ki_loop_stop()).
 *  Owner:  *ret_call: release with ki_call_unref(); the request goes on without it.
 *  Thread: any, also inside callbacks.  Blocks: no.
 *  Errors: those of ki_client_do() that are known before anything is sent.
 *  Since:  0.1 */
KI_API KI_NODISCARD int ki_client_call(ki_client *client, const ki_request *request,
                                       ki_call_done done, void *user, ki_call **ret_call,
                                       ki_error *error);

/** Ends it: `done` is not called any more, also not if the loop is stopped, unless it is being
 *  called at this moment on another thread. What was sent may still happen on the server.
 *  Thread: any, also inside callbacks.  Blocks: no.  Since: 0.1 */
KI_API void ki_call_cancel(ki_call *call);

/** References; a call holds its client. ki_call_unref() always returns NULL; NULL is fine
 * for both. Thread: any.  Blocks: no, but see ki_client_unref().  Since: 0.1 */
KI_API ki_call *ki_call_ref(ki_call *call);
KI_API ki_call *ki_call_unref(ki_call *call);

/* Short forms of ki_client_do(), with its errors. An object that is given back is the caller's:
 * release it with ki_object_unref(). `ret_object` may be NULL, but for ki_client_get().
 *
 * If the server refuses, *reterr_status is its Status, with the whole message (ki_status_message())
 * and its causes, where `error` has what fits; NULL after any other failure, and untouched on
 * success. The caller's, as well. `reterr_status` may be NULL.
 * Since: 0.1 */

KI_API KI_NODISCARD int ki_client_get(ki_client *client, const ki_resource *resource,
                                      const char *name_space, const char *name,
                                      ki_object **ret_object, ki_object **reterr_status,
                                      ki_error *error);

/** The whole list, in pages of 500.  Owner: release with ki_list_unref(). */
KI_API KI_NODISCARD int ki_client_list(ki_client *client, const ki_resource *resource,
                                       const char *name_space, const ki_list_options *options,
                                       ki_list **ret_list, ki_object **reterr_status,
                                       ki_error *error);

KI_API KI_NODISCARD int ki_client_create(ki_client *client, const ki_resource *resource,
                                         const ki_object *object, ki_object **ret_object,
                                         ki_object **reterr_status, ki_error *error);

/** The server refuses it (conflict) if the object has changed since the version that was read. */
KI_API KI_NODISCARD int ki_client_update(ki_client *client, const ki_resource *resource,
                                         const ki_object *object, ki_object **ret_object,
                                         ki_object **reterr_status, ki_error *error);

/** The same for the status alone. */
KI_API KI_NODISCARD int ki_client_update_status(ki_client *client, const ki_resource *resource,
                                                const ki_object *object, ki_object **ret_object,
                                                ki_object **reterr_status, ki_error *error);

KI_API KI_NODISCARD int ki_client_patch(ki_client *client, const ki_resource *resource,
                                        const char *name_space, const char *name,
                                        ki_patch_type type, ki_str patch, ki_object **ret_object,
                                        ki_object **reterr_status, ki_error *error);

/** Server-side apply of `object`, which has only the fields that `field_manager` wants to own. */
KI_API KI_NODISCARD int ki_client_apply(ki_client *client, const ki_resource *resource,
                                        const ki_object *object, const char *field_manager,
                                        bool force, ki_object **ret_object,
                                        ki_object **reterr_status, ki_error *error);

KI_API KI_NODISCARD int ki_client_delete(ki_client *client, const ki_resource *resource,
                                         const char *name_space, const char *name,
                                         ki_object **reterr_status, ki_error *error);

/** Calls `attempt`, which reads, changes and writes an object, until it returns something else than
 *  a conflict (ki_error_is_conflict() of its error): five times at most, with 10 ms and a little
 *  more between them. Returns what the last one returned.
 *  Thread: any but that of the loop.  Blocks: yes.
 *  Errors: KI_ERR_BUSY  called inside the loop;  whatever `attempt` returns.
 *  Since:  0.1 */
KI_API KI_NODISCARD int ki_client_retry_on_conflict(ki_client *client,
                                                    int (*attempt)(void *user, ki_error *error),
                                                    void *user, ki_error *error);

KI_END_DECLS

#endif
