/* SPDX-License-Identifier: Apache-2.0 */
/* A wrapper of a source that changes its list and watch options. */
#ifndef KI_CACHE_INFORMER_TWEAKED_SOURCE_H
#define KI_CACHE_INFORMER_TWEAKED_SOURCE_H

#include <kinformer/alloc.h>
#include <kinformer/parts/source.h>
#include <kinformer/resource.h>

typedef void (*ki__tweak)(const ki_resource *resource, ki_list_options *options, void *user);

/** Puts a source that calls `tweak` in the place of *source; on failure, -ENOMEM, that stays as it
 *  is. The resource is kept by reference. */
int ki__tweak_source(ki_source *source, const ki_alloc *alloc, const ki_resource *resource,
                     ki__tweak tweak, void *user);

#endif
