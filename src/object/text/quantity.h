/* SPDX-License-Identifier: Apache-2.0 */
/* Kubernetes resource quantities: 2, 250m, 1.5Gi, -1e3. */
#ifndef KI_OBJECT_TEXT_QUANTITY_H
#define KI_OBJECT_TEXT_QUANTITY_H

#include <kinformer/str.h>

/** Whether the text is a quantity: an optional sign, decimal digits with an optional point, and an
 *  optional suffix or exponent. Every JSON number is one. */
bool ki__quantity_valid(ki_str text);

#endif
