/* SPDX-License-Identifier: Apache-2.0 */
/* Column information for servers, in addition to <kinformer/parts/columns.h>. */
#ifndef KI_OBJECT_COLUMNS_KIND_COLUMNS_H
#define KI_OBJECT_COLUMNS_KIND_COLUMNS_H

#include <kinformer/parts/columns.h>

#include "base/shared.h"

/** The type in a table's column definitions: "string", "integer", "boolean" or "date". Real servers
 *  declare some numeric columns as strings. */
KI__SHARED const char *ki__column_table_type(const ki_column *column);

#endif
