/* SPDX-License-Identifier: Apache-2.0 */
/* Reading values for cells, and appending them. */
#ifndef KI_OBJECT_COLUMNS_CELL_VALUES_H
#define KI_OBJECT_COLUMNS_CELL_VALUES_H

#include <kinformer/object.h>
#include <kinformer/value.h>

#include "object/edit/json_out.h"

/** The value at a dotted path; KI_TYPE_NONE if absent. */
ki_value ki__cell_value_at(const ki_object *object, const char *path);

/** The time at a path, in seconds since 1970; 0 if absent. */
int64_t ki__cell_time_at(const ki_object *object, const char *path);

/** Iterates over a list or a map, given by `type`; over nothing if the value is not one. */
ki_value_iter ki__cell_walk(const ki_value *value, ki_type type);

/** Appends a string, number or boolean; `otherwise` for anything else and for "". */
void ki__cell_add_value(const ki_value *value, const char *otherwise, ki__out *out);

/** Appends the duration between two times; "<unknown>" if `from` is 0. */
void ki__cell_add_age(int64_t from, int64_t to, ki__out *out);

/** Appends the strings at the path `below` ("": the element itself) of each list element, separated
 *  by commas; `otherwise` if there are none. */
void ki__cell_add_list(const ki_object *object, const char *path, const char *below,
                       const char *otherwise, ki__out *out);

/** Appends a comma unless the list, which starts at `begin` in the buffer, is empty. */
static inline void ki__cell_add_comma(size_t begin, ki__out *out)
{
    ki__out_text(out, out->buf->len != begin ? "," : "");
}

/** Appends `otherwise` if the list is empty. */
static inline void ki__cell_add_if_empty(size_t begin, const char *otherwise, ki__out *out)
{
    ki__out_text(out, out->buf->len == begin ? otherwise : "");
}

#endif
