/* SPDX-License-Identifier: Apache-2.0 */
/* Loads a configuration with the options of its arguments, such as context=dev or env.HOME=/root,
 * and prints all of it as JSON, secrets too. For tools/judge-kubeconfig, which compares it with
 * what client-go says. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <kinformer/config.h>

#include "object/text/base64.h"

static int argument_count;
static char **arguments;

/* The value of the argument `prefix``name`=..., or NULL. */
static const char *argument(const char *prefix, const char *name)
{
    size_t prefix_len = strlen(prefix);
    size_t len = strlen(name);
    for (int i = 1; i < argument_count; i++) {
        const char *text = arguments[i];
        if (strncmp(text, prefix, prefix_len) == 0 && strncmp(text + prefix_len, name, len) == 0 &&
            text[prefix_len + len] == '=') {
            return text + prefix_len + len + 1;
        }
    }
    return NULL;
}

static const char *get_variable(const char *name, void *user)
{
    (void)user;
    return argument("env.", name);
}

static void print_string(const char *text)
{
    putchar('"');
    for (const unsigned char *p = (const unsigned char *)text; *p != '\0'; p++) {
        if (*p == '"' || *p == '\\') {
            printf("\\%c", *p);
        } else if (*p < 0x20) {
            printf("\\u%04x", *p);
        } else {
            putchar(*p);
        }
    }
    putchar('"');
}

static void print_field(const char *name, const char *text)
{
    printf("\"%s\":", name);
    print_string(text);
    putchar(',');
}

static void print_data(const char *name, ki_str data)
{
    size_t len = ki__base64_length(data.len);
    char *text = calloc(1, len + 1);
    if (text != NULL) {
        ki__base64_encode(data, text, len);
        print_field(name, text);
        free(text);
    }
}

static void print_strings(const char *name, const char *const *texts, size_t count)
{
    printf("\"%s\":[", name);
    for (size_t i = 0; i < count; i++) {
        fputs(i != 0 ? "," : "", stdout);
        print_string(texts[i]);
    }
    fputs("],", stdout);
}

static void print_impersonation(const ki_config_impersonation *as)
{
    print_field("as", as->user);
    print_field("asUid", as->uid);
    print_strings("asGroups", as->groups, as->group_count);
    fputs("\"asExtra\":{", stdout);
    for (size_t i = 0; i < as->extra_count; i++) {
        print_strings(as->extra[i].key, as->extra[i].values, as->extra[i].value_count);
    }
    fputs("\"\":[]},", stdout);
}

static void print_exec(const ki_config_exec *exec)
{
    static const char *const modes[] = {"Never", "IfAvailable", "Always"};
    if (exec == NULL) {
        return;
    }
    fputs("\"exec\":{", stdout);
    print_field("apiVersion", exec->api_version);
    print_field("command", exec->command);
    print_strings("args", exec->args, exec->arg_count);
    fputs("\"env\":[", stdout);
    for (size_t i = 0; i < exec->variable_count; i++) {
        fputs(i != 0 ? ",{" : "{", stdout);
        print_field("name", exec->variables[i].name);
        fputs("\"value\":", stdout);
        print_string(exec->variables[i].value.ptr);
        putchar('}');
    }
    fputs("],", stdout);
    print_field("interactiveMode", modes[exec->interactive]);
    print_field("installHint", exec->install_hint);
    printf("\"config\":%s,", exec->cluster_config.len != 0 ? exec->cluster_config.ptr : "null");
    printf("\"provideClusterInfo\":%s},", exec->provide_cluster_info ? "true" : "false");
}

static void print_config(const ki_config *config)
{
    const ki_config_tls *tls = ki_config_get_tls(config);
    const ki_config_credentials *credentials = ki_config_get_credentials(config);
    putchar('{');
    print_field("server", ki_config_server(config));
    print_field("pathPrefix", ki_config_path_prefix(config));
    print_field("namespace", ki_config_namespace(config));
    print_field("proxy", ki_config_proxy_url(config).ptr);
    print_data("caData", tls->ca_data);
    print_field("caFile", tls->ca_file);
    print_data("certData", tls->cert_data);
    print_field("certFile", tls->cert_file);
    print_data("keyData", tls->key_data);
    print_field("keyFile", tls->key_file);
    print_field("tlsServerName", tls->server_name);
    print_field("token", credentials->token.ptr);
    print_field("tokenFile", credentials->token_file);
    print_field("username", credentials->username);
    print_field("password", credentials->password.ptr);
    print_impersonation(ki_config_get_impersonation(config));
    print_exec(ki_config_get_exec(config));
    printf("\"insecure\":%s,", tls->insecure ? "true" : "false");
    printf("\"disableCompression\":%s}\n",
           ki_config_disable_compression(config) ? "true" : "false");
}

int main(int argc, char **argv)
{
    argument_count = argc;
    arguments = argv;
    ki_config_options options = KI_OPTIONS_INIT(ki_config_options);
    options.path = argument("", "path");
    options.context = argument("", "context");
    options.cluster = argument("", "cluster");
    options.user = argument("", "user");
    options.name_space = argument("", "namespace");
    options.server = argument("", "server");
    options.tls_server_name = argument("", "tls-server-name");
    options.ca_file = argument("", "ca-file");
    options.insecure = argument("", "insecure") != NULL;
    options.proxy_url = argument("", "proxy-url");
    options.disable_compression = argument("", "disable-compression") != NULL;
    options.client_cert_file = argument("", "client-cert-file");
    options.client_key_file = argument("", "client-key-file");
    options.token = argument("", "token");
    options.username = argument("", "username");
    options.password = argument("", "password");
    options.as_user = argument("", "as");
    options.as_uid = argument("", "as-uid");
    const char *groups[2] = {argument("", "as-group"), NULL};
    options.as_groups = groups[0] != NULL ? groups : NULL;
    options.environment = &(ki_config_environment){.get = get_variable};
    ki_config *config = NULL;
    ki_error error = KI_ERROR_INIT;
    int r = ki_config_load(&options, &config, &error);
    if (r < 0) {
        fputs("{\"code\":", stdout);
        print_string(ki_error_name(r));
        fputs(",\"error\":", stdout);
        print_string(error.message);
        fputs("}\n", stdout);
        return 0;
    }
    print_config(config);
    ki_config_unref(config);
    return 0;
}
