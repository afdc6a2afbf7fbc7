/* SPDX-License-Identifier: Apache-2.0 */
/* What becomes of events: counts, combined events, and the limit of an object, with client-go's
 * numbers. */
#include <stdio.h>
#include <string.h>

#include "base/time_units.h"
#include "controller/event_correlator.h"
#include "support/test.h"

typedef struct fixture {
    test_alloc alloc;
    ki__correlator correlator;
    uint64_t now;
    int number;
} fixture;

static void begin_with(fixture *f, size_t entries)
{
    memset(f, 0, sizeof(*f));
    test_alloc_init(&f->alloc);
    f->now = 1000 * KI__SECOND_NS;
    ki__correlator_init(&f->correlator, &f->alloc.table, (ki__hash_key){1, 2}, (ki__hash_key){3, 4},
                        entries);
}

static void begin(fixture *f)
{
    begin_with(f, KI__CORRELATOR_ENTRIES);
}

static void end(fixture *f)
{
    ki__correlator_done(&f->correlator);
    test_alloc_done(&f->alloc);
}

static ki__correlation see(fixture *f, const char *object, const char *reason, const char *note)
{
    char name[32];
    (void)snprintf(name, sizeof(name), "event-%d", ++f->number);
    const ki__correlated event = {
        .object = ki_str_from(object),
        .reason = ki_str_from(reason),
        .note = ki_str_from(note),
        .now_ns = f->now,
        .realtime_ns = (int64_t)f->now + 7,
        .name = name,
    };
    ki__correlation result;
    ki__correlate(&f->correlator, &event, &result);
    return result;
}

static void equal_events_are_counted(void **state)
{
    (void)state;
    fixture f;
    begin(&f);
    ki__correlation r = see(&f, "pod", "Failed", "disk full");
    assert_false(r.skip || r.combined);
    assert_int_equal(r.count, 1);
    assert_string_equal(r.name, "event-1");
    int64_t first = r.first_ns;
    f.now += KI__SECOND_NS;
    r = see(&f, "pod", "Failed", "disk full");
    assert_int_equal(r.count, 2);
    assert_string_equal(r.name, "event-1");
    assert_int_equal(r.first_ns, first);
    assert_int_equal(see(&f, "pod", "Failed", "other").count, 1);
    assert_int_equal(see(&f, "pod", "Other", "disk full").count, 1);
    assert_int_equal(see(&f, "other", "Failed", "disk full").count, 1);
    assert_int_equal(see(&f, "pod", "Failed", "disk full").count, 3);
    end(&f);
}

static void the_tenth_similar_event_is_combined(void **state)
{
    (void)state;
    fixture f;
    char note[32];
    begin(&f);
    for (int i = 1; i < KI__SIMILAR_MAX; i++) {
        (void)snprintf(note, sizeof(note), "note %d", i);
        assert_false(see(&f, "pod", "Failed", note).combined);
        assert_false(see(&f, "pod", "Failed", note).combined); /* the same is not similar */
    }
    ki__correlation r = see(&f, "pod", "Failed", "note 10");
    assert_true(r.combined);
    assert_int_equal(r.count, 1);
    const char *name = "event-19";
    assert_string_equal(r.name, name);
    r = see(&f, "pod", "Failed", "note 11");
    assert_true(r.combined);
    assert_int_equal(r.count, 2);
    assert_string_equal(r.name, name);
    assert_false(see(&f, "pod", "Other", "note 12").combined);
    f.now += KI__SIMILAR_SECONDS * KI__SECOND_NS;
    assert_true(see(&f, "pod", "Failed", "note 13").combined);
    f.now += KI__SIMILAR_SECONDS * KI__SECOND_NS + 1;
    assert_false(see(&f, "pod", "Failed", "note 14").combined);
    end(&f);
}

static void an_object_has_a_limit(void **state)
{
    (void)state;
    fixture f;
    begin(&f);
    for (int i = 0; i < KI__SPAM_BURST; i++) {
        assert_false(see(&f, "pod", "Failed", "x").skip);
    }
    assert_true(see(&f, "pod", "Failed", "x").skip);
    assert_true(see(&f, "pod", "Other", "y").skip);
    assert_false(see(&f, "other", "Failed", "x").skip);
    f.now += KI__SPAM_SECONDS * KI__SECOND_NS - 1;
    assert_true(see(&f, "pod", "Failed", "x").skip);
    f.now += 1;
    ki__correlation r = see(&f, "pod", "Failed", "x");
    assert_false(r.skip);
    assert_int_equal(r.count, KI__SPAM_BURST + 3); /* filtered ones are counted */
    assert_true(see(&f, "pod", "Failed", "x").skip);
    f.now += 100 * KI__SPAM_SECONDS * KI__SECOND_NS;
    for (int i = 0; i < KI__SPAM_BURST; i++) {
        assert_false(see(&f, "pod", "Failed", "x").skip);
    }
    assert_true(see(&f, "pod", "Failed", "x").skip);
    end(&f);
}

static void types_are_apart(void **state)
{
    (void)state;
    fixture f;
    begin(&f);
    ki__correlated event = {.object = ki_str_from("pod"),
                            .reason = ki_str_from("r"),
                            .note = ki_str_from("n"),
                            .now_ns = f.now,
                            .name = "a"};
    ki__correlation result;
    for (int i = 0; i < KI__SPAM_BURST; i++) {
        ki__correlate(&f.correlator, &event, &result);
    }
    event.type = 1;
    ki__correlate(&f.correlator, &event, &result);
    assert_int_equal(result.count, 1);
    assert_false(result.skip);
    event.type = 0;
    ki__correlate(&f.correlator, &event, &result);
    assert_true(result.skip);
    end(&f);
}

static void memory_is_limited_to_recent_events(void **state)
{
    (void)state;
    fixture f;
    char object[32];
    begin_with(&f, 8);
    for (int i = 0; i < 8; i++) {
        (void)snprintf(object, sizeof(object), "pod-%d", i);
        (void)see(&f, object, "r", "n");
    }
    size_t blocks = f.alloc.live_blocks;
    assert_int_equal(see(&f, "pod-0", "r", "n").count, 2);
    (void)see(&f, "pod-8", "r", "n"); /* in place of pod-1, the least recently used one */
    assert_int_equal(f.alloc.live_blocks, blocks);
    assert_int_equal(see(&f, "pod-0", "r", "n").count, 3);
    assert_int_equal(see(&f, "pod-1", "r", "n").count, 1);
    assert_int_equal(see(&f, "pod-8", "r", "n").count, 2);
    end(&f);
}

static void without_memory_events_pass(void **state)
{
    (void)state;
    fixture f;
    begin(&f);
    f.alloc.fail_onwards = true;
    f.alloc.fail_at = 1;
    for (int i = 0; i < 2 * KI__SPAM_BURST; i++) {
        ki__correlation r = see(&f, "pod", "r", "n");
        assert_false(r.skip || r.combined);
        assert_int_equal(r.count, 1);
    }
    for (uint64_t i = 1; i < 12; i++) {
        ki__correlator_done(&f.correlator);
        ki__correlator_init(&f.correlator, &f.alloc.table, (ki__hash_key){1, 2},
                            (ki__hash_key){3, 4}, 4);
        f.alloc.fail_onwards = false;
        f.alloc.fail_at = f.alloc.calls + i;
        (void)see(&f, "pod", "r", "n");
        (void)see(&f, "pod", "r", "m");
    }
    end(&f);
}

/* A plain model of the same rules. */
typedef struct model_group {
    char notes[KI__SIMILAR_MAX][8];
    size_t count;
    uint64_t last;
} model_group;

static void random_events_match_a_model(void **state)
{
    (void)state;
    fixture f;
    begin(&f);
    enum { OBJECTS = 3, NOTES = 14 };
    double tokens[OBJECTS];
    uint64_t last[OBJECTS];
    uint64_t counts[OBJECTS][NOTES + 1] = {{0}}; /* the last one: combined */
    static model_group groups[OBJECTS];
    uint64_t random = 42;
    for (int i = 0; i < OBJECTS; i++) {
        tokens[i] = KI__SPAM_BURST;
        last[i] = f.now;
    }
    memset(groups, 0, sizeof(groups));
    for (int step = 0; step < 20000; step++) {
        int o = (int)(test_random(&random) % OBJECTS);
        int n = (int)(test_random(&random) % NOTES);
        char object[8];
        char note[8];
        (void)snprintf(object, sizeof(object), "o%d", o);
        (void)snprintf(note, sizeof(note), "n%d", n);
        f.now += test_random(&random) % 100 == 0 ? 601 * KI__SECOND_NS
                                                 : test_random(&random) % 40 * KI__SECOND_NS;
        model_group *g = &groups[o];
        g->count = f.now - g->last > 600 * KI__SECOND_NS ? 0 : g->count;
        g->last = f.now;
        size_t at = 0;
        while (at < g->count && strcmp(g->notes[at], note) != 0) {
            at++;
        }
        if (at == g->count) {
            memcpy(g->notes[g->count++], note, sizeof(note));
        }
        bool combined = g->count >= KI__SIMILAR_MAX;
        g->count -= combined;
        tokens[o] += (double)(f.now - last[o]) / 1e9 / KI__SPAM_SECONDS;
        tokens[o] = tokens[o] > KI__SPAM_BURST ? KI__SPAM_BURST : tokens[o];
        last[o] = f.now;
        bool skip = tokens[o] < 1 - 1e-9;
        tokens[o] -= skip ? 0 : 1;
        ki__correlation r = see(&f, object, "r", note);
        assert_int_equal(r.combined, combined);
        assert_int_equal(r.skip, skip);
        assert_int_equal(r.count, ++counts[o][combined ? NOTES : n]);
    }
    end(&f);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(equal_events_are_counted),
        cmocka_unit_test(the_tenth_similar_event_is_combined),
        cmocka_unit_test(an_object_has_a_limit),
        cmocka_unit_test(types_are_apart),
        cmocka_unit_test(memory_is_limited_to_recent_events),
        cmocka_unit_test(without_memory_events_pass),
        cmocka_unit_test(random_events_match_a_model),
    };
    return cmocka_run_group_tests_name("event correlator", tests, NULL, NULL);
}
