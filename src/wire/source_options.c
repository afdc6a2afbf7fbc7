/* SPDX-License-Identifier: Apache-2.0 */
/* Copies all strings of some options into one block. */
#include "wire/source_options.h"

#include <errno.h>
#include <string.h>

#include "base/alloc.h"
#include "base/error.h"
#include "base/options.h"

enum { TEXT_MAX = 256 << 10 };

int ki__texts_copy(const ki_alloc *alloc, const char **const *texts, size_t count, char **ret_block,
                   ki_error *error)
{
    size_t bytes = 0;
    for (size_t i = 0; i < count; i++) {
        size_t len = *texts[i] != NULL ? strlen(*texts[i]) : 0;
        if (len > TEXT_MAX) {
            return ki__error_set(error, KI_ERR_LIMIT, "list options: string longer than %d bytes",
                                 TEXT_MAX);
        }
        bytes += len + 1;
    }
    char *block = ki__alloc(alloc, bytes);
    if (block == NULL) {
        return ki__error_code(error, -ENOMEM);
    }
    char *out = block;
    for (size_t i = 0; i < count; i++) {
        const char *text = *texts[i] != NULL ? *texts[i] : "";
        size_t size = strlen(text) + 1;
        memcpy(out, text, size);
        *texts[i] = out;
        out += size;
    }
    *ret_block = block;
    return 0;
}

int ki__texts_copy_list_options(const ki_alloc *alloc, const ki_list_options *from,
                                ki_list_options *ret_options, char **ret_block, ki_error *error)
{
    ki_list_options o = {0};
    int r = KI__TAKE(ki_list_options, &o, from, error);
    if (r < 0) {
        return r;
    }
    const char **const texts[] = {
        &o.label_selector,         &o.field_selector, &o.resource_version,
        &o.resource_version_match, &o.continue_token, &o.shard_selector,
    };
    r = ki__texts_copy(alloc, texts, sizeof(texts) / sizeof(texts[0]), ret_block, error);
    if (r == 0) {
        *ret_options = o;
    }
    return r;
}
