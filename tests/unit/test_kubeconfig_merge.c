/* SPDX-License-Identifier: Apache-2.0 */
/* Several files, the environment, and options over what files say. */
#include <stdio.h>
#include <string.h>

#include "support/configs.h"

/* Files that share names. */
static const char first[] = "contexts: [{name: both, context: {cluster: c1, user: u1}}]\n"
                            "clusters: [{name: c1, cluster: {server: 'https://one'}},\n"
                            "           {name: shared, cluster: {server: 'https://first'}}]\n"
                            "users: [{name: u1, user: {token: t1}}, {name: us, user: {}}]\n";
static const char second[] =
    "current-context: both\n"
    "contexts: [{name: both, context: {cluster: shared, namespace: n2}},\n"
    "           {name: two, context: {cluster: shared, user: us, namespace: n2}}]\n"
    "clusters: [{name: shared, cluster: {server: 'https://second', tls-server-name: s}}]\n"
    "users: [{name: us, user: {token: t2}}]\n";
static const char third[] = "current-context: two\n"
                            "users: [{name: u3, user: {tokenFile: ./token}}]\n";
static const char home[] = "current-context: h\n"
                           "contexts: [{name: h, context: {cluster: h}}]\n"
                           "clusters: [{name: h, cluster: {server: 'https://home'}}]\n";

typedef struct fixture {
    test_folder folder;
    test_environment environment;
    ki_config_options options;
    char list[1024];
} fixture;

static void begin(fixture *f)
{
    *f = (fixture){.options = KI_OPTIONS_INIT(ki_config_options)};
    test_folder_init(&f->folder);
    test_folder_write(&f->folder, "1", first);
    test_folder_write(&f->folder, "2", second);
    test_folder_write(&f->folder, "sub/3", third);
    test_folder_write(&f->folder, "sub/token", "x");
    test_folder_write(&f->folder, ".kube/config", home);
    test_folder_write(&f->folder, "bad", "a: [\n");
    f->options.environment = test_environment_of(&f->environment);
}

static void end(fixture *f)
{
    test_folder_done(&f->folder);
}

/* $KUBECONFIG of names in the folder, separated by blanks; "-" is an empty one. */
static void set_list(fixture *f, const char *names)
{
    size_t len = (size_t)snprintf(f->list, sizeof(f->list), "KUBECONFIG=");
    while (*names != '\0') {
        size_t name = strcspn(names, " ");
        char part[64];
        snprintf(part, sizeof(part), "%.*s", (int)name, names);
        len += (size_t)snprintf(f->list + len, sizeof(f->list) - len, "%s:",
                                strcmp(part, "-") == 0 ? "" : test_folder_path(&f->folder, part));
        assert_true(len < sizeof(f->list));
        names += name + (names[name] != '\0' ? 1 : 0);
    }
    f->environment.variables[0] = f->list;
}

static void the_first_file_with_a_name_wins(void **state)
{
    (void)state;
    static const struct {
        const char *list;
        const char *context;
        const char *expected;
    } cases[] = {
        {"1 2 sub/3", NULL,
         "server=https://one namespace=default context=both cluster=c1 user=u1"
         " token=t1"},
        {"2 1 sub/3", NULL,
         "server=https://second namespace=n2 context=both cluster=shared"
         " server-name=s"},
        {"1 2 sub/3", "two",
         "server=https://first namespace=n2 context=two cluster=shared"
         " user=us"},
        {"2 1", "two",
         "server=https://second namespace=n2 context=two cluster=shared user=us"
         " server-name=s token=t2"},
        {"sub/3 2", NULL,
         "server=https://second namespace=n2 context=two cluster=shared user=us"
         " server-name=s token=t2"},
        {"- gone 2 - 2 gone", NULL,
         "server=https://second namespace=n2 context=both"
         " cluster=shared server-name=s"},
        {"1", NULL, "KI_ERR_NOT_FOUND no configuration: neither a context nor a server is set"},
        {"1 2 bad", NULL, "KI_ERR_SYNTAX DIR/bad:2: did not find expected node content"},
        {"1 2 sub", NULL, "EISDIR DIR/sub: is a directory"},
        {"gone", NULL, "KI_ERR_NOT_FOUND no configuration: neither a context nor a server is set"},
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        fixture f;
        begin(&f);
        set_list(&f, cases[i].list);
        f.options.context = cases[i].context;
        test_config_expect(&f.options, &f.folder, cases[i].expected);
        end(&f);
    }
}

static void files_come_from_the_option_the_variable_or_home(void **state)
{
    (void)state;
    fixture f;
    begin(&f);
    char variable[256];
    snprintf(variable, sizeof(variable), "HOME=%s", f.folder.path);
    f.environment.variables[0] = variable;
    test_config_expect(&f.options, &f.folder,
                       "server=https://home namespace=default context=h cluster=h");
    set_list(&f, "2");
    f.environment.variables[1] = variable;
    static const char from_second[] =
        "server=https://second namespace=n2 context=both cluster=shared server-name=s";
    test_config_expect(&f.options, &f.folder, from_second);
    f.options.path = test_folder_path(&f.folder, ".kube/config");
    test_config_expect(&f.options, &f.folder,
                       "server=https://home namespace=default context=h cluster=h");
    f.options.path = "";
    const char *paths[] = {test_folder_path(&f.folder, "gone"), "",
                           test_folder_path(&f.folder, "2"), NULL};
    f.options.paths = paths;
    f.environment.variables[0] = NULL;
    test_config_expect(&f.options, &f.folder, from_second);
    end(&f);
}

static void without_home_there_is_no_file(void **state)
{
    (void)state;
    fixture f;
    begin(&f);
    test_config_expect(&f.options, &f.folder,
                       "KI_ERR_NOT_FOUND no configuration: neither a context nor a server is set");
    end(&f);
}

static void a_list_has_a_limit(void **state)
{
    (void)state;
    const char *paths[KI_CONFIG_FILES + 2] = {NULL};
    static char names[KI_CONFIG_FILES + 1][32];
    for (size_t i = 0; i <= KI_CONFIG_FILES; i++) {
        snprintf(names[i], sizeof(names[i]), "/nowhere/%zu", i);
        paths[i] = names[i];
    }
    ki_config_options options = KI_OPTIONS_INIT(ki_config_options);
    options.paths = paths;
    test_config_expect(&options, NULL, "KI_ERR_LIMIT more than 64 kubeconfig files");
    paths[KI_CONFIG_FILES] = "/nowhere/3"; /* again */
    options.server = "https://h";
    test_config_expect(&options, NULL, "server=https://h namespace=default");
}

static void paths_are_relative_to_the_file_that_has_them(void **state)
{
    (void)state;
    fixture f;
    begin(&f);
    set_list(&f, "1 2 sub/3");
    f.options.user = "u3";
    test_config_expect(&f.options, &f.folder,
                       "server=https://one namespace=default context=both cluster=c1 user=u3"
                       " token-file=DIR/sub/token");
    end(&f);
}

/* One kubeconfig with everything, and options over it. */
static const char full[] =
    "current-context: c\n"
    "contexts: [{name: c, context: {cluster: c, user: u, namespace: n}},\n"
    "           {name: d, context: {cluster: d}}]\n"
    "clusters:\n"
    "- name: c\n"
    "  cluster: {server: 'https://h', tls-server-name: s, certificate-authority-data: Q0E=,\n"
    "            proxy-url: 'http://p'}\n"
    "- {name: d, cluster: {server: 'https://d', insecure-skip-tls-verify: true}}\n"
    "users:\n"
    "- name: u\n"
    "  user: {client-certificate-data: QQ==, client-key-data: Qg==, as: a, as-groups: [g],\n"
    "         as-user-extra: {x: [y]}}\n"
    "- {name: t, user: {token: old, tokenFile: /old}}\n"
    "- {name: b, user: {username: me, password: pw}}\n";

#define NAMES "context=c cluster=c user=u"
#define PROXY " proxy=http://p"
#define TLS " ca=CA cert=A key=B"
#define AS " as=a as-groups=[g] x=[y]"

typedef struct over {
    ki_config_options options;
    const char *expected;
} over;

static void expect_all(const over *cases, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        ki_config_options options = cases[i].options;
        options.size = sizeof(options);
        options.text = ki_str_from(full);
        test_config_expect(&options, NULL, cases[i].expected);
    }
}

static void names_are_overridden(void **state)
{
    (void)state;
    const over cases[] = {
        {{.size = 0}, "server=https://h namespace=n " NAMES PROXY TLS " server-name=s" AS},
        {{.context = "d"}, "server=https://d namespace=default context=d cluster=d insecure"},
        {{.cluster = "d"},
         "server=https://d namespace=n context=c cluster=d user=u cert=A key=B insecure" AS},
        {{.context = "d", .user = "b"},
         "server=https://d namespace=default context=d cluster=d user=b insecure username=me"
         " password=pw"},
        {{.name_space = "m"}, "server=https://h namespace=m " NAMES PROXY TLS " server-name=s" AS},
        {{.name_space = "M"}, "KI_ERR_INVALID option name_space: not a valid namespace name"},
        {{.context = "x"}, "KI_ERR_NOT_FOUND option context: no context \"x\""},
        {{.cluster = "x"}, "KI_ERR_NOT_FOUND option cluster: no cluster \"x\""},
        {{.user = "x"}, "KI_ERR_NOT_FOUND option user: no user \"x\""},
        {{.context = ""}, "server=https://h namespace=n " NAMES PROXY TLS " server-name=s" AS},
    };
    expect_all(cases, sizeof(cases) / sizeof(cases[0]));
}

static void settings_of_the_cluster_are_overridden(void **state)
{
    (void)state;
    const over cases[] = {
        {{.server = "https://o/p"}, "server=https://o prefix=/p namespace=n " NAMES PROXY TLS AS},
        {{.server = "https://o", .tls_server_name = "r"},
         "server=https://o namespace=n " NAMES PROXY TLS " server-name=r" AS},
        {{.tls_server_name = "r"},
         "server=https://h namespace=n " NAMES PROXY TLS " server-name=r" AS},
        {{.insecure = true},
         "server=https://h namespace=n " NAMES PROXY " cert=A key=B server-name=s insecure" AS},
        {{.ca_file = "/proc/self/stat"},
         "server=https://h namespace=n " NAMES PROXY
         " ca-file=/proc/self/stat cert=A key=B server-name=s" AS},
        {{.context = "d", .ca_file = "/proc/self/stat"},
         "server=https://d namespace=default context=d cluster=d ca-file=/proc/self/stat"},
        {{.ca_file = "/proc/self/stat", .insecure = true},
         "KI_ERR_INVALID option ca_file: certificate-authority and insecure-skip-tls-verify are "
         "mutually exclusive"},
        {{.ca_file = "/no/such"}, "ENOENT option ca_file: no such file or directory (/no/such)"},
        {{.proxy_url = "socks5://q"},
         "server=https://h namespace=n " NAMES " proxy=socks5://q" TLS " server-name=s" AS},
        {{.proxy_url = "q"},
         "KI_ERR_INVALID option proxy_url: must be an http, https or socks5 URL"},
        {{.disable_compression = true},
         "server=https://h namespace=n " NAMES PROXY " no-compression" TLS " server-name=s" AS},
        {{.server = "nowhere at all"}, "KI_ERR_INVALID option server: invalid host"},
        {{.server = "http://h"}, "server=http://h namespace=n " NAMES PROXY AS},
    };
    expect_all(cases, sizeof(cases) / sizeof(cases[0]));
}

static void settings_of_the_user_are_overridden(void **state)
{
    (void)state;
    static const char *const groups[] = {"g1", "g2", NULL};
    static const char *const none[] = {NULL};
    static const char file[] = "/proc/self/stat"; /* some file that is there */
#define START "server=https://h namespace=n " NAMES PROXY " ca=CA"
#define T "server=https://h namespace=n context=c cluster=c user=t" PROXY " ca=CA server-name=s"
#define B "server=https://h namespace=n context=c cluster=c user=b" PROXY " ca=CA server-name=s"
    const over cases[] = {
        {{.client_cert_file = file}, START " cert-file=/proc/self/stat key=B server-name=s" AS},
        {{.client_key_file = file}, START " cert=A key-file=/proc/self/stat server-name=s" AS},
        {{.client_cert_file = "/no/such"},
         "ENOENT option client_cert_file: no such file or directory (/no/such)"},
        {{.user = "t", .client_cert_file = file},
         "KI_ERR_INVALID option client_cert_file: client-certificate requires client-key"},
        {{.token = "new"}, START " cert=A key=B server-name=s token=new" AS},
        {{.user = "t"}, T " token=old token-file=/old"},
        {{.user = "t", .token = "new"}, T " token=new"},
        {{.user = "t", .token_file = file}, T " token-file=/proc/self/stat"},
        {{.user = "t", .token_file = "/no/such"},
         "ENOENT option token_file: no such file or directory"},
        {{.user = "b", .token = "new"},
         "KI_ERR_INVALID option token: token and username/password are mutually exclusive"},
        {{.user = "b", .username = "you"}, B " username=you password=pw"},
        {{.user = "b", .password = "other"}, B " username=me password=other"},
        {{.user = "t", .username = "you"},
         "KI_ERR_INVALID kubeconfig:13: user \"t\": token: token and username/password are "
         "mutually exclusive"},
        {{.as_user = "o"}, START " cert=A key=B server-name=s as=o as-groups=[g] x=[y]"},
        {{.as_uid = "7"}, START " cert=A key=B server-name=s as=a as-uid=7 as-groups=[g] x=[y]"},
        {{.as_groups = groups}, START " cert=A key=B server-name=s as=a as-groups=[g1|g2] x=[y]"},
        {{.as_groups = none}, START " cert=A key=B server-name=s" AS},
        {{.user = "b", .as_groups = groups},
         "KI_ERR_INVALID kubeconfig:14: user \"b\": as: as-uid, as-groups and as-user-extra "
         "require as"},
        {{.token = "a\nb"}, "KI_ERR_INVALID option token: must not contain control characters"},
    };
    expect_all(cases, sizeof(cases) / sizeof(cases[0]));
}

static void a_server_alone_is_enough(void **state)
{
    (void)state;
    ki_config_options options = KI_OPTIONS_INIT(ki_config_options);
    options.text = ki_str_from("");
    options.server = "https://h:1/x";
    options.token = "t";
    test_config_expect(&options, NULL, "server=https://h:1 prefix=/x namespace=default token=t");
    options.server = NULL;
    options.tls_server_name = "n";
    test_config_expect(&options, NULL, "KI_ERR_INVALID server: is missing");
}

static void credentials_stay_away_from_plain_http(void **state)
{
    (void)state;
    static const char *const servers[] = {"http://example.com", "http://127.0.0.1:8001",
                                          "http://localhost", "http://[::1]"};
    for (size_t i = 0; i < sizeof(servers) / sizeof(servers[0]); i++) {
        char plain[128];
        char with_token[160];
        snprintf(plain, sizeof(plain), "server=%s namespace=default", servers[i]);
        snprintf(with_token, sizeof(with_token), "%s token=t", plain);
        ki_config_options options = KI_OPTIONS_INIT(ki_config_options);
        options.text = ki_str_from("");
        options.server = servers[i];
        options.token = "t";
        test_config_expect(&options, NULL, plain);
        options.loopback_credentials = true;
        test_config_expect(&options, NULL, i == 0 ? plain : with_token);
    }
}

static int scenario(const ki_alloc *alloc, void *user)
{
    fixture *f = user;
    f->options.alloc = alloc;
    ki_config *config = NULL;
    int r = ki_config_load(&f->options, &config, NULL);
    ki_config_unref(config);
    return r;
}

static void out_of_memory_is_reported(void **state)
{
    (void)state;
    static const char *const groups[] = {"g1", "g2", NULL};
    fixture f;
    begin(&f);
    set_list(&f, "1 2 sub/3 gone");
    f.options.user = "u3";
    f.options.as_user = "x";
    f.options.as_groups = groups;
    test_alloc_sweep(scenario, &f);
    f.options.text = ki_str_from(full);
    f.options.user = NULL;
    f.options.text_dir = "/";
    test_alloc_sweep(scenario, &f);
    end(&f);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_first_file_with_a_name_wins),
        cmocka_unit_test(files_come_from_the_option_the_variable_or_home),
        cmocka_unit_test(without_home_there_is_no_file),
        cmocka_unit_test(a_list_has_a_limit),
        cmocka_unit_test(paths_are_relative_to_the_file_that_has_them),
        cmocka_unit_test(names_are_overridden),
        cmocka_unit_test(settings_of_the_cluster_are_overridden),
        cmocka_unit_test(settings_of_the_user_are_overridden),
        cmocka_unit_test(a_server_alone_is_enough),
        cmocka_unit_test(credentials_stay_away_from_plain_http),
        cmocka_unit_test(out_of_memory_is_reported),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
