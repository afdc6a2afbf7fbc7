/* SPDX-License-Identifier: Apache-2.0 */
/* The formats of strings that schemas of custom resources may name. Others are ignored, as by a
 * real server. */
#ifndef KI_APISERVER_VALIDATE_FORMATS_H
#define KI_APISERVER_VALIDATE_FORMATS_H

#include <kinformer/str.h>

/** Whether strings are checked for this format. */
bool ki__format_is_known(ki_str format);

/** Whether a string is of a format that is known. */
bool ki__format_matches(ki_str format, ki_str text);

#endif
