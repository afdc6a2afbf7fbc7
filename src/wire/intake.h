/* SPDX-License-Identifier: Apache-2.0 */
/* Bytes of one object in, an object out; or, if they are not good, why and whose they are. What
 * lists and watches share. */
#ifndef KI_WIRE_INTAKE_H
#define KI_WIRE_INTAKE_H

#include <kinformer/buf.h>
#include <kinformer/error.h>
#include <kinformer/object.h>

/** How a list or a watch is decoded. Text is borrowed and must outlive the decoder. */
typedef struct ki__wire_options {
    ki_encoding encoding;
    const ki_alloc *alloc;            /* NULL: the default; must outlive the objects */
    size_t max_bytes;                 /* of an item or an event; 0: 16 MiB; at most 1 GiB */
    uint32_t max_depth;               /* as in ki_object_options */
    const char *default_kind;         /* for objects that do not tell, nor their list; or NULL */
    const char *default_api_version;  /* the same */
    const char *expected_kind;        /* objects that tell another are skipped; NULL: any */
    const char *expected_api_version; /* the same */
} ki__wire_options;

/** One object, or what is known of one that was skipped. */
typedef struct ki__wire_item {
    ki_object *object;            /* the caller's; NULL: skipped */
    const char *key;              /* if skipped: "" where it is unknown. Valid until the */
    const char *resource_version; /* next call. The same */
    ki_error error;               /* if skipped: why. Offsets are within the item */
} ki__wire_item;

typedef struct ki__intake {
    ki_encoding encoding;
    ki_object_options options; /* the list decoder sets the default kind as it learns it */
    const char *expected_kind;
    const char *expected_api_version;
    ki_buf gathered; /* see gather.h */
    ki_buf key;      /* of what was skipped last */
    ki_buf resource_version;
} ki__intake;

void ki__intake_init(ki__intake *intake, const ki__wire_options *options);
void ki__intake_done(ki__intake *intake);

/** Whether there is a kind that is expected, and this is another. */
bool ki__intake_is_unexpected(const ki__intake *intake, const char *api_version, const char *kind);

/** Sets *ret_object if the bytes are good. What is wrong with the bytes is in *ret_why then, whose
 *  code is 0 if nothing is.
 *  Errors: -ENOMEM, which is no fault of the bytes, and others of its kind. */
int ki__intake_read(ki__intake *intake, ki_str bytes, ki_object **ret_object, ki_error *ret_why,
                    ki_error *error);

/** Checks what every object of a list, and every event but a bookmark, must have: a key, and the
 *  kind that is expected. 0, or the code with `why` filled. */
int ki__intake_check(const ki__intake *intake, const ki_object *object, ki_error *why);

/** Remembers whose the bytes are that could not be read, of which there may be less than all; or
 *  whose an object is. 0 or -ENOMEM. */
int ki__intake_note_bytes(ki__intake *intake, ki_str bytes);
int ki__intake_note_object(ki__intake *intake, const ki_object *object);

/** Forgets it. */
void ki__intake_note_none(ki__intake *intake);

/** Sets aside what was noted. */
void ki__intake_skipped(const ki__intake *intake, const ki_error *why, ki__wire_item *ret_item);

/** Appends what something says that it is, "Pod of v1", to an error. Never trusted as it stands. */
void ki__wire_error_add_kind(ki_error *error, const char *api_version, const char *kind);

/** Whether it is a Table of meta.k8s.io, which stands for objects but has none. */
bool ki__wire_is_table(const char *api_version, const char *kind);

/** The error for a Table. */
int ki__wire_refuse_table(ki_error *error);

#endif
