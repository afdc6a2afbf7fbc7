/* SPDX-License-Identifier: Apache-2.0 */
/* Pod texts from a template. "@x" in it becomes the field `x` of the pod, one letter each; see
 * fill_fields(). The order of members is an API server's. Nothing in it names a real program,
 * registry or host. */
#include "support/pod.h"

#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "support/bench.h"

/* The fields of one pod, by letter. */
typedef struct fields {
    char text[BENCH_POD_LETTERS][64]; /* ['a' - 'a'] and on */
} fields;

/* clang-format off */
static const char *const head_parts[] = {
    "{\"kind\":\"Pod\",\"apiVersion\":\"v1\",\"metadata\":{\"name\":\"@n\","
    "\"generateName\":\"web-@h-\",\"namespace\":\"@m\",\"uid\":\"@u\","
    "\"resourceVersion\":\"@v\",\"generation\":1,\"creationTimestamp\":\"@c\",\"labels\":{"
    "\"app.kubernetes.io/component\":\"frontend\",\"app.kubernetes.io/instance\":\"web-@m\","
    "\"app.kubernetes.io/name\":\"web\",\"app.kubernetes.io/version\":\"4.17.@d\","
    "\"pod-template-hash\":\"@h\",\"tier\":\"@t\"},\"annotations\":{"
    "\"example.com/config-checksum\":\"@x\",\"example.com/scrape\":\"true\","
    "\"example.com/scrape-port\":\"9102\",\"example.com/sidecar-status\":\"{"
    "\\\"revision\\\":\\\"r-@q\\\",\\\"containers\\\":[\\\"proxy\\\"],\\\"volumes\\\":["
    "\\\"proxy-config\\\"],\\\"pullSecrets\\\":null}\",\"kubectl.kubernetes.io/restartedAt\":\""
    "@c\"",
};

/* What a network plugin writes about a pod. */
static const char *const network_parts[] = {
    ",\"network.example.com/status\":\"[{\\n    \\\"name\\\": \\\"main\\\",\\n    "
    "\\\"interface\\\": \\\"eth0\\\",\\n    \\\"ips\\\": [\\n        \\\"@i\\\"\\n    ],\\n    "
    "\\\"mac\\\": \\\"@w\\\",\\n    \\\"mtu\\\": 1450,\\n    \\\"default\\\": true,\\n    "
    "\\\"gateway\\\": [\\n        \\\"@p\\\"\\n    ],\\n    \\\"dns\\\": {\\n        "
    "\\\"search\\\": [\\n            \\\"@m.svc.cluster.example\\\",\\n            "
    "\\\"svc.cluster.example\\\",\\n            \\\"cluster.example\\\"\\n        ]\\n    }\\n"
    "}]\",\"network.example.com/networks\":\"main\"",
};

static const char *const owner_parts[] = {
    "},\"ownerReferences\":[{\"apiVersion\":\"apps/v1\",\"kind\":\"ReplicaSet\","
    "\"name\":\"web-@h\",\"uid\":\"@o\",\"controller\":true,\"blockOwnerDeletion\":true}]",
};

static const char *const small_parts[] = {
    "},\"spec\":{\"nodeName\":\"@k\"},\"status\":{\"phase\":\"Running\",\"hostIP\":\"@p\","
    "\"podIP\":\"@i\",\"startTime\":\"@c\"}}",
};

static const char *const managed_parts[] = {
    ",\"managedFields\":[{\"manager\":\"kube-controller-manager\",\"operation\":\"Update\","
    "\"apiVersion\":\"v1\",\"time\":\"@c\",\"fieldsType\":\"FieldsV1\",\"fieldsV1\":{"
    "\"f:metadata\":{\"f:annotations\":{\".\":{},\"f:example.com/config-checksum\":{},"
    "\"f:example.com/scrape\":{},\"f:example.com/scrape-port\":{},\"f:example.com/sidecar-statu"
    "s\":{},\"f:kubectl.kubernetes.io/restartedAt\":{}},\"f:generateName\":{},\"f:labels\":{"
    "\".\":{},\"f:app.kubernetes.io/component\":{},\"f:app.kubernetes.io/instance\":{},"
    "\"f:app.kubernetes.io/name\":{},\"f:app.kubernetes.io/version\":{},"
    "\"f:pod-template-hash\":{},\"f:tier\":{}},\"f:ownerReferences\":{\".\":{},\"k:{"
    "\\\"uid\\\":\\\"@o\\\"}\":{}}},\"f:spec\":{\"f:affinity\":{\".\":{},"
    "\"f:podAntiAffinity\":{\".\":{},\"f:preferredDuringSchedulingIgnoredDuringExecution\":{"
    "}}},\"f:containers\":{\"k:{\\\"name\\\":\\\"proxy\\\"}\":{\".\":{},\"f:args\":{},"
    "\"f:image\":{},\"f:imagePullPolicy\":{},\"f:name\":{},\"f:ports\":{\".\":{},\"k:{"
    "\\\"containerPort\\\":9102,\\\"protocol\\\":\\\"TCP\\\"}\":{\".\":{},\"f:containerPort\":{"
    "},\"f:name\":{},\"f:protocol\":{}}},\"f:readinessProbe\":{\".\":{},"
    "\"f:failureThreshold\":{},\"f:httpGet\":{\".\":{},\"f:path\":{},\"f:port\":{},"
    "\"f:scheme\":{}},\"f:periodSeconds\":{},\"f:successThreshold\":{},\"f:timeoutSeconds\":{"
    "}},\"f:resources\":{\".\":{},\"f:limits\":{\".\":{},\"f:memory\":{}},\"f:requests\":{"
    "\".\":{},\"f:cpu\":{},\"f:memory\":{}}},\"f:securityContext\":{\".\":{},"
    "\"f:allowPrivilegeEscalation\":{},\"f:readOnlyRootFilesystem\":{}},"
    "\"f:terminationMessagePath\":{},\"f:terminationMessagePolicy\":{},\"f:volumeMounts\":{"
    "\".\":{},\"k:{\\\"mountPath\\\":\\\"/etc/proxy\\\"}\":{\".\":{},\"f:mountPath\":{},"
    "\"f:name\":{},\"f:readOnly\":{}}}},",
    "\"k:{\\\"name\\\":\\\"server\\\"}\":{\".\":{},\"f:args\":{},\"f:command\":{},\"f:env\":{"
    "\".\":{},\"k:{\\\"name\\\":\\\"CACHE_SIZE\\\"}\":{\".\":{},\"f:name\":{},\"f:value\":{}},"
    "\"k:{\\\"name\\\":\\\"DATABASE_URL\\\"}\":{\".\":{},\"f:name\":{},\"f:valueFrom\":{\".\":{"
    "},\"f:secretKeyRef\":{}}},\"k:{\\\"name\\\":\\\"LOG_LEVEL\\\"}\":{\".\":{},\"f:name\":{},"
    "\"f:value\":{}},\"k:{\\\"name\\\":\\\"POD_IP\\\"}\":{\".\":{},\"f:name\":{},"
    "\"f:valueFrom\":{\".\":{},\"f:fieldRef\":{}}},\"k:{\\\"name\\\":\\\"POD_NAME\\\"}\":{"
    "\".\":{},\"f:name\":{},\"f:valueFrom\":{\".\":{},\"f:fieldRef\":{}}},\"k:{"
    "\\\"name\\\":\\\"POD_NAMESPACE\\\"}\":{\".\":{},\"f:name\":{},\"f:valueFrom\":{\".\":{},"
    "\"f:fieldRef\":{}}}},\"f:image\":{},\"f:imagePullPolicy\":{},\"f:livenessProbe\":{\".\":{"
    "},\"f:failureThreshold\":{},\"f:httpGet\":{\".\":{},\"f:path\":{},\"f:port\":{},"
    "\"f:scheme\":{}},\"f:initialDelaySeconds\":{},\"f:periodSeconds\":{},"
    "\"f:successThreshold\":{},\"f:timeoutSeconds\":{}},\"f:name\":{},\"f:ports\":{\".\":{},"
    "\"k:{\\\"containerPort\\\":8080,\\\"protocol\\\":\\\"TCP\\\"}\":{\".\":{},"
    "\"f:containerPort\":{},\"f:name\":{},\"f:protocol\":{}}},\"f:readinessProbe\":{\".\":{},"
    "\"f:failureThreshold\":{},\"f:httpGet\":{\".\":{},\"f:path\":{},\"f:port\":{},"
    "\"f:scheme\":{}},\"f:periodSeconds\":{},\"f:successThreshold\":{},\"f:timeoutSeconds\":{"
    "}},\"f:resources\":{\".\":{},\"f:limits\":{\".\":{},\"f:cpu\":{},\"f:memory\":{}},"
    "\"f:requests\":{\".\":{},\"f:cpu\":{},\"f:memory\":{}}},\"f:securityContext\":{\".\":{},"
    "\"f:allowPrivilegeEscalation\":{},\"f:capabilities\":{\".\":{},\"f:drop\":{}},"
    "\"f:readOnlyRootFilesystem\":{}},\"f:startupProbe\":{\".\":{},\"f:failureThreshold\":{},"
    "\"f:httpGet\":{\".\":{},\"f:path\":{},\"f:port\":{},\"f:scheme\":{}},\"f:periodSeconds\":{"
    "},\"f:successThreshold\":{},\"f:timeoutSeconds\":{}},\"f:terminationMessagePath\":{},"
    "\"f:terminationMessagePolicy\":{},\"f:volumeMounts\":{\".\":{},\"k:{"
    "\\\"mountPath\\\":\\\"/etc/web\\\"}\":{\".\":{},\"f:mountPath\":{},\"f:name\":{},"
    "\"f:readOnly\":{}},\"k:{\\\"mountPath\\\":\\\"/var/cache/web\\\"}\":{\".\":{},"
    "\"f:mountPath\":{},\"f:name\":{}}}}},",
    "\"f:dnsPolicy\":{},\"f:enableServiceLinks\":{},\"f:restartPolicy\":{},"
    "\"f:schedulerName\":{},\"f:securityContext\":{\".\":{},\"f:fsGroup\":{},"
    "\"f:runAsNonRoot\":{},\"f:runAsUser\":{}},\"f:serviceAccount\":{},"
    "\"f:serviceAccountName\":{},\"f:terminationGracePeriodSeconds\":{},"
    "\"f:topologySpreadConstraints\":{\".\":{},\"k:{\\\"topologyKey\\\":\\\"topology.kubernetes"
    ".io/zone\\\",\\\"whenUnsatisfiable\\\":\\\"ScheduleAnyway\\\"}\":{\".\":{},"
    "\"f:labelSelector\":{},\"f:maxSkew\":{},\"f:topologyKey\":{},\"f:whenUnsatisfiable\":{}}},"
    "\"f:volumes\":{\".\":{},\"k:{\\\"name\\\":\\\"cache\\\"}\":{\".\":{},\"f:emptyDir\":{"
    "\".\":{},\"f:sizeLimit\":{}},\"f:name\":{}},\"k:{\\\"name\\\":\\\"config\\\"}\":{\".\":{},"
    "\"f:configMap\":{\".\":{},\"f:defaultMode\":{},\"f:name\":{}},\"f:name\":{}},\"k:{"
    "\\\"name\\\":\\\"proxy-config\\\"}\":{\".\":{},\"f:configMap\":{\".\":{},"
    "\"f:defaultMode\":{},\"f:name\":{}},\"f:name\":{}}}}}},{\"manager\":\"kubelet\","
    "\"operation\":\"Update\",\"apiVersion\":\"v1\",\"time\":\"@e\","
    "\"fieldsType\":\"FieldsV1\",\"fieldsV1\":{\"f:status\":{\"f:conditions\":{\"k:{"
    "\\\"type\\\":\\\"ContainersReady\\\"}\":{\".\":{},\"f:lastProbeTime\":{},"
    "\"f:lastTransitionTime\":{},\"f:status\":{},\"f:type\":{}},\"k:{"
    "\\\"type\\\":\\\"Initialized\\\"}\":{\".\":{},\"f:lastProbeTime\":{},"
    "\"f:lastTransitionTime\":{},\"f:status\":{},\"f:type\":{}},\"k:{"
    "\\\"type\\\":\\\"Ready\\\"}\":{\".\":{},\"f:lastProbeTime\":{},\"f:lastTransitionTime\":{"
    "},\"f:status\":{},\"f:type\":{}}},\"f:containerStatuses\":{},\"f:hostIP\":{},"
    "\"f:hostIPs\":{},\"f:phase\":{},\"f:podIP\":{},\"f:podIPs\":{\".\":{},\"k:{"
    "\\\"ip\\\":\\\"@i\\\"}\":{\".\":{},\"f:ip\":{}}},\"f:startTime\":{}}},"
    "\"subresource\":\"status\"}]",
};

static const char *const spec_parts[] = {
    "},\"spec\":{\"volumes\":[{\"name\":\"config\",\"configMap\":{\"name\":\"web-config\","
    "\"defaultMode\":420}},{\"name\":\"proxy-config\",\"configMap\":{\"name\":\"web-proxy\","
    "\"defaultMode\":420}},{\"name\":\"cache\",\"emptyDir\":{\"sizeLimit\":\"512Mi\"}},{"
    "\"name\":\"kube-api-access-@q\",\"projected\":{\"sources\":[{\"serviceAccountToken\":{"
    "\"expirationSeconds\":3607,\"path\":\"token\"}},{\"configMap\":{"
    "\"name\":\"kube-root-ca.crt\",\"items\":[{\"key\":\"ca.crt\",\"path\":\"ca.crt\"}]}},{"
    "\"downwardAPI\":{\"items\":[{\"path\":\"namespace\",\"fieldRef\":{\"apiVersion\":\"v1\","
    "\"fieldPath\":\"metadata.namespace\"}}]}}],\"defaultMode\":420}}],\"containers\":[{"
    "\"name\":\"server\",\"image\":\"registry.example/shop/web:4.17.@d\",\"command\":["
    "\"/usr/bin/web\"],\"args\":[\"--listen=0.0.0.0:8080\",\"--config=/etc/web/web.yaml\","
    "\"--cache-dir=/var/cache/web\",\"--shutdown-grace=20s\"],\"ports\":[{\"name\":\"http\","
    "\"containerPort\":8080,\"protocol\":\"TCP\"}],\"env\":[{\"name\":\"LOG_LEVEL\","
    "\"value\":\"info\"},{\"name\":\"CACHE_SIZE\",\"value\":\"268435456\"},{"
    "\"name\":\"DATABASE_URL\",\"valueFrom\":{\"secretKeyRef\":{\"name\":\"web-database\","
    "\"key\":\"url\"}}},{\"name\":\"POD_NAME\",\"valueFrom\":{\"fieldRef\":{"
    "\"apiVersion\":\"v1\",\"fieldPath\":\"metadata.name\"}}},{\"name\":\"POD_NAMESPACE\","
    "\"valueFrom\":{\"fieldRef\":{\"apiVersion\":\"v1\",\"fieldPath\":\"metadata.namespace\"}}}"
    ",{\"name\":\"POD_IP\",\"valueFrom\":{\"fieldRef\":{\"apiVersion\":\"v1\","
    "\"fieldPath\":\"status.podIP\"}}}],\"resources\":{\"limits\":{\"cpu\":\"2\","
    "\"memory\":\"1Gi\"},\"requests\":{\"cpu\":\"250m\",\"memory\":\"512Mi\"}},"
    "\"volumeMounts\":[{\"name\":\"config\",\"readOnly\":true,\"mountPath\":\"/etc/web\"},{"
    "\"name\":\"cache\",\"mountPath\":\"/var/cache/web\"},{\"name\":\"kube-api-access-@q\","
    "\"readOnly\":true,\"mountPath\":\"/var/run/secrets/kubernetes.io/serviceaccount\"}],"
    "\"livenessProbe\":{\"httpGet\":{\"path\":\"/healthz\",\"port\":8080,\"scheme\":\"HTTP\"},"
    "\"initialDelaySeconds\":10,\"timeoutSeconds\":1,\"periodSeconds\":10,"
    "\"successThreshold\":1,\"failureThreshold\":3},\"readinessProbe\":{\"httpGet\":{"
    "\"path\":\"/ready\",\"port\":8080,\"scheme\":\"HTTP\"},\"timeoutSeconds\":1,"
    "\"periodSeconds\":5,\"successThreshold\":1,\"failureThreshold\":3},",
    "\"startupProbe\":{\"httpGet\":{\"path\":\"/started\",\"port\":8080,\"scheme\":\"HTTP\"},"
    "\"timeoutSeconds\":1,\"periodSeconds\":2,\"successThreshold\":1,\"failureThreshold\":60},"
    "\"terminationMessagePath\":\"/dev/termination-log\",\"terminationMessagePolicy\":\"File\","
    "\"imagePullPolicy\":\"IfNotPresent\",\"securityContext\":{\"capabilities\":{\"drop\":["
    "\"ALL\"]},\"readOnlyRootFilesystem\":true,\"allowPrivilegeEscalation\":false}},{"
    "\"name\":\"proxy\",\"image\":\"registry.example/net/proxy:2.9.3\",\"args\":["
    "\"--config=/etc/proxy/proxy.yaml\",\"--metrics=:9102\"],\"ports\":[{\"name\":\"metrics\","
    "\"containerPort\":9102,\"protocol\":\"TCP\"}],\"resources\":{\"limits\":{"
    "\"memory\":\"128Mi\"},\"requests\":{\"cpu\":\"50m\",\"memory\":\"64Mi\"}},"
    "\"volumeMounts\":[{\"name\":\"proxy-config\",\"readOnly\":true,"
    "\"mountPath\":\"/etc/proxy\"},{\"name\":\"kube-api-access-@q\",\"readOnly\":true,"
    "\"mountPath\":\"/var/run/secrets/kubernetes.io/serviceaccount\"}],\"readinessProbe\":{"
    "\"httpGet\":{\"path\":\"/ready\",\"port\":9102,\"scheme\":\"HTTP\"},\"timeoutSeconds\":1,"
    "\"periodSeconds\":5,\"successThreshold\":1,\"failureThreshold\":3},"
    "\"terminationMessagePath\":\"/dev/termination-log\",\"terminationMessagePolicy\":\"File\","
    "\"imagePullPolicy\":\"IfNotPresent\",\"securityContext\":{\"readOnlyRootFilesystem\":true,"
    "\"allowPrivilegeEscalation\":false}}],\"restartPolicy\":\"Always\","
    "\"terminationGracePeriodSeconds\":30,\"dnsPolicy\":\"ClusterFirst\","
    "\"serviceAccountName\":\"web\",\"serviceAccount\":\"web\",\"nodeName\":\"@k\","
    "\"securityContext\":{\"runAsUser\":10001,\"runAsNonRoot\":true,\"fsGroup\":10001},"
    "\"affinity\":{\"podAntiAffinity\":{\"preferredDuringSchedulingIgnoredDuringExecution\":[{"
    "\"weight\":100,\"podAffinityTerm\":{\"labelSelector\":{\"matchLabels\":{"
    "\"app.kubernetes.io/name\":\"web\"}},\"topologyKey\":\"kubernetes.io/hostname\"}}]}},"
    "\"schedulerName\":\"default-scheduler\",\"tolerations\":[{\"key\":\"node.kubernetes.io/not"
    "-ready\",\"operator\":\"Exists\",\"effect\":\"NoExecute\",\"tolerationSeconds\":300},{"
    "\"key\":\"node.kubernetes.io/unreachable\",\"operator\":\"Exists\","
    "\"effect\":\"NoExecute\",\"tolerationSeconds\":300}],\"priority\":0,"
    "\"enableServiceLinks\":true,\"preemptionPolicy\":\"PreemptLowerPriority\","
    "\"topologySpreadConstraints\":[{\"maxSkew\":1,\"topologyKey\":\"topology.kubernetes.io/zon"
    "e\",\"whenUnsatisfiable\":\"ScheduleAnyway\",\"labelSelector\":{\"matchLabels\":{"
    "\"app.kubernetes.io/name\":\"web\"}}}]},",
};

static const char *const status_parts[] = {
    "\"status\":{\"phase\":\"Running\",\"conditions\":[{\"type\":\"Initialized\","
    "\"status\":\"True\",\"lastProbeTime\":null,\"lastTransitionTime\":\"@c\"},{"
    "\"type\":\"Ready\",\"status\":\"True\",\"lastProbeTime\":null,"
    "\"lastTransitionTime\":\"@e\"},{\"type\":\"ContainersReady\",\"status\":\"True\","
    "\"lastProbeTime\":null,\"lastTransitionTime\":\"@e\"},{\"type\":\"PodScheduled\","
    "\"status\":\"True\",\"lastProbeTime\":null,\"lastTransitionTime\":\"@c\"}],"
    "\"hostIP\":\"@p\",\"hostIPs\":[{\"ip\":\"@p\"}],\"podIP\":\"@i\",\"podIPs\":[{"
    "\"ip\":\"@i\"}],\"startTime\":\"@c\",\"containerStatuses\":[{\"name\":\"proxy\","
    "\"state\":{\"running\":{\"startedAt\":\"@e\"}},\"lastState\":{},\"ready\":true,"
    "\"restartCount\":0,\"image\":\"registry.example/net/proxy:2.9.3\","
    "\"imageID\":\"registry.example/net/proxy@@sha256:5b0f3c1e97d24a6880c1f7e2d49ab35d6e21f80b7"
    "c9d4e13a2f65870bcd91e34\",\"containerID\":\"containerd://@x@z\",\"started\":true},{"
    "\"name\":\"server\",\"state\":{\"running\":{\"startedAt\":\"@e\"}},\"lastState\":{"
    "\"terminated\":{\"exitCode\":137,\"reason\":\"OOMKilled\",\"startedAt\":\"@c\","
    "\"finishedAt\":\"@e\",\"containerID\":\"containerd://@z@x\"}},\"ready\":true,"
    "\"restartCount\":@r,\"image\":\"registry.example/shop/web:4.17.@d\","
    "\"imageID\":\"registry.example/shop/web@@sha256:c47a9d02e6f15b83a0d97c6412e8fb5073de61a98c"
    "2045bf7e1380d9a6c5f2b1\",\"containerID\":\"containerd://@y@x\",\"started\":true}],"
    "\"qosClass\":\"Burstable\"}}",
};
/* clang-format on */

void bench_random_name(uint64_t bits, size_t count, char *text)
{
    static const char letters[] = "bcdfghjklmnpqrstvwxz2456789";
    for (size_t i = 0; i < count; i++) {
        text[i] = letters[bits % (sizeof(letters) - 1)];
        bits /= sizeof(letters) - 1;
    }
    text[count] = '\0';
}

/* A pod is of one of 64 replica sets in its namespace. */
static uint64_t set_of(const bench_pod *pod)
{
    return bench_mix(pod->ns * 64 + pod->number % 64);
}

static void pod_name(const bench_pod *pod, char *text, size_t size)
{
    char hash[16];
    char tail[16];
    bench_random_name(set_of(pod), 10, hash);
    bench_random_name(bench_mix(pod->number ^ (1ULL << 40)), 8, tail);
    (void)snprintf(text, size, "web-%s-%s", hash, tail);
}

void bench_uid_text(uint64_t seed, char *text, size_t size)
{
    uint64_t a = bench_mix(seed);
    uint64_t b = bench_mix(a);
    (void)snprintf(text, size, "%08x-%04x-4%03x-a%03x-%012" PRIx64, (unsigned)(a >> 32),
                   (unsigned)(a >> 16) & 0xffffU, (unsigned)a & 0xfffU,
                   (unsigned)(b >> 48) & 0xfffU, b >> 16);
}

static void time_text(uint64_t minutes, char *text, size_t size)
{
    (void)snprintf(text, size, "2026-10-%02uT%02u:%02u:%02uZ", (unsigned)(minutes / 1440 % 28 + 1),
                   (unsigned)(minutes / 60 % 24), (unsigned)(minutes % 60),
                   (unsigned)(minutes * 7 % 60));
}

#define FIELD(letter) f->text[(letter) - 'a'], sizeof(f->text[0])

static void fill_fields(const bench_pod *pod, fields *f)
{
    uint64_t r = bench_mix(pod->number + 1);
    memset(f, 0, sizeof(*f));
    pod_name(pod, FIELD('n'));
    bench_pod_namespace(pod->ns, FIELD('m'));
    bench_random_name(set_of(pod), 10, f->text['h' - 'a']);
    bench_random_name(r, 5, f->text['q' - 'a']);
    bench_uid_text(pod->number ^ (1ULL << 41), FIELD('u'));
    bench_uid_text(set_of(pod), FIELD('o'));
    time_text(r % 40000, FIELD('c'));
    time_text(r % 40000 + 1, FIELD('e'));
    (void)snprintf(FIELD('v'), "%" PRIu64, 100000000 + pod->number + pod->generation * 10000000);
    (void)snprintf(FIELD('d'), "%u", (unsigned)(set_of(pod) % 40));
    (void)snprintf(FIELD('t'), "%s", r % 4 == 0 ? "edge" : "front");
    (void)snprintf(FIELD('k'), "node-%u", (unsigned)(r % 997));
    (void)snprintf(FIELD('p'), "10.0.%u.%u", (unsigned)(r % 997 / 250), (unsigned)(r % 997 % 250));
    (void)snprintf(FIELD('i'), "10.%u.%u.%u", (unsigned)(64 + pod->number / 62500 % 64),
                   (unsigned)(pod->number / 250 % 250), (unsigned)(pod->number % 250 + 1));
    (void)snprintf(FIELD('x'), "%016" PRIx64 "%016" PRIx64, bench_mix(r), bench_mix(r + 1));
    (void)snprintf(FIELD('y'), "%016" PRIx64 "%016" PRIx64, bench_mix(r + 2), bench_mix(r + 3));
    (void)snprintf(FIELD('z'), "%016" PRIx64 "%016" PRIx64, bench_mix(r + 4), bench_mix(r + 5));
    (void)snprintf(FIELD('r'), "%u", (unsigned)(pod->generation % 100));
    (void)snprintf(FIELD('w'), "02:%02x:%02x:%02x:%02x:%02x", (unsigned)(r >> 8) & 0xffU,
                   (unsigned)(r >> 16) & 0xffU, (unsigned)(r >> 24) & 0xffU,
                   (unsigned)(r >> 32) & 0xffU, (unsigned)(r >> 40) & 0xffU);
}

static void put(char *text, size_t *len, const char *bytes, size_t count)
{
    if (count >= BENCH_POD_MAX - *len) {
        bench_fail("a pod is longer than BENCH_POD_MAX");
    }
    memcpy(text + *len, bytes, count);
    *len += count;
}

static void expand(const char *part, const char *const *values, char *text, size_t *len)
{
    for (;;) {
        size_t plain = strcspn(part, "@");
        put(text, len, part, plain);
        part += plain;
        if (*part == '\0') {
            return;
        }
        const char *value = part[1] == '@' ? "@" : values[part[1] - 'a'];
        put(text, len, value, strlen(value));
        part += 2;
    }
}

#define EXPAND_ALL(parts)                                                 \
    do {                                                                  \
        for (size_t i = 0; i < sizeof(parts) / sizeof((parts)[0]); i++) { \
            expand((parts)[i], values, text, &len);                       \
        }                                                                 \
    } while (false)

size_t bench_pod_expand(bench_pod_kind kind, const char *const *values, char *text)
{
    size_t len = 0;
    EXPAND_ALL(head_parts);
    if (kind == BENCH_POD_NETWORK) {
        EXPAND_ALL(network_parts);
    }
    EXPAND_ALL(owner_parts);
    if (kind == BENCH_POD_SMALL) {
        EXPAND_ALL(small_parts);
    } else {
        EXPAND_ALL(managed_parts);
        EXPAND_ALL(spec_parts);
        EXPAND_ALL(status_parts);
    }
    text[len] = '\0';
    return len;
}

size_t bench_pod_json(bench_pod_kind kind, const bench_pod *pod, char *text)
{
    fields f;
    const char *values[BENCH_POD_LETTERS];
    fill_fields(pod, &f);
    for (size_t i = 0; i < BENCH_POD_LETTERS; i++) {
        values[i] = f.text[i];
    }
    return bench_pod_expand(kind, values, text);
}

void bench_pod_key(const bench_pod *pod, char *key, size_t size)
{
    char ns[64];
    char name[64];
    bench_pod_namespace(pod->ns, ns, sizeof(ns));
    pod_name(pod, name, sizeof(name));
    (void)snprintf(key, size, "%s/%s", ns, name);
}

void bench_pod_namespace(uint64_t ns, char *text, size_t size)
{
    (void)snprintf(text, size, "team-%" PRIu64, ns);
}
