/* SPDX-License-Identifier: Apache-2.0 */
/* Validates the JSON text of an object and locates its metadata, in one pass. */
#ifndef KI_OBJECT_JSON_JSON_LOCATE_H
#define KI_OBJECT_JSON_JSON_LOCATE_H

#include <kinformer/error.h>

#include "object/located.h"

enum { KI__JSON_MEMBERS_MAX = 512 }; /* in the root and metadata together */

/** 0, or the code with `error` filled. The text must not exceed 4 GiB. */
int ki__json_locate(ki_str text, uint32_t max_depth, ki__located *ret_located, ki_error *error);

#endif
