/* SPDX-License-Identifier: Apache-2.0 */
/* Result of validating the bytes of an object, independent of the encoding. */
#ifndef KI_OBJECT_LOCATED_H
#define KI_OBJECT_LOCATED_H

#include <kinformer/str.h>

/* Strings that identify an object. */
typedef enum ki__identity {
    KI__IDENTITY_NAMESPACE,
    KI__IDENTITY_NAME,
    KI__IDENTITY_UID,
    KI__IDENTITY_RESOURCE_VERSION,
    KI__IDENTITY_KIND,
    KI__IDENTITY_API_VERSION,
    KI__IDENTITY_MAX
} ki__identity;

/* Values of which only the offset is kept. */
typedef enum ki__place {
    KI__PLACE_LABELS,
    KI__PLACE_ANNOTATIONS,
    KI__PLACE_OWNER_REFERENCES,
    KI__PLACE_FINALIZERS,
    KI__PLACE_CREATION,
    KI__PLACE_DELETION,
    KI__PLACE_GENERATION,
    KI__PLACE_METADATA, /* the last three: JSON only */
    KI__PLACE_SPEC,
    KI__PLACE_STATUS,
    KI__PLACE_MAX
} ki__place;

enum { KI__IDENTITY_BYTES_MAX = 1024 }; /* decoded, per string */

typedef struct ki__located {
    ki_str identity[KI__IDENTITY_MAX];       /* raw; JSON: between the quotes; NULL if absent */
    uint16_t identity_len[KI__IDENTITY_MAX]; /* decoded; differs from raw if escaped */
    uint32_t place[KI__PLACE_MAX]; /* offsets in the bytes; 0 if absent, or null in metadata */
} ki__located;

/** Falls back to the (plain) text from the options if the bytes have no value. */
static inline void ki__located_default(ki__located *located, ki__identity which, const char *text)
{
    ki_str fallback = ki_str_from(text);
    if (located->identity[which].len == 0) {
        located->identity[which] = fallback;
        located->identity_len[which] = (uint16_t)fallback.len;
    }
}

#endif
