/* SPDX-License-Identifier: Apache-2.0 */
/* What a server says of itself: its groups, versions and resources, in the form of old and in the
 * aggregated one; its version; that it is well; its OpenAPI documents. */
#ifndef KI_APISERVER_DISCOVERY_API_DISCOVERY_H
#define KI_APISERVER_DISCOVERY_API_DISCOVERY_H

#include "apiserver/exchange.h"

/** One listed resource. */
typedef struct ki__api_offer {
    const ki_resource *resource;
    const ki__api_type *type; /* NULL: a built-in one that nobody has requested yet */
    ki__api_type_options options;
} ki__api_offer;

/** All of them, by group, version and name: the core group first, then the built-in groups, then
 *  others; of each group the version that is preferred first. Built-in versions that are alpha or
 *  beta are served but not told of, as usual servers do not have them. */
typedef struct ki__api_catalog {
    ki__api_offer *offers;
    size_t count;
    size_t cap;
    const ki_alloc *alloc;
} ki__api_catalog;

/** Whether version `a` of a group goes before `b`: v2, v1, v1beta2, v1alpha1, others. */
bool ki__api_version_before(const char *a, const char *b);

/** Answers a path that is not of a resource; 404 if there is nothing. 0, or -ENOMEM. */
int ki__api_do_path(ki__api_exchange *x);

/* ---- openapi.c ---- */

/** Answers /openapi/... ; `rest` is what follows. */
int ki__api_do_openapi(ki__api_exchange *x, const ki__api_catalog *catalog, const char *rest);

#endif
