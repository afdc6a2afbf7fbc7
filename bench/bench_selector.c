/* SPDX-License-Identifier: Apache-2.0 */
/* Matching the labels of one pod. bench/go does the same with client-go's selectors on the labels
 * of a *corev1.Pod, a Go map. */
#include <kinformer/object.h>
#include <kinformer/selector.h>

#include "support/bench.h"
#include "support/pod.h"

typedef struct match {
    const char *row;
    const char *text;
    bool want;
    const ki_object *object;
    ki_selector *selector;
} match;

static void run(void *user, uint64_t count)
{
    const match *m = user;
    for (; count != 0; count--) {
        if (ki_selector_matches(m->selector, m->object) != m->want) {
            bench_fail("%s: wrong answer to %s", m->row, m->text);
        }
    }
}

int main(int argc, char **argv)
{
    bench_option options[] = {
        {"rounds", "rounds over all selectors", "15"},
        {"ms", "of one selector in one round", "20"},
        {NULL, NULL, NULL},
    };
    bench_options(argc, argv, options);
    match matches[] = {
        {.row = "equal", .text = "app.kubernetes.io/name=web", .want = true},
        {.row = "three",
         .text = "app.kubernetes.io/name=web,tier in (edge, front),!canary",
         .want = true},
        {.row = "miss", .text = "app.kubernetes.io/name=db", .want = false},
    };
    enum { MATCHES = sizeof(matches) / sizeof(matches[0]) };
    char text[BENCH_POD_MAX];
    bench_pod pod = {.number = 0};
    size_t len = bench_pod_json(BENCH_POD_SMALL, &pod, text);
    ki_object *object = NULL;
    ki_error error = KI_ERROR_INIT;
    if (ki_object_from_json(text, len, NULL, &object, &error) < 0) {
        bench_fail("the pod: %s", error.message);
    }
    bench_case cases[MATCHES];
    for (size_t i = 0; i < MATCHES; i++) {
        match *m = &matches[i];
        m->object = object;
        if (ki_selector_parse(m->text, NULL, &m->selector, &error) < 0) {
            bench_fail("%s: %s", m->text, error.message);
        }
        cases[i] = (bench_case){.bench = "selector",
                                .impl = "kinformer",
                                .row = m->row,
                                .run = run,
                                .user = m,
                                .memory = -1};
    }
    bench_measure(cases, MATCHES, (unsigned)bench_option_number(&options[0]),
                  (unsigned)bench_option_number(&options[1]));
    for (size_t i = 0; i < MATCHES; i++) {
        (void)ki_selector_unref(matches[i].selector);
    }
    (void)ki_object_unref(object);
    return 0;
}
