/* SPDX-License-Identifier: Apache-2.0 */
/* One handler of an informer: what it receives, where, and when that ends.  threads: yes */
#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "base/engine.h"
#include "cache/informer/registration.h"
#include "support/by_value.h"
#include "support/objects.h"
#include "support/test.h"
#include "support/world.h"

/* An owner, as an informer is one, and a handler that writes down what it hears. */
typedef struct fixture {
    test_alloc alloc;
    test_world world;
    ki_engine *engine;
    ki_registration *reg;
    bool owned; /* the owner still has its reference */
    int releases;
    int overs;
    int syncs;
    int destroyed;
    int wakes;
    int reports;
    char heard[256];
    void (*inside)(struct fixture *f); /* done in each callback */
    ki_object *a[4];                   /* in group g */
    ki_object *other;                  /* the same pod in group h */
} fixture;

static void say(fixture *f, const char *what, const ki_object *object)
{
    size_t len = strlen(f->heard);
    int more = snprintf(f->heard + len, sizeof(f->heard) - len, "%s%s ", what,
                        object != NULL ? ki_object_resource_version(object) : "");
    assert_true(more > 0 && len + (size_t)more < sizeof(f->heard));
}

static void hear(fixture *f, const char *what, const ki_object *object)
{
    say(f, what, object);
    if (f->inside != NULL) {
        f->inside(f);
    }
}

static void on_add(const ki_object *object, bool is_initial, void *user)
{
    fixture *f = user;
    hear(f, is_initial ? "*" : "+", object);
}

static void on_update(const ki_object *old_object, const ki_object *object, void *user)
{
    fixture *f = user;
    say(f, "~", old_object);
    f->heard[strlen(f->heard) - 1] = '>';
    hear(f, "", object);
}

static void on_delete(const ki_object *object, bool final_state_unknown, void *user)
{
    fixture *f = user;
    hear(f, final_state_unknown ? "?" : "-", object);
}

static void on_sync(const ki_object *object, void *user)
{
    fixture *f = user;
    hear(f, "=", object);
}

static void on_merged(const ki_object *object, uint64_t merged, void *user)
{
    char text[32];
    (void)snprintf(text, sizeof(text), "(%u)", (unsigned)merged);
    say(user, text, object);
}

static bool in_group_g(const ki_object *object, void *user)
{
    (void)user;
    return ki_object_label_is(object, "group", "g");
}

static void on_synced(void *user)
{
    hear(user, "synced", NULL);
}

static void on_wake(void *user)
{
    ((fixture *)user)->wakes++;
}

static void on_destroy(void *user)
{
    ((fixture *)user)->destroyed++;
}

static void on_removed(ki_registration *registration, void *user)
{
    fixture *f = user;
    assert_true(f->owned);
    f->owned = false;
    (void)ki_registration_unref(registration);
}

static void on_over(void *user)
{
    ((fixture *)user)->overs++;
}

static void on_owner_synced(void *user)
{
    ((fixture *)user)->syncs++;
}

static void on_release(void *user)
{
    ((fixture *)user)->releases++;
}

static ki__registration_owner owner_of(fixture *f)
{
    return (ki__registration_owner){
        .removed = on_removed,
        .synced = on_owner_synced,
        .over = on_over,
        .release = on_release,
        .user = f,
    };
}

static void on_report(const ki_report *report, void *user)
{
    fixture *f = user;
    assert_string_equal(report->component, "handler");
    assert_string_equal(report->name, "test");
    assert_str(report->key, "ns/a");
    f->reports++;
}

static ki_handler handler_of(fixture *f)
{
    return (ki_handler){
        .on_add = on_add,
        .on_update = on_update,
        .on_delete = on_delete,
        .on_sync = on_sync,
        .user = f,
        .destroy = on_destroy,
    };
}

static ki_handler_options options_of(fixture *f, ki_delivery delivery)
{
    ki_handler_options options = KI_OPTIONS_INIT(ki_handler_options);
    options.name = "test";
    options.delivery = delivery;
    options.wake = on_wake;
    options.user = f;
    return options;
}

static void begin_engine(fixture *f)
{
    *f = (fixture){0};
    test_alloc_init(&f->alloc);
    test_world_init(&f->world);
    ki_engine_options options = test_world_engine_options(&f->world, &f->alloc.table);
    options.on_report = on_report;
    options.report_user = f;
    assert_int_equal(ki_engine_new(&options, &f->engine, NULL), 0);
    for (unsigned i = 0; i < 4; i++) {
        f->a[i] = test_pod(NULL, "ns", "a", i, "g");
    }
    f->other = test_pod(NULL, "ns", "a", 9, "h");
}

static void register_it(fixture *f, const ki_handler *handler, const ki_handler_options *options)
{
    ki__registration_owner owner = owner_of(f);
    assert_int_equal(ki__registration_new(f->engine, handler, options, &owner, &f->reg, NULL), 0);
    f->owned = true;
    (void)ki_registration_ref(f->reg); /* one for the owner, one for the test */
}

static void begin(fixture *f, ki_delivery delivery)
{
    begin_engine(f);
    ki_handler handler = handler_of(f);
    ki_handler_options options = options_of(f, delivery);
    register_it(f, &handler, &options);
}

static void end(fixture *f)
{
    if (f->owned) {
        ki__registration_stop(f->reg);
        (void)ki_registration_unref(f->reg);
    }
    assert_int_equal(f->overs, 1);
    assert_int_equal(f->destroyed, 1);
    assert_int_equal(f->releases, 0);
    f->reg = ki_registration_unref(f->reg);
    test_world_settle(f->engine);
    assert_int_equal(f->releases, 1);
    (void)ki_engine_unref(f->engine);
    for (unsigned i = 0; i < 4; i++) {
        (void)ki_object_unref(f->a[i]);
    }
    (void)ki_object_unref(f->other);
    test_alloc_done(&f->alloc);
}

static void wake_if(fixture *f, bool wake)
{
    if (wake) {
        ki__registration_wake(f->reg);
    }
}

/* A notification that is not shared. */
static void push(fixture *f, ki__note_type type, const ki_object *old, const ki_object *object)
{
    ki__note note = {.type = (uint8_t)type, .old = old, .object = object};
    ki__applier applier = {.alloc = &f->alloc.table, .notes = &note, .note_count = 1};
    if (type == KI__NOTE_SYNC) { /* it takes part in resyncs from now on */
        ki__registration_entry_of(f->reg)->syncing = true;
    }
    assert_int_equal(ki__registration_reserve_batch(f->reg, &applier, NULL), 0);
    wake_if(f, ki__registration_push_batch(f->reg, &applier, NULL));
}

static void expect(fixture *f, const char *want)
{
    assert_string_equal(f->heard, want);
    f->heard[0] = '\0';
}

static void events_come_in_order_inside_the_engine(void **state)
{
    (void)state;
    fixture f;
    begin(&f, KI_DELIVERY_DEFAULT);
    push(&f, KI__NOTE_ADD, NULL, f.a[0]);
    push(&f, KI__NOTE_UPDATE, f.a[0], f.a[1]);
    push(&f, KI__NOTE_SYNC, NULL, f.a[1]);
    push(&f, KI__NOTE_DELETE, f.a[1], f.a[2]);
    expect(&f, "");
    assert_int_equal(test_registration_stats(f.reg).waiting, 4);
    test_world_settle(f.engine);
    expect(&f, "+0 ~0>1 =1 -2 ");
    ki_registration_stats stats = test_registration_stats(f.reg);
    assert_int_equal(stats.delivered, 4);
    assert_int_equal(stats.waiting, 0);
    assert_int_equal(f.wakes, 0); /* that hook is for callers who dispatch */
    assert_int_equal(ki_registration_dispatch(f.reg, 0), KI_ERR_UNSUPPORTED);
    assert_int_equal(ki_registration_run(f.reg), KI_ERR_UNSUPPORTED);
    end(&f);
}

static void a_long_queue_takes_turns_with_the_rest_of_the_engine(void **state)
{
    (void)state;
    fixture f;
    begin(&f, KI_DELIVERY_LOOP);
    for (unsigned i = 0; i < 100; i++) {
        push(&f, KI__NOTE_SYNC, NULL, f.a[0]);
        f.heard[0] = '\0';
    }
    assert_int_equal(ki_engine_run(f.engine, 1), 1);
    assert_in_range(test_registration_stats(f.reg).waiting, 1, 99);
    f.heard[0] = '\0';
    test_world_settle(f.engine);
    assert_int_equal(test_registration_stats(f.reg).delivered, 100);
    end(&f);
}

static void a_caller_dispatches_when_it_wants_and_is_woken_once(void **state)
{
    (void)state;
    fixture f;
    begin(&f, KI_DELIVERY_CALLER);
    assert_int_equal(ki_registration_dispatch(f.reg, 0), 0);
    push(&f, KI__NOTE_ADD, NULL, f.a[0]);
    push(&f, KI__NOTE_UPDATE, f.a[0], f.a[1]);
    assert_int_equal(f.wakes, 1);
    test_world_settle(f.engine);
    expect(&f, "");
    assert_int_equal(ki_registration_dispatch(f.reg, 1), 1);
    expect(&f, "+0 ");
    assert_int_equal(f.wakes, 2); /* something was left */
    assert_int_equal(ki_registration_dispatch(f.reg, 0), 1);
    expect(&f, "~0>1 ");
    assert_int_equal(f.wakes, 2);
    push(&f, KI__NOTE_DELETE, f.a[1], f.a[1]);
    assert_int_equal(f.wakes, 3);
    ki_registration_remove(f.reg);
    assert_int_equal(ki_registration_dispatch(f.reg, 0), KI_ERR_STOPPED);
    expect(&f, ""); /* what waited is not delivered any more */
    end(&f);
}

static void a_filter_turns_changes_into_coming_and_going(void **state)
{
    (void)state;
    fixture f;
    begin_engine(&f);
    ki_handler handler = handler_of(&f);
    handler.filter = in_group_g;
    ki_handler_options options = options_of(&f, KI_DELIVERY_LOOP);
    register_it(&f, &handler, &options);
    push(&f, KI__NOTE_ADD, NULL, f.other);
    push(&f, KI__NOTE_UPDATE, f.other, f.a[1]);
    push(&f, KI__NOTE_UPDATE, f.a[1], f.a[2]);
    push(&f, KI__NOTE_UPDATE, f.a[2], f.other);
    push(&f, KI__NOTE_UPDATE, f.other, f.other);
    push(&f, KI__NOTE_SYNC, NULL, f.other);
    push(&f, KI__NOTE_DELETE, f.other, f.a[3]); /* it did not know of it */
    push(&f, KI__NOTE_ADD, NULL, f.a[0]);
    push(&f, KI__NOTE_DELETE, f.a[0], f.other); /* it did of this */
    test_world_settle(f.engine);
    expect(&f, "+1 ~1>2 -2 +0 -9 ");
    end(&f);
}

static void without_on_sync_a_resync_is_an_update_to_itself(void **state)
{
    (void)state;
    fixture f;
    begin_engine(&f);
    ki_handler handler = handler_of(&f);
    handler.on_sync = NULL;
    ki_handler_options options = options_of(&f, KI_DELIVERY_LOOP);
    register_it(&f, &handler, &options);
    push(&f, KI__NOTE_SYNC, NULL, f.a[1]);
    test_world_settle(f.engine);
    expect(&f, "~1>1 ");
    end(&f);
}

static void callbacks_may_all_be_missing(void **state)
{
    (void)state;
    fixture f;
    begin_engine(&f);
    ki_handler handler = {.user = &f, .destroy = on_destroy};
    register_it(&f, &handler, NULL);
    push(&f, KI__NOTE_ADD, NULL, f.a[0]);
    push(&f, KI__NOTE_UPDATE, f.a[0], f.a[1]);
    push(&f, KI__NOTE_SYNC, NULL, f.a[1]);
    push(&f, KI__NOTE_DELETE, f.a[1], f.a[1]);
    test_world_settle(f.engine);
    assert_int_equal(test_registration_stats(f.reg).delivered, 4);
    end(&f);
}

/* ---- batches ---- */

static void push_batch(fixture *f, ki__note *list, size_t count)
{
    ki__applier applier = {.alloc = &f->alloc.table, .notes = list, .note_count = count};
    ki__notes *notes = NULL;
    assert_int_equal(ki__notes_new(&applier, &notes), 0);
    assert_int_equal(ki__registration_reserve_batch(f->reg, &applier, notes), 0);
    wake_if(f, ki__registration_push_batch(f->reg, &applier, notes));
    (void)ki__notes_unref(notes);
}

static void push_three(fixture *f)
{
    ki__note list[] = {
        {.type = KI__NOTE_ADD, .object = f->a[0]},
        {.type = KI__NOTE_UPDATE, .old = f->a[0], .object = f->a[1]},
        {.type = KI__NOTE_DELETE, .old = f->a[1], .object = f->a[2]},
    };
    push_batch(f, list, 3);
}

static void a_shared_batch_is_delivered_in_order(void **state)
{
    (void)state;
    fixture f;
    begin(&f, KI_DELIVERY_LOOP);
    push_three(&f);
    push(&f, KI__NOTE_ADD, NULL, f.a[3]); /* and one that is not */
    push_three(&f);
    assert_int_equal(test_registration_stats(f.reg).waiting, 7);
    test_world_settle(f.engine);
    expect(&f, "+0 ~0>1 -2 +3 +0 ~0>1 -2 ");
    assert_int_equal(test_registration_stats(f.reg).delivered, 7);
    end(&f);
}

static void unchanged_objects_of_a_batch_are_for_those_who_asked(void **state)
{
    (void)state;
    for (int asked = 0; asked < 2; asked++) {
        fixture f;
        begin_engine(&f);
        ki_handler handler = handler_of(&f);
        ki_handler_options options = options_of(&f, KI_DELIVERY_LOOP);
        options.deliver_unchanged = asked != 0;
        register_it(&f, &handler, &options);
        ki__note list[] = {
            {.type = KI__NOTE_ADD, .object = f.a[0]},
            {.type = KI__NOTE_UPDATE, .old = f.a[0], .object = f.a[0], .same_version = true},
            {.type = KI__NOTE_SYNC, .old = f.a[0], .object = f.a[0]},
        };
        push_batch(&f, list, 3);
        test_world_settle(f.engine);
        expect(&f, asked != 0 ? "+0 ~0>0 " : "+0 ");
        end(&f);
    }
}

static void a_dispatch_of_few_takes_no_more_of_a_batch(void **state)
{
    (void)state;
    fixture f;
    begin(&f, KI_DELIVERY_CALLER);
    push_three(&f);
    assert_int_equal(f.wakes, 1);
    assert_int_equal(ki_registration_dispatch(f.reg, 2), 2);
    expect(&f, "+0 ~0>1 ");
    assert_int_equal(f.wakes, 2);
    assert_int_equal(test_registration_stats(f.reg).waiting, 1);
    assert_int_equal(ki_registration_dispatch(f.reg, 0), 1);
    expect(&f, "-2 ");
    end(&f);
}

static void check_two_wait(fixture *f)
{
    ki_registration_stats stats = test_registration_stats(f->reg);
    assert_int_equal(stats.waiting, 2);
    assert_int_equal(stats.delivered, 0);
    f->inside = NULL;
}

static void what_is_in_hand_still_counts_as_waiting(void **state)
{
    (void)state;
    fixture f;
    begin(&f, KI_DELIVERY_LOOP);
    f.inside = check_two_wait;
    push_three(&f);
    test_world_settle(f.engine);
    assert_null(f.inside);
    assert_int_equal(test_registration_stats(f.reg).waiting, 0);
    end(&f);
}

/* ---- having synced ---- */

static void check_not_synced(fixture *f)
{
    assert_false(ki_registration_has_synced(f->reg));
}

static ki_snapshot *snapshot_of(fixture *f)
{
    ki_store *store;
    assert_int_equal(ki_store_new(NULL, &store, NULL), 0);
    ki_object *b = test_pod(NULL, "ns", "b", 7, "g");
    assert_int_equal(ki_store_add(store, f->a[0], NULL), 0);
    assert_int_equal(ki_store_add(store, b, NULL), 0);
    (void)ki_object_unref(b);
    ki_snapshot *snapshot = ki_store_snapshot(store);
    (void)ki_store_unref(store);
    return snapshot;
}

static void synced_means_that_every_initial_callback_has_returned(void **state)
{
    (void)state;
    fixture f;
    begin_engine(&f);
    ki_handler handler = handler_of(&f);
    ki_handler_options options = options_of(&f, KI_DELIVERY_CALLER);
    options.on_synced = on_synced;
    register_it(&f, &handler, &options);
    assert_true(ki__registration_is_fresh(f.reg));
    wake_if(&f, ki__registration_begin(f.reg, snapshot_of(&f)));
    assert_int_equal(f.wakes, 1);
    assert_false(ki__registration_is_fresh(f.reg));
    push(&f, KI__NOTE_UPDATE, f.a[0], f.a[1]);
    f.inside = check_not_synced;
    assert_int_equal(ki_registration_dispatch(f.reg, 2), 2);
    expect(&f, "*0 *7 ");
    check_not_synced(&f); /* the informer has not */
    f.inside = NULL;
    wake_if(&f, ki__registration_owner_synced(f.reg));
    assert_true(ki_registration_has_synced(f.reg));
    assert_int_equal(ki_registration_dispatch(f.reg, 0), 2);
    assert_int_equal(f.syncs, 0); /* the owner knew */
    expect(&f, "synced ~0>1 ");
    assert_int_equal(ki_registration_dispatch(f.reg, 0), 0); /* delivered once */
    end(&f);
}

static void the_last_initial_callback_is_not_synced_while_it_runs(void **state)
{
    (void)state;
    fixture f;
    begin(&f, KI_DELIVERY_LOOP);
    wake_if(&f, ki__registration_begin(f.reg, snapshot_of(&f)));
    assert_false(ki__registration_owner_synced(f.reg)); /* it was woken already */
    f.inside = check_not_synced;
    assert_int_equal(f.syncs, 0);
    test_world_settle(f.engine);
    expect(&f, "*0 *7 ");
    assert_int_equal(f.syncs, 1);
    assert_true(ki_registration_has_synced(f.reg));
    ki_registration_remove(f.reg);
    assert_true(ki_registration_has_synced(f.reg)); /* stays true */
    end(&f);
}

static void with_an_empty_store_it_syncs_at_once_and_is_notified(void **state)
{
    (void)state;
    fixture f;
    begin_engine(&f);
    ki_handler handler = handler_of(&f);
    ki_handler_options options = options_of(&f, KI_DELIVERY_LOOP);
    options.on_synced = on_synced;
    register_it(&f, &handler, &options);
    wake_if(&f, ki__registration_owner_synced(f.reg));
    test_world_settle(f.engine);
    expect(&f, "synced ");
    assert_int_equal(f.syncs, 0); /* the owner knew */
    end(&f);
}

/* ---- removing ---- */

static void remove_myself(fixture *f)
{
    f->inside = NULL;
    ki_registration_remove(f->reg);
    ki_registration_remove(f->reg);
    assert_int_equal(ki_registration_remove_wait(f->reg), KI_ERR_BUSY);
    assert_int_equal(f->destroyed, 0); /* not while it runs */
    assert_false(f->owned);
}

static void a_handler_may_remove_itself_and_hears_no_more(void **state)
{
    (void)state;
    fixture f;
    begin(&f, KI_DELIVERY_LOOP);
    f.inside = remove_myself;
    push(&f, KI__NOTE_ADD, NULL, f.a[0]);
    push(&f, KI__NOTE_DELETE, f.a[0], f.a[0]);
    test_world_settle(f.engine);
    expect(&f, "+0 ");
    assert_int_equal(f.destroyed, 1);
    assert_int_equal(ki_registration_remove_wait(f.reg), 0); /* is over already */
    end(&f);
}

static void who_removes_itself_in_a_batch_hears_no_more_of_it(void **state)
{
    (void)state;
    fixture f;
    begin(&f, KI_DELIVERY_CALLER);
    f.inside = remove_myself;
    push_three(&f);
    assert_int_equal(ki_registration_dispatch(f.reg, 0), 1);
    expect(&f, "+0 ");
    assert_int_equal(f.destroyed, 1);
    ki_registration_stats stats = test_registration_stats(f.reg);
    assert_int_equal(stats.delivered, 1);
    assert_int_equal(stats.waiting, 0);
    push_three(&f); /* and nothing of a later one */
    expect(&f, "");
    end(&f);
}

static void dispatch_inside(fixture *f)
{
    f->inside = NULL;
    assert_int_equal(ki_registration_dispatch(f->reg, 0), KI_ERR_BUSY);
}

static void dispatching_inside_a_callback_is_refused(void **state)
{
    (void)state;
    fixture f;
    begin(&f, KI_DELIVERY_CALLER);
    f.inside = dispatch_inside;
    push(&f, KI__NOTE_ADD, NULL, f.a[0]);
    assert_int_equal(ki_registration_dispatch(f.reg, 0), 1);
    assert_null(f.inside);
    end(&f);
}

static void push_and_dispatch_inside(fixture *f)
{
    f->inside = NULL;
    push(f, KI__NOTE_UPDATE, f->a[0], f->a[1]);
    assert_int_equal(f->wakes, 2);
    dispatch_inside(f); /* what a nested main loop does when it is woken */
    push(f, KI__NOTE_UPDATE, f->a[1], f->a[2]);
    assert_int_equal(f->wakes, 2); /* it would only be refused again */
}

static void a_refused_dispatch_does_not_consume_the_wake_up(void **state)
{
    (void)state;
    fixture f;
    begin(&f, KI_DELIVERY_CALLER);
    f.inside = push_and_dispatch_inside;
    push(&f, KI__NOTE_ADD, NULL, f.a[0]);
    assert_int_equal(f.wakes, 1);
    assert_int_equal(ki_registration_dispatch(f.reg, 1), 1);
    assert_int_equal(f.wakes, 3); /* for the two events left */
    assert_int_equal(ki_registration_dispatch(f.reg, 0), 2);
    expect(&f, "+0 ~0>1 ~1>2 ");
    f.inside = dispatch_inside; /* with nothing left */
    push(&f, KI__NOTE_UPDATE, f.a[2], f.a[3]);
    assert_int_equal(ki_registration_dispatch(f.reg, 0), 1);
    assert_int_equal(f.wakes, 4);
    push(&f, KI__NOTE_DELETE, f.a[3], f.a[3]);
    assert_int_equal(f.wakes, 5);
    assert_int_equal(ki_registration_dispatch(f.reg, 0), 1);
    end(&f);
}

static void what_comes_after_the_removal_is_forgotten(void **state)
{
    (void)state;
    fixture f;
    begin(&f, KI_DELIVERY_LOOP);
    push(&f, KI__NOTE_ADD, NULL, f.a[0]); /* its task is posted, and finds nothing to do */
    ki__registration_stop(f.reg);
    assert_int_equal(f.destroyed, 1);
    assert_true(f.owned); /* stop is the owner's own doing */
    push(&f, KI__NOTE_ADD, NULL, f.a[0]);
    assert_false(ki__registration_begin(f.reg, snapshot_of(&f)));
    test_world_settle(f.engine);
    expect(&f, "");
    end(&f);
}

static void bad_options_are_refused(void **state)
{
    (void)state;
    fixture f;
    begin(&f, KI_DELIVERY_LOOP);
    ki_handler handler = handler_of(&f);
    ki_handler_options options = options_of(&f, (ki_delivery)77);
    ki__registration_owner owner = owner_of(&f);
    ki_registration *reg = NULL;
    assert_int_equal(ki__registration_new(f.engine, &handler, &options, &owner, &reg, NULL),
                     -EINVAL);
    char name[400];
    memset(name, 'n', sizeof(name) - 1);
    name[sizeof(name) - 1] = '\0';
    options = options_of(&f, KI_DELIVERY_LOOP);
    options.name = name;
    assert_int_equal(ki__registration_new(f.engine, &handler, &options, &owner, &reg, NULL),
                     KI_ERR_LIMIT);
    assert_null(reg);
    end(&f);
}

/* ---- threads ---- */

typedef struct threads {
    fixture *f;
    pthread_mutex_t lock;
    pthread_cond_t changed;
    bool inside; /* a callback is running */
    bool may_end;
    bool removed; /* remove_wait has returned */
    int result;
} threads;

static void set(threads *t, bool *flag)
{
    pthread_mutex_lock(&t->lock);
    *flag = true;
    pthread_cond_broadcast(&t->changed);
    pthread_mutex_unlock(&t->lock);
}

static void wait_for(threads *t, const bool *flag)
{
    pthread_mutex_lock(&t->lock);
    while (!*flag) {
        pthread_cond_wait(&t->changed, &t->lock);
    }
    pthread_mutex_unlock(&t->lock);
}

static void block_in_add(const ki_object *object, bool is_initial, void *user)
{
    threads *t = user;
    (void)object;
    (void)is_initial;
    set(t, &t->inside);
    wait_for(t, &t->may_end);
    assert_false(t->removed);
}

static void *run_thread(void *user)
{
    threads *t = user;
    t->result = ki_registration_run(t->f->reg);
    return NULL;
}

static void *remove_thread(void *user)
{
    threads *t = user;
    assert_int_equal(ki_registration_remove_wait(t->f->reg), 0);
    set(t, &t->removed);
    return NULL;
}

static void removing_and_waiting_returns_after_the_running_callback(void **state)
{
    (void)state;
    fixture f;
    begin_engine(&f);
    threads t = {.f = &f};
    pthread_mutex_init(&t.lock, NULL);
    pthread_cond_init(&t.changed, NULL);
    ki_handler handler = {.on_add = block_in_add, .user = &t};
    ki_handler_options options = options_of(&f, KI_DELIVERY_CALLER);
    register_it(&f, &handler, &options);
    pthread_t runner;
    pthread_t remover;
    assert_int_equal(pthread_create(&runner, NULL, run_thread, &t), 0);
    push(&f, KI__NOTE_ADD, NULL, f.a[0]); /* wakes the thread, whether it waits already or not */
    wait_for(&t, &t.inside);
    assert_int_equal(ki_registration_dispatch(f.reg, 0), KI_ERR_BUSY);
    assert_int_equal(pthread_create(&remover, NULL, remove_thread, &t), 0);
    set(&t, &t.may_end);
    pthread_join(remover, NULL);
    pthread_join(runner, NULL);
    assert_int_equal(t.result, KI_ERR_STOPPED);
    assert_false(f.owned);
    f.destroyed = 1; /* this handler has no destroy function */
    pthread_cond_destroy(&t.changed);
    pthread_mutex_destroy(&t.lock);
    end(&f);
}

static void push_once_more(const ki_object *object, bool is_initial, void *user)
{
    threads *t = user;
    (void)is_initial;
    if (strcmp(ki_object_resource_version(object), "0") == 0) {
        push(t->f, KI__NOTE_ADD, NULL, t->f->a[1]);
        return;
    }
    set(t, strcmp(ki_object_resource_version(object), "1") == 0 ? &t->inside : &t->may_end);
}

static void a_thread_that_runs_is_woken_each_time_it_waits(void **state)
{
    (void)state;
    fixture f;
    begin_engine(&f);
    threads t = {.f = &f};
    pthread_mutex_init(&t.lock, NULL);
    pthread_cond_init(&t.changed, NULL);
    ki_handler handler = {.on_add = push_once_more, .user = &t};
    ki_handler_options options = options_of(&f, KI_DELIVERY_CALLER);
    options.wake = NULL;
    register_it(&f, &handler, &options);
    pthread_t runner;
    assert_int_equal(pthread_create(&runner, NULL, run_thread, &t), 0);
    push(&f, KI__NOTE_ADD, NULL, f.a[0]); /* leads to another during its delivery */
    wait_for(&t, &t.inside);
    struct timespec time = {.tv_nsec = 20000000};
    (void)nanosleep(&time, NULL); /* most likely it waits by now */
    push(&f, KI__NOTE_ADD, NULL, f.a[2]);
    wait_for(&t, &t.may_end);
    assert_int_equal(ki_registration_remove_wait(f.reg), 0);
    pthread_join(runner, NULL);
    assert_int_equal(t.result, KI_ERR_STOPPED);
    f.destroyed = 1;
    pthread_cond_destroy(&t.changed);
    pthread_mutex_destroy(&t.lock);
    end(&f);
}

static void what_had_synced_stays_so_though_it_is_removed(void **state)
{
    (void)state;
    fixture f;
    begin(&f, KI_DELIVERY_CALLER);
    wake_if(&f, ki__registration_owner_synced(f.reg));
    ki_registration_remove(f.reg);
    assert_true(ki_registration_has_synced(f.reg));
    end(&f);
}

static void a_queue_keeps_about_a_thousand_if_nobody_says_otherwise(void **state)
{
    (void)state;
    fixture f;
    begin(&f, KI_DELIVERY_CALLER);
    for (unsigned i = 0; i < 3000; i++) {
        push(&f, KI__NOTE_UPDATE, f.a[0], f.a[0]);
    }
    assert_int_equal(test_registration_stats(f.reg).waiting, 1024);
    assert_int_equal(test_registration_stats(f.reg).merged, 3000 - 1024);
    end(&f);
}

/* A handler for one waiting event, with `on_merged` beside the others. */
static void begin_merging(fixture *f, bool filtered)
{
    begin_engine(f);
    ki_handler handler = handler_of(f);
    handler.on_merged = on_merged;
    handler.filter = filtered ? in_group_g : NULL;
    ki_handler_options options = options_of(f, KI_DELIVERY_CALLER);
    options.queue_limit = 1;
    register_it(f, &handler, &options);
}

static void a_handler_receives_the_number_of_merged_events(void **state)
{
    (void)state;
    fixture f;
    begin_merging(&f, false);
    push(&f, KI__NOTE_ADD, NULL, f.a[0]);
    push(&f, KI__NOTE_UPDATE, f.a[0], f.a[1]);
    push(&f, KI__NOTE_UPDATE, f.a[1], f.a[2]);
    assert_int_equal(ki_registration_dispatch(f.reg, 0), 1);
    expect(&f, "(2)2 +2 ");
    push(&f, KI__NOTE_UPDATE, f.a[2], f.a[3]);
    assert_int_equal(ki_registration_dispatch(f.reg, 0), 1);
    expect(&f, "~2>3 ");
    push(&f, KI__NOTE_SYNC, NULL, f.a[3]);
    push(&f, KI__NOTE_SYNC, NULL, f.a[3]);
    assert_int_equal(ki_registration_dispatch(f.reg, 0), 1);
    expect(&f, "(1)3 =3 ");
    push(&f, KI__NOTE_UPDATE, f.a[3], f.a[1]);
    push(&f, KI__NOTE_DELETE, f.a[1], f.a[2]);
    assert_int_equal(ki_registration_dispatch(f.reg, 0), 1);
    expect(&f, "(1)2 -2 ");
    assert_int_equal(test_registration_stats(f.reg).merged, 4);
    end(&f);
}

static void cancelled_out_events_are_counted_with_the_next_event(void **state)
{
    (void)state;
    fixture f;
    begin_merging(&f, false);
    push(&f, KI__NOTE_ADD, NULL, f.a[0]);
    push(&f, KI__NOTE_UPDATE, f.a[0], f.a[1]);
    push(&f, KI__NOTE_DELETE, f.a[1], f.a[2]);
    assert_int_equal(ki_registration_dispatch(f.reg, 0), 0);
    expect(&f, "");
    push(&f, KI__NOTE_ADD, NULL, f.a[3]);
    assert_int_equal(ki_registration_dispatch(f.reg, 0), 1);
    expect(&f, "(3) +3 ");
    push(&f, KI__NOTE_UPDATE, f.a[3], f.a[0]);
    assert_int_equal(ki_registration_dispatch(f.reg, 0), 1);
    expect(&f, "~3>0 "); /* each is delivered once */
    end(&f);
}

static void what_a_filter_hides_is_no_merged_event_either(void **state)
{
    (void)state;
    fixture f;
    begin_merging(&f, true);
    push(&f, KI__NOTE_ADD, NULL, f.other);
    push(&f, KI__NOTE_UPDATE, f.other, f.other);
    assert_int_equal(ki_registration_dispatch(f.reg, 0), 1);
    expect(&f, "");
    push(&f, KI__NOTE_UPDATE, f.other, f.a[1]);
    push(&f, KI__NOTE_UPDATE, f.a[1], f.a[2]);
    assert_int_equal(ki_registration_dispatch(f.reg, 0), 1);
    expect(&f, "(1)2 +2 ");
    push(&f, KI__NOTE_UPDATE, f.a[2], f.a[3]);
    push(&f, KI__NOTE_UPDATE, f.a[3], f.other);
    assert_int_equal(ki_registration_dispatch(f.reg, 0), 1);
    expect(&f, "(1)2 -2 "); /* of the object that the next call is about */
    end(&f);
}

/* A handler on a thread of its own, that checks that each update begins where the last ended. */
typedef struct follower {
    ki_registration *reg;
    const ki_object *last;
    uint64_t delivered;
} follower;

static void follow_add(const ki_object *object, bool is_initial, void *user)
{
    follower *w = user;
    (void)is_initial;
    assert_null(w->last);
    w->last = object;
    w->delivered++;
}

static void follow_update(const ki_object *old_object, const ki_object *object, void *user)
{
    follower *w = user;
    assert_ptr_equal(w->last, old_object);
    w->last = object;
    w->delivered++;
}

static void *follow(void *user)
{
    follower *w = user;
    assert_int_equal(ki_registration_run(w->reg), KI_ERR_STOPPED);
    return NULL;
}

static void a_thread_follows_while_more_comes(void **state)
{
    (void)state;
    enum { BATCHES = 3000 };
    fixture f;
    begin_engine(&f);
    follower w = {0};
    ki_handler handler = {.on_add = follow_add, .on_update = follow_update, .user = &w};
    ki_handler_options options = options_of(&f, KI_DELIVERY_CALLER);
    options.queue_limit = 20; /* now it keeps up, now it does not */
    register_it(&f, &handler, &options);
    w.reg = f.reg;
    pthread_t thread;
    assert_int_equal(pthread_create(&thread, NULL, follow, &w), 0);
    ki__note first = {.type = KI__NOTE_ADD, .object = f.a[0]};
    push_batch(&f, &first, 1);
    for (unsigned i = 0; i < BATCHES; i++) {
        ki__note list[2];
        for (unsigned n = 0; n < 2; n++) {
            list[n] = (ki__note){.type = KI__NOTE_UPDATE,
                                 .old = f.a[(2 * i + n) % 4],
                                 .object = f.a[(2 * i + n + 1) % 4]};
        }
        push_batch(&f, list, 2);
    }
    ki_registration_stats stats = {0};
    do {
        stats = test_registration_stats(f.reg);
    } while (stats.delivered + stats.merged != 1 + 2 * BATCHES);
    assert_int_equal(ki_registration_remove_wait(f.reg), 0);
    pthread_join(thread, NULL);
    assert_ptr_equal(w.last, f.a[2 * BATCHES % 4]);
    assert_int_equal(w.delivered, stats.delivered);
    f.destroyed = 1; /* this handler has no destroy function */
    end(&f);
}

/* ---- the ends of life ---- */

static void remove_in_wake(void *user)
{
    fixture *f = user;
    f->wakes++;
    if (f->wakes == 1) {
        ki_registration_remove(f->reg);
        assert_int_equal(ki_registration_remove_wait(f->reg), KI_ERR_BUSY);
        assert_int_equal(f->destroyed, 0); /* this is a call of the handler, too */
    }
}

static void the_handler_is_not_destroyed_while_its_wake_runs(void **state)
{
    (void)state;
    fixture f;
    begin_engine(&f);
    ki_handler handler = handler_of(&f);
    ki_handler_options options = options_of(&f, KI_DELIVERY_CALLER);
    options.wake = remove_in_wake;
    register_it(&f, &handler, &options);
    push(&f, KI__NOTE_ADD, NULL, f.a[0]);
    assert_int_equal(f.wakes, 1);
    assert_int_equal(f.destroyed, 1);
    assert_int_equal(ki_registration_remove_wait(f.reg), 0);
    push(&f, KI__NOTE_ADD, NULL, f.a[0]);
    assert_int_equal(f.wakes, 1);
    end(&f);
}

static void destroy_and_ask(void *user)
{
    fixture *f = user;
    f->destroyed++;
    ki_registration_remove(f->reg);
    assert_int_equal(ki_registration_remove_wait(f->reg), KI_ERR_BUSY);
    assert_int_equal(ki_registration_dispatch(f->reg, 0), KI_ERR_STOPPED);
    assert_int_equal(ki_registration_run(f->reg), KI_ERR_STOPPED);
    assert_false(ki_registration_has_synced(f->reg));
    assert_int_equal(test_registration_stats(f->reg).waiting, 0);
}

static void destroy_may_call_everything(void **state)
{
    (void)state;
    fixture f;
    begin_engine(&f);
    ki_handler handler = handler_of(&f);
    handler.destroy = destroy_and_ask;
    ki_handler_options options = options_of(&f, KI_DELIVERY_CALLER);
    register_it(&f, &handler, &options);
    push(&f, KI__NOTE_ADD, NULL, f.a[0]);
    assert_int_equal(ki_registration_remove_wait(f.reg), 0);
    end(&f);
}

static void check_owner_knows(fixture *f)
{
    size_t len = strlen(f->heard);
    if (f->heard[len - 2] != '7') { /* all but the last initial one */
        assert_int_equal(f->syncs, strchr(f->heard, '~') != NULL);
    }
}

static void waiting_for_sync_does_not_include_later_events(void **state)
{
    (void)state;
    fixture f;
    begin(&f, KI_DELIVERY_CALLER);
    wake_if(&f, ki__registration_begin(f.reg, snapshot_of(&f)));
    wake_if(&f, ki__registration_owner_synced(f.reg));
    push(&f, KI__NOTE_UPDATE, f.a[0], f.a[1]);
    push(&f, KI__NOTE_UPDATE, f.a[1], f.a[2]);
    f.inside = check_owner_knows;
    assert_int_equal(ki_registration_dispatch(f.reg, 0), 4);
    expect(&f, "*0 *7 ~0>1 ~1>2 ");
    assert_int_equal(f.syncs, 1);
    end(&f);
}

static void push_another(fixture *f)
{
    f->heard[0] = '\0';
    push(f, KI__NOTE_SYNC, NULL, f->a[0]);
}

static void dispatching_all_comes_to_an_end_though_more_comes(void **state)
{
    (void)state;
    fixture f;
    begin(&f, KI_DELIVERY_CALLER);
    push(&f, KI__NOTE_ADD, NULL, f.a[0]);
    push(&f, KI__NOTE_SYNC, NULL, f.a[0]);
    f.inside = push_another;
    assert_in_range(ki_registration_dispatch(f.reg, 0), 2, 3);
    assert_in_range(test_registration_stats(f.reg).waiting, 1, 3);
    f.inside = NULL;
    end(&f);
}

static void one_that_is_removed_leaves_nothing_in_the_engine(void **state)
{
    (void)state;
    fixture f;
    begin(&f, KI_DELIVERY_LOOP);
    push(&f, KI__NOTE_ADD, NULL, f.a[0]);
    assert_int_equal(ki_engine_deadline(f.engine), 0);
    ki_registration_remove(f.reg);
    assert_int_equal(ki_engine_deadline(f.engine), UINT64_MAX);
    f.reg = ki_registration_unref(f.reg);
    assert_int_equal(f.releases, 1); /* nobody has to run the engine for that */
    (void)ki_engine_unref(f.engine);
    for (unsigned i = 0; i < 4; i++) {
        (void)ki_object_unref(f.a[i]);
    }
    (void)ki_object_unref(f.other);
    test_alloc_done(&f.alloc);
}

static int scenario(const ki_alloc *alloc, void *user)
{
    (void)user;
    fixture f = {0};
    test_world_init(&f.world);
    ki_engine_options engine_options = test_world_engine_options(&f.world, alloc);
    int r = ki_engine_new(&engine_options, &f.engine, NULL);
    if (r < 0) {
        return r;
    }
    ki_handler handler = handler_of(&f);
    ki_handler_options options = options_of(&f, KI_DELIVERY_LOOP);
    options.queue_limit = 1;
    ki__registration_owner owner = owner_of(&f);
    r = ki__registration_new(f.engine, &handler, &options, &owner, &f.reg, NULL);
    if (r == 0) {
        f.owned = true;
        ki_object *a = test_pod(NULL, "ns", "a", 1, "g");
        ki__note list[20];
        for (unsigned i = 0; i < 20; i++) {
            list[i] = (ki__note){.type = KI__NOTE_SYNC, .object = a};
        }
        ki__applier applier = {.alloc = alloc, .notes = list, .note_count = 20};
        ki__registration_entry_of(f.reg)->syncing = true;
        for (unsigned i = 0; r == 0 && i < 30; i++) {
            r = ki__registration_reserve_batch(f.reg, &applier, NULL);
            wake_if(&f, r == 0 && ki__registration_push_batch(f.reg, &applier, NULL));
        }
        (void)ki_object_unref(a);
        test_world_settle(f.engine);
        ki_registration_remove(f.reg);
        assert_int_equal(f.destroyed, 1);
        assert_int_equal(f.releases, 1);
    }
    (void)ki_engine_unref(f.engine);
    return r;
}

static void every_allocation_may_fail(void **state)
{
    (void)state;
    test_alloc_sweep(scenario, NULL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(events_come_in_order_inside_the_engine),
        cmocka_unit_test(a_long_queue_takes_turns_with_the_rest_of_the_engine),
        cmocka_unit_test(a_caller_dispatches_when_it_wants_and_is_woken_once),
        cmocka_unit_test(a_filter_turns_changes_into_coming_and_going),
        cmocka_unit_test(without_on_sync_a_resync_is_an_update_to_itself),
        cmocka_unit_test(callbacks_may_all_be_missing),
        cmocka_unit_test(a_shared_batch_is_delivered_in_order),
        cmocka_unit_test(unchanged_objects_of_a_batch_are_for_those_who_asked),
        cmocka_unit_test(a_dispatch_of_few_takes_no_more_of_a_batch),
        cmocka_unit_test(what_is_in_hand_still_counts_as_waiting),
        cmocka_unit_test(who_removes_itself_in_a_batch_hears_no_more_of_it),
        cmocka_unit_test(synced_means_that_every_initial_callback_has_returned),
        cmocka_unit_test(the_last_initial_callback_is_not_synced_while_it_runs),
        cmocka_unit_test(with_an_empty_store_it_syncs_at_once_and_is_notified),
        cmocka_unit_test(a_handler_may_remove_itself_and_hears_no_more),
        cmocka_unit_test(dispatching_inside_a_callback_is_refused),
        cmocka_unit_test(a_refused_dispatch_does_not_consume_the_wake_up),
        cmocka_unit_test(what_comes_after_the_removal_is_forgotten),
        cmocka_unit_test(bad_options_are_refused),
        cmocka_unit_test(removing_and_waiting_returns_after_the_running_callback),
        cmocka_unit_test(a_thread_that_runs_is_woken_each_time_it_waits),
        cmocka_unit_test(what_had_synced_stays_so_though_it_is_removed),
        cmocka_unit_test(a_queue_keeps_about_a_thousand_if_nobody_says_otherwise),
        cmocka_unit_test(a_handler_receives_the_number_of_merged_events),
        cmocka_unit_test(cancelled_out_events_are_counted_with_the_next_event),
        cmocka_unit_test(what_a_filter_hides_is_no_merged_event_either),
        cmocka_unit_test(a_thread_follows_while_more_comes),
        cmocka_unit_test(the_handler_is_not_destroyed_while_its_wake_runs),
        cmocka_unit_test(destroy_may_call_everything),
        cmocka_unit_test(waiting_for_sync_does_not_include_later_events),
        cmocka_unit_test(dispatching_all_comes_to_an_end_though_more_comes),
        cmocka_unit_test(one_that_is_removed_leaves_nothing_in_the_engine),
        cmocka_unit_test(every_allocation_may_fail),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
