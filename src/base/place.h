/* SPDX-License-Identifier: Apache-2.0 */
/* The thread and stack frame of a function that runs callbacks. If it is called again on the same
 * thread from the same depth or higher up the stack, its earlier frame is gone although it never
 * returned: a callback was left by an exception or longjmp(), which is not allowed. Only a
 * heuristic: from deeper in the stack this looks like a call inside the callback. */
#ifndef KI_BASE_PLACE_H
#define KI_BASE_PLACE_H

#include <stdbool.h>
#include <stdint.h>

typedef struct ki__place {
    uintptr_t thread; /* address of a thread-local variable */
    uintptr_t frame;
} ki__place;

/** The place of the enclosing function. */
#define KI__PLACE_HERE(thread_local) \
    ((ki__place){(uintptr_t) & (thread_local), (uintptr_t)__builtin_frame_address(0)})

/** Whether the function entered at `then`, which has not returned, can no longer return. */
static inline bool ki__place_is_left(ki__place then, ki__place now)
{
    return then.thread == now.thread && now.frame >= then.frame; /* stacks grow downwards */
}

#endif
