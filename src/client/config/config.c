/* SPDX-License-Identifier: Apache-2.0 */
/* The handle: creation, reference counting, accessors. Invariant: everything a configuration points
 * to is in its own memory, which is wiped before it is freed. */
#include "client/config/config.h"

#include <errno.h>
#include <stdarg.h>
#include <stdlib.h>

#include "base/alloc.h"
#include "base/digits.h"
#include "base/error.h"
#include "base/options.h"

enum { LABEL_BYTES_MAX = 100 }; /* of a path in an error message, which has 255 bytes */

/* Empty strings count as not set. */
static void drop_empty(const char **text)
{
    if (*text != NULL && **text == '\0') {
        *text = NULL;
    }
}

int ki__config_options_read(const ki_config_options *options, ki_config_options *ret_options,
                            ki_error *error)
{
    ki_config_options ours;
    int r = KI__TAKE(ki_config_options, &ours, options, error);
    if (r < 0) {
        return r;
    }
    const char **texts[] = {
        &ours.path,
        &ours.text_dir,
        &ours.context,
        &ours.cluster,
        &ours.user,
        &ours.name_space,
        &ours.server,
        &ours.tls_server_name,
        &ours.ca_file,
        &ours.proxy_url,
        &ours.client_cert_file,
        &ours.client_key_file,
        &ours.token,
        &ours.token_file,
        &ours.username,
        &ours.password,
        &ours.as_user,
        &ours.as_uid,
        &ours.service_account_dir,
    };
    for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++) {
        drop_empty(texts[i]);
    }
    int sources = (ours.path != NULL) + (ours.paths != NULL) + (ours.text.ptr != NULL);
    if (sources > 1) {
        return ki__error_set(error, -EINVAL, "only one of path, paths and text may be given");
    }
    if (ours.max_file_bytes == 0) {
        ours.max_file_bytes = KI_CONFIG_FILE_BYTES;
    }
    if (ours.max_file_bytes > INT32_MAX) {
        ours.max_file_bytes = INT32_MAX;
    }
    if (ours.max_entries == 0) {
        ours.max_entries = KI_CONFIG_ENTRIES;
    }
    ours.alloc = ki__alloc_or_default(ours.alloc);
    *ret_options = ours;
    return 0;
}

ki_config *ki__config_new(const ki_alloc *alloc)
{
    ki_config *config = ki__alloc(alloc, sizeof(*config));
    if (config == NULL) {
        return NULL;
    }
    static const ki_str none = {"", 0};
    *config = (ki_config){
        .alloc = alloc,
        .server = "",
        .path_prefix = "",
        .name_space = "default",
        .context_name = "",
        .cluster_name = "",
        .user_name = "",
        .proxy_url = none,
        .tls = {sizeof(ki_config_tls), none, "", none, "", none, "", "", false},
        .credentials = {sizeof(ki_config_credentials), none, "", "", none},
        .impersonation = {.size = sizeof(ki_config_impersonation), .user = "", .uid = ""},
        .exec = {.size = sizeof(ki_config_exec),
                 .api_version = "",
                 .command = "",
                 .cluster_config = none,
                 .install_hint = "",
                 .file = ""},
    };
    ki__refs_init(&config->refs);
    ki__secrets_init(&config->secrets, alloc);
    return config;
}

/* The only write through a const handle: its reference count. */
static ki_config *counted(const ki_config *config)
{
    return (ki_config *)(uintptr_t)config;
}

ki_config *ki_config_ref(const ki_config *config)
{
    if (config != NULL) {
        ki__refs_take(&counted(config)->refs);
    }
    return counted(config);
}

ki_config *ki_config_unref(const ki_config *config)
{
    if (config != NULL && ki__refs_drop(&counted(config)->refs)) {
        ki_config *last = counted(config);
        ki__secrets_done(&last->secrets);
        ki__free(last->alloc, last);
    }
    return NULL;
}

int ki__config_set_text(ki_config *config, const char **text, ki_str value)
{
    ki_str copy;
    int r = ki__config_set_str(config, &copy, value);
    if (r >= 0) {
        *text = copy.ptr;
    }
    return r;
}

int ki__config_set_str(ki_config *config, ki_str *text, ki_str value)
{
    const char *copy = ki__secrets_copy(&config->secrets, value);
    if (copy == NULL) {
        return -ENOMEM;
    }
    *text = ki_str_make(copy, value.len);
    return 0;
}

/* Appends to a buffer that is large enough. */
static void append(char *out, size_t *len, ki_str text)
{
    if (text.len != 0) {
        memcpy(out + *len, text.ptr, text.len);
        *len += text.len;
    }
}

int ki__config_set_server(ki_config *config, const ki__url *url)
{
    char *server = ki__secrets_take(&config->secrets, url->host.len + url->port.len + 16);
    char *prefix = ki__secrets_take(&config->secrets, url->path.len + 1);
    if (server == NULL || prefix == NULL) {
        return -ENOMEM;
    }
    size_t len = 0;
    append(server, &len, ki_str_from(ki__url_scheme_name(url->scheme)));
    append(server, &len, ki_str_from("://"));
    append(server, &len, url->host);
    if (url->port.len != 0) {
        append(server, &len, ki_str_from(":"));
        append(server, &len, url->port);
    }
    /* One slash before each segment, and no trailing slash. */
    size_t at = 0;
    for (size_t i = 0; i < url->path.len; i++) {
        bool last = i + 1 == url->path.len;
        if (url->path.ptr[i] != '/' || (!last && url->path.ptr[i + 1] != '/')) {
            prefix[at++] = url->path.ptr[i];
        }
    }
    config->server = server;
    config->path_prefix = prefix;
    return 0;
}

const char *ki__config_variable(const ki_config_options *options, const char *name)
{
    const ki_config_environment *from = options->environment;
    const char *value =
        from != NULL && from->get != NULL ? from->get(name, from->user) : secure_getenv(name);
    return value != NULL && *value != '\0' ? value : NULL;
}

bool ki__config_is_header_value(ki_str text)
{
    for (size_t i = 0; i < text.len; i++) {
        unsigned char c = (unsigned char)text.ptr[i];
        if (c < 0x20 || c == 0x7f) {
            return false;
        }
    }
    return true;
}

static void add_number(ki_error *error, uint32_t number)
{
    char room[KI__DIGITS_SIZE];
    ki__error_add(error, ki__digits(number, room));
}

int ki__config_error(ki_error *error, int code, const char *file, uint32_t line, ...)
{
    if (error == NULL) {
        return code;
    }
    (void)ki__error_set(error, code, "%s", "");
    if (file != NULL) {
        ki_str label = ki_str_from(file);
        if (label.len > LABEL_BYTES_MAX) {
            ki__error_add(error, ki_str_from("..."));
            label = ki_str_make(label.ptr + label.len - LABEL_BYTES_MAX, LABEL_BYTES_MAX);
        }
        ki__error_add(error, label);
        ki__error_add(error, ki_str_from(":"));
        if (line != 0) {
            add_number(error, line);
            ki__error_add(error, ki_str_from(":"));
        }
        ki__error_add(error, ki_str_from(" "));
    }
    va_list pieces;
    va_start(pieces, line);
    for (const char *piece = va_arg(pieces, const char *); piece != NULL;
         piece = va_arg(pieces, const char *)) {
        ki__error_add(error, ki_str_from(piece));
    }
    va_end(pieces);
    error->line = line;
    return code;
}

const char *ki_config_server(const ki_config *config)
{
    return config->server;
}

const char *ki_config_path_prefix(const ki_config *config)
{
    return config->path_prefix;
}

const char *ki_config_namespace(const ki_config *config)
{
    return config->name_space;
}

ki_str ki_config_proxy_url(const ki_config *config)
{
    return config->proxy_url;
}

bool ki_config_disable_compression(const ki_config *config)
{
    return config->disable_compression;
}

const char *ki_config_context_name(const ki_config *config)
{
    return config->context_name;
}

const char *ki_config_cluster_name(const ki_config *config)
{
    return config->cluster_name;
}

const char *ki_config_user_name(const ki_config *config)
{
    return config->user_name;
}

bool ki_config_is_in_cluster(const ki_config *config)
{
    return config->in_cluster;
}

const ki_config_tls *ki_config_get_tls(const ki_config *config)
{
    return &config->tls;
}

const ki_config_credentials *ki_config_get_credentials(const ki_config *config)
{
    return &config->credentials;
}

const ki_config_impersonation *ki_config_get_impersonation(const ki_config *config)
{
    return &config->impersonation;
}

const ki_config_exec *ki_config_get_exec(const ki_config *config)
{
    return config->has_exec ? &config->exec : NULL;
}
