/* SPDX-License-Identifier: Apache-2.0 */
/* Which process this is. A child of fork() has a copy of all memory but only one thread, so locks
 * may be held forever there, and descriptors are shared with the parent. Whatever has locks or
 * descriptors remembers the process that made it, and leaves all as it is in another. */
#ifndef KI_BASE_PROCESS_H
#define KI_BASE_PROCESS_H

#include <stdbool.h>
#include <stdint.h>

#include "base/error.h"

/** A number that differs between a process and its children. Costs no system call. Any thread. */
uint64_t ki__process(void);

/** Whether something that was made when ki__process() was `process` belongs to a parent. */
static inline bool ki__is_inherited(uint64_t process)
{
    return process != ki__process();
}

/** Returns KI_ERR_STOPPED from the function it stands in if that is called in a child of the
 * process in which `process` was noted. */
#define KI__REQUIRE_OWN(process, error)                     \
    do {                                                    \
        if (ki__is_inherited(process)) {                    \
            return ki__error_code((error), KI_ERR_STOPPED); \
        }                                                   \
    } while (0)

#endif
