/* SPDX-License-Identifier: Apache-2.0 */
/* The cluster of the demo: which objects there are, and what they look like as JSON. It knows of no
 * server. */
#ifndef KI_CLI_DEMO_DEMO_WORLD_H
#define KI_CLI_DEMO_DEMO_WORLD_H

#include <kinformer/buf.h>
#include <kinformer/defs.h>

enum { DEMO_NAMESPACES = 16, DEMO_NAME_MAX = 64, DEMO_OBJECTS_MIN = 100 };

/** The definition of the custom resource that the controller writes; its plural and its group. */
extern const char demo_definition[];
#define DEMO_COUNTS "podcounts.example.com"
/** What an object of it is called in each namespace. */
#define DEMO_COUNT_NAME "pods"

typedef struct demo_pod {
    uint64_t number; /* of no other pod, also not of one that is gone */
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
    uint64_t random; /* the state of the generator */
    uint64_t numbers;
    int64_t began; /* seconds since 1970; times in objects are about then */
    demo_pod *pods;
    size_t pod_count;
    size_t first_pods; /* how many there were at first */
    size_t pod_cap;
    demo_map *maps;
    size_t map_count;
    size_t map_cap;
    demo_deployment *deployments;
    size_t deployment_count;
    uint32_t *beats; /* of nodes: how often each has told that it is there */
    size_t node_count;
} demo_world;

/** A world of about `objects` objects; the same for the same seed. */
void demo_world_init(demo_world *world, size_t objects, uint64_t seed, int64_t now);
void demo_world_done(demo_world *world);

/** A number below `limit`, which is not 0. */
size_t demo_world_random(demo_world *world, size_t limit);

/** A new one: a pod of some deployment on some node, a configmap. */
demo_pod *demo_world_add_pod(demo_world *world);
demo_map *demo_world_add_map(demo_world *world);
/** Whether the next change of how many pods there are shall be one more: by chance, but never so
 *  that there are far more or far fewer than at first. */
bool demo_world_wants_pod(demo_world *world);
/** Takes one away; the last one takes its place. */
void demo_world_drop_pod(demo_world *world, size_t position);
void demo_world_drop_map(demo_world *world, size_t position);

/** Objects as JSON, in the place of what `out` had. */
void demo_world_put_namespace(const demo_world *world, size_t position, ki_buf *out);
void demo_world_put_node(const demo_world *world, size_t position, ki_buf *out);
void demo_world_put_deployment(const demo_world *world, size_t position, ki_buf *out);
void demo_world_put_pod(const demo_world *world, const demo_pod *pod, ki_buf *out);
void demo_world_put_map(const demo_world *world, const demo_map *map, ki_buf *out);

/** Names; of DEMO_NAME_MAX bytes at most. */
const char *demo_world_namespace(size_t position);
const char *demo_world_namespace_of_pod(const demo_pod *pod);
const char *demo_world_namespace_of_map(const demo_map *map);
void demo_world_name_pod(const demo_pod *pod, char name[DEMO_NAME_MAX]);
void demo_world_name_map(const demo_map *map, char name[DEMO_NAME_MAX]);
void demo_world_name_node(size_t position, char name[DEMO_NAME_MAX]);

#endif
