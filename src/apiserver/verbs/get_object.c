/* SPDX-License-Identifier: Apache-2.0 */
/* Common to all reads: versions, selectors, waiting until a server has caught up; and GET. */
#include <errno.h>

#include <kinformer/field_selector.h>

#include "apiserver/encode.h"
#include "apiserver/exchange.h"
#include "apiserver/verbs/write_common.h"
#include "base/alloc.h"
#include "base/digits.h"
#include "base/time_units.h"

int ki__api_read_rv(ki__api_exchange *x, uint64_t *ret_rv)
{
    *ret_rv = 0;
    if (x->route.rv[0] == '\0' || ki__digits_read(ki_str_from(x->route.rv), ret_rv)) {
        return 0;
    }
    /* For a list, kube-apiserver reports the error; otherwise it responds with an internal
     * error. */
    bool list = x->verb == KI__API_LIST;
    return ki__api_fail(&x->failure, list ? 400 : 500,
                        list ? KI_REASON_BAD_REQUEST : KI_REASON_UNKNOWN, "resourceVersion: \"",
                        x->route.rv, "\" is not a version", NULL);
}

int ki__api_is_fresh(ki__api_exchange *x, uint64_t rv)
{
    uint64_t now = ki__api_model_now(x->model);
    if (x->server->reader.applied >= rv) {
        x->stage = KI__API_STAGE_TEXT;
        return 1;
    }
    if (x->stage != KI__API_STAGE_FRESH) {
        int64_t wait_ms = x->server->options.fresh_wait_ms;
        x->stage = KI__API_STAGE_FRESH;
        x->wanted = rv;
        x->fresh_by = now + (wait_ms > 0 ? (uint64_t)wait_ms * KI__MS_NS : 0);
    }
    if (now < x->fresh_by) {
        return 0;
    }
    return ki__api_fail_too_large(&x->failure, rv, x->server->reader.applied);
}

int ki__api_fail_expired(ki__api_exchange *x, uint64_t rv, uint64_t oldest)
{
    char digits[2][KI__DIGITS_SIZE];
    return ki__api_fail(&x->failure, 410, KI_REASON_EXPIRED,
                        "too old resource version: ", ki__digits(rv, digits[0]).ptr, " (",
                        ki__digits(oldest, digits[1]).ptr, ")", NULL);
}

/* ---- selectors ---- */

static int fail_selector(ki__api_exchange *x, int r, const char *which, const ki_error *error)
{
    if (r == -ENOMEM) {
        return r;
    }
    return ki__api_fail(&x->failure, 400, KI_REASON_BAD_REQUEST, which, ": ", error->message, NULL);
}

/* Custom resources can be selected by name and namespace only, unless their definition says
 * otherwise. */
static bool knows_fields(const ki__api_exchange *x)
{
    if (x->type->options.any_field) {
        return true;
    }
    ki_str rest = ki_str_from(x->route.fields);
    while (rest.len != 0) {
        const char *comma = memchr(rest.ptr, ',', rest.len);
        size_t len = comma != NULL ? (size_t)(comma - rest.ptr) : rest.len;
        const char *equals = memchr(rest.ptr, '=', len);
        size_t name = equals != NULL ? (size_t)(equals - rest.ptr) : len;
        name -= name != 0 && rest.ptr[name - 1] == '!' ? 1 : 0;
        ki_str field = ki_str_make(rest.ptr, name);
        if (len != 0 && !ki_str_eq_text(field, "metadata.name") &&
            !ki_str_eq_text(field, "metadata.namespace")) {
            return false;
        }
        rest = comma != NULL ? ki_str_make(comma + 1, rest.len - len - 1) : ki_str_make(NULL, 0);
    }
    return true;
}

int ki__api_read_selectors(ki__api_exchange *x)
{
    ki_error error = KI_ERROR_INIT;
    if (x->route.labels[0] != '\0' && x->labels == NULL) {
        ki_selector *labels;
        int r = ki_selector_parse(x->route.labels, x->alloc, &labels, &error);
        if (r < 0) {
            return fail_selector(x, r, "labelSelector", &error);
        }
        x->labels = labels;
    }
    if (x->route.fields[0] != '\0' && x->fields == NULL) {
        ki_field_selector *fields;
        int r = ki_field_selector_parse(x->route.fields, x->alloc, &fields, &error);
        if (r < 0) {
            return fail_selector(x, r, "fieldSelector", &error);
        }
        x->fields = fields;
        if (!knows_fields(x)) {
            return ki__api_fail(&x->failure, 400, KI_REASON_BAD_REQUEST,
                                "fieldSelector: this resource can be selected by metadata.name "
                                "and metadata.namespace only",
                                NULL);
        }
    }
    if (x->route.shard[0] != '\0' && x->shard.count == 0) {
        int r = ki__shard_parse(x->route.shard, &x->shard, &error);
        if (r < 0) {
            return fail_selector(x, r, "shardSelector", &error);
        }
    }
    return 0;
}

bool ki__api_matches(const ki__api_exchange *x, const ki_object *object)
{
    return (x->shard.count == 0 || ki__shard_matches(&x->shard, object)) &&
           (x->labels == NULL || ki_selector_matches(x->labels, object)) &&
           (x->fields == NULL || ki_field_selector_matches(x->fields, object));
}

bool ki__api_in_scope(const ki__api_exchange *x, ki_str key)
{
    size_t len = strlen(x->route.name_space);
    return len == 0 ||
           (key.len > len && memcmp(key.ptr, x->route.name_space, len) == 0 && key.ptr[len] == '/');
}

int ki__api_add_item(ki__api_exchange *x, ki_object *object)
{
    void *items = x->items;
    int r = ki__array_reserve(x->alloc, &items, &x->item_cap, x->item_count + 1, sizeof(*x->items));
    x->items = items;
    if (r == 0) {
        x->items[x->item_count++] = ki_object_ref(object);
    }
    return r;
}

/* ---- GET ---- */

int ki__api_respond_object(ki__api_exchange *x, int status, const ki_object *object)
{
    int r = ki__api_encode_object(x, object);
    if (r == 0) {
        x->status = status;
        x->stage = KI__API_STAGE_TEXT;
    }
    return r;
}

int ki__api_do_get(ki__api_exchange *x)
{
    uint64_t rv;
    int r = ki__api_read_rv(x, &rv);
    if (r < 0 || x->failure.code != 0) {
        return r;
    }
    r = ki__api_is_fresh(x, rv);
    if (r <= 0) {
        return r;
    }
    bool newest = x->route.rv[0] == '\0' && !x->plan.stale;
    uint64_t at = newest ? x->model->head : x->server->reader.applied;
    ki_buf key;
    ki_buf_init(&key, x->alloc, KI__API_TARGET_MAX);
    r = ki__api_make_key(x, x->route.name, &key);
    if (r == 0) {
        const ki_object *object = ki__api_model_get(x->type, ki_buf_str(&key), at);
        r = object != NULL ? ki__api_respond_object(x, 200, object)
                           : ki__api_fail_not_found(&x->failure, x->type, x->route.name);
    }
    ki_buf_done(&key);
    return r;
}
