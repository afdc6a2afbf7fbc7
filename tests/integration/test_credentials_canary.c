/* SPDX-License-Identifier: Apache-2.0 */
/* Secrets stay where they belong, once more: with a canary in every field of a credential, over
 * every failure that can be brought about, no canary is in a log record, a report or an error, nor
 * in memory that we free. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "support/credentialing.h"
#include "support/watched_alloc.h"

#define V1 "client.authentication.k8s.io/v1"

enum { KEY_WORD = 40 };

static test_server server;
static char key_word[KEY_WORD + 1]; /* a part of a true key, as PEM shows it */

/* No output may contain any of these. */
static const char *const canaries[] = {"CANARY",  "Q0FOQVJZ",
                                       "NBTkFSW", "DQU5BUl", /* in base64, wherever it begins */
                                       key_word,  NULL};
/* Memory that is freed must have none of these. What a server is shown in the open is not among
 * them, and neither are certificates. */
static const char *const kept[] = {"TokenCANARY", "PassCANARY", "ExecCANARY", "FileCANARY",
                                   "ProxyCANARY", key_word,     NULL};

typedef struct scene {
    transporting t;
    watched_alloc watched;
    test_folder folder;
    ki_log log;
    size_t records;
    ki_client_options options;
    const ki_config *config;
    ki__credentials *credentials;
} scene;

static void look(const char *text, size_t len, const char *where)
{
    for (size_t i = 0; canaries[i] != NULL; i++) {
        if (len != 0 && memmem(text, len, canaries[i], strlen(canaries[i])) != NULL) {
            fail_msg("%s has %s: %.*s", where, canaries[i], (int)len, text);
        }
    }
}

static void look_at_error(const ki_error *error)
{
    look(error->message, strlen(error->message), "an error");
}

static void on_log(const ki_log_record *record, void *user)
{
    scene *s = user;
    s->records++;
    look(record->message, strlen(record->message), "a log record");
    for (size_t i = 0; i < record->field_count; i++) {
        look(record->fields[i].key, strlen(record->fields[i].key), "a log record");
        look(record->fields[i].value.ptr, record->fields[i].value.len, "a log record");
    }
}

static void on_report(const ki_report *report, void *user)
{
    scene *s = user;
    s->records++;
    look_at_error(report->error);
    look(report->key.ptr, report->key.len, "a report");
    look(report->name, strlen(report->name), "a report");
}

static void begin(scene *s, bool reports)
{
    *s = (scene){0};
    watched_alloc_init(&s->watched, kept);
    test_folder_init(&s->folder);
    s->log = (ki_log){.write = on_log, .level = KI_LOG_DEBUG, .user = s};
    ki_loop_options options = KI_OPTIONS_INIT(ki_loop_options);
    options.alloc = &s->watched.table;
    options.log = &s->log;
    options.reports_per_second = 100000;
    if (reports) {
        options.on_report = on_report;
        options.report_user = s;
    }
    assert_int_equal(ki_loop_new(&options, &s->t.loop, NULL), 0);
    s->options = (ki_client_options){
        .size = sizeof(s->options), .exec_policy = KI_EXEC_ALLOW, .exec_timeout_ms = 300};
}

static void end(scene *s)
{
    ki__curl_free(s->t.curl);
    ki__credentials_free(s->credentials);
    ki_config_unref(s->config);
    ki_loop_unref(s->t.loop);
    test_folder_done(&s->folder);
    assert_int_equal(s->watched.found, 0);
    assert_true(s->watched.freed != 0);
}

/* Fields are as in credentialing_load(). */
static int load(scene *s, const char *url, const char *cluster, const char *user)
{
    static const test_environment nothing;
    ki_buf text;
    ki_buf filled;
    ki_buf_init(&text, NULL, 1 << 20);
    ki_buf_init(&filled, NULL, 1 << 20);
    test_add(&text,
             "{current-context: c, contexts: [{name: c, context: {cluster: c, user: u}}],"
             " clusters: [{name: c, cluster: {server: '",
             1);
    test_add(&text, url, 1);
    test_add(&text, "', ", 1);
    test_add(&text, cluster, 1);
    test_add(&text, "}}], users: [{name: u, user: {", 1);
    test_add(&text, user, 1);
    test_add(&text, "}}]}", 1);
    const char *rest = ki_buf_text(&text);
    for (const char *place; (place = strstr(rest, "DIR")) != NULL; rest = place + 3) {
        assert_int_equal(ki_buf_add(&filled, rest, (size_t)(place - rest)), 0);
        test_add(&filled, s->folder.path, 1);
    }
    test_add(&filled, rest, 1);
    ki_config_options options = KI_OPTIONS_INIT(ki_config_options);
    options.text = ki_buf_str(&filled);
    options.environment = test_environment_of(&nothing);
    options.loopback_credentials = true;
    options.alloc = &s->watched.table;
    options.log = &s->log;
    ki_config *config = NULL;
    ki_error error = KI_ERROR_INIT;
    int r = ki_config_load(&options, &config, &error);
    look_at_error(&error);
    s->config = config;
    ki_buf_done(&filled);
    ki_buf_done(&text);
    return r;
}

static int open_all(scene *s)
{
    ki_error error = KI_ERROR_INIT;
    int r = ki__credentials_new(s->t.loop, s->config, &s->options, &s->credentials, &error);
    look_at_error(&error);
    if (r < 0) {
        return r;
    }
    ki_str proxy = ki_config_proxy_url(s->config);
    const ki__curl_options options = {
        .loop = s->t.loop,
        .url = ki_config_server(s->config),
        .tls = ki__credentials_tls(s->credentials),
        .auth = ki__credentials_auth(s->credentials),
        .proxy = proxy.len != 0 ? proxy.ptr : NULL,
        .connect_timeout_ns = 2000000000,
        .idle_timeout_ns = 500000000,
    };
    r = ki__curl_new(&options, &s->t.curl, &error);
    look_at_error(&error);
    if (r == 0) {
        ki__credentials_attach(s->credentials, s->t.curl);
    }
    return r;
}

/* The status, or the error. */
static int ask(scene *s, const char *path, const char *query)
{
    exchange e;
    exchange_init(&e, &s->t, path, query);
    exchange_run(&e);
    look_at_error(&e.error);
    look_at_error(&e.start_error);
    int code = e.complete ? e.status : e.error.code;
    exchange_done(&e);
    return code;
}

static const char *url_of(const char *scheme, const char *name)
{
    static char urls[4][64];
    static size_t next;
    char *url = urls[next++ % 4];
    snprintf(url, sizeof(urls[0]), "%s://127.0.0.1:%d", scheme,
             name != NULL ? test_server_port(&server, name) : 1);
    return url;
}

static void write_program(scene *s, const char *text)
{
    test_folder_write(&s->folder, "plugin", text);
    assert_int_equal(chmod(test_folder_path(&s->folder, "plugin"), 0700), 0);
}

static void write_files(scene *s)
{
    ki_buf content;
    test_folder_write(&s->folder, "token", "FileCANARY\n");
    test_server_file(&server, "ca.crt", &content);
    test_folder_write(&s->folder, "ca", ki_buf_text(&content));
    ki_buf_done(&content);
    test_server_file(&server, "client.crt", &content);
    test_folder_write(&s->folder, "crt", ki_buf_text(&content));
    ki_buf_done(&content);
    test_server_file(&server, "client.key", &content);
    test_folder_write(&s->folder, "key", ki_buf_text(&content));
    ki_buf_done(&content);
    write_program(s, "#!/bin/sh\n"
                     "echo ExecCANARY stderr $* $KUBERNETES_EXEC_INFO >&2\n"
                     "printf '{\"kind\":\"ExecCredential\",\"apiVersion\":\"" V1 "\",\"status\":"
                     "{\"token\":\"ExecCANARY\"}}'\n");
}

/* ---- the users ---- */

#define EXEC_USER                                                             \
    "exec: {apiVersion: " V1 ", command: DIR/plugin, interactiveMode: Never," \
    " provideClusterInfo: true, args: [--key=ExecCANARY],"                    \
    " env: [{name: PW, value: ExecCANARY}]}"

static const char *const users[] = {
    "token: TokenCANARY",
    "tokenFile: DIR/token",
    "token: TokenCANARY, tokenFile: DIR/token",
    "username: me, password: PassCANARY",
    "client-certificate: DIR/crt, client-key: DIR/key",
    "client-certificate: DIR/crt, client-key: DIR/key, token: TokenCANARY",
    EXEC_USER,
};
enum { USERS = sizeof(users) / sizeof(users[0]) };

/* What a server does to requests. */
static void answers_of_all_kinds(scene *s)
{
    static const struct {
        const char *path;
        const char *query;
    } requests[] = {
        {"/status", "code=200"}, {"/status", "code=401"},   {"/status", "code=401"},
        {"/status", "code=403"}, {"/status", "code=500"},   {"/redirect", "status=302"},
        {"/cut", "after=20"},    {"/reset", "after=20"},    {"/raw", "what=garbage"},
        {"/raw", "what=status"}, {"/headers", "count=300"}, {"/packed", "broken=1"},
        {"/hang", "after=10"},
    };
    for (size_t i = 0; i < sizeof(requests) / sizeof(requests[0]); i++) {
        (void)ask(s, requests[i].path, requests[i].query);
    }
}

static void all_answers_to_all_users(void **state)
{
    (void)state;
    static const struct {
        const char *scheme;
        const char *name;
        const char *cluster;
    } servers[] = {
        {"http", "plain", ""},
        {"https", "good", "certificate-authority: DIR/ca"},
        {"https", "mutual", "certificate-authority: DIR/ca"},
        {"https", "wrong-ca", "certificate-authority: DIR/ca"},
        {"https", "expired", "certificate-authority: DIR/ca"},
        {"https", "plain", "certificate-authority: DIR/ca"},
        {"http", "good", ""},
        {"https", NULL, "certificate-authority: DIR/ca"},
        {"http", NULL, ""},
        {"https", "good",
         "certificate-authority: DIR/ca, proxy-url: 'http://me:ProxyCANARY@127.0.0.1:1'"},
    };
    size_t asked = 0;
    for (size_t i = 0; i < sizeof(servers) / sizeof(servers[0]); i++) {
        for (size_t u = 0; u < USERS; u++) {
            scene s;
            begin(&s, u % 2 == 0);
            write_files(&s);
            assert_int_equal(
                load(&s, url_of(servers[i].scheme, servers[i].name), servers[i].cluster, users[u]),
                0);
            assert_int_equal(open_all(&s), 0);
            if (i < 3) {
                answers_of_all_kinds(&s);
            } else {
                (void)ask(&s, "/status", "code=200");
            }
            asked++;
            end(&s);
        }
    }
    assert_int_equal(asked, 70);
}

/* Through a proxy that lets us through, and one that does not. */
static void proxies(void **state)
{
    (void)state;
    for (size_t i = 0; i < 3; i++) {
        scene s;
        char cluster[256];
        begin(&s, true);
        write_files(&s);
        snprintf(cluster, sizeof(cluster),
                 "certificate-authority: DIR/ca, proxy-url: '%s://me:ProxyCANARY@127.0.0.1:%d'",
                 i == 2 ? "socks5" : "http", test_server_port(&server, "plain"));
        assert_int_equal(
            load(&s, i == 1 ? "https://127.0.0.1:1" : url_of("https", "good"), cluster, EXEC_USER),
            0);
        assert_int_equal(open_all(&s), 0);
        int code = ask(&s, "/status", "code=200");
        assert_int_equal(code == 200, i == 0);
        end(&s);
    }
}

/* ---- plugins ---- */

static void plugins_of_all_kinds(void **state)
{
    (void)state;
#define ANSWER(text) "#!/bin/sh\necho ExecCANARY >&2\ncat <<'E'\n" text "\nE\n"
#define HEAD "{\"kind\":\"ExecCredential\",\"apiVersion\":\"" V1 "\",\"status\":"
    static const struct {
        const char *program;
        int code;
    } cases[] = {
        {"#!/bin/sh\necho ExecCANARY\nexit 1\n", -EACCES},
        {"#!/bin/sh\necho ExecCANARY $1 $PW\nkill -9 $$\n", -EACCES},
        {"#!/bin/sh\necho ExecCANARY\nsleep 60\n", -ETIMEDOUT},
        {"#!/bin/sh\nyes ExecCANARY\n", KI_ERR_LIMIT},
        {"#!/ExecCANARY\n", -ENOENT},
        {ANSWER("ExecCANARY"), KI_ERR_SYNTAX},
        {ANSWER("[\"ExecCANARY\"]"), KI_ERR_TYPE},
        {ANSWER("{\"kind\":\"ExecCANARY\"}"), KI_ERR_INVALID},
        {ANSWER("{\"kind\":\"ExecCredential\",\"apiVersion\":\"ExecCANARY\"}"), KI_ERR_INVALID},
        {ANSWER(HEAD "{\"token\":\"ExecCANARY"), KI_ERR_SYNTAX},
        {ANSWER(HEAD "{\"token\":\"ExecCANARY\\n\"}}"), KI_ERR_INVALID},
        {ANSWER(HEAD "{\"token\":[\"ExecCANARY\"]}}"), KI_ERR_TYPE},
        {ANSWER(HEAD "{\"token\":\"t\",\"expirationTimestamp\":\"ExecCANARY\"}}"), KI_ERR_INVALID},
        {ANSWER(HEAD "{\"clientKeyData\":\"ExecCANARY\"}}"), KI_ERR_INVALID},
        {ANSWER(HEAD "{\"clientKeyData\":\"ExecCANARY\",\"clientCertificateData\":\"CANARY\"}}"),
         KI_ERR_INVALID},
        {ANSWER(HEAD "{\"token\":\"ExecCANARY\",\"expirationTimestamp\":"
                     "\"2001-01-01T00:00:00Z\"}}"),
         401},
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        scene s;
        begin(&s, i % 2 == 0);
        write_files(&s);
        write_program(&s, cases[i].program);
        assert_int_equal(load(&s, url_of("http", "plain"), "", EXEC_USER), 0);
        assert_int_equal(open_all(&s), 0);
        int code = ask(&s, "/status", "code=401");
        if (code != cases[i].code) {
            fail_msg("case %zu: %d", i, code);
        }
        (void)ask(&s, "/status", "code=401");
        assert_true(code == 401 || code == -ENOENT || s.records != 0);
        end(&s);
    }
}

static void plugins_that_are_refused(void **state)
{
    (void)state;
    static const ki_exec_policy policies[] = {KI_EXEC_DENY, KI_EXEC_LISTED, KI_EXEC_MAX};
    scene s;
    begin(&s, true);
    write_files(&s);
    assert_int_equal(load(&s, url_of("http", "plain"), "", EXEC_USER), 0);
    for (size_t i = 0; i < 3; i++) {
        s.options.exec_policy = policies[i];
        assert_true(open_all(&s) < 0);
    }
    s.options.exec_policy = KI_EXEC_ALLOW;
    assert_int_equal(chmod(test_folder_path(&s.folder, "plugin"), 0777), 0);
    assert_int_equal(open_all(&s), KI_ERR_DENIED);
    end(&s);
}

/* ---- files and data that cannot be used ---- */

static void unusable_credentials(void **state)
{
    (void)state;
    static const struct {
        const char *file; /* is rewritten ... */
        const char *text; /* ... with this */
        const char *user;
    } cases[] = {
        {"token", "FileCANARY\nFileCANARY", "tokenFile: DIR/token"},
        {"token", "FileCANARY\x01", "tokenFile: DIR/token"},
        {"token", "FileCANARY\x01", "token: TokenCANARY, tokenFile: DIR/token"},
        {"key", "-----BEGIN PRIVATE KEY-----\nFileCANARY\n-----END PRIVATE KEY-----\n",
         "client-certificate: DIR/crt, client-key: DIR/key"},
        {"key", "FileCANARY", "client-certificate: DIR/crt, client-key: DIR/key"},
        {"crt", "-----BEGIN CERTIFICATE-----\nFileCANARY",
         "client-certificate: DIR/crt,"
         " client-key: DIR/key"},
        {"crt", "x", "client-certificate-data: Q0FOQVJZ, client-key-data: Q0FOQVJZ"},
        {"crt", "x", "client-certificate-data: '=', client-key-data: Q0FOQVJZ"},
        {"ca", "FileCANARY", "token: TokenCANARY"},
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        scene s;
        begin(&s, i % 2 == 0);
        write_files(&s);
        test_folder_write(&s.folder, cases[i].file, cases[i].text);
        if (load(&s, url_of("https", "good"), "certificate-authority: DIR/ca", cases[i].user) ==
            0) {
            int r = open_all(&s);
            assert_true(r < 0 || i == 2);
        }
        end(&s);
    }
}

/* ---- the true key ---- */

static int start_server(void **state)
{
    (void)state;
    ki_buf key;
    test_server_start(&server, "http_server.py", TEST_SCRATCH_DIR "/canary");
    test_server_file(&server, "client.key", &key);
    memcpy(key_word, strchr(key.data, '\n') + 11, KEY_WORD);
    ki_buf_done(&key);
    return 0;
}

static int stop_server(void **state)
{
    (void)state;
    test_server_stop(&server);
    return 0;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(all_answers_to_all_users), cmocka_unit_test(proxies),
        cmocka_unit_test(plugins_of_all_kinds),     cmocka_unit_test(plugins_that_are_refused),
        cmocka_unit_test(unusable_credentials),
    };
    return cmocka_run_group_tests(tests, start_server, stop_server);
}
