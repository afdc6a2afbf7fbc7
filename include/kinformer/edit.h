/* SPDX-License-Identifier: Apache-2.0 */
/* Changing objects: an edit starts from an object, which stays as it is, or from nothing; takes
 * changes; and results in a new object or in a patch for the server.
 *
 *   ki_edit_new(object, NULL, &edit, &error);
 *   ki_edit_add_finalizer(edit, "example.com/cleanup");
 *   ki_edit_set_int64(edit, "spec.replicas", 3);
 *   r = ki_edit_merge_patch(edit, &patch, &error);
 *   ki_edit_unref(edit);
 *
 * Changes return nothing: the first that fails is kept with its message, those after it do nothing,
 * and every result returns that failure. These are: KI_ERR_SYNTAX  an invalid path, or JSON that is
 * none;  KI_ERR_INVALID  a path or an argument that a change cannot take;  KI_ERR_TYPE  a step of
 * the path leads into something of another type;  KI_ERR_NOT_FOUND  an element of a list that does
 * not exist;  KI_ERR_EXISTS  the object has another controller;  KI_ERR_LIMIT, -ENOMEM;  -EINVAL
 * an argument that is NULL. The message names the path. A NULL edit is ignored by changes.
 *
 * Paths are those of <kinformer/path.h> that lead to one place: members, indexes (from the end when
 * negative) and elements by one of their members, such as spec.containers[name=web].image or
 * metadata.labels['a.b/c']. Maps that are missing on the way to what is set are created; members
 * that are null count as missing. Text is copied, and must be UTF-8: other bytes become U+FFFD, in
 * paths they are an error.
 *
 * An edit belongs to one thread at a time. No function blocks. */
#ifndef KINFORMER_EDIT_H
#define KINFORMER_EDIT_H

#include <kinformer/alloc.h>
#include <kinformer/buf.h>
#include <kinformer/clock.h>
#include <kinformer/defs.h>
#include <kinformer/error.h>
#include <kinformer/object.h>
#include <kinformer/str.h>
#include <kinformer/value.h>

KI_BEGIN_DECLS

typedef struct ki_edit ki_edit;

typedef struct ki_edit_options {
    size_t size;           /* see KI_OPTIONS_INIT */
    const ki_alloc *alloc; /* NULL: the default; must outlive the edit and its results */
    const ki_clock *clock; /* for conditions, such as ki_clock_system(); may be NULL; must outlive
                              the edit */
    size_t max_bytes;      /* of the result, and of all that is set; 0: 16 MiB; at most 1 GiB */
    bool lock_version;     /* merge patches contain the resourceVersion of the object: if it has
                              changed on the server, that responds with a conflict */
} ki_edit_options;

/** Starts an edit. `object` may be of either encoding, or NULL to start from nothing; `options` may
 *  be NULL.
 *  Owner:  *ret_edit is the caller's; release with ki_edit_unref(). It keeps `object`.
 *  Errors: KI_ERR_NO_SCHEMA  a protobuf object that is not complete (ki_object_is_complete()): what
 *          the library cannot read would be lost;  KI_ERR_LIMIT, -ENOMEM;  -EINVAL, -E2BIG  the
 *          options.
 *  Since:  0.1 */
KI_API KI_NODISCARD int ki_edit_new(const ki_object *object, const ki_edit_options *options,
                                    ki_edit **ret_edit, ki_error *error);

/** Releases an edit. Always returns NULL; NULL is fine.  Since: 0.1 */
KI_API ki_edit *ki_edit_unref(ki_edit *edit);

/* ---- by path ----  Since: 0.1 */

/** Sets what is at a path. The value may be of any object, of either encoding. */
KI_API void ki_edit_set_string(ki_edit *edit, const char *path, const char *text);
KI_API void ki_edit_set_int64(ki_edit *edit, const char *path, int64_t number);
KI_API void ki_edit_set_bool(ki_edit *edit, const char *path, bool flag);
KI_API void ki_edit_set_json(ki_edit *edit, const char *path, ki_str json);
KI_API void ki_edit_set_value(ki_edit *edit, const char *path, const ki_value *value);

/** Removes what is at a path: a member of a map, or an element of a list. It may be missing. */
KI_API void ki_edit_remove(ki_edit *edit, const char *path);

/** Appends to the list at a path, which is created if it is missing. */
KI_API void ki_edit_append_string(ki_edit *edit, const char *path, const char *text);
KI_API void ki_edit_append_json(ki_edit *edit, const char *path, ki_str json);
KI_API void ki_edit_append_value(ki_edit *edit, const char *path, const ki_value *value);

/** Removes all elements that are this string from the list at a path, which may be missing. */
KI_API void ki_edit_remove_string(ki_edit *edit, const char *path, const char *text);

/* ---- metadata ----  Since: 0.1 */

/** Sets a label or an annotation, or removes it if it is there. */
KI_API void ki_edit_set_label(ki_edit *edit, const char *name, const char *value);
KI_API void ki_edit_remove_label(ki_edit *edit, const char *name);
KI_API void ki_edit_set_annotation(ki_edit *edit, const char *name, const char *value);
KI_API void ki_edit_remove_annotation(ki_edit *edit, const char *name);

/** Adds a finalizer, unless it is there; removes it, if it is. */
KI_API void ki_edit_add_finalizer(ki_edit *edit, const char *name);
KI_API void ki_edit_remove_finalizer(ki_edit *edit, const char *name);

/** Adds an owner reference to `owner`, which must have apiVersion, kind, name and uid, or replaces
 *  the one with its group, kind and name. With `controller` the owner is the one controller of the
 *  object, and blocks its own deletion in the foreground until the object is gone. An owner with a
 *  namespace cannot own an object in another one, or in none: KI_ERR_INVALID. */
KI_API void ki_edit_add_owner(ki_edit *edit, const ki_object *owner, bool controller);

/** Removes the owner references with this uid. */
KI_API void ki_edit_remove_owner(ki_edit *edit, const char *uid);

/* ---- conditions ---- */

typedef struct ki_condition {
    size_t size;                 /* see KI_OPTIONS */
    const char *type;            /* required */
    const char *status;          /* required: "True", "False" or "Unknown" */
    const char *reason;          /* NULL: stays as it is */
    const char *message;         /* NULL: stays as it is */
    int64_t observed_generation; /* 0: stays as it is */
    int64_t transition_time_ns;  /* since 1970, as ki_clock_now_ns() gives it; 0: from the
                                    option clock */
} ki_condition;

/** Sets the condition of a type in status.conditions. lastTransitionTime changes only if the status
 *  does. Without transition_time_ns and without a clock: KI_ERR_INVALID.  Since: 0.1 */
KI_API void ki_edit_set_condition(ki_edit *edit, const ki_condition *condition);

/* ---- results ----
 * An edit may have any number of results, and goes on after each.  Since: 0.1 */

/** The changed object, encoded as JSON.
 *  Owner:  *ret_object is the caller's; release with ki_object_unref().
 *  Errors: of the first change that failed;  those of ki_object_from_json(). */
KI_API KI_NODISCARD int ki_edit_object(const ki_edit *edit, ki_object **ret_object,
                                       ki_error *error);

/** Appends the smallest merge patch (RFC 7386) that makes the same changes: it has nothing that was
 *  set to what it was. Lists are replaced as a whole, and members that are null count as absent.
 *  Without the option lock_version, elements that others have added to such a list meanwhile are
 *  lost.
 *  Returns 1, or 0 if nothing changed: then the patch is {}, and need not be sent. On failure
 *  `out` is as it was.
 *  Errors: as ki_edit_object(). */
KI_API KI_NODISCARD int ki_edit_merge_patch(const ki_edit *edit, ki_buf *out, ki_error *error);

/** Appends a JSON patch (RFC 6902) that makes the same changes, if the object on the server still
 *  has the resourceVersion that it had here; if not, the server responds with an error. Returns 1,
 *  or 0 if nothing changed: then the patch is []. On failure `out` is as it was.
 *  Errors: as ki_edit_object();  KI_ERR_INVALID  the object has no resourceVersion. */
KI_API KI_NODISCARD int ki_edit_json_patch(const ki_edit *edit, ki_buf *out, ki_error *error);

KI_END_DECLS

#endif
