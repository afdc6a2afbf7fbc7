/* SPDX-License-Identifier: Apache-2.0 */
/* Three informers fill the queue of one controller with keys of Websites: changes of a Website add
 * its own key, those of a ConfigMap or a Deployment the key of their owner. Workers take a key,
 * compare the desired and the actual state, and write the difference; if there is none, they send
 * nothing. A key is reconciled again only when the caches have what was written for it. */
#include "controller.h"

#include <stdio.h>

#include <kinformer/api/apps_v1.h>

#include "website_views.h" /* by kinformer gen-views from crd.yaml; see CMakeLists.txt */

enum { WORKERS = 4, NAME_SIZE = 256, PAGE_BYTES = 60001 /* 15,000 characters in UTF-8 */ };

/* ---- the desired state ---- */

static void fill_config(ki_edit *edit, void *user)
{
    const ki_object *website = user;
    ki_value html = ki_object_at(website, KI_PATH(example_v1, Website, spec.html));
    ki_edit_add_owner(edit, website, true);
    ki_edit_set_label(edit, MANAGER_LABEL, MANAGER);
    ki_edit_remove(edit, "data");
    ki_edit_set_value(edit, "data['index.html']", &html);
}

/* Merged into what is there: fields that are not named here keep the defaults of the server. The
 * hash makes the Deployment replace its pods when the page changes. */
static void fill_deployment(ki_edit *edit, void *user)
{
    const ki_object *website = user;
    const char *name = ki_object_name(website);
    ki_example_v1_WebsiteSpec spec = ki_example_v1_Website_spec(ki_example_v1_Website_of(website));
    char page[PAGE_BYTES];
    char image[256];
    uint64_t hash = 0xcbf29ce484222325; /* FNV-1a */
    for (const char *p = ki_text_or(ki_example_v1_WebsiteSpec_html(spec), "", page, sizeof(page));
         *p; p++) {
        hash = (hash ^ (unsigned char)*p) * 0x100000001b3;
    }
    ki_edit_add_owner(edit, website, true);
    ki_edit_set_label(edit, MANAGER_LABEL, MANAGER);
    ki_edit_merge_format(
        edit,
        "{spec: {replicas: %jd, selector: {matchLabels: {website: %s}}, template: {"
        "  metadata: {labels: {website: %s}, annotations: {" HASH_ANNOTATION ": '%ju'}},"
        "  spec: {containers: [{name: 'web', image: %s, ports: [{containerPort: 80}],"
        "    volumeMounts: [{name: 'page', mountPath: '/usr/share/nginx/html'}]}],"
        "  volumes: [{name: 'page', configMap: {name: '%s" SUFFIX "'}}]}}}}",
        (intmax_t)ki_example_v1_WebsiteSpec_replicas(spec), name, name, (uintmax_t)hash,
        ki_text_or(ki_example_v1_WebsiteSpec_image(spec), "", image, sizeof(image)), name);
}

static void set_finalizer(ki_edit *edit, void *user)
{
    bool deleting = ki_object_is_deleting(user);
    (deleting ? ki_edit_remove_finalizer : ki_edit_add_finalizer)(edit, FINALIZER);
}

/* Ready once the Deployment has as many replicas as it should have, of the current page. */
static void fill_status(ki_edit *edit, void *user)
{
    const ki_object *const *objects = user; /* the Website and its Deployment */
    ki_apps_v1_Deployment deployment = ki_apps_v1_Deployment_of(objects[1]);
    ki_apps_v1_DeploymentStatus actual = ki_apps_v1_Deployment_status(deployment);
    int32_t wanted = ki_apps_v1_DeploymentSpec_replicas(ki_apps_v1_Deployment_spec(deployment));
    int32_t ready = ki_apps_v1_DeploymentStatus_readyReplicas(actual);
    int64_t observed = ki_apps_v1_DeploymentStatus_observedGeneration(actual);
    bool is_ready = ready >= wanted && observed >= ki_object_generation(objects[1]);
    char message[64];
    snprintf(message, sizeof(message), "%d of %d replicas ready", (int)ready, (int)wanted);
    ki_edit_set_int64(edit, "status.observedGeneration", ki_object_generation(objects[0]));
    ki_edit_set_int64(edit, KI_PATH(example_v1, Website, status.readyReplicas), ready);
    ki_edit_set_condition(edit, KI_OPTIONS(ki_condition, .type = "Ready", .message = message,
                                           .status = is_ready ? "True" : "False",
                                           .reason = is_ready ? "Serving" : "Waiting"));
}

/* ---- writing it ---- */

/* Creates or corrects a child of a Website. */
static int keep(website_controller *c, ki_informer *children, ki_mutate fill, ki_object *website,
                ki_object **ret_child, ki_error *error)
{
    char name[NAME_SIZE];
    snprintf(name, sizeof(name), "%s" SUFFIX, ki_object_name(website));
    KI_AUTO(ki_object) cached = ki_informer_get(children, ki_object_namespace(website), name);
    const ki_resource *resource = ki_informer_resource(children);
    int r = ki_client_create_or_patch(c->client, resource, ki_object_namespace(website), name,
                                      cached, fill, website, ret_child, error);
    if (r == KI_WRITTEN_CREATED) {
        ki_recorder_event(c->recorder, website, KI_EVENT_NORMAL, "Created", "Reconcile",
                          ki_resource_kind(resource));
    }
    return r;
}

/* Deletes a child, which the cache may not have yet; an object of others is kept. */
static int drop(website_controller *c, ki_informer *children, const ki_object *website,
                ki_error *error)
{
    const ki_resource *kind = ki_informer_resource(children);
    KI_AUTO(ki_object) child = NULL;
    char name[NAME_SIZE];
    snprintf(name, sizeof(name), "%s" SUFFIX, ki_object_name(website));
    int r = ki_client_get(c->client, kind, ki_object_namespace(website), name, &child, NULL, error);
    if (r >= 0 && ki_object_is_controlled_by(child, website)) {
        r = ki_client_delete_object(c->client, kind, child, NULL, error);
    }
    return r == KI_ERR_NOT_FOUND ? 0 : r;
}

/* ---- reconciling ---- */

static int clean_up(website_controller *c, ki_object *website, ki_error *error)
{
    if (!ki_object_has_finalizer(website, FINALIZER)) {
        return 0;
    }
    KI_TRY(drop(c, c->deployments, website, error));
    KI_TRY(drop(c, c->configs, website, error));
    int r = ki_client_modify(c->client, c->resource, website, NULL, set_finalizer, website, NULL,
                             error);
    return r == KI_ERR_NOT_FOUND ? 0 : r; /* done before; the cache is behind */
}

static int bring_about(website_controller *c, ki_object *cached, ki_error *error)
{
    KI_AUTO(ki_object) website = NULL;
    KI_AUTO(ki_object) deployment = NULL;
    KI_TRY(ki_client_modify(c->client, c->resource, cached, NULL, set_finalizer, cached, &website,
                            error));
    KI_TRY(keep(c, c->configs, fill_config, website, NULL, error));
    KI_TRY(keep(c, c->deployments, fill_deployment, website, &deployment, error));
    return ki_client_modify(c->client, c->resource, website, "status", fill_status,
                            (const ki_object *[]){website, deployment}, NULL, error);
}

/* Called by the controller for a key, never on two threads for the same key. */
static int reconcile(const char *key, uint64_t *retry_after_ms, ki_error *error, void *user)
{
    (void)retry_after_ms;
    website_controller *c = user;
    KI_AUTO(ki_object) website = ki_store_get(ki_informer_store(c->websites), key);
    int r = website == NULL                  ? 0
            : ki_object_is_deleting(website) ? clean_up(c, website, error)
                                             : bring_about(c, website, error);
    atomic_fetch_add(&c->reconciled, 1);
    return r;
}

static void on_error(const char *key, const ki_error *error, uint32_t failures, bool given_up,
                     void *user)
{
    atomic_fetch_add(&((website_controller *)user)->failed, 1);
    fprintf(stderr, "%s: %s (failure %u; %s)\n", key, error->message, (unsigned)failures,
            given_up ? "giving up" : "will retry");
}

/* ---- starting and ending ---- */

/* Creates an informer whose changes add the keys of Websites, or of those that own the objects. */
static int follow(website_controller *c, const ki_resource *resource, const ki_resource *owner,
                  ki_informer **ret_informer, ki_error *error)
{
    const char *selector = owner != NULL ? MANAGER_LABEL "=" MANAGER : NULL;
    KI_TRY(ki_client_informer(c->client, resource,
                              KI_OPTIONS(ki_informer_options, .label_selector = selector),
                              ret_informer, error));
    return ki_controller_watch(c->controller, *ret_informer,
                               KI_OPTIONS(ki_enqueue_options, .owner = owner), error);
}

int website_controller_add(website_controller *c, ki_manager *manager, ki_error *error)
{
    *c = (website_controller){.client = ki_manager_client(manager),
                              .recorder = ki_manager_recorder(manager)};
    KI_TRY(ki_resource_new(KI_OPTIONS(ki_resource_options, .group = "example.com", .version = "v1",
                                      .resource = "websites", .kind = "Website"),
                           &c->resource, error));
    KI_TRY(ki_manager_controller(manager,
                                 KI_OPTIONS(ki_controller_options, .name = "website", .user = c,
                                            .reconcile = reconcile, .on_error = on_error),
                                 WORKERS, &c->controller, error));
    KI_TRY(follow(c, c->resource, NULL, &c->websites, error));
    KI_TRY(follow(c, KI_CORE_V1_CONFIGMAPS, c->resource, &c->configs, error));
    return follow(c, KI_APPS_V1_DEPLOYMENTS, c->resource, &c->deployments, error);
}

void website_controller_done(website_controller *c)
{
    ki_informer_unref(c->deployments);
    ki_informer_unref(c->configs);
    ki_informer_unref(c->websites);
    ki_resource_unref(c->resource);
}
