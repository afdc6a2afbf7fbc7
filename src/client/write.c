/* SPDX-License-Identifier: Apache-2.0 */
/* Writes in one call. A patch carries the resourceVersion it was made from, so any change in
 * between is a conflict, and the change is made again from the current state: no other write is
 * lost, even in lists, which a merge patch replaces as a whole. */
#include <string.h>

#include <kinformer/projection.h>
#include <kinformer/request.h>
#include <kinformer/status.h>
#include <kinformer/time.h>
#include <kinformer/write.h>

#include "base/error.h"
#include "client/request.h"
#include "controller/scope.h"
#include "object/edit/object_edit.h"

/* Above the limit of any server. */
#define PATCH_MAX_BYTES ((size_t)16 << 20)

/* ---- patches ---- */

static int send_patch(ki_client *client, const ki_resource *resource, const ki_object *object,
                      const char *subresource, ki_str patch, ki_object **ret_object,
                      ki_error *error)
{
    ki_request request = KI_OPTIONS_INIT(ki_request);
    ki_response response = KI_OPTIONS_INIT(ki_response);
    request.verb = KI_VERB_PATCH;
    request.resource = resource;
    request.name_space = ki_object_namespace(object);
    request.name = ki_object_name(object);
    request.subresource = subresource;
    request.patch_type = KI_PATCH_MERGE;
    request.body = patch;
    int r = ki_client_do(client, &request, &response, error);
    if (r >= 0 && ret_object != NULL) {
        *ret_object = ki_object_ref(response.object);
    }
    ki_response_done(&response);
    return r < 0 ? r : KI_WRITTEN_PATCHED;
}

int ki_client_patch_edit(ki_client *client, const ki_resource *resource, const ki_edit *edit,
                         const char *subresource, ki_object **ret_object, ki_error *error)
{
    KI__REQUIRE(client, error);
    KI__REQUIRE(resource, error);
    KI__REQUIRE(edit, error);
    const ki_object *object = edit->origin;
    ki_buf patch;
    if (ki_object_name(object)[0] == '\0') {
        return ki__error_set(error, KI_ERR_INVALID,
                             "edit: did not start from an object with a name");
    }
    ki_buf_init(&patch, client->alloc, PATCH_MAX_BYTES);
    int r = ki_edit_merge_patch(edit, &patch, error);
    if (r > 0) {
        r = send_patch(client, resource, object, subresource, ki_buf_str(&patch), ret_object,
                       error);
    } else if (r == 0 && ret_object != NULL) {
        *ret_object = ki_object_ref(object);
    }
    ki_buf_done(&patch);
    return r;
}

/* ---- create or patch, and modify ---- */

typedef struct writing {
    ki_client *client;
    const ki_resource *resource;
    const char *name_space;
    const char *name;
    const char *subresource;
    const ki_object *only; /* no other object of this name is meant, and none is created */
    ki_mutate mutate;
    void *user;
    ki_object *current; /* NULL: unknown */
    bool missing;       /* known not to exist */
    bool overtaken;     /* the last attempt failed because of another client's write */
    int written;
    ki_object *result;
} writing;

/* As JSON: protobuf of a newer server may have unknown fields that an edit would lose. */
static int read_current(writing *w, ki_error *error)
{
    ki_request request = KI_OPTIONS_INIT(ki_request);
    ki_response response = KI_OPTIONS_INIT(ki_response);
    request.verb = KI_VERB_GET;
    request.resource = w->resource;
    request.name_space = w->name_space;
    request.name = w->name;
    request.json = true;
    int r = ki_client_do(w->client, &request, &response, error);
    if (r >= 0 && w->only != NULL &&
        strcmp(ki_object_uid(response.object), ki_object_uid(w->only)) != 0) {
        r = ki__error_set(error, KI_ERR_NOT_FOUND, "%s: was deleted, and created again", w->name);
    } else if (r >= 0) {
        w->current = ki_object_ref(response.object);
    } else if (r == KI_ERR_NOT_FOUND && w->only == NULL) {
        w->missing = true;
        r = 0;
    }
    ki_response_done(&response);
    return r;
}

static int start_edit(const writing *w, const ki_object *object, ki_edit **ret_edit,
                      ki_error *error)
{
    ki_edit_options options = KI_OPTIONS_INIT(ki_edit_options);
    options.alloc = w->client->alloc;
    options.clock = ki__engine_clock(w->client->engine);
    options.lock_version = true;
    return ki_edit_new(object, &options, ret_edit, error);
}

static int create(writing *w, ki_error *error)
{
    ki_edit *edit = NULL;
    ki_object *object = NULL;
    int r = start_edit(w, NULL, &edit, error);
    if (r == 0) {
        ki_edit_set_string(edit, "apiVersion", ki_resource_api_version(w->resource));
        ki_edit_set_string(edit, "kind", ki_resource_kind(w->resource));
        ki_edit_set_string(edit, "metadata.name", w->name);
        if (w->name_space != NULL && w->name_space[0] != '\0') {
            ki_edit_set_string(edit, "metadata.namespace", w->name_space);
        }
        w->mutate(edit, w->user);
        r = ki_edit_object(edit, &object, error);
    }
    if (r == 0) {
        r = ki_client_create(w->client, w->resource, object, &w->result, NULL, error);
        w->written = KI_WRITTEN_CREATED;
    }
    (void)ki_object_unref(object);
    (void)ki_edit_unref(edit);
    return r;
}

static int patch(writing *w, ki_error *error)
{
    ki_edit *edit = NULL;
    int r = start_edit(w, w->current, &edit, error);
    if (r == 0) {
        w->mutate(edit, w->user);
        r = ki_client_patch_edit(w->client, w->resource, edit, w->subresource, &w->result, error);
        w->written = r;
    }
    if (r == KI_WRITTEN_NOTHING) { /* as given, in its own encoding */
        (void)ki_object_unref(w->result);
        w->result = ki_object_ref(w->current);
    }
    (void)ki_edit_unref(edit);
    return r;
}

static int attempt(void *user, ki_error *error)
{
    writing *w = user;
    w->overtaken = false;
    int r = w->current == NULL && !w->missing ? read_current(w, error) : 0;
    if (r < 0) {
        return r;
    }
    bool created = w->missing;
    r = created ? create(w, error) : patch(w, error);
    if (r < 0) {
        w->current = ki_object_unref(w->current);
        w->missing = !created && r == KI_ERR_NOT_FOUND && w->only == NULL;
        w->overtaken = w->missing || ki_error_is_conflict(error) || (created && r == KI_ERR_EXISTS);
    }
    return r;
}

static bool is_overtaken(const ki_error *error, void *user)
{
    (void)error;
    return ((writing *)user)->overtaken;
}

/* Whether `current` can be edited here: undecoded fields would be lost. */
static int check_current(const writing *w, const ki_object *current, ki_error *error)
{
    if (strcmp(ki_object_name(current), w->name) != 0 ||
        (w->name_space != NULL && strcmp(ki_object_namespace(current), w->name_space) != 0)) {
        return ki__error_set(error, KI_ERR_INVALID, "current: has another name or namespace");
    }
    return ki_object_is_complete(current) && !ki_object_is_partial(current) &&
           ki_object_resource_version(current)[0] != '\0';
}

/* All that both have in common. `current` may be NULL. */
static int write_object(writing *w, const ki_object *current, ki_object **ret_object,
                        ki_error *error)
{
    int r = current != NULL ? check_current(w, current, error) : 0;
    if (r < 0) {
        return r;
    }
    w->current = r > 0 ? ki_object_ref(current) : NULL;
    r = ki__client_retry(w->client, attempt, is_overtaken, w, error);
    if (r >= 0 && ret_object != NULL) {
        *ret_object = ki_object_ref(w->result);
    }
    (void)ki_object_unref(w->result);
    (void)ki_object_unref(w->current);
    return r < 0 ? r : w->written;
}

int ki_client_create_or_patch(ki_client *client, const ki_resource *resource,
                              const char *name_space, const char *name, const ki_object *current,
                              ki_mutate mutate, void *user, ki_object **ret_object, ki_error *error)
{
    KI__REQUIRE(client, error);
    KI__REQUIRE(resource, error);
    KI__REQUIRE(name, error);
    KI__REQUIRE(mutate, error);
    writing w = {
        .client = client,
        .resource = resource,
        .name_space = name_space,
        .name = name,
        .mutate = mutate,
        .user = user,
        .missing =
            current == NULL && name_space != NULL && ki__scope_lacks(resource, name_space, name),
    };
    return write_object(&w, current, ret_object, error);
}

int ki_client_modify(ki_client *client, const ki_resource *resource, const ki_object *object,
                     const char *subresource, ki_mutate mutate, void *user, ki_object **ret_object,
                     ki_error *error)
{
    KI__REQUIRE(client, error);
    KI__REQUIRE(resource, error);
    KI__REQUIRE(object, error);
    KI__REQUIRE(mutate, error);
    writing w = {
        .client = client,
        .resource = resource,
        .name_space = ki_object_namespace(object),
        .name = ki_object_name(object),
        .subresource = subresource,
        .only = object,
        .mutate = mutate,
        .user = user,
    };
    return write_object(&w, object, ret_object, error);
}

/* ---- apply ---- */

int ki_client_apply_json(ki_client *client, const ki_resource *resource, ki_json *json,
                         const char *field_manager, bool force, ki_object **ret_object,
                         ki_error *error)
{
    KI__REQUIRE(client, error);
    KI__REQUIRE(resource, error);
    KI__REQUIRE(json, error);
    KI__REQUIRE(field_manager, error);
    ki_object *object = NULL;
    int r = ki_json_object(json, &object, error);
    if (r == 0) {
        r = ki_client_apply(client, resource, object, field_manager, force, ret_object, NULL,
                            error);
    }
    (void)ki_object_unref(object);
    return r;
}

/* ---- time ---- */

const char *ki_time_now_text(char text[KI_TIME_TEXT_SIZE])
{
    return ki_time_text(ki_clock_now_ns(NULL), text);
}
