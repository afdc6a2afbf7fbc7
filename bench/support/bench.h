/* SPDX-License-Identifier: Apache-2.0 */
/* What every benchmark shares: clocks, a fixed random sequence, options, short cases measured in
 * turn, and the one JSON line that each result is. */
#ifndef BENCH_BENCH_H
#define BENCH_BENCH_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* A benchmark that cannot continue says why and ends the program. */
__attribute__((noreturn, format(printf, 1, 2))) void bench_fail(const char *format, ...);

/* Nanoseconds of a clock that never goes back, and of processor time of the whole process. */
uint64_t bench_wall_ns(void);
uint64_t bench_cpu_ns(void);

/* A fixed one-to-one scramble of 64 bits; bench/go has the same. */
uint64_t bench_mix(uint64_t bits);

/* The next number of a fixed sequence. */
static inline uint64_t bench_random(uint64_t *state)
{
    *state ^= *state << 13;
    *state ^= *state >> 7;
    *state ^= *state << 17;
    return *state;
}

/* Keeps the compiler from removing work whose result is not used. */
static inline void bench_use(const void *value)
{
    __asm__ volatile("" : : "g"(value) : "memory");
}

/* Options, as --name value. Each program takes those it asks for; the rest is an error. */
typedef struct bench_option {
    const char *name;
    const char *what;  /* for --help */
    const char *value; /* the default, and then what was given */
} bench_option;

/* Reads the command line into `options`, which ends with a NULL name. --help prints and ends. */
void bench_options(int argc, char **argv, bench_option *options);
uint64_t bench_option_number(const bench_option *option);
double bench_option_seconds(const bench_option *option);

/* One kind of work that is short enough to be repeated. `run` does it `count` times. */
typedef struct bench_case {
    const char *bench; /* the members "bench", "impl" and "row" of the JSON line */
    const char *impl;
    const char *row;
    void (*run)(void *user, uint64_t count);
    void *user;
    double bytes;        /* read each time; 0: none, and no MB/s are printed */
    const char *comment; /* what is special about it; NULL: nothing */
    uint64_t operations; /* in one run, of which the times are; 0: 1 */
    double memory;       /* kept by one result, or less than 0: not known */
} bench_case;

/* Measures the cases in turn: every round runs each of them for `round_ms`, so that a change in the
 * machine's speed meets all. Then prints a line for each: median, least and most nanoseconds. */
void bench_measure(bench_case *cases, size_t count, unsigned rounds, unsigned round_ms);

/* A JSON line, member by member. Text is written as it is: it must need no escapes. */
void bench_line_begin(const char *bench, const char *impl, const char *row);
void bench_line_number(const char *name, double value);
void bench_line_text(const char *name, const char *value);
void bench_line_end(void);

/* Rounds of work that has to be got ready before each, for what bench_measure() cannot do. */
enum { BENCH_SAMPLES_MAX = 200 };
typedef struct bench_samples {
    double ns[BENCH_SAMPLES_MAX];
    double cpu[BENCH_SAMPLES_MAX];
    unsigned count;
    uint64_t wall_start;
    uint64_t cpu_start;
} bench_samples;

void bench_samples_begin(bench_samples *samples);
void bench_samples_end(bench_samples *samples, size_t operations);
/* Adds what they come to, for one operation, to a line: ns, ns_min, ns_max, cpu_ns, rounds; with
 * `parts` also callback_ns and callback_cpu_ns, for one of so many parts of an operation. */
void bench_samples_print(bench_samples *samples, size_t parts);

/* Bytes of memory of this process, by a name of /proc/self/status: "VmRSS" or "VmHWM", the most so
 * far. bench_forget_peak() makes the most what it is now. */
double bench_status_bytes(const char *name);
void bench_forget_peak(void);

/* The whole file, followed by `padding` zero bytes; the caller frees it. */
char *bench_read_file(const char *path, size_t padding, size_t *ret_len);

#ifdef __cplusplus
}
#endif

#endif
