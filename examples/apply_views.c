/* SPDX-License-Identifier: Apache-2.0 */
/* Builds objects from nothing through typed views, with only the fields that this program manages,
 * for server-side apply: ki_client_apply(). */
#include <stdio.h>

#include <kinformer/api/core_v1.h>
#include <kinformer/encoding.h>
#include <kinformer/kinformer.h>

static void fill_service(ki_edit *edit)
{
    ki_core_v1_Service_edit service = ki_core_v1_Service_edit_new(edit, "shop", "web");
    ki_core_v1_ServiceSpec_edit spec = ki_core_v1_Service_edit_spec(service);
    ki_core_v1_ServiceSpec_set_type(spec, KI_CORE_V1_ServiceType_ClusterIP);
    ki_text_map_set(ki_core_v1_ServiceSpec_edit_selector(spec), "app", "web");

    ki_core_v1_ServicePort_edit port =
        ki_core_v1_ServicePort_list_append(ki_core_v1_ServiceSpec_edit_ports(spec));
    ki_core_v1_ServicePort_set_name(port, "http");
    ki_core_v1_ServicePort_set_port(port, 80);
    ki_core_v1_ServicePort_set_targetPort(port, ki_int_or_string_int(8080));
}

static void fill_secret(ki_edit *edit)
{
    ki_core_v1_Secret_edit secret = ki_core_v1_Secret_edit_new(edit, "shop", "keys");
    ki_core_v1_Secret_set_immutable(secret, true);
    ki_bytes_map_set(ki_core_v1_Secret_edit_data(secret), "key", ki_str_make("\0\1\2", 3));
}

static void fill_pod(ki_edit *edit)
{
    ki_core_v1_Pod_edit pod = ki_core_v1_Pod_edit_new(edit, "shop", "web");
    ki_core_v1_PodSpec_edit spec = ki_core_v1_Pod_edit_spec(pod);
    ki_core_v1_Volume_edit scratch = ki_core_v1_PodSpec_edit_volumes_by_name(spec, "scratch");
    (void)ki_core_v1_Volume_edit_emptyDir(scratch); /* an empty map is what it takes */
    ki_core_v1_Container_edit web = ki_core_v1_PodSpec_edit_containers_by_name(spec, "web");
    ki_core_v1_Container_set_image(web, "web:7");
}

static int print(void (*fill)(ki_edit *edit), ki_error *error)
{
    KI_AUTO(ki_edit) edit = NULL;
    KI_AUTO(ki_object) object = NULL;
    KI_TRY(ki_edit_new(NULL, NULL, &edit, error));
    fill(edit);
    KI_TRY(ki_edit_object(edit, &object, error)); /* the first failure of all changes, if any */
    ki_str text = ki_object_bytes(object);
    printf("%.*s\n", KI_STR_ARG(text));
    return 0;
}

int main(void)
{
    ki_error error = KI_ERROR_INIT;
    if (print(fill_service, &error) < 0 || print(fill_secret, &error) < 0 ||
        print(fill_pod, &error) < 0) {
        fprintf(stderr, "%s\n", error.message);
        return 1;
    }
    return 0;
}
