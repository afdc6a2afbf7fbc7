/* SPDX-License-Identifier: Apache-2.0 */
/* A bearer token in a file that is rewritten from time to time. It is read again when the token is
 * 50 seconds old, as in client-go, and, at most every few seconds, when the server rejected it. If
 * the file cannot be read, the last good token is kept. */
#ifndef KI_CLIENT_AUTH_TOKEN_FILE_H
#define KI_CLIENT_AUTH_TOKEN_FILE_H

#include <kinformer/parts/engine.h>

#include "base/secret.h"

typedef struct ki__token_file {
    ki_engine *engine;    /* borrowed reference */
    const char *path;     /* borrowed */
    ki__secrets secrets;  /* the value */
    ki_str authorization; /* "Bearer ..."; empty until the file could be read */
    uint64_t read_at;     /* last attempt, monotonic */
    bool failed;          /* the last attempt failed */
    bool refused;         /* rejected since then */
} ki__token_file;

/** Reads the file. After a failure there is no value, and ki__token_file_look() retries; the caller
 *  decides whether the failure is fatal.
 *  Errors: -errno;  KI_ERR_LIMIT, KI_ERR_INVALID  no token in the file;  -ENOMEM. */
int ki__token_file_init(ki__token_file *file, ki_engine *engine, const char *path, ki_error *error);
void ki__token_file_done(ki__token_file *file);

/** Rereads the file if it is due; whether the value changed. Failures are reported. */
bool ki__token_file_look(ki__token_file *file);

/** The server rejected the value. */
void ki__token_file_refused(ki__token_file *file);

#endif
