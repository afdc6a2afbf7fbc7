/* SPDX-License-Identifier: Apache-2.0 */
#include "object/pack/packer.h"

#include <errno.h>

#include <kinformer/encoding.h>
#include <kinformer/packed.h>
#include <kinformer/projection.h>
#include <kinformer/storage.h>

#include "base/alloc.h"
#include "base/error.h"
#include "object/pack/packed.h"

enum {
    SAMPLES_BYTES = 512 << 10,
    SAMPLE_MAX = 32 << 10, /* of one object */
    WINDOW = 256,
    DICTIONARIES_MAX = 4,
    PATIENCE_FIRST = 4,
    PATIENCE_MAX = 1 << 20,
    BLOCK_FIRST = 64 << 10, /* capacity of buffers that is kept */
};
/* A dictionary no longer fits when objects become this much larger than with it at first. */
static const double worse = 1.25;

/* ---- dictionaries ---- */

ki__dictionary *ki__dictionary_ref(ki__dictionary *dictionary)
{
    ki__refs_take(&dictionary->refs);
    return dictionary;
}

void ki__dictionary_unref(ki__dictionary *dictionary)
{
    if (dictionary == NULL || !ki__refs_drop(&dictionary->refs)) {
        return;
    }
    ki__packer *packer = dictionary->packer;
    if (dictionary->words != NULL) {
        atomic_fetch_sub(&packer->dictionaries, 1);
        atomic_fetch_sub(&packer->dictionary_bytes, ki__codec_learned_memory(dictionary->words));
    }
    ki__codec_forget(dictionary->words);
    ki__free(packer->alloc, dictionary);
    ki__packer_unref(packer);
}

/* Owns `words` on success. */
static ki__dictionary *make_dictionary(ki__packer *packer, ki__codec_words *words)
{
    ki__dictionary *dictionary = ki__alloc(packer->alloc, sizeof(*dictionary));
    if (dictionary != NULL) {
        *dictionary = (ki__dictionary){.packer = ki__packer_ref(packer), .words = words};
        ki__refs_init(&dictionary->refs);
    }
    if (dictionary != NULL && words != NULL) {
        atomic_fetch_add(&packer->dictionaries, 1);
        atomic_fetch_add(&packer->dictionary_bytes, ki__codec_learned_memory(words));
    }
    return dictionary;
}

/* The previous one stays as long as objects need it to be decompressed. */
static void use_dictionary(ki__packer *packer, ki__dictionary *dictionary)
{
    ki__dictionary *before = packer->dictionary;
    packer->dictionary = dictionary;
    if (before->words != NULL) {
        size_t bytes = ki__codec_learned_memory(before->words);
        ki__codec_retire(before->words);
        atomic_fetch_sub(&packer->dictionary_bytes,
                         bytes - ki__codec_learned_memory(before->words));
    }
    ki__dictionary_unref(before);
}

/* Learns from the samples. If that fails, the dictionary stays as it is. */
static void learn(ki__packer *packer)
{
    ki__codec_words *words = NULL;
    (void)ki__codec_learn(packer->alloc, packer->samples.data, packer->sample_lens,
                          packer->sample_count, &words);
    ki__dictionary *dictionary = words != NULL ? make_dictionary(packer, words) : NULL;
    if (dictionary != NULL) {
        use_dictionary(packer, dictionary);
    } else {
        ki__codec_forget(words);
    }
    ki_buf_done(&packer->samples);
    packer->sampling = false;
    packer->sample_count = 0;
    packer->best = 0;
    packer->waited = 0;
    packer->patience = packer->patience < PATIENCE_MAX ? packer->patience * 2 : PATIENCE_MAX;
    packer->window_count = packer->window_plain = packer->window_packed = 0;
}

static void take_sample(ki__packer *packer, ki_str image)
{
    size_t len = image.len < SAMPLE_MAX ? image.len : SAMPLE_MAX;
    if (ki_buf_add(&packer->samples, image.ptr, len) < 0) {
        return; /* without memory, another time */
    }
    packer->sample_lens[packer->sample_count++] = len;
    if (packer->sample_count == KI__PACK_SAMPLES || packer->samples.len >= SAMPLES_BYTES) {
        learn(packer);
    }
}

/* Looks how small objects become, and whether another dictionary is needed. */
static void look_at_ratio(ki__packer *packer, size_t plain, size_t packed)
{
    packer->window_plain += plain;
    packer->window_packed += packed;
    if (++packer->window_count < WINDOW) {
        return;
    }
    double ratio = (double)packer->window_packed / (double)packer->window_plain;
    packer->window_count = packer->window_plain = packer->window_packed = 0;
    packer->waited++;
    if (packer->best == 0 || ratio < packer->best) {
        packer->best = ratio;
    }
    bool unfit = packer->dictionary->words == NULL || ratio > packer->best * worse;
    if (unfit && packer->waited >= packer->patience &&
        atomic_load(&packer->dictionaries) < DICTIONARIES_MAX) {
        packer->sampling = true;
    }
}

/* ---- creation ---- */

static void free_packer(ki__packer *packer)
{
    (void)ki_projection_unref(packer->metadata);
    ki__codec_free(packer->codec);
    ki_buf_done(&packer->image);
    ki_buf_done(&packer->block);
    ki_buf_done(&packer->scratch);
    ki_buf_done(&packer->samples);
    ki__mutex_done(&packer->lock);
    ki__free(packer->alloc, packer);
}

ki__packer *ki__packer_ref(ki__packer *packer)
{
    ki__refs_take(&packer->refs);
    return packer;
}

void ki__packer_unref(ki__packer *packer)
{
    if (packer != NULL && ki__refs_drop(&packer->refs)) {
        free_packer(packer);
    }
}

static void init_buffers(ki__packer *packer)
{
    ki_buf_init(&packer->image, packer->alloc, SIZE_MAX);
    ki_buf_init(&packer->block, packer->alloc, SIZE_MAX);
    ki_buf_init(&packer->scratch, packer->alloc, SIZE_MAX);
    ki_buf_init(&packer->samples, packer->alloc, SIZE_MAX);
}

int ki__packer_new(const ki_alloc *alloc, ki__packer **ret_packer, ki_error *error)
{
    ki__packer *packer = ki__alloc_zero(alloc, sizeof(*packer));
    if (packer == NULL) {
        return ki__error_code(error, -ENOMEM);
    }
    int r = ki__mutex_init(&packer->lock);
    if (r < 0) {
        ki__free(alloc, packer);
        return ki__error_code(error, r);
    }
    packer->alloc = alloc;
    ki__refs_init(&packer->refs);
    init_buffers(packer);
    packer->sampling = true;
    packer->keep_open = KI__PACK_OPENED_MAX;
    atomic_init(&packer->open_max, KI__PACK_OPENED_BYTES);
    packer->patience = PATIENCE_FIRST;
    r = ki__codec_new(alloc, &packer->codec, error);
    r = r < 0 ? r : ki_projection_new(".metadata.name", NULL, alloc, &packer->metadata, error);
    if (r >= 0) {
        packer->dictionary = make_dictionary(packer, NULL);
        r = packer->dictionary != NULL ? 0 : ki__error_code(error, -ENOMEM);
    }
    if (r < 0) {
        free_packer(packer);
        return r;
    }
    *ret_packer = packer;
    return 0;
}

ki__pack_memory ki__packer_memory(const ki__packer *packer)
{
    return (ki__pack_memory){
        .dictionaries = atomic_load_explicit(&packer->dictionary_bytes, memory_order_relaxed),
        .contexts = ki__codec_memory(packer->codec) +
                    atomic_load_explicit(&packer->buffer_bytes, memory_order_relaxed),
        .opened = atomic_load_explicit(&packer->opened_bytes, memory_order_relaxed),
    };
}

void ki__packer_limit(ki__packer *packer, uint64_t max_bytes)
{
    enum { PART = 64 };
    size_t open_max = atomic_load(&packer->open_max);
    atomic_store(&packer->open_max, max_bytes / PART < open_max ? max_bytes / PART : open_max);
}

/* ---- packing ---- */

/* Frees the memory of an unusually large object. */
static void keep_small(ki_buf *buf)
{
    if (buf->cap > BLOCK_FIRST) {
        ki_buf_done(buf);
    }
}

/* Writes the image of an object, and compresses it. */
static int compress(ki__packer *packer, const ki_object *object, ki_str *ret_image,
                    ki_str *ret_block)
{
    char *image;
    char *block;
    size_t len = ki__image_len(object);
    ki_buf_clear(&packer->image);
    ki_buf_clear(&packer->block);
    int r = ki_buf_reserve(&packer->image, len, &image);
    r = r < 0 ? r : ki_buf_reserve(&packer->block, ki__codec_bound(len), &block);
    if (r < 0) {
        return r;
    }
    ki__image_write(object, image);
    *ret_image = ki_str_make(image, len);
    ret_block->ptr = block;
    return ki__codec_compress(packer->codec, packer->dictionary->words, *ret_image, block,
                              &ret_block->len);
}

static int build(ki__packer *packer, const ki_object *object, ki_str image, ki_str block,
                 ki_object **ret_object, ki_error *error)
{
    ki__object_tail tail = {.before = sizeof(ki__packed), .bytes = block};
    int r =
        ki__object_read_part(object, packer->metadata, &packer->scratch, &tail, ret_object, error);
    if (r < 0) {
        return r;
    }
    ki__packed *packed = ki__packed_of(*ret_object);
    atomic_init(&packed->plain, NULL);
    packed->next_opened = NULL;
    packed->dictionary = ki__dictionary_ref(packer->dictionary);
    packed->at = tail.at;
    packed->len = (uint32_t)block.len;
    packed->image_len = (uint32_t)image.len;
    return 0;
}

static int pack_plain(ki__packer *packer, const ki_object *object, ki_object **ret_object,
                      ki_error *error)
{
    ki_str image = {0};
    ki_str block = {0};
    int r = compress(packer, object, &image, &block);
    if (r < 0) {
        return ki__error_code(error, r);
    }
    ki_object *made = NULL;
    size_t plain = ki_object_memory(object);
    bool try = block.len < image.len || packer->packs_all;
    r = try ? build(packer, object, image, block, &made, error) : 0;
    if (r >= 0 && !packer->packs_all && (made == NULL || ki_object_memory(made) >= plain)) {
        (void)ki_object_unref(made);
        made = ki_object_ref(object);
    }
    if (r >= 0) {
        *ret_object = made;
        look_at_ratio(packer, image.len, block.len);
        if (packer->sampling) {
            take_sample(packer, image);
        }
    }
    keep_small(&packer->image);
    keep_small(&packer->block);
    keep_small(&packer->scratch);
    size_t buffers =
        packer->image.cap + packer->block.cap + packer->scratch.cap + packer->samples.cap;
    atomic_store_explicit(&packer->buffer_bytes, buffers, memory_order_relaxed);
    return r < 0 ? r : 0;
}

/* Packs an object of another packer with this one: its plain form would stay in memory until that
 * packer's store closes it, which may never happen. */
static int pack_foreign(ki__packer *packer, const ki_object *object, ki_object **ret_object,
                        ki_error *error)
{
    ki_object *plain = NULL;
    int r = ki_object_unpack(object, &plain, error);
    r = r < 0 ? r : pack_plain(packer, plain, ret_object, error);
    (void)ki_object_unref(plain);
    return r;
}

int ki__packer_pack(ki__packer *packer, const ki_object *object, ki_object **ret_object,
                    ki_error *error)
{
    if (!object->packed) {
        return pack_plain(packer, object, ret_object, error);
    }
    ki__packed *packed = ki__packed_of(object);
    if (packed->dictionary->packer != packer) {
        return pack_foreign(packer, object, ret_object, error);
    }
    /* An opened object may no longer be in the list of opened objects: it would stay open. One that
     * is opened from here on will be in the list. */
    bool opened = atomic_load(&packed->plain) != NULL;
    *ret_object = opened ? ki__packed_copy(object) : ki_object_ref(object);
    return *ret_object != NULL ? 0 : ki__error_code(error, -ENOMEM);
}

/* ---- opened objects ---- */

void ki__packer_on_full(ki__packer *packer, void (*on_full)(void *user), void *user)
{
    ki__mutex_lock(&packer->lock);
    packer->on_full = on_full;
    packer->on_full_user = user;
    ki__mutex_unlock(&packer->lock);
}

static void call_on_full(ki__packer *packer)
{
    ki__mutex_lock(&packer->lock);
    if (packer->on_full != NULL) {
        packer->on_full(packer->on_full_user);
    }
    ki__mutex_unlock(&packer->lock);
}

static void drop_opened(ki__packer *packer)
{
    ki__packed *packed = ki__packer_take_opened(packer);
    while (packed != NULL) {
        ki__packed *next = packed->next_opened;
        (void)ki_object_unref(ki__packed_object(packed));
        packed = next;
    }
}

void ki__packer_note_opened(ki__packer *packer, ki__packed *packed, size_t bytes)
{
    atomic_fetch_add(&packer->opened_bytes, bytes);
    if (atomic_load(&packer->closed)) {
        return;
    }
    (void)ki_object_ref(ki__packed_object(packed));
    packed->next_opened = atomic_load(&packer->opened);
    while (!atomic_compare_exchange_weak(&packer->opened, &packed->next_opened, packed)) {
    }
    size_t count = atomic_fetch_add(&packer->opened_count, 1) + 1;
    size_t fresh = atomic_fetch_add(&packer->fresh_bytes, bytes);
    size_t most = atomic_load(&packer->open_max) + 1; /* not 0 */
    if (atomic_load(&packer->closed)) {
        drop_opened(packer); /* closed meanwhile */
    } else if (count % KI__PACK_OPENED_MAX == 0 || fresh / most != (fresh + bytes) / most) {
        call_on_full(packer);
    }
}

ki__packed *ki__packer_take_opened(ki__packer *packer)
{
    atomic_store(&packer->opened_count, 0);
    atomic_store(&packer->fresh_bytes, 0);
    return atomic_exchange(&packer->opened, NULL);
}

void ki__packer_close(ki__packer *packer)
{
    atomic_store(&packer->closed, true);
    drop_opened(packer);
    ki__dictionary *dictionary = packer->dictionary;
    packer->dictionary = NULL;
    ki__dictionary_unref(dictionary);
}
