/* SPDX-License-Identifier: Apache-2.0 */
/* Reading options structs that may be older or newer than this library. */
#ifndef KI_BASE_OPTIONS_H
#define KI_BASE_OPTIONS_H

#include <stddef.h>
#include <stdint.h>

/** Copies the caller's struct of `their_size` bytes (0: `first_size`, the struct as it was in 0.1)
 *  into ours of `our_size`; what they do not have is zero. -E2BIG if they set a member that this
 *  library does not know, -EINVAL if their struct is too small to hold even `size`. A NULL `theirs`
 *  means all defaults. */
int ki__options_read(void *ours, size_t our_size, size_t first_size, const void *theirs);

#endif
