/* SPDX-License-Identifier: Apache-2.0 */
#include "apiserver/discovery/api_discovery.h"

#include <errno.h>

#include <kinformer/resource_table.h>

#include "apiserver/negotiate.h"
#include "base/alloc.h"
#include "base/sort.h"
#include "object/edit/json_out.h"
#include "wire/media_type.h"

#define OUT_MAX ((size_t)64 << 20)

/* ---- the catalog ---- */

static bool read_digits(const char **p, uint64_t *ret_number)
{
    uint64_t number = 0;
    const char *from = *p;
    while (**p >= '0' && **p <= '9' && number < UINT32_MAX) {
        number = number * 10 + (uint64_t)(**p - '0');
        (*p)++;
    }
    *ret_number = number;
    return *p != from;
}

/* v<major>[alpha|beta<minor>] as one number; a greater one is preferred. 0: not of this form. */
static uint64_t rank_of(const char *version)
{
    uint64_t major;
    uint64_t minor = 0;
    uint64_t stage = 3;
    const char *p = version + 1;
    if (version[0] != 'v' || !read_digits(&p, &major)) {
        return 0;
    }
    if (strncmp(p, "alpha", 5) == 0 || strncmp(p, "beta", 4) == 0) {
        stage = *p == 'a' ? 1 : 2;
        p += *p == 'a' ? 5 : 4;
        if (!read_digits(&p, &minor)) {
            return 0;
        }
    }
    return *p == '\0' ? stage << 62 | (major & 0x3fffffff) << 32 | (minor & 0xffffffff) : 0;
}

bool ki__api_version_before(const char *a, const char *b)
{
    uint64_t left = rank_of(a);
    uint64_t right = rank_of(b);
    return left != right ? left > right : strcmp(a, b) < 0;
}

static int add_offer(ki__api_catalog *catalog, const ki__api_offer *offer)
{
    void *offers = catalog->offers;
    int r = ki__array_reserve(catalog->alloc, &offers, &catalog->cap, catalog->count + 1,
                              sizeof(*catalog->offers));
    catalog->offers = offers;
    if (r == 0) {
        catalog->offers[catalog->count++] = *offer;
    }
    return r;
}

/* Groups are ordered by their first resource; that of built-in groups is its index in the table. */
static size_t first_of_group(const ki__api_catalog *catalog, const char *group)
{
    size_t i = 0;
    while (i < catalog->count &&
           strcmp(ki_resource_group(catalog->offers[i].resource), group) != 0) {
        i++;
    }
    return i;
}

/* Moves the last offer to its sorted position. Linear: catalogs are small. */
static void settle(ki__api_catalog *catalog)
{
    size_t i = catalog->count - 1;
    ki__api_offer offer = catalog->offers[i];
    size_t first = first_of_group(catalog, ki_resource_group(offer.resource));
    for (; i > first; i--) {
        const ki__api_offer *before = &catalog->offers[i - 1];
        bool same_group =
            strcmp(ki_resource_group(before->resource), ki_resource_group(offer.resource)) == 0;
        const char *left = ki_resource_version(before->resource);
        const char *right = ki_resource_version(offer.resource);
        bool in_order = ki__api_version_before(left, right) ||
                        (strcmp(left, right) == 0 && strcmp(ki_resource_name(before->resource),
                                                            ki_resource_name(offer.resource)) < 0);
        if (same_group && in_order) {
            break;
        }
        catalog->offers[i] = *before;
    }
    catalog->offers[i] = offer;
}

static bool is_listed(const ki_resource *resource)
{
    const char *group = ki_resource_group(resource);
    const char *version = ki_resource_version(resource);
    const char *name = ki_resource_name(resource);
    return strstr(version, "alpha") == NULL && strstr(version, "beta") == NULL &&
           (group[0] != '\0' ||
            (strcmp(name, "bindings") != 0 && strcmp(name, "componentstatuses") != 0));
}

static void catalog_done(ki__api_catalog *catalog)
{
    ki__free(catalog->alloc, catalog->offers);
    *catalog = (ki__api_catalog){.alloc = catalog->alloc};
}

static int catalog_init(ki__api_catalog *catalog, const ki__api_model *model)
{
    *catalog = (ki__api_catalog){.alloc = model->alloc};
    int r = 0;
    const ki_resource *resource;
    for (size_t i = 0; r == 0 && (resource = ki_resource_builtin_at(i)) != NULL; i++) {
        if (is_listed(resource)) {
            const ki__api_offer offer = {.resource = resource,
                                         .options = ki__api_builtin_options(resource)};
            r = add_offer(catalog, &offer);
        }
    }
    for (size_t i = 0; i < model->type_count && r == 0; i++) {
        const ki__api_type *type = model->types[i];
        if (!type->builtin && !type->removed && !type->unserved) {
            const ki__api_offer offer = {
                .resource = type->resource, .type = type, .options = type->options};
            r = add_offer(catalog, &offer);
            if (r == 0) {
                settle(catalog);
            }
        }
    }
    if (r < 0) {
        catalog_done(catalog);
    }
    return r;
}

/* ---- helpers ---- */

static bool same_group(const ki__api_offer *a, const ki__api_offer *b)
{
    return strcmp(ki_resource_group(a->resource), ki_resource_group(b->resource)) == 0;
}

static bool same_version(const ki__api_offer *a, const ki__api_offer *b)
{
    return strcmp(ki_resource_api_version(a->resource), ki_resource_api_version(b->resource)) == 0;
}

/* Index of the first offer of the next group or version. */
static size_t after(const ki__api_catalog *catalog, size_t i,
                    bool (*same)(const ki__api_offer *a, const ki__api_offer *b))
{
    size_t from = i;
    while (i < catalog->count && same(&catalog->offers[from], &catalog->offers[i])) {
        i++;
    }
    return i;
}

static const char *verbs_of(const ki_resource *resource)
{
    const char *group = ki_resource_group(resource);
    if (strcmp(group, "authorization.k8s.io") == 0 || strcmp(group, "authentication.k8s.io") == 0) {
        return "[\"create\"]";
    }
    return "[\"create\",\"delete\",\"deletecollection\",\"get\",\"list\",\"patch\",\"update\","
           "\"watch\"]";
}

#define SUBRESOURCE_VERBS "[\"get\",\"patch\",\"update\"]"

/* Resources of the category "all", which `kubectl get all` lists. */
static bool is_in_all(const ki_resource *resource)
{
    static const char *const names[][2] = {
        {"", "pods"},
        {"", "replicationcontrollers"},
        {"", "services"},
        {"apps", "daemonsets"},
        {"apps", "deployments"},
        {"apps", "replicasets"},
        {"apps", "statefulsets"},
        {"autoscaling", "horizontalpodautoscalers"},
        {"batch", "cronjobs"},
        {"batch", "jobs"},
    };
    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
        if (strcmp(ki_resource_group(resource), names[i][0]) == 0 &&
            strcmp(ki_resource_name(resource), names[i][1]) == 0) {
            return true;
        }
    }
    return false;
}

/* Short names and categories; the same in both formats. */
static void write_names(const ki__api_offer *offer, ki__out *out)
{
    const char *name;
    if (ki_resource_short_name_at(offer->resource, 0) != NULL) {
        ki__put_name(out, "shortNames");
        ki__put_list(out);
        for (size_t i = 0; (name = ki_resource_short_name_at(offer->resource, i)) != NULL; i++) {
            ki__put_string(out, ki_str_from(name));
        }
        ki__put_end(out);
    }
    ki_value categories;
    if (offer->type == NULL && is_in_all(offer->resource)) {
        ki__out_text(out, ",\"categories\":[\"all\"]");
    } else if (offer->type != NULL && ki__api_type_categories(offer->type, &categories)) {
        ki__out_text(out, ",\"categories\":");
        ki__put_value(out, &categories);
    }
}

/* ---- aggregated discovery ---- */

static void write_kind(const char *name, const char *group, const char *version, const char *kind,
                       ki__out *out)
{
    ki__out_texts(out, ",\"", name, "\":{\"group\":\"", group, "\",\"version\":\"", version,
                  "\",\"kind\":\"", kind, "\"}", NULL);
}

static void write_subresource(const char *name, const char *group, const char *version,
                              const char *kind, ki__out *out)
{
    ki__put_map(out);
    ki__put_member(out, "subresource", name);
    write_kind("responseKind", group, version, kind, out);
    ki__out_text(out, ",\"verbs\":" SUBRESOURCE_VERBS);
    ki__put_end(out);
}

static void write_subresources(const ki__api_offer *offer, ki__out *out)
{
    if (!offer->options.has_scale && !offer->options.has_status) {
        return;
    }
    ki__put_name(out, "subresources");
    ki__put_list(out);
    if (offer->options.has_scale) {
        write_subresource("scale", "autoscaling", "v1", "Scale", out);
    }
    if (offer->options.has_status) {
        write_subresource("status", "", "", ki_resource_kind(offer->resource), out);
    }
    ki__put_end(out);
}

static void write_offer(const ki__api_offer *offer, ki__out *out)
{
    const ki_resource *resource = offer->resource;
    ki__out_texts(out, "{\"resource\":\"", ki_resource_name(resource), "\"", NULL);
    write_kind("responseKind", "", "", ki_resource_kind(resource), out);
    ki__out_texts(out, ",\"scope\":\"",
                  ki_resource_is_namespaced(resource) ? "Namespaced" : "Cluster",
                  "\",\"singularResource\":\"", ki_resource_singular(resource),
                  "\",\"verbs\":", verbs_of(resource), NULL);
    write_names(offer, out);
    write_subresources(offer, out);
    ki__out_char(out, '}');
}

static void write_aggregated_group(const ki__api_catalog *catalog, size_t i, ki__out *out)
{
    const char *group = ki_resource_group(catalog->offers[i].resource);
    size_t end = after(catalog, i, same_group);
    ki__out_texts(out, "{\"metadata\":{", group[0] != '\0' ? "\"name\":\"" : "", group,
                  group[0] != '\0' ? "\"" : "", "},\"versions\":[", NULL);
    for (size_t v = i; v < end && out->error == 0; v = after(catalog, v, same_version)) {
        ki__put_comma(out);
        ki__out_texts(out, "{\"version\":\"", ki_resource_version(catalog->offers[v].resource),
                      "\",\"resources\":[", NULL);
        size_t last = after(catalog, v, same_version);
        for (size_t j = v; j < last && out->error == 0; j++) {
            ki__put_comma(out);
            write_offer(&catalog->offers[j], out);
        }
        ki__out_text(out, "],\"freshness\":\"Current\"}");
    }
    ki__out_text(out, "]}");
}

static int write_aggregated(const ki__api_catalog *catalog, bool core, ki_buf *buf)
{
    ki__out out = ki__out_to(buf);
    ki__out_text(&out, "{\"kind\":\"APIGroupDiscoveryList\",\"apiVersion\":"
                       "\"apidiscovery.k8s.io/v2\",\"metadata\":{},\"items\":[");
    for (size_t i = 0; i < catalog->count && out.error == 0; i = after(catalog, i, same_group)) {
        bool is_core = ki_resource_group(catalog->offers[i].resource)[0] == '\0';
        if (is_core == core) {
            ki__put_comma(&out);
            write_aggregated_group(catalog, i, &out);
        }
    }
    ki__out_text(&out, "]}\n");
    return out.error;
}

/* ---- legacy discovery ---- */

static void write_group(const ki__api_catalog *catalog, size_t i, bool alone, ki__out *out)
{
    const ki_resource *resource = catalog->offers[i].resource;
    size_t end = after(catalog, i, same_group);
    ki__out_texts(out, "{", alone ? "\"kind\":\"APIGroup\",\"apiVersion\":\"v1\"," : "",
                  "\"name\":\"", ki_resource_group(resource), "\",\"versions\":[", NULL);
    for (size_t v = i; v < end && out->error == 0; v = after(catalog, v, same_version)) {
        const ki_resource *of = catalog->offers[v].resource;
        ki__put_comma(out);
        ki__out_texts(out, "{\"groupVersion\":\"", ki_resource_api_version(of), "\",\"version\":\"",
                      ki_resource_version(of), "\"}", NULL);
    }
    ki__out_texts(out, "],\"preferredVersion\":{\"groupVersion\":\"",
                  ki_resource_api_version(resource), "\",\"version\":\"",
                  ki_resource_version(resource), "\"}}", NULL);
}

static int write_groups(const ki__api_catalog *catalog, ki_buf *buf)
{
    ki__out out = ki__out_to(buf);
    ki__out_text(&out, "{\"kind\":\"APIGroupList\",\"apiVersion\":\"v1\",\"groups\":[");
    for (size_t i = 0; i < catalog->count && out.error == 0; i = after(catalog, i, same_group)) {
        if (ki_resource_group(catalog->offers[i].resource)[0] != '\0') {
            ki__put_comma(&out);
            write_group(catalog, i, false, &out);
        }
    }
    ki__out_text(&out, "]}\n");
    return out.error;
}

static void write_resource(const ki__api_offer *offer, ki__out *out)
{
    const ki_resource *resource = offer->resource;
    const char *namespaced = ki_resource_is_namespaced(resource) ? "true" : "false";
    ki__out_texts(out, "{\"name\":\"", ki_resource_name(resource), "\",\"singularName\":\"",
                  ki_resource_singular(resource), "\",\"namespaced\":", namespaced, ",\"kind\":\"",
                  ki_resource_kind(resource), "\",\"verbs\":", verbs_of(resource), NULL);
    write_names(offer, out);
    ki__out_char(out, '}');
    if (offer->options.has_scale) {
        ki__out_texts(out, ",{\"name\":\"", ki_resource_name(resource),
                      "/scale\",\"singularName\":\"\",\"namespaced\":", namespaced,
                      ",\"group\":\"autoscaling\",\"version\":\"v1\",\"kind\":\"Scale\","
                      "\"verbs\":" SUBRESOURCE_VERBS "}",
                      NULL);
    }
    if (offer->options.has_status) {
        ki__out_texts(out, ",{\"name\":\"", ki_resource_name(resource),
                      "/status\",\"singularName\":\"\",\"namespaced\":", namespaced, ",\"kind\":\"",
                      ki_resource_kind(resource), "\",\"verbs\":" SUBRESOURCE_VERBS "}", NULL);
    }
}

static int write_resources(const ki__api_catalog *catalog, size_t i, ki_buf *buf)
{
    ki__out out = ki__out_to(buf);
    size_t end = after(catalog, i, same_version);
    const ki_resource *first = catalog->offers[i].resource;
    /* For the core group, servers omit apiVersion for the sake of very old clients. */
    const char *own = ki_resource_group(first)[0] != '\0' ? "\"apiVersion\":\"v1\"," : "";
    ki__out_texts(&out, "{\"kind\":\"APIResourceList\",", own, "\"groupVersion\":\"",
                  ki_resource_api_version(first), "\",\"resources\":[", NULL);
    for (size_t j = i; j < end && out.error == 0; j++) {
        ki__put_comma(&out);
        write_resource(&catalog->offers[j], &out);
    }
    ki__out_text(&out, "]}\n");
    return out.error;
}

/* ---- paths ---- */

/* Index of the first offer of a group or an apiVersion; the count if there is none. */
static size_t find(const ki__api_catalog *catalog, const char *text,
                   const char *(*of)(const ki_resource *resource))
{
    size_t i = 0;
    while (i < catalog->count && strcmp(of(catalog->offers[i].resource), text) != 0) {
        i++;
    }
    return i;
}

/* Whether the client accepts aggregated discovery. */
static bool accepts_aggregated(const ki__api_exchange *x)
{
    ki_str accept = ki__api_request_header(x->request, "accept");
    return ki__api_accepts_form(accept, "apigroupdiscoverylist", "v2");
}

static int write_api(ki__api_exchange *x, const ki__api_catalog *catalog, bool core)
{
    if (accepts_aggregated(x)) {
        x->content_type = "application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList";
        return write_aggregated(catalog, core, &x->out);
    }
    return core ? ki_buf_add_text(&x->out, "{\"kind\":\"APIVersions\",\"versions\":[\"v1\"],"
                                           "\"serverAddressByClientCIDRs\":[]}\n")
                : write_groups(catalog, &x->out);
}

static bool begins(const char *text, const char *with, const char **ret_rest)
{
    size_t len = strlen(with);
    *ret_rest = text + len;
    return strncmp(text, with, len) == 0;
}

static int write_version(ki_buf *buf)
{
    return ki_buf_add_text(buf, "{\"major\":\"1\",\"minor\":\"36\",\"gitVersion\":"
                                "\"v1.36.0+kinformer\",\"gitCommit\":\"\",\"gitTreeState\":\"\","
                                "\"buildDate\":\"\",\"goVersion\":\"\",\"compiler\":\"\","
                                "\"platform\":\"\"}\n");
}

static int write_paths(const ki__api_catalog *catalog, ki_buf *buf)
{
    ki__out out = ki__out_to(buf);
    ki__out_text(&out, "{\"paths\":[\"/api\",\"/api/v1\",\"/apis\"");
    for (size_t i = 0; i < catalog->count && out.error == 0; i = after(catalog, i, same_version)) {
        const ki_resource *resource = catalog->offers[i].resource;
        if (ki_resource_group(resource)[0] != '\0') {
            ki__out_texts(&out, ",\"/apis/", ki_resource_api_version(resource), "\"", NULL);
        }
    }
    ki__out_text(&out, ",\"/healthz\",\"/livez\",\"/openapi/v2\",\"/openapi/v3\","
                       "\"/readyz\",\"/version\"]}\n");
    return out.error;
}

static int fail_path(ki__api_exchange *x)
{
    return ki__api_fail(&x->failure, 404, KI_REASON_NOT_FOUND,
                        "the server could not find the requested resource", NULL);
}

/* Writes one group, or one version of it. */
static int write_part(ki__api_exchange *x, const ki__api_catalog *catalog, const char *rest,
                      bool core)
{
    size_t i = find(catalog, rest, ki_resource_api_version);
    if (i < catalog->count && (ki_resource_group(catalog->offers[i].resource)[0] == '\0') == core) {
        return write_resources(catalog, i, &x->out);
    }
    i = find(catalog, rest, ki_resource_group);
    if (core || i == catalog->count || rest[0] == '\0') {
        return fail_path(x);
    }
    ki__out out = ki__out_to(&x->out);
    write_group(catalog, i, true, &out);
    ki__out_char(&out, '\n');
    return out.error;
}

static int respond(ki__api_exchange *x, const ki__api_catalog *catalog)
{
    const char *path = x->route.path;
    const char *rest;
    static const char *const health[] = {"/healthz", "/livez", "/readyz"};
    for (size_t i = 0; i < 3; i++) {
        if (begins(path, health[i], &rest) && (*rest == '\0' || *rest == '/')) {
            x->content_type = "text/plain; charset=utf-8";
            return ki_buf_add_text(&x->out, "ok");
        }
    }
    if (strcmp(path, "/") == 0) {
        return write_paths(catalog, &x->out);
    }
    if (strcmp(path, "/version") == 0 || strcmp(path, "/version/") == 0) {
        return write_version(&x->out);
    }
    if (strcmp(path, "/api") == 0 || strcmp(path, "/api/") == 0) {
        return write_api(x, catalog, true);
    }
    if (strcmp(path, "/apis") == 0 || strcmp(path, "/apis/") == 0) {
        return write_api(x, catalog, false);
    }
    if (begins(path, "/api/", &rest)) {
        return write_part(x, catalog, rest, true);
    }
    if (begins(path, "/apis/", &rest)) {
        return write_part(x, catalog, rest, false);
    }
    if (begins(path, "/openapi/", &rest)) {
        return ki__api_do_openapi(x, catalog, rest);
    }
    return fail_path(x);
}

int ki__api_do_path(ki__api_exchange *x)
{
    if (!ki_str_eq_text(x->request->method, "GET") && !ki_str_eq_text(x->request->method, "HEAD")) {
        return ki__api_fail(&x->failure, 405, KI_REASON_METHOD_NOT_ALLOWED,
                            "this method is not allowed here", NULL);
    }
    ki__api_catalog catalog;
    int r = catalog_init(&catalog, x->model);
    if (r < 0) {
        return r;
    }
    x->out.max = OUT_MAX;
    x->status = 200;
    r = respond(x, &catalog);
    catalog_done(&catalog);
    return r;
}
