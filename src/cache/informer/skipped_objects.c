/* SPDX-License-Identifier: Apache-2.0 */
/* Each is one block: all objects of a long list may be skipped, and an error is mostly unused
 * space. */
#include "cache/informer/skipped_objects.h"

#include <errno.h>
#include <stddef.h>
#include <string.h>

#include "base/alloc.h"

enum { ERROR_HEAD = offsetof(ki_error, message) };

struct ki__aside {
    struct ki__aside *next;
    size_t key_len;
    size_t error_len; /* including the message and its NUL */
    char bytes[];     /* the error, truncated after its message; the key */
};

int ki__asides_add(ki__asides *asides, const ki_alloc *alloc, ki_str key, const ki_error *error)
{
    size_t error_len = ERROR_HEAD + strnlen(error->message, sizeof(error->message) - 1) + 1;
    ki__aside *aside = ki__alloc(alloc, sizeof(*aside) + error_len + key.len);
    if (aside == NULL) {
        return -ENOMEM;
    }
    *aside = (ki__aside){.key_len = key.len, .error_len = error_len};
    memcpy(aside->bytes, error, error_len);
    if (key.len != 0) {
        memcpy(aside->bytes + error_len, key.ptr, key.len);
    }
    if (asides->last != NULL) {
        asides->last->next = aside;
    } else {
        asides->first = aside;
    }
    asides->last = aside;
    return 0;
}

void ki__asides_end(ki__asides *asides, const ki_alloc *alloc, const ki_error_hook *hook)
{
    ki__aside *aside = asides->first;
    *asides = (ki__asides){0}; /* the hook may do anything */
    while (aside != NULL) {
        ki__aside *next = aside->next;
        if (hook != NULL && hook->report != NULL) {
            ki_error error = KI_ERROR_INIT;
            memcpy(&error, aside->bytes, aside->error_len);
            error.size = sizeof(error);
            ki_str key = {aside->bytes + aside->error_len, aside->key_len};
            hook->report("store", key, &error, hook->user);
        }
        ki__free(alloc, aside);
        aside = next;
    }
}
