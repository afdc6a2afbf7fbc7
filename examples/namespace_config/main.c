/* SPDX-License-Identifier: Apache-2.0 */
/* Runs the controller of controller.h, as a process or in a pod, until SIGINT or SIGTERM, or with
 * --once until all namespaces are in the desired state.
 *
 * Usage: namespace_config [--once] [--workers N] [--qps N] */
#include <ctype.h>
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "controller.h"

typedef struct settings {
    bool once;
    unsigned workers;
    double qps;
} settings;

/* Names and messages come from the cluster: no control characters must reach the terminal. */
static void print_text(ki_str text)
{
    for (size_t i = 0; i < text.len; i++) {
        fputc(iscntrl((unsigned char)text.ptr[i]) ? '?' : text.ptr[i], stderr);
    }
}

/* Log messages of the library, for example that the server is unreachable. */
static void write_log(const ki_log_record *record, void *user)
{
    (void)user;
    flockfile(stderr); /* records of several threads do not mix */
    fprintf(stderr, "%s: %s: %s", ki_log_level_name(record->level), record->component,
            record->message);
    for (size_t i = 0; i < record->field_count; i++) {
        fprintf(stderr, " %s=", record->fields[i].key);
        print_text(record->fields[i].value);
    }
    fputc('\n', stderr);
    funlockfile(stderr);
}

static void write_failure(const char *name_space, const ki_error *error, uint32_t failures)
{
    flockfile(stderr);
    print_text(ki_str_from(name_space));
    fputs(": ", stderr);
    print_text(ki_str_from(error->message));
    fprintf(stderr, " (failure %u; will retry)\n", (unsigned)failures);
    funlockfile(stderr);
}

static int make_client(const settings *s, ki_client **ret_client, ki_error *error)
{
    static const ki_log log = {.write = write_log, .level = KI_LOG_WARNING};
    ki_client_options options = KI_OPTIONS_INIT(ki_client_options);
    options.log = &log;
    options.user_agent = MANAGER "/1.0";
    options.qps = s->qps; /* the default, 5 in a second, is for programs that only watch */
    options.burst = s->qps < 1 ? 0 : (uint32_t)s->qps * 2;
    options.request_timeout_ms = 10000; /* a server that hangs should not hold a worker for long */
    return ki_client_new(&options, ret_client, error);
}

/* Waits for a signal; with --once, for the moment when nothing is left to do. */
static void wait_for_end(const settings *s, const sigset_t *ends, namespace_config *c)
{
    const struct timespec moment = {.tv_nsec = 50000000};
    int signal_number = 0;
    if (!s->once) {
        (void)sigwait(ends, &signal_number);
        return;
    }
    while (!namespace_config_is_settled(c) && sigtimedwait(ends, NULL, &moment) < 0) {
    }
}

static int run(const settings *s, ki_error *error)
{
    /* Before the first thread, as threads inherit the mask: wait_for_end() receives the signals. */
    sigset_t ends;
    sigemptyset(&ends);
    sigaddset(&ends, SIGINT);
    sigaddset(&ends, SIGTERM);
    (void)pthread_sigmask(SIG_BLOCK, &ends, NULL);

    ki_client *client = NULL;
    namespace_config *c = NULL;
    int r = make_client(s, &client, error);
    r = r < 0 ? r : namespace_config_start(client, s->workers, write_failure, &c, error);
    if (r >= 0) {
        wait_for_end(s, &ends, c);
        namespace_config_stats stats = namespace_config_read_stats(c);
        printf("created %lu, updated %lu, deleted %lu\n", stats.created, stats.updated,
               stats.deleted);
    }
    namespace_config_stop(c);
    ki_client_close(client);
    return r;
}

static bool read_settings(char **words, settings *s)
{
    for (; *words != NULL; words++) {
        if (strcmp(*words, "--once") == 0) {
            s->once = true;
        } else if (strcmp(*words, "--workers") == 0 && words[1] != NULL) {
            s->workers = (unsigned)strtoul(*++words, NULL, 10);
        } else if (strcmp(*words, "--qps") == 0 && words[1] != NULL) {
            s->qps = strtod(*++words, NULL);
        } else {
            return false;
        }
    }
    return s->workers > 0;
}

int main(int argc, char **argv)
{
    (void)argc;
    settings s = {.workers = 4, .qps = 50};
    ki_error error = KI_ERROR_INIT;
    if (!read_settings(argv + 1, &s)) {
        fprintf(stderr, "usage: %s [--once] [--workers N] [--qps N]\n", argv[0]);
        return 2;
    }
    int r = run(&s, &error);
    if (r < 0) {
        fprintf(stderr, "%s: %s\n", ki_error_name(r), error.message);
    }
    return r < 0 ? 1 : 0;
}
