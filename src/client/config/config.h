/* SPDX-License-Identifier: Apache-2.0 */
/* A configuration under construction, shared by the files that create one. */
#ifndef KI_CLIENT_CONFIG_CONFIG_H
#define KI_CLIENT_CONFIG_CONFIG_H

#include <kinformer/config.h>

#include "base/refs.h"
#include "base/secret.h"
#include "client/config/url.h"

struct ki_config {
    ki__refs refs;
    const ki_alloc *alloc;
    ki__secrets secrets; /* all text and all arrays */
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

/** Options as they were given, and the empty texts among them as NULL. -EINVAL, -E2BIG. */
int ki__config_options_read(const ki_config_options *options, ki_config_options *ret_options,
                            ki_error *error);

/** A configuration in which nothing is set. NULL if there is no memory. */
ki_config *ki__config_new(const ki_alloc *alloc);

/** Copies of text into the configuration. -ENOMEM. */
int ki__config_set_text(ki_config *config, const char **text, ki_str value);
int ki__config_set_str(ki_config *config, ki_str *text, ki_str value);

/** Sets server and path prefix. -ENOMEM. */
int ki__config_set_server(ki_config *config, const ki__url *url);

/** A variable of the environment; NULL also if it is empty. */
const char *ki__config_variable(const ki_config_options *options, const char *name);

/** Whether the text can be the value of a header: no control characters. */
bool ki__config_is_header_value(ki_str text);

/** Fills `error`: "file:line: " and the pieces of text, up to a NULL. A `file` of NULL is left out,
 *  and a line of 0. Pieces may be of unknown origin, but never secrets. Returns `code`. */
int ki__config_error(ki_error *error, int code, const char *file, uint32_t line, ...)
    __attribute__((sentinel));

/* In a pod (incluster.c). */

/** Whether this seems to be a pod with a service account. */
bool ki__in_cluster_possible(const ki_config_options *options);

/** The namespace of the pod, in `secrets`; "default" if there is none. -ENOMEM. */
int ki__in_cluster_namespace(const ki_config_options *options, ki__secrets *secrets,
                             ki_str *ret_name);

#endif
