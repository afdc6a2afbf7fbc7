/* SPDX-License-Identifier: Apache-2.0 */
/* Like client-go's tools/pager: later pages carry only the token, neither resourceVersion nor
 * match; the resourceVersion of the list is that of the first page; an expired token falls back to
 * one full list from the original resourceVersion. Two checks go beyond client-go: pages with
 * different resourceVersions are never combined, and a server cannot cause an endless sequence of
 * pages without new objects. */
#include "wire/paging.h"

#include <string.h>

#include <kinformer/status.h>

#include "base/error.h"

void ki__paging_init(ki__paging *paging, const ki_alloc *alloc, ki__hash_key hash_key)
{
    *paging = (ki__paging){0};
    ki__progress_init(&paging->progress, alloc, hash_key);
    ki_buf_init(&paging->token, alloc, KI__TOKEN_MAX);
}

void ki__paging_done(ki__paging *paging)
{
    ki__paging_end(paging);
    ki_buf_done(&paging->token);
}

void ki__paging_end(ki__paging *paging)
{
    ki__progress_reset(&paging->progress);
}

static void begin(ki__paging *paging)
{
    paging->later = false;
    paging->version[0] = '\0';
    ki__progress_reset(&paging->progress);
    ki_buf_clear(&paging->token);
}

void ki__paging_begin(ki__paging *paging, const ki_list_options *options, bool may_restart)
{
    paging->first = *options;
    paging->may_restart = may_restart;
    paging->count = 0;
    begin(paging);
}

ki_list_options ki__paging_options(const ki__paging *paging)
{
    ki_list_options options = paging->first;
    if (paging->later) {
        options.resource_version = "";
        options.resource_version_match = "";
        options.continue_token = ki_buf_text(&paging->token);
    }
    return options;
}

static ki__paging_verdict restart(ki__paging *paging)
{
    paging->may_restart = false;
    paging->first.limit = 0;
    paging->first.continue_token = "";
    begin(paging);
    return KI__PAGING_RESTART;
}

ki__paging_verdict ki__paging_fail(ki__paging *paging, const ki_error *error)
{
    bool expired = ki_error_is_resource_expired(error) || ki_error_is_gone(error);
    return paging->later && expired && paging->may_restart ? restart(paging) : KI__PAGING_FAILED;
}

/* The first page sets the resourceVersion of the list; later ones must match it. */
static int take_version(ki__paging *paging, const char *version, ki_error *error)
{
    size_t len = strlen(version);
    if (len > KI__VERSION_MAX) {
        return ki__error_set(error, KI_ERR_LIMIT, "list: resourceVersion too long: %zu bytes", len);
    }
    if (!paging->later) {
        memcpy(paging->version, version, len + 1);
        return 0;
    }
    if (strcmp(version, paging->version) == 0) {
        return 0;
    }
    (void)ki__error_set(error, KI_ERR_STALE, "inconsistent pages: resourceVersion ");
    ki__error_add(error, ki_str_from(version));
    ki__error_add(error, ki_str_from(", first page had "));
    ki__error_add(error, ki_str_from(paging->version));
    return KI_ERR_STALE;
}

/* Stores the token for the next page after checking for progress. */
static int take_token(ki__paging *paging, const char *token, ki_error *error)
{
    int r = ki__progress_next_page(&paging->progress, ki_str_from(token), error);
    if (r < 0) {
        return r;
    }
    ki_buf_clear(&paging->token);
    r = ki_buf_add_text(&paging->token, token);
    if (r == KI_ERR_LIMIT) {
        return ki__error_set(error, r, "continue token longer than %d bytes", KI__TOKEN_MAX);
    }
    return r < 0 ? ki__error_code(error, r) : 0;
}

static const char *or_empty(const char *text)
{
    return text != NULL ? text : "";
}

ki__paging_verdict ki__paging_take(ki__paging *paging, const ki_list_meta *meta, ki_error *error)
{
    int r = take_version(paging, or_empty(meta->resource_version), error);
    if (r == KI_ERR_STALE && paging->may_restart) {
        return restart(paging);
    }
    if (r < 0) {
        return KI__PAGING_FAILED;
    }
    paging->count++;
    paging->later = true;
    const char *token = or_empty(meta->continue_token);
    if (token[0] == '\0') {
        return KI__PAGING_COMPLETE;
    }
    return take_token(paging, token, error) < 0 ? KI__PAGING_FAILED : KI__PAGING_NEXT;
}
