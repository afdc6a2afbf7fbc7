/* SPDX-License-Identifier: Apache-2.0 */
#include <kinformer/error.h>

#include "apiserver/token.h"
#include "object/text/base64.h"
#include "support/test.h"

static void tokens_read_back_as_they_were(void **state)
{
    (void)state;
    ki_buf text;
    ki__api_token token;
    ki_buf_init(&text, NULL, 4096);
    assert_int_equal(ki__api_token_write(12345, ki_str_from("ns/a\"b"), &text), 0);
    assert_int_equal(ki__api_token_read(ki_buf_str(&text), NULL, &token), 0);
    assert_int_equal(token.rv, 12345);
    assert_str(ki_str_make(token.after, token.len), "ns/a\"b");
    ki_buf_done(&text);
}

static void what_is_no_token_is_refused(void **state)
{
    (void)state;
    static const char *const inside[] = {
        "{}",
        "[]",
        "{\"v\":\"x\",\"rv\":1,\"after\":\"a\"}",
        "{\"v\":\"kinformer/v1\",\"rv\":-1,\"after\":\"a\"}",
        "{\"v\":\"kinformer/v1\",\"rv\":\"1\",\"after\":\"a\"}",
        "{\"v\":\"kinformer/v1\",\"rv\":1,\"after\":7}",
        "{\"v\":\"kinformer/v1\",\"rv\":1}",
        "{\"v\":\"kinformer/v1\",\"rv\":1,\"after\":\"a\"",
    };
    ki__api_token token;
    for (size_t i = 0; i < sizeof(inside) / sizeof(inside[0]); i++) {
        ki_buf text;
        ki_buf_init(&text, NULL, 4096);
        assert_int_equal(ki__base64url_encode(ki_str_from(inside[i]), &text), 0);
        int r = ki__api_token_read(ki_buf_str(&text), NULL, &token);
        assert_true(r == KI_ERR_SYNTAX || r == KI_ERR_INVALID);
        ki_buf_done(&text);
    }
    assert_int_equal(ki__api_token_read(ki_str_from(""), NULL, &token), KI_ERR_SYNTAX);
    assert_int_equal(ki__api_token_read(ki_str_from("!"), NULL, &token), KI_ERR_SYNTAX);
    ki_buf text;
    ki_buf_init(&text, NULL, 100000);
    test_add(&text, "QUJD", 10000);
    assert_int_equal(ki__api_token_read(ki_buf_str(&text), NULL, &token), KI_ERR_LIMIT);
    ki_buf_done(&text);
}

static int there_and_back(const ki_alloc *alloc, void *user)
{
    (void)user;
    ki_buf text;
    ki__api_token token;
    ki_buf_init(&text, alloc, 4096);
    int r = ki__api_token_write(7, ki_str_from("ns/name"), &text);
    r = r < 0 ? r : ki__api_token_read(ki_buf_str(&text), alloc, &token);
    ki_buf_done(&text);
    return r;
}

static void every_allocation_may_fail(void **state)
{
    (void)state;
    test_alloc_sweep(there_and_back, NULL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(tokens_read_back_as_they_were),
        cmocka_unit_test(what_is_no_token_is_refused),
        cmocka_unit_test(every_allocation_may_fail),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
