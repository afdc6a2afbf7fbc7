/* SPDX-License-Identifier: Apache-2.0 */
/* Merging an applied configuration into a live object, and removing fields no longer applied. */
#ifndef KI_OBJECT_EDIT_APPLY_MERGE_H
#define KI_OBJECT_EDIT_APPLY_MERGE_H

#include "base/shared.h"
#include "object/edit/field_layout.h"

/** Merges the node `config` into `target`, both objects of this type. In merged lists, live
 *  elements stay in place, and new ones go where they were applied. null in the config removes the
 *  field.
 *  Errors: KI_ERR_LIMIT, -ENOMEM. */
KI__SHARED int ki__merge_objects(ki__tree *tree, uint32_t target, uint32_t config,
                                 const ki__merge_type *type);

/** Removes maps and lists that have become empty. */
KI__SHARED void ki__merge_drop_emptied(ki__tree *tree, uint32_t root);

/** Removes from an object the fields in `last`, the set last applied by its manager, that are in
 *  none of the `owned` sets now. Containers that become empty are kept. */
KI__SHARED int ki__merge_prune(ki__tree *tree, const ki__layout *layout, const ki__field_set *last,
                               const ki__field_set *const *owned, size_t owned_count);

#endif
