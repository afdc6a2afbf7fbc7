/* SPDX-License-Identifier: Apache-2.0 */
/* Decodes the bytes of one object; if they are invalid, reports the reason and the object's
 * identity. Shared by lists and watches. */
#ifndef KI_WIRE_INTAKE_H
#define KI_WIRE_INTAKE_H

#include <kinformer/buf.h>
#include <kinformer/encoding.h>
#include <kinformer/error.h>
#include <kinformer/object.h>

/** How a list or a watch is decoded. Strings are borrowed and must outlive the decoder. */
typedef struct ki__wire_options {
    ki_encoding encoding;
    const ki_alloc *alloc;            /* NULL: the default; must outlive the objects */
    size_t max_bytes;                 /* per item or event; 0: 16 MiB; at most 1 GiB */
    uint32_t max_depth;               /* as in ki_object_options */
    const char *default_kind;         /* for objects without a kind if the list has none; or NULL */
    const char *default_api_version;  /* likewise */
    const char *expected_kind;        /* objects of another kind are skipped; NULL: any */
    const char *expected_api_version; /* likewise */
    const ki_projection *projection;  /* of the objects; NULL: all is kept */
} ki__wire_options;

/** One object, or what is known about a skipped one. */
typedef struct ki__wire_item {
    ki_object *object;            /* owned by the caller; NULL: skipped */
    const char *key;              /* if skipped; "" if unknown; valid until the next call */
    const char *resource_version; /* likewise */
    ki_error error;               /* if skipped: why; offsets are relative to the item */
} ki__wire_item;

typedef struct ki__intake {
    ki_encoding encoding;
    ki_object_options options; /* the list decoder sets the default kind once it is known */
    const char *expected_kind;
    const char *expected_api_version;
    ki_buf gathered; /* see gather.h */
    ki_buf scratch;  /* of projections */
    ki_buf key;      /* of the last skipped object */
    ki_buf resource_version;
} ki__intake;

void ki__intake_init(ki__intake *intake, const ki__wire_options *options);
void ki__intake_done(ki__intake *intake);

/** Whether a kind is expected and this is another one. */
bool ki__intake_is_unexpected(const ki__intake *intake, const char *api_version, const char *kind);

/** Sets *ret_object if the bytes are valid, without projection if `whole`; otherwise *ret_why has
 *  the reason (code 0 if valid).
 *  Errors: -ENOMEM and others that are not caused by the bytes. */
int ki__intake_read(ki__intake *intake, ki_str bytes, bool whole, ki_object **ret_object,
                    ki_error *ret_why, ki_error *error);

/** Validates what every object of a list and every event except bookmarks must have: a key, and the
 *  expected kind. 0, or the code with `why` filled. */
int ki__intake_check(const ki__intake *intake, const ki_object *object, ki_error *why);

/** Records the identity (key, resourceVersion) of undecodable bytes, possibly truncated, or of an
 *  object. 0 or -ENOMEM. */
int ki__intake_note_bytes(ki__intake *intake, ki_str bytes);
int ki__intake_note_object(ki__intake *intake, const ki_object *object);

/** Clears the recorded identity. */
void ki__intake_note_none(ki__intake *intake);

/** Fills an item that was skipped, with the recorded identity. */
void ki__intake_skipped(const ki__intake *intake, const ki_error *why, ki__wire_item *ret_item);

/** Appends a kind to an error, as in "Pod of v1". The text is untrusted and is sanitized. */
void ki__wire_error_add_kind(ki_error *error, const char *api_version, const char *kind);

/** Whether this is a meta.k8s.io Table, which has rows instead of objects. */
bool ki__wire_is_table(const char *api_version, const char *kind);

/** The error for a Table. */
int ki__wire_refuse_table(ki_error *error);

#endif
