/* SPDX-License-Identifier: Apache-2.0 */
/* Inflates gzip as it arrives, in pieces of any size, any number of members one after the other
 * (RFC 1952). Pure: bytes in, bytes out. No call produces more than it was given space for, however
 * well the data is compressed; limits on the total are the caller's. */
#ifndef KI_CLIENT_CURL_GZIP_H
#define KI_CLIENT_CURL_GZIP_H

#include <kinformer/alloc.h>
#include <kinformer/error.h>
#include <kinformer/str.h>

typedef struct ki__gzip ki__gzip;

/** Takes about 45 KiB from `alloc`, which must outlive it; most of it on the first use. -ENOMEM. */
int ki__gzip_new(const ki_alloc *alloc, ki__gzip **ret_gzip);
/** NULL is allowed. */
void ki__gzip_free(ki__gzip *gzip);

/** Inflates from the front of *in, which is advanced, into `room`. If *ret_len is `size`, there may
 *  be more to come of what was taken: call it again, also with nothing left in *in. Else *in is
 *  empty now. After an error only ki__gzip_free() is left.
 *  Errors: -EBADMSG  not gzip, damaged, or bytes after the last member that are no other;
 *          -ENOMEM */
int ki__gzip_feed(ki__gzip *gzip, ki_str *in, char *room, size_t size, size_t *ret_len,
                  ki_error *error);

/** Whether the data may end here: after a whole member, or before the first byte.
 *  Errors: -EBADMSG  truncated */
int ki__gzip_finish(const ki__gzip *gzip, ki_error *error);

/** Bytes taken so far. */
uint64_t ki__gzip_taken(const ki__gzip *gzip);

#endif
