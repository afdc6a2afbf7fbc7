/* SPDX-License-Identifier: Apache-2.0 */
/* Custom resources in requests: pruned and defaulted when they are read, validated before they are
 * stored. */
#ifndef KI_APISERVER_VALIDATE_CUSTOM_OBJECTS_H
#define KI_APISERVER_VALIDATE_CUSTOM_OBJECTS_H

#include "apiserver/exchange.h"

/** What the schema makes of an object that was sent: *ret_object, which may be the same one; NULL
 *  with the failure filled if the request is strict about unknown fields. Unknown fields become
 *  warnings, unless the request says that they are ignored. 0 or -ENOMEM. */
int ki__api_coerce(ki__api_exchange *x, ki_object *object, ki_object **ret_object);

/** Fills the failure if the object is not as its schema says. `old` is what it replaces; NULL: it
 * is new. 0 or -ENOMEM. */
int ki__api_conform(ki__api_exchange *x, const ki_object *object, const ki_object *old,
                    const char *name);

/** Fills the failure if the request says wrongly what to do with unknown fields. 0 or -ENOMEM. */
int ki__api_check_field_validation(ki__api_exchange *x);

/** Adds a warning for the client: C strings up to NULL. 0 or -ENOMEM. */
int ki__api_warn(ki__api_exchange *x, ...);

#endif
