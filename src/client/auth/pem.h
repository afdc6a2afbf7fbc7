/* SPDX-License-Identifier: Apache-2.0 */
/* Checks certificates and keys before they are used: libcurl reads them only when it connects, and
 * by then the working ones are gone. It rejects definite errors, such as a certificate with the key
 * of its predecessor, which a file may contain while it is being rewritten. Unknown formats pass:
 * the TLS library decides. */
#ifndef KI_CLIENT_AUTH_PEM_H
#define KI_CLIENT_AUTH_PEM_H

#include <kinformer/alloc.h>
#include <kinformer/str.h>

/** Whether the first certificate and the first key of the two texts, which may be the same, match.
 *  KI_ERR_INVALID, with *ret_problem: static text;  -ENOMEM, also with a text. */
int ki__pem_check_pair(ki_str certificate, ki_str key, const ki_alloc *alloc,
                       const char **ret_problem);

/** Whether the text contains certificates, and none is truncated. As above. */
int ki__pem_check_ca(ki_str text, const ki_alloc *alloc, const char **ret_problem);

#endif
