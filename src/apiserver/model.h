/* SPDX-License-Identifier: Apache-2.0 */
/* What all servers of one simulated cluster share, as real ones share etcd: the objects of every
 * resource at every version that is still kept, and the log of changes. One counter gives every
 * write its resource version. Nothing here knows about HTTP; servers (server.h) read prefixes of
 * it.
 *
 * Versions up to the compacted one cannot be requested any more, except the state at exactly that
 * version. They may still be kept for a server that lags behind: the floor is the oldest version
 * of which the state and all later changes are kept.
 *
 * One thread at a time. */
#ifndef KI_APISERVER_MODEL_H
#define KI_APISERVER_MODEL_H

#include <kinformer/alloc.h>
#include <kinformer/clock.h>
#include <kinformer/object.h>
#include <kinformer/resource.h>

#include "apiserver/validate/structural.h"
#include "base/list.h"
#include "base/time_units.h"

typedef struct ki__api_model ki__api_model;
typedef struct ki__api_type ki__api_type;
typedef struct ki__api_key ki__api_key;

typedef struct ki__api_model_options {
    const ki_alloc *alloc;   /* NULL: the default */
    const ki_clock *clock;   /* required; outlives the model */
    const ki_random *random; /* required; outlives the model */
    size_t history_max;      /* changes kept; 0: 65536 */
    size_t history_bytes;    /* of all of them, roughly; 0: 256 MiB */
    size_t objects_max;      /* of all resources together; 0: 1,048,576 */
    size_t object_bytes_max; /* of one object and one request body; 0: 3 MiB; at most 64 MiB */
    uint64_t first_version;  /* the resource version of the empty model; 0: 1 */
    bool namespaces;         /* objects need a namespace that exists; deleting one empties it */
    bool status_on_create;   /* keep the status of objects that come with one */
    bool collects_garbage;   /* dependents of objects that are deleted are deleted, or released */
} ki__api_model_options;

typedef enum ki__api_change {
    KI__API_ADDED,
    KI__API_MODIFIED,
    KI__API_DELETED,
} ki__api_change;

/** How a resource is served. */
typedef struct ki__api_type_options {
    bool has_status;     /* status is written through the subresource only */
    bool has_generation; /* metadata.generation counts changes of anything but metadata and status
                          */
    bool any_field;      /* field selectors may name any path, not just name and namespace */
    bool has_scale;      /* spec.replicas and status.replicas are shown as a Scale as well */
} ki__api_type_options;

struct ki__api_type {
    const ki_resource *resource;
    ki__api_type_options options;
    bool builtin;
    bool removed;           /* served no more; it stays while the history has objects of it */
    bool unserved;          /* it keeps the objects of others, but is not served itself */
    ki__api_type *store;    /* where its objects are: itself, or another version of it */
    ki_object *definition;  /* the CustomResourceDefinition that made it; NULL: none */
    ki__structural *schema; /* by which objects are checked; NULL: none */
    ki__api_key **keys;     /* every key that has a version, in the order of bytes */
    size_t count;
    size_t cap;
};

typedef struct ki__api_version {
    uint64_t rv;
    ki_object *object; /* NULL: deleted */
} ki__api_version;

/** An object through time. */
struct ki__api_key {
    ki__api_type *type;
    ki__api_version *versions; /* oldest first, never empty */
    size_t count;
    size_t cap;
    size_t len;
    char text[]; /* "namespace/name" or "name" */
};

/** One write. */
typedef struct ki__api_entry {
    uint64_t rv;
    ki__api_key *key;
    ki__api_change change;
    ki_object *object; /* as it is after; for a deletion as it was, with this version */
    ki_object *before; /* as it was; NULL for an addition */
} ki__api_entry;

/** A server that reads a prefix; in the list of the model as long as it lives. */
typedef struct ki__api_reader {
    ki__list link;
    uint64_t applied; /* the version it has got to */
    bool follows;     /* it never lags */
} ki__api_reader;

struct ki__api_model {
    const ki_alloc *alloc;
    const ki_clock *clock;
    const ki_random *random;
    ki__api_model_options options;
    ki__api_type **types;
    size_t type_count;
    size_t type_cap;
    ki__api_entry *entries; /* those after `floor`, oldest first, from `first` on */
    size_t first;
    size_t count;
    size_t cap;
    size_t bytes;      /* of the objects in them */
    uint64_t sequence; /* of the oldest entry; it counts up forever */
    uint64_t floor;
    uint64_t compacted;
    uint64_t head;  /* the version of the last write */
    uint64_t epoch; /* counts restores */
    size_t objects; /* at the head */
    bool namespaces_made;
    struct ki__garbage *garbage; /* NULL: dependents stay as they are */
    ki__list readers;
    void (*on_change)(void *user); /* after a write, or a server caught up; may be NULL */
    void *on_change_user;
};

/** Errors: -EINVAL  no clock or random;  -ENOMEM. */
int ki__api_model_new(const ki__api_model_options *options, ki__api_model **ret_model);

/** No server may be left. Always NULL; NULL is allowed. */
ki__api_model *ki__api_model_free(ki__api_model *model);

/** Serves a resource, or changes how it is served.
 *  Errors: KI_ERR_EXISTS  another one with this group, version and name;  KI_ERR_LIMIT, -ENOMEM. */
int ki__api_model_register(ki__api_model *model, const ki_resource *resource,
                           const ki__api_type_options *options);

/** The resource of a path: registered, or built in.
 *  Errors: KI_ERR_NOT_FOUND;  KI_ERR_LIMIT, -ENOMEM. */
int ki__api_model_type(ki__api_model *model, const char *group, const char *version,
                       const char *name, ki__api_type **ret_type);

/** How a built-in resource is served. */
ki__api_type_options ki__api_builtin_options(const ki_resource *resource);

/** Serves a version of a custom resource by its definition; `store` is the type that keeps the
 *  objects of all versions, NULL: this one. What was served under this name is replaced.
 *  Errors: KI_ERR_LIMIT, -ENOMEM. */
int ki__api_model_define(ki__api_model *model, const ki_resource *resource,
                         const ki__api_type_options *options, ki_object *definition,
                         ki__api_type *store, ki__api_type **ret_type);

/** The version of its definition that a type is: an entry of spec.versions. */
bool ki__api_type_version(const ki__api_type *type, ki_value *ret_version);
/** What its definition says; false if it has none, or says nothing. */
bool ki__api_type_categories(const ki__api_type *type, ki_value *ret_categories);
bool ki__api_type_schema(const ki__api_type *type, ki_value *ret_schema);

/** The object at a version that is kept; borrowed; NULL if there was none. */
ki_object *ki__api_model_get(const ki__api_type *type, ki_str key, uint64_t rv);

/** The state of a key at a version; borrowed; NULL if there was none. */
ki_object *ki__api_key_at(const ki__api_key *key, uint64_t rv);

/** The index of the first key that is not less than `key`. */
size_t ki__api_model_find(const ki__api_type *type, ki_str key, bool *ret_exact);

/** Makes the next write: `object` (not for a deletion: there it is the last state) carries the
 *  version head + 1. All references are taken here besides the caller's. Writes that would not be
 *  one (adding what exists, changing what does not) are a bug of the caller.
 *  Errors: KI_ERR_LIMIT  objects_max;  -ENOMEM, with everything as it was. */
int ki__api_model_write(ki__api_model *model, ki__api_type *type, ki_str key, ki__api_change change,
                        ki_object *object);

/** Lets the version grow without a change, as writes of other resources do. */
void ki__api_model_skip(ki__api_model *model, uint64_t versions);

/** Forgets the versions before `rv`, as far as the head. */
void ki__api_model_compact(ki__api_model *model, uint64_t rv);

/** Goes back to `rv` and continues from there, as a restored backup does.
 *  Errors: KI_ERR_RANGE  that version is not kept. */
int ki__api_model_restore(ki__api_model *model, uint64_t rv);

/** The sequence number of the first entry after `rv`; the next one to come if there is none. */
uint64_t ki__api_model_after(const ki__api_model *model, uint64_t rv);

/** An entry that is kept, or NULL if it is yet to come. */
const ki__api_entry *ki__api_model_entry(const ki__api_model *model, uint64_t sequence);

/** Has a reader read up to `rv`, no further than the head and never back. */
void ki__api_model_advance(ki__api_model *model, ki__api_reader *reader, uint64_t rv);

static inline ki_str ki__api_key_text(const ki__api_key *key)
{
    return ki_str_make(key->text, key->len);
}

static inline int64_t ki__api_model_seconds(const ki__api_model *model)
{
    return model->clock->realtime_ns(model->clock->user) / (int64_t)KI__SECOND_NS;
}

static inline uint64_t ki__api_model_now(const ki__api_model *model)
{
    return model->clock->monotonic_ns(model->clock->user);
}

#endif
