/* SPDX-License-Identifier: Apache-2.0 */
/* Numbers from their JSON text, which was checked before. Exact, and the same in every locale. */
#ifndef KI_OBJECT_JSON_JSON_NUMBER_H
#define KI_OBJECT_JSON_JSON_NUMBER_H

#include <kinformer/str.h>

/** 0, or KI_ERR_RANGE if it is not integral or does not fit. */
int ki__json_int64(ki_str text, int64_t *ret_number);

/** The nearest double, ties to even. 0, or KI_ERR_RANGE if it is beyond the largest double. */
int ki__json_double(ki_str text, double *ret_number);

#endif
