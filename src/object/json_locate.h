/* SPDX-License-Identifier: Apache-2.0 */
/* Checks the JSON text of a whole object and finds its metadata, in the same pass. */
#ifndef KI_OBJECT_JSON_LOCATE_H
#define KI_OBJECT_JSON_LOCATE_H

#include <kinformer/error.h>
#include <kinformer/str.h>

/* Text that identifies an object. */
typedef enum ki__identity {
    KI__IDENTITY_NAMESPACE,
    KI__IDENTITY_NAME,
    KI__IDENTITY_UID,
    KI__IDENTITY_RESOURCE_VERSION,
    KI__IDENTITY_KIND,
    KI__IDENTITY_API_VERSION,
    KI__IDENTITY_MAX
} ki__identity;

/* Values that are only remembered by their place. */
typedef enum ki__place {
    KI__PLACE_LABELS,
    KI__PLACE_ANNOTATIONS,
    KI__PLACE_OWNER_REFERENCES,
    KI__PLACE_FINALIZERS,
    KI__PLACE_CREATION,
    KI__PLACE_DELETION,
    KI__PLACE_GENERATION,
    KI__PLACE_METADATA,
    KI__PLACE_SPEC,
    KI__PLACE_STATUS,
    KI__PLACE_MAX
} ki__place;

enum {
    KI__IDENTITY_BYTES_MAX = 1024, /* decoded, for each identity */
    KI__JSON_MEMBERS_MAX = 512,    /* at the top and in metadata together */
};

typedef struct ki__json_located {
    ki_str identity[KI__IDENTITY_MAX];       /* raw, between the quotes; empty if absent or null */
    uint16_t identity_len[KI__IDENTITY_MAX]; /* decoded: less than raw if there are escapes */
    uint32_t place[KI__PLACE_MAX]; /* offsets in the text; 0 if absent, or null in metadata */
} ki__json_located;

/** 0, or the code with `error` filled. The text has at most 4 GiB. */
int ki__json_locate(ki_str text, uint32_t max_depth, ki__json_located *ret_located,
                    ki_error *error);

#endif
