/* SPDX-License-Identifier: Apache-2.0 */
/* Child processes alongside the loop. Both pipes are nonblocking: a command may ignore its input,
 * and print any amount. Invariant: both pipes are watched before the command is started, so that a
 * running command can always be served. */
#include "cli/child.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/ioctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "cli/report_failure.h"
#include "cli/text.h"

enum { PIECE = 16384, PIECES_MAX = 16 };

void cli_child_init(cli_child *child, cli_loop *loop, void (*pass)(void *user), void *user)
{
    *child = (cli_child){.loop = loop, .pass = pass, .user = user};
    child->input.fd = -1;
    child->output.fd = -1;
    cli_text_init(&child->text);
    cli_text_init(&child->printed);
}

static void close_fd(cli_child *child, cli_fd *fd)
{
    if (fd->fd >= 0) {
        cli_loop_unwatch(child->loop, fd);
        (void)close(fd->fd);
        fd->fd = -1;
    }
}

void cli_child_done(cli_child *child)
{
    if (child->pid > 0) {
        cli_child_signal(child, SIGKILL);
        (void)waitpid(child->pid, NULL, 0);
        child->pid = 0;
    }
    close_fd(child, &child->input);
    close_fd(child, &child->output);
    ki_buf_done(&child->text);
    ki_buf_done(&child->printed);
}

bool cli_child_runs(const cli_child *child)
{
    return child->pid > 0;
}

void cli_child_signal(const cli_child *child, int number)
{
    if (child->pid > 0) {
        (void)kill(-child->pid, number);
    }
}

/* ---- pipes ---- */

static void give_input(void *user)
{
    cli_child *child = user;
    while (child->given < child->text.len) {
        ssize_t n =
            write(child->input.fd, child->text.data + child->given, child->text.len - child->given);
        if (n < 0 && (errno == EAGAIN || errno == EINTR)) {
            return;
        }
        if (n < 0) {
            break; /* the command does not read it */
        }
        child->given += (size_t)n;
    }
    close_fd(child, &child->input);
}

void cli_child_drop(cli_child *child, size_t len)
{
    ki_buf *printed = &child->printed;
    if (len < printed->len) {
        memmove(printed->data, printed->data + len, printed->len - len);
        printed->len -= len;
    } else {
        ki_buf_clear(printed);
    }
}

static void keep(cli_child *child, const char *bytes, size_t len)
{
    cli_put_str(&child->printed, ki_str_make(bytes, len));
    child->passing = child->passing || child->printed.len >= CLI_CHILD_KEPT_MAX;
    if (child->passing) {
        child->pass(child->user);
    }
}

/* Reads a limited amount, so that a command that prints without end does not block the loop. */
static void take_output(void *user)
{
    cli_child *child = user;
    char piece[PIECE];
    for (int i = 0; i < PIECES_MAX; i++) {
        ssize_t n = read(child->output.fd, piece, sizeof(piece));
        if (n < 0 && (errno == EAGAIN || errno == EINTR)) {
            return;
        }
        if (n <= 0) {
            close_fd(child, &child->output);
            return;
        }
        keep(child, piece, (size_t)n);
    }
}

/* Reads the current content of the pipe: the command's own last output. Its children may still hold
 * the other end, and are not waited for. */
static void take_last_output(cli_child *child)
{
    char piece[PIECE];
    int left = 0;
    if (ioctl(child->output.fd, FIONREAD, &left) < 0) {
        left = 0;
    }
    while (left > 0) {
        ssize_t n = read(child->output.fd, piece, left < PIECE ? (size_t)left : PIECE);
        if (n < 0 && errno == EINTR) {
            continue;
        }
        if (n <= 0) {
            break;
        }
        keep(child, piece, (size_t)n);
        left -= (int)n;
    }
    close_fd(child, &child->output);
}

/* ---- starting ---- */

static int set_attributes(const cli_child *child, posix_spawnattr_t *attributes)
{
    sigset_t defaults;
    short flags = POSIX_SPAWN_SETPGROUP | POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF;
    (void)sigemptyset(&defaults);
    (void)sigaddset(&defaults, SIGPIPE); /* we ignore it */
    int r = posix_spawnattr_setflags(attributes, flags);
    if (r == 0) {
        r = posix_spawnattr_setpgroup(attributes, 0);
    }
    if (r == 0) {
        r = posix_spawnattr_setsigmask(attributes, &child->loop->before);
    }
    return r == 0 ? posix_spawnattr_setsigdefault(attributes, &defaults) : r;
}

/* 0 or a positive errno, as posix_spawn(). */
static int spawn(cli_child *child, const char *const *argv, const char *const *environment,
                 int input, int output)
{
    posix_spawn_file_actions_t actions;
    posix_spawnattr_t attributes;
    int r = posix_spawn_file_actions_init(&actions);
    if (r != 0) {
        return r;
    }
    r = posix_spawnattr_init(&attributes);
    if (r != 0) {
        (void)posix_spawn_file_actions_destroy(&actions);
        return r;
    }
    r = posix_spawn_file_actions_adddup2(&actions, input, STDIN_FILENO);
    if (r == 0) {
        r = posix_spawn_file_actions_adddup2(&actions, output, STDOUT_FILENO);
    }
    if (r == 0) {
        r = set_attributes(child, &attributes);
    }
    if (r == 0) {
        /* posix_spawn() takes non-const pointers, but does not modify the strings. */
        union {
            const char *const *from;
            char *const *to;
        } words = {argv}, variables = {environment};
        r = posix_spawnp(&child->pid, argv[0], &actions, &attributes, words.to, variables.to);
    }
    (void)posix_spawnattr_destroy(&attributes);
    (void)posix_spawn_file_actions_destroy(&actions);
    return r;
}

static void close_pair(const int *pair)
{
    (void)close(pair[0]);
    (void)close(pair[1]);
}

static void begin_pipes(cli_child *child, int input, int output)
{
    child->input = (cli_fd){.fd = input, .ready = give_input, .user = child};
    child->output = (cli_fd){.fd = output, .ready = take_output, .user = child};
    child->given = 0;
    child->passing = false;
    ki_buf_clear(&child->printed);
    (void)fcntl(input, F_SETFL, O_NONBLOCK);
    (void)fcntl(output, F_SETFL, O_NONBLOCK);
}

static int watch_pipes(cli_child *child)
{
    int r = cli_loop_watch(child->loop, &child->input, EPOLLOUT);
    return r == 0 ? cli_loop_watch(child->loop, &child->output, EPOLLIN) : r;
}

int cli_child_start(cli_child *child, const char *const *argv, const char *const *environment,
                    ki_error *error)
{
    int input[2];
    int output[2];
    child->pid = 0;
    if (pipe2(input, O_CLOEXEC) < 0) {
        return cli_fail(error, -errno, "cannot create a pipe: %s", strerror(errno));
    }
    if (pipe2(output, O_CLOEXEC) < 0) {
        int code = -errno;
        close_pair(input);
        return cli_fail(error, code, "cannot create a pipe: %s", strerror(-code));
    }
    begin_pipes(child, input[1], output[0]);
    int r = watch_pipes(child);
    if (r < 0) {
        (void)cli_fail(error, r, "cannot poll a pipe: %s", strerror(-r));
    } else {
        r = -spawn(child, argv, environment, input[0], output[1]);
        if (r < 0) {
            (void)cli_fail(error, r, "cannot run %s: %s", argv[0], strerror(-r));
        }
    }
    (void)close(input[0]);
    (void)close(output[1]);
    if (r < 0) {
        child->pid = 0;
        close_fd(child, &child->input);
        close_fd(child, &child->output);
    }
    return r;
}

bool cli_child_is_shortage(int code)
{
    switch (code) {
    case -EAGAIN:
    case -ENOMEM:
    case -EMFILE:
    case -ENFILE:
    case -ENOSPC: /* of epoll watches */
        return true;
    default:
        return false;
    }
}

bool cli_child_has_ended(cli_child *child, int *ret_status)
{
    if (child->pid <= 0) {
        return false;
    }
    pid_t found = waitpid(child->pid, ret_status, WNOHANG);
    if (found == 0 || (found < 0 && errno != ECHILD)) {
        return false;
    }
    if (found < 0) {
        *ret_status = CLI_CHILD_LOST;
    }
    child->pid = 0;
    close_fd(child, &child->input);
    if (child->output.fd >= 0) {
        take_last_output(child);
    }
    return true;
}
