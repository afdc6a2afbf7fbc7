/* SPDX-License-Identifier: Apache-2.0 */
/* The sizes of the public structs in 0.1. */
#ifndef KI_BASE_FIRST_SIZES_H
#define KI_BASE_FIRST_SIZES_H

#define KI__FIRST_SIZE(type) (sizeof(type))

#endif
