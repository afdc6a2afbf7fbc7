/* SPDX-License-Identifier: Apache-2.0 */
/* The syntax of names. Which name is valid as what was checked against k8s.io/apimachinery v0.37.2
 * (api/validate/content) with a Go program over this very table. */
#include "object/names.h"
#include "support/test.h"

static const struct {
    const char *name;
    const char *valid; /* K: label key, V: label value, L: DNS label, S: DNS subdomain */
} names[] = {
    {"", ".V.."},
    {"a", "KVLS"},
    {"A", "KV.."},
    {"0", "KVLS"},
    {"-", "...."},
    {"_", "...."},
    {".", "...."},
    {"/", "...."},
    {"a-", "...."},
    {"-a", "...."},
    {"a-b", "KVLS"},
    {"a_b", "KV.."},
    {"a.b", "KV.S"},
    {"a..b", "KV.."},
    {"a.-b", "KV.."},
    {"a-.b", "KV.."},
    {"aB", "KV.."},
    {"Ab", "KV.."},
    {"a/b", "K..."},
    {"a/B", "K..."},
    {"A/b", "...."},
    {"a//b", "...."},
    {"a/b/c", "...."},
    {"/a", "...."},
    {"a/", "...."},
    {"a.b/c_d", "K..."},
    {"a_b/c", "...."},
    {"a b", "...."},
    {"a\n", "...."},
    {"\na", "...."},
    {"a\303\251", "...."},
    {"1.2.3", "KV.S"},
    {"1-2", "KVLS"},
    {"a--b", "KVLS"},
    {".a", "...."},
    {"a.", "...."},
    {"a@b", "...."},
    {"example.com/My.Name-1_x", "K..."},
    {"example.com./x", "...."},
    {"ex..com/x", "...."},
    {"-ex.com/x", "...."},
    {"a.b.c.d.e", "KV.S"},
    {"xn--bcher-kva.example", "KV.S"},
    {"a~b", "...."},
    {"a`b", "...."},
    {"a{b", "...."},
    {"a[b", "...."},
    {"a:b", "...."},
    {"a;b", "...."},
};

typedef bool (*check)(ki_str name, ki__names_fault *ret_fault);

static const check checks[] = {
    ki__names_label_key,
    ki__names_label_value,
    ki__names_dns_label,
    ki__names_dns_subdomain,
};

static void each_name_is_valid_as_the_reference_says(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
        ki_str name = ki_str_from(names[i].name);
        for (size_t k = 0; k < 4; k++) {
            ki__names_fault fault = {.offset = SIZE_MAX};
            bool valid = checks[k](name, &fault);
            if (valid != (names[i].valid[k] != '.')) {
                fail_msg("'%s' by check %zu: %d", names[i].name, k, valid);
            }
            assert_int_equal(checks[k](name, NULL), valid);
            if (valid) {
                assert_int_equal(fault.offset, SIZE_MAX); /* untouched */
            } else {
                assert_in_range(fault.offset, 0, name.len);
                assert_non_null(fault.rule);
            }
        }
    }
}

static void every_byte_is_classed_right_at_each_place(void **state)
{
    (void)state;
    for (int byte = 0; byte < 256; byte++) {
        bool lower = (byte >= 'a' && byte <= 'z') || (byte >= '0' && byte <= '9');
        bool end = lower || (byte >= 'A' && byte <= 'Z');
        bool middle = end || byte == '-' || byte == '_' || byte == '.';
        for (size_t place = 0; place < 3; place++) {
            char text[] = "xxx";
            text[place] = (char)byte;
            ki_str name = ki_str_make(text, 3);
            bool inner = place == 1;
            ki__names_fault fault = {.offset = place};
            assert_int_equal(ki__names_label_value(name, &fault), inner ? middle : end);
            assert_int_equal(fault.offset, place);
            assert_int_equal(ki__names_dns_label(name, &fault), lower || (inner && byte == '-'));
            assert_int_equal(fault.offset, place);
            assert_int_equal(ki__names_dns_subdomain(name, &fault),
                             lower || (inner && (byte == '-' || byte == '.')));
            assert_int_equal(fault.offset, place);
            if (byte != '/') {
                assert_int_equal(ki__names_label_key(name, &fault), inner ? middle : end);
                assert_int_equal(fault.offset, place);
            }
        }
    }
}

static void the_first_byte_over_the_limit_is_the_fault(void **state)
{
    (void)state;
    static const size_t max[] = {63, 63, 63, 253};
    char text[400];
    memset(text, 'x', sizeof(text));
    for (size_t k = 0; k < 4; k++) {
        for (size_t len = 1; len < 400; len++) {
            ki__names_fault fault;
            bool valid = checks[k](ki_str_make(text, len), &fault);
            assert_int_equal(valid, len <= max[k]);
            if (!valid) {
                assert_int_equal(fault.offset, max[k]);
            }
        }
    }
}

static void the_parts_of_a_key_have_limits_of_their_own(void **state)
{
    (void)state;
    for (size_t prefix = 0; prefix < 260; prefix++) {
        for (size_t name = 0; name < 70; name++) {
            char text[400];
            memset(text, 'x', sizeof(text));
            text[prefix] = '/';
            ki__names_fault fault;
            bool valid = ki__names_label_key(ki_str_make(text, prefix + 1 + name), &fault);
            bool prefix_fits = prefix >= 1 && prefix <= 253;
            assert_int_equal(valid, prefix_fits && name >= 1 && name <= 63);
            if (!valid && prefix_fits) {
                assert_int_equal(fault.offset, prefix + 1 + (name == 0 ? 0 : 63));
            } else if (!valid) {
                assert_int_equal(fault.offset, prefix == 0 ? 0 : 253);
            }
        }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_name_is_valid_as_the_reference_says),
        cmocka_unit_test(every_byte_is_classed_right_at_each_place),
        cmocka_unit_test(the_first_byte_over_the_limit_is_the_fault),
        cmocka_unit_test(the_parts_of_a_key_have_limits_of_their_own),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
