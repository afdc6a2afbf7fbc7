/* SPDX-License-Identifier: Apache-2.0 */
/* A C11 program against the installed library: prints the version of the library it runs with. */
#include <stdio.h>
#include <string.h>

#include <kinformer/kinformer.h>
#include <kinformer/resource_table.h>

static const ki_resource *const resources[] = {KI_CORE_V1_PODS, KI_APPS_V1_DEPLOYMENTS};

int main(void)
{
    static const char json[] = "{\"kind\": \"Pod\", \"metadata\": {\"name\": \"a\"}}";
    ki_error error = KI_ERROR_INIT;
    ki_object *pod = NULL;
    int r = ki_object_from_json(json, strlen(json),
                                KI_OPTIONS(ki_object_options, .max_bytes = 1024), &pod, &error);
    if (r < 0) {
        fprintf(stderr, "%s\n", error.message);
        return 1;
    }
    int same = strcmp(ki_object_key(pod), "a") == 0 && ki_version_num() == KI_VERSION_NUM;
    same = same && resources[0] == ki_resource_builtin("", "v1", "pods") &&
           strcmp(ki_resource_kind(resources[1]), "Deployment") == 0;
    ki_object_unref(pod);
    puts(ki_version());
    return same ? 0 : 1;
}
