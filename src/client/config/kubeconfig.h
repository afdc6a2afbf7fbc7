/* SPDX-License-Identifier: Apache-2.0 */
/* From kubeconfig files to a configuration: files are read and checked, and one context is
 * selected. Values are read in place from the trees; nothing is merged into a copy. */
#ifndef KI_CLIENT_CONFIG_KUBECONFIG_H
#define KI_CLIENT_CONFIG_KUBECONFIG_H

#include "base/shared.h"
#include "client/config/config.h"
#include "client/config/yaml_reader.h"

typedef struct ki__kubeconfig_file {
    const char *label;  /* how errors name it */
    const char *folder; /* absolute: where relative paths begin; NULL: they stay as they are */
    ki_config_trust trust;
    ki__yaml yaml;
} ki__kubeconfig_file;

typedef struct ki__kubeconfig {
    const ki_config_options *options;
    ki__secrets secrets;
    ki__kubeconfig_file *files; /* the first that has a name wins */
    size_t count;
} ki__kubeconfig;

/** Reads and checks all files that the options lead to. ki__kubeconfig_done() also on failure. */
int ki__kubeconfig_read(ki__kubeconfig *kubeconfig, const ki_config_options *options,
                        ki_error *error);
void ki__kubeconfig_done(ki__kubeconfig *kubeconfig);

/** Whether every field that we know is of its type, and no name in a list is there twice. */
int ki__kubeconfig_check(const ki__kubeconfig_file *file, size_t max_entries, const ki_alloc *alloc,
                         ki_error *error);

/** One entry of `clusters`, `users` or `contexts`. */
typedef struct ki__kubeconfig_entry {
    const char *what; /* "cluster", "user" or "context" */
    const char *name;
    const ki__kubeconfig_file *file; /* NULL: there is none */
    uint32_t node;                   /* of its fields; none if it has no fields */
    uint32_t line;
} ki__kubeconfig_entry;

/** The value of one field, and where it is from. */
typedef struct ki__setting {
    const char *field;                 /* "server"; or "option server" */
    ki_str text;                       /* empty: not set; terminated */
    const ki__kubeconfig_entry *entry; /* NULL: an option */
    uint32_t line;
} ki__setting;

/** What is chosen, with overrides, as client-go merges it. */
typedef struct ki__kubeconfig_choice {
    ki__kubeconfig_entry context;
    ki__kubeconfig_entry cluster;
    ki__kubeconfig_entry user;
    ki__setting name_space;

    ki__setting server;
    ki__setting tls_server_name;
    ki__setting ca_file;
    ki__setting ca_data; /* decoded, as all data here */
    ki__setting proxy_url;
    bool insecure;
    bool disable_compression;

    ki__setting cert_file;
    ki__setting cert_data;
    ki__setting key_file;
    ki__setting key_data;
    ki__setting token;
    ki__setting token_file;
    ki__setting username;
    ki__setting password;
    ki__setting as_user;
    ki__setting as_uid;
    bool has_exec;
    ki__setting exec_api_version;
    ki__setting exec_command;
    ki__setting exec_interactive;
    ki__setting exec_install_hint;
} ki__kubeconfig_choice;

/** Chooses. Settings may point into the choice, which must not move. Their text lives as long as
 *  `kubeconfig`. */
int ki__kubeconfig_choose(ki__kubeconfig *kubeconfig, ki__kubeconfig_choice *choice,
                          ki_error *error);

/** Whether no server is configured at all. */
bool ki__kubeconfig_is_empty(const ki__kubeconfig_choice *choice);

/** Fails with the place of a setting. */
int ki__kubeconfig_fail(ki_error *error, int code, const ki__setting *setting, const char *what);

/** Whether what was chosen goes together, and the files that it names can be read. *ret_url is the
 *  server's. */
int ki__kubeconfig_validate(const ki__kubeconfig *kubeconfig, const ki__kubeconfig_choice *choice,
                            ki__url *ret_url, ki_error *error);

/** Writes a node as JSON into `secrets`. KI_ERR_UNSUPPORTED for numbers that JSON has not, with the
 *  line in *ret_line;  -ENOMEM. */
KI__SHARED int ki__yaml_to_json(const ki__yaml *yaml, uint32_t node, ki__secrets *secrets,
                                ki_str *ret_json, uint32_t *ret_line);

#endif
