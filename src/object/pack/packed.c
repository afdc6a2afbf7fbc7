/* SPDX-License-Identifier: Apache-2.0 */
#include "object/pack/packed.h"

#include <errno.h>
#include <string.h>

#include <kinformer/packed.h>
#include <kinformer/projection.h>
#include <kinformer/storage.h>

#include "base/alloc.h"
#include "base/error.h"

/* ---- the image of an object: its block from the member behind `alloc` on, without what differs
 * between objects of the same content ---- */

#define IMAGE_AT (offsetof(ki_object, alloc) + sizeof(const ki_alloc *))
#define REFS_AT offsetof(ki_object, refs)
#define STRINGS_AT offsetof(ki_object, near_strings)
_Static_assert(offsetof(ki_object, alloc) == 0, "everything else is in the image");

size_t ki__image_len(const ki_object *object)
{
    return STRINGS_AT - IMAGE_AT + object->near_len + object->len + ki__object_far_len(object);
}

void ki__image_write(const ki_object *object, char *out)
{
    const char *block = (const char *)object;
    size_t total = IMAGE_AT + ki__image_len(object);
    size_t after = REFS_AT + sizeof(object->refs);
    memcpy(out, block + IMAGE_AT, REFS_AT - IMAGE_AT);
    memset(out + REFS_AT - IMAGE_AT, 0, sizeof(object->refs));
    memcpy(out + after - IMAGE_AT, block + after, total - after);
    if (object->partial) {
        memset(out + STRINGS_AT - IMAGE_AT + object->near_len - sizeof(void *), 0, sizeof(void *));
    }
}

/* Whether a decompressed image is that of this object: damage that its checksum missed. */
static bool is_image_of(const ki_object *plain, const ki_object *object, size_t image_len)
{
    size_t strings = (size_t)object->near_len - (object->partial ? sizeof(void *) : 0);
    return plain->near_len == object->near_len && plain->partial == object->partial &&
           !plain->packed && plain->encoding == object->encoding && plain->name == object->name &&
           plain->resource_version == object->resource_version &&
           STRINGS_AT - IMAGE_AT + plain->near_len + (size_t)plain->len <= image_len &&
           memcmp(plain->near_strings, object->near_strings, strings) == 0;
}

/* Turns a decompressed image into an object. */
static int finish_image(ki_object *plain, const ki_object *object, size_t image_len)
{
    if (!is_image_of(plain, object, image_len)) {
        return KI_ERR_DAMAGED;
    }
    plain->alloc = object->alloc;
    ki__refs_init(&plain->refs);
    if (object->partial) {
        const ki_projection *projection = ki_projection_ref(ki__object_projection(object));
        memcpy(plain->near_strings + plain->near_len - sizeof(projection), &projection,
               sizeof(projection));
    }
    return 0;
}

static int unpack(const ki_object *object, ki_object **ret_plain)
{
    const ki__packed *packed = ki__packed_of(object);
    const ki__dictionary *dictionary = packed->dictionary;
    size_t strings = packed->image_len - (STRINGS_AT - IMAGE_AT);
    ki_object *plain = ki__alloc(object->alloc, ki__object_size(strings, 0, 0));
    if (plain == NULL) {
        return -ENOMEM;
    }
    int r =
        ki__codec_decompress(dictionary->packer->codec, dictionary->words, ki__packed_block(object),
                             (char *)plain + IMAGE_AT, packed->image_len);
    r = r < 0 ? r : finish_image(plain, object, packed->image_len);
    if (r < 0) {
        ki__free(object->alloc, plain);
        return r;
    }
    *ret_plain = plain;
    return 0;
}

/* ---- reading ---- */

int ki__object_open(const ki_object *object, const ki_object **ret_plain)
{
    if (!object->packed) {
        *ret_plain = object;
        return 0;
    }
    ki__packed *packed = ki__packed_of(object);
    ki_object *plain = atomic_load_explicit(&packed->plain, memory_order_acquire);
    if (plain == NULL) {
        ki_object *made = NULL;
        int r = unpack(object, &made);
        if (r < 0) {
            return r;
        }
        if (atomic_compare_exchange_strong(&packed->plain, &plain, made)) {
            plain = made;
            ki__packer_note_opened(packed->dictionary->packer, packed, packed->image_len);
        } else {
            (void)ki_object_unref(made); /* another thread was faster */
        }
    }
    *ret_plain = plain;
    return 0;
}

int ki__object_unpack(const ki_object *object, ki_object **ret_plain)
{
    ki_object *plain =
        object->packed ? atomic_load_explicit(&ki__packed_of(object)->plain, memory_order_acquire)
                       : (ki_object *)(uintptr_t)object;
    if (plain != NULL) {
        *ret_plain = ki_object_ref(plain);
        return 0;
    }
    return unpack(object, ret_plain);
}

bool ki_object_is_packed(const ki_object *object)
{
    return object->packed;
}

int ki_object_unpack(const ki_object *object, ki_object **ret_object, ki_error *error)
{
    KI__REQUIRE(object, error);
    KI__REQUIRE(ret_object, error);
    int r = ki__object_unpack(object, ret_object);
    return r < 0 ? ki__error_set(error, r, "%s %s: cannot be decompressed: %s",
                                 ki_object_kind(object), ki_object_key(object), ki_error_text(r))
                 : 0;
}

int ki__plain_pair_init(ki__plain_pair *pair, const ki_object *a, const ki_object *b)
{
    int r = ki__object_unpack(a, &pair->a);
    if (r < 0) {
        return r;
    }
    r = ki__object_unpack(b, &pair->b);
    if (r < 0) {
        (void)ki_object_unref(pair->a);
    }
    return r;
}

void ki__plain_pair_done(const ki__plain_pair *pair)
{
    (void)ki_object_unref(pair->a);
    (void)ki_object_unref(pair->b);
}

/* ---- memory ---- */

size_t ki__packed_footprint(const ki_object *object)
{
    const ki__packed *packed = ki__packed_of(object);
    return sizeof(*packed) + packed->at + packed->len;
}

ki_object *ki__packed_copy(const ki_object *object)
{
    const ki__packed *packed = ki__packed_of(object);
    size_t size = ki__packed_footprint(object);
    ki__packed *copy = ki__alloc(object->alloc, ki__object_size(size - STRINGS_AT, 0, 0));
    if (copy == NULL) {
        return NULL;
    }
    ki_object *made = ki__packed_object(copy);
    *copy = (ki__packed){
        .dictionary = ki__dictionary_ref(packed->dictionary),
        .at = packed->at,
        .len = packed->len,
        .image_len = packed->image_len,
    };
    size_t after = REFS_AT + sizeof(object->refs);
    memcpy(made, object, REFS_AT);
    memcpy((char *)made + after, (const char *)object + after, packed->at + packed->len - after);
    ki__refs_init(&made->refs);
    (void)ki_projection_ref(ki__object_projection(made));
    return made;
}

void *ki__packed_done(ki_object *object)
{
    ki__packed *packed = ki__packed_of(object);
    ki_object *plain = atomic_load_explicit(&packed->plain, memory_order_acquire);
    if (plain != NULL) {
        atomic_fetch_sub(&packed->dictionary->packer->opened_bytes, packed->image_len);
        (void)ki_object_unref(plain);
    }
    ki__dictionary_unref(packed->dictionary);
    return packed;
}
