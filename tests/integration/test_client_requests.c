/* SPDX-License-Identifier: Apache-2.0 */
/* Requests of every kind as they stand on the wire, and what becomes of the answers, against a
 * scripted server over real sockets. */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include <kinformer/builtin_resources.h>
#include <kinformer/encoding.h>
#include <kinformer/status.h>

#include "support/clienting.h"

#define PROTO "Accept: application/vnd.kubernetes.protobuf,application/json\n"
#define JSON "Accept: application/json\n"
#define TYPE_JSON "Content-Type: application/json\n"

#define CONFIG_MAP(version)                                                                   \
    "{'kind':'ConfigMap','apiVersion':'v1','metadata':{'name':'a','namespace':'shop'" version \
    "},'data':{'k':'v'}}"

/* A loop that no thread runs: callers do while they wait. */
static void begin(clienting *c)
{
    clienting_begin(c);
    clienting_loop(c);
    clienting_open(c, NULL);
}

static void expect_asked(clienting *c, const char *text)
{
    assert_string_equal(clienting_asked(c), text);
}

static ki_request request_of(ki_verb verb)
{
    ki_request request = KI_OPTIONS_INIT(ki_request);
    request.verb = verb;
    request.resource = KI_CORE_V1_CONFIGMAPS;
    return request;
}

/* ---- on the wire ---- */

static void a_get(void **state)
{
    (void)state;
    clienting c;
    begin(&c);
    ki_object *object = NULL;
    clienting_answer(&c, "{'body': '{\\'kind\\':\\'Pod\\',\\'apiVersion\\':\\'v1\\',"
                         "\\'metadata\\':{\\'name\\':\\'p\\'}}'}");
    assert_int_equal(ki_client_get(c.client, KI_CORE_V1_PODS, "", "p", &object, NULL, NULL), 0);
    assert_string_equal(ki_object_name(object), "p");
    (void)ki_object_unref(object);
    expect_asked(&c, "GET /api/v1/namespaces/shop/pods/p\n" PROTO);

    ki_request request = request_of(KI_VERB_GET);
    request.name_space = "a b";
    request.name = "x?y";
    request.json = true;
    request.list = KI_OPTIONS(ki_list_options, .resource_version = "7");
    request.subresource = "scale";
    request.resource = KI_APPS_V1_DEPLOYMENTS;
    ki_error error = KI_ERROR_INIT;
    ki_response answer = {0};
    assert_int_equal(ki_client_do(c.client, &request, &answer, &error), KI_ERR_NOT_FOUND);
    assert_true(ki_error_is_not_found(&error));
    assert_int_equal(answer.http_code, 404);
    assert_true(ki_object_is_status(answer.object));
    ki_response_done(&answer);
    expect_asked(&c, "GET /apis/apps/v1/namespaces/a%20b/deployments/x%3Fy/scale?resourceVersion=7"
                     "\n" JSON);
    clienting_end(&c);
}

static void a_life(void **state)
{
    (void)state;
    clienting c;
    begin(&c);
    ki_object *object = clienting_object(CONFIG_MAP(""));
    ki_object *made = NULL;
    assert_int_equal(ki_client_create(c.client, KI_CORE_V1_CONFIGMAPS, object, &made, NULL, NULL),
                     0);
    expect_asked(&c, "POST /api/v1/namespaces/shop/configmaps\n" PROTO TYPE_JSON
                     "{\"kind\":\"ConfigMap\",\"apiVersion\":\"v1\",\"metadata\":{\"name\":\"a\","
                     "\"namespace\":\"shop\"},\"data\":{\"k\":\"v\"}}\n");
    ki_error error = KI_ERROR_INIT;
    assert_int_equal(ki_client_create(c.client, KI_CORE_V1_CONFIGMAPS, object, NULL, NULL, &error),
                     KI_ERR_EXISTS);
    assert_true(ki_error_is_already_exists(&error));

    ki_object *changed = NULL;
    clienting_forget(&c);
    assert_int_equal(ki_client_update(c.client, KI_CORE_V1_CONFIGMAPS, made, &changed, NULL, NULL),
                     0);
    assert_non_null(strstr(clienting_asked(&c), "PUT /api/v1/namespaces/shop/configmaps/a\n"));
    assert_string_not_equal(ki_object_resource_version(made), ki_object_resource_version(changed));
    assert_int_equal(ki_client_update(c.client, KI_CORE_V1_CONFIGMAPS, made, NULL, NULL, &error),
                     KI_ERR_STATUS);
    assert_true(ki_error_is_conflict(&error));
    clienting_forget(&c);
    assert_int_equal(
        ki_client_update_status(c.client, KI_CORE_V1_CONFIGMAPS, changed, NULL, NULL, NULL), 0);
    assert_non_null(
        strstr(clienting_asked(&c), "PUT /api/v1/namespaces/shop/configmaps/a/status\n"));

    assert_int_equal(ki_client_delete(c.client, KI_CORE_V1_CONFIGMAPS, "shop", "a", NULL, NULL), 0);
    expect_asked(&c, "DELETE /api/v1/namespaces/shop/configmaps/a\n" PROTO TYPE_JSON
                     "{\"kind\":\"DeleteOptions\",\"apiVersion\":\"v1\"}\n");
    assert_int_equal(ki_client_delete(c.client, KI_CORE_V1_CONFIGMAPS, "shop", "a", NULL, &error),
                     KI_ERR_NOT_FOUND);
    assert_true(ki_error_is_not_found(&error));
    (void)ki_object_unref(object);
    (void)ki_object_unref(made);
    (void)ki_object_unref(changed);
    clienting_end(&c);
}

static void writes_with_all_their_options(void **state)
{
    (void)state;
    clienting c;
    begin(&c);
    ki_request request = request_of(KI_VERB_CREATE);
    request.name_space = "n";
    request.body = ki_str_from("{\"metadata\":{\"name\":\"b\"}}");
    request.dry_run = true;
    request.field_manager = "me & you";
    request.field_validation = "Strict";
    assert_int_equal(ki_client_do(c.client, &request, NULL, NULL), 0);
    expect_asked(&c,
                 "POST /api/v1/namespaces/n/configmaps?dryRun=All&fieldManager=me%20%26%20you&"
                 "fieldValidation=Strict\n" PROTO TYPE_JSON "{\"metadata\":{\"name\":\"b\"}}\n");

    request = request_of(KI_VERB_CREATE);
    request.resource = KI_CORE_V1_PODS;
    request.name = "p";
    request.subresource = "binding";
    request.body = ki_str_from("{\"metadata\":{\"name\":\"p\"}}");
    assert_int_equal(ki_client_do(c.client, &request, NULL, NULL), 0);
    assert_non_null(strstr(clienting_asked(&c), "POST /api/v1/namespaces/shop/pods/p/binding\n"));

    request = request_of(KI_VERB_DELETE);
    request.resource = KI_CORE_V1_NODES;
    request.name = "n1";
    request.propagation = KI_PROPAGATION_FOREGROUND;
    request.at_once = true;
    request.uid = "u\"1";
    request.if_version = "5";
    request.dry_run = true;
    assert_int_equal(ki_client_do(c.client, &request, NULL, NULL), KI_ERR_NOT_FOUND);
    expect_asked(&c, "DELETE /api/v1/nodes/n1\n" PROTO TYPE_JSON
                     "{\"kind\":\"DeleteOptions\",\"apiVersion\":\"v1\",\"gracePeriodSeconds\":0,"
                     "\"preconditions\":{\"uid\":\"u\\\"1\",\"resourceVersion\":\"5\"},"
                     "\"propagationPolicy\":\"Foreground\",\"dryRun\":[\"All\"]}\n");

    request = request_of(KI_VERB_DELETE_COLLECTION);
    request.name_space = "n";
    request.list = KI_OPTIONS(ki_list_options, .label_selector = "a=b");
    request.grace_ms = 29001; /* up to the next second */
    request.propagation = KI_PROPAGATION_ORPHAN;
    ki_response answer = {0};
    assert_int_equal(ki_client_do(c.client, &request, &answer, NULL), 0);
    assert_true(ki_object_is_status(answer.object));
    assert_null(answer.list);
    ki_response_done(&answer);
    expect_asked(&c, "DELETE /api/v1/namespaces/n/configmaps?labelSelector=a%3Db\n" PROTO TYPE_JSON
                     "{\"kind\":\"DeleteOptions\",\"apiVersion\":\"v1\",\"gracePeriodSeconds\":30,"
                     "\"propagationPolicy\":\"Orphan\"}\n");
    clienting_end(&c);
}

static void patches_and_applies(void **state)
{
    (void)state;
    static const struct {
        ki_patch_type type;
        const char *media;
    } kinds[] = {
        {KI_PATCH_MERGE, "application/merge-patch+json"},
        {KI_PATCH_STRATEGIC, "application/strategic-merge-patch+json"},
        {KI_PATCH_JSON, "application/json-patch+json"},
    };
    clienting c;
    begin(&c);
    ki_object *object = clienting_object(CONFIG_MAP(""));
    assert_int_equal(
        ki_client_apply(c.client, KI_CORE_V1_CONFIGMAPS, object, "me", true, NULL, NULL, NULL), 0);
    expect_asked(&c, "PATCH /api/v1/namespaces/shop/configmaps/a?fieldManager=me&force=true\n" PROTO
                     "Content-Type: application/apply-patch+yaml\n"
                     "{\"kind\":\"ConfigMap\",\"apiVersion\":\"v1\",\"metadata\":{\"name\":\"a\","
                     "\"namespace\":\"shop\"},\"data\":{\"k\":\"v\"}}\n");
    for (size_t i = 0; i < 3; i++) {
        ki_object *patched = NULL;
        char text[256];
        assert_int_equal(ki_client_patch(c.client, KI_CORE_V1_CONFIGMAPS, "", "a", kinds[i].type,
                                         ki_str_from("{\"data\":{\"n\":\"1\"}}"), &patched, NULL,
                                         NULL),
                         0);
        (void)ki_object_unref(patched);
        snprintf(text, sizeof(text),
                 "PATCH /api/v1/namespaces/shop/configmaps/a\n" PROTO "Content-Type: %s\n"
                 "{\"data\":{\"n\":\"1\"}}\n",
                 kinds[i].media);
        expect_asked(&c, text);
    }
    (void)ki_object_unref(object);
    clienting_end(&c);
}

static void objects_go_in_their_own_encoding(void **state)
{
    (void)state;
    clienting c;
    begin(&c);
    ki_object *json = clienting_object(CONFIG_MAP(""));
    ki_object *proto = NULL;
    ki_buf bytes;
    ki_buf_init(&bytes, NULL, 4096);
    assert_int_equal(ki_object_write_protobuf(json, &bytes, NULL), 0);
    assert_int_equal(ki_object_from_protobuf(bytes.data, bytes.len, NULL, &proto, NULL), 0);
    clienting_answer(&c, "{'status': 201, 'body': '{}'}");
    assert_int_equal(ki_client_create(c.client, KI_CORE_V1_CONFIGMAPS, proto, NULL, NULL, NULL), 0);
    assert_non_null(strstr(clienting_asked(&c),
                           "Content-Type: application/vnd.kubernetes.protobuf\nprotobuf 6b3873"));
    /* But what is applied is JSON. */
    assert_int_equal(
        ki_client_apply(c.client, KI_CORE_V1_CONFIGMAPS, proto, "me", false, NULL, NULL, NULL), 0);
    const char *asked = clienting_asked(&c);
    assert_non_null(strstr(asked, "Content-Type: application/apply-patch+yaml\n{\"kind\""));
    ki_buf_done(&bytes);
    (void)ki_object_unref(json);
    (void)ki_object_unref(proto);
    clienting_end(&c);
}

static void what_a_list_gave_is_sent_with_its_kind(void **state)
{
    (void)state;
    clienting c;
    begin(&c);
    ki_list *list = NULL;
    clienting_answer(&c,
                     "{'body': '{\\'kind\\':\\'ConfigMapList\\',\\'apiVersion\\':\\'v1\\',"
                     "\\'metadata\\':{},\\'items\\':[{\\'metadata\\':{\\'name\\':\\'i\\'}}]}'}");
    assert_int_equal(ki_client_list(c.client, KI_CORE_V1_CONFIGMAPS, "", NULL, &list, NULL, NULL),
                     0);
    assert_int_equal(ki_list_count(list), 1);
    clienting_forget(&c);
    clienting_answer(&c, "{'body': '{}'}");
    assert_int_equal(
        ki_client_update(c.client, KI_CORE_V1_CONFIGMAPS, ki_list_at(list, 0), NULL, NULL, NULL),
        0);
    assert_non_null(
        strstr(clienting_asked(&c),
               "{\"apiVersion\":\"v1\",\"kind\":\"ConfigMap\",\"metadata\":{\"name\":\"i\"}}\n"));
    (void)ki_list_unref(list);
    clienting_end(&c);
}

static void raw_requests(void **state)
{
    (void)state;
    clienting c;
    begin(&c);
    ki_request request = KI_OPTIONS_INIT(ki_request);
    ki_response answer = {0};
    request.verb = KI_VERB_RAW;
    request.path = "/version";
    request.query = "a=%20b";
    clienting_answer(&c, "{'headers': {'Content-Type': 'text/plain'}, 'body': 'v1.36'}");
    assert_int_equal(ki_client_do(c.client, &request, &answer, NULL), 0);
    assert_true(ki_str_eq_text(answer.body, "v1.36"));
    assert_true(ki_str_eq_text(answer.content_type, "text/plain"));
    assert_int_equal(answer.http_code, 200);
    ki_response_done(&answer);
    expect_asked(&c, "GET /version?a=%20b\n" JSON);

    request.method = "POST";
    request.path = "/x";
    request.query = "";
    request.accept = "text/plain";
    request.content_type = "text/csv";
    request.body = ki_str_from("1,2");
    clienting_answer(&c, "{'status': 418, 'headers': {'Content-Type': 'text/plain'}, "
                         "'body': 'short and stout'}");
    ki_error error = KI_ERROR_INIT;
    assert_int_equal(ki_client_do(c.client, &request, &answer, &error), KI_ERR_STATUS);
    assert_int_equal(error.http_code, 418);
    assert_true(ki_str_eq_text(answer.body, "short and stout"));
    assert_null(answer.object);
    ki_response_done(&answer);
    expect_asked(&c, "POST /x\nAccept: text/plain\nContent-Type: text/csv\n1,2\n");
    clienting_end(&c);
}

/* A webhook that has 3 KB to say. */
static void a_long_rejection_is_reported_in_full(void **state)
{
    (void)state;
    clienting c;
    begin(&c);
    char answer[4096];
    int len = snprintf(answer, sizeof(answer),
                       "{'status': 403, 'body': '{\\'kind\\':\\'Status\\',\\'apiVersion\\':"
                       "\\'v1\\',\\'status\\':\\'Failure\\',\\'reason\\':\\'Forbidden\\',"
                       "\\'code\\':403,\\'message\\':\\'admission webhook denied: ");
    memset(answer + len, 'w', 3000);
    (void)snprintf(answer + len + 3000, sizeof(answer) - (size_t)len - 3000, " the end\\'}'}");
    clienting_answer(&c, answer);
    ki_object *object = clienting_object("{'kind':'ConfigMap','apiVersion':'v1','metadata':"
                                         "{'name':'a','namespace':'shop'}}");
    ki_error error = KI_ERROR_INIT;
    ki_object *status = NULL;
    assert_int_equal(
        ki_client_create(c.client, KI_CORE_V1_CONFIGMAPS, object, NULL, &status, &error),
        KI_ERR_STATUS);
    assert_string_equal(error.message + strlen(error.message) - 6, "www...");
    char message[4096];
    ki_value value = ki_status_message(status);
    assert_int_equal(ki_value_get_string(&value, message, sizeof(message)), 3034);
    assert_string_equal(message + 3034 - 8, " the end");
    (void)ki_object_unref(status);
    (void)ki_object_unref(object);
    clienting_end(&c);
}

/* ---- lists ---- */

static void add_config_maps(clienting *c, int count)
{
    for (int i = 0; i < count; i++) {
        char text[256];
        snprintf(text, sizeof(text),
                 "{'kind':'ConfigMap','apiVersion':'v1','metadata':{'name':'m%04d',"
                 "'labels':{'odd':'%d'}}}",
                 i, i % 2);
        ki_object *object = clienting_object(text);
        assert_int_equal(
            ki_client_create(c->client, KI_CORE_V1_CONFIGMAPS, object, NULL, NULL, NULL), 0);
        (void)ki_object_unref(object);
    }
    clienting_forget(c);
}

static void a_list_is_in_order(void **state)
{
    (void)state;
    clienting c;
    begin(&c);
    add_config_maps(&c, 7);
    ki_request request = request_of(KI_VERB_LIST);
    ki_response answer = {0};
    request.name_space = "shop";
    request.list = KI_OPTIONS(ki_list_options, .limit = 3, .label_selector = "odd=0");
    assert_int_equal(ki_client_do(c.client, &request, &answer, NULL), 0);
    assert_int_equal(ki_list_count(answer.list), 3);
    assert_string_equal(ki_object_key(ki_list_at(answer.list, 0)), "shop/m0000");
    assert_string_equal(ki_object_key(ki_list_at(answer.list, 2)), "shop/m0004");
    assert_string_equal(answer.resource_version, "107");
    assert_string_equal(answer.continue_token, "107:3");
    assert_int_equal(answer.remaining, 1);
    ki_response_done(&answer);
    expect_asked(&c,
                 "GET /api/v1/namespaces/shop/configmaps?labelSelector=odd%3D0&limit=3\n" PROTO);
    clienting_end(&c);
}

static void the_whole_list_comes_in_pages(void **state)
{
    (void)state;
    clienting c;
    begin(&c);
    add_config_maps(&c, 8);
    ki_list_options options = KI_OPTIONS_INIT(ki_list_options);
    ki_list *list = NULL;
    options.limit = 3;
    options.resource_version = "0";
    assert_int_equal(
        ki_client_list(c.client, KI_CORE_V1_CONFIGMAPS, "", &options, &list, NULL, NULL), 0);
    assert_int_equal(ki_list_count(list), 8);
    assert_string_equal(ki_object_key(ki_list_at(list, 7)), "shop/m0007");
    (void)ki_list_unref(list);
    expect_asked(&c, "GET /api/v1/configmaps?limit=3&resourceVersion=0\n" PROTO
                     "\nGET /api/v1/configmaps?continue=108%3A3&limit=3\n" PROTO
                     "\nGET /api/v1/configmaps?continue=108%3A6&limit=3\n" PROTO);
    assert_int_equal(ki_client_list(c.client, KI_CORE_V1_CONFIGMAPS, "", NULL, &list, NULL, NULL),
                     0);
    (void)ki_list_unref(list);
    expect_asked(&c, "GET /api/v1/configmaps?limit=500\n" PROTO);
    clienting_end(&c);
}

#define PAGE(version, token, name)                                                           \
    "{'body': '{\\'kind\\':\\'ConfigMapList\\',\\'apiVersion\\':\\'v1\\',\\'metadata\\':"    \
    "{\\'resourceVersion\\':\\'" version "\\',\\'continue\\':\\'" token "\\'},\\'items\\':[" \
    "{\\'metadata\\':{\\'name\\':\\'" name "\\'}}]}'}"
#define EXPIRED                                                                                 \
    "{'status': 410, 'body': '{\\'kind\\':\\'Status\\',\\'apiVersion\\':\\'v1\\',\\'status\\':" \
    "\\'Failure\\',\\'reason\\':\\'Expired\\',\\'code\\':410}'}"

static void pages_of_two_moments_are_not_put_together(void **state)
{
    (void)state;
    static const char *const second[] = {EXPIRED, PAGE("8", "", "x")};
    for (size_t i = 0; i < 2; i++) {
        clienting c;
        begin(&c);
        ki_list *list = NULL;
        clienting_answer(&c, PAGE("7", "t", "gone"));
        clienting_answer(&c, second[i]);
        clienting_answer(&c, PAGE("9", "", "whole"));
        assert_int_equal(
            ki_client_list(c.client, KI_CORE_V1_CONFIGMAPS, "", NULL, &list, NULL, NULL), 0);
        assert_int_equal(ki_list_count(list), 1);
        assert_string_equal(ki_object_name(ki_list_at(list, 0)), "whole");
        (void)ki_list_unref(list);
        expect_asked(&c, "GET /api/v1/configmaps?limit=500\n" PROTO
                         "\nGET /api/v1/configmaps?continue=t&limit=500\n" PROTO
                         "\nGET /api/v1/configmaps\n" PROTO);
        clienting_end(&c);
    }
}

/* The limit is that of informers. */
static void a_resource_version_may_have_1024_bytes(void **state)
{
    (void)state;
    char version[1026];
    char page[2048];
    clienting c;
    ki_list *list = NULL;
    ki_error error = KI_ERROR_INIT;
    begin(&c);
    memset(version, '1', sizeof(version) - 1);
    version[1025] = '\0';
    (void)snprintf(page, sizeof(page), PAGE("%s", "", "a"), version + 1);
    clienting_answer(&c, page);
    assert_int_equal(ki_client_list(c.client, KI_CORE_V1_CONFIGMAPS, "", NULL, &list, NULL, NULL),
                     0);
    assert_int_equal(ki_list_count(list), 1);
    (void)ki_list_unref(list);
    (void)snprintf(page, sizeof(page), PAGE("%s", "", "a"), version);
    clienting_answer(&c, page);
    assert_int_equal(ki_client_list(c.client, KI_CORE_V1_CONFIGMAPS, "", NULL, &list, NULL, &error),
                     KI_ERR_LIMIT);
    clienting_end(&c);
}

/* One token, and no more for a quarter of an hour. */
static void later_pages_do_not_wait_for_the_rate_limit(void **state)
{
    (void)state;
    clienting c;
    clienting_begin(&c);
    clienting_loop(&c);
    clienting_open(&c, KI_OPTIONS(ki_client_options, .qps = 0.001, .burst = 1));
    for (int i = 0; i < 30; i++) {
        char page[256];
        (void)snprintf(page, sizeof(page), PAGE("7", "n%d", "m%d"), i, i);
        clienting_answer(&c, page);
    }
    clienting_answer(&c, PAGE("7", "", "last"));
    ki_list *list = NULL;
    assert_int_equal(ki_client_list(c.client, KI_CORE_V1_CONFIGMAPS, "", NULL, &list, NULL, NULL),
                     0);
    assert_int_equal(ki_list_count(list), 31);
    (void)ki_list_unref(list);
    clienting_end(&c);
}

static void a_list_that_leads_nowhere_ends(void **state)
{
    (void)state;
    clienting c;
    begin(&c);
    ki_list *list = NULL;
    ki_error error = KI_ERROR_INIT;
    clienting_answer(&c, PAGE("7", "t", "a"));
    clienting_answer(&c, PAGE("7", "t", "b"));
    assert_int_equal(ki_client_list(c.client, KI_CORE_V1_CONFIGMAPS, "", NULL, &list, NULL, &error),
                     KI_ERR_INVALID);
    static const char *const ring[] = {PAGE("7", "x", "a"), PAGE("7", "y", "b"),
                                       PAGE("7", "z", "c")};
    for (int i = 0; i < 12; i++) {
        clienting_answer(&c, i == 0 ? PAGE("7", "t", "begin") : ring[i % 3]);
    }
    assert_int_equal(ki_client_list(c.client, KI_CORE_V1_CONFIGMAPS, "", NULL, &list, NULL, &error),
                     KI_ERR_INVALID); /* a longer way to where it was */
    clienting_forget(&c);
    for (int i = 0; i < 110; i++) { /* new tokens, and always the same object */
        char page[256];
        (void)snprintf(page, sizeof(page), PAGE("7", "n%d", "same"), i);
        clienting_answer(&c, page);
    }
    assert_int_equal(ki_client_list(c.client, KI_CORE_V1_CONFIGMAPS, "", NULL, &list, NULL, &error),
                     KI_ERR_LIMIT);
    clienting_forget(&c);
    clienting_answer(&c, EXPIRED);
    assert_int_equal(ki_client_list(c.client, KI_CORE_V1_CONFIGMAPS, "", NULL, &list, NULL, &error),
                     KI_ERR_STATUS); /* the first page has nothing to start again for */
    assert_true(ki_error_is_resource_expired(&error));
    clienting_end(&c);
}

/* ---- answers that are none ---- */

static int get(clienting *c, ki_error *error)
{
    ki_object *object = NULL;
    *error = KI_ERROR_INIT;
    int r = ki_client_get(c->client, KI_CORE_V1_CONFIGMAPS, "", "a", &object, NULL, error);
    (void)ki_object_unref(object);
    return r;
}

#define HTML "the response is HTML instead of JSON; is this an API server?"

static void answers_that_cannot_be_read(void **state)
{
    (void)state;
    static const struct {
        const char *answer;
        int code;
        const char *text; /* part of the message; NULL: any */
    } cases[] = {
        {"{'body': 'nonsense'}", KI_ERR_SYNTAX, NULL},
        {"{'body': ' <html>log in</html>'}", KI_ERR_SYNTAX, HTML},
        {"{'body': ''}", KI_ERR_TRUNCATED, NULL},
        {"{'body': '{}', 'headers': {'Content-Type': 'text/html'}}", KI_ERR_UNSUPPORTED, HTML},
        {"{'body': '{}', 'headers': {'Content-Type': 'Text/HTML; charset=utf-8'}}",
         KI_ERR_UNSUPPORTED, HTML},
        {"{'body': '{\\'kind\\':\\'ConfigMap\\'}', 'do': 'cut'}", -EPIPE, NULL},
        {"{'body': ' ', 'times': 17000000}", KI_ERR_LIMIT, NULL},
        {"{'body': '{\\'kind\\':\\'Status\\',\\'apiVersion\\':\\'v1\\',\\'status\\':\\'Failure\\'"
         ",\\'reason\\':\\'Forbidden\\',\\'code\\':403}'}",
         KI_ERR_STATUS, NULL},
        {"{'status': 302, 'headers': {'Location': 'http://127.0.0.1:1/'}}", KI_ERR_STATUS,
         "redirects to http://127.0.0.1:1/ (HTTP 302), and"},
        {"{'status': 307, 'headers': {'Location': "
         "'https://me:secret@login.test/a?token=secret#secret'}}",
         KI_ERR_STATUS, "redirects to https://login.test/a (HTTP 307), and"},
        {"{'status': 303, 'headers': {'Location': '/login@here?secret'}}", KI_ERR_STATUS,
         "redirects to /login@here (HTTP 303), and"},
    };
    clienting c;
    begin(&c);
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        ki_error error = KI_ERROR_INIT;
        clienting_answer(&c, cases[i].answer);
        assert_int_equal(get(&c, &error), cases[i].code);
        assert_int_equal(error.code, cases[i].code);
        assert_true(error.message[0] != '\0');
        if (cases[i].text != NULL && strstr(error.message, cases[i].text) == NULL) {
            fail_msg("%s: %s", cases[i].answer, error.message);
        }
        assert_null(strstr(error.message, "secret"));
    }
    clienting_end(&c);
}

static void errors_without_a_status_say_what_they_can(void **state)
{
    (void)state;
    clienting c;
    begin(&c);
    ki_error error = KI_ERROR_INIT;
    clienting_answer(&c, "{'status': 403, 'headers': {'Content-Type': 'text/plain'}, "
                         "'body': 'go away. ', 'times': 20000}");
    assert_int_equal(get(&c, &error), KI_ERR_STATUS);
    assert_true(ki_error_is_forbidden(&error));
    assert_int_equal(error.http_code, 403);
    clienting_answer(&c, "{'status': 500, 'body': 'half of it', 'do': 'cut'}");
    assert_int_equal(get(&c, &error), KI_ERR_STATUS); /* not the cut */
    assert_true(ki_error_is_internal_error(&error));
    clienting_end(&c);
}

static void requests_that_cannot_be_are_refused_before_anything_is_sent(void **state)
{
    (void)state;
    static const char *const names[] = {".", "..", "a/b", "%2e", ""};
    clienting c;
    begin(&c);
    ki_request request = request_of(KI_VERB_GET);
    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
        int wanted = names[i][0] != '\0' ? KI_ERR_INVALID : -EINVAL;
        ki_error error = KI_ERROR_INIT;
        ki_response answer = {0};
        request.name = names[i];
        assert_int_equal(ki_client_do(c.client, &request, &answer, &error), wanted);
        assert_true(answer.http_code == 0 && answer.remaining == -1);
        ki_response_done(&answer);
        assert_int_equal(error.code, wanted);
        assert_true(error.message[0] != '\0');
    }
    assert_int_equal(ki_client_do(c.client, NULL, NULL, NULL), -EINVAL);
    assert_string_equal(clienting_asked(&c), "\n");
    clienting_end(&c);
}

/* ---- once more ---- */

static size_t count_asked(clienting *c)
{
    size_t count = 0;
    for (const char *at = clienting_asked(c); (at = strstr(at, " /api/")) != NULL; at++) {
        count++;
    }
    return count;
}

static void the_server_says_when_to_ask_again(void **state)
{
    (void)state;
    clienting c;
    begin(&c);
    ki_object *object = clienting_object(CONFIG_MAP(""));
    uint64_t before = clienting_now_ms();
    clienting_answer(&c, "{'status': 429, 'headers': {'Retry-After': '1'}}");
    clienting_answer(&c, "{'status': 503, 'headers': {'Retry-After': '0'}}");
    assert_int_equal(ki_client_create(c.client, KI_CORE_V1_CONFIGMAPS, object, NULL, NULL, NULL),
                     0);
    uint64_t took = clienting_now_ms() - before;
    assert_true(took >= 1900);
    assert_int_equal(count_asked(&c), 3);
    (void)ki_object_unref(object);
    clienting_end(&c);
}

static void without_a_time_it_is_not_asked_again(void **state)
{
    (void)state;
    static const char *const answers[] = {
        "{'status': 500}",
        "{'status': 429, 'headers': {'Retry-After': 'Wed, 21 Oct 2026 07:28:00 GMT'}}",
        "{'status': 409, 'headers': {'Retry-After': '1'}}",
    };
    clienting c;
    begin(&c);
    for (size_t i = 0; i < sizeof(answers) / sizeof(answers[0]); i++) {
        ki_error error = KI_ERROR_INIT;
        clienting_answer(&c, answers[i]);
        assert_int_equal(get(&c, &error), KI_ERR_STATUS);
        assert_int_equal(count_asked(&c), 1);
    }
    ki_request request = request_of(KI_VERB_GET);
    request.name = "a";
    request.no_retry = true;
    clienting_answer(&c, "{'status': 429, 'headers': {'Retry-After': '1'}}");
    ki_error error = KI_ERROR_INIT;
    assert_int_equal(ki_client_do(c.client, &request, NULL, &error), KI_ERR_STATUS);
    assert_int_equal(error.retry_after_ms, 1000);
    assert_int_equal(count_asked(&c), 1);
    /* Nor if the answer would come too late. */
    request.no_retry = false;
    request.timeout_ms = 5000;
    clienting_answer(&c, "{'status': 429, 'headers': {'Retry-After': '30'}}");
    uint64_t before = clienting_now_ms();
    assert_int_equal(ki_client_do(c.client, &request, NULL, &error), KI_ERR_STATUS);
    assert_true(ki_error_is_too_many_requests(&error));
    assert_true(clienting_now_ms() - before < 4000);
    clienting_end(&c);
}

static void broken_connections_are_asked_again_if_nothing_can_have_changed(void **state)
{
    (void)state;
    static const char *const breaks[] = {"{'do': 'reset'}", "{'do': 'close'}"};
    clienting c;
    begin(&c);
    ki_object *object = clienting_object(CONFIG_MAP(""));
    for (size_t i = 0; i < 2; i++) {
        ki_error error = KI_ERROR_INIT;
        clienting_answer(&c, breaks[i]);
        assert_int_equal(get(&c, &error), KI_ERR_NOT_FOUND); /* 404 */
        assert_int_equal(error.http_code, 404);
        assert_int_equal(count_asked(&c), 2);
        clienting_answer(&c, breaks[i]);
        int r = ki_client_create(c.client, KI_CORE_V1_CONFIGMAPS, object, NULL, NULL, &error);
        assert_true(r == -ECONNRESET || r == -EPIPE);
        assert_int_equal(count_asked(&c), 1);
        /* In our words, not those of libcurl about its callbacks. */
        assert_non_null(
            strstr(error.message, "not retried, as the request may have been processed"));
        assert_null(strstr(error.message, "callback"));
    }
    (void)ki_object_unref(object);
    clienting_end(&c);
}

static void a_request_ends_in_time(void **state)
{
    (void)state;
    clienting c;
    begin(&c);
    ki_request request = request_of(KI_VERB_GET);
    ki_response answer = {0};
    ki_error error = KI_ERROR_INIT;
    request.name = "a";
    request.timeout_ms = 200;
    clienting_answer(&c, "{'do': 'hang'}");
    uint64_t before = clienting_now_ms();
    assert_int_equal(ki_client_do(c.client, &request, &answer, &error), -ETIMEDOUT);
    uint64_t took = clienting_now_ms() - before;
    assert_true(took >= 190 && took < 10000);
    assert_int_equal(answer.http_code, 0);
    ki_response_done(&answer);
    clienting_end(&c);
}

static void a_client_may_say_how_long_its_requests_take(void **state)
{
    (void)state;
    clienting c;
    clienting_begin(&c);
    clienting_loop(&c);
    clienting_open(&c, KI_OPTIONS(ki_client_options, .request_timeout_ms = 200, .qps = -1));
    clienting_answer(&c, "{'do': 'hang'}");
    uint64_t before = clienting_now_ms();
    assert_int_equal(ki_client_delete(c.client, KI_CORE_V1_PODS, "ns", "a", NULL, NULL),
                     -ETIMEDOUT);
    uint64_t took = clienting_now_ms() - before;
    assert_true(took >= 190 && took < 10000);
    clienting_end(&c);
}

/* ---- conflicts ---- */

typedef struct conflict {
    clienting *c;
    int attempts;
    int conflicts; /* before it succeeds */
} conflict;

static int attempt(void *user, ki_error *error)
{
    conflict *k = user;
    if (++k->attempts > k->conflicts) {
        return 5;
    }
    return ki_status_from_http(409, "PUT", "pods", "a", ki_str_from(""), 0, error);
}

static int attempt_other(void *user, ki_error *error)
{
    ((conflict *)user)->attempts++;
    return ki_status_from_http(403, "PUT", "pods", "a", ki_str_from(""), 0, error);
}

static void conflicts_are_tried_five_times(void **state)
{
    (void)state;
    clienting c;
    begin(&c);
    conflict k = {.c = &c, .conflicts = 2};
    ki_error error = KI_ERROR_INIT;
    uint64_t before = clienting_now_ms();
    assert_int_equal(ki_client_retry_on_conflict(c.client, attempt, &k, &error), 5);
    assert_int_equal(k.attempts, 3);
    assert_true(clienting_now_ms() - before >= 19);
    k = (conflict){.c = &c, .conflicts = 100};
    assert_int_equal(ki_client_retry_on_conflict(c.client, attempt, &k, &error), KI_ERR_STATUS);
    assert_true(ki_error_is_conflict(&error));
    assert_int_equal(k.attempts, 5);
    k = (conflict){.c = &c};
    assert_int_equal(ki_client_retry_on_conflict(c.client, attempt_other, &k, NULL), KI_ERR_STATUS);
    assert_int_equal(k.attempts, 1);
    clienting_end(&c);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_get),
        cmocka_unit_test(a_life),
        cmocka_unit_test(writes_with_all_their_options),
        cmocka_unit_test(patches_and_applies),
        cmocka_unit_test(objects_go_in_their_own_encoding),
        cmocka_unit_test(what_a_list_gave_is_sent_with_its_kind),
        cmocka_unit_test(raw_requests),
        cmocka_unit_test(a_long_rejection_is_reported_in_full),
        cmocka_unit_test(a_list_is_in_order),
        cmocka_unit_test(the_whole_list_comes_in_pages),
        cmocka_unit_test(pages_of_two_moments_are_not_put_together),
        cmocka_unit_test(a_resource_version_may_have_1024_bytes),
        cmocka_unit_test(later_pages_do_not_wait_for_the_rate_limit),
        cmocka_unit_test(a_list_that_leads_nowhere_ends),
        cmocka_unit_test(answers_that_cannot_be_read),
        cmocka_unit_test(errors_without_a_status_say_what_they_can),
        cmocka_unit_test(requests_that_cannot_be_are_refused_before_anything_is_sent),
        cmocka_unit_test(the_server_says_when_to_ask_again),
        cmocka_unit_test(without_a_time_it_is_not_asked_again),
        cmocka_unit_test(broken_connections_are_asked_again_if_nothing_can_have_changed),
        cmocka_unit_test(a_request_ends_in_time),
        cmocka_unit_test(a_client_may_say_how_long_its_requests_take),
        cmocka_unit_test(conflicts_are_tried_five_times),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
