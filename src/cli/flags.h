/* SPDX-License-Identifier: Apache-2.0 */
/* Options common to all commands, with kubectl's names, and the client they configure. */
#ifndef KI_CLI_FLAGS_H
#define KI_CLI_FLAGS_H

#include <kinformer/client.h>
#include <kinformer/config.h>
#include <kinformer/log.h>
#include <kinformer/loop.h>

#include "cli/args.h"

typedef struct cli_flags {
    /* For every command. */
    bool help;
    uint32_t verbose;
    const char *color;

    /* For commands that connect to a server. */
    const char *kubeconfig;
    const char *context;
    const char *cluster;
    const char *user;
    const char *name_space;
    bool all_namespaces;
    const char *selector;
    const char *field_selector;
    const char *shard;
    const char *keep;
    const char *drop;
    bool packed;
    uint64_t max_bytes; /* of all caches together; 0: no limit */
    const char *server;
    const char *tls_server_name;
    const char *ca_file;
    bool insecure;
    const char *client_cert;
    const char *client_key;
    const char *token;
    const char *as_user;
    const char *as_uid;
    cli_words as_groups;
    cli_words allow_exec;
    uint32_t request_timeout_ms; /* 0: none */

    /** Not an option: set by commands with their own server; the user's configuration is then
     *  ignored, and there is no rate limit. NULL: none. */
    const char *own_kubeconfig;
} cli_flags;

extern const cli_option cli_flags_general[];
extern const size_t cli_flags_general_count;
extern const cli_option cli_flags_connect[];
extern const size_t cli_flags_connect_count;

void cli_flags_done(cli_flags *flags);

/** The log requested by -v, on standard error. Warnings and errors are always printed. */
ki_log cli_flags_log(const cli_flags *flags);

/** The configuration selected by the options, and a client of it on `loop`. Error messages name the
 *  options.
 *  Owner: ki_client_unref(), ki_config_unref(); `log` must outlive both. */
KI_NODISCARD int cli_flags_config(const cli_flags *flags, const ki_log *log,
                                  const ki_config **ret_config, ki_error *error);
KI_NODISCARD int cli_flags_client(const cli_flags *flags, const ki_config *config, ki_loop *loop,
                                  ki_client **ret_client, ki_error *error);

/** The namespace: that of the options, or of the configuration; "": all. */
const char *cli_flags_namespace(const cli_flags *flags, const ki_config *config);

#endif
