/* SPDX-License-Identifier: Apache-2.0 */
/* Label selectors as text, against the tables of selector_cases.h, which were checked against
 * k8s.io/apimachinery v0.37.2.
 * threads: yes */
#include <pthread.h>

#include <kinformer/label_selector.h>

#include "object/selector/selector.h"
#include "unit/selector_cases.h"
#include "unit/selector_labels.h"

static void accepted_texts_print_and_match_as_the_reference(void **state)
{
    (void)state;
    for (size_t i = 0; i < ACCEPTED; i++) {
        ki_selector *selector = parse_valid(accepted[i].text);
        check_printed(selector, accepted[i].text, accepted[i].printed);
        check_matches(selector, accepted[i].text, accepted[i].matches);
        ki_selector_unref(selector);
    }
}

static void printed_text_parses_to_the_same(void **state)
{
    (void)state;
    for (size_t i = 0; i < ACCEPTED; i++) {
        ki_selector *selector = parse_valid(accepted[i].printed);
        check_printed(selector, accepted[i].printed, accepted[i].printed);
        check_matches(selector, accepted[i].printed, accepted[i].matches);
        ki_selector_unref(selector);
    }
}

/* Line and column are what follows from the offset. */
static void check_place(ki_str text, size_t offset, const ki_error *error)
{
    uint32_t line = 1;
    uint32_t column = 1;
    for (size_t i = 0; i < offset; i++) {
        bool end = text.ptr[i] == '\n';
        line += end ? 1 : 0;
        column = end ? 1 : column + 1;
    }
    assert_int_equal(error->offset, offset);
    assert_int_equal(error->line, line);
    assert_int_equal(error->column, column);
}

static void check_rejected(ki_str text, int code, size_t offset)
{
    ki_selector *selector = NULL;
    ki_error error = KI_ERROR_INIT;
    int r = ki__selector_parse(text, NULL, &selector, &error);
    if (r != code || error.code != code || error.offset != offset) {
        fail_msg("%.*s: gave %s at %zu (%s), expected %s at %zu", KI_STR_ARG(text),
                 r < 0 ? ki_error_name(r) : "0", error.offset, error.message, ki_error_name(code),
                 offset);
    }
    check_place(text, offset, &error);
    assert_true(error.message[0] != '\0');
    assert_null(selector);
    assert_int_equal(ki__selector_parse(text, NULL, &selector, NULL), code);
}

static void rejected_texts_point_at_the_place(void **state)
{
    (void)state;
    for (size_t i = 0; i < REJECTED; i++) {
        check_rejected(ki_str_from(rejected[i].text), rejected[i].code, rejected[i].offset);
    }
}

static void messages_say_what_is_expected_and_what_was_found(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        const char *message;
    } cases[] = {
        {"a,", "expected a label key, but the selector ends here"},
        {"a b", "expected an operator (= == != > < in notin) or ',', found 'b'"},
        {"a=b c", "expected ',' or the end, found 'c'"},
        {"a in b", "expected '(', found 'b'"},
        {"a in (b", "expected ',' or ')', but the selector ends here"},
        {"a in (b,!)", "expected a value, ',' or ')', found '!'"},
        {"a=(", "expected a value, found '('"},
        {"a \x01\xff", "expected an operator (= == != > < in notin) or ',', found '?\?'"},
        {"a>b", "'>' and '<' require a 64-bit integer"},
        {"a@", "not a valid label key: letters, digits, '-', '_' and '.' are allowed, with a letter"
               " or digit at each end"},
        {"a/b/c", "not a valid label key: only one '/' is allowed"},
        {"/b", "not a valid label key: at least one letter or digit is required"},
        {"A/b", "not a valid label key: lower case letters, digits, '-' and '.' are allowed, with a"
                " letter or digit at each end and beside each '.'"},
        {"a=b@", "not a valid label value: letters, digits, '-', '_' and '.' are allowed, with a"
                 " letter or digit at each end"},
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        ki_selector *selector = NULL;
        ki_error error = KI_ERROR_INIT;
        assert_true(ki_selector_parse(cases[i].text, NULL, &selector, &error) < 0);
        assert_string_equal(error.message, cases[i].message);
    }
}

/* The reference takes a NUL for the end of the text; we take it for what it is. */
static void nul_is_rejected_anywhere(void **state)
{
    (void)state;
    check_rejected(ki_str_make("\0", 1), KI_ERR_INVALID, 0);
    check_rejected(ki_str_make("a\0", 2), KI_ERR_INVALID, 1);
    check_rejected(ki_str_make("a=b\0", 4), KI_ERR_INVALID, 3);
    check_rejected(ki_str_make("a=b \0,c", 7), KI_ERR_SYNTAX, 4);
    check_rejected(ki_str_make("a in (\0)", 8), KI_ERR_INVALID, 6);
}

static void text_need_not_be_terminated(void **state)
{
    (void)state;
    ki_selector *selector = NULL;
    assert_int_equal(ki__selector_parse(ki_str_make("a=bcd", 3), NULL, &selector, NULL), 0);
    check_printed(selector, "a=b", "a=b");
    ki_selector_unref(selector);
    assert_int_equal(ki__selector_parse(ki_str_make(NULL, 0), NULL, &selector, NULL), 0);
    assert_true(ki_selector_is_everything(selector));
    ki_selector_unref(selector);
}

static char *repeat(const char *piece, size_t count, const char *end)
{
    size_t len = strlen(piece);
    char *text = malloc(len * count + strlen(end) + 1);
    assert_non_null(text);
    for (size_t i = 0; i < count; i++) {
        memcpy(text + i * len, piece, len);
    }
    memcpy(text + count * len, end, strlen(end) + 1);
    return text;
}

/* `before`, the byte `fill` so many times, and `after` must be valid; with one more, not: the byte
 * over the limit is the place. */
static void check_longest(const char *before, char fill, size_t max, const char *after)
{
    char text[512];
    int len = snprintf(text, sizeof(text), "%s%*s%s", before, (int)max, "", after);
    assert_in_range(len, 1, sizeof(text) - 1);
    memset(text + strlen(before), fill, max);
    ki_selector *selector = parse_valid(text);
    check_printed(selector, text, text);
    ki_selector_unref(selector);
    (void)snprintf(text, sizeof(text), "%s%*s%s", before, (int)max + 1, "", after);
    memset(text + strlen(before), fill, max + 1);
    check_rejected(ki_str_from(text), KI_ERR_INVALID, strlen(before) + max);
}

static void lengths_are_limited(void **state)
{
    (void)state;
    check_longest("", 'k', 63, "");
    check_longest("", 'k', 63, "=v");
    check_longest("p/", 'k', 63, "");
    check_longest("", 'p', 253, "/k");
    check_longest("k=", 'v', 63, "");
    check_longest("k!=", 'v', 63, ",z");
    check_longest("k in (a,", 'v', 63, ")");
    char prefix[254 + 65];
    for (size_t i = 0; i < 253; i++) {
        prefix[i] = i % 2 == 0 ? 'p' : '.';
    }
    memset(prefix + 253, '/', 1);
    memset(prefix + 254, 'k', 64);
    ki_selector *selector = NULL;
    assert_int_equal(ki__selector_parse(ki_str_make(prefix, 254 + 63), NULL, &selector, NULL), 0);
    ki_selector_unref(selector);
    check_rejected(ki_str_make(prefix, 254 + 64), KI_ERR_INVALID, 254 + 63);
}

static void text_is_limited_to_64_kib(void **state)
{
    (void)state;
    char *text = repeat("key=vle,", 65536 / 8, "");
    text[65535] = 'x'; /* in place of the last comma */
    ki_selector *selector = parse_valid(text);
    check_printed(selector, "a long text", text);
    ki_selector_unref(selector);
    free(text);
    text = repeat(" ", 65536, " ");
    assert_int_equal(ki__selector_parse(ki_str_make(text, 65536), NULL, &selector, NULL), 0);
    ki_selector_unref(selector);
    check_rejected(ki_str_make(text, 65537), KI_ERR_LIMIT, 65536);
    free(text);
    /* Each of these prints with one more blank. */
    text = repeat("a in(),", 65536 / 7, "b");
    ki_error error = KI_ERROR_INIT;
    assert_int_equal(ki_selector_parse(text, NULL, &selector, &error), KI_ERR_LIMIT);
    assert_string_equal(error.message, "normalized selector longer than 65536 bytes");
    free(text);
}

static void many_requirements_keep_their_order_by_key(void **state)
{
    (void)state;
    char text[4096];
    size_t len = 0;
    for (int i = 0; i < 200; i++) {
        len += (size_t)snprintf(text + len, sizeof(text) - len, "%sk%d=v%d", i == 0 ? "" : ",",
                                i * 7 % 5, i);
    }
    ki_selector *selector = parse_valid(text);
    ki_buf out;
    ki_buf_init(&out, NULL, sizeof(text));
    assert_int_equal(ki_selector_print(selector, &out), 0);
    char expected[4096];
    size_t expected_len = 0;
    for (int key = 0; key < 5; key++) {
        for (int i = 0; i < 200; i++) {
            if (i * 7 % 5 == key) {
                expected_len +=
                    (size_t)snprintf(expected + expected_len, sizeof(expected) - expected_len,
                                     "%sk%d=v%d", expected_len == 0 ? "" : ",", key, i);
            }
        }
    }
    assert_string_equal(ki_buf_text(&out), expected);
    ki_buf_done(&out);
    ki_selector_unref(selector);
}

static void many_values_are_found_and_printed_sorted(void **state)
{
    (void)state;
    char text[8192] = "a in (";
    size_t len = strlen(text);
    for (int i = 0; i < 999; i++) {
        len += (size_t)snprintf(text + len, sizeof(text) - len, "v%03d,", i * 500 % 999);
    }
    text[len - 1] = ')';
    ki_selector *selector = parse_valid(text);
    for (int i = 0; i < 1000; i++) {
        char labels[64];
        (void)snprintf(labels, sizeof(labels), "{\"a\":\"v%03d\"}", i);
        assert_int_equal(matches_labels(selector, labels), i < 999);
        (void)snprintf(labels, sizeof(labels), "{\"a\":\"\\u0076%03d\"}", i);
        assert_int_equal(matches_labels(selector, labels), i < 999);
    }
    len = strlen("a in (");
    for (int i = 0; i < 999; i++) {
        len += (size_t)snprintf(text + len, sizeof(text) - len, "v%03d,", i);
    }
    text[len - 1] = ')';
    check_printed(selector, "many values", text);
    ki_selector_unref(selector);
}

static void labels_may_be_escaped_odd_or_absent(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        const char *labels;
        bool matches;
    } cases[] = {
        {"a=b", "{\"\\u0061\":\"\\u0062\"}", true},
        {"a=b", " { \"a\" : \"b\" } ", true},
        {"a!=b", "{\"a\":\"\\u0062\"}", false},
        {"a in (b,c)", "{\"a\":\"\\u0063\"}", true},
        {"a in (b,c)", "{\"a\":\"\\u0064\"}", false},
        {"a.b/c=d", "{\"a.b\\/c\":\"d\"}", true},
        {"x>4", "{\"x\":\"\\u0035\"}", true},
        {"x<5", "{\"x\":\"\\u0035\"}", false},
        {"x>4", "{\"x\":\"5\\u0000\"}", false},
        {"x>4", "{\"x\":\"5\\n\"}", false},
        {"x>4", "{\"x\":\"-\"}", false},
        {"x<4", "{\"x\":\"+\"}", false},
        {"x<4", "{\"x\":\"--1\"}", false},
        {"x<4", "{\"x\":\"-9223372036854775808\"}", true},
        {"x<4", "{\"x\":\"-9223372036854775809\"}", false},
        {"x>4", "{\"x\":\"5.0\"}", false},
        /* What the API server never sends: a label that is no string is there and equals nothing.
         */
        {"a", "{\"a\":null}", true},
        {"!a", "{\"a\":5}", false},
        {"a=", "{\"a\":null}", false},
        {"a=5", "{\"a\":5}", false},
        {"a!=5", "{\"a\":5}", true},
        {"a in (4,5)", "{\"a\":5}", false},
        {"a notin (4,5)", "{\"a\":[5]}", true},
        {"a>4", "{\"a\":5}", false},
        /* Of several labels with one name the first counts. */
        {"a=b", "{\"a\":\"b\",\"a\":\"c\"}", true},
        {"a=c", "{\"a\":\"b\",\"a\":\"c\"}", false},
        {"a=b", "", false},
        {"a!=b", "", true},
        {"!a", "", true},
        {"a", "null", false},
        {"", "", true},
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        ki_selector *selector = parse_valid(cases[i].text);
        if (matches_labels(selector, cases[i].labels) != cases[i].matches) {
            fail_msg("%s: labels %s: expected %d", cases[i].text, cases[i].labels,
                     cases[i].matches);
        }
        ki_selector_unref(selector);
    }
}

static void a_map_from_anywhere_can_be_matched(void **state)
{
    (void)state;
    const char *json =
        "{\"spec\":{\"template\":{\"metadata\":{\"labels\":{\"a\":\"b\"}}},\"n\":1}}";
    ki_object *object = NULL;
    assert_int_equal(ki_object_from_json(json, strlen(json), NULL, &object, NULL), 0);
    ki_value value = ki_object_root(object);
    static const char *const path[] = {"spec", "template", "metadata", "labels"};
    ki_value spec = value;
    for (size_t i = 0; i < 4; i++) {
        ki_value next;
        assert_int_equal(ki_value_member(&value, ki_str_from(path[i]), &next), 0);
        value = next;
        spec = i == 0 ? next : spec;
    }
    ki_selector *selector = parse_valid("a=b,!c");
    assert_true(ki_selector_matches_labels(selector, &value));
    assert_false(ki_selector_matches(selector, object));
    ki_value number;
    assert_int_equal(ki_value_member(&spec, ki_str_from("n"), &number), 0);
    assert_false(ki_selector_matches_labels(selector, &number));
    ki_value none = {0};
    assert_false(ki_selector_matches_labels(selector, &none));
    ki_selector_unref(selector);
    selector = parse_valid("!a");
    assert_true(ki_selector_matches_labels(selector, &none));
    assert_true(ki_selector_matches_labels(selector, &number));
    ki_selector_unref(selector);
    ki_object_unref(object);
}

static void everything_and_nothing_live_for_ever(void **state)
{
    (void)state;
    const ki_selector *everything = ki_selector_everything();
    const ki_selector *nothing = ki_selector_nothing();
    for (int i = 0; i < 3; i++) {
        assert_null(ki_selector_unref(everything));
        assert_null(ki_selector_unref(nothing));
    }
    assert_ptr_equal(ki_selector_ref(everything), everything);
    assert_ptr_equal(ki_selector_ref(nothing), nothing);
    assert_true(ki_selector_is_everything(everything));
    assert_false(ki_selector_is_nothing(everything));
    assert_false(ki_selector_is_everything(nothing));
    assert_true(ki_selector_is_nothing(nothing));
    for (size_t i = 0; i < LABEL_SETS; i++) {
        assert_true(matches_labels(everything, label_sets[i]));
        assert_false(matches_labels(nothing, label_sets[i]));
    }
    check_printed(everything, "everything", "");
    ki_selector *selector = parse_valid("a");
    assert_false(ki_selector_is_everything(selector));
    assert_false(ki_selector_is_nothing(selector));
    ki_selector_unref(selector);
    assert_null(ki_selector_ref(NULL));
    assert_null(ki_selector_unref(NULL));
}

/* "" would say everything. */
static void nothing_has_no_text(void **state)
{
    (void)state;
    ki_buf out;
    ki_buf_init(&out, NULL, 100);
    assert_int_equal(ki_selector_print(ki_selector_nothing(), &out), KI_ERR_UNSUPPORTED);
    assert_int_equal(out.len, 0);
    ki_buf_done(&out);
}

static void the_last_unref_frees(void **state)
{
    (void)state;
    test_alloc alloc;
    test_alloc_init(&alloc);
    ki_selector *selector = NULL;
    ki_str text = ki_str_from("a=b,c in (d,e),!f");
    assert_int_equal(ki__selector_parse(text, &alloc.table, &selector, NULL), 0);
    assert_int_equal(alloc.calls, 1); /* one block */
    assert_ptr_equal(ki_selector_ref(selector), selector);
    assert_null(ki_selector_unref(selector));
    assert_int_equal(alloc.live_blocks, 1);
    check_printed(selector, "shared", "a=b,c in (d,e),!f");
    assert_null(ki_selector_unref(selector));
    assert_int_equal(alloc.live_blocks, 0);
    test_alloc_done(&alloc);
}

typedef struct shared {
    const ki_selector *selector;
    const ki_object *object;
} shared;

static void *use_shared(void *user)
{
    const shared *s = user;
    size_t matched = 0;
    for (int i = 0; i < 5000; i++) {
        const ki_selector *mine = ki_selector_ref(s->selector);
        matched += ki_selector_matches(mine, s->object) ? 1 : 0;
        ki_selector_unref(mine);
        ki_selector_unref(ki_selector_ref(ki_selector_everything()));
    }
    ki_selector_unref(s->selector); /* the one that was taken for this thread */
    return (void *)(uintptr_t)matched;
}

static void threads_share_a_selector(void **state)
{
    (void)state;
    test_alloc alloc;
    test_alloc_init(&alloc);
    ki_object *object = labels_object("{\"a\":\"b\"}");
    ki_selector *selector = NULL;
    assert_int_equal(ki_selector_parse("a=b", &alloc.table, &selector, NULL), 0);
    shared s = {selector, object};
    pthread_t threads[3];
    for (size_t i = 0; i < 3; i++) {
        ki_selector_ref(selector);
        assert_int_equal(pthread_create(&threads[i], NULL, use_shared, &s), 0);
    }
    ki_selector_unref(selector);
    for (size_t i = 0; i < 3; i++) {
        void *matched = NULL;
        assert_int_equal(pthread_join(threads[i], &matched), 0);
        assert_int_equal((uintptr_t)matched, 5000);
    }
    ki_object_unref(object);
    test_alloc_done(&alloc); /* the last of them freed it */
}

static void print_appends_or_leaves_all_as_it_was(void **state)
{
    (void)state;
    ki_selector *selector = parse_valid("a=b,c in (d,e),!f");
    size_t whole = strlen("x: a=b,c in (d,e),!f");
    for (size_t max = 3; max <= whole; max++) {
        ki_buf out;
        ki_buf_init(&out, NULL, max);
        assert_int_equal(ki_buf_add_text(&out, "x: "), 0);
        assert_int_equal(ki_selector_print(selector, &out), max < whole ? KI_ERR_LIMIT : 0);
        assert_string_equal(ki_buf_text(&out), max < whole ? "x: " : "x: a=b,c in (d,e),!f");
        assert_int_equal(out.len, strlen(ki_buf_text(&out)));
        ki_buf_done(&out);
    }
    ki_selector_unref(selector);
}

static int parse_and_print(const ki_alloc *alloc, void *user)
{
    (void)user;
    ki_selector *selector = NULL;
    ki_error error = KI_ERROR_INIT;
    ki_str text =
        ki_str_from("a=b,c in (d,e,f,g,h,i,j,k,l,m,n,o,p,q,r,s,t,u,v,w,x,y,z),!f,g>1,h!=");
    int r = ki__selector_parse(text, alloc, &selector, &error);
    if (r < 0) {
        assert_int_equal(error.code, r);
        assert_null(selector);
        return r;
    }
    ki_buf out;
    ki_buf_init(&out, alloc, 1000);
    r = ki_selector_print(selector, &out);
    assert_int_equal(out.len, r < 0 ? 0 : text.len);
    ki_buf_done(&out);
    ki_selector_unref(selector);
    return r;
}

static void failing_allocations_leave_nothing_behind(void **state)
{
    (void)state;
    test_alloc_sweep(parse_and_print, NULL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(accepted_texts_print_and_match_as_the_reference),
        cmocka_unit_test(printed_text_parses_to_the_same),
        cmocka_unit_test(rejected_texts_point_at_the_place),
        cmocka_unit_test(messages_say_what_is_expected_and_what_was_found),
        cmocka_unit_test(nul_is_rejected_anywhere),
        cmocka_unit_test(text_need_not_be_terminated),
        cmocka_unit_test(lengths_are_limited),
        cmocka_unit_test(text_is_limited_to_64_kib),
        cmocka_unit_test(many_requirements_keep_their_order_by_key),
        cmocka_unit_test(many_values_are_found_and_printed_sorted),
        cmocka_unit_test(labels_may_be_escaped_odd_or_absent),
        cmocka_unit_test(a_map_from_anywhere_can_be_matched),
        cmocka_unit_test(everything_and_nothing_live_for_ever),
        cmocka_unit_test(nothing_has_no_text),
        cmocka_unit_test(the_last_unref_frees),
        cmocka_unit_test(threads_share_a_selector),
        cmocka_unit_test(print_appends_or_leaves_all_as_it_was),
        cmocka_unit_test(failing_allocations_leave_nothing_behind),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
