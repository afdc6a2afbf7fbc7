/* SPDX-License-Identifier: Apache-2.0 */
/* Public structs that begin with their size, on their way in and out: options, tables of callbacks,
 * results. The program's may be older or newer than this library. This needs two things of every
 * later version of such a struct: a new member begins where the old struct ended or later, not in
 * the padding at its end, where an older caller may have any bytes; and it is wholly inside. None
 * of them is nested by value in another, nor the element of an array: their places would move.
 */
#ifndef KI_BASE_OPTIONS_H
#define KI_BASE_OPTIONS_H

#include <stddef.h>
#include <stdint.h>

#include <kinformer/error.h>

#include "base/first_sizes.h"
#include "base/shared.h"

/** Copies the caller's struct into ours of `our_size` bytes. Both begin with a size_t `size`;
 * theirs says how much they have (0: `first_size`, the struct as it was in 0.1), ours becomes
 * `our_size`. What they do not have is zero. A NULL `theirs` means all defaults. -E2BIG if they set
 * a member that this library does not know, -EINVAL if their `size` cannot be right: less than
 * `first_size`, or absurdly large. On failure `ours` is not touched. */
int ki__options_read(void *ours, size_t our_size, size_t first_size, const void *theirs);

/** Fills the caller's struct from ours: as much as both have. Its `size` says how much it has (0:
 *  `first_size`) and stays as it is; members that this library does not know become zero. -EINVAL
 *  if that size cannot be right; then nothing is written. */
KI__SHARED int ki__options_give(void *theirs, const void *ours, size_t our_size, size_t first_size);

/** ki__options_read() with a message on failure, which names the struct. */
KI__SHARED int ki__options_take(void *ours, size_t our_size, size_t first_size, const char *name,
                                const void *theirs, ki_error *error);

/** Checks a struct that is to be filled later: -EINVAL, with a message, if it is NULL or its size
 *  cannot be right. ki__options_give() cannot fail after this. */
KI__SHARED int ki__options_check(const void *theirs, size_t first_size, const char *name,
                                 const char *argument, ki_error *error);

/** These for a public struct by its type: KI__TAKE(ki_handler, &ours, theirs, error). */
#define KI__TAKE(type, ours, theirs, error)                                                  \
    ki__options_take((1 ? (ours) : (type *)NULL), sizeof(type), KI__FIRST_SIZE(type), #type, \
                     (1 ? (theirs) : (const type *)NULL), (error))
#define KI__GIVE(type, theirs, ours)                                                   \
    ki__options_give((1 ? (theirs) : (type *)NULL), (1 ? (ours) : (const type *)NULL), \
                     sizeof(type), KI__FIRST_SIZE(type))

/** The first lines of public functions that fill a struct: returns -EINVAL if it cannot be. */
#define KI__REQUIRE_SIZED(type, argument, error)                                             \
    do {                                                                                     \
        int ki__r = ki__options_check((1 ? (argument) : (type *)NULL), KI__FIRST_SIZE(type), \
                                      #type, #argument, (error));                            \
        if (ki__r < 0) {                                                                     \
            return ki__r;                                                                    \
        }                                                                                    \
    } while (0)

#endif
