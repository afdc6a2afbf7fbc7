/* SPDX-License-Identifier: Apache-2.0 */
/* Headers of HTTP, as transports give them. */
#include <string.h>

#include <kinformer/transport.h>

ki_str ki_http_header_find(const ki_http_header *headers, size_t count, const char *name)
{
    size_t len = strlen(name);
    for (size_t i = 0; i < count; i++) {
        ki_str found = headers[i].name;
        bool same = found.len == len;
        for (size_t k = 0; k < len && same; k++) {
            char a = found.ptr[k];
            char b = name[k];
            a = a >= 'A' && a <= 'Z' ? (char)(a - 'A' + 'a') : a;
            b = b >= 'A' && b <= 'Z' ? (char)(b - 'A' + 'a') : b;
            same = a == b;
        }
        if (same) {
            return headers[i].value;
        }
    }
    return ki_str_make(NULL, 0);
}
