/* SPDX-License-Identifier: Apache-2.0 */
/* Custom resources: a CustomResourceDefinition that is written makes the server serve what it
 * defines, and one that is removed takes its objects with it. All versions show the same objects,
 * as they were written, with another apiVersion. */
#ifndef KI_APISERVER_VALIDATE_CRD_H
#define KI_APISERVER_VALIDATE_CRD_H

#include "apiserver/api_failure.h"
#include "apiserver/model.h"

/** Whether a type is that of the definitions. */
bool ki__api_crd_is(const ki__api_type *type);

/** Fills the failure if an object does not define anything. `name` is its name, and outlives the
 *  failure. 0 or -ENOMEM. */
int ki__api_crd_check(const ki__api_model *model, const ki__api_type *type,
                      const ki_object *definition, const char *name, ki__api_failure *failure);

/** Appends the status of a definition: its names are accepted, and it is established. */
int ki__api_crd_status(const ki__api_model *model, const ki_object *definition, ki_buf *buf);

/** Serves what a definition, which was checked, defines; and no more what it has ceased to.
 *  Errors: KI_ERR_LIMIT, -ENOMEM. */
int ki__api_crd_serve(ki__api_model *model, ki_object *definition);

/** Ends it: deletes all objects, and serves them no more. 0, or -ENOMEM, with some of it done. */
int ki__api_crd_remove(ki__api_model *model, const ki_object *definition);

#endif
