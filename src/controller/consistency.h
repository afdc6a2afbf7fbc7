/* SPDX-License-Identifier: Apache-2.0 */
/* What a controller asks of the record of writes. */
#ifndef KI_CONTROLLER_CONSISTENCY_H
#define KI_CONTROLLER_CONSISTENCY_H

#include <kinformer/consistency.h>

/** As ki_consistency_is_current(). If it is false, *ret_delay_ms is when to check again: a delay
 *  that grows with each check of the key. */
bool ki__consistency_check(ki_consistency *consistency, const char *key, uint64_t *ret_delay_ms);

#endif
