/* SPDX-License-Identifier: Apache-2.0 */
/* Prints the pods of a cluster and their changes until Enter is pressed. */
#include <stdio.h>

#include <kinformer/kinformer.h>

static void on_change(const ki_change *change, void *out)
{
    static const char *const signs[KI_CHANGE_TYPE_MAX] = {"+", "~", "-", " "};
    fprintf(out, "%s %s\n", change->initial ? "=" : signs[change->type],
            ki_object_key(change->object));
}

int main(void)
{
    KI_AUTO(ki_client) client = NULL; /* connects as kubectl does, or as the pod it runs in */
    KI_AUTO(ki_informer) pods = NULL;
    ki_error error = KI_ERROR_INIT;
    setvbuf(stdout, NULL, _IOLBF, 0);
    int r = ki_client_new(NULL, &client, &error);
    r = r < 0 ? r : ki_client_informer(client, KI_CORE_V1_PODS, NULL, &pods, &error);
    r = r < 0 ? r : ki_informer_on_change(pods, on_change, stdout, NULL, &error);
    r = r < 0 ? r : ki_client_start(client, &error);
    if (r < 0) {
        fprintf(stderr, "%s\n", error.message);
        return 1;
    }
    getchar(); /* everything else runs on threads of the library */
    return 0;
}
