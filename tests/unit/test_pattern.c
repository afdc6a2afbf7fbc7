/* SPDX-License-Identifier: Apache-2.0 */
/* Regular expressions. The expected answers are those of Go's regexp package. */
#include <errno.h>
#include <string.h>

#include <kinformer/error.h>

#include "apiserver/validate/pattern.h"
#include "support/test.h"

enum { STEPS = 1 << 20 };

static int match(const char *expression, const char *text)
{
    ki__pattern *pattern;
    ki__pattern_fault fault;
    uint32_t steps = STEPS;
    int r = ki__pattern_new(ki_str_from(expression), NULL, &pattern, &fault);
    if (r < 0) {
        fail_msg("%s: %s", expression, fault.what != NULL ? fault.what : ki_error_name(r));
    }
    r = ki__pattern_match(pattern, ki_str_from(text), &steps);
    ki__pattern_free(pattern);
    return r;
}

static void expressions_match_as_in_go(void **state)
{
    static const struct {
        const char *expression;
        const char *yes; /* texts, with '|' between them */
        const char *no;
    } cases[] = {
        {"abc", "abc|xabcx", "ab|ABC"},
        {"^abc$", "abc", "xabc|abcx"},
        {"^a.c$",
         "abc|a\xc3\xa9"
         "c",
         "ac|a\nc"},
        {"^(a|bc|d)+$", "a|bc|abcd", "b|ab"},
        {"^a?b*c+$", "c|abbc|acc", "a|ab"},
        {"^a{2}$", "aa", "a|aaa"},
        {"^a{2,}$", "aa|aaaa", "a"},
        {"^a{1,3}$", "a|aaa", "aaaa"},
        {"^(ab){0,2}c$", "c|abc|ababc", "abababc"},
        {"^a{0}$|^x$", "x", "a"},
        {"a{,2}", "a{,2}", "aa"},
        {"^[a-c_-]+$", "a-b_c", "d"},
        {"^[^a-c]$", "d|\xc3\xa9", "a"},
        {"^[]a]$", "]|a", "b"},
        {"^[[:alpha:]]+[[:^digit:]]$", "ab|a_", "a1"},
        {"^\\d+\\D\\w\\W\\s\\S$", "1aa- x", "1aaa x"},
        {"\\bab\\b", "ab|x ab y", "cab|abc"},
        {"\\Bb", "ab", "b"},
        {"\\Aa\\z", "a", "ba|ab"},
        {"(?i)^abC$", "ABC|abc", "abd"},
        {"(?i:a)b", "Ab|ab", "AB"},
        {"(?s)^a.b$", "a\nb", "ab"},
        {"(?m)^b$", "a\nb\nc", "ab"},
        {"^(?P<x>a)(?<y>b)$", "ab", "a"},
        {"^\\Q.*\\E$", ".*", "ab"},
        {"^\\x41\\x{e9}\\101$",
         "A\xc3\xa9"
         "A",
         "AeA"},
        {"^(a*)*$", "|aaa", "b"},
        {"^(|a)+$", "|aa", "b"},
        {"^a*?b+?$", "aab", "a"},
        {"\xe2\x82\xac", "5 \xe2\x82\xac", "5"},
    };
    (void)state;
    char text[64];
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        for (int yes = 1; yes >= 0; yes--) {
            const char *p = yes ? cases[i].yes : cases[i].no;
            for (bool more = true; more;) {
                size_t len = strcspn(p, "|");
                memcpy(text, p, len);
                text[len] = '\0';
                if (match(cases[i].expression, text) != yes) {
                    fail_msg("%s on '%s' is not %d", cases[i].expression, text, yes);
                }
                more = p[len] == '|';
                p += len + 1;
            }
        }
    }
}

static void errors_are_reported(void **state)
{
    static const struct {
        const char *expression;
        const char *what;
        const char *part;
    } cases[] = {
        {"a(b", "missing closing )", "a(b"},
        {"a)b", "unexpected )", "a)b"},
        {"*a", "missing argument to repetition operator", "*"},
        {"a**", "invalid nested repetition operator", "**"},
        {"a{1001}", "invalid repeat count", "{1001}"},
        {"a{3,2}", "invalid repeat count", "{3,2}"},
        {"[b-a]", "invalid character class range", "b-a"},
        {"x[a", "missing closing ]", "[a"},
        {"\\y", "invalid escape sequence", "\\y"},
        {"\\1", "invalid escape sequence", "\\1"},
        {"(?=a)", "invalid or unsupported Perl syntax", "(?="},
        {"(?P<1 >a)", "invalid named capture", "(?P<1 >a)"},
        {"a\\", "trailing backslash at end of expression", ""},
    };
    (void)state;
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        ki__pattern *pattern;
        ki__pattern_fault fault;
        const char *e = cases[i].expression;
        assert_int_equal(ki__pattern_new(ki_str_from(e), NULL, &pattern, &fault), KI_ERR_SYNTAX);
        assert_string_equal(fault.what, cases[i].what);
        if (!ki_str_eq_text(ki_str_make(e + fault.at, fault.len), cases[i].part)) {
            fail_msg("%s: %.*s", e, (int)fault.len, e + fault.at);
        }
    }
}

static void limits_hold(void **state)
{
    (void)state;
    ki__pattern *pattern;
    ki__pattern_fault fault;
    char text[KI__PATTERN_BYTES_MAX + 2];
    memset(text, 'a', sizeof(text));
    assert_int_equal(ki__pattern_new(ki_str_make(text, sizeof(text)), NULL, &pattern, &fault),
                     KI_ERR_LIMIT);
    assert_int_equal(ki__pattern_new(ki_str_from("((a{100}){100}){100}"), NULL, &pattern, &fault),
                     KI_ERR_LIMIT);
    assert_int_equal(ki__pattern_new(ki_str_from("\\pL"), NULL, &pattern, &fault),
                     KI_ERR_UNSUPPORTED);
    memset(text, '(', sizeof(text));
    assert_int_equal(ki__pattern_new(ki_str_make(text, 4000), NULL, &pattern, &fault),
                     KI_ERR_SYNTAX);
    /* What takes exponential time elsewhere does not here; and steps end. */
    uint32_t steps = 100000;
    assert_int_equal(ki__pattern_new(ki_str_from("^(a+)+(a|a)*$"), NULL, &pattern, &fault), 0);
    memset(text, 'a', 2000);
    text[2000] = 'b';
    assert_int_equal(ki__pattern_match(pattern, ki_str_make(text, 2001), &steps), 0);
    steps = 100;
    assert_int_equal(ki__pattern_match(pattern, ki_str_make(text, 2001), &steps), KI_ERR_LIMIT);
    ki__pattern_free(pattern);
}

static int scenario(const ki_alloc *alloc, void *user)
{
    ki__pattern *pattern;
    ki__pattern_fault fault;
    uint32_t steps = STEPS;
    (void)user;
    int r = ki__pattern_new(ki_str_from("^(?i)(a[^b-d]|\\w{2,5}|[[:^alpha:]])+x?$"), alloc,
                            &pattern, &fault);
    if (r < 0) {
        return r;
    }
    r = ki__pattern_match(pattern, ki_str_from("aABCdefx"), &steps);
    ki__pattern_free(pattern);
    return r < 0 ? r : 0;
}

static void memory_may_run_out(void **state)
{
    (void)state;
    test_alloc_sweep(scenario, NULL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(expressions_match_as_in_go),
        cmocka_unit_test(errors_are_reported),
        cmocka_unit_test(limits_hold),
        cmocka_unit_test(memory_may_run_out),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
