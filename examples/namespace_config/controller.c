/* SPDX-License-Identifier: Apache-2.0 */
/* Two informers fill a work queue with names of namespaces; workers take a name, compare the actual
 * and the desired state, and write the difference. Workers act on the current state, not on events.
 * So events may be merged, missed or repeated, and any failure is handled by a retry. */
#include "controller.h"

#include <stdio.h>

#include <kinformer/buf.h>
#include <kinformer/index.h>
#include <kinformer/rate_limiter.h>

#define INDEX_TEAM "team"
#define TEXT_BYTES ((size_t)1 << 20)

/* ---- what should be ---- */

typedef char team_name[64]; /* the value of a label has at most 63 bytes */

/* Whether a namespace is a member of a team. One that is being deleted is none: nothing can be
 * created in it any more. */
static bool is_member(const ki_object *name_space, team_name team)
{
    ki_str label = ki_object_label(name_space, TEAM_LABEL);
    (void)snprintf(team, sizeof(team_name), "%.*s", KI_STR_ARG(label));
    return label.len != 0 && !ki_object_is_deleting(name_space);
}

/* An index function: adds the values under which an object is found. */
static int index_team(const ki_object *name_space, ki_index_values *values, void *user)
{
    (void)user;
    team_name team;
    return is_member(name_space, team) ? ki_index_values_add(values, ki_str_from(team)) : 0;
}

static int list_team(ki_informer *namespaces, const char *team, ki_list **ret_list)
{
    const ki_lister lister = ki_informer_lister(namespaces);
    return ki_lister_by_index(&lister, INDEX_TEAM, team, NULL, ret_list);
}

/* The names of all members, sorted: the same state must always give the same text. */
static int join_members(ki_informer *namespaces, const char *team, ki_buf *out)
{
    KI_AUTO(ki_list) members = NULL;
    int r = list_team(namespaces, team, &members);
    if (r >= 0) {
        ki_list_sort(members);
    }
    for (size_t i = 0; r >= 0 && i < ki_list_count(members); i++) {
        r = i == 0 ? 0 : ki_buf_add_char(out, ',');
        r = r < 0 ? r : ki_buf_add_text(out, ki_object_key(ki_list_at(members, i)));
    }
    return r;
}

/* ---- writing it ---- */

typedef struct wanted {
    const char *name_space;
    team_name team;
    ki_buf members;
} wanted;

/* All of `data` is managed here; everything else of the object is left to others. */
static void fill(ki_edit *edit, void *user)
{
    const wanted *w = user;
    ki_edit_set_label(edit, MANAGER_LABEL, MANAGER);
    ki_edit_remove(edit, "data");
    ki_edit_set_string(edit, "data.namespace", w->name_space);
    ki_edit_set_string(edit, "data.team", w->team);
    ki_edit_set_string(edit, "data.members", ki_buf_text(&w->members));
}

/* `config` is the cached object. NULL: it is read from the server first, since one without our
 * label is not in the cache. */
static int keep(namespace_config *c, wanted *w, const ki_object *config, ki_error *error)
{
    int r = ki_client_create_or_patch(c->client, KI_CORE_V1_CONFIGMAPS, w->name_space, CONFIG_NAME,
                                      config, fill, w, NULL, error);
    atomic_fetch_add(&c->created, r == KI_WRITTEN_CREATED);
    atomic_fetch_add(&c->updated, r == KI_WRITTEN_PATCHED);
    return r;
}

/* Deletes what the cache has, if it still is the same on the server. */
static int drop(namespace_config *c, const ki_object *config, ki_error *error)
{
    ki_request request = KI_OPTIONS_INIT(ki_request);
    request.verb = KI_VERB_DELETE;
    request.resource = KI_CORE_V1_CONFIGMAPS;
    request.name_space = ki_object_namespace(config);
    request.name = CONFIG_NAME;
    request.uid = ki_object_uid(config);
    request.if_version = ki_object_resource_version(config);
    int r = ki_client_do(c->client, &request, NULL, error);
    atomic_fetch_add(&c->deleted, r >= 0);
    return r == KI_ERR_NOT_FOUND ? 0 : r; /* another client was faster */
}

/* ---- reconciling ---- */

/* Called by the controller for a key, never on two threads for the same key. */
static int reconcile(const char *key, uint64_t *retry_after_ms, ki_error *error, void *user)
{
    (void)retry_after_ms;
    namespace_config *c = user;
    KI_AUTO(ki_object) name_space = ki_informer_get(c->namespaces, NULL, key);
    KI_AUTO(ki_object) config = ki_informer_get(c->configs, key, CONFIG_NAME);
    if (atomic_load(&c->ending) || name_space == NULL || ki_object_is_deleting(name_space)) {
        return 0; /* stopping: skip the queued keys; deleted: it is emptied anyway */
    }
    wanted w = {.name_space = key};
    if (!is_member(name_space, w.team)) {
        return config != NULL ? drop(c, config, error) : 0;
    }
    ki_buf_init(&w.members, NULL, TEXT_BYTES);
    int r = join_members(c->namespaces, w.team, &w.members);
    r = r < 0 ? r : keep(c, &w, config, error);
    ki_buf_done(&w.members);
    return r;
}

static void on_error(const char *key, const ki_error *error, uint32_t failures, bool given_up,
                     void *user)
{
    (void)given_up; /* it never does */
    namespace_config *c = user;
    atomic_fetch_add(&c->failed, 1);
    fprintf(stderr, "%s: %s (failure %u; will retry)\n", key, error->message, (unsigned)failures);
}

int namespace_config_reconcile_all(namespace_config *c, ki_error *error)
{
    KI_AUTO(ki_list) all = NULL;
    uint64_t retry_after_ms = 0;
    int r = ki_informer_list(c->namespaces, NULL, NULL, &all, error);
    for (size_t i = 0; r >= 0 && i < ki_list_count(all); i++) {
        const char *name = ki_object_name(ki_list_at(all, i));
        r = reconcile(name, &retry_after_ms, error, c);
    }
    return r;
}

/* ---- what may make a difference ---- */

static void add(ki_workqueue *queue, const char *name)
{
    int r = ki_workqueue_add(queue, name);
    (void)r; /* the library reports keys for which there is no memory */
}

static void add_team(ki_workqueue *queue, const ki_object *name_space, ki_informer *namespaces)
{
    KI_AUTO(ki_list) members = NULL;
    team_name team;
    if (name_space != NULL && is_member(name_space, team) &&
        list_team(namespaces, team, &members) >= 0) {
        KI_LIST_FOR_EACH (member, members) {
            add(queue, ki_object_name(member));
        }
    }
}

/* A namespace that joins or leaves a team changes the config of all members. Many such events at
 * once are cheap: a key that is already queued is not added again. */
static void add_teams(const ki_change *change, ki_workqueue *queue, void *namespaces)
{
    add(queue, ki_object_name(change->object));
    add_team(queue, change->object, namespaces);
    add_team(queue, change->old, namespaces);
}

static void add_namespace_of(const ki_change *change, ki_workqueue *queue, void *user)
{
    (void)user;
    add(queue, ki_object_namespace(change->object));
}

/* ---- starting and ending ---- */

static int make_queue(namespace_config *c, ki_error *error)
{
    ki_rate_limiter limiter = {0};
    /* Retry after at most 30 s, even if the server was unavailable for hours. */
    int r = ki_rate_limiter_exponential(10, 30000, NULL, &limiter);
    r = r < 0 ? r
              : ki_workqueue_new(KI_OPTIONS(ki_workqueue_options, .limiter = &limiter), &c->queue,
                                 error);
    if (r < 0) {
        ki_rate_limiter_done(&limiter);
        return r;
    }
    return ki_controller_new(KI_OPTIONS(ki_controller_options, .queue = c->queue,
                                        .reconcile = reconcile, .on_error = on_error, .user = c),
                             &c->controller, error);
}

static int make_informers(namespace_config *c, ki_error *error)
{
    static const ki_index by_team = {.name = INDEX_TEAM, .values = index_team};
    static const ki_index *const indexes[] = {&by_team};
    int r =
        ki_client_informer(c->client, KI_CORE_V1_NAMESPACES,
                           KI_OPTIONS(ki_informer_options, .indexes = indexes, .index_count = 1),
                           &c->namespaces, error);
    r = r < 0 ? r
              : ki_client_informer(
                    c->client, KI_CORE_V1_CONFIGMAPS, /* a cluster has many others */
                    KI_OPTIONS(ki_informer_options, .label_selector = MANAGER_LABEL "=" MANAGER),
                    &c->configs, error);
    r = r < 0 ? r
              : ki_informer_enqueue(
                    c->namespaces, c->queue,
                    KI_OPTIONS(ki_enqueue_options, .map = add_teams, .user = c->namespaces), error);
    return r < 0 ? r
                 : ki_informer_enqueue(c->configs, c->queue,
                                       KI_OPTIONS(ki_enqueue_options, .map = add_namespace_of),
                                       error);
}

int namespace_config_start(namespace_config *c, ki_client *client, uint32_t workers,
                           ki_error *error)
{
    *c = (namespace_config){.client = client};
    int r = make_queue(c, error);
    r = r < 0 ? r : make_informers(c, error);
    r = r < 0 ? r : ki_client_start(client, error);
    return r < 0 || workers == 0 ? r : ki_controller_start(c->controller, client, workers, error);
}

void namespace_config_stop(namespace_config *c)
{
    atomic_store(&c->ending, true);
    ki_controller_close(c->controller);
    ki_workqueue_unref(c->queue);
    ki_informer_unref(c->configs);
    ki_informer_unref(c->namespaces);
}
