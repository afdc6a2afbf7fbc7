/* SPDX-License-Identifier: Apache-2.0 */
/* The in-cluster configuration of a pod: two environment variables and three files. */
#include <errno.h>
#include <sys/stat.h>

#include "base/ascii.h"
#include "base/error.h"
#include "base/log.h"
#include "client/config/config.h"
#include "client/config/file.h"

#define SERVICE_ACCOUNT_DIR "/var/run/secrets/kubernetes.io/serviceaccount"

static const char *file_of(const ki_config_options *options, const char *name, ki__secrets *secrets)
{
    const char *dir =
        options->service_account_dir != NULL ? options->service_account_dir : SERVICE_ACCOUNT_DIR;
    size_t dir_len = strlen(dir);
    char *path = ki__secrets_take(secrets, dir_len + strlen(name) + 2);
    if (path != NULL) {
        memcpy(path, dir, dir_len);
        path[dir_len] = '/';
        memcpy(path + dir_len + 1, name, strlen(name));
    }
    return path;
}

bool ki__in_cluster_possible(const ki_config_options *options)
{
    if (ki__config_variable(options, "KUBERNETES_SERVICE_HOST") == NULL ||
        ki__config_variable(options, "KUBERNETES_SERVICE_PORT") == NULL) {
        return false;
    }
    ki__secrets secrets;
    ki__secrets_init(&secrets, options->alloc);
    const char *token = file_of(options, "token", &secrets);
    struct stat info;
    bool there = token != NULL && stat(token, &info) == 0 && !S_ISDIR(info.st_mode);
    ki__secrets_done(&secrets);
    return there;
}

int ki__in_cluster_namespace(const ki_config_options *options, ki__secrets *secrets,
                             ki_str *ret_name)
{
    const char *name = ki__config_variable(options, "POD_NAMESPACE");
    if (name != NULL) {
        *ret_name = ki_str_from(name);
        return 0;
    }
    const char *path = file_of(options, "namespace", secrets);
    if (path == NULL) {
        return -ENOMEM;
    }
    ki_str text = {NULL, 0};
    ki__file_info info;
    int r = ki__file_read(path, options->max_file_bytes, secrets, &text, &info);
    if (r == -ENOMEM) {
        return r;
    }
    text = r >= 0 ? ki__trim(text, " \t\r\n\v\f") : text;
    *ret_name = text.len != 0 ? text : ki_str_from("default");
    return 0;
}

/* "https://host:port", with brackets around an IPv6 address. */
static char *url_of(const char *host, const char *port, ki__secrets *secrets)
{
    size_t host_len = strlen(host);
    size_t port_len = strlen(port);
    bool brackets = strchr(host, ':') != NULL;
    char *url = ki__secrets_take(secrets, host_len + port_len + 16);
    if (url == NULL) {
        return NULL;
    }
    char *at = url;
    memcpy(at, "https://[", 9);
    at += brackets ? 9 : 8;
    memcpy(at, host, host_len);
    at += host_len;
    if (brackets) {
        *at++ = ']';
    }
    *at++ = ':';
    memcpy(at, port, port_len);
    return url;
}

static int set_server(const ki_config_options *options, ki_config *config, ki__url *ret_url,
                      ki_error *error)
{
    const char *host = ki__config_variable(options, "KUBERNETES_SERVICE_HOST");
    const char *port = ki__config_variable(options, "KUBERNETES_SERVICE_PORT");
    if (host == NULL || port == NULL) {
        return ki__error_set(error, KI_ERR_NOT_FOUND,
                             "not in a pod: KUBERNETES_SERVICE_HOST and KUBERNETES_SERVICE_PORT"
                             " must be set");
    }
    const char *text =
        options->server != NULL ? options->server : url_of(host, port, &config->secrets);
    if (text == NULL) {
        return ki__error_code(error, -ENOMEM);
    }
    const char *problem = ki__url_parse(ki_str_from(text), ret_url);
    if (problem == NULL && (ret_url->scheme == KI__URL_SOCKS5 || ret_url->user.len != 0)) {
        problem = "must be http or https, without a user";
    }
    if (problem != NULL) {
        return ki__config_error(error, KI_ERR_INVALID, NULL, 0,
                                options->server != NULL ? "option server: "
                                                        : "KUBERNETES_SERVICE_HOST and _PORT: ",
                                problem, NULL);
    }
    int r = ki__config_set_server(config, ret_url);
    return r < 0 ? ki__error_code(error, r) : 0;
}

static int set_credentials(const ki_config_options *options, const char *token_file,
                           ki_config *config)
{
    if (options->token == NULL && options->token_file == NULL) {
        return ki__config_set_text(config, &config->credentials.token_file,
                                   ki_str_from(token_file));
    }
    int r = ki__config_set_str(config, &config->credentials.token, ki_str_from(options->token));
    return r < 0 ? r
                 : ki__config_set_text(config, &config->credentials.token_file,
                                       ki_str_from(options->token_file));
}

/* A pod without the CA file is unusual; the system's CAs are used then. */
static int set_ca(const ki_config_options *options, const char *ca_file, ki_config *config)
{
    if (options->ca_file == NULL) {
        ki__file_info info;
        int r = ki__file_check(ca_file, options->max_file_bytes, &info);
        if (r < 0) {
            KI__LOG(options->log, KI_LOG_WARNING, "config", "CA file of the pod cannot be used",
                    {"file", ki_str_from(ca_file)}, {"error", ki_str_from(ki__file_error_text(r))});
            return 0;
        }
    }
    return ki__config_set_text(config, &config->tls.ca_file,
                               ki_str_from(options->ca_file != NULL ? options->ca_file : ca_file));
}

static int set_namespace(const ki_config_options *options, ki_config *config)
{
    ki_str name = ki_str_from(options->name_space);
    int r = 0;
    if (name.len == 0) {
        r = ki__in_cluster_namespace(options, &config->secrets, &name);
    }
    return r < 0 ? r : ki__config_set_text(config, &config->name_space, name);
}

static int fill(const ki_config_options *options, ki_config *config, ki_error *error)
{
    config->in_cluster = true;
    ki__url url;
    int r = set_server(options, config, &url, error);
    if (r < 0) {
        return r;
    }
    const char *token_file = file_of(options, "token", &config->secrets);
    const char *ca_file = file_of(options, "ca.crt", &config->secrets);
    if (token_file == NULL || ca_file == NULL) {
        return ki__error_code(error, -ENOMEM);
    }
    ki__file_info info;
    r = ki__file_check(token_file, options->max_file_bytes, &info);
    if (r < 0) {
        return ki__config_error(error, r, token_file, 0, ki__file_error_text(r), NULL);
    }
    bool tls = url.scheme == KI__URL_HTTPS;
    if (tls || (options->loopback_credentials && ki__url_is_loopback(&url))) {
        r = set_credentials(options, token_file, config);
    }
    if (r >= 0 && tls) {
        r = set_ca(options, ca_file, config);
    }
    r = r < 0 ? r : set_namespace(options, config);
    return r < 0 ? ki__error_code(error, r) : 0;
}

static int check_options(const ki_config_options *options, ki_error *error)
{
    if (!ki__config_is_header_value(ki_str_from(options->token))) {
        return ki__error_set(error, KI_ERR_INVALID,
                             "option token: control characters are not allowed");
    }
    return 0;
}

int ki_config_in_cluster(const ki_config_options *options, ki_config **ret_config, ki_error *error)
{
    KI__REQUIRE(ret_config, error);
    ki_config_options ours;
    int r = ki__config_options_read(options, &ours, error);
    if (r >= 0) {
        r = check_options(&ours, error);
    }
    if (r < 0) {
        return r;
    }
    ki_config *config = ki__config_new(ours.alloc);
    if (config == NULL) {
        return ki__error_code(error, -ENOMEM);
    }
    r = fill(&ours, config, error);
    if (r < 0) {
        ki_config_unref(config);
        return r;
    }
    *ret_config = config;
    return 0;
}
