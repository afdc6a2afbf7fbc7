/* SPDX-License-Identifier: Apache-2.0 */
/* Objects as rows of a table, as `kubectl get` shows them: the columns that a real server has for
 * the common kinds, those that its definition names for a custom resource, else name and age. */
#ifndef KI_APISERVER_DISCOVERY_TABLE_RESPONSE_H
#define KI_APISERVER_DISCOVERY_TABLE_RESPONSE_H

#include "apiserver/exchange.h"
#include "object/edit/json_out.h"

/** Appends the columns of the exchange's type as a list. */
void ki__api_table_columns(const ki__api_exchange *x, ki__out *out);

/** Appends the row of an object, with as much of the object as is requested. */
void ki__api_table_row(const ki__api_exchange *x, const ki_object *object, ki__out *out);

/** Appends the metadata of an object, as an object of its own. */
void ki__api_table_metadata(const ki_object *object, ki__out *out);

#endif
