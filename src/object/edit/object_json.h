/* SPDX-License-Identifier: Apache-2.0 */
/* Objects and values as JSON that trees and walks can read, whatever their encoding, and objects
 * made of the JSON that they write. */
#ifndef KI_OBJECT_EDIT_OBJECT_JSON_H
#define KI_OBJECT_EDIT_OBJECT_JSON_H

#include <kinformer/object.h>

/** Copies options with the defaults of this module's limits filled in.
 *  Errors: -EINVAL, -E2BIG. */
int ki__object_json_options(const ki_object_options *options, ki_object_options *ret_options,
                            ki_error *error);

/** The object itself, or a JSON object that reads the same. `options` have their defaults.
 *  Owner: *ret_object is the caller's.
 *  Errors: KI_ERR_NO_SCHEMA  part of the object cannot be written as JSON;  KI_ERR_LIMIT, -ENOMEM.
 */
int ki__object_to_json(const ki_object *object, const ki_object_options *options,
                       ki_object **ret_object, ki_error *error);

/** Checks JSON text of any type and reads it as a value from a copy in `buf`, which is empty before
 *  and outlives the value. The message of a failure begins with `what`.
 *  Errors: KI_ERR_SYNTAX, KI_ERR_ENCODING, KI_ERR_DEPTH, KI_ERR_LIMIT, -ENOMEM. */
int ki__json_text_value(ki_str text, const char *what, uint32_t max_depth, ki_buf *buf,
                        ki_value *ret_value, ki_error *error);

/** Makes an object of written JSON. The message of a failure begins with `what`. */
int ki__object_from_written(ki_str json, const char *what, const ki_object_options *options,
                            ki_object **ret_object, ki_error *error);

#endif
