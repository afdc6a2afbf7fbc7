/* SPDX-License-Identifier: Apache-2.0 */
/* Whether a custom resource is as its schema says. */
#ifndef KI_APISERVER_VALIDATE_CONFORM_H
#define KI_APISERVER_VALIDATE_CONFORM_H

#include "apiserver/validate/invalid.h"
#include "apiserver/validate/structural.h"

/** Work for one object: a step is a small piece of the object looked at by one node. */
enum { KI__CONFORM_STEPS_MAX = 1 << 25 };

/** Adds the errors of a value by a node of the schema. `path` is where the value stands: "" for the
 *  whole object, or "status". What is as it was in `old`, which may be of KI_TYPE_NONE, is no
 * error: schemas change, and objects that were valid stay. Errors: KI_ERR_LIMIT  it takes too many
 * steps;  -ENOMEM. */
int ki__conform(const ki__structural *schema, uint32_t node, const ki_value *value,
                const ki_value *old, const char *path, ki__invalid *errors);

#endif
