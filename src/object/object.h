/* SPDX-License-Identifier: Apache-2.0 */
/* Memory layout of an object, one block: this header, the key and the resourceVersion, the received
 * bytes, then the other identity strings as C strings. The key is next to the members that a store
 * accesses at every lookup, usually in one cache line; the other strings come last, so that there
 * are always readable bytes after the content. A partial object has the pointer to its projection
 * between the resourceVersion and the bytes, so that other objects need no space for it. */
#ifndef KI_OBJECT_OBJECT_H
#define KI_OBJECT_OBJECT_H

#include <stddef.h>

#include <kinformer/encoding.h>
#include <kinformer/object.h>

#include "base/refs.h"
#include "object/json/json_value.h"
#include "object/proto/proto_locate.h"

/* Keep it small: header and strings of a typical object must stay below 200 bytes. */
struct ki_object {
    const ki_alloc *alloc;
    union {
        ki__json_shortcuts shortcuts; /* JSON */
        ki__proto_body body;          /* protobuf */
    };
    uint32_t labels; /* offsets in the bytes from here on; 0: absent */
    union {
        uint32_t labels_flat;  /* JSON: their length if they are a flat map; else 0 */
        uint32_t metadata_end; /* protobuf */
    };
    uint32_t annotations;
    uint32_t owner_references;
    uint32_t finalizers;
    uint32_t creation;
    uint32_t deletion;
    uint32_t generation;
    uint32_t len;        /* of the bytes */
    uint16_t name_space; /* offsets in the far strings, which start with an empty one */
    uint16_t uid;
    uint16_t kind;
    uint16_t api_version;
    ki__refs refs;             /* from here on: accessed by a store */
    uint16_t name;             /* offset in the near strings, which start with the key */
    uint16_t resource_version; /* likewise; it follows the key */
    uint16_t near_len;
    uint8_t encoding;
    bool partial : 1;
    bool packed : 1; /* has a struct ki__packed before it: see pack/packed.h */
    char near_strings[];
};

/** The same for a packed object. */
size_t ki__packed_footprint(const ki_object *object);

/** About its memory. ki_object_memory() looks at the far end of the object, which costs more. */
static inline size_t ki__object_footprint(const ki_object *object)
{
    return object->packed ? ki__packed_footprint(object)
                          : sizeof(*object) + object->near_len + object->len;
}

/** The received bytes; of a packed object, its metadata only. */
static inline const char *ki__object_bytes(const ki_object *object)
{
    return object->near_strings + object->near_len;
}

/** The projection of a partial object; NULL if it is not partial. */
static inline const ki_projection *ki__object_projection(const ki_object *object)
{
    const ki_projection *projection = NULL;
    if (object->partial) {
        memcpy(&projection, ki__object_bytes(object) - sizeof(projection), sizeof(projection));
    }
    return projection;
}

/** Creates an object from bytes, as ki_object_from_json() and ki_object_from_protobuf() do.
 *  `scratch`, which may be NULL, is a buffer that projections use, kept by the caller for the next
 *  object. */
int ki__object_read(ki_encoding encoding, ki_str bytes, const ki_object_options *options,
                    ki_buf *scratch, ki_object **ret_object, ki_error *error);

/** Memory around an object that the caller fills. */
typedef struct ki__object_tail {
    size_t before; /* bytes before the object */
    ki_str bytes;  /* copied behind it */
    uint32_t at;   /* result: where they are, from the start of the object */
} ki__object_tail;

/** Creates an object from the part of a plain object that `part` keeps, with the projection of that
 *  object, for packing. */
int ki__object_read_part(const ki_object *object, const ki_projection *part, ki_buf *scratch,
                         ki__object_tail *tail, ki_object **ret_object, ki_error *error);

/** As ki_object_project(), also of a partial object whose projection keeps all that this one does.
 */
int ki__object_reduce(const ki_object *object, const ki_projection *projection,
                      ki_object **ret_object, ki_error *error);

/** Whether its projection is one of ki__projection_new_metadata(). */
bool ki__object_is_reduced(const ki_object *object);

/** The plain form of an object: itself, or what a packed object was made of, which then stays with
 *  it. Valid as long as the object.  Errors: -ENOMEM, KI_ERR_DAMAGED. */
int ki__object_open(const ki_object *object, const ki_object **ret_plain);

/** The same as a new reference, without a change of the object. */
int ki__object_unpack(const ki_object *object, ki_object **ret_plain);

/** The length of the strings after the bytes. */
size_t ki__object_far_len(const ki_object *object);

/** Whether all of a member of the object's member `part` was kept. */
bool ki__object_keeps(const ki_object *object, const char *part, const char *name);

/** KI_ERR_NOT_KEPT if an object is partial: it cannot be written to a server, or be the base of a
 *  change. */
int ki__object_require_whole(const ki_object *object, ki_error *error);

/** The strings after the bytes. */
static inline const char *ki__object_far_strings(const ki_object *object)
{
    return ki__object_bytes(object) + object->len;
}

/** The size of the block, rounded up in steps of at most 1/64, minus malloc's header: the freed
 *  block of a replaced object then fits a slightly longer successor. Without this, a cache whose
 *  objects had all changed once or twice needed a fifth more memory. */
static inline size_t ki__object_size(size_t near_len, size_t len, size_t far_len)
{
    enum { LEAST_STEP = 16, KEPT_BY_MALLOC = 8 };
    size_t need = offsetof(ki_object, near_strings) + near_len + len + far_len + KEPT_BY_MALLOC;
    size_t step = (size_t)1 << (63 - __builtin_clzll(need / 64 | LEAST_STEP));
    return (need + step - 1) / step * step - KEPT_BY_MALLOC;
}

/** The key and its length. */
static inline ki_str ki__object_key(const ki_object *object)
{
    return ki_str_make(object->near_strings, (size_t)object->resource_version - 1);
}

/** The namespace of an object that has a name, taken from its key. */
static inline ki_str ki__object_namespace(const ki_object *object)
{
    return ki_str_make(object->near_strings, object->name != 0 ? (size_t)object->name - 1 : 0);
}

/** Two objects in plain form, with references. */
typedef struct ki__plain_pair {
    ki_object *a;
    ki_object *b;
} ki__plain_pair;

int ki__plain_pair_init(ki__plain_pair *pair, const ki_object *a, const ki_object *b);
void ki__plain_pair_done(const ki__plain_pair *pair);

/** 1 if both are the same state of one object, else 0. Comparing resourceVersions is not enough: a
 *  server restored from a backup reuses them, and an upgraded one may return more fields of an
 *  unchanged object. Packed objects are decompressed for it: -ENOMEM, KI_ERR_DAMAGED. */
int ki__object_is_same_state(const ki_object *a, const ki_object *b);

/** 1 if the resourceVersion is all that differs between two states of one partial object with the
 *  same projection; 0 if it has not changed. Errors as above. */
int ki__object_is_same_kept(const ki_object *old, const ki_object *object);

/* Fast label lookup, for valid label keys and values. Less than 0 if the labels of this object are
 * not stored in a suitable form: use ki_object_labels() then. */

/** 1 with *ret_text, or 0 if the label does not exist. */
int ki__object_label_text(const ki_object *object, ki_str name, ki_str *ret_text);

/** 1 if the label exists and equals `text`; else 0. */
int ki__object_label_is(const ki_object *object, ki_str name, ki_str text);

#endif
