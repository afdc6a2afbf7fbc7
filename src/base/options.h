/* SPDX-License-Identifier: Apache-2.0 */
/* Reading options structs that may be older or newer than this library. This needs two things of
 * every later version of such a struct: a new member begins where the old struct ended or later,
 * not in the padding at its end, where an older caller may have any bytes; and it is wholly inside.
 */
#ifndef KI_BASE_OPTIONS_H
#define KI_BASE_OPTIONS_H

#include <stddef.h>
#include <stdint.h>

#include <kinformer/error.h>

/** Copies the caller's struct into ours of `our_size` bytes. Both begin with a size_t `size`;
 * theirs says how much they have (0: `first_size`, the struct as it was in 0.1), ours becomes
 * `our_size`. What they do not have is zero. A NULL `theirs` means all defaults. -E2BIG if they set
 * a member that this library does not know, -EINVAL if their `size` cannot be right: too small to
 * hold even itself, or absurdly large. On failure `ours` is not touched. */
int ki__options_read(void *ours, size_t our_size, size_t first_size, const void *theirs);

/** Fills the caller's struct from ours: as much as both have. Its `size` says how much it has (0:
 *  `first_size`) and stays as it is; members that this library does not know become zero. -EINVAL
 *  if that size cannot be right; then nothing is written. */
int ki__options_give(void *theirs, const void *ours, size_t our_size, size_t first_size);

/** ki__options_read() for a struct that has not grown since 0.1, with a message on failure. */
int ki__options_take(void *ours, size_t our_size, const void *theirs, ki_error *error);

#endif
