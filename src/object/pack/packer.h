/* SPDX-License-Identifier: Apache-2.0 */
/* Packing the objects of one store.
 *
 * A packer learns a dictionary from the first objects, and a new one when objects no longer become
 * as small as they did. Packed objects hold a reference to their dictionary, and that one to the
 * packer, so objects can be read as long as they exist.
 *
 * A packed object that is read is opened: its plain form stays with it (packed.h). The packer
 * keeps a list of opened objects, for the store to replace them by closed ones. The list has
 * references, and ends when the store closes the packer, since objects refer to the packer.
 *
 * Threads: packing and learning are for the writer of the store; everything else for any thread. */
#ifndef KI_OBJECT_PACK_PACKER_H
#define KI_OBJECT_PACK_PACKER_H

#include <stdatomic.h>

#include <kinformer/buf.h>
#include <kinformer/object.h>

#include "base/refs.h"
#include "base/sync.h"
#include "object/pack/codec.h"

typedef struct ki__packer ki__packer;
typedef struct ki__packed ki__packed;

/** What a number of objects was packed with. */
typedef struct ki__dictionary {
    ki__refs refs;
    ki__packer *packer;     /* a reference */
    ki__codec_words *words; /* NULL: none */
} ki__dictionary;

enum { KI__PACK_SAMPLES = 256, KI__PACK_OPENED_MAX = 64, KI__PACK_OPENED_BYTES = 1 << 20 };

struct ki__packer {
    const ki_alloc *alloc;
    ki__refs refs;
    ki__codec *codec;

    /* The writer only. */
    ki__dictionary *dictionary; /* the current one */
    ki_projection *metadata;    /* what stays plain */
    ki_buf image;               /* an object, as it is compressed */
    ki_buf block;               /* the same, compressed */
    ki_buf scratch;
    ki_buf samples;
    size_t sample_lens[KI__PACK_SAMPLES];
    size_t sample_count;
    bool sampling;
    bool packs_all;        /* for tests: also objects that do not become smaller */
    uint32_t keep_open;    /* this many opened objects stay open; less in tests */
    uint64_t window_count; /* objects since the last look at how small they become */
    uint64_t window_plain; /* their bytes */
    uint64_t window_packed;
    double best;       /* the smallest ratio with the current dictionary; 0: not known */
    uint64_t patience; /* windows until the next dictionary, at least; doubled by each */
    uint64_t waited;

    /* Any thread. */
    _Atomic uint32_t dictionaries;   /* those that exist */
    _Atomic size_t dictionary_bytes; /* their memory */
    _Atomic size_t buffer_bytes;     /* of the buffers above */
    _Atomic size_t opened_bytes;     /* memory of the plain forms of opened objects */
    _Atomic(ki__packed *) opened;    /* objects opened since the last ki__packer_take_opened() */
    _Atomic size_t opened_count;     /* and their number */
    _Atomic size_t fresh_bytes;      /* and their bytes */
    _Atomic size_t open_max;         /* bytes of opened objects that stay open */
    atomic_bool closed;
    ki__mutex lock; /* for the hook */
    void (*on_full)(void *user);
    void *on_full_user;
};

/** Memory besides the packed objects themselves. */
typedef struct ki__pack_memory {
    size_t dictionaries;
    size_t contexts; /* of libzstd, and buffers */
    size_t opened;   /* plain forms, which readers hold or have read recently */
} ki__pack_memory;

int ki__packer_new(const ki_alloc *alloc, ki__packer **ret_packer, ki_error *error);
ki__packer *ki__packer_ref(ki__packer *packer);
void ki__packer_unref(ki__packer *packer);

/** Packs an object. *ret_object is a new reference: to the packed object, or to `object` itself if
 *  that is not larger, or is packed and closed. The writer only.  Errors: -ENOMEM; KI_ERR_DAMAGED
 *  for an object of another packer. */
int ki__packer_pack(ki__packer *packer, const ki_object *object, ki_object **ret_object,
                    ki_error *error);

/** Memory for dictionaries, contexts and opened objects. Any thread. */
ki__pack_memory ki__packer_memory(const ki__packer *packer);

/** Less memory for opened objects of a store whose memory is limited to `max_bytes`. Any thread. */
void ki__packer_limit(ki__packer *packer, uint64_t max_bytes);

/** Called, possibly on several threads at once, when many objects were opened since the last
 *  ki__packer_take_opened(); NULL: nobody. It is not running any more when this returns, so it must
 *  not wait for the caller. */
void ki__packer_on_full(ki__packer *packer, void (*on_full)(void *user), void *user);

/** An object was opened. */
void ki__packer_note_opened(ki__packer *packer, ki__packed *packed, size_t bytes);

/** The objects that were opened since the last call, newest first, linked by next_opened, with a
 *  reference each. */
ki__packed *ki__packer_take_opened(ki__packer *packer);

/** The store is gone: opened objects are not listed from here on. */
void ki__packer_close(ki__packer *packer);

ki__dictionary *ki__dictionary_ref(ki__dictionary *dictionary);
void ki__dictionary_unref(ki__dictionary *dictionary);

#endif
