/* SPDX-License-Identifier: Apache-2.0 */
/* Parses URLs of servers and proxies. */
#ifndef KI_CLIENT_CONFIG_URL_H
#define KI_CLIENT_CONFIG_URL_H

#include <kinformer/str.h>

typedef enum ki__url_scheme {
    KI__URL_HTTP,
    KI__URL_HTTPS,
    KI__URL_SOCKS5,
    KI__URL_SCHEME_MAX
} ki__url_scheme;

/** All parts are views of the text. */
typedef struct ki__url {
    ki__url_scheme scheme;
    ki_str user; /* before the '@'; may be a secret */
    ki_str host; /* with brackets if it is an IPv6 address */
    ki_str port;
    ki_str path;
} ki__url;

/** NULL, or the error: static text without any part of the URL. Query and fragment are ignored.
 *  Without "://" it is a host, or host and port, for http. */
const char *ki__url_parse(ki_str text, ki__url *ret_url);

/** "http", "https" or "socks5". */
const char *ki__url_scheme_name(ki__url_scheme scheme);

/** Whether the host is literally this machine: localhost, 127.x.y.z or [::1]. */
bool ki__url_is_loopback(const ki__url *url);

#endif
