/* SPDX-License-Identifier: Apache-2.0 */
/* The server is controlled over its standard input and output, so that nothing of that shows
 * among the requests. */
#include "support/clienting.h"

#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include <kinformer/config.h>

static void note_log(const ki_log_record *record, void *user)
{
    clienting *c = user;
    pthread_mutex_lock(&c->lock);
    assert_int_equal(ki_buf_add_text(&c->logged, record->message), 0);
    for (size_t i = 0; i < record->field_count; i++) {
        assert_int_equal(ki_buf_add_char(&c->logged, ' '), 0);
        assert_int_equal(ki_buf_add_str(&c->logged, record->fields[i].value), 0);
    }
    assert_int_equal(ki_buf_add_char(&c->logged, '\n'), 0);
    pthread_mutex_unlock(&c->lock);
}

void clienting_begin(clienting *c)
{
    *c = (clienting){.fds = test_descriptors()};
    test_alloc_init(&c->alloc);
    pthread_mutex_init(&c->lock, NULL);
    ki_buf_init(&c->logged, NULL, 1 << 20);
    ki_buf_init(&c->asked, NULL, 1 << 24);
    c->log = (ki_log){.write = note_log, .level = KI_LOG_DEBUG, .user = c};
    test_server_start(&c->server, "api_server.py", ".");
    snprintf(c->text, sizeof(c->text),
             "{apiVersion: v1, kind: Config, current-context: c,"
             "clusters: [{name: c, cluster: {server: 'http://127.0.0.1:%d'}}],"
             "contexts: [{name: c, context: {cluster: c, user: u, namespace: shop}}],"
             "users: [{name: u, user: {token: secret}}]}",
             test_server_port(&c->server, "api"));
    ki_config_options options = KI_OPTIONS_INIT(ki_config_options);
    options.text = ki_str_from(c->text);
    options.alloc = &c->alloc.table;
    options.loopback_credentials = true;
    ki_error error = KI_ERROR_INIT;
    if (ki_config_load(&options, &c->config, &error) < 0) {
        fail_msg("%s", error.message);
    }
}

void clienting_loop(clienting *c)
{
    ki_loop_options options = KI_OPTIONS_INIT(ki_loop_options);
    options.alloc = &c->alloc.table;
    options.log = &c->log;
    assert_int_equal(ki_loop_new(&options, &c->loop, NULL), 0);
}

void clienting_open(clienting *c, ki_client_options *options)
{
    ki_client_options plain = KI_OPTIONS_INIT(ki_client_options);
    plain.qps = -1;
    ki_client_options *o = options != NULL ? options : &plain;
    o->config = c->config;
    o->loop = c->loop;
    o->alloc = &c->alloc.table;
    o->log = &c->log;
    ki_error error = KI_ERROR_INIT;
    if (ki_client_new(o, &c->client, &error) < 0) {
        fail_msg("%s", error.message);
    }
}

void clienting_end(clienting *c)
{
    c->client = ki_client_unref(c->client);
    c->loop = ki_loop_unref(c->loop);
    (void)ki_config_unref(c->config);
    test_server_stop(&c->server);
    ki_buf_done(&c->logged);
    ki_buf_done(&c->asked);
    pthread_mutex_destroy(&c->lock);
    test_alloc_done(&c->alloc);
    assert_int_equal(test_descriptors(), c->fds);
}

/* ---- the server ---- */

/* One byte at a time, as nothing may be taken that is not for us. */
static bool read_line(clienting *c, char *line, size_t size)
{
    size_t len = 0;
    while (len + 1 < size && read(c->server.output, &line[len], 1) == 1 && line[len] != '\n') {
        len++;
    }
    line[len] = '\0';
    return strcmp(line, ".") != 0;
}

static void command(clienting *c, const char *text, const char *rest)
{
    static char line[65536];
    int len = snprintf(line, sizeof(line), "%s%s\n", text, rest);
    for (int i = 0; i < len; i++) {
        line[i] = line[i] == '\'' ? '"' : line[i];
    }
    assert_int_equal(write(c->server.input, line, (size_t)len), len);
    ki_buf_clear(&c->asked);
    while (read_line(c, line, sizeof(line))) {
        bool ours = strncmp(line, "User-Agent: kinformer/", 22) == 0 ||
                    strncmp(line, "Authorization: ", 15) == 0;
        if (!ours) {
            assert_int_equal(ki_buf_add_text(&c->asked, line), 0);
            assert_int_equal(ki_buf_add_char(&c->asked, '\n'), 0);
        }
    }
}

void clienting_answer(clienting *c, const char *json)
{
    command(c, "answer ", json);
}

const char *clienting_asked(clienting *c)
{
    command(c, "asked", "");
    return ki_buf_text(&c->asked);
}

void clienting_forget(clienting *c)
{
    command(c, "forget", "");
}

/* ---- the rest ---- */

ki_object *clienting_object(const char *json)
{
    char text[4096];
    size_t len = strlen(json);
    assert_true(len < sizeof(text));
    for (size_t i = 0; i <= len; i++) {
        text[i] = json[i] == '\'' ? '"' : json[i];
    }
    ki_object *object = NULL;
    assert_int_equal(ki_object_from_json(text, len, NULL, &object, NULL), 0);
    return object;
}

uint64_t clienting_now_ms(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * 1000 + (uint64_t)now.tv_nsec / 1000000;
}

void clienting_until(clienting *c, atomic_bool *flag)
{
    uint64_t end = clienting_now_ms() + 20000;
    while (!atomic_load(flag) && clienting_now_ms() < end) {
        if (c->loop != NULL) {
            int r = ki_loop_dispatch(c->loop);
            (void)r; /* another thread may run it */
        }
        (void)nanosleep(&(struct timespec){.tv_nsec = 1000000}, NULL);
    }
    assert_true(atomic_load(flag));
}
