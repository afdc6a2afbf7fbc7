/* SPDX-License-Identifier: Apache-2.0 */
/* Making the object that is stored from what was sent and what was there: the server's own part of
 * the metadata is written again, the rest is copied. Stored objects are always in this form: kind
 * and apiVersion, then metadata that begins with what the server sets, then the rest. */
#ifndef KI_APISERVER_VERBS_COMPOSE_H
#define KI_APISERVER_VERBS_COMPOSE_H

#include "apiserver/model.h"
#include "object/edit/json_out.h"

typedef struct ki__api_parts {
    const ki__api_type *type;
    const char *name;
    const char *name_space; /* "" for none */
    const char *uid;
    uint64_t rv;               /* 0: none */
    int64_t generation;        /* 0: none */
    int64_t creation;          /* seconds since 1970 */
    int64_t deletion;          /* the same; 0: it is not being deleted */
    const ki_object *metadata; /* has the other members of metadata */
    const ki_object *content;  /* has everything but metadata and status */
    const ki_object *status;   /* has the status; NULL: none */
    const char *status_json;   /* the status, in place of that; NULL: as it says */
    const ki_buf *managed;     /* the managedFields, maybe none; NULL: as `metadata` has them */
} ki__api_parts;

/** The parts of a stored object, which is its own source of everything. */
void ki__api_parts_of(const ki__api_type *type, const ki_object *object, ki__api_parts *ret_parts);

/** Makes the object.
 *  Errors: KI_ERR_LIMIT  too large;  -ENOMEM. */
int ki__api_compose(const ki__api_model *model, const ki__api_parts *parts, ki_object **ret_object);

/** A stored object with another version. */
int ki__api_restamp(const ki__api_model *model, const ki__api_type *type, const ki_object *object,
                    uint64_t rv, ki_object **ret_object);

/** How many bytes of a stored object are its kind and apiVersion, which items of lists of built-in
 *  resources do without: they are "{" and what follows. */
size_t ki__api_compose_prefix(const ki__api_type *type);

/** Writes these bytes. */
void ki__api_compose_begin(const ki__api_type *type, ki__out *out);

/** A new uid. -EIO if the random source fails. */
enum { KI__API_UID_SIZE = 37 };
int ki__api_make_uid(const ki__api_model *model, char uid[KI__API_UID_SIZE]);

/** The five characters after a generateName. -EIO if the random source fails. */
enum { KI__API_SUFFIX_LEN = 5 };
int ki__api_make_suffix(const ki__api_model *model, char suffix[KI__API_SUFFIX_LEN]);

#endif
