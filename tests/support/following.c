/* SPDX-License-Identifier: Apache-2.0 */
/* Informers over real sockets. */
#include "support/following.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <kinformer/builtin_resources.h>
#include <kinformer/health.h>
#include <kinformer/parts/shared_informer.h>
#include <kinformer/parts/source.h>

enum { PATIENCE_MS = 40000, PODS = 16, POD_TEXT = 32 };

static void on_watch_error(ki_informer *informer, const ki_watch_failure *failure, void *user)
{
    following *f = user;
    (void)informer;
    assert_true(failure->error->code < 0);
    f->errors++;
}

void following_open(following *f, transporting *t, ki__curl *curl, const following_options *options)
{
    ki_error error = KI_ERROR_INIT;
    ki_transport transport = ki__curl_table(curl);
    ki_source source = {0};
    *f = (following){.t = t};
    snprintf(f->name_space, sizeof(f->name_space), "%s", options->name_space);
    ki_source_http_options source_options = KI_OPTIONS_INIT(ki_source_http_options);
    source_options.engine = ki_loop_engine(t->loop);
    source_options.transport = &transport;
    source_options.resource = KI_CORE_V1_PODS;
    source_options.name_space = options->name_space;
    source_options.json_only = true;
    source_options.max_object_bytes = options->max_object_bytes;
    source_options.watch_idle_timeout_ms = options->watch_idle_ms;
    assert_int_equal(ki_source_http_new(&source_options, &source, &error), 0);
    ki_informer_options informer_options = KI_OPTIONS_INIT(ki_informer_options);
    informer_options.engine = ki_loop_engine(t->loop);
    informer_options.source = &source;
    informer_options.resource = KI_CORE_V1_PODS;
    informer_options.no_streaming = options->no_streaming;
    informer_options.on_watch_error = on_watch_error;
    informer_options.watch_error_user = f;
    assert_int_equal(ki_informer_new(&informer_options, &f->informer, &error), 0);
    assert_int_equal(ki_informer_start(f->informer, &error), 0);
}

void following_stop(following *f)
{
    ki_informer_stop(f->informer);
    for (int i = 0; i < 10000 && !ki_informer_is_stopped(f->informer); i++) {
        transporting_for(f->t, 1);
    }
    assert_true(ki_informer_is_stopped(f->informer));
    f->informer = ki_informer_unref(f->informer);
}

static int by_name(const void *a, const void *b)
{
    return strcmp(a, b);
}

void following_describe(following *f, char *text, size_t size)
{
    ki_snapshot *snapshot = ki_store_snapshot(ki_informer_store(f->informer));
    char pods[PODS][POD_TEXT];
    size_t count = 0;
    ki_snapshot_iter iter = ki_snapshot_iter_begin(snapshot);
    const ki_object *pod;
    while (ki_snapshot_iter_next(&iter, &pod) > 0 && count < PODS) {
        snprintf(pods[count++], POD_TEXT, "%.12s=%.12s ", ki_object_name(pod),
                 ki_object_resource_version(pod));
    }
    ki_snapshot_unref(snapshot);
    qsort(pods, count, sizeof(pods[0]), by_name);
    size_t at = 0;
    text[0] = '\0';
    for (size_t i = 0; i < count && at < size; i++) {
        at += (size_t)snprintf(text + at, size - at, "%s", pods[i]);
    }
}

bool following_has(following *f, const char *wanted)
{
    char text[PODS * POD_TEXT];
    following_describe(f, text, sizeof(text));
    return strcmp(text, wanted) == 0 && ki_informer_has_synced(f->informer);
}

void following_expect(following *f, const char *wanted)
{
    char text[PODS * POD_TEXT];
    for (int ms = 0; ms < PATIENCE_MS; ms += 10) {
        if (following_has(f, wanted)) {
            return;
        }
        transporting_for(f->t, 10);
    }
    following_describe(f, text, sizeof(text));
    fail_msg("%s: the cache has \"%s\" instead of \"%s\"", f->name_space, text, wanted);
}
