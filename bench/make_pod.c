/* SPDX-License-Identifier: Apache-2.0 */
/* Prints invented pods, one compact JSON text a line. data/pod.json is what it prints without
 * options. */
#include <stdio.h>
#include <string.h>

#include "support/bench.h"
#include "support/pod.h"

int main(int argc, char **argv)
{
    bench_option options[] = {
        {"first", "number of the first pod", "0"},
        {"count", "how many pods", "1"},
        {"per-ns", "pods in a namespace", "100"},
        {"kind", "full or small", "full"},
        {NULL, NULL, NULL},
    };
    bench_options(argc, argv, options);
    uint64_t first = bench_option_number(&options[0]);
    uint64_t count = bench_option_number(&options[1]);
    uint64_t per_ns = bench_option_number(&options[2]);
    bench_pod_kind kind = strcmp(options[3].value, "small") == 0 ? BENCH_POD_SMALL : BENCH_POD_FULL;
    if (per_ns == 0) {
        bench_fail("--per-ns: at least 1");
    }
    char text[BENCH_POD_MAX];
    for (uint64_t i = first; i < first + count; i++) {
        bench_pod pod = {.number = i, .ns = i / per_ns, .generation = 0};
        (void)bench_pod_json(kind, &pod, text);
        printf("%s\n", text);
    }
    return 0;
}
