/* SPDX-License-Identifier: Apache-2.0 */
/* Selects context, cluster and user, and applies the options: client-go's rules for merging and
 * overriding, per setting. */
#include <errno.h>

#include "base/error.h"
#include "client/config/file.h"
#include "client/config/kubeconfig.h"
#include "object/text/base64.h"

int ki__kubeconfig_fail(ki_error *error, int code, const ki__setting *setting, const char *what)
{
    const ki__kubeconfig_entry *entry = setting->entry;
    if (entry == NULL || entry->file == NULL) {
        return ki__config_error(error, code, NULL, 0, setting->field, ": ", what, NULL);
    }
    uint32_t line = setting->line != 0 ? setting->line : entry->line;
    return ki__config_error(error, code, entry->file->label, line, entry->what, " \"", entry->name,
                            "\": ", setting->field, ": ", what, NULL);
}

/* A string, or "" for null and absent values; its type was checked. */
static ki_str text_of(const ki__yaml *yaml, uint32_t node)
{
    const ki__yaml_node *n = ki__yaml_at(yaml, node);
    bool text = node != KI__YAML_NONE && n->kind == KI__YAML_SCALAR && !ki__yaml_is_null(n);
    return text ? n->text : ki_str_make("", 0);
}

/* The list of a kind of entries. */
static const char *list_of(const char *what)
{
    return what[0] == 'u' ? "users" : what[1] == 'l' ? "clusters" : "contexts";
}

/* Looks up an entry by name in "clusters", "users" or "contexts": the first file that has it
 * wins. */
static ki__kubeconfig_entry find(const ki__kubeconfig *kubeconfig, const char *what, ki_str name)
{
    ki__kubeconfig_entry entry = {.what = what, .name = ""};
    for (size_t i = 0; i < kubeconfig->count; i++) {
        const ki__kubeconfig_file *file = &kubeconfig->files[i];
        const ki__yaml *yaml = &file->yaml;
        uint32_t list = ki__yaml_get(yaml, yaml->root, list_of(what));
        for (uint32_t item = ki__yaml_at(yaml, list)->child; item != KI__YAML_NONE;
             item = ki__yaml_at(yaml, item)->next) {
            ki_str found = text_of(yaml, ki__yaml_get(yaml, item, "name"));
            if (ki_str_eq(found, name)) {
                entry.name = found.ptr;
                entry.file = file;
                entry.node = ki__yaml_get(yaml, item, what);
                entry.line = ki__yaml_at(yaml, item)->line;
                return entry;
            }
        }
    }
    return entry;
}

/* A field of an entry; not set if there is no entry. */
static ki__setting read_field(const ki__kubeconfig_entry *entry, const char *field)
{
    ki__setting setting = {.field = field, .text = {"", 0}, .entry = entry};
    if (entry->file != NULL) {
        const ki__yaml *yaml = &entry->file->yaml;
        uint32_t node = ki__yaml_get(yaml, entry->node, field);
        setting.text = text_of(yaml, node);
        setting.line = ki__yaml_at(yaml, node)->line;
    }
    return setting;
}

static bool read_bool(const ki__kubeconfig_entry *entry, const char *field)
{
    ki__setting setting = read_field(entry, field);
    return setting.text.len != 0 && (setting.text.ptr[0] == 't' || setting.text.ptr[0] == 'T');
}

static int read_data(ki__kubeconfig *kubeconfig, const ki__kubeconfig_entry *entry,
                     const char *field, ki__setting *ret_setting, ki_error *error)
{
    ki__setting setting = read_field(entry, field);
    char *data = ki__secrets_take(&kubeconfig->secrets, setting.text.len + 1);
    if (data == NULL) {
        return ki__error_code(error, -ENOMEM);
    }
    size_t len = 0;
    int r = ki__base64_decode(setting.text, data, &len);
    if (r < 0) {
        return ki__kubeconfig_fail(error, r, &setting, "must be base64");
    }
    data[len] = '\0';
    setting.text = ki_str_make(data, len);
    *ret_setting = setting;
    return 0;
}

/* A path is relative to the directory of its file. */
static int read_path(ki__kubeconfig *kubeconfig, const ki__kubeconfig_entry *entry,
                     const char *field, ki__setting *ret_setting, ki_error *error)
{
    ki__setting setting = read_field(entry, field);
    if (setting.text.len != 0 && setting.text.ptr[0] != '/' && entry->file->folder != NULL) {
        char *path = ki__file_join(entry->file->folder, setting.text, &kubeconfig->secrets);
        if (path == NULL) {
            return ki__error_code(error, -ENOMEM);
        }
        setting.text = ki_str_from(path);
    }
    *ret_setting = setting;
    return 0;
}

static ki__setting option(const char *field, const char *text)
{
    return (ki__setting){.field = field, .text = ki_str_from(text != NULL ? text : "")};
}

/* Replaces the setting by an option, if given. */
static void override(ki__setting *setting, const char *field, const char *text)
{
    if (text != NULL) {
        *setting = option(field, text);
    }
}

/* The name of the context, and its origin. */
static ki__setting context_name(const ki__kubeconfig *kubeconfig, ki__kubeconfig_entry *top)
{
    ki__setting setting = {.field = "current-context", .text = {"", 0}};
    if (kubeconfig->options->context != NULL) {
        return option("option context", kubeconfig->options->context);
    }
    for (size_t i = 0; i < kubeconfig->count && setting.text.len == 0; i++) {
        const ki__kubeconfig_file *file = &kubeconfig->files[i];
        uint32_t node = ki__yaml_get(&file->yaml, file->yaml.root, "current-context");
        setting.text = text_of(&file->yaml, node);
        setting.line = ki__yaml_at(&file->yaml, node)->line;
        top->file = file;
    }
    return setting;
}

static int choose_context(const ki__kubeconfig *kubeconfig, ki__kubeconfig_choice *choice,
                          ki_error *error)
{
    ki__kubeconfig_entry top = {.what = "", .name = ""};
    ki__setting name = context_name(kubeconfig, &top);
    choice->context = (ki__kubeconfig_entry){.what = "context", .name = ""};
    if (name.text.len != 0) {
        choice->context = find(kubeconfig, "context", name.text);
        if (choice->context.file == NULL) {
            return ki__config_error(error, KI_ERR_NOT_FOUND,
                                    top.file != NULL ? top.file->label : NULL, name.line,
                                    name.field, ": no context \"", name.text.ptr, "\"", NULL);
        }
    }
    choice->name_space = read_field(&choice->context, "namespace");
    override(&choice->name_space, "option name_space", kubeconfig->options->name_space);
    return 0;
}

/* The cluster or user named by the context or an option; none without a name. */
static int choose_entry(const ki__kubeconfig *kubeconfig, const ki__kubeconfig_choice *choice,
                        const char *what, const char *chosen, ki__kubeconfig_entry *ret_entry,
                        ki_error *error)
{
    ki__setting name = read_field(&choice->context, what);
    override(&name, what[0] == 'u' ? "option user" : "option cluster", chosen);
    ki__kubeconfig_entry entry = {.what = what, .name = ""};
    if (name.text.len != 0) {
        entry = find(kubeconfig, what, name.text);
        if (entry.file == NULL) {
            int r = ki__kubeconfig_fail(error, KI_ERR_NOT_FOUND, &name, "no ");
            ki__error_add(error, ki_str_from(what));
            ki__error_add(error, ki_str_from(" \""));
            ki__error_add(error, name.text);
            ki__error_add(error, ki_str_from("\""));
            return r;
        }
    }
    *ret_entry = entry;
    return 0;
}

static int choose_cluster(ki__kubeconfig *kubeconfig, ki__kubeconfig_choice *choice,
                          ki_error *error)
{
    const ki_config_options *options = kubeconfig->options;
    const ki__kubeconfig_entry *cluster = &choice->cluster;
    int r = choose_entry(kubeconfig, choice, "cluster", options->cluster, &choice->cluster, error);
    if (r < 0) {
        return r;
    }
    r = read_path(kubeconfig, cluster, "certificate-authority", &choice->ca_file, error);
    if (r >= 0) {
        r = read_data(kubeconfig, cluster, "certificate-authority-data", &choice->ca_data, error);
    }
    if (r < 0) {
        return r;
    }
    choice->server = read_field(cluster, "server");
    choice->tls_server_name = read_field(cluster, "tls-server-name");
    choice->proxy_url = read_field(cluster, "proxy-url");
    choice->insecure = read_bool(cluster, "insecure-skip-tls-verify");
    choice->disable_compression =
        options->disable_compression || read_bool(cluster, "disable-compression");
    if (options->server != NULL || options->tls_server_name != NULL) {
        choice->tls_server_name = option("option tls_server_name", options->tls_server_name);
    }
    if (options->insecure || options->ca_file != NULL) {
        choice->insecure = options->insecure;
        choice->ca_file = option("option ca_file", options->ca_file);
        choice->ca_data = option("option ca_file", NULL);
    }
    override(&choice->server, "option server", options->server);
    override(&choice->proxy_url, "option proxy_url", options->proxy_url);
    return 0;
}

/* The program of an exec plugin is a path only if it contains a '/'. */
static int choose_exec(ki__kubeconfig *kubeconfig, ki__kubeconfig_choice *choice, ki_error *error)
{
    if (choice->user.file == NULL) {
        return 0;
    }
    const ki__yaml *yaml = &choice->user.file->yaml;
    uint32_t node = ki__yaml_get(yaml, choice->user.node, "exec");
    choice->has_exec = node != KI__YAML_NONE && !ki__yaml_is_null(ki__yaml_at(yaml, node));
    struct {
        ki__setting *setting;
        const char *key;
        const char *field;
    } fields[] = {
        {&choice->exec_command, "command", "exec.command"},
        {&choice->exec_api_version, "apiVersion", "exec.apiVersion"},
        {&choice->exec_interactive, "interactiveMode", "exec.interactiveMode"},
        {&choice->exec_install_hint, "installHint", "exec.installHint"},
    };
    for (size_t i = 0; i < sizeof(fields) / sizeof(fields[0]); i++) {
        uint32_t value = ki__yaml_get(yaml, node, fields[i].key);
        *fields[i].setting = (ki__setting){
            .field = fields[i].field,
            .text = text_of(yaml, value),
            .entry = &choice->user,
            .line = ki__yaml_at(yaml, value != KI__YAML_NONE ? value : node)->line,
        };
    }
    ki__setting *command = &choice->exec_command;
    if (command->text.len != 0 && command->text.ptr[0] != '/' &&
        memchr(command->text.ptr, '/', command->text.len) != NULL &&
        choice->user.file->folder != NULL) {
        char *path = ki__file_join(choice->user.file->folder, command->text, &kubeconfig->secrets);
        if (path == NULL) {
            return ki__error_code(error, -ENOMEM);
        }
        command->text = ki_str_from(path);
    }
    return 0;
}

/* An option for certificate or key replaces both data and file. */
static int choose_certificate(ki__kubeconfig *kubeconfig, ki__kubeconfig_choice *choice,
                              ki_error *error)
{
    const ki_config_options *options = kubeconfig->options;
    const ki__kubeconfig_entry *user = &choice->user;
    int r = read_path(kubeconfig, user, "client-certificate", &choice->cert_file, error);
    if (r >= 0) {
        r = read_data(kubeconfig, user, "client-certificate-data", &choice->cert_data, error);
    }
    if (r >= 0) {
        r = read_path(kubeconfig, user, "client-key", &choice->key_file, error);
    }
    if (r >= 0) {
        r = read_data(kubeconfig, user, "client-key-data", &choice->key_data, error);
    }
    if (r < 0) {
        return r;
    }
    if (options->client_cert_file != NULL) {
        choice->cert_file = option("option client_cert_file", options->client_cert_file);
        choice->cert_data = option("option client_cert_file", NULL);
    }
    if (options->client_key_file != NULL) {
        choice->key_file = option("option client_key_file", options->client_key_file);
        choice->key_data = option("option client_key_file", NULL);
    }
    return 0;
}

static int choose_user(ki__kubeconfig *kubeconfig, ki__kubeconfig_choice *choice, ki_error *error)
{
    const ki_config_options *options = kubeconfig->options;
    const ki__kubeconfig_entry *user = &choice->user;
    int r = choose_entry(kubeconfig, choice, "user", options->user, &choice->user, error);
    if (r >= 0) {
        r = choose_certificate(kubeconfig, choice, error);
    }
    if (r >= 0) {
        r = read_path(kubeconfig, user, "tokenFile", &choice->token_file, error);
    }
    if (r < 0) {
        return r;
    }
    choice->token = read_field(user, "token");
    if (options->token != NULL || options->token_file != NULL) {
        /* client-go keeps the user's tokenFile next to a given token, and prefers it. */
        choice->token = option("option token", options->token);
        choice->token_file = option("option token_file", options->token_file);
    }
    choice->username = read_field(user, "username");
    choice->password = read_field(user, "password");
    choice->as_user = read_field(user, "as");
    choice->as_uid = read_field(user, "as-uid");
    override(&choice->username, "option username", options->username);
    override(&choice->password, "option password", options->password);
    override(&choice->as_user, "option as_user", options->as_user);
    override(&choice->as_uid, "option as_uid", options->as_uid);
    return choose_exec(kubeconfig, choice, error);
}

int ki__kubeconfig_choose(ki__kubeconfig *kubeconfig, ki__kubeconfig_choice *choice,
                          ki_error *error)
{
    *choice = (ki__kubeconfig_choice){.insecure = false};
    int r = choose_context(kubeconfig, choice, error);
    if (r >= 0) {
        r = choose_user(kubeconfig, choice, error);
    }
    return r < 0 ? r : choose_cluster(kubeconfig, choice, error);
}

bool ki__kubeconfig_is_empty(const ki__kubeconfig_choice *choice)
{
    return choice->context.file == NULL && choice->cluster.file == NULL &&
           choice->server.text.len == 0 && choice->tls_server_name.text.len == 0 &&
           choice->ca_file.text.len == 0 && choice->proxy_url.text.len == 0 && !choice->insecure &&
           !choice->disable_compression;
}
