/* SPDX-License-Identifier: Apache-2.0 */
/* Objects as rows of a Table, the format of `kubectl get`: kube-apiserver's columns for common
 * kinds, additionalPrinterColumns for custom resources, otherwise name and age. */
#ifndef KI_APISERVER_DISCOVERY_TABLE_RESPONSE_H
#define KI_APISERVER_DISCOVERY_TABLE_RESPONSE_H

#include "apiserver/exchange.h"
#include "object/edit/json_out.h"

/** Appends the column definitions of the exchange's type as a JSON list. */
void ki__api_table_columns(const ki__api_exchange *x, ki__out *out);

/** Appends the row of an object, including the parts of the object requested by includeObject. */
void ki__api_table_row(const ki__api_exchange *x, const ki_object *object, ki__out *out);

/** Appends an object as PartialObjectMetadata. */
void ki__api_table_metadata(const ki_object *object, ki__out *out);

#endif
