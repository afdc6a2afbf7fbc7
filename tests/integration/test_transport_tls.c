/* SPDX-License-Identifier: Apache-2.0 */
/* The transport over TLS: which servers are believed, and what they are shown. The certificates are
 * made for each run. */
#include <arpa/inet.h>
#include <dlfcn.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "support/transporting.h"

#define MS UINT64_C(1000000)

static test_server server;
static ki_buf ca;
static ki_buf other_ca;
static ki_buf both_ca;
static int system_roots;         /* how often libcurl had some loaded */
static unsigned system_roots_ms; /* how long that takes */

/* In the place of the TLS library's own, to see what libcurl trusts besides what it was given. */
struct x509_store_st;
KI_API int X509_STORE_load_file(struct x509_store_st *store, const char *file);
KI_API int X509_STORE_load_path(struct x509_store_st *store, const char *folder);

int X509_STORE_load_file(struct x509_store_st *store, const char *file)
{
    int (*own)(struct x509_store_st *, const char *);
    *(void **)&own = dlsym(RTLD_NEXT, "X509_STORE_load_file");
    system_roots += strncmp(file, server.folder, strlen(server.folder)) != 0 ? 1 : 0;
    return own(store, file);
}

int X509_STORE_load_path(struct x509_store_st *store, const char *folder)
{
    int (*own)(struct x509_store_st *, const char *);
    *(void **)&own = dlsym(RTLD_NEXT, "X509_STORE_load_path");
    system_roots++;
    (void)usleep(system_roots_ms * 1000);
    return own(store, folder);
}

static int start_server(void **state)
{
    (void)state;
    test_server_start(&server, "http_server.py", TEST_SCRATCH_DIR "/transport_tls");
    test_server_file(&server, "ca.crt", &ca);
    test_server_file(&server, "other-ca.crt", &other_ca);
    test_server_file(&server, "both-ca.chain", &both_ca);
    return 0;
}

static int stop_server(void **state)
{
    (void)state;
    ki_buf_done(&ca);
    ki_buf_done(&other_ca);
    ki_buf_done(&both_ca);
    test_server_stop(&server);
    return 0;
}

/* Asks the server `name` once, as `host`; the code of the end, and what it said. */
static int ask(const char *name, const char *host, const ki__curl_tls *tls, ki_buf *ret_body,
               ki_error *ret_error)
{
    transporting t;
    exchange e;
    char url[128];
    snprintf(url, sizeof(url), "https://%s:%d", host, test_server_port(&server, name));
    ki__curl_options options = {.url = url, .tls = *tls};
    transporting_begin(&t);
    transporting_open(&t, &options, "https", 0);
    exchange_init(&e, &t, "/echo", "");
    exchange_run(&e);
    int code = e.complete ? 0 : e.error.code;
    assert_int_equal(e.status, e.complete ? 200 : 0);
    if (ret_body != NULL) {
        ki_buf_init(ret_body, NULL, 1 << 16);
        assert_int_equal(ki_buf_add_str(ret_body, ki_buf_str(&e.body)), 0);
    }
    if (ret_error != NULL) {
        *ret_error = e.error;
    }
    exchange_done(&e);
    transporting_end(&t);
    return code;
}

/* With TLS 1.3 a client hears that it is not welcome when its handshake is long over, as an alert
 * or as a reset, whichever comes first. */
enum { BROKEN = 1 };

static int in_class(int code, int wanted)
{
    bool broken = code == -EPIPE || code == -ECONNRESET || code == -EPROTO;
    return wanted == BROKEN && broken ? BROKEN : code;
}

typedef enum roots { CA, OTHER_CA, BOTH, SYSTEM, INSECURE } roots;

static ki__curl_tls tls_of(roots which, const char *name)
{
    ki__curl_tls tls = {.server_name = name, .insecure = which == INSECURE};
    if (which != SYSTEM && which != INSECURE) {
        tls.ca = ki_buf_str(which == CA ? &ca : which == OTHER_CA ? &other_ca : &both_ca);
    }
    return tls;
}

static void the_matrix(void **state)
{
    (void)state;
    static const struct {
        const char *server;
        const char *host;
        const char *name; /* tls-server-name */
        roots roots;
        int code;
    } cases[] = {
        {"good", "127.0.0.1", NULL, CA, 0},
        {"good", "localhost", NULL, CA, 0},
        {"good", "127.0.0.1", NULL, BOTH, 0},
        {"good", "127.0.0.1", NULL, OTHER_CA, KI_ERR_TLS},
        {"good", "127.0.0.1", NULL, SYSTEM, KI_ERR_TLS},
        {"good", "127.0.0.1", NULL, INSECURE, 0},
        {"good", "127.0.0.1", "localhost", CA, 0},
        {"good", "localhost", "127.0.0.1", CA, 0},
        {"good", "127.0.0.1", "elsewhere.test", CA, KI_ERR_TLS}, /* valid for the host alone */
        {"good", "127.0.0.1", "127.0.0.2", CA, KI_ERR_TLS},
        {"good", "127.0.0.1", "::1", CA, KI_ERR_TLS},
        {"good", "127.0.0.1", "elsewhere.test", INSECURE, 0},
        {"wrong-ca", "127.0.0.1", NULL, CA, KI_ERR_TLS},
        {"wrong-ca", "127.0.0.1", NULL, OTHER_CA, 0},
        {"wrong-ca", "127.0.0.1", NULL, BOTH, 0},
        {"self-signed", "127.0.0.1", NULL, CA, KI_ERR_TLS},
        {"self-signed", "127.0.0.1", NULL, SYSTEM, KI_ERR_TLS},
        {"self-signed", "127.0.0.1", NULL, INSECURE, 0},
        {"expired", "127.0.0.1", NULL, CA, KI_ERR_TLS},
        {"wrong-name", "127.0.0.1", NULL, CA, KI_ERR_TLS},
        {"wrong-name", "127.0.0.1", "elsewhere.test", CA, 0},
        {"only-name", "127.0.0.1", NULL, CA, KI_ERR_TLS},
        {"only-name", "127.0.0.1", "api.test", CA, 0},
        {"only-name", "127.0.0.1", "API.test", CA, 0},
        {"only-name", "127.0.0.1", "x.api.test", CA, KI_ERR_TLS},
        {"wildcard", "127.0.0.1", "a.cluster.test", CA, 0},
        {"wildcard", "127.0.0.1", "cluster.test", CA, KI_ERR_TLS},
        {"wildcard", "127.0.0.1", "a.b.cluster.test", CA, KI_ERR_TLS},
        {"only-dns", "localhost", NULL, CA, 0},
        {"only-dns", "127.0.0.1", NULL, CA, KI_ERR_TLS},
        {"only-cn", "127.0.0.1", NULL, CA, KI_ERR_TLS},
        {"ip-as-dns", "127.0.0.1", NULL, CA, KI_ERR_TLS},
        {"below", "127.0.0.1", NULL, CA, 0},
        {"below", "127.0.0.1", NULL, OTHER_CA, KI_ERR_TLS},
        {"below-alone", "127.0.0.1", NULL, CA, KI_ERR_TLS},
        {"out-of-bounds", "127.0.0.1", "localhost", CA, KI_ERR_TLS},
        {"by-leaf", "127.0.0.1", NULL, CA, KI_ERR_TLS}, /* a leaf is no CA */
        {"for-clients", "127.0.0.1", NULL, CA, KI_ERR_TLS},
        {"tls-1.1", "127.0.0.1", NULL, CA, -EPROTO},
        {"tls-1.2", "127.0.0.1", NULL, CA, 0},
        {"tls-1.3", "127.0.0.1", NULL, CA, 0},
        {"plain", "127.0.0.1", NULL, CA, -EPROTO},
        {"mutual", "127.0.0.1", NULL, CA, BROKEN}, /* it wants to know who we are */
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        ki_error error = KI_ERROR_INIT;
        ki__curl_tls tls = tls_of(cases[i].roots, cases[i].name);
        int code = ask(cases[i].server, cases[i].host, &tls, NULL, &error);
        code = in_class(code, cases[i].code);
        if (code != cases[i].code) {
            fail_msg("%s as %s, %s: %d %s", cases[i].server, cases[i].host,
                     cases[i].name != NULL ? cases[i].name : "-", code, error.message);
        }
    }
}

static void a_given_ca_replaces_the_systems_roots(void **state)
{
    (void)state;
    char path[SERVER_FOLDER + 16];
    ki__curl_tls tls = tls_of(CA, NULL);
    system_roots = 0;
    assert_int_equal(ask("good", "127.0.0.1", &tls, NULL, NULL), 0);
    assert_int_equal(system_roots, 0);
    snprintf(path, sizeof(path), "%s/ca.crt", server.folder);
    tls = (ki__curl_tls){.ca_file = path};
    assert_int_equal(ask("good", "127.0.0.1", &tls, NULL, NULL), 0);
    assert_int_equal(system_roots, 0);
    tls = (ki__curl_tls){0};
    assert_int_equal(ask("good", "127.0.0.1", &tls, NULL, NULL), KI_ERR_TLS);
    assert_int_not_equal(system_roots, 0);
}

/* The server was said to flood the connection, because a second had passed in one turn. */
static void a_handshake_may_take_long(void **state)
{
    (void)state;
    ki_error error = KI_ERROR_INIT;
    ki__curl_tls tls = {0};
    system_roots_ms = 1500;
    assert_int_equal(ask("good", "127.0.0.1", &tls, NULL, &error), KI_ERR_TLS);
    system_roots_ms = 0;
}

static void the_host_header_is_the_urls(void **state)
{
    (void)state;
    ki_buf body;
    char host[64];
    ki__curl_tls tls = tls_of(CA, "api.test");
    assert_int_equal(ask("only-name", "127.0.0.1", &tls, &body, NULL), 0);
    snprintf(host, sizeof(host), "Host: 127.0.0.1:%d\n", test_server_port(&server, "only-name"));
    assert_non_null(strstr(ki_buf_text(&body), host));
    ki_buf_done(&body);
}

static void errors_say_what_is_wrong(void **state)
{
    (void)state;
    ki_error error = KI_ERROR_INIT;
    ki__curl_tls tls = tls_of(CA, NULL);
    (void)ask("expired", "127.0.0.1", &tls, NULL, &error);
    assert_non_null(strstr(error.message, "server certificate of 127.0.0.1:"));
    assert_non_null(strstr(error.message, "has expired"));
    (void)ask("wrong-name", "127.0.0.1", &tls, NULL, &error);
    assert_non_null(strstr(error.message, "name"));
}

static void what_makes_no_sense_is_refused(void **state)
{
    (void)state;
    transporting t;
    transporting_begin(&t);
    const ki_str pem = ki_str_from("-----BEGIN hunter2");
    const ki__curl_tls cases[] = {
        {.ca = pem, .insecure = true}, {.ca_file = "/x", .insecure = true},
        {.certificate = pem},          {.key = pem},
        {.server_name = ""},           {.server_name = "a b"},
        {.server_name = "a/b"},        {.server_name = "a\nb"}};
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        ki_error error = KI_ERROR_INIT;
        const ki__curl_options options = {.loop = t.loop, .url = "https://host", .tls = cases[i]};
        assert_int_equal(ki__curl_new(&options, &t.curl, &error), KI_ERR_INVALID);
        assert_null(strstr(error.message, "hunter2"));
    }
    const ki__curl_options options = {.loop = t.loop, .url = "http://host", .tls = {.ca = pem}};
    assert_int_equal(ki__curl_new(&options, &t.curl, NULL), KI_ERR_INVALID);
    transporting_end(&t);
}

static void unreadable_certificates_are_reported(void **state)
{
    (void)state;
    ki_error error = KI_ERROR_INIT;
    ki__curl_tls tls = {.ca = ki_str_from("hunter2, not PEM")};
    assert_int_equal(ask("good", "127.0.0.1", &tls, NULL, &error), KI_ERR_INVALID);
    assert_null(strstr(error.message, "hunter2"));
    tls = (ki__curl_tls){.ca_file = "/no/such/file"};
    assert_int_equal(ask("good", "127.0.0.1", &tls, NULL, &error), KI_ERR_INVALID);
    tls = tls_of(CA, NULL);
    tls.certificate = ki_buf_str(&ca);
    tls.key = ki_str_from("-----BEGIN PRIVATE KEY-----\nhunter2\n-----END PRIVATE KEY-----\n");
    assert_int_equal(ask("mutual", "127.0.0.1", &tls, NULL, &error), KI_ERR_INVALID);
    assert_null(strstr(error.message, "hunter2"));
}

/* ---- client certificates, and their change ---- */

static void with_client(const char *name, ki_buf *ret_certificate, ki_buf *ret_key,
                        ki__curl_tls *ret_tls)
{
    char file[64];
    snprintf(file, sizeof(file), "%s.crt", name);
    test_server_file(&server, file, ret_certificate);
    snprintf(file, sizeof(file), "%s.key", name);
    test_server_file(&server, file, ret_key);
    *ret_tls = tls_of(CA, NULL);
    ret_tls->certificate = ki_buf_str(ret_certificate);
    ret_tls->key = ki_buf_str(ret_key);
}

static void client_certificates_are_shown(void **state)
{
    (void)state;
    static const struct {
        const char *name;
        const char *key;
        int code;
    } cases[] = {{"client", NULL, 0},
                 {"client-other", NULL, BROKEN},
                 {"client", "client2", KI_ERR_INVALID}}; /* the key of another */
    for (size_t i = 0; i < 3; i++) {
        ki_buf certificate;
        ki_buf key;
        ki_buf other_key = {0};
        ki__curl_tls tls;
        with_client(cases[i].name, &certificate, &key, &tls);
        if (cases[i].key != NULL) {
            test_server_file(&server, "client2.key", &other_key);
            tls.key = ki_buf_str(&other_key);
        }
        ki_error error = KI_ERROR_INIT;
        int code = in_class(ask("mutual", "127.0.0.1", &tls, NULL, &error), cases[i].code);
        if (code != cases[i].code) {
            fail_msg("%s: %d %s", cases[i].name, code, error.message);
        }
        ki_buf_done(&certificate);
        ki_buf_done(&key);
        ki_buf_done(&other_key);
    }
}

static void new_certificates_end_streams_and_are_used(void **state)
{
    (void)state;
    transporting t;
    exchange watch;
    exchange list;
    exchange e;
    ki_buf certificate;
    ki_buf key;
    ki__curl_tls tls;
    with_client("client", &certificate, &key, &tls);
    ki__curl_options options = {.tls = tls};
    transporting_begin(&t);
    transporting_open(&t, &options, "https", test_server_port(&server, "mutual"));
    exchange_init(&watch, &t, "/stream", "hang=1");
    watch.request.stream = true;
    exchange_start(&watch);
    exchange_init(&list, &t, "/stream", "count=10&ms=50");
    exchange_start(&list);
    while (watch.status == 0 || list.status == 0) {
        transporting_for(&t, 10);
    }
    tls.certificate = ki_str_from("x"); /* half of a pair changes nothing */
    tls.key = ki_str_make(NULL, 0);
    assert_int_equal(ki__curl_set_tls(t.curl, &tls, NULL), KI_ERR_INVALID);
    transporting_for(&t, 20);
    assert_false(watch.ended);
    ki_buf_done(&certificate);
    ki_buf_done(&key);
    with_client("client-other", &certificate, &key, &tls); /* one that is not accepted, to tell */
    assert_int_equal(ki__curl_set_tls(t.curl, &tls, NULL), 0);
    transporting_until(&t, &watch.ended);
    assert_int_equal(watch.error.code, -ECONNRESET);
    transporting_until(&t, &list.ended);
    assert_true(list.complete);
    exchange_init(&e, &t, "/echo", "");
    exchange_run(&e);
    assert_false(e.complete); /* so it was a new connection, with the new certificate */
    ki_buf_done(&certificate);
    ki_buf_done(&key);
    exchange_done(&e);
    exchange_done(&watch);
    exchange_done(&list);
    transporting_end(&t);
}

static void a_new_ca_is_used_by_new_connections(void **state)
{
    (void)state;
    static const struct {
        roots roots;
        int code;
    } steps[] = {{CA, 0}, {BOTH, 0}, {OTHER_CA, KI_ERR_TLS}, {CA, 0}};
    transporting t;
    ki__curl_options options = {.tls = tls_of(CA, NULL)};
    transporting_begin(&t);
    transporting_open(&t, &options, "https", test_server_port(&server, "good"));
    for (size_t i = 0; i < 4; i++) {
        exchange e;
        ki__curl_tls tls = tls_of(steps[i].roots, NULL);
        assert_int_equal(ki__curl_set_tls(t.curl, &tls, NULL), 0);
        exchange_init(&e, &t, "/echo", "");
        exchange_run(&e);
        assert_int_equal(e.complete ? 0 : e.error.code, steps[i].code);
        exchange_done(&e);
    }
    transporting_end(&t);
}

static void answers_over_tls_may_be_cut(void **state)
{
    (void)state;
    transporting t;
    ki__curl_options options = {.tls = tls_of(CA, NULL)};
    transporting_begin(&t);
    transporting_open(&t, &options, "https", test_server_port(&server, "good"));
    for (int after = 0; after < 100; after += 9) {
        exchange e;
        char query[32];
        snprintf(query, sizeof(query), "after=%d", after);
        exchange_init(&e, &t, after % 2 == 0 ? "/cut" : "/reset", query);
        exchange_run(&e);
        assert_false(e.complete);
        assert_true(e.error.code == -EPIPE || e.error.code == -ECONNRESET ||
                    e.error.code == -EPROTO);
        exchange_done(&e);
    }
    transporting_end(&t);
}

/* The connection is made, but nobody is there for the handshake. */
static void a_handshake_that_does_not_come_ends_in_time(void **state)
{
    (void)state;
    transporting t;
    exchange e;
    struct sockaddr_in address = {.sin_family = AF_INET, .sin_addr = {htonl(INADDR_LOOPBACK)}};
    socklen_t len = sizeof(address);
    int listener = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    assert_int_equal(bind(listener, (struct sockaddr *)&address, len), 0);
    assert_int_equal(listen(listener, 8), 0);
    assert_int_equal(getsockname(listener, (struct sockaddr *)&address, &len), 0);
    ki__curl_options options = {.tls = tls_of(CA, NULL), .connect_timeout_ns = 300 * MS};
    transporting_begin(&t);
    transporting_open(&t, &options, "https", ntohs(address.sin_port));
    exchange_init(&e, &t, "/echo", "");
    exchange_run(&e);
    assert_int_equal(e.error.code, -ETIMEDOUT);
    exchange_done(&e);
    transporting_end(&t);
    close(listener);
}

static void a_child_of_fork_says_no_farewell(void **state)
{
    (void)state;
    transporting t;
    exchange e;
    ki__curl_options options = {.tls = tls_of(CA, NULL)};
    transporting_begin(&t);
    transporting_open(&t, &options, "https", test_server_port(&server, "good"));
    exchange_init(&e, &t, "/stream", "count=20&ms=20");
    exchange_start(&e);
    while (e.status == 0) {
        transporting_for(&t, 10);
    }
    pid_t child = fork();
    if (child == 0) {
        ki__curl_free(t.curl);
        _exit(0);
    }
    assert_int_equal(waitpid(child, NULL, 0), child);
    transporting_until(&t, &e.ended);
    assert_true(e.complete);
    exchange_done(&e);
    transporting_end(&t);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_matrix),
        cmocka_unit_test(a_given_ca_replaces_the_systems_roots),
        cmocka_unit_test(a_handshake_may_take_long),
        cmocka_unit_test(the_host_header_is_the_urls),
        cmocka_unit_test(errors_say_what_is_wrong),
        cmocka_unit_test(what_makes_no_sense_is_refused),
        cmocka_unit_test(unreadable_certificates_are_reported),
        cmocka_unit_test(client_certificates_are_shown),
        cmocka_unit_test(new_certificates_end_streams_and_are_used),
        cmocka_unit_test(a_new_ca_is_used_by_new_connections),
        cmocka_unit_test(answers_over_tls_may_be_cut),
        cmocka_unit_test(a_handshake_that_does_not_come_ends_in_time),
        cmocka_unit_test(a_child_of_fork_says_no_farewell),
    };
    return cmocka_run_group_tests(tests, start_server, stop_server);
}
