/* SPDX-License-Identifier: Apache-2.0 */
/* String formats in schemas of custom resources. Unknown formats are ignored, as in
 * kube-apiserver. */
#ifndef KI_APISERVER_VALIDATE_FORMATS_H
#define KI_APISERVER_VALIDATE_FORMATS_H

#include <kinformer/str.h>

/** Whether strings are checked for this format. */
bool ki__format_is_known(ki_str format);

/** Whether a string matches a known format. */
bool ki__format_matches(ki_str format, ki_str text);

#endif
