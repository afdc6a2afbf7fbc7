/* SPDX-License-Identifier: Apache-2.0 */
/* Who may use the monitor server, and what it takes of a client: tokens, certificates, web pages of
 * others, Unix sockets, malformed and slow requests, and lack of memory.  threads: yes */
#include <curl/curl.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#include <kinformer/loop.h>

#include "support/monitoring.h"

#define HTML "Accept: text/html\r\n"

static ki_monitor_server_options defaults(void)
{
    return KI_OPTIONS_INIT(ki_monitor_server_options);
}

/* ---- who ---- */

static void a_token_is_required(void **state)
{
    (void)state;
    static const struct {
        const char *target;
        const char *headers;
        int status;
    } cases[] = {
        {"/metrics", "", 401},
        {"/metrics", "Authorization: Bearer wrong\r\n", 401},
        {"/metrics", "Authorization: Bearer s3cre\r\n", 401},
        {"/metrics", "Authorization: Bearer s3cret-and-more\r\n", 401},
        {"/metrics", "Authorization: Bearer \r\n", 401},
        {"/metrics", "Authorization: Basic s3cret\r\n", 401},
        {"/metrics", "Authorization: Basic dXNlcjp3cm9uZw==\r\n", 401}, /* user:wrong */
        {"/metrics", "Authorization: Bearer s3cret\r\n", 200},
        {"/metrics", "Authorization: bearer s3cret\r\n", 200},
        {"/metrics", "Authorization: Basic dXNlcjpzM2NyZXQ=\r\n", 200}, /* user:s3cret */
        {"/metrics", "Authorization: Bearer s3cret\r\nHost: metrics.example\r\n", 200},
        {"/debug/", "", 401},
        {"/debug/events", "", 401},
        {"/debug/informers.json", "", 401},
        {"/nothing", "", 401},
        {"/readyz", "", 401},
    };
    ki_monitor_server_options options = defaults();
    options.token = "s3cret";
    options.listen = "0.0.0.0:0";
    monitoring m;
    monitoring_begin(&m, &options);
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        if (monitoring_get(&m, cases[i].target, cases[i].headers) != cases[i].status) {
            fail_msg("case %zu: %d", i, m.status);
        }
        if (cases[i].status == 401) {
            monitoring_has(&m, "WWW-Authenticate: Bearer\r\n");
            monitoring_has(&m, "WWW-Authenticate: Basic realm=");
            monitoring_lacks(&m, "kinformer_");
        }
    }
    monitoring_end(&m);
}

static void probes_may_be_open(void **state)
{
    (void)state;
    ki_check_options checks = KI_OPTIONS_INIT(ki_check_options);
    ki_monitor_server_options options = defaults();
    checks.max_bytes = 1;
    options.checks = &checks;
    options.token = "s3cret";
    options.open_probes = true;
    monitoring m;
    monitoring_begin(&m, &options);
    assert_int_equal(monitoring_get(&m, "/healthz?verbose", ""), 200);
    assert_string_equal(monitoring_body(&m), "ok\n");
    assert_int_equal(monitoring_get(&m, "/livez", ""), 200);
    assert_string_equal(monitoring_body(&m), "ok\n");
    assert_int_equal(monitoring_get(&m, "/readyz?verbose", ""), 503);
    assert_string_equal(monitoring_body(&m), "check failed\n");
    assert_int_equal(monitoring_get(&m, "/readyz", "Authorization: Bearer s3cret\r\n"), 503);
    monitoring_has(&m, "[-]memory");
    assert_int_equal(monitoring_get(&m, "/metrics", ""), 401);
    monitoring_end(&m);
}

static int try_options(const ki_monitor_server_options *options, ki_error *error)
{
    monitoring m;
    ki_monitor_server *monitor = NULL;
    monitoring_begin(&m, NULL);
    int r = ki_monitor_server_new(m.client, options, &monitor, error);
    ki_monitor_server_unref(monitor);
    monitoring_end(&m);
    return r;
}

static void invalid_options_are_refused(void **state)
{
    (void)state;
    static const char *const none[] = {"a b", NULL};
    static const struct {
        ki_monitor_server_options options;
        int r;
        const char *message;
    } cases[] = {
        {{.listen = "0.0.0.0:0"}, KI_ERR_DENIED, "require a token or client certificates"},
        {{.listen = "[::]:0"}, KI_ERR_DENIED, "require a token or client certificates"},
        {{.listen = "example.com:80"}, KI_ERR_INVALID, "is not an address and a port"},
        {{.listen = "127.0.0.1"}, KI_ERR_INVALID, "is not an address and a port"},
        {{.listen = "unix:"}, KI_ERR_INVALID, "empty"},
        {{.listen = "unix:/nonexistent/folder/socket"}, -ENOENT, "cannot listen on unix:"},
        {{.token = ""}, KI_ERR_INVALID, "token: "},
        {{.allowed_hosts = none}, KI_ERR_INVALID, "allowed_hosts: "},
        {{.certificate = "x"}, KI_ERR_INVALID, "either both or neither"},
        {{.client_ca = "x"}, KI_ERR_INVALID, "client_ca: requires a certificate"},
        {{.certificate = "x", .private_key = "y"}, KI_ERR_INVALID, "certificate and private_key: "},
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        ki_error error = KI_ERROR_INIT;
        int r = try_options(&cases[i].options, &error);
        if (r != cases[i].r || strstr(error.message, cases[i].message) == NULL) {
            fail_msg("case %zu: %s: %s", i, ki_error_name(r), error.message);
        }
    }
}

static void web_pages_of_others_are_refused(void **state)
{
    (void)state;
    static const struct {
        const char *headers;
        int status;
    } cases[] = {
        {"Host: evil.example\r\n", 403},
        {"Host: evil.example:PORT\r\nOrigin: http://evil.example:PORT\r\n", 403},
        {"Host: localhost.evil.example\r\n", 403},
        {"Host: 10.1.2.3\r\n", 403},
        {"Host: kubernetes\r\n", 403},
        {"Host: \r\n", 403},
        {"Origin: http://evil.example\r\n", 403},
        {"Origin: null\r\n", 403},
        {"Sec-Fetch-Site: cross-site\r\n", 403},
        {"Sec-Fetch-Site: same-site\r\n", 403},
        {"Sec-Fetch-Site: same-origin\r\n", 200},
        {"Sec-Fetch-Site: none\r\n", 200},
        {"Host: 127.0.0.1:1234\r\n", 200},
        {"Host: [::1]\r\n", 200},
        {"Host: app.localhost:80\r\n", 200},
        {"Host: monitor.example\r\n", 200}, /* allowed */
        {"Host: localhost:1\r\nOrigin: http://localhost:1\r\n", 200},
    };
    static const char *const allowed[] = {"monitor.example", NULL};
    ki_monitor_server_options options = defaults();
    options.allowed_hosts = allowed;
    monitoring m;
    monitoring_begin(&m, &options);
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        if (monitoring_get(&m, "/debug/informers.json", cases[i].headers) != cases[i].status) {
            fail_msg("%s: %d", cases[i].headers, m.status);
        }
    }
    monitoring_end(&m);
}

/* ---- Unix sockets ---- */

static void unix_sockets_are_private(void **state)
{
    (void)state;
    char folder[] = "/tmp/kinformer-XXXXXX";
    char listen[64];
    struct stat file;
    ki_error error = KI_ERROR_INIT;
    ki_monitor_server *second = NULL;
    assert_non_null(mkdtemp(folder));
    snprintf(listen, sizeof(listen), "unix:%s/s", folder);
    const char *path = listen + 5;
    /* One that nobody serves. */
    int fd = socket(AF_UNIX, SOCK_STREAM, 0);
    struct sockaddr_un at = {.sun_family = AF_UNIX};
    memcpy(at.sun_path, path, strlen(path) + 1);
    assert_int_equal(bind(fd, (struct sockaddr *)&at, sizeof(at)), 0);
    close(fd);

    ki_monitor_server_options options = defaults();
    options.listen = listen;
    monitoring m;
    monitoring_begin(&m, &options);
    assert_string_equal(ki_monitor_server_url(m.monitor), listen);
    assert_int_equal(stat(path, &file), 0);
    assert_int_equal(file.st_mode & 0777, 0600);
    assert_int_equal(monitoring_get(&m, "/metrics", "Host: anything\r\n"), 200);
    assert_int_equal(ki_monitor_server_new(m.client, &options, &second, &error), -EADDRINUSE);
    assert_int_equal(monitoring_get(&m, "/metrics", ""), 200); /* still there */
    monitoring_end(&m);
    assert_int_equal(stat(path, &file), -1);

    /* A file that is no socket stays. */
    FILE *plain = fopen(path, "w");
    assert_non_null(plain);
    fclose(plain);
    assert_int_equal(try_options(&options, &error), -EADDRINUSE);
    assert_int_equal(stat(path, &file), 0);
    unlink(path);
    rmdir(folder);
}

/* ---- TLS ---- */

static void run(const char *folder, char *const *words)
{
    int status = -1;
    pid_t child = fork();
    if (child == 0) {
        int nothing = open("/dev/null", O_RDWR);
        if (chdir(folder) == 0 && dup2(nothing, 1) == 1 && dup2(nothing, 2) == 2) {
            execvp(words[0], words);
        }
        _exit(127);
    }
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_int_equal(status, 0);
}

/* openssl with these words, separated by single blanks. */
static void openssl(const char *folder, const char *rest)
{
    char text[600];
    char *words[40] = {(char[]){"openssl"}, text};
    size_t count = 2;
    snprintf(text, sizeof(text), "%s", rest);
    for (char *at = strchr(text, ' '); at != NULL; at = strchr(at, ' ')) {
        *at++ = '\0';
        assert_true(count < 39);
        words[count++] = at;
    }
    run(folder, words);
}

/* A CA, and certificates of the server and of a client, and one of another CA. */
static void make_certificates(const char *folder)
{
    openssl(folder, "req -x509 -newkey rsa:2048 -nodes -keyout ca.key -out ca.crt -subj /CN=ca "
                    "-days 2");
    openssl(folder, "req -newkey rsa:2048 -nodes -keyout own.key -out own.csr -subj /CN=localhost "
                    "-addext subjectAltName=IP:127.0.0.1");
    openssl(folder, "x509 -req -in own.csr -CA ca.crt -CAkey ca.key -CAcreateserial -out own.crt "
                    "-copy_extensions copy -days 2");
    openssl(folder, "req -x509 -newkey rsa:2048 -nodes -keyout other.key -out other.crt "
                    "-subj /CN=other -days 2");
}

static char *read_file(const char *folder, const char *name)
{
    char path[100];
    snprintf(path, sizeof(path), "%s/%s", folder, name);
    FILE *file = fopen(path, "r");
    assert_non_null(file);
    char *text = calloc(1, 20000);
    assert_non_null(text);
    size_t len = fread(text, 1, 19999, file);
    assert_true(len > 0);
    fclose(file);
    return text;
}

static size_t ignore(char *bytes, size_t size, size_t count, void *user)
{
    (void)bytes;
    (void)user;
    return size * count;
}

/* The status of a request with this certificate; 0 if there is no response. */
static long get_with(const monitoring *m, const char *folder, const char *name)
{
    char url[200];
    char path[3][100];
    long status = 0;
    CURL *curl = curl_easy_init();
    snprintf(url, sizeof(url), "%s/metrics", ki_monitor_server_url(m->monitor));
    snprintf(path[0], sizeof(path[0]), "%s/ca.crt", folder);
    curl_easy_setopt(curl, CURLOPT_URL, url);
    curl_easy_setopt(curl, CURLOPT_CAINFO, path[0]);
    curl_easy_setopt(curl, CURLOPT_WRITEFUNCTION, ignore);
    curl_easy_setopt(curl, CURLOPT_TIMEOUT, 20L);
    if (name != NULL) {
        snprintf(path[1], sizeof(path[1]), "%s/%s.crt", folder, name);
        snprintf(path[2], sizeof(path[2]), "%s/%s.key", folder, name);
        curl_easy_setopt(curl, CURLOPT_SSLCERT, path[1]);
        curl_easy_setopt(curl, CURLOPT_SSLKEY, path[2]);
    }
    if (curl_easy_perform(curl) == CURLE_OK) {
        curl_easy_getinfo(curl, CURLINFO_RESPONSE_CODE, &status);
    }
    curl_easy_cleanup(curl);
    return status;
}

static void certificates_of_clients_are_verified(void **state)
{
    (void)state;
    char folder[] = "/tmp/kinformer-XXXXXX";
    assert_non_null(mkdtemp(folder));
    make_certificates(folder);
    char *ca = read_file(folder, "ca.crt");
    char *certificate = read_file(folder, "own.crt");
    char *key = read_file(folder, "own.key");
    ki_monitor_server_options options = defaults();
    options.certificate = certificate;
    options.private_key = key;
    options.client_ca = ca;
    options.listen = "0.0.0.0:0"; /* allowed with client certificates */
    monitoring m;
    monitoring_begin(&m, &options);
    assert_int_equal(strncmp(ki_monitor_server_url(m.monitor), "https://", 8), 0);
    assert_int_equal(get_with(&m, folder, "own"), 200); /* signed by the CA */
    assert_int_equal(get_with(&m, folder, NULL), 401);
    assert_int_not_equal(get_with(&m, folder, "other"), 200);
    monitoring_end(&m);
    options.client_ca = NULL;
    options.listen = NULL;
    monitoring_begin(&m, &options);
    assert_int_equal(get_with(&m, folder, NULL), 200);
    monitoring_end(&m);
    free(ca);
    free(certificate);
    free(key);
    run("/", (char *[]){(char[]){"rm"}, (char[]){"-r"}, folder, NULL});
}

/* ---- requests that are not as they should be ---- */

static void it_only_reads(void **state)
{
    (void)state;
    static const char *const methods[] = {"POST", "PUT", "PATCH", "DELETE", "OPTIONS", "BREW"};
    monitoring m;
    monitoring_begin(&m, NULL);
    for (size_t i = 0; i < sizeof(methods) / sizeof(methods[0]); i++) {
        char text[200];
        int len = snprintf(text, sizeof(text),
                           "%s /debug/ HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n",
                           methods[i]);
        assert_true(monitoring_raw(&m, text, (size_t)len, 20000));
        assert_int_equal(m.status, 405);
        monitoring_has(&m, "Allow: GET, HEAD\r\n");
    }
    static const char head[] = "HEAD /metrics HTTP/1.1\r\nHost: localhost\r\n"
                               "Connection: close\r\n\r\n";
    assert_true(monitoring_raw(&m, head, sizeof(head) - 1, 20000));
    assert_int_equal(m.status, 200);
    assert_string_equal(monitoring_body(&m), "");
    monitoring_end(&m);
}

static void malformed_requests_are_refused(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        int status; /* 0: closed, whatever it says */
    } cases[] = {
        {"GET /metrics HTTP/1.1\r\nHost: localhost\r\nContent-Length: 3\r\n"
         "Connection: close\r\n\r\nabc",
         413},
        {"\x16\x03\x01\x02\x01\x01\x01\xfc\x03\x03\r\n\r\n", 0},
        {"GET\r\n\r\n", 0},
        {"GET /metrics HTTP/9.9\r\n\r\n", 0},
        {"GET /metrics HTTP/1.1\r\nHost: localhost\r\nContent-Length: -1\r\n\r\n", 0},
        {"GET /metrics HTTP/1.1\r\nHost: localhost\r\nContent-Length: 99999999999999999999\r\n\r\n",
         0},
    };
    monitoring m;
    monitoring_begin(&m, KI_OPTIONS(ki_monitor_server_options, .request_timeout_ms = 500));
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        if (!monitoring_raw(&m, cases[i].text, strlen(cases[i].text), 20000)) {
            fail_msg("case %zu: not closed", i);
        }
        assert_true(m.status != 200);
        assert_true(cases[i].status == 0 || m.status == cases[i].status);
    }
    ki_buf text;
    ki_buf_init(&text, NULL, SIZE_MAX);
    test_add(&text, "GET /", 1);
    test_add(&text, "a", 5000);
    test_add(&text, " HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n", 1);
    assert_true(monitoring_raw(&m, text.data, text.len, 20000));
    assert_int_equal(m.status, 414);
    ki_buf_clear(&text);
    test_add(&text, "GET /metrics HTTP/1.1\r\nHost: localhost\r\n", 1);
    test_add(&text, "X: yyyyyyyyyyyyyyyyyyyyyyyyyyyyyy\r\n", 20000);
    assert_true(monitoring_raw(&m, text.data, text.len, 20000));
    assert_true(m.status != 200);
    static const char nul[] = "GET /metrics\0x HTTP/1.1\r\nHost: localhost\r\n"
                              "Connection: close\r\n\r\n";
    assert_true(monitoring_raw(&m, nul, sizeof(nul) - 1, 20000));
    assert_true(m.status != 200);
    ki_buf_done(&text);
    assert_int_equal(monitoring_get(&m, "/metrics", ""), 200);
    monitoring_end(&m);
}

static void slow_and_many_clients_are_limited(void **state)
{
    (void)state;
    static const char part[] = "GET /metrics HTTP/1.1\r\nHost: loc";
    monitoring m;
    monitoring_begin(&m, KI_OPTIONS(ki_monitor_server_options, .request_timeout_ms = 300,
                                    .idle_timeout_ms = 300, .max_connections = 2));
    assert_true(monitoring_raw(&m, part, sizeof(part) - 1, 20000)); /* closed by the server */
    assert_int_not_equal(m.status, 200);
    int idle[2] = {monitoring_connect(&m), monitoring_connect(&m)};
    assert_int_equal(monitoring_get(&m, "/metrics", ""), 200); /* after these are closed */
    close(idle[0]);
    close(idle[1]);
    monitoring_end(&m);
}

static int stall(const monitoring *m, const char *request)
{
    const int bytes = 4096;
    int fd = monitoring_connect(m);
    assert_int_equal(setsockopt(fd, SOL_SOCKET, SO_RCVBUF, &bytes, sizeof(bytes)), 0);
    assert_true(send(fd, request, strlen(request), MSG_NOSIGNAL) > 0);
    return fd;
}

static void load_large(monitoring *m, const char *name, size_t bytes)
{
    ki_buf yaml;
    ki_buf_init(&yaml, NULL, bytes + 1000);
    test_add(&yaml, "apiVersion: v1\nkind: ConfigMap\nmetadata: {namespace: default, name: ", 1);
    test_add(&yaml, name, 1);
    test_add(&yaml, "}\ndata: {text: \"", 1);
    test_add(&yaml, "x", bytes);
    test_add(&yaml, "\"}\n", 1);
    monitoring_load(m, ki_buf_text(&yaml));
    ki_buf_done(&yaml);
    monitoring_until(m, "/debug/objects/configmaps?limit=1000", "", name);
}

/* Their responses do not stay in memory, and others are served. */
static void clients_that_do_not_read_are_closed(void **state)
{
    (void)state;
    static const char list[] = "GET /debug/objects/configmaps HTTP/1.1\r\nHost: localhost\r\n\r\n";
    static const char updates[] =
        "GET /debug/events?page=%2Fdebug%2Fobjects%2Fconfigmaps%2Fdefault%2Flarge%3Fopened%3D1 "
        "HTTP/1.1\r\nHost: localhost\r\n\r\n";
    ki_monitor_server_options options = KI_OPTIONS_INIT(ki_monitor_server_options);
    monitoring m;
    options.objects = true;
    options.idle_timeout_ms = 500;
    options.max_connections = 4;
    monitoring_begin(&m, &options);
    load_large(&m, "large", 900000);
    assert_int_equal(
        monitoring_get(&m, "/debug/objects/configmaps/default/large", "Accept: text/html\r\n"),
        303);
    monitoring_has(&m, "?opened=1\r\n");
    int stalled[4];
    for (size_t i = 0; i < 4; i++) {
        stalled[i] = stall(&m, i < 2 ? updates : list);
    }
    assert_int_equal(monitoring_get(&m, "/healthz", ""), 200); /* once these are closed */
    for (size_t i = 0; i < 4; i++) {
        close(stalled[i]);
    }
    monitoring_end(&m);
}

static void open_pages_leave_connections_to_probes(void **state)
{
    (void)state;
    static const char updates[] = "GET /debug/events HTTP/1.1\r\nHost: localhost\r\n\r\n";
    monitoring m;
    monitoring_begin(&m, KI_OPTIONS(ki_monitor_server_options, .max_connections = 4));
    int open[2];
    for (size_t i = 0; i < 2; i++) {
        char byte;
        open[i] = stall(&m, updates);
        assert_int_equal(recv(open[i], &byte, 1, 0), 1); /* it is served */
    }
    assert_int_equal(monitoring_get(&m, "/debug/events", ""), 503);
    monitoring_has(&m, "too many open pages");
    assert_int_equal(monitoring_get(&m, "/healthz", ""), 200);
    close(open[0]);
    for (int i = 0; i < 1000; i++) { /* it is noticed that one is gone */
        open[0] = stall(&m, updates);
        char status[13] = "";
        assert_int_equal(recv(open[0], status, 12, MSG_WAITALL), 12);
        if (strcmp(status, "HTTP/1.1 200") == 0) {
            break;
        }
        close(open[0]);
        usleep(10000);
        assert_true(i < 999);
    }
    close(open[0]);
    close(open[1]);
    monitoring_end(&m);
}

/* A client that requests more than it reads gets an error, before memory is exhausted. */
static void responses_have_a_common_limit(void **state)
{
    (void)state;
    static const char list[] = "GET /debug/objects/configmaps HTTP/1.1\r\nHost: localhost\r\n\r\n";
    enum { CLIENTS = 40, BYTES = 5 << 19 };
    ki_monitor_server_options options = KI_OPTIONS_INIT(ki_monitor_server_options);
    monitoring m;
    options.objects = true;
    monitoring_begin(&m, &options);
    load_large(&m, "one", BYTES);
    load_large(&m, "two", BYTES);
    int clients[CLIENTS];
    size_t refused = 0;
    for (size_t i = 0; i < CLIENTS; i++) {
        char status[13] = "";
        clients[i] = stall(&m, list);
        assert_int_equal(recv(clients[i], status, 12, MSG_WAITALL), 12);
        refused += strcmp(status, "HTTP/1.1 503") == 0;
    }
    assert_true(refused > 0 && refused < CLIENTS - 5);
    assert_int_equal(monitoring_get(&m, "/healthz", ""), 200);
    for (size_t i = 0; i < CLIENTS; i++) {
        close(clients[i]);
    }
    monitoring_until(&m, "/debug/objects/configmaps", "", "xxx");
    monitoring_end(&m);
}

/* ---- memory ---- */

typedef struct scene {
    ki_client *client;
    ki_loop *loop;
    test_alloc alloc;
} scene;

static int create(const ki_alloc *alloc, void *user)
{
    static const char *const hosts[] = {"a.example", NULL};
    scene *s = user;
    ki_monitor_server_options options = defaults();
    ki_monitor_server *monitor = NULL;
    options.alloc = alloc;
    options.token = "t";
    options.allowed_hosts = hosts;
    int r = ki_monitor_server_new(s->client, &options, &monitor, NULL);
    ki_monitor_server_unref(monitor);
    return r;
}

/* One request, with the loop run by this thread. Returns its status, 0 if there was no response. */
static int ask(scene *s, ki_monitor_server *monitor, const char *target)
{
    static char got[1 << 20];
    char text[300];
    monitoring m = {.monitor = monitor};
    size_t len = 0;
    int fd = monitoring_connect(&m);
    snprintf(text, sizeof(text),
             "GET %s HTTP/1.1\r\nHost: localhost\r\nAccept: text/html\r\nConnection: close\r\n\r\n",
             target);
    assert_true(send(fd, text, strlen(text), MSG_NOSIGNAL) > 0);
    for (int i = 0; i < 5000; i++) {
        struct pollfd poller = {.fd = fd, .events = POLLIN};
        assert_true(ki_loop_dispatch(s->loop) >= 0);
        if (poll(&poller, 1, 1) > 0) {
            ssize_t more = read(fd, got + len, sizeof(got) - 1 - len);
            if (more <= 0) {
                break;
            }
            len += (size_t)more;
        }
    }
    got[len] = '\0';
    close(fd);
    return strncmp(got, "HTTP/1.1 ", 9) == 0 ? (int)strtol(got + 9, NULL, 10) : 0;
}

static void sweep_requests(scene *s)
{
    static const char *const targets[] = {
        "/metrics",
        "/readyz?verbose",
        "/debug/",
        "/debug/informers.json",
        "/debug/objects/pods?labelSelector=a%3Db",
        "/debug/objects/pods/default/web?opened=1",
    };
    ki_monitor_server_options options = defaults();
    ki_monitor_server *monitor = NULL;
    options.alloc = &s->alloc.table;
    options.objects = true;
    assert_int_equal(ki_monitor_server_new(s->client, &options, &monitor, NULL), 0);
    (void)ask(s, monitor, "/debug/objects/pods/default/web"); /* opens it */
    for (size_t i = 0; i < sizeof(targets) / sizeof(targets[0]); i++) {
        assert_int_equal(ask(s, monitor, targets[i]), 200);
        for (uint64_t n = 1;; n++) {
            s->alloc.calls = 0;
            s->alloc.failures = 0;
            s->alloc.fail_at = n;
            int status = ask(s, monitor, targets[i]);
            s->alloc.fail_at = 0;
            if (status != 200 && status != 0 && status != 500) {
                fail_msg("%s without allocation %d: %d", targets[i], (int)n, status);
            }
            if (s->alloc.failures == 0) {
                break;
            }
        }
        assert_int_equal(ask(s, monitor, targets[i]), 200);
    }
    ki_monitor_server_unref(monitor);
}

static void lack_of_memory_is_survived(void **state)
{
    (void)state;
    ki_error error = KI_ERROR_INIT;
    ki_apiserver *server = NULL;
    ki_informer *pods = NULL;
    ki_client_options options = KI_OPTIONS_INIT(ki_client_options);
    ki_loop_options loop = KI_OPTIONS_INIT(ki_loop_options);
    scene s = {0};
    test_alloc_init(&s.alloc);
    loop.no_threads = true;
    assert_int_equal(ki_loop_new(&loop, &s.loop, &error), 0);
    options.loop = s.loop;
    assert_int_equal(ki_apiserver_new(NULL, &server, &error), 0);
    assert_int_equal(ki_apiserver_load(server,
                                       ki_str_from("apiVersion: v1\nkind: Pod\n"
                                                   "metadata: {name: web, namespace: default}\n"),
                                       NULL, &error),
                     0);
    assert_int_equal(ki_apiserver_client(server, &options, &s.client, &error), 0);
    assert_int_equal(ki_client_informer(s.client, KI_CORE_V1_PODS, NULL, &pods, &error), 0);
    assert_int_equal(ki_client_start(s.client, &error), 0);
    while (!ki_informer_has_synced(pods)) {
        assert_true(ki_loop_dispatch(s.loop) >= 0);
        usleep(1000);
    }
    test_alloc_sweep(create, &s);
    sweep_requests(&s);
    ki_informer_unref(pods);
    ki_client_unref(s.client);
    for (int i = 0; i < 100; i++) {
        assert_true(ki_loop_dispatch(s.loop) >= 0);
        usleep(1000);
    }
    ki_loop_unref(s.loop);
    ki_apiserver_unref(server);
    test_alloc_done(&s.alloc);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_token_is_required),
        cmocka_unit_test(probes_may_be_open),
        cmocka_unit_test(invalid_options_are_refused),
        cmocka_unit_test(web_pages_of_others_are_refused),
        cmocka_unit_test(unix_sockets_are_private),
        cmocka_unit_test(certificates_of_clients_are_verified),
        cmocka_unit_test(it_only_reads),
        cmocka_unit_test(malformed_requests_are_refused),
        cmocka_unit_test(slow_and_many_clients_are_limited),
        cmocka_unit_test(clients_that_do_not_read_are_closed),
        cmocka_unit_test(open_pages_leave_connections_to_probes),
        cmocka_unit_test(responses_have_a_common_limit),
        cmocka_unit_test(lack_of_memory_is_survived),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
