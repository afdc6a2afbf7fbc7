/* SPDX-License-Identifier: Apache-2.0 */
/* Between the two files of views. */
#ifndef KI_OBJECT_VIEW_H
#define KI_OBJECT_VIEW_H

#include <kinformer/view.h>

/** A string as text; false if the value is none. */
bool ki__text_of(const ki_value *value, ki_text *ret_text);

/** A string that is bytes: those of protobuf as they are, those of JSON in base64. */
bool ki__bytes_of(const ki_value *value, ki_bytes *ret_bytes);

#endif
