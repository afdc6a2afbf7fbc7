/* SPDX-License-Identifier: Apache-2.0 */
/* Collects the field errors of one object and reports them as one Status with reason Invalid.
 * Reasons, field paths and messages are those of kube-apiserver: clients and tests match them.
 * Duplicate errors are reported once. */
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
    KI__INVALID_REQUIRED, /* this and the next two print no value */
    KI__INVALID_FORBIDDEN,
    KI__INVALID_TOO_LONG,
    KI__INVALID_TOO_MANY,
    KI__INVALID_DUPLICATE,
    KI__INVALID_NOT_SUPPORTED,
} ki__invalid_reason;

typedef struct ki__invalid_item {
    ki__invalid_reason reason;
    size_t field; /* offset and length in `texts` */
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
    size_t left_out; /* number of errors beyond the limits */
} ki__invalid;

void ki__invalid_init(ki__invalid *list, const ki_alloc *alloc);
void ki__invalid_done(ki__invalid *list);

static inline bool ki__invalid_is_empty(const ki__invalid *list)
{
    return list->count == 0 && list->left_out == 0;
}

/** Adds an error. `value` is the offending value as printed, "" for none. 0 or -ENOMEM. */
int ki__invalid_add(ki__invalid *list, ki__invalid_reason reason, ki_str field, ki_str value,
                    ki_str detail);

/** The same for C strings; the value is a string and is printed in quotes. */
int ki__invalid_add_text(ki__invalid *list, ki__invalid_reason reason, const char *field,
                         ki_str value, const char *detail);

/** Appends a value in the form of error messages: strings in quotes, the rest as JSON. */
void ki__invalid_show(const ki_value *value, ki__out *out);
/** Appends any value as JSON without white space. */
void ki__invalid_show_json(const ki_value *value, ki__out *out);

/** Sets the failure of a request that writes object `name` of a type; both outlive the failure. No
 *  effect if the list is empty. 0 or -ENOMEM. */
int ki__invalid_fail(ki__invalid *list, ki__api_failure *failure, const ki__api_type *type,
                     const char *name);

#endif
