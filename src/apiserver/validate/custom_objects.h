/* SPDX-License-Identifier: Apache-2.0 */
/* Custom resources in requests: pruned and defaulted when decoded, validated before they are
 * stored. */
#ifndef KI_APISERVER_VALIDATE_CUSTOM_OBJECTS_H
#define KI_APISERVER_VALIDATE_CUSTOM_OBJECTS_H

#include "apiserver/exchange.h"

/** Prunes and defaults a received object: *ret_object, which may be the same object; NULL with the
 *  failure set if the request is strict about unknown fields. Otherwise unknown fields become
 *  warnings unless the request ignores them. 0 or -ENOMEM. */
int ki__api_coerce(ki__api_exchange *x, ki_object *object, ki_object **ret_object);

/** Sets the failure if the object does not match its schema. `old` is the object that it replaces;
 *  NULL: it is new. 0 or -ENOMEM. */
int ki__api_conform(ki__api_exchange *x, const ki_object *object, const ki_object *old,
                    const char *name);

/** Sets the failure if fieldValidation has an invalid value. 0 or -ENOMEM. */
int ki__api_check_field_validation(ki__api_exchange *x);

/** Adds a warning for the client: the concatenation of C strings up to NULL. 0 or -ENOMEM. */
int ki__api_warn(ki__api_exchange *x, ...);

#endif
