/* SPDX-License-Identifier: Apache-2.0 */
/* Checking JSON text (RFC 8259) in one pass, without recursion and without building anything. The
 * functions take and give back a place in the text; NULL means that the text is refused, with the
 * code in the scan and the details in the caller's ki_error. Nothing is read at or after `end`. */
#ifndef KI_OBJECT_JSON_JSON_SCAN_H
#define KI_OBJECT_JSON_JSON_SCAN_H

#include <kinformer/error.h>
#include <kinformer/str.h>

#include "base/shared.h"

enum { KI__JSON_MAX_DEPTH = 1024, KI__JSON_CHUNK = 4096 };

typedef struct ki__json_scan {
    const char *start;
    const char *end;
    ki_error *error;                            /* the caller's; may be NULL */
    int code;                                   /* of the failure, once there was one */
    uint32_t depth;                             /* maps and lists that are open */
    uint32_t max_depth;                         /* at most KI__JSON_MAX_DEPTH */
    uint64_t maps[KI__JSON_MAX_DEPTH / 64 + 1]; /* a bit for each depth: a map, not a list */
    const char *chunk; /* what was looked at last; no place to come is before it */
    /* A bit for each byte of it, and of 64 bytes more, that is not plain text in a string. */
    uint64_t special[KI__JSON_CHUNK / 64 + 1];
} ki__json_scan;

KI__SHARED void ki__json_scan_init(ki__json_scan *scan, ki_str text, uint32_t max_depth,
                                   ki_error *error);

/** Refuses the text at `p`. Always NULL. */
const char *ki__json_scan_fail(ki__json_scan *scan, const char *p, int code, const char *format,
                               ...) KI_PRINTF(4, 5);

/** The first place at or after `p` that is not white space; maybe the end. Never NULL. */
KI__SHARED const char *ki__json_scan_space(const ki__json_scan *scan, const char *p);

/** Checks one whole value that begins at `p` (no white space) and gives the place after it. */
KI__SHARED const char *ki__json_scan_value(ki__json_scan *scan, const char *p);

/** Opens the map that begins at `p` with '{', and gives the place of its first member, or of '}'.
 */
const char *ki__json_scan_open_map(ki__json_scan *scan, const char *p);

/** Checks the name of a member at `p` and the colon after it, and gives the place of its value.
 *  *ret_name is what stands between the quotes. */
const char *ki__json_scan_name(ki__json_scan *scan, const char *p, ki_str *ret_name);

/** After a member of the open map: the place of the next member, or of '}' with *ret_more false. */
const char *ki__json_scan_next_member(ki__json_scan *scan, const char *p, bool *ret_more);

/** Closes the open map at its '}' and gives the place after it. */
const char *ki__json_scan_close_map(ki__json_scan *scan, const char *p);

/** Checks that nothing but white space follows. */
const char *ki__json_scan_end(ki__json_scan *scan, const char *p);

/** Checks a whole text, of any type. 0 or the code. */
int ki__json_check(ki_str text, uint32_t max_depth, ki_error *error);

#endif
