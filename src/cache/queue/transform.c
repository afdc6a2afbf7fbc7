/* SPDX-License-Identifier: Apache-2.0 */
#include "cache/queue/transform.h"

#include "base/error.h"
#include "object/object.h"

int ki__transform(ki__transform_function transform, void *user, const ki_object *object,
                  ki_object **ret_object, ki_error *error)
{
    ki_object *made = NULL;
    int r = transform(object, &made, user);
    if (r < 0) {
        return ki__error_set(error, r, "transform failed for object %s: %s", ki_object_key(object),
                             ki_error_text(r));
    }
    if (made == NULL) {
        return ki__error_set(error, KI_ERR_INVALID, "transform returned no object for %s",
                             ki_object_key(object));
    }
    if (!ki_str_eq(ki__object_key(made), ki__object_key(object))) {
        r = ki__error_set(error, KI_ERR_KEY, "transform changed the key of object %s to %s",
                          ki_object_key(object), ki_object_key(made));
        (void)ki_object_unref(made);
        return r;
    }
    *ret_object = made;
    return 0;
}
