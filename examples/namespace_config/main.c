/* SPDX-License-Identifier: Apache-2.0 */
/* Runs the controller of controller.h, as a process or in a pod, until SIGINT or SIGTERM; with
 * --once it brings all namespaces to the desired state and exits.
 *
 * Usage: namespace_config [--once] [--workers N] [--qps N] */
#include <ctype.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "controller.h"

enum { SYNC_MS = 60000 };

/* Log messages of the library, for example that the server is unreachable. */
static void write_log(const ki_log_record *record, void *user)
{
    (void)user;
    flockfile(stderr); /* records of several threads do not mix */
    fprintf(stderr, "%s: %s: %s", ki_log_level_name(record->level), record->component,
            record->message);
    for (size_t i = 0; i < record->field_count; i++) {
        ki_str value = record->fields[i].value;
        fprintf(stderr, " %s=", record->fields[i].key);
        for (size_t at = 0; at < value.len; at++) { /* values come from the cluster */
            fputc(iscntrl((unsigned char)value.ptr[at]) ? '?' : value.ptr[at], stderr);
        }
    }
    fputc('\n', stderr);
    funlockfile(stderr);
}

static int run(bool once, uint32_t workers, double qps, ki_error *error)
{
    static const ki_log log = {.write = write_log, .level = KI_LOG_WARNING};
    KI_AUTO(ki_client) client = NULL;
    namespace_config c = {0};
    int signal_number;
    /* Before the first thread, as threads inherit the mask: sigwait() receives the signals. */
    sigset_t ends;
    sigemptyset(&ends);
    sigaddset(&ends, SIGINT);
    sigaddset(&ends, SIGTERM);
    (void)pthread_sigmask(SIG_BLOCK, &ends, NULL);
    /* The default limit, 5 requests per second, is for programs that only watch. A request must
     * not block a worker for long. */
    int r = ki_client_new(KI_OPTIONS(ki_client_options, .log = &log, .user_agent = MANAGER "/1.0",
                                     .qps = qps, .burst = (uint32_t)qps * 2,
                                     .request_timeout_ms = 10000),
                          &client, error);
    r = r < 0 ? r : namespace_config_start(&c, client, once ? 0 : workers, error);
    if (r >= 0 && once) {
        r = ki_client_wait_for_sync(client, SYNC_MS, error);
        r = r < 0 ? r : namespace_config_reconcile_all(&c, error);
    } else if (r >= 0) {
        (void)sigwait(&ends, &signal_number);
    }
    namespace_config_stop(&c);
    printf("created %lu, updated %lu, deleted %lu\n", c.created, c.updated, c.deleted);
    return r;
}

int main(int argc, char **argv)
{
    bool once = false;
    uint32_t workers = 4;
    double qps = 50;
    ki_error error = KI_ERROR_INIT;
    for (int i = 1; i < argc; i++) {
        if (strcmp(argv[i], "--once") == 0) {
            once = true;
        } else if (strcmp(argv[i], "--workers") == 0 && i + 1 < argc) {
            workers = (uint32_t)strtoul(argv[++i], NULL, 10);
        } else if (strcmp(argv[i], "--qps") == 0 && i + 1 < argc) {
            qps = strtod(argv[++i], NULL);
        } else {
            fprintf(stderr, "usage: %s [--once] [--workers N] [--qps N]\n", argv[0]);
            return 2;
        }
    }
    int r = run(once, workers, qps, &error);
    if (r < 0) {
        fprintf(stderr, "%s: %s\n", ki_error_name(r), error.message);
    }
    return r < 0 ? 1 : 0;
}
