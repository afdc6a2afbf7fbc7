/* SPDX-License-Identifier: Apache-2.0 */
/* A controller that maintains a ConfigMap in each Namespace that belongs to a team: one with the
 * label "example.com/team". The ConfigMap is named "team", and has the namespace, its team, and the
 * other namespaces of the team:
 *
 *   data: {namespace: shop, team: red, members: "bank,shop"}
 *
 * It is created if missing, corrected if changed by others, and deleted when the namespace has no
 * team any more. main.c makes a program of it; test_controller.c tests it. */
#ifndef NAMESPACE_CONFIG_CONTROLLER_H
#define NAMESPACE_CONFIG_CONTROLLER_H

#include <kinformer/kinformer.h>

#define TEAM_LABEL "example.com/team"
#define CONFIG_NAME "team"
/* Marks what is ours; the cache holds no other ConfigMaps. */
#define MANAGER_LABEL "app.kubernetes.io/managed-by"
#define MANAGER "namespace-config"

typedef struct namespace_config namespace_config;

typedef struct namespace_config_stats {
    unsigned long created;
    unsigned long updated;
    unsigned long deleted;
    unsigned long failed; /* tries that were repeated later */
} namespace_config_stats;

/** Tells of a try that failed; the namespace is tried again. Called on the workers' threads. */
typedef void (*namespace_config_failure)(const char *name_space, const ki_error *error,
                                         uint32_t failures);

/** Starts it. `on_failure` may be NULL. Release with namespace_config_stop(). */
int namespace_config_start(ki_client *client, unsigned workers, namespace_config_failure on_failure,
                           namespace_config **ret_controller, ki_error *error);

/** Ends it: waits for the requests that are under way, but begins no other. Always returns NULL;
 *  NULL is fine. */
namespace_config *namespace_config_stop(namespace_config *c);

/** Whether nothing is left to do, as far as is known. */
bool namespace_config_is_settled(namespace_config *c);

namespace_config_stats namespace_config_read_stats(namespace_config *c);

#endif
