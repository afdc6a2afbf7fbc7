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
    bool interactive;         /* it has the terminal */
    const ki_config *cluster; /* whose cluster it is told of, or NULL */
    ki_str ca;                /* PEM of that cluster's CA; empty: none */
} ki__exec_info;

/** Appends the value of KUBERNETES_EXEC_INFO, in one piece, so that growing leaves no copy: a proxy
 *  may have a password. KI_ERR_LIMIT or -ENOMEM from `buf`. */
int ki__exec_info_write(const ki__exec_info *info, ki_buf *buf);

/** Reserves space for that, and for `more` bytes in front of it. As above. */
int ki__exec_info_reserve(const ki__exec_info *info, size_t more, ki_buf *out);

/** What a plugin gave. */
typedef struct ki__exec_credential {
    ki_str token;       /* fit for a header; empty if there is none */
    ki_str certificate; /* PEM; both or none */
    ki_str key;
    bool expires;
    int64_t expires_at; /* seconds since 1970 */
} ki__exec_credential;

/** Reads the output of a plugin, behind which KI__JSON_PADDING bytes must be readable. The result
 *  is in `secrets`. Errors contain nothing of the output.
 *  Errors: KI_ERR_SYNTAX, KI_ERR_ENCODING, KI_ERR_DEPTH  it is not JSON;
 *          KI_ERR_TYPE     it, or a part, is of another type;
 *          KI_ERR_INVALID  it is not a credential, or not a usable one;  -ENOMEM. */
int ki__exec_credential_read(ki_str output, const char *api_version, ki__secrets *secrets,
                             ki__exec_credential *ret_credential, ki_error *error);

#endif
