/* SPDX-License-Identifier: Apache-2.0 */
/* The block that an object is: this header, the key and the resource version, the bytes as they
 * came, then the rest of the identity as C strings. The key stands next to what a store reads and
 * counts at every look-up, mostly in one cache line; the others come last so that there is always
 * something readable after the bytes. */
#ifndef KI_OBJECT_OBJECT_H
#define KI_OBJECT_OBJECT_H

#include <stddef.h>

#include <kinformer/object.h>

#include "base/refs.h"
#include "object/json/json_value.h"
#include "object/proto/proto_locate.h"

/* Header and strings of a usual object must stay below 200 bytes: mind the size. */
struct ki_object {
    const ki_alloc *alloc;
    union {
        ki__json_shortcuts shortcuts; /* of JSON */
        ki__proto_body body;          /* of protobuf */
    };
    uint32_t labels; /* offsets in the bytes from here on; 0: absent */
    union {
        uint32_t labels_flat;  /* of JSON: their length, if they are a flat map; else 0 */
        uint32_t metadata_end; /* of protobuf */
    };
    uint32_t annotations;
    uint32_t owner_references;
    uint32_t finalizers;
    uint32_t creation;
    uint32_t deletion;
    uint32_t generation;
    uint32_t len;        /* of the bytes */
    uint16_t name_space; /* offsets in the far strings, which begin with an empty one */
    uint16_t uid;
    uint16_t kind;
    uint16_t api_version;
    ki__refs refs;             /* from here on: what a store touches */
    uint16_t name;             /* offset in the near strings, which begin with the key */
    uint16_t resource_version; /* the same; it follows the key */
    uint16_t near_len;
    uint8_t encoding;
    char near_strings[];
};

/** The bytes as they came. */
static inline const char *ki__object_bytes(const ki_object *object)
{
    return object->near_strings + object->near_len;
}

/** The strings after them. */
static inline const char *ki__object_far_strings(const ki_object *object)
{
    return ki__object_bytes(object) + object->len;
}

/** The size of the block. Sizes come in steps of at most a 64th, less what malloc keeps before each
 *  block: so the block of an object that was replaced fits a next one that is a little longer.
 *  Without that, a cache whose objects had all changed once or twice took a fifth more memory. */
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

/** The namespace of an object that has a name, from its key. */
static inline ki_str ki__object_namespace(const ki_object *object)
{
    return ki_str_make(object->near_strings, object->name != 0 ? (size_t)object->name - 1 : 0);
}

/** Whether both are the same state of one object. That the versions are the same does not do: a
 *  server that was set back counts again from there, and one that was updated may show the same
 *  object with more in it. */
bool ki__object_is_same_state(const ki_object *a, const ki_object *b);

/* Labels by the short way, for keys and values that are valid as such. Less than 0 if this object
 * does not keep its labels so that there is one: then ask ki_object_labels(). */

/** 1 with *ret_text set, or 0 if there is no label of that name. */
int ki__object_label_text(const ki_object *object, ki_str name, ki_str *ret_text);

/** 1 if there is a label of that name and it is `text`; else 0. */
int ki__object_label_is(const ki_object *object, ki_str name, ki_str text);

#endif
