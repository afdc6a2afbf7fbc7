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

static bool quick;

static void note_order(uint64_t number)
{
    (void)snprintf(replay, sizeof(replay), "replay with: sim --order %llu --trace%s\n",
                   (unsigned long long)number, quick ? " --quick" : "");
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
        "       sim --list FILE\n"
        "       sim --small [--quick]\n"
        "       sim --order NUMBER [--quick] [--trace]\n"
        "       sim --seed SEED [--trace] [--without FAULT,...] [--only FAULT,...]\n");
    exit(2);
}

typedef struct arguments {
    uint64_t from;
    uint64_t seeds;
    const char *list; /* a file of seeds */
    uint64_t order;   /* of the small scope; UINT64_MAX: all */
    bool single;
    bool small;
    bool quick;
    bool counts;
} arguments;

static bool read_flag(const char *name, arguments *a)
{
    if (strcmp(name, "--trace") == 0) {
        options.trace = true;
    } else if (strcmp(name, "--counts") == 0) {
        a->counts = true;
    } else if (strcmp(name, "--small") == 0) {
        a->small = true;
    } else if (strcmp(name, "--quick") == 0) {
        a->quick = true;
    } else {
        return false;
    }
    return true;
}

static void read_value(const char *name, const char *value, arguments *a)
{
    if (value == NULL) {
        usage();
    } else if (strcmp(name, "--seed") == 0) {
        a->from = strtoull(value, NULL, 0);
        a->seeds = 1;
        a->single = true;
    } else if (strcmp(name, "--seeds") == 0) {
        a->seeds = strtoull(value, NULL, 0);
    } else if (strcmp(name, "--from") == 0) {
        a->from = strtoull(value, NULL, 0);
    } else if (strcmp(name, "--list") == 0) {
        a->list = value;
    } else if (strcmp(name, "--order") == 0) {
        a->small = true;
        a->order = strtoull(value, NULL, 0);
    } else if (strcmp(name, "--without") == 0) {
        options.without = read_faults(value);
    } else if (strcmp(name, "--only") == 0) {
        options.only = read_faults(value);
    } else {
        usage();
    }
}

static void run_one(uint64_t seed, uint64_t counts[SIM_COUNT_MAX])
{
    options.seed = seed;
    note_replay();
    sim_run(&options, counts);
}

/* A line of the file is a seed, and what it found once; '#' begins a comment. */
static uint64_t run_list(const char *path, uint64_t counts[SIM_COUNT_MAX])
{
    FILE *file = fopen(path, "r");
    char line[256];
    uint64_t seeds = 0;
    if (file == NULL) {
        perror(path);
        exit(2);
    }
    while (fgets(line, sizeof(line), file) != NULL) {
        if (line[0] >= '0' && line[0] <= '9') {
            run_one(strtoull(line, NULL, 10), counts);
            seeds++;
        }
    }
    (void)fclose(file);
    return seeds;
}

int main(int argc, char **argv)
{
    arguments a = {.from = 1, .seeds = 1000, .order = UINT64_MAX};
    uint64_t counts[SIM_COUNT_MAX] = {0};
    for (int i = 1; i < argc; i++) {
        if (!read_flag(argv[i], &a)) {
            read_value(argv[i], i + 1 < argc ? argv[i + 1] : NULL, &a);
            i++;
        }
    }
    options.on_violation = on_violation;
    static const int deadly[] = {SIGABRT, SIGSEGV, SIGILL, SIGTRAP, SIGBUS, SIGFPE};
    for (size_t i = 0; i < sizeof(deadly) / sizeof(deadly[0]); i++) {
        (void)signal(deadly[i], on_signal);
    }
    if (a.small) {
        uint64_t orders = a.order == UINT64_MAX ? sim_small_queue(&options, a.quick) : 0;
        options.on_start = note_order;
        quick = a.quick;
        orders += sim_small(&options, a.quick, a.order);
        (void)printf("%llu orders: no violation\n", (unsigned long long)orders);
        return 0;
    }
    if (a.list != NULL) {
        a.seeds = run_list(a.list, counts);
    } else {
        for (uint64_t seed = a.from; seed < a.from + a.seeds; seed++) {
            run_one(seed, counts);
        }
    }
    (void)printf("%llu seeds, %.1f simulated hours, %llu steps: no violation\n",
                 (unsigned long long)a.seeds, (double)counts[SIM_COUNT_SIM_SECONDS] / 3600,
                 (unsigned long long)counts[SIM_COUNT_STEPS]);
    bool whole = options.without == 0 && options.only == 0 && !a.single && a.list == NULL;
    return check_counts(counts, whole ? a.seeds : 0, a.counts) == 0 ? 0 : 1;
}
