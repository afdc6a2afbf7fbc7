/* SPDX-License-Identifier: Apache-2.0 */
/* What writes make of an object and of who owns its fields, without a server around it. Text is
 * written with ' for ". */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <kinformer/encoding.h>

#include "apiserver/patch/server_side_apply.h"
#include "base/alloc.h"
#include "support/objects.h"
#include "support/test.h"

/* An object through its writes. */
typedef struct thing {
    const ki_alloc *alloc;
    ki__merge_type type;
    ki__apply_part part;
    ki_object *schema; /* of a custom one */
    ki_object *object; /* as it is; NULL: not there */
    ki__managers managers;
    ki__apply_conflicts conflicts;
    ki_error error;
    bool force;
} thing;

static void thing_init(thing *t, const ki_alloc *alloc, const char *kind)
{
    *t = (thing){.alloc = alloc,
                 .type = ki__merge_type_builtin(ki_str_from("v1"), ki_str_from(kind)),
                 .conflicts = {.alloc = ki__alloc_or_default(alloc)},
                 .error = KI_ERROR_INIT};
    ki__managers_init(&t->managers, alloc);
}

static void thing_done(thing *t)
{
    ki_object_unref(t->object);
    ki_object_unref(t->schema);
    ki__managers_done(&t->managers);
    ki__free(t->conflicts.alloc, t->conflicts.items);
}

static ki__apply_write write_of(const thing *t, const char *manager, bool applies)
{
    ki__apply_write write = {.type = t->type, .part = t->part, .force = t->force};
    snprintf(write.who.name, sizeof(write.who.name), "%s", manager);
    snprintf(write.who.api_version, sizeof(write.who.api_version), "v1");
    write.who.applies = applies;
    return write;
}

static ki_value value_of(const ki_object *object)
{
    return object != NULL ? ki_object_root(object) : (ki_value){0};
}

static void replace(thing *t, ki_object *object)
{
    ki_object_unref(t->object);
    t->object = object;
}

/* An object of any size. */
static ki_object *large_object(const ki_alloc *alloc, const char *text)
{
    ki_object_options options = {.size = sizeof(options), .alloc = alloc, .max_bytes = 8 << 20};
    ki_object *object = NULL;
    char *json = strdup(text);
    for (char *p = json; (p = strchr(p, '\'')) != NULL; p++) {
        *p = '"';
    }
    int r = ki_object_from_json(json, strlen(json), &options, &object, NULL);
    free(json);
    assert_true(r == 0 || r == -ENOMEM);
    return object;
}

static int apply(thing *t, const char *manager, const char *config)
{
    ki_object_options options = {.size = sizeof(options), .alloc = t->alloc, .max_bytes = 8 << 20};
    ki_object *body = large_object(t->alloc, config);
    ki_object *made = NULL;
    if (body == NULL) {
        return -ENOMEM;
    }
    ki_value old = value_of(t->object);
    ki_value root = ki_object_root(body);
    ki__apply_write write = write_of(t, manager, true);
    ki_buf out;
    ki_buf_init(&out, t->alloc, 8 << 20);
    t->conflicts.count = 0;
    int r = ki__apply_config(&write, &old, &root, &t->managers, &t->conflicts, &out, &t->error);
    if (r == 0 && t->conflicts.count == 0) {
        r = ki_object_from_json(out.data, out.len, &options, &made, NULL);
        if (r == 0) {
            replace(t, made);
        }
    }
    ki_buf_done(&out);
    ki_object_unref(body);
    return r;
}

static int update(thing *t, const char *manager, const char *to)
{
    ki_object *body = test_object(t->alloc, to);
    if (body == NULL) {
        return -ENOMEM;
    }
    ki_value old = value_of(t->object);
    ki_value root = ki_object_root(body);
    ki__apply_write write = write_of(t, manager, false);
    int r = ki__apply_update(&write, &old, &root, &t->managers);
    replace(t, body);
    return r;
}

static void unquote(char *text)
{
    for (char *p = text; p != NULL && (p = strchr(p, '"')) != NULL; p++) {
        *p = '\'';
    }
}

static void check_object(const thing *t, const char *expected)
{
    ki_str bytes = ki_object_bytes(t->object);
    char *text = strndup(bytes.ptr, bytes.len);
    unquote(text);
    assert_string_equal(text, expected);
    free(text);
}

/* Who owns what, such as "a+{'f:x':{}} b-{'f:y':{}}", with + for those that apply. */
static void check_owners(thing *t, const char *expected)
{
    ki_buf out;
    ki_buf ignored;
    ki_buf_init(&out, NULL, 1 << 20);
    ki_buf_init(&ignored, NULL, 1 << 20);
    assert_int_equal(ki__managers_write(&t->managers, &ignored), 0); /* sorts */
    for (size_t i = 0; i < t->managers.count; i++) {
        const ki__manager *m = &t->managers.items[i];
        test_add(&out, i != 0 ? " " : "", 1);
        test_add(&out, m->name, 1);
        test_add(&out, m->applies ? "+" : "-", 1);
        ki__out writer = ki__out_to(&out);
        ki__field_set_write(&m->fields, &writer);
        assert_int_equal(writer.error, 0);
    }
    unquote(out.data);
    assert_string_equal(ki_buf_text(&out), expected);
    ki_buf_done(&out);
    ki_buf_done(&ignored);
}

static void check_apply(thing *t, const char *manager, const char *config, const char *expected)
{
    assert_int_equal(apply(t, manager, config), 0);
    assert_int_equal(t->conflicts.count, 0);
    check_object(t, expected);
}

/* ---- owners ---- */

static void what_is_applied_is_owned(void **state)
{
    (void)state;
    thing t;
    thing_init(&t, NULL, "ConfigMap");
    check_apply(&t, "a", "{'metadata':{'name':'n','labels':{'l':'1'}},'data':{'k':'v'}}",
                "{'metadata':{'name':'n','labels':{'l':'1'}},'data':{'k':'v'}}");
    check_owners(&t, "a+{'f:data':{'f:k':{}},'f:metadata':{'f:labels':{'f:l':{}}}}");
    check_apply(&t, "b", "{'data':{'k':'v','x':'y'}}",
                "{'metadata':{'name':'n','labels':{'l':'1'}},'data':{'k':'v','x':'y'}}");
    check_owners(&t, "a+{'f:data':{'f:k':{}},'f:metadata':{'f:labels':{'f:l':{}}}} "
                     "b+{'f:data':{'f:k':{},'f:x':{}}}");
    thing_done(&t);
}

static void other_values_are_conflicts_but_by_force(void **state)
{
    (void)state;
    thing t;
    thing_init(&t, NULL, "ConfigMap");
    check_apply(&t, "a", "{'data':{'k':'v','l':'w'}}", "{'data':{'k':'v','l':'w'}}");
    assert_int_equal(apply(&t, "b", "{'data':{'k':'x','l':'w'}}"), 0);
    assert_int_equal(t.conflicts.count, 1);
    assert_true(ki_str_eq_text(t.conflicts.items[0].path, "f:data\xff"
                                                          "f:k"));
    assert_string_equal(t.managers.items[t.conflicts.items[0].manager].name, "a");
    check_object(&t, "{'data':{'k':'v','l':'w'}}");
    thing_done(&t);
    thing_init(&t, NULL, "ConfigMap");
    check_apply(&t, "a", "{'data':{'k':'v','l':'w'}}", "{'data':{'k':'v','l':'w'}}");
    t.force = true;
    check_apply(&t, "b", "{'data':{'k':'x','l':'w'}}", "{'data':{'k':'x','l':'w'}}");
    check_owners(&t, "a+{'f:data':{'f:l':{}}} b+{'f:data':{'f:k':{},'f:l':{}}}");
    thing_done(&t);
}

static void what_is_applied_no_more_is_removed_unless_shared(void **state)
{
    (void)state;
    thing t;
    thing_init(&t, NULL, "ConfigMap");
    check_apply(&t, "a", "{'data':{'k':'v','l':'w','m':'x'}}",
                "{'data':{'k':'v','l':'w','m':'x'}}");
    check_apply(&t, "b", "{'data':{'l':'w'}}", "{'data':{'k':'v','l':'w','m':'x'}}");
    check_apply(&t, "a", "{'data':{'k':'v'}}", "{'data':{'k':'v','l':'w'}}");
    check_apply(&t, "b", "{}", "{'data':{'k':'v'}}");
    check_owners(&t, "a+{'f:data':{'f:k':{}}}");
    check_apply(&t, "a", "{}", "{}");
    check_owners(&t, "");
    thing_done(&t);
}

/* Nobody owns the name, but it is always applied. */
static void metadata_stays(void **state)
{
    (void)state;
    thing t;
    thing_init(&t, NULL, "ConfigMap");
    check_apply(&t, "a", "{'metadata':{'name':'n','uid':'u','labels':{'l':'1'}}}",
                "{'metadata':{'name':'n','uid':'u','labels':{'l':'1'}}}");
    check_apply(&t, "a", "{'metadata':{'name':'n'}}", "{'metadata':{'name':'n','uid':'u'}}");
    thing_done(&t);
}

static void updates_own_what_they_change(void **state)
{
    (void)state;
    thing t;
    thing_init(&t, NULL, "ConfigMap");
    check_apply(&t, "a", "{'data':{'k':'v','l':'w'}}", "{'data':{'k':'v','l':'w'}}");
    assert_int_equal(update(&t, "u", "{'data':{'k':'2','x':'y'}}"), 0);
    check_owners(&t, "u-{'f:data':{'f:k':{},'f:x':{}}}");
    assert_int_equal(update(&t, "w", "{'data':{'k':'2','x':'y'}}"), 0); /* nothing */
    check_owners(&t, "u-{'f:data':{'f:k':{},'f:x':{}}}");
    check_apply(&t, "a", "{'data':{'k':'2'}}", "{'data':{'k':'2','x':'y'}}");
    check_apply(&t, "a", "{}", "{'data':{'k':'2','x':'y'}}"); /* for it is not the only one */
    thing_done(&t);
}

static void what_was_there_before_is_somebodys(void **state)
{
    (void)state;
    thing t;
    thing_init(&t, NULL, "ConfigMap");
    t.object = test_object(NULL, "{'metadata':{'name':'n'},'data':{'k':'v'}}");
    check_apply(&t, "a", "{'data':{'x':'y'}}",
                "{'metadata':{'name':'n'},'data':{'k':'v','x':'y'}}");
    check_owners(&t, "a+{'f:data':{'f:x':{}}} before-first-apply-{'f:data':{'.':{},'f:k':{}}}");
    assert_int_equal(apply(&t, "a", "{'data':{'k':'2'}}"), 0);
    assert_int_equal(t.conflicts.count, 1);
    thing_done(&t);
}

/* Go shows structs that are not set, so nobody adds them. */
static void what_go_always_shows_is_not_owned(void **state)
{
    (void)state;
    thing t;
    thing_init(&t, NULL, "Pod");
    assert_int_equal(update(&t, "u",
                            "{'metadata':{'labels':{'l':'1'}},'spec':{'containers':[{"
                            "'name':'c','image':'i'}],'hostNetwork':true}}"),
                     0);
    check_owners(&t, "u-{'f:metadata':{'f:labels':{'.':{},'f:l':{}}},'f:spec':{'f:containers':{"
                     "'k:{\\'name\\':\\'c\\'}':{'.':{},'f:image':{},'f:name':{}}},"
                     "'f:hostNetwork':{}}}");
    thing_done(&t);
}

static void a_status_is_owned_apart(void **state)
{
    (void)state;
    thing t;
    thing_init(&t, NULL, "Pod");
    t.part = KI__APPLY_MAIN;
    check_apply(&t, "a", "{'spec':{'nodeName':'n'},'status':{'phase':'x'}}",
                "{'spec':{'nodeName':'n'},'status':{'phase':'x'}}");
    check_owners(&t, "a+{'f:spec':{'f:nodeName':{}}}");
    t.part = KI__APPLY_STATUS;
    assert_int_equal(apply(&t, "s", "{'spec':{'nodeName':'m'},'status':{'phase':'y'}}"), 0);
    assert_int_equal(t.conflicts.count, 0);
    check_owners(&t, "a+{'f:spec':{'f:nodeName':{}}} s+{'f:status':{'f:phase':{}}}");
    thing_done(&t);
}

/* ---- lists ---- */

#define PORT(number, protocol) "{'containerPort':" number ",'protocol':'" protocol "'}"

static void lists_are_merged_by_keys(void **state)
{
    (void)state;
    thing t;
    thing_init(&t, NULL, "Pod");
    check_apply(&t, "a", "{'spec':{'containers':[{'name':'x','image':'1','args':['a']}]}}",
                "{'spec':{'containers':[{'name':'x','image':'1','args':['a']}]}}");
    check_apply(
        &t, "b",
        "{'spec':{'containers':[{'name':'y'},{'name':'x','ports':[{'containerPort':80}," PORT(
            "80", "UDP") "]}]}}",
        "{'spec':{'containers':[{'name':'y'},{'name':'x','image':'1','args':['a'],'ports':["
        "{'containerPort':80}," PORT("80", "UDP") "]}]}}");
    check_apply(&t, "b", "{'spec':{'containers':[{'name':'x','ports':[" PORT("80", "TCP") "]}]}}",
                "{'spec':{'containers':[{'name':'x','image':'1','args':['a'],'ports':[" PORT(
                    "80", "TCP") "]}]}}");
    check_apply(&t, "a", "{}",
                "{'spec':{'containers':[{'name':'x','ports':[" PORT("80", "TCP") "]}]}}");
    thing_done(&t);
}

static void sets_are_merged_by_value(void **state)
{
    (void)state;
    thing t;
    thing_init(&t, NULL, "Pod");
    check_apply(&t, "a", "{'metadata':{'finalizers':['x','y']}}",
                "{'metadata':{'finalizers':['x','y']}}");
    check_apply(&t, "b", "{'metadata':{'finalizers':['z','y']}}",
                "{'metadata':{'finalizers':['x','z','y']}}");
    check_owners(&t, "a+{'f:metadata':{'f:finalizers':{'v:\\'x\\'':{},'v:\\'y\\'':{}}}} "
                     "b+{'f:metadata':{'f:finalizers':{'v:\\'y\\'':{},'v:\\'z\\'':{}}}}");
    check_apply(&t, "a", "{}", "{'metadata':{'finalizers':['z','y']}}");
    thing_done(&t);
}

static void atomic_values_are_taken_as_a_whole(void **state)
{
    (void)state;
    thing t;
    thing_init(&t, NULL, "Pod");
    check_apply(&t, "a",
                "{'metadata':{'ownerReferences':[{'uid':'1','name':'n'}]},'spec':{'nodeSelector':"
                "{'a':'b'},'containers':[{'name':'x','args':['1','2']}]}}",
                "{'metadata':{'ownerReferences':[{'uid':'1','name':'n'}]},'spec':{'nodeSelector':"
                "{'a':'b'},'containers':[{'name':'x','args':['1','2']}]}}");
    check_owners(&t, "a+{'f:metadata':{'f:ownerReferences':{'k:{\\'uid\\':\\'1\\'}':{}}},'f:spec':{"
                     "'f:containers':{'k:{\\'name\\':\\'x\\'}':{'.':{},'f:args':{},'f:name':{}}},"
                     "'f:nodeSelector':{}}}");
    t.force = true;
    check_apply(&t, "b",
                "{'metadata':{'ownerReferences':[{'uid':'1','kind':'k'}]},'spec':{'nodeSelector':"
                "{'c':'d'},'containers':[{'name':'x','args':['3']}]}}",
                "{'metadata':{'ownerReferences':[{'uid':'1','kind':'k'}]},'spec':{'nodeSelector':"
                "{'c':'d'},'containers':[{'name':'x','args':['3']}]}}");
    thing_done(&t);
}

/* The order of elements, one letter each, that are there and that are applied. */
static void elements_have_an_order(void **state)
{
    (void)state;
    static const char *const cases[][3] = {
        {"abc", "abc", "abc"},     {"abc", "cba", "cba"},  {"abc", "x", "abcx"},
        {"abc", "bx", "abcx"},     {"abc", "xb", "axbc"},  {"", "ab", "ab"},
        {"ab", "", "ab"},          {"abcd", "db", "acdb"}, {"ab", "xay", "xaby"},
        {"aXbYc", "cab", "XYcab"},
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        ki_buf json[3];
        thing t;
        for (size_t j = 0; j < 3; j++) {
            ki_buf_init(&json[j], NULL, 1000);
            test_add(&json[j], "{'metadata':{'finalizers':[", 1);
            for (const char *p = cases[i][j]; *p != '\0'; p++) {
                char item[8];
                snprintf(item, sizeof(item), "%s'%c'", p != cases[i][j] ? "," : "", *p);
                test_add(&json[j], item, 1);
            }
            test_add(&json[j], "]}}", 1);
        }
        thing_init(&t, NULL, "Pod");
        t.object = test_object(NULL, json[0].data);
        check_apply(&t, "a", json[1].data, json[2].data);
        thing_done(&t);
        for (size_t j = 0; j < 3; j++) {
            ki_buf_done(&json[j]);
        }
    }
}

static void elements_must_be_distinguishable(void **state)
{
    (void)state;
    static const char *const bad[] = {
        "{'spec':{'containers':[{'name':'x'},{'name':'x'}]}}",
        "{'spec':{'containers':[{'image':'x'}]}}",
        "{'spec':{'containers':['x']}}",
        "{'spec':{'containers':[{'name':{}}]}}",
        "{'metadata':{'finalizers':['a','a']}}",
        "{'metadata':{'finalizers':[{}]}}",
        "{'spec':{'nodeName':'a','nodeName':'b'}}",
    };
    for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
        thing t;
        thing_init(&t, NULL, "Pod");
        if (apply(&t, "a", bad[i]) != KI_ERR_INVALID || t.error.message[0] != '.') {
            fail_msg("%s: %s", bad[i], t.error.message);
        }
        thing_done(&t);
    }
}

/* Existing elements may be indistinguishable: they stay. */
static void live_elements_may_be_odd(void **state)
{
    (void)state;
    thing t;
    thing_init(&t, NULL, "Pod");
    t.object = test_object(NULL, "{'spec':{'containers':[{'image':'q'},5,{'name':'x'}]}}");
    check_apply(&t, "a", "{'spec':{'containers':[{'name':'x','image':'i'}]}}",
                "{'spec':{'containers':[{'image':'q'},5,{'name':'x','image':'i'}]}}");
    thing_done(&t);
}

static void null_takes_away(void **state)
{
    (void)state;
    thing t;
    thing_init(&t, NULL, "Pod");
    check_apply(&t, "a", "{'spec':{'nodeName':'n','priority':null,'dnsConfig':{'searches':null}}}",
                "{'spec':{'nodeName':'n'}}");
    t.force = true;
    check_apply(&t, "b", "{'spec':{'nodeName':null,'schedulerName':'s'}}",
                "{'spec':{'schedulerName':'s'}}");
    thing_done(&t);
}

/* ---- custom ones ---- */

static void custom_kinds_tell_by_their_schema(void **state)
{
    (void)state;
    thing t;
    thing_init(&t, NULL, "Pod");
    t.schema = test_object(
        NULL, "{'properties':{'spec':{'properties':{'m':{'x-kubernetes-list-type':'map',"
              "'x-kubernetes-list-map-keys':['z','b'],'items':{'properties':{'b':{'default':7}}}},"
              "'s':{'x-kubernetes-list-type':'set'},'w':{'x-kubernetes-map-type':'atomic'},"
              "'e':{'additionalProperties':{'properties':{'q':{}}}}}}}}");
    t.type = ki__merge_type_custom(ki_object_root(t.schema));
    check_apply(&t, "a",
                "{'metadata':{'finalizers':['f']},'spec':{'m':[{'z':1,'v':2}],'s':['x'],"
                "'w':{'k':1},'l':['y'],'e':{'k':{'q':1}},'u':{'v':{'w':[1]}}}}",
                "{'metadata':{'finalizers':['f']},'spec':{'m':[{'z':1,'v':2}],'s':['x'],"
                "'w':{'k':1},'l':['y'],'e':{'k':{'q':1}},'u':{'v':{'w':[1]}}}}");
    check_owners(&t, "a+{'f:metadata':{'f:finalizers':{'v:\\'f\\'':{}}},'f:spec':{'f:e':{'f:k':{"
                     "'.':{},'f:q':{}}},'f:l':{},'f:m':{'k:{\\'b\\':7,\\'z\\':1}':{'.':{},'f:v':{},"
                     "'f:z':{}}},'f:s':{'v:\\'x\\'':{}},'f:u':{'.':{},'f:v':{'.':{},'f:w':{}}},"
                     "'f:w':{}}}");
    check_apply(&t, "b", "{'spec':{'m':[{'z':1,'b':8},{'b':7,'z':1,'n':3}],'s':['y','x']}}",
                "{'metadata':{'finalizers':['f']},'spec':{'m':[{'z':1,'b':8},{'z':1,'v':2,'b':7,"
                "'n':3}],'s':['y','x'],'w':{'k':1},'l':['y'],'e':{'k':{'q':1}},'u':{'v':{'w':[1]"
                "}}}}");
    thing_done(&t);
}

static void values_are_the_same_however_they_are_spelt(void **state)
{
    (void)state;
    thing t;
    thing_init(&t, NULL, "Pod");
    t.type = ki__merge_type_custom((ki_value){0});
    check_apply(&t, "a", "{'spec':{'n':10,'s':'\\u0041','m':{'x':1,'y':[1.0]}}}",
                "{'spec':{'n':10,'s':'\\u0041','m':{'x':1,'y':[1.0]}}}");
    assert_int_equal(apply(&t, "b", "{ 'spec':{'m':{'y':[1 ], 'x':1}, 's':'A','n':1e1}}"), 0);
    assert_int_equal(t.conflicts.count, 0);
    thing_done(&t);
}

/* ---- limits ---- */

static void many_elements_do_not_take_long(void **state)
{
    (void)state;
    enum { MANY = 20000 };
    ki_buf json[2];
    thing t;
    for (int j = 0; j < 2; j++) {
        ki_buf_init(&json[j], NULL, 8 << 20);
        test_add(&json[j], "{'spec':{'containers':[{'name':'z'}", 1);
        for (int i = 0; i < MANY; i++) {
            char item[64];
            snprintf(item, sizeof(item), ",{'name':'n%d'}", j == 0 ? i : MANY - i);
            test_add(&json[j], item, 1);
        }
        test_add(&json[j], "]}}", 1);
    }
    thing_init(&t, NULL, "Pod");
    assert_int_equal(apply(&t, "a", json[0].data), 0);
    assert_int_equal(apply(&t, "b", json[1].data), 0);
    assert_int_equal(t.conflicts.count, 0);
    assert_int_equal(t.managers.items[1].fields.count, 2 * (MANY + 1));
    thing_done(&t);
    ki_buf_done(&json[0]);
    ki_buf_done(&json[1]);
}

static int scenario(const ki_alloc *alloc, void *user)
{
    (void)user;
    thing t;
    thing_init(&t, alloc, "Pod");
    int r =
        update(&t, "u", "{'metadata':{'labels':{'l':'1'}},'spec':{'containers':[{'name':'c'}]}}");
    r = r < 0 ? r
              : apply(&t, "a",
                      "{'metadata':{'finalizers':['f']},'spec':{'containers':[{'name':'d','ports':"
                      "[{'containerPort':80}]},{'name':'c','image':'i'}]}}");
    r = r < 0 ? r : apply(&t, "b", "{'spec':{'containers':[{'name':'d','image':'i'}]}}");
    r = r < 0 ? r : apply(&t, "b", "{'metadata':{'labels':{'l':'2'}}}");
    if (r == 0) {
        assert_int_equal(t.conflicts.count, 1);
        ki__managers_done(&t.managers);
        ki__managers_init(&t.managers, alloc);
    }
    r = r < 0 ? r : apply(&t, "a", "{}");
    thing_done(&t);
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
        cmocka_unit_test(what_is_applied_is_owned),
        cmocka_unit_test(other_values_are_conflicts_but_by_force),
        cmocka_unit_test(what_is_applied_no_more_is_removed_unless_shared),
        cmocka_unit_test(metadata_stays),
        cmocka_unit_test(updates_own_what_they_change),
        cmocka_unit_test(what_was_there_before_is_somebodys),
        cmocka_unit_test(what_go_always_shows_is_not_owned),
        cmocka_unit_test(a_status_is_owned_apart),
        cmocka_unit_test(lists_are_merged_by_keys),
        cmocka_unit_test(sets_are_merged_by_value),
        cmocka_unit_test(atomic_values_are_taken_as_a_whole),
        cmocka_unit_test(elements_have_an_order),
        cmocka_unit_test(elements_must_be_distinguishable),
        cmocka_unit_test(live_elements_may_be_odd),
        cmocka_unit_test(null_takes_away),
        cmocka_unit_test(custom_kinds_tell_by_their_schema),
        cmocka_unit_test(values_are_the_same_however_they_are_spelt),
        cmocka_unit_test(many_elements_do_not_take_long),
        cmocka_unit_test(memory_may_run_out),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
