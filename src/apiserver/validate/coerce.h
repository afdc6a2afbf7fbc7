/* SPDX-License-Identifier: Apache-2.0 */
/* What a server makes of a custom resource before it looks whether it is valid: fields that the
 * schema does not know are removed, nulls that may not be are removed, and what is missing gets its
 * default. */
#ifndef KI_APISERVER_VALIDATE_COERCE_H
#define KI_APISERVER_VALIDATE_COERCE_H

#include <kinformer/buf.h>
#include <kinformer/object.h>

#include "apiserver/validate/structural.h"

enum { KI__UNKNOWN_MAX = 100 };

/** Paths of fields that were removed, such as "spec.replicsa". */
typedef struct ki__unknown {
    ki_buf texts; /* each with a NUL */
    size_t count; /* more than KI__UNKNOWN_MAX are not kept */
} ki__unknown;

void ki__unknown_init(ki__unknown *unknown, const ki_alloc *alloc);
void ki__unknown_done(ki__unknown *unknown);

/** The path that comes next in the order of bytes after `last`, which is NULL at first; NULL at the
 *  end. */
const char *ki__unknown_next(const ki__unknown *unknown, const char *last);

/** Makes the object that is meant; it is the same one if nothing changes.
 *  Errors: KI_ERR_LIMIT  too large;  -ENOMEM. */
int ki__coerce(const ki__structural *schema, ki_object *object, size_t max_bytes,
               ki__unknown *unknown, ki_object **ret_object);

#endif
