/* SPDX-License-Identifier: Apache-2.0 */
/* How the transport connects: what happens while a connection is being made. */
#include <arpa/inet.h>
#include <errno.h>
#include <netinet/in.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "support/transporting.h"

/* ---- servers that never answer ---- */

enum { FILLERS = 3 };

/* A listener whose queue is full: SYNs to it are dropped. */
typedef struct full_listener {
    int listener;
    int fillers[FILLERS];
    int port;
} full_listener;

static void full_open(full_listener *full, const char *host)
{
    struct sockaddr_in address = {.sin_family = AF_INET};
    socklen_t len = sizeof(address);
    assert_int_equal(inet_pton(AF_INET, host, &address.sin_addr), 1);
    full->listener = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    assert_int_equal(bind(full->listener, (struct sockaddr *)&address, len), 0);
    assert_int_equal(listen(full->listener, 0), 0);
    assert_int_equal(getsockname(full->listener, (struct sockaddr *)&address, &len), 0);
    for (size_t i = 0; i < FILLERS; i++) {
        full->fillers[i] = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
        assert_true(full->fillers[i] >= 0);
        (void)connect(full->fillers[i], (struct sockaddr *)&address, len); /* in progress */
    }
    full->port = ntohs(address.sin_port);
    struct pollfd one = {.fd = full->fillers[0], .events = POLLOUT};
    assert_int_equal(poll(&one, 1, 10000), 1); /* the queue has this one, and is full */
}

static void full_close(full_listener *full)
{
    for (size_t i = 0; i < FILLERS; i++) {
        close(full->fillers[i]);
    }
    close(full->listener);
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
 * file, so that epoll's registration would stay for good. */
static void a_forked_child_does_not_keep_cancelled_connections_registered(void **state)
{
    (void)state;
    transporting t;
    exchange e;
    full_listener full;
    int go[2];
    int done[2];
    full_open(&full, "127.0.0.1");
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
        cmocka_unit_test(a_forked_child_does_not_keep_cancelled_connections_registered),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
