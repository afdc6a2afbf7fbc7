/* SPDX-License-Identifier: Apache-2.0 */
/* --stats: resource usage. */
#include "cli/run_stats.h"

#include <stdio.h>
#include <string.h>
#include <sys/resource.h>

#include "cli/command_loop.h"
#include "cli/follow.h"
#include "cli/term.h"
#include "cli/text.h"

typedef struct sums {
    uint64_t objects;
    uint64_t bytes;
    uint64_t events;
    uint64_t merged;
    uint64_t relists;
    uint64_t reconnects;
    uint64_t skipped;
} sums;

typedef struct costs {
    double sync_s; /* negative: not synced */
    double run_s;
    double cpu_s;
    uint64_t memory; /* resident bytes */
    uint64_t peak;
} costs;

bool cli_stats_is_format(const char *format)
{
    return format == NULL || format[0] == '\0' || strcmp(format, "json") == 0;
}

/* Kilobytes in a line of /proc/self/status; 0 if there is none. */
static uint64_t read_status(const char *name)
{
    char line[256];
    unsigned long long kilobytes = 0;
    FILE *file = fopen("/proc/self/status", "re");
    size_t len = strlen(name);
    while (file != NULL && fgets(line, (int)sizeof(line), file) != NULL) {
        if (strncmp(line, name, len) == 0 && line[len] == ':') {
            (void)sscanf(line + len + 1, "%llu", &kilobytes);
            break;
        }
    }
    if (file != NULL) {
        (void)fclose(file);
    }
    return kilobytes * 1024;
}

static double seconds(const struct timeval *time)
{
    return (double)time->tv_sec + (double)time->tv_usec / 1e6;
}

double cli_stats_cpu_seconds(void)
{
    struct rusage usage = {0};
    (void)getrusage(RUSAGE_SELF, &usage);
    return seconds(&usage.ru_utime) + seconds(&usage.ru_stime);
}

uint64_t cli_stats_memory(void)
{
    return read_status("VmRSS");
}

static sums sum_up(const cli_session *session)
{
    sums all = {0};
    for (size_t i = 0; i < session->target_count; i++) {
        ki_health health = cli_follow_health(&session->targets[i]);
        all.objects += health.objects;
        all.bytes += health.bytes;
        all.events += health.events;
        all.merged += health.merged;
        all.relists += health.relists;
        all.reconnects += health.reconnects;
        all.skipped += health.skipped + health.rejected;
    }
    return all;
}

static costs count_up(const cli_session *session)
{
    costs all = {.sync_s = -1};
    if (session->synced_ns != 0) {
        all.sync_s = (double)(session->synced_ns - session->started_ns) / (double)CLI_SECOND_NS;
    }
    all.run_s = (double)(cli_now_ns() - session->started_ns) / (double)CLI_SECOND_NS;
    all.cpu_s = cli_stats_cpu_seconds();
    all.memory = cli_stats_memory();
    all.peak = read_status("VmHWM");
    return all;
}

static void put_number(ki_buf *out, const char *name, uint64_t number)
{
    cli_putf(out, ",\"%s\":%llu", name, (unsigned long long)number);
}

static void put_json(ki_buf *out, const sums *sum, const costs *cost)
{
    cli_putf(out, "{\"objects\":%llu", (unsigned long long)sum->objects);
    put_number(out, "bytes", sum->bytes);
    if (cost->sync_s >= 0) {
        cli_putf(out, ",\"syncSeconds\":%.3f", cost->sync_s);
    } else {
        cli_put(out, ",\"syncSeconds\":null");
    }
    cli_putf(out, ",\"seconds\":%.3f,\"cpuSeconds\":%.3f", cost->run_s, cost->cpu_s);
    put_number(out, "memoryBytes", cost->memory);
    put_number(out, "peakMemoryBytes", cost->peak);
    put_number(out, "events", sum->events);
    put_number(out, "mergedEvents", sum->merged);
    put_number(out, "relists", sum->relists);
    put_number(out, "reconnects", sum->reconnects);
    put_number(out, "skipped", sum->skipped);
    cli_put(out, "}\n");
}

static void put_lines(ki_buf *out, const sums *sum, const costs *cost)
{
    cli_put(out, "objects     ");
    cli_put_count(out, sum->objects);
    cli_put(out, "\nreceived    ");
    cli_put_bytes(out, sum->bytes);
    if (cost->sync_s >= 0) {
        cli_putf(out, "\nsynced in   %.3f s", cost->sync_s);
    } else {
        cli_put(out, "\nsynced in   not synced");
    }
    cli_putf(out, "\nran for     %.3f s\nCPU time    %.3f s\nmemory      ", cost->run_s,
             cost->cpu_s);
    cli_put_bytes(out, cost->memory);
    cli_put(out, ", peak ");
    cli_put_bytes(out, cost->peak);
    cli_put(out, "\nevents      ");
    cli_put_count(out, sum->events);
    cli_putf(out, "\nrelists     %llu\nreconnects  %llu\n", (unsigned long long)sum->relists,
             (unsigned long long)sum->reconnects);
    if (sum->skipped != 0) {
        cli_putf(out, "skipped     %llu\n", (unsigned long long)sum->skipped);
    }
}

void cli_stats_print(const cli_session *session, const char *format)
{
    ki_buf out;
    if (format == NULL || session->started_ns == 0) {
        return;
    }
    sums sum = sum_up(session);
    costs cost = count_up(session);
    cli_text_init(&out);
    if (strcmp(format, "json") == 0) {
        put_json(&out, &sum, &cost);
    } else {
        put_lines(&out, &sum, &cost);
    }
    cli_term_note(ki_buf_str(&out));
    ki_buf_done(&out);
}
