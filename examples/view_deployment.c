/* SPDX-License-Identifier: Apache-2.0 */
/* Whether a deployment is rolled out, by typed views over three API groups: apps, core and meta. */
#include <stdio.h>

#include <kinformer/api/apps_v1.h>
#include <kinformer/kinformer.h>

static const char json[] =
    "{\"apiVersion\":\"apps/v1\",\"kind\":\"Deployment\","
    "\"metadata\":{\"name\":\"web\",\"namespace\":\"shop\",\"generation\":7},"
    "\"spec\":{\"replicas\":4,\"strategy\":{\"type\":\"RollingUpdate\","
    "\"rollingUpdate\":{\"maxSurge\":\"25%\",\"maxUnavailable\":1}},"
    "\"template\":{\"spec\":{\"containers\":[{\"name\":\"app\",\"image\":\"app:1.4\"}]}}},"
    "\"status\":{\"observedGeneration\":7,\"updatedReplicas\":4,\"availableReplicas\":3}}";

/* A percentage counts of `replicas`. */
static int32_t share(ki_int_or_string limit, int32_t replicas)
{
    int percent = 0;
    char text[16];
    if (!limit.is_string) {
        return limit.number;
    }
    return sscanf(ki_text_or(limit.text, "", text, sizeof(text)), "%d%%", &percent) == 1
               ? (replicas * percent + 99) / 100
               : 0;
}

static void print_rollout(ki_apps_v1_Deployment deployment)
{
    ki_apps_v1_DeploymentSpec spec = ki_apps_v1_Deployment_spec(deployment);
    ki_apps_v1_DeploymentStatus status = ki_apps_v1_Deployment_status(deployment);
    ki_meta_v1_ObjectMeta metadata = ki_apps_v1_Deployment_metadata(deployment);
    ki_apps_v1_RollingUpdateDeployment rolling =
        ki_apps_v1_DeploymentStrategy_rollingUpdate(ki_apps_v1_DeploymentSpec_strategy(spec));
    int32_t replicas = 1; /* what the API server would set */
    if (ki_apps_v1_DeploymentSpec_has_replicas(spec)) {
        replicas = ki_apps_v1_DeploymentSpec_replicas(spec);
    }
    bool observed = ki_apps_v1_DeploymentStatus_observedGeneration(status) >=
                    ki_meta_v1_ObjectMeta_generation(metadata);

    printf("observed: %d, updated: %d of %d, available: %d\n", observed,
           ki_apps_v1_DeploymentStatus_updatedReplicas(status), replicas,
           ki_apps_v1_DeploymentStatus_availableReplicas(status));
    printf("at most %d more and %d fewer\n",
           share(ki_apps_v1_RollingUpdateDeployment_maxSurge(rolling), replicas),
           share(ki_apps_v1_RollingUpdateDeployment_maxUnavailable(rolling), replicas));
}

static void print_images(ki_core_v1_PodTemplateSpec template)
{
    ki_core_v1_Container_list containers =
        ki_core_v1_PodSpec_containers(ki_core_v1_PodTemplateSpec_spec(template));
    printf("%zu container\n", ki_core_v1_Container_list_count(containers));
    KI_EACH(ki_core_v1_Container, container, containers)
    {
        ki_text image = ki_core_v1_Container_image(container);
        printf("  %.*s\n", KI_STR_ARG(image));
    }
}

int main(void)
{
    KI_AUTO(ki_object) object = NULL;
    ki_error error = KI_ERROR_INIT;
    if (ki_object_from_json(json, sizeof(json) - 1, NULL, &object, &error) < 0) {
        fprintf(stderr, "%s\n", error.message);
        return 1;
    }
    ki_apps_v1_Deployment deployment = ki_apps_v1_Deployment_of(object);
    print_rollout(deployment);
    print_images(ki_apps_v1_DeploymentSpec_template(ki_apps_v1_Deployment_spec(deployment)));

    /* Not a stateful set: a view of nothing, with every field absent. */
    ki_apps_v1_StatefulSet other = ki_apps_v1_StatefulSet_of(object);
    printf("a stateful set: %d\n", ki_view_exists(other));
    return 0;
}
