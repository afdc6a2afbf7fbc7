/* SPDX-License-Identifier: Apache-2.0 */
#include <string.h>

#include "base/log.h"
#include "support/test.h"

/* The arguments of the last call of a hook; what lives only during the call is copied. */
struct heard {
    int records;
    ki_log_level level;
    char component[32];
    char message[32];
    size_t field_count;
    char keys[4][16];
    char values[4][16];
};

static void copy(char *to, size_t size, const char *from, size_t len)
{
    assert_true(len < size);
    memcpy(to, from, len);
    to[len] = '\0';
}

static void hear(const ki_log_record *record, void *user)
{
    struct heard *heard = user;
    heard->records++;
    heard->level = record->level;
    copy(heard->component, sizeof(heard->component), record->component, strlen(record->component));
    copy(heard->message, sizeof(heard->message), record->message, strlen(record->message));
    heard->field_count = record->field_count;
    assert_true(record->field_count <= 4);
    for (size_t i = 0; i < record->field_count; i++) {
        const ki_log_field *field = &record->fields[i];
        copy(heard->keys[i], sizeof(heard->keys[i]), field->key, strlen(field->key));
        copy(heard->values[i], sizeof(heard->values[i]), field->value.ptr, field->value.len);
    }
}

static void levels_have_names(void **state)
{
    (void)state;
    static const char *const names[] = {"error", "warning", "info", "debug"};
    assert_int_equal(sizeof(names) / sizeof(names[0]), KI_LOG_LEVEL_MAX);
    for (int i = 0; i < KI_LOG_LEVEL_MAX; i++) {
        assert_string_equal(ki_log_level_name((ki_log_level)i), names[i]);
    }
    assert_string_equal(ki_log_level_name(KI_LOG_LEVEL_MAX), "unknown");
    assert_string_equal(ki_log_level_name((ki_log_level)-1), "unknown");
}

static void hook_hears_only_the_levels_it_wants(void **state)
{
    (void)state;
    for (int wanted = 0; wanted < KI_LOG_LEVEL_MAX; wanted++) {
        for (int level = 0; level < KI_LOG_LEVEL_MAX; level++) {
            struct heard heard = {0};
            const ki_log log = {0, hear, (ki_log_level)wanted, &heard};
            KI__LOG(&log, (ki_log_level)level, "test", "said");
            ki__log_write(&log, (ki_log_level)level, "test", "said", NULL, 0);
            assert_int_equal(heard.records, level <= wanted ? 2 : 0);
            assert_int_equal(ki__log_accepts(&log, (ki_log_level)level), level <= wanted);
        }
    }
}

static void zeroed_log_level_means_errors_only(void **state)
{
    (void)state;
    struct heard heard = {0};
    const ki_log log = {.write = hear, .user = &heard};
    KI__LOG(&log, KI_LOG_WARNING, "test", "no");
    assert_int_equal(heard.records, 0);
    KI__LOG(&log, KI_LOG_ERROR, "test", "yes");
    assert_int_equal(heard.records, 1);
}

static void nobody_needs_to_listen(void **state)
{
    (void)state;
    const ki_log *none = NULL;
    const ki_log deaf = {0, NULL, KI_LOG_DEBUG, NULL};
    assert_false(ki__log_accepts(none, KI_LOG_ERROR));
    assert_false(ki__log_accepts(&deaf, KI_LOG_ERROR));
    KI__LOG(none, KI_LOG_ERROR, "test", "nothing");
    KI__LOG(&deaf, KI_LOG_ERROR, "test", "nothing", {"key", {NULL, 0}});
    ki__log_write(none, KI_LOG_ERROR, "test", "nothing", NULL, 0);
}

static void record_carries_what_was_said(void **state)
{
    (void)state;
    struct heard heard = {0};
    const ki_log log = {0, hear, KI_LOG_DEBUG, &heard};
    KI__LOG(&log, KI_LOG_INFO, "reflector", "synced");
    assert_int_equal(heard.level, KI_LOG_INFO);
    assert_string_equal(heard.component, "reflector");
    assert_string_equal(heard.message, "synced");
    assert_int_equal(heard.field_count, 0);
}

static void fields_arrive_in_order(void **state)
{
    (void)state;
    struct heard heard = {0};
    const ki_log log = {0, hear, KI_LOG_DEBUG, &heard};
    ki_str name = ki_str_from("pods");
    KI__LOG(&log, KI_LOG_DEBUG, "test", "one", {"resource", name});
    assert_int_equal(heard.field_count, 1);
    assert_string_equal(heard.keys[0], "resource");
    assert_string_equal(heard.values[0], "pods");
    KI__LOG(&log, KI_LOG_DEBUG, "test", "three", {"a", name}, {"b", ki_str_make("xyz", 2)},
            {.key = "c", .value = {"", 0}});
    assert_int_equal(heard.field_count, 3);
    assert_string_equal(heard.message, "three");
    assert_string_equal(heard.keys[1], "b");
    assert_string_equal(heard.values[1], "xy");
    assert_string_equal(heard.keys[2], "c");
    assert_string_equal(heard.values[2], "");
}

static ki_str count_evaluation(int *evaluations)
{
    (*evaluations)++;
    return ki_str_from("costly");
}

static void fields_are_not_evaluated_when_nobody_listens(void **state)
{
    (void)state;
    struct heard heard = {0};
    const ki_log log = {0, hear, KI_LOG_INFO, &heard};
    int evaluations = 0;
    KI__LOG(&log, KI_LOG_DEBUG, "test", "quiet", {"key", count_evaluation(&evaluations)});
    assert_int_equal(evaluations, 0);
    KI__LOG(&log, KI_LOG_INFO, "test", "loud", {"key", count_evaluation(&evaluations)});
    assert_int_equal(evaluations, 1);
    assert_string_equal(heard.values[0], "costly");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(levels_have_names),
        cmocka_unit_test(hook_hears_only_the_levels_it_wants),
        cmocka_unit_test(zeroed_log_level_means_errors_only),
        cmocka_unit_test(nobody_needs_to_listen),
        cmocka_unit_test(record_carries_what_was_said),
        cmocka_unit_test(fields_arrive_in_order),
        cmocka_unit_test(fields_are_not_evaluated_when_nobody_listens),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
