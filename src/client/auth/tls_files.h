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
    ki_engine *engine;                /* borrowed reference */
    const char *paths[KI__TLS_PARTS]; /* borrowed; "" if not a file */
    ki_str data[KI__TLS_PARTS];       /* borrowed */
    ki__tls_set set;                  /* the last valid set */
    uint64_t looked_at;               /* last check, monotonic */
    bool failed;                      /* the last check failed */
} ki__tls_files;

#define KI__TLS_LOOK_NS (60 * KI__SECOND_NS) /* between two checks */

/** Reads the files. The configuration must outlive it. Call ki__tls_files_done() after a failure
 *  too.
 *  Errors: -errno;  KI_ERR_LIMIT;  KI_ERR_INVALID  invalid PEM, or certificate and key do not
 *  match;
 *          -ENOMEM. */
int ki__tls_files_init(ki__tls_files *files, ki_engine *engine, const ki_config *config,
                       ki_error *error);
void ki__tls_files_done(ki__tls_files *files);

/** Whether any is a file. */
bool ki__tls_files_has_any(const ki__tls_files *files);

/** Checks the files, if the last check was long enough ago. 1: *ret_set is a new set, which the
 *  caller activates with ki__tls_files_take() or releases. Failures are reported. */
int ki__tls_files_look(ki__tls_files *files, ki__tls_set *ret_set);
void ki__tls_files_take(ki__tls_files *files, ki__tls_set *set);
void ki__tls_set_done(ki__tls_set *set);

/** The set of the last check could not be used: check again soon. */
void ki__tls_files_failed(ki__tls_files *files, const ki_error *error);

#endif
