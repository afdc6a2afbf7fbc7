/* SPDX-License-Identifier: Apache-2.0 */
/* Informers and stores with packed storage; threads: yes. */
#include <errno.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>

#include <kinformer/encoding.h>
#include <kinformer/factory.h>
#include <kinformer/index.h>
#include <kinformer/informer.h>
#include <kinformer/memory.h>
#include <kinformer/packed.h>
#include <kinformer/parts/local_source.h>
#include <kinformer/parts/shared_informer.h>
#include <kinformer/path.h>
#include <kinformer/projection.h>

#include "cache/informer/informer.h"
#include "cache/store/version.h"
#include "object/pack/packed.h"
#include "support/objects.h"
#include "support/test.h"
#include "support/world.h"

#define TEXT "abcdefghijklmnopqrstuvwxyz-0123456789-"
#define LONG TEXT TEXT TEXT TEXT TEXT TEXT TEXT TEXT TEXT TEXT TEXT TEXT TEXT TEXT TEXT TEXT TEXT

static ki_object *pod(const ki_alloc *alloc, unsigned number, unsigned version)
{
    char json[2048];
    int len = snprintf(
        json, sizeof(json),
        "{\"kind\":\"Pod\",\"apiVersion\":\"v1\",\"metadata\":{\"name\":\"web-%u\",\"namespace\":"
        "\"shop\",\"uid\":\"u%u\",\"resourceVersion\":\"%u\",\"labels\":{\"group\":\"g%u\"},"
        "\"annotations\":{\"note\":\"" LONG
        "\"}},\"spec\":{\"nodeName\":\"n%u\",\"image\":\"i%u\"},"
        "\"status\":{\"phase\":\"Running\"}}",
        number, number, version, number % 3, version, version);
    ki_object *object = NULL;
    ki_object_options options = KI_OPTIONS_INIT(ki_object_options);
    options.alloc = alloc;
    int r = ki_object_from_json(json, (size_t)len, &options, &object, NULL);
    assert_true(r == 0 || r == -ENOMEM);
    return object;
}

static bool node_is(const ki_object *object, unsigned version)
{
    char expected[16];
    (void)snprintf(expected, sizeof(expected), "n%u", version);
    return ki_object_equals(object, "spec.nodeName", expected);
}

static int by_node(const ki_object *object, ki_index_values *values, void *user)
{
    char node[16];
    (void)user;
    assert_false(ki_object_is_packed(object));
    return ki_index_values_add(
        values, ki_str_from(ki_object_string_or(object, "spec.nodeName", "", node, sizeof(node))));
}

/* ---- informers ---- */

typedef struct fixture {
    test_alloc alloc;
    test_world world;
    ki_engine *engine;
    ki_local_source *source;
    ki_informer *informer;
    char changes[512];
} fixture;

static void put(fixture *f, unsigned number, unsigned version)
{
    ki_object *object = pod(&f->alloc.table, number, version);
    assert_int_equal(ki_local_source_put(f->source, object, NULL), 0);
    (void)ki_object_unref(object);
    test_world_settle(f->engine);
}

static void log_change(const ki_change *change, void *user)
{
    fixture *f = user;
    char old[16] = "-";
    char node[16];
    size_t len = strlen(f->changes);
    assert_false(ki_object_is_packed(change->object));
    if (change->old != NULL) {
        assert_false(ki_object_is_packed(change->old));
        (void)ki_object_string_or(change->old, "spec.nodeName", "?", old, sizeof(old));
    }
    (void)snprintf(f->changes + len, sizeof(f->changes) - len, "%s %s %s %s, ",
                   ki_change_name(change), ki_object_name(change->object), old,
                   ki_object_string_or(change->object, "spec.nodeName", "?", node, sizeof(node)));
}

static void count_packed(const ki_change *change, void *user)
{
    int *count = user;
    *count += ki_object_is_packed(change->object);
}

static void begin(fixture *f, ki_informer_options *options)
{
    *f = (fixture){0};
    test_alloc_init(&f->alloc);
    test_world_init(&f->world);
    ki_engine_options engine = test_world_engine_options(&f->world, &f->alloc.table);
    assert_int_equal(ki_engine_new(&engine, &f->engine, NULL), 0);
    assert_int_equal(ki_local_source_new(KI_OPTIONS(ki_local_source_options, .engine = f->engine),
                                         &f->source, NULL),
                     0);
    ki_source table = {0};
    assert_int_equal(ki_local_source_table(f->source, &table), 0);
    const ki_index index = {.size = sizeof(index), .name = "node", .values = by_node};
    const ki_index *const indexes[] = {&index};
    options->engine = f->engine;
    options->source = &table;
    options->indexes = indexes;
    options->index_count = 1;
    options->storage = KI_STORAGE_PACKED;
    assert_int_equal(ki_informer_new(options, &f->informer, NULL), 0);
    assert_int_equal(ki_informer_on_change(f->informer, log_change, f, NULL, NULL), 0);
    put(f, 1, 1);
    assert_int_equal(ki_informer_start(f->informer, NULL), 0);
    test_world_settle(f->engine);
    assert_true(ki_informer_has_synced(f->informer));
}

static void end(fixture *f)
{
    ki_informer_stop(f->informer);
    test_world_settle(f->engine);
    f->informer = ki_informer_unref(f->informer);
    f->source = ki_local_source_unref(f->source);
    test_world_settle(f->engine);
    (void)ki_engine_unref(f->engine);
    test_alloc_done(&f->alloc);
}

static size_t count_by(fixture *f, const char *index, const char *value)
{
    ki_list *list = NULL;
    assert_int_equal(ki_store_by_index(ki_informer_store(f->informer), index, value, &list), 0);
    size_t count = ki_list_count(list);
    (void)ki_list_unref(list);
    return count;
}

static void handlers_and_indexes_see_plain_objects(void **state)
{
    (void)state;
    for (int kind = 0; kind < KI_QUEUE_KIND_MAX; kind++) {
        fixture f;
        ki_informer_options options = KI_OPTIONS_INIT(ki_informer_options);
        options.queue = (ki_queue_kind)kind;
        options.check_mutations = true;
        begin(&f, &options);
        put(&f, 1, 2);
        put(&f, 2, 3);
        ki_object *gone = pod(&f.alloc.table, 1, 4);
        assert_int_equal(ki_local_source_remove(f.source, gone, NULL), 0);
        (void)ki_object_unref(gone);
        test_world_settle(f.engine);
        assert_string_equal(f.changes, "added web-1 - n1, updated web-1 n1 n2, "
                                       "added web-2 - n3, deleted web-1 n2 n4, ");
        assert_int_equal(count_by(&f, "node", "n1"), 0);
        assert_int_equal(count_by(&f, "node", "n2"), 0);
        assert_int_equal(count_by(&f, "node", "n3"), 1);
        /* Nothing so far has opened what is stored. */
        assert_int_equal(ki__packer_memory(f.informer->store->packer).opened, 0);
        ki_object *stored = ki_informer_get(f.informer, "shop", "web-2");
        assert_true(ki_object_is_packed(stored));
        assert_true(ki_object_label_is(stored, "group", "g2"));
        assert_true(node_is(stored, 3));
        (void)ki_object_unref(stored);
        end(&f);
    }
}

static ki_memory memory_of(fixture *f)
{
    ki_memory memory = KI_OPTIONS_INIT(ki_memory);
    assert_int_equal(ki_informer_get_memory(f->informer, &memory), 0);
    return memory;
}

/* Handlers receive plain objects, which the store does not have. */
static void plain_objects_in_queues_count(void **state)
{
    (void)state;
    fixture f;
    ki_informer_options options = KI_OPTIONS_INIT(ki_informer_options);
    begin(&f, &options);
    ki_registration *slow = NULL;
    const ki_handler handler = {.on_change = log_change, .user = &f};
    ki_handler_options manual = KI_OPTIONS_INIT(ki_handler_options);
    manual.delivery = KI_DELIVERY_CALLER;
    manual.queue_limit = 8; /* then they are merged */
    assert_int_equal(ki_informer_add_handler(f.informer, &handler, &manual, &slow, NULL), 0);
    while (ki_registration_dispatch(slow, 100) > 0) {
    }
    size_t plain = 0;
    for (unsigned i = 0; i < 20; i++) {
        put(&f, 10 + i % 12, i + 2);
        ki_object *object = pod(&f.alloc.table, 10 + i % 12, i + 2);
        plain = ki_object_memory(object);
        (void)ki_object_unref(object);
    }
    assert_in_range(memory_of(&f).queues, 12 * (plain - 64), 13 * (plain + 1024));
    while (ki_registration_dispatch(slow, 100) > 0) {
        f.changes[0] = '\0';
    }
    assert_int_equal(memory_of(&f).queues, 0);
    (void)ki_registration_unref(slow);
    end(&f);
}

/* Objects that were read stay open only as far as the limit allows. */
static void opened_objects_do_not_use_up_the_limit(void **state)
{
    (void)state;
    enum { COUNT = 60, MAX = 60000 };
    fixture f;
    ki_informer_options options = KI_OPTIONS_INIT(ki_informer_options);
    options.max_bytes = MAX;
    begin(&f, &options);
    for (unsigned i = 0; i < COUNT; i++) {
        put(&f, i, i + 2);
        f.changes[0] = '\0';
    }
    assert_true(memory_of(&f).total > MAX / 2);
    for (unsigned i = 0; i < COUNT; i++) {
        char name[16];
        (void)snprintf(name, sizeof(name), "web-%u", i);
        ki_object *object = ki_informer_get(f.informer, "shop", name);
        assert_true(ki_object_is_packed(object));
        assert_true(node_is(object, i + 2));
        (void)ki_object_unref(object);
        test_world_settle(f.engine);
    }
    assert_true(memory_of(&f).versions <= MAX / 32);
    put(&f, 1, COUNT + 2);
    assert_false(memory_of(&f).over_limit);
    assert_true(memory_of(&f).packing > 0);
    end(&f);
}

static void late_handlers_and_indexes_too(void **state)
{
    (void)state;
    fixture f;
    ki_informer_options options = KI_OPTIONS_INIT(ki_informer_options);
    begin(&f, &options);
    put(&f, 2, 2);
    f.changes[0] = '\0';
    assert_int_equal(ki_informer_on_change(f.informer, log_change, &f, NULL, NULL), 0);
    int packed = 0;
    ki_handler_options how = KI_OPTIONS_INIT(ki_handler_options);
    how.as_stored = true;
    assert_int_equal(ki_informer_on_change(f.informer, count_packed, &packed, &how, NULL), 0);
    test_world_settle(f.engine);
    assert_string_equal(f.changes, "added web-1 - n1, added web-2 - n2, ");
    assert_int_equal(packed, 2);
    ki_index index = KI_OPTIONS_INIT(ki_index);
    ki_path *path = NULL;
    assert_int_equal(ki_path_compile("spec.image", NULL, &path, NULL), 0);
    assert_int_equal(ki_index_by_path("image", path, &f.alloc.table, &index), 0);
    path = ki_path_unref(path);
    const ki_index *const indexes[] = {&index};
    assert_int_equal(ki_informer_add_indexes(f.informer, indexes, 1, NULL), 0);
    assert_int_equal(count_by(&f, "image", "i2"), 1);
    end(&f);
}

static void keep_and_packed_together(void **state)
{
    (void)state;
    fixture f;
    ki_informer_options options = KI_OPTIONS_INIT(ki_informer_options);
    options.keep = ".metadata.annotations, .status, .spec.nodeName";
    begin(&f, &options);
    f.informer->store->packer->packs_all = true;
    ki_object *stored = ki_informer_get(f.informer, "shop", "web-1");
    ki_value value = ki_object_at(stored, "spec.image");
    ki_str text;
    assert_true(ki_object_is_packed(stored) && ki_object_is_partial(stored));
    assert_int_equal(ki_value_string(&value, &text), KI_ERR_NOT_KEPT);
    assert_true(ki_object_equals(stored, "status.phase", "Running"));
    (void)ki_object_unref(stored);
    put(&f, 1, 2);
    assert_string_equal(f.changes, "added web-1 - n1, updated web-1 n1 n2, ");
    end(&f);
}

static int make_source(const ki_resource *resource, const char *name_space, void *user,
                       ki_source *ret_source, ki_error *error)
{
    (void)resource;
    (void)name_space;
    (void)error;
    fixture *f = user;
    return ki_local_source_table(f->source, ret_source);
}

static void factories_have_a_default(void **state)
{
    (void)state;
    fixture f;
    ki_informer_options options = KI_OPTIONS_INIT(ki_informer_options);
    begin(&f, &options);
    ki_factory *factory = NULL;
    ki_factory_options defaults = KI_OPTIONS_INIT(ki_factory_options);
    defaults.engine = f.engine;
    defaults.make_source = make_source;
    defaults.user = &f;
    defaults.storage = KI_STORAGE_PACKED;
    assert_int_equal(ki_factory_new(&defaults, &factory, NULL), 0);
    ki_informer *shared = NULL;
    ki_informer *plain = NULL;
    ki_informer *unset = NULL;
    ki_informer_options own = KI_OPTIONS_INIT(ki_informer_options);
    assert_int_equal(ki_factory_informer(factory, KI_CORE_V1_PODS, NULL, &shared, NULL), 0);
    assert_int_equal(ki_factory_informer(factory, KI_CORE_V1_PODS, &own, &unset, NULL), 0);
    own.storage = KI_STORAGE_PLAIN;
    assert_int_equal(ki_factory_informer(factory, KI_CORE_V1_PODS, &own, &plain, NULL), 0);
    assert_non_null(shared->store->packer);
    assert_non_null(unset->store->packer);
    assert_null(plain->store->packer);
    own.storage = KI_STORAGE_MAX;
    assert_int_equal(ki_factory_informer(factory, KI_CORE_V1_PODS, &own, &plain, NULL), -EINVAL);
    ki_factory_stop(factory);
    test_world_settle(f.engine);
    (void)ki_factory_unref(factory);
    end(&f);
}

/* ---- opened objects ---- */

enum { MANY = 400 };

static size_t opened(const ki_store *store)
{
    return ki__packer_memory(store->packer).opened;
}

static void many_opened_are_closed_again(void **state)
{
    (void)state;
    fixture f;
    ki_informer_options options = KI_OPTIONS_INIT(ki_informer_options);
    begin(&f, &options);
    for (unsigned i = 2; i <= MANY; i++) {
        put(&f, i, i);
    }
    ki_snapshot *held = ki_store_snapshot(ki_informer_store(f.informer));
    const ki_object *object;
    ki_snapshot_iter iter = ki_snapshot_iter_begin(held);
    ki_str texts[MANY];
    unsigned count = 0;
    while (ki_snapshot_iter_next(&iter, &object) > 0) {
        ki_value value = ki_object_at(object, "spec.nodeName");
        assert_int_equal(ki_value_string(&value, &texts[count++]), 0);
    }
    assert_int_equal(count, MANY);
    size_t all = opened(f.informer->store);
    test_world_settle(f.engine);
    for (unsigned i = 0; i < MANY; i++) { /* what is held stays as it was read */
        char expected[16];
        (void)snprintf(expected, sizeof(expected), "n%u", i + 1);
        assert_str(texts[i], expected);
    }
    held = ki_snapshot_unref(held);
    size_t left = opened(f.informer->store);
    assert_true(left * MANY <= all * KI__PACK_OPENED_MAX * 11 / 10);
    assert_true(left > 0); /* those that were read last */
    ki_object *last = ki_informer_get(f.informer, "shop", "web-400");
    assert_non_null(atomic_load(&ki__packed_of(last)->plain));
    (void)ki_object_unref(last);
    ki_object *first = ki_informer_get(f.informer, "shop", "web-1");
    assert_true(ki_object_is_packed(first));
    assert_null(atomic_load(&ki__packed_of(first)->plain));
    assert_true(node_is(first, 1));
    (void)ki_object_unref(first);
    end(&f);
}

static void a_snapshot_outlives_the_store(void **state)
{
    (void)state;
    test_alloc alloc;
    test_alloc_init(&alloc);
    ki_store_options options = KI_OPTIONS_INIT(ki_store_options);
    options.alloc = &alloc.table;
    options.storage = KI_STORAGE_PACKED;
    ki_store *store = NULL;
    assert_int_equal(ki_store_new(&options, &store, NULL), 0);
    for (unsigned i = 0; i < 3; i++) {
        ki_object *object = pod(&alloc.table, i, i + 1);
        assert_int_equal(ki_store_add(store, object, NULL), 0);
        (void)ki_object_unref(object);
    }
    ki_snapshot *snapshot = ki_store_snapshot(store);
    assert_true(node_is(ki_snapshot_get(snapshot, "shop/web-0"), 1));
    store = ki_store_unref(store);
    assert_true(node_is(ki_snapshot_get(snapshot, "shop/web-0"), 1));
    assert_true(node_is(ki_snapshot_get(snapshot, "shop/web-1"), 2));
    (void)ki_snapshot_unref(snapshot);
    test_alloc_done(&alloc);
}

static ki_store *new_store(const ki_alloc *alloc, uint32_t keep_open)
{
    ki_store *store = NULL;
    ki_store_options options = KI_OPTIONS_INIT(ki_store_options);
    options.alloc = alloc;
    options.storage = KI_STORAGE_PACKED;
    assert_int_equal(ki_store_new(&options, &store, NULL), 0);
    store->packer->keep_open = keep_open;
    return store;
}

static void add(ki_store *store, const ki_alloc *alloc, unsigned number, unsigned version)
{
    ki_object *object = pod(alloc, number, version);
    assert_int_equal(ki_store_add(store, object, NULL), 0);
    (void)ki_object_unref(object);
}

static bool is_open(const ki_object *object)
{
    return atomic_load(&ki__packed_of(object)->plain) != NULL;
}

/* A relist stores the objects that it found unchanged. By then they may have been opened by readers
 * and replaced by closed copies. */
static void an_opened_object_is_stored_closed(void **state)
{
    (void)state;
    test_alloc alloc;
    test_alloc_init(&alloc);
    ki_store *store = new_store(&alloc.table, 1);
    for (unsigned i = 0; i < 3; i++) {
        add(store, &alloc.table, i, i + 1);
    }
    ki_object *found = ki_store_get(store, "shop/web-0");
    ki_object *other = ki_store_get(store, "shop/web-1");
    assert_true(node_is(found, 1) && node_is(other, 2));
    add(store, &alloc.table, 2, 4);
    ki_object *copy = ki_store_get(store, "shop/web-0");
    assert_ptr_not_equal(copy, found);
    assert_int_equal(ki_store_add(store, found, NULL), 0);
    ki_object *stored = ki_store_get(store, "shop/web-0");
    assert_true(ki_object_is_packed(stored));
    assert_false(is_open(stored));
    assert_true(is_open(found));
    assert_int_equal(ki_store_add(store, other, NULL), 0); /* the store has it, and keeps it open */
    ki_object *same = ki_store_get(store, "shop/web-1");
    assert_ptr_equal(same, other);
    const ki_object *all[] = {found, other, copy, stored, same};
    for (size_t i = 0; i < sizeof(all) / sizeof(all[0]); i++) {
        (void)ki_object_unref(all[i]);
    }
    store = ki_store_unref(store);
    test_alloc_done(&alloc);
}

static void an_object_of_another_store_is_packed_again(void **state)
{
    (void)state;
    test_alloc alloc;
    test_alloc_init(&alloc);
    ki_store *first = new_store(&alloc.table, 1);
    ki_store *second = new_store(&alloc.table, 1);
    add(first, &alloc.table, 1, 1);
    ki_object *object = ki_store_get(first, "shop/web-1");
    assert_int_equal(ki_store_add(second, object, NULL), 0);
    ki_object *stored = ki_store_get(second, "shop/web-1");
    assert_ptr_equal(ki__packed_of(stored)->dictionary->packer, second->packer);
    object = ki_object_unref(object);
    first = ki_store_unref(first);
    assert_true(node_is(stored, 1));
    (void)ki_object_unref(stored);
    second = ki_store_unref(second);
    test_alloc_done(&alloc);
}

/* Notes of a batch refer to objects of the transaction until the batch ends. */
static void objects_closed_by_a_commit_outlive_it(void **state)
{
    (void)state;
    test_alloc alloc;
    test_alloc_init(&alloc);
    ki_store *store = new_store(&alloc.table, 1);
    ki_snapshot *before = ki_store_snapshot(store);
    ki_txn *txn = NULL;
    enum { COUNT = 3 };
    const ki_object *held[COUNT];
    assert_int_equal(ki_store_begin(store, &txn, NULL), 0);
    for (unsigned i = 0; i < COUNT; i++) {
        char key[16];
        ki_object *object = pod(&alloc.table, i, i + 1);
        assert_int_equal(ki_txn_add(txn, object, NULL), 0);
        (void)ki_object_unref(object);
        (void)snprintf(key, sizeof(key), "shop/web-%u", i);
        held[i] = ki_txn_get(txn, ki_str_from(key));
        assert_true(node_is(held[i], i + 1));
    }
    ki_txn_commit(txn);
    for (unsigned i = 0; i < COUNT; i++) {
        assert_true(node_is(held[i], i + 1));
    }
    (void)ki_snapshot_unref(before);
    store = ki_store_unref(store);
    test_alloc_done(&alloc);
}

/* ---- dictionaries ---- */

enum { ERAS = 32, PER_ERA = 1500, PHRASES = 50, PHRASE = 40, OF_EACH = 30 };

/* An object of an era, which has phrases of its own. */
static ki_object *phrased(unsigned era, unsigned number)
{
    char json[4096];
    uint64_t choice = (uint64_t)era << 32 | number;
    size_t len = (size_t)snprintf(json, sizeof(json),
                                  "{\"metadata\":{\"name\":\"a%u\"},\"spec\":\"", number);
    for (unsigned i = 0; i < OF_EACH; i++) {
        uint64_t phrase = era * 1000 + test_random(&choice) % PHRASES;
        for (unsigned n = 0; n < PHRASE; n++) {
            json[len++] = (char)('a' + test_random(&phrase) % 26);
        }
    }
    len += (size_t)snprintf(json + len, sizeof(json) - len, "\"}");
    ki_object *object = NULL;
    assert_int_equal(ki_object_from_json(json, len, NULL, &object, NULL), 0);
    return object;
}

static ki_object *pack_phrased(ki__packer *packer, unsigned era, unsigned number)
{
    ki_object *packed = NULL;
    ki_object *object = phrased(era, number);
    assert_int_equal(ki__packer_pack(packer, object, &packed, NULL), 0);
    (void)ki_object_unref(object);
    return packed;
}

static void dictionaries_are_learned_and_bounded(void **state)
{
    (void)state;
    ki__packer *packer = NULL;
    assert_int_equal(ki__packer_new(ki_alloc_default(), &packer, NULL), 0);
    ki_object *kept[ERAS];
    uint32_t most = 0;
    size_t first = 0;
    for (unsigned era = 0; era < ERAS; era++) { /* of each, an object stays */
        for (unsigned n = 0; n < PER_ERA; n++) {
            kept[era] = pack_phrased(packer, era, n);
            first = first != 0 ? first : ki_object_memory(kept[era]);
            if (n + 1 < PER_ERA) {
                (void)ki_object_unref(kept[era]);
            }
        }
        uint32_t count = atomic_load(&packer->dictionaries);
        most = count > most ? count : most;
        if (era == 0) {
            assert_int_equal(count, 1);
            assert_true(ki_object_memory(kept[0]) * 2 < first);
        }
    }
    assert_in_range(most, 2, 4);
    for (unsigned era = 0; era < ERAS; era++) {
        ki_object *object = phrased(era, PER_ERA - 1);
        assert_true(ki_str_eq(ki_object_bytes(kept[era]), ki_object_bytes(object)));
        (void)ki_object_unref(object);
        (void)ki_object_unref(kept[era]);
    }
    ki__packed *newest = ki__packer_take_opened(packer);
    while (newest != NULL) {
        ki__packed *next = newest->next_opened;
        (void)ki_object_unref(ki__packed_object(newest));
        newest = next;
    }
    assert_int_equal(atomic_load(&packer->dictionaries), 1); /* the current one */
    ki__packer_close(packer);
    ki__packer_unref(packer);
}

/* The memory for the first dictionary was missing. */
static void a_dictionary_is_learned_later(void **state)
{
    (void)state;
    test_alloc alloc;
    test_alloc_init(&alloc);
    ki__packer *packer = NULL;
    assert_int_equal(ki__packer_new(&alloc.table, &packer, NULL), 0);
    unsigned n = 0;
    while (packer->sampling && n < PER_ERA) { /* the buffer of samples may have to grow first */
        alloc.fail_at = packer->sample_count + 1 == KI__PACK_SAMPLES ? alloc.calls + 1 + n % 2 : 0;
        (void)ki_object_unref(pack_phrased(packer, 0, n++));
    }
    alloc.fail_at = 0;
    assert_false(packer->sampling);
    assert_int_equal(atomic_load(&packer->dictionaries), 0);
    for (n = 0; n < 10 * PER_ERA && atomic_load(&packer->dictionaries) == 0; n++) {
        (void)ki_object_unref(pack_phrased(packer, 0, n));
    }
    assert_int_equal(atomic_load(&packer->dictionaries), 1);
    ki__packer_close(packer);
    ki__packer_unref(packer);
    test_alloc_done(&alloc);
}

/* ---- memory that runs out ---- */

static int fill_and_read(const ki_alloc *alloc, void *user)
{
    (void)user;
    const ki_index index = {.size = sizeof(index), .name = "node", .values = by_node};
    const ki_index *const indexes[] = {&index};
    ki_store_options options = KI_OPTIONS_INIT(ki_store_options);
    options.alloc = alloc;
    options.storage = KI_STORAGE_PACKED;
    options.indexes = indexes;
    options.index_count = 1;
    ki_store *store = NULL;
    int r = ki_store_new(&options, &store, NULL);
    if (r < 0) {
        return r;
    }
    store->packer->keep_open = 1;
    for (unsigned i = 0; r >= 0 && i < 6; i++) {
        ki_object *object = pod(alloc, i % 3, i + 1);
        r = object != NULL ? ki_store_add(store, object, NULL) : -ENOMEM;
        (void)ki_object_unref(object);
        ki_snapshot *snapshot = ki_store_snapshot(store);
        ki_snapshot_iter iter = ki_snapshot_iter_begin(snapshot);
        const ki_object *stored;
        while (ki_snapshot_iter_next(&iter, &stored) > 0) {
            ki_value value = ki_object_at(stored, "spec.nodeName");
            ki_str text = {0};
            int s = ki_value_string(&value, &text);
            assert_true(s == -ENOMEM ||
                        (s == 0 && ki_str_eq_text(ki_str_make(text.ptr + 1, text.len - 1),
                                                  ki_object_resource_version(stored))));
            r = s < 0 ? s : r;
        }
        (void)ki_snapshot_unref(snapshot);
    }
    (void)ki_store_unref(store);
    return r;
}

static void any_allocation_may_fail(void **state)
{
    (void)state;
    test_alloc_sweep(fill_and_read, NULL);
}

/* ---- threads ---- */

enum { PODS = 40, READERS = 3, ROUNDS = 150 };

typedef struct shared {
    ki_store *store;
    atomic_bool stop;
    atomic_uint failures;
    atomic_uint reads;
} shared;

static void *reader(void *user)
{
    shared *s = user;
    ki_snapshot *kept = NULL;
    for (unsigned n = 0; !atomic_load(&s->stop); n++) {
        kept = ki_store_refresh(s->store, kept);
        ki_snapshot_iter iter = ki_snapshot_iter_begin(kept);
        const ki_object *object;
        while (ki_snapshot_iter_next(&iter, &object) > 0) {
            unsigned version = 0;
            ki_object *plain = NULL;
            (void)sscanf(ki_object_resource_version(object), "%u", &version);
            bool good = node_is(object, version) && ki_object_unpack(object, &plain, NULL) == 0 &&
                        node_is(plain, version);
            (void)ki_object_unref(plain);
            atomic_fetch_add(&s->failures, !good);
            atomic_fetch_add(&s->reads, 1);
        }
        if (n % 4 == 0) {
            kept = ki_snapshot_unref(kept);
        }
    }
    (void)ki_snapshot_unref(kept);
    return NULL;
}

static void readers_and_a_writer(void **state)
{
    (void)state;
    shared s = {0};
    test_alloc alloc;
    test_alloc_init(&alloc);
    ki_store_options options = KI_OPTIONS_INIT(ki_store_options);
    options.alloc = &alloc.table;
    options.storage = KI_STORAGE_PACKED;
    assert_int_equal(ki_store_new(&options, &s.store, NULL), 0);
    s.store->packer->keep_open = 4;
    pthread_t threads[READERS];
    for (int i = 0; i < READERS; i++) {
        assert_int_equal(pthread_create(&threads[i], NULL, reader, &s), 0);
    }
    for (unsigned round = 1; round <= ROUNDS; round++) {
        for (unsigned i = 0; i < PODS; i++) {
            ki_object *object = pod(&alloc.table, i, round);
            assert_int_equal(ki_store_add(s.store, object, NULL), 0);
            (void)ki_object_unref(object);
        }
    }
    atomic_store(&s.stop, true);
    for (int i = 0; i < READERS; i++) {
        assert_int_equal(pthread_join(threads[i], NULL), 0);
    }
    assert_int_equal(atomic_load(&s.failures), 0);
    assert_true(atomic_load(&s.reads) > 0);
    s.store = ki_store_unref(s.store);
    test_alloc_done(&alloc);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(handlers_and_indexes_see_plain_objects),
        cmocka_unit_test(plain_objects_in_queues_count),
        cmocka_unit_test(opened_objects_do_not_use_up_the_limit),
        cmocka_unit_test(late_handlers_and_indexes_too),
        cmocka_unit_test(keep_and_packed_together),
        cmocka_unit_test(factories_have_a_default),
        cmocka_unit_test(many_opened_are_closed_again),
        cmocka_unit_test(a_snapshot_outlives_the_store),
        cmocka_unit_test(an_opened_object_is_stored_closed),
        cmocka_unit_test(an_object_of_another_store_is_packed_again),
        cmocka_unit_test(objects_closed_by_a_commit_outlive_it),
        cmocka_unit_test(dictionaries_are_learned_and_bounded),
        cmocka_unit_test(a_dictionary_is_learned_later),
        cmocka_unit_test(any_allocation_may_fail),
        cmocka_unit_test(readers_and_a_writer),
    };
    return ki__codec_is_built() ? cmocka_run_group_tests(tests, NULL, NULL) : 0;
}
