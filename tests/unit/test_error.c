/* SPDX-License-Identifier: Apache-2.0 */
#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <wchar.h>

#include <kinformer/status.h>

#include "base/error.h"
#include "support/test.h"

static const struct {
    int code;
    const char *name;
} codes[] = {
#define ROW(name, code, text) {code, "KI_ERR_" #name},
    KI_ERROR_MAP(ROW)
#undef ROW
};
enum { CODES = sizeof(codes) / sizeof(codes[0]) };

static void codes_fill_their_range_without_gaps(void **state)
{
    (void)state;
    for (int i = 0; i < CODES; i++) {
        assert_int_equal(codes[i].code, KI_ERR_FIRST - i);
    }
    assert_true(KI_ERR_FIRST < -4095); /* out of the way of every errno */
}

static void each_code_has_its_name(void **state)
{
    (void)state;
    for (size_t i = 0; i < CODES; i++) {
        assert_string_equal(ki_error_name(codes[i].code), codes[i].name);
    }
    assert_string_equal(ki_error_name(0), "ok");
    assert_string_equal(ki_error_name(-ENOMEM), "ENOMEM");
    assert_string_equal(ki_error_name(-ETIMEDOUT), "ETIMEDOUT");
    assert_string_equal(ki_error_name(-EAGAIN), "EAGAIN");
}

/* All codes that have a name, the errnos among them. */
static size_t known_codes(int *known, size_t max)
{
    size_t count = 0;
    for (int code = 0; code > KI_ERR_FIRST - CODES - 100; code--) {
        if (strcmp(ki_error_name(code), "unknown") != 0) {
            assert_true(count < max);
            known[count++] = code;
        }
    }
    return count;
}

static void no_two_codes_share_a_name_or_a_text(void **state)
{
    (void)state;
    int known[400];
    size_t count = known_codes(known, 400);
    assert_true(count > CODES + 50);
    for (size_t i = 0; i < count; i++) {
        assert_string_not_equal(ki_error_text(known[i]), "");
        for (size_t j = 0; j < i; j++) {
            assert_string_not_equal(ki_error_name(known[i]), ki_error_name(known[j]));
            assert_string_not_equal(ki_error_text(known[i]), ki_error_text(known[j]));
        }
    }
}

static void codes_nobody_knows_still_have_words(void **state)
{
    (void)state;
    static const struct {
        int code;
        const char *text;
    } cases[] = {
        {-4095, "unknown system error"},
        {-4096, "unknown error"},
        {KI_ERR_FIRST + 1, "unknown error"},
        {KI_ERR_FIRST - CODES, "unknown error"},
        {1, "unknown error"},
        {ENOMEM, "unknown error"},
        {INT_MAX, "unknown error"},
        {INT_MIN, "unknown error"},
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        assert_string_equal(ki_error_name(cases[i].code), "unknown");
        assert_string_equal(ki_error_text(cases[i].code), cases[i].text);
        assert_false(ki_error_is_retriable(cases[i].code));
    }
    assert_string_equal(ki_error_text(0), "success");
}

static void retriable_is_what_may_pass_by_itself(void **state)
{
    (void)state;
    static const int retriable[] = {
        -EAGAIN,      -EINTR,        -ENOMEM, -ETIMEDOUT, -ECONNREFUSED, -ECONNRESET, -ECONNABORTED,
        -ENETUNREACH, -EHOSTUNREACH, -EPIPE,  -ENETDOWN,  -EMFILE,       KI_ERR_BUSY,
    };
    static const int lasting[] = {
        0,           -EINVAL,       -E2BIG,     -EACCES,        -ENOENT,          KI_ERR_LIMIT,
        KI_ERR_TYPE, KI_ERR_SYNTAX, KI_ERR_KEY, KI_ERR_STOPPED, KI_ERR_NOT_FOUND,
    };
    for (size_t i = 0; i < sizeof(retriable) / sizeof(retriable[0]); i++) {
        assert_true(ki_error_is_retriable(retriable[i]));
    }
    for (size_t i = 0; i < sizeof(lasting) / sizeof(lasting[0]); i++) {
        assert_false(ki_error_is_retriable(lasting[i]));
    }
}

static void reasons_go_to_text_and_back(void **state)
{
    (void)state;
    assert_string_equal(ki_reason_text(KI_REASON_UNKNOWN), "");
    for (int i = KI_REASON_UNKNOWN + 1; i < KI_REASON_MAX; i++) {
        const char *text = ki_reason_text((ki_reason)i);
        assert_string_not_equal(text, "");
        assert_int_equal(ki_reason_from(ki_str_from(text)), i);
    }
}

static void reasons_are_spelt_exactly(void **state)
{
    (void)state;
    assert_int_equal(ki_reason_from(ki_str_from("StorageReadError")), KI_REASON_STORE_READ_ERROR);
    assert_int_equal(ki_reason_from(ki_str_make("Gone away", 4)), KI_REASON_GONE);
    static const char *const strangers[] = {"", "gone", "Gon", "Gone ", "Teapot"};
    for (size_t i = 0; i < sizeof(strangers) / sizeof(strangers[0]); i++) {
        assert_int_equal(ki_reason_from(ki_str_from(strangers[i])), KI_REASON_UNKNOWN);
    }
    assert_int_equal(ki_reason_from(ki_str_from(NULL)), KI_REASON_UNKNOWN);
    assert_string_equal(ki_reason_text(KI_REASON_MAX), "");
    assert_string_equal(ki_reason_text((ki_reason)-1), "");
}

static ki_error filled_error(void)
{
    ki_error error = KI_ERROR_INIT;
    memset(&error, 0x5a, sizeof(error));
    error.message[sizeof(error.message) - 1] = '\0';
    return error;
}

static void set_clears_what_was_there_before(void **state)
{
    (void)state;
    ki_error error = filled_error();
    assert_int_equal(ki__error_set(&error, KI_ERR_KEY, "bad key \"%s\": %d", "a/b/c", 3),
                     KI_ERR_KEY);
    assert_int_equal(error.code, KI_ERR_KEY);
    assert_string_equal(error.message, "bad key \"a/b/c\": 3");
    assert_int_equal(error.http_code, 0);
    assert_int_equal(error.reason, KI_REASON_UNKNOWN);
    assert_int_equal(error.retry_after_ms, 0);
    assert_int_equal(error.offset, 0);
    assert_int_equal(error.line, 0);
    assert_int_equal(error.column, 0);
}

static void code_brings_its_own_text(void **state)
{
    (void)state;
    ki_error error = filled_error();
    assert_int_equal(ki__error_code(&error, -ENOMEM), -ENOMEM);
    assert_int_equal(error.code, -ENOMEM);
    assert_string_equal(error.message, ki_error_text(-ENOMEM));
}

static void nobody_needs_to_ask_for_details(void **state)
{
    (void)state;
    assert_int_equal(ki__error_set(NULL, KI_ERR_LIMIT, "%d", 1), KI_ERR_LIMIT);
    assert_int_equal(ki__error_at(NULL, KI_ERR_SYNTAX, ki_str_from("x"), 0, "%d", 1),
                     KI_ERR_SYNTAX);
    assert_int_equal(ki__error_code(NULL, -EINVAL), -EINVAL);
}

static void message_may_be_made_of_the_one_before(void **state)
{
    (void)state;
    ki_error error = KI_ERROR_INIT;
    (void)ki__error_set(&error, KI_ERR_SYNTAX, "unexpected '}'");
    (void)ki__error_set(&error, error.code, "reading pods: %s", error.message);
    assert_string_equal(error.message, "reading pods: unexpected '}'");
    assert_int_equal(error.code, KI_ERR_SYNTAX);
}

static void place_is_counted_in_lines_and_bytes(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        size_t offset;
        uint32_t line;
        uint32_t column;
    } cases[] = {
        {"", 0, 1, 1},       {"abc", 0, 1, 1},       {"abc", 2, 1, 3},
        {"abc", 3, 1, 4},    /* the end */
        {"ab\ncd", 2, 1, 3}, /* the line feed belongs to the line it ends */
        {"ab\ncd", 3, 2, 1}, {"ab\ncd", 4, 2, 2},    {"\n\n\n", 3, 4, 1},
        {"a\r\nb", 3, 2, 1}, {"\xc3\xa4x", 2, 1, 3}, /* bytes, not characters */
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        ki_error error = filled_error();
        int r = ki__error_at(&error, KI_ERR_SYNTAX, ki_str_from(cases[i].text), cases[i].offset,
                             "case %zu", i);
        assert_int_equal(r, KI_ERR_SYNTAX);
        assert_int_equal(error.code, KI_ERR_SYNTAX);
        assert_int_equal(error.offset, cases[i].offset);
        assert_int_equal(error.line, cases[i].line);
        assert_int_equal(error.column, cases[i].column);
    }
}

static void place_beyond_the_end_is_the_end(void **state)
{
    (void)state;
    ki_error error = KI_ERROR_INIT;
    (void)ki__error_at(&error, KI_ERR_SYNTAX, ki_str_from("a\nbc"), SIZE_MAX, "x");
    assert_int_equal(error.offset, 4);
    assert_int_equal(error.line, 2);
    assert_int_equal(error.column, 3);
    (void)ki__error_at(&error, KI_ERR_SYNTAX, ki_str_from(NULL), 1, "x");
    assert_int_equal(error.offset, 0);
    assert_int_equal(error.column, 1);
}

enum { ROOM = sizeof(((ki_error *)NULL)->message) - 1 };

/* Around the cut, a message of one-byte characters and then one character repeated is cut before
 * the first that does not fit whole before the mark. */
static void long_messages_are_cut_between_characters(void **state)
{
    (void)state;
    static const char *const characters[] = {"x", "\xc3\xa4", "\xe2\x82\xac", "\xf0\x9f\x90\xb3"};
    const size_t most = ROOM - 3; /* before "..." */
    for (size_t i = 0; i < 4; i++) {
        size_t size = strlen(characters[i]);
        for (size_t plain = ROOM - 8; plain <= ROOM; plain++) {
            char text[ROOM * 2] = {0};
            memset(text, 'p', plain);
            for (size_t n = plain; n + size < sizeof(text); n += size) {
                memcpy(text + n, characters[i], size);
            }
            ki_error error = filled_error();
            (void)ki__error_set(&error, KI_ERR_INVALID, "%s", text);
            size_t whole = plain >= most ? most : plain + (most - plain) / size * size;
            assert_int_equal(strlen(error.message), whole + 3);
            assert_memory_equal(error.message, text, whole);
            assert_string_equal(error.message + whole, "...");
            ki_error added = filled_error();
            added.message[0] = '\0';
            ki__error_add(&added, ki_str_from(text));
            assert_string_equal(added.message, error.message);
            ki__error_add(&added, ki_str_from("y")); /* nothing comes behind the mark */
            assert_string_equal(added.message, error.message);
        }
    }
}

static void messages_that_just_fit_are_not_cut(void **state)
{
    (void)state;
    char text[ROOM + 1] = {0};
    memset(text, 'x', ROOM);
    memcpy(text + ROOM - 2, "\xc3\xa4", 2);
    ki_error error = KI_ERROR_INIT;
    (void)ki__error_set(&error, KI_ERR_INVALID, "%s", text);
    assert_string_equal(error.message, text);
    text[ROOM - 1] = '\0'; /* half a character, but not by our cutting */
    (void)ki__error_set(&error, KI_ERR_INVALID, "%s", text);
    assert_string_equal(error.message, text);
}

static void bytes_that_are_not_utf8_are_cut_anywhere(void **state)
{
    (void)state;
    char text[2000];
    memset(text, 0x80, sizeof(text) - 1);
    text[sizeof(text) - 1] = '\0';
    ki_error error = KI_ERROR_INIT;
    (void)ki__error_set(&error, KI_ERR_ENCODING, "%s", text);
    assert_int_equal(strlen(error.message), sizeof(error.message) - 1);
}

/* It gives up when what it counts leaves an int, or, as here, when a character cannot be written.
 */
static void message_the_c_library_refuses_falls_back(void **state)
{
    (void)state;
    ki_error error = filled_error();
    (void)ki__error_set(&error, KI_ERR_LIMIT, "half of it %lc", (wint_t)0x7fffffff);
    assert_int_equal(error.code, KI_ERR_LIMIT);
    assert_string_equal(error.message, ki_error_text(KI_ERR_LIMIT));
}

/* Errors of programs that know less, and of those that know more. */
static void copies_stay_within_both_sizes(void **state)
{
    (void)state;
    struct {
        ki_error error;
        uint64_t behind;
    } theirs;
    const size_t sizes[] = {0, sizeof(ki_error), sizeof(theirs), 1, SIZE_MAX};
    ki_error ours = KI_ERROR_INIT;
    (void)ki__error_set(&ours, -EPIPE, "it broke");
    ours.line = 7;
    for (size_t i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++) {
        memset(&theirs, 0x5a, sizeof(theirs));
        theirs.error.size = sizes[i];
        ki__error_copy(&theirs.error, &ours);
        assert_int_equal(theirs.error.size, sizes[i]);
        assert_int_equal(theirs.error.code, -EPIPE);
        assert_int_equal(theirs.error.line, 7);
        assert_string_equal(theirs.error.message, "it broke");
        assert_int_equal(theirs.behind, UINT64_C(0x5a5a5a5a5a5a5a5a));
        ki_error back = KI_ERROR_INIT;
        ki__error_copy(&back, &theirs.error);
        assert_int_equal(back.size, sizeof(back));
        assert_string_equal(back.message, "it broke");
        ki__error_clear(&theirs.error);
        assert_int_equal(theirs.error.size, sizes[i]);
        assert_int_equal(theirs.error.code, 0);
        assert_string_equal(theirs.error.message, "");
        assert_int_equal(theirs.behind, UINT64_C(0x5a5a5a5a5a5a5a5a));
    }
    ki__error_copy(NULL, &ours);
    ki__error_copy(&ours, &ours);
    assert_string_equal(ours.message, "it broke");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(codes_fill_their_range_without_gaps),
        cmocka_unit_test(each_code_has_its_name),
        cmocka_unit_test(no_two_codes_share_a_name_or_a_text),
        cmocka_unit_test(codes_nobody_knows_still_have_words),
        cmocka_unit_test(retriable_is_what_may_pass_by_itself),
        cmocka_unit_test(reasons_go_to_text_and_back),
        cmocka_unit_test(reasons_are_spelt_exactly),
        cmocka_unit_test(set_clears_what_was_there_before),
        cmocka_unit_test(code_brings_its_own_text),
        cmocka_unit_test(nobody_needs_to_ask_for_details),
        cmocka_unit_test(message_may_be_made_of_the_one_before),
        cmocka_unit_test(place_is_counted_in_lines_and_bytes),
        cmocka_unit_test(place_beyond_the_end_is_the_end),
        cmocka_unit_test(long_messages_are_cut_between_characters),
        cmocka_unit_test(messages_that_just_fit_are_not_cut),
        cmocka_unit_test(bytes_that_are_not_utf8_are_cut_anywhere),
        cmocka_unit_test(message_the_c_library_refuses_falls_back),
        cmocka_unit_test(copies_stay_within_both_sizes),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
