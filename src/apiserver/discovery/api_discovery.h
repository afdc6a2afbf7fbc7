/* SPDX-License-Identifier: Apache-2.0 */
/* Discovery: groups, versions and resources, in the legacy and the aggregated format; the server
 * version; health checks; OpenAPI documents. */
#ifndef KI_APISERVER_DISCOVERY_API_DISCOVERY_H
#define KI_APISERVER_DISCOVERY_API_DISCOVERY_H

#include "apiserver/exchange.h"

/** One listed resource. */
typedef struct ki__api_offer {
    const ki_resource *resource;
    const ki__api_type *type; /* NULL: a built-in resource that has not been requested yet */
    ki__api_type_options options;
} ki__api_offer;

/** All resources by group, version and name: the core group first, then the built-in groups, then
 *  the others; within a group the preferred version first. Built-in alpha and beta versions are
 *  served but not listed, since typical servers have them disabled. */
typedef struct ki__api_catalog {
    ki__api_offer *offers;
    size_t count;
    size_t cap;
    const ki_alloc *alloc;
} ki__api_catalog;

/** Whether version `a` of a group sorts before `b`: v2, v1, v1beta2, v1alpha1, others. */
bool ki__api_version_before(const char *a, const char *b);

/** Handles a non-resource path; 404 if it is unknown. 0 or -ENOMEM. */
int ki__api_do_path(ki__api_exchange *x);

/* ---- openapi.c ---- */

/** Handles /openapi/...; `rest` is the path after that prefix. */
int ki__api_do_openapi(ki__api_exchange *x, const ki__api_catalog *catalog, const char *rest);

#endif
