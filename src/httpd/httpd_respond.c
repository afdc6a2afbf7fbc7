/* SPDX-License-Identifier: Apache-2.0 */
/* Turns a complete request into a response: creates an exchange and pulls its first bytes. A
 * response that is complete by then is sent with Content-Length, any other one chunked, as it is
 * generated. */
#include <errno.h>
#include <sys/socket.h>

#include "base/ascii.h"
#include "base/error.h"
#include "httpd/httpd.h"

enum {
    TOKEN_MAX = 4096,
    HEAD_BYTES = 16 * 1024,  /* buffered before the response begins */
    BLOCK_BYTES = 32 * 1024, /* passed to libmicrohttpd per call */
};

/* ---- tokens ---- */

bool ki__httpd_same_secret(ki_str a, ki_str b)
{
    unsigned char differs = a.len == b.len ? 0 : 1;
    for (size_t i = 0; i < a.len && i < b.len; i++) {
        differs |= (unsigned char)(a.ptr[i] ^ b.ptr[i]);
    }
    return differs == 0;
}

bool ki__httpd_has_token(ki_str value, ki_str token)
{
    static const ki_str scheme = {"bearer ", 7};
    return value.len >= scheme.len &&
           ki__str_eq_nocase(ki_str_make(value.ptr, scheme.len), scheme) &&
           ki__httpd_same_secret(ki_str_make(value.ptr + scheme.len, value.len - scheme.len),
                                 token);
}

int ki__httpd_take_token(ki_buf *buf, const char *token, ki_error *error)
{
    if (token == NULL) {
        return 0;
    }
    ki_str text = ki_str_from(token);
    bool ok = text.len != 0 && text.len <= TOKEN_MAX;
    for (size_t i = 0; i < text.len && ok; i++) {
        ok = text.ptr[i] > ' ' && text.ptr[i] < 0x7f && text.ptr[i] != '"' && text.ptr[i] != '\\';
    }
    if (!ok) {
        return ki__error_set(error, KI_ERR_INVALID,
                             "token: not 1 to %d printable characters without blanks and quotes",
                             (int)TOKEN_MAX);
    }
    int r = ki_buf_add_str(buf, text);
    return r < 0 ? ki__error_code(error, r) : 0;
}

/* ---- pulling ---- */

void ki__httpd_reset(ki__httpd_connection *c)
{
    if (c->exchange != NULL) {
        c->httpd->options.service->end(c->exchange);
        c->exchange = NULL;
    }
    c->result = KI__HTTPD_WAIT;
    c->ready = ki_str_make(NULL, 0);
    c->state = KI__HTTPD_IDLE;
    c->target_end = NULL;
    c->malformed = false;
    c->failed = false;
    c->too_large = false;
    c->passed_over = 0;
    c->head_sent = 0;
    ki_buf_clear(&c->target);
    ki_buf_done(&c->body);
    ki_buf_done(&c->head);
}

void ki__httpd_pull(ki__httpd_connection *c)
{
    if (c->ready.len != 0) {
        return;
    }
    int r = c->httpd->options.service->next(c->exchange, BLOCK_BYTES, &c->ready);
    c->result =
        r >= 0 ? (ki__httpd_result)r : KI__HTTPD_CUT; /* out of memory: the client retries */
    if (c->result != KI__HTTPD_DATA) {
        c->ready = ki_str_make(NULL, 0);
    }
}

/* Buffers the start of the response. */
static void gather(ki__httpd_connection *c)
{
    for (;;) {
        ki__httpd_pull(c);
        if (c->result != KI__HTTPD_DATA || c->head.len >= HEAD_BYTES) {
            return;
        }
        if (ki_buf_add_str(&c->head, c->ready) < 0) {
            return; /* sent without a copy */
        }
        c->ready = ki_str_make(NULL, 0);
    }
}

static size_t copy_out(char *out, size_t max, const char *bytes, size_t len)
{
    if (bytes == NULL) {
        return 0;
    }
    len = len < max ? len : max;
    memcpy(out, bytes, len);
    return len;
}

static ssize_t end_broken(ki__httpd_connection *c)
{
    ki__httpd_mark_ended(c);
    return MHD_CONTENT_READER_END_WITH_ERROR;
}

/* libmicrohttpd's callback for more body bytes. */
static ssize_t on_more(void *user, uint64_t position, char *out, size_t max)
{
    (void)position;
    ki__httpd_connection *c = user;
    c->httpd->active = true;
    if (c->gone) {
        return end_broken(c);
    }
    ki__timer_set_after(&c->timer, c->httpd->idle_timeout_ns);
    if (c->head_sent < c->head.len) {
        size_t len = copy_out(out, max, c->head.data + c->head_sent, c->head.len - c->head_sent);
        c->head_sent += len;
        return (ssize_t)len;
    }
    if (c->head.cap != 0) {
        ki_buf_done(&c->head);
        c->head_sent = 0;
    }
    ki__httpd_pull(c);
    switch (c->result) {
    case KI__HTTPD_DATA: {
        size_t len = copy_out(out, max, c->ready.ptr, c->ready.len);
        c->ready = ki_str_make(c->ready.ptr + len, c->ready.len - len);
        return (ssize_t)len;
    }
    case KI__HTTPD_END:
        return MHD_CONTENT_READER_END_OF_STREAM;
    case KI__HTTPD_WAIT:
        ki__httpd_wait(c);
        return 0;
    case KI__HTTPD_CUT:
    case KI__HTTPD_REFUSED:
        break;
    }
    return end_broken(c);
}

/* ---- the response ---- */

static enum MHD_Result respond(ki__httpd_connection *c)
{
    const ki__httpd_service *service = c->httpd->options.service;
    /* The content stays valid until the request is completed. */
    static char nothing[1];
    struct MHD_Response *response =
        c->result == KI__HTTPD_END
            ? MHD_create_response_from_buffer(c->head.len,
                                              c->head.data != NULL ? c->head.data : nothing,
                                              MHD_RESPMEM_PERSISTENT)
            : MHD_create_response_from_callback(MHD_SIZE_UNKNOWN, BLOCK_BYTES, on_more, c, NULL);
    if (response == NULL) {
        return MHD_NO;
    }
    enum MHD_Result result = MHD_NO;
    if (service->add_headers(c, response)) {
        result = MHD_queue_response(c->mhd, (unsigned)service->status(c->exchange), response);
    }
    MHD_destroy_response(response);
    return result;
}

/* Closing sends a reset, as if no server were listening. */
static void refuse(const ki__httpd_connection *c)
{
    const struct linger at_once = {.l_onoff = 1, .l_linger = 0};
    (void)setsockopt(c->fd, SOL_SOCKET, SO_LINGER, &at_once, sizeof(at_once));
}

enum MHD_Result ki__httpd_respond(ki__httpd_connection *c, const char *method)
{
    c->state = KI__HTTPD_SENDING;
    ki__timer_set_after(&c->timer, c->httpd->idle_timeout_ns);
    if (c->exchange == NULL && c->httpd->options.service->begin(c, method, &c->exchange) < 0) {
        return MHD_NO;
    }
    ki_buf_done(&c->body);
    gather(c);
    if (c->result == KI__HTTPD_REFUSED) {
        refuse(c);
        ki__httpd_mark_ended(c);
        return MHD_NO;
    }
    if (c->httpd->options.service->status(c->exchange) != 0) {
        return respond(c);
    }
    if (c->result != KI__HTTPD_WAIT) {
        ki__httpd_mark_ended(c);
        return MHD_NO;
    }
    ki__httpd_wait(c);
    return MHD_YES;
}
