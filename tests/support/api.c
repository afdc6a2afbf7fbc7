/* SPDX-License-Identifier: Apache-2.0 */
#include "support/api.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <kinformer/path.h>

#include "object/value.h"

static uint64_t monotonic(void *user)
{
    return ((const test_api *)user)->now_ns;
}

static int64_t realtime(void *user)
{
    return (int64_t)((const test_api *)user)->now_ns + INT64_C(1700000000000000000);
}

static int fill(void *bytes, size_t len, void *user)
{
    test_api *api = user;
    for (size_t i = 0; i < len; i++) {
        ((unsigned char *)bytes)[i] = (unsigned char)test_random(&api->seed);
    }
    return 0;
}

/* Notes a failure of memory where it is expected; everything else fails the test. */
static bool failed(test_api *api, int r)
{
    if (r >= 0) {
        return false;
    }
    if (r != -ENOMEM || !api->may_fail) {
        fail_msg("failed: %s", ki_error_name(r));
    }
    api->failed = r;
    return true;
}

void test_api_init(test_api *api, const ki_alloc *alloc, const ki__api_model_options *model,
                   const ki__api_server_options *server)
{
    *api = (test_api){.alloc = alloc, .seed = 1, .may_fail = alloc != NULL};
    api->clock = (ki_clock){0, monotonic, realtime, api};
    api->random = (ki_random){0, fill, api};
    ki_buf_init(&api->body, NULL, SIZE_MAX);
    ki__api_model_options options = model != NULL ? *model : (ki__api_model_options){0};
    options.alloc = alloc;
    options.clock = &api->clock;
    options.random = &api->random;
    if (!failed(api, ki__api_model_new(&options, &api->model))) {
        (void)failed(api, ki__api_server_new(api->model, server, &api->server));
    }
}

void test_api_done(test_api *api)
{
    ki__api_server_free(api->server);
    ki__api_model_free(api->model);
    ki_buf_done(&api->body);
}

static char *quoted(const char *text)
{
    char *copy = strdup(text != NULL ? text : "");
    assert_non_null(copy);
    for (char *c = copy; *c != '\0'; c++) {
        *c = *c == '\'' ? '"' : *c;
    }
    return copy;
}

ki__api_exchange *test_api_open(test_api *api, const char *method, const char *target,
                                const char *body)
{
    ki__api_header headers[3];
    size_t count = 0;
    if (api->accept != NULL) {
        headers[count++] = (ki__api_header){ki_str_from("Accept"), ki_str_from(api->accept)};
    }
    const char *type = api->content_type;
    if (type == NULL && strcmp(method, "PATCH") == 0) {
        type = "application/merge-patch+json; charset=utf-8";
    }
    if (type != NULL) {
        headers[count++] = (ki__api_header){ki_str_from("content-TYPE"), ki_str_from(type)};
    }
    if (api->user_agent != NULL) {
        headers[count++] =
            (ki__api_header){ki_str_from("User-Agent"), ki_str_from(api->user_agent)};
    }
    char *text = quoted(body);
    const ki__api_request request = {
        .method = ki_str_from(method),
        .target = ki_str_from(target),
        .headers = headers,
        .header_count = count,
        .body = ki_str_from(text),
    };
    ki__api_exchange *x = NULL;
    if (api->failed == 0) {
        (void)failed(api, ki__api_exchange_new(api->server, &request, &x));
    }
    free(text);
    return x;
}

int test_api_pull(test_api *api, ki__api_exchange *x, size_t piece, ki_buf *out)
{
    for (;;) {
        ki_str bytes;
        int r = ki__api_exchange_next(x, piece, &bytes);
        if (failed(api, r)) {
            return r;
        }
        if (r != KI__API_DATA) {
            return r;
        }
        assert_true(bytes.len != 0 && bytes.len <= piece);
        assert_int_equal(ki_buf_add_str(out, bytes), 0);
    }
}

int test_api_call(test_api *api, const char *method, const char *target, const char *body)
{
    ki__api_exchange *x = test_api_open(api, method, target, body);
    api->status = 0;
    ki_buf_clear(&api->body);
    if (x == NULL) {
        return 0;
    }
    int r = test_api_pull(api, x, 4096, &api->body);
    api->status = ki__api_exchange_status(x);
    api->retry_after = ki__api_exchange_retry_after(x);
    api->status = r == KI__API_CUT ? -1 : r == KI__API_REFUSED ? -2 : api->status;
    ki__api_exchange_free(x);
    return api->status;
}

int test_api_get(test_api *api, const char *target)
{
    return test_api_call(api, "GET", target, NULL);
}

int test_api_pod(test_api *api, const char *name_space, const char *name, const char *labels)
{
    char target[256];
    char body[512];
    (void)snprintf(target, sizeof(target), "/api/v1/namespaces/%s/pods", name_space);
    (void)snprintf(body, sizeof(body),
                   "{'kind':'Pod','apiVersion':'v1','metadata':{'name':'%s','labels':{%s}},"
                   "'spec':{'nodeName':'n1'}}",
                   name, labels);
    return test_api_call(api, "POST", target, body);
}

/* ---- reading answers ---- */

static char text_room[4][4096];
static size_t text_next;

static char *room(void)
{
    char *text = text_room[text_next++ % 4];
    text[0] = '\0';
    return text;
}

const char *test_api_version(const test_api *api)
{
    char *text = room();
    (void)snprintf(text, sizeof(text_room[0]), "%llu", (unsigned long long)api->model->head);
    return text;
}

static ki_object *parse(const char *json, size_t len)
{
    ki_object *object = NULL;
    ki_error error = KI_ERROR_INIT;
    if (ki_object_from_json(json, len, NULL, &object, &error) < 0) {
        fail_msg("not JSON: %s: %.*s", error.message, (int)len, json);
    }
    return object;
}

const char *test_api_at(test_api *api, const char *path)
{
    if (api->failed != 0) {
        return "";
    }
    ki_object *object = parse(ki_buf_text(&api->body), api->body.len);
    ki_path *compiled;
    assert_int_equal(ki_path_compile(path, NULL, &compiled, NULL), 0);
    ki_value value;
    char *text = room();
    if (ki_object_get(object, compiled, &value) == 0) {
        ki_buf out;
        ki_buf_init(&out, NULL, sizeof(text_room[0]) - 1);
        bool string = ki_value_type(&value) == KI_TYPE_STRING;
        assert_int_equal(
            string ? ki_value_copy_string(&value, &out) : ki_value_write_json(&value, &out), 0);
        memcpy(text, ki_buf_text(&out), out.len + 1);
        ki_buf_done(&out);
    }
    ki_path_unref(compiled);
    ki_object_unref(object);
    return text;
}

/* Adds one word made of parts. */
static void add_word(char *text, const char *a, const char *b, const char *c, const char *d)
{
    size_t len = strlen(text);
    int r = snprintf(text + len, sizeof(text_room[0]) - len, "%s%s%s%s%s", len != 0 ? " " : "", a,
                     b, c, d);
    assert_true(r > 0 && (size_t)r < sizeof(text_room[0]) - len);
}

const char *test_api_items(test_api *api)
{
    char *text = room();
    if (api->failed != 0) {
        return text;
    }
    ki_object *list = parse(ki_buf_text(&api->body), api->body.len);
    ki_value root = ki_object_root(list);
    ki_value items = ki__value_child(&root, "items");
    ki_value_iter iter;
    ki_value item;
    assert_int_equal(ki_value_iter_begin(&items, &iter), 0);
    while (ki_value_iter_next(&iter, NULL, &item) > 0) {
        ki_value metadata = ki__value_child(&item, "metadata");
        ki_value name = ki__value_child(&metadata, "name");
        ki_value version = ki__value_child(&metadata, "resourceVersion");
        char name_text[256];
        char version_text[32];
        assert_true(ki_value_get_string(&name, name_text, sizeof(name_text)) > 0);
        assert_true(ki_value_get_string(&version, version_text, sizeof(version_text)) > 0);
        add_word(text, name_text, "@", version_text, "");
    }
    ki_object_unref(list);
    return text;
}

/* One line of a watch, in short. */
static void add_event(char *text, const char *line, size_t len)
{
    ki_object *frame = parse(line, len);
    ki_value root = ki_object_root(frame);
    ki_value type = ki__value_child(&root, "type");
    ki_value value = ki__value_child(&root, "object");
    char type_text[16];
    assert_true(ki_value_get_string(&type, type_text, sizeof(type_text)) > 0);
    ki_buf json;
    ki_buf_init(&json, NULL, SIZE_MAX);
    assert_int_equal(ki_value_write_json(&value, &json), 0);
    ki_object *object = parse(json.data, json.len);
    if (strcmp(type_text, "ERROR") == 0) {
        ki_value status = ki_object_root(object);
        ki_value code = ki__value_child(&status, "code");
        int64_t number;
        char number_text[16];
        assert_int_equal(ki_value_int64(&code, &number), 0);
        (void)snprintf(number_text, sizeof(number_text), "%d", (int)number);
        add_word(text, "ERROR ", number_text, "", "");
    } else {
        bool is_end = ki_object_has_annotation(object, "k8s.io/initial-events-end");
        char version[64];
        (void)snprintf(version, sizeof(version), "@%s%s", ki_object_resource_version(object),
                       is_end ? "!" : "");
        add_word(text, type_text, " ", ki_object_key(object), version);
    }
    ki_buf_done(&json);
    ki_object_unref(object);
    ki_object_unref(frame);
}

const char *test_api_events(test_api *api, ki__api_exchange *x)
{
    char *text = room();
    ki_buf out;
    ki_buf_init(&out, NULL, SIZE_MAX);
    int r = x != NULL ? test_api_pull(api, x, 4096, &out) : -ENOMEM;
    const char *line = ki_buf_text(&out);
    const char *end;
    while ((end = strchr(line, '\n')) != NULL) {
        add_event(text, line, (size_t)(end - line));
        line = end + 1;
    }
    assert_true(r < 0 || *line == '\0');
    if (r == KI__API_END || r == KI__API_CUT || r == KI__API_REFUSED) {
        add_word(text, r == KI__API_END ? "end" : r == KI__API_CUT ? "cut" : "refused", "", "", "");
    }
    ki_buf_done(&out);
    return text;
}
