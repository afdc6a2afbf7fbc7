/* SPDX-License-Identifier: Apache-2.0 */
/* Conversion of objects and values of any encoding to JSON, for trees and traversals, and of the
 * written JSON back to objects. */
#ifndef KI_OBJECT_EDIT_OBJECT_JSON_H
#define KI_OBJECT_EDIT_OBJECT_JSON_H

#include <kinformer/object.h>

/** Copies options and fills in the defaults of the limits.
 *  Errors: -EINVAL, -E2BIG. */
int ki__object_json_options(const ki_object_options *options, ki_object_options *ret_options,
                            ki_error *error);

/** Returns the object itself, or an equivalent JSON object. `options` must have defaults filled in.
 *  Owner: *ret_object is the caller's.
 *  Errors: KI_ERR_NO_SCHEMA  part of the object cannot be converted;  KI_ERR_LIMIT, -ENOMEM. */
int ki__object_to_json(const ki_object *object, const ki_object_options *options,
                       ki_object **ret_object, ki_error *error);

/** Validates JSON text of any type and returns it as a value in a copy in `buf`, which must be
 *  empty and outlive the value. `what` prefixes error messages.
 *  Errors: KI_ERR_SYNTAX, KI_ERR_ENCODING, KI_ERR_DEPTH, KI_ERR_LIMIT, -ENOMEM. */
int ki__json_text_value(ki_str text, const char *what, uint32_t max_depth, ki_buf *buf,
                        ki_value *ret_value, ki_error *error);

/** Creates an object from written JSON. `what` prefixes error messages. */
int ki__object_from_written(ki_str json, const char *what, const ki_object_options *options,
                            ki_object **ret_object, ki_error *error);

#endif
