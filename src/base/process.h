/* SPDX-License-Identifier: Apache-2.0 */
/* Which process this is. A child of fork() has a copy of all memory but only one thread, so locks
 * may be held forever there, and descriptors are shared with the parent. Whatever has locks or
 * descriptors remembers the process that made it, and leaves all as it is in another. */
#ifndef KI_BASE_PROCESS_H
#define KI_BASE_PROCESS_H

#include <stdbool.h>
#include <stdint.h>

/** A number that differs between a process and its children. Costs no system call. Any thread. */
uint64_t ki__process(void);

/** Whether something that was made when ki__process() was `process` belongs to a parent. */
static inline bool ki__is_inherited(uint64_t process)
{
    return process != ki__process();
}

#endif
