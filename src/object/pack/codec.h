/* SPDX-License-Identifier: Apache-2.0 */
/* Compression with dictionaries, by libzstd. The only files that know of it; without it, creating a
 * codec fails with KI_ERR_UNSUPPORTED. */
#ifndef KI_OBJECT_PACK_CODEC_H
#define KI_OBJECT_PACK_CODEC_H

#include <kinformer/alloc.h>
#include <kinformer/error.h>
#include <kinformer/str.h>

/** One context for compression, which one thread at a time may use, and some idle ones for
 *  decompression, which all threads share without locks. */
typedef struct ki__codec ki__codec;

/** What objects of a store have in common. NULL: none. */
typedef struct ki__codec_words ki__codec_words;

/** Whether the library was built with libzstd. */
bool ki__codec_is_built(void);

int ki__codec_new(const ki_alloc *alloc, ki__codec **ret_codec, ki_error *error);
void ki__codec_free(ki__codec *codec);

/** The memory of its contexts. */
size_t ki__codec_memory(const ki__codec *codec);

/** The most bytes that `len` bytes need when they are compressed. */
size_t ki__codec_bound(size_t len);

/** Compresses into `out`, which has ki__codec_bound() bytes. 0, or -ENOMEM. */
int ki__codec_compress(ki__codec *codec, const ki__codec_words *words, ki_str bytes, char *out,
                       size_t *ret_len);

/** Decompresses exactly `len` bytes. Any thread. KI_ERR_DAMAGED if the block is not what
 *  ki__codec_compress() wrote; -ENOMEM. */
int ki__codec_decompress(ki__codec *codec, const ki__codec_words *words, ki_str block, char *out,
                         size_t len);

/** Learns from samples, one after the other in `bytes`. NULL in *ret_words if they have too little
 *  in common, or are too few. 0, or -ENOMEM. */
int ki__codec_learn(const ki_alloc *alloc, const char *bytes, const size_t *lens, size_t count,
                    ki__codec_words **ret_words);

/** Frees what only compression needs. */
void ki__codec_retire(ki__codec_words *words);
void ki__codec_forget(ki__codec_words *words);
size_t ki__codec_learned_memory(const ki__codec_words *words);

#endif
