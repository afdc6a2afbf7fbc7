/* SPDX-License-Identifier: Apache-2.0 */
/* The rules of pagination, without the requests: the options of each page, whether a page is
 * consistent with the earlier ones, whether the list makes progress, and when to restart. Pure
 * state: pages.c drives it for a ki_source (reflector, ki_pager), the client for its own requests.
 *
 * It is in wire/ rather than rest/ because the reflector needs it too, and cache may not include
 * rest.
 *
 *   ki__paging_begin()
 *   request a page with ki__paging_options(); ki__paging_note_key() for each of its objects
 *   ki__paging_take() or ki__paging_fail() at its end; then act on the verdict */
#ifndef KI_WIRE_PAGING_H
#define KI_WIRE_PAGING_H

#include <kinformer/buf.h>
#include <kinformer/parts/source.h>

#include "wire/page_progress.h"

enum {
    KI__PAGE_LIMIT = 500,     /* default number of objects per page */
    KI__VERSION_MAX = 1024,   /* maximum bytes of a resourceVersion, as in objects */
    KI__TOKEN_MAX = 64 << 10, /* maximum bytes of a continue token */
};

/* What to do after a page. */
typedef enum ki__paging_verdict {
    KI__PAGING_NEXT,     /* request the next page */
    KI__PAGING_RESTART,  /* drop all objects and request everything in one page */
    KI__PAGING_COMPLETE, /* this was the last page */
    KI__PAGING_FAILED,   /* the list cannot be completed */
} ki__paging_verdict;

typedef struct ki__paging {
    ki_list_options first; /* of the first page since begin or restart; strings borrowed */
    bool may_restart;      /* once */
    bool later;            /* the current page is not the first since begin or restart */
    uint32_t count;        /* complete pages, including those before a restart */
    ki_buf token;          /* of the current page; unused for the first */
    ki__progress progress;
    char version[KI__VERSION_MAX + 1]; /* of the list: that of the first page */
} ki__paging;

/** Allocates nothing. */
void ki__paging_init(ki__paging *paging, const ki_alloc *alloc, ki__hash_key hash_key);
void ki__paging_done(ki__paging *paging);

/** Begins a list with `options`, whose strings must live until its end. */
void ki__paging_begin(ki__paging *paging, const ki_list_options *options, bool may_restart);

/** The options of the current page; valid until the next verdict. */
ki_list_options ki__paging_options(const ki__paging *paging);

/** The current page has an object with this key; "": unknown. */
static inline void ki__paging_note_key(ki__paging *paging, const char *key)
{
    ki__progress_note_key(&paging->progress, ki_str_from(key));
}

/** The current page is complete. KI__PAGING_FAILED always comes with an error:
 *  KI_ERR_STALE    its resourceVersion differs from the first page's, and no restart is allowed;
 *  KI_ERR_LIMIT    resourceVersion or token too long, or too many pages without a new object;
 *  KI_ERR_INVALID  a continue token is repeated;  -ENOMEM. */
ki__paging_verdict ki__paging_take(ki__paging *paging, const ki_list_meta *meta, ki_error *error);

/** The current page failed with `error`: KI__PAGING_RESTART or KI__PAGING_FAILED. */
ki__paging_verdict ki__paging_fail(ki__paging *paging, const ki_error *error);

/** The list is complete or abandoned: frees the paging state. `version` and `count` are kept. */
void ki__paging_end(ki__paging *paging);

#endif
