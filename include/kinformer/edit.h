/* SPDX-License-Identifier: Apache-2.0 */
/* Changing objects by path. An edit starts from an object, which is not modified, or from an empty
 * one; collects changes; and produces a new object or a patch for the server.
 *
 *   ki_edit_new(object, NULL, &edit, &error);
 *   ki_edit_add_finalizer(edit, "example.com/cleanup");
 *   ki_edit_set_int64(edit, "spec.replicas", 3);
 *   r = ki_edit_merge_patch(edit, &patch, &error);
 *   ki_edit_unref(edit);
 *
 * Changes return nothing. Errors are sticky: the first failure is kept with its message, which
 * names the path; later changes have no effect, and every result returns that failure.
 *   KI_ERR_SYNTAX     an invalid path or invalid JSON;
 *   KI_ERR_INVALID    a path or an argument that the change does not support;
 *   KI_ERR_TYPE       a step of the path leads into a value of the wrong type;
 *   KI_ERR_NOT_FOUND  a list element that does not exist;
 *   KI_ERR_EXISTS     the object has another controller;
 *   KI_ERR_LIMIT, -ENOMEM;  -EINVAL  an argument is NULL.
 * Changes ignore a NULL edit.
 *
 * Paths are those of <kinformer/path.h> that lead to a single place: members, indexes (from the end
 * if negative) and elements selected by a member, such as spec.containers[name=web].image or
 * metadata.labels['a.b/c']. Maps that are missing on the way to a value are created; members that
 * are null count as missing. Text is copied, and must be UTF-8: other bytes become U+FFFD, in paths
 * they are an error.
 *
 * An edit belongs to one thread at a time. No function blocks. */
#ifndef KINFORMER_EDIT_H
#define KINFORMER_EDIT_H

#include <kinformer/defs.h>
#include <kinformer/error.h>
#include <kinformer/object.h>
#include <kinformer/str.h>
#include <kinformer/value.h>

KI_BEGIN_DECLS

typedef struct ki_edit ki_edit;

/** Formats of patches, for ki_client_patch() and ki_object_merge(). */
typedef enum ki_patch_type {
    KI_PATCH_MERGE,     /* RFC 7386 */
    KI_PATCH_STRATEGIC, /* Kubernetes strategic merge; built-in kinds only */
    KI_PATCH_JSON,      /* RFC 6902, and further forms that API servers accept */
    KI_PATCH_MAX
} ki_patch_type;

typedef struct ki_edit_options {
    size_t size;           /* see KI_OPTIONS_INIT */
    const ki_alloc *alloc; /* NULL: the default; must outlive the edit and its results */
    /** For conditions, such as ki_clock_system(). May be NULL; must outlive the edit. */
    const ki_clock *clock;
    size_t max_bytes;  /* of the result, and of all set values; 0: 16 MiB; at most 1 GiB */
    bool lock_version; /* merge patches contain the object's resourceVersion: if the object has
                          changed on the server, the response is a conflict */
} ki_edit_options;

/** Starts an edit. `object` may be in either encoding, or NULL to start from an empty one;
 *  `options` may be NULL.
 *  Owner:  caller; release *ret_edit with ki_edit_unref(). It keeps a reference to `object`.
 *  Errors: KI_ERR_NO_SCHEMA  an incomplete protobuf object (ki_object_is_complete()): its unknown
 *          fields would be lost;  KI_ERR_LIMIT, -ENOMEM;  -EINVAL, -E2BIG  the options.
 *  Since:  0.1 */
KI_API KI_NODISCARD int ki_edit_new(const ki_object *object, const ki_edit_options *options,
                                    ki_edit **ret_edit, ki_error *error);

/** Frees an edit. Always returns NULL; accepts NULL.  Since: 0.1 */
KI_API ki_edit *ki_edit_unref(ki_edit *edit);

/* ---- by path ----  Since: 0.1 */

/** Sets the value at a path. It may be a value of any object, in either encoding. */
KI_API void ki_edit_set_string(ki_edit *edit, const char *path, const char *text);
KI_API void ki_edit_set_int64(ki_edit *edit, const char *path, int64_t number);
KI_API void ki_edit_set_bool(ki_edit *edit, const char *path, bool flag);
KI_API void ki_edit_set_json(ki_edit *edit, const char *path, ki_str json);
KI_API void ki_edit_set_value(ki_edit *edit, const char *path, const ki_value *value);

/** Removes the value at a path: a member of a map, or an element of a list. It may be missing. */
KI_API void ki_edit_remove(ki_edit *edit, const char *path);

/** Appends a value to the list at a path, which is created if it is missing. */
KI_API void ki_edit_append_string(ki_edit *edit, const char *path, const char *text);
KI_API void ki_edit_append_json(ki_edit *edit, const char *path, ki_str json);
KI_API void ki_edit_append_value(ki_edit *edit, const char *path, const ki_value *value);

/** Removes all elements equal to this string from the list at a path, which may be missing. */
KI_API void ki_edit_remove_string(ki_edit *edit, const char *path, const char *text);

/* ---- a part of the object ----  Since: 0.1 */

/** Merges a map into the object, such as the desired state of the fields that a controller manages:
 *
 *    ki_edit_merge_format(edit, "{spec: {replicas: %d, template: {spec: {containers: "
 *                               "[{name: 'web', image: %s}]}}}}", replicas, image);
 *
 *  Fields that are not in it keep their values, which includes defaults set by the server; null
 *  removes a field. As in server-side apply, maps are merged by member, and lists of built-in kinds
 *  by element where the API defines keys (containers by name, ports by port and protocol) or sets:
 *  other elements are kept. All other lists are replaced. The format is that of ki_json_format().
 *  Errors: KI_ERR_TYPE  not a map;  those of ki_json_format(). */
KI_API void ki_edit_merge_json(ki_edit *edit, ki_str json);
KI_API void ki_edit_merge_format(ki_edit *edit, const char *format, ...) KI_PRINTF(2, 3);

/* ---- metadata ----  Since: 0.1 */

/** Sets or removes a label or an annotation. Removing one that does not exist has no effect. */
KI_API void ki_edit_set_label(ki_edit *edit, const char *name, const char *value);
KI_API void ki_edit_remove_label(ki_edit *edit, const char *name);
KI_API void ki_edit_set_annotation(ki_edit *edit, const char *name, const char *value);
KI_API void ki_edit_remove_annotation(ki_edit *edit, const char *name);

/** Adds a finalizer, unless it already exists. */
KI_API void ki_edit_add_finalizer(ki_edit *edit, const char *name);
/** Removes a finalizer, if it exists. */
KI_API void ki_edit_remove_finalizer(ki_edit *edit, const char *name);

/** Adds an owner reference to `owner`, which must have apiVersion, kind, name and uid, or replaces
 *  the one with its group, kind and name. With `controller`, the owner is the only controller of
 *  the object, and foreground deletion of the owner waits until the object is gone. A namespaced
 *  owner cannot own an object in another namespace or a cluster-scoped one: KI_ERR_INVALID. */
KI_API void ki_edit_add_owner(ki_edit *edit, const ki_object *owner, bool controller);

/** Removes the owner references with this uid. */
KI_API void ki_edit_remove_owner(ki_edit *edit, const char *uid);

/* ---- conditions ---- */

typedef struct ki_condition {
    size_t size;                 /* see KI_OPTIONS */
    const char *type;            /* required */
    const char *status;          /* required: "True", "False" or "Unknown" */
    const char *reason;          /* NULL: unchanged */
    const char *message;         /* NULL: unchanged */
    int64_t observed_generation; /* 0: unchanged */
    int64_t transition_time_ns;  /* since 1970, see ki_clock_now_ns(); 0: from the option clock */
} ki_condition;

/** Sets a condition in status.conditions, by type. Its lastTransitionTime changes only if the
 *  status does. KI_ERR_INVALID if neither transition_time_ns nor a clock is set.  Since: 0.1 */
KI_API void ki_edit_set_condition(ki_edit *edit, const ki_condition *condition);

/* ---- results ----
 * An edit may produce any number of results, and can be changed after each.  Since: 0.1 */

/** Creates the changed object, encoded as JSON.
 *  Owner:  caller; release *ret_object with ki_object_unref().
 *  Errors: of the first change that failed;  those of ki_object_from_json(). */
KI_API KI_NODISCARD int ki_edit_object(const ki_edit *edit, ki_object **ret_object,
                                       ki_error *error);

/** Appends the smallest merge patch (RFC 7386) that makes the same changes: values set to what they
 *  were are omitted. Lists are replaced as a whole, and members that are null count as absent.
 *  Without the option lock_version, elements that other clients have added to such a list meanwhile
 *  are lost. Returns 1, or 0 if nothing changed: then the patch is {}, and need not be sent. On
 *  failure `out` is unchanged.
 *  Errors: as ki_edit_object(). */
KI_API KI_NODISCARD int ki_edit_merge_patch(const ki_edit *edit, ki_buf *out, ki_error *error);

/** Appends a JSON patch (RFC 6902) that makes the same changes. It tests the object's
 *  resourceVersion: if the object has changed on the server, the response is an error. Returns 1,
 *  or 0 if nothing changed: then the patch is []. On failure `out` is unchanged.
 *  Errors: as ki_edit_object();  KI_ERR_INVALID  the object has no resourceVersion. */
KI_API KI_NODISCARD int ki_edit_json_patch(const ki_edit *edit, ki_buf *out, ki_error *error);

KI_AUTO_DEFINE(ki_edit, ki_edit_unref)

KI_END_DECLS

#endif
