/* SPDX-License-Identifier: Apache-2.0 */
/* Streaming gzip decompression, in pieces of any size, with any number of concatenated members (RFC
 * 1952). Pure: bytes in, bytes out. No call produces more than the given space, regardless of the
 * compression ratio; limits on the total are up to the caller. */
#ifndef KI_CLIENT_CURL_GZIP_H
#define KI_CLIENT_CURL_GZIP_H

#include <kinformer/alloc.h>
#include <kinformer/error.h>
#include <kinformer/str.h>

typedef struct ki__gzip ki__gzip;

/** Uses about 45 KiB from `alloc`, which must outlive it; most of it on the first use. -ENOMEM. */
int ki__gzip_new(const ki_alloc *alloc, ki__gzip **ret_gzip);
/** NULL is allowed. */
void ki__gzip_free(ki__gzip *gzip);

/** Inflates from the front of *in, which is advanced, into `room`. If *ret_len is `size`, there may
 *  be more output: call it again, even with an empty *in. Otherwise *in is empty now. After an
 *  error only ki__gzip_free() is allowed.
 *  Errors: -EBADMSG  not gzip, corrupt, or garbage after the last member;
 *          -ENOMEM */
int ki__gzip_feed(ki__gzip *gzip, ki_str *in, char *room, size_t size, size_t *ret_len,
                  ki_error *error);

/** Whether the data may end here: after a complete member, or before the first byte.
 *  Errors: -EBADMSG  truncated */
int ki__gzip_finish(const ki__gzip *gzip, ki_error *error);

/** Compressed bytes consumed so far. */
uint64_t ki__gzip_taken(const ki__gzip *gzip);

#endif
