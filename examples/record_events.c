/* SPDX-License-Identifier: Apache-2.0 */
/* Records events about the ConfigMap "settings" in the namespace "shop"; `kubectl describe` shows
 * them. */
#include <stdio.h>

#include <kinformer/kinformer.h>
#include <kinformer/recorder.h>

static int start(ki_client *client, ki_recorder **ret_recorder, ki_error *error)
{
    ki_recorder_options options = KI_OPTIONS_INIT(ki_recorder_options);
    options.controller = "example.com/settings-controller";
    return ki_recorder_new(client, &options, ret_recorder, error);
}

/* Usually in reconcile(). Nothing here waits for the server. */
static void work(ki_recorder *recorder, const ki_object *settings)
{
    ki_recorder_event(recorder, settings, KI_EVENT_NORMAL, "Loaded", "Load", "read 3 settings");
    for (int i = 0; i < 3; i++) { /* one event, with a count of 3 */
        ki_recorder_event(recorder, settings, KI_EVENT_WARNING, "Invalid", "Load",
                          "color: not a color");
    }
}

int main(void)
{
    KI_AUTO(ki_client) client = NULL;
    KI_AUTO(ki_object) settings = NULL;
    ki_recorder *recorder = NULL;
    ki_recorder_stats stats = KI_OPTIONS_INIT(ki_recorder_stats);
    ki_error error = KI_ERROR_INIT;
    int r = ki_client_new(NULL, &client, &error);
    r = r < 0 ? r
              : ki_client_get(client, KI_CORE_V1_CONFIGMAPS, "shop", "settings", &settings, NULL,
                              &error);
    r = r < 0 ? r : start(client, &recorder, &error);
    if (r < 0) {
        fprintf(stderr, "%s\n", error.message);
        return 1;
    }
    work(recorder, settings);
    ki_recorder *kept = ki_recorder_ref(recorder); /* for the statistics */
    ki_recorder_close(recorder);                   /* sends what is queued, for at most 5 s */
    r = ki_recorder_get_stats(kept, &stats);
    printf("events: %d created, %d counted, %d failed\n", (int)stats.created, (int)stats.patched,
           (int)stats.failed);
    ki_recorder_unref(kept);
    return r < 0 ? 1 : 0;
}
