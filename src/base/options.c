/* SPDX-License-Identifier: Apache-2.0 */
/* One reader and one writer for all sized structs, so that each has the same compatibility with
 * older and newer callers. Invariant: the result is a complete struct of this version, or nothing
 * is written. */
#include "base/options.h"

#include <errno.h>
#include <string.h>

#include "base/assert.h"
#include "base/error.h"

/* No public struct will be larger. A larger `size` was never initialized, and reading that many
 * bytes of the caller's memory could crash. */
enum { OPTIONS_SIZE_MAX = 4096 };

#define WRONG_SIZE "%s: unsupported size; was the struct initialised?"

int ki__options_read(void *ours, size_t our_size, size_t first_size, const void *theirs)
{
    ki_assert(first_size >= sizeof(size_t) && first_size <= our_size);
    ki_assert(our_size <= OPTIONS_SIZE_MAX);
    size_t their_size = 0;
    if (theirs != NULL) {
        memcpy(&their_size, theirs, sizeof(their_size)); /* all such structs begin with it */
        if (their_size == 0) {
            their_size = first_size;
        }
        if (their_size < first_size || their_size > OPTIONS_SIZE_MAX) {
            return -EINVAL;
        }
        const unsigned char *bytes = theirs;
        for (size_t i = our_size; i < their_size; i++) {
            if (bytes[i] != 0) {
                return -E2BIG;
            }
        }
    }
    memset(ours, 0, our_size);
    if (theirs != NULL) {
        memcpy(ours, theirs, their_size < our_size ? their_size : our_size);
    }
    memcpy(ours, &our_size, sizeof(our_size));
    return 0;
}

int ki__options_give(void *theirs, const void *ours, size_t our_size, size_t first_size)
{
    size_t their_size = 0;
    memcpy(&their_size, theirs, sizeof(their_size));
    if (their_size == 0) {
        their_size = first_size;
    }
    if (their_size < first_size || their_size > OPTIONS_SIZE_MAX) {
        return -EINVAL;
    }
    size_t common = their_size < our_size ? their_size : our_size;
    size_t head = sizeof(their_size); /* `size` is kept */
    memcpy((unsigned char *)theirs + head, (const unsigned char *)ours + head, common - head);
    memset((unsigned char *)theirs + common, 0, their_size - common);
    return 0;
}

int ki__options_take(void *ours, size_t our_size, size_t first_size, const char *name,
                     const void *theirs, ki_error *error)
{
    int r = ki__options_read(ours, our_size, first_size, theirs);
    if (r == -E2BIG) {
        (void)ki__error_set(error, r, "%s: unknown members are set (struct newer than the library)",
                            name);
    } else if (r < 0) {
        (void)ki__error_set(error, r, WRONG_SIZE, name);
    }
    return r;
}

int ki__options_check(const void *theirs, size_t first_size, const char *name, const char *argument,
                      ki_error *error)
{
    if (theirs == NULL) {
        return ki__error_null(error, argument);
    }
    size_t size = 0;
    memcpy(&size, theirs, sizeof(size));
    if (size != 0 && (size < first_size || size > OPTIONS_SIZE_MAX)) {
        return ki__error_set(error, -EINVAL, WRONG_SIZE, name);
    }
    return 0;
}
