/* SPDX-License-Identifier: Apache-2.0 */
/* Kubernetes resource quantities: 2, 250m, 1.5Gi, -1e3. */
#ifndef KI_OBJECT_TEXT_QUANTITY_H
#define KI_OBJECT_TEXT_QUANTITY_H

#include <kinformer/str.h>

/** Whether the text is a quantity: an optional sign, decimal digits with an optional point, and an
 *  optional suffix or exponent. Every JSON number is one. */
bool ki__quantity_valid(ki_str text);

enum { KI__QUANTITY_TEXT_MAX = 255 }; /* longest text that is converted */

/** Reads a quantity times 10^shift as an integer, rounded away from 0.
 *  Errors: KI_ERR_INVALID  not a quantity;  KI_ERR_RANGE  it does not fit, or has over 18 digits
 * after the point and a binary suffix. */
int ki__quantity_int64(ki_str text, int shift, int64_t *ret_number);

/** Reads a quantity as a double, within one unit in the last place. Errors as above. */
int ki__quantity_double(ki_str text, double *ret_number);

#endif
