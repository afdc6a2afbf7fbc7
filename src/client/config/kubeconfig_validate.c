/* SPDX-License-Identifier: Apache-2.0 */
/* Checks combinations of settings: client-go's validation, and errors that client-go only finds
 * when it connects. Messages name fields and files, never values. */
#include <errno.h>

#include "base/error.h"
#include "base/log.h"
#include "client/config/file.h"
#include "client/config/kubeconfig.h"
#include "object/names.h"

static bool is_set(const ki__setting *setting)
{
    return setting->text.len != 0;
}

static int check_file(const ki__kubeconfig *kubeconfig, const ki__setting *setting, bool secret,
                      ki_error *error)
{
    if (!is_set(setting)) {
        return 0;
    }
    ki__file_info info;
    int r = ki__file_check(setting->text.ptr, kubeconfig->options->max_file_bytes, &info);
    if (r < 0) {
        (void)ki__kubeconfig_fail(error, r, setting, ki__file_error_text(r));
        ki__error_add(error, ki_str_from(" ("));
        ki__error_add(error, setting->text);
        ki__error_add(error, ki_str_from(")"));
        return r;
    }
    if (secret && info.others_read) {
        KI__LOG(kubeconfig->options->log, KI_LOG_WARNING, "config",
                "the file holds a secret and is readable by everyone", {"file", setting->text});
    }
    return 0;
}

/* Certificate and key: not both file and data, and no certificate without a key. A key without a
 * certificate is ignored, as in client-go. */
static int check_certificate(const ki__kubeconfig *kubeconfig, const ki__kubeconfig_choice *choice,
                             ki_error *error)
{
    if (!is_set(&choice->cert_file) && !is_set(&choice->cert_data)) {
        return 0;
    }
    if (is_set(&choice->cert_file) && is_set(&choice->cert_data)) {
        return ki__kubeconfig_fail(error, KI_ERR_INVALID, &choice->cert_data,
                                   "mutually exclusive with client-certificate");
    }
    if (is_set(&choice->key_file) && is_set(&choice->key_data)) {
        return ki__kubeconfig_fail(error, KI_ERR_INVALID, &choice->key_data,
                                   "mutually exclusive with client-key");
    }
    if (!is_set(&choice->key_file) && !is_set(&choice->key_data)) {
        return ki__kubeconfig_fail(error, KI_ERR_INVALID,
                                   is_set(&choice->cert_file) ? &choice->cert_file
                                                              : &choice->cert_data,
                                   "client-certificate requires client-key");
    }
    int r = check_file(kubeconfig, &choice->cert_file, false, error);
    return r < 0 ? r : check_file(kubeconfig, &choice->key_file, true, error);
}

static int check_variables(const ki__kubeconfig_choice *choice, ki_error *error)
{
    const ki__yaml *yaml = &choice->user.file->yaml;
    uint32_t exec = ki__yaml_get(yaml, choice->user.node, "exec");
    uint32_t list = ki__yaml_get(yaml, exec, "env");
    for (uint32_t item = ki__yaml_at(yaml, list)->child; item != KI__YAML_NONE;
         item = ki__yaml_at(yaml, item)->next) {
        uint32_t node = ki__yaml_get(yaml, item, "name");
        const ki__yaml_node *name = ki__yaml_at(yaml, node);
        ki__setting setting = {
            .field = "exec.env",
            .entry = &choice->user,
            .line = ki__yaml_at(yaml, item)->line,
        };
        if (node == KI__YAML_NONE || name->text.len == 0 || ki__yaml_is_null(name)) {
            return ki__kubeconfig_fail(error, KI_ERR_INVALID, &setting, "name is missing");
        }
        if (memchr(name->text.ptr, '=', name->text.len) != NULL) {
            return ki__kubeconfig_fail(error, KI_ERR_INVALID, &setting,
                                       "name must not contain '='");
        }
    }
    return 0;
}

static int check_exec(const ki__kubeconfig_choice *choice, ki_error *error)
{
    const ki__setting *version = &choice->exec_api_version;
    const ki__setting *mode = &choice->exec_interactive;
    if (!choice->has_exec) {
        return 0;
    }
    if (!is_set(&choice->exec_command)) {
        return ki__kubeconfig_fail(error, KI_ERR_INVALID, &choice->exec_command, "is missing");
    }
    if (!is_set(version)) {
        return ki__kubeconfig_fail(error, KI_ERR_INVALID, version, "is missing");
    }
    bool beta = ki_str_eq_text(version->text, "client.authentication.k8s.io/v1beta1");
    if (!beta && !ki_str_eq_text(version->text, "client.authentication.k8s.io/v1")) {
        return ki__kubeconfig_fail(error, KI_ERR_UNSUPPORTED, version,
                                   "must be client.authentication.k8s.io/v1 or /v1beta1");
    }
    if (!is_set(mode) && !beta) {
        return ki__kubeconfig_fail(error, KI_ERR_INVALID, mode, "is missing");
    }
    if (is_set(mode) && !ki_str_eq_text(mode->text, "Never") &&
        !ki_str_eq_text(mode->text, "IfAvailable") && !ki_str_eq_text(mode->text, "Always")) {
        return ki__kubeconfig_fail(error, KI_ERR_INVALID, mode,
                                   "must be Never, IfAvailable or Always");
    }
    return check_variables(choice, error);
}

/* These are sent in headers. */
static int check_headers(const ki__kubeconfig_choice *choice, ki_error *error)
{
    const ki__setting *settings[] = {
        &choice->token,   &choice->username, &choice->password,
        &choice->as_user, &choice->as_uid,   &choice->tls_server_name,
    };
    for (size_t i = 0; i < sizeof(settings) / sizeof(settings[0]); i++) {
        if (!ki__config_is_header_value(settings[i]->text)) {
            return ki__kubeconfig_fail(error, KI_ERR_INVALID, settings[i],
                                       "must not contain control characters");
        }
    }
    if (memchr(choice->username.text.ptr, ':', choice->username.text.len) != NULL) {
        return ki__kubeconfig_fail(error, KI_ERR_INVALID, &choice->username,
                                   "must not contain ':'");
    }
    return 0;
}

/* Only one authentication method. */
static int check_methods(const ki__kubeconfig_choice *choice, ki_error *error)
{
    const ki__setting *basic = is_set(&choice->username) ? &choice->username : &choice->password;
    if (is_set(&choice->token) && is_set(basic)) {
        return ki__kubeconfig_fail(error, KI_ERR_INVALID, &choice->token,
                                   "token and username/password are mutually exclusive");
    }
    if (is_set(&choice->token_file) && is_set(&choice->username)) {
        return ki__kubeconfig_fail(error, KI_ERR_INVALID, &choice->token_file,
                                   "tokenFile and username are mutually exclusive");
    }
    if (choice->user.file == NULL) {
        return 0;
    }
    const ki__yaml *yaml = &choice->user.file->yaml;
    uint32_t provider = ki__yaml_get(yaml, choice->user.node, "auth-provider");
    if (provider != KI__YAML_NONE && !ki__yaml_is_null(ki__yaml_at(yaml, provider))) {
        ki__setting setting = {
            .field = "auth-provider",
            .entry = &choice->user,
            .line = ki__yaml_at(yaml, provider)->line,
        };
        return ki__kubeconfig_fail(error, KI_ERR_UNSUPPORTED, &setting,
                                   "auth providers are not supported; use exec");
    }
    return 0;
}

static bool has_children(const ki__kubeconfig_entry *entry, const char *field)
{
    return entry->file != NULL &&
           ki__yaml_at(&entry->file->yaml, ki__yaml_get(&entry->file->yaml, entry->node, field))
                   ->count != 0;
}

static int check_impersonation(const ki__kubeconfig *kubeconfig,
                               const ki__kubeconfig_choice *choice, ki_error *error)
{
    const char *const *groups = kubeconfig->options->as_groups;
    bool more = is_set(&choice->as_uid) || (groups != NULL && groups[0] != NULL) ||
                has_children(&choice->user, "as-groups") ||
                has_children(&choice->user, "as-user-extra");
    if (more && !is_set(&choice->as_user)) {
        return ki__kubeconfig_fail(error, KI_ERR_INVALID, &choice->as_user,
                                   "as-uid, as-groups and as-user-extra require as");
    }
    return 0;
}

static int check_server(const ki__kubeconfig_choice *choice, ki__url *ret_url, ki_error *error)
{
    if (!is_set(&choice->server)) {
        if (choice->cluster.file == NULL && choice->context.file != NULL) {
            ki__setting setting = {.field = "cluster", .entry = &choice->context};
            return ki__kubeconfig_fail(error, KI_ERR_INVALID, &setting, "is missing");
        }
        return ki__kubeconfig_fail(error, KI_ERR_INVALID, &choice->server, "is missing");
    }
    const char *problem = ki__url_parse(choice->server.text, ret_url);
    if (problem == NULL && ret_url->scheme == KI__URL_SOCKS5) {
        problem = "URL scheme is not supported";
    }
    if (problem == NULL && ret_url->user.len != 0) {
        problem = "URL must not contain a user or password";
    }
    return problem == NULL ? 0
                           : ki__kubeconfig_fail(error, KI_ERR_INVALID, &choice->server, problem);
}

static int check_proxy(const ki__setting *setting, ki_error *error)
{
    if (!is_set(setting)) {
        return 0;
    }
    ki__url url;
    const char *problem = ki__url_parse(setting->text, &url);
    if (problem == NULL && strstr(setting->text.ptr, "://") == NULL) {
        problem = "must be an http, https or socks5 URL";
    }
    return problem == NULL ? 0 : ki__kubeconfig_fail(error, KI_ERR_INVALID, setting, problem);
}

static int check_cluster(const ki__kubeconfig *kubeconfig, const ki__kubeconfig_choice *choice,
                         ki__url *ret_url, ki_error *error)
{
    int r = check_server(choice, ret_url, error);
    if (r >= 0) {
        r = check_proxy(&choice->proxy_url, error);
    }
    if (r < 0) {
        return r;
    }
    if (is_set(&choice->ca_file) && is_set(&choice->ca_data)) {
        return ki__kubeconfig_fail(error, KI_ERR_INVALID, &choice->ca_data,
                                   "mutually exclusive with certificate-authority");
    }
    r = check_file(kubeconfig, &choice->ca_file, false, error);
    if (r < 0) {
        return r;
    }
    const ki__setting *ca = is_set(&choice->ca_file) ? &choice->ca_file : &choice->ca_data;
    if (choice->insecure && is_set(ca) && ret_url->scheme == KI__URL_HTTPS) {
        return ki__kubeconfig_fail(
            error, KI_ERR_INVALID, ca,
            "certificate-authority and insecure-skip-tls-verify are mutually exclusive");
    }
    return 0;
}

int ki__kubeconfig_validate(const ki__kubeconfig *kubeconfig, const ki__kubeconfig_choice *choice,
                            ki__url *ret_url, ki_error *error)
{
    if (is_set(&choice->name_space) && !ki__names_dns_label(choice->name_space.text, NULL)) {
        return ki__kubeconfig_fail(error, KI_ERR_INVALID, &choice->name_space,
                                   "not a valid namespace name");
    }
    int r = check_certificate(kubeconfig, choice, error);
    if (r >= 0) {
        r = check_methods(choice, error);
    }
    if (r >= 0) {
        r = check_exec(choice, error);
    }
    if (r >= 0) {
        r = check_headers(choice, error);
    }
    if (r >= 0) {
        r = check_impersonation(kubeconfig, choice, error);
    }
    return r < 0 ? r : check_cluster(kubeconfig, choice, ret_url, error);
}
