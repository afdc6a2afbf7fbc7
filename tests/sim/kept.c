/* SPDX-License-Identifier: Apache-2.0 */
/* Objects of which an informer keeps some fields only. */
#include <string.h>

#include <kinformer/path.h>
#include <kinformer/projection.h>

#include "object/object.h"
#include "sim/sim.h"

static bool same_label(const ki_object *a, const ki_object *b, const char *label)
{
    return ki_object_has_label(a, label) == ki_object_has_label(b, label) &&
           ki_str_eq(ki_object_label(a, label), ki_object_label(b, label));
}

static bool same_node(const ki_object *a, const ki_object *b)
{
    char x[16];
    char y[16];
    return strcmp(ki_object_string_or(a, "spec.nodeName", "-", x, sizeof(x)),
                  ki_object_string_or(b, "spec.nodeName", "-", y, sizeof(y))) == 0;
}

bool sim_is_same_kept(const sim_informer *informer, const ki_object *a, const ki_object *b)
{
    bool all_labels = informer->keep <= SIM_KEEP_NODE;
    informer->s->reading = true; /* packed objects are decompressed */
    bool same = ki__object_is_reduced(a) || ki__object_is_reduced(b) || same_node(a, b);
    informer->s->reading = false;
    return same && strcmp(ki_object_uid(a), ki_object_uid(b)) == 0 && same_label(a, b, "app") &&
           (!all_labels || same_label(a, b, "n")) &&
           ki_object_generation(a) == ki_object_generation(b) &&
           ki_object_deletion_time(a) == ki_object_deletion_time(b);
}

bool sim_is_projected(const sim_informer *informer, const ki_object *object)
{
    ki_value labels = ki_object_labels(object);
    informer->s->reading = true;
    ki_value finalizers = ki_object_finalizers(object);
    informer->s->reading = false;
    ki_value value;
    bool one_label = informer->keep == SIM_KEEP_LABEL || informer->keep == SIM_KEEP_DELIVERS;
    bool reduced = ki__object_is_reduced(object);
    if (reduced && informer->at_limit != KI_AT_LIMIT_METADATA) {
        return false;
    }
    if (informer->keep == SIM_KEEP_ALL && !reduced) {
        return !ki_object_is_partial(object);
    }
    return ki_object_is_partial(object) &&
           ki_value_element(&finalizers, 0, &value) == KI_ERR_NOT_KEPT &&
           ki_value_member(&labels, ki_str_from("n"), &value) == (one_label ? KI_ERR_NOT_KEPT : 0);
}

bool sim_suppresses(const sim_informer *informer)
{
    return informer->keep == SIM_KEEP_NODE || informer->keep == SIM_KEEP_LABEL;
}
