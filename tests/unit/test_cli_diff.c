/* SPDX-License-Identifier: Apache-2.0 */
/* Which fields differ between two states of an object. */
#include <kinformer/object.h>

#include "cli/diff.h"
#include "cli/text.h"
#include "support/test.h"

static ki_buf reported;
static bool whole;

static void tell(const ki_diff_change *change, void *user)
{
    (void)user;
    cli_put(&reported, reported.len != 0 ? "; " : "");
    cli_put(&reported, change->path);
    cli_put_char(&reported, ':');
    cli_put_value_json(&reported, &change->before);
    cli_put(&reported, "->");
    cli_put_value_json(&reported, &change->after);
}

static ki_object *object_of(const char *json)
{
    ki_object *object = NULL;
    ki_buf text;
    cli_text_init(&text);
    for (; *json != '\0'; json++) {
        cli_put_char(&text, (char)(*json == '\'' ? '"' : *json));
    }
    assert_int_equal(ki_object_from_json(text.data, text.len, NULL, &object, NULL), 0);
    ki_buf_done(&text);
    return object;
}

/* Text with ' in place of ". */
static const char *diff(const char *before, const char *after)
{
    ki_object *a = object_of(before);
    ki_object *b = object_of(after);
    ki_buf_clear(&reported);
    whole = cli_diff(a, b, tell, NULL);
    (void)ki_object_unref(a);
    (void)ki_object_unref(b);
    return ki_buf_text(&reported);
}

static int setup(void **state)
{
    (void)state;
    cli_text_init(&reported);
    return 0;
}

static int teardown(void **state)
{
    (void)state;
    ki_buf_done(&reported);
    return 0;
}

static void equal_fields_are_not_reported(void **state)
{
    (void)state;
    assert_string_equal(
        diff("{'a':{'b':[1,{'c':null}]},'d':1.0}", "{'d':1,'a':{'b':[1,{'c':null}]}}"), "");
    assert_true(whole);
    assert_string_equal(diff("{'a':'\\u0041'}", "{'a':'A'}"), "");
}

static void changes_come_with_their_path(void **state)
{
    (void)state;
    assert_string_equal(diff("{'spec':{'a':1,'b':'x'}}", "{'spec':{'a':2,'b':'x'}}"),
                        "spec.a:1->2");
    assert_string_equal(diff("{'a':1}", "{'a':'1'}"), "a:1->\"1\"");
    assert_string_equal(diff("{'a':{'b':1}}", "{'a':[1]}"), "a:{\"b\":1}->[1]");
    assert_string_equal(diff("{'a':true,'b':null}", "{'a':false,'b':0}"),
                        "a:true->false; b:null->0");
}

static void new_and_removed_fields_are_reported_once(void **state)
{
    (void)state;
    assert_string_equal(diff("{'a':1,'b':2,'c':3}", "{'a':1,'c':3}"), "b:2->null");
    assert_string_equal(diff("{'b':2}", "{'a':1,'b':2,'c':3}"), "a:null->1; c:null->3");
    assert_string_equal(diff("{'a':1}", "{'b':1}"), "b:null->1; a:1->null");
    assert_string_equal(diff("{}", "{'a':{'b':{}}}"), "a:null->{\"b\":{}}");
}

static void the_order_of_members_does_not_matter(void **state)
{
    (void)state;
    assert_string_equal(diff("{'a':1,'b':2,'c':3}", "{'c':3,'b':2,'a':1}"), "");
    assert_string_equal(diff("{'a':1,'b':2,'c':3,'x':0}", "{'c':3,'a':9,'y':5,'b':2}"),
                        "a:1->9; y:null->5; x:0->null");
}

static void names_that_are_no_words_stand_in_quotes(void **state)
{
    (void)state;
    assert_string_equal(
        diff("{'metadata':{'labels':{'a.b/c':'1'}}}", "{'metadata':{'labels':{'a.b/c':'2'}}}"),
        "metadata.labels['a.b/c']:\"1\"->\"2\"");
}

static void elements_belong_together_by_name(void **state)
{
    (void)state;
    assert_string_equal(diff("{'c':[{'name':'a','i':1},{'name':'b','i':2}]}",
                             "{'c':[{'name':'b','i':3},{'name':'a','i':1}]}"),
                        "c[name=b].i:2->3");
    assert_string_equal(
        diff("{'c':[{'type':'Ready','status':'False'}]}",
             "{'c':[{'type':'New','status':'x'},{'type':'Ready','status':'True'}]}"),
        "c[type=New]:null->{\"type\":\"New\",\"status\":\"x\"}; "
        "c[type=Ready].status:\"False\"->\"True\"");
    assert_string_equal(diff("{'c':[{'name':'a'},{'name':'b'}]}", "{'c':[{'name':'b'}]}"),
                        "c[name=a]:{\"name\":\"a\"}->null");
}

static void elements_without_names_are_counted(void **state)
{
    (void)state;
    assert_string_equal(diff("{'c':[{'x':1},{'x':2}]}", "{'c':[{'x':1},{'x':3},{'x':4}]}"),
                        "c[1].x:2->3; c[2]:null->{\"x\":4}");
    assert_string_equal(diff("{'c':[1,2]}", "{'c':[1,2,3]}"), "c:[1,2]->[1,2,3]");
    assert_string_equal(diff("{'c':[]}", "{'c':[{'name':'a'}]}"),
                        "c[name=a]:null->{\"name\":\"a\"}");
}

static void what_changes_each_time_is_left_out(void **state)
{
    (void)state;
    assert_string_equal(
        diff("{'metadata':{'resourceVersion':'1','managedFields':[{'a':1}],'name':'x'}}",
             "{'metadata':{'resourceVersion':'2','name':'x'},'spec':{'resourceVersion':'1'}}"),
        "spec:null->{\"resourceVersion\":\"1\"}");
}

static void add_nested(ki_buf *json, size_t depth, const char *inside)
{
    for (size_t i = 0; i < depth; i++) {
        cli_put(json, "{'a':");
    }
    cli_put(json, inside);
    for (size_t i = 0; i < depth; i++) {
        cli_put_char(json, '}');
    }
}

static void too_deep_values_are_reported_as_a_whole(void **state)
{
    (void)state;
    ki_buf json[2];
    for (size_t i = 0; i < 2; i++) {
        cli_text_init(&json[i]);
        add_nested(&json[i], 100, i == 0 ? "1" : "2");
    }
    const char *text = diff(ki_buf_text(&json[0]), ki_buf_text(&json[1]));
    assert_non_null(strstr(text, "a.a.a.a"));
    assert_non_null(strstr(text, ":{\"a\":"));
    assert_true(whole);
    ki_buf_done(&json[0]);
    ki_buf_done(&json[1]);
}

static void too_many_differences_are_given_up(void **state)
{
    (void)state;
    ki_buf json[2];
    for (size_t i = 0; i < 2; i++) {
        cli_text_init(&json[i]);
        cli_put(&json[i], "{'d':{");
        for (size_t j = 0; j < 30000; j++) {
            cli_putf(&json[i], "%s'%c%zu':1", j != 0 ? "," : "", i == 0 ? 'a' : 'b', j);
        }
        cli_put(&json[i], "}}");
    }
    (void)diff(ki_buf_text(&json[0]), ki_buf_text(&json[1]));
    assert_false(whole);
    ki_buf_done(&json[0]);
    ki_buf_done(&json[1]);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(equal_fields_are_not_reported),
        TEST(changes_come_with_their_path),
        TEST(new_and_removed_fields_are_reported_once),
        TEST(the_order_of_members_does_not_matter),
        TEST(names_that_are_no_words_stand_in_quotes),
        TEST(elements_belong_together_by_name),
        TEST(elements_without_names_are_counted),
        TEST(what_changes_each_time_is_left_out),
        TEST(too_deep_values_are_reported_as_a_whole),
        TEST(too_many_differences_are_given_up),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
