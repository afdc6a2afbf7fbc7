/* SPDX-License-Identifier: Apache-2.0 */
/* The configuration of a client: which API server, and how to prove who we are. It comes from
 * kubeconfig files, from a kubeconfig in memory, or from the pod that the program runs in. A
 * configuration never changes; loading again makes another one. It only says what was configured:
 * nothing here connects, starts a program or reads a credential from another file.
 *
 * Files are merged, overridden and checked as client-go does it; docs/config.md tells where this is
 * stricter. Text of secrets is wiped before its memory is freed, and never part of an error or a
 * log record. */
#ifndef KINFORMER_CONFIG_H
#define KINFORMER_CONFIG_H

#include <kinformer/alloc.h>
#include <kinformer/defs.h>
#include <kinformer/error.h>
#include <kinformer/log.h>
#include <kinformer/str.h>

KI_BEGIN_DECLS

typedef struct ki_config ki_config;

#define KI_CONFIG_FILE_BYTES (1024 * 1024) /* of one file, if nothing else is asked for */
#define KI_CONFIG_ENTRIES 1000             /* clusters, users and contexts of one file, the same */
#define KI_CONFIG_FILES 64                 /* of a list of files */

/** Where variables of the environment come from. A NULL function: from the process. */
typedef struct ki_config_environment {
    /** The value, valid until loading ends, or NULL if there is none. */
    const char *(*get)(const char *name, void *user);
    void *user;
} ki_config_environment;

/** Everything is read during the call only. NULL and "" are the same: not given. */
typedef struct ki_config_options {
    size_t size; /* see KI_OPTIONS_INIT */

    /* Where it is: in one of these; else in the list of files $KUBECONFIG, else in
     * $HOME/.kube/config. Files of a list may be missing, `path` may not. */
    const char *path;
    const char *const *paths; /* ends with NULL */
    ki_str text;              /* a kubeconfig; given if its pointer is not NULL */
    const char *text_dir;     /* relative paths in `text` begin here; NULL: they stay as they are */

    /* Which part of it: these names, in place of those that the files choose. */
    const char *context;
    const char *cluster;
    const char *user;
    const char *name_space;

    /* Single settings, in place of those of the cluster. */
    const char *server;
    const char *tls_server_name; /* with `server`, that of the cluster counts no more */
    const char *ca_file;
    bool insecure; /* no verification; with this or `ca_file`, CAs of the cluster count no more */
    const char *proxy_url;
    bool disable_compression;

    /* And in place of those of the user. */
    const char *client_cert_file;
    const char *client_key_file;
    const char *token; /* with this or `token_file`, both of the user count no more */
    const char *token_file;
    const char *username;
    const char *password;
    const char *as_user;
    const char *as_uid;
    const char *const *as_groups; /* ends with NULL */

    /** ki_config_load() gives what the files say or fails, also if they say nothing. */
    bool no_in_cluster;
    /** Credentials are kept for http:// to this very machine too; else for https:// only. */
    bool loopback_credentials;
    /** Kubeconfig files that everybody may write are read nevertheless. */
    bool allow_shared_files;

    const char *service_account_dir; /* NULL: where Kubernetes puts it in a pod */
    ki_config_environment environment;
    const ki_log *log;     /* for warnings; NULL: none */
    size_t max_file_bytes; /* 0: KI_CONFIG_FILE_BYTES */
    size_t max_entries;    /* 0: KI_CONFIG_ENTRIES */
    const ki_alloc *alloc; /* NULL: the default; must outlive the configuration */
} ki_config_options;

/** Loads a configuration. If no context is chosen and no server given, it is that of
 *  ki_config_in_cluster(), where this is possible.
 *
 *  Errors tell file, line and field, as far as there are such; in `error` too the line. libyaml
 *  takes memory of its own, not from `alloc`; it never sees letters and digits of a value.
 *
 *  Owner:  release with ki_config_unref().
 *  Thread: any.  Blocks: yes, for files.
 *  Errors: KI_ERR_NOT_FOUND    nothing is configured, or the context, cluster or user is not there;
 *          KI_ERR_SYNTAX, KI_ERR_ENCODING, KI_ERR_DEPTH   not YAML, or not such as we read;
 *          KI_ERR_TYPE         a field is of another type;
 *          KI_ERR_INVALID      fields contradict each other, or one cannot be right;
 *          KI_ERR_UNSUPPORTED  tags, anchors, several documents; authentication providers; other
 *                              versions of kubeconfig or of exec plugins;
 *          KI_ERR_LIMIT        a file is too large, or has too many entries;
 *          -errno              a file cannot be read;  -EINVAL  two sources;  -ENOMEM, -E2BIG.
 *  Since:  0.1 */
KI_API KI_NODISCARD int ki_config_load(const ki_config_options *options, ki_config **ret_config,
                                       ki_error *error);

/** The configuration of a pod: $KUBERNETES_SERVICE_HOST and _PORT, and the files of its service
 *  account. Of the options count server, ca_file, token, token_file, name_space and the last group.
 *  Owner:  release with ki_config_unref().
 *  Thread: any.  Blocks: yes, for files.
 *  Errors: KI_ERR_NOT_FOUND  the variables are not set;  -errno  no token can be read;
 *          KI_ERR_INVALID;  -ENOMEM, -E2BIG.
 *  Since:  0.1 */
KI_API KI_NODISCARD int ki_config_in_cluster(const ki_config_options *options,
                                             ki_config **ret_config, ki_error *error);

/** References. ki_config_unref() always returns NULL; NULL is fine for both.
 *  Thread: any.  Blocks: no.  Since: 0.1 */
KI_API const ki_config *ki_config_ref(const ki_config *config);
KI_API const ki_config *ki_config_unref(const ki_config *config);

/* What it says. Results live as long as the configuration; text that is not configured is "", and
 * a ki_str is terminated too.  Thread: any.  Blocks: no.  Since: 0.1 */

/** "https://host:port" or "http://host:port", the port only if it was given. */
KI_API const char *ki_config_server(const ki_config *config);
/** What comes before every path: "" or such as "/k8s/clusters/c1", without '/' at the end. */
KI_API const char *ki_config_path_prefix(const ki_config *config);
/** The namespace for requests that name none; never "". */
KI_API const char *ki_config_namespace(const ki_config *config);
/** http, https or socks5; a secret, since it may have a password. "": whatever the environment of
 *  the process says is up to the client. */
KI_API ki_str ki_config_proxy_url(const ki_config *config);
/** Whether servers should not compress their responses. */
KI_API bool ki_config_disable_compression(const ki_config *config);

/** The names of context, cluster and user, for messages.  Thread: any.  Blocks: no.  Since: 0.1 */
KI_API const char *ki_config_context_name(const ki_config *config);
KI_API const char *ki_config_cluster_name(const ki_config *config);
KI_API const char *ki_config_user_name(const ki_config *config);
/** Whether it is that of the pod.  Since: 0.1 */
KI_API bool ki_config_is_in_cluster(const ki_config *config);

/** TLS. Of data (PEM) and file only one is there. No CA at all: those of the system. All empty for
 *  an http:// server. */
typedef struct ki_config_tls {
    ki_str ca_data;
    const char *ca_file;
    ki_str cert_data; /* the client's certificate ... */
    const char *cert_file;
    ki_str key_data; /* ... and its key: a secret */
    const char *key_file;
    const char *server_name; /* to ask for and to verify, instead of the host of the server */
    bool insecure;           /* the server is not verified; never together with a CA */
} ki_config_tls;

/** The TLS settings; never NULL.  Thread: any.  Blocks: no.  Since: 0.1 */
KI_API const ki_config_tls *ki_config_get_tls(const ki_config *config);

/** Who we are. Never both a token and a user name. A token beside a file is for the time until the
 *  file was read. All empty for an http:// server, but see `loopback_credentials`. */
typedef struct ki_config_credentials {
    ki_str token; /* a secret */
    const char *token_file;
    const char *username;
    ki_str password; /* a secret */
} ki_config_credentials;

/** The credentials; never NULL.  Thread: any.  Blocks: no.  Since: 0.1 */
KI_API const ki_config_credentials *ki_config_get_credentials(const ki_config *config);

/** One key of `as-user-extra`. */
typedef struct ki_config_extra {
    const char *key;
    const char *const *values;
    size_t value_count;
} ki_config_extra;

/** Whom to act as. */
typedef struct ki_config_impersonation {
    const char *user; /* "": nobody else, and then the rest is empty */
    const char *uid;
    const char *const *groups;
    size_t group_count;
    const ki_config_extra *extra;
    size_t extra_count;
} ki_config_impersonation;

/** The impersonation settings; never NULL.  Thread: any.  Blocks: no.  Since: 0.1 */
KI_API const ki_config_impersonation *ki_config_get_impersonation(const ki_config *config);

typedef enum ki_config_interactive {
    KI_CONFIG_INTERACTIVE_NEVER,
    KI_CONFIG_INTERACTIVE_IF_AVAILABLE,
    KI_CONFIG_INTERACTIVE_ALWAYS,
    KI_CONFIG_INTERACTIVE_MAX
} ki_config_interactive;

typedef struct ki_config_variable {
    const char *name;
    ki_str value; /* may be a secret */
} ki_config_variable;

/** Who can have written the file that names a plugin, by owner and mode of the file as it was read.
 */
typedef enum ki_config_trust {
    KI_CONFIG_TRUST_UNKNOWN, /* there is no file: the text of the options */
    KI_CONFIG_TRUST_OWN,     /* only root and the effective user of this process */
    KI_CONFIG_TRUST_FOREIGN, /* it is owned by another user */
    KI_CONFIG_TRUST_SHARED,  /* its group or others may write it */
    KI_CONFIG_TRUST_MAX
} ki_config_trust;

/** A program that gives credentials. Whether it may run is for the client to decide. */
typedef struct ki_config_exec {
    const char *api_version; /* client.authentication.k8s.io/v1 or /v1beta1 */
    const char *command;     /* with a '/': absolute; without: to be looked for in $PATH */
    const char *const *args; /* without the command; may be secrets */
    size_t arg_count;
    const ki_config_variable *variables; /* besides those that the process has */
    size_t variable_count;
    ki_config_interactive interactive;
    bool provide_cluster_info;
    ki_str cluster_config;    /* JSON that the cluster has for plugins; "" if there is none */
    const char *install_hint; /* for a person whose machine has no such command; no controls */
    const char *file;         /* whose user names it, as it was given; "": none */
    ki_config_trust trust;    /* in that file */
} ki_config_exec;

/** The credential plugin; NULL if there is none.  Thread: any.  Blocks: no.  Since: 0.1 */
KI_API const ki_config_exec *ki_config_get_exec(const ki_config *config);

KI_END_DECLS

#endif
