/* SPDX-License-Identifier: Apache-2.0 */
/* Making credentials: what is refused at once, whom plugins are run for, and which programs. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "client/auth/credentials.h"
#include "client/auth/exec_command.h"
#include "support/credentialing.h"

#define V1 "client.authentication.k8s.io/v1"
#define EXEC_OF(command) "exec: {apiVersion: " V1 ", command: " command ", interactiveMode: Never}"
#define EXEC EXEC_OF("DIR/plugin")

static int make(credentialing *c, ki_error *error)
{
    *error = KI_ERROR_INIT;
    int r = credentialing_new(c, error);
    assert_int_equal(r, error->code);
    if (r == 0) {
        ki__credentials_free(c->credentials);
        c->credentials = NULL;
    } else {
        assert_true(error->message[0] != '\0');
    }
    return r;
}

/* ---- which plugins ---- */

static void plugins_are_denied_unless_they_are_allowed(void **state)
{
    (void)state;
    credentialing c;
    ki_error error = KI_ERROR_INIT;
    credentialing_begin(&c);
    credentialing_plugin(&c);
    credentialing_load(&c, "https://h", "", EXEC);
    c.options.exec_policy = KI_EXEC_DENY;
    assert_int_equal(make(&c, &error), KI_ERR_DENIED);
    assert_non_null(strstr(error.message, "exec_policy"));
    assert_non_null(strstr(error.message, test_folder_path(&c.folder, "plugin")));
    c.options = (ki_client_options){.size = sizeof(c.options)}; /* which is the default */
    assert_int_equal(make(&c, &error), KI_ERR_DENIED);
    c.options.exec_policy = KI_EXEC_MAX;
    assert_int_equal(make(&c, &error), -EINVAL);
    c.options.exec_policy = KI_EXEC_ALLOW;
    assert_int_equal(make(&c, &error), 0);
    assert_int_equal(credentialing_runs(&c), 0); /* making runs nothing */
    credentialing_end(&c);
}

/* With a $PATH that leads to the folder; a plugin "tool" is in "bin" and in "other". */
static void begin_path(credentialing *c, const char *command)
{
    char path[512];
    credentialing_begin(c);
    const char *names[] = {"bin/tool", "other/tool"};
    for (size_t i = 0; i < 2; i++) {
        test_folder_write(&c->folder, names[i], "#!/bin/sh\n");
        assert_int_equal(chmod(test_folder_path(&c->folder, names[i]), 0700), 0);
    }
    snprintf(path, sizeof(path), ":.:relative/bin:%s/none:%s/bin:%s/other", c->folder.path,
             c->folder.path, c->folder.path);
    assert_int_equal(setenv("PATH", path, 1), 0);
    credentialing_load(c, "https://h", "", command);
    c->options.exec_policy = KI_EXEC_LISTED;
}

static void a_list_has_paths_and_names(void **state)
{
    (void)state;
    char *saved = strdup(getenv("PATH"));
    static const struct {
        const char *command;
        const char *allowed[3];
        int code;
    } cases[] = {
        {EXEC_OF("tool"), {NULL}, KI_ERR_DENIED},
        {EXEC_OF("tool"), {"tool"}, 0},
        {EXEC_OF("tool"), {"other", "tool"}, 0},
        {EXEC_OF("tool"), {"DIR/bin/tool"}, 0},
        {EXEC_OF("tool"), {"DIR/other/tool"}, KI_ERR_DENIED},
        {EXEC_OF("tool"), {"too", "toolx"}, KI_ERR_DENIED},
        {EXEC_OF("tool"), {"bin/tool"}, -EINVAL},
        {EXEC_OF("tool"), {"./tool"}, -EINVAL},
        {EXEC_OF("tool"), {"nowhere-to-be-found"}, KI_ERR_DENIED},
        {EXEC_OF("DIR/bin/tool"), {"tool"}, 0},
        {EXEC_OF("DIR/bin/tool"), {"DIR/bin/tool"}, 0},
        {EXEC_OF("DIR/other/tool"), {"tool"}, KI_ERR_DENIED}, /* $PATH leads elsewhere */
        {EXEC_OF("DIR/other/tool"), {"DIR/other/tool"}, 0},
        {EXEC_OF("absent"), {"absent"}, -ENOENT},
        {EXEC_OF("DIR/absent"), {"DIR/absent"}, -ENOENT},
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        credentialing c;
        ki_error error = KI_ERROR_INIT;
        char texts[3][256];
        const char *allowed[4] = {NULL};
        begin_path(&c, cases[i].command);
        for (size_t a = 0; a < 3 && cases[i].allowed[a] != NULL; a++) {
            bool own = strncmp(cases[i].allowed[a], "DIR", 3) == 0;
            snprintf(texts[a], sizeof(texts[a]), "%s%s", own ? c.folder.path : "",
                     cases[i].allowed[a] + (own ? 3 : 0));
            allowed[a] = texts[a];
        }
        c.options.exec_allowed = allowed;
        int r = make(&c, &error);
        if (r != cases[i].code) {
            fail_msg("%zu: %s: %s", i, ki_error_name(r), error.message);
        }
        credentialing_end(&c);
        assert_int_equal(setenv("PATH", saved, 1), 0);
    }
    free(saved);
}

/* A program in the working folder is never found by its name. */
static void the_working_folder_is_not_searched(void **state)
{
    (void)state;
    credentialing c;
    ki_error error = KI_ERROR_INIT;
    char *saved = strdup(getenv("PATH"));
    char here[512];
    assert_non_null(getcwd(here, sizeof(here)));
    static const char *const paths[] = {"", ".", ":", "bin", "./bin:", NULL};
    for (size_t i = 0; i < 6; i++) {
        begin_path(&c, EXEC_OF("tool"));
        c.options.exec_policy = KI_EXEC_ALLOW;
        assert_int_equal(chdir(test_folder_path(&c.folder, i < 3 ? "bin" : "")), 0);
        assert_int_equal(paths[i] != NULL ? setenv("PATH", paths[i], 1) : unsetenv("PATH"), 0);
        assert_int_equal(make(&c, &error), -ENOENT);
        assert_int_equal(chdir(here), 0);
        credentialing_end(&c);
    }
    assert_int_equal(setenv("PATH", saved, 1), 0);
    free(saved);
}

static void what_everybody_may_write_is_not_run(void **state)
{
    (void)state;
    credentialing c;
    ki_error error = KI_ERROR_INIT;
    credentialing_begin(&c);
    test_folder_write(&c.folder, "bin/tool", "#!/bin/sh\n");
    char tool[256];
    char bin[256];
    char link_path[256];
    snprintf(tool, sizeof(tool), "%s", test_folder_path(&c.folder, "bin/tool"));
    snprintf(bin, sizeof(bin), "%s", test_folder_path(&c.folder, "bin"));
    snprintf(link_path, sizeof(link_path), "%s", test_folder_path(&c.folder, "link"));
    c.options.exec_policy = KI_EXEC_ALLOW;
    credentialing_load(&c, "https://h", "", EXEC_OF("DIR/bin/tool"));
    assert_int_equal(make(&c, &error), -EACCES); /* not executable */
    assert_int_equal(chmod(tool, 0755), 0);
    assert_int_equal(make(&c, &error), 0);
    assert_int_equal(chmod(tool, 0777), 0);
    assert_int_equal(make(&c, &error), KI_ERR_DENIED);
    assert_int_equal(chmod(tool, 0755), 0);
    assert_int_equal(chmod(bin, 0777), 0);
    assert_int_equal(make(&c, &error), KI_ERR_DENIED);
    assert_int_equal(chmod(bin, 01777), 0); /* sticky is no better */
    assert_int_equal(make(&c, &error), KI_ERR_DENIED);
    assert_int_equal(symlink(tool, link_path), 0); /* nor is a link to it */
    credentialing_load(&c, "https://h", "", EXEC_OF("DIR/link"));
    assert_int_equal(make(&c, &error), KI_ERR_DENIED);
    assert_int_equal(chmod(bin, 0755), 0);
    assert_int_equal(make(&c, &error), 0);
    credentialing_load(&c, "https://h", "", EXEC_OF("DIR/bin"));
    assert_int_equal(make(&c, &error), -EACCES);
    credentialing_end(&c);
}

/* A user who may write a folder further up may replace its contents, unless it is
 * sticky; a link on the way may be replaced where it lies. */
static void the_way_to_it_must_be_safe_too(void **state)
{
    (void)state;
    credentialing c;
    ki_error error = KI_ERROR_INIT;
    char up[256];
    char tool[256];
    char links[256];
    char first[256];
    char second[256];
    credentialing_begin(&c);
    test_folder_write(&c.folder, "up/bin/tool", "#!/bin/sh\n");
    test_folder_write(&c.folder, "links/other", "");
    snprintf(up, sizeof(up), "%s", test_folder_path(&c.folder, "up"));
    snprintf(tool, sizeof(tool), "%s", test_folder_path(&c.folder, "up/bin/tool"));
    snprintf(links, sizeof(links), "%s", test_folder_path(&c.folder, "links"));
    snprintf(first, sizeof(first), "%s", test_folder_path(&c.folder, "first"));
    snprintf(second, sizeof(second), "%s", test_folder_path(&c.folder, "links/second"));
    assert_int_equal(chmod(tool, 0755), 0);
    c.options.exec_policy = KI_EXEC_ALLOW;
    credentialing_load(&c, "https://h", "", EXEC_OF("DIR/up/bin/tool"));
    assert_int_equal(make(&c, &error), 0);
    assert_int_equal(chmod(up, 0777), 0);
    assert_int_equal(make(&c, &error), KI_ERR_DENIED);
    assert_int_equal(chmod(up, 01777), 0); /* as /tmp is: "bin" is ours and stays */
    assert_int_equal(make(&c, &error), 0);
    assert_int_equal(chmod(up, 0755), 0);

    assert_int_equal(symlink(tool, second), 0);
    assert_int_equal(symlink(second, first), 0);
    credentialing_load(&c, "https://h", "", EXEC_OF("DIR/first"));
    assert_int_equal(make(&c, &error), 0);
    assert_int_equal(chmod(links, 0777), 0);
    assert_int_equal(make(&c, &error), KI_ERR_DENIED);
    credentialing_end(&c);
}

static void what_is_missing_comes_with_its_hint(void **state)
{
    (void)state;
    credentialing c;
    ki_error error = KI_ERROR_INIT;
    credentialing_begin(&c);
    c.options.exec_policy = KI_EXEC_ALLOW;
    credentialing_load(&c, "https://h", "",
                       "exec: {apiVersion: " V1 ", command: no-such-plugin, interactiveMode:"
                       " Never, installHint: 'get it at example.test'}");
    assert_int_equal(make(&c, &error), -ENOENT);
    assert_non_null(strstr(error.message, "no-such-plugin"));
    assert_non_null(strstr(error.message, "get it at example.test"));
    credentialing_end(&c);
}

static void plugins_that_need_a_person_say_so(void **state)
{
    (void)state;
    static const struct {
        const char *mode;
        bool allowed;
        int code;
    } cases[] = {{"Never", false, 0},      {"Never", true, 0},  {"IfAvailable", false, 0},
                 {"IfAvailable", true, 0}, {"Always", true, 0}, {"Always", false, KI_ERR_DENIED}};
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        credentialing c;
        ki_error error = KI_ERROR_INIT;
        char user[256];
        credentialing_begin(&c);
        credentialing_plugin(&c);
        snprintf(user, sizeof(user),
                 "exec: {apiVersion: " V1 ", command: DIR/plugin, interactiveMode: %s}",
                 cases[i].mode);
        credentialing_load(&c, "https://h", "", user);
        c.options.exec_interactive = cases[i].allowed;
        assert_int_equal(make(&c, &error), cases[i].code);
        if (cases[i].code < 0) {
            assert_non_null(strstr(error.message, "exec_interactive"));
        }
        credentialing_end(&c);
    }
}

/* As in client-go: with anything else to show, the plugin is left alone, and needs no leave. */
static void plugins_come_last(void **state)
{
    (void)state;
    static const char *const others[] = {"token: x, ", "tokenFile: DIR/token, ", "username: x, "};
    for (size_t i = 0; i < 3; i++) {
        credentialing c;
        ki_error error = KI_ERROR_INIT;
        char user[512];
        credentialing_begin(&c);
        test_folder_write(&c.folder, "token", "x");
        snprintf(user, sizeof(user), "%s%s", others[i], EXEC);
        credentialing_load(&c, "https://h", "", user);
        assert_int_equal(make(&c, &error), 0);
        credentialing_end(&c);
    }
}

/* ---- what they are given ---- */

static const char *find_variable(const ki__exec_command *command, const char *name)
{
    const char *found = NULL;
    for (size_t i = 1; command->environment[i] != NULL; i++) {
        if (strncmp(command->environment[i], name, strlen(name)) == 0) {
            assert_null(found); /* once only */
            found = command->environment[i];
        }
    }
    return found;
}

static void arguments_and_variables_are_taken_over(void **state)
{
    (void)state;
    credentialing c;
    ki__exec_command command;
    credentialing_begin(&c);
    credentialing_plugin(&c);
    assert_int_equal(setenv("TEST_OWN", "own", 1), 0);
    assert_int_equal(setenv("TEST_BOTH", "own", 1), 0);
    assert_int_equal(setenv("KUBERNETES_EXEC_INFO", "stale", 1), 0);
    credentialing_load(&c, "https://h", "",
                       "exec: {apiVersion: " V1 ", command: DIR/plugin, interactiveMode: Never,"
                       " args: ['', '$(x); `y`', \"a\\nb\"], env: [{name: TEST_BOTH, value: first},"
                       " {name: TEST_NEW, value: 'a=b'}, {name: TEST_BOTH, value: last},"
                       " {name: KUBERNETES_EXEC_INFO, value: forged}]}");
    assert_int_equal(
        ki__exec_command_init(&command, NULL, ki_config_get_exec(c.config), &c.options, NULL), 0);
    assert_string_equal(command.path, test_folder_path(&c.folder, "plugin"));
    assert_string_equal(command.argv[0], command.path);
    assert_string_equal(command.argv[1], "");
    assert_string_equal(command.argv[2], "$(x); `y`");
    assert_string_equal(command.argv[3], "a\nb");
    assert_null(command.argv[4]);
    assert_string_equal(find_variable(&command, "TEST_OWN="), "TEST_OWN=own");
    assert_string_equal(find_variable(&command, "TEST_BOTH="), "TEST_BOTH=last");
    assert_string_equal(find_variable(&command, "TEST_NEW="), "TEST_NEW=a=b");
    assert_null(find_variable(&command, "KUBERNETES_EXEC_INFO"));
    assert_non_null(find_variable(&command, "PATH="));
    ki__exec_command_done(&command);
    assert_int_equal(unsetenv("KUBERNETES_EXEC_INFO"), 0);
    credentialing_end(&c);
}

/* ---- certificates ---- */

static void data_that_cannot_be_used_is_refused(void **state)
{
    (void)state;
    static const char *const clusters[] = {"certificate-authority-data: eA==", "", ""};
    static const char *const users[] = {
        "", "client-certificate-data: eA==, client-key-data: eA==",
        "client-certificate-data: LS0tLS1CRUdJTiBDRVJUSUZJQ0FURS0tLS0tCg==,"
        " client-key-data: eA=="};
    for (size_t i = 0; i < 3; i++) {
        credentialing c;
        ki_error error = KI_ERROR_INIT;
        credentialing_begin(&c);
        credentialing_load(&c, "https://h", clusters[i], users[i]);
        assert_int_equal(make(&c, &error), KI_ERR_INVALID);
        credentialing_end(&c);
    }
}

static void what_is_there_is_handed_on(void **state)
{
    (void)state;
    credentialing c;
    credentialing_begin(&c);
    credentialing_load(&c, "https://h", "tls-server-name: n, insecure-skip-tls-verify: true",
                       "client-key-data: eA==");
    assert_int_equal(credentialing_new(&c, NULL), 0);
    ki__curl_tls tls = ki__credentials_tls(c.credentials);
    assert_string_equal(tls.server_name, "n");
    assert_true(tls.insecure);
    assert_int_equal(tls.key.len, 0); /* a key alone is passed over, as in client-go */
    ki__curl_auth auth = ki__credentials_auth(c.credentials);
    assert_non_null(auth.headers);
    assert_non_null(auth.refused);
    credentialing_end(&c);
    ki__credentials_free(NULL);
}

static int sweep(const ki_alloc *alloc, void *user)
{
    credentialing *c = user;
    ki_loop *loop = NULL;
    ki__credentials *credentials = NULL;
    ki_error error = KI_ERROR_INIT;
    ki_loop_options options = KI_OPTIONS_INIT(ki_loop_options);
    options.alloc = alloc;
    int r = ki_loop_new(&options, &loop, NULL);
    if (r < 0) {
        return r;
    }
    r = ki__credentials_new(loop, c->config, &c->options, &credentials, &error);
    ki__credentials_free(credentials);
    ki_loop_unref(loop);
    return r;
}

static void out_of_memory_is_reported(void **state)
{
    (void)state;
    static const char *const users[] = {
        "tokenFile: DIR/token, as: x, as-groups: [a, b], as-user-extra: {k: [v]}",
        "username: x, password: y", "token: z",
        "exec: {apiVersion: " V1 ", command: DIR/plugin, interactiveMode: Never, args: [a],"
        " env: [{name: A, value: b}]}"};
    for (size_t i = 0; i < 4; i++) {
        credentialing c;
        credentialing_begin(&c);
        credentialing_plugin(&c);
        test_folder_write(&c.folder, "token", "x");
        credentialing_load(&c, "https://h", "", users[i]);
        test_alloc_sweep(sweep, &c);
        credentialing_end(&c);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(plugins_are_denied_unless_they_are_allowed),
        cmocka_unit_test(a_list_has_paths_and_names),
        cmocka_unit_test(the_working_folder_is_not_searched),
        cmocka_unit_test(what_everybody_may_write_is_not_run),
        cmocka_unit_test(the_way_to_it_must_be_safe_too),
        cmocka_unit_test(what_is_missing_comes_with_its_hint),
        cmocka_unit_test(plugins_that_need_a_person_say_so),
        cmocka_unit_test(plugins_come_last),
        cmocka_unit_test(arguments_and_variables_are_taken_over),
        cmocka_unit_test(data_that_cannot_be_used_is_refused),
        cmocka_unit_test(what_is_there_is_handed_on),
        cmocka_unit_test(out_of_memory_is_reported),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
