/* SPDX-License-Identifier: Apache-2.0 */
/* sim: runs histories, one for each seed, and says which one broke what. */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "sim/sim.h"

static sim_options options;
static char replay[512];

/* The one command that runs it again. */
static void note_replay(void)
{
    int len = snprintf(replay, sizeof(replay), "replay with: sim --seed %llu",
                       (unsigned long long)options.seed);
    static const char *const flags[] = {" --without ", " --only "};
    const uint64_t sets[] = {options.without, options.only};
    for (int i = 0; i < 2; i++) {
        bool first = true;
        for (int fault = 0; sets[i] != 0 && fault < SIM_FAULT_MAX; fault++) {
            if ((sets[i] >> fault & 1) != 0) {
                len += snprintf(replay + len, sizeof(replay) - (size_t)len, "%s%s",
                                first ? flags[i] : ",", sim_fault_name((sim_fault)fault));
                first = false;
            }
        }
    }
    (void)snprintf(replay + len, sizeof(replay) - (size_t)len, "\n");
}

static void on_violation(const sim *s, const char *invariant, const char *text)
{
    (void)s;
    (void)invariant;
    (void)text;
    (void)printf("%s", replay);
}

static void on_signal(int number)
{
    (void)!write(STDOUT_FILENO, replay, strlen(replay));
    (void)signal(number, SIG_DFL);
    (void)raise(number);
}

static uint64_t read_faults(const char *text)
{
    uint64_t set = 0;
    while (*text != '\0') {
        size_t len = strcspn(text, ",");
        int fault = 0;
        while (fault < SIM_FAULT_MAX &&
               (strlen(sim_fault_name((sim_fault)fault)) != len ||
                memcmp(sim_fault_name((sim_fault)fault), text, len) != 0)) {
            fault++;
        }
        if (fault == SIM_FAULT_MAX) {
            (void)fprintf(stderr, "sim: no fault is called %.*s\n", (int)len, text);
            exit(2);
        }
        set |= UINT64_C(1) << fault;
        text += len + (text[len] == ',');
    }
    return set;
}

static int check_counts(const uint64_t counts[SIM_COUNT_MAX], uint64_t seeds, bool show)
{
    int failed = 0;
    for (int i = 0; i < SIM_COUNT_MAX; i++) {
        uint64_t least = sim_count_least((sim_count)i, seeds);
        bool enough = counts[i] >= least;
        if (show || !enough) {
            (void)printf("%-34s %12llu%s\n", sim_count_name((sim_count)i),
                         (unsigned long long)counts[i], enough ? "" : "  too few");
        }
        failed += !enough;
    }
    return failed;
}

static void usage(void)
{
    (void)fprintf(
        stderr,
        "usage: sim [--seeds COUNT] [--from SEED] [--counts] [--without FAULT,...] [--only ...]\n"
        "       sim --seed SEED [--trace] [--without FAULT,...] [--only FAULT,...]\n");
    exit(2);
}

int main(int argc, char **argv)
{
    uint64_t from = 1;
    uint64_t seeds = 1000;
    bool single = false;
    bool show = false;
    uint64_t counts[SIM_COUNT_MAX] = {0};
    for (int i = 1; i < argc; i++) {
        const char *value = i + 1 < argc ? argv[i + 1] : NULL;
        if (strcmp(argv[i], "--trace") == 0) {
            options.trace = true;
            continue;
        }
        if (strcmp(argv[i], "--counts") == 0) {
            show = true;
            continue;
        }
        if (value == NULL) {
            usage();
        } else if (strcmp(argv[i], "--seed") == 0) {
            from = strtoull(value, NULL, 0);
            seeds = 1;
            single = true;
        } else if (strcmp(argv[i], "--seeds") == 0) {
            seeds = strtoull(value, NULL, 0);
        } else if (strcmp(argv[i], "--from") == 0) {
            from = strtoull(value, NULL, 0);
        } else if (strcmp(argv[i], "--without") == 0) {
            options.without = read_faults(value);
        } else if (strcmp(argv[i], "--only") == 0) {
            options.only = read_faults(value);
        } else {
            usage();
        }
        i++;
    }
    options.on_violation = on_violation;
    (void)signal(SIGABRT, on_signal);
    (void)signal(SIGSEGV, on_signal);
    for (uint64_t seed = from; seed < from + seeds; seed++) {
        options.seed = seed;
        note_replay();
        sim_run(&options, counts);
    }
    (void)printf("%llu seeds, %.1f simulated hours, %llu steps: no violation\n",
                 (unsigned long long)seeds, (double)counts[SIM_COUNT_SIM_SECONDS] / 3600,
                 (unsigned long long)counts[SIM_COUNT_STEPS]);
    bool whole = options.without == 0 && options.only == 0 && !single;
    int failed = check_counts(counts, whole ? seeds : 0, show);
    return failed == 0 ? 0 : 1;
}
