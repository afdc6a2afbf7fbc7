/* SPDX-License-Identifier: Apache-2.0 */
/* Plugin processes. A run ends when the process has exited, which a pidfd reports, and its standard
 * output is closed. A daemon left behind by the plugin may hold that open; so after the exit there
 * is only a short grace period.
 *
 * Invariant: `pid` is not 0 as long as the process has not been reaped. It is signaled only then,
 * so that a reused pid is never signaled. If the program reaps our children (SIGCHLD ignored, or
 * waitpid() for all), the status is lost, but not the output. */
#include "client/auth/exec_plugin.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <sys/epoll.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/error.h"
#include "base/time_units.h"
#include "object/json/json_skip.h"

enum {
    FIRST_BYTES = 16 << 10,
    READS = 8, /* in a row, to keep the loop responsive */
    DONE_PATIENCE_MS = 2000,
    STATUS_UNKNOWN = -1
};
#define GRACE_NS (100 * KI__MS_NS)
#define POLL_NS (20 * KI__MS_NS) /* without pidfds */

static void close_fd(int *fd)
{
    if (*fd >= 0) {
        (void)close(*fd);
        *fd = -1;
    }
}

/* ---- starting ---- */

/* Avoids descriptors 0 to 2, which the program may have closed. */
static int open_pipe(int ends[2])
{
    int pair[2];
    if (pipe2(pair, O_CLOEXEC) < 0) {
        return -errno;
    }
    for (size_t i = 0; i < 2; i++) {
        ends[i] = pair[i] > 2 ? pair[i] : fcntl(pair[i], F_DUPFD_CLOEXEC, 3);
        if (ends[i] != pair[i]) {
            (void)close(pair[i]);
        }
    }
    int r = ends[0] < 0 || ends[1] < 0 || fcntl(ends[0], F_SETFL, O_NONBLOCK) < 0 ? -errno : 0;
    if (r < 0) {
        close_fd(&ends[0]);
        close_fd(&ends[1]);
    }
    return r;
}

static int fill_actions(posix_spawn_file_actions_t *actions, const ki__exec_run *run, int out)
{
    int r = 0;
    if (!run->terminal) {
        r = posix_spawn_file_actions_addopen(actions, 0, "/dev/null", O_RDONLY, 0);
    }
    if (r == 0) {
        r = posix_spawn_file_actions_adddup2(actions, out, 1);
    }
    if (r == 0 && !run->shows_errors) {
        r = posix_spawn_file_actions_addopen(actions, 2, "/dev/null", O_WRONLY, 0);
    }
#if defined(__GLIBC__) && __GLIBC_PREREQ(2, 34)
    if (r == 0) {
        r = posix_spawn_file_actions_addclosefrom_np(actions, 3);
    }
#endif
    return r;
}

static int fill_attributes(posix_spawnattr_t *attributes, const ki__exec_run *run)
{
    sigset_t none;
    sigset_t all;
    (void)sigemptyset(&none);
    (void)sigfillset(&all);
    int flags = POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF;
    flags |= run->terminal ? 0 : POSIX_SPAWN_SETPGROUP; /* pgroup 0: a group of its own */
    int r = posix_spawnattr_setsigmask(attributes, &none);
    if (r == 0) {
        r = posix_spawnattr_setsigdefault(attributes, &all);
    }
    return r == 0 ? posix_spawnattr_setflags(attributes, (short)flags) : r;
}

static int spawn(const ki__exec_run *run, int out, pid_t *ret_pid)
{
    posix_spawn_file_actions_t actions;
    posix_spawnattr_t attributes;
    int r = posix_spawn_file_actions_init(&actions);
    if (r != 0) {
        return -r;
    }
    r = posix_spawnattr_init(&attributes);
    if (r == 0) {
        r = fill_actions(&actions, run, out);
        r = r == 0 ? fill_attributes(&attributes, run) : r;
        if (r == 0) {
            r = posix_spawn(ret_pid, run->path, &actions, &attributes, run->argv, run->environment);
        }
        (void)posix_spawnattr_destroy(&attributes);
    }
    (void)posix_spawn_file_actions_destroy(&actions);
    return -r;
}

static void on_pid(ki__watch *watch, uint32_t events);
static void on_out(ki__watch *watch, uint32_t events);
static void stop(ki__exec_plugin *plugin, int code, const char *text);
static void set_timer(ki__exec_plugin *plugin);

/* Without a pidfd, a timer polls instead. */
static void watch_pid(ki__exec_plugin *plugin)
{
#ifdef SYS_pidfd_open
    plugin->pid_fd = (int)syscall(SYS_pidfd_open, plugin->pid, 0);
#endif
    if (plugin->pid_fd >= 0 &&
        ki__watch_add(&plugin->pid_watch, plugin->loop, plugin->pid_fd, EPOLLIN, on_pid) < 0) {
        close_fd(&plugin->pid_fd);
    }
}

int ki__exec_plugin_start(ki__exec_plugin *plugin, const ki__exec_run *run, ki_error *error)
{
    int ends[2];
    if (plugin->pid != 0) {
        return ki__error_set(error, KI_ERR_BUSY,
                             "the previous run was killed but has not exited yet");
    }
    int r = open_pipe(ends);
    if (r < 0) {
        return ki__error_set(error, r, "cannot run: %s", ki_error_text(r));
    }
    r = ki__watch_add(&plugin->out_watch, plugin->loop, ends[0], EPOLLIN, on_out);
    if (r == 0) {
        r = spawn(run, ends[1], &plugin->pid);
    }
    (void)close(ends[1]);
    if (r < 0) {
        ki__watch_remove(&plugin->out_watch);
        (void)close(ends[0]);
        plugin->pid = 0;
        return ki__error_set(error, r, "cannot run: %s", ki_error_text(r));
    }
    plugin->out = ends[0];
    plugin->group = !run->terminal;
    plugin->reported = false;
    plugin->exited = false;
    plugin->status = STATUS_UNKNOWN;
    uint64_t now = ki__engine_now(ki_loop_engine(plugin->loop));
    plugin->end = run->timeout_ns < UINT64_MAX - now ? now + run->timeout_ns : UINT64_MAX;
    watch_pid(plugin);
    set_timer(plugin);
    return 0;
}

/* ---- the end ---- */

static void close_output(ki__exec_plugin *plugin)
{
    if (plugin->out >= 0) {
        ki__watch_remove(&plugin->out_watch);
        close_fd(&plugin->out);
    }
}

/* The callback may destroy the plugin. */
static void report_end(ki__exec_plugin *plugin, const ki_error *error)
{
    ki_str output = ki_str_make(plugin->bytes, plugin->len);
    ki__secrets secrets = plugin->output;
    close_output(plugin);
    plugin->reported = true;
    plugin->bytes = NULL;
    plugin->len = 0;
    plugin->cap = 0;
    ki__secrets_init(&plugin->output, secrets.alloc);
    set_timer(plugin);
    plugin->on_end(plugin, error, output);
    ki__secrets_done(&secrets);
}

/* The process has exited, and all output was read. */
static void finish(ki__exec_plugin *plugin)
{
    ki_error error = KI_ERROR_INIT;
    int status = plugin->status;
    if (status != STATUS_UNKNOWN && WIFSIGNALED(status)) {
        (void)ki__error_set(&error, -EACCES, "killed by signal %d", WTERMSIG(status));
    } else if (status != STATUS_UNKNOWN && WEXITSTATUS(status) != 0) {
        (void)ki__error_set(&error, -EACCES, "exit status %d", WEXITSTATUS(status));
    } else if (status == STATUS_UNKNOWN && plugin->len == 0) {
        (void)ki__error_set(&error, -ECHILD,
                            "no output, and the exit status is unknown (SIGCHLD is ignored)");
    } else if (plugin->len == 0) {
        (void)ki__error_set(&error, KI_ERR_INVALID, "no output on standard output");
    }
    report_end(plugin, error.code < 0 ? &error : NULL);
}

/* Whether the run ended; then the plugin must not be accessed any more. */
static bool finish_if_over(ki__exec_plugin *plugin)
{
    bool over = !plugin->reported && plugin->exited && plugin->out < 0;
    if (over) {
        finish(plugin);
    }
    return over;
}

/* The pid cannot be reused before it is reaped. */
static void kill_it(const ki__exec_plugin *plugin)
{
    if (plugin->pid > 0) {
        (void)kill(plugin->group ? -plugin->pid : plugin->pid, SIGKILL);
    }
}

/* Ends the run immediately, without waiting for the process. */
static void stop(ki__exec_plugin *plugin, int code, const char *text)
{
    ki_error error = KI_ERROR_INIT;
    (void)ki__error_set(&error, code, "%s", text);
    kill_it(plugin);
    report_end(plugin, &error);
}

/* Whether the process has exited. */
static bool reap(ki__exec_plugin *plugin)
{
    int status = 0;
    pid_t got;
    do {
        got = waitpid(plugin->pid, &status, WNOHANG);
    } while (got < 0 && errno == EINTR);
    if (got == 0) {
        return false;
    }
    plugin->status = got > 0 ? status : STATUS_UNKNOWN;
    plugin->exited = true;
    plugin->pid = 0;
    if (plugin->pid_fd >= 0) {
        ki__watch_remove(&plugin->pid_watch);
        close_fd(&plugin->pid_fd);
    }
    return true;
}

/* ---- events ---- */

/* Reserves space for at least one more byte; -ENOMEM. Growing copies; all buffers are wiped at the
 * end. */
static int make_room(ki__exec_plugin *plugin)
{
    if (plugin->len < plugin->cap) {
        return 0;
    }
    size_t cap = plugin->cap == 0 ? FIRST_BYTES : plugin->cap * 2;
    cap = cap > KI__EXEC_OUTPUT_MAX ? KI__EXEC_OUTPUT_MAX + 1 : cap;
    char *larger = ki__secrets_take(&plugin->output, cap + KI__JSON_PADDING);
    if (larger == NULL) {
        return -ENOMEM;
    }
    if (plugin->len != 0) {
        memcpy(larger, plugin->bytes, plugin->len);
    }
    plugin->bytes = larger;
    plugin->cap = cap;
    return 0;
}

/* Reads available output. Whether end of file was reached and the run has not ended. */
static bool read_output(ki__exec_plugin *plugin)
{
    for (size_t i = 0; i < READS; i++) {
        if (make_room(plugin) < 0) {
            stop(plugin, -ENOMEM, "out of memory for its output");
            return false;
        }
        ssize_t got = read(plugin->out, plugin->bytes + plugin->len, plugin->cap - plugin->len);
        if (got < 0 && errno == EINTR) {
            continue;
        }
        if (got < 0 && errno == EAGAIN) {
            return false;
        }
        if (got <= 0) {
            close_output(plugin);
            return true;
        }
        plugin->len += (size_t)got;
        if (plugin->len > KI__EXEC_OUTPUT_MAX) {
            stop(plugin, KI_ERR_LIMIT, "more than 1 MiB of output");
            return false;
        }
    }
    return false;
}

static void on_out(ki__watch *watch, uint32_t events)
{
    (void)events;
    ki__exec_plugin *plugin = KI__CONTAINER_OF(watch, ki__exec_plugin, out_watch);
    if (read_output(plugin)) {
        (void)finish_if_over(plugin);
    }
}

/* Whether the end was reported. */
static bool look_for_end(ki__exec_plugin *plugin)
{
    if (!reap(plugin)) {
        return false;
    }
    if (!plugin->reported && plugin->out >= 0) {
        plugin->end = ki__engine_now(ki_loop_engine(plugin->loop)) + GRACE_NS;
    }
    set_timer(plugin);
    return finish_if_over(plugin);
}

static void on_pid(ki__watch *watch, uint32_t events)
{
    (void)events;
    (void)look_for_end(KI__CONTAINER_OF(watch, ki__exec_plugin, pid_watch));
}

static void set_timer(ki__exec_plugin *plugin)
{
    uint64_t now = ki__engine_now(ki_loop_engine(plugin->loop));
    uint64_t next = plugin->reported ? UINT64_MAX : plugin->end;
    if (plugin->pid != 0 && plugin->pid_fd < 0 && next > now + POLL_NS) {
        next = now + POLL_NS;
    }
    ki__timer_set(&plugin->timer, next);
}

static void on_timer(ki__timer *timer)
{
    ki__exec_plugin *plugin = KI__CONTAINER_OF(timer, ki__exec_plugin, timer);
    if (plugin->pid != 0 && plugin->pid_fd < 0 && look_for_end(plugin)) {
        return;
    }
    uint64_t now = ki__engine_now(ki_loop_engine(plugin->loop));
    if (!plugin->reported && now >= plugin->end) {
        if (plugin->exited) {
            finish(plugin); /* another process holds the pipe */
        } else {
            stop(plugin, -ETIMEDOUT, "timeout; killed");
        }
        return;
    }
    set_timer(plugin);
}

/* ---- creation and destruction ---- */

int ki__exec_plugin_init(ki__exec_plugin *plugin, ki_loop *loop,
                         void (*on_end)(ki__exec_plugin *plugin, const ki_error *error,
                                        ki_str output))
{
    *plugin = (ki__exec_plugin){
        .loop = loop, .on_end = on_end, .pid_fd = -1, .out = -1, .reported = true};
    ki_engine *engine = ki_loop_engine(loop);
    ki__secrets_init(&plugin->output, ki__engine_alloc(engine));
    int r = ki__timer_init(&plugin->timer, engine, on_timer);
    if (r < 0) {
        plugin->loop = NULL;
    }
    return r;
}

/* A killed process exits quickly, unless it is blocked in the kernel. */
static void wait_until_gone(ki__exec_plugin *plugin)
{
    struct pollfd fd = {.fd = plugin->pid_fd, .events = POLLIN};
    int step = plugin->pid_fd >= 0 ? DONE_PATIENCE_MS : 1;
    for (int waited = 0; !reap(plugin) && waited <= DONE_PATIENCE_MS; waited += step) {
        (void)poll(&fd, plugin->pid_fd >= 0 ? 1 : 0, step);
    }
}

void ki__exec_plugin_done(ki__exec_plugin *plugin)
{
    if (plugin->loop == NULL) {
        return;
    }
    plugin->reported = true;
    close_output(plugin);
    kill_it(plugin);
    if (plugin->pid != 0) {
        wait_until_gone(plugin);
    }
    if (plugin->pid_fd >= 0) {
        ki__watch_remove(&plugin->pid_watch);
        close_fd(&plugin->pid_fd);
    }
    ki__timer_done(&plugin->timer);
    ki__secrets_done(&plugin->output);
    plugin->loop = NULL;
}

bool ki__exec_plugin_is_running(const ki__exec_plugin *plugin)
{
    return !plugin->reported;
}
