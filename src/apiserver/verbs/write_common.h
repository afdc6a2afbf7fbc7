/* SPDX-License-Identifier: Apache-2.0 */
/* What writes have in common: reading a body, naming, and putting the result into the model. */
#ifndef KI_APISERVER_VERBS_WRITE_COMMON_H
#define KI_APISERVER_VERBS_WRITE_COMMON_H

#include "apiserver/exchange.h"
#include "apiserver/verbs/garbage.h"

/** Reads the body as an object. *ret_object is NULL if there is none and `optional`, or if the
 *  failure was filled. 0 or -ENOMEM. */
int ki__api_read_body(ki__api_exchange *x, bool optional, ki_object **ret_object);

/** Checks that the body speaks of what the path names, and fills the failure if not. */
int ki__api_check_body(ki__api_exchange *x, const ki_object *body);

/** Appends the key of a name within the namespace of the request. */
int ki__api_make_key(const ki__api_exchange *x, const char *name, ki_buf *buf);

/** The object at the head that the path names; borrowed; NULL with the failure filled. */
int ki__api_find_target(ki__api_exchange *x, ki_object **ret_object);

/** Whether the request asks to change nothing; fills the failure if it says so wrongly. */
int ki__api_read_dry_run(ki__api_exchange *x, bool *ret_dry_run);

/** Fills the failure for an error of composing or writing; -ENOMEM is passed on. */
int ki__api_fail_write(ki__api_exchange *x, int r);

/** Checks an object of a built-in kind against its schema, as decoding it would: fills the failure
 *  if a member is of a wrong type. So whatever is stored can be sent in both encodings. */
int ki__api_check_schema(ki__api_exchange *x, const ki_object *object);

/** Fills the failure if the request is strict about fields (fieldValidation) and the object has one
 *  that its built-in kind does not. 0 or -ENOMEM. */
int ki__api_check_fields(ki__api_exchange *x, const ki_object *object);

/** Whether the request applies an object. */
static inline bool ki__api_is_apply(const ki__api_exchange *x)
{
    return x->verb == KI__API_PATCH && x->patch == KI__API_PATCH_APPLY;
}

/** Fills the failure for an object that is not one of its kind. Real servers take that for a
 * failure of theirs if the object was to be applied. */
int ki__api_fail_kind(ki__api_exchange *x, const char *why, const char *more, const char *end);

/** Whether an object has finalizers. */
bool ki__api_has_finalizers(const ki_object *object);

/** What a patch, of the type that the exchange has found, makes of an object; NULL with the failure
 *  filled. */
int ki__api_patch_object(ki__api_exchange *x, const ki_object *patch, const ki_object *old,
                         ki_object **ret_object);

/** Makes the managedFields for a body that is created, if `old` is NULL, or changes `old`:
 * x->managed, if they are kept for this object. 0 or -ENOMEM. */
int ki__api_track(ki__api_exchange *x, const ki_object *body, const ki_object *old);

/** What applying an object makes of `old`, or of nothing if that is NULL; and the managedFields for
 *  it. NULL with the failure filled. */
int ki__api_apply_object(ki__api_exchange *x, const ki_object *config, const ki_object *old,
                         ki_object **ret_object);

/** Fills the failure if the request says wrongly who writes, or how. 0 or -ENOMEM. */
int ki__api_check_options(ki__api_exchange *x);

/** Makes the failure one of the options of the request. */
void ki__api_name_options(ki__api_exchange *x);

/** Fills the failure for a parameter of a write. */
int ki__api_fail_option(ki__api_exchange *x, const ki__api_cause *cause);

/** Changes an object to what the body says, and answers with it. */
int ki__api_update_object(ki__api_exchange *x, const ki_object *body, ki_object *old);

/** Removes an object from the model: writes its deletion. *ret_object, if requested, is its last
 *  state. */
int ki__api_remove(ki__api_model *model, ki__api_type *type, ki_object *object,
                   ki_object **ret_object);

/** Deletes an object: removes it, or marks it if it has finalizers, gets one by the policy, or is a
 *  namespace that has to be emptied first. *ret_object is how it is now, or was last; *ret_gone
 *  tells which. */
int ki__api_delete_object(ki__api_model *model, ki__api_type *type, ki_object *object,
                          ki__api_policy policy, ki_object **ret_object, bool *ret_gone);

/** Whether deleting an object leaves it there for the time being. */
bool ki__api_deletion_waits(const ki__api_model *model, const ki__api_type *type,
                            const ki_object *object, ki__api_policy policy);

#endif
