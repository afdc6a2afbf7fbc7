/* SPDX-License-Identifier: Apache-2.0 */
/* Each is one block: all objects of a long list may be skipped, and an error is mostly unused
 * space. */
#include "cache/informer/skipped_objects.h"

#include <errno.h>
#include <stddef.h>
#include <string.h>

#include "base/alloc.h"

enum { ERROR_HEAD = offsetof(ki_error, message) };

struct ki__skipped_object {
    struct ki__skipped_object *next;
    size_t key_len;
    size_t error_len; /* including the message and its NUL */
    char bytes[];     /* the error, truncated after its message; the key */
};

int ki__skipped_objects_add(ki__skipped_objects *skipped, const ki_alloc *alloc, ki_str key,
                            const ki_error *error)
{
    size_t error_len = ERROR_HEAD + strnlen(error->message, sizeof(error->message) - 1) + 1;
    ki__skipped_object *skipped_object =
        ki__alloc(alloc, sizeof(*skipped_object) + error_len + key.len);
    if (skipped_object == NULL) {
        return -ENOMEM;
    }
    *skipped_object = (ki__skipped_object){.key_len = key.len, .error_len = error_len};
    memcpy(skipped_object->bytes, error, error_len);
    if (key.len != 0) {
        memcpy(skipped_object->bytes + error_len, key.ptr, key.len);
    }
    if (skipped->last != NULL) {
        skipped->last->next = skipped_object;
    } else {
        skipped->first = skipped_object;
    }
    skipped->last = skipped_object;
    return 0;
}

void ki__skipped_objects_end(ki__skipped_objects *skipped, const ki_alloc *alloc,
                             const ki_error_hook *hook)
{
    ki__skipped_object *skipped_object = skipped->first;
    *skipped = (ki__skipped_objects){0}; /* the hook may do anything */
    while (skipped_object != NULL) {
        ki__skipped_object *next = skipped_object->next;
        if (hook != NULL && hook->report != NULL) {
            ki_error error = KI_ERROR_INIT;
            memcpy(&error, skipped_object->bytes, skipped_object->error_len);
            error.size = sizeof(error);
            ki_str key = {skipped_object->bytes + skipped_object->error_len,
                          skipped_object->key_len};
            hook->report("store", key, &error, hook->user);
        }
        ki__free(alloc, skipped_object);
        skipped_object = next;
    }
}
