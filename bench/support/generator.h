/* SPDX-License-Identifier: Apache-2.0 */
/* A source without a server: lists and watches of any number of pods, which are made one by one as
 * they are requested and never held. Of each pod it remembers four bytes, its state. Single
 * threaded: everything runs inside ki_engine_run(). */
#ifndef BENCH_GENERATOR_H
#define BENCH_GENERATOR_H

#include <kinformer/parts/engine.h>
#include <kinformer/parts/source.h>

#include "support/pod_template.h"

typedef struct bench_generator bench_generator;

/* The caller frees it, after everything that uses its source has stopped. */
bench_generator *bench_generator_new(ki_engine *engine, const bench_template_options *options);
void bench_generator_free(bench_generator *generator);

/* A source that streams its lists; clear its `no_streaming_list` or set it as you like. */
ki_source bench_generator_source(bench_generator *generator);

/* Changes pods and makes the events of it, which bench_generator_give() delivers. Those of the last
 * call must have been given. */
void bench_generator_change(bench_generator *generator, const uint64_t *numbers, size_t count);
void bench_generator_give(bench_generator *generator, size_t count);

/* Changes a pod without an event in any watch. */
void bench_generator_miss(bench_generator *generator, uint64_t number);

/* Ends the watch: its version is too old, everything must be listed again. */
void bench_generator_expire(bench_generator *generator);

/* Processor time, in nanoseconds, that making the pods of lists has taken. */
uint64_t bench_generator_spent_ns(const bench_generator *generator);
/* How many lists are complete, streamed ones included. */
uint64_t bench_generator_lists(const bench_generator *generator);

#endif
