/* SPDX-License-Identifier: Apache-2.0 */
/* Memory for secrets: wiped before it is freed, and never moved, so that no copy stays behind. */
#ifndef KI_BASE_SECRET_H
#define KI_BASE_SECRET_H

#include <kinformer/alloc.h>
#include <kinformer/str.h>

#include "base/shared.h"

/** Zeros over the bytes, also if nobody reads them any more. NULL is allowed if `len` is 0. */
KI__SHARED void ki__wipe(void *bytes, size_t len);

/** Blocks that are freed together. */
typedef struct ki__secrets {
    const ki_alloc *alloc;
    struct ki__secrets_block *last;
} ki__secrets;

/** Allocates nothing. */
KI__SHARED void ki__secrets_init(ki__secrets *secrets, const ki_alloc *alloc);

/** Wipes and frees everything. */
KI__SHARED void ki__secrets_done(ki__secrets *secrets);

/** `size` bytes aligned for any type, all zeros; NULL if there is no memory. */
void *ki__secrets_take(ki__secrets *secrets, size_t size);

/** `count` elements; NULL also when the product does not fit. */
void *ki__secrets_take_array(ki__secrets *secrets, size_t count, size_t size);

/** A terminated copy of the text, or NULL. */
char *ki__secrets_copy(ki__secrets *secrets, ki_str text);

#endif
