/* SPDX-License-Identifier: Apache-2.0 */
/* Leases: reading what an election needs of one, and writing it. Everything else in a Lease, such
 * as labels, is kept. */
#include <string.h>

#include <kinformer/edit.h>
#include <kinformer/json.h>
#include <kinformer/time.h>

#include "base/time_units.h"
#include "controller/leader.h"

/* A duration without a limit would never expire in nanoseconds either. */
#define DURATION_MAX_S INT64_C(4000000000)

/* Text that cannot be read must not look as if there were none: the Lease would count as released.
 * Reading by member does not allocate. */
static void read_text(const ki_value *spec, ki_str name, char *text, size_t size)
{
    static const char unreadable[] = "(unreadable)";
    ki_value value = {0};
    int r = ki_value_member(spec, name, &value);
    if (r == KI_ERR_NOT_FOUND || (r == 0 && ki_value_type(&value) == KI_TYPE_NULL)) {
        text[0] = '\0';
    } else if (r < 0 || ki_value_get_string(&value, text, size) < 0) {
        memcpy(text, unreadable, sizeof(unreadable));
    }
}

static int64_t read_number(const ki_value *spec, ki_str name)
{
    ki_value value = {0};
    int r = ki_value_member(spec, name, &value);
    return r < 0 ? 0 : ki_value_int64_or(&value, 0);
}

static void read_spec(ki__lease *lease, const ki_object *object)
{
    ki_value root = ki_object_root(object);
    ki_value spec = {0};
    int r = ki_value_member(&root, ki_str_from("spec"), &spec);
    if (r < 0 || ki_value_type(&spec) != KI_TYPE_MAP) { /* a new Lease may have none */
        lease->holder[0] = lease->acquired[0] = '\0';
        lease->transitions = 0;
        lease->duration_ns = 0;
        return;
    }
    read_text(&spec, ki_str_from("holderIdentity"), lease->holder, sizeof(lease->holder));
    read_text(&spec, ki_str_from("acquireTime"), lease->acquired, sizeof(lease->acquired));
    lease->transitions = read_number(&spec, ki_str_from("leaseTransitions"));
    int64_t seconds = read_number(&spec, ki_str_from("leaseDurationSeconds"));
    seconds = seconds < 0 ? 0 : seconds > DURATION_MAX_S ? DURATION_MAX_S : seconds;
    lease->duration_ns = (uint64_t)seconds * KI__SECOND_NS;
}

void ki__lease_see(ki__lease *lease, const ki_object *object, uint64_t now)
{
    if (object == NULL) {
        lease->object = ki_object_unref(lease->object);
        return;
    }
    bool same =
        lease->seen && lease->object != NULL &&
        strcmp(ki_object_resource_version(lease->object), ki_object_resource_version(object)) == 0;
    ki_object *before = lease->object;
    lease->object = ki_object_ref(object);
    (void)ki_object_unref(before);
    if (same) {
        return;
    }
    read_spec(lease, object);
    lease->changed_at = now;
    lease->seen = true;
}

void ki__lease_done(ki__lease *lease)
{
    lease->object = ki_object_unref(lease->object);
}

uint64_t ki__lease_expires_at(const ki__lease *lease)
{
    if (!lease->seen || lease->holder[0] == '\0') {
        return 0;
    }
    return lease->duration_ns < UINT64_MAX - lease->changed_at
               ? lease->changed_at + lease->duration_ns
               : UINT64_MAX;
}

/* ---- writing ---- */

static int make_new(const ki_alloc *alloc, const ki__lease_write *write, ki_object **ret_lease,
                    ki_error *error)
{
    ki_json_options options = KI_OPTIONS_INIT(ki_json_options);
    options.alloc = alloc;
    ki_json *json = NULL;
    int r = ki_json_new(&options, &json, error);
    if (r < 0) {
        return r;
    }
    ki_json_begin_map(json, NULL);
    ki_json_string(json, "apiVersion", "coordination.k8s.io/v1");
    ki_json_string(json, "kind", "Lease");
    ki_json_format(json, "metadata", "{name: %s, namespace: %s}", write->name, write->name_space);
    ki_json_begin_map(json, "spec");
    ki_json_string(json, "holderIdentity", write->holder);
    ki_json_int64(json, "leaseDurationSeconds", write->duration_s);
    ki_json_string(json, "acquireTime", write->acquired);
    ki_json_micro_time(json, "renewTime", write->now_ns);
    ki_json_int64(json, "leaseTransitions", write->transitions);
    ki_json_end(json);
    ki_json_end(json);
    r = ki_json_object(json, ret_lease, error);
    (void)ki_json_unref(json);
    return r;
}

static int make_next(const ki_alloc *alloc, const ki_object *current, const ki__lease_write *write,
                     ki_object **ret_lease, ki_error *error)
{
    ki_edit_options options = KI_OPTIONS_INIT(ki_edit_options);
    options.alloc = alloc;
    ki_edit *edit = NULL;
    int r = ki_edit_new(current, &options, &edit, error);
    if (r < 0) {
        return r;
    }
    char now[KI_TIME_TEXT_SIZE];
    ki_edit_set_string(edit, "spec.holderIdentity", write->holder);
    ki_edit_set_int64(edit, "spec.leaseDurationSeconds", write->duration_s);
    ki_edit_set_string(edit, "spec.acquireTime", write->acquired);
    ki_edit_set_string(edit, "spec.renewTime", ki_time_micro_text(write->now_ns, now));
    ki_edit_set_int64(edit, "spec.leaseTransitions", write->transitions);
    r = ki_edit_object(edit, ret_lease, error);
    (void)ki_edit_unref(edit);
    return r;
}

int ki__lease_make(const ki_alloc *alloc, const ki_object *current, const ki__lease_write *write,
                   ki_object **ret_lease, ki_error *error)
{
    return current == NULL ? make_new(alloc, write, ret_lease, error)
                           : make_next(alloc, current, write, ret_lease, error);
}
