/* SPDX-License-Identifier: Apache-2.0 */
/* Clocks, options and output of the benchmarks. Nothing here is part of the library. */
#include "support/bench.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define ROUNDS_MAX 1000

void bench_fail(const char *format, ...)
{
    va_list args;
    va_start(args, format);
    (void)fprintf(stderr, "benchmark: ");
    (void)vfprintf(stderr, format, args);
    (void)fprintf(stderr, "\n");
    va_end(args);
    exit(1);
}

static uint64_t clock_ns(clockid_t id)
{
    struct timespec t;
    if (clock_gettime(id, &t) != 0) {
        bench_fail("no clock");
    }
    return (uint64_t)t.tv_sec * 1000000000U + (uint64_t)t.tv_nsec;
}

uint64_t bench_wall_ns(void)
{
    return clock_ns(CLOCK_MONOTONIC);
}

uint64_t bench_cpu_ns(void)
{
    return clock_ns(CLOCK_PROCESS_CPUTIME_ID);
}

uint64_t bench_mix(uint64_t bits)
{
    bits += 0x9e3779b97f4a7c15U;
    bits = (bits ^ (bits >> 30)) * 0xbf58476d1ce4e5b9U;
    bits = (bits ^ (bits >> 27)) * 0x94d049bb133111ebU;
    return bits ^ (bits >> 31);
}

static void print_help(const char *program, const bench_option *options)
{
    printf("usage: %s [--option value]...\n", program);
    for (; options->name != NULL; options++) {
        printf("  --%-10s %s (default: %s)\n", options->name, options->what, options->value);
    }
}

void bench_options(int argc, char **argv, bench_option *options)
{
    for (int i = 1; i < argc; i++) {
        if (strcmp(argv[i], "--help") == 0) {
            print_help(argv[0], options);
            exit(0);
        }
        bench_option *option = options;
        while (option->name != NULL &&
               (strncmp(argv[i], "--", 2) != 0 || strcmp(argv[i] + 2, option->name) != 0)) {
            option++;
        }
        if (option->name == NULL || i + 1 == argc) {
            bench_fail("%s: no such option, or no value for it; see --help", argv[i]);
        }
        option->value = argv[++i];
    }
}

uint64_t bench_option_number(const bench_option *option)
{
    char *end = NULL;
    unsigned long long number = strtoull(option->value, &end, 10);
    if (end == option->value || *end != '\0') {
        bench_fail("--%s: not a number: %s", option->name, option->value);
    }
    return number;
}

double bench_option_seconds(const bench_option *option)
{
    char *end = NULL;
    double seconds = strtod(option->value, &end);
    if (end == option->value || *end != '\0' || !(seconds > 0 && seconds <= 3600)) {
        bench_fail("--%s: not a time: %s", option->name, option->value);
    }
    return seconds;
}

/* Nanoseconds that `count` runs take, and in *ret_cpu those of the processor. */
static double run_ns(const bench_case *c, uint64_t count, double *ret_cpu)
{
    uint64_t cpu = bench_cpu_ns();
    uint64_t start = bench_wall_ns();
    c->run(c->user, count);
    uint64_t wall = bench_wall_ns() - start;
    *ret_cpu = (double)(bench_cpu_ns() - cpu);
    return (double)wall;
}

/* How many runs take about `round_ms`. Also warms the case up. */
static uint64_t calibrate(const bench_case *c, unsigned round_ms)
{
    double want = (double)round_ms * 1e6;
    for (uint64_t count = 1;; count *= 4) {
        double cpu;
        double took = run_ns(c, count, &cpu);
        if (took >= want / 8) {
            double scaled = (double)count * want / took;
            return scaled < 1 ? 1 : (uint64_t)scaled;
        }
    }
}

static int compare_doubles(const void *a, const void *b)
{
    double x = *(const double *)a;
    double y = *(const double *)b;
    return (x > y) - (x < y);
}

/* Sorts them. */
static double median_of(double *values, unsigned count)
{
    qsort(values, count, sizeof(values[0]), compare_doubles);
    return (values[(count - 1) / 2] + values[count / 2]) / 2;
}

static void print_case(const bench_case *c, double *ns, double *cpu, unsigned rounds,
                       uint64_t count)
{
    double median = median_of(ns, rounds);
    bench_line_begin(c->bench, c->impl, c->row);
    bench_line_number("ns", median);
    bench_line_number("ns_min", ns[0]);
    bench_line_number("ns_max", ns[rounds - 1]);
    bench_line_number("cpu_ns", median_of(cpu, rounds));
    if (c->bytes > 0) {
        bench_line_number("bytes", c->bytes);
        bench_line_number("mb_s", c->bytes * 1e3 / median);
    }
    if (c->memory >= 0) {
        bench_line_number("memory", c->memory);
        bench_line_number("memory_over", c->memory - c->bytes);
    }
    bench_line_number("rounds", rounds);
    bench_line_number("runs", (double)count);
    if (c->comment != NULL) {
        bench_line_text("comment", c->comment);
    }
    bench_line_end();
}

void bench_measure(bench_case *cases, size_t count, unsigned rounds, unsigned round_ms)
{
    if (rounds == 0 || rounds > ROUNDS_MAX || round_ms == 0) {
        bench_fail("rounds are 1 to %d, of at least 1 ms", ROUNDS_MAX);
    }
    double *ns = calloc(count * rounds, sizeof(ns[0]));
    double *cpu = calloc(count * rounds, sizeof(cpu[0]));
    uint64_t *runs = calloc(count, sizeof(runs[0]));
    if (ns == NULL || cpu == NULL || runs == NULL) {
        bench_fail("out of memory");
    }
    for (size_t i = 0; i < count; i++) {
        runs[i] = calibrate(&cases[i], round_ms);
    }
    for (unsigned round = 0; round < rounds; round++) {
        for (size_t i = 0; i < count; i++) {
            double *of_round = &ns[i * rounds + round];
            double *cpu_of_round = &cpu[i * rounds + round];
            double operations =
                (double)runs[i] * (double)(cases[i].operations != 0 ? cases[i].operations : 1);
            *of_round = run_ns(&cases[i], runs[i], cpu_of_round) / operations;
            *cpu_of_round /= operations;
        }
    }
    for (size_t i = 0; i < count; i++) {
        print_case(&cases[i], ns + i * rounds, cpu + i * rounds, rounds, runs[i]);
    }
    free(runs);
    free(cpu);
    free(ns);
}

void bench_samples_begin(bench_samples *samples)
{
    if (samples->count == BENCH_SAMPLES_MAX) {
        bench_fail("at most %d rounds", BENCH_SAMPLES_MAX);
    }
    samples->cpu_start = bench_cpu_ns();
    samples->wall_start = bench_wall_ns();
}

void bench_samples_end(bench_samples *samples, size_t operations)
{
    uint64_t wall = bench_wall_ns() - samples->wall_start;
    uint64_t cpu = bench_cpu_ns() - samples->cpu_start;
    samples->ns[samples->count] = (double)wall / (double)operations;
    samples->cpu[samples->count] = (double)cpu / (double)operations;
    samples->count++;
}

void bench_samples_print(bench_samples *samples, size_t parts)
{
    double ns = median_of(samples->ns, samples->count);
    double cpu = median_of(samples->cpu, samples->count);
    bench_line_number("ns", ns);
    bench_line_number("ns_min", samples->ns[0]);
    bench_line_number("ns_max", samples->ns[samples->count - 1]);
    bench_line_number("cpu_ns", cpu);
    if (parts != 0) {
        bench_line_number("callback_ns", ns / (double)parts);
        bench_line_number("callback_cpu_ns", cpu / (double)parts);
    }
    bench_line_number("rounds", samples->count);
}

void bench_line_begin(const char *bench, const char *impl, const char *row)
{
    printf("{\"bench\":\"%s\",\"impl\":\"%s\",\"row\":\"%s\"", bench, impl, row);
}

void bench_line_number(const char *name, double value)
{
    if (value == (double)(int64_t)value) {
        printf(",\"%s\":%lld", name, (long long)value);
    } else {
        printf(",\"%s\":%.3f", name, value);
    }
}

void bench_line_text(const char *name, const char *value)
{
    printf(",\"%s\":\"%s\"", name, value);
}

void bench_line_end(void)
{
    printf("}\n");
    (void)fflush(stdout);
}

double bench_status_bytes(const char *name)
{
    char line[256];
    size_t len = strlen(name);
    double found = -1;
    FILE *file = fopen("/proc/self/status", "r");
    while (file != NULL && fgets(line, sizeof(line), file) != NULL) {
        if (strncmp(line, name, len) == 0 && line[len] == ':') {
            found = strtod(line + len + 1, NULL) * 1024;
        }
    }
    if (found < 0) {
        bench_fail("/proc/self/status: no %s", name);
    }
    (void)fclose(file);
    return found;
}

void bench_forget_peak(void)
{
    FILE *file = fopen("/proc/self/clear_refs", "w");
    if (file == NULL || fputs("5", file) < 0 || fclose(file) != 0) {
        bench_fail("/proc/self/clear_refs cannot be written");
    }
}

char *bench_read_file(const char *path, size_t padding, size_t *ret_len)
{
    FILE *file = fopen(path, "rb");
    if (file == NULL) {
        bench_fail("cannot open %s", path);
    }
    size_t room = (size_t)1 << 24;
    char *bytes = calloc(1, room + padding);
    if (bytes == NULL) {
        bench_fail("out of memory");
    }
    size_t len = fread(bytes, 1, room, file);
    if (ferror(file) != 0 || feof(file) == 0) {
        bench_fail("cannot read %s", path);
    }
    (void)fclose(file);
    *ret_len = len;
    return bytes;
}
