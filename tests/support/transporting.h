/* SPDX-License-Identifier: Apache-2.0 */
/* For the tests of the libcurl transport: a server in a process of its own, a loop with a transport
 * on it, and exchanges that note what their sinks hear. */
#ifndef TESTS_SUPPORT_TRANSPORTING_H
#define TESTS_SUPPORT_TRANSPORTING_H

#include <sys/types.h>

#include <kinformer/buf.h>

#include "client/curl/curl_transport.h"
#include "support/test.h"

enum { SERVER_PORTS = 64, SERVER_FOLDER = 512 };

typedef struct test_server {
    pid_t pid;
    int input; /* it ends when this is closed */
    int output;
    size_t count;
    char names[SERVER_PORTS][32];
    int ports[SERVER_PORTS];
    char folder[SERVER_FOLDER]; /* certificates, a Unix socket */
} test_server;

/** Starts a Python script and waits until it says that it is ready. */
void test_server_start(test_server *server, const char *script, const char *argument);
void test_server_stop(test_server *server);
int test_server_port(const test_server *server, const char *name);
/** Gives a server that takes commands one, and copies its answer. */
void test_server_ask(test_server *server, char *answer, size_t size, const char *format, ...)
    __attribute__((format(printf, 4, 5)));
/** The same where the answer is a number, or does not matter. */
long test_server_do(test_server *server, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
/** The content of a file in the server's folder; ends with ki_buf_done(). */
void test_server_file(const test_server *server, const char *name, ki_buf *ret_content);

typedef struct transporting {
    test_alloc alloc;
    size_t fds;
    ki_loop *loop;
    ki__curl *curl;
    ki__throttle *throttle; /* NULL: no rate limit; freed with the transport */
    ki_log log;
    ki_buf logged;
    char url[128];
    int64_t longest_ms; /* CPU time of the longest dispatch: wall time counts other programs */
} transporting;

typedef struct exchange {
    transporting *t;
    ki_http_request request;
    ki_engine_task *task; /* starts it */
    void *call;
    bool started; /* start was called, and said `code` */
    int code;
    ki_error start_error;
    int status;
    ki_buf headers; /* "name: value\n" */
    ki_buf body;
    size_t bodies; /* calls of on_body */
    bool ended;
    bool complete; /* without an error */
    ki_error error;
    void (*in_response)(struct exchange *e);
    void (*in_body)(struct exchange *e);
    void (*in_end)(struct exchange *e);
    void *user;
} exchange;

size_t test_descriptors(void);

/** A loop; then a transport with `options`, whose loop is set here and whose URL is made of scheme
 *  and port if there is none. */
void transporting_begin(transporting *t);
void transporting_begin_at(transporting *t, const ki_clock *clock);
void transporting_open(transporting *t, ki__curl_options *options, const char *scheme, int port);
/** Closes what is open. Nothing may be left: memory, descriptors. */
void transporting_close(transporting *t);
void transporting_end(transporting *t);

/** Runs the loop until *flag, or fails the test after ten seconds. */
void transporting_until(transporting *t, const bool *flag);
/** Runs it for so long. */
void transporting_for(transporting *t, int ms);

/** Prepares GET `path`. */
void exchange_init(exchange *e, transporting *t, const char *path, const char *query);
/** Has it started inside ki_engine_run(). */
void exchange_start(exchange *e);
/** Starts it and waits for its end. */
void exchange_run(exchange *e);
void exchange_done(exchange *e);
/** Inside a callback, or while nobody runs the loop. */
void exchange_cancel(exchange *e);
void exchange_pause(exchange *e, bool paused);

#endif
