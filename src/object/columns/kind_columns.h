/* SPDX-License-Identifier: Apache-2.0 */
/* What a server needs of columns besides <kinformer/parts/columns.h>. */
#ifndef KI_OBJECT_COLUMNS_KIND_COLUMNS_H
#define KI_OBJECT_COLUMNS_KIND_COLUMNS_H

#include <kinformer/parts/columns.h>

#include "base/shared.h"

/** The type in the column definitions of a table: "string", "integer", "boolean" or "date". Real
 *  servers call some columns of numbers strings. */
KI__SHARED const char *ki__column_table_type(const ki_column *column);

#endif
