/* SPDX-License-Identifier: Apache-2.0 */
/* Loads many objects from one text: concatenated JSON values or YAML documents. Lists are split
 * into their items. */
#include <errno.h>

#include <kinformer/yaml.h>

#include "apiserver/http/http_server.h"
#include "base/ascii.h"
#include "base/error.h"
#include "client/config/file.h"
#include "object/json/json_scan.h"

enum { DEPTH_MAX = 128, FILE_BYTES_MAX = 1 << 30 };

typedef struct loader {
    ki_apiserver *server;
    ki_str text;
    size_t count;
    ki_error *error;
} loader;

/* ---- objects and lists ---- */

static int parse(loader *l, ki_str json, const char *kind, const char *api_version,
                 ki_object **ret_object)
{
    ki_object_options options = {
        .size = sizeof(options),
        .alloc = l->server->alloc,
        .max_bytes = (size_t)1 << 30,
        .default_kind = kind,
        .default_api_version = api_version,
    };
    return ki_object_from_json(json.ptr, json.len, &options, ret_object, l->error);
}

static int apply(loader *l, const ki_object *object)
{
    if (ki_object_kind(object)[0] == '\0' || ki_object_api_version(object)[0] == '\0') {
        return ki__error_set(l->error, KI_ERR_INVALID, "the object has no kind or no apiVersion");
    }
    int r = ki__http_apply(l->server, object, l->error);
    l->count += r == 0 ? 1 : 0;
    if (r < 0 && l->error != NULL) {
        ki_error inner = KI_ERROR_INIT;
        ki__error_copy(&inner, l->error);
        ki__error_set(l->error, r, "%.60s %.80s: %s", ki_object_kind(object), ki_object_key(object),
                      inner.message);
        l->error->http_code = inner.http_code;
        l->error->reason = inner.reason;
    }
    return r;
}

/* The items of a typed list have no kind of their own. */
static int apply_items(loader *l, const ki_object *list, const ki_value *items)
{
    ki_value_iter iter;
    ki_value item;
    ki_buf kind;
    ki_str name = ki_str_from(ki_object_kind(list));
    bool mixed = ki_str_eq_text(name, "List");
    ki_buf_init(&kind, l->server->alloc, 1024);
    int r = ki_buf_add(&kind, name.ptr, name.len - 4);
    r = r < 0 ? ki__error_code(l->error, r) : ki_value_iter_begin(items, &iter);
    while (r == 0 && ki_value_iter_next(&iter, NULL, &item) > 0) {
        ki_object *object;
        ki_buf json;
        ki_buf_init(&json, l->server->alloc, SIZE_MAX);
        r = ki_value_write_json(&item, &json);
        r = r < 0 ? ki__error_code(l->error, r)
                  : parse(l, ki_buf_str(&json), mixed ? NULL : kind.data,
                          mixed ? NULL : ki_object_api_version(list), &object);
        if (r == 0) {
            r = apply(l, object);
            ki_object_unref(object);
        }
        ki_buf_done(&json);
    }
    ki_buf_done(&kind);
    return r;
}

static int take(loader *l, ki_str json)
{
    ki_object *object;
    int r = parse(l, json, NULL, NULL, &object);
    if (r < 0) {
        return r;
    }
    ki_value root = ki_object_root(object);
    ki_value items;
    ki_str kind = ki_str_from(ki_object_kind(object));
    bool is_list = kind.len >= 4 && memcmp(kind.ptr + kind.len - 4, "List", 4) == 0 &&
                   ki_value_member(&root, ki_str_from("items"), &items) == 0 &&
                   ki_value_type(&items) == KI_TYPE_LIST;
    r = is_list ? apply_items(l, object, &items) : apply(l, object);
    ki_object_unref(object);
    return r;
}

/* The same for an object at an offset of the text, which errors report: positions inside the object
 * are only known for JSON. */
static int take_at(loader *l, ki_str json, size_t offset)
{
    int r = take(l, json);
    if (r < 0 && r != -ENOMEM && l->error != NULL) {
        const char *at = l->text.ptr + offset;
        const char *line = at;
        uint32_t lines = 1;
        while (line != l->text.ptr && line[-1] != '\n') {
            line--;
        }
        for (const char *p = l->text.ptr; p != line; p++) {
            lines += *p == '\n' ? 1 : 0;
        }
        l->error->offset = offset;
        l->error->line = lines;
        l->error->column = (uint32_t)(at - line) + 1;
    }
    return r;
}

/* ---- YAML ---- */

/* A line "---" starts a document, even inside a block scalar. */
static bool is_separator(ki_str rest)
{
    if (rest.len < 3 || memcmp(rest.ptr, "---", 3) != 0) {
        return false;
    }
    return rest.len == 3 || rest.ptr[3] == '\n' || rest.ptr[3] == '\r' || rest.ptr[3] == ' ' ||
           rest.ptr[3] == '\t';
}

/* Offset of the content of a document: after separators, comments and empty lines. */
static size_t skip_to_content(ki_str document)
{
    size_t i = 0;
    while (i < document.len) {
        const char *end = memchr(document.ptr + i, '\n', document.len - i);
        size_t next = end != NULL ? (size_t)(end - document.ptr) + 1 : document.len;
        size_t at = i;
        while (at < next && (document.ptr[at] == ' ' || document.ptr[at] == '\t' ||
                             document.ptr[at] == '\r' || document.ptr[at] == '\n')) {
            at++;
        }
        bool separator = is_separator(ki_str_make(document.ptr + i, document.len - i));
        if (at != next && document.ptr[at] != '#' && !separator) {
            return at;
        }
        i = next;
    }
    return 0;
}

/* All documents starting at an offset. */
static int load_yaml(loader *l, size_t from)
{
    ki_buf json;
    size_t offset = from;
    int r;
    ki_buf_init(&json, l->server->alloc, SIZE_MAX);
    do {
        size_t at = offset;
        r = ki_yaml_to_json(l->text, &offset, &json, l->error);
        if (r > 0) {
            at += skip_to_content(ki_str_make(l->text.ptr + at, l->text.len - at));
            int taken = take_at(l, ki_buf_str(&json), at);
            r = taken < 0 ? taken : r;
            ki_buf_clear(&json);
        }
    } while (r > 0);
    ki_buf_done(&json);
    return r;
}

/* ---- JSON ---- */

/* Whether a text begins like JSON: YAML flow maps do as well ({a: b}), but rarely with quotes. */
static bool looks_like_json(ki_str text)
{
    size_t i = 1;
    while (i < text.len && ki__is_space(text.ptr[i])) {
        i++;
    }
    return text.len != 0 && text.ptr[0] == '{' &&
           (i >= text.len || text.ptr[i] == '"' || text.ptr[i] == '}');
}

/* Text that is not valid JSON may still be YAML: a flow map, or documents after "---". If it is
 * neither, the error is that of the format it looks like. */
static int load_other(loader *l, size_t at, const ki_error *in_json)
{
    ki_str rest = ki_str_make(l->text.ptr + at, l->text.len - at);
    size_t before = l->count;
    int r = load_yaml(l, at);
    if (r >= 0 || r == -ENOMEM || l->count != before || !looks_like_json(rest)) {
        return r;
    }
    if (l->error != NULL) {
        ki__error_copy(l->error, in_json);
    }
    return in_json->code;
}

/* Concatenated values. */
static int load_json(loader *l)
{
    ki__json_scan scan;
    const char *p = l->text.ptr;
    ki_error error = KI_ERROR_INIT;
    int r = 0;
    ki__json_scan_init(&scan, l->text, DEPTH_MAX, &error);
    while (r == 0 && (p = ki__json_scan_space(&scan, p)) != scan.end) {
        const char *after = ki__json_scan_value(&scan, p);
        if (after == NULL) {
            return load_other(l, (size_t)(p - l->text.ptr), &error);
        }
        r = take_at(l, ki_str_make(p, (size_t)(after - p)), (size_t)(p - l->text.ptr));
        p = after;
    }
    return r;
}

int ki_apiserver_load(ki_apiserver *server, ki_str objects, size_t *ret_count, ki_error *error)
{
    KI__REQUIRE(server, error);
    KI__REQUIRE_OWN_ENGINE(server->engine, error);
    loader l = {.server = server, .text = objects, .error = error};
    size_t i = 0;
    while (i < objects.len && ki__is_space(objects.ptr[i])) {
        i++;
    }
    int r = 0;
    if (i < objects.len) {
        ki__mutex_lock(&server->lock);
        r = objects.ptr[i] == '{' ? load_json(&l) : load_yaml(&l, 0);
        ki__mutex_unlock(&server->lock);
    }
    if (ret_count != NULL) {
        *ret_count = l.count;
    }
    return r;
}

/* Sets the error to the one of a file that was read. */
static void prefix_file(ki_error *error, const char *path, const ki_error *why)
{
    (void)ki__error_set(error, why->code, "%s: %s", path, why->message);
    if (error != NULL) {
        error->http_code = why->http_code;
        error->reason = why->reason;
        error->offset = why->offset;
        error->line = why->line;
        error->column = why->column;
    }
}

int ki_apiserver_load_file(ki_apiserver *server, const char *path, size_t *ret_count,
                           ki_error *error)
{
    KI__REQUIRE(server, error);
    KI__REQUIRE(path, error);
    ki__secrets content;
    ki__file_info info;
    ki_str text = {0};
    size_t count = 0;
    ki_error why = KI_ERROR_INIT;
    ki__secrets_init(&content, server->alloc);
    int r = ki__file_read(path, FILE_BYTES_MAX, &content, &text, &info);
    if (r < 0) {
        (void)ki__error_set(&why, r, "%s", ki__file_error_text(r));
    } else {
        r = ki_apiserver_load(server, text, &count, &why);
    }
    if (r < 0) {
        prefix_file(error, path, &why);
    }
    if (ret_count != NULL) {
        *ret_count = count;
    }
    ki__secrets_done(&content);
    return r;
}
