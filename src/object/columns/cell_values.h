/* SPDX-License-Identifier: Apache-2.0 */
/* Reading values for cells, and appending them. On failure some of a text may be there. */
#ifndef KI_OBJECT_COLUMNS_CELL_VALUES_H
#define KI_OBJECT_COLUMNS_CELL_VALUES_H

#include <kinformer/object.h>
#include <kinformer/value.h>

/** The value at names with dots between them; of KI_TYPE_NONE if there is none. */
ki_value ki__cell_value_at(const ki_object *object, const char *path);

/** The time there, in seconds since 1970; 0 if there is none. */
int64_t ki__cell_time_at(const ki_object *object, const char *path);

/** Appends a string, number or boolean; `otherwise` for anything else and for "". */
int ki__cell_add_value(const ki_value *value, const char *otherwise, ki_buf *out);

/** Appends the time between the two; "<unknown>" if `from` is 0. */
int ki__cell_add_age(int64_t from, int64_t to, ki_buf *out);

/** Appends the strings at the path `below` ("": the element itself) of each element of a list, with
 *  commas between them; `otherwise` if there are none. */
int ki__cell_add_list(const ki_object *object, const char *path, const char *below,
                      const char *otherwise, ki_buf *out);

#endif
