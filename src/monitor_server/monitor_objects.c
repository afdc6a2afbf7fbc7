/* SPDX-License-Identifier: Apache-2.0 */
/* The objects of the caches: a list, filtered by namespace and labels, or one object with its
 * differences since it was opened. Only if the option `objects` is set, and never Secrets. */
#include <errno.h>
#include <string.h>

#include <kinformer/clock.h>
#include <kinformer/list.h>
#include <kinformer/lister.h>
#include <kinformer/lister_iter.h>
#include <kinformer/resource.h>
#include <kinformer/selector.h>

#include "base/alloc.h"
#include "base/digits.h"
#include "base/sort.h"
#include "base/time_units.h"
#include "monitor_server/monitor_json.h"

enum {
    SEGMENTS_MAX = 3,
    SEGMENT_BYTES = 1024,
    PARAMETER_BYTES = 2048,
    LIMIT = 100,
    LIMIT_MAX = 1000,
    NAME_SHOWN = 253,
    OBJECT_BYTES = 16 << 20,
    OBJECT_SHOWN = 256 << 10,
};

static const char prefix[] = "/debug/objects/";

typedef struct asking {
    ki_monitor_server *server;
    const ki__monitor_request *request;
    bool page;
    ki__gathered g;
    ki_buf segments[SEGMENTS_MAX]; /* resource, namespace, name; or resource, name */
    size_t segment_count;
    size_t at; /* the informer in `g` */
    ki_informer *informer;
    ki__slot *slot;
    ki_buf *out;
} asking;

/* ---- the request ---- */

static int fail(const asking *a, int status, const char *text)
{
    int r = ki_buf_add_text(a->out, text);
    return r < 0 ? r : status;
}

static int split_path(asking *a)
{
    ki_str rest = a->request->path;
    rest = ki_str_make(rest.ptr + strlen(prefix), rest.len - strlen(prefix));
    int r = 0;
    for (;;) {
        const char *slash = rest.len != 0 ? memchr(rest.ptr, '/', rest.len) : NULL;
        size_t len = slash != NULL ? (size_t)(slash - rest.ptr) : rest.len;
        if (a->segment_count == SEGMENTS_MAX) {
            return KI_ERR_NOT_FOUND;
        }
        r = ki__monitor_decode(ki_str_make(rest.ptr, len), false, &a->segments[a->segment_count++]);
        if (r < 0 || slash == NULL) {
            return r == KI_ERR_LIMIT ? KI_ERR_NOT_FOUND : r;
        }
        rest = ki_str_make(slash + 1, rest.len - len - 1);
    }
}

static int find_informer(asking *a)
{
    int r = split_path(a);
    a->at = r == 0 ? ki__find_path_name(&a->g, ki_buf_str(&a->segments[0])) : SIZE_MAX;
    if (r < 0 && r != KI_ERR_NOT_FOUND) {
        return r;
    }
    if (a->at == SIZE_MAX) {
        return fail(a, 404, "no informer of this name");
    }
    a->informer = a->g.informers[a->at].informer;
    a->slot = ki__slots_find(&a->server->slots, a->informer);
    if (a->slot == NULL) {
        return -ENOMEM;
    }
    return a->slot->secret ? fail(a, 403, "Secrets are not shown") : 0;
}

static int read_number(const asking *a, const char *name, uint64_t otherwise, uint64_t *ret_number)
{
    ki_buf text;
    ki_buf_init(&text, a->server->alloc, PARAMETER_BYTES);
    int r = ki__monitor_parameter(a->request, name, &text);
    *ret_number = otherwise;
    if (r > 0 && text.len != 0 && !ki__digits_read(ki_buf_str(&text), ret_number)) {
        r = KI_ERR_INVALID;
    }
    ki_buf_done(&text);
    return r < 0 ? r : 0;
}

static int64_t now_s(const asking *a)
{
    return ki_clock_now_ns(ki__engine_clock(a->server->engine)) / (int64_t)KI__SECOND_NS;
}

/* ---- a list ---- */

typedef struct listing {
    ki_buf name_space;
    ki_buf labels;
    uint64_t limit;
    ki_selector *selector;
    const ki_object **objects;
    size_t count;
    bool more;
} listing;

static int by_key(const void *a, const void *b)
{
    return strcmp(ki_object_key(*(const ki_object *const *)a),
                  ki_object_key(*(const ki_object *const *)b));
}

static void put_row(ki__out *out, const asking *a, const ki_object *object)
{
    int64_t created = ki_object_creation_time(object);
    int64_t now = now_s(a);
    ki__put_map(out);
    ki__put_named_text(out, "namespace", ki_str_from(ki_object_namespace(object)), NAME_SHOWN);
    ki__put_named_text(out, "name", ki_str_from(ki_object_name(object)), NAME_SHOWN);
    ki__put_named_text(out, "resourceVersion", ki_str_from(ki_object_resource_version(object)),
                       NAME_SHOWN);
    ki__put_named_ms(out, "ageMs",
                     created > 0 && created <= now ? (uint64_t)(now - created) * 1000 : UINT64_MAX);
    ki__put_named_bool(out, "deleting", ki_object_is_deleting(object));
    ki__put_end(out);
}

static void put_object(ki__out *out, const ki_object *object)
{
    ki_buf json;
    ki_buf_init(&json, out->buf->alloc, OBJECT_BYTES);
    ki__out_fail(out, ki_object_write_json(object, &json));
    ki__put_json(out, ki_buf_str(&json));
    ki_buf_done(&json);
}

static void put_cache(ki__out *out, const asking *a)
{
    ki__put_member(out, "informer", ki_informer_name(a->informer));
    ki__put_path_name(out, &a->g, a->at);
    const ki_resource *resource = ki_informer_resource(a->informer);
    ki__put_named_bool(out, "namespaced", ki_resource_is_namespaced(resource));
    ki__put_member(out, "apiVersion", ki_resource_api_version(resource));
    ki__put_member(out, "kind", ki_resource_kind(resource));
}

static void put_list(ki__out *out, const asking *a, const listing *l)
{
    ki__put_map(out);
    if (a->page) {
        put_cache(out, a);
        ki__put_named_bool(out, "isList", true);
        ki__put_member_str(out, "namespace", ki_buf_str(&l->name_space));
        ki__put_member_str(out, "labelSelector", ki_buf_str(&l->labels));
        ki__put_named_u64(out, "limit", l->limit);
        ki__put_named_u64(out, "shown", l->count);
        ki__put_named_u64(out, "objects", a->g.informers[a->at].health.objects);
        ki__put_named_bool(out, "more", l->more);
    } else {
        ki__put_member(out, "apiVersion", "v1");
        ki__put_member(out, "kind", "List");
    }
    ki__put_name(out, "items");
    ki__put_list(out);
    for (size_t i = 0; i < l->count; i++) {
        if (a->page) {
            put_row(out, a, l->objects[i]);
        } else {
            put_object(out, l->objects[i]);
        }
    }
    ki__put_end(out);
    ki__put_end(out);
}

static int read_list(const asking *a, listing *l)
{
    ki_error error = KI_ERROR_INIT;
    int r = ki__monitor_parameter(a->request, "namespace", &l->name_space);
    r = r < 0 ? r : ki__monitor_parameter(a->request, "labelSelector", &l->labels);
    r = r < 0 ? r : read_number(a, "limit", LIMIT, &l->limit);
    if (r == KI_ERR_INVALID || (r >= 0 && (l->limit == 0 || l->limit > LIMIT_MAX))) {
        return fail(a, 400, "limit: not a number from 1 to 1000");
    }
    if (r < 0) {
        return r == KI_ERR_LIMIT ? fail(a, 414, "a parameter is too long") : r;
    }
    r = ki_selector_parse(ki_buf_text(&l->labels), a->server->alloc, &l->selector, &error);
    if (r == -ENOMEM) {
        return r;
    }
    return r < 0 ? fail(a, 400, error.message) : 0;
}

/* The first ones that match, in no particular order, then sorted: a large cache is not listed as a
 * whole. */
static int find_objects(const asking *a, listing *l, ki_lister_iter *iter)
{
    const ki_object *object;
    l->objects = ki__alloc_array(a->server->alloc, (size_t)l->limit, sizeof(l->objects[0]));
    if (l->objects == NULL) {
        return -ENOMEM;
    }
    while (!l->more && ki_lister_iter_next(iter, &object) > 0) {
        l->more = l->count == l->limit;
        if (!l->more) {
            l->objects[l->count++] = object;
        }
    }
    ki__sort(l->objects, l->count, sizeof(l->objects[0]), by_key);
    return 0;
}

static int write_list(const asking *a)
{
    listing l = {.count = 0};
    ki_buf_init(&l.name_space, a->server->alloc, PARAMETER_BYTES);
    ki_buf_init(&l.labels, a->server->alloc, PARAMETER_BYTES);
    int r = read_list(a, &l);
    if (r == 0) {
        ki_lister lister = ki_informer_lister(a->informer);
        ki_lister_iter iter = ki_lister_iter_begin(&lister, ki_buf_text(&l.name_space), l.selector);
        r = find_objects(a, &l, &iter);
        ki__out out = ki__out_document(a->out);
        ki__out_fail(&out, r);
        put_list(&out, a, &l);
        ki_lister_iter_end(&iter);
        r = ki__out_commit(&out);
        r = r < 0 ? r : 200;
    }
    ki__free(a->server->alloc, l.objects);
    (void)ki_selector_unref(l.selector);
    ki_buf_done(&l.name_space);
    ki_buf_done(&l.labels);
    return r;
}

/* ---- one object ---- */

/* Compact JSON with line ends and indentation. */
static void indent(ki__out *out, ki_str json)
{
    size_t depth = 0;
    bool quoted = false;
    for (size_t i = 0; i < json.len && out->error == 0; i++) {
        char c = json.ptr[i];
        bool opens = !quoted && (c == '{' || c == '[');
        bool closes = !quoted && (c == '}' || c == ']');
        bool empty = i != 0 && (json.ptr[i - 1] == '{' || json.ptr[i - 1] == '[');
        depth -= closes;
        for (size_t k = 0; closes && !empty && k <= 2 * depth; k++) {
            ki__out_char(out, k == 0 ? '\n' : ' ');
        }
        ki__out_char(out, c);
        if (quoted && c == '\\' && i + 1 < json.len) {
            ki__out_char(out, json.ptr[++i]);
        } else if (c == '"') {
            quoted = !quoted;
        }
        depth += opens;
        bool next_closes = i + 1 < json.len && (json.ptr[i + 1] == '}' || json.ptr[i + 1] == ']');
        bool breaks = (opens && !next_closes) || (!quoted && c == ',');
        for (size_t k = 0; breaks && k <= 2 * depth; k++) {
            ki__out_char(out, k == 0 ? '\n' : ' ');
        }
        ki__out_text(out, !quoted && c == ':' ? " " : "");
    }
}

static void put_content(ki__out *out, const ki_object *object)
{
    ki_buf json;
    ki_buf text;
    ki_buf_init(&json, out->buf->alloc, OBJECT_BYTES);
    ki_buf_init(&text, out->buf->alloc, 4 * (size_t)OBJECT_BYTES);
    ki__out_fail(out, ki_object_write_json(object, &json));
    ki__out o = ki__out_to(&text);
    ki_str shown = ki_buf_str(&json);
    if (shown.len > OBJECT_SHOWN) {
        shown.len = OBJECT_SHOWN;
    }
    indent(&o, shown);
    ki__out_fail(out, o.error);
    ki__put_member_str(out, "content", ki_buf_str(&text));
    ki__put_named_u64(out, "contentBytes", json.len);
    ki__put_named_bool(out, "truncated", shown.len != json.len);
    ki_buf_done(&json);
    ki_buf_done(&text);
}

/* The URL of the page with the number of the opened state. */
static int redirect(const asking *a, const ki_object *object)
{
    uint64_t number = ki__slots_open(&a->server->slots, a->informer, object);
    ki__out out = ki__out_to(a->out);
    ki__out_str(&out, a->request->path); /* still encoded */
    ki__out_text(&out, "?opened=");
    ki__out_u64(&out, number);
    int r = ki__out_commit(&out);
    return r < 0 ? r : 303;
}

static int write_object_page(const asking *a, const ki__opened_object *opened,
                             const ki_object *object)
{
    const ki_object *current = object != NULL ? object : opened->object;
    ki__out out = ki__out_document(a->out);
    ki__put_map(&out);
    put_cache(&out, a);
    ki__put_named_bool(&out, "isObject", true);
    ki__put_named_bool(&out, "isDeleted", object == NULL);
    ki__put_named_time(&out, "openedAt", opened->time_s);
    ki__put_named_text(&out, "namespace", ki_str_from(ki_object_namespace(current)), NAME_SHOWN);
    ki__put_named_text(&out, "name", ki_str_from(ki_object_name(current)), NAME_SHOWN);
    ki__put_named_text(&out, "resourceVersion", ki_str_from(ki_object_resource_version(current)),
                       NAME_SHOWN);
    ki__put_fields(&out, opened->object, current, true);
    ki__put_changes(&out, a->server, ki_str_make(NULL, 0), opened);
    put_content(&out, current);
    ki__put_end(&out);
    int r = ki__out_commit(&out);
    return r < 0 ? r : 200;
}

static int write_found(const asking *a, const ki_object *object)
{
    uint64_t number;
    if (!a->page) {
        return object == NULL                             ? fail(a, 404, "not found in this cache")
               : ki_object_write_json(object, a->out) < 0 ? -ENOMEM
                                                          : 200;
    }
    int r = read_number(a, "opened", 0, &number);
    if (r == -ENOMEM) {
        return r;
    }
    const ki__opened_object *opened = ki__slots_opened(&a->server->slots, r < 0 ? 0 : number);
    const ki_buf *name = &a->segments[a->segment_count - 1];
    bool same = opened != NULL && opened->informer == a->informer &&
                ki_str_eq_text(ki_buf_str(name), ki_object_name(opened->object)) &&
                (a->segment_count < 3 ||
                 ki_str_eq_text(ki_buf_str(&a->segments[1]), ki_object_namespace(opened->object)));
    if (same) {
        return write_object_page(a, opened, object);
    }
    return object != NULL ? redirect(a, object) : fail(a, 404, "not found in this cache");
}

static int write_object(const asking *a)
{
    const char *name = ki_buf_text(&a->segments[a->segment_count - 1]);
    const char *name_space = a->segment_count == 3 ? ki_buf_text(&a->segments[1]) : NULL;
    ki_object *object = ki_informer_get(a->informer, name_space, name);
    int r = write_found(a, object);
    (void)ki_object_unref(object);
    return r;
}

int ki__monitor_write_objects(ki_monitor_server *server, const ki__monitor_request *request,
                              bool page, ki_buf *out)
{
    asking a = {.server = server, .request = request, .page = page, .out = out};
    if (!server->objects) {
        return fail(&a, 403, "objects are not served; see the option objects (--serve-objects)");
    }
    int r = ki__gather(server->client, &a.g);
    if (r < 0) {
        return r;
    }
    for (size_t i = 0; i < SEGMENTS_MAX; i++) {
        ki_buf_init(&a.segments[i], server->alloc, SEGMENT_BYTES);
    }
    r = page ? ki__slots_use(&server->slots, &a.g) : ki__slots_update(&server->slots, &a.g);
    r = r < 0 ? r : find_informer(&a);
    if (r == 0) {
        r = a.segment_count == 1 ? write_list(&a) : write_object(&a);
    }
    for (size_t i = 0; i < SEGMENTS_MAX; i++) {
        ki_buf_done(&a.segments[i]);
    }
    ki__gathered_done(&a.g);
    return r;
}
