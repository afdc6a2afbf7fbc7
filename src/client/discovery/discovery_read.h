/* SPDX-License-Identifier: Apache-2.0 */
/* Decodes discovery responses. No I/O. */
#ifndef KI_CLIENT_DISCOVERY_DISCOVERY_READ_H
#define KI_CLIENT_DISCOVERY_DISCOVERY_READ_H

#include <errno.h>

#include "client/discovery/discovery_build.h"

/* What to ask for at "/api" and "/apis": the aggregated form, else the one of old, in the order and
 * the spelling that servers know. */
#define KI__DISCOVERY_ACCEPT                                                \
    "application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList," \
    "application/json;g=apidiscovery.k8s.io;v=v2beta1;as=APIGroupDiscoveryList,application/json"

enum { KI__DISCOVERY_BODY_MAX = 64 << 20 };

/** Reads the answer to GET /api (`core`) or /apis: an APIGroupDiscoveryList, whose resources are
 *  then known, or an APIVersions or APIGroupList, whose group versions are then wanted.
 *  Errors: KI_ERR_SYNTAX and the like: no JSON;  KI_ERR_INVALID  something else than that;
 *          KI_ERR_UNSUPPORTED  a version of it that we did not ask for;  -ENOMEM, KI_ERR_LIMIT. */
int ki__discovery_read_groups(ki__discovery_builder *builder, bool core, ki_str body,
                              ki_error *error);

/** Reads the answer to GET of a wanted group version, an APIResourceList; it is known then. Errors
 *  as above; nothing was added but at -ENOMEM and KI_ERR_LIMIT. */
int ki__discovery_read_resources(ki__discovery_builder *builder, size_t number, ki_str body,
                                 ki_error *error);

/** Whether such an error of one group version is one of the whole. */
static inline bool ki__discovery_is_fatal(int r)
{
    return r == -ENOMEM || r == KI_ERR_LIMIT || r == KI_ERR_STOPPED;
}

#endif
