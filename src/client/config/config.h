/* SPDX-License-Identifier: Apache-2.0 */
/* A configuration under construction, shared by the files that build one. */
#ifndef KI_CLIENT_CONFIG_CONFIG_H
#define KI_CLIENT_CONFIG_CONFIG_H

#include <kinformer/config.h>

#include "base/refs.h"
#include "base/secret.h"
#include "client/config/url.h"

struct ki_config {
    ki__refs refs;
    const ki_alloc *alloc;
    ki__secrets secrets; /* all strings and arrays */
    const char *server;
    const char *path_prefix;
    const char *name_space;
    const char *context_name;
    const char *cluster_name;
    const char *user_name;
    ki_str proxy_url;
    bool disable_compression;
    bool in_cluster;
    bool has_exec;
    ki_config_tls tls;
    ki_config_credentials credentials;
    ki_config_impersonation impersonation;
    ki_config_exec exec;
};

/** Copies the options, with empty strings as NULL. -EINVAL, -E2BIG. */
int ki__config_options_read(const ki_config_options *options, ki_config_options *ret_options,
                            ki_error *error);

/** An empty configuration. NULL if out of memory. */
ki_config *ki__config_new(const ki_alloc *alloc);

/** Copies strings into the configuration. -ENOMEM. */
int ki__config_set_text(ki_config *config, const char **text, ki_str value);
int ki__config_set_str(ki_config *config, ki_str *text, ki_str value);

/** Sets server and path prefix. -ENOMEM. */
int ki__config_set_server(ki_config *config, const ki__url *url);

/** An environment variable; NULL also if it is empty. */
const char *ki__config_variable(const ki_config_options *options, const char *name);

/** Whether the text is a valid header value: no control characters. */
bool ki__config_is_header_value(ki_str text);

/** Sets `error`: "file:line: " and the strings up to NULL. `file` NULL and line 0 are omitted.
 *  Strings may be untrusted, but never secret. Returns `code`. */
int ki__config_error(ki_error *error, int code, const char *file, uint32_t line, ...)
    __attribute__((sentinel));

/* In a pod (incluster.c). */

/** Whether this seems to be a pod with a service account. */
bool ki__in_cluster_possible(const ki_config_options *options);

/** The namespace of the pod, in `secrets`; "default" if there is none. -ENOMEM. */
int ki__in_cluster_namespace(const ki_config_options *options, ki__secrets *secrets,
                             ki_str *ret_name);

#endif
