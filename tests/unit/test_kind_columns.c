/* SPDX-License-Identifier: Apache-2.0 */
/* Columns of kinds; test_api_table.c has the rows of most of them. */
#include <kinformer/error.h>
#include <kinformer/parts/columns.h>

#include "support/test.h"

#define NOW INT64_C(1700000000)
#define MADE_10_S_AGO "'creationTimestamp':'2023-11-14T22:13:10Z'"

static void ages_have_the_units_of_kubectl(void **state)
{
    (void)state;
    static const struct {
        int64_t age;
        const char *text;
    } cases[] = {
        {-10, "<invalid>"}, {-1, "0s"},       {0, "0s"},          {119, "119s"},
        {120, "2m"},        {125, "2m5s"},    {599, "9m59s"},     {600, "10m"},
        {10799, "179m"},    {10800, "3h"},    {10860, "3h1m"},    {28800, "8h"},
        {172799, "47h"},    {172800, "2d"},   {176400, "2d1h"},   {691200, "8d"},
        {63071999, "729d"}, {63072000, "2y"}, {63158400, "2y1d"}, {252288000, "8y"},
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        ki_buf out;
        ki_buf_init(&out, NULL, 64);
        assert_int_equal(ki_age_write(cases[i].age, &out), 0);
        assert_string_equal(out.data, cases[i].text);
        ki_buf_done(&out);
    }
}

/* Text with ' in place of ". */
static ki_object *read_object(const char *json)
{
    ki_buf text;
    ki_object *object = NULL;
    ki_buf_init(&text, NULL, 1 << 20);
    for (; *json != '\0'; json++) {
        assert_int_equal(ki_buf_add_char(&text, (char)(*json == '\'' ? '"' : *json)), 0);
    }
    assert_int_equal(ki_object_from_json(text.data, text.len, NULL, &object, NULL), 0);
    ki_buf_done(&text);
    return object;
}

/* The narrow cells of an object, with '|' between them. */
static void check_row(const ki_resource *resource, const char *json, const char *expected)
{
    ki_object *object = read_object(json);
    ki_buf out;
    ki_buf_init(&out, NULL, 4096);
    const ki_column *c = NULL;
    for (size_t i = 0; (c = ki_column_at(resource, i)) != NULL; i++) {
        if (!ki_column_is_wide(c)) {
            assert_int_equal(ki_buf_add_text(&out, out.len != 0 ? "|" : ""), 0);
            assert_int_equal(ki_column_write(c, object, NOW, &out), 0);
        }
    }
    assert_string_equal(ki_buf_text(&out), expected);
    ki_buf_done(&out);
    ki_object_unref(object);
}

static void cells_are_those_of_kubectl(void **state)
{
    (void)state;
    check_row(KI_CORE_V1_PODS,
              "{'metadata':{'name':'p'," MADE_10_S_AGO
              "},'spec':{'containers':[{},{}]},'status':{'phase':'Running','containerStatuses':["
              "{'ready':true,'restartCount':2},{'state':{'waiting':{'reason':'ErrImagePull'}}},"
              "{'state':{'terminated':{'reason':'Error'}}}]}}",
              "p|1/2|ErrImagePull|2|10s");
    check_row(KI_CORE_V1_PODS,
              "{'metadata':{'name':'p'},'status':{'phase':'Failed','reason':'Evicted'}}",
              "p|0/0|Evicted|0|<unknown>");
    check_row(KI_CORE_V1_PODS,
              "{'metadata':{'name':'p','deletionTimestamp':'2023-11-14T22:13:10Z'}}",
              "p|0/0|Terminating|0|<unknown>");
    check_row(KI_CORE_V1_NODES, "{'metadata':{'name':'n'}}", "n|Unknown|<none>|<unknown>|");
    check_row(KI_CORE_V1_NODES,
              "{'metadata':{'name':'n','labels':{'node-role.kubernetes.io/a':'','b':'','node-role."
              "kubernetes.io/c':''}},'status':{'conditions':[{'type':'Ready','status':'False'}]}}",
              "n|NotReady|a,c|<unknown>|");
    check_row(KI_CORE_V1_PERSISTENTVOLUMES,
              "{'metadata':{'name':'v'},'spec':{'accessModes':['a','b'],'claimRef':{'namespace':"
              "'shop','name':'data'}}}",
              "v||a,b|||shop/data||<unset>||<unknown>");
    check_row(KI_CORE_V1_SERVICES,
              "{'metadata':{'name':'s'},'spec':{'type':'LoadBalancer','ports':[]}}",
              "s|LoadBalancer|<none>|<pending>|<none>|<unknown>");
    check_row(KI_BATCH_V1_JOBS,
              "{'metadata':{'name':'j'},'status':{'startTime':'2023-11-14T22:11:20Z','conditions':"
              "[{'type':'Suspended','status':'True'}]}}",
              "j|Suspended|0/1|2m|<unknown>");
    check_row(KI_EVENTS_V1_EVENTS,
              "{'metadata':{'name':'e'," MADE_10_S_AGO
              "},'type':'Warning','note':'a\\nb','regarding':{'kind':'ReplicaSet','name':'r'}}",
              "10s|Warning||replicaset/r|a\nb");
}

static void columns_have_titles_and_types(void **state)
{
    (void)state;
    static const struct {
        const char *title;
        ki_cell_type type;
        bool wide;
    } expected[] = {
        {"Name", KI_CELL_NAME, false},
        {"Data", KI_CELL_NUMBER, false},
        {"Age", KI_CELL_TIME, false},
    };
    for (size_t i = 0; i < 3; i++) {
        const ki_column *c = ki_column_at(KI_CORE_V1_CONFIGMAPS, i);
        assert_non_null(c);
        assert_string_equal(ki_column_title(c), expected[i].title);
        assert_int_equal(ki_column_cell_type(c), expected[i].type);
        assert_int_equal(ki_column_is_wide(c), expected[i].wide);
    }
    assert_null(ki_column_at(KI_CORE_V1_CONFIGMAPS, 3));
    assert_null(ki_column_at(KI_CORE_V1_CONFIGMAPS, SIZE_MAX));
}

static void custom_resources_have_name_and_age(void **state)
{
    (void)state;
    ki_resource *resource = NULL;
    ki_resource_options options = KI_OPTIONS_INIT(ki_resource_options);
    options.group = "example.com";
    options.version = "v1";
    options.resource = "widgets";
    options.kind = "Widget";
    assert_int_equal(ki_resource_new(&options, &resource, NULL), 0);
    check_row(resource, "{'metadata':{'name':'w'," MADE_10_S_AGO "}}", "w|10s");
    ki_resource_unref(resource);
}

static void a_cell_is_written_whole_or_not_at_all(void **state)
{
    (void)state;
    ki_object *object = read_object("{'metadata':{'name':'d'},'status':{'readyReplicas':1234567}}");
    const ki_column *ready = ki_column_at(KI_APPS_V1_DEPLOYMENTS, 1);
    ki_buf out;
    ki_buf_init(&out, NULL, 9);
    assert_int_equal(ki_buf_add_text(&out, "ab"), 0);
    assert_int_equal(ki_column_write(ready, object, NOW, &out), KI_ERR_LIMIT);
    assert_string_equal(ki_buf_text(&out), "ab");
    ki_buf_done(&out);
    ki_object_unref(object);
}

static void no_clock_is_too_far_off(void **state)
{
    (void)state;
    static const int64_t times[] = {INT64_MIN, 0, INT64_MAX};
    ki_object *object = read_object("{'metadata':{'name':'a'," MADE_10_S_AGO "}}");
    ki_buf out;
    ki_buf_init(&out, NULL, 100);
    for (size_t i = 0; i < sizeof(times) / sizeof(times[0]); i++) {
        ki_buf_clear(&out);
        const ki_column *age = ki_column_at(KI_CORE_V1_SERVICEACCOUNTS, 1);
        assert_int_equal(ki_column_write(age, object, times[i], &out), 0);
        assert_true(out.len != 0);
    }
    assert_string_equal(ki_buf_text(&out), "292471208623y");
    ki_buf_done(&out);
    ki_object_unref(object);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(ages_have_the_units_of_kubectl),
        cmocka_unit_test(cells_are_those_of_kubectl),
        cmocka_unit_test(columns_have_titles_and_types),
        cmocka_unit_test(custom_resources_have_name_and_age),
        cmocka_unit_test(a_cell_is_written_whole_or_not_at_all),
        cmocka_unit_test(no_clock_is_too_far_off),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
