/* SPDX-License-Identifier: Apache-2.0 */
/* URLs of servers and proxies. */
#include <stdio.h>

#include "client/config/url.h"
#include "support/test.h"

static const struct {
    const char *text;
    const char *parts; /* scheme|user|host|port|path, or what is wrong */
} cases[] = {
    {"https://example.com", "https||example.com||"},
    {"https://example.com:6443/", "https||example.com|6443|/"},
    {"HttpS://Example.com:/a/b", "https||Example.com||/a/b"},
    {"http://10.0.0.1:80?x=y", "http||10.0.0.1|80|"},
    {"http://h/p?q#f", "http||h||/p"},
    {"http://h#f", "http||h||"},
    {"https://[::1]:6443", "https||[::1]|6443|"},
    {"https://[fe80::1%25eth0]/x", "https||[fe80::1%25eth0]||/x"},
    {"socks5://u:p%40@proxy:1080", "socks5|u:p%40|proxy|1080|"},
    {"http://u@v@h", "invalid user"},
    {"example.com", "http||example.com||"},
    {"example.com:8080", "http||example.com|8080|"},
    {"localhost/", "http||localhost||/"},
    {"https://h/a%20b", "https||h||/a%20b"},
    {"https://h:65535", "https||h|65535|"},
    {"", "is empty"},
    {"h/path", "must be a URL, or a host and a port"},
    {"https:/h", "must be a URL, or a host and a port"},
    {"ftp://h", "URL scheme is not supported"},
    {"://h", "URL scheme is not supported"},
    {"https://", "invalid host"},
    {"https://:1", "invalid host"},
    {"https://a b", "invalid host"},
    {"https://h\n", "invalid host"},
    {"https://h\xc3\xa4", "invalid host"},
    {"https://%41", "invalid host"},
    {"https://[::1", "invalid host"},
    {"https://[]", "invalid host"},
    {"https://[abcd]", "invalid host"},
    {"https://[::g]", "invalid host"},
    {"https://[::1]x", "invalid host"},
    {"https://::1", "invalid host"},
    {"https://h:0", "port is not a number from 1 to 65535"},
    {"https://h:65536", "port is not a number from 1 to 65535"},
    {"https://h:99999999999999999999", "port is not a number from 1 to 65535"},
    {"https://h:8a", "port is not a number from 1 to 65535"},
    {"https://h:1:2", "port is not a number from 1 to 65535"},
    {"https://h/a b", "invalid path"},
    {"https://h/a%2", "invalid path"},
    {"https://h/a%zz", "invalid path"},
    {"https://h/a\r\nb", "invalid path"},
    {"https://h/a/../b", "invalid path"},
    {"https://h/.", "invalid path"},
    {"https://h/\x7f", "invalid path"},
};

static void urls_are_taken_apart_or_refused(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        ki__url url;
        char got[256];
        const char *problem = ki__url_parse(ki_str_from(cases[i].text), &url);
        if (problem != NULL) {
            snprintf(got, sizeof(got), "%s", problem);
        } else {
            snprintf(got, sizeof(got), "%s|%.*s|%.*s|%.*s|%.*s", ki__url_scheme_name(url.scheme),
                     KI_STR_ARG(url.user), KI_STR_ARG(url.host), KI_STR_ARG(url.port),
                     KI_STR_ARG(url.path));
        }
        if (strcmp(got, cases[i].parts) != 0) {
            fail_msg("%s: %s", cases[i].text, got);
        }
    }
}

static void nul_is_refused(void **state)
{
    (void)state;
    ki__url url;
    assert_non_null(ki__url_parse(ki_str_make("https://h\0", 10), &url));
    assert_non_null(ki__url_parse(ki_str_make("https://h/\0", 11), &url));
    assert_non_null(ki__url_parse(ki_str_make("\0", 1), &url));
}

static void a_host_has_a_limit(void **state)
{
    (void)state;
    char text[300] = "https://";
    memset(text + 8, 'a', 256);
    ki__url url;
    assert_null(ki__url_parse(ki_str_make(text, 8 + 255), &url));
    assert_non_null(ki__url_parse(ki_str_make(text, 8 + 256), &url));
}

static void loopback_is_recognized_by_its_text(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        bool loopback;
    } hosts[] = {
        {"http://localhost:1", true},
        {"http://LOCALHOST", true},
        {"http://127.0.0.1", true},
        {"http://127.255.3.4:80", true},
        {"http://[::1]", true},
        {"http://localhost.example.com", false},
        {"http://127.0.0.1.example.com", false},
        {"http://127.0.1", false},
        {"http://128.0.0.1", false},
        {"http://[::2]", false},
        {"http://xlocalhost", false},
        {"http://127.evil.0.1", false},
    };
    for (size_t i = 0; i < sizeof(hosts) / sizeof(hosts[0]); i++) {
        ki__url url;
        assert_null(ki__url_parse(ki_str_from(hosts[i].text), &url));
        if (ki__url_is_loopback(&url) != hosts[i].loopback) {
            fail_msg("%s", hosts[i].text);
        }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(urls_are_taken_apart_or_refused),
        cmocka_unit_test(nul_is_refused),
        cmocka_unit_test(a_host_has_a_limit),
        cmocka_unit_test(loopback_is_recognized_by_its_text),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
