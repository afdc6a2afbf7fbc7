/* SPDX-License-Identifier: Apache-2.0 */
/* Builds a configuration from kubeconfig files. Credentials and TLS settings are only used for
 * https servers, as in client-go. */
#include "client/config/kubeconfig.h"

#include <errno.h>

#include "base/error.h"
#include "base/utf8.h"
#include "client/config/file.h"

/* The cluster extension for exec plugins. */
#define EXEC_EXTENSION "client.authentication.k8s.io/exec"

static ki_str text_of(const ki__yaml *yaml, uint32_t node)
{
    const ki__yaml_node *n = ki__yaml_at(yaml, node);
    bool text = node != KI__YAML_NONE && !ki__yaml_is_null(n);
    return text ? n->text : ki_str_make("", 0);
}

/* Copies a list of strings, whose type was checked. */
static int copy_strings(ki_config *config, const ki__yaml *yaml, uint32_t list,
                        const char *const **ret_strings, size_t *ret_count)
{
    size_t count = ki__yaml_at(yaml, list)->count;
    const char **strings = ki__secrets_take_array(&config->secrets, count + 1, sizeof(*strings));
    if (strings == NULL) {
        return -ENOMEM;
    }
    size_t at = 0;
    for (uint32_t item = ki__yaml_at(yaml, list)->child; item != KI__YAML_NONE;
         item = ki__yaml_at(yaml, item)->next) {
        int r = ki__config_set_text(config, &strings[at++], text_of(yaml, item));
        if (r < 0) {
            return r;
        }
    }
    *ret_strings = strings;
    *ret_count = count;
    return 0;
}

static int copy_option_strings(ki_config *config, const char *const *texts,
                               const char *const **ret_strings, size_t *ret_count)
{
    size_t count = 0;
    while (texts[count] != NULL) {
        count++;
    }
    const char **strings = ki__secrets_take_array(&config->secrets, count + 1, sizeof(*strings));
    if (strings == NULL) {
        return -ENOMEM;
    }
    for (size_t i = 0; i < count; i++) {
        int r = ki__config_set_text(config, &strings[i], ki_str_from(texts[i]));
        if (r < 0) {
            return r;
        }
    }
    *ret_strings = strings;
    *ret_count = count;
    return 0;
}

static int fill_extra(ki_config *config, const ki__yaml *yaml, uint32_t map)
{
    size_t count = ki__yaml_at(yaml, map)->count / 2;
    ki_config_extra *extra = ki__secrets_take_array(&config->secrets, count, sizeof(*extra));
    if (extra == NULL) {
        return -ENOMEM;
    }
    uint32_t key = ki__yaml_at(yaml, map)->child;
    for (size_t i = 0; i < count; i++) {
        uint32_t value = ki__yaml_at(yaml, key)->next;
        int r = ki__config_set_text(config, &extra[i].key, ki__yaml_at(yaml, key)->text);
        if (r >= 0) {
            r = copy_strings(config, yaml, value, &extra[i].values, &extra[i].value_count);
        }
        if (r < 0) {
            return r;
        }
        key = ki__yaml_at(yaml, value)->next;
    }
    config->impersonation.extra = extra;
    config->impersonation.extra_count = count;
    return 0;
}

static int fill_impersonation(const ki__kubeconfig *kubeconfig, const ki__kubeconfig_choice *choice,
                              ki_config *config)
{
    ki_config_impersonation *as = &config->impersonation;
    const char *const *groups = kubeconfig->options->as_groups;
    const ki__kubeconfig_entry *user = &choice->user;
    int r = ki__config_set_text(config, &as->user, choice->as_user.text);
    if (r >= 0) {
        r = ki__config_set_text(config, &as->uid, choice->as_uid.text);
    }
    if (r >= 0 && groups != NULL && groups[0] != NULL) {
        r = copy_option_strings(config, groups, &as->groups, &as->group_count);
    } else if (r >= 0 && user->file != NULL) {
        const ki__yaml *yaml = &user->file->yaml;
        r = copy_strings(config, yaml, ki__yaml_get(yaml, user->node, "as-groups"), &as->groups,
                         &as->group_count);
    }
    if (r >= 0 && user->file != NULL) {
        const ki__yaml *yaml = &user->file->yaml;
        r = fill_extra(config, yaml, ki__yaml_get(yaml, user->node, "as-user-extra"));
    }
    return r;
}

/* These are sent in headers. */
static int check_impersonation(const ki_config *config, const ki__kubeconfig_choice *choice,
                               ki_error *error)
{
    const ki_config_impersonation *as = &config->impersonation;
    bool ok = true;
    for (size_t i = 0; i < as->group_count; i++) {
        ok = ok && ki__config_is_header_value(ki_str_from(as->groups[i]));
    }
    for (size_t i = 0; i < as->extra_count; i++) {
        ok = ok && ki__config_is_header_value(ki_str_from(as->extra[i].key));
        for (size_t k = 0; k < as->extra[i].value_count; k++) {
            ok = ok && ki__config_is_header_value(ki_str_from(as->extra[i].values[k]));
        }
    }
    return ok ? 0
              : ki__kubeconfig_fail(error, KI_ERR_INVALID, &choice->as_user,
                                    "groups and extra must not contain control characters");
}

static int fill_tls(const ki__kubeconfig_choice *choice, ki_config *config)
{
    ki_config_tls *tls = &config->tls;
    tls->insecure = choice->insecure;
    int r = ki__config_set_str(config, &tls->ca_data, choice->ca_data.text);
    r = r < 0 ? r : ki__config_set_text(config, &tls->ca_file, choice->ca_file.text);
    r = r < 0 ? r : ki__config_set_text(config, &tls->server_name, choice->tls_server_name.text);
    if (r < 0 || (choice->cert_file.text.len == 0 && choice->cert_data.text.len == 0)) {
        return r;
    }
    r = ki__config_set_str(config, &tls->cert_data, choice->cert_data.text);
    r = r < 0 ? r : ki__config_set_text(config, &tls->cert_file, choice->cert_file.text);
    r = r < 0 ? r : ki__config_set_str(config, &tls->key_data, choice->key_data.text);
    return r < 0 ? r : ki__config_set_text(config, &tls->key_file, choice->key_file.text);
}

static int fill_credentials(const ki__kubeconfig *kubeconfig, const ki__kubeconfig_choice *choice,
                            ki_config *config, ki_error *error)
{
    ki_config_credentials *credentials = &config->credentials;
    if (choice->token_file.text.len != 0 && choice->token.text.len == 0) {
        ki__file_info info;
        int r =
            ki__file_check(choice->token_file.text.ptr, kubeconfig->options->max_file_bytes, &info);
        if (r < 0) {
            return ki__kubeconfig_fail(error, r, &choice->token_file, ki__file_error_text(r));
        }
    }
    int r = ki__config_set_str(config, &credentials->token, choice->token.text);
    r = r < 0 ? r : ki__config_set_text(config, &credentials->token_file, choice->token_file.text);
    r = r < 0 ? r : ki__config_set_text(config, &credentials->username, choice->username.text);
    r = r < 0 ? r : ki__config_set_str(config, &credentials->password, choice->password.text);
    return r < 0 ? ki__error_code(error, r) : 0;
}

static int fill_variables(ki_config *config, const ki__yaml *yaml, uint32_t list)
{
    size_t count = ki__yaml_at(yaml, list)->count;
    ki_config_variable *variables =
        ki__secrets_take_array(&config->secrets, count, sizeof(*variables));
    if (variables == NULL) {
        return -ENOMEM;
    }
    size_t at = 0;
    for (uint32_t item = ki__yaml_at(yaml, list)->child; item != KI__YAML_NONE;
         item = ki__yaml_at(yaml, item)->next) {
        ki_config_variable *variable = &variables[at++];
        int r = ki__config_set_text(config, &variable->name,
                                    text_of(yaml, ki__yaml_get(yaml, item, "name")));
        if (r >= 0) {
            r = ki__config_set_str(config, &variable->value,
                                   text_of(yaml, ki__yaml_get(yaml, item, "value")));
        }
        if (r < 0) {
            return r;
        }
    }
    config->exec.variables = variables;
    config->exec.variable_count = count;
    return 0;
}

/* Whether a character of a hint is unsafe on a terminal: controls except white space, invisible
 * characters and those that change the text direction. */
static bool is_unsafe(uint32_t c)
{
    return (c < 0x20 && !(c >= 0x09 && c <= 0x0d)) || (c >= 0x7f && c < 0xa0) || c == 0xad ||
           (c >= 0x200b && c <= 0x200f) || (c >= 0x202a && c <= 0x202e) ||
           (c >= 0x2060 && c <= 0x206f) || c == 0xfeff || c >= 0xe0000;
}

static uint32_t code_of(ki_str character)
{
    static const unsigned char lead[] = {0, 0x7f, 0x1f, 0x0f, 0x07};
    uint32_t code = (unsigned char)character.ptr[0] & lead[character.len];
    for (size_t i = 1; i < character.len; i++) {
        code = code << 6 | ((unsigned char)character.ptr[i] & 0x3f);
    }
    return code;
}

/* Writes "U+001B" instead of an unsafe character. */
static size_t put_code(uint32_t code, char *out)
{
    static const char hex[] = "0123456789ABCDEF";
    size_t digits = code >= 0x100000 ? 6 : code >= 0x10000 ? 5 : 4;
    memcpy(out, "U+", 2);
    for (size_t i = 0; i < digits; i++) {
        out[2 + i] = hex[code >> (4 * (digits - 1 - i)) & 15];
    }
    return 2 + digits;
}

static int fill_hint(ki_config *config, ki_str hint)
{
    char *out = ki__secrets_take(&config->secrets, hint.len * 6 + 1);
    if (out == NULL) {
        return -ENOMEM;
    }
    size_t len = 0;
    for (size_t i = 0; i < hint.len;) {
        ki_str rest = ki_str_make(hint.ptr + i, hint.len - i);
        rest.len = ki__utf8_length(rest); /* YAML is UTF-8 */
        uint32_t code = code_of(rest);
        if (is_unsafe(code)) {
            len += put_code(code, out + len);
        } else {
            memcpy(out + len, rest.ptr, rest.len);
            len += rest.len;
        }
        i += rest.len;
    }
    config->exec.install_hint = out;
    return 0;
}

static int fill_cluster_config(const ki__kubeconfig_entry *cluster, ki_config *config,
                               ki_error *error)
{
    if (cluster->file == NULL) {
        return 0;
    }
    const ki__yaml *yaml = &cluster->file->yaml;
    uint32_t list = ki__yaml_get(yaml, cluster->node, "extensions");
    for (uint32_t item = ki__yaml_at(yaml, list)->child; item != KI__YAML_NONE;
         item = ki__yaml_at(yaml, item)->next) {
        uint32_t extension = ki__yaml_get(yaml, item, "extension");
        if (!ki_str_eq_text(text_of(yaml, ki__yaml_get(yaml, item, "name")), EXEC_EXTENSION) ||
            extension == KI__YAML_NONE) {
            continue;
        }
        ki__setting setting = {.field = "extensions", .entry = cluster};
        int r = ki__yaml_to_json(yaml, extension, &config->secrets, &config->exec.cluster_config,
                                 &setting.line);
        return r >= 0         ? 0
               : r == -ENOMEM ? ki__error_code(error, r)
                              : ki__kubeconfig_fail(error, r, &setting,
                                                    "number cannot be represented in JSON");
    }
    return 0;
}

static int fill_exec(const ki__kubeconfig_choice *choice, ki_config *config, ki_error *error)
{
    if (!choice->has_exec) {
        return 0;
    }
    ki_config_exec *exec = &config->exec;
    const ki__yaml *yaml = &choice->user.file->yaml;
    uint32_t node = ki__yaml_get(yaml, choice->user.node, "exec");
    uint32_t provide = ki__yaml_get(yaml, node, "provideClusterInfo");
    ki_str mode = choice->exec_interactive.text;
    config->has_exec = true;
    exec->provide_cluster_info =
        text_of(yaml, provide).len != 0 && ki__yaml_is_true(ki__yaml_at(yaml, provide));
    exec->interactive = ki_str_eq_text(mode, "Never")    ? KI_CONFIG_INTERACTIVE_NEVER
                        : ki_str_eq_text(mode, "Always") ? KI_CONFIG_INTERACTIVE_ALWAYS
                                                         : KI_CONFIG_INTERACTIVE_IF_AVAILABLE;
    exec->trust = choice->user.file->trust;
    int r = 0;
    if (exec->trust != KI_CONFIG_TRUST_UNKNOWN) {
        r = ki__config_set_text(config, &exec->file, ki_str_from(choice->user.file->label));
    }
    r = r < 0 ? r : ki__config_set_text(config, &exec->api_version, choice->exec_api_version.text);
    r = r < 0 ? r : ki__config_set_text(config, &exec->command, choice->exec_command.text);
    r = r < 0 ? r
              : copy_strings(config, yaml, ki__yaml_get(yaml, node, "args"), &exec->args,
                             &exec->arg_count);
    r = r < 0 ? r : fill_variables(config, yaml, ki__yaml_get(yaml, node, "env"));
    r = r < 0 ? r : fill_hint(config, choice->exec_install_hint.text);
    if (r < 0) {
        return ki__error_code(error, r);
    }
    return fill_cluster_config(&choice->cluster, config, error);
}

/* Files without a namespace use the pod's. */
static int fill_namespace(const ki__kubeconfig *kubeconfig, const ki__kubeconfig_choice *choice,
                          ki_config *config)
{
    const ki_config_options *options = kubeconfig->options;
    ki_str name = choice->name_space.text;
    if (name.len == 0 && options->text.ptr == NULL && !options->no_in_cluster &&
        ki__in_cluster_possible(options)) {
        int r = ki__in_cluster_namespace(options, &config->secrets, &name);
        if (r < 0) {
            return r;
        }
    }
    return name.len != 0 ? ki__config_set_text(config, &config->name_space, name) : 0;
}

static int fill_names(const ki__kubeconfig_choice *choice, ki_config *config)
{
    int r = ki__config_set_text(config, &config->context_name, ki_str_from(choice->context.name));
    r = r < 0
            ? r
            : ki__config_set_text(config, &config->cluster_name, ki_str_from(choice->cluster.name));
    return r < 0 ? r
                 : ki__config_set_text(config, &config->user_name, ki_str_from(choice->user.name));
}

/* Copies the chosen settings. */
static int fill(const ki__kubeconfig *kubeconfig, const ki__kubeconfig_choice *choice,
                const ki__url *url, ki_config *config, ki_error *error)
{
    config->disable_compression = choice->disable_compression;
    int r = fill_names(choice, config);
    r = r < 0 ? r : ki__config_set_server(config, url);
    r = r < 0 ? r : ki__config_set_str(config, &config->proxy_url, choice->proxy_url.text);
    r = r < 0 ? r : fill_namespace(kubeconfig, choice, config);
    r = r < 0 ? r : fill_impersonation(kubeconfig, choice, config);
    bool tls = url->scheme == KI__URL_HTTPS;
    if (r >= 0 && tls) {
        r = fill_tls(choice, config);
    }
    if (r < 0) {
        return ki__error_code(error, r);
    }
    r = check_impersonation(config, choice, error);
    if (r >= 0 &&
        (tls || (kubeconfig->options->loopback_credentials && ki__url_is_loopback(url)))) {
        r = fill_credentials(kubeconfig, choice, config, error);
        r = r < 0 ? r : fill_exec(choice, config, error);
    }
    return r;
}

/* 1: no file configures anything. */
static int load_files(const ki_config_options *options, ki__kubeconfig *kubeconfig,
                      ki_config *config, ki_error *error)
{
    int r = ki__kubeconfig_read(kubeconfig, options, error);
    ki__kubeconfig_choice choice;
    if (r >= 0) {
        r = ki__kubeconfig_choose(kubeconfig, &choice, error);
    }
    if (r < 0) {
        return r;
    }
    if (ki__kubeconfig_is_empty(&choice)) {
        return 1;
    }
    ki__url url;
    r = ki__kubeconfig_validate(kubeconfig, &choice, &url, error);
    return r < 0 ? r : fill(kubeconfig, &choice, &url, config, error);
}

int ki_config_load(const ki_config_options *options, ki_config **ret_config, ki_error *error)
{
    KI__REQUIRE(ret_config, error);
    ki_config_options ours;
    int r = ki__config_options_read(options, &ours, error);
    if (r < 0) {
        return r;
    }
    ki_config *config = ki__config_new(ours.alloc);
    if (config == NULL) {
        return ki__error_code(error, -ENOMEM);
    }
    ki__kubeconfig kubeconfig;
    r = load_files(&ours, &kubeconfig, config, error);
    ki__kubeconfig_done(&kubeconfig);
    if (r == 0) {
        *ret_config = config;
        return 0;
    }
    ki_config_unref(config);
    if (r > 0 && ours.text.ptr == NULL && !ours.no_in_cluster && ki__in_cluster_possible(&ours)) {
        return ki_config_in_cluster(options, ret_config, error);
    }
    return r < 0 ? r
                 : ki__error_set(error, KI_ERR_NOT_FOUND,
                                 "no configuration: neither a context nor a server is set");
}
