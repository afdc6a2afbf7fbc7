/* SPDX-License-Identifier: Apache-2.0 */
#include "support/configs.h"

#include <errno.h>
#include <ftw.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static const char *get_variable(const char *name, void *user)
{
    const test_environment *environment = user;
    size_t len = strlen(name);
    for (size_t i = 0; environment->variables[i] != NULL; i++) {
        const char *variable = environment->variables[i];
        if (strncmp(variable, name, len) == 0 && variable[len] == '=') {
            return variable + len + 1;
        }
    }
    return NULL;
}

const ki_config_environment *test_environment_of(const test_environment *environment)
{
    static ki_config_environment tables[8];
    static size_t calls;
    ki_config_environment *table = &tables[calls++ % 8];
    *table = (ki_config_environment){.get = get_variable, .user = (void *)(uintptr_t)environment};
    return table;
}

void test_folder_init(test_folder *folder)
{
    const char *top = getenv("TMPDIR");
    int len = snprintf(folder->path, sizeof(folder->path), "%s/kinformer-XXXXXX",
                       top != NULL ? top : "/tmp");
    assert_true(len > 0 && (size_t)len < sizeof(folder->path));
    assert_non_null(mkdtemp(folder->path));
}

static int remove_one(const char *path, const struct stat *info, int kind, struct FTW *place)
{
    (void)info;
    (void)kind;
    (void)place;
    return remove(path);
}

void test_folder_done(test_folder *folder)
{
    assert_int_equal(nftw(folder->path, remove_one, 8, FTW_DEPTH | FTW_PHYS), 0);
}

const char *test_folder_path(const test_folder *folder, const char *name)
{
    static char paths[8][256];
    static size_t next;
    char *path = paths[next++ % 8];
    int len = snprintf(path, sizeof(paths[0]), "%s/%s", folder->path, name);
    assert_true(len > 0 && (size_t)len < sizeof(paths[0]));
    return path;
}

void test_folder_write(const test_folder *folder, const char *name, const char *text)
{
    for (const char *p = strchr(name, '/'); p != NULL; p = strchr(p + 1, '/')) {
        char part[128];
        int len = snprintf(part, sizeof(part), "%.*s", (int)(p - name), name);
        assert_true(len > 0 && (size_t)len < sizeof(part));
        int r = mkdir(test_folder_path(folder, part), 0700);
        assert_true(r == 0 || errno == EEXIST);
    }
    const char *path = test_folder_path(folder, name);
    FILE *file = fopen(path, "wb");
    assert_non_null(file);
    assert_int_equal(fwrite(text, 1, strlen(text), file), strlen(text));
    assert_int_equal(fclose(file), 0);
    assert_int_equal(chmod(path, 0600), 0);
}

/* Adds text with DIR for the folder. */
static void add(ki_buf *out, const test_folder *folder, const char *text)
{
    const char *found = folder != NULL ? strstr(text, folder->path) : NULL;
    while (found != NULL) {
        assert_int_equal(ki_buf_add(out, text, (size_t)(found - text)), 0);
        test_add(out, "DIR", 1);
        text = found + strlen(folder->path);
        found = strstr(text, folder->path);
    }
    test_add(out, text, 1);
}

static void add_field(ki_buf *out, const test_folder *folder, const char *name, const char *text)
{
    if (text[0] == '\0') {
        return;
    }
    test_add(out, out->len != 0 ? " " : "", 1);
    test_add(out, name, 1);
    test_add(out, "=", 1);
    add(out, folder, text);
}

static void add_flag(ki_buf *out, const char *name, bool set)
{
    if (set) {
        test_add(out, out->len != 0 ? " " : "", 1);
        test_add(out, name, 1);
    }
}

static void add_list(ki_buf *out, const char *name, const char *const *texts, size_t count)
{
    if (count == 0) {
        return;
    }
    test_add(out, " ", 1);
    test_add(out, name, 1);
    for (size_t i = 0; i < count; i++) {
        test_add(out, i == 0 ? "=[" : "|", 1);
        test_add(out, texts[i], 1);
    }
    test_add(out, "]", 1);
}

static void add_exec(ki_buf *out, const test_folder *folder, const ki_config_exec *exec)
{
    static const char *const modes[] = {"never", "if-available", "always"};
    if (exec == NULL) {
        return;
    }
    add_field(out, folder, "exec", exec->command);
    add_field(out, folder, "version", strrchr(exec->api_version, '/') + 1);
    add_list(out, "args", exec->args, exec->arg_count);
    for (size_t i = 0; i < exec->variable_count; i++) {
        add_field(out, folder, exec->variables[i].name, exec->variables[i].value.ptr);
    }
    add_field(out, folder, "interactive", modes[exec->interactive]);
    add_flag(out, "cluster-info", exec->provide_cluster_info);
    add_field(out, folder, "config", exec->cluster_config.ptr);
    add_field(out, folder, "hint", exec->install_hint);
}

void test_config_print(const ki_config *config, const test_folder *folder, ki_buf *out)
{
    const ki_config_tls *tls = ki_config_get_tls(config);
    const ki_config_credentials *credentials = ki_config_get_credentials(config);
    const ki_config_impersonation *as = ki_config_get_impersonation(config);
    add_field(out, folder, "server", ki_config_server(config));
    add_field(out, folder, "prefix", ki_config_path_prefix(config));
    add_field(out, folder, "namespace", ki_config_namespace(config));
    add_field(out, folder, "context", ki_config_context_name(config));
    add_field(out, folder, "cluster", ki_config_cluster_name(config));
    add_field(out, folder, "user", ki_config_user_name(config));
    add_flag(out, "in-cluster", ki_config_is_in_cluster(config));
    add_field(out, folder, "proxy", ki_config_proxy_url(config).ptr);
    add_flag(out, "no-compression", ki_config_disable_compression(config));
    add_field(out, folder, "ca", tls->ca_data.ptr);
    add_field(out, folder, "ca-file", tls->ca_file);
    add_field(out, folder, "cert", tls->cert_data.ptr);
    add_field(out, folder, "cert-file", tls->cert_file);
    add_field(out, folder, "key", tls->key_data.ptr);
    add_field(out, folder, "key-file", tls->key_file);
    add_field(out, folder, "server-name", tls->server_name);
    add_flag(out, "insecure", tls->insecure);
    add_field(out, folder, "token", credentials->token.ptr);
    add_field(out, folder, "token-file", credentials->token_file);
    add_field(out, folder, "username", credentials->username);
    add_field(out, folder, "password", credentials->password.ptr);
    add_field(out, folder, "as", as->user);
    add_field(out, folder, "as-uid", as->uid);
    add_list(out, "as-groups", as->groups, as->group_count);
    for (size_t i = 0; i < as->extra_count; i++) {
        add_list(out, as->extra[i].key, as->extra[i].values, as->extra[i].value_count);
    }
    add_exec(out, folder, ki_config_get_exec(config));
}

void test_config_expect(const ki_config_options *options, const test_folder *folder,
                        const char *expected)
{
    ki_config *config = NULL;
    ki_error error = KI_ERROR_INIT;
    int r = ki_config_load(options, &config, &error);
    ki_buf got;
    ki_buf_init(&got, NULL, 65536);
    if (r < 0) {
        assert_null(config);
        assert_int_equal(error.code, r);
        test_add(&got, ki_error_name(r), 1);
        test_add(&got, " ", 1);
        add(&got, folder, error.message);
    } else {
        test_config_print(config, folder, &got);
        assert_null(ki_config_unref(config));
    }
    if (strcmp(ki_buf_text(&got), expected) != 0) {
        fail_msg("\n expected %s\n got      %s", expected, ki_buf_text(&got));
    }
    ki_buf_done(&got);
}
