/* SPDX-License-Identifier: Apache-2.0 */
/* Continue tokens: the version of a paginated list and the last key sent. Opaque to clients but not
 * secret: base64url of a small JSON map. */
#ifndef KI_APISERVER_TOKEN_H
#define KI_APISERVER_TOKEN_H

#include <kinformer/buf.h>
#include <kinformer/str.h>

enum { KI__API_TOKEN_KEY_MAX = 512 };

typedef struct ki__api_token {
    uint64_t rv; /* 0: the newest, for an inconsistent continuation */
    size_t len;
    char after[KI__API_TOKEN_KEY_MAX]; /* the last key sent */
} ki__api_token;

/** Appends the token. */
int ki__api_token_write(uint64_t rv, ki_str after, ki_buf *out);

/** Decodes a token.
 *  Errors: KI_ERR_SYNTAX, KI_ERR_INVALID, KI_ERR_LIMIT  invalid token;  -ENOMEM. */
int ki__api_token_read(ki_str text, const ki_alloc *alloc, ki__api_token *ret_token);

#endif
