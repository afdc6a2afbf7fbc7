/* SPDX-License-Identifier: Apache-2.0 */
/* The embedded API server from inside a program: starting and stopping it, TLS, loading objects,
 * and calls from any thread.
 * threads: yes */
#include <dirent.h>
#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <kinformer/config.h>

#include "support/serving.h"

#define MAPS "/api/v1/namespaces/default/configmaps"
#define MS UINT64_C(1000000)

static size_t threads(void)
{
    size_t count = 0;
    DIR *folder = opendir("/proc/self/task");
    assert_non_null(folder);
    for (struct dirent *entry; (entry = readdir(folder)) != NULL;) {
        count += entry->d_name[0] != '.' ? 1 : 0;
    }
    closedir(folder);
    return count;
}

static size_t resident_kib(void)
{
    char line[256];
    size_t kib = 0;
    FILE *file = fopen("/proc/self/status", "r");
    assert_non_null(file);
    while (fgets(line, sizeof(line), file) != NULL) {
        if (strncmp(line, "VmRSS:", 6) == 0) {
            kib = strtoul(line + 6, NULL, 10);
        }
    }
    fclose(file);
    return kib;
}

static size_t count(const char *text, const char *what)
{
    size_t found = 0;
    for (; (text = strstr(text, what)) != NULL; text++) {
        found++;
    }
    return found;
}

/* ---- starting and stopping ---- */

static void it_starts_and_stops_two_hundred_times(void **state)
{
    (void)state;
    serving s;
    size_t fds = 0;
    size_t kib = 0;
    size_t tasks = 0;
    for (int i = 0; i < 200; i++) {
        serving_begin(&s, NULL);
        int fd = -1;
        if (i % 4 == 0) {
            serving_put(&s, "a");
        }
        if (i % 10 == 0) { /* a watch is open when it stops */
            bool closed;
            static const char request[] =
                "GET /api/v1/configmaps?watch=1 HTTP/1.1\r\nHost: localhost\r\n\r\n";
            fd = serving_connect(&s);
            (void)serving_raw(fd, request, sizeof(request) - 1, 5, &closed);
            s.server = ki_apiserver_unref(s.server);
            (void)serving_raw(fd, "", 0, 2000,
                              &closed); /* what is left of the watch, if anything */
            assert_true(closed);
            close(fd);
            serving_end(&s);
        } else {
            serving_end(&s);
        }
        if (i == 40) {
            fds = test_descriptors();
            kib = resident_kib();
            tasks = threads();
        }
    }
    assert_int_equal(test_descriptors(), fds);
    for (int i = 0; i < 500 && threads() != tasks; i++) {
        usleep(10000); /* the kernel may list a joined thread for a moment */
    }
    assert_int_equal(threads(), tasks);
#if !defined(__SANITIZE_THREAD__) && !defined(__SANITIZE_ADDRESS__) /* they keep what is freed */
    assert_true(resident_kib() < kib + 8192);
#else
    (void)kib;
#endif
}

static void it_runs_on_a_loop_of_the_program(void **state)
{
    (void)state;
    transporting t;
    exchange e;
    ki_apiserver *server;
    ki_apiserver_options options = KI_OPTIONS_INIT(ki_apiserver_options);
    size_t before = threads();
    transporting_begin(&t);
    options.loop = t.loop;
    assert_int_equal(ki_apiserver_new(&options, &server, NULL), 0);
    assert_int_equal(threads(), before);
    ki__curl_options curl = {.url = ki_apiserver_url(server)};
    transporting_open(&t, &curl, "http", 0);
    exchange_init(&e, &t, "/api/v1/namespaces", "");
    exchange_run(&e);
    assert_int_equal(e.status, 200);
    exchange_done(&e);
    (void)ki_apiserver_ref(server);
    (void)ki_apiserver_unref(server);
    ki_apiserver_unref(server);
    transporting_end(&t);
}

static void wrong_options_are_refused(void **state)
{
    (void)state;
    static const char *const addresses[] = {
        "",           "127.0.0.1",  "127.0.0.1:", "127.0.0.1:x",   "127.0.0.1:65536", ":0",
        "::1:0",      "[127.0.0.1", "[::1]",      "example.org:0", "256.0.0.1:0",     "[]:0",
        "[1.2.3.4]:0"};
    ki_apiserver *server = NULL;
    size_t fds = test_descriptors();
    ki_error error = KI_ERROR_INIT;
    for (size_t i = 0; i < sizeof(addresses) / sizeof(addresses[0]); i++) {
        ki_apiserver_options options = KI_OPTIONS_INIT(ki_apiserver_options);
        options.listen = addresses[i];
        assert_int_equal(ki_apiserver_new(&options, &server, &error), KI_ERR_INVALID);
        assert_non_null(strstr(error.message, "listen"));
    }
    ki_apiserver_options options = KI_OPTIONS_INIT(ki_apiserver_options);
    options.token = "with blank";
    assert_int_equal(ki_apiserver_new(&options, &server, &error), KI_ERR_INVALID);
    options.token = "";
    assert_int_equal(ki_apiserver_new(&options, &server, &error), KI_ERR_INVALID);
    options.token = NULL;
    options.faults = "status=500,";
    assert_int_equal(ki_apiserver_new(&options, &server, &error), KI_ERR_INVALID);
    options.faults = NULL;
    options.listen = "192.0.2.1:0"; /* never an address of this machine */
    assert_int_equal(ki_apiserver_new(&options, &server, &error), -EADDRNOTAVAIL);
    assert_null(server);
    assert_int_equal(test_descriptors(), fds);
}

static void it_listens_on_the_given_address(void **state)
{
    (void)state;
    static const struct {
        const char *listen;
        const char *url;
    } cases[] = {
        {"127.0.0.1:0", "http://127.0.0.1:"}, {"127.0.0.2:0", "http://127.0.0.2:"},
        {"localhost:0", "http://127.0.0.1:"}, {"0.0.0.0:0", "http://127.0.0.1:"},
        {"[::1]:0", "http://[::1]:"},
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        ki_apiserver_options options = KI_OPTIONS_INIT(ki_apiserver_options);
        ki_apiserver *server;
        options.listen = cases[i].listen;
        int r = ki_apiserver_new(&options, &server, NULL);
        if (r == -EADDRNOTAVAIL || r == -EAFNOSUPPORT) {
            continue; /* no IPv6 here */
        }
        assert_int_equal(r, 0);
        assert_int_equal(strncmp(ki_apiserver_url(server), cases[i].url, strlen(cases[i].url)), 0);
        ki_apiserver *other;
        options.listen = ki_apiserver_url(server) + strlen("http://");
        assert_int_equal(ki_apiserver_new(&options, &other, NULL), -EADDRINUSE);
        ki_apiserver_unref(server);
    }
}

/* ---- TLS ---- */

static void its_kubeconfig_leads_to_it_and_proves_it(void **state)
{
    (void)state;
    serving s;
    ki_buf text;
    ki_config *config;
    ki_error error = KI_ERROR_INIT;
    ki_apiserver_options options = KI_OPTIONS_INIT(ki_apiserver_options);
    options.tls = true;
    options.token = "t0ken";
    serving_begin(&s, &options);
    ki_buf_init(&text, NULL, 65536);
    assert_int_equal(ki_apiserver_write_kubeconfig(s.server, &text), 0);
    ki_config_options from = KI_OPTIONS_INIT(ki_config_options);
    from.text = ki_buf_str(&text);
    if (ki_config_load(&from, &config, &error) < 0) {
        fail_msg("%s", error.message);
    }
    assert_string_equal(ki_config_server(config), ki_apiserver_url(s.server));
    assert_str(ki_config_get_credentials(config)->token, "t0ken");
    assert_str(ki_config_get_tls(config)->ca_data, ki_apiserver_ca(s.server));

    const ki_http_header bearer = {ki_str_from("Authorization"), ki_str_from("Bearer t0ken")};
    transporting_close(&s.t);
    ki__curl_options curl = {.url = ki_config_server(config)};
    curl.tls.ca = ki_config_get_tls(config)->ca_data;
    transporting_open(&s.t, &curl, "https", 0);
    exchange e;
    exchange_init(&e, &s.t, "/api/v1/namespaces", "");
    e.request.headers = &bearer;
    e.request.header_count = 1;
    exchange_run(&e);
    assert_int_equal(e.status, 200);
    exchange_done(&e);
    assert_int_equal(serving_ask(&s, "GET", "/api/v1/namespaces", "", ""), 401);

    /* With another authority it is not trusted. */
    serving other;
    ki_apiserver_options plain = KI_OPTIONS_INIT(ki_apiserver_options);
    plain.tls = true;
    serving_begin(&other, &plain);
    transporting_close(&s.t);
    curl.tls.ca = ki_str_from(ki_apiserver_ca(other.server));
    transporting_open(&s.t, &curl, "https", 0);
    assert_int_equal(serving_ask(&s, "GET", "/api/v1/namespaces", "", ""), 0);
    assert_int_equal(s.e.error.code, KI_ERR_TLS);
    serving_leave(&other);
    serving_leave(&s);
    ki_apiserver_unref(other.server);
    test_alloc_done(&other.alloc);
    (void)ki_config_unref(config);
    ki_buf_done(&text);
    serving_end(&s);
}

static void a_watch_over_tls_is_woken(void **state)
{
    (void)state;
    serving s;
    exchange e;
    ki_apiserver_options options = KI_OPTIONS_INIT(ki_apiserver_options);
    options.tls = true;
    serving_begin(&s, &options);
    exchange_init(&e, &s.t, "/api/v1/configmaps", "watch=1");
    e.request.stream = true;
    exchange_start(&e);
    for (int i = 0; i < 5; i++) {
        char name[8];
        snprintf(name, sizeof(name), "m%d", i);
        serving_put(&s, name);
    }
    for (int i = 0; i < 2000 && count(ki_buf_text(&e.body), "ADDED") < 5; i++) {
        transporting_for(&s.t, 5);
    }
    assert_int_equal(count(ki_buf_text(&e.body), "ADDED"), 5);
    exchange_cancel(&e);
    exchange_done(&e);
    serving_end(&s);
}

/* ---- from inside ---- */

static ki_object *object(const char *text)
{
    ki_object *made;
    char *json = strdup(text);
    for (char *p = json; (p = strchr(p, '\'')) != NULL; p++) {
        *p = '"';
    }
    assert_int_equal(ki_object_from_json(json, strlen(json), NULL, &made, NULL), 0);
    free(json);
    return made;
}

static int apply(ki_apiserver *server, const char *text, ki_error *error)
{
    ki_object *made = object(text);
    int r = ki_apiserver_apply(server, made, error);
    ki_object_unref(made);
    return r;
}

static void objects_are_applied_and_deleted_directly(void **state)
{
    (void)state;
    serving s;
    ki_error error = KI_ERROR_INIT;
    ki_apiserver_options options = KI_OPTIONS_INIT(ki_apiserver_options);
    options.faults = "status=500";
    serving_begin(&s, &options);
    uint64_t before = ki_apiserver_version(s.server);
    assert_int_equal(apply(s.server,
                           "{'kind':'Pod','apiVersion':'v1','metadata':{'name':'p','namespace':"
                           "'new','resourceVersion':'77','uid':'x'},'status':{'phase':'Running'}}",
                           &error),
                     0);
    assert_int_equal(ki_apiserver_version(s.server), before + 2); /* the namespace, the pod */
    assert_int_equal(apply(s.server,
                           "{'kind':'Pod','apiVersion':'v1','metadata':{'name':'p','namespace':"
                           "'new'},'status':{'phase':'Failed'}}",
                           &error),
                     0);
    assert_int_equal(ki_apiserver_set_faults(s.server, "", NULL), 0);
    assert_int_equal(serving_ask(&s, "GET", "/api/v1/namespaces/new/pods/p", "", ""), 200);
    assert_true(serving_has(&s, "\"phase\":\"Failed\""));
    assert_int_equal(apply(s.server, "{'kind':'Pod','apiVersion':'v1','metadata':{}}", &error),
                     KI_ERR_STATUS);
    assert_int_equal(error.http_code, 422);
    assert_int_equal(
        apply(s.server, "{'kind':'Pot','apiVersion':'v1','metadata':{'name':'p'}}", &error),
        KI_ERR_NOT_FOUND);
    assert_int_equal(ki_apiserver_delete(s.server, KI_CORE_V1_PODS, "new", "p", &error), 0);
    assert_int_equal(ki_apiserver_delete(s.server, KI_CORE_V1_PODS, "new", "p", &error),
                     KI_ERR_NOT_FOUND);
    assert_int_equal(error.http_code, 404);
    serving_end(&s);
}

static const char yaml[] = "# two documents\n"
                           "---\n"
                           "apiVersion: v1\n"
                           "kind: ConfigMap\n"
                           "metadata: {name: a}\n"
                           "data:\n"
                           "  text: |\n"
                           "    ---\n"
                           "    not a document\n"
                           "---\n"
                           "# nothing\n"
                           "---\n"
                           "apiVersion: v1\n"
                           "kind: List\n"
                           "items:\n"
                           "- apiVersion: apps/v1\n"
                           "  kind: Deployment\n"
                           "  metadata: {name: d, namespace: web}\n"
                           "  spec: {replicas: 3}\n";

/* kubectl takes all of these. */
static void braces_are_json_or_yaml(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        size_t count;
    } cases[] = {
        {"{apiVersion: v1, kind: ConfigMap, metadata: {name: a}}", 1},
        {"{ apiVersion: v1,\n  kind: ConfigMap, # here\n  metadata: {name: a}}\n---\n"
         "{\"apiVersion\": \"v1\", \"kind\": \"ConfigMap\", \"metadata\": {\"name\": \"b\"}}\n",
         2},
        {"{\"apiVersion\": v1, \"kind\": ConfigMap, \"metadata\": {\"name\": a}}", 1},
        {"{\"apiVersion\":\"v1\",\"kind\":\"ConfigMap\",\"metadata\":{\"name\":\"a\"}}\n---\n"
         "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: b}\n",
         2},
        {"'apiVersion': v1\n'kind': ConfigMap\n'metadata': {'name': a}\n", 1},
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        serving s;
        size_t loaded = 0;
        ki_error error = KI_ERROR_INIT;
        serving_begin(&s, NULL);
        if (ki_apiserver_load(s.server, ki_str_from(cases[i].text), &loaded, &error) < 0) {
            fail_msg("case %zu: %u:%u: %s", i, error.line, error.column, error.message);
        }
        assert_int_equal(loaded, cases[i].count);
        assert_int_equal(serving_ask(&s, "GET", MAPS, "", ""), 200);
        assert_int_equal(count(serving_text(&s), "\"uid\""), cases[i].count);
        serving_end(&s);
    }
}

static void objects_are_loaded(void **state)
{
    (void)state;
    static const char json[] =
        " {\"kind\":\"ConfigMap\",\"apiVersion\":\"v1\",\"metadata\":{\"name\":\"x\"}}\n"
        "{\"kind\":\"PodList\",\"apiVersion\":\"v1\",\"metadata\":{},\"items\":["
        "{\"metadata\":{\"name\":\"p\"}},{\"metadata\":{\"name\":\"q\"}}]}";
    serving s;
    size_t loaded;
    ki_error error = KI_ERROR_INIT;
    serving_begin(&s, NULL);
    assert_int_equal(ki_apiserver_load(s.server, ki_str_from(json), &loaded, &error), 0);
    assert_int_equal(loaded, 3);
    if (ki_apiserver_load(s.server, ki_str_from(yaml), &loaded, &error) < 0) {
        fail_msg("%s", error.message);
    }
    assert_int_equal(loaded, 2);
    assert_int_equal(ki_apiserver_load(s.server, ki_str_from(" \n"), &loaded, &error), 0);
    assert_int_equal(loaded, 0);
    assert_int_equal(serving_ask(&s, "GET", MAPS "/a", "", ""), 200);
    assert_true(serving_has(&s, "---\\u000anot a document\\u000a"));
    assert_int_equal(serving_ask(&s, "GET", "/apis/apps/v1/namespaces/web/deployments/d", "", ""),
                     200);
    assert_true(serving_has(&s, "\"replicas\":3"));
    assert_int_equal(serving_ask(&s, "GET", "/api/v1/pods", "", ""), 200);
    assert_int_equal(count(serving_text(&s), "\"uid\""), 2);
    serving_end(&s);
}

/* An object with this many maps and lists in each other, itself included. */
static int load_deep(serving *s, size_t depth)
{
    ki_buf text;
    ki_error error = KI_ERROR_INIT;
    ki_buf_init(&text, NULL, 1 << 20);
    test_add(&text, "apiVersion: apps/v1\nkind: ControllerRevision\nmetadata: {name: deep}\n", 1);
    test_add(&text, "revision: 1\ndata: ", 1);
    test_add(&text, "{a: ", depth - 1);
    test_add(&text, "1", 1);
    test_add(&text, "}", depth - 1);
    int r = ki_apiserver_load(s->server, ki_buf_str(&text), NULL, &error);
    ki_buf_done(&text);
    return r;
}

static void yaml_may_be_as_deep_as_objects(void **state)
{
    (void)state;
    serving s;
    serving_begin(&s, NULL);
    assert_int_equal(load_deep(&s, 33), 0);
    assert_int_equal(load_deep(&s, 128), 0);
    assert_int_equal(load_deep(&s, 129), KI_ERR_DEPTH);
    serving_end(&s);
}

static void unloadable_files_are_reported_with_their_place(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        int code;
        uint32_t line;
        size_t count;
    } cases[] = {
        {"{\"kind\":\"ConfigMap\",\"apiVersion\":\"v1\",\"metadata\":{\"name\":\"x\"}}\n{\"a\":}",
         KI_ERR_SYNTAX, 2, 1},
        {"kind: ConfigMap\napiVersion: v1\nmetadata: {name: y}\n---\na: [\n", KI_ERR_SYNTAX, 6, 1},
        {"kind: Nothing\napiVersion: v1\n", KI_ERR_NOT_FOUND, 1, 0},
        {"[]", KI_ERR_INVALID, 1, 0},
        {"---\n# x\n\nkind: ConfigMap\napiVersion: v1\nmetadata: {name: Not_A_Name}\n",
         KI_ERR_STATUS, 4, 0},
        {"\n\n {\"kind\":\"Nothing\",\"apiVersion\":\"v1\"}", KI_ERR_NOT_FOUND, 3, 0},
        {"{kind: ConfigMap, apiVersion: v1, metadata: {name: z}}\n---\n{kind: }\n---\n",
         KI_ERR_INVALID, 3, 1},
        {"{kind: ConfigMap,\n  ]}", KI_ERR_SYNTAX, 2, 0},
        {"{\"kind\":\"ConfigMap\",\"apiVersion\":\"v1\",\"metadata\":{\"name\":\"x\"}}\n---\n"
         "a: [\n",
         KI_ERR_SYNTAX, 4, 1},
    };
    serving s;
    serving_begin(&s, NULL);
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        ki_error error = KI_ERROR_INIT;
        size_t loaded = 99;
        int r = ki_apiserver_load(s.server, ki_str_from(cases[i].text), &loaded, &error);
        if (r != cases[i].code || (cases[i].line != 0 && error.line != cases[i].line) ||
            loaded != cases[i].count) {
            fail_msg("case %zu: %s, line %u, %zu objects: %s", i, ki_error_name(r), error.line,
                     loaded, error.message);
        }
        assert_true(error.message[0] != '\0');
    }
    serving_end(&s);
}

static void write_file(const char *path, const char *text)
{
    FILE *file = fopen(path, "w");
    assert_non_null(file);
    assert_true(fputs(text, file) >= 0);
    assert_int_equal(fclose(file), 0);
}

static void files_are_loaded(void **state)
{
    (void)state;
    char path[] = "/tmp/ki-load-XXXXXX";
    serving s;
    size_t loaded = 99;
    ki_error error = KI_ERROR_INIT;
    int fd = mkstemp(path);
    assert_true(fd >= 0);
    (void)close(fd);
    serving_begin(&s, NULL);
    write_file(path, yaml);
    assert_int_equal(ki_apiserver_load_file(s.server, path, &loaded, &error), 0);
    assert_int_equal(loaded, 2);
    assert_int_equal(serving_ask(&s, "GET", MAPS "/a", "", ""), 200);
    write_file(path, "{\"kind\":\"ConfigMap\",\"apiVersion\":\"v1\",\"metadata\":{\"name\":"
                     "\"x\"}}\n{\"a\":}");
    assert_int_equal(ki_apiserver_load_file(s.server, path, &loaded, &error), KI_ERR_SYNTAX);
    assert_memory_equal(error.message, path, strlen(path));
    assert_int_equal(error.line, 2);
    assert_int_equal(loaded, 1);
    assert_int_equal(ki_apiserver_load_file(s.server, "/dev/null", &loaded, &error),
                     KI_ERR_INVALID);
    assert_string_equal(error.message, "/dev/null: not a regular file");
    assert_int_equal(loaded, 0);
    assert_int_equal(unlink(path), 0);
    assert_int_equal(ki_apiserver_load_file(s.server, path, NULL, NULL), -ENOENT);
    assert_int_equal(ki_apiserver_load_file(s.server, NULL, NULL, NULL), -EINVAL);
    serving_end(&s);
}

/* ---- threads and memory ---- */

enum { WRITERS = 4, WRITES = 100 };

static void *write_many(void *user)
{
    ki_apiserver *server = user;
    for (int i = 0; i < WRITES; i++) {
        char text[160];
        snprintf(text, sizeof(text),
                 "{'kind':'ConfigMap','apiVersion':'v1','metadata':{'name':'m%d'},"
                 "'data':{'w':'%p'}}",
                 i, (void *)text);
        (void)apply(server, text, NULL);
        if (i % 10 == 0) {
            int r = ki_apiserver_delete(server, KI_CORE_V1_CONFIGMAPS, "default", "m1", NULL);
            assert_true(r == 0 || r == KI_ERR_NOT_FOUND);
            r = ki_apiserver_set_faults(server, i % 20 == 0 ? "latency=1ms" : "", NULL);
            assert_int_equal(r, 0);
            (void)ki_apiserver_version(server);
        }
    }
    return NULL;
}

static void threads_write_while_clients_watch(void **state)
{
    (void)state;
    serving s;
    pthread_t writers[WRITERS];
    exchange e;
    serving_begin(&s, NULL);
    exchange_init(&e, &s.t, "/api/v1/configmaps", "watch=1");
    e.request.stream = true;
    exchange_start(&e);
    for (size_t i = 0; i < WRITERS; i++) {
        assert_int_equal(pthread_create(&writers[i], NULL, write_many, s.server), 0);
    }
    for (int i = 0; i < 50; i++) {
        assert_int_equal(serving_ask(&s, "GET", "/api/v1/configmaps", "", ""), 200);
        assert_true(s.e.complete);
    }
    for (size_t i = 0; i < WRITERS; i++) {
        assert_int_equal(pthread_join(writers[i], NULL), 0);
    }
    assert_int_equal(ki_apiserver_set_faults(s.server, "", NULL), 0);
    serving_put(&s, "last");
    for (int i = 0; i < 2000 && strstr(ki_buf_text(&e.body), "\"last\"") == NULL; i++) {
        transporting_for(&s.t, 5);
    }
    assert_non_null(strstr(ki_buf_text(&e.body), "\"last\""));
    ki_apiserver_break_connections(s.server);
    transporting_until(&s.t, &e.ended);
    exchange_done(&e);
    serving_end(&s);
}

static int use_directly(const ki_alloc *alloc, void *user)
{
    (void)user;
    ki_apiserver *server;
    ki_loop *loop;
    ki_buf text;
    size_t loaded;
    ki_loop_options loop_options = KI_OPTIONS_INIT(ki_loop_options);
    loop_options.alloc = alloc;
    int r = ki_loop_new(&loop_options, &loop, NULL);
    if (r < 0) {
        return r;
    }
    ki_apiserver_options options = KI_OPTIONS_INIT(ki_apiserver_options);
    options.alloc = alloc;
    options.loop = loop;
    options.token = "t";
    options.allowed_hosts = (const char *const[]){"a.example", NULL};
    options.faults = "latency=1ms,resource=pods";
    r = ki_apiserver_new(&options, &server, NULL);
    if (r < 0) {
        (void)ki_loop_unref(loop);
        return r;
    }
    ki_buf_init(&text, alloc, 65536);
    r = ki_apiserver_load(server, ki_str_from(yaml), &loaded, NULL);
    r = r < 0 ? r : ki_apiserver_set_faults(server, "cut=1,rate=1%", NULL);
    r = r < 0 ? r : ki_apiserver_write_kubeconfig(server, &text);
    ki_object *object = NULL;
    ki_list *list = NULL;
    r = r < 0 ? r : ki_apiserver_get(server, KI_CORE_V1_CONFIGMAPS, "default", "a", &object, NULL);
    r = r < 0 ? r : ki_apiserver_list(server, KI_CORE_V1_CONFIGMAPS, "", "a!=b", &list, NULL);
    ki_object_unref(object);
    ki_list_unref(list);
    r = r < 0 ? r : ki_apiserver_delete(server, KI_CORE_V1_CONFIGMAPS, "default", "a", NULL);
    ki_buf_done(&text);
    ki_apiserver_unref(server);
    (void)ki_loop_unref(loop);
    return r;
}

static void memory_may_run_out_anywhere(void **state)
{
    (void)state;
    test_alloc_sweep(use_directly, NULL);
}

/* The server allocates on its own thread. */
static void fail_after(test_alloc *alloc, uint64_t calls)
{
    pthread_mutex_lock(alloc->lock);
    alloc->fail_at = calls != 0 ? alloc->calls + calls : 0;
    pthread_mutex_unlock(alloc->lock);
}

/* Each allocation of the server fails once while a client asks: whatever the client gets, nothing
 * leaks, and the next request succeeds. */
static void memory_may_run_out_while_it_answers(void **state)
{
    (void)state;
    static const char request[] = "GET " MAPS "?watch=1 HTTP/1.1\r\nHost: localhost\r\n\r\n";
    for (uint64_t n = 1; n < 100; n++) {
        serving s;
        bool closed;
        serving_begin(&s, NULL);
        fail_after(&s.alloc, n);
        (void)serving_ask(&s, "POST", MAPS, "", "{'metadata':{'name':'a'},'data':{'k':'v'}}");
        int fd = serving_connect(&s);
        (void)serving_raw(fd, request, sizeof(request) - 1, 5, &closed);
        close(fd);
        assert_in_range(serving_open(&s, 1), 0, 1);
        fail_after(&s.alloc, 0);
        assert_int_equal(serving_ask(&s, "GET", MAPS, "", ""), 200);
        assert_true(s.e.complete);
        serving_end(&s);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(it_starts_and_stops_two_hundred_times),
        cmocka_unit_test(it_runs_on_a_loop_of_the_program),
        cmocka_unit_test(wrong_options_are_refused),
        cmocka_unit_test(it_listens_on_the_given_address),
        cmocka_unit_test(its_kubeconfig_leads_to_it_and_proves_it),
        cmocka_unit_test(a_watch_over_tls_is_woken),
        cmocka_unit_test(objects_are_applied_and_deleted_directly),
        cmocka_unit_test(objects_are_loaded),
        cmocka_unit_test(braces_are_json_or_yaml),
        cmocka_unit_test(yaml_may_be_as_deep_as_objects),
        cmocka_unit_test(unloadable_files_are_reported_with_their_place),
        cmocka_unit_test(files_are_loaded),
        cmocka_unit_test(threads_write_while_clients_watch),
        cmocka_unit_test(memory_may_run_out_anywhere),
        cmocka_unit_test(memory_may_run_out_while_it_answers),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
