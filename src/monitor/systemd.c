/* SPDX-License-Identifier: Apache-2.0 */
/* systemd's notifications, by its protocol: one datagram of lines to the socket that the
 * environment names. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "base/digits.h"
#include "base/error.h"
#include "client/client.h"
#include "monitor/checks.h"

enum { REPORT_MAX = 1 << 20, MESSAGE_MAX = 4096, STATUS_MAX = 1024 };

/* An address that begins with @ is an abstract one. */
static int make_address(const char *path, struct sockaddr_un *address, socklen_t *ret_len)
{
    size_t len = strlen(path);
    *address = (struct sockaddr_un){.sun_family = AF_UNIX};
    if (path[0] != '/' && path[0] != '@') {
        return -EAFNOSUPPORT;
    }
    if (len >= sizeof(address->sun_path)) {
        return -ENAMETOOLONG;
    }
    memcpy(address->sun_path, path, len);
    if (path[0] == '@') {
        address->sun_path[0] = '\0';
    }
    *ret_len = (socklen_t)(offsetof(struct sockaddr_un, sun_path) + len + (path[0] == '/'));
    return 0;
}

static int send_to(const char *path, ki_str message)
{
    struct sockaddr_un address;
    socklen_t len = 0;
    int r = make_address(path, &address, &len);
    if (r < 0) {
        return r;
    }
    int fd = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);
    if (fd < 0) {
        return -errno;
    }
    ssize_t sent = sendto(fd, message.ptr, message.len, MSG_NOSIGNAL | MSG_DONTWAIT,
                          (const struct sockaddr *)&address, len);
    r = sent < 0 ? -errno : 1;
    (void)close(fd);
    return r;
}

/* The first line of a report without its mark; or how much there is. */
static int add_status(ki_buf *message, const ki_buf *report, const ki__gathered *g)
{
    char room[KI__DIGITS_SIZE];
    int r = ki_buf_add_text(message, "STATUS=");
    if (report->len != 0) {
        const char *line = report->data + strlen("[-]");
        size_t len = strcspn(line, "\n");
        r = r < 0 ? r : ki_buf_add(message, line, len < STATUS_MAX ? len : STATUS_MAX);
    } else {
        size_t objects = 0;
        for (size_t i = 0; i < g->informer_count; i++) {
            objects += g->informers[i].health.objects;
        }
        r = r < 0 ? r : ki_buf_add_str(message, ki__digits(g->informer_count, room));
        r = r < 0 ? r : ki_buf_add_text(message, " informers synced, ");
        r = r < 0 ? r : ki_buf_add_str(message, ki__digits(objects, room));
        r = r < 0 ? r : ki_buf_add_text(message, " objects");
    }
    return r < 0 ? r : ki_buf_add_char(message, '\n');
}

static int make_message(const ki__gathered *g, const ki_check_options *options, ki_buf *message)
{
    ki_buf report;
    ki_buf_init(&report, g->alloc, REPORT_MAX);
    int live = ki__check(g, options, false, &report);
    int ready = live < 0 ? live : ki__check(g, options, true, &report);
    int r = ready < 0 ? ready : add_status(message, &report, g);
    if (r >= 0 && ready != 0) {
        r = ki_buf_add_text(message, "READY=1\n");
    }
    if (r >= 0 && live != 0) {
        r = ki_buf_add_text(message, "WATCHDOG=1\n");
    }
    ki_buf_done(&report);
    return r;
}

int ki_client_notify_systemd(ki_client *client, const ki_check_options *options, ki_error *error)
{
    KI__REQUIRE(client, error);
    ki_check_options o;
    int r = ki__check_options(options, &o, error);
    if (r < 0) {
        return r;
    }
    KI__REQUIRE_OWN_ENGINE(client->engine, error);
    const char *path = getenv("NOTIFY_SOCKET");
    if (path == NULL || path[0] == '\0') {
        return 0;
    }
    ki__gathered gathered;
    r = ki__gather(client, &gathered);
    if (r < 0) {
        return ki__error_code(error, r);
    }
    ki_buf message;
    o.verbose = false;
    ki_buf_init(&message, gathered.alloc, MESSAGE_MAX);
    r = make_message(&gathered, &o, &message);
    ki__gathered_done(&gathered);
    r = r < 0 ? r : send_to(path, ki_buf_str(&message));
    ki_buf_done(&message);
    return r < 0 ? ki__error_set(error, r, "NOTIFY_SOCKET: %s", ki_error_text(r)) : r;
}
