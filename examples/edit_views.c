/* SPDX-License-Identifier: Apache-2.0 */
/* Changes a deployment through typed views: names and types of fields are checked at compile time,
 * and one check at the end covers all changes. The result is a patch for the server. */
#include <stdio.h>

#include <kinformer/api/apps_v1.h>
#include <kinformer/kinformer.h>

static const char json[] =
    "{\"apiVersion\":\"apps/v1\",\"kind\":\"Deployment\","
    "\"metadata\":{\"name\":\"web\",\"namespace\":\"shop\",\"labels\":{\"app\":\"web\"}},"
    "\"spec\":{\"replicas\":4,\"paused\":true,\"template\":{\"spec\":{\"containers\":["
    "{\"name\":\"proxy\",\"image\":\"proxy:2\"},{\"name\":\"app\",\"image\":\"app:1.4\"}]}}}}";

static void change_container(ki_core_v1_Container_edit container)
{
    ki_core_v1_Container_set_image(container, "app:1.5");
    ki_core_v1_Container_set_imagePullPolicy(container, KI_CORE_V1_PullPolicy_IfNotPresent);
    ki_text_list_append(ki_core_v1_Container_edit_args(container), "--verbose");

    ki_core_v1_EnvVar_edit mode = ki_core_v1_Container_edit_env_by_name(container, "MODE");
    ki_core_v1_EnvVar_set_value(mode, "fast");

    ki_core_v1_ResourceRequirements_edit resources = ki_core_v1_Container_edit_resources(container);
    ki_quantity_map_set(ki_core_v1_ResourceRequirements_edit_limits(resources), "memory", "1Gi");
}

static void change_deployment(ki_edit *edit)
{
    ki_apps_v1_Deployment_edit deployment = ki_apps_v1_Deployment_edit_of(edit);
    ki_apps_v1_DeploymentSpec_edit spec = ki_apps_v1_Deployment_edit_spec(deployment);
    ki_apps_v1_DeploymentSpec_set_replicas(spec, 3);
    ki_apps_v1_DeploymentSpec_remove_paused(spec);

    ki_apps_v1_RollingUpdateDeployment_edit rolling =
        ki_apps_v1_DeploymentStrategy_edit_rollingUpdate(
            ki_apps_v1_DeploymentSpec_edit_strategy(spec));
    ki_apps_v1_RollingUpdateDeployment_set_maxSurge(rolling, ki_int_or_string_text("25%"));
    ki_apps_v1_RollingUpdateDeployment_set_maxUnavailable(rolling, ki_int_or_string_int(0));

    ki_core_v1_PodSpec_edit pod =
        ki_core_v1_PodTemplateSpec_edit_spec(ki_apps_v1_DeploymentSpec_edit_template(spec));
    change_container(ki_core_v1_PodSpec_edit_containers_by_name(pod, "app"));

    ki_meta_v1_ObjectMeta_edit metadata = ki_apps_v1_Deployment_edit_metadata(deployment);
    ki_text_map_set(ki_meta_v1_ObjectMeta_edit_labels(metadata), "tier", "front");
}

int main(void)
{
    KI_AUTO(ki_object) object = NULL;
    KI_AUTO(ki_edit) edit = NULL;
    ki_buf patch;
    ki_error error = KI_ERROR_INIT;
    ki_buf_init(&patch, NULL, 1 << 20);
    int r = ki_object_from_json(json, sizeof(json) - 1, NULL, &object, &error);
    r = r < 0 ? r : ki_edit_new(object, NULL, &edit, &error);
    if (r == 0) {
        change_deployment(edit);
        r = ki_edit_merge_patch(edit, &patch, &error);
    }
    if (r < 0) {
        fprintf(stderr, "%s\n", error.message);
    } else {
        puts(patch.data);
    }
    ki_buf_done(&patch);
    return r < 0;
}
