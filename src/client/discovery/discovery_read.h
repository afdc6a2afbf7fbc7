/* SPDX-License-Identifier: Apache-2.0 */
/* Decodes discovery responses. No I/O. */
#ifndef KI_CLIENT_DISCOVERY_DISCOVERY_READ_H
#define KI_CLIENT_DISCOVERY_DISCOVERY_READ_H

#include <errno.h>

#include "client/discovery/discovery_build.h"

/* Accept header for "/api" and "/apis": the aggregated format, otherwise the legacy one, in the
 * order and spelling that servers know. */
#define KI__DISCOVERY_ACCEPT                                                \
    "application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList," \
    "application/json;g=apidiscovery.k8s.io;v=v2beta1;as=APIGroupDiscoveryList,application/json"

enum { KI__DISCOVERY_BODY_MAX = 64 << 20 };

/** Decodes the response to GET /api (`core`) or /apis: an APIGroupDiscoveryList, whose resources
 *  are then known, or an APIVersions or APIGroupList, whose group versions are then wanted.
 *  Errors: KI_ERR_SYNTAX etc.  invalid JSON;  KI_ERR_INVALID  another kind;
 *          KI_ERR_UNSUPPORTED  a version that was not requested;  -ENOMEM, KI_ERR_LIMIT. */
int ki__discovery_read_groups(ki__discovery_builder *builder, bool core, ki_str body,
                              ki_error *error);

/** Decodes the response to GET of a wanted group version, an APIResourceList; it is known then.
 *  Errors as above; nothing was added except with -ENOMEM and KI_ERR_LIMIT. */
int ki__discovery_read_resources(ki__discovery_builder *builder, size_t number, ki_str body,
                                 ki_error *error);

/** Whether an error of one group version is fatal for the whole discovery. */
static inline bool ki__discovery_is_fatal(int r)
{
    return r == -ENOMEM || r == KI_ERR_LIMIT || r == KI_ERR_STOPPED;
}

#endif
