/* SPDX-License-Identifier: Apache-2.0 */
/* Helpers for tests: a client of the server, and direct reads of the model that bypass the socket,
 * faults and lag. */
#include <errno.h>

#include <kinformer/client.h>
#include <kinformer/config.h>

#include "apiserver/http/http_server.h"
#include "apiserver/verbs/compose.h"
#include "base/alloc.h"
#include "base/error.h"
#include "base/options.h"
#include "base/secret.h"
#include "object/object_list.h"

enum { KUBECONFIG_MAX = 128 * 1024 };

/* ---- the client ---- */

int ki_apiserver_client(const ki_apiserver *server, const ki_client_options *options,
                        ki_client **ret_client, ki_error *error)
{
    KI__REQUIRE(server, error);
    KI__REQUIRE(ret_client, error);
    ki_client_options o = {0};
    int r = KI__TAKE(ki_client_options, &o, options, error);
    if (r < 0) {
        return r;
    }
    if (o.config != NULL) {
        return ki__error_set(error, -EINVAL, "config: must be NULL; the server has its own");
    }
    ki_buf text;
    ki_config *config = NULL;
    ki_config_options from = KI_OPTIONS_INIT(ki_config_options);
    ki_buf_init(&text, server->alloc, KUBECONFIG_MAX);
    r = ki_apiserver_write_kubeconfig(server, &text);
    from.text = ki_buf_str(&text);
    r = r < 0 ? ki__error_code(error, r) : ki_config_load(&from, &config, error);
    o.size = sizeof(o);
    o.config = config;
    o.qps = o.qps != 0 ? o.qps : -1;
    r = r < 0 ? r : ki_client_new(&o, ret_client, error);
    (void)ki_config_unref(config);
    ki__wipe(text.data, text.len);
    ki_buf_done(&text);
    return r;
}

/* ---- reads ---- */

int ki_apiserver_get(ki_apiserver *server, const ki_resource *resource, const char *name_space,
                     const char *name, ki_object **ret_object, ki_error *error)
{
    KI__REQUIRE(server, error);
    KI__REQUIRE(resource, error);
    KI__REQUIRE(name, error);
    KI__REQUIRE(ret_object, error);
    KI__REQUIRE_OWN_ENGINE(server->engine, error);
    ki__api_exchange *x = NULL;
    ki_buf text;
    if (name[0] == '\0') {
        return ki__error_set(error, -EINVAL, "name: must not be empty");
    }
    ki_object_options options = {.size = sizeof(options), .alloc = server->alloc};
    ki_buf_init(&text, server->alloc, SIZE_MAX);
    ki__mutex_lock(&server->lock);
    int r = ki__http_request(
        server,
        &(ki__http_direct_request){
            .method = "GET", .resource = resource, .name_space = name_space, .name = name},
        &x, error);
    r = r < 0 ? r : ki__http_read_response(x, &text, error);
    ki__api_exchange_free(x);
    ki__mutex_unlock(&server->lock);
    r = r < 0 ? r : ki_object_from_json(text.data, text.len, &options, ret_object, error);
    ki_buf_done(&text);
    return r;
}

/* Converts a stored object to the requested version. */
static int show(const ki__api_exchange *x, ki_object *stored, ki_object **ret_object)
{
    if (x->shown == x->type) {
        *ret_object = ki_object_ref(stored);
        return 0;
    }
    ki_buf json;
    ki_str bytes = ki_object_bytes(stored);
    size_t prefix = ki__api_compose_prefix(x->type);
    ki_object_options options = {.size = sizeof(options), .alloc = x->alloc};
    ki_buf_init(&json, x->alloc, SIZE_MAX);
    ki__out out = ki__out_to(&json);
    ki__api_compose_begin(x->shown, &out);
    ki__out_str(&out, ki_str_make(bytes.ptr + prefix, bytes.len - prefix));
    int r = out.error;
    r = r < 0 ? r : ki_object_from_json(json.data, json.len, &options, ret_object, NULL);
    ki_buf_done(&json);
    return r;
}

/* Builds the whole list before any of it is written to the output. */
static int take_items(const ki__api_exchange *x, ki_list **ret_list)
{
    size_t count = 0;
    int r = 0;
    const ki_object **objects = ki__alloc_array(x->alloc, x->item_count + 1, sizeof(*objects));
    if (objects == NULL) {
        return -ENOMEM;
    }
    while (r == 0 && count != x->item_count) {
        ki_object *object;
        r = show(x, x->items[count], &object);
        if (r == 0) {
            objects[count++] = object;
        }
    }
    r = r < 0 ? r : ki__list_of(x->alloc, objects, count, ret_list);
    for (size_t i = 0; i < count; i++) {
        ki_object_unref(objects[i]);
    }
    ki__free(x->alloc, objects);
    return r;
}

int ki_apiserver_list(ki_apiserver *server, const ki_resource *resource, const char *name_space,
                      const char *label_selector, ki_list **ret_list, ki_error *error)
{
    KI__REQUIRE(server, error);
    KI__REQUIRE(resource, error);
    KI__REQUIRE(ret_list, error);
    KI__REQUIRE_OWN_ENGINE(server->engine, error);
    ki__api_exchange *x = NULL;
    ki__mutex_lock(&server->lock);
    int r = ki__http_request(server,
                             &(ki__http_direct_request){.method = "GET",
                                                        .resource = resource,
                                                        .name_space = name_space,
                                                        .label_selector = label_selector},
                             &x, error);
    if (r >= 0) {
        r = take_items(x, ret_list);
        r = r < 0 ? ki__error_code(error, r) : 0;
    }
    ki__api_exchange_free(x);
    ki__mutex_unlock(&server->lock);
    return r;
}
