/* SPDX-License-Identifier: Apache-2.0 */
/* The system's clock, for threads that wait; everything else uses the clock of its engine. */
#ifndef KI_LOOP_SYSTEM_H
#define KI_LOOP_SYSTEM_H

#include <stdint.h>

/** The time by CLOCK_MONOTONIC. Any thread. */
uint64_t ki__system_now_ns(void);

#endif
