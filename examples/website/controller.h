/* SPDX-License-Identifier: Apache-2.0 */
/* A controller for a custom resource: a Website (crd.yaml) is a page and the number of servers that
 * serve it. For each the controller maintains a ConfigMap with the page and a Deployment of web
 * servers that mount it, both owned by it; those of the Website "shop" are named "shop-site":
 *
 *   spec:   {html: "<h1>Shop</h1>", replicas: 2, image: "nginx:1.29"}
 *   status: {observedGeneration: 1, readyReplicas: 2, conditions: [{type: Ready, status: "True"}]}
 *
 * What others change in them is restored. A finalizer ensures that both are deleted before the
 * Website is. Events record what was done. Of several replicas, one works at a time, and the others
 * have current caches. main.c makes a program of it; test_controller.c tests it. controller.hpp is
 * the same in C++. */
#ifndef WEBSITE_CONTROLLER_H
#define WEBSITE_CONTROLLER_H

#include <stdatomic.h>

#include <kinformer/kinformer.h>
#include <kinformer/manager.h>

#define SUFFIX "-site"
#define FINALIZER "example.com/website"
#define HASH_ANNOTATION "example.com/hash"
/* Marks what is ours; the caches hold no other ConfigMaps and Deployments. */
#define MANAGER_LABEL "app.kubernetes.io/managed-by"
#define MANAGER "website-controller"

typedef struct website_controller {
    ki_client *client; /* of the manager, as are the next two; it must live longer */
    ki_recorder *recorder;
    ki_controller *controller;
    ki_resource *resource; /* Websites */
    ki_informer *websites;
    ki_informer *configs;
    ki_informer *deployments;
    atomic_ulong reconciled;
    atomic_ulong failed;
} website_controller;

/** Adds it to a manager, which starts and stops it. Release it with website_controller_done() after
 *  the manager, also after a failure. */
int website_controller_add(website_controller *c, ki_manager *manager, ki_error *error);
void website_controller_done(website_controller *c);

#endif
