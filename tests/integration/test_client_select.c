/* SPDX-License-Identifier: Apache-2.0 */
/* Selectors of informers that change while they run, on the embedded API server: handlers receive
 * exactly the differences, and the cache ends with what the server has for the last selection.
 * Shards: the server filters, or the informer does.
 * threads: yes */
#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include <kinformer/apiserver.h>
#include <kinformer/client.h>
#include <kinformer/handler.h>
#include <kinformer/health.h>
#include <kinformer/loop.h>
#include <kinformer/parts/local_source.h>
#include <kinformer/parts/shared_informer.h>
#include <kinformer/selection.h>
#include <kinformer/selector.h>
#include <kinformer/shard.h>

#include "object/selector/shard.h"
#include "support/test.h"

enum { OBJECTS = 60, GROUPS = 4, WAIT_MS = 30000 };

typedef struct stage {
    ki_apiserver *server;
    ki_client *client;
    ki_informer *informer;
    ki_registration *handler;
    pthread_mutex_t lock;
    bool seen[OBJECTS]; /* by the handler */
    size_t adds, updates, deletes;
    size_t wrong;
    uint64_t seed;
} stage;

static uint32_t draw(stage *s, uint32_t below)
{
    s->seed = s->seed * UINT64_C(6364136223846793005) + 1442695040888963407;
    return (uint32_t)(s->seed >> 33) % below;
}

static void must(int r, const ki_error *error)
{
    if (r < 0) {
        fail_msg("%s: %s", ki_error_name(r), error->message);
    }
}

static size_t number_of(const ki_object *object)
{
    unsigned number = 0;
    (void)sscanf(ki_object_name(object), "o-%u", &number);
    return number % OBJECTS;
}

static void on_change(const ki_change *change, void *user)
{
    stage *s = user;
    size_t number = number_of(change->object);
    pthread_mutex_lock(&s->lock);
    bool seen = s->seen[number];
    switch (change->type) {
    case KI_CHANGE_ADDED:
        s->wrong += seen;
        s->seen[number] = true;
        s->adds++;
        break;
    case KI_CHANGE_UPDATED:
        s->wrong += !seen;
        s->updates++;
        break;
    case KI_CHANGE_DELETED:
        s->wrong += !seen;
        s->seen[number] = false;
        s->deletes++;
        break;
    default:
        break;
    }
    pthread_mutex_unlock(&s->lock);
}

static void put(stage *s, size_t number)
{
    char json[256];
    ki_object *object = NULL;
    ki_error error = KI_ERROR_INIT;
    int len = snprintf(json, sizeof(json),
                       "{\"apiVersion\":\"v1\",\"kind\":\"ConfigMap\",\"metadata\":{\"name\":"
                       "\"o-%zu\",\"namespace\":\"default\",\"labels\":{\"group\":\"%u\"}},"
                       "\"data\":{\"at\":\"%u\"}}",
                       number, draw(s, GROUPS), draw(s, 1000000));
    must(ki_object_from_json(json, (size_t)len, NULL, &object, &error), &error);
    must(ki_apiserver_apply(s->server, object, &error), &error);
    (void)ki_object_unref(object);
}

static void begin(stage *s, const ki_informer_options *options)
{
    ki_error error = KI_ERROR_INIT;
    *s = (stage){.seed = 20};
    pthread_mutex_init(&s->lock, NULL);
    must(ki_apiserver_new(NULL, &s->server, &error), &error);
    for (size_t i = 0; i < OBJECTS; i++) {
        put(s, i);
    }
    must(ki_apiserver_client(s->server, NULL, &s->client, &error), &error);
    must(ki_client_informer(s->client, KI_CORE_V1_CONFIGMAPS, options, &s->informer, &error),
         &error);
    must(ki_informer_on_change(s->informer, on_change, s, NULL, &error), &error);
    must(ki_client_start(s->client, &error), &error);
    must(ki_client_wait_for_sync(s->client, WAIT_MS, &error), &error);
}

static void end(stage *s)
{
    assert_int_equal(s->wrong, 0);
    (void)ki_informer_unref(s->informer);
    s->client = ki_client_close(s->client);
    (void)ki_apiserver_unref(s->server);
    pthread_mutex_destroy(&s->lock);
}

static size_t count_of(const ki_informer *informer)
{
    ki_snapshot *snapshot = ki_store_snapshot(ki_informer_store(informer));
    size_t count = ki_snapshot_count(snapshot);
    (void)ki_snapshot_unref(snapshot);
    return count;
}

/* Whether cache and handler have just what the server has for the selection. */
static bool is_current(stage *s, const ki_selection *selection)
{
    ki_list *list = NULL;
    ki_error error = KI_ERROR_INIT;
    ki__shard shard = {0};
    size_t wanted = 0;
    bool same = true;
    must(ki_apiserver_list(s->server, KI_CORE_V1_CONFIGMAPS, "", selection->label_selector, &list,
                           &error),
         &error);
    if (selection->shard_selector != NULL) {
        must(ki__shard_parse(selection->shard_selector, &shard, &error), &error);
    }
    pthread_mutex_lock(&s->lock);
    size_t seen = 0;
    for (size_t i = 0; i < OBJECTS; i++) {
        seen += s->seen[i];
    }
    KI_LIST_FOR_EACH (object, list) {
        if (shard.count == 0 || ki__shard_matches(&shard, object)) {
            ki_object *cached = ki_informer_get(s->informer, "default", ki_object_name(object));
            same =
                same && cached != NULL && s->seen[number_of(object)] &&
                strcmp(ki_object_resource_version(cached), ki_object_resource_version(object)) == 0;
            (void)ki_object_unref(cached);
            wanted++;
        }
    }
    pthread_mutex_unlock(&s->lock);
    same = same && seen == wanted && count_of(s->informer) == wanted;
    (void)ki_list_unref(list);
    return same;
}

static void expect_current(stage *s, const ki_selection *selection)
{
    for (int ms = 0; !is_current(s, selection); ms += 5) {
        struct timespec time = {.tv_nsec = 5000000};
        (void)nanosleep(&time, NULL);
        if (ms > WAIT_MS) {
            fail_msg("not current: label %s, shard %s", selection->label_selector,
                     selection->shard_selector);
        }
    }
}

static void select_objects(stage *s, const ki_selection *selection)
{
    ki_error error = KI_ERROR_INIT;
    must(ki_informer_select(s->informer, selection, &error), &error);
}

static void differences_are_delivered(void **state)
{
    (void)state;
    stage s;
    ki_informer_options options = KI_OPTIONS_INIT(ki_informer_options);
    options.label_selector = "group in (0, 1)";
    begin(&s, &options);
    ki_selection selection = KI_OPTIONS_INIT(ki_selection);
    selection.label_selector = "group in (0, 1)";
    expect_current(&s, &selection);
    size_t before = s.adds;
    selection.label_selector = "group in (1, 2)";
    select_objects(&s, &selection);
    expect_current(&s, &selection);
    assert_true(s.adds > before && s.deletes > 0);
    assert_int_equal(s.updates, 0); /* objects of both are not delivered again */
    ki_health health = KI_OPTIONS_INIT(ki_health);
    assert_int_equal(ki_informer_get_health(s.informer, &health, NULL), 0);
    assert_int_equal(health.relists, 1);
    assert_int_equal(health.failures, 0);
    put(&s, 3); /* the watch has the new selection, too */
    put(&s, 4);
    expect_current(&s, &selection);
    end(&s);
}

static void an_invalid_selection_changes_nothing(void **state)
{
    (void)state;
    stage s;
    begin(&s, NULL);
    ki_selection all = KI_OPTIONS_INIT(ki_selection);
    ki_error error = KI_ERROR_INIT;
    ki_selection bad = all;
    bad.label_selector = "a in (";
    assert_true(ki_informer_select(s.informer, &bad, &error) < 0);
    bad = all;
    bad.field_selector = "a";
    assert_true(ki_informer_select(s.informer, &bad, &error) < 0);
    bad = all;
    bad.shard_selector = "shard 2 of 2";
    assert_int_equal(ki_informer_select(s.informer, &bad, &error), KI_ERR_INVALID);
    assert_non_null(strstr(error.message, "shard_selector"));
    put(&s, 5);
    expect_current(&s, &all);
    ki_health health = KI_OPTIONS_INIT(ki_health);
    assert_int_equal(ki_informer_get_health(s.informer, &health, NULL), 0);
    assert_int_equal(health.relists, 0);
    ki_informer_stop(s.informer);
    while (!ki_informer_is_stopped(s.informer)) {
        struct timespec time = {.tv_nsec = 1000000};
        (void)nanosleep(&time, NULL);
    }
    assert_int_equal(ki_informer_select(s.informer, &all, &error), KI_ERR_STOPPED);
    end(&s);
}

static void the_server_filters_shards(void **state)
{
    (void)state;
    stage s;
    char text[KI_SHARD_TEXT_SIZE];
    ki_informer_options options = KI_OPTIONS_INIT(ki_informer_options);
    options.shard_selector = ki_shard(0, 3, text);
    begin(&s, &options);
    ki_selection selection = KI_OPTIONS_INIT(ki_selection);
    for (uint32_t shards = 3; shards != 0; shards--) { /* others take over, one after the other */
        selection.shard_selector = ki_shard(0, shards, text);
        select_objects(&s, &selection);
        expect_current(&s, &selection);
    }
    assert_int_equal(count_of(s.informer), OBJECTS);
    assert_int_equal(s.deletes, 0); /* the first of fewer shards has all of the first of more */
    ki_health health = KI_OPTIONS_INIT(ki_health);
    assert_int_equal(ki_informer_get_health(s.informer, &health, NULL), 0);
    assert_int_equal(health.outside_shard, 0);
    end(&s);
}

/* Objects change while the selection does, again and again. */
static void random_selections_under_churn(void **state)
{
    (void)state;
    static const char *const labels[] = {NULL, "group=0", "group in (1, 2)", "group!=3", ""};
    stage s;
    char text[KI_SHARD_TEXT_SIZE];
    begin(&s, NULL);
    for (int round = 0; round < 200; round++) {
        ki_selection selection = KI_OPTIONS_INIT(ki_selection);
        for (uint32_t changes = draw(&s, 4); changes-- != 0;) {
            uint32_t count = 1 + draw(&s, 3);
            selection.label_selector = labels[draw(&s, 5)];
            selection.shard_selector = draw(&s, 2) ? ki_shard(draw(&s, count), count, text) : NULL;
            select_objects(&s, &selection);
            for (uint32_t i = draw(&s, 20); i-- != 0;) {
                size_t number = draw(&s, OBJECTS);
                char name[32];
                (void)snprintf(name, sizeof(name), "o-%zu", number);
                if (draw(&s, 4) == 0) {
                    (void)!ki_apiserver_delete(s.server, KI_CORE_V1_CONFIGMAPS, "default", name,
                                               NULL);
                } else {
                    put(&s, number);
                }
            }
            if (draw(&s, 8) == 0) {
                ki_apiserver_break_connections(s.server);
            }
        }
        if (selection.label_selector == NULL && selection.shard_selector == NULL) {
            select_objects(&s, &selection);
        }
        expect_current(&s, &selection);
    }
    end(&s);
}

/* A source that knows nothing of shards. */
static void the_informer_filters_if_the_source_does_not(void **state)
{
    (void)state;
    enum { SHARDS = 2 };
    ki_loop *loop = NULL;
    ki_local_source *source = NULL;
    ki_informer *informers[SHARDS];
    ki_error error = KI_ERROR_INIT;
    must(ki_loop_new(NULL, &loop, &error), &error);
    ki_local_source_options local = KI_OPTIONS_INIT(ki_local_source_options);
    local.engine = ki_loop_engine(loop);
    must(ki_local_source_new(&local, &source, &error), &error);
    for (uint32_t i = 0; i < SHARDS; i++) {
        char text[KI_SHARD_TEXT_SIZE];
        ki_source table = KI_OPTIONS_INIT(ki_source);
        ki_informer_options how = KI_OPTIONS_INIT(ki_informer_options);
        assert_int_equal(ki_local_source_table(source, &table), 0);
        how.engine = local.engine;
        how.source = &table;
        how.shard_selector = ki_shard(i, SHARDS, text);
        must(ki_informer_new(&how, &informers[i], &error), &error);
        must(ki_informer_start(informers[i], &error), &error);
    }
    for (size_t i = 0; i < OBJECTS; i++) { /* listed or watched, as it happens */
        char json[128];
        ki_object *object = NULL;
        int len = snprintf(json, sizeof(json),
                           "{\"metadata\":{\"name\":\"o-%zu\",\"uid\":\"uid-%zu\","
                           "\"resourceVersion\":\"%zu\"}}",
                           i, i * 7919, i + 1);
        must(ki_object_from_json(json, (size_t)len, NULL, &object, &error), &error);
        must(ki_local_source_put(source, object, &error), &error);
        (void)ki_object_unref(object);
        if (i == OBJECTS / 2) {
            must(ki_loop_start(loop, &error), &error);
            must(ki_informer_wait_for_sync(informers[0], WAIT_MS, &error), &error);
            must(ki_informer_wait_for_sync(informers[1], WAIT_MS, &error), &error);
        }
    }
    size_t counts[SHARDS] = {0};
    for (int ms = 0; counts[0] + counts[1] != OBJECTS && ms < WAIT_MS; ms += 5) {
        struct timespec time = {.tv_nsec = 5000000};
        (void)nanosleep(&time, NULL);
        for (size_t i = 0; i < SHARDS; i++) {
            counts[i] = count_of(informers[i]);
        }
    }
    assert_int_equal(counts[0] + counts[1], OBJECTS);
    for (size_t i = 0; i < SHARDS; i++) {
        ki_health health = KI_OPTIONS_INIT(ki_health);
        assert_in_range(counts[i], OBJECTS / 4, OBJECTS * 3 / 4);
        assert_int_equal(ki_informer_get_health(informers[i], &health, NULL), 0);
        assert_int_equal(health.outside_shard, OBJECTS - counts[i]);
        ki_informer_stop(informers[i]);
        (void)ki_informer_unref(informers[i]);
    }
    (void)ki_local_source_unref(source);
    ki_loop_stop(loop);
    assert_int_equal(ki_loop_join(loop), 0);
    (void)ki_loop_unref(loop);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(differences_are_delivered),
        cmocka_unit_test(an_invalid_selection_changes_nothing),
        cmocka_unit_test(the_server_filters_shards),
        cmocka_unit_test(random_selections_under_churn),
        cmocka_unit_test(the_informer_filters_if_the_source_does_not),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
