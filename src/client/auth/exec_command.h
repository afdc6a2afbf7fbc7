/* SPDX-License-Identifier: Apache-2.0 */
/* The command of a plugin: its path, whether it may be run, its arguments and environment. */
#ifndef KI_CLIENT_AUTH_EXEC_COMMAND_H
#define KI_CLIENT_AUTH_EXEC_COMMAND_H

#include <kinformer/client.h>

#include "base/secret.h"

typedef struct ki__exec_command {
    ki__secrets secrets; /* all of it */
    const char *path;    /* absolute */
    char **argv;
    char **environment; /* that of the process as it was, with what is configured in front of it */
    size_t info;        /* the place in it for KUBERNETES_EXEC_INFO */
} ki__exec_command;

/** Finds the program, once, and copies the rest. Also fine to be done with after a failure.
 *  Errors: KI_ERR_DENIED  the options do not allow it, or everybody may write the program;
 *          -EINVAL        the options name programs in a way that cannot be right;
 *          -ENOENT, -EACCES and so on;  KI_ERR_LIMIT  an absurd environment;  -ENOMEM. */
int ki__exec_command_init(ki__exec_command *command, const ki_alloc *alloc,
                          const ki_config_exec *exec, const ki_client_options *options,
                          ki_error *error);
void ki__exec_command_done(ki__exec_command *command);

/** Whether the program is still one that may be run. As above. */
int ki__exec_command_check(const ki__exec_command *command, ki_error *error);

#endif
