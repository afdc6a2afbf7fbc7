/* SPDX-License-Identifier: Apache-2.0 */
/* The configuration of a client: the API server, TLS settings and credentials. It is loaded from
 * kubeconfig files, from a kubeconfig in memory, or from the service account of the pod that the
 * program runs in. A configuration is immutable; loading again creates another one. It only holds
 * settings: loading does not connect, run a program, or read credentials from other files.
 *
 * Files are merged, overridden and validated as in client-go; docs/config.md lists where this is
 * stricter. The text of secrets is wiped before its memory is freed, and never appears in an error
 * or a log record. */
#ifndef KINFORMER_CONFIG_H
#define KINFORMER_CONFIG_H

#include <kinformer/defs.h>
#include <kinformer/error.h>
#include <kinformer/log.h>
#include <kinformer/str.h>

KI_BEGIN_DECLS

typedef struct ki_config ki_config;
typedef struct ki_client ki_client; /* <kinformer/client.h> */

#define KI_CONFIG_FILE_BYTES (1024 * 1024) /* default limit for one file */
#define KI_CONFIG_ENTRIES 1000 /* default limit for clusters, users and contexts in a file */
#define KI_CONFIG_FILES 64     /* limit for a list of files */

/** Provides environment variables. If `get` is NULL, those of the process are used. */
typedef struct ki_config_environment {
    size_t size; /* see KI_OPTIONS_INIT */
    /** Returns the value, valid until loading ends, or NULL if the variable is not set. */
    const char *(*get)(const char *name, void *user);
    void *user;
} ki_config_environment;

/** Options for loading a configuration. They are read during the call only. NULL and "" both mean:
 *  not set. */
typedef struct ki_config_options {
    size_t size; /* see KI_OPTIONS_INIT */

    /* The kubeconfig: one of these, otherwise the list of files in $KUBECONFIG, otherwise
     * $HOME/.kube/config. Files in a list may be missing; `path` must exist. */
    const char *path;
    const char *const *paths; /* NULL-terminated */
    ki_str text;              /* a kubeconfig in memory; set if its pointer is not NULL */
    const char *text_dir; /* absolute; base of relative paths in `text`; NULL: they stay relative */

    /* Selections. They override those in the files. */
    const char *context;
    const char *cluster;
    const char *user;
    const char *name_space;

    /* Cluster settings. They override those of the selected cluster. */
    const char *server;
    const char *tls_server_name; /* if `server` is set, the cluster's tls-server-name is not used */
    const char *ca_file;
    bool insecure; /* do not verify the server; with this or `ca_file`, the CAs of the cluster are
                      not used */
    const char *proxy_url;
    bool disable_compression;

    /* User settings. They override those of the selected user. */
    const char *client_cert_file;
    const char *client_key_file;
    const char *token; /* with this or `token_file`, those of the user are not used */
    const char *token_file;
    const char *username;
    const char *password;
    const char *as_user;
    const char *as_uid;
    const char *const *as_groups; /* NULL-terminated */

    /** ki_config_load() uses kubeconfig files only, and fails if they configure nothing. */
    bool no_in_cluster;
    /** Keep credentials for http:// to a loopback address too; otherwise for https:// only. */
    bool loopback_credentials;
    /** Read kubeconfig files even if all users may write to them. */
    bool allow_shared_files;

    const char *service_account_dir;          /* NULL: the default location in a pod */
    const ki_config_environment *environment; /* NULL: from the process */
    const ki_log *log;                        /* for warnings; NULL: none */
    size_t max_file_bytes;                    /* 0: KI_CONFIG_FILE_BYTES */
    size_t max_entries;                       /* 0: KI_CONFIG_ENTRIES */
    const ki_alloc *alloc; /* NULL: the default; must outlive the configuration */
} ki_config_options;

/** Loads a configuration from kubeconfig files or from memory. If no context is selected and no
 *  server is set, it is that of ki_config_in_cluster(), where available.
 *
 *  Messages name file, line and field where known; the line is also in `error`. libyaml allocates
 *  its own memory, not from `alloc`; it never receives the letters and digits of values.
 *
 *  Owner:  caller; release with ki_config_unref().
 *  Thread: any.  Blocks: yes, for files.
 *  Errors: KI_ERR_NOT_FOUND    nothing is configured, or the context, cluster or user does not
 *                              exist;
 *          KI_ERR_SYNTAX, KI_ERR_ENCODING, KI_ERR_DEPTH   not YAML, or not the supported subset;
 *          KI_ERR_TYPE         a field has the wrong type;
 *          KI_ERR_INVALID      fields contradict each other, or a value is invalid;
 *          KI_ERR_UNSUPPORTED  tags, anchors, several documents; authentication providers; other
 *                              versions of kubeconfig or of exec plugins;
 *          KI_ERR_LIMIT        a file is too large, or has too many entries;
 *          -errno              a file cannot be read;  -EINVAL  more than one of path, paths and
 *                              text;  -ENOMEM, -E2BIG.
 *  Since:  0.1 */
KI_API KI_NODISCARD int ki_config_load(const ki_config_options *options, ki_config **ret_config,
                                       ki_error *error);

/** Loads the configuration of a pod from its environment and service account:
 *  $KUBERNETES_SERVICE_HOST, $KUBERNETES_SERVICE_PORT and the files that Kubernetes mounts. Only
 *  these options are used: server, ca_file, token, token_file, name_space, loopback_credentials,
 *  service_account_dir, environment, log, max_file_bytes and alloc.
 *  Owner:  caller; release with ki_config_unref().
 *  Thread: any.  Blocks: yes, for files.
 *  Errors: KI_ERR_NOT_FOUND  the variables are not set;  -errno  the token cannot be read;
 *          KI_ERR_INVALID;  -ENOMEM, -E2BIG.
 *  Since:  0.1 */
KI_API KI_NODISCARD int ki_config_in_cluster(const ki_config_options *options,
                                             ki_config **ret_config, ki_error *error);

/** Takes and releases references. ki_config_unref() always returns NULL; both accept NULL.
 *  Thread: any.  Blocks: no.  Since: 0.1 */
KI_API ki_config *ki_config_ref(const ki_config *config);
KI_API ki_config *ki_config_unref(const ki_config *config);

/* Reading a configuration. Results are valid as long as the configuration; settings that are not
 * configured are "", and a ki_str is NUL-terminated too.  Thread: any.  Blocks: no.  Since: 0.1 */

/** Returns the configuration of a client.
 *  Owner: borrowed.  Thread: any.  Blocks: no.  Since: 0.1 */
KI_API const ki_config *ki_client_config(const ki_client *client);

/** Returns the URL of the server, "https://host:port" or "http://host:port", with the port only if
 *  it was configured. */
KI_API const char *ki_config_server(const ki_config *config);
/** Returns the prefix of every path: "", or for example "/k8s/clusters/c1", without a trailing
 *  '/'. */
KI_API const char *ki_config_path_prefix(const ki_config *config);
/** Returns the namespace for requests that do not name one; never "". */
KI_API const char *ki_config_namespace(const ki_config *config);
/** Returns the URL of the proxy: http, https or socks5. A secret, because it may contain a
 *  password. "": the client decides whether to use the environment of the process. */
KI_API ki_str ki_config_proxy_url(const ki_config *config);
/** Returns whether servers should not compress their responses. */
KI_API bool ki_config_disable_compression(const ki_config *config);

/** Returns the name of the context, for messages.  Thread: any.  Blocks: no.  Since: 0.1 */
KI_API const char *ki_config_context_name(const ki_config *config);
/** Returns the name of the cluster, for messages.  Thread: any.  Blocks: no.  Since: 0.1 */
KI_API const char *ki_config_cluster_name(const ki_config *config);
/** Returns the name of the user, for messages.  Thread: any.  Blocks: no.  Since: 0.1 */
KI_API const char *ki_config_user_name(const ki_config *config);
/** Returns whether the configuration is that of the pod.  Since: 0.1 */
KI_API bool ki_config_is_in_cluster(const ki_config *config);

/** TLS settings. Of data (PEM) and file, only one is set. Without a CA, those of the system are
 *  used. All empty for an http:// server. */
typedef struct ki_config_tls {
    size_t size; /* of the struct in the library */
    ki_str ca_data;
    const char *ca_file;
    ki_str cert_data; /* the client's certificate ... */
    const char *cert_file;
    ki_str key_data; /* ... and its key: a secret */
    const char *key_file;
    const char *server_name; /* for SNI and verification, instead of the server's host name */
    bool insecure;           /* do not verify the server; never together with a CA */
} ki_config_tls;

/** Returns the TLS settings; never NULL.  Thread: any.  Blocks: no.  Since: 0.1 */
KI_API const ki_config_tls *ki_config_get_tls(const ki_config *config);

/** Credentials. Never both a token and a user name. If both token and token file are set, the token
 *  is used until the file has been read. All empty for an http:// server, except with
 *  `loopback_credentials`. */
typedef struct ki_config_credentials {
    size_t size;  /* of the struct in the library */
    ki_str token; /* a secret */
    const char *token_file;
    const char *username;
    ki_str password; /* a secret */
} ki_config_credentials;

/** Returns the credentials; never NULL.  Thread: any.  Blocks: no.  Since: 0.1 */
KI_API const ki_config_credentials *ki_config_get_credentials(const ki_config *config);

/** One key of `as-user-extra`. Later versions add no members. */
typedef struct ki_config_extra {
    const char *key;
    const char *const *values;
    size_t value_count;
} ki_config_extra;

/** Impersonation settings. */
typedef struct ki_config_impersonation {
    size_t size;      /* of the struct in the library */
    const char *user; /* "": no impersonation, and the other members are empty */
    const char *uid;
    const char *const *groups;
    size_t group_count;
    const ki_config_extra *extra;
    size_t extra_count;
} ki_config_impersonation;

/** Returns the impersonation settings; never NULL.  Thread: any.  Blocks: no.  Since: 0.1 */
KI_API const ki_config_impersonation *ki_config_get_impersonation(const ki_config *config);

typedef enum ki_config_interactive {
    KI_CONFIG_INTERACTIVE_NEVER,
    KI_CONFIG_INTERACTIVE_IF_AVAILABLE,
    KI_CONFIG_INTERACTIVE_ALWAYS,
    KI_CONFIG_INTERACTIVE_MAX
} ki_config_interactive;

/** An environment variable. Later versions add no members. */
typedef struct ki_config_variable {
    const char *name;
    ki_str value; /* may be a secret */
} ki_config_variable;

/** Who may have written the file that names a plugin, by its owner and mode when it was read. */
typedef enum ki_config_trust {
    KI_CONFIG_TRUST_UNKNOWN, /* no file: the text of the options */
    KI_CONFIG_TRUST_OWN,     /* only root and the effective user of this process */
    KI_CONFIG_TRUST_FOREIGN, /* owned by another user */
    KI_CONFIG_TRUST_SHARED,  /* writable by its group or by others */
    KI_CONFIG_TRUST_MAX
} ki_config_trust;

/** A credential plugin. The client decides whether it may run. */
typedef struct ki_config_exec {
    size_t size;             /* of the struct in the library */
    const char *api_version; /* client.authentication.k8s.io/v1 or /v1beta1 */
    const char *command;     /* absolute if it contains a '/', otherwise searched in $PATH */
    const char *const *args; /* without the command; may contain secrets */
    size_t arg_count;
    const ki_config_variable *variables; /* in addition to those of the process */
    size_t variable_count;
    ki_config_interactive interactive;
    bool provide_cluster_info;
    ki_str cluster_config;    /* JSON configuration of the cluster for plugins; "" if none */
    const char *install_hint; /* for users who do not have the command; no control characters */
    const char *file;         /* the file that names the plugin, as it was given; "": none */
    ki_config_trust trust;    /* of that file */
} ki_config_exec;

/** Returns the credential plugin; NULL if none is configured.
 *  Thread: any.  Blocks: no.  Since: 0.1 */
KI_API const ki_config_exec *ki_config_get_exec(const ki_config *config);

KI_AUTO_DEFINE(ki_config, ki_config_unref)

KI_END_DECLS

#endif
