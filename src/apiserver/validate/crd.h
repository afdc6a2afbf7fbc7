/* SPDX-License-Identifier: Apache-2.0 */
/* Custom resources: writing a CustomResourceDefinition serves the resource that it defines;
 * removing it deletes its objects. All versions return the same objects, as they were written, with
 * a different apiVersion. */
#ifndef KI_APISERVER_VALIDATE_CRD_H
#define KI_APISERVER_VALIDATE_CRD_H

#include "apiserver/api_failure.h"
#include "apiserver/model.h"

/** Whether a type is customresourcedefinitions. */
bool ki__api_crd_is(const ki__api_type *type);

/** Sets the failure if an object is not a valid definition. `name` is its name, and outlives the
 *  failure. 0 or -ENOMEM. */
int ki__api_crd_check(const ki__api_model *model, const ki__api_type *type,
                      const ki_object *definition, const char *name, ki__api_failure *failure);

/** Appends the status of a definition: names accepted, established. */
int ki__api_crd_status(const ki__api_model *model, const ki_object *definition, ki_buf *buf);

/** Serves the versions of a validated definition, and stops serving those it no longer has.
 *  Errors: KI_ERR_LIMIT, -ENOMEM. */
int ki__api_crd_serve(ki__api_model *model, ki_object *definition);

/** Stops serving the resource and deletes all its objects. 0, or -ENOMEM when partially done. */
int ki__api_crd_remove(ki__api_model *model, const ki_object *definition);

#endif
