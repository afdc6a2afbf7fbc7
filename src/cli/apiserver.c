/* SPDX-License-Identifier: Apache-2.0 */
/* `kinformer apiserver`: the embedded API server as a process. */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <kinformer/apiserver.h>

#include "cli/command.h"
#include "cli/command_loop.h"
#include "cli/report_failure.h"
#include "cli/term.h"
#include "cli/text.h"

enum { PIECE = 65536, OWN_FILE_MAX = 1 << 20 };

/* Present in our kubeconfigs, and in no hand-written one. */
#define MARK "\"name\":\"kinformer\""

typedef struct apiserver_options {
    const char *listen;
    bool tls;
    const char *token;
    const char *kubeconfig_out;
    cli_words allowed_hosts;
    cli_words load;
    cli_words faults;
    uint32_t seed;
    bool any_namespace;
    bool no_garbage_collection;
} apiserver_options;

#define AT(member) offsetof(apiserver_options, member)

static const cli_option options[] = {
    {"listen", 0, CLI_ARG_TEXT, AT(listen), "ADDRESS:PORT",
     "address to listen on; default 127.0.0.1:0 (0: a free port)"},
    {"tls", 0, CLI_ARG_FLAG, AT(tls), NULL, "serve HTTPS with a generated certificate"},
    {"token", 0, CLI_ARG_TEXT, AT(token), "TOKEN", "require this bearer token"},
    {"kubeconfig-out", 0, CLI_ARG_TEXT, AT(kubeconfig_out), "FILE",
     "write a kubeconfig for this server"},
    {"allow-host", 0, CLI_ARG_LIST, AT(allowed_hosts), "NAME",
     "additional host name accepted without a token; repeatable"},
    {"load", 0, CLI_ARG_LIST, AT(load), "FILE|-", "initial objects, JSON or YAML; repeatable"},
    {"fault", 0, CLI_ARG_LIST, AT(faults), "RULE",
     "inject faults: status=500,verb=list,rate=10%; repeatable"},
    {"seed", 0, CLI_ARG_NUMBER, AT(seed), "N", "random seed of faults with a rate; 0: random"},
    {"no-garbage-collection", 0, CLI_ARG_FLAG, AT(no_garbage_collection), NULL,
     "do not delete dependents of deleted objects"},
    {"any-namespace", 0, CLI_ARG_FLAG, AT(any_namespace), NULL,
     "allow objects in namespaces that do not exist"},
};

typedef struct serving {
    const apiserver_options *options;
    ki_log log;
    ki_loop *loop;
    cli_loop events;
    ki_apiserver *server;
} serving;

/* ---- files ---- */

/* Reads to the end of the file; 0 or -errno. */
static int read_all(int fd, ki_buf *out)
{
    char piece[PIECE];
    for (;;) {
        ssize_t n = read(fd, piece, sizeof(piece));
        if (n < 0 && errno != EINTR) {
            return -errno;
        }
        if (n == 0) {
            return 0;
        }
        if (n > 0) {
            cli_put_str(out, ki_str_make(piece, (size_t)n));
        }
    }
}

static int load(serving *s, const char *path, ki_error *error)
{
    ki_buf text;
    size_t count = 0;
    bool input = strcmp(path, "-") == 0;
    int fd = input ? STDIN_FILENO : open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0) {
        return cli_fail(error, -errno, "%s: %s", path, strerror(errno));
    }
    cli_text_init(&text);
    int r = read_all(fd, &text);
    if (r < 0) {
        (void)cli_fail(error, r, "%s: %s", path, strerror(-r));
    } else {
        r = ki_apiserver_load(s->server, ki_buf_str(&text), &count, error);
        if (r < 0) {
            ki_error why = *error;
            (void)cli_fail(error, r, "%.100s:%u:%u: %.140s", input ? "(standard input)" : path,
                           why.line, why.column, cli_error_text(&why));
        }
    }
    if (!input) {
        (void)close(fd);
    }
    ki_buf_done(&text);
    return r;
}

/* Whether an existing file may be replaced: it is owned by this user, and empty or written by this
 * command. Symbolic links are not followed, so that a token never ends up in another user's file.
 * *ret_none: the file does not exist. */
static int check_old(const char *path, bool *ret_none, ki_error *error)
{
    struct stat about;
    int fd = open(path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
    *ret_none = fd < 0 && errno == ENOENT;
    if (fd < 0) {
        bool link = errno == ELOOP;
        return *ret_none ? 0
                         : cli_fail(error, -errno, "%s: %s", path,
                                    link ? "a symbolic link; not writing a kubeconfig through it"
                                         : strerror(errno));
    }
    const char *why = NULL;
    if (fstat(fd, &about) < 0 || !S_ISREG(about.st_mode)) {
        why = "not a regular file; not overwriting it";
    } else if (about.st_uid != geteuid()) {
        why = "owned by another user; not overwriting it";
    } else {
        ki_buf text;
        cli_text_init(&text);
        bool ours = about.st_size <= OWN_FILE_MAX && read_all(fd, &text) == 0 &&
                    (text.len == 0 || strstr(ki_buf_text(&text), MARK) != NULL);
        why = ours ? NULL : "exists and was not written by kinformer; not overwriting it";
        ki_buf_done(&text);
    }
    (void)close(fd);
    return why != NULL ? cli_fail(error, -EEXIST, "%s: %s", path, why) : 0;
}

static int write_all(int fd, ki_str text)
{
    while (text.len > 0) {
        ssize_t n = write(fd, text.ptr, text.len);
        if (n < 0 && errno != EINTR) {
            return -errno;
        }
        if (n > 0) {
            text = ki_str_make(text.ptr + n, text.len - (size_t)n);
        }
    }
    return 0;
}

/* Renames a complete file into place, atomically; if `none`, without overwriting a file created
 * meanwhile. */
static int put_in_place(const char *from, const char *to, bool none)
{
    if (renameat2(AT_FDCWD, from, AT_FDCWD, to, none ? RENAME_NOREPLACE : 0) == 0) {
        return 0;
    }
    bool lacks_flag =
        none && (errno == EINVAL || errno == ENOSYS); /* not supported by some file systems */
    return lacks_flag && rename(from, to) == 0 ? 0 : -errno;
}

/* Writes a new file readable only by this user in the same directory, then renames it. */
static int write_beside(const char *path, bool none, ki_str text)
{
    ki_buf name;
    cli_text_init(&name);
    cli_putf(&name, "%s.XXXXXX", path);
    int fd = mkostemp(name.data, O_CLOEXEC); /* with mode 0600 */
    if (fd < 0) {
        int r = -errno;
        ki_buf_done(&name);
        return r;
    }
    int r = write_all(fd, text);
    if (close(fd) < 0 && r == 0) {
        r = -errno;
    }
    r = r < 0 ? r : put_in_place(name.data, path, none);
    if (r < 0) {
        (void)unlink(name.data);
    }
    ki_buf_done(&name);
    return r;
}

static int write_kubeconfig(serving *s, const char *path, ki_error *error)
{
    ki_buf text;
    bool none;
    int r = check_old(path, &none, error);
    if (r < 0) {
        return r;
    }
    cli_text_init(&text);
    r = ki_apiserver_write_kubeconfig(s->server, &text);
    r = r < 0 ? r : write_beside(path, none, ki_buf_str(&text));
    ki_buf_done(&text);
    return r < 0 ? cli_fail(error, r, "%s: %s", path, ki_error_text(r)) : 0;
}

/* ---- the command ---- */

static int open_server(serving *s, ki_error *error)
{
    ki_loop_options of_loop = KI_OPTIONS_INIT(ki_loop_options);
    ki_apiserver_options wanted = KI_OPTIONS_INIT(ki_apiserver_options);
    ki_buf faults;
    of_loop.log = &s->log;
    of_loop.no_threads = true;
    int r = ki_loop_new(&of_loop, &s->loop, error);
    if (r == 0) {
        r = cli_loop_open(&s->events, s->loop, error);
    }
    if (r < 0) {
        return r;
    }
    cli_text_init(&faults);
    for (size_t i = 0; i < s->options->faults.count; i++) {
        cli_put(&faults, i != 0 ? ";" : "");
        cli_put(&faults, s->options->faults.items[i]);
    }
    wanted.loop = s->loop;
    wanted.log = &s->log;
    wanted.listen = s->options->listen;
    wanted.tls = s->options->tls;
    wanted.token = s->options->token;
    wanted.allowed_hosts = s->options->allowed_hosts.items; /* NULL-terminated, if there are any */
    wanted.faults = ki_buf_text(&faults);
    wanted.seed = s->options->seed;
    wanted.any_namespace = s->options->any_namespace;
    wanted.no_garbage_collection = s->options->no_garbage_collection;
    r = ki_apiserver_new(&wanted, &s->server, error);
    ki_buf_done(&faults);
    return r;
}

static void print_address(const serving *s)
{
    ki_buf out;
    cli_text_init(&out);
    cli_putf(&out, "%s\n", ki_apiserver_url(s->server));
    cli_term_out(ki_buf_str(&out));
    ki_buf_done(&out);
    if (s->options->kubeconfig_out != NULL && cli_term_error_is_terminal()) {
        cli_say("in another terminal: export KUBECONFIG=%s", s->options->kubeconfig_out);
    }
}

static int serve(serving *s)
{
    ki_error error = KI_ERROR_INIT;
    int r = open_server(s, &error);
    for (size_t i = 0; r == 0 && i < s->options->load.count; i++) {
        r = load(s, s->options->load.items[i], &error);
    }
    if (r == 0 && s->options->kubeconfig_out != NULL) {
        r = write_kubeconfig(s, s->options->kubeconfig_out, &error);
    }
    if (r < 0) {
        cli_report_error(&error);
        return CLI_FAILED;
    }
    print_address(s);
    r = cli_term_flush();
    if (r == 0) {
        r = cli_loop_run(&s->events, 0);
    }
    if (r == 0 || r == -EINTR || r == -EPIPE) {
        return CLI_OK;
    }
    cli_say("cannot write: %s", strerror(-r));
    return CLI_FAILED;
}

static int run(cli_call *call)
{
    serving s = {.options = call->options, .log = cli_flags_log(&call->flags)};
    s.events.epoll_fd = -1;
    s.events.signal_fd = -1;
    int code = serve(&s);
    s.server = ki_apiserver_unref(s.server);
    cli_loop_close(&s.events);
    s.loop = ki_loop_unref(s.loop);
    return code;
}

static void options_done(void *given)
{
    apiserver_options *o = given;
    cli_words_done(&o->allowed_hosts);
    cli_words_done(&o->load);
    cli_words_done(&o->faults);
}

const cli_command cli_command_apiserver = {
    .name = "apiserver",
    .operands = "",
    .summary = "run an in-memory API server for tests and experiments",
    .about = "Serves the Kubernetes API from memory, for tests and experiments. kubectl, "
             "client-go\nand curl can use it. It prints its URL and runs until SIGINT or SIGTERM. "
             "Nothing is\nstored on disk.",
    .examples = "  kinformer apiserver --kubeconfig-out /tmp/config --load objects.yaml\n"
                "  kinformer apiserver --tls --token secret --kubeconfig-out /tmp/config\n"
                "  kinformer apiserver --fault cut=5000,verb=watch --fault latency=200ms\n",
    .options = options,
    .option_count = sizeof(options) / sizeof(options[0]),
    .options_size = sizeof(apiserver_options),
    .options_done = options_done,
    .run = run,
};
