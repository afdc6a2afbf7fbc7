/* SPDX-License-Identifier: Apache-2.0 */
/* Contents of a resource descriptor. Immutable: built-in ones are constant data, custom ones have a
 * reference count next to it (resource.c). */
#ifndef KI_OBJECT_RESOURCE_H
#define KI_OBJECT_RESOURCE_H

#include <kinformer/resource.h>

typedef struct ki__resource_facts {
    const char *group; /* "" for core; no string here is NULL */
    const char *version;
    const char *name;
    const char *singular;
    const char *kind;
    const char *api_version;        /* "version" or "group/version" */
    const char *const *short_names; /* NULL-terminated; NULL if there are none */
    bool namespaced;
    bool builtin; /* constant data: not counted, never freed */
} ki__resource_facts;

/* A program that uses KI_CORE_V1_PODS may hold its own copy of that object (a copy relocation),
 * which the library then uses too. So this struct can never grow, and the library must access the
 * objects only through their symbols. */
struct ki_resource {
    const ki__resource_facts *facts;
};
_Static_assert(sizeof(ki_resource) == sizeof(void *), "part of the ABI");

/* Indexed by ki_builtin. */
extern const ki_resource *const ki__builtin_resources[KI_BUILTIN_MAX];

/* The same in two bytewise orders: by group, version and name; by apiVersion and kind. */
extern const uint16_t ki__builtin_by_name[KI_BUILTIN_MAX];
extern const uint16_t ki__builtin_by_kind[KI_BUILTIN_MAX];

#endif
