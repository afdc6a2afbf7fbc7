/* SPDX-License-Identifier: Apache-2.0 */
/* Certificates in files that are rewritten from time to time: the CA, and the client certificate
 * with its key. A check is a stat() of each; they are read again only when one has changed, and
 * used only when they are complete and match. Until then the last good ones are kept. */
#ifndef KI_CLIENT_AUTH_TLS_FILES_H
#define KI_CLIENT_AUTH_TLS_FILES_H

#include <sys/stat.h>

#include <kinformer/config.h>
#include <kinformer/parts/engine.h>

#include "base/secret.h"
#include "base/time_units.h"

enum { KI__TLS_CA, KI__TLS_CERTIFICATE, KI__TLS_KEY, KI__TLS_PARTS };

/* Each of the three, from a file or from the configuration. */
typedef struct ki__tls_set {
    ki__secrets secrets; /* those from files */
    ki_str parts[KI__TLS_PARTS];
    struct stat stats[KI__TLS_PARTS]; /* of the files when they were read */
} ki__tls_set;

typedef struct ki__tls_files {
    ki_engine *engine;                /* not counted */
    const char *paths[KI__TLS_PARTS]; /* borrowed; "" if it is not a file */
    ki_str data[KI__TLS_PARTS];       /* borrowed */
    ki__tls_set set;                  /* what is good */
    uint64_t looked_at;               /* monotonic */
    bool failed;                      /* then */
} ki__tls_files;

#define KI__TLS_LOOK_NS (60 * KI__SECOND_NS) /* between two looks */

/** Reads them. The configuration must outlive it. Also fine to be done with after a failure.
 *  Errors: -errno;  KI_ERR_LIMIT;  KI_ERR_INVALID  no PEM, or certificate and key do not go
 *  together;  -ENOMEM. */
int ki__tls_files_init(ki__tls_files *files, ki_engine *engine, const ki_config *config,
                       ki_error *error);
void ki__tls_files_done(ki__tls_files *files);

/** Whether any is a file. */
bool ki__tls_files_has_any(const ki__tls_files *files);

/** Looks, if the last look was long enough ago. 1: *ret_set has others, which the caller then makes
 *  those that are good by ki__tls_files_take(), or is done with. Failures are reported. */
int ki__tls_files_look(ki__tls_files *files, ki__tls_set *ret_set);
void ki__tls_files_take(ki__tls_files *files, ki__tls_set *set);
void ki__tls_set_done(ki__tls_set *set);

/** Those of the last look could not be used after all: look again soon. */
void ki__tls_files_failed(ki__tls_files *files, const ki_error *error);

#endif
