/* SPDX-License-Identifier: Apache-2.0 */
/* LIST: selects the version by resourceVersion, resourceVersionMatch, limit and continue, as
 * defined in the Kubernetes API concepts, and the page of objects at that version. A list
 * references its objects from the start, so concurrent writes do not affect it. */
#include <errno.h>

#include "apiserver/encode.h"
#include "apiserver/exchange.h"
#include "apiserver/token.h"
#include "apiserver/verbs/write_common.h"

/* ---- version ---- */

typedef struct page {
    uint64_t at;     /* the version */
    uint64_t limit;  /* 0: all */
    bool continues;  /* follows a continue token */
    bool consistent; /* the next token keeps the version */
    ki__api_token token;
} page;

static int check_options(ki__api_exchange *x)
{
    const ki__api_route *route = &x->route;
    const char *match = route->rv_match;
    bool exact = strcmp(match, "Exact") == 0;
    int r = 0;
    if (match[0] != '\0' && route->rv[0] == '\0') {
        r = ki__api_forbid_option(&x->failure, "resourceVersionMatch",
                                  "forbidden without a resourceVersion");
    }
    if (r == 0 && match[0] != '\0' && route->token[0] != '\0') {
        r = ki__api_forbid_option(&x->failure, "resourceVersionMatch",
                                  "forbidden together with continue");
    }
    if (r == 0 && match[0] != '\0' && !exact && strcmp(match, "NotOlderThan") != 0) {
        const ki__api_cause cause = {"FieldValueNotSupported",
                                     "supported values: \"Exact\", \"NotOlderThan\"",
                                     "resourceVersionMatch"};
        r = ki__api_fail_field(&x->failure, NULL, "", &cause);
    }
    if (r == 0 && exact && strcmp(route->rv, "0") == 0) {
        r = ki__api_forbid_option(&x->failure, "resourceVersionMatch",
                                  "\"Exact\" is forbidden for resourceVersion \"0\"");
    }
    if (r == 0 && route->send_initial != KI__API_UNSET) {
        r = ki__api_forbid_option(&x->failure, "sendInitialEvents", "forbidden for list");
    }
    return r;
}

/* 410 for a list that cannot continue, with a token for an inconsistent continuation if enabled. */
static int fail_token(ki__api_exchange *x, const ki__api_token *token)
{
    int r = ki__api_fail(&x->failure, 410, KI_REASON_EXPIRED,
                         "the continue token has expired; start a new list", NULL);
    if (r == 0 && !x->server->options.no_inconsistent_token) {
        r = ki_buf_add_text(
            &x->failure.message,
            ", or continue with the token of this response for an inconsistent list");
        ki_buf_clear(&x->failure.token);
        r = r < 0
                ? r
                : ki__api_token_write(0, ki_str_make(token->after, token->len), &x->failure.token);
    }
    return r;
}

static int resolve_token(ki__api_exchange *x, page *p)
{
    const ki__api_route *route = &x->route;
    if (route->rv[0] != '\0' && strcmp(route->rv, "0") != 0) {
        return ki__api_fail(&x->failure, 400, KI_REASON_BAD_REQUEST,
                            "resourceVersion is not allowed together with continue", NULL);
    }
    int r = ki__api_token_read(ki_str_from(route->token), x->alloc, &p->token);
    if (r == -ENOMEM) {
        return r;
    }
    ki_str after = ki_str_make(p->token.after, r == 0 ? p->token.len : 0);
    if (r < 0 || !ki__api_in_scope(x, after)) {
        return ki__api_fail(&x->failure, 400, KI_REASON_BAD_REQUEST,
                            "continue: not a token of this list", NULL);
    }
    p->continues = true;
    p->consistent = p->token.rv != 0 && !x->plan.mix_pages;
    p->at = p->consistent ? p->token.rv : x->model->head;
    if (p->at > x->model->head) {
        return ki__api_fail_too_large(&x->failure, p->at, x->model->head);
    }
    if (p->consistent && (p->at < x->model->compacted || x->plan.expire)) {
        return fail_token(x, &p->token);
    }
    return 0;
}

static int resolve_exact(ki__api_exchange *x, uint64_t rv, page *p)
{
    if (rv > x->model->head) {
        return ki__api_fail_too_large(&x->failure, rv, x->model->head);
    }
    if (rv < x->model->compacted || x->plan.expire) {
        return ki__api_fail_expired(x, rv, x->model->compacted);
    }
    p->at = rv;
    return 0;
}

/* 1 with the page set; 0 if the request has failed or waits. */
static int resolve(ki__api_exchange *x, page *p)
{
    const ki__api_route *route = &x->route;
    *p = (page){.consistent = true, .limit = route->limit > 0 ? (uint64_t)route->limit : 0};
    uint64_t rv;
    int r = ki__api_read_rv(x, &rv);
    r = r < 0 || x->failure.code != 0 ? r : check_options(x);
    if (r < 0 || x->failure.code != 0) {
        return r;
    }
    if (route->token[0] != '\0') {
        r = resolve_token(x, p);
    } else if (route->rv[0] == '\0') {
        p->at = x->plan.stale ? x->server->reader.applied : x->model->head;
    } else if (rv == 0) {
        p->at = x->server->reader.applied;
        p->limit = x->server->options.no_cache ? p->limit : 0; /* a watch cache ignores the limit */
    } else if (strcmp(route->rv_match, "Exact") == 0 ||
               (route->rv_match[0] == '\0' && p->limit != 0)) {
        r = resolve_exact(x, rv, p);
    } else {
        r = ki__api_is_fresh(x, rv);
        if (r <= 0) {
            return r;
        }
        p->at = x->server->reader.applied;
    }
    return r < 0 ? r : x->failure.code == 0;
}

/* ---- objects ---- */

static void drop_items(ki__api_exchange *x)
{
    while (x->item_count != 0) {
        ki_object_unref(x->items[--x->item_count]);
    }
}

/* Index of the first key of the page. */
static size_t first_key(const ki__api_exchange *x, const page *p, ki_str prefix)
{
    bool exact;
    ki_str from = p->continues ? ki_str_make(p->token.after, p->token.len) : prefix;
    size_t i = ki__api_model_find(x->type, from, &exact);
    return p->continues && exact ? i + 1 : i;
}

/* Counts the remaining objects from key `i` on, and writes the continue token. */
static int end_page(ki__api_exchange *x, const page *p, size_t i, ki_str last)
{
    uint64_t left = 0;
    for (; i < x->type->count && ki__api_in_scope(x, ki__api_key_text(x->type->keys[i])); i++) {
        left += ki__api_key_at(x->type->keys[i], p->at) != NULL ? 1 : 0;
    }
    if (left == 0) {
        return 0;
    }
    x->remaining = left;
    x->send_remaining = x->labels == NULL && x->fields == NULL && x->shard.count == 0;
    return ki__api_token_write(p->consistent ? p->at : 0, last, &x->token);
}

static int take_page(ki__api_exchange *x, const page *p)
{
    ki_buf prefix;
    ki_str last = {0};
    size_t i;
    int r = 0;
    ki_buf_init(&prefix, x->alloc, KI__API_TARGET_MAX);
    if (x->route.name_space[0] != '\0') {
        r = ki__api_make_key(x, "", &prefix);
    }
    i = first_key(x, p, ki_buf_str(&prefix));
    for (; r == 0 && i < x->type->count; i++) {
        const ki__api_key *key = x->type->keys[i];
        if (!ki__api_in_scope(x, ki__api_key_text(key)) ||
            (p->limit != 0 && x->item_count == p->limit)) {
            break;
        }
        ki_object *object = ki__api_key_at(key, p->at);
        if (object != NULL && ki__api_matches(x, object)) {
            r = ki__api_add_item(x, object);
            last = ki__api_key_text(key);
        }
    }
    if (r == 0 && p->limit != 0 && x->item_count == p->limit) {
        r = end_page(x, p, i, last);
    }
    ki_buf_done(&prefix);
    return r;
}

int ki__api_do_list(ki__api_exchange *x)
{
    page p;
    drop_items(x);
    ki_buf_clear(&x->token);
    int r = ki__api_read_selectors(x);
    if (r == 0 && x->failure.code == 0) {
        r = resolve(x, &p);
    }
    if (r <= 0 || x->failure.code != 0) {
        return r;
    }
    r = take_page(x, &p);
    if (r == 0) {
        x->rv = p.at;
        x->status = 200;
        x->stage = KI__API_STAGE_LIST;
    }
    return r;
}

static int fill(ki__api_exchange *x)
{
    int r;
    if (!x->opened) {
        r = ki__api_encode_list_begin(x);
        x->opened = r == 0;
    } else if (x->item_next < x->item_count) {
        r = ki__api_encode_list_item(x);
        x->item_next += r == 0 ? 1 : 0;
    } else {
        r = ki__api_encode_list_end(x);
        x->stage = r == 0 ? KI__API_STAGE_END : x->stage;
        return r;
    }
    return r < 0 ? r : 1;
}

int ki__api_list_fill(ki__api_exchange *x)
{
    int r = fill(x);
    if (r < 0 && r != -ENOMEM) { /* not representable in the client's encoding */
        x->broken = true;
        x->stage = KI__API_STAGE_END;
        return 0;
    }
    return r;
}
