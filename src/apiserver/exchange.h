/* SPDX-License-Identifier: Apache-2.0 */
/* One request and its response. The request is fully processed when ki__api_exchange_new() returns,
 * except for a read that waits for a future resourceVersion; the response is generated while it is
 * pulled. */
#ifndef KI_APISERVER_EXCHANGE_H
#define KI_APISERVER_EXCHANGE_H

#include <kinformer/encoding.h>
#include <kinformer/field_selector.h>
#include <kinformer/object.h>
#include <kinformer/selector.h>
#include <kinformer/str.h>

#include "apiserver/api_failure.h"
#include "apiserver/route.h"
#include "apiserver/server.h"
#include "apiserver/validate/invalid.h"
#include "object/selector/shard.h"

typedef struct ki__api_header {
    ki_str name; /* case-insensitive */
    ki_str value;
} ki__api_header;

typedef struct ki__api_request {
    ki_str method; /* "GET" */
    ki_str target; /* "/api/v1/pods?limit=5" */
    const ki__api_header *headers;
    size_t header_count;
    ki_str body;
} ki__api_request;

typedef enum ki__api_result {
    KI__API_WAIT,    /* no data yet: pull again at the deadline, or after the model changed */
    KI__API_DATA,    /* bytes */
    KI__API_END,     /* the response is complete */
    KI__API_CUT,     /* the connection breaks here */
    KI__API_REFUSED, /* the connection was refused */
} ki__api_result;

typedef struct ki__api_exchange ki__api_exchange;

/** Processes a request; keeps no pointers into it. Invalid requests get an error response.
 *  Errors: -ENOMEM: a write may have been made nevertheless, as when a response is lost. */
int ki__api_exchange_new(ki__api_server *server, const ki__api_request *request,
                         ki__api_exchange **ret_exchange);

/** An exchange with a predetermined failure, sent as a Status. `text` is the message.
 *  Errors: -ENOMEM. */
int ki__api_exchange_failure(ki__api_server *server, int code, ki_reason reason, const char *text,
                             ki__api_exchange **ret_exchange);

/** The same for success, with arbitrary JSON.  Errors: -ENOMEM, KI_ERR_LIMIT. */
int ki__api_exchange_json(ki__api_server *server, ki_str json, ki__api_exchange **ret_exchange);

/** Allowed at any time; has no effect on the server. Always returns NULL; NULL is allowed. */
ki__api_exchange *ki__api_exchange_free(ki__api_exchange *exchange);

/** The next bytes of the body, at most `max` (not 0), valid until the next call. Returns a
 *  ki__api_result; *ret_bytes is set for KI__API_DATA only.
 *  Errors: -ENOMEM: the next call continues from the same position. */
int ki__api_exchange_next(ki__api_exchange *exchange, size_t max, ki_str *ret_bytes);

/** The HTTP status; 0 until the response has begun, so pull first. */
int ki__api_exchange_status(const ki__api_exchange *exchange);

/* Response headers; valid once there is a status. */
const char *ki__api_exchange_content_type(const ki__api_exchange *exchange);
/** Retry-After in seconds; 0: none. */
uint32_t ki__api_exchange_retry_after(const ki__api_exchange *exchange);

/** The warnings for the client by index; NULL after the last. */
const char *ki__api_exchange_warning(const ki__api_exchange *exchange, size_t index);

/** When to pull again after KI__API_WAIT even if nothing changes, on the monotonic clock of the
 *  model; UINT64_MAX: never. */
uint64_t ki__api_exchange_deadline(const ki__api_exchange *exchange);

/* ---- internal: shared by the verbs ---- */

typedef enum ki__api_stage {
    KI__API_STAGE_TEXT,  /* the response is in `out` */
    KI__API_STAGE_FRESH, /* waits until the server has reached `wanted` */
    KI__API_STAGE_LIST,
    KI__API_STAGE_WATCH,
    KI__API_STAGE_END, /* everything was sent; `broken` selects how it ends */
} ki__api_stage;

/** Representation of objects in the response. */
typedef enum ki__api_form {
    KI__API_FORM_OBJECT,
    KI__API_FORM_TABLE,
    KI__API_FORM_METADATA, /* PartialObjectMetadata */
} ki__api_form;

/** Patch type of the body. */
typedef enum ki__api_patch {
    KI__API_PATCH_MERGE,
    KI__API_PATCH_JSON,      /* the operations are the member "patch" of the body */
    KI__API_PATCH_STRATEGIC, /* built-in resources only */
    KI__API_PATCH_APPLY,     /* server-side apply */
} ki__api_patch;

/** Watch state of an exchange. */
typedef struct ki__api_watch {
    ki__list link;       /* in the server's list of watches */
    ki__api_reader hold; /* pins the changes that are still to be sent */
    uint64_t epoch;
    uint64_t after;    /* only changes after this version are sent */
    uint64_t sequence; /* of the next change to check */
    uint64_t changes;  /* sent so far */
    uint64_t
        end_after; /* the bookmark that ends the initial events is sent at this version or later */
    bool initial_end_pending; /* that bookmark has not been sent yet */
    bool dropped;
    uint64_t bookmark_at; /* deadlines; UINT64_MAX: none */
    uint64_t last_bookmark_at;
    uint64_t end_at;
    uint64_t drop_at;
} ki__api_watch;

struct ki__api_exchange {
    ki__api_server *server;
    ki__api_model *model;
    const ki_alloc *alloc;
    const ki__api_request *request; /* NULL once it was parsed */
    ki__api_route route;
    ki__api_failure failure;
    ki__api_plan plan;
    ki__api_verb verb;
    ki__api_patch patch;
    ki__api_type *shown; /* the requested type; NULL if the request failed before it was resolved */
    ki__api_type *type;  /* the type that stores its objects: the same, or another version of it */
    ki__api_stage stage;
    ki_encoding encoding;
    ki__api_form form;
    bool columns_sent; /* watch of Tables: columns are sent only once */
    int status;
    const char *content_type; /* NULL: the encoding's own */
    bool broken;              /* break the connection at the end */
    uint64_t not_before;      /* when the response may begin */
    uint64_t taken;           /* body bytes handed out */
    ki_buf out;               /* bytes not yet handed out, starting at `sent` */
    size_t sent;
    const ki_selector *labels; /* NULL: everything */
    const ki_field_selector *fields;
    ki__shard shard; /* no ranges: everything */
    uint64_t wanted; /* the version it waits for, until fresh_by */
    uint64_t fresh_by;
    uint64_t rv;       /* of the list, or of the initial events */
    ki_object **items; /* of the list, or the initial events */
    size_t item_count;
    size_t item_cap;
    size_t item_next;
    bool opened;         /* the head of the list was written */
    ki__invalid invalid; /* validation errors of the object being written */
    ki_buf warnings;     /* for the client, each NUL-terminated */
    size_t warning_count;
    ki_buf name;                 /* of the object being created; used in failure messages */
    ki_buf managed;              /* managedFields of the object being written, once computed */
    bool managed_known;          /* otherwise managedFields are stored as sent */
    const char *own_subresource; /* recorded for the writing manager; NULL: that of the route */
    ki_buf token;                /* continue token; empty: last page */
    uint64_t remaining;
    bool send_remaining;
    ki__api_watch watch;
};

/* Each verb produces the response or sets the failure. 0 or -ENOMEM. */
int ki__api_do_get(ki__api_exchange *x);
int ki__api_do_list(ki__api_exchange *x);
int ki__api_do_watch(ki__api_exchange *x);
int ki__api_do_create(ki__api_exchange *x);
int ki__api_do_update(ki__api_exchange *x); /* and patch */
int ki__api_do_delete(ki__api_exchange *x);
int ki__api_do_delete_collection(ki__api_exchange *x);
int ki__api_do_scale(ki__api_exchange *x);  /* GET, PUT and PATCH of the subresource */
int ki__api_do_review(ki__api_exchange *x); /* replaces create */

/** Whether objects of a type are answered immediately instead of stored. */
bool ki__api_is_review(const ki__api_type *type);

/** Appends the next piece of a list or a watch to `out`: 1 if more is available immediately, 0 if
 *  not (the stage may have ended), or -ENOMEM with no effect. */
int ki__api_list_fill(ki__api_exchange *x);
int ki__api_watch_fill(ki__api_exchange *x);

/** Removes a watch from its server; no effect on exchanges that are not watches. */
void ki__api_watch_close(ki__api_exchange *x);

/** Whether the server has reached `rv`. If not, the exchange starts to wait for it and the verb is
 *  called again later, or it fails because the wait timed out. 1, 0, or -ENOMEM. */
int ki__api_is_fresh(ki__api_exchange *x, uint64_t rv);

/** Parses the resourceVersion of the request; sets the failure if it is invalid. */
int ki__api_read_rv(ki__api_exchange *x, uint64_t *ret_rv);

/** Parses the selectors of the request; sets the failure if they are invalid. */
int ki__api_read_selectors(ki__api_exchange *x);

/** Whether an object of the exchange's type matches the selectors. */
bool ki__api_matches(const ki__api_exchange *x, const ki_object *object);

/** Whether a key is in the requested namespace. */
bool ki__api_in_scope(const ki__api_exchange *x, ki_str key);

/** Appends an object to the items. */
int ki__api_add_item(ki__api_exchange *x, ki_object *object);

/** 410 because the history has expired. */
int ki__api_fail_expired(ki__api_exchange *x, uint64_t rv, uint64_t oldest);

/** Sets the failure of the exchange's fault plan, with the reason that belongs to its code. */
int ki__api_fail_as_planned(ki__api_exchange *x);

/** Responds with one object. */
int ki__api_respond_object(ki__api_exchange *x, int status, const ki_object *object);

#endif
