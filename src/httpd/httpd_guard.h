/* SPDX-License-Identifier: Apache-2.0 */
/* Whether a request comes from a web page of others. */
#ifndef KI_HTTPD_HTTPD_GUARD_H
#define KI_HTTPD_HTTPD_GUARD_H

#include <kinformer/buf.h>
#include <kinformer/error.h>

#include "httpd/httpd_listen.h"

/** The names of a server. */
typedef struct ki__httpd_identity {
    const ki__httpd_address *address;
    const char *const *own_names; /* on its own machine; NULL-terminated */
    const ki_buf *allowed_hosts;  /* of ki__httpd_allow_hosts() */
} ki__httpd_identity;

/** Copies the option `allowed_hosts`, each name NUL-terminated; initializes `allowed`.
 *  Errors: KI_ERR_INVALID, KI_ERR_LIMIT, -ENOMEM. */
int ki__httpd_allow_hosts(ki_buf *allowed, const ki_alloc *alloc, const char *const *hosts,
                          ki_error *error);

/** Whether the Host header names this server, or is absent (ptr is NULL). */
bool ki__httpd_is_own_host(const ki__httpd_identity *server, ki_str host);

/** Whether Origin and Sec-Fetch-Site (`site`) are those of this server's own pages, or absent. */
bool ki__httpd_is_own_origin(const ki__httpd_identity *server, ki_str host, ki_str origin,
                             ki_str site);

#endif
