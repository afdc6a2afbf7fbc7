/* SPDX-License-Identifier: Apache-2.0 */
/* Conversion of validated JSON numbers. Exact and independent of the locale. */
#ifndef KI_OBJECT_JSON_JSON_NUMBER_H
#define KI_OBJECT_JSON_JSON_NUMBER_H

#include <kinformer/str.h>

/** 0, or KI_ERR_RANGE if not an integer or out of range. */
int ki__json_int64(ki_str text, int64_t *ret_number);

/** The nearest double, ties to even. 0, or KI_ERR_RANGE beyond the largest double. */
int ki__json_double(ki_str text, double *ret_number);

#endif
