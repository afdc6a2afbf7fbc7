/* SPDX-License-Identifier: Apache-2.0 */
/* State shared by all servers of one simulated cluster, as real ones share etcd: the objects of
 * every resource at every retained version, and the change log. A single counter assigns the
 * resourceVersion of each write. Independent of HTTP; servers (server.h) read prefixes of the log.
 *
 * Versions up to the compacted one cannot be requested, except the state at exactly that version.
 * They may still be retained for a lagging server: the floor is the oldest version whose state and
 * later changes are all retained.
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
    const ki_alloc *alloc;   /* NULL: default */
    const ki_clock *clock;   /* required; outlives the model */
    const ki_random *random; /* required; outlives the model */
    size_t history_max;      /* changes retained; 0: 65536 */
    size_t history_bytes;    /* approximate size of retained changes; 0: 256 MiB */
    size_t objects_max;      /* over all resources; 0: 1,048,576 */
    size_t object_bytes_max; /* of one object and of a request body; 0: 3 MiB; at most 64 MiB */
    uint64_t first_version;  /* the resource version of the empty model; 0: 1 */
    bool namespaces; /* require existing namespaces; deleting a namespace deletes its objects */
    bool status_on_create; /* keep the status of created objects */
    bool collects_garbage; /* delete or release the dependents of deleted objects */
} ki__api_model_options;

typedef enum ki__api_change {
    KI__API_ADDED,
    KI__API_MODIFIED,
    KI__API_DELETED,
} ki__api_change;

/** Properties of a served resource. */
typedef struct ki__api_type_options {
    bool has_status;     /* status can be written only through the subresource */
    bool has_generation; /* metadata.generation counts changes outside metadata and status */
    bool any_field;      /* field selectors may use any path, not just name and namespace */
    bool has_scale;      /* has the subresource scale, from spec.replicas and status.replicas */
} ki__api_type_options;

struct ki__api_type {
    const ki_resource *resource;
    ki__api_type_options options;
    bool builtin;
    bool removed;           /* no longer served; kept while the history contains its objects */
    bool unserved;          /* stores objects of other versions, but is not served itself */
    ki__api_type *store;    /* the type that stores its objects: itself, or another version of it */
    ki_object *definition;  /* its CustomResourceDefinition; NULL: none */
    ki__structural *schema; /* validates its objects; NULL: none */
    ki__api_key **keys;     /* all keys that have a version, sorted bytewise */
    size_t count;
    size_t cap;
};

typedef struct ki__api_version {
    uint64_t rv;
    ki_object *object; /* NULL: deleted */
} ki__api_version;

/** The history of one object. */
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
    ki_object *object; /* the new state; for a deletion the last state, with this version */
    ki_object *before; /* the previous state; NULL for an addition */
} ki__api_entry;

/** A server that reads a prefix of the log; in the model's list while it exists. */
typedef struct ki__api_reader {
    ki__list link;
    uint64_t applied; /* the version it has reached */
    bool follows;     /* never lags */
} ki__api_reader;

struct ki__api_model {
    const ki_alloc *alloc;
    const ki_clock *clock;
    const ki_random *random;
    ki__api_model_options options;
    ki__api_type **types;
    size_t type_count;
    size_t type_cap;
    ki__api_entry *entries; /* entries after `floor`, oldest first, starting at `first` */
    size_t first;
    size_t count;
    size_t cap;
    size_t bytes;      /* size of their objects */
    uint64_t sequence; /* of the oldest entry; increases forever */
    uint64_t floor;
    uint64_t compacted;
    uint64_t head;  /* the version of the last write */
    uint64_t epoch; /* number of restores */
    size_t objects; /* number of objects at the head */
    bool namespaces_made;
    struct ki__garbage *garbage; /* NULL: no garbage collection */
    ki__list readers;
    void (*on_change)(
        void *user); /* called after a write or after a server advanced; may be NULL */
    void *on_change_user;
};

/** Errors: -EINVAL  no clock or random source;  -ENOMEM. */
int ki__api_model_new(const ki__api_model_options *options, ki__api_model **ret_model);

/** All servers must have been freed. Always returns NULL; NULL is allowed. */
ki__api_model *ki__api_model_free(ki__api_model *model);

/** Serves a resource, or changes its options.
 *  Errors: KI_ERR_EXISTS  another one has the same group, version and name;  KI_ERR_LIMIT,
 *  -ENOMEM. */
int ki__api_model_register(ki__api_model *model, const ki_resource *resource,
                           const ki__api_type_options *options);

/** Looks up the resource of a path: registered, or built in.
 *  Errors: KI_ERR_NOT_FOUND;  KI_ERR_LIMIT, -ENOMEM. */
int ki__api_model_type(ki__api_model *model, const char *group, const char *version,
                       const char *name, ki__api_type **ret_type);

/** Options of a built-in resource. */
ki__api_type_options ki__api_builtin_options(const ki_resource *resource);

/** Serves a version of a custom resource; `store` is the type that stores the objects of all
 *  versions, NULL: this one. Replaces a resource already served under this name.
 *  Errors: KI_ERR_LIMIT, -ENOMEM. */
int ki__api_model_define(ki__api_model *model, const ki_resource *resource,
                         const ki__api_type_options *options, ki_object *definition,
                         ki__api_type *store, ki__api_type **ret_type);

/** The entry of spec.versions, in its definition, that belongs to a type. */
bool ki__api_type_version(const ki__api_type *type, ki_value *ret_version);
/** The categories of its definition; false if there is no definition or it has none. */
bool ki__api_type_categories(const ki__api_type *type, ki_value *ret_categories);
bool ki__api_type_schema(const ki__api_type *type, ki_value *ret_schema);

/** The object at a retained version; borrowed; NULL if it did not exist. */
ki_object *ki__api_model_get(const ki__api_type *type, ki_str key, uint64_t rv);

/** The state of a key at a version; borrowed; NULL if it did not exist. */
ki_object *ki__api_key_at(const ki__api_key *key, uint64_t rv);

/** Index of the first key that is not less than `key`. */
size_t ki__api_model_find(const ki__api_type *type, ki_str key, bool *ret_exact);

/** Appends the next write: `object` has version head + 1 (for a deletion it is the last state).
 *  Takes its own references. Adding an existing object or changing a missing one is a bug of the
 *  caller.
 *  Errors: KI_ERR_LIMIT  objects_max;  -ENOMEM; both without effect. */
int ki__api_model_write(ki__api_model *model, ki__api_type *type, ki_str key, ki__api_change change,
                        ki_object *object);

/** Increases the version without a change, as writes of other resources do. */
void ki__api_model_skip(ki__api_model *model, uint64_t versions);

/** Compacts the versions before `rv`, at most up to the head. */
void ki__api_model_compact(ki__api_model *model, uint64_t rv);

/** Reverts to `rv` and continues from there, like a restored backup.
 *  Errors: KI_ERR_RANGE  that version is not retained. */
int ki__api_model_restore(ki__api_model *model, uint64_t rv);

/** Sequence number of the first entry after `rv`; that of the next write if there is none. */
uint64_t ki__api_model_after(const ki__api_model *model, uint64_t rv);

/** A retained entry, or NULL if it has not been written yet. */
const ki__api_entry *ki__api_model_entry(const ki__api_model *model, uint64_t sequence);

/** Advances a reader to `rv`, at most to the head and never backwards. */
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
