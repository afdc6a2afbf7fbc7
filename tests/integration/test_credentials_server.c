/* SPDX-License-Identifier: Apache-2.0 */
/* Credentials against a real server: what it is shown, what happens when it refuses that, and files
 * and plugins that bring others under a live watch. */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "client/auth/pem.h"
#include "support/credentialing.h"

#define EXEC                                                                    \
    "exec: {apiVersion: client.authentication.k8s.io/v1, command: DIR/plugin, " \
    "interactiveMode: Never}"

static test_server server;

static int start_server(void **state)
{
    (void)state;
    test_server_start(&server, "http_server.py", TEST_SCRATCH_DIR "/credentials");
    return 0;
}

static int stop_server(void **state)
{
    (void)state;
    test_server_stop(&server);
    return 0;
}

static const char *url_of(const char *scheme, const char *name)
{
    static char url[64];
    snprintf(url, sizeof(url), "%s://127.0.0.1:%d", scheme, test_server_port(&server, name));
    return url;
}

static void load_plain(credentialing *c, const char *user)
{
    credentialing_load(c, url_of("http", "plain"), "", user);
}

/* ---- headers ---- */

static void headers_arrive(void **state)
{
    (void)state;
    static const struct {
        const char *user;
        const char *headers[8];
    } cases[] = {
        {"token: abc", {"Authorization: Bearer abc\n"}},
        {"username: me, password: 'p:w'", {"Authorization: Basic bWU6cDp3\n"}},
        {"username: me", {"Authorization: Basic bWU6\n"}},
        {"token: abc, as: jane, as-uid: '7', as-groups: [a, 'b c'],"
         " as-user-extra: {k/1: [x], 'a%b c\u00e4': [y, z], plain: ['']}",
         {"Authorization: Bearer abc\n", "Impersonate-User: jane\n", "Impersonate-Uid: 7\n",
          "Impersonate-Group: a\nImpersonate-Group: b c\n", "Impersonate-Extra-k%2F1: x\n",
          "Impersonate-Extra-a%25b%20c%C3%A4: y\nImpersonate-Extra-a%25b%20c%C3%A4: z\n",
          "Impersonate-Extra-plain:"}},
        {"", {"GET /echo"}},
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        credentialing c;
        credentialing_begin(&c);
        load_plain(&c, cases[i].user);
        credentialing_open(&c);
        const char *body = credentialing_ask(&c, "/echo", "", NULL, NULL);
        for (size_t h = 0; h < 8 && cases[i].headers[h] != NULL; h++) {
            if (strstr(body, cases[i].headers[h]) == NULL) {
                fail_msg("%s is not in %s", cases[i].headers[h], body);
            }
        }
        assert_int_equal(strstr(body, "Authorization") != NULL, cases[i].user[0] != '\0');
        credentialing_end(&c);
    }
}

/* ---- token files ---- */

static void a_token_file_is_read_again(void **state)
{
    (void)state;
    credentialing c;
    int code;
    credentialing_begin(&c);
    test_folder_write(&c.folder, "token", "one\n");
    load_plain(&c, "tokenFile: DIR/token, token: static");
    credentialing_open(&c);
    assert_string_equal(credentialing_ask(&c, "/who", "", NULL, NULL), "|Bearer one|");
    test_folder_write(&c.folder, "token", "two\n");
    credentialing_pass(&c, 45);
    assert_string_equal(credentialing_ask(&c, "/who", "", NULL, NULL), "|Bearer one|");
    credentialing_pass(&c, 6);
    assert_string_equal(credentialing_ask(&c, "/who", "", NULL, NULL), "|Bearer two|");
    test_folder_write(&c.folder, "token", "three\n");
    credentialing_pass(&c, 6); /* sooner, if the server does not accept it any more */
    (void)credentialing_ask(&c, "/who", "need=Bearer+three", &code, NULL);
    assert_int_equal(code, 401);
    (void)credentialing_ask(&c, "/who", "need=Bearer+three", &code, NULL);
    assert_int_equal(code, 200);
    assert_int_equal(unlink(test_folder_path(&c.folder, "token")), 0);
    credentialing_pass(&c, 60);
    assert_string_equal(credentialing_ask(&c, "/who", "", NULL, NULL), "|Bearer three|");
    assert_non_null(strstr(ki_buf_text(&c.t.logged), "token file: "));
    credentialing_end(&c);
}

static void a_static_token_serves_until_the_file_can_be_read(void **state)
{
    (void)state;
    credentialing c;
    ki_error error = KI_ERROR_INIT;
    credentialing_begin(&c);
    test_folder_write(&c.folder, "token", "");
    load_plain(&c, "tokenFile: DIR/token, token: static");
    credentialing_open(&c);
    assert_string_equal(credentialing_ask(&c, "/who", "", NULL, NULL), "|Bearer static|");
    test_folder_write(&c.folder, "token", "one\n");
    credentialing_pass(&c, 6);
    assert_string_equal(credentialing_ask(&c, "/who", "", NULL, NULL), "|Bearer one|");
    credentialing_end(&c);
    credentialing_begin(&c);
    test_folder_write(&c.folder, "token", "");
    load_plain(&c, "tokenFile: DIR/token");
    assert_int_equal(credentialing_new(&c, &error), KI_ERR_INVALID);
    assert_non_null(strstr(error.message, "token file: empty"));
    assert_int_equal(unlink(test_folder_path(&c.folder, "token")), 0);
    assert_int_equal(credentialing_new(&c, &error), -ENOENT);
    credentialing_end(&c);
}

/* ---- certificates in files ---- */

static void begin_mutual(credentialing *c)
{
    credentialing_begin(c);
    credentialing_copy(c, &server, "ca.crt", "ca");
    credentialing_copy(c, &server, "client.crt", "crt");
    credentialing_copy(c, &server, "client.key", "key");
    credentialing_load(c, url_of("https", "mutual"), "certificate-authority: DIR/ca",
                       "client-certificate: DIR/crt, client-key: DIR/key");
    credentialing_open(c);
}

static void begin_watch(credentialing *c, exchange *watch)
{
    exchange_init(watch, &c->t, "/stream", "hang=1");
    watch->request.stream = true;
    exchange_start(watch);
    for (int i = 0; i < 500 && watch->status == 0; i++) {
        transporting_for(&c->t, 10);
    }
    assert_int_equal(watch->status, 200);
}

static void a_client_certificate_is_replaced_under_a_watch(void **state)
{
    (void)state;
    credentialing c;
    exchange watch;
    begin_mutual(&c);
    assert_string_equal(credentialing_ask(&c, "/who", "", NULL, NULL), "alice||");
    begin_watch(&c, &watch);
    credentialing_pass(&c, 61); /* nothing changed */
    transporting_for(&c.t, 50);
    assert_false(watch.ended);
    credentialing_copy(&c, &server, "client.crt", "crt"); /* written, but the same */
    credentialing_pass(&c, 61);
    assert_string_equal(credentialing_ask(&c, "/who", "", NULL, NULL), "alice||");
    assert_false(watch.ended);

    credentialing_copy(&c, &server, "client2.crt", "crt"); /* one half */
    credentialing_pass(&c, 61);
    assert_string_equal(credentialing_ask(&c, "/who", "", NULL, NULL), "alice||");
    assert_false(watch.ended);
    assert_non_null(strstr(ki_buf_text(&c.t.logged), "do not match"));
    credentialing_copy(&c, &server, "client2.key", "key"); /* the other; looked for soon */
    credentialing_pass(&c, 6);
    assert_string_equal(credentialing_ask(&c, "/who", "", NULL, NULL), "bob||");
    transporting_until(&c.t, &watch.ended);
    assert_int_equal(watch.error.code, -ECONNRESET);
    exchange_done(&watch);
    credentialing_end(&c);
}

/* Also if no request comes by. */
static void files_are_looked_at_without_requests(void **state)
{
    (void)state;
    credentialing c;
    exchange watch;
    begin_mutual(&c);
    begin_watch(&c, &watch);
    credentialing_copy(&c, &server, "client2.crt", "crt");
    credentialing_copy(&c, &server, "client2.key", "key");
    credentialing_pass(&c, 61);
    transporting_until(&c.t, &watch.ended);
    assert_int_equal(watch.error.code, -ECONNRESET);
    ki__credentials_attach(c.credentials, NULL);
    credentialing_copy(&c, &server, "client.crt", "crt");
    credentialing_copy(&c, &server, "client.key", "key");
    credentialing_pass(&c, 61);
    transporting_for(&c.t, 50); /* no callback runs any more */
    exchange_done(&watch);
    credentialing_end(&c);
}

static void a_ca_is_replaced_under_a_watch(void **state)
{
    (void)state;
    static const struct {
        const char *file; /* NULL: garbage */
        int code;
    } steps[] = {{"both-ca.chain", 200},
                 {"other-ca.crt", KI_ERR_TLS},
                 {"ca.crt", 200},
                 {NULL, 200},
                 {"other-ca.crt", KI_ERR_TLS}};
    credentialing c;
    exchange watch;
    credentialing_begin(&c);
    credentialing_copy(&c, &server, "ca.crt", "ca");
    credentialing_load(&c, url_of("https", "good"), "certificate-authority: DIR/ca", "token: x");
    credentialing_open(&c);
    for (size_t i = 0; i < sizeof(steps) / sizeof(steps[0]); i++) {
        int code;
        bool good = i == 0 || steps[i - 1].code == 200;
        if (good) {
            begin_watch(&c, &watch);
        }
        if (steps[i].file != NULL) {
            credentialing_copy(&c, &server, steps[i].file, "ca");
        } else {
            test_folder_write(&c.folder, "ca", "-----BEGIN CERTIFICATE-----\nMIIB");
        }
        credentialing_pass(&c, 61);
        (void)credentialing_ask(&c, "/who", "", &code, NULL);
        assert_int_equal(code, steps[i].code);
        if (good) {
            transporting_for(&c.t, 50);
            assert_int_equal(watch.ended, steps[i].file != NULL);
            if (!watch.ended) {
                exchange_cancel(&watch);
                transporting_for(&c.t, 20);
            }
            exchange_done(&watch);
        }
    }
    credentialing_end(&c);
}

static void unusable_files_are_reported_at_once(void **state)
{
    (void)state;
    static const struct {
        const char *certificate;
        const char *key;
        int code;
    } cases[] = {{"client.crt", "client2.key", KI_ERR_INVALID},
                 {"client.crt", "client.crt", KI_ERR_INVALID},
                 {"client.key", "client.key", KI_ERR_INVALID},
                 {"client.crt", "client.encrypted", KI_ERR_INVALID},
                 {"openssl.cnf", "client.key", KI_ERR_INVALID}};
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        credentialing c;
        ki_error error = KI_ERROR_INIT;
        credentialing_begin(&c);
        credentialing_copy(&c, &server, cases[i].certificate, "crt");
        credentialing_copy(&c, &server, cases[i].key, "key");
        credentialing_load(&c, "https://h", "", "client-certificate: DIR/crt, client-key: DIR/key");
        assert_int_equal(credentialing_new(&c, &error), cases[i].code);
        credentialing_end(&c);
    }
}

/* ---- pairs ---- */

static int check_pair(const char *certificate, const char *key, const ki_alloc *alloc)
{
    ki_buf a;
    ki_buf b;
    const char *problem = NULL;
    test_server_file(&server, certificate, &a);
    test_server_file(&server, key, &b);
    int r = ki__pem_check_pair(ki_buf_str(&a), ki_buf_str(&b), alloc, &problem);
    assert_true((r < 0) == (problem != NULL));
    ki_buf_done(&a);
    ki_buf_done(&b);
    return r;
}

static void pairs_of_certificate_and_key_are_known(void **state)
{
    (void)state;
    static const struct {
        const char *certificate;
        const char *key;
        int code;
    } cases[] = {
        {"client.crt", "client.key", 0},
        {"client.crt", "client.pkcs8", 0},
        {"client.crt", "client.compressed", 0},
        {"client2.crt", "client2.key", 0},
        {"client-rsa.crt", "client-rsa.key", 0},
        {"client-rsa.crt", "client-rsa.pkcs8", 0},
        {"client-ed25519.crt", "client-ed25519.key", 0},
        {"below.chain", "below.key", 0},
        {"client.crt", "client2.key", KI_ERR_INVALID},
        {"client2.crt", "client.pkcs8", KI_ERR_INVALID},
        {"client2.crt", "client.compressed", KI_ERR_INVALID},
        {"client.crt", "longer.key", KI_ERR_INVALID},
        {"client-rsa.crt", "longer-rsa.key", KI_ERR_INVALID},
        {"client.crt", "client-rsa.key", KI_ERR_INVALID},
        {"client-rsa.crt", "client.pkcs8", KI_ERR_INVALID},
        {"client.crt", "client-ed25519.key", KI_ERR_INVALID},
        {"client.crt", "client.encrypted", KI_ERR_INVALID},
        {"client.crt", "client.old-encrypted", KI_ERR_INVALID},
        {"client.key", "client.key", KI_ERR_INVALID},
        {"client.crt", "client.crt", KI_ERR_INVALID},
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        int r = check_pair(cases[i].certificate, cases[i].key, NULL);
        if (r != cases[i].code) {
            fail_msg("%s and %s: %d", cases[i].certificate, cases[i].key, r);
        }
    }
}

/* What is cut anywhere never passes for whole, unless only the end of the last line is missing. */
static void pairs_that_are_cut_are_refused(void **state)
{
    (void)state;
    static const char *const files[][2] = {{"client.crt", "client.key"},
                                           {"client-rsa.crt", "client-rsa.pkcs8"}};
    for (size_t i = 0; i < 2; i++) {
        ki_buf a;
        ki_buf b;
        const char *problem;
        test_server_file(&server, files[i][0], &a);
        test_server_file(&server, files[i][1], &b);
        for (size_t len = 0; len + 1 < a.len; len++) {
            assert_int_equal(
                ki__pem_check_pair(ki_str_make(a.data, len), ki_buf_str(&b), NULL, &problem),
                KI_ERR_INVALID);
            assert_int_equal(ki__pem_check_ca(ki_str_make(a.data, len), NULL, &problem),
                             KI_ERR_INVALID);
        }
        for (size_t len = 0; len + 1 < b.len; len++) {
            assert_int_equal(
                ki__pem_check_pair(ki_buf_str(&a), ki_str_make(b.data, len), NULL, &problem),
                KI_ERR_INVALID);
        }
        assert_int_equal(ki__pem_check_ca(ki_buf_str(&a), NULL, &problem), 0);
        assert_int_equal(ki__pem_check_ca(ki_buf_str(&b), NULL, &problem), KI_ERR_INVALID);
        ki_buf_done(&a);
        ki_buf_done(&b);
    }
}

static int sweep_pair(const ki_alloc *alloc, void *user)
{
    (void)user;
    return check_pair("client.crt", "client.key", alloc);
}

static void out_of_memory_for_pairs_is_reported(void **state)
{
    (void)state;
    test_alloc_sweep(sweep_pair, NULL);
}

/* ---- plugins ---- */

static void begin_exec(credentialing *c)
{
    credentialing_begin(c);
    credentialing_plugin(c);
    load_plain(c, EXEC);
}

static void a_plugin_is_run_once_for_all_requests(void **state)
{
    (void)state;
    credentialing c;
    exchange e[5];
    begin_exec(&c);
    credentialing_answer(&c, "\"token\":\"one\"");
    credentialing_open(&c);
    assert_int_equal(credentialing_runs(&c), 0); /* not before it is needed */
    for (size_t i = 0; i < 5; i++) {
        exchange_init(&e[i], &c.t, "/who", "");
        exchange_start(&e[i]);
    }
    for (size_t i = 0; i < 5; i++) {
        transporting_until(&c.t, &e[i].ended);
        assert_str(ki_buf_str(&e[i].body), "|Bearer one|");
        exchange_done(&e[i]);
    }
    credentialing_answer(&c, "\"token\":\"two\"");
    credentialing_pass(&c, 100000); /* it never expires */
    assert_string_equal(credentialing_ask(&c, "/who", "", NULL, NULL), "|Bearer one|");
    assert_int_equal(credentialing_runs(&c), 1);
    credentialing_end(&c);
}

static void it_is_run_again_when_the_server_refuses(void **state)
{
    (void)state;
    credentialing c;
    int code;
    begin_exec(&c);
    credentialing_answer(&c, "\"token\":\"one\"");
    credentialing_open(&c);
    assert_string_equal(credentialing_ask(&c, "/who", "", NULL, NULL), "|Bearer one|");
    credentialing_answer(&c, "\"token\":\"two\"");
    credentialing_pass(&c, 10);
    (void)credentialing_ask(&c, "/who", "need=Bearer+two", &code, NULL);
    assert_int_equal(code, 401);
    (void)credentialing_ask(&c, "/who", "need=Bearer+two", &code, NULL);
    assert_int_equal(code, 200);
    assert_int_equal(credentialing_runs(&c), 2);
    for (int i = 0; i < 50; i++) { /* 50 seconds of refusals */
        credentialing_pass(&c, 1);
        (void)credentialing_ask(&c, "/who", "need=never", &code, NULL);
        assert_int_equal(code, 401);
    }
    assert_in_range(credentialing_runs(&c), 3, 6);
    credentialing_end(&c);
}

static void it_is_run_again_when_it_expires(void **state)
{
    (void)state;
    credentialing c;
    begin_exec(&c);
    c.real_ahead_ns = -3600 * INT64_C(1000000000); /* whatever the time is */
    credentialing_answer(&c, "\"token\":\"one\",\"expirationTimestamp\":\"2126-01-01T00:00:00Z\"");
    credentialing_open(&c);
    assert_string_equal(credentialing_ask(&c, "/who", "", NULL, NULL), "|Bearer one|");
    credentialing_pass(&c, 50000);
    assert_string_equal(credentialing_ask(&c, "/who", "", NULL, NULL), "|Bearer one|");
    assert_int_equal(credentialing_runs(&c), 1);
    credentialing_answer(&c, "\"token\":\"two\"");
    credentialing_pass(&c, UINT64_C(3500000000));
    assert_string_equal(credentialing_ask(&c, "/who", "", NULL, NULL), "|Bearer two|");
    assert_int_equal(credentialing_runs(&c), 2);
    credentialing_end(&c);
}

/* The clock is wrong, or the plugin's is: what it gives is used, and it is not asked all the time.
 */
static void what_comes_expired_is_used_and_causes_no_storm(void **state)
{
    (void)state;
    credentialing c;
    begin_exec(&c);
    credentialing_answer(&c, "\"token\":\"one\",\"expirationTimestamp\":\"2001-01-01T00:00:00Z\"");
    credentialing_open(&c);
    for (int i = 0; i < 60; i++) {
        assert_string_equal(credentialing_ask(&c, "/who", "", NULL, NULL), "|Bearer one|");
        credentialing_pass(&c, 1);
    }
    assert_in_range(credentialing_runs(&c), 2, 5);
    credentialing_end(&c);
}

static void failures_are_reported_to_requests_and_retried_slowly(void **state)
{
    (void)state;
    credentialing c;
    ki_error error = KI_ERROR_INIT;
    int code;
    begin_exec(&c);
    test_folder_write(&c.folder, "answer", "CANARY");
    credentialing_open(&c);
    for (int i = 0; i < 60; i++) {
        (void)credentialing_ask(&c, "/who", "", &code, &error);
        assert_int_equal(code, KI_ERR_SYNTAX);
        assert_non_null(strstr(error.message, "exec plugin failed: output is not JSON"));
        assert_non_null(strstr(error.message, "/plugin"));
        assert_null(strstr(error.message, "CANARY"));
        credentialing_pass(&c, 1);
    }
    assert_in_range(credentialing_runs(&c), 3, 7); /* after 1, 2, 4, 8, 16, 32 seconds */
    credentialing_answer(&c, "\"token\":\"one\"");
    credentialing_pass(&c, 61);
    assert_string_equal(credentialing_ask(&c, "/who", "", NULL, NULL), "|Bearer one|");
    assert_int_equal(unlink(test_folder_path(&c.folder, "plugin")), 0);
    credentialing_pass(&c, 61); /* the old credentials stay in use */
    (void)credentialing_ask(&c, "/who", "need=never", &code, NULL);
    (void)credentialing_ask(&c, "/who", "need=never", &code, NULL);
    assert_int_equal(code, 401);
    assert_non_null(strstr(ki_buf_text(&c.t.logged), "exec plugin not found"));
    credentialing_end(&c);
}

/* A plugin that hangs is killed, and the requests that waited for it fail. */
static void a_plugin_that_hangs_ends_in_time(void **state)
{
    (void)state;
    credentialing c;
    ki_error error = KI_ERROR_INIT;
    int code;
    begin_exec(&c);
    credentialing_script(&c, "#!/bin/sh\nsleep 60\n");
    c.options.exec_timeout_ms = 200;
    credentialing_open(&c);
    (void)credentialing_ask(&c, "/who", "", &code, &error);
    assert_int_equal(code, -ETIMEDOUT);
    assert_non_null(strstr(error.message, "timeout; killed"));
    credentialing_end(&c);
}

/* Runs with a terminal in the place of standard input; what was typed is the token. */
static void a_plugin_may_be_given_the_terminal(void **state)
{
    (void)state;
    static const char *const modes[] = {"IfAvailable", "Always"};
    int terminal = posix_openpt(O_RDWR | O_NOCTTY | O_CLOEXEC);
    assert_true(terminal >= 0 && grantpt(terminal) == 0 && unlockpt(terminal) == 0);
    int other = open(ptsname(terminal), O_RDWR | O_NOCTTY | O_CLOEXEC);
    int saved = fcntl(0, F_DUPFD_CLOEXEC, 10);
    assert_true(other >= 0 && dup2(other, 0) == 0);
    for (size_t i = 0; i < 4; i++) {
        credentialing c;
        char user[256];
        int code;
        credentialing_begin(&c);
        credentialing_script(&c, "#!/bin/sh\nread t\n"
                                 "case $KUBERNETES_EXEC_INFO in *'\"interactive\":true'*) ;;\n"
                                 "*) t=none ;; esac\n"
                                 "printf '{\"kind\":\"ExecCredential\",\"apiVersion\":"
                                 "\"client.authentication.k8s.io/v1\",\"status\":"
                                 "{\"token\":\"%s\"}}' \"$t\"\n");
        snprintf(user, sizeof(user),
                 "exec: {apiVersion: client.authentication.k8s.io/v1, command: DIR/plugin,"
                 " interactiveMode: %s}",
                 i == 3 ? "Never" : modes[i % 2]);
        load_plain(&c, user);
        c.options.exec_interactive = i != 2; /* IfAvailable, but not allowed */
        if (i < 2) {
            assert_int_equal(write(terminal, "typed\n", 6), 6);
        }
        credentialing_open(&c);
        assert_string_equal(credentialing_ask(&c, "/who", "", &code, NULL),
                            i < 2 ? "|Bearer typed|" : "|Bearer none|");
        credentialing_end(&c);
    }
    assert_int_equal(dup2(saved, 0), 0);
    close(saved);
    close(other);
    close(terminal);
}

static void a_plugin_that_needs_a_terminal_fails_without(void **state)
{
    (void)state;
    credentialing c;
    ki_error error = KI_ERROR_INIT;
    int code;
    int saved = fcntl(0, F_DUPFD_CLOEXEC, 10);
    int nothing = open("/dev/null", O_RDONLY | O_CLOEXEC);
    assert_int_equal(dup2(nothing, 0), 0);
    credentialing_begin(&c);
    credentialing_plugin(&c);
    load_plain(&c, "exec: {apiVersion: client.authentication.k8s.io/v1, command: DIR/plugin,"
                   " interactiveMode: Always}");
    c.options.exec_interactive = true;
    credentialing_open(&c);
    (void)credentialing_ask(&c, "/who", "", &code, &error);
    assert_int_equal(code, -ENOTTY);
    assert_non_null(strstr(error.message, "not a terminal"));
    assert_int_equal(credentialing_runs(&c), 0);
    credentialing_end(&c);
    assert_int_equal(dup2(saved, 0), 0);
    close(saved);
    close(nothing);
}

static void add_escaped(ki_buf *out, const char *name)
{
    ki_buf file;
    test_server_file(&server, name, &file);
    for (size_t i = 0; i < file.len; i++) {
        if (file.data[i] == '\n') {
            test_add(out, "\\n", 1);
        } else {
            assert_int_equal(ki_buf_add_char(out, file.data[i]), 0);
        }
    }
    ki_buf_done(&file);
}

static void answer_pair(credentialing *c, const char *certificate, const char *key)
{
    ki_buf status;
    ki_buf_init(&status, NULL, 1 << 20);
    test_add(&status, "\"clientCertificateData\":\"", 1);
    add_escaped(&status, certificate);
    test_add(&status, "\",\"clientKeyData\":\"", 1);
    add_escaped(&status, key);
    test_add(&status, "\"", 1);
    credentialing_answer(c, ki_buf_text(&status));
    ki_buf_done(&status);
}

static void certificates_of_plugins_are_shown_and_replaced(void **state)
{
    (void)state;
    credentialing c;
    exchange watch;
    int code;
    credentialing_begin(&c);
    credentialing_plugin(&c);
    credentialing_copy(&c, &server, "ca.crt", "ca");
    credentialing_load(&c, url_of("https", "mutual"), "certificate-authority: DIR/ca", EXEC);
    answer_pair(&c, "client.crt", "client.key");
    credentialing_open(&c);
    assert_string_equal(credentialing_ask(&c, "/who", "", NULL, NULL), "alice||");
    begin_watch(&c, &watch);
    credentialing_pass(&c, 10);
    (void)credentialing_ask(&c, "/who", "need=x", &code, NULL);
    assert_int_equal(code, 401);
    assert_string_equal(credentialing_ask(&c, "/who", "", NULL, NULL), "alice||");
    assert_int_equal(credentialing_runs(&c), 2);
    assert_false(watch.ended); /* the same certificate closes nothing */
    answer_pair(&c, "client.crt", "client2.key");
    credentialing_pass(&c, 61);
    (void)credentialing_ask(&c, "/who", "need=x", &code, NULL);
    assert_string_equal(credentialing_ask(&c, "/who", "", NULL, NULL), "alice||");
    assert_int_equal(credentialing_runs(&c), 3);
    assert_non_null(strstr(ki_buf_text(&c.t.logged), "do not match"));
    assert_false(watch.ended);
    answer_pair(&c, "client2.crt", "client2.key");
    credentialing_pass(&c, 61);
    (void)credentialing_ask(&c, "/who", "need=x", &code, NULL);
    assert_string_equal(credentialing_ask(&c, "/who", "", NULL, NULL), "bob||");
    transporting_until(&c.t, &watch.ended);
    assert_int_equal(watch.error.code, -ECONNRESET);
    exchange_done(&watch);
    credentialing_end(&c);
}

/* A stream that waits for the plugin need not be recreated. */
static void streams_wait_for_certificates(void **state)
{
    (void)state;
    credentialing c;
    exchange watch;
    credentialing_begin(&c);
    credentialing_plugin(&c);
    credentialing_copy(&c, &server, "ca.crt", "ca");
    credentialing_load(&c, url_of("https", "mutual"), "certificate-authority: DIR/ca", EXEC);
    answer_pair(&c, "client.crt", "client.key");
    credentialing_open(&c);
    begin_watch(&c, &watch);
    assert_false(watch.ended);
    exchange_cancel(&watch);
    transporting_for(&c.t, 20);
    exchange_done(&watch);
    credentialing_end(&c);
}

/* ---- the end ---- */

static void all_may_end_at_any_moment(void **state)
{
    (void)state;
    for (int ms = 0; ms < 80; ms += 8) {
        credentialing c;
        exchange e;
        begin_exec(&c);
        credentialing_answer(&c, "\"token\":\"one\"");
        credentialing_open(&c);
        exchange_init(&e, &c.t, "/who", "");
        exchange_start(&e);
        transporting_for(&c.t, ms);
        exchange_done(&e);
        credentialing_end(&c);
    }
    assert_int_equal(waitpid(-1, NULL, WNOHANG), 0); /* the server, and nobody else */
}

static credentialing *to_free;

static void free_on_log(const ki_log_record *record, void *user)
{
    (void)user;
    credentialing *c = to_free;
    if (strcmp(record->component, "credentials") == 0 && c != NULL) {
        to_free = NULL;
        ki__curl_free(c->t.curl);
        ki__credentials_free(c->credentials);
        c->t.curl = NULL;
        c->credentials = NULL;
    }
}

/* A program may release everything when a failure is reported. */
static void all_may_end_inside_a_report(void **state)
{
    (void)state;
    static const char *const users[] = {"tokenFile: DIR/token", EXEC,
                                        "client-certificate: DIR/crt, client-key: DIR/key"};
    for (size_t i = 0; i < 3; i++) {
        credentialing c;
        exchange e;
        credentialing_begin(&c);
        test_folder_write(&c.folder, "token", "one");
        credentialing_copy(&c, &server, "client.crt", "crt");
        credentialing_copy(&c, &server, "client.key", "key");
        credentialing_script(&c, "#!/bin/sh\nexit 1\n");
        credentialing_load(&c, "https://127.0.0.1:1", "", users[i]);
        credentialing_open(&c);
        test_folder_write(&c.folder, "token", "");
        test_folder_write(&c.folder, "key", "");
        credentialing_pass(&c, 61);
        c.t.log.write = free_on_log;
        to_free = &c;
        exchange_init(&e, &c.t, "/who", "");
        exchange_start(&e);
        for (int waited = 0; waited < 500 && to_free != NULL; waited++) {
            transporting_for(&c.t, 10);
        }
        assert_null(to_free);
        transporting_for(&c.t, 20);
        assert_false(e.ended);
        exchange_done(&e);
        credentialing_end(&c);
    }
}

/* The whole way of a request, with a certificate and a token of a plugin. */
static int sweep_request(const ki_alloc *alloc, void *user)
{
    credentialing *c = user;
    transporting t = {0};
    ki__credentials *credentials = NULL;
    ki_error error = KI_ERROR_INIT;
    ki_loop_options options = KI_OPTIONS_INIT(ki_loop_options);
    options.alloc = alloc;
    int r = ki_loop_new(&options, &t.loop, NULL);
    if (r < 0) {
        return r;
    }
    r = ki__credentials_new(t.loop, c->config, &c->options, &credentials, &error);
    if (r == 0) {
        const ki__curl_options curl_options = {
            .loop = t.loop,
            .url = ki_config_server(c->config),
            .tls = ki__credentials_tls(credentials),
            .auth = ki__credentials_auth(credentials),
        };
        r = ki__curl_new(&curl_options, &t.curl, &error);
    }
    if (r == 0) {
        exchange e;
        ki__credentials_attach(credentials, t.curl);
        exchange_init(&e, &t, "/who", "");
        exchange_run(&e);
        r = e.complete ? 0 : e.error.code;
        exchange_done(&e);
    }
    ki__curl_free(t.curl);
    ki__credentials_free(credentials);
    ki_loop_unref(t.loop);
    return r;
}

static void out_of_memory_is_reported(void **state)
{
    (void)state;
    credentialing c;
    credentialing_begin(&c);
    credentialing_plugin(&c);
    credentialing_copy(&c, &server, "ca.crt", "ca");
    credentialing_load(&c, url_of("https", "mutual"), "certificate-authority: DIR/ca", EXEC);
    answer_pair(&c, "client.crt", "client.key");
    test_alloc_sweep(sweep_request, &c);
    credentialing_end(&c);
}

static void a_child_of_fork_only_forgets(void **state)
{
    (void)state;
    credentialing c;
    exchange e;
    begin_exec(&c);
    credentialing_script(&c, "#!/bin/sh\nsleep 0.3\ncat DIR/answer\n");
    credentialing_answer(&c, "\"token\":\"one\"");
    credentialing_open(&c);
    exchange_init(&e, &c.t, "/who", "");
    exchange_start(&e);
    transporting_for(&c.t, 50);
    pid_t child = fork();
    if (child == 0) {
        ki__curl_free(c.t.curl);
        ki__credentials_free(c.credentials);
        _exit(0);
    }
    assert_int_equal(waitpid(child, NULL, 0), child);
    transporting_until(&c.t, &e.ended);
    assert_str(ki_buf_str(&e.body), "|Bearer one|");
    exchange_done(&e);
    credentialing_end(&c);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(headers_arrive),
        cmocka_unit_test(a_token_file_is_read_again),
        cmocka_unit_test(a_static_token_serves_until_the_file_can_be_read),
        cmocka_unit_test(a_client_certificate_is_replaced_under_a_watch),
        cmocka_unit_test(files_are_looked_at_without_requests),
        cmocka_unit_test(a_ca_is_replaced_under_a_watch),
        cmocka_unit_test(unusable_files_are_reported_at_once),
        cmocka_unit_test(pairs_of_certificate_and_key_are_known),
        cmocka_unit_test(pairs_that_are_cut_are_refused),
        cmocka_unit_test(out_of_memory_for_pairs_is_reported),
        cmocka_unit_test(a_plugin_is_run_once_for_all_requests),
        cmocka_unit_test(it_is_run_again_when_the_server_refuses),
        cmocka_unit_test(it_is_run_again_when_it_expires),
        cmocka_unit_test(what_comes_expired_is_used_and_causes_no_storm),
        cmocka_unit_test(failures_are_reported_to_requests_and_retried_slowly),
        cmocka_unit_test(a_plugin_that_hangs_ends_in_time),
        cmocka_unit_test(a_plugin_may_be_given_the_terminal),
        cmocka_unit_test(a_plugin_that_needs_a_terminal_fails_without),
        cmocka_unit_test(certificates_of_plugins_are_shown_and_replaced),
        cmocka_unit_test(streams_wait_for_certificates),
        cmocka_unit_test(all_may_end_at_any_moment),
        cmocka_unit_test(all_may_end_inside_a_report),
        cmocka_unit_test(out_of_memory_is_reported),
        cmocka_unit_test(a_child_of_fork_only_forgets),
    };
    return cmocka_run_group_tests(tests, start_server, stop_server);
}
