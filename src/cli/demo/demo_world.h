/* SPDX-License-Identifier: Apache-2.0 */
/* The cluster of the demo: its objects and their JSON. Independent of any server. */
#ifndef KI_CLI_DEMO_DEMO_WORLD_H
#define KI_CLI_DEMO_DEMO_WORLD_H

#include <kinformer/buf.h>
#include <kinformer/defs.h>

enum { DEMO_NAMESPACES = 16, DEMO_NAME_MAX = 64, DEMO_OBJECTS_MIN = 100 };

/** The CustomResourceDefinition of the controller's objects; its plural and its group. */
extern const char demo_definition[];
#define DEMO_COUNTS "podcounts.example.com"
/** Name of that object in each namespace. */
#define DEMO_COUNT_NAME "pods"

typedef struct demo_pod {
    uint64_t number; /* unique, also among deleted pods */
    uint32_t deployment;
    uint32_t node;
    uint32_t restarts;
    bool ready;
} demo_pod;

typedef struct demo_deployment {
    uint32_t replicas;
    uint32_t revision;
} demo_deployment;

typedef struct demo_map {
    uint64_t number;
    uint32_t version;
} demo_map;

typedef struct demo_world {
    uint64_t random; /* generator state */
    uint64_t numbers;
    int64_t began; /* seconds since 1970; basis of times in objects */
    demo_pod *pods;
    size_t pod_count;
    size_t first_pods; /* initial number of pods */
    size_t pod_cap;
    demo_map *maps;
    size_t map_count;
    size_t map_cap;
    demo_deployment *deployments;
    size_t deployment_count;
    uint32_t *beats; /* heartbeat counter of each node */
    size_t node_count;
} demo_world;

/** A world of about `objects` objects; deterministic for a seed. */
void demo_world_init(demo_world *world, size_t objects, uint64_t seed, int64_t now);
void demo_world_done(demo_world *world);

/** A random number below `limit`, which is not 0. */
size_t demo_world_random(demo_world *world, size_t limit);

/** Adds a pod of some deployment on some node, or a configmap. */
demo_pod *demo_world_add_pod(demo_world *world);
demo_map *demo_world_add_map(demo_world *world);
/** Whether the next change of the number of pods is an addition: random, but the number stays near
 *  its initial value. */
bool demo_world_needs_pod(demo_world *world);
/** Removes one; the last one takes its place. */
void demo_world_drop_pod(demo_world *world, size_t position);
void demo_world_drop_map(demo_world *world, size_t position);

/** Objects as JSON; replaces the content of `out`. */
void demo_world_put_namespace(const demo_world *world, size_t position, ki_buf *out);
void demo_world_put_node(const demo_world *world, size_t position, ki_buf *out);
void demo_world_put_deployment(const demo_world *world, size_t position, ki_buf *out);
void demo_world_put_pod(const demo_world *world, const demo_pod *pod, ki_buf *out);
void demo_world_put_map(const demo_world *world, const demo_map *map, ki_buf *out);

/** Names; at most DEMO_NAME_MAX bytes. */
const char *demo_world_namespace(size_t position);
const char *demo_world_namespace_of_pod(const demo_pod *pod);
const char *demo_world_namespace_of_map(const demo_map *map);
void demo_world_name_pod(const demo_pod *pod, char name[DEMO_NAME_MAX]);
void demo_world_name_map(const demo_map *map, char name[DEMO_NAME_MAX]);
void demo_world_name_node(size_t position, char name[DEMO_NAME_MAX]);

#endif
