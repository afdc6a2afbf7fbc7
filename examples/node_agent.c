/* SPDX-License-Identifier: Apache-2.0 */
/* kinformer in a node agent: the pods of one node, reduced to the used fields, without threads, in
 * the agent's own loop. Prints the addresses of the pods until its input ends.
 *
 * Usage: node_agent NODE */
#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <unistd.h>

#include <kinformer/kinds.h>
#include <kinformer/kinformer.h>
#include <kinformer/loop.h>

/* ---- a small cache ---- */

/* Called for each pod before it is stored; returns a smaller object to store instead. Name,
 * namespace, uid and resourceVersion must be kept. */
static int keep_little(const ki_object *pod, ki_object **ret_pod, void *user)
{
    (void)user;
    ki_value labels = ki_object_labels(pod);
    ki_value address = ki_object_at(pod, "status.podIP");
    ki_json *j = NULL;
    int r = ki_json_new(NULL, &j, NULL);
    ki_json_begin_map(j, NULL);
    ki_json_string(j, "apiVersion", "v1");
    ki_json_string(j, "kind", "Pod");
    ki_json_begin_map(j, "metadata");
    ki_json_string(j, "namespace", ki_object_namespace(pod));
    ki_json_string(j, "name", ki_object_name(pod));
    ki_json_string(j, "uid", ki_object_uid(pod));
    ki_json_string(j, "resourceVersion", ki_object_resource_version(pod));
    ki_json_value(j, "labels", &labels); /* without labels: no member */
    ki_json_end(j);
    ki_json_begin_map(j, "status");
    ki_json_value(j, "podIP", &address);
    ki_json_end(j);
    ki_json_end(j);
    r = r < 0 ? r : ki_json_object(j, ret_pod, NULL); /* reports the first error of all calls */
    ki_json_unref(j);
    return r;
}

/* ---- what the agent does ---- */

/* Handlers run on the loop, since there are no threads: they must not block. */
static void print_pod(const char *sign, const ki_object *pod)
{
    ki_str address = ki_pod_ip(pod);
    address = address.len != 0 ? address : ki_str_from("without an address");
    printf("%s %s %.*s\n", sign, ki_object_key(pod), KI_STR_ARG(address));
}

static void on_add(const ki_object *pod, bool is_initial, void *user)
{
    (void)is_initial;
    (void)user;
    print_pod("+", pod);
}

static void on_update(const ki_object *old, const ki_object *pod, void *user)
{
    (void)user;
    bool same = ki_str_eq(ki_pod_ip(old), ki_pod_ip(pod));
    if (!same) {
        print_pod("~", pod);
    }
}

static void on_delete(const ki_object *pod, bool final_state_unknown, void *user)
{
    (void)final_state_unknown;
    (void)user;
    print_pod("-", pod);
}

/* ---- a loop of one's own ---- */

typedef struct agent {
    ki_loop *loop;
    ki_client *client;
    ki_factory *factory;
    char field_selector[320];
} agent;

static void configure(const ki_resource *resource, ki_informer_options *options, void *user)
{
    (void)resource;
    agent *a = user;
    options->field_selector = a->field_selector;
}

static int begin(agent *a, ki_error *error)
{
    ki_handler handler = {.on_add = on_add, .on_update = on_update, .on_delete = on_delete};
    ki_client_options client = KI_OPTIONS_INIT(ki_client_options);
    ki_factory_options factory = KI_OPTIONS_INIT(ki_factory_options);
    ki_informer *pods = NULL;
    int r = ki_loop_new(KI_OPTIONS(ki_loop_options, .no_threads = true), &a->loop, error);
    client.loop = a->loop;
    r = r < 0 ? r : ki_client_new(&client, &a->client, error);
    factory.configure = configure;
    factory.transform = keep_little;
    factory.user = a;
    r = r < 0 ? r : ki_client_factory(a->client, &factory, &a->factory, error);
    r = r < 0 ? r : ki_factory_informer(a->factory, KI_CORE_V1_PODS, NULL, &pods, error);
    r = r < 0 ? r : ki_informer_add_handler(pods, &handler, NULL, NULL, error);
    return r < 0 ? r : ki_factory_start(a->factory, error);
}

/* kinformer adds a single descriptor to the program's own. */
static int run(agent *a)
{
    struct pollfd fds[] = {{.fd = ki_loop_fd(a->loop), .events = POLLIN},
                           {.fd = STDIN_FILENO, .events = POLLIN}};
    int r = 0;
    while (r >= 0 && fds[1].revents == 0) {
        if (poll(fds, 2, -1) < 0) {
            r = errno == EINTR ? 0 : -errno;
        } else if (fds[0].revents != 0) {
            r = ki_loop_dispatch(a->loop);
        }
    }
    return r;
}

/* Shutdown happens on the loop as well: run it until everything is stopped. */
static void end(agent *a)
{
    struct pollfd fd = {.fd = a->loop != NULL ? ki_loop_fd(a->loop) : -1, .events = POLLIN};
    if (a->factory != NULL) {
        ki_factory_stop(a->factory);
        int r = 0;
        while (r >= 0 && !ki_factory_is_stopped(a->factory)) {
            (void)poll(&fd, 1, -1);
            r = ki_loop_dispatch(a->loop);
        }
    }
    ki_factory_unref(a->factory);
    ki_client_unref(a->client);
    ki_loop_unref(a->loop);
}

int main(int argc, char **argv)
{
    agent a = {0};
    ki_error error = KI_ERROR_INIT;
    setvbuf(stdout, NULL, _IOLBF, 0);
    (void)snprintf(a.field_selector, sizeof(a.field_selector), "spec.nodeName=%s",
                   argc > 1 ? argv[1] : "node-1");
    int r = begin(&a, &error);
    if (r < 0) {
        fprintf(stderr, "%s: %s\n", ki_error_name(r), error.message);
    } else {
        r = run(&a);
    }
    end(&a);
    return r < 0;
}
