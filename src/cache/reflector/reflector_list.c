/* SPDX-License-Identifier: Apache-2.0 */
/* Paginated lists. The requested version and the page size follow client-go: the last known
 * version, so that the list is never older and the watch cache can serve it; none, for the latest,
 * if the server no longer has that version, or not yet. */
#include <errno.h>
#include <string.h>

#include "base/error.h"
#include "cache/reflector/reflector.h"

static const char *version_to_request(const ki_reflector *r)
{
    if (r->list_version == KI__LIST_VERSION_LATEST) {
        return "";
    }
    if (r->version[0] == '\0') {
        return r->options.allow_stale_start ? "0" : "";
    }
    return r->version;
}

/* With a version, servers use their watch cache only if everything is requested at once. */
static uint32_t page_size(const ki_reflector *r, const char *version)
{
    if (r->options.page_size != 0) {
        return r->options.page_size;
    }
    bool any_version = version[0] == '\0' || strcmp(version, "0") == 0;
    return r->paginated || any_version ? KI__PAGE_LIMIT : 0;
}

void ki__reflector_list_begin(ki_reflector *r)
{
    const char *version = version_to_request(r);
    memcpy(r->requested, version, strlen(version) + 1); /* it must outlive the current version */
    const ki_list_options options = {
        .size = sizeof(options),
        .label_selector = r->selection->labels,
        .field_selector = r->selection->fields,
        .shard_selector = r->selection->shard_text,
        .resource_version = r->requested,
        /* Servers reject it without a version. */
        .resource_version_match = r->requested[0] == '\0' ? "" : "NotOlderThan",
        .limit = page_size(r, r->requested),
        .projection = ki__reflector_requested(r),
    };
    ki__reflector_count(r, &r->shared.health.lists);
    r->pages.paused = r->paused;
    ki_error error = KI_ERROR_INIT;
    if (ki__pages_begin(&r->pages, &options, true, &error) < 0) {
        ki__reflector_list_failed(r, &error, NULL);
    } else {
        ki__reflector_begin_call(r, UINT64_MAX);
    }
}

void ki__reflector_list_failed(ki_reflector *r, const ki_error *error, const ki_object *status)
{
    if (ki__reflector_reencode(r, error)) {
        return;
    }
    ki__trouble trouble = ki__reflector_classify(error, status);
    bool version = trouble == KI__TROUBLE_EXPIRED || trouble == KI__TROUBLE_TOO_LARGE;
    if (version && r->list_version != KI__LIST_VERSION_LATEST) {
        r->list_version = KI__LIST_VERSION_LATEST;
        ki__reflector_log_routine(r, "resource version not available; listing the latest", error);
        ki__reflector_go(r, KI_REFLECTOR_LISTING);
        return;
    }
    ki__reflector_fail(r, KI__THEN_LIST, error, status);
}

/* ---- callbacks of the pages ---- */

static void fail_with(ki_reflector *r, int code)
{
    ki_error error;
    ki__error_init(&error);
    (void)ki__error_code(&error, code);
    ki__reflector_list_failed(r, &error, NULL);
}

static void on_object(const ki_object *object, void *user)
{
    ki_reflector *r = user;
    if (ki__reflector_is_stopping(r)) {
        return;
    }
    ki__reflector_note_object(r, object);
    if (!ki__reflector_selects(r, object)) {
        return;
    }
    /* The only check of list objects, as in client-go: objects without a key cannot be stored. */
    int code = 0;
    ki_error error;
    ki__error_init(&error);
    if (ki_object_key(object)[0] != '\0') {
        code = ki__reflector_collect(r, object, ki__collect_append, &error);
    } else {
        (void)ki__error_set(&error, KI_ERR_KEY, "list: an item has no metadata.name");
        ki__reflector_skipped(r, "", &error);
    }
    if (code < 0 && !ki__reflector_is_stopping(r)) {
        ki__reflector_list_failed(r, &error, NULL);
    }
    ki__reflector_check(r);
}

static void on_skipped(const char *key, const ki_error *error, void *user)
{
    ki_reflector *r = user;
    if (ki__reflector_is_stopping(r)) {
        return;
    }
    ki__reflector_skipped(r, key, error);
    int code = error->code == -ENOMEM ? -ENOMEM : ki__collect_add_unread(&r->found, key);
    if (code < 0 && !ki__reflector_is_stopping(r)) {
        fail_with(r, code);
    }
    ki__reflector_check(r);
}

static void on_alive(size_t bytes, void *user)
{
    ki_reflector *r = user;
    r->alive = ki__engine_now(r->engine);
    ki__reflector_note_bytes(r, bytes);
}

static void on_retry(const ki_error *error, const ki_object *status, uint64_t delay_ms, void *user)
{
    ki_reflector *r = user;
    if (!ki__reflector_is_stopping(r)) {
        ki__reflector_report(r, KI_OPERATION_LIST, error, status, ki__ms_to_ns(delay_ms));
    }
}

static void on_restart(void *user)
{
    ki_reflector *r = user;
    ki__collect_clear(&r->found);
}

static void on_end(const char *version, const ki_error *error, const ki_object *status, void *user)
{
    ki_reflector *r = user;
    if (ki__reflector_is_stopping(r)) {
        return;
    }
    if (error != NULL) {
        ki__reflector_list_failed(r, error, status);
        ki__reflector_check(r);
        return;
    }
    if (strcmp(r->requested, "0") == 0 && r->pages.paging.count > 1) {
        r->paginated = true;
    }
    ki_error failure;
    ki__error_init(&failure);
    int code = ki__reflector_complete(r, version, &failure);
    if (ki__reflector_is_stopping(r)) {
        return;
    }
    if (code < 0) {
        ki__reflector_list_failed(r, &failure, NULL);
    } else {
        ki__reflector_go(r, KI_REFLECTOR_WATCHING);
    }
    ki__reflector_check(r);
}

const ki__pages_sink ki__reflector_pages_sink = {
    .on_object = on_object,
    .on_skipped = on_skipped,
    .on_alive = on_alive,
    .on_retry = on_retry,
    .on_restart = on_restart,
    .on_end = on_end,
};
