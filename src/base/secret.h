/* SPDX-License-Identifier: Apache-2.0 */
/* Memory for secrets: wiped before it is freed, and never moved, so that no copies remain. */
#ifndef KI_BASE_SECRET_H
#define KI_BASE_SECRET_H

#include <kinformer/alloc.h>
#include <kinformer/str.h>

#include "base/shared.h"

/** Zeroes the bytes; not optimized away. NULL is allowed if `len` is 0. */
KI__SHARED void ki__wipe(void *bytes, size_t len);

/** An arena: blocks that are freed together. */
typedef struct ki__secrets {
    const ki_alloc *alloc;
    struct ki__secrets_block *last;
} ki__secrets;

/** Allocates nothing. */
KI__SHARED void ki__secrets_init(ki__secrets *secrets, const ki_alloc *alloc);

/** Wipes and frees everything. */
KI__SHARED void ki__secrets_done(ki__secrets *secrets);

/** Allocates `size` zeroed bytes aligned for any type; NULL if out of memory. */
void *ki__secrets_take(ki__secrets *secrets, size_t size);

/** Allocates `count` elements; NULL also if the product overflows. */
void *ki__secrets_take_array(ki__secrets *secrets, size_t count, size_t size);

/** A NUL-terminated copy of the text, or NULL. */
char *ki__secrets_copy(ki__secrets *secrets, ki_str text);

#endif
