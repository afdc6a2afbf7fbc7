/* SPDX-License-Identifier: Apache-2.0 */
/* A wrapper of a source that changes its list and watch options. */
#ifndef KI_CACHE_INFORMER_TWEAKED_SOURCE_H
#define KI_CACHE_INFORMER_TWEAKED_SOURCE_H

#include <kinformer/alloc.h>
#include <kinformer/parts/source.h>
#include <kinformer/resource.h>

typedef void (*ki__tweak)(const ki_resource *resource, ki_list_options *options, void *user);

/** Replaces *source by one that calls `tweak`; unchanged on failure (-ENOMEM). Takes a reference to
 *  the resource. */
int ki__tweak_source(ki_source *source, const ki_alloc *alloc, const ki_resource *resource,
                     ki__tweak tweak, void *user);

#endif
