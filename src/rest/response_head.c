/* SPDX-License-Identifier: Apache-2.0 */
/* Status and headers of a response, and the error of a failed one. All of it is untrusted: numbers
 * saturate, text is truncated. */
#include <errno.h>
#include <string.h>

#include <kinformer/status.h>

#include "base/ascii.h"
#include "base/error.h"
#include "base/time_units.h"
#include "rest/http.h"
#include "wire/media_type.h"

enum { BODY_SHOWN_MAX = 2048 };

/* Seconds; a date or anything else counts as absent. */
static void read_retry_after(ki__http_head *head, ki_str value)
{
    uint32_t seconds = 0;
    head->has_retry_after = value.len != 0;
    for (size_t i = 0; i < value.len; i++) {
        if (value.ptr[i] < '0' || value.ptr[i] > '9') {
            head->has_retry_after = false;
            break;
        }
        uint32_t digit = (uint32_t)(value.ptr[i] - '0');
        seconds = seconds > (UINT32_MAX - digit) / 10 ? UINT32_MAX : seconds * 10 + digit;
    }
    head->retry_after_s = head->has_retry_after ? seconds : 0;
}

/* The target of a redirect in printable form: without user and password, query and fragment, any of
 * which may be secret, and in plain ASCII. */
static void read_location(ki__http_head *head, ki_str value)
{
    size_t end = 0;
    while (end < value.len && value.ptr[end] != '?' && value.ptr[end] != '#') {
        end++;
    }
    size_t host = 0; /* after "scheme://" */
    for (size_t i = 0; i + 1 < end && host == 0; i++) {
        host = value.ptr[i] == '/' && value.ptr[i + 1] == '/' ? i + 2 : 0;
    }
    size_t from = host;
    for (size_t i = host; host != 0 && i < end && value.ptr[i] != '/'; i++) {
        from = value.ptr[i] == '@' ? i + 1 : from;
    }
    size_t len = 0;
    for (size_t i = 0; i < end && len + 1 < sizeof(head->location); i++) {
        char c = value.ptr[i];
        if (i < host || i >= from) {
            head->location[len++] = c > ' ' && c < 0x7f ? c : '?';
        }
    }
    head->location[len] = '\0';
}

/* ---- HTML ---- */

static const char html_text[] = "the response is HTML instead of JSON; is this an API server?";

static bool is_html(ki_str type)
{
    static const char html[] = "text/html";
    size_t len = sizeof(html) - 1;
    if (type.len < len) {
        return false;
    }
    for (size_t i = 0; i < len; i++) {
        if ((type.ptr[i] | 0x20) != (html[i] | 0x20)) {
            return false;
        }
    }
    return true;
}

void ki__http_look(ki__http_head *head, ki_str bytes)
{
    for (size_t i = 0; !head->looked && i < bytes.len; i++) {
        head->looked = !ki__is_space(bytes.ptr[i]);
        head->markup = bytes.ptr[i] == '<';
    }
}

void ki__http_explain(const ki__http_head *head, ki_error *error)
{
    if (head->markup && error->code != -ENOMEM) {
        (void)ki__error_set(error, error->code, "%s", html_text);
    } else if (error->code == KI_ERR_SYNTAX) {
        ki_error decoder = KI_ERROR_INIT;
        ki__error_copy(&decoder, error);
        (void)ki__error_set(error, decoder.code,
                            "the response is not valid JSON: at byte %zu: ", decoder.offset);
        ki__error_add(error, ki_str_from(decoder.message));
        error->offset = decoder.offset;
        error->line = decoder.line;
        error->column = decoder.column;
    }
}

void ki__http_explain_body(ki_str body, ki_error *error)
{
    ki__http_head head = {0};
    ki__http_look(&head, body);
    ki__http_explain(&head, error);
}

/* ---- the head ---- */

static int read_content_type(ki__http_head *head, ki_str value, ki_error *error)
{
    char text[256]; /* longer ones have truncated parameters, or are unknown anyway */
    size_t len = value.len < sizeof(text) ? value.len : sizeof(text) - 1;
    if (len != 0) {
        memcpy(text, value.ptr, len);
    }
    text[len] = '\0';
    head->encoding = KI_ENCODING_MAX;
    if (is_html(value)) {
        return ki__error_set(error, KI_ERR_UNSUPPORTED, "%s", html_text);
    }
    return ki__media_type_encoding(text, &head->encoding, error);
}

int ki__http_read_head(int status, const ki_http_header *headers, size_t header_count,
                       ki__http_head *ret_head, ki_error *error)
{
    *ret_head = (ki__http_head){.status = status};
    read_location(ret_head, ki_http_header_find(headers, header_count, "location"));
    read_retry_after(ret_head, ki_http_header_find(headers, header_count, "retry-after"));
    ki_str type = ki_http_header_find(headers, header_count, "content-type");
    return read_content_type(ret_head, type, error);
}

bool ki__http_is_success(const ki__http_head *head)
{
    return head->status >= 200 && head->status <= 299;
}

/* NULL if there is none, or out of memory. */
static ki_object *read_status(const ki__http_head *head, ki_str body, const ki_alloc *alloc)
{
    ki_object_options options = KI_OPTIONS_INIT(ki_object_options);
    options.alloc = alloc;
    ki_object *object = NULL;
    int r = KI_ERR_UNSUPPORTED;
    if (body.len != 0 && head->encoding == KI_ENCODING_JSON) {
        r = ki_object_from_json(body.ptr, body.len, &options, &object, NULL);
    } else if (body.len != 0 && head->encoding == KI_ENCODING_PROTOBUF) {
        r = ki_object_from_protobuf(body.ptr, body.len, &options, &object, NULL);
    }
    if (r == 0 && !ki_object_is_status(object)) {
        object = ki_object_unref(object);
    }
    return object;
}

ki_object *ki__http_failure(const ki__http_head *head, ki_str body, const char *method,
                            const char *resource, const char *name, const ki_alloc *alloc,
                            ki_error *error)
{
    ki_object *status = read_status(head, body, alloc);
    if (status == NULL || ki_status_to_error(status, error) >= 0) {
        body.len = body.len < BODY_SHOWN_MAX ? body.len : BODY_SHOWN_MAX;
        (void)ki_status_from_http(head->status, method, resource, name, body,
                                  ki__seconds_to_ms(head->retry_after_s), error);
        if (head->status >= 300 && head->status <= 399 && head->location[0] != '\0') {
            (void)ki__error_set(error, error->code,
                                "the server redirects to %s (HTTP %d), and redirects are not "
                                "followed: check the server's URL",
                                head->location, head->status);
        }
    }
    if (error->http_code == 0) {
        error->http_code = head->status;
    }
    if (error->retry_after_ms == 0) {
        error->retry_after_ms = ki__seconds_to_ms(head->retry_after_s);
    }
    return status;
}
