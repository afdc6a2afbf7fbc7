/* SPDX-License-Identifier: Apache-2.0 */
/* One response: a complete text, or updates of a page for as long as the client reads them. An
 * update is written only when the one before has been sent, so a slow client gets fewer of them. */
#include <errno.h>

#include "base/alloc.h"
#include "base/time_units.h"
#include "monitor_server/monitor_server.h"

enum { BODY_MAX = 64 << 20, BODIES_MAX = 128 << 20, UPDATE_MS = 2000 };

/* Scripts and styles come from this server only, and nothing is sent anywhere else. */
static const char policy[] =
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; "
    "form-action 'self'; base-uri 'none'; frame-ancestors 'none'";

int ki__monitor_exchange_new(ki_monitor_server *server, ki__monitor_exchange **ret_exchange)
{
    ki__monitor_exchange *x = ki__alloc_zero(server->alloc, sizeof(*x));
    if (x == NULL) {
        return -ENOMEM;
    }
    x->server = server;
    ki_buf_init(&x->body, server->alloc, BODY_MAX);
    ki_buf_init(&x->page, server->alloc, KI__MONITOR_TARGET_MAX);
    ki_buf_init(&x->location, server->alloc, 8 * KI__MONITOR_TARGET_MAX);
    *ret_exchange = x;
    return 0;
}

void ki__monitor_exchange_free(ki__monitor_exchange *x)
{
    const ki_alloc *alloc = x->server->alloc;
    x->server->streams -= x->counted;
    x->server->response_bytes -= x->charged;
    ki_buf_done(&x->body);
    ki_buf_done(&x->page);
    ki_buf_done(&x->location);
    ki__free(alloc, x);
}

int ki__monitor_charge(ki__monitor_exchange *x)
{
    uint64_t bytes = x->server->response_bytes - x->charged + x->body.cap;
    if (bytes > BODIES_MAX) {
        return KI_ERR_LIMIT;
    }
    x->server->response_bytes = bytes;
    x->charged = x->body.cap;
    return 0;
}

int ki__monitor_say(ki__monitor_exchange *x, int status, const char *text)
{
    x->status = status;
    x->content_type = "text/plain; charset=utf-8";
    ki_buf_clear(&x->body);
    int r = ki_buf_add_text(&x->body, text);
    return r < 0 ? r : ki_buf_add_text(&x->body, "\n");
}

/* ---- updates ---- */

/* event: page, with each line of the HTML as a line of data. */
static int write_update(ki__monitor_exchange *x)
{
    ki_buf html;
    ki_buf_init(&html, x->server->alloc, BODY_MAX / 2);
    int r = ki__monitor_write_page(x->server, ki_buf_str(&x->page), &html);
    ki__out out = ki__out_to(&x->body);
    ki__out_fail(&out, r);
    ki__out_text(&out, r == 303 ? "event: moved\n" : "event: page\n");
    ki_str rest = ki_buf_str(&html);
    while (rest.len != 0) {
        const char *end = memchr(rest.ptr, '\n', rest.len);
        size_t len = end != NULL ? (size_t)(end - rest.ptr) : rest.len;
        ki__out_text(&out, "data: ");
        ki__out_str(&out, ki_str_make(rest.ptr, len));
        ki__out_char(&out, '\n');
        len += end != NULL;
        rest = ki_str_make(rest.ptr + len, rest.len - len);
    }
    ki__out_char(&out, '\n');
    ki_buf_done(&html);
    return ki__out_commit(&out);
}

static int next_update(ki__monitor_exchange *x)
{
    uint64_t now = ki__engine_now(x->server->engine);
    if (now < x->due_ns) {
        return KI__HTTPD_WAIT;
    }
    x->due_ns = now + UPDATE_MS * KI__MS_NS;
    x->sent = 0;
    ki_buf_clear(&x->body);
    int r = write_update(x);
    r = r < 0 ? r : ki__monitor_charge(x);
    return r < 0 ? r : KI__HTTPD_DATA;
}

/* ---- the service ---- */

static int next(void *exchange, size_t max, ki_str *ret_bytes)
{
    ki__monitor_exchange *x = exchange;
    if (x->sent == x->body.len) {
        int r = x->events ? next_update(x) : KI__HTTPD_END;
        if (r != KI__HTTPD_DATA) {
            return r;
        }
    }
    size_t len = x->body.len - x->sent;
    len = len < max ? len : max;
    *ret_bytes = ki_str_make(x->body.data + x->sent, len);
    x->sent += len;
    return KI__HTTPD_DATA;
}

static uint64_t deadline(const void *exchange)
{
    return ((const ki__monitor_exchange *)exchange)->due_ns;
}

static int status(const void *exchange)
{
    return ((const ki__monitor_exchange *)exchange)->status;
}

static bool add_headers(const ki__httpd_connection *c, struct MHD_Response *response)
{
    const ki__monitor_exchange *x = c->exchange;
    const char *const headers[][2] = {
        {"Content-Type", x->content_type},
        {"Cache-Control", x->asset ? "no-cache" : "no-store"},
        {"Content-Security-Policy", policy},
        {"X-Content-Type-Options", "nosniff"},
        {"X-Frame-Options", "DENY"},
        {"Referrer-Policy", "no-referrer"},
        {"Cross-Origin-Resource-Policy", "same-origin"},
        {"Cross-Origin-Opener-Policy", "same-origin"},
        {"Allow", x->allow},
        {"Location", x->location.len != 0 ? x->location.data : NULL},
        {"WWW-Authenticate", x->status == 401 ? "Bearer" : NULL},
        {"WWW-Authenticate", x->status == 401 ? "Basic realm=\"kinformer\"" : NULL},
    };
    bool ok = true;
    for (size_t i = 0; ok && i < sizeof(headers) / sizeof(headers[0]); i++) {
        ok = headers[i][1] == NULL ||
             MHD_add_response_header(response, headers[i][0], headers[i][1]) == MHD_YES;
    }
    return ok;
}

static void end(void *exchange)
{
    ki__monitor_exchange_free(exchange);
}

const ki__httpd_service ki__monitor_service = {
    .begin = ki__monitor_begin,
    .next = next,
    .deadline = deadline,
    .status = status,
    .add_headers = add_headers,
    .end = end,
};
