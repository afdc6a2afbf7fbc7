/* SPDX-License-Identifier: Apache-2.0 */
/* Which hosts are reached without a proxy, with the rules of Go for NO_PROXY: a name matches itself
 * and its subdomains, ".name" only subdomains, an address itself, "10.0.0.0/8" a network,
 * "host:port" one port, "*" everything. */
#include <arpa/inet.h>
#include <string.h>

#include "base/ascii.h"
#include "client/curl/curl_state.h"

typedef struct address {
    unsigned char bytes[16];
    unsigned len; /* 4 or 16 */
} address;

static ki_str without_brackets(ki_str host)
{
    if (host.len >= 2 && host.ptr[0] == '[' && host.ptr[host.len - 1] == ']') {
        return ki_str_make(host.ptr + 1, host.len - 2);
    }
    return host;
}

static bool parse_address(ki_str text, address *ret_address)
{
    char copy[64];
    if (text.len == 0 || text.len >= sizeof(copy)) {
        return false;
    }
    memcpy(copy, text.ptr, text.len);
    copy[text.len] = '\0';
    if (inet_pton(AF_INET, copy, ret_address->bytes) == 1) {
        ret_address->len = 4;
        return true;
    }
    if (inet_pton(AF_INET6, copy, ret_address->bytes) != 1) {
        return false;
    }
    ret_address->len = 16;
    static const unsigned char mapped[12] = {0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xff};
    if (memcmp(ret_address->bytes, mapped, sizeof(mapped)) == 0) {
        memmove(ret_address->bytes, ret_address->bytes + sizeof(mapped), 4);
        ret_address->len = 4;
    }
    return true;
}

bool ki__is_loopback(ki_str host)
{
    address a;
    host = without_brackets(host);
    if (parse_address(host, &a)) {
        static const unsigned char one[16] = {[15] = 1};
        return a.len == 4 ? a.bytes[0] == 127 : memcmp(a.bytes, one, 16) == 0;
    }
    return ki__str_eq_nocase(host, ki_str_from("localhost"));
}

static bool parse_bits(ki_str text, unsigned max, unsigned *ret_bits)
{
    unsigned bits = 0;
    if (text.len == 0 || text.len > 3) {
        return false;
    }
    for (size_t i = 0; i < text.len; i++) {
        if (text.ptr[i] < '0' || text.ptr[i] > '9') {
            return false;
        }
        bits = bits * 10 + (unsigned)(text.ptr[i] - '0');
    }
    *ret_bits = bits;
    return bits <= max;
}

static bool in_network(ki_str network, ki_str bits_text, const address *host)
{
    address a;
    unsigned bits = 0;
    if (!parse_address(network, &a) || a.len != host->len ||
        !parse_bits(bits_text, a.len * 8, &bits)) {
        return false;
    }
    for (unsigned i = 0; i < bits; i++) {
        unsigned mask = 0x80U >> (i % 8);
        if (((a.bytes[i / 8] ^ host->bytes[i / 8]) & mask) != 0) {
            return false;
        }
    }
    return true;
}

static bool name_matches(ki_str entry, ki_str host)
{
    if (entry.len > 2 && entry.ptr[0] == '*' && entry.ptr[1] == '.') {
        entry = ki_str_make(entry.ptr + 1, entry.len - 1);
    }
    if (entry.ptr[0] != '.') {
        if (ki__str_eq_nocase(entry, host)) {
            return true;
        }
        return host.len > entry.len && host.ptr[host.len - entry.len - 1] == '.' &&
               ki__str_eq_nocase(entry, ki_str_make(host.ptr + host.len - entry.len, entry.len));
    }
    return host.len > entry.len &&
           ki__str_eq_nocase(entry, ki_str_make(host.ptr + host.len - entry.len, entry.len));
}

/* Removes ":port" from an entry; an IPv6 address with a port has brackets. */
static ki_str take_port(ki_str *entry)
{
    const char *colon = memrchr(entry->ptr, ':', entry->len);
    if (colon == NULL ||
        (memchr(entry->ptr, ':', (size_t)(colon - entry->ptr)) != NULL && colon[-1] != ']')) {
        return ki_str_make(NULL, 0);
    }
    ki_str port = ki_str_make(colon + 1, entry->len - (size_t)(colon - entry->ptr) - 1);
    entry->len = (size_t)(colon - entry->ptr);
    return port;
}

static bool entry_matches(ki_str entry, ki_str host, ki_str port)
{
    address a;
    host = without_brackets(host);
    bool is_address = parse_address(host, &a);
    if (ki_str_eq_text(entry, "*")) {
        return true;
    }
    const char *slash = memchr(entry.ptr, '/', entry.len);
    if (slash != NULL) {
        size_t at = (size_t)(slash - entry.ptr);
        return is_address && in_network(ki_str_make(entry.ptr, at),
                                        ki_str_make(slash + 1, entry.len - at - 1), &a);
    }
    ki_str only_port = take_port(&entry);
    entry = without_brackets(entry);
    if (entry.len == 0 || (only_port.len != 0 && !ki_str_eq(only_port, port))) {
        return false;
    }
    address b;
    if (parse_address(entry, &b)) {
        return is_address && a.len == b.len && memcmp(a.bytes, b.bytes, a.len) == 0;
    }
    return !is_address && name_matches(entry, host);
}

bool ki__no_proxy_matches(ki_str list, ki_str host, ki_str port)
{
    size_t at = 0;
    while (at < list.len) {
        size_t end = at;
        while (end < list.len && list.ptr[end] != ',') {
            end++;
        }
        size_t from = at;
        size_t to = end;
        while (from < to && (list.ptr[from] == ' ' || list.ptr[from] == '\t')) {
            from++;
        }
        while (to > from && (list.ptr[to - 1] == ' ' || list.ptr[to - 1] == '\t')) {
            to--;
        }
        if (to > from && entry_matches(ki_str_make(list.ptr + from, to - from), host, port)) {
            return true;
        }
        at = end + 1;
    }
    return false;
}
