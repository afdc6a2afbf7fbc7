/* SPDX-License-Identifier: Apache-2.0 */
/* Checks that the schemas of a definition are structural: servers reject others, since they could
 * not be used to prune or default. */
#ifndef KI_APISERVER_VALIDATE_CRD_SCHEMA_H
#define KI_APISERVER_VALIDATE_CRD_SCHEMA_H

#include <kinformer/object.h>

#include "apiserver/validate/invalid.h"

/** Schema features that are not enforced. */
typedef struct ki__crd_notes {
    bool rules;    /* x-kubernetes-validations */
    bool patterns; /* some of them */
} ki__crd_notes;

/** Adds the errors of all schemas in a definition.
 *  Errors: KI_ERR_LIMIT  a schema is too large;  -ENOMEM. */
int ki__crd_check_schemas(ki_object *definition, const ki_alloc *alloc, ki__invalid *errors,
                          ki__crd_notes *ret_notes);

#endif
