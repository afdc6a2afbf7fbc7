/* SPDX-License-Identifier: Apache-2.0 */
/* Authorization headers that are defined by a configuration alone. */
#ifndef KI_CLIENT_AUTH_AUTH_HEADERS_H
#define KI_CLIENT_AUTH_AUTH_HEADERS_H

#include <kinformer/config.h>

#include "base/secret.h"

typedef struct ki__auth_header {
    const char *name;
    ki_str value;
} ki__auth_header;

typedef struct ki__auth_headers {
    ki__secrets secrets;   /* all of it */
    ki_str authorization;  /* of a user name or a token; empty if there is none */
    ki__auth_header *list; /* impersonation */
    size_t count;
} ki__auth_headers;

/** Also fine to be done with after a failure.
 *  Errors: KI_ERR_INVALID  what cannot be in a header;  -ENOMEM. */
int ki__auth_headers_init(ki__auth_headers *headers, const ki_alloc *alloc, const ki_config *config,
                          ki_error *error);
void ki__auth_headers_done(ki__auth_headers *headers);

/** The value of Authorization for a token, in `secrets`. -ENOMEM, or KI_ERR_INVALID if the token
 *  has bytes that cannot be in a header. */
int ki__auth_bearer(ki__secrets *secrets, ki_str token, ki_str *ret_value);

#endif
