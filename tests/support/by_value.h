/* SPDX-License-Identifier: Apache-2.0 */
/* Results that the library fills into structs of the caller's, as values. */
#ifndef KI_SUPPORT_BY_VALUE_H
#define KI_SUPPORT_BY_VALUE_H

#include <kinformer/index.h>
#include <kinformer/registration.h>
#include <kinformer/store.h>

static inline ki_registration_stats test_registration_stats(ki_registration *registration)
{
    ki_registration_stats stats = {0};
    if (ki_registration_get_stats(registration, &stats) < 0) {
        __builtin_trap();
    }
    return stats;
}

static inline ki_index test_index_by_namespace(void)
{
    ki_index index = {0};
    if (ki_index_by_namespace(&index) < 0) {
        __builtin_trap();
    }
    return index;
}

#endif
