/* SPDX-License-Identifier: Apache-2.0 */
/* HTTP headers as passed by transports. */
#include <kinformer/parts/transport.h>

#include "base/ascii.h"

ki_str ki_http_header_find(const ki_http_header *headers, size_t count, const char *name)
{
    ki_str wanted = ki_str_from(name);
    for (size_t i = 0; i < count; i++) {
        if (ki__str_eq_nocase(headers[i].name, wanted)) {
            return headers[i].value;
        }
    }
    return ki_str_make(NULL, 0);
}
