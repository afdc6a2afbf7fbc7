/* SPDX-License-Identifier: Apache-2.0 */
/* JSON patches (RFC 6902), and the tree that they are done on. Text is written with ' for ". */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "object/edit/patch.h"
#include "support/test.h"

static ki_object *object(const char *text, const ki_alloc *alloc)
{
    ki_object *made = NULL;
    ki_object_options options = {.size = sizeof(options), .alloc = alloc, .max_bytes = 64 << 20};
    char *json = strdup(text);
    for (char *p = json; (p = strchr(p, '\'')) != NULL; p++) {
        *p = '"';
    }
    int r = ki_object_from_json(json, strlen(json), &options, &made, NULL);
    free(json);
    assert_true(r == 0 || r == -ENOMEM);
    return made;
}

/* Patches {'v': target} with the operations in {'o': ...}. */
static int patch(const char *target, const char *operations, const ki_alloc *alloc, ki_buf *out,
                 ki_error *error)
{
    ki_object *from = object(target, alloc);
    ki_object *with = from != NULL ? object(operations, alloc) : NULL;
    int r = -ENOMEM;
    if (with != NULL) {
        ki_value left = ki_object_root(from);
        ki_value root = ki_object_root(with);
        ki_value list;
        assert_int_equal(ki_value_member(&root, ki_str_from("o"), &list), 0);
        r = ki__json_patch(&left, &list, alloc, out, error);
    }
    ki_object_unref(from);
    ki_object_unref(with);
    return r;
}

static void check(const char *target, const char *operations, const char *expected)
{
    ki_buf out;
    char wrapped[2048];
    ki_error error = KI_ERROR_INIT;
    snprintf(wrapped, sizeof(wrapped), "{'o':%s}", operations);
    ki_buf_init(&out, NULL, 1 << 20);
    int r = patch(target, wrapped, NULL, &out, &error);
    if (expected == NULL) {
        if (r != KI_ERR_INVALID || error.message[0] == '\0') {
            fail_msg("%s: %s", operations, ki_error_name(r));
        }
    } else {
        if (r < 0) {
            fail_msg("%s: %s", operations, error.message);
        }
        for (char *p = out.data; (p = strchr(p, '"')) != NULL; p++) {
            *p = '\'';
        }
        assert_string_equal(out.data, expected);
    }
    ki_buf_done(&out);
}

static void operations_do_what_the_rfc_says(void **state)
{
    (void)state;
    static const char *const cases[][3] = {
        {"{'foo':'bar'}", "[{'op':'add','path':'/baz','value':'qux'}]",
         "{'foo':'bar','baz':'qux'}"},
        {"{'foo':['bar','baz']}", "[{'op':'add','path':'/foo/1','value':'qux'}]",
         "{'foo':['bar','qux','baz']}"},
        {"{'foo':['bar']}", "[{'op':'add','path':'/foo/1','value':1}]", "{'foo':['bar',1]}"},
        {"{'foo':['bar']}", "[{'op':'add','path':'/foo/-','value':[1,{'a':[]}]}]",
         "{'foo':['bar',[1,{'a':[]}]]}"},
        {"{'a':1}", "[{'op':'add','path':'/a','value':2}]", "{'a':2}"},
        {"{'a':1,'b':2,'c':3}", "[{'op':'replace','path':'/b','value':{'x':null}}]",
         "{'a':1,'b':{'x':null},'c':3}"},
        {"{'baz':'qux','foo':'bar'}", "[{'op':'remove','path':'/baz'}]", "{'foo':'bar'}"},
        {"{'foo':[1,2,3]}", "[{'op':'remove','path':'/foo/1'}]", "{'foo':[1,3]}"},
        {"{'foo':[1,2,3]}", "[{'op':'replace','path':'/foo/1','value':9}]", "{'foo':[1,9,3]}"},
        {"{'foo':[1,2,3]}", "[{'op':'replace','path':'/foo/2','value':9}]", "{'foo':[1,2,9]}"},
        {"{'foo':{'bar':'baz','waldo':'fred'},'qux':{'corge':'grault'}}",
         "[{'op':'move','from':'/foo/waldo','path':'/qux/thud'}]",
         "{'foo':{'bar':'baz'},'qux':{'corge':'grault','thud':'fred'}}"},
        {"{'foo':['all','grass','cows','eat']}", "[{'op':'move','from':'/foo/1','path':'/foo/3'}]",
         "{'foo':['all','cows','eat','grass']}"},
        {"{'a':{'b':[1]}}",
         "[{'op':'copy','from':'/a/b','path':'/c'},"
         "{'op':'add','path':'/c/-','value':2}]",
         "{'a':{'b':[1]},'c':[1,2]}"},
        {"{'a':1}", "[{'op':'copy','from':'','path':'/b'}]", "{'a':1,'b':{'a':1}}"},
        {"{'a':1}", "[{'op':'replace','path':'','value':{'b':2}}]", "{'b':2}"},
        {"{'baz':'qux','foo':['a',2,'c']}",
         "[{'op':'test','path':'/baz','value':'qux'},"
         "{'op':'test','path':'/foo/1','value':2},"
         "{'op':'test','path':'/foo','value':['a',2,'c']}]",
         "{'baz':'qux','foo':['a',2,'c']}"},
        {"{'x':{'a':1,'b':2}}", "[{'op':'test','path':'/x','value':{'b':2.0,'a':1}}]",
         "{'x':{'a':1,'b':2}}"},
        {"{'/':9,'~1':10}",
         "[{'op':'test','path':'/~01','value':10},"
         "{'op':'remove','path':'/~1'}]",
         "{'~1':10}"},
        {"{'':{'':1}}", "[{'op':'replace','path':'//','value':2}]", "{'':{'':2}}"},
        {"{'a':1}", "[]", "{'a':1}"},
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        check(cases[i][0], cases[i][1], cases[i][2]);
    }
}

/* What API servers do besides. */
static void operations_do_what_servers_do(void **state)
{
    (void)state;
    static const char *const cases[][3] = {
        {"{'a':1}", "[{'op':'replace','path':'/b','value':2}]", "{'a':1,'b':2}"},
        {"{'a':1}", "[{'op':'add','path':'/b'}]", "{'a':1,'b':null}"},
        {"{'a':1}", "[{'op':'replace','path':'/a'}]", "{'a':null}"},
        {"{'a':null}", "[{'op':'test','path':'/a'},{'op':'test','path':'/b','value':null}]",
         "{'a':null}"},
        {"{'l':[1,2]}", "[{'op':'add','path':'/l/-1','value':3}]", "{'l':[1,2,3]}"},
        {"{'l':[1,2]}", "[{'op':'add','path':'/l/-2','value':3}]", "{'l':[1,3,2]}"},
        {"{'l':[1,2]}", "[{'op':'add','path':'/l/-3','value':3}]", "{'l':[3,1,2]}"},
        {"{'l':[]}", "[{'op':'add','path':'/l/-1','value':3}]", "{'l':[3]}"},
        {"{'l':[1,2]}", "[{'op':'remove','path':'/l/-1'}]", "{'l':[1]}"},
        {"{'l':[1,2]}", "[{'op':'remove','path':'/l/-2'}]", "{'l':[2]}"},
        {"{'l':[1,2]}", "[{'op':'replace','path':'/l/-2','value':[]}]", "{'l':[[],2]}"},
        {"{'l':[{'a':1},2]}", "[{'op':'test','path':'/l/-2/a','value':1}]", "{'l':[{'a':1},2]}"},
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        check(cases[i][0], cases[i][1], cases[i][2]);
    }
}

static void impossible_operations_are_rejected(void **state)
{
    (void)state;
    static const char *const cases[] = {
        "{}",
        "[1]",
        "[{}]",
        "[{'op':'nothing','path':'/a'}]",
        "[{'op':'add','value':1}]",
        "[{'op':'add','path':1,'value':1}]",
        "[{'op':'add','path':'b','value':1}]",
        "[{'op':'add','path':'/b/c','value':1}]",
        "[{'op':'add','path':'/a/c','value':1}]",
        "[{'op':'add','path':'/l/4','value':1}]",
        "[{'op':'add','path':'/l/01','value':1}]",
        "[{'op':'add','path':'/l/x','value':1}]",
        "[{'op':'add','path':'/l/','value':1}]",
        "[{'op':'add','path':'/l/99999999999999999999','value':1}]",
        "[{'op':'add','path':'/~2','value':1}]",
        "[{'op':'add','path':'/~','value':1}]",
        "[{'op':'remove','path':'/b'}]",
        "[{'op':'remove','path':''}]",
        "[{'op':'remove','path':'/l/3'}]",
        "[{'op':'remove','path':'/l/-'}]",
        "[{'op':'replace','path':'/l/-','value':1}]",
        "[{'op':'move','path':'/b'}]",
        "[{'op':'move','from':'/x','path':'/b'}]",
        "[{'op':'move','from':'/m','path':'/m/n/o'}]",
        "[{'op':'move','from':'','path':'/b'}]",
        "[{'op':'copy','from':'/x','path':'/b'}]",
        "[{'op':'copy','from':'/a','path':'/x/y'}]",
        "[{'op':'test','path':'/a','value':2}]",
        "[{'op':'test','path':'/a','value':'1'}]",
        "[{'op':'test','path':'/x','value':1}]",
        "[{'op':'test','path':'/l/-','value':null}]",
        "[{'op':'test','path':'/l/3','value':null}]",
        "[{'op':'add','path':'/l/-5','value':1}]",
        "[{'op':'add','path':'/l/-0','value':1}]",
        "[{'op':'add','path':'/l/-01','value':1}]",
        "[{'op':'add','path':'/l/+1','value':1}]",
        "[{'op':'remove','path':'/l/-4'}]",
        "[{'op':'replace','path':'/l/-4','value':1}]",
        "[{'op':'replace','path':'/l/3','value':1}]",
        "[{'op':'add','path':'/l/-9223372036854775808/x','value':1}]",
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        check("{'a':1,'l':[1,2,3],'m':{'n':{}}}", cases[i], NULL);
    }
}

/* Copies that double what there is come to an end. */
static void growth_has_a_limit(void **state)
{
    (void)state;
    ki_buf operations;
    ki_buf out;
    ki_buf_init(&operations, NULL, 1 << 20);
    ki_buf_init(&out, NULL, 256 << 20);
    test_add(&operations, "{'o':[{'op':'add','path':'/x','value':[1,2,3,4,5,6,7,8]}", 1);
    test_add(&operations, ",{'op':'copy','from':'/x','path':'/x/0'}", 40);
    test_add(&operations, "]}", 1);
    assert_int_equal(patch("{}", operations.data, NULL, &out, NULL), KI_ERR_LIMIT);
    ki_buf_clear(&operations);
    test_add(&operations, "{'o':[{'op':'test','path':'/a','value':1}", 1);
    test_add(&operations, ",{'op':'test','path':'/a','value':1}", 10000);
    test_add(&operations, "]}", 1);
    assert_int_equal(patch("{'a':1}", operations.data, NULL, &out, NULL), KI_ERR_LIMIT);
    ki_buf_done(&operations);
    ki_buf_done(&out);
}

/* What is written is what was read, however deep. */
static void a_tree_writes_what_it_was_made_of(void **state)
{
    (void)state;
    ki_buf deep;
    ki_buf out;
    ki_buf_init(&deep, NULL, 1 << 20);
    ki_buf_init(&out, NULL, 1 << 20);
    test_add(&deep, "{\"a\":", 60);
    test_add(&deep, "[1,{\"b\\u0041\\n\":\"\\\"x\"},[],{},null,true,-1.5e3]", 1);
    test_add(&deep, "}", 60);
    ki_object *from = object(deep.data, NULL);
    ki_value root = ki_object_root(from);
    ki__tree tree;
    uint32_t node;
    uint32_t copy;
    ki__tree_init(&tree, NULL);
    assert_int_equal(ki__tree_add(&tree, &root, &node), 0);
    assert_int_equal(ki__tree_copy(&tree, node, &copy), 0);
    assert_int_equal(ki__tree_write(&tree, copy, &out), 0);
    ki_buf expected;
    ki_buf_init(&expected, NULL, 1 << 20);
    test_add(&expected, "{\"a\":", 60);
    test_add(&expected, "[1,{\"bA\\n\":\"\\\"x\"},[],{},null,true,-1.5e3]", 1);
    test_add(&expected, "}", 60);
    assert_string_equal(out.data, expected.data);
    ki__tree_done(&tree);
    ki_object_unref(from);
    ki_buf_done(&deep);
    ki_buf_done(&out);
    ki_buf_done(&expected);
}

static int scenario(const ki_alloc *alloc, void *user)
{
    (void)user;
    ki_buf out;
    ki_buf_init(&out, alloc, 1 << 20);
    int r = patch("{'a':{'b':[1,2]},'c':'d'}",
                  "{'o':[{'op':'copy','from':'/a','path':'/e'},{'op':'add','path':'/f','value':{}},"
                  "{'op':'test','path':'/a','value':{'b':[1,2]}},{'op':'move','from':'/c','path':"
                  "'/g'},{'op':'remove','path':'/f'},{'op':'replace','path':'/e','value':1}]}",
                  alloc, &out, NULL);
    if (r == 0) {
        assert_string_equal(out.data, "{\"a\":{\"b\":[1,2]},\"e\":1,\"g\":\"d\"}");
    }
    ki_buf_done(&out);
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
        cmocka_unit_test(operations_do_what_the_rfc_says),
        cmocka_unit_test(operations_do_what_servers_do),
        cmocka_unit_test(impossible_operations_are_rejected),
        cmocka_unit_test(growth_has_a_limit),
        cmocka_unit_test(a_tree_writes_what_it_was_made_of),
        cmocka_unit_test(memory_may_run_out),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
