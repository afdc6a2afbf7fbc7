/* SPDX-License-Identifier: Apache-2.0 */
/* Prints the metrics of a client: all of them in the format "prometheus" or "openmetrics" if an
 * argument says so, otherwise their names and types, and whether the client is ready. */
#include <stdio.h>
#include <string.h>

#include <kinformer/checks.h>
#include <kinformer/kinformer.h>
#include <kinformer/metrics.h>

static int reconcile(const char *key, uint64_t *retry_after_ms, ki_error *error, void *user)
{
    (void)key;
    (void)retry_after_ms;
    (void)error;
    (void)user;
    return 0;
}

static void print_types(const char *text)
{
    for (const char *line = text; (line = strstr(line, "# TYPE ")) != NULL;) {
        line += strlen("# TYPE ");
        printf("%.*s\n", (int)strcspn(line, "\n"), line);
    }
}

int main(int argc, char **argv)
{
    bool open = argc > 1 && strcmp(argv[1], "openmetrics") == 0;
    ki_metrics_format format = open ? KI_METRICS_OPENMETRICS : KI_METRICS_PROMETHEUS;
    KI_AUTO(ki_client) client = NULL;
    KI_AUTO(ki_informer) pods = NULL;
    KI_AUTO(ki_workqueue) queue = NULL;
    KI_AUTO(ki_controller) controller = NULL;
    ki_buf text;
    ki_error error = KI_ERROR_INIT;
    ki_buf_init(&text, NULL, 16 << 20);
    int r = ki_client_new(NULL, &client, &error);
    r = r < 0 ? r : ki_client_informer(client, KI_CORE_V1_PODS, NULL, &pods, &error);
    r = r < 0 ? r
              : ki_workqueue_new(KI_OPTIONS(ki_workqueue_options, .name = "pods"), &queue, &error);
    r = r < 0 ? r : ki_informer_enqueue(pods, queue, NULL, &error);
    r = r < 0 ? r
              : ki_controller_new(
                    KI_OPTIONS(ki_controller_options, .queue = queue, .reconcile = reconcile),
                    &controller, &error);
    r = r < 0 ? r : ki_controller_start(controller, client, 2, &error);
    r = r < 0 ? r : ki_client_wait_for_sync(client, 30000, &error);
    r = r < 0 ? r : ki_client_write_metrics(client, format, &text, &error);
    if (r >= 0 && argc > 1) {
        printf("%s", ki_buf_text(&text));
    } else if (r >= 0) {
        print_types(ki_buf_text(&text));
        printf("ready: %d\n", ki_client_check_ready(client, NULL, NULL, &error));
    } else {
        fprintf(stderr, "%s\n", error.message);
    }
    ki_buf_done(&text);
    return r < 0 ? 1 : 0;
}
