/* SPDX-License-Identifier: Apache-2.0 */
/* Passing public structs that begin with their size (options, callback tables, results) in and out.
 * The program's version may be older or newer than this library. This requires of every later
 * version of such a struct that a new member lies completely at or beyond the old size, not in the
 * old tail padding, where an older caller may have any bytes. They are never nested by value in
 * another struct nor used as array elements: the offsets would change. */
#ifndef KI_BASE_OPTIONS_H
#define KI_BASE_OPTIONS_H

#include <stddef.h>
#include <stdint.h>

#include <kinformer/error.h>

#include "base/first_sizes.h"
#include "base/shared.h"

/** Copies the caller's struct into ours of `our_size` bytes. Both begin with a size_t `size`;
 *  theirs is the size that the caller knows (0: `first_size`, the struct of 0.1), ours becomes
 *  `our_size`. Members that the caller lacks are zero. A NULL `theirs` means all defaults. -E2BIG
 *  if the caller set a member unknown to this library, -EINVAL if `size` is below `first_size` or
 *  absurdly large. On failure `ours` is unchanged. */
int ki__options_read(void *ours, size_t our_size, size_t first_size, const void *theirs);

/** Fills the caller's struct from ours, as far as both know the members. Its `size` (0:
 *  `first_size`) is kept; members unknown to this library become zero. -EINVAL if the size is
 *  invalid; then nothing is written. */
KI__SHARED int ki__options_give(void *theirs, const void *ours, size_t our_size, size_t first_size);

/** ki__options_read() with an error message that names the struct. */
KI__SHARED int ki__options_take(void *ours, size_t our_size, size_t first_size, const char *name,
                                const void *theirs, ki_error *error);

/** Validates a struct to be filled later: -EINVAL, with a message, if it is NULL or its size is
 *  invalid. ki__options_give() cannot fail afterwards. */
KI__SHARED int ki__options_check(const void *theirs, size_t first_size, const char *name,
                                 const char *argument, ki_error *error);

/** Type-checked forms for public structs: KI__TAKE(ki_handler, &ours, theirs, error). */
#define KI__TAKE(type, ours, theirs, error)                                                  \
    ki__options_take((1 ? (ours) : (type *)NULL), sizeof(type), KI__FIRST_SIZE(type), #type, \
                     (1 ? (theirs) : (const type *)NULL), (error))
#define KI__GIVE(type, theirs, ours)                                                   \
    ki__options_give((1 ? (theirs) : (type *)NULL), (1 ? (ours) : (const type *)NULL), \
                     sizeof(type), KI__FIRST_SIZE(type))

/** For the first lines of public functions that fill a struct: returns -EINVAL if it is NULL or its
 *  size is invalid. */
#define KI__REQUIRE_SIZED(type, argument, error)                                             \
    do {                                                                                     \
        int ki__r = ki__options_check((1 ? (argument) : (type *)NULL), KI__FIRST_SIZE(type), \
                                      #type, #argument, (error));                            \
        if (ki__r < 0) {                                                                     \
            return ki__r;                                                                    \
        }                                                                                    \
    } while (0)

#endif
