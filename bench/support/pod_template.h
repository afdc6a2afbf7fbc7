/* SPDX-License-Identifier: Apache-2.0 */
/* Many different pods quickly: the bytes of one, with holes for what differs. Everything that
 * differs has the same length in all pods, so a pod is a copy of the template with its holes
 * filled, which takes some microseconds, and nothing is parsed. The same numbers and the same seed
 * are always the same bytes. */
#ifndef BENCH_POD_TEMPLATE_H
#define BENCH_POD_TEMPLATE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "support/pod.h"

enum {
    BENCH_PODS_IN_NAMESPACE = 500,
    BENCH_PODS_ON_NODE = 100,
};

typedef struct bench_template_options {
    bench_pod_kind kind;
    bool json; /* instead of protobuf */
    uint64_t seed;
    uint64_t objects; /* pods are spread over so many nodes that each has BENCH_PODS_ON_NODE */
} bench_template_options;

typedef struct bench_template bench_template;

/* Ends the program if memory runs out, or if something of the pod cannot be found again. */
bench_template *bench_template_new(const bench_template_options *options);
void bench_template_free(bench_template *template);

/* How many bytes each pod has. */
size_t bench_template_size(const bench_template *template);

/* Writes pod `number`, below ten millions, as it is in state `state`, 0 to 999,999,999: a pod that
 * changes gets other container ids, times and addresses. The resourceVersion is 1,000,000,000 and
 * `state`, or for state 0 a version that no pod shares. */
void bench_template_write(const bench_template *template, uint64_t number, uint64_t state,
                          char *bytes);

#endif
