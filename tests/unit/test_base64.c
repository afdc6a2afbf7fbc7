/* SPDX-License-Identifier: Apache-2.0 */
#include <string.h>

#include <kinformer/error.h>

#include "object/text/base64.h"
#include "support/test.h"

static void bytes_and_text(void **state)
{
    (void)state;
    static const struct {
        const char *bytes;
        const char *text;
    } cases[] = {
        {"", ""},
        {"f", "Zg=="},
        {"fo", "Zm8="},
        {"foo", "Zm9v"},
        {"foob", "Zm9vYg=="},
        {"\xff\xfe\xfd", "//79"},
        {"\xfb\xef\xbe", "++++"},
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        char out[16];
        ki_str bytes = ki_str_from(cases[i].bytes);
        size_t len = ki__base64_encode(bytes, out, sizeof(out));
        assert_str(ki_str_make(out, len), cases[i].text);
        assert_int_equal(len, ki__base64_length(bytes.len));
        size_t decoded = 99;
        assert_int_equal(ki__base64_decode(ki_str_make(out, len), out, &decoded), 0);
        assert_str(ki_str_make(out, decoded), cases[i].bytes);
    }
}

static void line_ends_are_skipped(void **state)
{
    (void)state;
    static const char *const texts[] = {"Zm9vYg==\n", "Zm9v\r\nYg==", "\nZ\nm9vYg\n=\n=\r",
                                        "Zm9vYh=="};
    for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++) {
        char out[32];
        size_t len;
        assert_int_equal(ki__base64_decode(ki_str_from(texts[i]), out, &len), 0);
        assert_str(ki_str_make(out, len), "foob");
    }
}

static void what_is_not_base64_is_refused(void **state)
{
    (void)state;
    static const char *const texts[] = {
        "Z",     "Zg",      "Zg=",      "Zg===",     "Z===",     "=",     "====",
        "Zm9=v", "Zm9vY",   "Zg==Zg==", "Zg==x",     "Zm8=\n=",  "Zm 9v", "Zm9-",
        "Zm9_",  "Zm9\xc3", "Zm9v====", "Zm9vYg=\n", "Zm9vYg=a",
    };
    for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++) {
        char out[32];
        size_t len = 7;
        if (ki__base64_decode(ki_str_from(texts[i]), out, &len) != KI_ERR_INVALID || len != 7) {
            fail_msg("%s gave %zu bytes", texts[i], len);
        }
    }
}

static void no_more_is_written_than_fits(void **state)
{
    (void)state;
    for (size_t size = 0; size <= 8; size++) {
        char out[9];
        memset(out, '#', sizeof(out));
        assert_int_equal(ki__base64_encode(ki_str_from("foob"), out, size), 8);
        assert_memory_equal(out, "Zm9vYg==", size);
        assert_int_equal(out[size], '#');
    }
}

static void every_length_goes_round(void **state)
{
    (void)state;
    uint64_t random = 3;
    for (size_t len = 0; len < 300; len++) {
        char bytes[300];
        char text[400];
        for (size_t i = 0; i < len; i++) {
            bytes[i] = (char)test_random(&random);
        }
        size_t text_len = ki__base64_encode(ki_str_make(bytes, len), text, sizeof(text));
        size_t back;
        assert_int_equal(ki__base64_decode(ki_str_make(text, text_len), text, &back), 0);
        assert_int_equal(back, len);
        assert_memory_equal(text, bytes, len);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(bytes_and_text),
        cmocka_unit_test(line_ends_are_skipped),
        cmocka_unit_test(what_is_not_base64_is_refused),
        cmocka_unit_test(no_more_is_written_than_fits),
        cmocka_unit_test(every_length_goes_round),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
