/* SPDX-License-Identifier: Apache-2.0 */
/* Formats paths in the syntax of <kinformer/path.h>: spec.containers[0].image,
 * metadata.labels['a.b/c'], and spec.containers[name=web] for a list element with a key. */
#ifndef KI_OBJECT_EDIT_PATH_TEXT_H
#define KI_OBJECT_EDIT_PATH_TEXT_H

#include "object/edit/json_out.h"

/** Appends a member: ".name", without the dot at the start of the path, or "['na.me']". */
void ki__path_text_member(ki__out *out, ki_str name);

/** Appends a list element by key: "[key=value]", or "[key='va lue']". `key` is never quoted. */
void ki__path_text_keyed(ki__out *out, const char *key, ki_str value);

#endif
