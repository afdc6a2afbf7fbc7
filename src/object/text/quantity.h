/* SPDX-License-Identifier: Apache-2.0 */
/* Quantities of resources as Kubernetes spells them: 2, 250m, 1.5Gi, -1e3. */
#ifndef KI_OBJECT_TEXT_QUANTITY_H
#define KI_OBJECT_TEXT_QUANTITY_H

#include <kinformer/str.h>

/** Whether the text is a quantity: a sign or none, decimal digits with a point or none, and a
 *  suffix or an exponent or none. Every number of JSON is one. */
bool ki__quantity_valid(ki_str text);

#endif
