/* SPDX-License-Identifier: Apache-2.0 */
/* Writes to a cluster: creates a ConfigMap, changes it although another program is faster, labels
 * it, applies fields to it, and deletes it. */
#include <stdio.h>

#include <kinformer/buf.h>
#include <kinformer/kinformer.h>

/* ---- to be as it should ---- */

typedef struct painting {
    ki_client *client;
    const char *sky;
    bool disturb; /* another program writes between our reading and our writing */
    int attempts;
} painting;

/* Called with the object as it is, or with a new one that has no more than its name; and once more
 * for each time that another program was faster. */
static void paint(ki_edit *edit, void *user)
{
    painting *p = user;
    p->attempts++;
    if (p->disturb) {
        ki_str sea = ki_str_from("{\"data\":{\"sea\":\"green\"}}");
        int r = ki_client_patch(p->client, KI_CORE_V1_CONFIGMAPS, "shop", "colours", KI_PATCH_MERGE,
                                sea, NULL, NULL, NULL);
        p->disturb = r < 0;
    }
    ki_edit_set_string(edit, "data.sky", p->sky);
}

static int make_sky(ki_client *client, const char *sky, bool disturb, ki_error *error)
{
    static const char *const done[] = {"unchanged", "created", "patched"};
    painting p = {.client = client, .sky = sky, .disturb = disturb};
    int r = ki_client_create_or_patch(client, KI_CORE_V1_CONFIGMAPS, "shop", "colours", NULL, paint,
                                      &p, NULL, error);
    if (r >= 0) {
        printf("sky %s: %s, attempt %d\n", sky, done[r], p.attempts);
    }
    return r;
}

/* ---- one change ---- */

static int label(ki_client *client, ki_error *error)
{
    ki_object *object = NULL;
    ki_object *labelled = NULL;
    ki_edit *edit = NULL;
    int r = ki_client_get(client, KI_CORE_V1_CONFIGMAPS, "shop", "colours", &object, NULL, error);
    r = r < 0 ? r : ki_edit_new(object, NULL, &edit, error);
    ki_edit_set_label(edit, "season", "summer");
    r = r < 0 ? r : ki_client_patch_edit(client, KI_CORE_V1_CONFIGMAPS, edit, "", &labelled, error);
    if (r >= 0) {
        printf("labelled: %.*s\n", KI_STR_ARG(ki_object_label(labelled, "season")));
    }
    ki_edit_unref(edit);
    ki_object_unref(labelled);
    ki_object_unref(object);
    return r;
}

/* ---- fields of our own, whatever else the object has ---- */

static void print_data(const char *what, const ki_object *object)
{
    ki_value data = ki_object_at(object, "data");
    ki_buf text;
    ki_buf_init(&text, NULL, 4096);
    if (ki_value_write_json(&data, &text) == 0) {
        printf("%s: %s\n", what, ki_buf_text(&text));
    }
    ki_buf_done(&text);
}

static int apply_sun(ki_client *client, ki_error *error)
{
    ki_json *j = NULL;
    ki_object *object = NULL;
    int r = ki_json_new(NULL, &j, error);
    ki_json_format(j, NULL,
                   "{apiVersion: 'v1', kind: 'ConfigMap', metadata: {name: 'colours',"
                   " namespace: 'shop'}, data: {sun: %s}}",
                   "yellow");
    r = r < 0 ? r
              : ki_client_apply_json(client, KI_CORE_V1_CONFIGMAPS, j, "painter", false, &object,
                                     error);
    if (r >= 0) {
        print_data("applied", object);
    }
    ki_object_unref(object);
    ki_json_unref(j);
    return r;
}

/* ---- all of it ---- */

static int run(ki_client *client, ki_error *error)
{
    ki_object *object = NULL;
    int r = make_sky(client, "grey", false, error);
    r = r < 0 ? r : make_sky(client, "blue", true, error);
    r = r < 0 ? r : make_sky(client, "blue", false, error);
    r = r < 0 ? r : label(client, error);
    r = r < 0 ? r : apply_sun(client, error);
    r = r < 0 ? r : ki_client_delete(client, KI_CORE_V1_CONFIGMAPS, "shop", "colours", NULL, error);
    if (r >= 0) {
        r = ki_client_get(client, KI_CORE_V1_CONFIGMAPS, "shop", "colours", &object, NULL, error);
        ki_object_unref(object);
        if (r == KI_ERR_NOT_FOUND) {
            printf("deleted\n");
            r = 0;
        }
    }
    return r;
}

int main(void)
{
    ki_error error = KI_ERROR_INIT;
    ki_client *client = NULL;
    int r = ki_client_new(NULL, &client, &error);
    r = r < 0 ? r : run(client, &error);
    if (r < 0) {
        fprintf(stderr, "%s: %s\n", ki_error_name(r), error.message);
    }
    ki_client_close(client);
    return r < 0 ? 1 : 0;
}
