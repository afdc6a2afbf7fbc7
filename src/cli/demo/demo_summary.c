/* SPDX-License-Identifier: Apache-2.0 */
/* Summary at the end of the demo. */
#include <errno.h> /* program_invocation_name */

#include "cli/demo/demo.h"
#include "cli/follow.h"
#include "cli/text.h"

typedef struct sums {
    uint64_t events;
    uint64_t relists;
    uint64_t reconnects;
    uint64_t differences;
    uint64_t objects;
    uint64_t bytes;
    uint64_t memory;
} sums;

static sums sum_up(const demo *d)
{
    sums all = {0};
    for (size_t i = 0; i < DEMO_RESOURCES; i++) {
        const demo_row *row = &d->rows[i];
        ki_health health = cli_follow_health(&d->session.targets[i]);
        all.events += row->adds + row->updates + row->deletes - row->initial;
        all.relists += health.relists;
        all.reconnects += health.reconnects;
        all.differences += row->differences;
        all.objects += health.objects;
        all.bytes += cli_gauge_bytes(&d->session.targets[i]);
        all.memory += health.object_bytes;
    }
    return all;
}

static void put_label(ki_buf *out, const char *label)
{
    cli_putf(out, "%-13s", label);
}

static void put_what(const demo *d, const sums *all, ki_buf *out)
{
    put_label(out, "objects");
    cli_put_count(out, all->objects);
    cli_putf(out, " on an in-memory API server, watched by %d informers over HTTP\n",
             DEMO_RESOURCES);
    put_label(out, "changes");
    cli_put_count(out, demo_churn_count(d));
    cli_putf(out, " in %.0f seconds and ",
             d->changed_s != 0 ? d->changed_s : demo_changing_seconds(d));
    cli_put_count(out, d->controller.writes);
    cli_put(out, " by the controller; ");
    cli_put_count(out, all->events);
    cli_put(out, " delivered\n");
}

static void put_trouble(const demo *d, const sums *all, ki_buf *out)
{
    put_label(out, "connections");
    cli_putf(out, "all closed %llu times; %llu watches resumed\n", (unsigned long long)d->cuts,
             (unsigned long long)all->reconnects);
    put_label(out, "history");
    if (all->relists == 0) {
        cli_put(out, "never expired\n");
        return;
    }
    cli_putf(out, "expired once: %llu relists; handlers received only the\n",
             (unsigned long long)all->relists);
    put_label(out, "");
    cli_put_count(out, all->differences);
    cli_put(out, " differences\n");
}

static void put_work(const demo *d, ki_buf *out)
{
    const demo_controller *c = &d->controller;
    put_label(out, "work queue");
    cli_put_count(out, c->events);
    cli_put(out, " events became ");
    cli_put_count(out, c->runs);
    cli_put(out, " runs; ");
    cli_put_count(out, c->failures);
    cli_put(out, " failed and were retried\n");
    put_label(out, "index");
    cli_putf(out, "pods of a node found in %.1f us; a scan of all pods takes %.0f us\n",
             d->query.index_us, d->query.scan_us);
}

static void put_memory(const sums *all, ki_buf *out)
{
    put_label(out, "memory");
    cli_put_bytes(out, all->memory);
    cli_put(out, " for ");
    cli_put_bytes(out, all->bytes);
    cli_putf(out, " of objects: %.2f times their bytes\n",
             all->bytes != 0 ? (double)all->memory / (double)all->bytes : 0);
}

static void put_verdict(const demo_result *result, ki_buf *out)
{
    const demo_check *check = &result->check;
    if (demo_check_is_equal(check)) {
        cli_putf(out, "%sAll %d caches match the server%s: ", cli_term_color(CLI_COLOR_GREEN),
                 DEMO_RESOURCES, cli_term_plain());
        cli_put_count(out, check->objects);
        cli_putf(out, " objects, compared one by one.\nThat was %.1f s after the last change.\n",
                 (double)result->settled_ns / (double)CLI_SECOND_NS);
        if (result->wrong != 0) {
            cli_putf(out, "%sBut the controller's counts are wrong in %zu namespaces.%s\n",
                     cli_term_color(CLI_COLOR_RED), result->wrong, cli_term_plain());
        }
        return;
    }
    cli_putf(out, "%sThe caches do NOT match the server%s: of ", cli_term_color(CLI_COLOR_RED),
             cli_term_plain());
    cli_put_count(out, check->objects);
    cli_putf(out,
             " objects, %zu are missing, %zu extra,\n%zu have another uid, %zu another version, "
             "%zu other content.\nThe first: %s\n",
             check->missing, check->extra, check->replaced, check->stale, check->different,
             check->first);
}

static void put_next(ki_buf *out)
{
    const char *program = program_invocation_name; /* may not be on $PATH yet */
    cli_putf(out,
             "\nTo see the same on your own cluster, set KUBECONFIG and run:\n  %s top -A\n  %s "
             "watch pods -A\n",
             program, program);
}

void demo_summary_print(demo *d, const demo_result *result)
{
    ki_buf out;
    sums all = sum_up(d);
    cli_text_init(&out);
    cli_putf(&out, "\n%sWhat happened%s\n\n", cli_term_color(CLI_COLOR_BOLD), cli_term_plain());
    put_what(d, &all, &out);
    put_trouble(d, &all, &out);
    put_work(d, &out);
    put_memory(&all, &out);
    cli_put_char(&out, '\n');
    if (result->why != NULL) {
        cli_putf(&out, "%sNothing was compared%s: %s\n", cli_term_color(CLI_COLOR_RED),
                 cli_term_plain(), result->why);
    } else {
        put_verdict(result, &out);
    }
    if (!d->query.right) {
        cli_putf(&out, "%sBut the index and a scan of all pods differ.%s\n",
                 cli_term_color(CLI_COLOR_RED), cli_term_plain());
    }
    put_next(&out);
    cli_term_out(ki_buf_str(&out));
    ki_buf_done(&out);
}
