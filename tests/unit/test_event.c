/* SPDX-License-Identifier: Apache-2.0 */
#include "support/test.h"
#include "wire/event.h"

static void every_type_has_its_name_on_the_wire(void **state)
{
    (void)state;
    assert_string_equal(ki_watch_event_type_name(KI_WATCH_EVENT_ADDED), "ADDED");
    assert_string_equal(ki_watch_event_type_name(KI_WATCH_EVENT_MODIFIED), "MODIFIED");
    assert_string_equal(ki_watch_event_type_name(KI_WATCH_EVENT_DELETED), "DELETED");
    assert_string_equal(ki_watch_event_type_name(KI_WATCH_EVENT_BOOKMARK), "BOOKMARK");
    assert_string_equal(ki_watch_event_type_name(KI_WATCH_EVENT_ERROR), "ERROR");
    assert_string_equal(ki_watch_event_type_name(KI_WATCH_EVENT_MAX), "unknown");
    assert_string_equal(ki_watch_event_type_name((ki_watch_event_type)-1), "unknown");
    for (int type = 0; type < KI_WATCH_EVENT_MAX; type++) {
        const char *name = ki_watch_event_type_name((ki_watch_event_type)type);
        assert_int_equal(ki__event_type_from(ki_str_from(name)), type);
    }
}

static void other_names_are_none(void **state)
{
    (void)state;
    const char *const names[] = {"", "added", "ADDED ", "ADD", "ADDEDX", "SYNC"};
    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
        assert_int_equal(ki__event_type_from(ki_str_from(names[i])), KI_WATCH_EVENT_MAX);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_type_has_its_name_on_the_wire),
        cmocka_unit_test(other_names_are_none),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
