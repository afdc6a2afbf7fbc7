/* SPDX-License-Identifier: Apache-2.0 */
/* What is wrong with the fields of one object, collected and then reported as one Status of reason
 * Invalid. Reasons, field paths and texts are those of a real server: clients and tests look at
 * them. An error that was added twice is reported once. */
#ifndef KI_APISERVER_VALIDATE_INVALID_H
#define KI_APISERVER_VALIDATE_INVALID_H

#include <kinformer/buf.h>
#include <kinformer/value.h>

#include "apiserver/api_failure.h"
#include "object/edit/json_out.h"

enum { KI__INVALID_MAX = 1000, KI__INVALID_BYTES_MAX = 1 << 20 };

typedef enum ki__invalid_reason {
    KI__INVALID_VALUE,
    KI__INVALID_TYPE,
    KI__INVALID_REQUIRED, /* this and the next two show no value */
    KI__INVALID_FORBIDDEN,
    KI__INVALID_TOO_LONG,
    KI__INVALID_TOO_MANY,
    KI__INVALID_DUPLICATE,
    KI__INVALID_NOT_SUPPORTED,
} ki__invalid_reason;

typedef struct ki__invalid_item {
    ki__invalid_reason reason;
    size_t field; /* where in `texts`, and how long */
    size_t field_len;
    size_t body;
    size_t body_len;
} ki__invalid_item;

typedef struct ki__invalid {
    const ki_alloc *alloc;
    ki__invalid_item *items;
    size_t count;
    size_t cap;
    ki_buf texts;
    size_t left_out; /* errors beyond the limits */
} ki__invalid;

void ki__invalid_init(ki__invalid *list, const ki_alloc *alloc);
void ki__invalid_done(ki__invalid *list);

static inline bool ki__invalid_is_empty(const ki__invalid *list)
{
    return list->count == 0 && list->left_out == 0;
}

/** Adds an error. `value` is the offending value as it is shown, "" for none. 0 or -ENOMEM. */
int ki__invalid_add(ki__invalid *list, ki__invalid_reason reason, ki_str field, ki_str value,
                    ki_str detail);

/** The same with the value as a string, which is shown in quotes, and C strings. */
int ki__invalid_add_text(ki__invalid *list, ki__invalid_reason reason, const char *field,
                         ki_str value, const char *detail);

/** Appends a value as errors show it: strings in quotes, the rest as JSON. */
void ki__invalid_show(const ki_value *value, ki__out *out);
/** Appends any value as JSON without white space. */
void ki__invalid_show_json(const ki_value *value, ki__out *out);

/** Makes it the failure of a request to write the object `name` of a type; both outlive the
 *  failure. Nothing happens if the list is empty. 0 or -ENOMEM. */
int ki__invalid_fail(ki__invalid *list, ki__api_failure *failure, const ki__api_type *type,
                     const char *name);

#endif
