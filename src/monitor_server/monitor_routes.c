/* SPDX-License-Identifier: Apache-2.0 */
/* The paths. Pages are templates, filled from the same JSON that is served to programs. */
#include <errno.h>
#include <string.h>

#include <kinformer/checks.h>
#include <kinformer/metrics.h>

#include "base/ascii.h"
#include "monitor_server/html_template.h"
#include "monitor_server/monitor_pages.h"
#include "monitor_server/monitor_server.h"

enum { JSON_MAX = 32 << 20, PARAMETER_MAX = 2048 };

#define HTML "text/html; charset=utf-8"
#define JSON "application/json"
#define OBJECTS "/debug/objects/"

static bool starts_with(ki_str text, const char *start)
{
    size_t len = strlen(start);
    return text.len >= len && memcmp(text.ptr, start, len) == 0;
}

/* ---- Accept ---- */

/* The weight of "q=0.25" in thousandths; 1000 without one. */
static unsigned weight_of(ki_str item)
{
    for (size_t i = 0; i + 2 < item.len; i++) {
        if (ki__to_lower(item.ptr[i]) != 'q' || item.ptr[i + 1] != '=' ||
            (i != 0 && item.ptr[i - 1] != ';' && item.ptr[i - 1] != ' ')) {
            continue;
        }
        unsigned weight = item.ptr[i + 2] == '1' ? 1000 : 0;
        unsigned unit = 100;
        for (size_t k = i + 4; k < item.len && ki__is_digit(item.ptr[k]) && weight < 1000; k++) {
            weight += (unsigned)(item.ptr[k] - '0') * unit;
            unit /= 10;
        }
        return weight;
    }
    return 1000;
}

/* The weight that an Accept header gives a media type; 0 if it does not name it. */
static unsigned accepted(ki_str accept, const char *type)
{
    unsigned best = 0;
    while (accept.len != 0) {
        const char *end = memchr(accept.ptr, ',', accept.len);
        size_t len = end != NULL ? (size_t)(end - accept.ptr) : accept.len;
        ki_str item = ki_str_make(accept.ptr, len);
        const char *mark = memchr(item.ptr, ';', item.len);
        ki_str name = mark != NULL ? ki_str_make(item.ptr, (size_t)(mark - item.ptr)) : item;
        unsigned weight = weight_of(item);
        if (ki__str_eq_nocase(ki__trim(name, " \t"), ki_str_from(type)) && weight > best) {
            best = weight;
        }
        len += end != NULL;
        accept = ki_str_make(accept.ptr + len, accept.len - len);
    }
    return best;
}

/* ---- metrics and checks ---- */

static int respond_metrics(ki__monitor_exchange *x, ki_str accept)
{
    unsigned open = accepted(accept, "application/openmetrics-text");
    ki_metrics_format format = open != 0 && open >= accepted(accept, "text/plain")
                                   ? KI_METRICS_OPENMETRICS
                                   : KI_METRICS_PROMETHEUS;
    x->status = 200;
    x->content_type = ki_metrics_content_type(format);
    return ki_client_write_metrics(x->server->client, format, &x->body, NULL);
}

static int respond_check(ki__monitor_exchange *x, const ki__monitor_request *request, bool ready)
{
    ki_buf none;
    ki_buf_init(&none, x->server->alloc, PARAMETER_MAX);
    int verbose = ki__monitor_parameter(request, "verbose", &none);
    ki_buf_done(&none);
    ki_check_options options = x->server->checks;
    options.verbose = verbose > 0;
    x->content_type = "text/plain; charset=utf-8";
    int r = ready ? ki_client_check_ready(x->server->client, &options, &x->body, NULL)
                  : ki_client_check_live(x->server->client, &options, &x->body, NULL);
    if (r < 0) {
        return r;
    }
    x->status = r > 0 ? 200 : 503;
    const char *name = ready ? "readyz" : "healthz";
    if (r > 0 && verbose <= 0) {
        return ki_buf_add_text(&x->body, "ok\n");
    }
    r = ki_buf_add_text(&x->body, name);
    return r < 0 ? r
                 : ki_buf_add_text(&x->body,
                                   x->status == 200 ? " check passed\n" : " check failed\n");
}

/* Clients that may not see details get none, also if the check fails. */
static int respond_probe(ki__monitor_exchange *x, const ki__monitor_request *request, bool ready)
{
    int r = respond_check(x, request, ready);
    if (r == 0 && request->anonymous) {
        return ki__monitor_say(x, x->status, x->status == 200 ? "ok" : "check failed");
    }
    return r;
}

/* ---- pages ---- */

static int render(ki_str json, const ki_alloc *alloc, ki_str template, ki_buf *out)
{
    ki_object_options options = {.size = sizeof(options), .alloc = alloc};
    ki_object *object;
    int r = ki_object_from_json(json.ptr, json.len, &options, &object, NULL);
    if (r < 0) {
        return r;
    }
    ki_value root = ki_object_root(object);
    r = ki__html_render(template, &root, out);
    (void)ki_object_unref(object);
    return r;
}

/* The message of a failed request, as a page. */
static int render_message(ki_monitor_server *server, ki_str text, ki_buf *out)
{
    ki_buf json;
    ki_buf_init(&json, server->alloc, JSON_MAX);
    ki__out o = ki__out_document(&json);
    ki__put_map(&o);
    ki__put_member_str(&o, "message", text);
    ki__put_end(&o);
    int r = ki__out_commit(&o);
    r = r < 0 ? r : render(ki_buf_str(&json), server->alloc, ki__page_message, out);
    ki_buf_done(&json);
    return r;
}

static int write_objects_page(ki_monitor_server *server, const ki__monitor_request *request,
                              ki_buf *json, ki_buf *out)
{
    int status = ki__monitor_write_objects(server, request, true, json);
    if (status < 0 || status == 303) {
        int r = status == 303 ? ki_buf_add_str(out, ki_buf_str(json)) : 0;
        return r < 0 ? r : status;
    }
    int r = status == 200 ? render(ki_buf_str(json), server->alloc, ki__page_objects, out)
                          : render_message(server, ki_buf_str(json), out);
    return r < 0 ? r : status;
}

static int write_main_page(ki_monitor_server *server, const ki__monitor_request *request,
                           ki_buf *json, ki_buf *out)
{
    ki_buf filter;
    ki_buf_init(&filter, server->alloc, PARAMETER_MAX);
    int r = ki__monitor_parameter(request, "filter", &filter);
    r = r < 0 ? r : ki__monitor_write_state(server, true, ki_buf_str(&filter), json);
    r = r < 0 ? r : render(ki_buf_str(json), server->alloc, ki__page_main, out);
    ki_buf_done(&filter);
    return r < 0 ? r : 200;
}

int ki__monitor_write_page(ki_monitor_server *server, ki_str target, ki_buf *out)
{
    ki__monitor_request request = ki__monitor_request_of(target);
    ki_buf json;
    ki_buf_init(&json, server->alloc, JSON_MAX);
    int r = starts_with(request.path, OBJECTS) ? write_objects_page(server, &request, &json, out)
                                               : write_main_page(server, &request, &json, out);
    ki_buf_done(&json);
    return r;
}

/* The shell of all pages, with the part that changes in its middle. */
static int respond_page(ki__monitor_exchange *x, ki_str target)
{
    static const char mark[] = "<!--main-->";
    const char *at = strstr(ki__page_shell.ptr, mark);
    size_t before = (size_t)(at - ki__page_shell.ptr);
    x->content_type = HTML;
    int r = ki_buf_add(&x->body, ki__page_shell.ptr, before);
    int status = r < 0 ? r : ki__monitor_write_page(x->server, target, &x->body);
    x->status = status;
    if (status == 303) {
        r = ki_buf_add(&x->location, x->body.data + before, x->body.len - before);
        return r < 0 ? r : ki__monitor_say(x, 303, "see the location");
    }
    return status < 0 ? status : ki_buf_add_text(&x->body, at + strlen(mark));
}

static int respond_events(ki__monitor_exchange *x, const ki__monitor_request *request)
{
    ki_monitor_server *server = x->server;
    if (server->streams >= server->streams_max) {
        return ki__monitor_say(x, 503, "too many open pages; reload to update");
    }
    server->streams++;
    x->counted = true;
    int r = ki__monitor_parameter(request, "page", &x->page);
    x->status = 200;
    x->content_type = "text/event-stream";
    x->events = true;
    return r < 0 ? r : 0;
}

/* ---- data ---- */

static int respond_state(ki__monitor_exchange *x)
{
    x->status = 200;
    x->content_type = JSON;
    int r = ki__monitor_write_state(x->server, false, ki_str_make(NULL, 0), &x->body);
    return r < 0 ? r : ki_buf_add_text(&x->body, "\n");
}

static int respond_objects(ki__monitor_exchange *x, const ki__monitor_request *request)
{
    int r = ki__monitor_write_objects(x->server, request, false, &x->body);
    if (r < 0) {
        return r;
    }
    x->status = r;
    x->content_type = r == 200 ? JSON : "text/plain; charset=utf-8";
    return ki_buf_add_text(&x->body, "\n");
}

static int respond_file(ki__monitor_exchange *x, ki_str path)
{
    static const struct {
        const char *path;
        const ki_str *content;
        const char *type;
    } files[] = {
        {"/debug/page.css", &ki__page_style, "text/css; charset=utf-8"},
        {"/debug/page.js", &ki__page_script, "text/javascript; charset=utf-8"},
        {"/debug/icon.svg", &ki__page_icon, "image/svg+xml"},
    };
    for (size_t i = 0; i < sizeof(files) / sizeof(files[0]); i++) {
        if (ki_str_eq_text(path, files[i].path)) {
            x->status = 200;
            x->content_type = files[i].type;
            x->asset = true;
            return ki_buf_add_str(&x->body, *files[i].content);
        }
    }
    return ki__monitor_say(x, 404, "not found; the page is at /debug/");
}

static int redirect(ki__monitor_exchange *x, const char *location)
{
    int r = ki_buf_add_text(&x->location, location);
    return r < 0 ? r : ki__monitor_say(x, 303, location);
}

int ki__monitor_route(ki__monitor_exchange *x, const ki__monitor_request *request, ki_str accept)
{
    ki_str path = request->path;
    if (ki_str_eq_text(path, "/metrics")) {
        return respond_metrics(x, accept);
    }
    if (ki_str_eq_text(path, "/healthz") || ki_str_eq_text(path, "/livez")) {
        return respond_probe(x, request, false);
    }
    if (ki_str_eq_text(path, "/readyz")) {
        return respond_probe(x, request, true);
    }
    if (ki_str_eq_text(path, "/") || ki_str_eq_text(path, "/debug")) {
        return redirect(x, "/debug/");
    }
    if (ki_str_eq_text(path, "/debug/informers.json")) {
        return respond_state(x);
    }
    if (ki_str_eq_text(path, "/debug/events")) {
        return respond_events(x, request);
    }
    bool objects = starts_with(path, OBJECTS);
    if (objects && accepted(accept, "text/html") == 0) {
        return respond_objects(x, request);
    }
    if (objects || ki_str_eq_text(path, "/debug/")) {
        size_t query = request->query.ptr != NULL ? request->query.len + 1 : 0;
        return respond_page(x, ki_str_make(path.ptr, path.len + query));
    }
    return respond_file(x, path);
}
