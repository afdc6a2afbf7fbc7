/* SPDX-License-Identifier: Apache-2.0 */
/* Prints the pods of a cluster and their changes until Enter is pressed. */
#include <stdio.h>

#include <kinformer/kinformer.h>

static int on_add(const ki_object *pod, bool is_initial, void *out)
{
    return fprintf(out, "%s %s\n", is_initial ? "=" : "+", ki_object_key(pod));
}

static int on_update(const ki_object *old, const ki_object *pod, void *out)
{
    bool ends = ki_object_is_deleting(pod) && !ki_object_is_deleting(old);
    return fprintf(out, "~ %s%s\n", ki_object_key(pod), ends ? " (terminating)" : "");
}

static int on_delete(const ki_object *pod, bool final_state_unknown, void *out)
{
    return fprintf(out, "- %s%s\n", ki_object_key(pod), final_state_unknown ? " (unobserved)" : "");
}

int main(void)
{
    ki_handler handler = {.on_add = on_add, .on_update = on_update, .on_delete = on_delete};
    ki_error error = KI_ERROR_INIT;
    ki_client *client = NULL; /* configured as kubectl is, or as the pod it runs in */
    ki_factory *factory = NULL;
    ki_informer *pods = NULL;
    handler.user = stdout;
    setvbuf(stdout, NULL, _IOLBF, 0);
    int r = ki_client_new(NULL, &client, &error);
    r = r < 0 ? r : ki_client_factory(client, NULL, &factory, &error);
    r = r < 0 ? r : ki_factory_informer(factory, KI_CORE_V1_PODS, &pods, &error);
    r = r < 0 ? r : ki_informer_add_handler(pods, &handler, NULL, NULL, &error);
    r = r < 0 ? r : ki_factory_start(factory, &error);
    if (r < 0) {
        fprintf(stderr, "%s\n", error.message);
    } else {
        getchar(); /* callbacks run on threads of the library */
    }
    ki_factory_unref(factory);
    ki_client_close(client);
    return r < 0;
}
