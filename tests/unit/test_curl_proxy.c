/* SPDX-License-Identifier: Apache-2.0 */
/* Which hosts are reached without a proxy. */
#include "client/curl/curl_state.h"
#include "support/test.h"

static void no_proxy_is_read_as_go_does(void **state)
{
    (void)state;
    static const struct {
        const char *list;
        const char *host;
        const char *port;
        bool matches;
    } cases[] = {
        {"", "a.test", "443", false},
        {" , ,", "a.test", "443", false},
        {"*", "a.test", "443", true},
        {"a.test", "a.test", "443", true},
        {"A.test", "a.TEST", "443", true},
        {"a.test", "b.a.test", "443", true},
        {"a.test", "ba.test", "443", false},
        {".a.test", "b.a.test", "443", true},
        {".a.test", "a.test", "443", false},
        {"*.a.test", "b.a.test", "443", true},
        {"*.a.test", "a.test", "443", false},
        {"x, a.test ,y", "a.test", "443", true},
        {"a.test:443", "a.test", "443", true},
        {"a.test:444", "a.test", "443", false},
        {"10.1.2.3", "10.1.2.3", "443", true},
        {"10.1.2.3:443", "10.1.2.3", "443", true},
        {"10.1.2.3:80", "10.1.2.3", "443", false},
        {"10.1.2", "10.1.2.3", "443", false},
        {"2.3", "10.1.2.3", "443", false}, /* an address has nothing below it */
        {"10.0.0.0/8", "10.1.2.3", "443", true},
        {"10.0.0.0/8", "11.1.2.3", "443", false},
        {"10.1.2.0/23", "10.1.3.255", "443", true},
        {"10.1.2.0/23", "10.1.4.0", "443", false},
        {"0.0.0.0/0", "10.1.4.0", "443", true},
        {"0.0.0.0/0", "[2001:db8::1]", "443", false},
        {"10.0.0.0/33", "10.0.0.0", "443", false},
        {"10.0.0.0/", "10.0.0.0", "443", false},
        {"10.0.0.0/x", "10.0.0.0", "443", false},
        {"2001:db8::/32", "[2001:db8::1]", "443", true},
        {"2001:db9::/32", "[2001:db8::1]", "443", false},
        {"2001:db8::1", "[2001:db8:0::1]", "443", true},
        {"[2001:db8::1]:443", "[2001:db8::1]", "443", true},
        {"[2001:db8::1]:80", "[2001:db8::1]", "443", false},
        {"::ffff:10.1.2.3", "10.1.2.3", "443", true},
        {":", "a.test", "443", false},
        {"/", "a.test", "443", false},
        {".", "a.test", "443", false},
        {"[]", "a.test", "443", false},
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        if (ki__no_proxy_matches(ki_str_from(cases[i].list), ki_str_from(cases[i].host),
                                 ki_str_from(cases[i].port)) != cases[i].matches) {
            fail_msg("%s and %s:%s", cases[i].list, cases[i].host, cases[i].port);
        }
    }
}

static void this_machine_is_known(void **state)
{
    (void)state;
    static const char *const own[] = {"127.0.0.1", "127.1.2.3", "[::1]",
                                      "localhost", "LOCALHOST", "[::ffff:127.0.0.1]"};
    static const char *const others[] = {"",           "128.0.0.1",      "[::2]",
                                         "localhost.", "127.0.0.1.test", "mylocalhost"};
    for (size_t i = 0; i < 6; i++) {
        assert_true(ki__is_loopback(ki_str_from(own[i])));
        assert_false(ki__is_loopback(ki_str_from(others[i])));
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(no_proxy_is_read_as_go_does),
        cmocka_unit_test(this_machine_is_known),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
