/* SPDX-License-Identifier: Apache-2.0 */
/* What requests inherit from the reconcile function that makes them. */
#include "controller/scope.h"

#include <errno.h>
#include <string.h>

#include "base/error.h"
#include "base/time_units.h"
#include "controller/consistency.h"
#include "controller/leader.h"
#include "workqueue/workqueue_state.h"

static _Thread_local ki__scope *current;

static uint64_t now_of(const ki__scope *scope)
{
    return ki__workqueue_now(scope->controller->options.queue);
}

void ki__scope_enter(ki__scope *scope, ki_controller *controller, const char *key)
{
    const ki_controller_options *o = &controller->options;
    *scope = (ki__scope){.outer = current,
                         .controller = controller,
                         .key = key,
                         .deadline_ns = UINT64_MAX,
                         .term = ki_leader_term(o->leader)};
    if (o->reconcile_timeout_ms != 0) {
        scope->deadline_ns = now_of(scope) + ki__ms_to_ns(o->reconcile_timeout_ms);
    }
    current = scope;
}

void ki__scope_leave(const ki__scope *scope)
{
    current = scope->outer;
    if (scope->deadline_ns != UINT64_MAX) {
        ki__counter_add(&scope->controller->stats.timeouts, now_of(scope) > scope->deadline_ns);
    }
}

bool ki__scope_is_inside(void)
{
    return current != NULL;
}

/* ---- time ---- */

static uint64_t left_ns(const ki__scope *scope)
{
    uint64_t stop_at = atomic_load(&scope->controller->stop_at_ns);
    uint64_t end = stop_at != 0 && stop_at < scope->deadline_ns ? stop_at : scope->deadline_ns;
    if (end == UINT64_MAX) {
        return end;
    }
    uint64_t now = now_of(scope);
    return now < end ? end - now : 0;
}

uint32_t ki_reconcile_left_ms(void)
{
    uint64_t left = current != NULL ? left_ns(current) : UINT64_MAX;
    uint64_t ms = left / KI__MS_NS + (left % KI__MS_NS != 0);
    return left == UINT64_MAX || ms > UINT32_MAX ? UINT32_MAX : (uint32_t)ms;
}

/* ---- requests ---- */

int ki__scope_admit(bool writes, uint64_t *ret_left_ns, ki_error *error)
{
    *ret_left_ns = UINT64_MAX;
    if (current == NULL) {
        return 0;
    }
    const ki_leader *leader = current->controller->options.leader;
    if (writes && leader != NULL && !ki_leader_holds(leader, current->term)) {
        return ki__error_set(error, KI_ERR_NOT_LEADER,
                             "not sent: this replica no longer leads in term %lld",
                             (long long)current->term);
    }
    *ret_left_ns = left_ns(current);
    if (*ret_left_ns == 0) {
        return ki__error_set(error, -ETIMEDOUT, "not sent: the time of reconcile is over");
    }
    return 0;
}

ki_leader *ki__scope_fence(int64_t *ret_term)
{
    if (current == NULL || current->controller->options.leader == NULL) {
        return NULL;
    }
    *ret_term = current->term;
    return current->controller->options.leader;
}

/* ---- writes ---- */

static bool is_of(const ki_informer *informer, const ki_resource *resource)
{
    const ki_resource *own = ki_informer_resource(informer);
    return own == resource ||
           (own != NULL && strcmp(ki_resource_name(own), ki_resource_name(resource)) == 0 &&
            strcmp(ki_resource_api_version(own), ki_resource_api_version(resource)) == 0);
}

static bool has(const ki_informer *informer, const char *name_space, const char *name)
{
    ki_object *cached = ki_informer_get(informer, name_space, name);
    (void)ki_object_unref(cached);
    return cached != NULL;
}

bool ki__scope_lacks(const ki_resource *resource, const char *name_space, const char *name)
{
    bool watched = false;
    const ki__watched *w = current != NULL ? atomic_load(&current->controller->watched) : NULL;
    for (; w != NULL; w = w->next) {
        if (is_of(w->informer, resource)) {
            if (has(w->informer, name_space, name)) {
                return false;
            }
            watched = true;
        }
    }
    return watched;
}

/* The informer that will receive the change. If there are several of the resource, with selectors
 * or namespaces, the one that has the object; a version that an informer never reaches would delay
 * the key. */
static ki_informer *find(const ki_controller *controller, const ki_resource *resource,
                         const ki_object *object)
{
    ki_informer *only = NULL;
    bool several = false;
    for (const ki__watched *w = atomic_load(&controller->watched); w != NULL; w = w->next) {
        if (is_of(w->informer, resource)) {
            if (has(w->informer, ki_object_namespace(object), ki_object_name(object))) {
                return w->informer;
            }
            several = only != NULL;
            only = w->informer;
        }
    }
    return several ? NULL : only;
}

void ki__scope_wrote(const ki_resource *resource, const ki_object *object)
{
    if (current == NULL || current->controller->options.consistency == NULL) {
        return;
    }
    ki_informer *informer = find(current->controller, resource, object);
    if (informer != NULL) {
        int r = ki_consistency_wrote(current->controller->options.consistency, informer,
                                     current->key, NULL, ki_object_resource_version(object));
        (void)r; /* not recorded: the key or the version is of a form that nothing compares */
    }
}
