/* SPDX-License-Identifier: Apache-2.0 */
/* The rules of a list in pages, without the requests: the options of each page, whether a page
 * belongs to the ones before it, whether the list comes to an end, and when to begin again. Pure
 * state: pages.c drives it for a ki_source (reflector, ki_pager), the client for its own requests.
 *
 * It is in wire/ and not in rest/ because the reflector needs it too, and cache may not include
 * rest.
 *
 *   ki__paging_begin()
 *   request a page with ki__paging_options(); ki__paging_note_key() for each of its objects
 *   ki__paging_take() or ki__paging_fail() at its end, and so on by the verdict */
#ifndef KI_WIRE_PAGING_H
#define KI_WIRE_PAGING_H

#include <kinformer/buf.h>
#include <kinformer/parts/source.h>

#include "wire/page_progress.h"

enum {
    KI__PAGE_LIMIT = 500,     /* objects of a page if nothing else is requested */
    KI__VERSION_MAX = 1024,   /* bytes of a resourceVersion, as in objects */
    KI__TOKEN_MAX = 64 << 10, /* bytes of a continue token */
};

/* What follows a page. */
typedef enum ki__paging_verdict {
    KI__PAGING_NEXT,     /* request the next page */
    KI__PAGING_RESTART,  /* drop all objects, and request everything in one page */
    KI__PAGING_COMPLETE, /* that was the last page */
    KI__PAGING_FAILED,   /* the list cannot be completed */
} ki__paging_verdict;

typedef struct ki__paging {
    ki_list_options first; /* of the first page since the beginning or the restart; text borrowed */
    bool may_restart;      /* once */
    bool later;            /* the page at hand is not the first since the beginning or restart */
    uint32_t count;        /* complete pages, those before a restart included */
    ki_buf token;          /* of the page at hand; unused for the first */
    ki__progress progress;
    char version[KI__VERSION_MAX + 1]; /* resourceVersion of the list: that of the first page */
} ki__paging;

/** Allocates nothing. */
void ki__paging_init(ki__paging *paging, const ki_alloc *alloc, ki__hash_key hash_key);
void ki__paging_done(ki__paging *paging);

/** Begins a list with `options`, whose text must live until its end. */
void ki__paging_begin(ki__paging *paging, const ki_list_options *options, bool may_restart);

/** The options of the page at hand; valid until the next verdict. */
ki_list_options ki__paging_options(const ki__paging *paging);

/** The page at hand has an object of this key; "": unknown. */
static inline void ki__paging_note_key(ki__paging *paging, const char *key)
{
    ki__progress_note_key(&paging->progress, ki_str_from(key));
}

/** The page at hand is complete. Never KI__PAGING_FAILED without an error:
 *  KI_ERR_STALE    it shows another resourceVersion than the first page, and a restart is not
 *                  allowed;
 *  KI_ERR_LIMIT    resourceVersion or token too long, or too many pages without a new object;
 *  KI_ERR_INVALID  a continue token is repeated;  -ENOMEM. */
ki__paging_verdict ki__paging_take(ki__paging *paging, const ki_list_meta *meta, ki_error *error);

/** The page at hand failed with `error`: KI__PAGING_RESTART or KI__PAGING_FAILED. */
ki__paging_verdict ki__paging_fail(ki__paging *paging, const ki_error *error);

/** The list is over, or given up: frees what was noted of its pages. `version` and `count` stay. */
void ki__paging_end(ki__paging *paging);

#endif
