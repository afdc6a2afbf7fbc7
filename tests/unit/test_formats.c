/* SPDX-License-Identifier: Apache-2.0 */
/* Formats of strings. tests/e2e compares most of these with a real server. */
#include <stdlib.h>
#include <string.h>

#include "apiserver/validate/formats.h"
#include "support/test.h"

static const struct {
    const char *format;
    const char *yes; /* texts, with '|' between them */
    const char *no;
} cases[] = {
    {"date", "2020-02-29|2000-12-31", "2021-02-29|1900-02-29|2020-1-2|2020-00-01|2020-04-31|"},
    {"date-time", "2020-01-02T03:04:05Z|2020-01-02t03:04:05.678+01:00|2020-01-02T23:59:59-00:00",
     "2020-01-02 03:04:05Z|2020-01-02T24:00:00Z|2020-01-02T03:04:05|2020-01-02T03:04:60Z|now"},
    {"duration", "1h2m3.5s|-1.5h|0|3 days|22 ns|1w|5 MINUTES", "soon|5|1.5|h|1x|"},
    {"ipv4", "1.2.3.4|255.255.255.255|01.02.03.04", "1.2.3|1.2.3.256|1.2.3.4.5|::1|1..2.3"},
    {"ipv6", "::|::1|fe80::1:2|1:2:3:4:5:6:7:8|::ffff:1.2.3.4|1::",
     "1:2:3|g::1|1::2::3|12345::|1.2.3.4|1:2:3:4:5:6:7:8:9|:1|1:|::ffff:1.2.3"},
    {"cidr", "10.0.0.0/8|::/0|fe80::/128", "10.0.0.0/33|10.0.0.0|::/129|/8|10.0.0.0/"},
    {"mac", "01:23:45:67:89:ab|01-23-45-67-89-AB|0123.4567.89ab|01:23:45:67:89:ab:cd:ef",
     "01:23:45|01:23-45:67:89:ab|0123456789ab|01:23:45:67:89:ag"},
    {"uuid", "123e4567-e89b-12d3-a456-426614174000|123E4567E89B12D3A456426614174000",
     "123e4567|123e4567-e89b-12d3-a456-42661417400g"},
    {"uuid3", "123e4567-e89b-32d3-0456-426614174000", "123e4567-e89b-42d3-a456-426614174000"},
    {"uuid4", "123e4567-e89b-42d3-a456-426614174000", "123e4567-e89b-42d3-c456-426614174000"},
    {"uuid5", "123e4567-e89b-52d3-9456-426614174000", "123e4567-e89b-42d3-9456-426614174000"},
    {"byte", "YWI=|YQ==|YWJj", "YWI|YW I=|=|YWI=="},
    {"uri", "http://example.com/a?b=c|/path|mailto:x@y|*|http://[::1]:80/",
     "path|http://a b/||/%zz"},
    {"email", "a@example.com|A <a@b.c>", "a|a@|@b|a..b@c"},
    {"hostname", "example.com|a|a-b|a.b.cc|1.example.com", "-a|a_b|example.c0m||a..b"},
    {"hexcolor", "#fff|FFFFFF", "#ffff|ggg"},
    {"rgbcolor", "rgb(1, 2,255)", "rgb(1,2)|rgb(1,2,256)|rgb(01,2,3)"},
    {"ssn", "123-45-6789|123 45 6789", "123456789|12-345-6789"},
    {"isbn", "0321751043|978-0321751041", "0321751044|978-0321751042|123"},
    {"isbn10", "0-8044-2957-X", "978-0321751041"},
    {"isbn13", "978-0321751041", "0321751043"},
    {"creditcard", "4111 1111 1111 1111|378282246310005", "4111 1111 1111 1112|1234"},
    {"bsonobjectid", "507f1f77bcf86cd799439011", "507f1f77"},
    {"password", "anything|", NULL},
    {"k8s-short-name", "abc-1", "Abc|a.b|-a"},
    {"k8s-long-name", "abc-1.d", "Abc|a..b"},
};

static void check(size_t i, const char *texts, bool expected)
{
    for (bool more = texts != NULL; more;) {
        size_t len = strcspn(texts, "|");
        if (ki__format_matches(ki_str_from(cases[i].format), ki_str_make(texts, len)) != expected) {
            fail_msg("%s: '%.*s' is not %d", cases[i].format, (int)len, texts, (int)expected);
        }
        more = texts[len] == '|';
        texts += len + 1;
    }
}

static void texts_are_of_their_formats(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        assert_true(ki__format_is_known(ki_str_from(cases[i].format)));
        check(i, cases[i].yes, true);
        check(i, cases[i].no, false);
    }
    assert_false(ki__format_is_known(ki_str_from("no-such-format")));
    assert_true(ki__format_is_known(ki_str_from("datetime")));
    assert_true(ki__format_matches(ki_str_from("no-such-format"), ki_str_from("x")));
}

/* No text makes one of them read too far: they are run on every beginning of every text, in blocks
 * of just that size. */
static void beginnings_are_read_within_their_bounds(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        size_t all = strlen(cases[i].yes);
        for (size_t len = 0; len <= all; len++) {
            char *text = malloc(len != 0 ? len : 1);
            assert_non_null(text);
            memcpy(text, cases[i].yes, len);
            for (size_t j = 0; j < sizeof(cases) / sizeof(cases[0]); j++) {
                (void)ki__format_matches(ki_str_from(cases[j].format), ki_str_make(text, len));
            }
            free(text);
        }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(texts_are_of_their_formats),
        cmocka_unit_test(beginnings_are_read_within_their_bounds),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
