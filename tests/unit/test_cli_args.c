/* SPDX-License-Identifier: Apache-2.0 */
/* The reader of command lines. */
#include <stdio.h>

#include "cli/args.h"
#include "support/test.h"

typedef struct sample {
    bool all;
    bool quiet;
    uint32_t verbose;
    const char *space;
    const char *stats;
    cli_words groups;
    uint32_t workers;
    uint32_t timeout_ms;
    cli_words exec;
} sample;

#define AT(member) offsetof(sample, member)

static const cli_option options[] = {
    {"all", 'A', CLI_ARG_FLAG, AT(all), NULL, ""},
    {"quiet", 'q', CLI_ARG_FLAG, AT(quiet), NULL, ""},
    {"verbose", 'v', CLI_ARG_COUNT, AT(verbose), NULL, ""},
    {"namespace", 'n', CLI_ARG_TEXT, AT(space), "NAME", ""},
    {"stats", 0, CLI_ARG_OPTIONAL, AT(stats), "json", ""},
};
static const cli_option more[] = {
    {"group", 'g', CLI_ARG_LIST, AT(groups), "NAME", ""},
    {"workers", 'w', CLI_ARG_NUMBER, AT(workers), "N", ""},
    {"timeout", 0, CLI_ARG_DURATION, AT(timeout_ms), "DURATION", ""},
    {"exec", 0, CLI_ARG_REST, AT(exec), "COMMAND...", ""},
};

static sample got;
static cli_words operands;
static ki_error error;

static int parse_with(size_t set_count, const char *const *words)
{
    cli_option_set sets[] = {{options, sizeof(options) / sizeof(options[0]), &got},
                             {more, sizeof(more) / sizeof(more[0]), &got}};
    cli_words_done(&got.groups);
    cli_words_done(&got.exec);
    cli_words_done(&operands);
    got = (sample){0};
    error = KI_ERROR_INIT;
    return cli_args_parse(sets, set_count, words, &operands, &error);
}

#define PARSE(...) parse_with(2, (const char *const[]){__VA_ARGS__, NULL})
/* Without an option that takes the rest. */
#define PARSE_FEW(...) parse_with(1, (const char *const[]){__VA_ARGS__, NULL})

static int teardown(void **state)
{
    (void)state;
    cli_words_done(&got.groups);
    cli_words_done(&got.exec);
    cli_words_done(&operands);
    return 0;
}

static void a_value_stands_after_a_blank_or_an_equals_sign(void **state)
{
    (void)state;
    assert_int_equal(PARSE("--namespace", "shop"), 0);
    assert_string_equal(got.space, "shop");
    assert_int_equal(PARSE("--namespace=shop"), 0);
    assert_string_equal(got.space, "shop");
    assert_int_equal(PARSE("--namespace="), 0);
    assert_string_equal(got.space, "");
    assert_int_equal(PARSE("--namespace=a=b"), 0);
    assert_string_equal(got.space, "a=b");
    assert_int_equal(PARSE("--namespace", "-x"), 0);
    assert_string_equal(got.space, "-x");
}

static void letters_take_their_value_from_the_rest_or_the_next_word(void **state)
{
    (void)state;
    assert_int_equal(PARSE("-n", "shop"), 0);
    assert_string_equal(got.space, "shop");
    assert_int_equal(PARSE("-nshop"), 0);
    assert_string_equal(got.space, "shop");
    assert_int_equal(PARSE("-n=shop"), 0);
    assert_string_equal(got.space, "shop");
}

static void flags_stand_together_and_the_last_may_have_a_value(void **state)
{
    (void)state;
    assert_int_equal(PARSE("-Aqvvnshop", "pods"), 0);
    assert_true(got.all && got.quiet);
    assert_int_equal(got.verbose, 2);
    assert_string_equal(got.space, "shop");
    assert_int_equal(operands.count, 1);
}

static void options_and_operands_mix_until_two_dashes(void **state)
{
    (void)state;
    assert_int_equal(PARSE_FEW("pods", "-A", "-", "--", "-q", "--", "x"), 0);
    assert_true(got.all);
    assert_false(got.quiet);
    assert_int_equal(operands.count, 5);
    assert_string_equal(operands.items[1], "-");
    assert_string_equal(operands.items[2], "-q");
    assert_string_equal(operands.items[3], "--");
    assert_null(operands.items[5]);
}

static void flags_may_be_said_to_be_false(void **state)
{
    (void)state;
    assert_int_equal(PARSE("-A", "--all=false"), 0);
    assert_false(got.all);
    assert_int_equal(PARSE("--all=true"), 0);
    assert_true(got.all);
    assert_int_equal(PARSE("--all=maybe"), KI_ERR_INVALID);
    assert_string_equal(error.message, "--all: invalid value \"maybe\": must be true or false");
}

static void an_optional_value_needs_the_equals_sign(void **state)
{
    (void)state;
    assert_int_equal(PARSE("--stats", "pods"), 0);
    assert_string_equal(got.stats, "");
    assert_int_equal(operands.count, 1);
    assert_int_equal(PARSE("--stats=json"), 0);
    assert_string_equal(got.stats, "json");
}

static void lists_grow_and_the_last_text_counts(void **state)
{
    (void)state;
    assert_int_equal(PARSE("-g", "a", "--group=b", "-n", "x", "-n", "y"), 0);
    assert_int_equal(got.groups.count, 2);
    assert_string_equal(got.groups.items[1], "b");
    assert_null(got.groups.items[2]);
    assert_string_equal(got.space, "y");
}

static void the_rest_is_taken_whatever_it_looks_like(void **state)
{
    (void)state;
    assert_int_equal(PARSE("pods", "--exec", "sh", "-c", "--", "-A"), 0);
    assert_int_equal(got.exec.count, 4);
    assert_string_equal(got.exec.items[3], "-A");
    assert_false(got.all);
    assert_int_equal(operands.count, 1);
}

static void the_rest_with_an_equals_sign_is_one_word(void **state)
{
    (void)state;
    assert_int_equal(PARSE("pods", "--exec=sh", "-A", "-n", "shop"), 0);
    assert_int_equal(got.exec.count, 1);
    assert_string_equal(got.exec.items[0], "sh");
    assert_null(got.exec.items[1]);
    assert_true(got.all);
    assert_string_equal(got.space, "shop");
    assert_int_equal(operands.count, 1);
}

static void two_dashes_begin_the_rest(void **state)
{
    (void)state;
    assert_int_equal(PARSE("pods", "-A", "--", "sh", "-c", "--", "-q"), 0);
    assert_int_equal(got.exec.count, 4);
    assert_string_equal(got.exec.items[0], "sh");
    assert_string_equal(got.exec.items[3], "-q");
    assert_false(got.quiet);
    assert_int_equal(operands.count, 1);
    assert_int_equal(PARSE("--exec=sh", "pods", "--", "-c", "x"), 0);
    assert_int_equal(got.exec.count, 3);
    assert_string_equal(got.exec.items[2], "x");
}

static void numbers_are_whole_and_fit(void **state)
{
    (void)state;
    assert_int_equal(PARSE("--workers", "4294967295"), 0);
    assert_int_equal(got.workers, UINT32_MAX);
    const char *wrong[] = {"", "-1", "1x", "4294967296", "0x10", "99999999999999999999999"};
    for (size_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++) {
        char word[64];
        (void)snprintf(word, sizeof(word), "--workers=%s", wrong[i]);
        assert_int_equal(PARSE(word), KI_ERR_INVALID);
    }
}

static void durations_have_units(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        uint32_t ms;
    } right[] = {{"0", 0},       {"5", 5000},      {"500ms", 500},
                 {"10s", 10000}, {"1m30s", 90000}, {"2h", 7200000}};
    uint32_t ms = 1;
    for (size_t i = 0; i < sizeof(right) / sizeof(right[0]); i++) {
        assert_int_equal(cli_args_duration(right[i].text, &ms), 0);
        assert_int_equal(ms, right[i].ms);
    }
    const char *wrong[] = {"", "s", "1x", "-1s", "1m5", "9999999h", "1 s"};
    for (size_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++) {
        assert_int_equal(cli_args_duration(wrong[i], &ms), KI_ERR_INVALID);
    }
}

static void what_is_wrong_is_said_with_the_nearest_name(void **state)
{
    (void)state;
    assert_int_equal(PARSE("--namspace", "x"), KI_ERR_INVALID);
    assert_string_equal(error.message, "unknown option --namspace; did you mean --namespace?");
    assert_int_equal(PARSE("--zzzzzzzz"), KI_ERR_INVALID);
    assert_string_equal(error.message, "unknown option --zzzzzzzz");
    assert_int_equal(PARSE("-Ax"), KI_ERR_INVALID);
    assert_string_equal(error.message, "unknown option -x");
    assert_int_equal(PARSE("--workers=two"), KI_ERR_INVALID);
    assert_string_equal(error.message, "--workers: invalid value \"two\": must be a whole number");
    assert_int_equal(PARSE("--timeout=0.5s"), KI_ERR_INVALID);
    assert_non_null(strstr(error.message, "must be a duration such as 500ms"));
    assert_int_equal(PARSE("-n"), KI_ERR_INVALID);
    assert_string_equal(error.message, "--namespace: value missing: NAME");
}

static void a_name_that_is_too_long_is_no_option(void **state)
{
    (void)state;
    char word[4096];
    memset(word, 'a', sizeof(word));
    memcpy(word, "--", 2);
    word[sizeof(word) - 1] = '\0';
    assert_int_equal(PARSE(word), KI_ERR_INVALID);
}

static void the_nearest_name_is_near(void **state)
{
    (void)state;
    const char *names[] = {"watch", "get", "run", "top", NULL};
    assert_string_equal(cli_args_nearest("wacth", names), "watch");
    assert_string_equal(cli_args_nearest("tp", names), "top");
    assert_string_equal(cli_args_nearest("wat", names), "watch");
    assert_null(cli_args_nearest("describe", names));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_teardown(a_value_stands_after_a_blank_or_an_equals_sign, teardown),
        cmocka_unit_test_teardown(letters_take_their_value_from_the_rest_or_the_next_word,
                                  teardown),
        cmocka_unit_test_teardown(flags_stand_together_and_the_last_may_have_a_value, teardown),
        cmocka_unit_test_teardown(options_and_operands_mix_until_two_dashes, teardown),
        cmocka_unit_test_teardown(flags_may_be_said_to_be_false, teardown),
        cmocka_unit_test_teardown(an_optional_value_needs_the_equals_sign, teardown),
        cmocka_unit_test_teardown(lists_grow_and_the_last_text_counts, teardown),
        cmocka_unit_test_teardown(the_rest_is_taken_whatever_it_looks_like, teardown),
        cmocka_unit_test_teardown(the_rest_with_an_equals_sign_is_one_word, teardown),
        cmocka_unit_test_teardown(two_dashes_begin_the_rest, teardown),
        cmocka_unit_test_teardown(numbers_are_whole_and_fit, teardown),
        cmocka_unit_test(durations_have_units),
        cmocka_unit_test_teardown(what_is_wrong_is_said_with_the_nearest_name, teardown),
        cmocka_unit_test_teardown(a_name_that_is_too_long_is_no_option, teardown),
        cmocka_unit_test(the_nearest_name_is_near),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
