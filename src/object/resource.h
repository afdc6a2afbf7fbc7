/* SPDX-License-Identifier: Apache-2.0 */
/* What a resource descriptor holds. Never changes once made: the built-in ones are constant data,
 * the others carry a reference count beside it (resource.c). */
#ifndef KI_OBJECT_RESOURCE_H
#define KI_OBJECT_RESOURCE_H

#include <kinformer/resource.h>

typedef struct ki__resource_facts {
    const char *group; /* "" for core; no text here is NULL */
    const char *version;
    const char *name;
    const char *singular;
    const char *kind;
    const char *api_version;        /* "version" or "group/version" */
    const char *const *short_names; /* ends with NULL; NULL if there are none */
    bool namespaced;
    bool builtin; /* constant data: not counted, never freed */
} ki__resource_facts;

/* A program that uses KI_CORE_V1_PODS may have a copy of that object instead of the library's (a
 * copy relocation), and then the library uses it too. So this struct can never grow, and the
 * library knows the objects only by their symbols. */
struct ki_resource {
    const ki__resource_facts *facts;
};
_Static_assert(sizeof(ki_resource) == sizeof(void *), "part of the ABI");

/* By ki_builtin. */
extern const ki_resource *const ki__builtin_resources[KI_BUILTIN_MAX];

/* The same in two orders, each by bytes: of group, version and name; of apiVersion and kind. */
extern const uint16_t ki__builtin_by_name[KI_BUILTIN_MAX];
extern const uint16_t ki__builtin_by_kind[KI_BUILTIN_MAX];

#endif
