/* SPDX-License-Identifier: Apache-2.0 */
/* Detecting fork(). The child has a copy of all memory but only one thread, so locks may be held
 * forever there, and descriptors are shared with the parent. Objects with locks or descriptors
 * store the process that created them and do nothing in another one. */
#ifndef KI_BASE_PROCESS_H
#define KI_BASE_PROCESS_H

#include <stdbool.h>
#include <stdint.h>

#include "base/error.h"

/** A number that differs between a process and its children. No system call. Any thread. */
uint64_t ki__process(void);

/** Whether an object created when ki__process() was `process` belongs to a parent process. */
static inline bool ki__is_inherited(uint64_t process)
{
    return process != ki__process();
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
