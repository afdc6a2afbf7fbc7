/* SPDX-License-Identifier: Apache-2.0 */
/* Validation of custom resources against their schema. */
#ifndef KI_APISERVER_VALIDATE_CONFORM_H
#define KI_APISERVER_VALIDATE_CONFORM_H

#include "apiserver/validate/invalid.h"
#include "apiserver/validate/structural.h"

/** Work limit per object; a step is a small piece of the object checked against one node. */
enum { KI__CONFORM_STEPS_MAX = 1 << 25 };

/** Adds the validation errors of a value against a schema node. `path` is the location of the
 *  value: "" for the whole object, or "status". Values unchanged since `old`, which may be of
 *  KI_TYPE_NONE, are accepted: schemas change, and objects that were valid remain so.
 *  Errors: KI_ERR_LIMIT  too many steps;  -ENOMEM. */
int ki__conform(const ki__structural *schema, uint32_t node, const ki_value *value,
                const ki_value *old, const char *path, ki__invalid *errors);

#endif
