/* SPDX-License-Identifier: Apache-2.0 */
/* metav1.LabelSelector values. What is accepted, what it prints and matches, and what is rejected
 * was checked against k8s.io/apimachinery v0.37.2 (util/json.Unmarshal and
 * metav1.LabelSelectorAsSelector) with a Go program over these very tables; the words of errors are
 * our own. */
#include <kinformer/label_selector.h>

#include "unit/selector_labels.h"

typedef struct accept_case {
    const char *json;
    const char *printed; /* NULL: selects nothing */
    const char *matches; /* of each label set: 1 or . */
} accept_case;

static const accept_case accepted[] = {
    {"null", NULL, "..............."},
    {"{}", "", "111111111111111"},
    {"{\"matchLabels\":{}}", "", "111111111111111"},
    {"{\"matchExpressions\":[]}", "", "111111111111111"},
    {"{\"matchLabels\":null,\"matchExpressions\":null}", "", "111111111111111"},
    {"{\"matchLabels\":{},\"matchExpressions\":[]}", "", "111111111111111"},
    {"{\"other\":1}", "", "111111111111111"},
    {"{\"MatchLabels\":{\"a\":\"b\"}}", "", "111111111111111"},
    {"{\"matchLabels\":{\"a\":\"b\"}}", "a=b", ".1.....1......."},
    {"{\"matchLabels\":{\"x\":\"1\",\"a\":\"c\"}}", "a=c,x=1", "..1............"},
    {"{\"matchLabels\":{\"a\":\"\"}}", "a=", "...1..........."},
    {"{\"matchLabels\":{\"a\":null}}", "a=", "...1..........."},
    {"{\"matchLabels\":{\"app.kubernetes.io/name\":\"web\",\"tier\":\"front\"}}",
     "app.kubernetes.io/name=web,tier=front", ".......1......."},
    {"{\"matchLabels\":{\"\\u0061\":\"\\u0062\"}}", "a=b", ".1.....1......."},
    {"{\"matchLabels\":{\"app.kubernetes.io\\/name\":\"web\"}}", "app.kubernetes.io/name=web",
     ".......1......."},
    {"{\"matchExpressions\":[{\"key\":\"a\",\"operator\":\"In\",\"values\":[\"b\"]}]}", "a in (b)",
     ".1.....1......."},
    {"{\"matchExpressions\":[{\"key\":\"a\",\"operator\":\"In\",\"values\":[\"c\",\"b\"]}]}",
     "a in (b,c)", ".11....1......."},
    {"{\"matchExpressions\":[{\"key\":\"a\",\"operator\":\"In\",\"values\":[\"c\",\"b\",\"c\"]}]}",
     "a in (b,c,c)", ".11....1......."},
    {"{\"matchExpressions\":[{\"key\":\"a\",\"operator\":\"In\",\"values\":[\"\"]}]}", "a in ()",
     "...1..........."},
    {"{\"matchExpressions\":[{\"key\":\"a\",\"operator\":\"In\",\"values\":[\"\",\"\"]}]}",
     "a in (,)", "...1..........."},
    {"{\"matchExpressions\":[{\"key\":\"a\",\"operator\":\"In\",\"values\":[null]}]}", "a in ()",
     "...1..........."},
    {"{\"matchExpressions\":[{\"key\":\"a\",\"operator\":\"In\",\"values\":[\"\\u0062\"]}]}",
     "a in (b)", ".1.....1......."},
    {"{\"matchExpressions\":[{\"key\":\"a\",\"operator\":\"NotIn\",\"values\":[\"b\"]}]}",
     "a notin (b)", "1.11111.1111111"},
    {"{\"matchExpressions\":[{\"key\":\"a\",\"operator\":\"NotIn\",\"values\":[\"b\",\"c\"]}]}",
     "a notin (b,c)", "1..1111.1111111"},
    {"{\"matchExpressions\":[{\"key\":\"a\",\"operator\":\"Exists\"}]}", "a", ".111...1.1.1.11"},
    {"{\"matchExpressions\":[{\"key\":\"a\",\"operator\":\"Exists\",\"values\":[]}]}", "a",
     ".111...1.1.1.11"},
    {"{\"matchExpressions\":[{\"key\":\"a\",\"operator\":\"Exists\",\"values\":null}]}", "a",
     ".111...1.1.1.11"},
    {"{\"matchExpressions\":[{\"key\":\"a\",\"operator\":\"DoesNotExist\"}]}", "!a",
     "1...111.1.1.1.."},
    {"{\"matchExpressions\":[{\"operator\":\"DoesNotExist\",\"values\":[],\"key\":\"x\",\"more\":{"
     "\"a\":[1,2]}}]}",
     "!x", "11.....1......."},
    {"{\"matchExpressions\":[{\"key\":\"x\",\"operator\":\"Exists\"},{\"key\":\"a\",\"operator\":"
     "\"In\",\"values\":[\"b\",\"c\"]},{\"key\":\"b\",\"operator\":\"DoesNotExist\"}]}",
     "a in (b,c),!b,x", "..1............"},
    {"{\"matchExpressions\":[{\"key\":\"a\",\"operator\":\"Exists\"}],\"matchLabels\":{\"a\":\"b\"}"
     "}",
     "a=b,a", ".1.....1......."},
    {"{\"matchLabels\":{\"b\":\"a\"},\"matchExpressions\":[{\"key\":\"a\",\"operator\":"
     "\"DoesNotExist\"},{\"key\":\"x\",\"operator\":\"Exists\"}]}",
     "!a,b=a,x", "..........1...."},
    {"{\"matchExpressions\":[{\"key\":\"in\",\"operator\":\"In\",\"values\":[\"notin\",\"in\"]}]}",
     "in in (in,notin)", "......1........"},
};

typedef struct reject_case {
    const char *json;
    const char *message; /* how it begins */
} reject_case;

static const reject_case rejected[] = {
    {"[]", "the label selector: expected a map"},
    {"\"a=b\"", "the label selector: expected a map"},
    {"1", "the label selector: expected a map"},
    {"{\"matchLabels\":[]}", "matchLabels: expected a map"},
    {"{\"matchLabels\":\"a=b\"}", "matchLabels: expected a map"},
    {"{\"matchLabels\":{\"a\":1}}", "matchLabels[\"a\"]: expected a string"},
    {"{\"matchLabels\":{\"a\":{}}}", "matchLabels[\"a\"]: expected a string"},
    {"{\"matchLabels\":{\"a\":true}}", "matchLabels[\"a\"]: expected a string"},
    {"{\"matchLabels\":{\"\":\"b\"}}", "matchLabels[\"\"]: "},
    {"{\"matchLabels\":{\"-a\":\"b\"}}", "matchLabels[\"-a\"]: not a valid label key: "},
    {"{\"matchLabels\":{\"a\":\"-b\"}}", "matchLabels[\"a\"]: not a valid label value: "},
    {"{\"matchLabels\":{\"a\":\"b\\u0000\"}}", "matchLabels[\"a\"]: "},
    {"{\"matchLabels\":{\"a\\u0001\":\"b\"}}", "matchLabels[\"a?\"]: "},
    {"{\"matchExpressions\":{}}", "matchExpressions: expected a list"},
    {"{\"matchExpressions\":\"a\"}", "matchExpressions: expected a list"},
    {"{\"matchExpressions\":[1]}", "matchExpressions[0]: expected a map"},
    {"{\"matchExpressions\":[null]}", "matchExpressions[0].key: "},
    {"{\"matchExpressions\":[{}]}", "matchExpressions[0].key: "},
    {"{\"matchExpressions\":[{\"key\":\"a\"}]}", "matchExpressions[0].operator: "},
    {"{\"matchExpressions\":[{\"key\":\"a\",\"operator\":null}]}",
     "matchExpressions[0].operator: "},
    {"{\"matchExpressions\":[{\"key\":\"a\",\"operator\":\"Gt\",\"values\":[\"1\"]}]}",
     "matchExpressions[0].operator: "},
    {"{\"matchExpressions\":[{\"key\":\"a\",\"operator\":\"Lt\",\"values\":[\"1\"]}]}",
     "matchExpressions[0].operator: "},
    {"{\"matchExpressions\":[{\"key\":\"a\",\"operator\":\"in\",\"values\":[\"1\"]}]}",
     "matchExpressions[0].operator: "},
    {"{\"matchExpressions\":[{\"key\":\"a\",\"operator\":\"=\",\"values\":[\"1\"]}]}",
     "matchExpressions[0].operator: "},
    {"{\"matchExpressions\":[{\"key\":\"a\",\"operator\":5}]}", "matchExpressions[0].operator: "},
    {"{\"matchExpressions\":[{\"key\":\"a\",\"operator\":\"In\"}]}",
     "matchExpressions[0].values: In and NotIn require"},
    {"{\"matchExpressions\":[{\"key\":\"a\",\"operator\":\"NotIn\",\"values\":[]}]}",
     "matchExpressions[0].values: In and NotIn require"},
    {"{\"matchExpressions\":[{\"key\":\"a\",\"operator\":\"In\",\"values\":null}]}",
     "matchExpressions[0].values: In and NotIn require"},
    {"{\"matchExpressions\":[{\"key\":\"a\",\"operator\":\"Exists\",\"values\":[\"b\"]}]}",
     "matchExpressions[0].values: Exists and DoesNotExist take"},
    {"{\"matchExpressions\":[{\"key\":\"a\",\"operator\":\"DoesNotExist\",\"values\":[\"\"]}]}",
     "matchExpressions[0].values: Exists and DoesNotExist take"},
    {"{\"matchExpressions\":[{\"key\":\"a\",\"operator\":\"In\",\"values\":\"b\"}]}",
     "matchExpressions[0].values: expected a list"},
    {"{\"matchExpressions\":[{\"key\":\"a\",\"operator\":\"In\",\"values\":{}}]}",
     "matchExpressions[0].values: expected a list"},
    {"{\"matchExpressions\":[{\"key\":\"a\",\"operator\":\"In\",\"values\":[\"b\",1]}]}",
     "matchExpressions[0].values[1]: expected a string"},
    {"{\"matchExpressions\":[{\"key\":\"a\",\"operator\":\"In\",\"values\":[\"b\",\"c\",\"-\"]}]}",
     "matchExpressions[0].values[2]: "},
    {"{\"matchExpressions\":[{\"key\":\"a\",\"operator\":\"In\",\"values\":[\"b c\"]}]}",
     "matchExpressions[0].values[0]: "},
    {"{\"matchExpressions\":[{\"key\":1,\"operator\":\"Exists\"}]}",
     "matchExpressions[0].key: expected a string"},
    {"{\"matchExpressions\":[{\"key\":\"a b\",\"operator\":\"Exists\"}]}",
     "matchExpressions[0].key: "},
    {"{\"matchExpressions\":[{\"key\":\"a/b/c\",\"operator\":\"Exists\"}]}",
     "matchExpressions[0].key: not a valid label key: only one '/'"},
    {"{\"matchLabels\":{\"a\":\"b\"},\"matchExpressions\":[{\"key\":\"a\",\"operator\":\"Exists\"},"
     "{\"key\":\"b\",\"operator\":\"Exists\"},{\"key\":\"c\",\"operator\":\"exists\"}]}",
     "matchExpressions[2].operator: must be In, NotIn, Exists or DoesNotExist"},
};

/* An object with the selector in spec.selector, or without one if `json` is "". */
static ki_object *selector_object(const char *json, ki_value *ret_selector)
{
    size_t size = strlen(json) + 64;
    char *text = malloc(size);
    assert_non_null(text);
    int len =
        snprintf(text, size, "{\"spec\":{%s%s}}", json[0] != '\0' ? "\"selector\":" : "", json);
    ki_object *object = NULL;
    assert_int_equal(ki_object_from_json(text, (size_t)len, NULL, &object, NULL), 0);
    free(text);
    ki_value root = ki_object_root(object);
    ki_value spec;
    assert_int_equal(ki_value_member(&root, ki_str_from("spec"), &spec), 0);
    *ret_selector = (ki_value){0};
    (void)!ki_value_member(&spec, ki_str_from("selector"), ret_selector);
    return object;
}

static ki_selector *from_valid(const char *json)
{
    ki_value value;
    ki_object *object = selector_object(json, &value);
    ki_selector *selector = NULL;
    ki_error error = KI_ERROR_INIT;
    if (ki_selector_from_value(&value, NULL, &selector, &error) != 0) {
        fail_msg("%s: %s", json, error.message);
    }
    ki_object_unref(object); /* the selector needs it no longer */
    return selector;
}

static void accepted_values_print_and_match_as_the_reference(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof(accepted) / sizeof(accepted[0]); i++) {
        ki_selector *selector = from_valid(accepted[i].json);
        check_matches(selector, accepted[i].json, accepted[i].matches);
        assert_int_equal(ki_selector_is_nothing(selector), accepted[i].printed == NULL);
        if (accepted[i].printed != NULL) {
            check_printed(selector, accepted[i].json, accepted[i].printed);
            ki_selector *again = parse_valid(accepted[i].printed);
            check_matches(again, accepted[i].printed, accepted[i].matches);
            ki_selector_unref(again);
        }
        ki_selector_unref(selector);
    }
}

static void check_rejected(const char *json, int code, const char *message)
{
    ki_value value;
    ki_object *object = selector_object(json, &value);
    ki_selector *selector = NULL;
    ki_error error = KI_ERROR_INIT;
    int r = ki_selector_from_value(&value, NULL, &selector, &error);
    if (r != code || error.code != code || strncmp(error.message, message, strlen(message)) != 0) {
        fail_msg("%s: gave %s (%s), expected %s (%s)", json, r < 0 ? ki_error_name(r) : "0",
                 error.message, ki_error_name(code), message);
    }
    assert_null(selector);
    assert_int_equal(ki_selector_from_value(&value, NULL, &selector, NULL), code);
    ki_object_unref(object);
}

static void rejected_values_name_the_field(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof(rejected) / sizeof(rejected[0]); i++) {
        check_rejected(rejected[i].json, KI_ERR_INVALID, rejected[i].message);
    }
}

static void an_absent_selector_selects_nothing(void **state)
{
    (void)state;
    ki_selector *selector = from_valid("");
    assert_ptr_equal(selector, ki_selector_nothing());
    ki_selector_unref(selector);
    assert_ptr_equal(from_valid("null"), ki_selector_nothing());
    assert_ptr_equal(from_valid("{}"), ki_selector_everything());
}

/* As everywhere in objects. The reference takes the last. */
static void of_labels_named_twice_the_first_counts(void **state)
{
    (void)state;
    ki_selector *selector =
        from_valid("{\"matchLabels\":{\"b\":\"1\",\"a\":\"b\",\"\\u0062\":\"2\","
                   "\"a\":\"c\",\"a\":\"d\"},"
                   "\"matchExpressions\":[{\"key\":\"a\",\"operator\":\"Exists\"},"
                   "{\"key\":\"a\",\"operator\":\"Exists\"}]}");
    check_printed(selector, "twice", "a=b,a,a,b=1");
    ki_selector_unref(selector);
}

static void lengths_are_limited(void **state)
{
    (void)state;
    static const struct {
        const char *format; /* with a place for text of `fill` */
        size_t max;
        const char *message;
    } cases[] = {
        {"{\"matchLabels\":{\"%s\":\"v\"}}", 63, "matchLabels["},
        {"{\"matchLabels\":{\"p/%s\":\"v\"}}", 63, "matchLabels["},
        {"{\"matchLabels\":{\"%s/kkkkkkkkkk\":\"v\"}}", 253, "matchLabels["},
        {"{\"matchLabels\":{\"k\":\"%s\"}}", 63, "matchLabels[\"k\"]: longer than 63 bytes"},
        {"{\"matchExpressions\":[{\"key\":\"%s\",\"operator\":\"Exists\"}]}", 63,
         "matchExpressions[0].key: "},
        {"{\"matchExpressions\":[{\"key\":\"k\",\"operator\":\"In\",\"values\":[\"\",\"%s\"]}]}",
         63, "matchExpressions[0].values[1]: longer than 63 bytes"},
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        for (size_t len = cases[i].max - 1; len < 1000; len += len <= cases[i].max ? 1 : 321) {
            char fill[1024];
            memset(fill, 'x', len);
            fill[len] = '\0';
            const char *place = strstr(cases[i].format, "%s");
            char json[2048];
            (void)snprintf(json, sizeof(json), "%.*s%s%s", (int)(place - cases[i].format),
                           cases[i].format, fill, place + 2);
            if (len <= cases[i].max) {
                ki_selector_unref(from_valid(json));
            } else {
                check_rejected(json, KI_ERR_INVALID, cases[i].message);
            }
        }
    }
}

/* A selector of "a in (" and `commas` commas and ")". */
static char *many_values(size_t commas)
{
    static const char head[] =
        "{\"matchExpressions\":[{\"key\":\"a\",\"operator\":\"In\",\"values\":[\"\"";
    char *json = malloc(sizeof(head) + commas * 3 + 5);
    assert_non_null(json);
    memcpy(json, head, sizeof(head) - 1);
    char *end = json + sizeof(head) - 1;
    for (size_t i = 0; i < commas; i++) {
        memcpy(end, ",\"\"", 3);
        end += 3;
    }
    memcpy(end, "]}]}", 5);
    return json;
}

static void the_whole_is_limited_to_what_can_be_parsed(void **state)
{
    (void)state;
    size_t most = 65536 - strlen("a in ()");
    char *json = many_values(most);
    ki_selector *selector = from_valid(json);
    assert_true(matches_labels(selector, "{\"a\":\"\"}"));
    ki_selector_unref(selector);
    free(json);
    json = many_values(most + 1);
    check_rejected(json, KI_ERR_LIMIT, "normalized selector longer than 65536 bytes");
    free(json);
}

static int make_and_print(const ki_alloc *alloc, void *user)
{
    ki_selector *selector = NULL;
    ki_error error = KI_ERROR_INIT;
    int r = ki_selector_from_value(user, alloc, &selector, &error);
    if (r < 0) {
        assert_int_equal(error.code, r);
        assert_null(selector);
        return r;
    }
    ki_buf out;
    ki_buf_init(&out, alloc, 1000);
    r = ki_selector_print(selector, &out);
    if (r == 0) {
        assert_string_equal(ki_buf_text(&out), "a=b,c in (d,e),f");
    }
    ki_buf_done(&out);
    ki_selector_unref(selector);
    return r;
}

static void failing_allocations_leave_nothing_behind(void **state)
{
    (void)state;
    ki_value value;
    ki_object *object =
        selector_object("{\"matchLabels\":{\"a\":\"b\"},\"matchExpressions\":[{\"key\":\"f\","
                        "\"operator\":\"Exists\"}"
                        ",{\"key\":\"c\",\"operator\":\"In\",\"values\":[\"e\",\"d\"]}]}",
                        &value);
    test_alloc_sweep(make_and_print, &value);
    ki_object_unref(object);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(accepted_values_print_and_match_as_the_reference),
        cmocka_unit_test(rejected_values_name_the_field),
        cmocka_unit_test(an_absent_selector_selects_nothing),
        cmocka_unit_test(of_labels_named_twice_the_first_counts),
        cmocka_unit_test(lengths_are_limited),
        cmocka_unit_test(the_whole_is_limited_to_what_can_be_parsed),
        cmocka_unit_test(failing_allocations_leave_nothing_behind),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
