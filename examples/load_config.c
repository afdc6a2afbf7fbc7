/* SPDX-License-Identifier: Apache-2.0 */
/* Loads a kubeconfig and prints its server. Here it is in memory; without options, ki_config_load()
 * uses $KUBECONFIG, ~/.kube/config, or the pod that the program runs in. */
#include <stdio.h>

#include <kinformer/config.h>
#include <kinformer/kinformer.h>

static const char kubeconfig[] = "apiVersion: v1\n"
                                 "kind: Config\n"
                                 "current-context: dev\n"
                                 "contexts:\n"
                                 "- name: dev\n"
                                 "  context: {cluster: local, user: me, namespace: shop}\n"
                                 "- name: prod\n"
                                 "  context: {cluster: far, user: me}\n"
                                 "clusters:\n"
                                 "- name: local\n"
                                 "  cluster: {server: 'https://127.0.0.1:6443'}\n"
                                 "- name: far\n"
                                 "  cluster: {server: 'https://k8s.example.com/prod'}\n"
                                 "users:\n"
                                 "- name: me\n"
                                 "  user: {token: not-to-be-shown}\n";

static int show(const char *context)
{
    ki_error error = KI_ERROR_INIT;
    ki_config *config = NULL;
    int r = ki_config_load(
        KI_OPTIONS(ki_config_options, .text = ki_str_from(kubeconfig), .context = context), &config,
        &error);
    if (r < 0) {
        printf("%s\n", error.message);
        return r;
    }
    const ki_config_credentials *credentials = ki_config_get_credentials(config);
    printf("%s: %s%s, namespace %s, %s\n", ki_config_context_name(config), ki_config_server(config),
           ki_config_path_prefix(config), ki_config_namespace(config),
           credentials->token.len != 0 ? "with a token" : "without a token");
    ki_config_unref(config);
    return 0;
}

int main(void)
{
    int r = show(NULL); /* the current context */
    r = r < 0 ? r : show("prod");
    return r < 0 || show("test") != KI_ERR_NOT_FOUND ? 1 : 0;
}
