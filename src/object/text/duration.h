/* SPDX-License-Identifier: Apache-2.0 */
/* Durations in Go's syntax: numbers with units, such as 1h30m, 1.5s, -2h45.7m or 0. */
#ifndef KI_OBJECT_TEXT_DURATION_H
#define KI_OBJECT_TEXT_DURATION_H

#include <kinformer/str.h>

#include "base/shared.h"

/** Parses into nanoseconds. Units: ns, us (also with the micro sign or a Greek mu), ms, s, m, h.
 *  Fractions of a nanosecond are truncated.
 *  Errors: KI_ERR_INVALID  not a duration;  KI_ERR_RANGE  out of range. */
KI__SHARED int ki__duration_read(ki_str text, int64_t *ret_nanoseconds);

#endif
