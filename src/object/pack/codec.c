/* SPDX-License-Identifier: Apache-2.0 */
#include "object/pack/codec.h"

#include "base/error.h"

#ifdef KI_WITH_ZSTD

#include <errno.h>
#include <stdatomic.h>
#include <zdict.h>
#include <zstd.h>
#include <zstd_errors.h>

#include "base/alloc.h"

/* With a dictionary, level 3 is faster than level 1 on objects, and leaves a fifth less. */
enum { LEVEL = 3, WORDS_BYTES = 32 << 10, IDLE_MAX = 4 };
/* What learning needs for a moment, with a margin. */
enum { LEARNING_BYTES = 16 << 20 };
/* The frame header of zstd (RFC 8878): a block without a checksum is not ours. */
enum { HEADER_FLAGS = 4, HEADER_MIN = 6, HAS_CHECKSUM = 4 };

struct ki__codec {
    const ki_alloc *alloc;
    ZSTD_CCtx *writer;
    _Atomic size_t writer_bytes; /* its memory, for other threads */
    _Atomic(ZSTD_DCtx *) idle[IDLE_MAX];
};

struct ki__codec_words {
    const ki_alloc *alloc;
    ZSTD_CDict *to_write; /* NULL once retired */
    ZSTD_DDict *to_read;
};

bool ki__codec_is_built(void)
{
    return true;
}

int ki__codec_new(const ki_alloc *alloc, ki__codec **ret_codec, ki_error *error)
{
    ki__codec *codec = ki__alloc_zero(alloc, sizeof(*codec));
    if (codec == NULL) {
        return ki__error_code(error, -ENOMEM);
    }
    codec->alloc = alloc;
    codec->writer = ZSTD_createCCtx();
    for (size_t i = 0; i < IDLE_MAX; i++) {
        atomic_init(&codec->idle[i], NULL);
    }
    if (codec->writer == NULL ||
        ZSTD_isError(ZSTD_CCtx_setParameter(codec->writer, ZSTD_c_compressionLevel, LEVEL)) ||
        ZSTD_isError(ZSTD_CCtx_setParameter(codec->writer, ZSTD_c_checksumFlag, 1)) ||
        ZSTD_isError(ZSTD_CCtx_setParameter(codec->writer, ZSTD_c_dictIDFlag, 0))) {
        ki__codec_free(codec);
        return ki__error_code(error, -ENOMEM);
    }
    *ret_codec = codec;
    return 0;
}

void ki__codec_free(ki__codec *codec)
{
    if (codec == NULL) {
        return;
    }
    (void)ZSTD_freeCCtx(codec->writer);
    for (size_t i = 0; i < IDLE_MAX; i++) {
        (void)ZSTD_freeDCtx(atomic_load(&codec->idle[i]));
    }
    ki__free(codec->alloc, codec);
}

size_t ki__codec_memory(const ki__codec *codec)
{
    size_t idle = 0;
    for (size_t i = 0; i < IDLE_MAX; i++) {
        idle += atomic_load_explicit(&codec->idle[i], memory_order_relaxed) != NULL;
    }
    return atomic_load_explicit(&codec->writer_bytes, memory_order_relaxed) +
           idle * (size_t)96 * 1024; /* about one context */
}

size_t ki__codec_bound(size_t len)
{
    return ZSTD_compressBound(len);
}

int ki__codec_compress(ki__codec *codec, const ki__codec_words *words, ki_str bytes, char *out,
                       size_t *ret_len)
{
    size_t r = ZSTD_CCtx_refCDict(codec->writer, words != NULL ? words->to_write : NULL);
    if (!ZSTD_isError(r)) {
        r = ZSTD_compress2(codec->writer, out, ZSTD_compressBound(bytes.len), bytes.ptr, bytes.len);
    }
    atomic_store_explicit(&codec->writer_bytes, ZSTD_sizeof_CCtx(codec->writer),
                          memory_order_relaxed);
    if (ZSTD_isError(r)) {
        return -ENOMEM; /* the only reason */
    }
    *ret_len = r;
    return 0;
}

static ZSTD_DCtx *take_reader(ki__codec *codec)
{
    ZSTD_DCtx *reader = NULL;
    for (size_t i = 0; reader == NULL && i < IDLE_MAX; i++) {
        reader = atomic_exchange(&codec->idle[i], NULL);
    }
    return reader != NULL ? reader : ZSTD_createDCtx();
}

static void give_reader(ki__codec *codec, ZSTD_DCtx *reader)
{
    for (size_t i = 0; i < IDLE_MAX; i++) {
        ZSTD_DCtx *none = NULL;
        if (atomic_compare_exchange_strong(&codec->idle[i], &none, reader)) {
            return;
        }
    }
    (void)ZSTD_freeDCtx(reader);
}

int ki__codec_decompress(ki__codec *codec, const ki__codec_words *words, ki_str block, char *out,
                         size_t len)
{
    if (block.len < HEADER_MIN || (block.ptr[HEADER_FLAGS] & HAS_CHECKSUM) == 0) {
        return KI_ERR_DAMAGED;
    }
    ZSTD_DCtx *reader = take_reader(codec);
    if (reader == NULL) {
        return -ENOMEM;
    }
    size_t r = ZSTD_decompress_usingDDict(reader, out, len, block.ptr, block.len,
                                          words != NULL ? words->to_read : NULL);
    give_reader(codec, reader);
    if (ZSTD_isError(r) && ZSTD_getErrorCode(r) == ZSTD_error_memory_allocation) {
        return -ENOMEM;
    }
    return !ZSTD_isError(r) && r == len ? 0 : KI_ERR_DAMAGED;
}

/* Whether the system has the memory to learn. libzstd 1.5.4 and older crash in ZSTD_createCDict(),
 * which training also calls, if it has not. */
static bool may_learn(void)
{
    const ki_alloc *system = ki__alloc_or_default(NULL); /* as libzstd */
    void *block = ki__alloc(system, LEARNING_BYTES);
    ki__free(system, block);
    return block != NULL;
}

int ki__codec_learn(const ki_alloc *alloc, const char *bytes, const size_t *lens, size_t count,
                    ki__codec_words **ret_words)
{
    *ret_words = NULL;
    char *text = ki__alloc(alloc, WORDS_BYTES);
    ki__codec_words *words = ki__alloc_zero(alloc, sizeof(*words));
    int r = text != NULL && words != NULL && may_learn() ? 0 : -ENOMEM;
    size_t len =
        r == 0 ? ZDICT_trainFromBuffer(text, WORDS_BYTES, bytes, lens, (unsigned)count) : 0;
    if (r == 0 && !ZDICT_isError(len)) {
        words->alloc = alloc;
        words->to_write = ZSTD_createCDict(text, len, LEVEL);
        words->to_read = ZSTD_createDDict(text, len);
        r = words->to_write != NULL && words->to_read != NULL ? 0 : -ENOMEM;
        if (r == 0) {
            *ret_words = words;
            words = NULL;
        } else {
            ki__codec_forget(words);
            words = NULL;
        }
    }
    ki__free(alloc, words);
    ki__free(alloc, text);
    return r;
}

void ki__codec_retire(ki__codec_words *words)
{
    if (words != NULL) {
        (void)ZSTD_freeCDict(words->to_write);
        words->to_write = NULL;
    }
}

void ki__codec_forget(ki__codec_words *words)
{
    if (words != NULL) {
        ki__codec_retire(words);
        (void)ZSTD_freeDDict(words->to_read);
        ki__free(words->alloc, words);
    }
}

size_t ki__codec_learned_memory(const ki__codec_words *words)
{
    return words != NULL ? ZSTD_sizeof_CDict(words->to_write) + ZSTD_sizeof_DDict(words->to_read)
                         : 0;
}

#else

bool ki__codec_is_built(void)
{
    return false;
}

int ki__codec_new(const ki_alloc *alloc, ki__codec **ret_codec, ki_error *error)
{
    (void)alloc;
    (void)ret_codec;
    return ki__error_set(error, KI_ERR_UNSUPPORTED,
                         "packed storage: the library was built without libzstd");
}

/* There is no codec and nothing that was compressed: none of these is called. */

void ki__codec_free(ki__codec *codec)
{
    (void)codec;
}

size_t ki__codec_memory(const ki__codec *codec)
{
    (void)codec;
    return 0;
}

size_t ki__codec_bound(size_t len)
{
    return len;
}

int ki__codec_compress(ki__codec *codec, const ki__codec_words *words, ki_str bytes, char *out,
                       size_t *ret_len)
{
    (void)codec;
    (void)words;
    (void)bytes;
    (void)out;
    (void)ret_len;
    return KI_ERR_UNSUPPORTED;
}

int ki__codec_decompress(ki__codec *codec, const ki__codec_words *words, ki_str block, char *out,
                         size_t len)
{
    (void)codec;
    (void)words;
    (void)block;
    (void)out;
    (void)len;
    return KI_ERR_UNSUPPORTED;
}

int ki__codec_learn(const ki_alloc *alloc, const char *bytes, const size_t *lens, size_t count,
                    ki__codec_words **ret_words)
{
    (void)alloc;
    (void)bytes;
    (void)lens;
    (void)count;
    (void)ret_words;
    return KI_ERR_UNSUPPORTED;
}

void ki__codec_retire(ki__codec_words *words)
{
    (void)words;
}

void ki__codec_forget(ki__codec_words *words)
{
    (void)words;
}

size_t ki__codec_learned_memory(const ki__codec_words *words)
{
    (void)words;
    return 0;
}

#endif
