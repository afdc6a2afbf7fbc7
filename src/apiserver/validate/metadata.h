/* SPDX-License-Identifier: Apache-2.0 */
/* Whether the metadata of an object are valid, whatever its kind: names, labels, annotations, owner
 * references and finalizers, and what an update may not change. */
#ifndef KI_APISERVER_VALIDATE_METADATA_H
#define KI_APISERVER_VALIDATE_METADATA_H

#include <kinformer/object.h>

#include "apiserver/exchange.h"
#include "apiserver/validate/invalid.h"

enum { KI__ANNOTATIONS_MAX = 256 << 10 };

#define KI__FINALIZER_ORPHAN "orphan"
#define KI__FINALIZER_FOREGROUND "foregroundDeletion"

/** Adds the errors of labels, annotations, owner references and finalizers. `base` is the path of
 *  the metadata. `kube`: finalizers need a domain, as those of built-in kinds do. 0 or -ENOMEM. */
int ki__metadata_check_common(const ki_value *metadata, const char *base, bool kube,
                              ki__invalid *errors);

/** Adds the errors of the metadata of an object that shall be created under a name. */
int ki__metadata_check_new(const ki__api_type *type, const ki_object *object, ki_str name,
                           ki__invalid *errors);

/** Adds the errors of the metadata of an object that shall replace `old`. `whole`: the object may
 *  come from elsewhere, with times that another server has set. */
int ki__metadata_check_update(const ki__api_type *type, const ki_object *object,
                              const ki_object *old, bool whole, ki__invalid *errors);

/** Fills the failure if members of the metadata of a custom resource are not of their types: those
 *  of built-in kinds are checked by the schema of the kind. 0 or -ENOMEM. */
int ki__metadata_check_types(ki__api_exchange *x, const ki_object *object);

#endif
