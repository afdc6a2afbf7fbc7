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
    char *const *argv;        /* ends with NULL, like the next */
    char *const *environment; /* "NAME=value" */
    uint64_t timeout_ns;
    bool terminal;     /* has our standard input, and stays in our process group to read from it */
    bool shows_errors; /* has our standard error; else what it writes there is thrown away */
} ki__exec_run;

/** Part of the thing that uses it. Its members are private. */
typedef struct ki__exec_plugin {
    ki_loop *loop;
    void (*on_end)(struct ki__exec_plugin *plugin, const ki_error *error, ki_str output);
    pid_t pid;    /* 0: none, or it is gone */
    bool group;   /* it leads one */
    bool told;    /* on_end was called for it; it only has to go */
    bool exited;  /* and what it ended with is known by `status`, unless that is -1 */
    int status;   /* of waitpid() */
    int pid_fd;   /* -1: the system has none */
    int out;      /* the pipe; -1: it came to its end */
    uint64_t end; /* when patience ends, monotonic */
    ki__watch pid_watch;
    ki__watch out_watch;
    ki__timer timer;
    ki__secrets output;
    char *bytes;
    size_t len;
    size_t cap;
} ki__exec_plugin;

/** `on_end` is called once for each run that was started, on the thread of the loop: with what was
 *  written, behind which there are KI__JSON_PADDING bytes of zero, if the program ended well; else
 *  with an error. Both are borrowed for the call, in which it may be done with. -ENOMEM. */
int ki__exec_plugin_init(ki__exec_plugin *plugin, ki_loop *loop,
                         void (*on_end)(ki__exec_plugin *plugin, const ki_error *error,
                                        ki_str output));

/** Kills what runs, and waits until it is gone, though not forever. Allowed if zeroed. */
void ki__exec_plugin_done(ki__exec_plugin *plugin);

/** Starts a run; nothing of it is kept.
 *  Errors: KI_ERR_BUSY  the last one is not gone yet;  -errno. */
int ki__exec_plugin_start(ki__exec_plugin *plugin, const ki__exec_run *run, ki_error *error);

/** Whether on_end is still to come. */
bool ki__exec_plugin_is_running(const ki__exec_plugin *plugin);

#endif
