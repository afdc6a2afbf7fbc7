/* SPDX-License-Identifier: Apache-2.0 */
/* Creates, changes and deletes the objects of the demo directly on the server, like other clients;
 * informers receive the changes only through their connections. */
#include <string.h>

#include "cli/command_loop.h"
#include "cli/demo/demo.h"
#include "cli/report_failure.h"

enum { BURST = 400, HUNDRED = 100 };

uint64_t demo_churn_count(const demo *d)
{
    return d->created + d->updated + d->deleted;
}

/* Applies the object in `scratch`. */
static int apply(demo *d, ki_error *error)
{
    ki_object *object = NULL;
    int r = ki_object_from_json(d->scratch.data, d->scratch.len, NULL, &object, error);
    if (r == 0) {
        r = ki_apiserver_apply(d->server, object, error);
    }
    (void)ki_object_unref(object);
    return r;
}

int demo_churn_load(demo *d, ki_error *error)
{
    const demo_world *world = &d->world;
    int r = ki_apiserver_load(d->server, ki_str_from(demo_definition), NULL, error);
    for (size_t i = 0; r == 0 && i < DEMO_NAMESPACES; i++, d->loaded++) {
        demo_world_put_namespace(world, i, &d->scratch);
        r = apply(d, error);
    }
    for (size_t i = 0; r == 0 && i < world->node_count; i++, d->loaded++) {
        demo_world_put_node(world, i, &d->scratch);
        r = apply(d, error);
    }
    for (size_t i = 0; r == 0 && i < world->deployment_count; i++, d->loaded++) {
        demo_world_put_deployment(world, i, &d->scratch);
        r = apply(d, error);
    }
    for (size_t i = 0; r == 0 && i < world->map_count; i++, d->loaded++) {
        demo_world_put_map(world, &world->maps[i], &d->scratch);
        r = apply(d, error);
    }
    for (size_t i = 0; r == 0 && i < world->pod_count; i++, d->loaded++) {
        demo_world_put_pod(world, &world->pods[i], &d->scratch);
        r = apply(d, error);
    }
    return r;
}

/* ---- one change ---- */

static int create_pod(demo *d)
{
    demo_world_put_pod(&d->world, demo_world_add_pod(&d->world), &d->scratch);
    d->created++;
    return apply(d, &d->failure);
}

static int delete_pod(demo *d, size_t position)
{
    const demo_pod *pod = &d->world.pods[position];
    char name[DEMO_NAME_MAX];
    const char *name_space = demo_world_namespace_of_pod(pod);
    demo_world_name_pod(pod, name);
    demo_world_drop_pod(&d->world, position);
    d->deleted++;
    return ki_apiserver_delete(d->server, KI_CORE_V1_PODS, name_space, name, &d->failure);
}

static int change_pod(demo *d)
{
    demo_pod *pod = &d->world.pods[demo_world_random(&d->world, d->world.pod_count)];
    pod->ready = !pod->ready;
    pod->restarts += pod->ready ? 1 : 0;
    demo_world_put_pod(&d->world, pod, &d->scratch);
    d->updated++;
    return apply(d, &d->failure);
}

static int change_node(demo *d)
{
    size_t position = demo_world_random(&d->world, d->world.node_count);
    d->world.beats[position]++;
    demo_world_put_node(&d->world, position, &d->scratch);
    d->updated++;
    return apply(d, &d->failure);
}

static int change_deployment(demo *d)
{
    size_t position = demo_world_random(&d->world, d->world.deployment_count);
    d->world.deployments[position].replicas = 1 + (uint32_t)demo_world_random(&d->world, 20);
    d->world.deployments[position].revision++;
    demo_world_put_deployment(&d->world, position, &d->scratch);
    d->updated++;
    return apply(d, &d->failure);
}

static int change_map(demo *d)
{
    demo_map *map = &d->world.maps[demo_world_random(&d->world, d->world.map_count)];
    map->version++;
    demo_world_put_map(&d->world, map, &d->scratch);
    d->updated++;
    return apply(d, &d->failure);
}

/* Deletes one and creates another. */
static int exchange_map(demo *d)
{
    size_t position = demo_world_random(&d->world, d->world.map_count);
    char name[DEMO_NAME_MAX];
    const char *name_space = demo_world_namespace_of_map(&d->world.maps[position]);
    demo_world_name_map(&d->world.maps[position], name);
    demo_world_drop_map(&d->world, position);
    d->deleted++;
    int r = ki_apiserver_delete(d->server, KI_CORE_V1_CONFIGMAPS, name_space, name, &d->failure);
    if (r == 0) {
        demo_world_put_map(&d->world, demo_world_add_map(&d->world), &d->scratch);
        d->created++;
        r = apply(d, &d->failure);
    }
    return r;
}

static int change_something(demo *d)
{
    size_t chance = demo_world_random(&d->world, HUNDRED);
    if (chance < 55) {
        return change_pod(d);
    }
    if (chance < 79) {
        return demo_world_needs_pod(&d->world)
                   ? create_pod(d)
                   : delete_pod(d, demo_world_random(&d->world, d->world.pod_count));
    }
    if (chance < 86) {
        return change_node(d);
    }
    if (chance < 92) {
        return change_deployment(d);
    }
    return chance < 97 ? change_map(d) : exchange_map(d);
}

static void stop_at(demo *d, int r)
{
    if (r < 0) {
        d->session.failure = d->failure;
        cli_session_end(&d->session);
    }
}

/* ---- many ---- */

void demo_churn_run(demo *d)
{
    uint64_t now = cli_now_ns();
    if (!d->changing) {
        return;
    }
    d->owed += (double)(now - d->changing_ns) / (double)CLI_SECOND_NS * d->options->rate;
    d->changing_ns = now;
    int r = 0;
    for (int i = 0; r == 0 && i < BURST && d->owed >= 1; i++, d->owed -= 1) {
        r = change_something(d);
    }
    stop_at(d, r);
}

size_t demo_churn_drain(demo *d, size_t node)
{
    size_t moved = 0;
    int r = 0;
    for (size_t i = d->world.pod_count; r == 0 && i-- > 0;) {
        if (d->world.pods[i].node != node) {
            continue;
        }
        r = delete_pod(d, i);
        moved++;
    }
    for (size_t i = 0; r == 0 && i < moved; i++) {
        demo_pod *pod = demo_world_add_pod(&d->world);
        if (pod->node == node) {
            pod->node = node != 0 ? 0 : 1;
        }
        demo_world_put_pod(&d->world, pod, &d->scratch);
        d->created++;
        r = apply(d, &d->failure);
    }
    stop_at(d, r);
    return moved;
}
