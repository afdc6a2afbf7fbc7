/* SPDX-License-Identifier: Apache-2.0 */
/* A server process, a transport on a loop, and exchanges over it. */
#include "support/transporting.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

extern char **environ;

enum { PATIENCE_MS = 60000 };

/* ---- the server ---- */

static void read_ports(test_server *server)
{
    FILE *lines = fdopen(dup(server->output), "r");
    char line[128];
    assert_non_null(lines);
    while (fgets(line, sizeof(line), lines) != NULL) {
        char *blank = strchr(line, ' ');
        assert_non_null(blank);
        *blank = '\0';
        if (strcmp(line, "ready") == 0) {
            fclose(lines);
            return;
        }
        assert_true(server->count < SERVER_PORTS);
        snprintf(server->names[server->count], sizeof(server->names[0]), "%.31s", line);
        server->ports[server->count++] = (int)strtol(blank + 1, NULL, 10);
    }
    fclose(lines);
    fail_msg("the server did not start");
}

void test_server_start(test_server *server, const char *script, const char *argument)
{
    int in[2];
    int out[2];
    char path[512];
    *server = (test_server){0};
    assert_int_equal(pipe2(in, O_CLOEXEC), 0);
    assert_int_equal(pipe2(out, O_CLOEXEC), 0);
    snprintf(path, sizeof(path), "%s/integration/%s", TEST_SOURCE_DIR, script);
    snprintf(server->folder, sizeof(server->folder), "%s", argument);
    char *const words[] = {(char *)(uintptr_t)TEST_PYTHON, (char *)(uintptr_t) "-B", path,
                           server->folder, NULL};
    posix_spawn_file_actions_t actions;
    posix_spawn_file_actions_init(&actions);
    posix_spawn_file_actions_adddup2(&actions, in[0], 0);
    posix_spawn_file_actions_adddup2(&actions, out[1], 1);
    assert_int_equal(posix_spawnp(&server->pid, words[0], &actions, NULL, words, environ), 0);
    posix_spawn_file_actions_destroy(&actions);
    close(in[0]);
    close(out[1]);
    server->input = in[1];
    server->output = out[0];
    read_ports(server);
}

void test_server_stop(test_server *server)
{
    close(server->input);
    close(server->output);
    (void)kill(server->pid, SIGKILL);
    assert_int_equal(waitpid(server->pid, NULL, 0), server->pid);
}

int test_server_port(const test_server *server, const char *name)
{
    for (size_t i = 0; i < server->count; i++) {
        if (strcmp(server->names[i], name) == 0) {
            return server->ports[i];
        }
    }
    fail_msg("the server has no socket of that name: %s", name);
    return 0;
}

static void ask(test_server *server, char *answer, size_t size, const char *format, va_list args)
{
    char line[512];
    size_t at = 0;
    int len = vsnprintf(line, sizeof(line) - 1, format, args);
    assert_in_range(len, 1, sizeof(line) - 2);
    line[len++] = '\n';
    assert_int_equal(write(server->input, line, (size_t)len), len);
    for (;;) {
        assert_true(at + 1 < size);
        ssize_t got = read(server->output, answer + at, size - at - 1);
        assert_true(got > 0);
        at += (size_t)got;
        answer[at] = '\0';
        if (answer[at - 1] == '\n') {
            answer[at - 1] = '\0';
            return;
        }
    }
}

void test_server_ask(test_server *server, char *answer, size_t size, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    ask(server, answer, size, format, args);
    va_end(args);
}

long test_server_do(test_server *server, const char *format, ...)
{
    char answer[256];
    va_list args;
    va_start(args, format);
    ask(server, answer, sizeof(answer), format, args);
    va_end(args);
    return strtol(answer, NULL, 10);
}

void test_server_file(const test_server *server, const char *name, ki_buf *ret_content)
{
    char path[SERVER_FOLDER + 64];
    char bytes[4096];
    size_t got;
    snprintf(path, sizeof(path), "%s/%s", server->folder, name);
    FILE *file = fopen(path, "r");
    assert_non_null(file);
    ki_buf_init(ret_content, NULL, 1 << 20);
    while ((got = fread(bytes, 1, sizeof(bytes), file)) != 0) {
        assert_int_equal(ki_buf_add(ret_content, bytes, got), 0);
    }
    fclose(file);
}

/* ---- the transport ---- */

size_t test_descriptors(void)
{
    size_t count = 0;
    DIR *dir = opendir("/proc/self/fd");
    assert_non_null(dir);
    while (readdir(dir) != NULL) {
        count++;
    }
    closedir(dir);
    return count;
}

static void note_log(const ki_log_record *record, void *user)
{
    transporting *t = user;
    assert_int_equal(ki_buf_add_text(&t->logged, record->message), 0);
    for (size_t i = 0; i < record->field_count; i++) {
        assert_int_equal(ki_buf_add_char(&t->logged, ' '), 0);
        assert_int_equal(ki_buf_add_str(&t->logged, record->fields[i].value), 0);
    }
}

void transporting_begin(transporting *t)
{
    transporting_begin_at(t, NULL);
}

void transporting_begin_at(transporting *t, const ki_clock *clock)
{
    *t = (transporting){.fds = test_descriptors()};
    test_alloc_init(&t->alloc);
    ki_buf_init(&t->logged, NULL, 4 << 20);
    t->log = (ki_log){.write = note_log, .level = KI_LOG_DEBUG, .user = t};
    ki_loop_options options = KI_OPTIONS_INIT(ki_loop_options);
    options.alloc = &t->alloc.table;
    options.log = &t->log;
    options.clock = clock;
    assert_int_equal(ki_loop_new(&options, &t->loop, NULL), 0);
}

void transporting_open(transporting *t, ki__curl_options *options, const char *scheme, int port)
{
    ki_error error = KI_ERROR_INIT;
    snprintf(t->url, sizeof(t->url), "%s://127.0.0.1:%d", scheme, port);
    options->loop = t->loop;
    if (options->url == NULL) {
        options->url = t->url;
    }
    int r = ki__curl_new(options, &t->curl, &error);
    if (r < 0) {
        fail_msg("%s: %s", ki_error_name(r), error.message);
    }
}

void transporting_close(transporting *t)
{
    ki__throttle_free(t->throttle);
    t->throttle = NULL;
    ki__curl_free(t->curl);
    t->curl = NULL;
}

void transporting_end(transporting *t)
{
    transporting_close(t);
    assert_int_equal(ki_loop_join(t->loop), 0); /* threads of handlers have memory, too */
    t->loop = ki_loop_unref(t->loop);
    ki_buf_done(&t->logged);
    test_alloc_done(&t->alloc);
    assert_int_equal(test_descriptors(), t->fds);
}

static int64_t read_ms(clockid_t clock)
{
    struct timespec now;
    clock_gettime(clock, &now);
    return (int64_t)now.tv_sec * 1000 + now.tv_nsec / 1000000;
}

static int64_t now_ms(void)
{
    return read_ms(CLOCK_MONOTONIC);
}

static void run_until(transporting *t, const bool *flag, int ms)
{
    int64_t end = now_ms() + ms;
    while (!*flag && now_ms() < end) {
        int64_t before = read_ms(CLOCK_THREAD_CPUTIME_ID);
        assert_true(ki_loop_dispatch(t->loop) >= 0);
        int64_t took = read_ms(CLOCK_THREAD_CPUTIME_ID) - before;
        t->longest_ms = took > t->longest_ms ? took : t->longest_ms;
        struct pollfd poll_fd = {.fd = ki_loop_fd(t->loop), .events = POLLIN};
        if (!*flag) {
            (void)poll(&poll_fd, 1, ms < 10 ? ms : 10);
        }
    }
}

void transporting_until(transporting *t, const bool *flag)
{
    run_until(t, flag, PATIENCE_MS);
    assert_true(*flag);
}

void transporting_for(transporting *t, int ms)
{
    const bool never = false;
    run_until(t, &never, ms);
}

/* ---- exchanges ---- */

static void on_response(int status, const ki_http_header *headers, size_t header_count, void *user)
{
    exchange *e = user;
    assert_false(e->ended);
    assert_int_equal(e->status, 0);
    e->status = status;
    for (size_t i = 0; i < header_count; i++) {
        assert_int_equal(ki_buf_add_str(&e->headers, headers[i].name), 0);
        assert_int_equal(ki_buf_add_text(&e->headers, ": "), 0);
        assert_int_equal(ki_buf_add_str(&e->headers, headers[i].value), 0);
        assert_int_equal(ki_buf_add_char(&e->headers, '\n'), 0);
    }
    if (e->in_response != NULL) {
        e->in_response(e);
    }
}

static void on_body(ki_str bytes, void *user)
{
    exchange *e = user;
    assert_false(e->ended);
    assert_int_not_equal(e->status, 0);
    assert_int_not_equal(bytes.len, 0);
    assert_int_equal(ki_buf_add_str(&e->body, bytes), 0);
    e->bodies++;
    if (e->in_body != NULL) {
        e->in_body(e);
    }
}

static void on_end(const ki_error *error, void *user)
{
    exchange *e = user;
    assert_false(e->ended);
    e->ended = true;
    e->complete = error == NULL;
    if (error != NULL) {
        assert_true(error->code < 0);
        assert_true(error->message[0] != '\0');
        e->error = *error;
    }
    if (e->in_end != NULL) {
        e->in_end(e);
    }
}

static void start(void *user)
{
    exchange *e = user;
    const ki_http_sink sink = {
        .on_response = on_response, .on_body = on_body, .on_end = on_end, .user = e};
    ki_transport transport = ki__curl_table(e->t->curl);
    if (e->t->throttle != NULL) {
        e->code = ki__curl_start_throttled(e->t->curl, e->t->throttle, &e->request, &sink, &e->call,
                                           &e->start_error);
    } else {
        e->code = transport.start(&e->request, &sink, transport.user, &e->call, &e->start_error);
    }
    e->started = true;
    if (e->code < 0) {
        assert_int_equal(e->start_error.code, e->code);
        e->ended = true;
        e->error = e->start_error;
    }
}

void exchange_init(exchange *e, transporting *t, const char *path, const char *query)
{
    *e = (exchange){.t = t};
    e->request = (ki_http_request){.method = "GET", .path = path, .query = query};
    ki_buf_init(&e->headers, NULL, 1 << 20);
    ki_buf_init(&e->body, NULL, 256 << 20);
}

void exchange_start(exchange *e)
{
    ki_engine *engine = ki_loop_engine(e->t->loop);
    int r = ki_engine_task_new(engine, start, e, &e->task, NULL);
    if (r < 0) { /* only if allocations are made to fail */
        e->code = r;
        e->error.code = r;
        e->ended = true;
        return;
    }
    ki_engine_task_post(e->task);
}

void exchange_run(exchange *e)
{
    exchange_start(e);
    transporting_until(e->t, &e->ended);
}

void exchange_cancel(exchange *e)
{
    ki_transport transport = ki__curl_table(e->t->curl);
    transport.cancel(e->call, transport.user);
}

void exchange_pause(exchange *e, bool paused)
{
    ki_transport transport = ki__curl_table(e->t->curl);
    transport.pause(e->call, paused, transport.user);
}

void exchange_done(exchange *e)
{
    e->task = ki_engine_task_unref(e->task);
    ki_buf_done(&e->headers);
    ki_buf_done(&e->body);
}
