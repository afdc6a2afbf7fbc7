/* SPDX-License-Identifier: Apache-2.0 */
/* The command of a plugin: path, permission, arguments and environment. */
#ifndef KI_CLIENT_AUTH_EXEC_COMMAND_H
#define KI_CLIENT_AUTH_EXEC_COMMAND_H

#include <kinformer/client.h>
#include <kinformer/config.h>

#include "base/secret.h"

typedef struct ki__exec_command {
    ki__secrets secrets; /* holds all strings */
    const char *path;    /* absolute */
    char **argv;
    char **environment; /* the configured variables, then those of the process */
    size_t info;        /* index of KUBERNETES_EXEC_INFO in it */
} ki__exec_command;

/** Finds the program, once, and copies the rest. Call ki__exec_command_done() after a failure too.
 *  Errors: KI_ERR_DENIED  not allowed by the options, or the program is writable by other users;
 *          -EINVAL        invalid program names in the options;
 *          -ENOENT, -EACCES etc.;  KI_ERR_LIMIT  environment too large;  -ENOMEM. */
int ki__exec_command_init(ki__exec_command *command, const ki_alloc *alloc,
                          const ki_config_exec *exec, const ki_client_options *options,
                          ki_error *error);
void ki__exec_command_done(ki__exec_command *command);

/** Whether the program may still be run. As above. */
int ki__exec_command_check(const ki__exec_command *command, ki_error *error);

#endif
