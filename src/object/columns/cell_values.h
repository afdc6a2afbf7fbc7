/* SPDX-License-Identifier: Apache-2.0 */
/* Reading values for cells, and appending them. */
#ifndef KI_OBJECT_COLUMNS_CELL_VALUES_H
#define KI_OBJECT_COLUMNS_CELL_VALUES_H

#include <kinformer/object.h>
#include <kinformer/value.h>

#include "object/edit/json_out.h"

/** The value at names with dots between them; of KI_TYPE_NONE if there is none. */
ki_value ki__cell_value_at(const ki_object *object, const char *path);

/** The time there, in seconds since 1970; 0 if there is none. */
int64_t ki__cell_time_at(const ki_object *object, const char *path);

/** Begins a walk over a list or a map, whichever `type` is; over nothing if the value is neither.
 */
ki_value_iter ki__cell_walk(const ki_value *value, ki_type type);

/** Appends a string, number or boolean; `otherwise` for anything else and for "". */
void ki__cell_add_value(const ki_value *value, const char *otherwise, ki__out *out);

/** Appends the time between the two; "<unknown>" if `from` is 0. */
void ki__cell_add_age(int64_t from, int64_t to, ki__out *out);

/** Appends the strings at the path `below` ("": the element itself) of each element of a list, with
 *  commas between them; `otherwise` if there are none. */
void ki__cell_add_list(const ki_object *object, const char *path, const char *below,
                       const char *otherwise, ki__out *out);

/** The comma between the elements of a list that began at `begin` of the buffer. */
static inline void ki__cell_add_comma(size_t begin, ki__out *out)
{
    ki__out_text(out, out->buf->len != begin ? "," : "");
}

/** What stands for a list without elements. */
static inline void ki__cell_add_if_empty(size_t begin, const char *otherwise, ki__out *out)
{
    ki__out_text(out, out->buf->len == begin ? otherwise : "");
}

#endif
