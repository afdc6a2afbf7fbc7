/* SPDX-License-Identifier: Apache-2.0 */
/* Common to all writes: decoding a body, naming, and storing the result in the model. */
#ifndef KI_APISERVER_VERBS_WRITE_COMMON_H
#define KI_APISERVER_VERBS_WRITE_COMMON_H

#include "apiserver/exchange.h"
#include "apiserver/verbs/garbage.h"

/** Decodes the body as an object. *ret_object is NULL if there is none and `optional`, or if the
 *  failure was set. 0 or -ENOMEM. */
int ki__api_read_body(ki__api_exchange *x, bool optional, ki_object **ret_object);

/** Sets the failure if the body does not match the path. */
int ki__api_check_body(ki__api_exchange *x, const ki_object *body);

/** Appends the key for a name in the namespace of the request. */
int ki__api_make_key(const ki__api_exchange *x, const char *name, ki_buf *buf);

/** The object of the path at the head; borrowed; NULL with the failure set. */
int ki__api_find_target(ki__api_exchange *x, ki_object **ret_object);

/** Whether the request is a dry run; sets the failure if the parameter is invalid. */
int ki__api_read_dry_run(ki__api_exchange *x, bool *ret_dry_run);

/** Sets the failure for an error of composing or writing; -ENOMEM is passed on. */
int ki__api_fail_write(ki__api_exchange *x, int r);

/** Sets the failure if a member of a built-in kind has a wrong type, as decoding would. This
 *  ensures that everything stored can be sent in both encodings. */
int ki__api_check_schema(ki__api_exchange *x, const ki_object *object);

/** Sets the failure if fieldValidation is strict and the object has a field that its built-in kind
 *  does not. 0 or -ENOMEM. */
int ki__api_check_fields(ki__api_exchange *x, const ki_object *object);

/** Whether the request is a server-side apply. */
static inline bool ki__api_is_apply(const ki__api_exchange *x)
{
    return x->verb == KI__API_PATCH && x->patch == KI__API_PATCH_APPLY;
}

/** Sets the failure for an object that does not match its kind. kube-apiserver responds with an
 *  internal error if the object was to be applied. */
int ki__api_fail_kind(ki__api_exchange *x, const char *why, const char *more, const char *end);

/** Whether an object has finalizers. */
bool ki__api_has_finalizers(const ki_object *object);

/** Applies a patch, of the type found for the exchange, to an object; NULL with the failure set. */
int ki__api_patch_object(ki__api_exchange *x, const ki_object *patch, const ki_object *old,
                         ki_object **ret_object);

/** Computes managedFields for a body that is created (`old` is NULL) or changes `old`: x->managed,
 *  if they are tracked for this object. 0 or -ENOMEM. */
int ki__api_track(ki__api_exchange *x, const ki_object *body, const ki_object *old);

/** Applies an object to `old`, or to nothing if that is NULL, and computes its managedFields. NULL
 *  with the failure set. */
int ki__api_apply_object(ki__api_exchange *x, const ki_object *config, const ki_object *old,
                         ki_object **ret_object);

/** Sets the failure if fieldManager or force is invalid. 0 or -ENOMEM. */
int ki__api_check_options(ki__api_exchange *x);

/** Reports the failure as one of the request options. */
void ki__api_name_options(ki__api_exchange *x);

/** Sets the failure for a parameter of a write. */
int ki__api_fail_option(ki__api_exchange *x, const ki__api_cause *cause);

/** Updates an object to the body, and responds with it. */
int ki__api_update_object(ki__api_exchange *x, const ki_object *body, ki_object *old);

/** Writes the deletion of an object to the model. *ret_object, if not NULL, is its last state. */
int ki__api_remove(ki__api_model *model, ki__api_type *type, ki_object *object,
                   ki_object **ret_object);

/** Deletes an object: removes it, or marks it if it has finalizers, gets one by the policy, or is a
 *  namespace that must be emptied first. *ret_object is its new or last state; *ret_gone says
 *  which. */
int ki__api_delete_object(ki__api_model *model, ki__api_type *type, ki_object *object,
                          ki__api_policy policy, ki_object **ret_object, bool *ret_gone);

/** Whether deleting an object only marks it for now. */
bool ki__api_deletion_is_deferred(const ki__api_model *model, const ki__api_type *type,
                                  const ki_object *object, ki__api_policy policy);

#endif
