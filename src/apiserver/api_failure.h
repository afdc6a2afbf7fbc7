/* SPDX-License-Identifier: Apache-2.0 */
/* A failed request, sent as a Status: as the whole response or as an event of a watch. */
#ifndef KI_APISERVER_API_FAILURE_H
#define KI_APISERVER_API_FAILURE_H

#include <kinformer/buf.h>
#include <kinformer/error.h>
#include <kinformer/object.h>

#include "apiserver/model.h"

enum { KI__API_CAUSES_MAX = 6 };

/** One entry of details.causes. Static text. */
typedef struct ki__api_cause {
    const char *reason; /* such as "FieldValueForbidden" */
    const char *message;
    const char *field; /* NULL: none */
} ki__api_cause;

typedef struct ki__api_failure {
    int code; /* HTTP status; 0: not failed */
    ki_reason reason;
    ki_buf message;
    const char *name; /* of the object; NULL: none; these strings outlive the failure */
    const char *group;
    const char *kind; /* the resource, or the kind if the reason is Invalid, as in kube-apiserver */
    ki__api_cause causes[KI__API_CAUSES_MAX];
    size_t cause_count;
    ki_buf more_causes; /* as JSON, comma-separated */
    uint32_t retry_after_s;
    ki_buf token; /* continue token for an expired list */
} ki__api_failure;

void ki__api_failure_init(ki__api_failure *failure, const ki_alloc *alloc);
void ki__api_failure_done(ki__api_failure *failure);

/** Clears the failure; the request continues. */
void ki__api_failure_clear(ki__api_failure *failure);

/** Sets code, reason and message; the message is the concatenation of the C strings up to NULL. 0
 *  or -ENOMEM. */
int ki__api_fail(ki__api_failure *failure, int code, ki_reason reason, ...);

/* Common failures. Each returns 0 or -ENOMEM. */
int ki__api_fail_not_found(ki__api_failure *failure, const ki__api_type *type, const char *name);
int ki__api_fail_exists(ki__api_failure *failure, const ki__api_type *type, const char *name);
int ki__api_fail_conflict(ki__api_failure *failure, const ki__api_type *type, const char *name,
                          const char *why);
/** 504 with the cause that clients check for. */
int ki__api_fail_too_large(ki__api_failure *failure, uint64_t wanted, uint64_t current);

/** 422 for object `name` of a type, or for the request options if `type` is NULL. Sets the start of
 *  the message; errors are appended to it. */
int ki__api_fail_invalid(ki__api_failure *failure, const ki__api_type *type, const char *name);

/** 422 for a field of object `name` of a type, or of the request options if `type` is NULL. Each
 *  further call adds a cause. */
int ki__api_fail_field(ki__api_failure *failure, const ki__api_type *type, const char *name,
                       const ki__api_cause *cause);

/** The same for a request option that must not be set. */
int ki__api_forbid_option(ki__api_failure *failure, const char *option, const char *message);

/** Appends the Status as JSON. */
int ki__api_failure_write(const ki__api_failure *failure, ki_buf *buf);

/** Appends a Status that reports the deletion of an object. */
int ki__api_success_write(const ki__api_type *type, const ki_object *object, ki_buf *buf);

#endif
