/* SPDX-License-Identifier: Apache-2.0 */
/* A failed request, to be sent as a Status: as a whole response or inside a watch. */
#ifndef KI_APISERVER_API_FAILURE_H
#define KI_APISERVER_API_FAILURE_H

#include <kinformer/buf.h>
#include <kinformer/error.h>
#include <kinformer/object.h>

#include "apiserver/model.h"

enum { KI__API_CAUSES_MAX = 6 };

/** One of details.causes. Static text. */
typedef struct ki__api_cause {
    const char *reason; /* such as "FieldValueForbidden" */
    const char *message;
    const char *field; /* NULL: none */
} ki__api_cause;

typedef struct ki__api_failure {
    int code; /* HTTP; 0: it has not failed */
    ki_reason reason;
    ki_buf message;
    const char *name; /* of the object; NULL: none; these outlive the failure */
    const char *group;
    const char *kind; /* the resource, or the kind for Invalid, as servers have it */
    ki__api_cause causes[KI__API_CAUSES_MAX];
    size_t cause_count;
    ki_buf more_causes; /* as JSON, with commas between them */
    uint32_t retry_after_s;
    ki_buf token; /* to continue with, for a list that expired */
} ki__api_failure;

void ki__api_failure_init(ki__api_failure *failure, const ki_alloc *alloc);
void ki__api_failure_done(ki__api_failure *failure);

/** Forgets it: the request continues. */
void ki__api_failure_clear(ki__api_failure *failure);

/** Sets code, reason and message, which is the C strings up to NULL. 0, or -ENOMEM. */
int ki__api_fail(ki__api_failure *failure, int code, ki_reason reason, ...);

/* The common ones. Each gives 0, or -ENOMEM. */
int ki__api_fail_not_found(ki__api_failure *failure, const ki__api_type *type, const char *name);
int ki__api_fail_exists(ki__api_failure *failure, const ki__api_type *type, const char *name);
int ki__api_fail_conflict(ki__api_failure *failure, const ki__api_type *type, const char *name,
                          const char *why);
/** 504 with the cause that clients look for. */
int ki__api_fail_too_large(ki__api_failure *failure, uint64_t wanted, uint64_t current);

/** 422 for an object `name` of a type, or for the options if `type` is NULL: the beginning of the
 *  message, after which the errors are added. */
int ki__api_fail_invalid(ki__api_failure *failure, const ki__api_type *type, const char *name);

/** 422 for a field, of the object `name` of a type, or of the options if `type` is NULL. Called
 *  again, it adds another cause. */
int ki__api_fail_field(ki__api_failure *failure, const ki__api_type *type, const char *name,
                       const ki__api_cause *cause);

/** The same for an option of the request that must not be set. */
int ki__api_forbid_option(ki__api_failure *failure, const char *option, const char *message);

/** Appends the Status as JSON. */
int ki__api_failure_write(const ki__api_failure *failure, ki_buf *buf);

/** Appends a Status of success for an object that was deleted. */
int ki__api_success_write(const ki__api_type *type, const ki_object *object, ki_buf *buf);

#endif
