/* SPDX-License-Identifier: Apache-2.0 */
/* Packed objects. A packed object is an object of its metadata alone, so that names, labels, owner
 * references and times are read as from any other, with a compressed image of the whole object
 * behind it, and this header before it. The image is the block of the plain object as it was in
 * memory: decompressing parses nothing.
 *
 * Reading anything else opens the object: its plain form is created and stays until the object is
 * freed, since it is unknown how long what was read is in use. Stores replace opened objects by
 * closed copies (cache/store/opened.c). */
#ifndef KI_OBJECT_PACK_PACKED_H
#define KI_OBJECT_PACK_PACKED_H

#include "object/object.h"
#include "object/pack/packer.h"

struct ki__packed {
    _Atomic(ki_object *) plain; /* NULL while it is closed; a reference */
    ki__packed *next_opened;
    ki__dictionary *dictionary; /* a reference */
    uint32_t at;                /* offset of the compressed block from the start of the object */
    uint32_t len;
    uint32_t image_len;
};
_Static_assert(sizeof(ki__packed) % _Alignof(ki_object) == 0, "an object follows");

static inline ki__packed *ki__packed_of(const ki_object *object)
{
    return (ki__packed *)(uintptr_t)((const char *)object - sizeof(ki__packed));
}

static inline ki_object *ki__packed_object(ki__packed *packed)
{
    return (ki_object *)(void *)((char *)packed + sizeof(*packed));
}

/** The compressed block. */
static inline ki_str ki__packed_block(const ki_object *object)
{
    const ki__packed *packed = ki__packed_of(object);
    return ki_str_make((const char *)object + packed->at, packed->len);
}

/** The bytes that an image of the object needs. */
size_t ki__image_len(const ki_object *object);

/** Writes the image of a plain object. */
void ki__image_write(const ki_object *object, char *out);

/** A copy of a packed object that is not open; NULL if out of memory. */
ki_object *ki__packed_copy(const ki_object *object);

/** Releases what a packed object refers to. Returns its block. */
void *ki__packed_done(ki_object *object);

#endif
