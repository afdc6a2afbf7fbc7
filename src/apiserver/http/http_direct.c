/* SPDX-License-Identifier: Apache-2.0 */
/* The server from inside the program: requests to the model that bypass the socket and all faults,
 * and the kubeconfig. */
#include <errno.h>

#include <kinformer/resource_table.h>
#include <kinformer/status.h>

#include "apiserver/http/http_server.h"
#include "base/error.h"
#include "base/options.h"
#include "object/edit/json_edit.h"
#include "object/edit/json_out.h"
#include "wire/media_type.h"

#define TARGET_BYTES ((size_t)16 << 10)

/* ---- requests ---- */

int ki__http_read_response(ki__api_exchange *x, ki_buf *out, ki_error *error)
{
    ki_str bytes;
    int r;
    do {
        r = ki__api_exchange_next(x, 65536, &bytes);
        r = r == KI__API_DATA && ki_buf_add_str(out, bytes) < 0 ? -ENOMEM : r;
    } while (r == KI__API_DATA);
    if (r == KI__API_END) {
        return 0;
    }
    return r < 0 ? ki__error_code(error, r)
                 : ki__error_set(error, KI_ERR_STATUS, "failed with code %d",
                                 ki__api_exchange_status(x));
}

/* The failure in a response. */
static int failure_of(ki__api_exchange *x, const ki_alloc *alloc, ki_error *error)
{
    ki_buf text;
    ki_object *status;
    ki_buf_init(&text, alloc, 1 << 20);
    int r = ki__http_read_response(x, &text, error);
    if (r == 0) {
        r = ki_object_from_json(ki_buf_text(&text), text.len, NULL, &status, error);
    }
    if (r == 0) {
        r = ki_status_to_error(status, error);
        ki_object_unref(status);
    }
    ki_buf_done(&text);
    return r;
}

static int send_request(ki_apiserver *server, const ki__http_direct_request *request, ki_str target,
                        ki__api_exchange **ret_exchange, ki_error *error)
{
    const ki__api_header headers[] = {
        {ki_str_from("content-type"), ki_str_from(KI__MEDIA_TYPE_JSON)},
        {ki_str_from("user-agent"), ki_str_from("kinformer")},
    };
    const ki__api_request sent = {
        .method = ki_str_from(request->method),
        .target = target,
        .headers = headers,
        .header_count = 2,
        .body = request->body,
    };
    ki__api_exchange *x;
    int r = ki__api_exchange_new(server->direct, &sent, &x);
    if (r < 0) {
        return ki__error_code(error, r);
    }
    int status = ki__api_exchange_status(x);
    if ((status >= 200 && status < 300) || status == request->expected) {
        *ret_exchange = x;
        return status;
    }
    r = failure_of(x, server->alloc, error);
    ki__api_exchange_free(x);
    return r;
}

static void add_encoded(ki__out *out, const char *text)
{
    static const char hex[] = "0123456789ABCDEF";
    for (; *text != '\0'; text++) {
        unsigned char c = (unsigned char)*text;
        bool plain = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
                     c == '-' || c == '.' || c == '_' || c == '~' || c == ':';
        const char code[] = {plain ? (char)c : '%', hex[c >> 4], hex[c & 15]};
        ki__out_str(out, ki_str_make(code, plain ? 1 : sizeof(code)));
    }
}

/* The path of a resource, or of an object if the question has a name. */
static int write_target(const ki__http_direct_request *request, ki_buf *buf)
{
    const ki_resource *resource = request->resource;
    const char *group = ki_resource_group(resource);
    ki_str name_space = ki_str_from(request->name_space);
    ki_str name = ki_str_from(request->name);
    ki_str labels = ki_str_from(request->label_selector);
    ki__out out = ki__out_to(buf);
    ki__out_texts(&out, group[0] != '\0' ? "/apis/" : "/api", group, "/",
                  ki_resource_version(resource), "/", NULL);
    if (name_space.len != 0) {
        ki__out_text(&out, "namespaces/");
        add_encoded(&out, name_space.ptr);
        ki__out_char(&out, '/');
    }
    ki__out_text(&out, ki_resource_name(resource));
    if (name.len != 0) {
        ki__out_char(&out, '/');
        add_encoded(&out, name.ptr);
    }
    if (labels.len != 0) {
        ki__out_text(&out, "?labelSelector=");
        add_encoded(&out, labels.ptr);
    }
    return out.error;
}

int ki__http_request(ki_apiserver *server, const ki__http_direct_request *request,
                     ki__api_exchange **ret_exchange, ki_error *error)
{
    ki_buf target;
    ki_buf_init(&target, server->alloc, TARGET_BYTES);
    int r = write_target(request, &target);
    r = r < 0 ? ki__error_code(error, r)
              : send_request(server, request, ki_buf_str(&target), ret_exchange, error);
    ki_buf_done(&target);
    return r;
}

/* The same, ignoring the response body. */
static int request(ki_apiserver *server, const char *method, const ki_resource *resource,
                   const char *name_space, const char *name, ki_str body, int expected,
                   ki_error *error)
{
    const ki__http_direct_request request = {method, resource, name_space, name,
                                             NULL,   body,     expected};
    ki__api_exchange *x = NULL;
    int r = ki__http_request(server, &request, &x, error);
    ki__api_exchange_free(x);
    return r;
}

/* ---- writing ---- */

/* The resource for an object's kind: registered, or built in. */
static const ki_resource *resource_of(const ki_apiserver *server, const ki_object *object)
{
    const ki__api_model *model = server->model;
    for (size_t i = 0; i < model->type_count; i++) {
        const ki_resource *resource = model->types[i]->resource;
        if (strcmp(ki_resource_kind(resource), ki_object_kind(object)) == 0 &&
            strcmp(ki_resource_api_version(resource), ki_object_api_version(object)) == 0) {
            return resource;
        }
    }
    return ki_resource_builtin_of_kind(ki_object_api_version(object), ki_object_kind(object));
}

static int make_namespace(ki_apiserver *server, const char *name_space, ki_error *error)
{
    ki_buf json;
    ki_buf_init(&json, server->alloc, TARGET_BYTES);
    ki__out out = ki__out_to(&json);
    ki__out_text(&out, "{\"metadata\":{");
    ki__put_member(&out, "name", name_space);
    ki__out_text(&out, "}}");
    int r = out.error < 0 ? ki__error_code(error, out.error)
                          : request(server, "POST", KI_CORE_V1_NAMESPACES, "", "",
                                    ki_buf_str(&json), 409, error);
    ki_buf_done(&json);
    return r < 0 ? r : 0;
}

/* Removes the resourceVersion, which is not allowed on create and would be compared on update. */
static int without_version(const ki_object *object, ki_buf *out)
{
    static const char *const paths[][2] = {{"metadata", "resourceVersion"}, {"metadata", "uid"}};
    ki_buf step;
    ki_object_options options = {.size = sizeof(options), .alloc = out->alloc};
    ki_object *between = NULL;
    ki_buf_init(&step, out->alloc, out->max);
    int r = ki__json_remove(object, paths[0], 2, &step);
    r = r < 0 ? r : ki_object_from_json(step.data, step.len, &options, &between, NULL);
    r = r < 0 ? r : ki__json_remove(between, paths[1], 2, out);
    ki_object_unref(between);
    ki_buf_done(&step);
    return r;
}

static int apply_json(ki_apiserver *server, const ki_resource *resource, const ki_object *object,
                      ki_str json, ki_error *error)
{
    bool namespaced = ki_resource_is_namespaced(resource);
    const char *name_space = ki_object_namespace(object);
    name_space = !namespaced ? "" : name_space[0] != '\0' ? name_space : "default";
    int r = 0;
    if (name_space[0] != '\0' && server->model->options.namespaces) {
        r = make_namespace(server, name_space, error);
    }
    r = r < 0 ? r : request(server, "POST", resource, name_space, "", json, 409, error);
    if (r == 409) {
        r = request(server, "PUT", resource, name_space, ki_object_name(object), json, 0, error);
    }
    return r < 0 ? r : 0;
}

int ki__http_apply(ki_apiserver *server, const ki_object *object, ki_error *error)
{
    const ki_resource *resource = resource_of(server, object);
    if (resource == NULL) {
        return ki__error_set(error, KI_ERR_NOT_FOUND, "no resource for kind %.60s %.60s",
                             ki_object_api_version(object), ki_object_kind(object));
    }
    ki_buf raw;
    ki_buf json;
    ki_object_options options = {.size = sizeof(options), .alloc = server->alloc};
    size_t max = 4 * server->model->options.object_bytes_max;
    ki_object *plain = NULL;
    ki_buf_init(&raw, server->alloc, max);
    ki_buf_init(&json, server->alloc, max);
    int r = ki_object_write_json(object, &raw);
    r = r < 0 ? r : ki_object_from_json(raw.data, raw.len, &options, &plain, error);
    r = r < 0 ? r : without_version(plain, &json);
    r = r < 0 ? ki__error_code(error, r)
              : apply_json(server, resource, object, ki_buf_str(&json), error);
    ki_object_unref(plain);
    ki_buf_done(&raw);
    ki_buf_done(&json);
    return r;
}

int ki_apiserver_apply(ki_apiserver *server, const ki_object *object, ki_error *error)
{
    KI__REQUIRE(server, error);
    KI__REQUIRE(object, error);
    KI__REQUIRE_OWN_ENGINE(server->engine, error);
    ki__mutex_lock(&server->lock);
    int r = ki__http_apply(server, object, error);
    ki__mutex_unlock(&server->lock);
    return r;
}

int ki_apiserver_delete(ki_apiserver *server, const ki_resource *resource, const char *name_space,
                        const char *name, ki_error *error)
{
    KI__REQUIRE(server, error);
    KI__REQUIRE(resource, error);
    KI__REQUIRE(name, error);
    KI__REQUIRE_OWN_ENGINE(server->engine, error);
    ki__mutex_lock(&server->lock);
    int r = request(server, "DELETE", resource, name_space, name, ki_str_make(NULL, 0), 0, error);
    ki__mutex_unlock(&server->lock);
    return r < 0 ? r : 0;
}

/* ---- state ---- */

uint64_t ki_apiserver_version(ki_apiserver *server)
{
    ki__mutex_lock(&server->lock);
    uint64_t version = server->model->head;
    ki__mutex_unlock(&server->lock);
    return version;
}

int ki_apiserver_get_stats(ki_apiserver *server, ki_apiserver_stats *ret_stats)
{
    KI__REQUIRE(server, NULL);
    KI__REQUIRE_SIZED(ki_apiserver_stats, ret_stats, NULL);
    ki__mutex_lock(&server->lock);
    const ki_apiserver_stats stats = {
        .size = sizeof(stats),
        .connections = server->httpd.connections,
        .requests = server->httpd.requests,
        .open_connections = server->httpd.open_connections,
        .open_watches = server->server->watch_count,
        .objects = server->model->objects,
    };
    ki__mutex_unlock(&server->lock);
    return KI__GIVE(ki_apiserver_stats, ret_stats, &stats);
}

int ki_apiserver_write_kubeconfig(const ki_apiserver *server, ki_buf *buf)
{
    KI__REQUIRE(server, NULL);
    KI__REQUIRE(buf, NULL);
    ki__out out = ki__out_to(buf);
    ki__out_texts(&out,
                  "{\"apiVersion\":\"v1\",\"kind\":\"Config\",\n"
                  " \"clusters\":[{\"name\":\"kinformer\",\"cluster\":{\"server\":\"",
                  server->address.url, "\"", NULL);
    if (server->identity.ca.len != 0) {
        ki__out_text(&out, ",\n  \"certificate-authority-data\":\"");
        ki__out_base64(&out, ki_buf_str(&server->identity.ca));
        ki__out_char(&out, '"');
    }
    ki__out_text(&out, "}}],\n \"users\":[{\"name\":\"kinformer\",\"user\":{");
    if (server->token.len != 0) {
        ki__put_member_str(&out, "token", ki_buf_str(&server->token));
    }
    ki__out_text(&out, "}}],\n \"contexts\":[{\"name\":\"kinformer\",\"context\":"
                       "{\"cluster\":\"kinformer\",\"user\":\"kinformer\"}}],\n"
                       " \"current-context\":\"kinformer\"}\n");
    return ki__out_commit(&out);
}
