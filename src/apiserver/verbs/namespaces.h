/* SPDX-License-Identifier: Apache-2.0 */
/* Namespaces as the model keeps them if its option says so: objects live only in those that exist,
 * and deleting one deletes all that is in it. */
#ifndef KI_APISERVER_VERBS_NAMESPACES_H
#define KI_APISERVER_VERBS_NAMESPACES_H

#include "apiserver/api_failure.h"
#include "apiserver/model.h"

/** Makes the namespaces that every cluster has, unless there are some already. 0 or -ENOMEM. */
int ki__api_namespaces_create(ki__api_model *model);

/** Fills the failure if an object of this type may not be made in a namespace. 0 or -ENOMEM. */
int ki__api_namespaces_check(ki__api_model *model, const ki__api_type *type, const char *name,
                             const char *name_space, ki__api_failure *failure);

/** Whether deleting an object of this type means emptying it first. */
bool ki__api_namespaces_is_namespace(const ki__api_model *model, const ki__api_type *type);

/** Goes on with the deletion of a namespace, if it is being deleted: deletes what is in it, and the
 *  namespace itself once it is empty and has no finalizers. Does nothing for others. 0 or -ENOMEM,
 *  after which another call continues. */
int ki__api_namespaces_sweep(ki__api_model *model, const char *name_space);

#endif
