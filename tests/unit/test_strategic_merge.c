/* SPDX-License-Identifier: Apache-2.0 */
/* Strategic merge patches. Text is written with ' for ". That results are those of Go, also in
 * cases that look odd, is what tests/e2e/test_patches.py is for. A result of NULL: refused. */
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

static const char *api_version_of(const char *kind)
{
    return strcmp(kind, "Deployment") == 0      ? "apps/v1"
           : strcmp(kind, "NetworkPolicy") == 0 ? "networking.k8s.io/v1"
                                                : "v1";
}

static int merge(const char *kind, const char *target, const char *patch, const ki_alloc *alloc,
                 ki_buf *out, ki_error *error)
{
    ki_object *from = object(target, alloc);
    ki_object *with = from != NULL ? object(patch, alloc) : NULL;
    int r = -ENOMEM;
    if (with != NULL) {
        ki_value left = ki_object_root(from);
        ki_value right = ki_object_root(with);
        r = ki__strategic_merge(&left, &right, ki_str_from(api_version_of(kind)), ki_str_from(kind),
                                alloc, out, error);
    }
    ki_object_unref(from);
    ki_object_unref(with);
    return r;
}

static void check(const char *kind, const char *target, const char *patch, const char *expected)
{
    ki_buf out;
    ki_error error = KI_ERROR_INIT;
    ki_buf_init(&out, NULL, 1 << 20);
    int r = merge(kind, target, patch, NULL, &out, &error);
    if (expected == NULL) {
        if (r != KI_ERR_INVALID || error.message[0] == '\0' || out.len != 0) {
            fail_msg("%s: %s %s", patch, ki_error_name(r), out.data);
        }
        ki_buf_done(&out);
        return;
    }
    if (r < 0) {
        fail_msg("%s: %s", patch, error.message);
    }
    for (char *p = out.data; (p = strchr(p, '"')) != NULL; p++) {
        *p = '\'';
    }
    assert_string_equal(out.data, expected);
    ki_buf_done(&out);
}

static void maps_are_merged(void **state)
{
    (void)state;
    check("Pod", "{'spec':{'nodeSelector':{'b':'1','c':'2'},'priority':3}}",
          "{'spec':{'nodeSelector':{'c':'9','x':'y'},'priority':null,'hostname':null}}",
          "{'spec':{'nodeSelector':{'b':'1','c':'9','x':'y'}}}");
    check("Pod", "{'a':1}", "{'a':{'b':{'c':null,'d':1}}}", "{'a':{'b':{'d':1}}}");
    check("Pod", "{'spec':{'hostname':'a','nodeName':'b'}}",
          "{'spec':{'$patch':'replace','priority':2}}", "{'spec':{'priority':2}}");
    /* A map that is deleted stays, empty; one that is not there is not made. */
    check("Pod", "{'spec':{'nodeName':'b'},'x':1}",
          "{'spec':{'$patch':'delete'},'status':{'$patch':'delete'}}", "{'spec':{},'x':1}");
    check("Deployment", "{'spec':{'strategy':{'type':'RollingUpdate','rollingUpdate':{'x':1}}}}",
          "{'spec':{'strategy':{'$retainKeys':['type'],'type':'Recreate'}}}",
          "{'spec':{'strategy':{'type':'Recreate'}}}");
    /* Only these are directives. */
    check("Pod", "{}", "{'$ref':'x','y':{'$other':1,'$retainKeys':['z']}}",
          "{'$ref':'x','y':{'$other':1}}");
}

/* The spelling of a name, a key or a directive does not matter. */
static void text_is_compared_decoded(void **state)
{
    (void)state;
    check("Pod", "{'spec':{'containers':[{'name':'\\u0061','image':'1'}]}}",
          "{'spec':{'containers':[{'name':'a','image':'2'}]}}",
          "{'spec':{'containers':[{'name':'a','image':'2'}]}}");
    check("Pod", "{'metadata':{'finalizers':['a\\/b','c']}}",
          "{'metadata':{'$deleteFromPrimitiveList/finalizers':['a/b']}}",
          "{'metadata':{'finalizers':['c']}}");
    check("Pod", "{'spec':{'nodeName':'b'}}", "{'spec':{'\\u0024patch':'\\u0072eplace','x':1}}",
          "{'spec':{'x':1}}");
    check("Pod", "{'spec':{'hostname':'a'}}",
          "{'spec':{'$retainKeys':['host\\u006eame'],'hostname':'b'}}",
          "{'spec':{'hostname':'b'}}");
}

#define TWO                                                                             \
    "{'spec':{'containers':[{'name':'a','image':'1','env':[{'name':'X','value':'1'}]}," \
    "{'name':'b','image':'2'}]}}"

static void lists_are_merged_by_their_key(void **state)
{
    (void)state;
    check("Pod", TWO, "{'spec':{'containers':[{'name':'b','image':'9'}]}}",
          "{'spec':{'containers':[{'name':'a','image':'1','env':[{'name':'X','value':'1'}]},"
          "{'name':'b','image':'9'}]}}");
    check("Pod", TWO, "{'spec':{'containers':[{'name':'c','image':'3','ports':null}]}}",
          "{'spec':{'containers':[{'name':'c','image':'3','ports':null},"
          "{'name':'a','image':'1','env':[{'name':'X','value':'1'}]},"
          "{'name':'b','image':'2'}]}}");
    check("Pod", TWO, "{'spec':{'containers':[{'name':'a','$patch':'delete'}]}}",
          "{'spec':{'containers':[{'name':'b','image':'2'}]}}");
    check("Pod", TWO, "{'spec':{'containers':[{'$patch':'replace'},{'name':'z'}]}}",
          "{'spec':{'containers':[{'name':'z'}]}}");
    check("Pod", TWO,
          "{'spec':{'containers':[{'name':'a','env':[{'name':'Y','value':'2'},"
          "{'name':'X','$patch':'delete'}]}]}}",
          "{'spec':{'containers':[{'name':'a','image':'1','env':[{'name':'Y','value':'2'}]},"
          "{'name':'b','image':'2'}]}}");
    check("Pod", "{}", "{'spec':{'volumes':[{'name':'v','$retainKeys':['name']}]}}",
          "{'spec':{'volumes':[{'name':'v'}]}}");
    /* In a list that is new, elements with a directive are left out. */
    check("Pod", "{}", "{'spec':{'containers':[{'name':'a','$patch':'delete'},{'name':'b'}]}}",
          "{'spec':{'containers':[{'name':'b'}]}}");
    check("Pod", "{'spec':{'containers':[{'name':'a'},{'name':'b'},{'name':'a','image':'2'}]}}",
          "{'spec':{'containers':[{'$patch':'delete','name':'a'}]}}",
          "{'spec':{'containers':[{'name':'b'}]}}");
}

static void the_key_depends_on_the_place(void **state)
{
    (void)state;
    check("Service", "{'spec':{'ports':[{'port':80,'name':'a'},{'port':81}]}}",
          "{'spec':{'ports':[{'port':80,'name':'b'}]}}",
          "{'spec':{'ports':[{'port':80,'name':'b'},{'port':81}]}}");
    check("Pod", "{'spec':{'containers':[{'name':'a','ports':[{'containerPort':1,'name':'x'}]}]}}",
          "{'spec':{'containers':[{'name':'a','ports':[{'containerPort':1,'name':'y'},"
          "{'containerPort':2}]}]}}",
          "{'spec':{'containers':[{'name':'a','ports':[{'containerPort':1,'name':'y'},"
          "{'containerPort':2}]}]}}");
    check("NetworkPolicy", "{'spec':{'ingress':[{'ports':[{'port':1}]}]}}",
          "{'spec':{'ingress':[{'ports':[{'port':2}]}]}}",
          "{'spec':{'ingress':[{'ports':[{'port':2}]}]}}");
    check("Pod", "{'metadata':{'finalizers':['a','b']}}", "{'metadata':{'finalizers':['b','c']}}",
          "{'metadata':{'finalizers':['a','b','c']}}");
    check("Namespace", "{'spec':{'finalizers':['a']}}", "{'spec':{'finalizers':['b']}}",
          "{'spec':{'finalizers':['b']}}");
    check("Pod", "{'spec':{'tolerations':[{'key':'a'}]}}", "{'spec':{'tolerations':[{'key':'b'}]}}",
          "{'spec':{'tolerations':[{'key':'b'}]}}");
    check("Pod", "{'status':{'conditions':[{'type':'Ready','status':'False'}]}}",
          "{'status':{'conditions':[{'type':'Ready','status':'True'},{'type':'X'}]}}",
          "{'status':{'conditions':[{'type':'Ready','status':'True'},{'type':'X'}]}}");
}

static void values_are_deleted_from_lists_of_them(void **state)
{
    (void)state;
    check("Pod", "{'metadata':{'finalizers':['a','b','c']}}",
          "{'metadata':{'$deleteFromPrimitiveList/finalizers':['b'],'finalizers':['d']}}",
          "{'metadata':{'finalizers':['d','a','c']}}");
    check("Pod", "{'spec':{'containers':[{'name':'a','args':['x','y']}]}}",
          "{'spec':{'containers':[{'name':'a','$deleteFromPrimitiveList/args':['x',1]}]}}", NULL);
    check("Pod", "{'metadata':{'finalizers':['a'],'name':'b'}}",
          "{'metadata':{'$deleteFromPrimitiveList/finalizers':null,"
          "'$deleteFromPrimitiveList/name':['b']}}",
          "{'metadata':{'name':'b'}}");
}

static void an_order_is_kept(void **state)
{
    (void)state;
    check("Pod", "{'spec':{'containers':[{'name':'a'},{'name':'b'},{'name':'c'}]}}",
          "{'spec':{'$setElementOrder/containers':[{'name':'d'},{'name':'c'},{'name':'a'}],"
          "'containers':[{'name':'d'}]}}",
          "{'spec':{'containers':[{'name':'d'},{'name':'b'},{'name':'c'},{'name':'a'}]}}");
    check("Pod", "{'metadata':{'finalizers':['a','b']}}",
          "{'metadata':{'$setElementOrder/finalizers':['b','a']}}",
          "{'metadata':{'finalizers':['b','a']}}");
    /* What is added has the place of what is deleted. */
    check("Pod", "{'spec':{'containers':[{'name':'a'},{'name':'b'}]}}",
          "{'spec':{'$setElementOrder/containers':[{'name':'b'},{'name':'c'}],'containers':"
          "[{'name':'c'},{'name':'a','$patch':'delete'}]}}",
          "{'spec':{'containers':[{'name':'b'},{'name':'c'}]}}");
    check("Pod", "{}", "{'spec':{'$setElementOrder/containers':[]},'metadata':{}}",
          "{'spec':{},'metadata':{}}");
    check("Pod", "{'spec':{}}",
          "{'spec':{'$setElementOrder/containers':[{'name':'b'},"
          "{'name':'a'}],'containers':[{'name':'b','x':null},{'name':'a'}]}}",
          "{'spec':{'containers':[{'name':'b','x':null},{'name':'a'}]}}");
}

#define THREE                                                                          \
    "{'metadata':{'finalizers':['f']},'spec':{'containers':[{'name':'a','image':'1'}," \
    "{'name':'b','image':'2'}],'extra':{'b':1},'lists':[2]}}"

static void wrong_patches_are_refused(void **state)
{
    (void)state;
    static const char *const patches[] = {
        "{'spec':{'containers':[{'image':'1'}]}}",
        "{'spec':{'containers':['a']}}",
        "{'spec':{'$patch':'twist'}}",
        "{'spec':{'$patch':'merge'}}",
        "{'spec':{'$patch':null}}",
        "{'spec':{'$retainKeys':'x'}}",
        "{'spec':{'$retainKeys':[{}]}}",
        "{'spec':{'$retainKeys':['hostname'],'nodeName':'a'}}",
        "{'spec':{'containers':[{'name':'a','$patch':'merge'}]}}",
        "{'spec':{'containers':[{'$patch':'delete'}]}}",
        "{'spec':{'containers':[{'name':{}}]}}",
        "{'spec':{'containers':[null]}}",
        "{'spec':{'containers':[[]]}}",
        "{'spec':{'$setElementOrder':[]}}",
        "{'spec':{'$setElementOrder/containers':{}}}",
        "{'spec':{'$setElementOrder/nothing':[]}}",
        "{'spec':{'$setElementOrder/nodeName':[]}}",
        "{'spec':{'$setElementOrder/containers':[1]}}",
        "{'spec':{'$setElementOrder/containers':[{}]}}",
        "{'spec':{'$setElementOrder/containers':[{'name':'a'}],'containers':null}}",
        "{'spec':{'$setElementOrder/containers':[{'name':'a'}],'containers':[{'name':'b'}]}}",
        "{'spec':{'$setElementOrder/containers':[{'name':'b'},{'name':'a'}],"
        "'containers':[{'name':'a'},{'name':'b'}]}}",
        "{'spec':{'$deleteFromPrimitiveList':[]}}",
        "{'spec':{'$deleteFromPrimitiveList/containers':['a']}}",
        "{'spec':{'extra':{'a':1}}}",
        "{'spec':{'lists':[1]}}",
        "{'metadata':{'finalizers':[1]}}",
        "{'metadata':{'$setElementOrder/finalizers':[{}]}}",
    };
    for (size_t i = 0; i < sizeof(patches) / sizeof(patches[0]); i++) {
        check("Pod", THREE, patches[i], NULL);
    }
}

/* Long lists in an order against the grain end within the steps that there are. */
static void what_takes_too_long_is_refused(void **state)
{
    (void)state;
    enum { MANY = 20000 };
    ki_buf target;
    ki_buf patch;
    ki_buf out;
    char item[64];
    ki_buf_init(&target, NULL, 8 << 20);
    ki_buf_init(&patch, NULL, 8 << 20);
    ki_buf_init(&out, NULL, 8 << 20);
    test_add(&target, "{'spec':{'containers':[{'name':'z'}", 1);
    test_add(&patch, "{'spec':{'$setElementOrder/containers':[{'name':'z'}", 1);
    for (int i = 0; i < MANY; i++) {
        snprintf(item, sizeof(item), ",{'name':'n%d'}", i);
        test_add(&target, item, 1);
        snprintf(item, sizeof(item), ",{'name':'n%d'}", MANY - i);
        test_add(&patch, item, 1);
    }
    test_add(&target, "]}}", 1);
    test_add(&patch, "]}}", 1);
    assert_int_equal(merge("Pod", target.data, patch.data, NULL, &out, NULL), KI_ERR_LIMIT);
    ki_buf_done(&target);
    ki_buf_done(&patch);
    ki_buf_done(&out);
}

static int scenario(const ki_alloc *alloc, void *user)
{
    (void)user;
    ki_buf out;
    ki_buf_init(&out, alloc, 1 << 20);
    int r = merge("Pod", TWO,
                  "{'spec':{'$setElementOrder/containers':[{'name':'b'},{'name':'c'}],'containers':"
                  "[{'name':'c','env':[{'name':'Q'}]},{'name':'a','$patch':'delete'}]},'metadata':"
                  "{'finalizers':['a'],'labels':{'x':'y'}}}",
                  alloc, &out, NULL);
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
        cmocka_unit_test(maps_are_merged),
        cmocka_unit_test(text_is_compared_decoded),
        cmocka_unit_test(lists_are_merged_by_their_key),
        cmocka_unit_test(the_key_depends_on_the_place),
        cmocka_unit_test(values_are_deleted_from_lists_of_them),
        cmocka_unit_test(an_order_is_kept),
        cmocka_unit_test(wrong_patches_are_refused),
        cmocka_unit_test(what_takes_too_long_is_refused),
        cmocka_unit_test(memory_may_run_out),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
