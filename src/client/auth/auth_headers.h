/* SPDX-License-Identifier: Apache-2.0 */
/* Authorization headers that depend only on the configuration. */
#ifndef KI_CLIENT_AUTH_AUTH_HEADERS_H
#define KI_CLIENT_AUTH_AUTH_HEADERS_H

#include <kinformer/config.h>

#include "base/secret.h"

typedef struct ki__auth_header {
    const char *name;
    ki_str value;
} ki__auth_header;

typedef struct ki__auth_headers {
    ki__secrets secrets;   /* holds all strings */
    ki_str authorization;  /* basic or bearer; empty if there is none */
    ki__auth_header *list; /* impersonation */
    size_t count;
} ki__auth_headers;

/** Call ki__auth_headers_done() after a failure too.
 *  Errors: KI_ERR_INVALID  not a valid header value;  -ENOMEM. */
int ki__auth_headers_init(ki__auth_headers *headers, const ki_alloc *alloc, const ki_config *config,
                          ki_error *error);
void ki__auth_headers_done(ki__auth_headers *headers);

/** The Authorization value for a token, allocated in `secrets`. -ENOMEM, or KI_ERR_INVALID if the
 *  token has bytes that are invalid in a header. */
int ki__auth_bearer(ki__secrets *secrets, ki_str token, ki_str *ret_value);

#endif
