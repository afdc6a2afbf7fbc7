/* SPDX-License-Identifier: Apache-2.0 */
/* Writes to a cluster: creates a ConfigMap, reads it, updates it despite a conflict, patches it,
 * applies fields to it, and deletes it. */
#include <stdio.h>
#include <string.h>

#include <kinformer/kinformer.h>

#define CONFIG_MAP(version, data)                                                      \
    "{\"apiVersion\":\"v1\",\"kind\":\"ConfigMap\",\"metadata\":{\"name\":\"colours\"" \
    ",\"namespace\":\"shop\"" version "},\"data\":{" data "}}"

static void print_data(const char *what, const ki_object *object)
{
    ki_value root = ki_object_root(object);
    ki_value data;
    ki_buf text;
    ki_buf_init(&text, NULL, 4096);
    if (ki_value_member(&root, ki_str_from("data"), &data) == 0 &&
        ki_value_write_json(&data, &text) == 0) {
        printf("%s: %s\n", what, ki_buf_text(&text));
    }
    ki_buf_done(&text);
}

static int make_object(const char *json, ki_object **ret_object, ki_error *error)
{
    return ki_object_from_json(json, strlen(json), NULL, ret_object, error);
}

static int create(ki_client *client, ki_error *error)
{
    ki_object *wanted = NULL;
    int r = make_object(CONFIG_MAP("", "\"sky\":\"grey\""), &wanted, error);
    if (r == 0) {
        r = ki_client_create(client, KI_CORE_V1_CONFIGMAPS, wanted, NULL, NULL, error);
    }
    ki_object_unref(wanted);
    return r;
}

/* ---- reading, changing and writing, until nobody else was faster ---- */

typedef struct change {
    ki_client *client;
    bool disturb; /* another client writes between the read and the write */
    int attempts;
} change;

static int patch(ki_client *client, const char *text, ki_object **ret_object, ki_error *error)
{
    return ki_client_patch(client, KI_CORE_V1_CONFIGMAPS, "shop", "colours", KI_PATCH_MERGE,
                           ki_str_from(text), ret_object, NULL, error);
}

static int write_as_read(ki_client *client, const ki_object *read, ki_error *error)
{
    char json[512];
    ki_object *changed = NULL;
    snprintf(json, sizeof(json), CONFIG_MAP(",\"resourceVersion\":\"%s\"", "\"sky\":\"blue\""),
             ki_object_resource_version(read)); /* of digits */
    int r = make_object(json, &changed, error);
    if (r == 0) {
        r = ki_client_update(client, KI_CORE_V1_CONFIGMAPS, changed, NULL, NULL, error);
    }
    ki_object_unref(changed);
    return r;
}

static int change_once(void *user, ki_error *error)
{
    change *c = user;
    ki_object *read = NULL;
    c->attempts++;
    int r = ki_client_get(c->client, KI_CORE_V1_CONFIGMAPS, "shop", "colours", &read, NULL, error);
    if (r == 0 && c->disturb) {
        c->disturb = false;
        r = patch(c->client, "{\"data\":{\"sea\":\"green\"}}", NULL, error);
    }
    if (r == 0) {
        r = write_as_read(c->client, read, error);
    }
    ki_object_unref(read);
    return r;
}

/* ---- all of it ---- */

static int run(ki_client *client, ki_error *error)
{
    change c = {.client = client, .disturb = true};
    ki_object *object = NULL;
    ki_object *fields = NULL;
    int r = create(client, error);
    if (r == 0) {
        r = ki_client_retry_on_conflict(client, change_once, &c, error);
        printf("changed, attempt %d\n", c.attempts);
    }
    if (r == 0) {
        r = patch(client, "{\"data\":{\"sea\":\"deep\"}}", &object, error);
    }
    if (r == 0) {
        print_data("patched", object);
        object = ki_object_unref(object);
        r = make_object(CONFIG_MAP("", "\"sun\":\"yellow\""), &fields, error);
    }
    if (r == 0) {
        r = ki_client_apply(client, KI_CORE_V1_CONFIGMAPS, fields, "painter", false, &object, NULL,
                            error);
    }
    if (r == 0) {
        print_data("applied", object);
        r = ki_client_delete(client, KI_CORE_V1_CONFIGMAPS, "shop", "colours", NULL, error);
    }
    ki_object_unref(fields);
    ki_object_unref(object);
    return r;
}

int main(void)
{
    ki_error error = KI_ERROR_INIT;
    ki_client *client = NULL;
    ki_object *object = NULL;
    int r = ki_client_new(NULL, &client, &error);
    if (r == 0) {
        r = run(client, &error);
    }
    if (r < 0) {
        fprintf(stderr, "%s: %s\n", ki_error_name(r), error.message);
    } else if (ki_client_get(client, KI_CORE_V1_CONFIGMAPS, "shop", "colours", &object, NULL,
                             &error) < 0 &&
               ki_error_is_not_found(&error)) {
        printf("deleted\n");
    }
    ki_object_unref(object);
    ki_client_close(client);
    return r < 0 ? 1 : 0;
}
