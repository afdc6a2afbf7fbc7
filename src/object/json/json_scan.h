/* SPDX-License-Identifier: Apache-2.0 */
/* Validates JSON text (RFC 8259) in one pass, without recursion and without building a tree. The
 * functions take and return a position in the text; NULL means that the text was rejected, with the
 * code in the scan and details in the caller's ki_error. Nothing is read at or after `end`. */
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
    int code;                                   /* of the failure, if any */
    uint32_t depth;                             /* open maps and lists */
    uint32_t max_depth;                         /* at most KI__JSON_MAX_DEPTH */
    uint64_t maps[KI__JSON_MAX_DEPTH / 64 + 1]; /* a bit per depth: map, not list */
    const char *chunk; /* last classified chunk; later positions are never before it */
    /* A bit for each byte of the chunk, and of 64 bytes more, that is special in a string. */
    uint64_t special[KI__JSON_CHUNK / 64 + 1];
} ki__json_scan;

KI__SHARED void ki__json_scan_init(ki__json_scan *scan, ki_str text, uint32_t max_depth,
                                   ki_error *error);

/** Rejects the text at `p`. Always returns NULL. */
const char *ki__json_scan_fail(ki__json_scan *scan, const char *p, int code, const char *format,
                               ...) KI_PRINTF(4, 5);

/** The first non-space position at or after `p`, possibly the end. Never NULL. */
KI__SHARED const char *ki__json_scan_space(const ki__json_scan *scan, const char *p);

/** Validates the value at `p` (no white space) and returns the position after it. */
KI__SHARED const char *ki__json_scan_value(ki__json_scan *scan, const char *p);

/** Opens the map or list at `p` and returns the position of its first member or element, or of its
 *  closing bracket. */
const char *ki__json_scan_open(ki__json_scan *scan, const char *p);

/** Validates the member name at `p` and the colon after it, and returns the position of the value.
 *  *ret_name is the raw text between the quotes. */
const char *ki__json_scan_name(ki__json_scan *scan, const char *p, ki_str *ret_name);

/** After a child of the open map or list: returns the position of the next one, or of the closing
 *  bracket with *ret_more false. */
const char *ki__json_scan_next(ki__json_scan *scan, const char *p, bool *ret_more);

/** Closes the open map or list at its bracket and returns the position after it. */
const char *ki__json_scan_close(ki__json_scan *scan, const char *p);

/** Checks that only white space follows. */
const char *ki__json_scan_end(ki__json_scan *scan, const char *p);

/** Validates a complete text, of any type. 0 or the code. */
int ki__json_check(ki_str text, uint32_t max_depth, ki_error *error);

#endif
