/* SPDX-License-Identifier: Apache-2.0 */
/* Merging an object that is applied into the one that is there, and taking fields out of it. */
#ifndef KI_OBJECT_EDIT_APPLY_MERGE_H
#define KI_OBJECT_EDIT_APPLY_MERGE_H

#include "base/shared.h"
#include "object/edit/field_layout.h"

/** Merges the node `config` into `target`, both objects of a type. Elements of lists that are
 * merged stay where they are, and new ones go where they were applied. Where the config has null,
 * nothing is left.  Errors: KI_ERR_LIMIT, -ENOMEM. */
KI__SHARED int ki__merge_objects(ki__tree *tree, uint32_t target, uint32_t config,
                                 const ki__merge_type *type);

/** Takes maps and lists out that had something in them and have nothing now. */
KI__SHARED void ki__merge_drop_emptied(ki__tree *tree, uint32_t root);

/** Takes out of an object what `last` has, which its owner applied before, and none of the `owned`
 *  sets has now. What it was in may be empty then, and is still there. */
KI__SHARED int ki__merge_prune(ki__tree *tree, const ki__layout *layout, const ki__field_set *last,
                               const ki__field_set *const *owned, size_t owned_count);

#endif
