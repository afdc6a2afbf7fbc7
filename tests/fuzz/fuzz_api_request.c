/* SPDX-License-Identifier: Apache-2.0 */
/* Any bytes as requests to the model of an API server: each line is one request, "METHOD target
 * headers|body". Whatever comes, each gets an answer with a status, in pieces and within bounds;
 * the model keeps its books; and what it says in JSON is JSON. */
#include <stdlib.h>

#include "apiserver/exchange.h"

enum { REQUESTS_MAX = 32, OPEN_MAX = 4, ANSWER_MAX = 1 << 22 };

static uint64_t now_ns;
static uint64_t draws;

static void must(bool condition)
{
    if (!condition) {
        __builtin_trap();
    }
}

static uint64_t monotonic(void *user)
{
    (void)user;
    return now_ns;
}

static int64_t realtime(void *user)
{
    (void)user;
    return (int64_t)now_ns;
}

static int fill(void *bytes, size_t len, void *user)
{
    (void)user;
    for (size_t i = 0; i < len; i++) {
        ((unsigned char *)bytes)[i] = (unsigned char)(++draws * 37);
    }
    return 0;
}

/* Takes what stands before `separator`, or all. */
static ki_str take(ki_str *rest, char separator)
{
    const char *at = rest->len != 0 ? memchr(rest->ptr, separator, rest->len) : NULL;
    size_t len = at != NULL ? (size_t)(at - rest->ptr) : rest->len;
    ki_str part = ki_str_make(rest->ptr, len);
    *rest = at != NULL ? ki_str_make(at + 1, rest->len - len - 1) : ki_str_make(NULL, 0);
    return part;
}

static void check_body(const ki__api_exchange *x, const ki_buf *body)
{
    int status = ki__api_exchange_status(x);
    const char *type = ki__api_exchange_content_type(x);
    must(status >= 200 && status < 600 && body->len != 0);
    if (type[0] == 't') {
        return; /* plain text */
    }
    ki_object *object = NULL;
    int r = type[12] == 'j' ? ki_object_from_json(body->data, body->len, NULL, &object, NULL)
                            : ki_object_from_protobuf(body->data, body->len, NULL, &object, NULL);
    must(r == 0 || r == KI_ERR_LIMIT);
    ki_object_unref(object);
}

/* Pulls an answer to its end, or to where it waits; lists and failures are checked as a whole. */
static void pull(ki__api_exchange *x)
{
    ki_buf body;
    ki_str bytes;
    int r;
    ki_buf_init(&body, NULL, ANSWER_MAX);
    while ((r = ki__api_exchange_next(x, 1 + body.len % 997, &bytes)) == KI__API_DATA) {
        must(bytes.len != 0);
        if (ki_buf_add_str(&body, bytes) < 0) {
            break;
        }
    }
    must(r == KI__API_WAIT || r == KI__API_END || r == KI__API_DATA);
    if (r == KI__API_END && x->verb != KI__API_WATCH && x->taken == body.len) {
        check_body(x, &body);
    }
    must(r != KI__API_WAIT || ki__api_exchange_deadline(x) > now_ns);
    ki_buf_done(&body);
}

static void check_model(const ki__api_model *model)
{
    must(model->floor <= model->compacted && model->compacted <= model->head);
    size_t objects = 0;
    for (size_t i = 0; i < model->type_count; i++) {
        const ki__api_type *type = model->types[i];
        for (size_t j = 0; j < type->count; j++) {
            must(j == 0 || ki_str_cmp(ki__api_key_text(type->keys[j - 1]),
                                      ki__api_key_text(type->keys[j])) < 0);
            objects += ki__api_key_at(type->keys[j], model->head) != NULL ? 1 : 0;
        }
    }
    must(objects == model->objects);
}

static ki__api_exchange *request(ki__api_server *server, ki_str line)
{
    ki__api_header headers[2];
    ki_str head = take(&line, '|');
    ki__api_request r = {.method = take(&head, ' '), .target = take(&head, ' '), .body = line};
    headers[0] = (ki__api_header){ki_str_from("accept"), take(&head, ' ')};
    headers[1] = (ki__api_header){ki_str_from("content-type"), head};
    r.headers = headers;
    r.header_count = 2;
    ki__api_exchange *x = NULL;
    must(ki__api_exchange_new(server, &r, &x) == 0);
    return x;
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t len)
{
    const ki_clock clock = {0, monotonic, realtime, NULL};
    const ki_random random = {0, fill, NULL};
    const ki__api_model_options model_options = {
        .clock = &clock,
        .random = &random,
        .history_max = 16,
        .objects_max = 64,
        .object_bytes_max = 16384,
        .namespaces = len % 2 != 0,
        .collects_garbage = len % 3 != 0,
    };
    const ki__api_server_options server_options = {.window = len % 3, .lags = len % 5 == 0};
    ki__api_model *model = NULL;
    ki__api_server *server = NULL;
    ki__api_exchange *open[OPEN_MAX] = {NULL};
    ki_str rest = ki_str_make((const char *)bytes, len);
    must(ki__api_model_new(&model_options, &model) == 0);
    must(ki__api_server_new(model, &server_options, &server) == 0);
    for (size_t i = 0; i < REQUESTS_MAX && rest.len != 0; i++) {
        ki_str line = take(&rest, '\n');
        now_ns += line.len * 100000000;
        ki__api_exchange_free(open[i % OPEN_MAX]);
        open[i % OPEN_MAX] = request(server, line);
        ki__api_server_advance(server, ki__api_server_version(server) + line.len % 3);
        for (size_t j = 0; j < OPEN_MAX; j++) {
            if (open[j] != NULL) {
                pull(open[j]);
            }
        }
        check_model(model);
    }
    for (size_t j = 0; j < OPEN_MAX; j++) {
        ki__api_exchange_free(open[j]);
    }
    must(server->watch_count == 0);
    ki__api_server_free(server);
    ki__api_model_free(model);
    return 0;
}
