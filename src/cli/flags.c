/* SPDX-License-Identifier: Apache-2.0 */
/* The options that all commands share. */
#include "cli/flags.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <kinformer/version.h>

#include "cli/report_failure.h"
#include "cli/term.h"
#include "cli/text.h"

enum { QPS = 50, BURST = 300 }; /* as in kubectl */

#define AT(member) offsetof(cli_flags, member)

const cli_option cli_flags_general[] = {
    {"help", 'h', CLI_ARG_FLAG, AT(help), NULL, "show help with examples"},
    {"verbose", 'v', CLI_ARG_COUNT, AT(verbose), NULL, "more messages on standard error; -vv: all"},
    {"color", 0, CLI_ARG_TEXT, AT(color), "auto|always|never",
     "colored output; auto: on a terminal"},
};
const size_t cli_flags_general_count = sizeof(cli_flags_general) / sizeof(cli_flags_general[0]);

const cli_option cli_flags_connect[] = {
    {"kubeconfig", 0, CLI_ARG_TEXT, AT(kubeconfig), "FILE", "kubeconfig file"},
    {"context", 0, CLI_ARG_TEXT, AT(context), "NAME", "context of the kubeconfig"},
    {"cluster", 0, CLI_ARG_TEXT, AT(cluster), "NAME", "cluster, overrides the context's"},
    {"user", 0, CLI_ARG_TEXT, AT(user), "NAME", "user, overrides the context's"},
    {"namespace", 'n', CLI_ARG_TEXT, AT(name_space), "NAME", "namespace"},
    {"all-namespaces", 'A', CLI_ARG_FLAG, AT(all_namespaces), NULL, "all namespaces"},
    {"selector", 'l', CLI_ARG_TEXT, AT(selector), "SELECTOR",
     "label selector, such as app=web,!canary"},
    {"field-selector", 0, CLI_ARG_TEXT, AT(field_selector), "SELECTOR",
     "field selector, such as status.phase=Running"},
    {"shard", 0, CLI_ARG_TEXT, AT(shard), "INDEX/COUNT",
     "only this part of the objects, such as 0/3, 1/3 or 2/3"},
    {"keep", 0, CLI_ARG_TEXT, AT(keep), "PATHS",
     "keep only these fields, such as .spec.nodeName,.status.phase"},
    {"drop", 0, CLI_ARG_TEXT, AT(drop), "PATHS|usual", "do not keep these fields"},
    {"packed", 0, CLI_ARG_FLAG, AT(packed), NULL, "keep objects compressed in memory"},
    {"max-bytes", 0, CLI_ARG_BYTES, AT(max_bytes), "BYTES",
     "limit of the memory of all caches, such as 200M"},
    {"server", 's', CLI_ARG_TEXT, AT(server), "URL", "API server URL, overrides the cluster's"},
    {"tls-server-name", 0, CLI_ARG_TEXT, AT(tls_server_name), "NAME",
     "host name expected in the server's certificate"},
    {"certificate-authority", 0, CLI_ARG_TEXT, AT(ca_file), "FILE", "CA certificates to trust"},
    {"insecure-skip-tls-verify", 0, CLI_ARG_FLAG, AT(insecure), NULL,
     "do not verify the server's certificate"},
    {"client-certificate", 0, CLI_ARG_TEXT, AT(client_cert), "FILE", "client certificate"},
    {"client-key", 0, CLI_ARG_TEXT, AT(client_key), "FILE", "key of the client certificate"},
    {"token", 0, CLI_ARG_TEXT, AT(token), "TOKEN", "bearer token"},
    {"as", 0, CLI_ARG_TEXT, AT(as_user), "NAME", "impersonate this user"},
    {"as-uid", 0, CLI_ARG_TEXT, AT(as_uid), "UID", "UID of the impersonated user"},
    {"as-group", 0, CLI_ARG_LIST, AT(as_groups), "NAME", "group to impersonate; repeatable"},
    {"allow-exec", 0, CLI_ARG_LIST, AT(allow_exec), "NAME|any|none",
     "credential plugins that may run; repeatable"},
    {"request-timeout", 0, CLI_ARG_DURATION, AT(request_timeout_ms), "DURATION",
     "timeout of the first response; 0: none"},
};
const size_t cli_flags_connect_count = sizeof(cli_flags_connect) / sizeof(cli_flags_connect[0]);

void cli_flags_done(cli_flags *flags)
{
    cli_words_done(&flags->as_groups);
    cli_words_done(&flags->allow_exec);
}

/* ---- the log ---- */

static void write_record(const ki_log_record *record, void *user)
{
    ki_buf line;
    const cli_flags *flags = user;
    if (flags->verbose == 0 && record->level == KI_LOG_WARNING &&
        strcmp(record->component, "reflector") == 0) {
        return; /* follow.c reports failed requests more briefly */
    }
    cli_text_init(&line);
    cli_putf(&line, "kinformer: %s: %s: %s", ki_log_level_name(record->level), record->component,
             record->message);
    for (size_t i = 0; i < record->field_count; i++) {
        cli_putf(&line, " %s=", record->fields[i].key);
        cli_put_quoted(&line, record->fields[i].value);
    }
    cli_put_char(&line, '\n');
    cli_term_note(ki_buf_str(&line));
    ki_buf_done(&line);
}

ki_log cli_flags_log(const cli_flags *flags)
{
    ki_log log = {.write = write_record, .level = KI_LOG_WARNING, .user = (void *)(uintptr_t)flags};
    if (flags->verbose > 0) {
        log.level = flags->verbose > 1 ? KI_LOG_DEBUG : KI_LOG_INFO;
    }
    return log;
}

/* ---- the client ---- */

/* The library names options by members of ki_config_options; users know the command's option
 * names. */
static void name_own_option(ki_error *error)
{
    static const struct {
        const char *member;
        const char *option;
    } names[] = {
        {"context", "--context"},
        {"cluster", "--cluster"},
        {"user", "--user"},
        {"name_space", "--namespace"},
        {"server", "--server"},
        {"tls_server_name", "--tls-server-name"},
        {"ca_file", "--certificate-authority"},
        {"client_cert_file", "--client-certificate"},
        {"client_key_file", "--client-key"},
        {"token", "--token"},
        {"as_user", "--as"},
        {"as_uid", "--as-uid"},
        {"as_groups", "--as-group"},
    };
    const char *begin = "option ";
    ki_error given = *error;
    if (strncmp(given.message, begin, strlen(begin)) != 0) {
        return;
    }
    const char *member = given.message + strlen(begin);
    size_t len = strcspn(member, ": ");
    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
        if (strlen(names[i].member) == len && strncmp(names[i].member, member, len) == 0) {
            (void)cli_fail(error, given.code, "%s%s", names[i].option, member + len);
        }
    }
}

int cli_flags_config(const cli_flags *flags, const ki_log *log, const ki_config **ret_config,
                     ki_error *error)
{
    ki_config_options options = KI_OPTIONS_INIT(ki_config_options);
    ki_config *config = NULL;
    options.path = flags->kubeconfig;
    options.text = ki_str_from(flags->own_kubeconfig);
    options.context = flags->context;
    options.cluster = flags->cluster;
    options.user = flags->user;
    options.name_space = flags->name_space;
    options.server = flags->server;
    options.tls_server_name = flags->tls_server_name;
    options.ca_file = flags->ca_file;
    options.insecure = flags->insecure;
    options.client_cert_file = flags->client_cert;
    options.client_key_file = flags->client_key;
    options.token = flags->token;
    options.as_user = flags->as_user;
    options.as_uid = flags->as_uid;
    options.as_groups = flags->as_groups.items;
    options.loopback_credentials = true; /* they do not leave this machine */
    options.log = log;
    int r = ki_config_load(&options, &config, error);
    if (r < 0) {
        error->code = r == KI_ERR_NOT_FOUND ? KI_ERR_INVALID
                                            : r; /* the missing item is not a cluster resource */
        name_own_option(error);
        return r;
    }
    *ret_config = config;
    return 0;
}

/* Names from the options and from $KINFORMER_ALLOW_EXEC; the text must outlive them. */
static void collect_allowed(const cli_flags *flags, char *variable, cli_words *ret_names)
{
    for (size_t i = 0; i < flags->allow_exec.count; i++) {
        cli_words_add(ret_names, flags->allow_exec.items[i]);
    }
    while (variable != NULL && *variable != '\0') {
        char *comma = strchr(variable, ',');
        if (comma != NULL) {
            *comma = '\0';
        }
        cli_words_add(ret_names, variable);
        variable = comma != NULL ? comma + 1 : NULL;
    }
}

static bool has_word(const cli_words *names, const char *word)
{
    for (size_t i = 0; i < names->count; i++) {
        if (strcmp(names->items[i], word) == 0) {
            return true;
        }
    }
    return false;
}

/* Explicit settings take precedence. Otherwise plugins may run if only this user can have written
 * the file: anyone who can write it can already act as this user. */
static ki_exec_policy policy_of(const cli_words *names, const ki_config *config)
{
    const ki_config_exec *plugin = ki_config_get_exec(config);
    if (has_word(names, "none")) {
        return KI_EXEC_DENY;
    }
    if (has_word(names, "any")) {
        return KI_EXEC_ALLOW;
    }
    if (names->count != 0) {
        return KI_EXEC_LISTED;
    }
    bool own = plugin != NULL && plugin->trust == KI_CONFIG_TRUST_OWN;
    return own ? KI_EXEC_ALLOW : KI_EXEC_DENY;
}

static void explain_plugin(const ki_config_exec *plugin, const cli_words *names, ki_error *error)
{
    const char *why = "is not a file";
    if (plugin->trust == KI_CONFIG_TRUST_FOREIGN) {
        why = "is owned by another user";
    } else if (plugin->trust == KI_CONFIG_TRUST_SHARED) {
        why = "can be written by its group or by others";
    }
    if (has_word(names, "none")) {
        (void)cli_fail(error, KI_ERR_DENIED,
                       "%.80s: credential plugin \"%.60s\": forbidden by "
                       "--allow-exec=none",
                       plugin->file, plugin->command);
    } else if (names->count != 0) {
        (void)cli_fail(error, KI_ERR_DENIED,
                       "%.80s: credential plugin \"%.60s\": not allowed; "
                       "allow it with --allow-exec=%.60s",
                       plugin->file, plugin->command, plugin->command);
    } else {
        (void)cli_fail(error, KI_ERR_DENIED,
                       "%.80s: %s, so the credential plugin \"%.40s\" is "
                       "not run; allow it with --allow-exec=%.60s",
                       plugin->file[0] != '\0' ? plugin->file : "the kubeconfig", why,
                       plugin->command, plugin->command);
    }
}

/* Explains KI_ERR_DENIED in terms of the command's options. */
static void explain_denied(const ki_config *config, const cli_words *names, ki_error *error)
{
    const ki_config_exec *plugin = ki_config_get_exec(config);
    if (plugin != NULL) {
        explain_plugin(plugin, names, error);
        return;
    }
    (void)cli_fail(error, KI_ERR_DENIED,
                   "the kubeconfig sets insecure-skip-tls-verify; pass --insecure-skip-tls-verify "
                   "to allow it");
}

int cli_flags_client(const cli_flags *flags, const ki_config *config, ki_loop *loop,
                     ki_client **ret_client, ki_error *error)
{
    ki_client_options options = KI_OPTIONS_INIT(ki_client_options);
    const char *variable = getenv("KINFORMER_ALLOW_EXEC");
    char *copy = variable != NULL ? strdup(variable) : NULL;
    cli_words names = {0};
    collect_allowed(flags, copy, &names);
    options.config = config;
    options.loop = loop;
    options.user_agent = "kinformer-cli";
    options.exec_policy = policy_of(&names, config);
    options.exec_allowed = names.items;
    options.exec_interactive = isatty(STDIN_FILENO) == 1;
    options.allow_insecure = flags->insecure;
    options.environment_proxy = flags->own_kubeconfig == NULL;
    options.qps = flags->own_kubeconfig != NULL ? -1 : QPS;
    options.burst = BURST;
    int r = ki_client_new(&options, ret_client, error);
    if (r == KI_ERR_DENIED) {
        explain_denied(config, &names, error);
    }
    cli_words_done(&names);
    free(copy);
    return r;
}

const char *cli_flags_namespace(const cli_flags *flags, const ki_config *config)
{
    if (flags->all_namespaces) {
        return "";
    }
    return ki_config_namespace(config);
}
