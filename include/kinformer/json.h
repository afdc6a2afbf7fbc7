/* SPDX-License-Identifier: Apache-2.0 */
/* Writing JSON: objects to create, patches, and configurations to apply. Each call appends one
 * value, and errors are checked once, at the end:
 *
 *   ki_json_begin_map(j, NULL);
 *   ki_json_string(j, "kind", "ConfigMap");
 *   ki_json_begin_map(j, "metadata");
 *   ki_json_string(j, "name", "web");
 *   ki_json_end(j);
 *   ki_json_end(j);
 *   r = ki_json_object(j, &object, &error);
 *
 * Every function that appends a value takes the name of the member. The name is required inside a
 * map, unless ki_json_name() has set it, and must be NULL inside a list and at the top level.
 *
 * Errors are sticky: after the first one, calls have no effect. ki_json_text() and ki_json_object()
 *         return it, with a message that names the place: "metadata.name: not valid UTF-8".
 *   KI_ERR_INVALID   misuse: a missing or unexpected name, a second top-level value, an end without
 *                    a beginning, a string that is NULL, an invalid format;
 *   KI_ERR_ENCODING  a string that is not UTF-8, unless the options allow it;
 *   KI_ERR_DEPTH     more than 128 nested maps and lists, including those of copied values;
 *   KI_ERR_LIMIT     larger than max_bytes;
 *   KI_ERR_RANGE     a double that is not finite;  KI_ERR_TYPE  a value of the wrong type;
 *   KI_ERR_SYNTAX    raw JSON or a format that cannot be parsed;  -ENOMEM.
 *
 * Duplicate member names are not detected here: ki_json_object() rejects them at the top level and
 * in metadata; elsewhere readers use the first.
 *
 * Thread: one-at-a-time.  Blocks: no.  Functions that return nothing ignore a NULL writer. */
#ifndef KINFORMER_JSON_H
#define KINFORMER_JSON_H

#include <kinformer/defs.h>
#include <kinformer/error.h>
#include <kinformer/object.h>
#include <kinformer/str.h>
#include <kinformer/value.h>

KI_BEGIN_DECLS

typedef struct ki_json ki_json;

typedef struct ki_json_options {
    size_t size;               /* see KI_OPTIONS_INIT */
    const ki_alloc *alloc;     /* NULL: the default; must outlive the writer and its objects */
    size_t max_bytes;          /* of the whole text; 0: 16 MiB; at most 1 GiB */
    bool replace_invalid_utf8; /* write U+FFFD for each invalid byte, as Go does; false: an error */
} ki_json_options;

/** Creates a writer. `options` may be NULL. Memory for the text is allocated as it grows.
 *  Owner:  caller; release with ki_json_unref().
 *  Errors: -ENOMEM;  -EINVAL, -E2BIG  the options.
 *  Since:  0.1 */
KI_API KI_NODISCARD int ki_json_new(const ki_json_options *options, ki_json **ret_json,
                                    ki_error *error);

/** Frees a writer and its text. Always returns NULL; accepts NULL.  Since: 0.1 */
KI_API ki_json *ki_json_unref(ki_json *json);

/** Discards the text and the error, and keeps the memory for the next text.  Since: 0.1 */
KI_API void ki_json_reset(ki_json *json);

/* ---- results ---- */

/** Returns the text: one complete value, NUL-terminated.
 *  Owner:  borrowed until the next call for this writer.
 *  Errors: the first error of the calls before;
 *          KI_ERR_INVALID  nothing was written, or a map or list has not been ended; the missing
 *                          calls can still be made.
 *  Since:  0.1 */
KI_API KI_NODISCARD int ki_json_text(ki_json *json, ki_str *ret_text, ki_error *error);

/** Creates an object from the text, read by ki_object_from_json() with the writer's allocator.
 *  Owner:  caller; release with ki_object_unref(). It does not depend on the writer.
 *  Errors: as ki_json_text(), and as ki_object_from_json().
 *  Since:  0.1 */
KI_API KI_NODISCARD int ki_json_object(ki_json *json, ki_object **ret_object, ki_error *error);

/* ---- maps and lists ---- */

/** Begins a map or a list. ki_json_end() ends the innermost one.  Since: 0.1 */
KI_API void ki_json_begin_map(ki_json *json, const char *name);
KI_API void ki_json_begin_list(ki_json *json, const char *name);
/** Ends the innermost map or list.  Since: 0.1 */
KI_API void ki_json_end(ki_json *json);

/** Sets the name of the next member, for names that are not C strings. The call that appends the
 *  value takes NULL as its name.  Since: 0.1 */
KI_API void ki_json_name(ki_json *json, ki_str name);

/* ---- values ---- */

/** Appends a string. `text` must not be NULL.  Since: 0.1 */
KI_API void ki_json_string(ki_json *json, const char *name, const char *text);

/** Appends a string that is not NUL-terminated, or that contains NUL.  Since: 0.1 */
KI_API void ki_json_str(ki_json *json, const char *name, ki_str text);

/** Appends bytes in base64, as in `data` of a Secret and `binaryData` of a ConfigMap.
 *  Since: 0.1 */
KI_API void ki_json_base64(ki_json *json, const char *name, ki_str bytes);

/** Appends a number. A double is written with the fewest digits that read back to the same double.
 *  Since: 0.1 */
KI_API void ki_json_int64(ki_json *json, const char *name, int64_t number);
KI_API void ki_json_uint64(ki_json *json, const char *name, uint64_t number);
KI_API void ki_json_double(ki_json *json, const char *name, double number);

/** Appends true or false.  Since: 0.1 */
KI_API void ki_json_bool(ki_json *json, const char *name, bool flag);
/** Appends null.  Since: 0.1 */
KI_API void ki_json_null(ki_json *json, const char *name);

/** Appends a copy of a value of any object, in either encoding; as ki_value_write_json(). A value
 *  of KI_TYPE_NONE, which means an absent field, omits the member; in a list and at the top level
 *  it is KI_ERR_TYPE.  Since: 0.1 */
KI_API void ki_json_value(ki_json *json, const char *name, const ki_value *value);

/** Appends a copy of a member, with name and value as returned by ki_value_iter_next().
 *  Since: 0.1 */
KI_API void ki_json_member(ki_json *json, const ki_value *name, const ki_value *value);

/** Appends JSON text: one value of any type. The text is validated.  Since: 0.1 */
KI_API void ki_json_raw(ki_json *json, const char *name, const char *text);

/** Appends an element of ownerReferences for `owner`, an object with apiVersion, kind, name and
 *  uid. With `controller`, `controller` and `blockOwnerDeletion` are true.  Since: 0.1 */
KI_API void ki_json_owner_reference(ki_json *json, const ki_object *owner, bool controller);

/** Appends a value from a format:
 *
 *    ki_json_format(j, "spec", "{replicas: %d, selector: {matchLabels: {app: %s}}}", 3, app);
 *
 *  The format is JSON with three additions: names of letters, digits and any of "_-./$" need no
 *  quotes; strings and names may have single quotes instead of double ones; and there are
 *  conversions, each in place of a value or a name, or inside quotes as a part of the string. Text
 *  is always escaped, so no argument can change the structure. Compilers check the arguments as for
 *  printf():
 *
 *    %s %.*s                    a string; the second also for KI_STR_ARG()
 *    %d %i %u %ld %lld %zu ...   an integer, with none of or one of: l ll j z
 *    %f %g                       a double, written as by ki_json_double()
 *    %hhd                        a bool, written as true or false
 *    %%                          a percent sign, inside quotes only
 *
 *  Other conversions, flags, widths and precisions are KI_ERR_SYNTAX, as are errors in the rest
 *  of the format. `offset`, `line` and `column` of the error are positions in the format.
 *  Since: 0.1 */
KI_API void ki_json_format(ki_json *json, const char *name, const char *format, ...)
    KI_PRINTF(3, 4);

KI_AUTO_DEFINE(ki_json, ki_json_unref)

KI_END_DECLS

#endif
