/* SPDX-License-Identifier: Apache-2.0 */
/* The listening socket. Addresses must be numeric: no name resolution. */
#include "httpd/httpd_listen.h"

#include <arpa/inet.h>
#include <errno.h>
#include <netinet/in.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include "base/digits.h"
#include "base/error.h"
#include "object/edit/json_out.h"

enum { BACKLOG = 512, HOST_MAX = 64 };

#define UNIX_PREFIX "unix:"

typedef union socket_address {
    struct sockaddr any;
    struct sockaddr_in v4;
    struct sockaddr_in6 v6;
} socket_address;

/* "host:port" or "[host]:port". */
static bool split(const char *text, char host[HOST_MAX], uint16_t *ret_port)
{
    const char *colon = strrchr(text, ':');
    if (colon == NULL) {
        return false;
    }
    uint64_t port;
    ki_str digits = ki_str_from(colon + 1);
    ki_str name = ki_str_make(text, (size_t)(colon - text));
    if (digits.len == 0 || !ki__digits_read(digits, &port) || port > UINT16_MAX) {
        return false;
    }
    bool brackets = name.len >= 2 && name.ptr[0] == '[' && name.ptr[name.len - 1] == ']';
    if (brackets) {
        name = ki_str_make(name.ptr + 1, name.len - 2);
    }
    bool colons = memchr(name.ptr, ':', name.len) != NULL;
    if (name.len == 0 || name.len >= HOST_MAX || colons != brackets) {
        return false;
    }
    memcpy(host, name.ptr, name.len);
    host[name.len] = '\0';
    *ret_port = (uint16_t)port;
    return true;
}

static bool read_address(const char *text, socket_address *ret_address, socklen_t *ret_len)
{
    char host[HOST_MAX];
    uint16_t port;
    *ret_address = (socket_address){0};
    if (!split(text, host, &port)) {
        return false;
    }
    const char *numbers = strcmp(host, "localhost") == 0 ? "127.0.0.1" : host;
    if (inet_pton(AF_INET, numbers, &ret_address->v4.sin_addr) == 1) {
        ret_address->v4.sin_family = AF_INET;
        ret_address->v4.sin_port = htons(port);
        *ret_len = sizeof(ret_address->v4);
        return true;
    }
    *ret_address = (socket_address){0};
    if (inet_pton(AF_INET6, numbers, &ret_address->v6.sin6_addr) == 1) {
        ret_address->v6.sin6_family = AF_INET6;
        ret_address->v6.sin6_port = htons(port);
        *ret_len = sizeof(ret_address->v6);
        return true;
    }
    return false;
}

static int open_socket(const socket_address *at, socklen_t len, int *ret_fd)
{
    const int yes = 1;
    int fd = socket(at->any.sa_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    if (fd < 0) {
        return -errno;
    }
    bool ok = setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &yes, sizeof(yes)) == 0;
    if (at->any.sa_family == AF_INET6) {
        ok = ok && setsockopt(fd, IPPROTO_IPV6, IPV6_V6ONLY, &yes, sizeof(yes)) == 0;
    }
    if (!ok || bind(fd, &at->any, len) < 0 || listen(fd, BACKLOG) < 0) {
        int r = -errno;
        (void)close(fd);
        return r;
    }
    *ret_fd = fd;
    return 0;
}

static bool is_loopback(const socket_address *at)
{
    return at->any.sa_family == AF_INET6 ? IN6_IS_ADDR_LOOPBACK(&at->v6.sin6_addr)
                                         : ntohl(at->v4.sin_addr.s_addr) >> 24 == 127;
}

/* A server that listens on all addresses is reached locally through loopback. */
static int write_url(ki__httpd_address *own, bool tls, ki_buf *buf)
{
    socket_address at = {0};
    socklen_t len = sizeof(at);
    char host[INET6_ADDRSTRLEN];
    if (getsockname(own->fd, &at.any, &len) < 0) {
        return -errno;
    }
    bool v6 = at.any.sa_family == AF_INET6;
    own->loopback = is_loopback(&at);
    own->everywhere =
        v6 ? IN6_IS_ADDR_UNSPECIFIED(&at.v6.sin6_addr) : at.v4.sin_addr.s_addr == htonl(INADDR_ANY);
    if (own->everywhere && v6) {
        at.v6.sin6_addr = in6addr_loopback;
    } else if (own->everywhere) {
        at.v4.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    }
    const void *number = v6 ? (const void *)&at.v6.sin6_addr : (const void *)&at.v4.sin_addr;
    if (inet_ntop(at.any.sa_family, number, host, sizeof(host)) == NULL) {
        return -errno;
    }
    ki__out out = ki__out_to(buf);
    ki__out_texts(&out, tls ? "https://" : "http://", v6 ? "[" : "", host, v6 ? "]:" : ":", NULL);
    ki__out_u64(&out, ntohs(v6 ? at.v6.sin6_port : at.v4.sin_port));
    return out.error;
}

void ki__httpd_host_of(const char *url, char host[KI__HTTPD_URL_MAX])
{
    const char *from = strstr(url, "://");
    if (from == NULL) {
        host[0] = '\0';
        return;
    }
    from += 3;
    const char *to = strrchr(from, ':');
    if (*from == '[') {
        from++;
        to--;
    }
    memcpy(host, from, (size_t)(to - from));
    host[to - from] = '\0';
}

int ki__httpd_listen(const char *text, bool tls, ki__httpd_address *ret_address, ki_error *error)
{
    socket_address at;
    socklen_t len;
    ki__httpd_address own = {.fd = -1};
    if (!read_address(text, &at, &len)) {
        return ki__error_set(error, KI_ERR_INVALID,
                             "listen: \"%.80s\" is not an address and a port, such as 127.0.0.1:0",
                             text);
    }
    int r = open_socket(&at, len, &own.fd);
    if (r < 0) {
        return ki__error_set(error, r, "cannot listen on %.80s: %s", text, ki_error_text(r));
    }
    ki_buf out;
    ki_buf_init(&out, NULL, KI__HTTPD_URL_MAX - 1);
    r = write_url(&own, tls, &out);
    if (r == 0) {
        memcpy(own.url, out.data, out.len + 1);
        *ret_address = own;
    } else {
        (void)close(own.fd);
        (void)ki__error_code(error, r);
    }
    ki_buf_done(&out);
    return r;
}

/* ---- Unix sockets ---- */

/* Removes a socket that no process serves; a connection to it is refused. */
static void remove_abandoned(const struct sockaddr_un *at)
{
    struct stat file;
    if (lstat(at->sun_path, &file) < 0 || !S_ISSOCK(file.st_mode)) {
        return;
    }
    int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    if (fd < 0) {
        return;
    }
    if (connect(fd, (const struct sockaddr *)at, sizeof(*at)) < 0 && errno == ECONNREFUSED) {
        (void)unlink(at->sun_path);
    }
    (void)close(fd);
}

/* The mode of the descriptor becomes that of the file, so that it never has another one. */
static int open_unix(const struct sockaddr_un *at, ki__httpd_address *own)
{
    struct stat file;
    int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    if (fd < 0) {
        return -errno;
    }
    if (fchmod(fd, S_IRUSR | S_IWUSR) < 0 ||
        bind(fd, (const struct sockaddr *)at, sizeof(*at)) < 0 || listen(fd, BACKLOG) < 0 ||
        lstat(at->sun_path, &file) < 0) {
        int r = -errno;
        (void)close(fd);
        return r;
    }
    own->fd = fd;
    own->device = file.st_dev;
    own->inode = file.st_ino;
    return 0;
}

int ki__httpd_listen_unix(const char *path, ki__httpd_address *ret_address, ki_error *error)
{
    struct sockaddr_un at = {.sun_family = AF_UNIX};
    ki__httpd_address own = {.fd = -1, .url = UNIX_PREFIX, .loopback = true};
    size_t len = strlen(path);
    if (len == 0 || len >= sizeof(at.sun_path)) {
        return ki__error_set(error, KI_ERR_INVALID, "listen: the path of the socket: %s",
                             len == 0 ? "empty" : "too long");
    }
    memcpy(at.sun_path, path, len + 1);
    memcpy(own.url + strlen(UNIX_PREFIX), path, len + 1);
    remove_abandoned(&at);
    int r = open_unix(&at, &own);
    if (r < 0) {
        return ki__error_set(error, r, "cannot listen on %.100s: %s", own.url, ki_error_text(r));
    }
    *ret_address = own;
    return 0;
}

void ki__httpd_address_done(ki__httpd_address *address)
{
    struct stat file;
    const char *path = address->url + strlen(UNIX_PREFIX);
    if (address->inode != 0 && lstat(path, &file) == 0 && file.st_dev == address->device &&
        file.st_ino == address->inode) {
        (void)unlink(path);
    }
    address->inode = 0;
    if (address->fd >= 0) {
        (void)close(address->fd);
    }
    address->fd = -1;
}
