/* SPDX-License-Identifier: Apache-2.0 */
/* Any bytes as a kubeconfig. An error must have a text; what is accepted must be usable. And
 * hiding the text from libyaml must change nothing: read without a mask, the same bytes must give
 * the same scalars, and be refused if they are refused. */
#include <stdlib.h>
#include <string.h>
#include <yaml.h>

#include <kinformer/config.h>

#include "client/config/yaml_reader.h"

static void must(bool condition)
{
    if (!condition) {
        __builtin_trap();
    }
}

static const char *no_variable(const char *name, void *user)
{
    (void)name;
    (void)user;
    return NULL;
}

static bool is_known(int code)
{
    static const int known[] = {
        KI_ERR_NOT_FOUND, KI_ERR_SYNTAX,  KI_ERR_ENCODING,    KI_ERR_DEPTH,
        KI_ERR_TYPE,      KI_ERR_INVALID, KI_ERR_UNSUPPORTED, KI_ERR_LIMIT,
    };
    for (size_t i = 0; i < sizeof(known) / sizeof(known[0]); i++) {
        if (code == known[i]) {
            return true;
        }
    }
    return code < 0 && code > -4096; /* files that it names */
}

static void check_config(const ki_config *config)
{
    const ki_config_tls *tls = ki_config_get_tls(config);
    const ki_config_credentials *credentials = ki_config_get_credentials(config);
    const ki_config_exec *exec = ki_config_get_exec(config);
    bool https = strncmp(ki_config_server(config), "https://", 8) == 0;
    must(https || strncmp(ki_config_server(config), "http://", 7) == 0);
    must(ki_config_namespace(config)[0] != '\0');
    must(!tls->insecure || (tls->ca_data.len == 0 && tls->ca_file[0] == '\0'));
    must(https || (credentials->token.len == 0 && exec == NULL && tls->cert_data.len == 0));
    must(credentials->token.len == 0 || credentials->username[0] == '\0');
    must(strlen(credentials->token.ptr) == credentials->token.len);
    must(exec == NULL || exec->command[0] != '\0');
    must(ki_config_get_impersonation(config)->user[0] != '\0' ||
         ki_config_get_impersonation(config)->group_count == 0);
}

static void load(ki_str text)
{
    ki_config_options options = KI_OPTIONS_INIT(ki_config_options);
    options.text = text;
    options.environment = &(ki_config_environment){.get = no_variable};
    ki_config *config = NULL;
    ki_error error = KI_ERROR_INIT;
    int r = ki_config_load(&options, &config, &error);
    if (r < 0) {
        must(is_known(r) && error.code == r && error.message[0] != '\0' && config == NULL);
        return;
    }
    check_config(config);
    ki_config_unref(config);
}

/* Goes over the text without a mask. `yaml`, if not NULL, must have the same scalars. Whether it
 * came to the end. */
static bool read_plainly(ki_str text, const ki__yaml *yaml)
{
    yaml_parser_t parser;
    must(yaml_parser_initialize(&parser) == 1);
    yaml_parser_set_encoding(&parser, YAML_UTF8_ENCODING);
    yaml_parser_set_input_string(&parser, (const unsigned char *)text.ptr, text.len);
    size_t node = 1;
    bool more = true;
    bool ok = true;
    while (more && ok) {
        yaml_event_t event;
        ok = yaml_parser_parse(&parser, &event) == 1;
        if (!ok) {
            break;
        }
        more = event.type != YAML_STREAM_END_EVENT;
        if (event.type == YAML_SCALAR_EVENT && yaml != NULL) {
            while (node < yaml->count && yaml->nodes[node].kind != KI__YAML_SCALAR) {
                node++;
            }
            must(node < yaml->count);
            must(
                ki_str_eq(yaml->nodes[node].text, ki_str_make((const char *)event.data.scalar.value,
                                                              event.data.scalar.length)));
            node++;
        }
        yaml_event_delete(&event);
    }
    yaml_parser_delete(&parser);
    return ok;
}

static void compare(ki_str text)
{
    bool marked = text.len >= 3 && memcmp(text.ptr, "\xef\xbb\xbf", 3) == 0;
    ki_str plain = marked ? ki_str_make(text.ptr + 3, text.len - 3) : text;
    ki__yaml yaml;
    ki_error error = KI_ERROR_INIT;
    int r = ki__yaml_read(text, KI__YAML_CONFIG_DEPTH, NULL, &yaml, &error);
    if (r >= 0) {
        must(read_plainly(plain, &yaml));
        ki__yaml_done(&yaml);
    } else if (r == KI_ERR_SYNTAX) {
        /* Names of directives and what is written %41 in tags are hidden too: we take neither. */
        must(memchr(text.ptr, '%', text.len) != NULL || !read_plainly(plain, NULL));
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t len)
{
    ki_str text = ki_str_make(len != 0 ? (const char *)bytes : "", len);
    load(text);
    compare(text);
    return 0;
}
