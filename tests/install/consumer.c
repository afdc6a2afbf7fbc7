/* SPDX-License-Identifier: Apache-2.0 */
/* A C11 program against the installed library: prints the version of the library it runs with. */
#include <stdio.h>
#include <string.h>

#include <kinformer/kinformer.h>

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
    ki_object_unref(pod);
    puts(ki_version());
    return same ? 0 : 1;
}
