/* SPDX-License-Identifier: Apache-2.0 */
/* The first line is an expression, the rest a text. Compiling and matching end within their limits,
 * faults lie inside the expression, and the same question gets the same answer. */
#include <stdint.h>
#include <string.h>

#include <kinformer/error.h>

#include "apiserver/validate/pattern.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void must(bool condition)
{
    if (!condition) {
        __builtin_trap();
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    const char *bytes = (const char *)data;
    const char *end = size != 0 ? memchr(bytes, '\n', size) : NULL;
    size_t len = end != NULL ? (size_t)(end - bytes) : size;
    ki_str text = end != NULL ? ki_str_make(end + 1, size - len - 1) : ki_str_from("");
    ki__pattern *pattern;
    ki__pattern_fault fault;
    int r = ki__pattern_new(ki_str_make(bytes, len), NULL, &pattern, &fault);
    if (r < 0) {
        must(r == KI_ERR_SYNTAX || r == KI_ERR_UNSUPPORTED || r == KI_ERR_LIMIT);
        must((r == KI_ERR_SYNTAX) == (fault.what != NULL));
        must(r != KI_ERR_SYNTAX || (fault.at <= len && fault.len <= len - fault.at));
        return 0;
    }
    uint32_t steps = 1 << 22;
    r = ki__pattern_match(pattern, text, &steps);
    must(r == 0 || r == 1 || (r == KI_ERR_LIMIT && steps == 0));
    uint32_t again = 1 << 22;
    must(ki__pattern_match(pattern, text, &again) == r && again == steps);
    ki__pattern_free(pattern);
    return 0;
}
