/* SPDX-License-Identifier: Apache-2.0 */
/* The table of built-in resources, and what else is known about a resource. All functions are
 * thread-safe and never block.  Since: 0.1 */
#ifndef KINFORMER_RESOURCE_TABLE_H
#define KINFORMER_RESOURCE_TABLE_H

#include <kinformer/defs.h>
#include <kinformer/resource.h>

KI_BEGIN_DECLS

/** Returns built-in resource number `index`, from 0; NULL after the last.  Since: 0.1 */
KI_API const ki_resource *ki_resource_builtin_at(size_t index);

/** Returns the built-in resource with this group ("" for core), version and plural name; NULL if
 *  none.
 *  Since: 0.1 */
KI_API const ki_resource *ki_resource_builtin(const char *group, const char *version,
                                              const char *name);

/** Returns the built-in resource whose objects have this apiVersion and kind; NULL if none.
 *  Since: 0.1 */
KI_API const ki_resource *ki_resource_builtin_of_kind(const char *api_version, const char *kind);

/* More properties of a resource. Strings are valid as long as the resource. Since: 0.1 */
/** Returns the singular name of a resource, such as "pod". */
KI_API const char *ki_resource_singular(const ki_resource *resource);
/** Returns whether the library can decode this kind from protobuf: most built-in kinds. Custom
 *  resources have only JSON. */
KI_API bool ki_resource_has_protobuf(const ki_resource *resource);
/** Returns short name number `index`, from 0; NULL after the last. */
KI_API const char *ki_resource_short_name_at(const ki_resource *resource, size_t index);

KI_END_DECLS

#endif
