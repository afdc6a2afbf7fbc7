/* SPDX-License-Identifier: Apache-2.0 */
/* One kubeconfig: what comes of it, or which error. The table in kubeconfig_cases.h; and what needs
 * files. */
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "support/configs.h"
#include "unit/kubeconfig_cases.h"

static const test_environment nothing;

static void cases_give_what_they_should(void **state)
{
    (void)state;
    for (size_t i = 0; i < CASES; i++) {
        ki_config_options options = KI_OPTIONS_INIT(ki_config_options);
        options.text = ki_str_from(cases[i].text);
        options.environment = test_environment_of(&nothing);
        test_config_expect(&options, NULL, cases[i].expected);
    }
}

/* The line is in the error too, and the message of a NULL error is nowhere. */
static void errors_name_the_line(void **state)
{
    (void)state;
    ki_config *config = NULL;
    ki_error error = KI_ERROR_INIT;
    ki_config_options options = KI_OPTIONS_INIT(ki_config_options);
    options.text = ki_str_from("users:\n- name: u\n  user:\n    token: 12\n");
    assert_int_equal(ki_config_load(&options, &config, &error), KI_ERR_TYPE);
    assert_int_equal(error.line, 4);
    assert_int_equal(error.column, 12);
    assert_int_equal(ki_config_load(&options, &config, NULL), KI_ERR_TYPE);
    options.text = ki_str_from("a: b\nc: [\n");
    assert_int_equal(ki_config_load(&options, &config, &error), KI_ERR_SYNTAX);
    assert_int_equal(error.line, 3);
    assert_int_equal(error.column, 1);
}

/* What is not for us may be nested as well: 32 levels in all, of which the file is the first. */
static void depth_has_a_limit(void **state)
{
    (void)state;
    for (size_t levels = 32; levels <= 33; levels++) {
        ki_buf text;
        ki_config *config = NULL;
        ki_error error = KI_ERROR_INIT;
        ki_config_options options = KI_OPTIONS_INIT(ki_config_options);
        ki_buf_init(&text, NULL, 4096);
        test_add(&text,
                 "current-context: c\ncontexts: [{name: c, context: {cluster: c}}]\n"
                 "clusters: [{name: c, cluster: {server: 'https://h'}}]\nx: ",
                 1);
        test_add(&text, "[", levels - 1);
        test_add(&text, "]", levels - 1);
        options.text = ki_buf_str(&text);
        options.environment = test_environment_of(&nothing);
        int r = ki_config_load(&options, &config, &error);
        assert_int_equal(r, levels == 32 ? 0 : KI_ERR_DEPTH);
        ki_config_unref(config);
        ki_buf_done(&text);
    }
}

static const char with_files[] = "current-context: c\n"
                                 "contexts: [{name: c, context: {cluster: c, user: u}}]\n"
                                 "clusters:\n"
                                 "- name: c\n"
                                 "  cluster: {server: 'https://h', certificate-authority: %s}\n"
                                 "users:\n"
                                 "- name: u\n"
                                 "  user:\n"
                                 "    client-certificate: %s\n"
                                 "    client-key: %s\n"
                                 "    tokenFile: %s\n";

static void expect_files(const test_folder *folder, const char *const *names, const char *expected)
{
    char text[2048];
    snprintf(text, sizeof(text), with_files, names[0], names[1], names[2], names[3]);
    test_folder_write(folder, "kube/config", text);
    ki_config_options options = KI_OPTIONS_INIT(ki_config_options);
    options.path = test_folder_path(folder, "kube/config");
    options.environment = test_environment_of(&nothing);
    test_config_expect(&options, folder, expected);
}

static void relative_paths_begin_at_the_file(void **state)
{
    (void)state;
    test_folder folder;
    test_folder_init(&folder);
    test_folder_write(&folder, "ca", "");
    test_folder_write(&folder, "kube/cert", "");
    test_folder_write(&folder, "kube/sub/key", "");
    test_folder_write(&folder, "token", "");
    expect_files(&folder, (const char *[]){"../ca", "cert", "./sub/../sub/key", "../token"},
                 "server=https://h namespace=default context=c cluster=c user=u ca-file=DIR/ca"
                 " cert-file=DIR/kube/cert key-file=DIR/kube/sub/key token-file=DIR/token");
    expect_files(&folder, (const char *[]){"/dev/null/x", "cert", "sub/key", "../token"},
                 "ENOTDIR DIR/kube/config:5: cluster \"c\": certificate-authority: not a directory"
                 " (/dev/null/x)");
    expect_files(&folder, (const char *[]){"../ca", "gone", "sub/key", "../token"},
                 "ENOENT DIR/kube/config:9: user \"u\": client-certificate: no such file or"
                 " directory (DIR/kube/gone)");
    expect_files(&folder, (const char *[]){"../ca", "cert", "sub", "../token"},
                 "EISDIR DIR/kube/config:10: user \"u\": client-key: is a directory"
                 " (DIR/kube/sub)");
    expect_files(&folder, (const char *[]){"../ca", "cert", "sub/key", "/dev/null"},
                 "KI_ERR_INVALID DIR/kube/config:11: user \"u\": tokenFile: not a regular file");
    test_folder_done(&folder);
}

static void paths_in_memory_stay_or_begin_at_the_given_folder(void **state)
{
    (void)state;
    static const char text[] = "{current-context: c, contexts: [{name: c, context: {cluster: c,"
                               " user: u}}], clusters: [{name: c, cluster: {server: 'https://h'}}],"
                               " users: [{name: u, user: {exec: {command: bin/x, interactiveMode:"
                               " Never, apiVersion: client.authentication.k8s.io/v1}}}]}";
    ki_config_options options = KI_OPTIONS_INIT(ki_config_options);
    options.text = ki_str_from(text);
    test_config_expect(&options, NULL,
                       "server=https://h namespace=default context=c cluster=c user=u exec=bin/x"
                       " version=v1 interactive=never");
    options.text_dir = "/etc//kube/../x/";
    test_config_expect(&options, NULL,
                       "server=https://h namespace=default context=c cluster=c user=u"
                       " exec=/etc/x/bin/x version=v1 interactive=never");
    options.text_dir = "relative";
    test_config_expect(&options, NULL, "EINVAL option text_dir: must be absolute");
}

static void an_explicit_file_must_be_there(void **state)
{
    (void)state;
    test_folder folder;
    test_folder_init(&folder);
    ki_config_options options = KI_OPTIONS_INIT(ki_config_options);
    options.path = test_folder_path(&folder, "none");
    test_config_expect(&options, &folder, "ENOENT DIR/none: no such file or directory");
    options.path = folder.path;
    test_config_expect(&options, &folder, "EISDIR DIR: is a directory");
    options.path = "/dev/null";
    test_config_expect(&options, &folder, "KI_ERR_INVALID /dev/null: not a regular file");
    test_folder_done(&folder);
}

static void a_long_path_is_cut_at_its_start(void **state)
{
    (void)state;
    char path[301];
    memset(path, 'p', sizeof(path) - 1);
    memcpy(path, "/nowhere/", 9);
    path[300] = '\0';
    ki_config_options options = KI_OPTIONS_INIT(ki_config_options);
    options.path = path;
    ki_config *config = NULL;
    ki_error error = KI_ERROR_INIT;
    assert_true(ki_config_load(&options, &config, &error) < 0);
    assert_memory_equal(error.message, "...ppp", 6);
    assert_non_null(strstr(error.message, "ppp: no such file or directory"));
}

static void a_file_that_everybody_may_write_is_not_trusted(void **state)
{
    (void)state;
    test_folder folder;
    test_folder_init(&folder);
    test_folder_write(&folder, "config", "{}");
    ki_config_options options = KI_OPTIONS_INIT(ki_config_options);
    options.path = test_folder_path(&folder, "config");
    options.server = "https://h";
    assert_int_equal(chmod(options.path, 0602), 0);
    test_config_expect(&options, &folder,
                       "KI_ERR_INVALID DIR/config: not trusted: the file is writable by everyone");
    options.allow_shared_files = true;
    test_config_expect(&options, &folder, "server=https://h namespace=default");
    test_folder_done(&folder);
}

static void a_file_has_a_limit(void **state)
{
    (void)state;
    test_folder folder;
    test_folder_init(&folder);
    ki_buf text;
    ki_buf_init(&text, NULL, SIZE_MAX);
    test_add(&text, "#", KI_CONFIG_FILE_BYTES);
    ki_config_options options = KI_OPTIONS_INIT(ki_config_options);
    options.server = "https://h";
    options.text = ki_buf_str(&text);
    test_config_expect(&options, &folder, "server=https://h namespace=default");
    test_folder_write(&folder, "config", ki_buf_text(&text));
    options.text = ki_str_make(NULL, 0);
    options.path = test_folder_path(&folder, "config");
    test_config_expect(&options, &folder, "server=https://h namespace=default");
    test_add(&text, "#", 1);
    test_folder_write(&folder, "config", ki_buf_text(&text));
    test_config_expect(&options, &folder, "KI_ERR_LIMIT DIR/config: the file is too large");
    options.path = NULL;
    options.text = ki_buf_str(&text);
    test_config_expect(&options, &folder, "KI_ERR_LIMIT kubeconfig: the text is too large");
    options.max_file_bytes = KI_CONFIG_FILE_BYTES + 1;
    test_config_expect(&options, &folder, "server=https://h namespace=default");
    ki_buf_done(&text);
    test_folder_done(&folder);
}

static void lists_have_a_limit(void **state)
{
    (void)state;
    static const char *const lists[] = {"clusters", "users", "contexts"};
    for (size_t i = 0; i < 3; i++) {
        for (int more = 0; more < 2; more++) {
            ki_buf text;
            ki_buf_init(&text, NULL, SIZE_MAX);
            test_add(&text, lists[i], 1);
            test_add(&text, ":\n", 1);
            for (int k = 0; k < KI_CONFIG_ENTRIES + more; k++) {
                char item[32];
                snprintf(item, sizeof(item), "- name: n%d\n", k);
                test_add(&text, item, 1);
            }
            char expected[128];
            snprintf(expected, sizeof(expected), "KI_ERR_LIMIT kubeconfig:2: %s: too many entries",
                     lists[i]);
            ki_config_options options = KI_OPTIONS_INIT(ki_config_options);
            options.text = ki_buf_str(&text);
            options.server = "https://h";
            test_config_expect(&options, NULL,
                               more != 0 ? expected : "server=https://h namespace=default");
            options.max_entries = KI_CONFIG_ENTRIES + 1;
            test_config_expect(&options, NULL, "server=https://h namespace=default");
            ki_buf_done(&text);
        }
    }
}

static void options_have_sizes_and_one_source(void **state)
{
    (void)state;
    ki_config_options options = KI_OPTIONS_INIT(ki_config_options);
    options.path = "/a";
    options.text = ki_str_from("");
    test_config_expect(&options, NULL, "EINVAL only one of path, paths and text may be given");
    struct {
        ki_config_options options;
        size_t newer;
    } later = {.options = {.size = sizeof(later)}, .newer = 1};
    test_config_expect(
        &later.options, NULL,
        "E2BIG ki_config_options: unknown members are set (struct newer than the library)");
}

static void references_are_counted(void **state)
{
    (void)state;
    test_alloc alloc;
    test_alloc_init(&alloc);
    ki_config *config = NULL;
    ki_config_options options = KI_OPTIONS_INIT(ki_config_options);
    options.text = ki_str_from("");
    options.server = "https://h";
    options.alloc = &alloc.table;
    assert_int_equal(ki_config_load(&options, &config, NULL), 0);
    assert_ptr_equal(ki_config_ref(config), config);
    assert_null(ki_config_unref(config));
    assert_string_equal(ki_config_server(config), "https://h");
    assert_null(ki_config_unref(config));
    assert_null(ki_config_ref(NULL));
    assert_null(ki_config_unref(NULL));
    test_alloc_done(&alloc);
}

/* Every case, with each allocation failing in turn. */
static int load_scenario(const ki_alloc *alloc, void *user)
{
    ki_config_options options = KI_OPTIONS_INIT(ki_config_options);
    options.text = ki_str_from(user);
    options.environment = test_environment_of(&nothing);
    options.alloc = alloc;
    ki_config *config = NULL;
    ki_error error = KI_ERROR_INIT;
    int r = ki_config_load(&options, &config, &error);
    assert_true(r < 0 ? config == NULL && error.code == r : config != NULL);
    ki_config_unref(config);
    return r;
}

static void out_of_memory_is_reported(void **state)
{
    (void)state;
    for (size_t i = 0; i < CASES; i++) {
        if (strncmp(cases[i].expected, "server=", 7) == 0) {
            test_alloc_sweep(load_scenario, (void *)(uintptr_t)cases[i].text);
        }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(cases_give_what_they_should),
        cmocka_unit_test(errors_name_the_line),
        cmocka_unit_test(depth_has_a_limit),
        cmocka_unit_test(relative_paths_begin_at_the_file),
        cmocka_unit_test(paths_in_memory_stay_or_begin_at_the_given_folder),
        cmocka_unit_test(an_explicit_file_must_be_there),
        cmocka_unit_test(a_long_path_is_cut_at_its_start),
        cmocka_unit_test(a_file_that_everybody_may_write_is_not_trusted),
        cmocka_unit_test(a_file_has_a_limit),
        cmocka_unit_test(lists_have_a_limit),
        cmocka_unit_test(options_have_sizes_and_one_source),
        cmocka_unit_test(references_are_counted),
        cmocka_unit_test(out_of_memory_is_reported),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
