/* SPDX-License-Identifier: Apache-2.0 */
#include "support/limiting.h"

#include <stdio.h>
#include <string.h>

#include <kinformer/parts/shared_informer.h>

ki_object *limited_pod(limited *f, int number, size_t body)
{
    static char json[LIMITED_BODY + 512];
    int len = snprintf(json, sizeof(json),
                       "{\"metadata\":{\"name\":\"p%d\",\"namespace\":\"shop\",\"uid\":\"u%d\","
                       "\"resourceVersion\":\"%u\",\"labels\":{\"app\":\"a\",\"odd\":\"%d\"}},"
                       "\"data\":\"",
                       number, number, ++f->version, number % 2);
    uint64_t random = (uint64_t)number + 1;
    for (size_t i = 0; i < body; i++) { /* compresses to about a half */
        json[(size_t)len + i] = "abcdefghijklmnop"[test_random(&random) % 16];
    }
    memcpy(json + len + body, "\"}", 2);
    ki_object_options options = KI_OPTIONS_INIT(ki_object_options);
    options.alloc = &f->alloc.table;
    ki_object *object = NULL;
    assert_int_equal(ki_object_from_json(json, (size_t)len + body + 2, &options, &object, NULL), 0);
    return object;
}

void limited_put(limited *f, int number, size_t body)
{
    ki_object *object = limited_pod(f, number, body);
    assert_int_equal(ki_local_source_put(f->source, object, NULL), 0);
    (void)ki_object_unref(object);
}

void limited_put_many(limited *f, int from, int to)
{
    for (int i = from; i < to; i++) {
        limited_put(f, i, LIMITED_BODY);
    }
}

void limited_take_many(limited *f, int from, int to)
{
    for (int i = from; i < to; i++) {
        ki_object *object = limited_pod(f, i, 1);
        assert_int_equal(ki_local_source_remove(f->source, object, NULL), 0);
        (void)ki_object_unref(object);
    }
}

static void on_report(const ki_report *report, void *user)
{
    limited *f = user;
    if (report->error->code == KI_ERR_OVER_LIMIT) {
        assert_string_equal(report->component, "memory");
        f->reports++;
        f->report = *report->error;
    }
}

static void on_failure(ki_informer *informer, const ki_watch_failure *failure, void *user)
{
    (void)informer;
    limited *f = user;
    f->failures += failure->error->code == KI_ERR_OVER_LIMIT;
}

void limited_on_change(const ki_change *change, void *user)
{
    limited *f = user;
    f->changes[change->type]++;
}

void limited_begin_world(limited *f)
{
    *f = (limited){0};
    test_alloc_init(&f->alloc);
    test_world_init(&f->world);
    ki_engine_options engine = test_world_engine_options(&f->world, &f->alloc.table);
    engine.on_report = on_report;
    engine.report_user = f;
    assert_int_equal(ki_engine_new(&engine, &f->engine, NULL), 0);
    assert_int_equal(ki_local_source_new(KI_OPTIONS(ki_local_source_options, .engine = f->engine),
                                         &f->source, NULL),
                     0);
}

/* With `count` objects at the start. */
void limited_begin(limited *f, ki_informer_options *options, int count)
{
    limited_begin_world(f);
    ki_source table = {0};
    assert_int_equal(ki_local_source_table(f->source, &table), 0);
    options->engine = f->engine;
    options->source = &table;
    options->max_bytes = options->max_bytes != 0 ? options->max_bytes : LIMITED_MAX;
    options->on_watch_error = on_failure;
    options->watch_error_user = f;
    assert_int_equal(ki_informer_new(options, &f->informer, NULL), 0);
    limited_put_many(f, 0, count);
    assert_int_equal(ki_informer_start(f->informer, NULL), 0);
    test_world_settle(f->engine);
}

void limited_end(limited *f)
{
    ki_informer_stop(f->informer);
    test_world_settle(f->engine);
    f->informer = ki_informer_unref(f->informer);
    f->source = ki_local_source_unref(f->source);
    test_world_settle(f->engine);
    (void)ki_engine_unref(f->engine);
    test_alloc_done(&f->alloc);
}

ki_health limited_health(ki_informer *informer, ki_error *reason)
{
    ki_health health = KI_OPTIONS_INIT(ki_health);
    assert_int_equal(ki_informer_get_health(informer, &health, reason), 0);
    return health;
}

void limited_wait(limited *f)
{
    test_world_advance(&f->world, f->engine, 200 * TEST_SECOND);
}
