/* SPDX-License-Identifier: Apache-2.0 */
/* Which callback a note becomes, with and without a filter. */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "cache/informer/handler.h"
#include "support/deltas.h"
#include "support/objects.h"
#include "support/test.h"

/* The objects are those with these specs, NULL for none. */
static void tell(const ki_handler *handler, ki__note note, const char *old, const char *object)
{
    ki_object *a = old != NULL ? test_thing(NULL, old) : NULL;
    ki_object *b = test_thing(NULL, object);
    note.old = a;
    note.object = b;
    uint64_t left_out = 0;
    ki__handler_notify(handler, &note, false, &left_out);
    ki_object_unref(a);
    ki_object_unref(b);
}

static void every_kind_of_note_has_its_callback(void **state)
{
    (void)state;
    test_log log = {.len = 0};
    const ki_handler handler = test_log_handler(&log);
    tell(&handler, (ki__note){.type = KI__NOTE_ADD}, NULL, "a@1");
    tell(&handler, (ki__note){.type = KI__NOTE_ADD, .is_initial = true}, NULL, "b@1");
    tell(&handler, (ki__note){.type = KI__NOTE_UPDATE}, "a@1", "a@2");
    tell(&handler, (ki__note){.type = KI__NOTE_DELETE}, "a@2", "a@3");
    tell(&handler, (ki__note){.type = KI__NOTE_DELETE, .final_state_unknown = true}, "b@1", "b@1");
    tell(&handler, (ki__note){.type = KI__NOTE_SYNC}, "c@4", "c@4");
    test_said(&log, "+a@1 +b@1! ~a@1>2 -a@3 -b@1? =c@4");
}

static void a_sync_is_an_update_for_who_has_no_callback_for_it(void **state)
{
    (void)state;
    test_log log = {.len = 0};
    ki_handler handler = test_log_handler(&log);
    handler.on_sync = NULL;
    tell(&handler, (ki__note){.type = KI__NOTE_SYNC}, "c@4", "c@4");
    test_said(&log, "~c@4>4");
}

static void callbacks_may_be_missing(void **state)
{
    (void)state;
    const ki_handler handler = {.user = NULL};
    for (int type = KI__NOTE_ADD; type <= KI__NOTE_SYNC; type++) {
        tell(&handler, (ki__note){.type = (ki__note_type)type}, "a@1", "a@2");
    }
}

/* Wants versions from 5 on. */
static bool is_late(const ki_object *object, void *user)
{
    (void)user;
    return ki_object_resource_version(object)[0] >= '5';
}

static void a_filter_hides_objects(void **state)
{
    (void)state;
    test_log log = {.len = 0};
    ki_handler handler = test_log_handler(&log);
    handler.filter = is_late;
    const ki__note add = {.type = KI__NOTE_ADD, .is_initial = true};
    const ki__note sync = {.type = KI__NOTE_SYNC};
    const ki__note deletion = {.type = KI__NOTE_DELETE, .final_state_unknown = true};
    tell(&handler, add, NULL, "a@1");
    tell(&handler, add, NULL, "b@5");
    tell(&handler, sync, "a@1", "a@1");
    tell(&handler, sync, "b@5", "b@5");
    tell(&handler, deletion, "a@1", "a@1");
    tell(&handler, deletion, "b@5", "b@5");
    test_said(&log, "+b@5! =b@5 -b@5?");
}

static void an_update_across_a_filter_is_an_addition_or_a_deletion(void **state)
{
    (void)state;
    test_log log = {.len = 0};
    ki_handler handler = test_log_handler(&log);
    handler.filter = is_late;
    const ki__note update = {.type = KI__NOTE_UPDATE};
    tell(&handler, update, "a@5", "a@6");
    tell(&handler, update, "a@1", "a@6");
    tell(&handler, update, "a@6", "a@1");
    tell(&handler, update, "a@1", "a@2");
    test_said(&log, "~a@5>6 +a@6 -a@6");
}

/* The handler has received the object, and must receive its deletion. */
static void a_deletion_is_delivered_even_if_the_final_state_is_filtered(void **state)
{
    (void)state;
    test_log log = {.len = 0};
    ki_handler handler = test_log_handler(&log);
    handler.filter = is_late;
    tell(&handler, (ki__note){.type = KI__NOTE_DELETE}, "a@5", "a@1");
    tell(&handler, (ki__note){.type = KI__NOTE_DELETE}, "a@1", "a@5");
    test_said(&log, "-a@1");
}

static void log_change(const ki_change *change, void *user)
{
    test_log *log = user;
    char text[160];
    assert_int_equal(change->size, sizeof(*change));
    (void)snprintf(text, sizeof(text), "%s %s@%s<%s%s%s%s; ", ki_change_name(change),
                   ki_object_key(change->object), ki_object_resource_version(change->object),
                   change->old != NULL ? ki_object_resource_version(change->old) : "none",
                   change->initial ? " initial" : "", change->final_state_unknown ? " unseen" : "",
                   change->merged != 0 ? " merged" : "");
    test_say(log, text);
}

static void on_change_receives_every_change_in_place_of_the_others(void **state)
{
    (void)state;
    test_log log = {.len = 0};
    ki_handler handler = test_log_handler(&log);
    handler.on_change = log_change;
    tell(&handler, (ki__note){.type = KI__NOTE_ADD}, NULL, "a@1");
    tell(&handler, (ki__note){.type = KI__NOTE_ADD, .is_initial = true}, NULL, "b@1");
    tell(&handler, (ki__note){.type = KI__NOTE_UPDATE, .merged = 2}, "a@1", "a@2");
    test_said(&log, "added a@1<none; added b@1<none initial; updated a@2<1 merged;");
    tell(&handler, (ki__note){.type = KI__NOTE_DELETE}, "a@2", "a@3");
    tell(&handler, (ki__note){.type = KI__NOTE_DELETE, .final_state_unknown = true}, "b@1", "b@1");
    tell(&handler, (ki__note){.type = KI__NOTE_SYNC}, NULL, "c@4");
    test_said(&log, "deleted a@3<2; deleted b@1<1 unseen; sync c@4<4;");
}

static void on_change_is_filtered_as_the_others_are(void **state)
{
    (void)state;
    test_log log = {.len = 0};
    const ki_handler handler = {.on_change = log_change, .filter = is_late, .user = &log};
    const ki__note update = {.type = KI__NOTE_UPDATE};
    tell(&handler, update, "a@5", "a@6");
    tell(&handler, update, "a@1", "a@6");
    tell(&handler, update, "a@6", "a@1");
    tell(&handler, update, "a@1", "a@2");
    test_said(&log, "updated a@6<5; added a@6<none; deleted a@6<6;");
    tell(&handler, (ki__note){.type = KI__NOTE_DELETE}, "a@5", "a@1");
    tell(&handler, (ki__note){.type = KI__NOTE_DELETE}, "a@1", "a@5");
    tell(&handler, (ki__note){.type = KI__NOTE_SYNC}, NULL, "a@1");
    tell(&handler, (ki__note){.type = KI__NOTE_ADD}, NULL, "a@1");
    test_said(&log, "deleted a@1<5;");
}

static void a_change_without_a_known_type_has_a_name_too(void **state)
{
    (void)state;
    const ki_change change = {.size = sizeof(change), .type = KI_CHANGE_TYPE_MAX};
    assert_string_equal(ki_change_name(&change), "unknown");
    assert_string_equal(ki_change_name(NULL), "unknown");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_kind_of_note_has_its_callback),
        cmocka_unit_test(a_sync_is_an_update_for_who_has_no_callback_for_it),
        cmocka_unit_test(callbacks_may_be_missing),
        cmocka_unit_test(a_filter_hides_objects),
        cmocka_unit_test(an_update_across_a_filter_is_an_addition_or_a_deletion),
        cmocka_unit_test(a_deletion_is_delivered_even_if_the_final_state_is_filtered),
        cmocka_unit_test(on_change_receives_every_change_in_place_of_the_others),
        cmocka_unit_test(on_change_is_filtered_as_the_others_are),
        cmocka_unit_test(a_change_without_a_known_type_has_a_name_too),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
