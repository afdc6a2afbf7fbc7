/* SPDX-License-Identifier: Apache-2.0 */
/* Secrets stay where they belong. A kubeconfig with a canary in every field that may hold a secret
 * is loaded, whole and broken in all places; no canary may ever be in an error, in a log record, in
 * memory that we free, or in memory that libyaml frees. */
#include <malloc.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "support/configs.h"
#include "support/watched_alloc.h"

/* Also as base64 shows what is in data, and as a beginning that was cut. */
static const char *const canaries[] = {
    "CANARY",   /* in each of the values below */
    "Q0FOQVJZ", /* CANARY in base64 */
    "TokenCAN", "PassCANA", "ProxyCAN", "ExecArgC", "ExecEnvC", NULL,
};

static const char text[] = "apiVersion: v1\n"
                           "current-context: c\n"
                           "contexts: [{name: c, context: {cluster: c, user: u}}]\n"
                           "clusters:\n"
                           "- name: c\n"
                           "  cluster:\n"
                           "    server: https://h\n"
                           "    proxy-url: http://me:ProxyCANARY5@proxy\n"
                           "    extensions:\n"
                           "    - name: client.authentication.k8s.io/exec\n"
                           "      extension: {audience: ExtensionCANARY8}\n"
                           "users:\n"
                           "- name: u\n"
                           "  user:\n"
                           "    token: TokenCANARY1.abcdefghijklmnopqrstuvwxyz0123456789\n"
                           "    client-certificate-data: Q0FOQVJZ\n"
                           "    client-key-data: |\n"
                           "      Q0FOQVJZQ0FOQVJZ\n"
                           "      Q0FOQVJZQ0FOQVJZ\n"
                           "    as: x\n"
                           "    as-user-extra: {secret: ['ExtraCANARY7']}\n"
                           "    exec:\n"
                           "      apiVersion: client.authentication.k8s.io/v1\n"
                           "      command: tool\n"
                           "      interactiveMode: Never\n"
                           "      args: ['--key=ExecArgCANARY3', \"ExecArgCANARY4\\x41\"]\n"
                           "      env:\n"
                           "      - {name: PW, value: ExecEnvCANARY6}\n"
                           "- name: other\n"
                           "  user: {username: me, password: 'PassCANARY2'}\n";

static size_t words_found;

static void look_for_canaries(const char *bytes, size_t len, const char *where)
{
    for (size_t i = 0; canaries[i] != NULL; i++) {
        if (memmem(bytes, len, canaries[i], strlen(canaries[i])) != NULL) {
            words_found++;
            print_error("%s: %.*s\n", where, (int)len, bytes);
        }
    }
}

/* libyaml's own allocator, which a program may put another in place of. */
KI_API void *yaml_malloc(size_t size);
KI_API void *yaml_realloc(void *block, size_t size);
KI_API void yaml_free(void *block);
static size_t yaml_freed;
static size_t yaml_found;

void *yaml_malloc(size_t size)
{
    return malloc(size != 0 ? size : 1);
}

/* Some of its blocks come from strdup(), so they have no size in front. */
void yaml_free(void *block)
{
    if (block == NULL) {
        return;
    }
    yaml_freed++;
    for (size_t i = 0; canaries[i] != NULL; i++) {
        if (memmem(block, malloc_usable_size(block), canaries[i], strlen(canaries[i])) != NULL) {
            yaml_found++;
        }
    }
    free(block);
}

/* Always moves. */
void *yaml_realloc(void *block, size_t size)
{
    void *moved = yaml_malloc(size);
    if (moved != NULL && block != NULL) {
        size_t old = malloc_usable_size(block);
        memcpy(moved, block, old < size ? old : size);
        yaml_free(block);
    }
    return moved;
}

static void look_at_record(const ki_log_record *record, void *user)
{
    (void)user;
    look_for_canaries(record->message, strlen(record->message), "log");
    for (size_t i = 0; i < record->field_count; i++) {
        look_for_canaries(record->fields[i].value.ptr, record->fields[i].value.len, "log");
    }
}

static const test_environment nothing;
static const ki_log log_all = {.write = look_at_record, .level = KI_LOG_DEBUG};

/* Loads, and looks everywhere. */
static int load(ki_config_options *options)
{
    watched_alloc watched;
    watched_alloc_init(&watched, canaries);
    options->size = sizeof(*options);
    options->alloc = &watched.table;
    options->log = &log_all;
    options->environment = test_environment_of(&nothing);
    ki_config *config = NULL;
    ki_error error = KI_ERROR_INIT;
    int r = ki_config_load(options, &config, &error);
    look_for_canaries(error.message, strlen(error.message), "error");
    ki_config_unref(config);
    assert_int_equal(words_found, 0);
    assert_int_equal(watched.found, 0);
    assert_int_equal(yaml_found, 0);
    assert_true(watched.freed != 0);
    return r;
}

static int load_text(const char *bytes, size_t len)
{
    ki_config_options options = {.text = {bytes, len}};
    int first = load(&options);
    options = (ki_config_options){.text = {bytes, len}, .user = "other"};
    int second = load(&options);
    return first < 0 || second < 0 ? -1 : 0;
}

static void a_whole_kubeconfig_leaves_no_traces(void **state)
{
    (void)state;
    assert_int_equal(load_text(text, strlen(text)), 0);
    if (yaml_freed == 0) {
        print_message("libyaml cannot be watched here\n");
    }
}

static void a_file_leaves_no_traces(void **state)
{
    (void)state;
    test_folder folder;
    test_folder_init(&folder);
    test_folder_write(&folder, "config", text);
    ki_config_options options = {.path = test_folder_path(&folder, "config")};
    assert_int_equal(load(&options), 0);
    options = (ki_config_options){.path = test_folder_path(&folder, "config"), .max_file_bytes = 9};
    assert_int_equal(load(&options), KI_ERR_LIMIT);
    test_folder_done(&folder);
}

static void secrets_in_options_leave_no_traces(void **state)
{
    (void)state;
    ki_config_options options = {
        .text = {"", 0},
        .server = "https://h",
        .token = "TokenCANARY1",
        .proxy_url = "http://me:ProxyCANARY5@proxy",
    };
    assert_int_equal(load(&options), 0);
    options = (ki_config_options){.text = {"", 0}, .token = "TokenCANARY\n", .server = "h"};
    assert_true(load(&options) < 0);
    options = (ki_config_options){
        .text = {"", 0}, .token = "TokenCANARY", .password = "PassCANARY2", .server = "h"};
    assert_true(load(&options) < 0);
    options = (ki_config_options){.text = {"", 0}, .server = "https://me:PassCANARY2@h"};
    assert_true(load(&options) < 0);
    options = (ki_config_options){
        .text = {"", 0}, .server = "https://h", .proxy_url = "http://me:ProxyCANARY5@ x"};
    assert_true(load(&options) < 0);
}

static void a_kubeconfig_cut_anywhere_leaves_no_traces(void **state)
{
    (void)state;
    for (size_t len = 0; len < strlen(text); len++) {
        (void)load_text(text, len);
    }
}

static void a_kubeconfig_broken_anywhere_leaves_no_traces(void **state)
{
    (void)state;
    static const char breaks[] = "\n:{[\"'&!|#-,\t%\\\x01\xff";
    size_t refused = 0;
    for (size_t i = 0; i < strlen(text); i++) {
        char broken[sizeof(text)];
        memcpy(broken, text, sizeof(text));
        broken[i] = breaks[i % (sizeof(breaks) - 1)];
        refused += load_text(broken, strlen(text)) < 0 ? 1 : 0;
    }
    assert_true(refused > strlen(text) / 3);
}

/* A value of the wrong type, or one that is refused for another reason, is not shown. */
static void refused_values_leave_no_traces(void **state)
{
    (void)state;
    static const char *const fields[] = {
        "token: [TokenCANARY1]",
        "token: {TokenCANARY1: x}",
        "token: \"TokenCANARY1\\0\"",
        "token: \"TokenCANARY1\\n\"",
        "token: TokenCANARY1, token: TokenCANARY1",
        "token: !TokenCANARY1 x",
        "token: &TokenCANARY1 x",
        "token: *TokenCANARY1",
        "TokenCANARY1: 1, TokenCANARY1: 2",
        "username: 'TokenCANARY1:x'",
        "client-key-data: 'Q0FOQVJZ?'",
        "client-certificate-data: Q0FOQVJZ",
        "password: PassCANARY2, token: TokenCANARY1",
        "as: x, as-groups: ['TokenCANARY1', \"\\n\"]",
        "exec: {apiVersion: TokenCANARY1, command: x}",
        "exec: {apiVersion: client.authentication.k8s.io/v1, command: x, interactiveMode:"
        " TokenCANARY1}",
        "exec: {apiVersion: client.authentication.k8s.io/v1beta1, command: x, env: [{name:"
        " 'TokenCANARY1=x', value: ExecEnvCANARY6}]}",
        "auth-provider: {name: oidc, config: {secret: TokenCANARY1}}",
    };
    for (size_t i = 0; i < sizeof(fields) / sizeof(fields[0]); i++) {
        char whole[1024];
        int len = snprintf(whole, sizeof(whole),
                           "{current-context: c, contexts: [{name: c, context: {cluster: c, user:"
                           " u}}], clusters: [{name: c, cluster: {server: 'https://h'}}],"
                           " users: [{name: u, user: {%s}}]}",
                           fields[i]);
        ki_config_options options = {.text = {whole, (size_t)len}};
        if (load(&options) >= 0) {
            fail_msg("%s was accepted", fields[i]);
        }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_whole_kubeconfig_leaves_no_traces),
        cmocka_unit_test(a_file_leaves_no_traces),
        cmocka_unit_test(secrets_in_options_leave_no_traces),
        cmocka_unit_test(a_kubeconfig_cut_anywhere_leaves_no_traces),
        cmocka_unit_test(a_kubeconfig_broken_anywhere_leaves_no_traces),
        cmocka_unit_test(refused_values_leave_no_traces),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
