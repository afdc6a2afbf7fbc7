/* SPDX-License-Identifier: Apache-2.0 */
/* Composes the stored object from the received and the previous one: regenerates the server-owned
 * metadata and copies the rest. Stored objects always have this form: kind and apiVersion, then
 * metadata starting with the server-owned members, then the rest. */
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
    int64_t deletion;          /* the same; 0: not being deleted */
    const ki_object *metadata; /* source of the other members of metadata */
    const ki_object *content;  /* source of everything but metadata and status */
    const ki_object *status;   /* source of the status; NULL: none */
    const char *status_json;   /* replaces the status; NULL: use `status` */
    const ki_buf *managed;     /* managedFields, possibly empty; NULL: use those of `metadata` */
} ki__api_parts;

/** The parts of a stored object, which is the source of all of them. */
void ki__api_parts_of(const ki__api_type *type, const ki_object *object, ki__api_parts *ret_parts);

/** Composes the object.
 *  Errors: KI_ERR_LIMIT  too large;  -ENOMEM. */
int ki__api_compose(const ki__api_model *model, const ki__api_parts *parts, ki_object **ret_object);

/** Copies a stored object with another resourceVersion. */
int ki__api_restamp(const ki__api_model *model, const ki__api_type *type, const ki_object *object,
                    uint64_t rv, ki_object **ret_object);

/** Size of the leading kind and apiVersion of a stored object; list items of built-in resources
 *  omit them: these items are "{" and the rest. */
size_t ki__api_compose_prefix(const ki__api_type *type);

/** Writes that prefix. */
void ki__api_compose_begin(const ki__api_type *type, ki__out *out);

/** Generates a uid. -EIO if the random source fails. */
enum { KI__API_UID_SIZE = 37 };
int ki__api_make_uid(const ki__api_model *model, char uid[KI__API_UID_SIZE]);

/** Generates the five characters after a generateName. -EIO if the random source fails. */
enum { KI__API_SUFFIX_LEN = 5 };
int ki__api_make_suffix(const ki__api_model *model, char suffix[KI__API_SUFFIX_LEN]);

#endif
