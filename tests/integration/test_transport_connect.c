/* SPDX-License-Identifier: Apache-2.0 */
/* How the transport connects: names with several addresses, and what happens while a connection is
 * being made. */
#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "support/transporting.h"

#define MS UINT64_C(1000000)

static test_server server;
static ki_buf ca;

static int start_server(void **state)
{
    (void)state;
    test_server_start(&server, "http_server.py", TEST_SCRATCH_DIR "/transport_connect");
    test_server_file(&server, "ca.crt", &ca);
    return 0;
}

static int stop_server(void **state)
{
    (void)state;
    ki_buf_done(&ca);
    test_server_stop(&server);
    return 0;
}

/* ---- servers that answer, and servers that do not ---- */

/* A listener on that address; any free port if it is 0. -1 if the port is taken. */
static int listen_at(const char *host, int port, int queue, int *ret_port)
{
    struct sockaddr_in address = {.sin_family = AF_INET, .sin_port = htons((uint16_t)port)};
    socklen_t len = sizeof(address);
    int yes = 1;
    assert_int_equal(inet_pton(AF_INET, host, &address.sin_addr), 1);
    int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    assert_true(fd >= 0);
    assert_int_equal(setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &yes, sizeof(yes)), 0);
    if (bind(fd, (struct sockaddr *)&address, len) < 0 || listen(fd, queue) < 0) {
        close(fd);
        return -1;
    }
    assert_int_equal(getsockname(fd, (struct sockaddr *)&address, &len), 0);
    *ret_port = ntohs(address.sin_port);
    return fd;
}

/* Keeps a port from other programs on this machine: connections to it are refused. */
static int reserve(const char *host, int port)
{
    struct sockaddr_in address = {.sin_family = AF_INET, .sin_port = htons((uint16_t)port)};
    assert_int_equal(inet_pton(AF_INET, host, &address.sin_addr), 1);
    int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    assert_true(fd >= 0);
    if (bind(fd, (struct sockaddr *)&address, sizeof(address)) < 0) {
        close(fd);
        return -1;
    }
    return fd;
}

enum { FILLERS = 3 };

/* A listener whose queue is full: SYNs to it are dropped. */
typedef struct full_listener {
    int listener;
    int fillers[FILLERS];
    int port;
} full_listener;

static bool full_open(full_listener *full, const char *host, int port)
{
    struct sockaddr_in address = {.sin_family = AF_INET};
    full->listener = listen_at(host, port, 0, &full->port);
    if (full->listener < 0) {
        return false;
    }
    address.sin_port = htons((uint16_t)full->port);
    assert_int_equal(inet_pton(AF_INET, host, &address.sin_addr), 1);
    for (size_t i = 0; i < FILLERS; i++) {
        full->fillers[i] = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
        assert_true(full->fillers[i] >= 0);
        (void)connect(full->fillers[i], (struct sockaddr *)&address, sizeof(address));
    }
    struct pollfd one = {.fd = full->fillers[0], .events = POLLOUT};
    assert_int_equal(poll(&one, 1, 10000), 1); /* the queue has this one, and is full */
    return true;
}

static void full_close(full_listener *full)
{
    for (size_t i = 0; i < FILLERS; i++) {
        close(full->fillers[i]);
    }
    close(full->listener);
}

static void answer_for_ever(int listener)
{
    static const char ok[] = "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n"
                             "Connection: close\r\n\r\nok";
    (void)prctl(PR_SET_PDEATHSIG, SIGKILL);
    for (;;) {
        char head[4096];
        int fd = accept(listener, NULL, NULL);
        if (fd >= 0 && read(fd, head, sizeof(head)) > 0) {
            (void)!write(fd, ok, strlen(ok));
        }
        close(fd);
    }
}

/* Closes each connection after the request, or leaves it open. */
static void accept_for_ever(int listener, bool closes)
{
    (void)prctl(PR_SET_PDEATHSIG, SIGKILL);
    for (;;) {
        char head[4096];
        int fd = accept(listener, NULL, NULL);
        if (fd >= 0 && closes) {
            (void)!read(fd, head, sizeof(head));
            close(fd);
        }
    }
}

/* ---- three addresses ---- */

enum { HOSTS = 3 };
static const char *const hosts[HOSTS] = {"127.0.0.1", "127.0.0.2", "127.0.0.3"};

typedef enum manner {
    REFUSES,
    REFUSES_LATE, /* drops the first SYN */
    NEVER_ANSWERS,
    ANSWERS,
    CLOSES, /* accepts, and closes the connection without a response */
    HANGS   /* accepts, and never responds */
} manner;

typedef struct three {
    manner manners[HOSTS];
    int port;
    full_listener full[HOSTS];
    int listeners[HOSTS]; /* a child accepts, if it listens; -1: none */
    pid_t children[HOSTS];
    char resolve[128];
    char url[64];
} three;

static bool open_host(three *h, size_t i)
{
    switch (h->manners[i]) {
    case REFUSES:
        h->listeners[i] = reserve(hosts[i], h->port);
        return h->listeners[i] >= 0;
    case REFUSES_LATE:
    case NEVER_ANSWERS:
        return full_open(&h->full[i], hosts[i], h->port);
    case ANSWERS:
    case CLOSES:
    case HANGS:
        break;
    }
    int port;
    h->listeners[i] = listen_at(hosts[i], h->port, 16, &port);
    return h->listeners[i] >= 0;
}

static void close_host(three *h, size_t i)
{
    if (h->manners[i] == REFUSES_LATE || h->manners[i] == NEVER_ANSWERS) {
        full_close(&h->full[i]);
        h->manners[i] = REFUSES;
    }
    if (h->listeners[i] >= 0) {
        close(h->listeners[i]);
        h->listeners[i] = -1;
    }
    if (h->children[i] != 0) {
        (void)kill(h->children[i], SIGKILL);
        assert_int_equal(waitpid(h->children[i], NULL, 0), h->children[i]);
    }
}

static void accept_at(three *h, size_t i)
{
    h->children[i] = fork();
    assert_true(h->children[i] >= 0);
    if (h->children[i] != 0) {
        return;
    }
    if (h->manners[i] == ANSWERS) {
        answer_for_ever(h->listeners[i]);
    } else {
        accept_for_ever(h->listeners[i], h->manners[i] == CLOSES);
    }
}

/* All on one port, which must be free on all of them. */
static void three_open(three *h, const manner *manners)
{
    size_t opened = 0;
    do {
        *h = (three){.listeners = {-1, -1, -1}};
        memcpy(h->manners, manners, sizeof(h->manners));
        int probe = listen_at("127.0.0.9", 0, 1, &h->port);
        assert_true(probe >= 0);
        for (opened = 0; opened < HOSTS && open_host(h, opened); opened++) {
        }
        close(probe);
        for (size_t i = 0; opened < HOSTS && i < opened; i++) {
            close_host(h, i);
        }
    } while (opened < HOSTS);
    snprintf(h->resolve, sizeof(h->resolve), "api.test:%d:%s,%s,%s", h->port, hosts[0], hosts[1],
             hosts[2]);
    snprintf(h->url, sizeof(h->url), "http://api.test:%d", h->port);
    for (size_t i = 0; i < HOSTS; i++) {
        if (h->manners[i] >= ANSWERS) {
            accept_at(h, i);
        }
    }
}

static void three_close(three *h)
{
    for (size_t i = 0; i < HOSTS; i++) {
        close_host(h, i);
    }
}

static int64_t now_ms(void)
{
    struct timespec t;
    (void)clock_gettime(CLOCK_MONOTONIC, &t);
    return (int64_t)t.tv_sec * 1000 + t.tv_nsec / 1000000;
}

/* Asks, and says how long it took. */
static int64_t ask_three(const manner *manners, bool proxy)
{
    transporting t;
    three h;
    transporting_begin(&t);
    three_open(&h, manners);
    ki__curl_options options = {.url = h.url, .resolve = h.resolve};
    if (proxy) {
        options.proxy = h.url;
        options.url = "http://behind.test";
    }
    transporting_open(&t, &options, "http", 0);
    exchange e;
    exchange_init(&e, &t, "/echo", "");
    int64_t began = now_ms();
    exchange_start(&e);
    transporting_for(&t, 50);
    for (size_t i = 0; i < HOSTS; i++) {
        if (h.manners[i] == REFUSES_LATE) {
            close_host(&h, i);
        }
    }
    transporting_until(&t, &e.ended);
    int64_t took = now_ms() - began;
    if (!e.complete) {
        fail_msg("%d %d %d: %s", manners[0], manners[1], manners[2], e.error.message);
    }
    assert_string_equal(ki_buf_text(&e.body), "ok");
    exchange_done(&e);
    /* Where it was reached comes first from now on. */
    exchange_init(&e, &t, "/echo", "");
    exchange_run(&e);
    assert_true(e.complete);
    exchange_done(&e);
    three_close(&h);
    transporting_end(&t);
    return took;
}

static void one_of_three_addresses_will_do(void **state)
{
    (void)state;
    int64_t longest = 0;
    for (manner other = REFUSES; other <= NEVER_ANSWERS; other++) {
        for (manner another = REFUSES; another <= NEVER_ANSWERS; another++) {
            for (size_t good = 0; good < HOSTS; good++) {
                manner manners[HOSTS] = {other, other, other};
                manners[(good + 2) % HOSTS] = another;
                manners[good] = ANSWERS;
                int64_t took = ask_three(manners, false);
                longest = took > longest ? took : longest;
            }
        }
    }
    if (longest >= 5000) {
        fail_msg("it took %lld ms", (long long)longest);
    }
}

static void so_it_is_with_a_proxy(void **state)
{
    (void)state;
    static const manner manners[HOSTS] = {NEVER_ANSWERS, REFUSES, ANSWERS};
    assert_true(ask_three(manners, true) < 5000);
}

/* An address that accepts and does not respond fails a request, but is not tried first again. */
static void addresses_without_a_response_come_last(void **state)
{
    (void)state;
    static const manner bad[] = {CLOSES, HANGS};
    for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
        const manner manners[HOSTS] = {bad[i], bad[i], ANSWERS};
        transporting t;
        three h;
        exchange e;
        transporting_begin(&t);
        three_open(&h, manners);
        ki__curl_options options = {
            .url = h.url, .resolve = h.resolve, .idle_timeout_ns = 500 * MS};
        transporting_open(&t, &options, "http", 0);
        for (int request = 0; request < 5; request++) {
            exchange_init(&e, &t, "/echo", "");
            exchange_run(&e);
            assert_int_equal(e.complete, request >= 2);
            exchange_done(&e);
        }
        three_close(&h);
        transporting_end(&t);
    }
}

/* A waiter may give up sooner than the transport: that counts if it took long. */
static void a_cancelled_request_counts_if_it_waited_for_long(void **state)
{
    (void)state;
    static const manner manners[HOSTS] = {HANGS, REFUSES, ANSWERS};
    transporting t;
    three h;
    exchange e;
    transporting_begin(&t);
    three_open(&h, manners);
    ki__curl_options options = {.url = h.url, .resolve = h.resolve};
    transporting_open(&t, &options, "http", 0);
    for (int i = 0; i < 2; i++) {
        exchange_init(&e, &t, "/echo", "");
        exchange_start(&e);
        transporting_for(&t, i == 0 ? 100 : 5200);
        assert_false(e.ended);
        exchange_cancel(&e);
        exchange_done(&e);
    }
    exchange_init(&e, &t, "/echo", "");
    exchange_run(&e);
    assert_true(e.complete);
    exchange_done(&e);
    three_close(&h);
    transporting_end(&t);
}

/* ... and the name is what is sent and verified. */
static void so_it_is_with_tls(void **state)
{
    (void)state;
    transporting t;
    exchange e;
    full_listener full;
    char url[64];
    char resolve[128];
    int port = test_server_port(&server, "only-name");
    snprintf(url, sizeof(url), "https://api.test:%d", port);
    snprintf(resolve, sizeof(resolve), "api.test:%d:127.0.0.2,127.0.0.3,127.0.0.1", port);
    ki__curl_options options = {.url = url, .resolve = resolve, .tls.ca = ki_buf_str(&ca)};
    transporting_begin(&t);
    assert_true(full_open(&full, "127.0.0.2", port));
    transporting_open(&t, &options, "https", 0);
    exchange_init(&e, &t, "/echo", "");
    exchange_run(&e);
    if (!e.complete) {
        fail_msg("%s", e.error.message);
    }
    exchange_done(&e);
    full_close(&full);
    transporting_end(&t);
}

/* libcurl asks for a socket of the first family, and takes what connected. */
static void either_family_will_do(void **state)
{
    (void)state;
    static const struct {
        const char *name;
        const char *addresses;
    } cases[] = {{"plain", "[::1],127.0.0.1"},
                 {"plain", "127.0.0.3,[::1],127.0.0.1"},
                 {"plain6", "[::1],127.0.0.1"},
                 {"plain6", "127.0.0.1,127.0.0.2,[::1]"}};
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        transporting t;
        exchange e;
        char url[64];
        char resolve[128];
        int port = test_server_port(&server, cases[i].name);
        if (port == 0) {
            continue; /* this machine has no IPv6 */
        }
        snprintf(url, sizeof(url), "http://api.test:%d", port);
        snprintf(resolve, sizeof(resolve), "api.test:%d:%s", port, cases[i].addresses);
        ki__curl_options options = {.url = url, .resolve = resolve};
        transporting_begin(&t);
        transporting_open(&t, &options, "http", 0);
        exchange_init(&e, &t, "/echo", "");
        exchange_run(&e);
        if (!e.complete) {
            fail_msg("%s: %s", cases[i].addresses, e.error.message);
        }
        exchange_done(&e);
        transporting_end(&t);
    }
}

static void unreachable_addresses_are_reported_with_reasons(void **state)
{
    (void)state;
    static const manner refuse[HOSTS] = {REFUSES, REFUSES, REFUSES};
    static const manner silent[HOSTS] = {REFUSES, NEVER_ANSWERS, NEVER_ANSWERS};
    transporting t;
    exchange e;
    three h;
    transporting_begin(&t);
    three_open(&h, refuse);
    ki__curl_options options = {.url = h.url, .resolve = h.resolve};
    transporting_open(&t, &options, "http", 0);
    exchange_init(&e, &t, "/echo", "");
    exchange_run(&e);
    assert_int_equal(e.error.code, -ECONNREFUSED);
    for (size_t i = 0; i < HOSTS; i++) {
        char part[64];
        snprintf(part, sizeof(part), "%s: connection refused", hosts[i]);
        assert_non_null(strstr(e.error.message, part));
    }
    exchange_done(&e);
    three_close(&h);
    transporting_end(&t);

    transporting_begin(&t);
    three_open(&h, silent);
    options =
        (ki__curl_options){.url = h.url, .resolve = h.resolve, .connect_timeout_ns = 800 * MS};
    transporting_open(&t, &options, "http", 0);
    exchange_init(&e, &t, "/echo", "");
    exchange_run(&e);
    assert_int_equal(e.error.code, -ETIMEDOUT);
    assert_non_null(strstr(e.error.message, "127.0.0.1: connection refused"));
    assert_non_null(strstr(e.error.message, "127.0.0.3: no response"));
    exchange_done(&e);
    three_close(&h);
    transporting_end(&t);
}

/* ---- streams connect once ---- */

enum { STREAMS = 5 };

static void streams_do_not_connect_all_at_once(void **state)
{
    (void)state;
    for (int cancel = 0; cancel < 2; cancel++) {
        transporting t;
        exchange e[STREAMS];
        full_listener full;
        transporting_begin(&t);
        assert_true(full_open(&full, "127.0.0.1", 0));
        ki__curl_options options = {.tls.insecure = true, .connect_timeout_ns = 3000 * MS};
        transporting_open(&t, &options, "https", full.port);
        size_t before = test_descriptors();
        int64_t began = now_ms();
        for (size_t i = 0; i < STREAMS; i++) {
            exchange_init(&e[i], &t, "/stream", "");
            e[i].request.stream = true;
            exchange_start(&e[i]);
        }
        while (test_descriptors() == before) {
            transporting_for(&t, 10);
        }
        transporting_for(&t, 200);
        assert_int_equal(test_descriptors(), before + 1);
        if (cancel != 0) {
            exchange_cancel(&e[0]); /* another takes its place */
            transporting_for(&t, 200);
            assert_true(test_descriptors() <= before + 1);
        }
        for (size_t i = cancel != 0 ? 1 : 0; i < STREAMS; i++) {
            transporting_until(&t, &e[i].ended);
            assert_int_equal(e[i].error.code, -ETIMEDOUT);
        }
        assert_true(now_ms() - began < 10000); /* together, not one after the other: 15 s */
        for (size_t i = 0; i < STREAMS; i++) {
            exchange_done(&e[i]);
        }
        full_close(&full);
        transporting_end(&t);
    }
}

/* ---- descriptors ---- */

static void lack_of_descriptors_is_reported(void **state)
{
    (void)state;
    transporting t;
    exchange e;
    ki__curl_options options = {0};
    transporting_begin(&t);
    transporting_open(&t, &options, "http", test_server_port(&server, "plain"));
    struct rlimit before;
    assert_int_equal(getrlimit(RLIMIT_NOFILE, &before), 0);
    int next = open("/dev/null", O_RDONLY | O_CLOEXEC); /* the next number */
    assert_true(next >= 0);
    close(next);
    for (int left = 0; left < 2; left++) { /* none for the connection; one, so none to watch it */
        struct rlimit none = {.rlim_cur = (rlim_t)(next + left), .rlim_max = before.rlim_max};
        exchange_init(&e, &t, "/echo", "");
        assert_int_equal(setrlimit(RLIMIT_NOFILE, &none), 0);
        exchange_run(&e);
        assert_int_equal(setrlimit(RLIMIT_NOFILE, &before), 0);
        /* A response that is there at once needs no watching. */
        if (left == 0 || !e.complete) {
            assert_int_equal(e.error.code, -EMFILE);
            assert_non_null(strstr(e.error.message, "too many open files"));
        }
        exchange_done(&e);
    }
    exchange_init(&e, &t, "/echo", "");
    exchange_run(&e);
    assert_true(e.complete);
    exchange_done(&e);
    transporting_end(&t);
}

/* ---- fork ---- */

static bool is_one_of(const full_listener *full, int fd)
{
    bool is = fd == full->listener;
    for (size_t i = 0; i < FILLERS; i++) {
        is = is || fd == full->fillers[i];
    }
    return is;
}

/* Has something happen on every socket of the transport's; then it waits, with all of them open,
 * for the end of the parent's pipe. */
static void disturb_sockets(const full_listener *full, int go, int done)
{
    char byte;
    if (read(go, &byte, 1) != 1) {
        _exit(1);
    }
    for (int fd = 3; fd < 256; fd++) {
        if (!is_one_of(full, fd)) {
            (void)shutdown(fd, SHUT_RDWR); /* does nothing to what is no socket */
        }
    }
    if (write(done, "d", 1) != 1) {
        _exit(1);
    }
    _exit(read(go, &byte, 1) == 0 ? 0 : 1);
}

/* libcurl 7.88 closes a socket that is not connected yet before it says so. The child has the open
 * file, so that epoll's registration would stay forever. */
static void a_forked_child_does_not_keep_cancelled_connections_registered(void **state)
{
    (void)state;
    transporting t;
    exchange e;
    full_listener full;
    int go[2];
    int done[2];
    assert_true(full_open(&full, "127.0.0.1", 0));
    transporting_begin(&t);
    ki__curl_options options = {0};
    transporting_open(&t, &options, "http", full.port);
    exchange_init(&e, &t, "/echo", "");
    size_t before = test_descriptors();
    exchange_start(&e);
    while (test_descriptors() == before) {
        transporting_for(&t, 10);
    }
    transporting_for(&t, 100);
    assert_int_equal(pipe(go), 0);
    assert_int_equal(pipe(done), 0);
    pid_t child = fork();
    if (child == 0) {
        close(go[1]);
        disturb_sockets(&full, go[0], done[1]);
    }
    exchange_cancel(&e);
    transporting_for(&t, 100);
    char byte;
    assert_int_equal(write(go[1], "g", 1), 1);
    assert_int_equal(read(done[0], &byte, 1), 1);
    for (int i = 0; i < 5; i++) {
        assert_true(ki_loop_dispatch(t.loop) >= 0);
    }
    struct pollfd busy = {.fd = ki_loop_fd(t.loop), .events = POLLIN};
    assert_int_equal(poll(&busy, 1, 0), 0);
    close(go[0]);
    close(go[1]);
    int status = 0;
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_true(WIFEXITED(status) && WEXITSTATUS(status) == 0);
    close(done[0]);
    close(done[1]);
    exchange_done(&e);
    transporting_end(&t);
    full_close(&full);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(one_of_three_addresses_will_do),
        cmocka_unit_test(so_it_is_with_a_proxy),
        cmocka_unit_test(addresses_without_a_response_come_last),
        cmocka_unit_test(a_cancelled_request_counts_if_it_waited_for_long),
        cmocka_unit_test(so_it_is_with_tls),
        cmocka_unit_test(either_family_will_do),
        cmocka_unit_test(unreachable_addresses_are_reported_with_reasons),
        cmocka_unit_test(streams_do_not_connect_all_at_once),
        cmocka_unit_test(lack_of_descriptors_is_reported),
        cmocka_unit_test(a_forked_child_does_not_keep_cancelled_connections_registered),
    };
    return cmocka_run_group_tests(tests, start_server, stop_server);
}
