/* SPDX-License-Identifier: Apache-2.0 */
/* ki_client_list(): a complete list, page by page with the rules of wire/paging.h, each page a
 * blocking request. */
#include <kinformer/request.h>

#include "base/engine.h"
#include "base/error.h"
#include "base/options.h"
#include "client/client.h"
#include "object/object_list.h"
#include "wire/list_collector.h"
#include "wire/paging.h"

enum { OBJECTS_MAX = 5000000 };

typedef struct listing {
    ki_client *client;
    ki_request request; /* without list options, which are in `paging` */
    ki__paging paging;
    ki__collect found;
    uint64_t unread;   /* undecodable objects on all pages */
    ki_object *status; /* of the page that failed */
} listing;

static int take_objects(listing *l, const ki_response *page, ki_error *error)
{
    size_t count = ki_list_count(page->list);
    int r = 0;
    for (size_t i = 0; r == 0 && i < count; i++) {
        const ki_object *object = ki_list_at(page->list, i);
        ki__paging_note_key(&l->paging, ki_object_key(object));
        r = ki__collect_append(&l->found, object);
    }
    if (r < 0) {
        return ki__error_set(error, r, "cannot store the list: %s", ki_error_text(r));
    }
    l->unread += page->unread;
    return l->unread > OBJECTS_MAX
               ? ki__error_set(error, KI_ERR_LIMIT, "more than %d undecodable objects in the list",
                               OBJECTS_MAX)
               : 0;
}

static ki__paging_verdict take_page(listing *l, const ki_response *page, ki_error *error)
{
    const ki_list_meta meta = {
        .size = sizeof(meta),
        .resource_version = page->resource_version,
        .continue_token = page->continue_token,
        .remaining = page->remaining,
    };
    if (take_objects(l, page, error) < 0) {
        return KI__PAGING_FAILED;
    }
    return ki__paging_take(&l->paging, &meta, error);
}

/* Requests the current page. */
static ki__paging_verdict read_page(listing *l, ki_error *error)
{
    ki_request request = l->request;
    ki_response page = KI_OPTIONS_INIT(ki_response);
    ki__paging_verdict verdict;
    ki_list_options options = ki__paging_options(&l->paging);
    request.list = &options;
    if (ki_client_do(l->client, &request, &page, error) < 0) {
        verdict = ki__paging_fail(&l->paging, error);
        if (verdict == KI__PAGING_FAILED) {
            l->status = page.object;
            page.object = NULL;
        }
    } else {
        verdict = take_page(l, &page, error);
    }
    ki_response_done(&page);
    return verdict;
}

static int read_pages(listing *l, ki_error *error)
{
    for (;;) {
        ki__error_clear(error);
        switch (read_page(l, error)) {
        case KI__PAGING_NEXT:
            break;
        case KI__PAGING_RESTART:
            ki__collect_clear(&l->found);
            l->unread = 0;
            break;
        case KI__PAGING_COMPLETE:
            return 0;
        case KI__PAGING_FAILED:
            return error->code;
        }
    }
}

static int list_all(listing *l, const ki_list_options *options, ki_list **ret_list, ki_error *error)
{
    ki_list_options o = {0};
    int r = KI__TAKE(ki_list_options, &o, options, error);
    if (r < 0) {
        return r;
    }
    if (o.limit == 0) {
        o.limit = KI__PAGE_LIMIT;
    }
    ki__paging_begin(&l->paging, &o, true);
    r = read_pages(l, error);
    if (r < 0) {
        return r;
    }
    r = ki__list_of(l->client->alloc, l->found.objects, l->found.count, ret_list);
    return r < 0 ? ki__error_code(error, r) : 0;
}

int ki_client_list(ki_client *client, const ki_resource *resource, const char *name_space,
                   const ki_list_options *options, ki_list **ret_list, ki_object **reterr_status,
                   ki_error *error)
{
    KI__REQUIRE(client, error);
    KI__REQUIRE(resource, error);
    KI__REQUIRE(ret_list, error);
    listing l = {.client = client, .request = KI_OPTIONS_INIT(ki_request)};
    ki_error failure = KI_ERROR_INIT;
    l.request.verb = KI_VERB_LIST;
    l.request.resource = resource;
    l.request.name_space = name_space;
    ki__collect_init(&l.found, client->alloc, (ki__hash_key){0}, OBJECTS_MAX);
    ki__paging_init(&l.paging, client->alloc, ki__engine_hash_key(client->engine));
    int r = list_all(&l, options, ret_list, &failure);
    if (r < 0 && error != NULL) {
        ki__error_copy(error, &failure);
    }
    if (r < 0 && reterr_status != NULL) {
        *reterr_status = l.status;
        l.status = NULL;
    }
    (void)ki_object_unref(l.status);
    ki__collect_clear(&l.found);
    ki__paging_done(&l.paging);
    return r;
}
