/* SPDX-License-Identifier: Apache-2.0 */
/* Rules of faults read from text. */
#include <stdio.h>
#include <stdlib.h>

#include "apiserver/fault_text.h"
#include "support/test.h"

static void read_ok(const char *text, ki__api_fault_set *set)
{
    ki_error error = KI_ERROR_INIT;
    if (ki__api_fault_set_read(ki_str_from(text), 7, NULL, set, &error) < 0) {
        fail_msg("%s: %s", text, error.message);
    }
    assert_string_equal(set->text, text);
}

static void every_word_is_understood(void **state)
{
    (void)state;
    ki__api_fault_set set;
    read_ok("latency=1.5s,verb=get+list,resource=pods,rate=12.5%,times=3,skip=2\n"
            "# a remark\n"
            " status=429 , retry-after=9 , in-stream ; cut=0; refuse;expire;stale\n"
            "drop=2s; no-end-bookmark; plain-end-bookmark; lag=250ms; rate=0.25,status=500;"
            "bare-deletes; unknown-field,resource=pods",
            &set);
    assert_int_equal(set.rules.count, 13);
    assert_int_equal(set.rules.random, 7);
    const ki__api_rule *r = set.rules.rules;
    assert_int_equal(r[0].plan.latency_ms, 1500);
    assert_int_equal(r[0].verbs, 1u << KI__API_GET | 1u << KI__API_LIST);
    assert_string_equal(r[0].resource, "pods");
    assert_int_equal(r[0].rate, 125000);
    assert_int_equal(r[0].times, 3);
    assert_int_equal(r[0].skip, 2);
    assert_int_equal(r[1].plan.http_code, 429);
    assert_int_equal(r[1].plan.retry_after_s, 9);
    assert_true(r[1].plan.in_stream);
    assert_int_equal(r[1].rate, 1000000);
    assert_true(r[2].plan.cut && r[2].plan.cut_after == 0);
    assert_true(r[3].plan.refuse);
    assert_true(r[4].plan.expire);
    assert_true(r[5].plan.stale);
    assert_int_equal(r[6].plan.drop_after_ms, 2000);
    assert_true(r[7].plan.no_end_bookmark);
    assert_true(r[8].plan.plain_end_bookmark);
    assert_int_equal(set.lag_ns, 250000000);
    assert_int_equal(r[10].rate, 250000);
    assert_true(r[11].plan.bare_deletes);
    assert_true(r[12].plan.unknown_field);
    ki__api_fault_set_done(&set);
}

static void no_text_is_no_rule(void **state)
{
    (void)state;
    static const char *const texts[] = {"", ";", " \n ; \t", "# only a remark"};
    for (size_t i = 0; i < 4; i++) {
        ki__api_fault_set set;
        read_ok(texts[i], &set);
        assert_int_equal(set.rules.count, 0);
        ki__api_fault_set_done(&set);
        ki__api_fault_set_done(&set);
    }
}

static void errors_are_reported_with_their_place(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        size_t offset;
    } cases[] = {
        {"statuss=500", 0},
        {"expire; status=99", 8},
        {"status=600", 0},
        {"status=", 0},
        {"status=500,", 0},
        {"status=500,,expire", 0},
        {"verb=list", 0},
        {"in-stream", 0},
        {"expire,verb=lst", 7},
        {"expire,verb=", 7},
        {"expire,verb=get+", 7},
        {"expire,rate=101%", 7},
        {"expire,rate=1.1", 7},
        {"expire,rate=", 7},
        {"expire,rate=%", 7},
        {"expire,rate=.", 7},
        {"expire,rate=1.1.1%", 7},
        {"expire,rate=99999999999999999999999%", 7},
        {"expire,times=x", 7},
        {"expire,times=", 7},
        {"expire,skip=-1", 7},
        {"expire,resource=", 7},
        {"expire,retry-after=1h", 7},
        {"latency=5", 0},
        {"latency=-5s", 0},
        {"latency=25h", 0},
        {"drop=0s", 0},
        {"cut=", 0},
        {"cut=1k", 0},
        {"nothing", 0},
        {"expire\nexpire=1", 7},
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        ki__api_fault_set set;
        ki_error error = KI_ERROR_INIT;
        int r = ki__api_fault_set_read(ki_str_from(cases[i].text), 1, NULL, &set, &error);
        if (r != KI_ERR_INVALID || error.offset != cases[i].offset || error.message[0] == '\0') {
            fail_msg("%s: %s at %zu: %s", cases[i].text, ki_error_name(r), error.offset,
                     error.message);
        }
    }
    ki__api_fault_set set;
    ki_str nul = ki_str_make("expire\0;", 8);
    assert_int_equal(ki__api_fault_set_read(nul, 1, NULL, &set, NULL), KI_ERR_INVALID);
}

static void rules_and_text_have_a_limit(void **state)
{
    (void)state;
    ki_buf text;
    ki__api_fault_set set;
    ki_buf_init(&text, NULL, 1 << 20);
    test_add(&text, "expire;", KI__API_RULES_MAX);
    assert_int_equal(ki__api_fault_set_read(ki_buf_str(&text), 1, NULL, &set, NULL), 0);
    assert_int_equal(set.rules.count, KI__API_RULES_MAX);
    ki__api_fault_set_done(&set);
    test_add(&text, "expire;", 1);
    assert_int_equal(ki__api_fault_set_read(ki_buf_str(&text), 1, NULL, &set, NULL), KI_ERR_LIMIT);
    test_add(&text, " ", KI__API_FAULT_TEXT_MAX);
    assert_int_equal(ki__api_fault_set_read(ki_buf_str(&text), 1, NULL, &set, NULL), KI_ERR_LIMIT);
    ki_buf_done(&text);
}

/* Whatever the bytes are, they are read or refused. */
static void any_bytes_are_accepted(void **state)
{
    (void)state;
    static const char *const parts[] = {"expire", "rate", "=",  ",",       ";",  "%",
                                        "status", "500",  "5s", "latency", "\n", "resource",
                                        " ",      "\xff", "+",  "verb"};
    uint64_t seed = 5;
    for (int i = 0; i < 20000; i++) {
        char text[256] = "";
        size_t len = 0;
        for (uint64_t n = test_random(&seed) % 12; n > 0; n--) {
            len += (size_t)snprintf(text + len, sizeof(text) - len, "%s",
                                    parts[test_random(&seed) % 16]);
        }
        char *copy = malloc(len + 1); /* so that sanitizers see its end */
        memcpy(copy, text, len);
        ki__api_fault_set set;
        if (ki__api_fault_set_read(ki_str_make(copy, len), 1, NULL, &set, NULL) == 0) {
            ki__api_fault_set_done(&set);
        }
        free(copy);
    }
}

static int scenario(const ki_alloc *alloc, void *user)
{
    (void)user;
    ki__api_fault_set set;
    int r = ki__api_fault_set_read(ki_str_from("expire,resource=pods;cut=1"), 1, alloc, &set, NULL);
    if (r == 0) {
        ki__api_fault_set_done(&set);
    }
    return r;
}

static void memory_may_run_out(void **state)
{
    (void)state;
    test_alloc_sweep(scenario, NULL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_word_is_understood),
        cmocka_unit_test(no_text_is_no_rule),
        cmocka_unit_test(errors_are_reported_with_their_place),
        cmocka_unit_test(rules_and_text_have_a_limit),
        cmocka_unit_test(any_bytes_are_accepted),
        cmocka_unit_test(memory_may_run_out),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
