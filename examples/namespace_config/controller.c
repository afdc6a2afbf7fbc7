/* SPDX-License-Identifier: Apache-2.0 */
/* Two informers fill a work queue with names of namespaces; workers take a name, compare the actual
 * and the desired state in the caches, and write the difference. Workers act on the current state,
 * not on events. So events may be merged, missed or repeated, and any failure is handled by a
 * retry. */
#include "controller.h"

#include <errno.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>

enum { WORKERS_MAX = 64, RESYNC_MS = 600000 };
#define MS_NS UINT64_C(1000000)
#define INDEX_TEAM "team"
#define CONFIG_BYTES ((size_t)512 * 1024)

struct namespace_config {
    ki_client *client;
    ki_factory *factory;
    ki_informer *namespaces;
    ki_informer *configs;
    ki_registration *registrations[2];
    ki_workqueue *queue;
    ki_controller *controller;
    pthread_t workers[WORKERS_MAX];
    unsigned worker_count;
    namespace_config_failure on_failure;
    atomic_bool ending;
    atomic_ulong created, updated, deleted, failed;
};

/* ---- what should be ---- */

/* A label's value has 63 bytes at most. */
typedef char team_name[64];

static bool team_of(const ki_object *name_space, team_name team)
{
    ki_str label = ki_object_label(name_space, TEAM_LABEL);
    snprintf(team, sizeof(team_name), "%.*s", KI_STR_ARG(label));
    return label.len != 0;
}

/* A namespace that is being deleted is no member: nothing can be created in it any more. */
static bool is_member(const ki_object *name_space, team_name team)
{
    return !ki_object_is_deleting(name_space) && team_of(name_space, team);
}

/* An index function: adds the values under which an object is found. */
static int index_team(const ki_object *name_space, ki_index_values *values, void *user)
{
    (void)user;
    team_name team;
    return is_member(name_space, team) ? ki_index_values_add(values, ki_str_from(team)) : 0;
}

typedef struct wanted {
    const char *name_space;
    team_name team;
    ki_buf members;
} wanted;

static int join_keys(const ki_list *list, ki_buf *out)
{
    int r = 0;
    for (size_t i = 0; r >= 0 && i < ki_list_count(list); i++) {
        r = i == 0 ? 0 : ki_buf_add_char(out, ',');
        r = r < 0 ? r : ki_buf_add_text(out, ki_object_key(ki_list_at(list, i)));
    }
    return r;
}

/* 1 with what a namespace should have, 0 if nothing. `members` is to be released in any case. */
static int find_wanted(const ki_snapshot *namespaces, const ki_object *name_space, wanted *ret)
{
    ki_snapshot_iter members;
    ki_list *list = NULL;
    ret->name_space = ki_object_name(name_space);
    ki_buf_init(&ret->members, NULL, CONFIG_BYTES);
    if (!is_member(name_space, ret->team)) {
        return 0;
    }
    int r = ki_snapshot_iter_find(namespaces, INDEX_TEAM, ki_str_from(ret->team), &members);
    r = r < 0 ? r : ki_snapshot_list(&members, &list);
    if (r >= 0) {
        ki_list_sort(list); /* the same state must always give the same text */
        r = join_keys(list, &ret->members);
    }
    ki_list_unref(list);
    return r < 0 ? r : 1;
}

static bool is_as_wanted(const ki_object *config, const wanted *w)
{
    ki_value data = ki_object_at(config, "data");
    return ki_object_label_is(config, MANAGER_LABEL, MANAGER) && ki_value_count(&data) == 3 &&
           ki_object_equals(config, "data.namespace", w->name_space) &&
           ki_object_equals(config, "data.team", w->team) &&
           ki_object_equals(config, "data.members", ki_buf_text(&w->members));
}

/* ---- writing it ---- */

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
    const ki_request request = {.size = sizeof(request),
                                .verb = KI_VERB_DELETE,
                                .resource = KI_CORE_V1_CONFIGMAPS,
                                .name_space = ki_object_namespace(config),
                                .name = CONFIG_NAME,
                                .uid = ki_object_uid(config),
                                .if_version = ki_object_resource_version(config)};
    int r = ki_client_do(c->client, &request, NULL, error);
    if (r == KI_ERR_NOT_FOUND) {
        return 0; /* already deleted */
    }
    atomic_fetch_add(&c->deleted, r >= 0);
    return r;
}

/* ---- reconciling ---- */

static ki_object *cached_config(namespace_config *c, const char *name_space)
{
    ki_lister lister = ki_informer_lister(c->configs);
    ki_error error = KI_ERROR_INIT;
    ki_object *config = NULL;
    return ki_lister_get(&lister, name_space, CONFIG_NAME, &config, &error) < 0 ? NULL : config;
}

static int reconcile_namespace(namespace_config *c, const ki_snapshot *namespaces,
                               const ki_object *name_space, ki_error *error)
{
    wanted w;
    ki_object *config = cached_config(c, ki_object_name(name_space));
    int r = find_wanted(namespaces, name_space, &w);
    if (r > 0) {
        r = keep(c, &w, config, error);
    } else if (r == 0 && config != NULL) {
        r = drop(c, config, error);
    }
    ki_object_unref(config);
    ki_buf_done(&w.members);
    return r;
}

/* Called by the controller for a key, never on two threads for the same key. */
static int reconcile(ki_str key, uint64_t *retry_after_ns, ki_error *error, void *user)
{
    (void)retry_after_ns;
    namespace_config *c = user;
    if (atomic_load(&c->ending)) {
        return 0; /* stopping: skip the queued keys */
    }
    /* One snapshot, so that a namespace and the members of its team are consistent. */
    ki_snapshot *namespaces = ki_store_snapshot(ki_informer_store(c->namespaces));
    const ki_object *name_space = ki_snapshot_get(namespaces, key);
    int r = 0;
    if (name_space != NULL && !ki_object_is_deleting(name_space)) { /* else it is emptied anyway */
        r = reconcile_namespace(c, namespaces, name_space, error);
    }
    ki_snapshot_unref(namespaces);
    return r;
}

static void on_error(ki_str key, const ki_error *error, uint32_t failures, bool given_up,
                     void *user)
{
    (void)given_up; /* it never does */
    namespace_config *c = user;
    atomic_fetch_add(&c->failed, 1);
    if (c->on_failure != NULL) {
        c->on_failure(key.ptr, error, failures);
    }
}

/* ---- what may make a difference ---- */

/* A namespace that joins or leaves a team changes the config of all members. Many such events at
 * once are cheap: a key that is already queued is not added again. */
static int add_team_of(namespace_config *c, const ki_object *name_space)
{
    team_name team;
    ki_snapshot_iter members;
    if (!team_of(name_space, team)) {
        return 0;
    }
    ki_snapshot *snapshot = ki_store_snapshot(ki_informer_store(c->namespaces));
    int r = ki_snapshot_iter_find(snapshot, INDEX_TEAM, ki_str_from(team), &members);
    const ki_object *member = r >= 0 ? ki_snapshot_iter_next(&members) : NULL;
    while (member != NULL && r >= 0) {
        r = ki_workqueue_add(c->queue, ki_str_from(ki_object_key(member)));
        member = ki_snapshot_iter_next(&members);
    }
    ki_snapshot_unref(snapshot);
    return r;
}

static int add_namespace(namespace_config *c, const ki_object *name_space)
{
    int r = ki_workqueue_add(c->queue, ki_str_from(ki_object_key(name_space)));
    return r < 0 ? r : add_team_of(c, name_space);
}

static int on_namespace_add(const ki_object *name_space, bool is_initial, void *user)
{
    (void)is_initial;
    return add_namespace(user, name_space);
}

static int on_namespace_update(const ki_object *old, const ki_object *name_space, void *user)
{
    int r = add_namespace(user, name_space);
    return r < 0 ? r : add_team_of(user, old);
}

static int on_namespace_delete(const ki_object *name_space, bool final_state_unknown, void *user)
{
    (void)final_state_unknown;
    return add_team_of(user, name_space);
}

static int add_config(namespace_config *c, const ki_object *config)
{
    return ki_workqueue_add(c->queue, ki_str_from(ki_object_namespace(config)));
}

static int on_config_add(const ki_object *config, bool is_initial, void *user)
{
    (void)is_initial;
    return add_config(user, config);
}

static int on_config_update(const ki_object *old, const ki_object *config, void *user)
{
    (void)old;
    return add_config(user, config);
}

static int on_config_delete(const ki_object *config, bool final_state_unknown, void *user)
{
    (void)final_state_unknown;
    return add_config(user, config);
}

static const ki_handler namespace_handler = {
    .on_add = on_namespace_add, .on_update = on_namespace_update, .on_delete = on_namespace_delete};
static const ki_handler config_handler = {
    .on_add = on_config_add, .on_update = on_config_update, .on_delete = on_config_delete};

/* ---- starting and ending ---- */

/* Called for each informer that the factory creates. */
static void configure(const ki_resource *resource, ki_informer_options *options, void *user)
{
    (void)user;
    static const ki_index by_team = {.name = INDEX_TEAM, .values = index_team};
    static const ki_index *const indexes[] = {&by_team};
    if (resource == KI_CORE_V1_NAMESPACES) {
        options->indexes = indexes;
        options->index_count = 1;
    } else {
        options->label_selector = MANAGER_LABEL "=" MANAGER; /* a cluster has many others */
    }
}

static int follow(namespace_config *c, const ki_resource *resource, ki_handler handler,
                  ki_informer **ret_informer, ki_registration **ret_registration, ki_error *error)
{
    handler.user = c;
    int r = ki_factory_informer(c->factory, resource, ret_informer, error);
    return r < 0 ? r
                 : ki_informer_add_handler(*ret_informer, &handler, NULL, ret_registration, error);
}

static int make_queue(namespace_config *c, ki_error *error)
{
    ki_rate_limiter limiter = {0};
    ki_workqueue_options options = KI_OPTIONS_INIT(ki_workqueue_options);
    /* Retry after at most 30 s, even if the server was unavailable for hours. */
    int r = ki_rate_limiter_exponential(10 * MS_NS, 30000 * MS_NS, NULL, &limiter);
    options.clock = ki_clock_system();
    options.random = ki_random_system();
    options.limiter = &limiter;
    r = r < 0 ? r : ki_workqueue_new(&options, &c->queue, error);
    if (r < 0) {
        ki_rate_limiter_done(&limiter);
        return r;
    }
    ki_controller_options controller = KI_OPTIONS_INIT(ki_controller_options);
    controller.queue = c->queue;
    controller.reconcile = reconcile;
    controller.on_error = on_error;
    controller.user = c;
    return ki_controller_new(&controller, &c->controller, error);
}

static int make_informers(namespace_config *c, ki_error *error)
{
    ki_factory_options options = KI_OPTIONS_INIT(ki_factory_options);
    options.configure = configure;
    options.resync_ms = RESYNC_MS; /* brings what could not be queued, for want of memory say */
    int r = ki_client_factory(c->client, &options, &c->factory, error);
    r = r < 0 ? r
              : follow(c, KI_CORE_V1_NAMESPACES, namespace_handler, &c->namespaces,
                       &c->registrations[0], error);
    return r < 0 ? r
                 : follow(c, KI_CORE_V1_CONFIGMAPS, config_handler, &c->configs,
                          &c->registrations[1], error);
}

/* With an incomplete cache the workers would create objects that exist. There is no timeout: the
 * informers retry indefinitely, and stopping the factory ends the wait. */
static void *work(void *user)
{
    namespace_config *c = user;
    ki_error error = KI_ERROR_INIT;
    int r = ki_factory_wait_for_sync(c->factory, UINT32_MAX, &error);
    r = r < 0 ? r : ki_controller_run_worker(c->controller); /* until the queue is shut down */
    if (r < 0 && r != KI_ERR_STOPPED) {
        fprintf(stderr, "worker failed: %s\n", ki_error_text(r));
    }
    return NULL;
}

static int start_workers(namespace_config *c, unsigned count)
{
    int r = 0;
    while (r == 0 && c->worker_count < count && c->worker_count < WORKERS_MAX) {
        r = -pthread_create(&c->workers[c->worker_count], NULL, work, c);
        c->worker_count += r == 0;
    }
    return r;
}

int namespace_config_start(ki_client *client, unsigned workers, namespace_config_failure on_failure,
                           namespace_config **ret_controller, ki_error *error)
{
    namespace_config *c = calloc(1, sizeof(*c));
    if (c == NULL) {
        return -ENOMEM;
    }
    c->client = ki_client_ref(client);
    c->on_failure = on_failure;
    int r = make_queue(c, error);
    r = r < 0 ? r : make_informers(c, error);
    r = r < 0 ? r : ki_factory_start(c->factory, error);
    r = r < 0 ? r : start_workers(c, workers);
    if (r < 0) {
        (void)namespace_config_stop(c);
        return r;
    }
    *ret_controller = c;
    return 0;
}

/* Waits for a running callback, which uses data that is about to be freed. */
static void remove_handler(ki_registration *registration)
{
    if (registration != NULL && ki_registration_remove_wait(registration) < 0) {
        abort(); /* called by a handler, which would wait for itself */
    }
    ki_registration_unref(registration);
}

namespace_config *namespace_config_stop(namespace_config *c)
{
    if (c == NULL) {
        return NULL;
    }
    atomic_store(&c->ending, true);
    if (c->factory != NULL) {
        ki_factory_stop(c->factory);
    }
    remove_handler(c->registrations[0]);
    remove_handler(c->registrations[1]);
    if (c->queue != NULL) {
        ki_workqueue_shut_down(c->queue);
    }
    while (c->worker_count != 0) {
        (void)pthread_join(c->workers[--c->worker_count], NULL);
    }
    ki_controller_unref(c->controller);
    ki_workqueue_unref(c->queue);
    ki_factory_unref(c->factory);
    ki_client_unref(c->client);
    free(c);
    return NULL;
}

/* ---- how it is ---- */

static bool is_settled(namespace_config *c, const ki_snapshot *namespaces,
                       const ki_object *name_space)
{
    wanted w;
    if (ki_object_is_deleting(name_space)) {
        return true;
    }
    ki_object *config = cached_config(c, ki_object_name(name_space));
    int r = find_wanted(namespaces, name_space, &w);
    bool settled = r == 0 ? config == NULL : r > 0 && config != NULL && is_as_wanted(config, &w);
    ki_buf_done(&w.members);
    ki_object_unref(config);
    return settled;
}

bool namespace_config_is_settled(namespace_config *c)
{
    ki_error error = KI_ERROR_INIT;
    ki_workqueue_stats stats = KI_OPTIONS_INIT(ki_workqueue_stats);
    if (ki_factory_wait_for_sync(c->factory, 0, &error) < 0) { /* 0: only looks */
        return false;
    }
    ki_snapshot *namespaces = ki_store_snapshot(ki_informer_store(c->namespaces));
    ki_snapshot_iter all = ki_snapshot_iter_all(namespaces);
    const ki_object *name_space = ki_snapshot_iter_next(&all);
    while (name_space != NULL && is_settled(c, namespaces, name_space)) {
        name_space = ki_snapshot_iter_next(&all);
    }
    ki_snapshot_unref(namespaces);
    ki_workqueue_get_stats(c->queue, &stats);
    return name_space == NULL && stats.depth + stats.processing + stats.delayed == 0;
}

namespace_config_stats namespace_config_read_stats(namespace_config *c)
{
    return (namespace_config_stats){.created = atomic_load(&c->created),
                                    .updated = atomic_load(&c->updated),
                                    .deleted = atomic_load(&c->deleted),
                                    .failed = atomic_load(&c->failed)};
}
