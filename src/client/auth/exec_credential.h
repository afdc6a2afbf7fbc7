/* SPDX-License-Identifier: Apache-2.0 */
/* Input and output of an exec plugin: ExecCredential objects of the API group
 * client.authentication.k8s.io. No I/O. */
#ifndef KI_CLIENT_AUTH_EXEC_CREDENTIAL_H
#define KI_CLIENT_AUTH_EXEC_CREDENTIAL_H

#include <kinformer/buf.h>
#include <kinformer/config.h>

#include "base/secret.h"

/** Input of a plugin. */
typedef struct ki__exec_info {
    const char *api_version;
    bool interactive;         /* it has access to the terminal */
    const ki_config *cluster; /* cluster to describe, or NULL */
    ki_str ca;                /* PEM of that cluster's CA; empty: none */
} ki__exec_info;

/** Appends the value of KUBERNETES_EXEC_INFO without reallocation, which would leave copies: a
 *  proxy URL may contain a password. KI_ERR_LIMIT or -ENOMEM from `buf`. */
int ki__exec_info_write(const ki__exec_info *info, ki_buf *buf);

/** Reserves space for it and for `more` bytes before it. As above. */
int ki__exec_info_reserve(const ki__exec_info *info, size_t more, ki_buf *out);

/** Output of a plugin. */
typedef struct ki__exec_credential {
    ki_str token;       /* a valid header value; empty if there is none */
    ki_str certificate; /* PEM; both or none */
    ki_str key;
    bool expires;
    int64_t expires_at; /* seconds since 1970 */
} ki__exec_credential;

/** Decodes the output of a plugin, which must be followed by KI__JSON_PADDING readable bytes. The
 *  result is in `secrets`. Errors contain no part of the output.
 *  Errors: KI_ERR_SYNTAX, KI_ERR_ENCODING, KI_ERR_DEPTH  invalid JSON;
 *          KI_ERR_TYPE     a value has the wrong type;
 *          KI_ERR_INVALID  not a credential, or an unusable one;  -ENOMEM. */
int ki__exec_credential_read(ki_str output, const char *api_version, ki__secrets *secrets,
                             ki__exec_credential *ret_credential, ki_error *error);

#endif
