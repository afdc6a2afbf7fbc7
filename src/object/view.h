/* SPDX-License-Identifier: Apache-2.0 */
/* Shared by view.c and view_text.c. */
#ifndef KI_OBJECT_VIEW_H
#define KI_OBJECT_VIEW_H

#include <kinformer/view.h>

/** Gets a string as a text; false if the value is not a string. */
bool ki__text_of(const ki_value *value, ki_text *ret_text);

/** The value that a text was read from, which is not plain. */
ki_value ki__text_value(ki_text text);

/** Gets bytes: raw in protobuf, base64 in JSON. False if the value has another type. */
bool ki__bytes_of(const ki_value *value, ki_bytes *ret_bytes);

#endif
