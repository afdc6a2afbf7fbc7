/* SPDX-License-Identifier: Apache-2.0 */
/* Times and durations are nanoseconds everywhere inside the library; names that end in _ms or _s
 * are converted at its edges. */
#ifndef KI_BASE_TIME_UNITS_H
#define KI_BASE_TIME_UNITS_H

#include <stdint.h>

#define KI__MS_NS UINT64_C(1000000)
#define KI__SECOND_NS UINT64_C(1000000000)

#endif
