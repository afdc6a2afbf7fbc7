/* SPDX-License-Identifier: Apache-2.0 */
/* What happened last to each key. */
#include <stdio.h>

#include "cli/changes.h"
#include "support/test.h"

static cli_changes changes;
static ki_object *object;

static int setup(void **state)
{
    (void)state;
    static const char json[] = "{\"metadata\":{\"name\":\"a\"}}";
    return ki_object_from_json(json, sizeof(json) - 1, NULL, &object, NULL);
}

static int teardown(void **state)
{
    (void)state;
    cli_changes_done(&changes);
    object = ki_object_unref(object);
    return 0;
}

/* What two changes come to. */
static const char *merged(cli_change_type first, cli_change_type then)
{
    ki_object *last = NULL;
    cli_changes_note(&changes, "a", first, object);
    cli_changes_note(&changes, "a", then, object);
    cli_change_type type = cli_changes_take(&changes, "a", &last);
    assert_ptr_equal(last, type == CLI_CHANGE_DELETE ? object : NULL);
    (void)ki_object_unref(last);
    assert_int_equal(changes.count, 0);
    return cli_change_name(type);
}

static void changes_of_a_key_merge(void **state)
{
    (void)state;
    assert_string_equal(merged(CLI_CHANGE_ADD, CLI_CHANGE_UPDATE), "add");
    assert_string_equal(merged(CLI_CHANGE_ADD, CLI_CHANGE_DELETE), "delete");
    assert_string_equal(merged(CLI_CHANGE_UPDATE, CLI_CHANGE_UPDATE), "update");
    assert_string_equal(merged(CLI_CHANGE_UPDATE, CLI_CHANGE_SYNC), "update");
    assert_string_equal(merged(CLI_CHANGE_SYNC, CLI_CHANGE_UPDATE), "update");
    assert_string_equal(merged(CLI_CHANGE_DELETE, CLI_CHANGE_ADD), "add");
    assert_string_equal(merged(CLI_CHANGE_DELETE, CLI_CHANGE_DELETE), "delete");
}

static void what_is_not_known_is_nothing(void **state)
{
    (void)state;
    ki_object *last = object;
    assert_int_equal(cli_changes_take(&changes, "x", &last), CLI_CHANGE_NONE);
    assert_null(last);
}

static void what_is_put_back_comes_before_what_happened_since(void **state)
{
    (void)state;
    ki_object *last = NULL;
    cli_changes_put_back(&changes, "a", CLI_CHANGE_ADD, object);
    assert_int_equal(cli_changes_take(&changes, "a", &last), CLI_CHANGE_ADD);
    cli_changes_note(&changes, "a", CLI_CHANGE_UPDATE, object);
    cli_changes_put_back(&changes, "a", CLI_CHANGE_ADD, object);
    assert_int_equal(cli_changes_take(&changes, "a", &last), CLI_CHANGE_ADD);
    cli_changes_note(&changes, "a", CLI_CHANGE_DELETE, object);
    cli_changes_put_back(&changes, "a", CLI_CHANGE_UPDATE, object);
    assert_int_equal(cli_changes_take(&changes, "a", &last), CLI_CHANGE_DELETE);
    assert_ptr_equal(last, object);
    (void)ki_object_unref(last);
    cli_changes_put_back(&changes, "a", CLI_CHANGE_DELETE, object);
    assert_int_equal(cli_changes_take(&changes, "a", &last), CLI_CHANGE_DELETE);
    (void)ki_object_unref(last);
}

static void keys_are_kept_apart(void **state)
{
    (void)state;
    char key[32];
    ki_object *last;
    for (int i = 0; i < 1000; i++) {
        (void)snprintf(key, sizeof(key), "n/%d", i);
        cli_changes_note(&changes, key, i % 2 == 0 ? CLI_CHANGE_ADD : CLI_CHANGE_DELETE, object);
    }
    assert_int_equal(changes.count, 1000);
    for (int i = 0; i < 500; i++) {
        (void)snprintf(key, sizeof(key), "n/%d", i);
        assert_int_equal(cli_changes_take(&changes, key, &last),
                         i % 2 == 0 ? CLI_CHANGE_ADD : CLI_CHANGE_DELETE);
        (void)ki_object_unref(last);
    }
    assert_int_equal(changes.count, 500); /* the rest is freed at the end */
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(changes_of_a_key_merge),
        TEST(what_is_not_known_is_nothing),
        TEST(what_is_put_back_comes_before_what_happened_since),
        TEST(keys_are_kept_apart),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
