/* SPDX-License-Identifier: Apache-2.0 */
/* The queue of one handler: order, the walk over what is there, and what merges beyond the limit.
 */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "cache/informer/handler_queue.h"
#include "object/object.h"
#include "support/objects.h"
#include "support/test.h"

static const ki__hash_key hash_key = {1, 2};

/* One note, with references of its own. */
static bool pop(ki__handler_queue *queue, ki__note *ret_note)
{
    ki__hand hand;
    if (!ki__handler_queue_take(queue, 1, &hand)) {
        return false;
    }
    assert_int_equal(hand.count, 1);
    *ret_note = hand.notes[0];
    (void)ki_object_ref(ret_note->old);
    (void)ki_object_ref(ret_note->object);
    ki__hand_done(&hand);
    return true;
}

typedef struct fixture {
    test_alloc alloc;
    ki__handler_queue queue;
    _Atomic(uint64_t) note_bytes;
} fixture;

static void begin(fixture *f, size_t limit)
{
    test_alloc_init(&f->alloc);
    ki__handler_queue_init(&f->queue, &f->alloc.table, hash_key, limit);
    atomic_init(&f->note_bytes, 0);
    f->queue.note_bytes = &f->note_bytes;
}

static void end(fixture *f)
{
    ki__handler_queue_done(&f->queue);
    assert_int_equal(atomic_load(&f->note_bytes), 0);
    test_alloc_done(&f->alloc);
}

static int try_push(ki__handler_queue *queue, ki__note_type type, const ki_object *old,
                    const ki_object *object)
{
    int r = ki__handler_queue_reserve(queue, 1);
    if (r == 0) {
        ki__handler_queue_push(queue,
                               &(ki__note){.type = (uint8_t)type, .old = old, .object = object});
    }
    return r;
}

/* A batch of one note, shared if the queue can; else, and if it is a resync, a note of its own. */
static int try_share(ki__handler_queue *queue, ki__note_type type, const ki_object *old,
                     const ki_object *object)
{
    ki__note note = {.type = type, .old = old, .object = object};
    const ki__applier applier = {.alloc = queue->alloc, .notes = &note, .note_count = 1};
    ki__notes *notes = NULL;
    int r = ki__notes_new(&applier, &notes);
    if (r < 0 || notes == NULL) {
        return r < 0 ? r : try_push(queue, type, old, object);
    }
    r = ki__handler_queue_reserve_shared(queue, 1);
    if (r == 0) {
        ki__handler_queue_push(queue, &note);
    } else if (r > 0) {
        ki__handler_queue_share(queue, notes);
    }
    (void)ki__notes_unref(notes);
    return r < 0 ? r : 0;
}

static void push(fixture *f, ki__note_type type, const ki_object *old, const ki_object *object)
{
    assert_int_equal(try_push(&f->queue, type, old, object), 0);
}

/* "+a1" is an add of a at version 1, "~a1>2" an update, "-a2" a delete, "=a1" a sync; (n) follows
 * if n others went into it. */
static void expect(fixture *f, const char *want)
{
    static const char marks[] = {'+', '~', '-', '='};
    char got[512] = "";
    ki__note note;
    size_t len = 0;
    while (pop(&f->queue, &note)) {
        len +=
            (size_t)snprintf(got + len, sizeof(got) - len, "%c%s%s%s%s", marks[note.type],
                             ki_object_name(note.object),
                             note.old != NULL ? ki_object_resource_version(note.old) : "",
                             note.old != NULL ? ">" : "", ki_object_resource_version(note.object));
        if (note.merged != 0) {
            len += (size_t)snprintf(got + len, sizeof(got) - len, "(%u)", note.merged);
        }
        len += (size_t)snprintf(got + len, sizeof(got) - len, " ");
        assert_true(len < sizeof(got));
        ki__note_unref(&note);
    }
    assert_string_equal(got, want);
    assert_int_equal(ki__handler_queue_len(&f->queue), 0);
}

typedef struct versions {
    ki_object *of[10];
} versions;

static void make(versions *v, const char *name)
{
    for (unsigned i = 0; i < 10; i++) {
        v->of[i] = test_pod(NULL, "", name, i, "g");
    }
}

static void drop(versions *v)
{
    for (unsigned i = 0; i < 10; i++) {
        v->of[i] = ki_object_unref(v->of[i]);
    }
}

static void up_to_the_limit_everything_is_kept_in_order(void **state)
{
    (void)state;
    fixture f;
    versions a;
    versions b;
    make(&a, "a");
    make(&b, "b");
    begin(&f, 100);
    push(&f, KI__NOTE_ADD, NULL, a.of[1]);
    push(&f, KI__NOTE_UPDATE, a.of[1], a.of[2]);
    push(&f, KI__NOTE_ADD, NULL, b.of[3]);
    push(&f, KI__NOTE_UPDATE, a.of[2], a.of[4]);
    push(&f, KI__NOTE_SYNC, NULL, a.of[4]);
    push(&f, KI__NOTE_DELETE, a.of[4], a.of[5]);
    push(&f, KI__NOTE_ADD, NULL, a.of[6]);
    assert_int_equal(ki__handler_queue_len(&f.queue), 7);
    expect(&f, "+a1 ~a1>2 +b3 ~a2>4 =a4 -a4>5 +a6 ");
    assert_int_equal(f.queue.merged, 0);
    end(&f);
    drop(&a);
    drop(&b);
}

static void beyond_the_limit_updates_merge_into_what_waits(void **state)
{
    (void)state;
    fixture f;
    versions a;
    versions b;
    make(&a, "a");
    make(&b, "b");
    begin(&f, 2);
    push(&f, KI__NOTE_ADD, NULL, a.of[1]);
    push(&f, KI__NOTE_UPDATE, b.of[0], b.of[1]);
    push(&f, KI__NOTE_UPDATE, a.of[1], a.of[2]);
    push(&f, KI__NOTE_UPDATE, b.of[1], b.of[2]);
    push(&f, KI__NOTE_UPDATE, a.of[2], a.of[3]);
    push(&f, KI__NOTE_SYNC, NULL, b.of[2]);
    assert_int_equal(ki__handler_queue_len(&f.queue), 2);
    assert_int_equal(f.queue.merged, 4);
    expect(&f, "+a3(2) ~b0>2(2) ");
    end(&f);
    drop(&a);
    drop(&b);
}

/* A resync of one object is a note of that object with itself. When it is merged with a later one,
 * the queue alone holds the old object. */
static void merged_notes_are_counted_as_they_are(void **state)
{
    (void)state;
    fixture f;
    versions a;
    make(&a, "a");
    begin(&f, 1);
    push(&f, KI__NOTE_SYNC, a.of[1], a.of[1]);
    uint64_t without_old = atomic_load(&f.note_bytes);
    push(&f, KI__NOTE_SYNC, a.of[2], a.of[2]);
    assert_int_equal(ki__handler_queue_len(&f.queue), 1);
    assert_int_equal(atomic_load(&f.note_bytes),
                     without_old + ki__object_footprint(a.of[1])); /* the old one */
    expect(&f, "=a1>2(1) ");
    assert_int_equal(atomic_load(&f.note_bytes), 0);
    end(&f);
    drop(&a);
}

static void below_the_limit_everything_is_kept_again(void **state)
{
    (void)state;
    fixture f;
    versions a;
    versions b;
    make(&a, "a");
    make(&b, "b");
    begin(&f, 4);
    push(&f, KI__NOTE_ADD, NULL, a.of[0]);
    push(&f, KI__NOTE_ADD, NULL, b.of[0]);
    push(&f, KI__NOTE_UPDATE, a.of[0], a.of[1]);
    push(&f, KI__NOTE_UPDATE, b.of[0], b.of[1]);
    push(&f, KI__NOTE_UPDATE, b.of[1], b.of[2]); /* one too many */
    assert_int_equal(f.queue.merged, 1);
    ki__note note;
    assert_true(pop(&f.queue, &note));
    ki__note_unref(&note);
    push(&f, KI__NOTE_UPDATE, b.of[2], b.of[3]); /* there is space for it */
    expect(&f, "+b0 ~a0>1 ~b0>2(1) ~b2>3 ");
    end(&f);
    drop(&a);
    drop(&b);
}

static void a_delete_is_never_lost_and_says_what_the_handler_saw_last(void **state)
{
    (void)state;
    fixture f;
    versions a;
    versions b;
    make(&a, "a");
    make(&b, "b");
    begin(&f, 1);
    push(&f, KI__NOTE_UPDATE, a.of[1], a.of[2]);
    push(&f, KI__NOTE_SYNC, NULL, b.of[1]);
    push(&f, KI__NOTE_DELETE, a.of[2], a.of[3]); /* takes the place of the update */
    push(&f, KI__NOTE_DELETE, b.of[1], b.of[2]); /* not merged across a sync */
    expect(&f, "-a1>3(1) =b1 -b1>2 ");
    end(&f);
    drop(&a);
    drop(&b);
}

static void a_delete_that_was_merged_still_says_whether_it_was_seen(void **state)
{
    (void)state;
    fixture f;
    versions a;
    make(&a, "a");
    begin(&f, 1);
    push(&f, KI__NOTE_UPDATE, a.of[1], a.of[2]);
    assert_int_equal(ki__handler_queue_reserve(&f.queue, 1), 0);
    ki__handler_queue_push(&f.queue, &(ki__note){.type = KI__NOTE_DELETE,
                                                 .old = a.of[2],
                                                 .object = a.of[2],
                                                 .final_state_unknown = true});
    ki__note note;
    assert_true(pop(&f.queue, &note));
    assert_int_equal(note.type, KI__NOTE_DELETE);
    assert_true(note.final_state_unknown);
    ki__note_unref(&note);
    end(&f);
    drop(&a);
}

static void what_came_and_went_unseen_is_left_out(void **state)
{
    (void)state;
    fixture f;
    versions a;
    versions b;
    make(&a, "a");
    make(&b, "b");
    begin(&f, 1);
    push(&f, KI__NOTE_ADD, NULL, b.of[1]);
    for (unsigned i = 0; i < 200; i++) {
        push(&f, KI__NOTE_ADD, NULL, a.of[1]);
        push(&f, KI__NOTE_UPDATE, a.of[1], a.of[2]);
        push(&f, KI__NOTE_DELETE, a.of[2], a.of[3]);
    }
    assert_int_equal(ki__handler_queue_len(&f.queue), 1);
    assert_int_equal(f.queue.merged, 600);
    assert_true(f.queue.cap <= 64); /* cancelled-out notes do not occupy memory for long */
    expect(&f, "+b1 ");
    end(&f);
    drop(&a);
    drop(&b);
}

static void a_change_of_identity_stays_a_delete_and_an_add(void **state)
{
    (void)state;
    fixture f;
    versions a;
    make(&a, "a");
    begin(&f, 1);
    push(&f, KI__NOTE_UPDATE, a.of[1], a.of[2]);
    push(&f, KI__NOTE_DELETE, a.of[2], a.of[2]);
    push(&f, KI__NOTE_ADD, NULL, a.of[3]);
    push(&f, KI__NOTE_UPDATE, a.of[3], a.of[4]);
    push(&f, KI__NOTE_DELETE, a.of[4], a.of[5]); /* the second life was never seen */
    push(&f, KI__NOTE_ADD, NULL, a.of[6]);
    expect(&f, "-a1>2(1) +a6 ");
    end(&f);
    drop(&a);
}

static void what_is_delivered_is_merged_into_no_more(void **state)
{
    (void)state;
    fixture f;
    versions a;
    versions b;
    make(&a, "a");
    make(&b, "b");
    begin(&f, 1);
    push(&f, KI__NOTE_ADD, NULL, a.of[1]);
    push(&f, KI__NOTE_ADD, NULL, b.of[1]);
    push(&f, KI__NOTE_UPDATE, a.of[1], a.of[2]); /* makes the index */
    ki__note note;
    assert_true(pop(&f.queue, &note));
    ki__note_unref(&note);
    push(&f, KI__NOTE_UPDATE, a.of[2], a.of[3]);
    push(&f, KI__NOTE_UPDATE, a.of[3], a.of[4]);
    expect(&f, "+b1 ~a2>4(1) ");
    end(&f);
    drop(&a);
    drop(&b);
}

static void the_objects_of_a_snapshot_come_first(void **state)
{
    (void)state;
    fixture f;
    begin(&f, 10);
    ki_store *store;
    assert_int_equal(ki_store_new(NULL, &store, NULL), 0);
    versions a;
    versions b;
    make(&a, "a");
    make(&b, "b");
    assert_int_equal(ki_store_add(store, a.of[1], NULL), 0);
    assert_int_equal(ki_store_add(store, b.of[1], NULL), 0);
    ki__handler_queue_begin(&f.queue, ki_store_snapshot(store));
    push(&f, KI__NOTE_UPDATE, a.of[1], a.of[2]);
    assert_int_equal(ki__handler_queue_len(&f.queue), 3);
    assert_int_equal(ki__handler_queue_initial(&f.queue), 2);
    ki__note note;
    assert_true(pop(&f.queue, &note));
    assert_true(note.is_initial);
    ki__note_unref(&note);
    assert_int_equal(ki__handler_queue_initial(&f.queue), 1);
    assert_true(pop(&f.queue, &note));
    ki__note_unref(&note);
    assert_int_equal(ki__handler_queue_initial(&f.queue), 0);
    assert_null(f.queue.snapshot); /* released with the last object, not one call later */
    expect(&f, "~a1>2 ");
    ki__handler_queue_begin(&f.queue, ki_store_snapshot(store)); /* done releases it as well */
    end(&f);
    (void)ki_store_unref(store);
    drop(&a);
    drop(&b);
}

static void an_initial_add_counts_until_it_is_taken_or_left_out(void **state)
{
    (void)state;
    fixture f;
    versions a;
    versions b;
    make(&a, "a");
    make(&b, "b");
    begin(&f, 1);
    assert_int_equal(ki__handler_queue_reserve(&f.queue, 2), 0);
    ki__handler_queue_push(
        &f.queue, &(ki__note){.type = KI__NOTE_ADD, .is_initial = true, .object = a.of[1]});
    ki__handler_queue_push(
        &f.queue, &(ki__note){.type = KI__NOTE_ADD, .is_initial = true, .object = b.of[1]});
    assert_int_equal(ki__handler_queue_initial(&f.queue), 2);
    push(&f, KI__NOTE_DELETE, a.of[1], a.of[2]);
    assert_int_equal(ki__handler_queue_initial(&f.queue), 1);
    expect(&f, "+b1 ");
    assert_int_equal(ki__handler_queue_initial(&f.queue), 0);
    end(&f);
    drop(&a);
    drop(&b);
}

static ki_store *store_of(const ki_object *a, const ki_object *b)
{
    ki_store *store;
    assert_int_equal(ki_store_new(NULL, &store, NULL), 0);
    assert_int_equal(ki_store_add(store, a, NULL), 0);
    assert_int_equal(ki_store_add(store, b, NULL), 0);
    return store;
}

static void a_resync_keeps_its_place_and_nothing_merges_across_it(void **state)
{
    (void)state;
    fixture f;
    versions a;
    versions b;
    make(&a, "a");
    make(&b, "b");
    begin(&f, 1);
    ki_store *store = store_of(a.of[2], b.of[1]);
    push(&f, KI__NOTE_UPDATE, a.of[1], a.of[2]);
    push(&f, KI__NOTE_ADD, NULL, b.of[1]);
    ki__handler_queue_resync(&f.queue, ki_store_snapshot(store));
    assert_int_equal(ki__handler_queue_len(&f.queue), 4);
    assert_int_equal(ki__handler_queue_initial(&f.queue), 0);
    push(&f, KI__NOTE_UPDATE, a.of[2], a.of[3]); /* not into the one from before */
    push(&f, KI__NOTE_UPDATE, a.of[3], a.of[4]);
    push(&f, KI__NOTE_DELETE, b.of[1], b.of[2]);
    ki__handler_queue_resync(&f.queue, ki_store_snapshot(store)); /* one waits already */
    assert_int_equal(f.queue.merged, 3);
    for (unsigned i = 0; i < 100; i++) { /* the ring moves, and the resync with it */
        push(&f, KI__NOTE_ADD, NULL, b.of[3]);
        push(&f, KI__NOTE_DELETE, b.of[3], b.of[4]);
    }
    expect(&f, "~a1>2 +b1 =a2 =b1 ~a2>4(1) -b1>2 ");
    ki__handler_queue_resync(&f.queue, ki_store_snapshot(store));
    expect(&f, "=a2 =b1 ");
    ki__handler_queue_resync(&f.queue, ki_store_snapshot(store)); /* done releases it */
    end(&f);
    (void)ki_store_unref(store);
    drop(&a);
    drop(&b);
}

static void a_resync_may_come_while_another_is_delivered(void **state)
{
    (void)state;
    fixture f;
    versions a;
    versions b;
    make(&a, "a");
    make(&b, "b");
    begin(&f, 10);
    ki_store *store = store_of(a.of[1], b.of[1]);
    ki__handler_queue_resync(&f.queue, ki_store_snapshot(store));
    ki__note note;
    assert_true(pop(&f.queue, &note));
    ki__note_unref(&note);
    push(&f, KI__NOTE_UPDATE, a.of[1], a.of[2]);
    assert_int_equal(ki_store_update(store, a.of[2], NULL), 0);
    ki__handler_queue_resync(&f.queue, ki_store_snapshot(store));
    assert_int_equal(f.queue.merged, 0);
    expect(&f, "=b1 ~a1>2 =a2 =b1 ");
    ki_store *empty;
    assert_int_equal(ki_store_new(NULL, &empty, NULL), 0);
    ki__handler_queue_resync(&f.queue, ki_store_snapshot(empty));
    assert_null(f.queue.resync);
    end(&f);
    (void)ki_store_unref(empty);
    (void)ki_store_unref(store);
    drop(&a);
    drop(&b);
}

/* ---- what is shared ---- */

static ki__notes *notes_of(fixture *f, ki__note *notes, size_t count)
{
    const ki__applier applier = {.alloc = &f->alloc.table, .notes = notes, .note_count = count};
    ki__notes *shared = NULL;
    assert_int_equal(ki__notes_new(&applier, &shared), 0);
    return shared;
}

static void share(fixture *f, ki__notes *notes)
{
    assert_int_equal(ki__handler_queue_reserve_shared(&f->queue, notes->count), 1);
    ki__handler_queue_share(&f->queue, notes);
}

static void only_notes_that_are_the_same_for_all_are_shared(void **state)
{
    (void)state;
    fixture f;
    versions a;
    make(&a, "a");
    begin(&f, 10);
    ki__note update = {.type = KI__NOTE_UPDATE, .old = a.of[1], .object = a.of[2]};
    ki__note notes[] = {{.type = KI__NOTE_ADD, .object = a.of[1]}, update};
    assert_null(notes_of(&f, notes, 0));
    notes[1].same_version = true;
    assert_null(notes_of(&f, notes, 2));
    notes[1] = (ki__note){.type = KI__NOTE_SYNC, .old = a.of[1], .object = a.of[1]};
    assert_null(notes_of(&f, notes, 2));
    notes[1] = (ki__note){.type = KI__NOTE_SYNC}; /* all objects */
    assert_null(notes_of(&f, notes, 2));
    notes[1] = update;
    notes[0].is_initial = true;
    assert_null(notes_of(&f, notes, 2));
    notes[0].is_initial = false;
    ki__notes *shared = notes_of(&f, notes, 2);
    assert_int_equal(shared->count, 2);
    assert_false(shared->is_initial);
    (void)ki__notes_unref(shared);
    static ki__note many[KI_QUEUE_BATCH + 1];
    for (size_t i = 0; i < KI_QUEUE_BATCH + 1; i++) {
        many[i] = update;
    }
    assert_null(notes_of(&f, many, KI_QUEUE_BATCH + 1)); /* of a list */
    end(&f);
    drop(&a);
}

static void a_batch_is_shared_and_taken_by_the_hand(void **state)
{
    (void)state;
    fixture f;
    versions a;
    make(&a, "a");
    begin(&f, 1000);
    ki__note notes[100];
    for (unsigned i = 0; i < 100; i++) {
        notes[i] = (ki__note){.type = KI__NOTE_UPDATE, .old = a.of[1], .object = a.of[i % 10]};
    }
    ki__notes *shared = notes_of(&f, notes, 100);
    share(&f, shared);
    share(&f, shared);
    (void)ki__notes_unref(shared);
    assert_int_equal(ki__handler_queue_len(&f.queue), 200);
    const size_t want[] = {64, 10, 26, 64, 36};
    size_t delivered = 0;
    for (size_t i = 0; i < 5; i++) {
        ki__hand hand;
        assert_true(ki__handler_queue_take(&f.queue, i == 1 ? 10 : 1000, &hand));
        assert_int_equal(hand.count, want[i]);
        for (size_t n = 0; n < hand.count; n++) {
            assert_ptr_equal(hand.notes[n].object, a.of[delivered++ % 10]);
        }
        assert_int_equal(ki__handler_queue_len(&f.queue), 200 - delivered);
        if (i == 3) { /* what is in hand stays, whatever becomes of the queue */
            ki__handler_queue_done(&f.queue);
            assert_ptr_equal(hand.notes[63].object, a.of[163 % 10]);
            ki__hand_done(&hand);
            break;
        }
        ki__hand_done(&hand);
    }
    assert_int_equal(f.alloc.live_blocks, 0);
    end(&f);
    drop(&a);
}

static void who_falls_behind_shares_no_more_and_merges(void **state)
{
    (void)state;
    fixture f;
    versions a;
    versions b;
    make(&a, "a");
    make(&b, "b");
    begin(&f, 4);
    ki__note notes[] = {
        {.type = KI__NOTE_ADD, .object = a.of[1]},
        {.type = KI__NOTE_ADD, .object = b.of[1]},
        {.type = KI__NOTE_UPDATE, .old = a.of[1], .object = a.of[2]},
    };
    ki__notes *shared = notes_of(&f, notes, 3);
    share(&f, shared);
    (void)ki__notes_unref(shared);
    assert_int_equal(ki__handler_queue_reserve_shared(&f.queue, 2), 0); /* that would be five */
    ki__handler_queue_push(&f.queue,
                           &(ki__note){.type = KI__NOTE_UPDATE, .old = b.of[1], .object = b.of[2]});
    ki__handler_queue_push(&f.queue,
                           &(ki__note){.type = KI__NOTE_UPDATE, .old = b.of[2], .object = b.of[3]});
    assert_int_equal(ki__handler_queue_reserve_shared(&f.queue, 1), 0); /* not before it is empty */
    ki__handler_queue_push(&f.queue,
                           &(ki__note){.type = KI__NOTE_UPDATE, .old = a.of[2], .object = a.of[3]});
    expect(&f, "+a1 +b1 ~a1>3(1) ~b1>3(1) ");
    assert_int_equal(f.queue.merged, 2);
    ki__handler_queue_unreserve(&f.queue);
    assert_int_equal(ki__handler_queue_reserve_shared(&f.queue, 3), 1);
    end(&f);
    drop(&a);
    drop(&b);
}

static void initial_notes_that_are_shared_count_until_they_are_taken(void **state)
{
    (void)state;
    fixture f;
    versions a;
    versions b;
    make(&a, "a");
    make(&b, "b");
    begin(&f, 4);
    ki__note notes[] = {
        {.type = KI__NOTE_ADD, .is_initial = true, .object = a.of[1]},
        {.type = KI__NOTE_ADD, .is_initial = true, .object = b.of[1]},
    };
    ki__notes *shared = notes_of(&f, notes, 2);
    share(&f, shared);
    (void)ki__notes_unref(shared);
    assert_int_equal(ki__handler_queue_initial(&f.queue), 2);
    ki__note note;
    assert_true(pop(&f.queue, &note));
    ki__note_unref(&note);
    assert_int_equal(ki__handler_queue_initial(&f.queue), 1);
    assert_int_equal(ki__handler_queue_reserve(&f.queue, 1), 0); /* it becomes the queue's own */
    assert_int_equal(ki__handler_queue_initial(&f.queue), 1);
    expect(&f, "+b1 ");
    assert_int_equal(ki__handler_queue_initial(&f.queue), 0);
    end(&f);
    drop(&a);
    drop(&b);
}

static void reserved_capacity_is_not_released(void **state)
{
    (void)state;
    fixture f;
    versions a;
    make(&a, "a");
    begin(&f, 10);
    assert_int_equal(ki__handler_queue_reserve(&f.queue, 5000), 0);
    for (unsigned i = 0; i < 3; i++) { /* as if another thread were quicker */
        ki__handler_queue_push(&f.queue,
                               &(ki__note){.type = KI__NOTE_ADD, .old = NULL, .object = a.of[i]});
        ki__note note;
        assert_true(pop(&f.queue, &note));
        assert_ptr_equal(note.object, a.of[i]);
        ki__note_unref(&note);
    }
    assert_int_not_equal(f.alloc.live_blocks, 0);
    ki__handler_queue_unreserve(&f.queue);
    assert_int_equal(f.alloc.live_blocks, 0);
    end(&f);
    drop(&a);
}

static void a_resync_comes_after_what_is_shared(void **state)
{
    (void)state;
    versions a;
    versions b;
    make(&a, "a");
    make(&b, "b");
    for (int own = 0; own < 2; own++) { /* whether the shared notes become the queue's own */
        fixture f;
        begin(&f, 100);
        ki_store *store = store_of(a.of[2], b.of[1]);
        ki__note notes[] = {
            {.type = KI__NOTE_UPDATE, .old = a.of[1], .object = a.of[2]},
            {.type = KI__NOTE_ADD, .object = b.of[1]},
        };
        ki__notes *shared = notes_of(&f, notes, 2);
        share(&f, shared);
        (void)ki__notes_unref(shared);
        ki__handler_queue_resync(&f.queue, ki_store_snapshot(store));
        if (own != 0) { /* nothing is shared behind a resync */
            assert_int_equal(ki__handler_queue_reserve_shared(&f.queue, 1), 0);
            ki__handler_queue_push(
                &f.queue, &(ki__note){.type = KI__NOTE_UPDATE, .old = a.of[2], .object = a.of[3]});
        }
        expect(&f, own != 0 ? "~a1>2 +b1 =a2 =b1 ~a2>3 " : "~a1>2 +b1 =a2 =b1 ");
        assert_int_equal(ki__handler_queue_reserve_shared(&f.queue, 1), 1);
        end(&f);
        (void)ki_store_unref(store);
    }
    drop(&a);
    drop(&b);
}

/* ---- against a handler that keeps a view of its own ---- */

enum { KEYS = 12, VERSIONS = 10, STEPS = 20000 };

typedef struct model {
    versions pods[KEYS];
    unsigned present[KEYS]; /* version + 1 of what is there; 0: nothing */
    unsigned seen[KEYS];    /* the same of what the handler received */
    ki_store *store;        /* of the same */
    uint64_t pushed;
    uint64_t popped;
    uint64_t merged_received;
} model;

static unsigned version_of(const ki_object *object)
{
    return (unsigned)(ki_object_resource_version(object)[0] - '0');
}

static unsigned key_of(const ki_object *object)
{
    return (unsigned)(ki_object_name(object)[0] - 'a');
}

static int change(model *m, ki__handler_queue *queue, uint64_t *seed)
{
    unsigned k = (unsigned)(test_random(seed) % KEYS);
    unsigned version = (unsigned)(test_random(seed) % VERSIONS);
    const ki_object *object = m->pods[k].of[version];
    const ki_object *old = m->present[k] != 0 ? m->pods[k].of[m->present[k] - 1] : NULL;
    uint64_t what = test_random(seed) % 8;
    int (*give)(ki__handler_queue *, ki__note_type, const ki_object *, const ki_object *) =
        test_random(seed) % 4 != 0 ? try_share : try_push;
    int r;
    if (test_random(seed) % 50 == 0) {
        ki_snapshot *all = ki_store_snapshot(m->store);
        m->pushed += ki_snapshot_count(all);
        ki__handler_queue_resync(queue, all);
        return 0;
    }
    if (old == NULL) {
        r = give(queue, KI__NOTE_ADD, NULL, object);
    } else if (what == 0) {
        r = give(queue, KI__NOTE_DELETE, old, object);
    } else if (what == 1) {
        object = old;
        r = give(queue, KI__NOTE_SYNC, NULL, old);
    } else {
        r = give(queue, KI__NOTE_UPDATE, old, object);
    }
    if (r < 0) {
        return r;
    }
    if (old != NULL && what == 0) {
        m->present[k] = 0;
        assert_true(ki_store_delete(m->store, ki__object_key(object), NULL, NULL) >= 0);
    } else {
        m->present[k] = version_of(object) + 1;
        assert_true(ki_store_update(m->store, object, NULL) >= 0);
    }
    m->pushed++;
    return 0;
}

/* What may be delivered depends on what was: an add of an absent object, and so on. */
static void hear_note(model *m, const ki__note *note)
{
    unsigned k = key_of(note->object);
    unsigned version = version_of(note->object) + 1;
    if (note->type == KI__NOTE_ADD) {
        assert_int_equal(m->seen[k], 0);
        assert_null(note->old);
    } else if (note->type == KI__NOTE_SYNC) {
        assert_int_equal(m->seen[k], version);
    } else {
        assert_int_equal(m->seen[k], version_of(note->old) + 1);
    }
    m->seen[k] = note->type == KI__NOTE_DELETE ? 0 : version;
    m->popped++;
    m->merged_received += note->merged;
}

static bool hear(model *m, ki__handler_queue *queue)
{
    ki__hand hand;
    if (!ki__handler_queue_take(queue, 1 + m->popped % 3, &hand)) {
        return false;
    }
    for (size_t i = 0; i < hand.count; i++) {
        hear_note(m, &hand.notes[i]);
    }
    m->merged_received += hand.left_out;
    ki__hand_done(&hand);
    return true;
}

static int play(const ki_alloc *alloc, size_t limit, size_t steps, uint64_t seed)
{
    model m = {0};
    for (unsigned k = 0; k < KEYS; k++) {
        char name[2] = {(char)('a' + k), '\0'};
        make(&m.pods[k], name);
    }
    assert_int_equal(ki_store_new(NULL, &m.store, NULL), 0);
    ki__handler_queue queue;
    ki__handler_queue_init(&queue, alloc, hash_key, limit);
    _Atomic(uint64_t) note_bytes = 0;
    queue.note_bytes = &note_bytes;
    int result = 0;
    uint64_t pops_in_ten = 0;
    for (size_t i = 0; i < steps; i++) {
        if (i % 100 == 0) {
            pops_in_ten =
                test_random(&seed) % 8; /* times in which it falls behind, or catches up */
        }
        if (test_random(&seed) % 10 < pops_in_ten) {
            (void)hear(&m, &queue);
        } else {
            int r = change(&m, &queue, &seed);
            result = result == 0 ? r : result;
        }
        if (result == 0) { /* without memory for the index there is no bound */
            size_t most = 2 * (limit + 4 * KEYS); /* before a resync that waits, and after it */
            assert_true(ki__handler_queue_len(&queue) <= most + 2 * KEYS);
            assert_true(queue.cap <= 64 + 4 * most);
        }
    }
    while (hear(&m, &queue)) {
    }
    assert_int_equal(m.pushed, m.popped + queue.merged);
    assert_int_equal(m.merged_received + queue.left_out, queue.merged);
    assert_memory_equal(m.seen, m.present, sizeof(m.seen));
    ki__handler_queue_done(&queue);
    assert_int_equal(atomic_load(&note_bytes), 0);
    (void)ki_store_unref(m.store);
    for (unsigned k = 0; k < KEYS; k++) {
        drop(&m.pods[k]);
    }
    return result;
}

static void a_handler_that_hears_all_knows_what_is_there(void **state)
{
    (void)state;
    test_alloc alloc;
    test_alloc_init(&alloc);
    const size_t limits[] = {0, 1, 5, 40, 1000000};
    for (size_t i = 0; i < sizeof(limits) / sizeof(limits[0]); i++) {
        if (limits[i] < 100) {
            assert_int_equal(play(&alloc.table, limits[i], STEPS, 7 + i), 0);
        } else {
            assert_int_equal(play(&alloc.table, limits[i], STEPS / 10, 7 + i), 0);
        }
    }
    test_alloc_done(&alloc);
}

static void a_blocked_handler_costs_little(void **state)
{
    (void)state;
    fixture f;
    versions pods[KEYS];
    begin(&f, 1024);
    for (unsigned k = 0; k < KEYS; k++) {
        make(&pods[k], (char[2]){(char)('a' + k), '\0'});
    }
    for (unsigned i = 0; i < 1000000; i++) {
        const versions *pod = &pods[i % KEYS];
        unsigned life = i / KEYS % 10; /* it comes, changes, and goes, again and again */
        push(&f,
             life == 0   ? KI__NOTE_ADD
             : life == 9 ? KI__NOTE_DELETE
                         : KI__NOTE_UPDATE,
             life == 0 ? NULL : pod->of[life - 1], pod->of[life]);
    }
    assert_true(f.alloc.peak_bytes < 512 << 10);
    assert_int_equal(ki__handler_queue_len(&f.queue) + f.queue.merged, 1000000);
    end(&f);
    for (unsigned k = 0; k < KEYS; k++) {
        drop(&pods[k]);
    }
}

static int sweep_scenario(const ki_alloc *alloc, void *user)
{
    (void)user;
    return play(alloc, 8, 300, 3);
}

static void without_memory_it_stays_right_and_only_merges_less(void **state)
{
    (void)state;
    test_alloc_sweep(sweep_scenario, NULL);
}

static void a_flood_gives_its_memory_back(void **state)
{
    (void)state;
    fixture f;
    versions a;
    make(&a, "a");
    begin(&f, 1 << 20);
    for (unsigned i = 0; i < 5000; i++) {
        push(&f, KI__NOTE_SYNC, NULL, a.of[i % 10]);
    }
    ki__note note;
    while (pop(&f.queue, &note)) {
        ki__note_unref(&note);
    }
    assert_int_equal(f.alloc.live_blocks, 0);
    assert_int_equal(ki__handler_queue_reserve(&f.queue, SIZE_MAX / 2), -ENOMEM);
    f.queue.limit = 4;
    f.queue.index_at = 4;
    for (unsigned i = 0; i < 10; i++) {
        push(&f, KI__NOTE_DELETE, a.of[0], a.of[0]);
    }
    assert_int_equal(f.alloc.live_blocks, 2); /* the ring, and an index over it */
    for (unsigned i = 0; i < 8; i++) {
        assert_true(pop(&f.queue, &note));
        ki__note_unref(&note);
    }
    assert_int_equal(f.alloc.live_blocks, 1);
    end(&f);
    drop(&a);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(up_to_the_limit_everything_is_kept_in_order),
        cmocka_unit_test(beyond_the_limit_updates_merge_into_what_waits),
        cmocka_unit_test(merged_notes_are_counted_as_they_are),
        cmocka_unit_test(below_the_limit_everything_is_kept_again),
        cmocka_unit_test(a_delete_is_never_lost_and_says_what_the_handler_saw_last),
        cmocka_unit_test(a_delete_that_was_merged_still_says_whether_it_was_seen),
        cmocka_unit_test(what_came_and_went_unseen_is_left_out),
        cmocka_unit_test(a_change_of_identity_stays_a_delete_and_an_add),
        cmocka_unit_test(what_is_delivered_is_merged_into_no_more),
        cmocka_unit_test(the_objects_of_a_snapshot_come_first),
        cmocka_unit_test(an_initial_add_counts_until_it_is_taken_or_left_out),
        cmocka_unit_test(a_resync_keeps_its_place_and_nothing_merges_across_it),
        cmocka_unit_test(a_resync_may_come_while_another_is_delivered),
        cmocka_unit_test(only_notes_that_are_the_same_for_all_are_shared),
        cmocka_unit_test(a_batch_is_shared_and_taken_by_the_hand),
        cmocka_unit_test(who_falls_behind_shares_no_more_and_merges),
        cmocka_unit_test(initial_notes_that_are_shared_count_until_they_are_taken),
        cmocka_unit_test(reserved_capacity_is_not_released),
        cmocka_unit_test(a_resync_comes_after_what_is_shared),
        cmocka_unit_test(a_handler_that_hears_all_knows_what_is_there),
        cmocka_unit_test(a_blocked_handler_costs_little),
        cmocka_unit_test(without_memory_it_stays_right_and_only_merges_less),
        cmocka_unit_test(a_flood_gives_its_memory_back),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
