/* SPDX-License-Identifier: Apache-2.0 */
/* The listening socket of an HTTP server. */
#ifndef KI_HTTPD_HTTPD_LISTEN_H
#define KI_HTTPD_HTTPD_LISTEN_H

#include <kinformer/defs.h>
#include <kinformer/error.h>

enum { KI__HTTPD_URL_MAX = 128 };

typedef struct ki__httpd_address {
    int fd;                      /* -1: none */
    char url[KI__HTTPD_URL_MAX]; /* "unix:" and a path for a Unix socket */
    bool everywhere;             /* all addresses of the machine */
    bool loopback;               /* reached from this machine only */
    uint64_t device;             /* of the file of a Unix socket, and its number: to remove it */
    uint64_t inode;
} ki__httpd_address;

/** Listens on an address and a port, such as 127.0.0.1:0.
 *  Errors: KI_ERR_INVALID  not an address and a port;  -errno. */
int ki__httpd_listen(const char *text, bool tls, ki__httpd_address *ret_address, ki_error *error);

/** Listens on a Unix socket, which only its owner may connect to. A socket file without a server
 *  is replaced.
 *  Errors: KI_ERR_INVALID  too long;  -EADDRINUSE  the file exists;  -errno. */
int ki__httpd_listen_unix(const char *path, ki__httpd_address *ret_address, ki_error *error);

/** Closes the descriptor, unless it is -1, and removes the file of a Unix socket. */
void ki__httpd_address_done(ki__httpd_address *address);

/** The host of a URL set by ki__httpd_listen(), without brackets; "" for a Unix socket. */
void ki__httpd_host_of(const char *url, char host[KI__HTTPD_URL_MAX]);

#endif
