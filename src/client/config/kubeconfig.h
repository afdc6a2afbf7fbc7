/* SPDX-License-Identifier: Apache-2.0 */
/* From kubeconfig files to a configuration: files are parsed and checked, and one context is
 * selected. Values are read in place from the trees, without a merged copy. */
#ifndef KI_CLIENT_CONFIG_KUBECONFIG_H
#define KI_CLIENT_CONFIG_KUBECONFIG_H

#include "base/shared.h"
#include "client/config/config.h"
#include "client/config/yaml_reader.h"

typedef struct ki__kubeconfig_file {
    const char *label;  /* name in error messages */
    const char *folder; /* absolute base of relative paths; NULL: paths are kept */
    ki_config_trust trust;
    ki__yaml yaml;
} ki__kubeconfig_file;

typedef struct ki__kubeconfig {
    const ki_config_options *options;
    ki__secrets secrets;
    ki__kubeconfig_file *files; /* the first one that defines a name wins */
    size_t count;
} ki__kubeconfig;

/** Reads and checks all files selected by the options. Call ki__kubeconfig_done() on failure
 *  too. */
int ki__kubeconfig_read(ki__kubeconfig *kubeconfig, const ki_config_options *options,
                        ki_error *error);
void ki__kubeconfig_done(ki__kubeconfig *kubeconfig);

/** Checks the types of all known fields, and that names in lists are unique. */
int ki__kubeconfig_check(const ki__kubeconfig_file *file, size_t max_entries, const ki_alloc *alloc,
                         ki_error *error);

/** One entry of `clusters`, `users` or `contexts`. */
typedef struct ki__kubeconfig_entry {
    const char *what; /* "cluster", "user" or "context" */
    const char *name;
    const ki__kubeconfig_file *file; /* NULL: no such entry */
    uint32_t node;                   /* of its fields; none if it has no fields */
    uint32_t line;
} ki__kubeconfig_entry;

/** The value of one field, and its origin. */
typedef struct ki__setting {
    const char *field;                 /* "server"; or "option server" */
    ki_str text;                       /* empty: not set; NUL-terminated */
    const ki__kubeconfig_entry *entry; /* NULL: from an option */
    uint32_t line;
} ki__setting;

/** The chosen settings, with overrides, merged as in client-go. */
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

/** Chooses the settings. They may point into `choice`, which must not move. Their text lives as
 *  long as `kubeconfig`. */
int ki__kubeconfig_choose(ki__kubeconfig *kubeconfig, ki__kubeconfig_choice *choice,
                          ki_error *error);

/** Whether no server is configured at all. */
bool ki__kubeconfig_is_empty(const ki__kubeconfig_choice *choice);

/** Fails with the location of a setting. */
int ki__kubeconfig_fail(ki_error *error, int code, const ki__setting *setting, const char *what);

/** Checks that the chosen settings are consistent and their files readable. *ret_url is the
 *  server's. */
int ki__kubeconfig_validate(const ki__kubeconfig *kubeconfig, const ki__kubeconfig_choice *choice,
                            ki__url *ret_url, ki_error *error);

/** Writes a node as JSON into `secrets`. KI_ERR_UNSUPPORTED for numbers that JSON cannot represent,
 *  with the line in *ret_line;  -ENOMEM. */
int ki__yaml_to_json(const ki__yaml *yaml, uint32_t node, ki__secrets *secrets, ki_str *ret_json,
                     uint32_t *ret_line);

/** Appends a YAML document as JSON; nothing if it is empty. `line` is the number of lines before
 *  it, for errors.
 *  Errors: those of ki__yaml_read();  KI_ERR_UNSUPPORTED  a number that JSON cannot represent;
 *          KI_ERR_LIMIT or -ENOMEM from `out`. */
KI__SHARED int ki__yaml_document_to_json(const ki_alloc *alloc, ki_str document, uint32_t line,
                                         ki_buf *out, ki_error *error);

#endif
