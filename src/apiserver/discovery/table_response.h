/* SPDX-License-Identifier: Apache-2.0 */
/* Objects as rows of a table, as `kubectl get` shows them: the columns that a real server has for
 * the common kinds, those that its definition names for a custom resource, else name and age. */
#ifndef KI_APISERVER_DISCOVERY_TABLE_RESPONSE_H
#define KI_APISERVER_DISCOVERY_TABLE_RESPONSE_H

#include "apiserver/exchange.h"

/** Appends the columns of the exchange's type as a list. */
int ki__api_table_columns(const ki__api_exchange *x, ki_buf *out);

/** Appends the row of an object, with as much of the object as is asked for. */
int ki__api_table_row(const ki__api_exchange *x, const ki_object *object, ki_buf *out);

/** Appends the metadata of an object, as an object of its own. */
int ki__api_table_metadata(const ki_object *object, ki_buf *out);

#endif
