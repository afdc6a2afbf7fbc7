/* SPDX-License-Identifier: Apache-2.0 */
/* A C11 program against the installed embedded API server: objects, a loop and a client go between
 * both libraries. Prints the version of the library. */
#include <stdio.h>
#include <string.h>

#include <kinformer/apiserver.h>
#include <kinformer/kinformer.h>

/* An object of libkinformer goes to the server, and one of the server's is read by libkinformer. */
static int exchange_objects(ki_apiserver *server, ki_error *error)
{
    static const char json[] =
        "{\"apiVersion\":\"v1\",\"kind\":\"ConfigMap\",\"metadata\":"
        "{\"namespace\":\"shop\",\"name\":\"sizes\"},\"data\":{\"a\":\"1\"}}";
    ki_object *made = NULL;
    ki_object *given = NULL;
    int r = ki_object_from_json(json, sizeof(json) - 1, NULL, &made, error);
    r = r < 0 ? r : ki_apiserver_apply(server, made, error);
    r = r < 0 ? r : ki_apiserver_get(server, KI_CORE_V1_CONFIGMAPS, "shop", "sizes", &given, error);
    if (r >= 0 && strcmp(ki_object_key(given), ki_object_key(made)) != 0) {
        r = -1;
    }
    ki_object_unref(made);
    ki_object_unref(given);
    return r;
}

/* A client of libkinformer, made by the server. */
static int make_requests(ki_apiserver *server, ki_error *error)
{
    ki_client *client = NULL;
    ki_list *list = NULL;
    int r = ki_apiserver_client(server, NULL, &client, error);
    r = r < 0 ? r : ki_client_list(client, KI_CORE_V1_CONFIGMAPS, "shop", NULL, &list, NULL, error);
    if (r >= 0 && ki_list_count(list) != 1) {
        r = -1;
    }
    ki_list_unref(list);
    (void)ki_client_close(client);
    return r;
}

int main(void)
{
    ki_apiserver *server = NULL;
    ki_loop *loop = NULL;
    ki_error error = KI_ERROR_INIT;
    ki_apiserver_options options = KI_OPTIONS_INIT(ki_apiserver_options);
    options.any_namespace = true;
    int r = ki_loop_new(NULL, &loop, &error);
    options.loop = loop;
    r = r < 0 ? r : ki_apiserver_new(&options, &server, &error);
    r = r < 0 ? r : ki_loop_start(loop, &error);
    r = r < 0 ? r : exchange_objects(server, &error);
    r = r < 0 ? r : make_requests(server, &error);
    if (r < 0) {
        fprintf(stderr, "%s\n", error.message);
        return 1;
    }
    ki_loop_stop(loop);
    r = ki_loop_join(loop);
    ki_apiserver_unref(server);
    ki_loop_unref(loop);
    puts(ki_version());
    return r < 0;
}
