/* SPDX-License-Identifier: Apache-2.0 */
/* Validation of object metadata for all kinds: names, labels, annotations, owner references,
 * finalizers and immutable fields. */
#ifndef KI_APISERVER_VALIDATE_METADATA_H
#define KI_APISERVER_VALIDATE_METADATA_H

#include <kinformer/object.h>

#include "apiserver/exchange.h"
#include "apiserver/validate/invalid.h"

enum { KI__ANNOTATIONS_MAX = 256 << 10 };

#define KI__FINALIZER_ORPHAN "orphan"
#define KI__FINALIZER_FOREGROUND "foregroundDeletion"

/** Adds the errors of labels, annotations, owner references and finalizers. `base` is the path of
 *  the metadata. `kube`: finalizers need a domain, as for built-in kinds. 0 or -ENOMEM. */
int ki__metadata_check_common(const ki_value *metadata, const char *base, bool kube,
                              ki__invalid *errors);

/** Adds the metadata errors of an object to be created under a name. */
int ki__metadata_check_new(const ki__api_type *type, const ki_object *object, ki_str name,
                           ki__invalid *errors);

/** Adds the metadata errors of an object that is to replace `old`. `whole`: the object may be
 *  imported, with times set by another server. */
int ki__metadata_check_update(const ki__api_type *type, const ki_object *object,
                              const ki_object *old, bool whole, ki__invalid *errors);

/** Sets the failure if metadata members of a custom resource have wrong types; for built-in kinds
 *  the schema of the kind is used. 0 or -ENOMEM. */
int ki__metadata_check_types(ki__api_exchange *x, const ki_object *object);

#endif
