/* SPDX-License-Identifier: Apache-2.0 */
/* Invariant: accepted URLs contain visible ASCII only, so they can be used in a request
 * verbatim. */
#include "client/config/url.h"

#include "base/ascii.h"

static const char *const schemes[] = {
    [KI__URL_HTTP] = "http",
    [KI__URL_HTTPS] = "https",
    [KI__URL_SOCKS5] = "socks5",
};
_Static_assert(sizeof(schemes) / sizeof(schemes[0]) == KI__URL_SCHEME_MAX, "a name for each");

const char *ki__url_scheme_name(ki__url_scheme scheme)
{
    return schemes[scheme];
}

static bool is_alphanumeric(char c)
{
    return ki__is_digit(c) || ki__is_letter(c);
}

static bool is_any(char c, const char *of)
{
    return c != '\0' && strchr(of, c) != NULL;
}

static bool equals_ignoring_case(ki_str text, const char *lower)
{
    if (text.len != strlen(lower)) {
        return false;
    }
    for (size_t i = 0; i < text.len; i++) {
        char c = text.ptr[i];
        c = c >= 'A' && c <= 'Z' ? (char)(c - 'A' + 'a') : c;
        if (c != lower[i]) {
            return false;
        }
    }
    return true;
}

/* Index of the first of these characters, or the length. */
static size_t index_of(ki_str text, const char *any)
{
    size_t i = 0;
    while (i < text.len && !is_any(text.ptr[i], any)) {
        i++;
    }
    return i;
}

static ki_str skip(ki_str text, size_t len)
{
    return ki_str_make(text.ptr + len, text.len - len);
}

/* Only letters, digits, the given characters and percent-encoded bytes. */
static bool is_made_of(ki_str text, const char *more)
{
    for (size_t i = 0; i < text.len; i++) {
        char c = text.ptr[i];
        if (c == '%') {
            if (text.len - i < 3 || !ki__is_hex(text.ptr[i + 1]) || !ki__is_hex(text.ptr[i + 2])) {
                return false;
            }
            i += 2;
        } else if (!is_alphanumeric(c) && !is_any(c, more)) {
            return false;
        }
    }
    return true;
}

static bool is_ipv6(ki_str host)
{
    if (host.len < 4 || host.ptr[host.len - 1] != ']') {
        return false;
    }
    ki_str inside = ki_str_make(host.ptr + 1, host.len - 2);
    size_t zone = index_of(inside, "%");
    for (size_t i = 0; i < zone; i++) {
        if (!ki__is_hex(inside.ptr[i]) && !is_any(inside.ptr[i], ":.")) {
            return false;
        }
    }
    return index_of(inside, ":") < zone && is_made_of(skip(inside, zone), "-._~");
}

static bool is_host(ki_str host)
{
    if (host.len == 0 || host.len > 255) {
        return false;
    }
    if (host.ptr[0] == '[') {
        return is_ipv6(host);
    }
    return index_of(host, "%") == host.len && is_made_of(host, "-._");
}

static bool is_port(ki_str port)
{
    uint32_t number = 0;
    for (size_t i = 0; i < port.len; i++) {
        if (!ki__is_digit(port.ptr[i]) || number > 65535) {
            return false;
        }
        number = number * 10 + (uint32_t)(port.ptr[i] - '0');
    }
    return port.len == 0 || (number >= 1 && number <= 65535);
}

/* Rejects "." and "..": intermediaries resolve them differently. */
static bool has_dot_segment(ki_str path)
{
    while (path.len != 0) {
        ki_str rest = skip(path, 1);
        ki_str segment = ki_str_make(rest.ptr, index_of(rest, "/"));
        if (ki_str_eq_text(segment, ".") || ki_str_eq_text(segment, "..")) {
            return true;
        }
        path = skip(rest, segment.len);
    }
    return false;
}

static const char *parse_authority(ki_str authority, ki__url *url)
{
    for (size_t i = authority.len; i > 0; i--) {
        if (authority.ptr[i - 1] == '@') {
            url->user = ki_str_make(authority.ptr, i - 1);
            authority = skip(authority, i);
            break;
        }
    }
    size_t host = 0;
    if (authority.len != 0 && authority.ptr[0] == '[') {
        host = index_of(authority, "]") + 1;
        host = host <= authority.len ? host : authority.len;
    } else {
        host = index_of(authority, ":");
    }
    url->host = ki_str_make(authority.ptr, host);
    ki_str rest = skip(authority, host);
    if (!is_host(url->host) || (rest.len != 0 && rest.ptr[0] != ':')) {
        return "invalid host";
    }
    url->port = rest.len != 0 ? skip(rest, 1) : rest;
    if (!is_port(url->port)) {
        return "port is not a number from 1 to 65535";
    }
    return is_made_of(url->user, "-._~!$&'()*+,;=:") ? NULL : "invalid user";
}

static const char *parse_scheme(ki_str *text, ki__url *url, bool *ret_given)
{
    size_t end = index_of(*text, ":/?#");
    *ret_given = text->len - end >= 3 && memcmp(text->ptr + end, "://", 3) == 0;
    if (!*ret_given) {
        url->scheme = KI__URL_HTTP;
        return NULL;
    }
    ki_str name = ki_str_make(text->ptr, end);
    for (int i = 0; i < KI__URL_SCHEME_MAX; i++) {
        if (equals_ignoring_case(name, schemes[i])) {
            url->scheme = (ki__url_scheme)i;
            *text = skip(*text, end + 3);
            return NULL;
        }
    }
    return "URL scheme is not supported";
}

const char *ki__url_parse(ki_str text, ki__url *ret_url)
{
    ki__url url = {.scheme = KI__URL_HTTP};
    if (text.len == 0) {
        return "is empty";
    }
    bool given;
    const char *problem = parse_scheme(&text, &url, &given);
    if (problem != NULL) {
        return problem;
    }
    size_t authority = index_of(text, "/?#");
    problem = parse_authority(ki_str_make(text.ptr, authority), &url);
    if (problem != NULL) {
        return problem;
    }
    text = skip(text, authority);
    url.path = ki_str_make(text.ptr, index_of(text, "?#"));
    if (!is_made_of(url.path, "-._~!$&'()*+,;=:@/") || has_dot_segment(url.path)) {
        return "invalid path";
    }
    if (!given && url.path.len > 1) {
        return "must be a URL, or a host and a port";
    }
    *ret_url = url;
    return NULL;
}

bool ki__url_is_loopback(const ki__url *url)
{
    ki_str host = url->host;
    if (equals_ignoring_case(host, "localhost") || ki_str_eq_text(host, "[::1]")) {
        return true;
    }
    if (host.len < 7 || memcmp(host.ptr, "127.", 4) != 0) {
        return false;
    }
    size_t dots = 0;
    for (size_t i = 0; i < host.len; i++) {
        dots += host.ptr[i] == '.' ? 1 : 0;
        if (!ki__is_digit(host.ptr[i]) && host.ptr[i] != '.') {
            return false;
        }
    }
    return dots == 3;
}
