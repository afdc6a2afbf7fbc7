/* SPDX-License-Identifier: Apache-2.0 */
#include "base/options.h"

#include <errno.h>
#include <string.h>

int ki__options_read(void *ours, size_t our_size, size_t first_size, const void *theirs)
{
    memset(ours, 0, our_size);
    if (theirs == NULL) {
        return 0;
    }
    size_t their_size;
    memcpy(&their_size, theirs, sizeof(their_size)); /* every options struct begins with it */
    if (their_size == 0) {
        their_size = first_size;
    }
    if (their_size < sizeof(their_size)) {
        return -EINVAL;
    }
    const unsigned char *bytes = theirs;
    for (size_t i = our_size; i < their_size; i++) {
        if (bytes[i] != 0) {
            return -E2BIG;
        }
    }
    memcpy(ours, theirs, their_size < our_size ? their_size : our_size);
    return 0;
}
