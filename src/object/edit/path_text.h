/* SPDX-License-Identifier: Apache-2.0 */
/* Paths as text, in the spelling that <kinformer/path.h> reads: spec.containers[0].image,
 * metadata.labels['a.b/c'], and spec.containers[name=web] for an element of a list by one of its
 * members. */
#ifndef KI_OBJECT_EDIT_PATH_TEXT_H
#define KI_OBJECT_EDIT_PATH_TEXT_H

#include "object/edit/json_out.h"

/** Appends a member: ".name", without the dot if nothing is before it, or "['na.me']". */
void ki__path_text_member(ki__out *out, ki_str name);

/** Appends an element by one of its members: "[key=value]", or "[key='va lue']". `key` is plain. */
void ki__path_text_keyed(ki__out *out, const char *key, ki_str value);

#endif
