/* SPDX-License-Identifier: Apache-2.0 */
/* Detecting fork(). The child has a copy of all memory but only one thread, so locks may be held
 * forever there, and descriptors are shared with the parent. Objects with locks or descriptors
 * store the process that created them and do nothing in another one. */
#ifndef KI_BASE_PROCESS_H
#define KI_BASE_PROCESS_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/error.h"

/** A number that differs between a process and its children. No system call. Any thread. */
uint64_t ki__process(void);

/** The number of the calling thread in the system, and its name in a buffer of at least 16 bytes;
 *  "" if unknown. */
void ki__thread_identify(uint64_t *ret_id, char *name, size_t size);

/* The result of ki__process() once it was called; 0 if forks cannot be counted. */
extern _Atomic uint64_t ki__process_number;

/** Whether an object created when ki__process() was `process` belongs to a parent process. */
static inline bool ki__is_inherited(uint64_t process)
{
    uint64_t number = atomic_load_explicit(&ki__process_number, memory_order_relaxed);
    return process != number && (number != 0 || process != ki__process());
}

/** Returns KI_ERR_STOPPED from the enclosing function if it is called in a child of the process
 *  whose ki__process() was `process`. */
#define KI__REQUIRE_OWN(process, error)                     \
    do {                                                    \
        if (ki__is_inherited(process)) {                    \
            return ki__error_code((error), KI_ERR_STOPPED); \
        }                                                   \
    } while (0)

#endif
