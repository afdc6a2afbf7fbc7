/* SPDX-License-Identifier: Apache-2.0 */
/* The configuration of a pod, and when it is taken. */
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "support/configs.h"

#define HOST "KUBERNETES_SERVICE_HOST=10.0.0.1"
#define PORT "KUBERNETES_SERVICE_PORT=443"
#define POD "server=https://10.0.0.1:443 namespace=shop in-cluster ca-file=DIR/ca.crt"

typedef struct fixture {
    test_folder folder;
    test_environment environment;
    ki_config_options options;
    size_t warnings;
    ki_log log;
} fixture;

static void count_warning(const ki_log_record *record, void *user)
{
    fixture *f = user;
    assert_int_equal(record->level, KI_LOG_WARNING);
    f->warnings++;
}

static void begin(fixture *f)
{
    *f = (fixture){
        .environment = {{HOST, PORT}},
        .options = KI_OPTIONS_INIT(ki_config_options),
        .log = {.write = count_warning, .level = KI_LOG_DEBUG, .user = f},
    };
    test_folder_init(&f->folder);
    test_folder_write(&f->folder, "token", "secret\n");
    test_folder_write(&f->folder, "ca.crt", "PEM");
    test_folder_write(&f->folder, "namespace", " shop\n");
    f->options.service_account_dir = f->folder.path;
    f->options.environment = test_environment_of(&f->environment);
    f->options.log = &f->log;
}

static void end(fixture *f)
{
    test_folder_done(&f->folder);
}

/* As test_config_expect(), for the pod alone. */
static void expect_pod(const fixture *f, const char *expected)
{
    ki_config *config = NULL;
    ki_error error = KI_ERROR_INIT;
    int r = ki_config_in_cluster(&f->options, &config, &error);
    if (r >= 0) {
        ki_buf got;
        ki_buf_init(&got, NULL, 4096);
        test_config_print(config, &f->folder, &got);
        assert_string_equal(ki_buf_text(&got), expected);
        ki_buf_done(&got);
    } else {
        assert_int_equal(error.code, r);
        assert_string_equal(error.message, expected);
    }
    ki_config_unref(config);
}

static void a_pod_has_all_it_needs(void **state)
{
    (void)state;
    fixture f;
    begin(&f);
    expect_pod(&f, POD " token-file=DIR/token");
    f.environment.variables[0] = "KUBERNETES_SERVICE_HOST=fd00::1";
    expect_pod(&f, "server=https://[fd00::1]:443 namespace=shop in-cluster ca-file=DIR/ca.crt"
                   " token-file=DIR/token");
    assert_int_equal(f.warnings, 0);
    end(&f);
}

static void a_pod_that_is_none_says_so(void **state)
{
    (void)state;
    fixture f;
    begin(&f);
    static const char no[] =
        "not in a pod: KUBERNETES_SERVICE_HOST and KUBERNETES_SERVICE_PORT must be set";
    f.environment.variables[1] = NULL;
    expect_pod(&f, no);
    f.environment.variables[0] = PORT;
    expect_pod(&f, no);
    f.environment.variables[1] = "KUBERNETES_SERVICE_HOST=";
    expect_pod(&f, no);
    f.environment.variables[1] = "KUBERNETES_SERVICE_HOST=a b";
    expect_pod(&f, "KUBERNETES_SERVICE_HOST and _PORT: invalid host");
    f.environment.variables[1] = HOST;
    assert_int_equal(unlink(test_folder_path(&f.folder, "token")), 0);
    ki_config *config = NULL;
    ki_error error = KI_ERROR_INIT;
    assert_int_equal(ki_config_in_cluster(&f.options, &config, &error), -2); /* ENOENT */
    assert_non_null(strstr(error.message, "/token: no such file or directory"));
    end(&f);
}

static void a_pod_without_a_ca_trusts_the_system_and_warns(void **state)
{
    (void)state;
    fixture f;
    begin(&f);
    assert_int_equal(unlink(test_folder_path(&f.folder, "ca.crt")), 0);
    expect_pod(&f, "server=https://10.0.0.1:443 namespace=shop in-cluster token-file=DIR/token");
    assert_int_equal(f.warnings, 1);
    end(&f);
}

static void the_namespace_has_three_sources(void **state)
{
    (void)state;
    fixture f;
    begin(&f);
#define REST " in-cluster ca-file=DIR/ca.crt token-file=DIR/token"
    f.environment.variables[2] = "POD_NAMESPACE=pod";
    expect_pod(&f, "server=https://10.0.0.1:443 namespace=pod" REST);
    f.options.name_space = "mine";
    expect_pod(&f, "server=https://10.0.0.1:443 namespace=mine" REST);
    f.options.name_space = NULL;
    f.environment.variables[2] = NULL;
    test_folder_write(&f.folder, "namespace", " \n");
    expect_pod(&f, "server=https://10.0.0.1:443 namespace=default" REST);
    assert_int_equal(unlink(test_folder_path(&f.folder, "namespace")), 0);
    expect_pod(&f, "server=https://10.0.0.1:443 namespace=default" REST);
    end(&f);
}

static void options_count_over_the_pod(void **state)
{
    (void)state;
    fixture f;
    begin(&f);
    f.options.server = "https://other/x";
    f.options.token = "t";
    f.options.ca_file = "/ca";
    expect_pod(&f, "server=https://other prefix=/x namespace=shop in-cluster ca-file=/ca token=t");
    f.options.token = NULL;
    f.options.token_file = "/t";
    expect_pod(&f, "server=https://other prefix=/x namespace=shop in-cluster ca-file=/ca"
                   " token-file=/t");
    f.options.server = "http://other";
    expect_pod(&f, "server=http://other namespace=shop in-cluster");
    f.options.server = "socks5://other";
    expect_pod(&f, "option server: must be http or https, without a user");
    f.options.token = "a\nb";
    expect_pod(&f, "option token: control characters are not allowed");
    end(&f);
}

static void loading_falls_back_to_the_pod(void **state)
{
    (void)state;
    static const char nothing[] =
        "KI_ERR_NOT_FOUND no configuration: neither a context nor a server is set";
    fixture f;
    begin(&f);
    test_config_expect(&f.options, &f.folder, POD " token-file=DIR/token");
    test_folder_write(&f.folder, "empty", "{}");
    f.options.path = test_folder_path(&f.folder, "empty");
    test_config_expect(&f.options, &f.folder, POD " token-file=DIR/token");
    f.options.no_in_cluster = true;
    test_config_expect(&f.options, &f.folder, nothing);
    f.options.no_in_cluster = false;
    /* A context that leads nowhere is a mistake, and no reason to talk to another cluster. */
    test_folder_write(&f.folder, "config", "current-context: x");
    f.options.path = test_folder_path(&f.folder, "config");
    test_config_expect(&f.options, &f.folder,
                       "KI_ERR_NOT_FOUND DIR/config:1: current-context:"
                       " no context \"x\"");
    f.options.path = NULL;
    f.options.text = ki_str_from("");
    test_config_expect(&f.options, &f.folder, nothing);
    f.options.text = ki_str_make(NULL, 0);
    assert_int_equal(unlink(test_folder_path(&f.folder, "token")), 0);
    test_config_expect(&f.options, &f.folder, nothing);
    assert_int_equal(mkdir(test_folder_path(&f.folder, "token"), 0700), 0);
    test_config_expect(&f.options, &f.folder, nothing);
    end(&f);
}

static void the_namespace_of_the_pod_is_for_files_too(void **state)
{
    (void)state;
    fixture f;
    begin(&f);
    f.options.server = "https://h";
    test_config_expect(&f.options, &f.folder, "server=https://h namespace=shop");
    f.options.no_in_cluster = true;
    test_config_expect(&f.options, &f.folder, "server=https://h namespace=default");
    f.options.no_in_cluster = false;
    f.options.text = ki_str_from("");
    test_config_expect(&f.options, &f.folder, "server=https://h namespace=default");
    end(&f);
}

static int scenario(const ki_alloc *alloc, void *user)
{
    fixture *f = user;
    f->options.alloc = alloc;
    ki_config *config = NULL;
    int r = ki_config_in_cluster(&f->options, &config, NULL);
    ki_config_unref(config);
    return r;
}

static void out_of_memory_is_reported(void **state)
{
    (void)state;
    fixture f;
    begin(&f);
    test_alloc_sweep(scenario, &f);
    f.options.token = "t";
    f.options.server = "https://h";
    test_alloc_sweep(scenario, &f);
    end(&f);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_pod_has_all_it_needs),
        cmocka_unit_test(a_pod_that_is_none_says_so),
        cmocka_unit_test(a_pod_without_a_ca_trusts_the_system_and_warns),
        cmocka_unit_test(the_namespace_has_three_sources),
        cmocka_unit_test(options_count_over_the_pod),
        cmocka_unit_test(loading_falls_back_to_the_pod),
        cmocka_unit_test(the_namespace_of_the_pod_is_for_files_too),
        cmocka_unit_test(out_of_memory_is_reported),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
