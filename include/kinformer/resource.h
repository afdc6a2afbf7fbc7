/* SPDX-License-Identifier: Apache-2.0 */
/* Resources: the kind of an object and its path in the API. Built-in ones are constants, such as
 * KI_CORE_V1_PODS; custom ones are created at run time. All functions are thread-safe and never
 * block. */
#ifndef KINFORMER_RESOURCE_H
#define KINFORMER_RESOURCE_H

#include <kinformer/builtin_resources.h>
#include <kinformer/defs.h>
#include <kinformer/error.h>

KI_BEGIN_DECLS

typedef struct ki_resource ki_resource;

typedef struct ki_resource_options {
    size_t size;                    /* see KI_OPTIONS_INIT */
    const char *group;              /* NULL or "": the core group */
    const char *version;            /* required, such as "v1" */
    const char *resource;           /* required, plural, such as "widgets" */
    const char *kind;               /* required, such as "Widget" */
    const char *singular;           /* NULL: the kind in lower case */
    bool cluster_scoped;            /* false: objects are in namespaces */
    const char *const *short_names; /* NULL-terminated; at most 64; NULL: none */
    const ki_alloc *alloc;          /* NULL: the default; must outlive the resource */
} ki_resource_options;

/** Creates a descriptor of a custom resource. Everything is copied.
 *
 *  Names follow the rules for a CustomResourceDefinition: the group is a DNS-1123 subdomain; all
 *  others are DNS-1035 labels (a letter, then letters, digits and '-', 63 bytes at most), in lower
 *  case except for the kind.
 *
 *  Owner:  caller; release with ki_resource_unref().
 *  Errors: -EINVAL         a required member is missing;
 *          KI_ERR_INVALID  an invalid name; the offset in `error` is the position in it;
 *          KI_ERR_LIMIT    too many short names;  -ENOMEM, -E2BIG.
 *  Since:  0.1 */
KI_API KI_NODISCARD int ki_resource_new(const ki_resource_options *options,
                                        ki_resource **ret_resource, ki_error *error);

/** Takes and releases references. Built-in resources are never freed; for them both have no effect.
 *  Both accept NULL; ki_resource_unref() always returns NULL.  Since: 0.1 */
KI_API ki_resource *ki_resource_ref(const ki_resource *resource);
KI_API ki_resource *ki_resource_unref(const ki_resource *resource);

/* Properties of a resource. Strings are valid as long as the resource. Since: 0.1 */
/** Returns the API group of a resource; "" for core. */
KI_API const char *ki_resource_group(const ki_resource *resource);
/** Returns the version of a resource, such as "v1". */
KI_API const char *ki_resource_version(const ki_resource *resource);
/** Returns the plural name of a resource, such as "pods". */
KI_API const char *ki_resource_name(const ki_resource *resource);
/** Returns the kind of a resource, such as "Pod". */
KI_API const char *ki_resource_kind(const ki_resource *resource);
/** Returns the apiVersion of a resource, such as "v1" or "apps/v1". */
KI_API const char *ki_resource_api_version(const ki_resource *resource);
/** Returns whether the objects of a resource are in namespaces. */
KI_API bool ki_resource_is_namespaced(const ki_resource *resource);

KI_AUTO_DEFINE(ki_resource, ki_resource_unref)

KI_END_DECLS

#endif
