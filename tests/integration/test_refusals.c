/* SPDX-License-Identifier: Apache-2.0 */
/* What the embedded server has to say when it refuses, all of it: conflicts of server-side apply in
 * thirty fields. */
#include <stdio.h>
#include <string.h>

#include <kinformer/apiserver.h>
#include <kinformer/client.h>
#include <kinformer/config.h>
#include <kinformer/request.h>
#include <kinformer/status.h>

#include "support/test.h"

enum { FIELDS = 30 };

typedef struct world {
    ki_apiserver *server;
    ki_client *client;
} world;

static void must(int r, const ki_error *error)
{
    if (r < 0) {
        fail_msg("%s: %s", ki_error_name(r), error->message);
    }
}

static void begin(world *w)
{
    ki_error error = KI_ERROR_INIT;
    ki_config *config;
    ki_buf text;
    must(ki_apiserver_new(NULL, &w->server, &error), &error);
    ki_buf_init(&text, NULL, 65536);
    assert_int_equal(ki_apiserver_write_kubeconfig(w->server, &text), 0);
    ki_config_options from = KI_OPTIONS_INIT(ki_config_options);
    from.text = ki_buf_str(&text);
    must(ki_config_load(&from, &config, &error), &error);
    ki_buf_done(&text);
    must(ki_client_new(KI_OPTIONS(ki_client_options, .config = config, .qps = -1), &w->client,
                       &error),
         &error);
    ki_config_unref(config);
}

static void end(world *w)
{
    (void)ki_client_close(w->client);
    (void)ki_apiserver_unref(w->server);
}

/* A ConfigMap with a value under thirty long names. */
static ki_object *config_map(const char *value)
{
    char json[8192];
    int len = snprintf(json, sizeof(json),
                       "{\"apiVersion\":\"v1\",\"kind\":\"ConfigMap\",\"metadata\":{\"name\":"
                       "\"many\",\"namespace\":\"default\"},\"data\":{");
    for (int i = 0; i < FIELDS; i++) {
        len += snprintf(json + len, sizeof(json) - (size_t)len,
                        "%s\"a-rather-long-name-of-a-field-%02d\":\"%s\"", i != 0 ? "," : "", i,
                        value);
    }
    len += snprintf(json + len, sizeof(json) - (size_t)len, "}}");
    assert_true((size_t)len < sizeof(json));
    ki_object *object = NULL;
    assert_int_equal(ki_object_from_json(json, (size_t)len, NULL, &object, NULL), 0);
    return object;
}

/* Every field is named, by message and by cause. */
static void check_status(const ki_object *status)
{
    char message[8192];
    ki_value value = ki_status_message(status);
    assert_true(ki_value_get_string(&value, message, sizeof(message)) > 1024);
    for (int i = 0; i < FIELDS; i++) {
        char field[64];
        (void)snprintf(field, sizeof(field), ".data.a-rather-long-name-of-a-field-%02d", i);
        assert_non_null(strstr(message, field));
        ki_status_cause cause = {0};
        assert_int_equal(ki_status_cause_at(status, (size_t)i, &cause), 0);
        assert_true(ki_value_equals(&cause.field, ki_str_from(field)));
    }
}

static void a_conflict_in_thirty_fields_is_reported_in_full(void **state)
{
    (void)state;
    world w;
    begin(&w);
    ki_error error = KI_ERROR_INIT;
    ki_object *status = NULL;
    ki_object *made = NULL;
    ki_object *object = config_map("x");
    must(ki_client_apply(w.client, KI_CORE_V1_CONFIGMAPS, object, "one", false, &made, &status,
                         &error),
         &error);
    assert_null(status); /* untouched */
    made = ki_object_unref(made);
    (void)ki_object_unref(object);
    object = config_map("y");
    assert_int_equal(ki_client_apply(w.client, KI_CORE_V1_CONFIGMAPS, object, "two", false, &made,
                                     &status, &error),
                     KI_ERR_STATUS);
    assert_null(made);
    assert_true(ki_error_is_conflict(&error));
    size_t len = strlen(error.message);
    assert_true(len > 1000 && len < sizeof(error.message));
    assert_string_equal(error.message + len - 3, "..."); /* what does not fit is not hidden */
    check_status(status);
    (void)ki_object_unref(status);
    (void)ki_object_unref(object);
    end(&w);
}

static void every_short_form_gives_the_status(void **state)
{
    (void)state;
    world w;
    begin(&w);
    ki_client *c = w.client;
    const ki_resource *maps = KI_CORE_V1_CONFIGMAPS;
    ki_object *object = config_map("x");
    ki_object *made = NULL;
    ki_list *list = NULL;
    for (int form = 0; form < 7; form++) {
        ki_object *status = NULL;
        ki_error error = KI_ERROR_INIT;
        ki_list_options options = KI_OPTIONS_INIT(ki_list_options);
        options.continue_token = "nonsense";
        int r = 0;
        switch (form) {
        case 0:
            r = ki_client_get(c, maps, "default", "none", &made, &status, &error);
            break;
        case 1:
            r = ki_client_list(c, maps, "default", &options, &list, &status, &error);
            break;
        case 2:
            must(ki_client_create(c, maps, object, NULL, NULL, &error), &error);
            r = ki_client_create(c, maps, object, &made, &status, &error);
            must(ki_client_delete(c, maps, "default", "many", NULL, NULL), &error);
            break;
        case 3:
            r = ki_client_update(c, maps, object, &made, &status, &error);
            break;
        case 4:
            r = ki_client_update_status(c, maps, object, &made, &status, &error);
            break;
        case 5:
            r = ki_client_patch(c, maps, "default", "none", KI_PATCH_MERGE, ki_str_from("{}"),
                                &made, &status, &error);
            break;
        default:
            r = ki_client_delete(c, maps, "default", "none", &status, &error);
            break;
        }
        assert_int_equal(r, form == 1   ? KI_ERR_STATUS
                            : form == 2 ? KI_ERR_EXISTS
                                        : KI_ERR_NOT_FOUND);
        assert_null(made);
        ki_value message = ki_status_message(status);
        assert_true(ki_value_equals(&message, ki_str_from(error.message)));
        (void)ki_object_unref(status);
    }
    (void)ki_object_unref(object);
    end(&w);
}

static void other_failures_have_no_status(void **state)
{
    (void)state;
    world w;
    begin(&w);
    ki_object *made = NULL;
    ki_object *status = config_map("old");
    ki_object *before = status;
    assert_int_equal(
        ki_client_get(w.client, KI_CORE_V1_CONFIGMAPS, "default", "..", &made, &status, NULL),
        KI_ERR_INVALID);
    assert_null(status);
    (void)ki_object_unref(before);
    end(&w);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_conflict_in_thirty_fields_is_reported_in_full),
        cmocka_unit_test(every_short_form_gives_the_status),
        cmocka_unit_test(other_failures_have_no_status),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
