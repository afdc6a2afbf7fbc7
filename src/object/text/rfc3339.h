/* SPDX-License-Identifier: Apache-2.0 */
/* Timestamps as in Kubernetes: 2026-01-31T12:00:00Z, with an optional fraction of a second and Z or
 * an offset (RFC 3339; upper case T and Z, no leap seconds, as in Go). */
#ifndef KI_OBJECT_TEXT_RFC3339_H
#define KI_OBJECT_TEXT_RFC3339_H

#include <kinformer/str.h>

#include "base/shared.h"

/** Parses into seconds since 1970; the fraction is truncated. KI_ERR_INVALID if malformed. */
KI__SHARED int ki__rfc3339_read(ki_str text, int64_t *ret_seconds);

/** Likewise, with the fraction in nanoseconds, 0 to 999,999,999; further digits are dropped. */
int ki__rfc3339_read_nanos(ki_str text, int64_t *ret_seconds, int32_t *ret_nanos);

#endif
