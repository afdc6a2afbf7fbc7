/* SPDX-License-Identifier: Apache-2.0 */
/* Points in time as Kubernetes writes them: 2026-01-31T12:00:00Z, with an optional fraction of a
 * second and Z or an offset (RFC 3339; T and Z in upper case, no leap seconds, as in Go). */
#ifndef KI_OBJECT_TEXT_RFC3339_H
#define KI_OBJECT_TEXT_RFC3339_H

#include <kinformer/str.h>

#include "base/shared.h"

/** Seconds since 1970, the fraction cut. KI_ERR_INVALID if the text is no such time. */
KI__SHARED int ki__rfc3339_read(ki_str text, int64_t *ret_seconds);

/** The same with the fraction in nanoseconds, from 0 to 999,999,999; further digits are cut. */
int ki__rfc3339_read_nanos(ki_str text, int64_t *ret_seconds, int32_t *ret_nanos);

#endif
