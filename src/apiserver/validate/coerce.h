/* SPDX-License-Identifier: Apache-2.0 */
/* Preprocessing of custom resources before validation: prunes fields unknown to the schema, removes
 * nulls of non-nullable fields, and sets defaults. */
#ifndef KI_APISERVER_VALIDATE_COERCE_H
#define KI_APISERVER_VALIDATE_COERCE_H

#include <kinformer/buf.h>
#include <kinformer/object.h>

#include "apiserver/validate/structural.h"

enum { KI__UNKNOWN_MAX = 100 };

/** Paths of the removed fields, such as "spec.replicsa". */
typedef struct ki__unknown {
    ki_buf texts; /* each NUL-terminated */
    size_t count; /* at most KI__UNKNOWN_MAX are kept */
} ki__unknown;

void ki__unknown_init(ki__unknown *unknown, const ki_alloc *alloc);
void ki__unknown_done(ki__unknown *unknown);

/** The next path after `last` in byte order; pass NULL first. NULL at the end. */
const char *ki__unknown_next(const ki__unknown *unknown, const char *last);

/** Returns the pruned and defaulted object; the same object if nothing changes.
 *  Errors: KI_ERR_LIMIT  too large;  -ENOMEM. */
int ki__coerce(const ki__structural *schema, ki_object *object, size_t max_bytes,
               ki__unknown *unknown, ki_object **ret_object);

#endif
