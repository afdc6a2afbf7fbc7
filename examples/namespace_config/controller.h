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

#include <stdatomic.h>

#include <kinformer/kinformer.h>

#define TEAM_LABEL "example.com/team"
#define CONFIG_NAME "team"
/* Marks what is ours; the cache holds no other ConfigMaps. */
#define MANAGER_LABEL "app.kubernetes.io/managed-by"
#define MANAGER "namespace-config"

typedef struct namespace_config {
    ki_client *client; /* must live longer */
    ki_informer *namespaces;
    ki_informer *configs;
    ki_workqueue *queue;
    ki_controller *controller;
    atomic_bool ending;
    atomic_ulong created, updated, deleted, failed;
} namespace_config;

/** Starts it, with worker threads; with none, namespace_config_reconcile_all() does the work. End
 *  it with namespace_config_stop(), also after a failure. */
int namespace_config_start(namespace_config *c, ki_client *client, uint32_t workers,
                           ki_error *error);

/** Brings all namespaces to the desired state, on this thread. */
int namespace_config_reconcile_all(namespace_config *c, ki_error *error);

/** Waits for requests in progress, but starts no other. */
void namespace_config_stop(namespace_config *c);

#endif
