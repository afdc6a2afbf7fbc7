/* SPDX-License-Identifier: Apache-2.0 */
/* One request and its answer. The request is done with when ki__api_exchange_new() returns, except
 * for a read that waits for a version to come; the answer is made while it is pulled. */
#ifndef KI_APISERVER_EXCHANGE_H
#define KI_APISERVER_EXCHANGE_H

#include <kinformer/object.h>
#include <kinformer/selector.h>
#include <kinformer/str.h>

#include "apiserver/api_failure.h"
#include "apiserver/route.h"
#include "apiserver/server.h"
#include "apiserver/validate/invalid.h"

typedef struct ki__api_header {
    ki_str name; /* in any case */
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
    KI__API_WAIT,    /* nothing yet: again at the deadline, or after the model changed */
    KI__API_DATA,    /* bytes */
    KI__API_END,     /* the answer is complete */
    KI__API_CUT,     /* the connection breaks here */
    KI__API_REFUSED, /* there never was a connection */
} ki__api_result;

typedef struct ki__api_exchange ki__api_exchange;

/** Takes a request, of which nothing is kept. Everything that is wrong with it becomes an answer.
 *  Errors: -ENOMEM: a write may have been made nevertheless, as when an answer is lost. */
int ki__api_exchange_new(ki__api_server *server, const ki__api_request *request,
                         ki__api_exchange **ret_exchange);

/** An exchange whose answer is known before the request is looked at: a failure, as a Status.
 * `text` is the message.  Errors: -ENOMEM. */
int ki__api_exchange_failure(ki__api_server *server, int code, ki_reason reason, const char *text,
                             ki__api_exchange **ret_exchange);

/** The same for success, with any JSON.  Errors: -ENOMEM, KI_ERR_LIMIT. */
int ki__api_exchange_json(ki__api_server *server, ki_str json, ki__api_exchange **ret_exchange);

/** At any time; the server does not notice. Always NULL; NULL is allowed. */
ki__api_exchange *ki__api_exchange_free(ki__api_exchange *exchange);

/** The next bytes of the body, at most `max` (not 0), valid until the next call. A ki__api_result;
 *  *ret_bytes is set for KI__API_DATA only.
 *  Errors: -ENOMEM: the same call again continues where it failed. */
int ki__api_exchange_next(ki__api_exchange *exchange, size_t max, ki_str *ret_bytes);

/** The HTTP status; 0 while the answer has not begun: pull first. */
int ki__api_exchange_status(const ki__api_exchange *exchange);

/* Headers of the answer, once it has a status. */
const char *ki__api_exchange_content_type(const ki__api_exchange *exchange);
/** Retry-After in seconds; 0: none. */
uint32_t ki__api_exchange_retry_after(const ki__api_exchange *exchange);

/** The warnings for the client, one after the other: NULL after the last. */
const char *ki__api_exchange_warning(const ki__api_exchange *exchange, size_t index);

/** When to pull again after KI__API_WAIT even if nothing changes, on the monotonic clock of the
 *  model; UINT64_MAX: never. */
uint64_t ki__api_exchange_deadline(const ki__api_exchange *exchange);

/* ---- for the files that make answers ---- */

typedef enum ki__api_stage {
    KI__API_STAGE_TEXT,  /* the answer is in `out` */
    KI__API_STAGE_FRESH, /* waits until the server has got to `wanted` */
    KI__API_STAGE_LIST,
    KI__API_STAGE_WATCH,
    KI__API_STAGE_END, /* all was said; `broken` tells how it ends */
} ki__api_stage;

/** How objects are shown. */
typedef enum ki__api_form {
    KI__API_FORM_OBJECT,
    KI__API_FORM_TABLE,
    KI__API_FORM_METADATA, /* as PartialObjectMetadata */
} ki__api_form;

/** What the body of a PATCH is. */
typedef enum ki__api_patch {
    KI__API_PATCH_MERGE,
    KI__API_PATCH_JSON,      /* the operations are the member "patch" of the body */
    KI__API_PATCH_STRATEGIC, /* of built-in resources only */
    KI__API_PATCH_APPLY,     /* an object to be applied */
} ki__api_patch;

/** The part of an exchange that is a watch. */
typedef struct ki__api_watch {
    ki__list link;       /* in the list of the server */
    ki__api_reader hold; /* keeps the changes that are still to be sent */
    uint64_t epoch;
    uint64_t after;    /* changes up to this version are not sent */
    uint64_t sequence; /* of the next change to look at */
    uint64_t changes;  /* sent so far */
    uint64_t
        end_after; /* the bookmark that ends the initial events is sent at this version or later */
    bool tell_end; /* it has not been sent yet */
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
    const ki__api_request *request; /* NULL once it was taken */
    ki__api_route route;
    ki__api_failure failure;
    ki__api_plan plan;
    ki__api_verb verb;
    ki__api_patch patch;
    ki__api_type *shown; /* what was requested; NULL if the failure came before it was known */
    ki__api_type *type;  /* where its objects are: the same, or another version of it */
    ki__api_stage stage;
    ki_encoding encoding;
    ki__api_form form;
    bool columns_told; /* to a watch of tables: they are sent once */
    int status;
    const char *content_type; /* NULL: that of the encoding */
    bool broken;              /* at the end the connection breaks */
    uint64_t not_before;      /* when the answer may begin */
    uint64_t taken;           /* bytes of the body handed out */
    ki_buf out;               /* bytes made and not yet handed out, from `sent` on */
    size_t sent;
    const ki_selector *labels; /* NULL: everything */
    const ki_field_selector *fields;
    uint64_t wanted; /* the version it waits for, until fresh_by */
    uint64_t fresh_by;
    uint64_t rv;       /* of the list, or of the initial events */
    ki_object **items; /* of the list, or the initial events */
    size_t item_count;
    size_t item_cap;
    size_t item_next;
    bool opened;         /* the beginning of the list was written */
    ki__invalid invalid; /* errors of the object that is written, so far */
    ki_buf warnings;     /* for the client, each with a NUL */
    size_t warning_count;
    ki_buf name;                 /* of an object that is created: a failure may speak of it */
    ki_buf managed;              /* who owns what of the object that is written, once it is known */
    bool managed_known;          /* else managedFields are as they come */
    const char *own_subresource; /* that the owner writes through; NULL: that of the route */
    ki_buf token;                /* for the rest of the list; empty: this is all */
    uint64_t remaining;
    bool tell_remaining;
    ki__api_watch watch;
};

/* Each verb makes the answer, or fills the failure. 0, or -ENOMEM. */
int ki__api_do_get(ki__api_exchange *x);
int ki__api_do_list(ki__api_exchange *x);
int ki__api_do_watch(ki__api_exchange *x);
int ki__api_do_create(ki__api_exchange *x);
int ki__api_do_update(ki__api_exchange *x); /* and patch */
int ki__api_do_delete(ki__api_exchange *x);
int ki__api_do_delete_collection(ki__api_exchange *x);
int ki__api_do_scale(ki__api_exchange *x);  /* GET, PUT and PATCH of the subresource */
int ki__api_do_review(ki__api_exchange *x); /* in place of a create */

/** Whether objects of a type are not kept, but answered at once. */
bool ki__api_is_review(const ki__api_type *type);

/** Adds the next piece of a list or a watch to `out`: 1 if there is more to add at once, 0 if not
 *  (the stage may be over), or -ENOMEM with everything as it was. */
int ki__api_list_fill(ki__api_exchange *x);
int ki__api_watch_fill(ki__api_exchange *x);

/** Takes a watch out of its server; fine for what is none. */
void ki__api_watch_close(ki__api_exchange *x);

/** Whether the server has got to `rv`. If not, the exchange now waits for it, or has failed because
 *  it waited long enough. The verb is called again. 1, 0, or -ENOMEM. */
int ki__api_is_fresh(ki__api_exchange *x, uint64_t rv);

/** The resource version of the request as a number; fills the failure if it is none. */
int ki__api_read_rv(ki__api_exchange *x, uint64_t *ret_rv);

/** Reads the selectors of the request; fills the failure if they are wrong. */
int ki__api_read_selectors(ki__api_exchange *x);

/** Whether an object of the exchange's type is one that it asks for. */
bool ki__api_matches(const ki__api_exchange *x, const ki_object *object);

/** Whether a key lies in the namespace that is requested. */
bool ki__api_in_scope(const ki__api_exchange *x, ki_str key);

/** Adds an object to the items. */
int ki__api_add_item(ki__api_exchange *x, ki_object *object);

/** 410 for a history that is gone. */
int ki__api_fail_expired(ki__api_exchange *x, uint64_t rv, uint64_t oldest);

/** The failure that the plan of the exchange names, with the reason that goes with its code. */
int ki__api_fail_as_planned(ki__api_exchange *x);

/** Answers with one object. */
int ki__api_answer_object(ki__api_exchange *x, int status, const ki_object *object);

#endif
