/* SPDX-License-Identifier: Apache-2.0 */
/* systemd's notifications, by its protocol: one datagram of lines to the socket that the
 * environment names. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

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
static void add_status(ki__out *message, const ki_buf *report, const ki__gathered *g)
{
    ki__out_text(message, "STATUS=");
    if (report->len != 0) {
        const char *line = report->data + strlen("[-]");
        size_t len = strcspn(line, "\n");
        ki__out_str(message, ki_str_make(line, len < STATUS_MAX ? len : STATUS_MAX));
    } else {
        size_t objects = 0;
        for (size_t i = 0; i < g->informer_count; i++) {
            objects += g->informers[i].health.objects;
        }
        ki__out_u64(message, g->informer_count);
        ki__out_text(message, " informers synced, ");
        ki__out_u64(message, objects);
        ki__out_text(message, " objects");
    }
    ki__out_char(message, '\n');
}

static int make_message(const ki__gathered *g, const ki_check_options *options, ki_buf *buf)
{
    ki_buf report;
    ki__out message = ki__out_to(buf);
    ki_buf_init(&report, g->alloc, REPORT_MAX);
    int live = ki__check(g, options, false, &report);
    int ready = live < 0 ? live : ki__check(g, options, true, &report);
    ki__out_fail(&message, ready);
    add_status(&message, &report, g);
    ki__out_text(&message, ready > 0 ? "READY=1\n" : "");
    ki__out_text(&message, live > 0 ? "WATCHDOG=1\n" : "");
    ki_buf_done(&report);
    return ki__out_commit(&message);
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
