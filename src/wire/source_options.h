/* SPDX-License-Identifier: Apache-2.0 */
/* Copies of the strings of options, for use after the call that passed them. */
#ifndef KI_WIRE_SOURCE_OPTIONS_H
#define KI_WIRE_SOURCE_OPTIONS_H

#include <kinformer/parts/source.h>

/** Copies `count` strings into one block, *ret_block, and points them there; NULL becomes "". Free
 *  the block with ki__free().
 *  Errors: KI_ERR_LIMIT  a string is over 256 KiB;  -ENOMEM. */
int ki__texts_copy(const ki_alloc *alloc, const char **const *texts, size_t count, char **ret_block,
                   ki_error *error);

/** Reads list options (NULL: all defaults) and copies their strings; *ret_options points into
 *  *ret_block.
 *  Errors: as above;  -EINVAL, -E2BIG  invalid options. */
int ki__texts_copy_list_options(const ki_alloc *alloc, const ki_list_options *from,
                                ki_list_options *ret_options, char **ret_block, ki_error *error);

#endif
