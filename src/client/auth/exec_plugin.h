/* SPDX-License-Identifier: Apache-2.0 */
/* Runs a program and reads its standard output, on the loop and without a thread.
 *
 * The program gets its arguments and environment unchanged, without a shell; no descriptors but the
 * first three; no signal blocked or ignored; and its own process group, which is killed on timeout
 * or if the output is too large. */
#ifndef KI_CLIENT_AUTH_EXEC_PLUGIN_H
#define KI_CLIENT_AUTH_EXEC_PLUGIN_H

#include <sys/types.h>

#include "base/engine.h"
#include "base/secret.h"
#include "loop/loop.h"

enum { KI__EXEC_OUTPUT_MAX = 1 << 20 };

typedef struct ki__exec_run {
    const char *path;         /* absolute */
    char *const *argv;        /* NULL-terminated, like the next */
    char *const *environment; /* "NAME=value" */
    uint64_t timeout_ns;
    bool terminal; /* inherits our standard input, and stays in our process group to read from it */
    bool shows_errors; /* inherits our standard error; otherwise /dev/null */
} ki__exec_run;

/** Embedded in its user. Members are private. */
typedef struct ki__exec_plugin {
    ki_loop *loop;
    void (*on_end)(struct ki__exec_plugin *plugin, const ki_error *error, ki_str output);
    pid_t pid;     /* 0: not running or reaped */
    bool group;    /* it leads a process group */
    bool reported; /* on_end was called; only the exit is pending */
    bool exited;   /* its exit status is `status`, unless that is -1 */
    int status;    /* of waitpid() */
    int pid_fd;    /* -1: not supported */
    int out;       /* the pipe; -1: end of file */
    uint64_t end;  /* deadline, monotonic */
    ki__watch pid_watch;
    ki__watch out_watch;
    ki__timer timer;
    ki__secrets output;
    char *bytes;
    size_t len;
    size_t cap;
} ki__exec_plugin;

/** `on_end` is called once for each started run, on the thread of the loop: with the output,
 *  followed by KI__JSON_PADDING zero bytes, if the program succeeded; otherwise with an error. Both
 *  are borrowed for the call, in which the plugin may be destroyed. -ENOMEM. */
int ki__exec_plugin_init(ki__exec_plugin *plugin, ki_loop *loop,
                         void (*on_end)(ki__exec_plugin *plugin, const ki_error *error,
                                        ki_str output));

/** Kills a running process and waits for it, with a time limit. Allowed if zeroed. */
void ki__exec_plugin_done(ki__exec_plugin *plugin);

/** Starts a run; keeps no pointers to it.
 *  Errors: KI_ERR_BUSY  the previous process has not exited;  -errno. */
int ki__exec_plugin_start(ki__exec_plugin *plugin, const ki__exec_run *run, ki_error *error);

/** Whether on_end is pending. */
bool ki__exec_plugin_is_running(const ki__exec_plugin *plugin);

#endif
