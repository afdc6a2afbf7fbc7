/* SPDX-License-Identifier: Apache-2.0 */
/* Assertions about our own code, kept in every build. Never about input: that yields an error. */
#ifndef KI_BASE_ASSERT_H
#define KI_BASE_ASSERT_H

/* A violated invariant aborts the process at once, before it can do damage. */
#define ki_assert(condition)                     \
    do {                                         \
        if (__builtin_expect(!(condition), 0)) { \
            __builtin_trap();                    \
        }                                        \
    } while (0)

#endif
