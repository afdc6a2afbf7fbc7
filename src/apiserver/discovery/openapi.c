/* SPDX-License-Identifier: Apache-2.0 */
/* OpenAPI v3, as far as clients need it: which kinds there are, that patches may ask for field
 * validation, and the fields and types of the built-in kinds, out of the same tables that protobuf
 * is read with. There are no descriptions in it. Custom resources show the schema that their
 * definition has. */
#include <errno.h>

#include <kinformer/error.h>

#include "apiserver/discovery/api_discovery.h"
#include "base/alloc.h"
#include "object/edit/json_edit.h"
#include "object/edit/json_emit.h"
#include "object/proto/schema.h"

typedef struct writer {
    ki__api_exchange *x;
    ki_buf *out;
    uint8_t *state; /* of each message: 0, WANTED or WRITTEN */
    bool any;       /* a schema was written */
} writer;

enum { WANTED = 1, WRITTEN = 2 };

/* ---- paths ---- */

static int write_gvk(const ki_resource *resource, ki_buf *out)
{
    return ki__emit_text(out, "{\"group\":\"", ki_resource_group(resource), "\",\"kind\":\"",
                         ki_resource_kind(resource), "\",\"version\":\"",
                         ki_resource_version(resource), "\"}", NULL);
}

static int write_operation(const char *method, const char *action, const ki_resource *resource,
                           const char *more, ki_buf *out)
{
    int r = ki__emit_text(out, "\"", method, "\":{\"x-kubernetes-action\":\"", action,
                          "\",\"x-kubernetes-group-version-kind\":", NULL);
    r = r < 0 ? r : write_gvk(resource, out);
    return r < 0 ? r
                 : ki__emit_text(out, more, ",\"responses\":{\"200\":{\"description\":\"OK\"}}}",
                                 NULL);
}

#define QUERY(name) "{\"name\":\"" name "\",\"in\":\"query\",\"schema\":{\"type\":\"string\"}}"

static int write_paths_of(const ki_resource *resource, bool first, ki_buf *out)
{
    static const char checked[] = ",\"parameters\":[" QUERY("dryRun") "," QUERY(
        "fieldManager") "," QUERY("fieldValidation") "]";
    const char *group = ki_resource_group(resource);
    const char *root = group[0] != '\0' ? "/apis/" : "/api/";
    const char *scope = ki_resource_is_namespaced(resource) ? "/namespaces/{namespace}/" : "/";
    int r = ki__emit_text(out, first ? "\"" : ",\"", root, ki_resource_api_version(resource), scope,
                          ki_resource_name(resource), "\":{", NULL);
    r = r < 0 ? r : write_operation("get", "list", resource, "", out);
    r = r < 0 ? r : ki_buf_add_char(out, ',');
    r = r < 0 ? r : write_operation("post", "post", resource, checked, out);
    r = r < 0 ? r
              : ki__emit_text(out, "},\"", root, ki_resource_api_version(resource), scope,
                              ki_resource_name(resource), "/{name}\":{", NULL);
    r = r < 0 ? r : write_operation("get", "get", resource, "", out);
    r = r < 0 ? r : ki_buf_add_char(out, ',');
    r = r < 0 ? r : write_operation("put", "put", resource, checked, out);
    r = r < 0 ? r : ki_buf_add_char(out, ',');
    r = r < 0 ? r : write_operation("patch", "patch", resource, checked, out);
    return r < 0 ? r : ki_buf_add_char(out, '}');
}

/* ---- schemas of built-in kinds ---- */

/* The name of the schema of a message. Clients show what stands after the last dot. */
static int write_ref(writer *w, uint16_t message)
{
    if (w->state[message] == 0) {
        w->state[message] = WANTED;
    }
    int r = ki_buf_add_text(w->out, "{\"$ref\":\"#/components/schemas/m");
    r = r < 0 ? r : ki__emit_u64(w->out, message);
    return r < 0 ? r : ki_buf_add_text(w->out, ".Object\"}");
}

static int write_type(writer *w, const ki__schema_field *field)
{
    static const char *const types[KI__SCHEMA_TYPE_MAX] = {
        [KI__SCHEMA_STRING] = "{\"type\":\"string\"}",
        [KI__SCHEMA_BYTES] = "{\"type\":\"string\",\"format\":\"byte\"}",
        [KI__SCHEMA_BOOL] = "{\"type\":\"boolean\"}",
        [KI__SCHEMA_INT32] = "{\"type\":\"integer\",\"format\":\"int32\"}",
        [KI__SCHEMA_INT64] = "{\"type\":\"integer\",\"format\":\"int64\"}",
        [KI__SCHEMA_DOUBLE] = "{\"type\":\"number\",\"format\":\"double\"}",
        [KI__SCHEMA_TIME] = "{\"type\":\"string\",\"format\":\"date-time\"}",
        [KI__SCHEMA_MICRO_TIME] = "{\"type\":\"string\",\"format\":\"date-time\"}",
        [KI__SCHEMA_DURATION] = "{\"type\":\"string\"}",
        [KI__SCHEMA_QUANTITY] = "{\"type\":\"string\"}",
        [KI__SCHEMA_INT_OR_STRING] = "{\"type\":\"string\",\"format\":\"int-or-string\"}",
        [KI__SCHEMA_ITEMS] = "{\"type\":\"array\",\"items\":{\"type\":\"string\"}}",
    };
    if (field->type == KI__SCHEMA_MESSAGE) {
        return write_ref(w, field->message);
    }
    const char *type = types[field->type];
    return ki_buf_add_text(w->out, type != NULL ? type : "{\"type\":\"object\"}");
}

static int write_field(writer *w, const ki__schema_field *field, bool first)
{
    ki_str name = ki__schema_name(field->name);
    bool list = (field->flags & KI__SCHEMA_REPEATED) != 0;
    bool map = (field->flags & KI__SCHEMA_MAP) != 0;
    int r = first ? 0 : ki_buf_add_char(w->out, ',');
    r = r < 0 ? r : ki__emit_string(w->out, name);
    r = r < 0 ? r
              : ki_buf_add_text(w->out, list  ? ":{\"type\":\"array\",\"items\":"
                                        : map ? ":{\"type\":\"object\",\"additionalProperties\":"
                                              : ":");
    r = r < 0 ? r : write_type(w, field);
    return r < 0 || !(list || map) ? r : ki_buf_add_char(w->out, '}');
}

/* The fields of a message and of those that JSON shows in its place. */
static int write_fields(writer *w, const ki__schema_message *message, bool *first)
{
    const ki__schema_message *stack[KI__SCHEMA_INLINE_DEPTH_MAX + 1] = {message};
    size_t next[KI__SCHEMA_INLINE_DEPTH_MAX + 1] = {0};
    size_t depth = 1;
    int r = 0;
    while (depth != 0 && r == 0) {
        const ki__schema_message *top = stack[depth - 1];
        if (next[depth - 1] == top->field_count) {
            depth--;
            continue;
        }
        const ki__schema_field *field = &ki__schema_fields[top->first_field + next[depth - 1]++];
        if ((field->flags & KI__SCHEMA_INLINE) != 0) {
            if (depth <= KI__SCHEMA_INLINE_DEPTH_MAX && field->type == KI__SCHEMA_MESSAGE) {
                stack[depth] = &ki__schema_messages[field->message];
                next[depth++] = 0;
            }
            continue;
        }
        r = write_field(w, field, *first);
        *first = false;
    }
    return r;
}

static int begin_schema(writer *w)
{
    int r = w->any ? ki_buf_add_char(w->out, ',') : 0;
    w->any = true;
    return r;
}

static int write_message(writer *w, uint16_t index)
{
    bool first = true;
    int r = begin_schema(w);
    r = r < 0 ? r : ki_buf_add_text(w->out, "\"m");
    r = r < 0 ? r : ki__emit_u64(w->out, index);
    r = r < 0 ? r : ki_buf_add_text(w->out, ".Object\":{\"type\":\"object\",\"properties\":{");
    r = r < 0 ? r : write_fields(w, &ki__schema_messages[index], &first);
    return r < 0 ? r : ki_buf_add_text(w->out, "}}");
}

#define NO_WORDS "The embedded API server knows fields and types, but has no descriptions of them."

static int write_kind(writer *w, const ki_resource *resource)
{
    const char *kind = ki_resource_kind(resource);
    const ki__schema_message *message =
        ki__schema_of_kind(ki_str_from(ki_resource_api_version(resource)), ki_str_from(kind));
    bool first = false;
    int r = begin_schema(w);
    r = r < 0 ? r
              : ki__emit_text(w->out, "\"kind.", kind,
                              "\":{\"description\":\"" NO_WORDS
                              "\",\"type\":\"object\",\"properties\":{\"apiVersion\":"
                              "{\"type\":\"string\"},\"kind\":{\"type\":\"string\"}",
                              NULL);
    if (message != NULL) {
        r = r < 0 ? r : write_fields(w, message, &first);
    }
    r = r < 0 ? r : ki_buf_add_text(w->out, "},\"x-kubernetes-group-version-kind\":[");
    r = r < 0 ? r : write_gvk(resource, w->out);
    return r < 0 ? r : ki_buf_add_text(w->out, "]}");
}

/* Writing one may want others. */
static int write_wanted(writer *w)
{
    int r = 0;
    bool more = true;
    while (more && r == 0) {
        more = false;
        for (size_t i = 0; i < ki__schema_message_count && r == 0; i++) {
            if (w->state[i] == WANTED) {
                w->state[i] = WRITTEN;
                r = write_message(w, (uint16_t)i);
                more = true;
            }
        }
    }
    return r;
}

/* ---- custom kinds ---- */

static int write_custom(writer *w, const ki__api_offer *offer)
{
    ki_value schema;
    const char *const own[] = {"x-kubernetes-group-version-kind", NULL};
    bool first = true;
    bool known = ki__api_type_schema(offer->type, &schema);
    int r = begin_schema(w);
    r = r < 0 ? r
              : ki__emit_text(w->out, "\"custom.", ki_resource_kind(offer->resource), "\":{", NULL);
    if (known) {
        r = r < 0 ? r : ki__json_copy_members(&schema, own, &first, w->out);
    }
    r = r < 0 ? r
              : ki__emit_text(w->out, first ? "" : ",", "\"x-kubernetes-group-version-kind\":[",
                              NULL);
    r = r < 0 ? r : write_gvk(offer->resource, w->out);
    return r < 0 ? r : ki_buf_add_text(w->out, "]}");
}

/* ---- documents ---- */

static int write_document(ki__api_exchange *x, const ki__api_catalog *catalog,
                          const char *api_version, uint8_t *state)
{
    writer w = {.x = x, .out = &x->out, .state = state};
    bool first = true;
    int r = ki_buf_add_text(&x->out, "{\"openapi\":\"3.0.0\",\"info\":{\"title\":\"kinformer\","
                                     "\"version\":\"unversioned\"},\"paths\":{");
    for (size_t i = 0; i < catalog->count && r == 0; i++) {
        const ki_resource *resource = catalog->offers[i].resource;
        if (strcmp(ki_resource_api_version(resource), api_version) == 0) {
            r = write_paths_of(resource, first, &x->out);
            first = false;
        }
    }
    r = r < 0 ? r : ki_buf_add_text(&x->out, "},\"components\":{\"schemas\":{");
    for (size_t i = 0; i < catalog->count && r == 0; i++) {
        const ki__api_offer *offer = &catalog->offers[i];
        if (strcmp(ki_resource_api_version(offer->resource), api_version) == 0) {
            r = offer->type == NULL ? write_kind(&w, offer->resource) : write_custom(&w, offer);
        }
    }
    r = r < 0 ? r : write_wanted(&w);
    return r < 0 ? r : ki_buf_add_text(&x->out, "}}}\n");
}

static const char *root_of(const ki_resource *resource)
{
    return ki_resource_group(resource)[0] != '\0' ? "apis/" : "api/";
}

/* The hash tells clients whether what they have kept is still good: it changes with the version of
 * any definition. */
static int write_index(ki__api_exchange *x, const ki__api_catalog *catalog)
{
    const char *last = "";
    bool first = true;
    int r = ki_buf_add_text(&x->out, "{\"paths\":{");
    for (size_t i = 0; i < catalog->count && r == 0; i++) {
        const ki_resource *resource = catalog->offers[i].resource;
        const char *api_version = ki_resource_api_version(resource);
        if (strcmp(api_version, last) == 0) {
            continue;
        }
        last = api_version;
        r = ki__emit_text(&x->out, first ? "\"" : ",\"", root_of(resource), api_version,
                          "\":{\"serverRelativeURL\":\"/openapi/v3/", root_of(resource),
                          api_version, "?hash=k", NULL);
        first = false;
        if (catalog->offers[i].type != NULL) {
            r = r < 0 ? r : ki__emit_u64(&x->out, x->model->head);
        }
        r = r < 0 ? r : ki_buf_add_text(&x->out, "\"}");
    }
    return r < 0 ? r : ki_buf_add_text(&x->out, "}}\n");
}

int ki__api_do_openapi(ki__api_exchange *x, const ki__api_catalog *catalog, const char *rest)
{
    if (strcmp(rest, "v3") == 0 || strcmp(rest, "v3/") == 0) {
        return write_index(x, catalog);
    }
    for (size_t i = 0; i < catalog->count && strncmp(rest, "v3/", 3) == 0; i++) {
        const ki_resource *resource = catalog->offers[i].resource;
        const char *root = root_of(resource);
        size_t len = strlen(root);
        if (strncmp(rest + 3, root, len) == 0 &&
            strcmp(rest + 3 + len, ki_resource_api_version(resource)) == 0) {
            uint8_t *state = ki__alloc_zero(x->alloc, ki__schema_message_count);
            if (state == NULL) {
                return -ENOMEM;
            }
            int r = write_document(x, catalog, rest + 3 + len, state);
            ki__free(x->alloc, state);
            return r;
        }
    }
    return ki__api_fail(&x->failure, 404, KI_REASON_NOT_FOUND,
                        "this server has OpenAPI v3 of the versions that it tells of, and no other",
                        NULL);
}
