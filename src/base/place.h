/* SPDX-License-Identifier: Apache-2.0 */
/* Where a function that calls back stands: its thread, and its frame on the stack. When it is
 * called again on that thread, from no deeper, its frame is gone though it never returned: a
 * callback was left by an exception or by longjmp(), which none may be. Only a hint: from deeper in
 * the stack the same looks like a call from inside the callback. */
#ifndef KI_BASE_PLACE_H
#define KI_BASE_PLACE_H

#include <stdbool.h>
#include <stdint.h>

typedef struct ki__place {
    uintptr_t thread; /* the address of something that each thread has for itself */
    uintptr_t frame;
} ki__place;

/** The place of the function that this stands in. */
#define KI__PLACE_HERE(thread_local) \
    ((ki__place){(uintptr_t) & (thread_local), (uintptr_t)__builtin_frame_address(0)})

/** Whether the function that was called at `then` and did not return cannot return any more. */
static inline bool ki__place_is_left(ki__place then, ki__place now)
{
    return then.thread == now.thread && now.frame >= then.frame; /* stacks grow downwards */
}

#endif
