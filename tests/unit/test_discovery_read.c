/* SPDX-License-Identifier: Apache-2.0 */
/* Discovery responses of servers: their forms, errors in them, and limits. */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "client/discovery/discovery_read.h"
#include "support/discovering.h"
#include "support/test.h"

typedef struct reading {
    ki__discovery_builder builder;
    ki_error error;
    ki_buf body;
} reading;

static void begin(reading *t)
{
    ki__discovery_builder_init(&t->builder, NULL);
    t->error = KI_ERROR_INIT;
    ki_buf_init(&t->body, NULL, 64 << 20);
}

static void end(reading *t)
{
    ki__discovery_builder_done(&t->builder);
    ki_buf_done(&t->body);
}

/* Reads JSON with ' instead of ". */
static void quote(reading *t, const char *json)
{
    ki_buf_clear(&t->body);
    test_add(&t->body, json, 1);
    for (size_t i = 0; i < t->body.len; i++) {
        if (t->body.data[i] == '\'') {
            t->body.data[i] = '"';
        }
    }
}

static int groups(reading *t, bool core, const char *json)
{
    quote(t, json);
    t->error = KI_ERROR_INIT;
    return ki__discovery_read_groups(&t->builder, core, ki_buf_str(&t->body), &t->error);
}

static int resources(reading *t, size_t number, const char *json)
{
    quote(t, json);
    t->error = KI_ERROR_INIT;
    return ki__discovery_read_resources(&t->builder, number, ki_buf_str(&t->body), &t->error);
}

static const ki_discovery *finish(reading *t)
{
    ki_discovery *discovery = NULL;
    assert_int_equal(ki__discovery_builder_finish(&t->builder, &discovery), 0);
    return discovery;
}

#define AGGREGATED "{'kind':'APIGroupDiscoveryList','apiVersion':'apidiscovery.k8s.io/v2',"

/* Reads resources, as JSON of their list, as those of example.com/v1. */
static const ki_discovery *of_example(reading *t, const char *list)
{
    ki_buf json;
    ki_buf_init(&json, NULL, 1 << 20);
    test_add(&json, AGGREGATED "'items':[{'metadata':{'name':'example.com'},'versions':[", 1);
    test_add(&json, "{'version':'v1','resources':", 1);
    test_add(&json, list, 1);
    test_add(&json, "}]}]}", 1);
    assert_int_equal(groups(t, false, ki_buf_text(&json)), 0);
    ki_buf_done(&json);
    return finish(t);
}

/* ---- forms ---- */

static void v2beta1_reads_like_v2(void **state)
{
    (void)state;
    reading t;
    begin(&t);
    assert_int_equal(groups(&t, false,
                            "{'kind':'APIGroupDiscoveryList',"
                            "'apiVersion':'apidiscovery.k8s.io/v2beta1','metadata':{},'items':["
                            "{'metadata':{'name':'example.com'},'versions':[{'version':'v1',"
                            "'resources':[{'resource':'widgets','responseKind':{'group':'',"
                            "'version':'','kind':'Widget'},'scope':'Namespaced',"
                            "'singularResource':'widget','verbs':['get','proxy',7,null]}]}]}]}"),
                     0);
    const ki_discovery *discovery = finish(&t);
    uint32_t verbs = 0;
    const ki_resource *widget = ki_discovery_at(discovery, 0, &verbs);
    assert_string_equal(ki_resource_api_version(widget), "example.com/v1");
    assert_int_equal(verbs, KI_CAN_GET);
    ki_discovery_unref(discovery);
    end(&t);
}

static void categories_are_kept_in_order(void **state)
{
    (void)state;
    reading t;
    begin(&t);
    const ki_discovery *discovery =
        of_example(&t, "[{'resource':'widgets','responseKind':{'kind':'Widget'},'verbs':['list'],"
                       "'categories':['All',7,'','shop']},"
                       "{'resource':'gadgets','responseKind':{'kind':'Gadget'},'verbs':['list']}]");
    const ki_resource *widget = ki_discovery_at(discovery, 0, NULL);
    assert_string_equal(ki_discovery_category_at(discovery, widget, 0), "all");
    assert_string_equal(ki_discovery_category_at(discovery, widget, 1), "shop");
    assert_null(ki_discovery_category_at(discovery, widget, 2));
    assert_null(ki_discovery_category_at(discovery, widget, 99));
    assert_null(ki_discovery_category_at(discovery, ki_discovery_at(discovery, 1, NULL), 0));
    assert_null(ki_discovery_category_at(discovery, NULL, 0));
    ki_discovery_unref(discovery);
    end(&t);
}

static void an_empty_server_has_nothing(void **state)
{
    (void)state;
    static const char *const nothing[] = {
        AGGREGATED "'items':[]}", AGGREGATED "'items':null}", AGGREGATED "'metadata':{}}",
        "{'kind':'APIGroupList','apiVersion':'v1','groups':[]}", "{'kind':'APIGroupList'}"};
    for (size_t i = 0; i < sizeof(nothing) / sizeof(nothing[0]); i++) {
        reading t;
        begin(&t);
        assert_int_equal(groups(&t, false, nothing[i]), 0);
        const ki_discovery *discovery = finish(&t);
        assert_int_equal(ki_discovery_count(discovery), 0);
        assert_null(ki_discovery_at(discovery, 0, NULL));
        assert_null(ki_discovery_failure_at(discovery, 0));
        assert_int_equal(ki_discovery_skipped_count(discovery), 0);
        const ki_resource *resource = NULL;
        assert_int_equal(ki_discovery_find(discovery, "pods", &resource, &t.error),
                         KI_ERR_NOT_FOUND);
        assert_string_equal(t.error.message, "the server has no resource \"pods\"");
        ki_discovery_unref(discovery);
        end(&t);
    }
}

static void something_else_is_never_an_empty_list(void **state)
{
    (void)state;
    static const struct {
        bool core;
        const char *json;
        int r;
    } cases[] = {
        {false, "", KI_ERR_SYNTAX},
        {false, "<html>", KI_ERR_SYNTAX},
        {false, "[]", KI_ERR_INVALID},
        {false, "{}", KI_ERR_INVALID},
        {false, "{'kind':'PodList','apiVersion':'v1','items':[]}", KI_ERR_INVALID},
        {false, "{'kind':'Status','apiVersion':'v1','status':'Failure'}", KI_ERR_INVALID},
        {false, "{'kind':'APIVersions','versions':['v1']}", KI_ERR_INVALID},
        {true, "{'kind':'APIGroupList','groups':[]}", KI_ERR_INVALID},
        {false, "{'kind':'APIGroupDiscoveryList','apiVersion':'apidiscovery.k8s.io/v3'}",
         KI_ERR_UNSUPPORTED},
        {false, "{'kind':'APIGroupDiscoveryList'}", KI_ERR_UNSUPPORTED},
        {false, AGGREGATED "'items':[}", KI_ERR_SYNTAX},
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        reading t;
        begin(&t);
        assert_int_equal(groups(&t, cases[i].core, cases[i].json), cases[i].r);
        assert_int_equal(t.error.code, cases[i].r);
        assert_int_equal(strstr(t.error.message, "HTML instead of JSON") != NULL,
                         cases[i].json[0] == '<');
        assert_int_equal(t.builder.version_count, 0);
        end(&t);
    }
    reading t;
    begin(&t);
    assert_int_equal(groups(&t, true, "{'kind':'APIVersions','versions':['v1']}"), 0);
    assert_int_equal(resources(&t, 0, "{'kind':'Pod\\n'}"), KI_ERR_INVALID);
    assert_string_equal(t.error.message, "expected a list of API resources, got \"Pod \"");
    assert_int_equal(resources(&t, 0, "no"), KI_ERR_SYNTAX);
    assert_int_equal(t.builder.versions[0].state, KI__DISCOVERY_WANTED);
    assert_int_equal(resources(&t, 0, "{'kind':'APIResourceList'}"), 0);
    assert_int_equal(t.builder.versions[0].state, KI__DISCOVERY_KNOWN);
    end(&t);
}

static void both_forms_may_come_together(void **state)
{
    (void)state;
    reading t;
    begin(&t);
    assert_int_equal(groups(&t, true, "{'kind':'APIVersions','versions':['v1']}"), 0);
    ki_buf body;
    test_discovery_file("apis", &body);
    assert_int_equal(ki__discovery_read_groups(&t.builder, false, ki_buf_str(&body), &t.error), 0);
    ki_buf_done(&body);
    test_discovery_file("legacy_api_v1", &body);
    assert_int_equal(ki__discovery_read_resources(&t.builder, 0, ki_buf_str(&body), &t.error), 0);
    ki_buf_done(&body);
    const ki_discovery *discovery = finish(&t);
    assert_string_equal(ki_resource_name(ki_discovery_at(discovery, 7, NULL)), "pods");
    const ki_resource *resource = NULL;
    assert_int_equal(ki_discovery_find(discovery, "deploy", &resource, NULL), 0);
    ki_discovery_unref(discovery);
    end(&t);
}

static void a_server_that_says_no_singular_or_short_names_still_has_kinds(void **state)
{
    (void)state;
    reading t;
    begin(&t);
    assert_int_equal(groups(&t, true, "{'kind':'APIVersions','versions':['v1']}"), 0);
    assert_int_equal(resources(&t, 0,
                               "{'kind':'APIResourceList','groupVersion':'v1','resources':["
                               "{'name':'pods','namespaced':true,'kind':'Pod'},"
                               "{'name':'pods/log','namespaced':true,'kind':'Pod'}]}"),
                     0);
    const ki_discovery *discovery = finish(&t);
    const ki_resource *resource = NULL;
    assert_int_equal(ki_discovery_count(discovery), 1);
    assert_int_equal(ki_discovery_find(discovery, "pod", &resource, NULL), 0);
    assert_ptr_equal(resource, KI_CORE_V1_PODS);
    /* The constant knows "po", but this server does not. */
    assert_int_equal(ki_discovery_find(discovery, "po", &resource, NULL), KI_ERR_NOT_FOUND);
    ki_discovery_unref(discovery);
    end(&t);
}

static void a_built_in_resource_that_is_not_as_we_know_it_is_the_servers(void **state)
{
    (void)state;
    static const char *const cases[] = {
        /* of another scope, of another kind */
        "[{'name':'pods','namespaced':false,'kind':'Pod'}]",
        "[{'name':'pods','namespaced':true,'kind':'Pea'}]",
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        reading t;
        char json[512];
        begin(&t);
        (void)snprintf(json, sizeof(json), "{'kind':'APIResourceList','resources':%s}", cases[i]);
        assert_int_equal(groups(&t, true, "{'kind':'APIVersions','versions':['v1']}"), 0);
        assert_int_equal(resources(&t, 0, json), 0);
        const ki_discovery *discovery = finish(&t);
        const ki_resource *resource = ki_discovery_at(discovery, 0, NULL);
        assert_ptr_not_equal(resource, KI_CORE_V1_PODS);
        assert_int_equal(ki_resource_is_namespaced(resource), i == 1);
        ki_discovery_unref(discovery);
        end(&t);
    }
}

/* ---- what is wrong is left out ---- */

#define GOOD "{'resource':'widgets','responseKind':{'kind':'Widget'},'scope':'Cluster'}"
#define LONG_63 "abcdefghijklmnopqrstuvwxyzabcdefghijklmnopqrstuvwxyzabcdefghijk"

static const struct {
    const char *json;
    size_t count;
    size_t left_out;
} rows[] = {
    {"[" GOOD "]", 1, 0},
    {"[" GOOD ",{'resource':'Gadgets','responseKind':{'kind':'Gadget'}}]", 1, 1},
    {"[{'resource':'../../../secrets','responseKind':{'kind':'Gadget'}}," GOOD "]", 1, 0},
    {"[{'resource':'..','responseKind':{'kind':'Gadget'}}," GOOD "]", 1, 1},
    {"[{'resource':'a?b','responseKind':{'kind':'Gadget'}}," GOOD "]", 1, 1},
    {"[{'resource':'a b','responseKind':{'kind':'Gadget'}}," GOOD "]", 1, 1},
    {"[{'resource':'a_b','responseKind':{'kind':'Gadget'}}," GOOD "]", 1, 1},
    {"[{'resource':'a%2f','responseKind':{'kind':'Gadget'}}," GOOD "]", 1, 1},
    {"[{'resource':'gadgets\\u0000','responseKind':{'kind':'Gadget'}}," GOOD "]", 1, 1},
    {"[{'resource':'gadgets\\r\\n','responseKind':{'kind':'Gadget'}}," GOOD "]", 1, 1},
    {"[{'resource':'','responseKind':{'kind':'Gadget'}}," GOOD "]", 1, 1},
    {"[{'resource':null,'responseKind':{'kind':'Gadget'}}," GOOD "]", 1, 1},
    {"[{'resource':7,'responseKind':{'kind':'Gadget'}}," GOOD "]", 1, 1},
    {"[{'responseKind':{'kind':'Gadget'}}," GOOD "]", 1, 1},
    {"[{'resource':'" LONG_63 "','responseKind':{'kind':'Gadget'}}," GOOD "]", 2, 0},
    {"[{'resource':'" LONG_63 "l','responseKind':{'kind':'Gadget'}}," GOOD "]", 1, 1},
    {"[{'resource':'" LONG_63 LONG_63 LONG_63 LONG_63 LONG_63
     "','responseKind':{'kind':'Gadget'}}," GOOD "]",
     1, 1},
    /* kinds */
    {"[{'resource':'gadgets','responseKind':{'kind':'Ga dget'}}," GOOD "]", 1, 1},
    {"[{'resource':'gadgets','responseKind':{'kind':7}}," GOOD "]", 1, 1},
    {"[{'resource':'gadgets','responseKind':{'kind':'" LONG_63 "l'}}," GOOD "]", 1, 1},
    /* none: only its subresources can do something */
    {"[{'resource':'gadgets','responseKind':{'kind':''}}," GOOD "]", 1, 0},
    {"[{'resource':'gadgets','responseKind':null}," GOOD "]", 1, 0},
    {"[{'resource':'gadgets'}," GOOD "]", 1, 0},
    /* not maps */
    {"[7,null,[],'x'," GOOD "]", 1, 0},
    {"{'0':" GOOD "}", 0, 0},
    /* twice */
    {"[" GOOD "," GOOD "," GOOD "]", 1, 2},
    {"[" GOOD ",{'resource':'widgets','responseKind':{'kind':'Gadget'}}]", 1, 1},
    /* names that only help to find it */
    {"[{'resource':'gadgets','responseKind':{'kind':'Gadget'},'singularResource':'Ga_dget',"
     "'shortNames':['g']}," GOOD "]",
     2, 0},
    {"[{'resource':'gadgets','responseKind':{'kind':'Gadget'},'shortNames':['g g',7,null,''"
     "]}," GOOD "]",
     2, 0},
    {"[{'resource':'gadgets','responseKind':{'kind':'Gadget'},'shortNames':'g',"
     "'verbs':'get'}," GOOD "]",
     2, 0},
    {"[{'resource':'gadgets','responseKind':{'kind':'Gadget'},'singularResource':7,"
     "'scope':7,'verbs':{}}," GOOD "]",
     2, 0},
};

static void resources_that_cannot_be_are_left_out_and_counted(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        reading t;
        begin(&t);
        const ki_discovery *discovery = of_example(&t, rows[i].json);
        if (ki_discovery_count(discovery) != rows[i].count ||
            ki_discovery_skipped_count(discovery) != rows[i].left_out) {
            fail_msg("%s: %zu, %zu left out", rows[i].json, ki_discovery_count(discovery),
                     ki_discovery_skipped_count(discovery));
        }
        const ki_resource *resource = NULL;
        assert_int_equal(ki_discovery_find(discovery, "Widget", &resource, NULL),
                         rows[i].count != 0 ? 0 : KI_ERR_NOT_FOUND);
        ki_discovery_unref(discovery);
        end(&t);
    }
}

static void only_the_first_short_names_of_too_many_are_known(void **state)
{
    (void)state;
    reading t;
    begin(&t);
    ki_buf list;
    ki_buf_init(&list, NULL, 1 << 16);
    test_add(&list, "[{'resource':'gadgets','responseKind':{'kind':'Gadget'},'shortNames':[", 1);
    for (int i = 0; i < 100; i++) {
        char name[16];
        (void)snprintf(name, sizeof(name), "%s'g%d'", i != 0 ? "," : "", i);
        test_add(&list, name, 1);
    }
    test_add(&list, "]}]", 1);
    const ki_discovery *discovery = of_example(&t, ki_buf_text(&list));
    const ki_resource *resource = NULL;
    assert_int_equal(ki_discovery_find(discovery, "g15", &resource, NULL), 0);
    assert_int_equal(ki_discovery_find(discovery, "g16", &resource, NULL), KI_ERR_NOT_FOUND);
    ki_buf_done(&list);
    ki_discovery_unref(discovery);
    end(&t);
}

static void group_versions_that_cannot_be_are_left_out_and_counted(void **state)
{
    (void)state;
    static const struct {
        bool core;
        const char *json;
        size_t versions;
        size_t left_out;
    } cases[] = {
        {true, "{'kind':'APIVersions','versions':['v1','v1','V2','','a/b','..',7,null,'v2']}", 2,
         7},
        {true, "{'kind':'APIVersions','versions':['v1\\u0000']}", 0, 1},
        {true, "{'kind':'APIVersions','versions':{'v1':'v1'}}", 0, 0},
        {true,
         AGGREGATED "'items':[{'metadata':{},'versions':[{'version':'v1'}]},"
                    "{'metadata':{'name':'apps'},'versions':[{'version':'v1'}]}]}",
         1, 1},
        {false,
         AGGREGATED "'items':[{'metadata':{},'versions':[{'version':'v1'}]},"
                    "{'versions':[]},{'metadata':{'name':7}},7,null,"
                    "{'metadata':{'name':'apps'},'versions':[{'version':'v1'}]}]}",
         1, 5},
        {false,
         AGGREGATED "'items':[{'metadata':{'name':'../x'},'versions':[{'version':'v1'}]},"
                    "{'metadata':{'name':'a..b'},'versions':[{'version':'v1'}]},"
                    "{'metadata':{'name':'apps'},'versions':[{'version':'v1'},{},7,"
                    "{'version':'v1','freshness':'Stale'},{'version':'v 1'},"
                    "{'version':'" LONG_63 "l'}]}]}",
         1, 7},
        {false,
         "{'kind':'APIGroupList','groups':[{'name':'apps','versions':[{'version':'v1'},"
         "{'version':'v1'},{'version':'v/1'},{},{'version':null},7]},{'versions':[{"
         "'version':'v1'}]},{'name':7},null,{'name':'x.y','versions':7}]}",
         1, 8},
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        reading t;
        begin(&t);
        assert_int_equal(groups(&t, cases[i].core, cases[i].json), 0);
        if (t.builder.version_count != cases[i].versions ||
            t.builder.left_out != cases[i].left_out) {
            fail_msg("%s: %zu, %zu left out", cases[i].json, t.builder.version_count,
                     t.builder.left_out);
        }
        end(&t);
    }
}

static void stale_and_unread_group_versions_are_named(void **state)
{
    (void)state;
    reading t;
    begin(&t);
    assert_int_equal(groups(&t, false,
                            AGGREGATED "'items':[{'metadata':{'name':'example.com'},'versions':["
                                       "{'version':'v2','freshness':'Stale','resources':[" GOOD
                                       "]},{'version':'v1','freshness':'Current','resources':[" GOOD
                                       "]}]}]}"),
                     0);
    assert_int_equal(groups(&t, true, "{'kind':'APIVersions','versions':['v1']}"), 0);
    const ki_discovery *discovery = finish(&t);
    assert_string_equal(ki_discovery_failure_at(discovery, 0), "example.com/v2");
    assert_string_equal(ki_discovery_failure_at(discovery, 1), "v1");
    assert_null(ki_discovery_failure_at(discovery, 2));
    assert_null(ki_discovery_failure_at(discovery, SIZE_MAX));
    const ki_resource *resource = NULL;
    assert_int_equal(ki_discovery_find(discovery, "widgets", &resource, NULL), 0);
    assert_string_equal(ki_resource_version(resource), "v1");
    ki_discovery_unref(discovery);
    end(&t);
}

/* ---- much ---- */

static void add_many(ki_buf *json, size_t count)
{
    test_add(json, "{\"kind\":\"APIResourceList\",\"resources\":[", 1);
    for (size_t i = 0; i < count; i++) {
        char row[256];
        (void)snprintf(row, sizeof(row),
                       "%s{\"name\":\"things%zu\",\"singularName\":\"thing%zu\",\"namespaced\":"
                       "true,\"kind\":\"Thing%zu\",\"verbs\":[\"get\"],\"shortNames\":[\"t%zu\","
                       "\"all\"]}",
                       i != 0 ? "," : "", i, i, i, i);
        test_add(json, row, 1);
    }
    test_add(json, "]}", 1);
}

static void twenty_thousand_resources_are_the_most(void **state)
{
    (void)state;
    for (size_t extra = 0; extra < 2; extra++) {
        reading t;
        begin(&t);
        assert_int_equal(groups(&t, true, "{'kind':'APIVersions','versions':['v1']}"), 0);
        ki_buf_clear(&t.body);
        add_many(&t.body, KI__DISCOVERY_RESOURCES_MAX + extra);
        int r = ki__discovery_read_resources(&t.builder, 0, ki_buf_str(&t.body), &t.error);
        assert_int_equal(r, extra == 0 ? 0 : KI_ERR_LIMIT);
        if (extra == 0) {
            const ki_discovery *discovery = finish(&t);
            assert_int_equal(ki_discovery_count(discovery), KI__DISCOVERY_RESOURCES_MAX);
            const ki_resource *resource = NULL;
            assert_int_equal(ki_discovery_find(discovery, "Thing19999", &resource, NULL), 0);
            assert_string_equal(ki_resource_name(resource), "things19999");
            assert_int_equal(ki_discovery_find(discovery, "all", &resource, NULL), 0);
            assert_string_equal(ki_resource_name(resource), "things0");
            assert_int_equal(ki_discovery_find(discovery, "thingy19999", &resource, &t.error),
                             KI_ERR_NOT_FOUND);
            assert_non_null(strstr(t.error.message, "things19999"));
            ki_discovery_unref(discovery);
        } else {
            assert_string_equal(t.error.message,
                                "more than 20000 resources or 4096 group versions");
        }
        end(&t);
    }
}

static void four_thousand_group_versions_are_the_most(void **state)
{
    (void)state;
    for (size_t extra = 0; extra < 2; extra++) {
        reading t;
        begin(&t);
        ki_buf json;
        ki_buf_init(&json, NULL, 1 << 20);
        test_add(&json, "{'kind':'APIVersions','versions':['a'", 1);
        for (size_t i = 1; i < KI__DISCOVERY_VERSIONS_MAX + extra; i++) {
            char version[16];
            (void)snprintf(version, sizeof(version), ",'v%zu'", i);
            test_add(&json, version, 1);
        }
        test_add(&json, "]}", 1);
        assert_int_equal(groups(&t, true, ki_buf_text(&json)), extra == 0 ? 0 : KI_ERR_LIMIT);
        ki_buf_done(&json);
        end(&t);
    }
}

/* Each is looked for among all that are known, so a server could keep us busy with them. */
static void what_is_left_out_has_a_limit_too(void **state)
{
    (void)state;
    static const char *const wrong[] = {",'v1'", ",'no version'"};
    for (size_t i = 0; i < 4; i++) {
        reading t;
        begin(&t);
        ki_buf json;
        ki_buf_init(&json, NULL, 1 << 20);
        test_add(&json, "{'kind':'APIVersions','versions':['v1'", 1);
        test_add(&json, wrong[i / 2], KI__DISCOVERY_RESOURCES_MAX + i % 2);
        test_add(&json, "]}", 1);
        assert_int_equal(groups(&t, true, ki_buf_text(&json)), i % 2 == 0 ? 0 : KI_ERR_LIMIT);
        ki_buf_clear(&json);
        test_add(&json, "{'kind':'APIResourceList','resources':[{'name':''}]}", 1);
        assert_int_equal(resources(&t, 0, ki_buf_text(&json)), KI_ERR_LIMIT);
        ki_buf_clear(&json);
        test_add(&json, "{'kind':'APIResourceList','resources':[{'name':7}]}", 1);
        assert_int_equal(resources(&t, 0, ki_buf_text(&json)), KI_ERR_LIMIT);
        ki_buf_clear(&json);
        test_add(&json, AGGREGATED "'items':[{'metadata':{'name':''}}]}", 1);
        assert_int_equal(groups(&t, false, ki_buf_text(&json)), KI_ERR_LIMIT);
        ki_buf_clear(&json);
        test_add(&json, "{'kind':'APIGroupList','groups':[{}]}", 1);
        assert_int_equal(groups(&t, false, ki_buf_text(&json)), KI_ERR_LIMIT);
        ki_buf_done(&json);
        end(&t);
    }
}

static int use_wrong_ones(const ki_alloc *alloc, void *user)
{
    ki_buf *body = user;
    ki__discovery_builder builder;
    ki__discovery_builder_init(&builder, alloc);
    ki_error error = KI_ERROR_INIT;
    ki_discovery *discovery = NULL;
    int r = ki__discovery_read_groups(&builder, false, ki_buf_str(body), &error);
    if (r == 0) {
        r = ki__discovery_builder_finish(&builder, &discovery);
    }
    if (r == 0) {
        assert_int_equal(ki_discovery_count(discovery), 2);
        assert_int_equal(ki_discovery_skipped_count(discovery), 2);
    }
    ki_discovery_unref(discovery);
    ki__discovery_builder_done(&builder);
    return r;
}

static void no_memory_is_an_error_also_where_something_is_left_out(void **state)
{
    (void)state;
    reading t;
    begin(&t);
    quote(&t, AGGREGATED "'items':[{'metadata':{'name':'example.com'},'versions':[{'version':'v1',"
                         "'resources':[" GOOD "," GOOD ",{'resource':'a b','responseKind':"
                         "{'kind':'Gadget'}},{'resource':'gadgets','responseKind':{'kind':"
                         "'Gadget'},'shortNames':['g','G']}]},{'version':'v2','freshness':"
                         "'Stale'}]}]}");
    test_alloc_sweep(use_wrong_ones, &t.body);
    end(&t);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(v2beta1_reads_like_v2),
        cmocka_unit_test(categories_are_kept_in_order),
        cmocka_unit_test(an_empty_server_has_nothing),
        cmocka_unit_test(something_else_is_never_an_empty_list),
        cmocka_unit_test(both_forms_may_come_together),
        cmocka_unit_test(a_server_that_says_no_singular_or_short_names_still_has_kinds),
        cmocka_unit_test(a_built_in_resource_that_is_not_as_we_know_it_is_the_servers),
        cmocka_unit_test(resources_that_cannot_be_are_left_out_and_counted),
        cmocka_unit_test(only_the_first_short_names_of_too_many_are_known),
        cmocka_unit_test(group_versions_that_cannot_be_are_left_out_and_counted),
        cmocka_unit_test(stale_and_unread_group_versions_are_named),
        cmocka_unit_test(twenty_thousand_resources_are_the_most),
        cmocka_unit_test(four_thousand_group_versions_are_the_most),
        cmocka_unit_test(what_is_left_out_has_a_limit_too),
        cmocka_unit_test(no_memory_is_an_error_also_where_something_is_left_out),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
