/* SPDX-License-Identifier: Apache-2.0 */
/* Changing the selectors of an informer while it runs. */
#ifndef KINFORMER_SELECTION_H
#define KINFORMER_SELECTION_H

#include <kinformer/defs.h>
#include <kinformer/error.h>
#include <kinformer/informer.h>

KI_BEGIN_DECLS

/** Which objects of a resource an informer has. */
typedef struct ki_selection {
    size_t size;                /* see KI_OPTIONS_INIT */
    const char *label_selector; /* NULL or "": every object; so for the other two */
    const char *field_selector;
    const char *shard_selector; /* see shard.h */
} ki_selection;

/** Changes which objects the informer has, before or while it runs. While it runs, it lists again
 *  with the new selectors, and handlers receive the differences: additions, and deletions with
 *  `final_state_unknown` of objects that are no longer selected. Until then the cache has the
 *  objects of the old selection as they were. All users of a shared informer are affected.
 *  Thread: any.  Blocks: no.
 *  Errors: KI_ERR_SYNTAX, KI_ERR_INVALID  a selector;  KI_ERR_STOPPED;  -ENOMEM, -EINVAL, -E2BIG.
 *  Since:  0.1 */
KI_API KI_NODISCARD int ki_informer_select(ki_informer *informer, const ki_selection *selection,
                                           ki_error *error);

KI_END_DECLS

#endif
