/* SPDX-License-Identifier: Apache-2.0 */
/* Requests to the API server: read, write, patch, apply and delete objects, one at a time. To keep
 * track of objects permanently, use an informer.
 *
 *   r = ki_client_get(client, KI_CORE_V1_PODS, "default", "web", &pod, NULL, &error);
 *   if (r == KI_ERR_NOT_FOUND) ...
 *
 * A request waits for its response; see call.h for requests that pass it to a callback. Requests
 * that the server asks to retry later are retried, up to ten times; the last response is the
 * result. If the server refuses the request, it is an error with its Status (see status.h). */
#ifndef KINFORMER_REQUEST_H
#define KINFORMER_REQUEST_H

#include <kinformer/client.h>
#include <kinformer/defs.h>
#include <kinformer/edit.h>
#include <kinformer/error.h>
#include <kinformer/list.h>
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
    KI_VERB_RAW, /* uses `method` and `path` directly; the response contains the bytes */
    KI_VERB_MAX
} ki_verb;

/** What happens to the dependents of a deleted object. */
typedef enum ki_propagation {
    KI_PROPAGATION_DEFAULT, /* the server's choice */
    KI_PROPAGATION_BACKGROUND,
    KI_PROPAGATION_FOREGROUND,
    KI_PROPAGATION_ORPHAN,
    KI_PROPAGATION_MAX
} ki_propagation;

/** The default time limit of a request, including all retries. */
#define KI_REQUEST_TIMEOUT_MS 60000

/** A request. Everything is copied or referenced when it is passed; strings may be NULL, which is
 *  the same as "". */
typedef struct ki_request {
    size_t size; /* see KI_OPTIONS_INIT */
    ki_verb verb;
    const ki_resource *resource; /* required, except for KI_VERB_RAW */

    /** For one object: "" is that of `object`, otherwise that of the configuration. For a list, ""
     *  is all namespaces; deleting a collection requires one if the resource is namespaced. Must be
     *  "" for cluster-scoped resources. */
    const char *name_space;
    const char *name;        /* "": that of `object` */
    const char *subresource; /* such as "status"; "": the object itself */

    /* The content to send: one of the two. A patch is JSON text; an applied configuration is JSON
     * text or an object. */
    const ki_object *object; /* sent in its own encoding */
    ki_str body;             /* JSON; the name for the URL must be in `name` */
    ki_patch_type patch_type;

    const char *field_manager;    /* required for KI_VERB_APPLY */
    const char *field_validation; /* "Strict", "Warn", "Ignore" or "" */
    bool force;                   /* apply: take over fields of other managers */
    bool dry_run;

    /** For lists and for deleting collections; for GET: resource_version. */
    const ki_list_options *list;

    /* For deletions. */
    ki_propagation propagation;
    bool at_once;           /* no grace period */
    uint32_t grace_ms;      /* grace period, rounded up to seconds; 0: the server's default */
    const char *uid;        /* precondition: the object has this uid */
    const char *if_version; /* precondition: the object has this resourceVersion */

    bool json;           /* response in JSON; otherwise protobuf for kinds that support it */
    uint32_t timeout_ms; /* 0: that of the client; UINT32_MAX: no limit */
    bool no_retry;       /* send the request once only */

    /* For KI_VERB_RAW. */
    const char *method;       /* "": GET */
    const char *path;         /* from the root of the server, encoded: "/version" */
    const char *query;        /* encoded, without '?' */
    const char *accept;       /* "": application/json */
    const char *content_type; /* of `body`; "": application/json */
} ki_request;

/** A response. Members that do not apply to the request are NULL or empty. */
typedef struct ki_response {
    size_t size;       /* see KI_OPTIONS_INIT */
    int http_code;     /* of the last attempt; 0: no response */
    ki_object *object; /* the object; for deletions the deleted object or a Status; on failure the
                          Status, if there is one */
    ki_list *list;     /* for KI_VERB_LIST, in the server's order; for KI_VERB_DELETE_COLLECTION the
                          deleted objects, if the server returns them */
    const char *resource_version; /* of the list */
    const char *continue_token;   /* of the list; "" at its end */
    int64_t remaining;            /* objects after this page, if the server sent it; otherwise -1 */
    uint64_t unread; /* undecodable objects of the list, which are not in it; each was reported to
                        `on_report` of ki_loop_options */
    ki_str body;     /* of KI_VERB_RAW; on failure, the beginning */
    ki_str content_type;               /* of KI_VERB_RAW */
    struct ki_response_memory *memory; /* private */
} ki_response;

/** Frees the content of a response, and clears it. The response may be zeroed.
 *  Thread: any.  Blocks: no.  Since: 0.1 */
KI_API void ki_response_done(ki_response *response);

/** Makes a request and waits for its response. With a loop that no thread runs at this time, the
 *  caller runs it until the response has arrived or another thread starts to run it. `ret_response`
 * may be NULL; it is also set on failure (see `object` there), and must be released with
 *  ki_response_done() in any case.
 *  Thread: any except the client's thread.  Blocks: yes.
 *  Errors: KI_ERR_NOT_FOUND  the server has no such object or resource (404);
 *          KI_ERR_EXISTS   the object to be created already exists;
 *          KI_ERR_STATUS   the server refused the request for another reason: see status.h;
 *          KI_ERR_INVALID, -EINVAL  invalid names; missing or conflicting members;
 *          -ETIMEDOUT;  KI_ERR_TLS, -ECONNREFUSED and so on: no connection;
 *          KI_ERR_LIMIT    the response is too large;  KI_ERR_SYNTAX and so on: it is undecodable;
 *          KI_ERR_BUSY     called on the client's thread, where it would wait forever;
 *          KI_ERR_STOPPED  the client's loop was stopped;  -ENOMEM, -E2BIG.
 *  Since:  0.1 */
KI_API KI_NODISCARD int ki_client_do(ki_client *client, const ki_request *request,
                                     ki_response *ret_response, ki_error *error);

/* Short forms of ki_client_do(), with its errors. The caller owns returned objects: release them
 * with ki_object_unref(). `ret_object` may be NULL, except for ki_client_get().
 *
 * If the server refuses the request, *reterr_status is its Status, with the complete message
 * (ki_status_message()) and its causes, which may be truncated in `error`; NULL after any other
 * failure, and unchanged on success. The caller owns it too. `reterr_status` may be NULL.
 * Since: 0.1 */

/** Gets an object by name. */
KI_API KI_NODISCARD int ki_client_get(ki_client *client, const ki_resource *resource,
                                      const char *name_space, const char *name,
                                      ki_object **ret_object, ki_object **reterr_status,
                                      ki_error *error);

/** Lists all objects, in pages of 500.  Owner: caller; release with ki_list_unref(). */
KI_API KI_NODISCARD int ki_client_list(ki_client *client, const ki_resource *resource,
                                       const char *name_space, const ki_list_options *options,
                                       ki_list **ret_list, ki_object **reterr_status,
                                       ki_error *error);

/** Creates an object. */
KI_API KI_NODISCARD int ki_client_create(ki_client *client, const ki_resource *resource,
                                         const ki_object *object, ki_object **ret_object,
                                         ki_object **reterr_status, ki_error *error);

/** Replaces an object. The server refuses it with a conflict if the object has changed since the
 *  resourceVersion that was read. */
KI_API KI_NODISCARD int ki_client_update(ki_client *client, const ki_resource *resource,
                                         const ki_object *object, ki_object **ret_object,
                                         ki_object **reterr_status, ki_error *error);

/** Replaces the status of an object. As ki_client_update(). */
KI_API KI_NODISCARD int ki_client_update_status(ki_client *client, const ki_resource *resource,
                                                const ki_object *object, ki_object **ret_object,
                                                ki_object **reterr_status, ki_error *error);

/** Patches an object. */
KI_API KI_NODISCARD int ki_client_patch(ki_client *client, const ki_resource *resource,
                                        const char *name_space, const char *name,
                                        ki_patch_type type, ki_str patch, ki_object **ret_object,
                                        ki_object **reterr_status, ki_error *error);

/** Applies `object` (server-side apply), which has only the fields that `field_manager` owns. */
KI_API KI_NODISCARD int ki_client_apply(ki_client *client, const ki_resource *resource,
                                        const ki_object *object, const char *field_manager,
                                        bool force, ki_object **ret_object,
                                        ki_object **reterr_status, ki_error *error);

/** Deletes an object. */
KI_API KI_NODISCARD int ki_client_delete(ki_client *client, const ki_resource *resource,
                                         const char *name_space, const char *name,
                                         ki_object **reterr_status, ki_error *error);

/** Deletes this object, whatever its current version. If the server has another object with its
 *  name, but another uid, the response is a conflict. */
KI_API KI_NODISCARD int ki_client_delete_object(ki_client *client, const ki_resource *resource,
                                                const ki_object *object, ki_object **reterr_status,
                                                ki_error *error);

/** Retries a change after conflicts: calls `attempt`, which reads, changes and writes an object,
 *  until it returns something other than a conflict (ki_error_is_conflict() of its error), at most
 *  five times, with slightly more than 10 ms between them. Returns the result of the last call.
 *  Thread: any except the client's thread.  Blocks: yes.
 *  Errors: KI_ERR_BUSY  called on the client's thread;  whatever `attempt` returns.
 *  Since:  0.1 */
KI_API KI_NODISCARD int ki_client_retry_on_conflict(ki_client *client,
                                                    int (*attempt)(void *user, ki_error *error),
                                                    void *user, ki_error *error);

KI_END_DECLS

#endif
