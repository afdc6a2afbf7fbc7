/* SPDX-License-Identifier: Apache-2.0 */
/* Parses the target of a request: /api/v1/namespaces/x/pods/y/status?watch=1&limit=5, with
 * percent-decoding and numbers. Targets are untrusted: any bytes give either a route or a failure
 * to send to the client. */
#ifndef KI_APISERVER_ROUTE_H
#define KI_APISERVER_ROUTE_H

#include <kinformer/alloc.h>
#include <kinformer/str.h>

#include "apiserver/api_failure.h"

enum {
    KI__API_TARGET_MAX = 65536,
    KI__API_PARAMETERS_MAX = 64,
};

typedef enum ki__api_flag { KI__API_UNSET, KI__API_FALSE, KI__API_TRUE } ki__api_flag;

/** Strings are never NULL, live in the route, and are "" if absent. */
typedef struct ki__api_route {
    bool is_resource; /* otherwise `path` is e.g. /version, and only the query is parsed */
    const char *path; /* decoded, without the query */
    const char *group;
    const char *version;
    const char *resource;
    const char *name_space;
    const char *name;
    const char *subresource;
    /* The query. The first occurrence of a parameter counts; unknown ones are ignored. */
    bool watch;
    bool bookmarks;
    ki__api_flag send_initial;
    const char *rv;
    const char *rv_match;
    const char *token; /* "continue" */
    const char *labels;
    const char *fields;
    const char *shard;
    const char *dry_run;
    const char *propagation;        /* propagationPolicy */
    ki__api_flag orphan_dependents; /* the deprecated orphanDependents */
    const char *include_object;     /* of Table rows */
    const char *field_validation;   /* policy for unknown fields */
    const char *field_manager;      /* the writer */
    ki__api_flag force;             /* take ownership of conflicting fields */
    int64_t limit;                  /* 0: none */
    int64_t timeout_s;              /* 0: none */
    const ki_alloc *alloc;
    char *block;
} ki__api_route;

/** Parses a target. 0 with either the route or failure->code set; -ENOMEM. The route must be
 *  released in each case. */
int ki__api_route_init(ki__api_route *route, ki_str target, const ki_alloc *alloc,
                       ki__api_failure *failure);

void ki__api_route_done(ki__api_route *route);

#endif
