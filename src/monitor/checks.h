/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KI_MONITOR_CHECKS_H
#define KI_MONITOR_CHECKS_H

#include <kinformer/checks.h>

#include "monitor/gathered.h"

/** Copies the options, with defaults in place of zeros. */
KI__SHARED int ki__check_options(const ki_check_options *options, ki_check_options *ret_options,
                                 ki_error *error);
/** ki_client_check_ready() or ki_client_check_live() of what was gathered. `report` may be NULL; it
 *  is restored after an error. */
KI__SHARED int ki__check(const ki__gathered *g, const ki_check_options *options, bool ready,
                         ki_buf *report);

/** Time since the last data from the source. */
KI__SHARED uint64_t ki__health_silent_ms(const ki_health *health);

#endif
