/* SPDX-License-Identifier: Apache-2.0 */
/* Writing objects in one call: short forms of requests (request.h) for edits (edit.h) and JSON
 * writers (json.h).
 *
 *   static void fill(ki_edit *edit, void *user)
 *   {
 *       const ki_object *website = user;
 *       ki_edit_add_owner(edit, website, true);
 *       ki_edit_set_string(edit, "data.title", ki_object_name(website));
 *   }
 *
 *   r = ki_client_create_or_patch(client, KI_CORE_V1_CONFIGMAPS, "web", "shop", cached, fill,
 *                                 website, NULL, &error);
 *
 * The caller owns *ret_object; release it with ki_object_unref(). `ret_object` may be NULL.
 * Thread: any except the client's thread.  Blocks: yes.
 * Errors: those of ki_client_do(), and those named below. */
#ifndef KINFORMER_WRITE_H
#define KINFORMER_WRITE_H

#include <kinformer/client.h>
#include <kinformer/defs.h>
#include <kinformer/edit.h>
#include <kinformer/error.h>
#include <kinformer/json.h>
#include <kinformer/object.h>
#include <kinformer/resource.h>

KI_BEGIN_DECLS

/** The effect of a write. */
typedef enum ki_written {
    KI_WRITTEN_NOTHING, /* no difference: nothing was sent */
    KI_WRITTEN_CREATED,
    KI_WRITTEN_PATCHED,
    KI_WRITTEN_MAX
} ki_written;

/** Changes an object to the desired state. If the object does not exist, the edit starts with
 *  apiVersion, kind, name and namespace. May be called several times, each time with a new edit. */
typedef void (*ki_mutate)(ki_edit *edit, void *user);

/** Creates or patches an object so that it is as `mutate` sets it: creates it, sends the smallest
 *  merge patch, or sends nothing. controller-runtime: CreateOrPatch.
 *
 *  `current` is the object as last seen, for example in a cache; NULL: it is read first; or, inside
 *  `reconcile` of a controller that watches the resource (ki_controller_watch()) and whose caches
 *  lack it, it is created, and read only if that finds that it exists. The patch applies only if
 *  the server still has that version. If another client has changed, created or deleted the object
 *  meanwhile, it is read again, and `mutate` is called with the new state: at most five attempts,
 *  with a little over 10 ms between them.
 *
 *  For resources with the subresource "status", servers ignore changes of the status here: see
 *  ki_client_modify(). `name_space` may be NULL: that of the configuration, or none for
 *  cluster-scoped resources. *ret_object is the object from the server, or `current` if nothing was
 *  sent.
 *  Returns: a ki_written.
 *  Errors:  those of the edit;  a conflict (ki_error_is_conflict()) after the last attempt.
 *  Since:   0.1 */
KI_API KI_NODISCARD int ki_client_create_or_patch(ki_client *client, const ki_resource *resource,
                                                  const char *name_space, const char *name,
                                                  const ki_object *current, ki_mutate mutate,
                                                  void *user, ki_object **ret_object,
                                                  ki_error *error);

/** Patches an existing object so that it is as `mutate` sets it: sends the smallest merge patch, or
 *  nothing. `object` is the object as last seen, for example in a cache; if it has changed on the
 *  server meanwhile, it is read again as by ki_client_create_or_patch(). `subresource` is "status"
 *  to write the status, NULL or "" for the object.
 *  Returns: KI_WRITTEN_PATCHED or KI_WRITTEN_NOTHING.
 *  Errors:  those of ki_client_create_or_patch();
 *           KI_ERR_NOT_FOUND  the object was deleted, even if there is a new one with its name.
 *  Since:   0.1 */
KI_API KI_NODISCARD int ki_client_modify(ki_client *client, const ki_resource *resource,
                                         const ki_object *object, const char *subresource,
                                         ki_mutate mutate, void *user, ki_object **ret_object,
                                         ki_error *error);

/** Sends the changes of an edit, which started from an object of the server, as the smallest merge
 *  patch; nothing if there are no changes. `subresource` is "status" to write the status, NULL or
 *  "" for the object. If the edit has the option lock_version and the object has changed on the
 *  server, the response is a conflict. *ret_object is the object from the server, or the one that
 *  the edit started from if nothing was sent.
 *  Returns: KI_WRITTEN_PATCHED or KI_WRITTEN_NOTHING.
 *  Errors:  those of the edit;  KI_ERR_INVALID  it did not start from an object with a name.
 *  Since:   0.1 */
KI_API KI_NODISCARD int ki_client_patch_edit(ki_client *client, const ki_resource *resource,
                                             const ki_edit *edit, const char *subresource,
                                             ki_object **ret_object, ki_error *error);

/** Applies the text of a JSON writer by server-side apply, as ki_client_apply(). It has only the
 *  fields that `field_manager` owns; with `force` they are taken over from other managers.
 *  Returns: 0.
 *  Errors:  those of the writer (ki_json_object()).
 *  Since:   0.1 */
KI_API KI_NODISCARD int ki_client_apply_json(ki_client *client, const ki_resource *resource,
                                             ki_json *json, const char *field_manager, bool force,
                                             ki_object **ret_object, ki_error *error);

KI_END_DECLS

#endif
