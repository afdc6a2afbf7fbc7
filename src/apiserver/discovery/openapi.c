/* SPDX-License-Identifier: Apache-2.0 */
/* OpenAPI v3, as far as clients need it: the available kinds, fieldValidation as a parameter of
 * patches, and the fields and types of the built-in kinds, from the tables of the protobuf decoder.
 * No descriptions. Custom resources have the schema of their definition. */
#include <errno.h>

#include <kinformer/error.h>

#include "apiserver/discovery/api_discovery.h"
#include "base/alloc.h"
#include "object/edit/json_edit.h"
#include "object/edit/json_out.h"
#include "object/proto/schema.h"

typedef struct writer {
    ki__api_exchange *x;
    ki__out *out;
    uint8_t *state; /* per message: 0, WANTED or WRITTEN */
} writer;

enum { WANTED = 1, WRITTEN = 2 };

/* ---- paths ---- */

static void write_gvk(const ki_resource *resource, ki__out *out)
{
    ki__out_texts(out, "{\"group\":\"", ki_resource_group(resource), "\",\"kind\":\"",
                  ki_resource_kind(resource), "\",\"version\":\"", ki_resource_version(resource),
                  "\"}", NULL);
}

static void write_operation(const char *method, const char *action, const ki_resource *resource,
                            const char *more, ki__out *out)
{
    ki__put_name(out, method);
    ki__out_texts(out, "{\"x-kubernetes-action\":\"", action,
                  "\",\"x-kubernetes-group-version-kind\":", NULL);
    write_gvk(resource, out);
    ki__out_texts(out, more, ",\"responses\":{\"200\":{\"description\":\"OK\"}}}", NULL);
}

#define QUERY(name) "{\"name\":\"" name "\",\"in\":\"query\",\"schema\":{\"type\":\"string\"}}"

static void write_paths_of(const ki_resource *resource, ki__out *out)
{
    static const char checked[] = ",\"parameters\":[" QUERY("dryRun") "," QUERY(
        "fieldManager") "," QUERY("fieldValidation") "]";
    const char *group = ki_resource_group(resource);
    const char *root = group[0] != '\0' ? "/apis/" : "/api/";
    const char *scope = ki_resource_is_namespaced(resource) ? "/namespaces/{namespace}/" : "/";
    ki__put_comma(out);
    ki__out_texts(out, "\"", root, ki_resource_api_version(resource), scope,
                  ki_resource_name(resource), "\":{", NULL);
    write_operation("get", "list", resource, "", out);
    write_operation("post", "post", resource, checked, out);
    ki__out_texts(out, "},\"", root, ki_resource_api_version(resource), scope,
                  ki_resource_name(resource), "/{name}\":{", NULL);
    write_operation("get", "get", resource, "", out);
    write_operation("put", "put", resource, checked, out);
    write_operation("patch", "patch", resource, checked, out);
    ki__out_char(out, '}');
}

/* ---- schemas of built-in kinds ---- */

/* The schema name of a message. Clients display the part after the last dot. */
static void write_ref(writer *w, uint16_t message)
{
    if (w->state[message] == 0) {
        w->state[message] = WANTED;
    }
    ki__out_text(w->out, "{\"$ref\":\"#/components/schemas/m");
    ki__out_u64(w->out, message);
    ki__out_text(w->out, ".Object\"}");
}

static void write_type(writer *w, const ki__schema_field *field)
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
        write_ref(w, field->message);
        return;
    }
    const char *type = types[field->type];
    ki__out_text(w->out, type != NULL ? type : "{\"type\":\"object\"}");
}

static void write_field(writer *w, const ki__schema_field *field)
{
    ki_str name = ki__schema_name(field->name);
    bool list = (field->flags & KI__SCHEMA_REPEATED) != 0;
    bool map = (field->flags & KI__SCHEMA_MAP) != 0;
    ki__put_name_str(w->out, name);
    ki__out_text(w->out, list  ? "{\"type\":\"array\",\"items\":"
                         : map ? "{\"type\":\"object\",\"additionalProperties\":"
                               : "");
    write_type(w, field);
    ki__out_text(w->out, list || map ? "}" : "");
}

/* The fields of a message, including those of messages that JSON inlines. */
static void write_fields(writer *w, const ki__schema_message *message)
{
    const ki__schema_message *stack[KI__SCHEMA_INLINE_DEPTH_MAX + 1] = {message};
    size_t next[KI__SCHEMA_INLINE_DEPTH_MAX + 1] = {0};
    size_t depth = 1;
    while (depth != 0 && w->out->error == 0) {
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
        write_field(w, field);
    }
}

static void write_message(writer *w, uint16_t index)
{
    ki__put_comma(w->out);
    ki__out_text(w->out, "\"m");
    ki__out_u64(w->out, index);
    ki__out_text(w->out, ".Object\":{\"type\":\"object\",\"properties\":{");
    write_fields(w, &ki__schema_messages[index]);
    ki__out_text(w->out, "}}");
}

#define NO_WORDS "The embedded API server serves fields and types without descriptions."

static void write_kind(writer *w, const ki_resource *resource)
{
    const char *kind = ki_resource_kind(resource);
    const ki__schema_message *message =
        ki__schema_of_kind(ki_str_from(ki_resource_api_version(resource)), ki_str_from(kind));
    ki__put_comma(w->out);
    ki__out_texts(w->out, "\"kind.", kind,
                  "\":{\"description\":\"" NO_WORDS
                  "\",\"type\":\"object\",\"properties\":{\"apiVersion\":"
                  "{\"type\":\"string\"},\"kind\":{\"type\":\"string\"}",
                  NULL);
    if (message != NULL) {
        write_fields(w, message);
    }
    ki__out_text(w->out, "},\"x-kubernetes-group-version-kind\":[");
    write_gvk(resource, w->out);
    ki__out_text(w->out, "]}");
}

/* Writing a schema may reference further ones. */
static void write_requested(writer *w)
{
    bool more = true;
    while (more && w->out->error == 0) {
        more = false;
        for (size_t i = 0; i < ki__schema_message_count && w->out->error == 0; i++) {
            if (w->state[i] == WANTED) {
                w->state[i] = WRITTEN;
                write_message(w, (uint16_t)i);
                more = true;
            }
        }
    }
}

/* ---- custom kinds ---- */

static void write_custom(writer *w, const ki__api_offer *offer)
{
    ki_value schema;
    const char *const own[] = {"x-kubernetes-group-version-kind", NULL};
    ki__put_comma(w->out);
    ki__out_texts(w->out, "\"custom.", ki_resource_kind(offer->resource), "\":{", NULL);
    if (ki__api_type_schema(offer->type, &schema)) {
        ki__json_copy_members(&schema, own, w->out);
    }
    ki__put_name(w->out, "x-kubernetes-group-version-kind");
    ki__out_char(w->out, '[');
    write_gvk(offer->resource, w->out);
    ki__out_text(w->out, "]}");
}

/* ---- documents ---- */

static int write_document(ki__api_exchange *x, const ki__api_catalog *catalog,
                          const char *api_version, uint8_t *state)
{
    ki__out out = ki__out_to(&x->out);
    writer w = {.x = x, .out = &out, .state = state};
    ki__out_text(&out, "{\"openapi\":\"3.0.0\",\"info\":{\"title\":\"kinformer\","
                       "\"version\":\"unversioned\"},\"paths\":{");
    for (size_t i = 0; i < catalog->count && out.error == 0; i++) {
        const ki_resource *resource = catalog->offers[i].resource;
        if (strcmp(ki_resource_api_version(resource), api_version) == 0) {
            write_paths_of(resource, &out);
        }
    }
    ki__out_text(&out, "},\"components\":{\"schemas\":{");
    for (size_t i = 0; i < catalog->count && out.error == 0; i++) {
        const ki__api_offer *offer = &catalog->offers[i];
        if (strcmp(ki_resource_api_version(offer->resource), api_version) == 0) {
            if (offer->type == NULL) {
                write_kind(&w, offer->resource);
            } else {
                write_custom(&w, offer);
            }
        }
    }
    write_requested(&w);
    ki__out_text(&out, "}}}\n");
    return out.error;
}

static const char *root_of(const ki_resource *resource)
{
    return ki_resource_group(resource)[0] != '\0' ? "apis/" : "api/";
}

/* Clients compare the hash to decide whether their cached copy is valid: it changes with the
 * version of any definition. */
static int write_index(ki__api_exchange *x, const ki__api_catalog *catalog)
{
    ki__out out = ki__out_to(&x->out);
    const char *last = "";
    ki__out_text(&out, "{\"paths\":{");
    for (size_t i = 0; i < catalog->count && out.error == 0; i++) {
        const ki_resource *resource = catalog->offers[i].resource;
        const char *api_version = ki_resource_api_version(resource);
        if (strcmp(api_version, last) == 0) {
            continue;
        }
        last = api_version;
        ki__put_comma(&out);
        ki__out_texts(&out, "\"", root_of(resource), api_version,
                      "\":{\"serverRelativeURL\":\"/openapi/v3/", root_of(resource), api_version,
                      "?hash=k", NULL);
        if (catalog->offers[i].type != NULL) {
            ki__out_u64(&out, x->model->head);
        }
        ki__out_text(&out, "\"}");
    }
    ki__out_text(&out, "}}\n");
    return out.error;
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
                        "no OpenAPI v3 document for this group version", NULL);
}
