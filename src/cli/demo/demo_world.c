/* SPDX-License-Identifier: Apache-2.0 */
/* The cluster of the demo: a shop with its applications on a number of nodes. Objects are generated
 * from a few numbers, so that each can be regenerated at any time. */
#include "cli/demo/demo_world.h"

#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "cli/report_failure.h"
#include "cli/text.h"

enum { APPS = 12, PODS_OF_NODE = 80, PODS_OF_DEPLOYMENT = 12, LETTERS = 5, MINUTE = 60 };

const char demo_definition[] =
    "{\"apiVersion\":\"apiextensions.k8s.io/v1\",\"kind\":\"CustomResourceDefinition\","
    "\"metadata\":{\"name\":\"" DEMO_COUNTS "\"},\"spec\":{\"group\":\"example.com\","
    "\"scope\":\"Namespaced\",\"names\":{\"plural\":\"podcounts\",\"singular\":\"podcount\","
    "\"kind\":\"PodCount\",\"shortNames\":[\"pc\"]},\"versions\":[{\"name\":\"v1\","
    "\"served\":true,\"storage\":true,\"schema\":{\"openAPIV3Schema\":{\"type\":\"object\","
    "\"x-kubernetes-preserve-unknown-fields\":true}}}]}}";

static const char *const namespaces[DEMO_NAMESPACES] = {
    "shop",   "billing", "search", "media",   "auth",    "metrics", "mail",     "orders",
    "stocks", "prices",  "maps",   "reviews", "returns", "support", "partners", "archive"};
static const char *const apps[APPS] = {"web",   "api",     "worker", "cache", "queue",  "proxy",
                                       "index", "gateway", "feed",   "sync",  "report", "store"};

/* ---- numbers ---- */

/* Pseudo-random mix (splitmix64). */
static uint64_t mix(uint64_t number)
{
    uint64_t z = number + UINT64_C(0x9e3779b97f4a7c15);
    z = (z ^ (z >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
    z = (z ^ (z >> 27)) * UINT64_C(0x94d049bb133111eb);
    return z ^ (z >> 31);
}

size_t demo_world_random(demo_world *world, size_t limit)
{
    world->random++;
    return (size_t)(mix(world->random) % limit);
}

static void *grow(void *items, size_t *cap, size_t size)
{
    *cap = *cap != 0 ? *cap * 2 : 256;
    void *grown = realloc(items, *cap * size);
    if (grown == NULL) {
        cli_fail_memory();
    }
    return grown;
}

static void *make(size_t count, size_t size)
{
    void *items = calloc(count, size);
    if (items == NULL) {
        cli_fail_memory();
    }
    return items;
}

demo_pod *demo_world_add_pod(demo_world *world)
{
    if (world->pod_count == world->pod_cap) {
        world->pods = grow(world->pods, &world->pod_cap, sizeof(*world->pods));
    }
    demo_pod *pod = &world->pods[world->pod_count++];
    *pod = (demo_pod){.number = ++world->numbers, .ready = true};
    pod->deployment = (uint32_t)demo_world_random(world, world->deployment_count);
    pod->node = (uint32_t)demo_world_random(world, world->node_count);
    return pod;
}

demo_map *demo_world_add_map(demo_world *world)
{
    if (world->map_count == world->map_cap) {
        world->maps = grow(world->maps, &world->map_cap, sizeof(*world->maps));
    }
    demo_map *map = &world->maps[world->map_count++];
    *map = (demo_map){.number = ++world->numbers};
    return map;
}

bool demo_world_needs_pod(demo_world *world)
{
    size_t first = world->first_pods;
    bool chance = demo_world_random(world, 2) == 0;
    return world->pod_count <= first / 2 || (chance && world->pod_count < first + first / 2);
}

void demo_world_drop_pod(demo_world *world, size_t position)
{
    world->pods[position] = world->pods[--world->pod_count];
}

void demo_world_drop_map(demo_world *world, size_t position)
{
    world->maps[position] = world->maps[--world->map_count];
}

void demo_world_init(demo_world *world, size_t objects, uint64_t seed, int64_t now)
{
    size_t count = objects > DEMO_OBJECTS_MIN ? objects : DEMO_OBJECTS_MIN;
    *world = (demo_world){.random = mix(seed), .began = now};
    world->node_count = count / (PODS_OF_NODE + 1) + 8;
    world->deployment_count = count / (PODS_OF_DEPLOYMENT + 1) + 1;
    world->deployments = make(world->deployment_count, sizeof(*world->deployments));
    world->beats = make(world->node_count, sizeof(*world->beats));
    for (size_t i = 0; i < world->deployment_count; i++) {
        world->deployments[i].replicas = 1 + (uint32_t)demo_world_random(world, 20);
    }
    for (size_t i = 0; i < count / 10; i++) {
        (void)demo_world_add_map(world);
    }
    size_t others = DEMO_NAMESPACES * 2 + world->node_count + world->deployment_count + count / 10;
    for (size_t i = others; i < count; i++) {
        (void)demo_world_add_pod(world);
    }
    world->first_pods = world->pod_count;
}

void demo_world_done(demo_world *world)
{
    free(world->pods);
    free(world->maps);
    free(world->deployments);
    free(world->beats);
    *world = (demo_world){0};
}

/* ---- names ---- */

const char *demo_world_namespace(size_t position)
{
    return namespaces[position % DEMO_NAMESPACES];
}

const char *demo_world_namespace_of_pod(const demo_pod *pod)
{
    return demo_world_namespace(pod->deployment);
}

const char *demo_world_namespace_of_map(const demo_map *map)
{
    return demo_world_namespace((size_t)map->number);
}

/* "web", or "web-2" for the second one of a namespace. */
static void name_deployment(size_t position, char name[DEMO_NAME_MAX])
{
    size_t which = position / DEMO_NAMESPACES;
    if (which < APPS) {
        (void)snprintf(name, DEMO_NAME_MAX, "%s", apps[which]);
    } else {
        (void)snprintf(name, DEMO_NAME_MAX, "%s-%zu", apps[which % APPS], which / APPS + 1);
    }
}

/* Five characters as in generated names; unique for numbers up to 27^5. */
static void put_letters(uint64_t number, char text[LETTERS + 1])
{
    static const char letters[] = "bcdfghjklmnpqrstvwxz2456789";
    uint64_t rest = number * 7654321; /* coprime to 27 */
    for (size_t i = 0; i < LETTERS; i++) {
        text[i] = letters[rest % (sizeof(letters) - 1)];
        rest /= sizeof(letters) - 1;
    }
    text[LETTERS] = '\0';
}

static void name_replicas(size_t deployment, char name[DEMO_NAME_MAX])
{
    char base[DEMO_NAME_MAX];
    char letters[LETTERS + 1];
    name_deployment(deployment, base);
    put_letters(deployment + 1, letters);
    (void)snprintf(name, DEMO_NAME_MAX, "%.40s-%s", base, letters);
}

void demo_world_name_pod(const demo_pod *pod, char name[DEMO_NAME_MAX])
{
    char base[DEMO_NAME_MAX];
    char letters[LETTERS + 1];
    name_replicas(pod->deployment, base);
    put_letters(pod->number, letters);
    (void)snprintf(name, DEMO_NAME_MAX, "%.50s-%s", base, letters);
}

void demo_world_name_map(const demo_map *map, char name[DEMO_NAME_MAX])
{
    (void)snprintf(name, DEMO_NAME_MAX, "settings-%llu", (unsigned long long)map->number);
}

void demo_world_name_node(size_t position, char name[DEMO_NAME_MAX])
{
    (void)snprintf(name, DEMO_NAME_MAX, "node-%02zu", position);
}

/* ---- objects ---- */

static void put_time(const demo_world *world, int64_t back, ki_buf *out)
{
    char text[32];
    time_t when = (time_t)(world->began - back);
    struct tm parts;
    if (gmtime_r(&when, &parts) != NULL &&
        strftime(text, sizeof(text), "\"%Y-%m-%dT%H:%M:%SZ\"", &parts) != 0) {
        cli_put(out, text);
    } else {
        cli_put(out, "null");
    }
}

static void put_uid(uint64_t number, ki_buf *out)
{
    uint64_t a = mix(number);
    uint64_t b = mix(a);
    cli_putf(out, "\"%08x-%04x-4%03x-a%03x-%012llx\"", (unsigned int)(a >> 32),
             (unsigned int)(a >> 16 & 0xffff), (unsigned int)(a & 0xfff), (unsigned int)(b & 0xfff),
             (unsigned long long)(b >> 16));
}

void demo_world_put_namespace(const demo_world *world, size_t position, ki_buf *out)
{
    (void)world;
    ki_buf_clear(out);
    cli_putf(out,
             "{\"apiVersion\":\"v1\",\"kind\":\"Namespace\",\"metadata\":{\"name\":\"%s\","
             "\"labels\":{\"kubernetes.io/metadata.name\":\"%s\",\"team\":\"team-%zu\"}},"
             "\"spec\":{\"finalizers\":[\"kubernetes\"]},\"status\":{\"phase\":\"Active\"}}",
             demo_world_namespace(position), demo_world_namespace(position), position % 4);
}

static void put_node_conditions(const demo_world *world, uint32_t beat, ki_buf *out)
{
    static const char *const types[] = {"MemoryPressure", "DiskPressure", "PIDPressure", "Ready"};
    for (size_t i = 0; i < sizeof(types) / sizeof(types[0]); i++) {
        bool ready = i == 3;
        cli_putf(out, "%s{\"type\":\"%s\",\"status\":\"%s\",\"reason\":\"%s\",", i != 0 ? "," : "",
                 types[i], ready ? "True" : "False", ready ? "KubeletReady" : "KubeletHasEnough");
        cli_put(out, "\"lastHeartbeatTime\":");
        put_time(world, -(int64_t)beat, out);
        cli_put(out, ",\"lastTransitionTime\":");
        put_time(world, 900L * MINUTE, out);
        cli_put_char(out, '}');
    }
}

void demo_world_put_node(const demo_world *world, size_t position, ki_buf *out)
{
    char name[DEMO_NAME_MAX];
    demo_world_name_node(position, name);
    ki_buf_clear(out);
    cli_putf(out,
             "{\"apiVersion\":\"v1\",\"kind\":\"Node\",\"metadata\":{\"name\":\"%s\",\"labels\":{"
             "\"kubernetes.io/hostname\":\"%s\",\"kubernetes.io/os\":\"linux\","
             "\"kubernetes.io/arch\":\"amd64\",\"topology.kubernetes.io/zone\":\"zone-%c\"}},"
             "\"spec\":{\"podCIDR\":\"10.%zu.%zu.0/24\",\"providerID\":\"demo://%s\"},"
             "\"status\":{\"capacity\":{\"cpu\":\"32\",\"memory\":\"131072Mi\",\"pods\":\"250\"},"
             "\"allocatable\":{\"cpu\":\"31\",\"memory\":\"126976Mi\",\"pods\":\"250\"},",
             name, name, (char)('a' + position % 3), position / 256, position % 256, name);
    cli_putf(out,
             "\"addresses\":[{\"type\":\"InternalIP\",\"address\":\"192.168.%zu.%zu\"},"
             "{\"type\":\"Hostname\",\"address\":\"%s\"}],\"nodeInfo\":{\"kubeletVersion\":"
             "\"v1.36.3\",\"osImage\":\"Debian GNU/Linux 12 (bookworm)\",\"architecture\":"
             "\"amd64\",\"operatingSystem\":\"linux\",\"kernelVersion\":\"6.1.0-31-amd64\","
             "\"containerRuntimeVersion\":\"containerd://2.1.4\",\"bootID\":",
             position / 256, position % 256, name);
    put_uid(position, out);
    cli_put(out, ",\"machineID\":");
    put_uid(position + 1, out);
    cli_put(out, ",\"systemUUID\":");
    put_uid(position + 2, out);
    cli_put(out, ",\"kubeProxyVersion\":\"\"},\"daemonEndpoints\":{\"kubeletEndpoint\":"
                 "{\"Port\":10250}},\"conditions\":[");
    put_node_conditions(world, world->beats[position], out);
    cli_put(out, "]}}");
}

/* The container fields common to deployments and pods. */
static void put_container(const char *app, const char *name_space, uint32_t revision, ki_buf *out)
{
    cli_putf(out,
             "{\"name\":\"%s\",\"image\":\"registry.example.com/%s/%s:1.%u.0\",\"args\":["
             "\"--listen=:8080\",\"--log-level=info\"],\"ports\":[{\"name\":\"http\","
             "\"containerPort\":8080,\"protocol\":\"TCP\"}],\"env\":[{\"name\":\"NAMESPACE\","
             "\"value\":\"%s\"},{\"name\":\"GOMAXPROCS\",\"value\":\"4\"}],\"resources\":{"
             "\"limits\":{\"memory\":\"512Mi\"},\"requests\":{\"cpu\":\"250m\","
             "\"memory\":\"256Mi\"}},\"volumeMounts\":[{\"name\":\"settings\","
             "\"mountPath\":\"/etc/settings\",\"readOnly\":true}],\"readinessProbe\":{\"httpGet\":"
             "{\"path\":\"/ready\",\"port\":8080,\"scheme\":\"HTTP\"},\"periodSeconds\":5},",
             app, name_space, app, revision, name_space);
    cli_put(out, "\"terminationMessagePath\":\"/dev/termination-log\",\"terminationMessagePolicy\":"
                 "\"File\",\"imagePullPolicy\":\"IfNotPresent\"}");
}

void demo_world_put_deployment(const demo_world *world, size_t position, ki_buf *out)
{
    const demo_deployment *deployment = &world->deployments[position];
    const char *name_space = demo_world_namespace(position);
    char name[DEMO_NAME_MAX];
    name_deployment(position, name);
    ki_buf_clear(out);
    cli_putf(out,
             "{\"apiVersion\":\"apps/v1\",\"kind\":\"Deployment\",\"metadata\":{\"name\":\"%s\","
             "\"namespace\":\"%s\",\"labels\":{\"app\":\"%s\"},\"annotations\":{"
             "\"deployment.kubernetes.io/revision\":\"%u\"}},\"spec\":{\"replicas\":%u,"
             "\"selector\":{\"matchLabels\":{\"app\":\"%s\"}},\"template\":{\"metadata\":{"
             "\"labels\":{\"app\":\"%s\"}},\"spec\":{\"containers\":[",
             name, name_space, name, deployment->revision + 1, deployment->replicas, name, name);
    put_container(name, name_space, deployment->revision, out);
    cli_putf(out,
             "],\"restartPolicy\":\"Always\",\"dnsPolicy\":\"ClusterFirst\","
             "\"terminationGracePeriodSeconds\":30}},\"strategy\":{\"type\":\"RollingUpdate\","
             "\"rollingUpdate\":{\"maxUnavailable\":1,\"maxSurge\":\"25%%\"}}},"
             "\"status\":{\"replicas\":%u,\"updatedReplicas\":%u,\"readyReplicas\":%u,"
             "\"availableReplicas\":%u}}",
             deployment->replicas, deployment->replicas, deployment->replicas,
             deployment->replicas);
}

static void put_pod_head(const demo_pod *pod, const char *name_space, const char *app, ki_buf *out)
{
    char name[DEMO_NAME_MAX];
    char owner[DEMO_NAME_MAX];
    demo_world_name_pod(pod, name);
    name_replicas(pod->deployment, owner);
    cli_putf(out,
             "{\"apiVersion\":\"v1\",\"kind\":\"Pod\",\"metadata\":{\"name\":\"%s\","
             "\"namespace\":\"%s\",\"generateName\":\"%s-\",\"labels\":{\"app\":\"%s\","
             "\"pod-template-hash\":\"%s\",\"tier\":\"%s\"},\"ownerReferences\":[{"
             "\"apiVersion\":\"apps/v1\",\"kind\":\"ReplicaSet\",\"name\":\"%s\","
             "\"controller\":true,\"blockOwnerDeletion\":true,\"uid\":",
             name, name_space, owner, app, owner + strlen(app) + 1,
             pod->deployment % 2 != 0 ? "back" : "front", owner);
    put_uid(pod->deployment, out);
    cli_put(out, "}]},");
}

static void put_pod_conditions(const demo_world *world, const demo_pod *pod, ki_buf *out)
{
    static const char *const types[] = {"PodReadyToStartContainers", "Initialized", "PodScheduled",
                                        "Ready", "ContainersReady"};
    for (size_t i = 0; i < sizeof(types) / sizeof(types[0]); i++) {
        bool holds = i < 3 || pod->ready;
        cli_putf(out, "%s{\"type\":\"%s\",\"status\":\"%s\",\"lastProbeTime\":null,%s",
                 i != 0 ? "," : "", types[i], holds ? "True" : "False",
                 holds ? "" : "\"reason\":\"ContainersNotReady\",");
        cli_put(out, "\"lastTransitionTime\":");
        put_time(world, (int64_t)(600 * MINUTE - pod->restarts), out);
        cli_put_char(out, '}');
    }
}

static void put_pod_status(const demo_world *world, const demo_pod *pod, const char *app,
                           ki_buf *out)
{
    unsigned int low = (unsigned int)(pod->number % 250) + 2;
    cli_putf(out,
             "\"status\":{\"phase\":\"%s\",\"qosClass\":\"Burstable\",\"hostIP\":\"192.168.%u.%u\","
             "\"podIP\":\"10.%u.%u.%u\",\"podIPs\":[{\"ip\":\"10.%u.%u.%u\"}],\"startTime\":",
             pod->ready ? "Running" : "Pending", pod->node / 256, pod->node % 256, pod->node / 256,
             pod->node % 256, low, pod->node / 256, pod->node % 256, low);
    put_time(world, 600L * MINUTE, out);
    cli_put(out, ",\"conditions\":[");
    put_pod_conditions(world, pod, out);
    cli_putf(out,
             "],\"containerStatuses\":[{\"name\":\"%s\",\"ready\":%s,\"started\":%s,"
             "\"restartCount\":%u,\"image\":\"registry.example.com/%s:1.0.0\",\"imageID\":"
             "\"registry.example.com/%s@sha256:%016llx%016llx\",\"containerID\":"
             "\"containerd://%016llx%016llx\",\"state\":{\"running\":{\"startedAt\":",
             app, pod->ready ? "true" : "false", pod->ready ? "true" : "false", pod->restarts, app,
             app, (unsigned long long)mix(pod->deployment),
             (unsigned long long)mix(pod->deployment + 1), (unsigned long long)mix(pod->number),
             (unsigned long long)mix(pod->number + pod->restarts));
    put_time(world, (int64_t)(600 * MINUTE - pod->restarts), out);
    cli_put(out, "}},\"lastState\":{}}]}}");
}

void demo_world_put_pod(const demo_world *world, const demo_pod *pod, ki_buf *out)
{
    const char *name_space = demo_world_namespace_of_pod(pod);
    char app[DEMO_NAME_MAX];
    char node[DEMO_NAME_MAX];
    name_deployment(pod->deployment, app);
    demo_world_name_node(pod->node, node);
    ki_buf_clear(out);
    put_pod_head(pod, name_space, app, out);
    cli_put(out, "\"spec\":{\"containers\":[");
    put_container(app, name_space, world->deployments[pod->deployment].revision, out);
    cli_putf(out,
             "],\"nodeName\":\"%s\",\"serviceAccountName\":\"default\",\"restartPolicy\":"
             "\"Always\",\"dnsPolicy\":\"ClusterFirst\",\"schedulerName\":\"default-scheduler\","
             "\"terminationGracePeriodSeconds\":30,\"enableServiceLinks\":true,\"priority\":0,"
             "\"preemptionPolicy\":\"PreemptLowerPriority\",\"securityContext\":{},"
             "\"tolerations\":[{\"key\":\"node.kubernetes.io/not-ready\",\"operator\":\"Exists\","
             "\"effect\":\"NoExecute\",\"tolerationSeconds\":300}],\"volumes\":[{\"name\":"
             "\"settings\",\"configMap\":{\"name\":\"settings-1\",\"defaultMode\":420}}]},",
             node);
    put_pod_status(world, pod, app, out);
}

void demo_world_put_map(const demo_world *world, const demo_map *map, ki_buf *out)
{
    char name[DEMO_NAME_MAX];
    (void)world;
    demo_world_name_map(map, name);
    ki_buf_clear(out);
    cli_putf(out,
             "{\"apiVersion\":\"v1\",\"kind\":\"ConfigMap\",\"metadata\":{\"name\":\"%s\","
             "\"namespace\":\"%s\",\"labels\":{\"app\":\"%s\"}},\"data\":{\"version\":\"%u\","
             "\"log.level\":\"%s\",\"settings.yaml\":\"listen: :8080\\ncache:\\n  size: %u\\n"
             "  ttl: 30s\\nfeatures: [search, basket]\\n\"}}",
             name, demo_world_namespace_of_map(map), apps[map->number % APPS], map->version,
             map->version % 5 == 0 ? "debug" : "info", 100 + map->version);
}
