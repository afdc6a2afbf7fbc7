/* SPDX-License-Identifier: Apache-2.0 */
/* Invented pods for the benchmarks. Pod number `i` is always the same text, and different from
 * every other: names, uids, addresses, versions, times and hashes follow from the number. */
#ifndef BENCH_POD_H
#define BENCH_POD_H

#include <stddef.h>
#include <stdint.h>

typedef enum bench_pod_kind {
    BENCH_POD_FULL,    /* as an API server sends a running pod of two containers: about 11.6 KB */
    BENCH_POD_SMALL,   /* the metadata without managedFields, a node, a phase and addresses: 1.2 KB;
                        * bench/go makes the same of it as a *corev1.Pod */
    BENCH_POD_NETWORK, /* a full one with an annotation of a network plugin: 8.6 KB of protobuf */
} bench_pod_kind;

#define BENCH_POD_MAX ((size_t)16384) /* no pod text is longer, its NUL counted */

typedef struct bench_pod {
    uint64_t number;     /* which pod */
    uint64_t ns;         /* its namespace is "team-<ns>" */
    uint64_t generation; /* which state of it: the resourceVersion and a restart count follow */
} bench_pod;

/* Writes the pod as compact JSON, NUL-terminated, to `text` of BENCH_POD_MAX bytes. Returns its
 * length. */
size_t bench_pod_json(bench_pod_kind kind, const bench_pod *pod, char *text);

/* The same with these values for the letters of the template, "@a" to "@z"; see pod.c. */
#define BENCH_POD_LETTERS 26
size_t bench_pod_expand(bench_pod_kind kind, const char *const *values, char *text);

/* Writes `count` letters of the alphabet Kubernetes draws random names from, and a NUL. */
void bench_random_name(uint64_t bits, size_t count, char *text);

/* Writes a uid that follows from `seed`, 36 letters and a NUL. */
void bench_uid_text(uint64_t seed, char *text, size_t size);

/* Writes "team-<ns>/web-..." to `key` of `size` bytes: the key of the pod. */
void bench_pod_key(const bench_pod *pod, char *key, size_t size);

/* Writes "team-<ns>" to `text` of `size` bytes. */
void bench_pod_namespace(uint64_t ns, char *text, size_t size);

#endif
