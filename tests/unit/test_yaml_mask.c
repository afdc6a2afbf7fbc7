/* SPDX-License-Identifier: Apache-2.0 */
/* Masks: of the same shape, without the content, and back again. */
#include <stdio.h>

#include "client/config/yaml_mask.h"
#include "support/test.h"

static void letters_and_digits_are_hidden(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        const char *masked;
    } cases[] = {
        {"", ""},
        {"token: abc-123\n", "kkkkk: kkk-kkk\n"},
        {"- {a: 'b c', \"d\": [1,2]}", "- {k: 'k k', \"k\": [k,k]}"},
        /* What YAML gives meaning to stays. */
        {"a: |2-\n", "k: |2-\n"},
        {"a: >-3 # c1\n", "k: >-3 # kk\n"},
        {"a: |+9\n", "k: |+9\n"},
        {"\"\\x41B\\u0042C\\U00000043D\\nE\\\\F\"", "\"\\x41k\\u0042k\\U00000043k\\nk\\\\k\""},
        {"\\\\x41", "\\\\x41"},
        /* No escapes: too short, or with other letters. */
        {"\\xzz \\q \\u12", "\\xkk \\k \\u12"},
        {"C:\\users\\kube", "k:\\ukkkk\\kkkk"},
        {"\\", "\\"},
        {"k\xc3\xa4se", "k\xc3\xa4kk"},
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        ki_str text = ki_str_from(cases[i].text);
        char out[128] = "";
        assert_int_equal(ki__yaml_mask_letter(text), 'k');
        ki__yaml_mask(text, 'k', out);
        assert_string_equal(out, cases[i].masked);
    }
}

static void the_letter_is_none_that_an_escape_makes(void **state)
{
    (void)state;
    assert_int_equal(ki__yaml_mask_letter(ki_str_from("\\x6b")), 'q');
    assert_int_equal(ki__yaml_mask_letter(ki_str_from("\\u006b\\U00000071")), 'z');
    assert_int_equal(ki__yaml_mask_letter(ki_str_from("\\x6")), 'k');
    char all[1024] = "";
    size_t len = 0;
    for (int c = 'A'; c <= 'z'; c++) {
        len += (size_t)snprintf(all + len, sizeof(all) - len, "\\x%02x", (unsigned)c);
    }
    assert_int_equal(ki__yaml_mask_letter(ki_str_make(all, len)), '\0');
}

static void a_value_is_filled_in_again(void **state)
{
    (void)state;
    ki_str text = ki_str_from("\"one\\x41 two\"");
    char masked[32] = "";
    ki__yaml_mask(text, 'k', masked);
    char value[] = "kkkA kkk";
    assert_true(ki__yaml_unmask(text, masked, 'k', value, strlen(value)));
    assert_string_equal(value, "oneA two");
    char longer[] = "kkkA kkkk";
    assert_false(ki__yaml_unmask(text, masked, 'k', longer, strlen(longer)));
    char shorter[] = "kkkA kk";
    assert_false(ki__yaml_unmask(text, masked, 'k', shorter, strlen(shorter)));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(letters_and_digits_are_hidden),
        cmocka_unit_test(the_letter_is_none_that_an_escape_makes),
        cmocka_unit_test(a_value_is_filled_in_again),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
