/* SPDX-License-Identifier: Apache-2.0 */
/* An API server that cannot be reached, over real sockets: the log, on_watch_error and the wait for
 * a sync all say so, without secrets; and when it is there after all, the log says that too.
 * threads: yes */
#include <arpa/inet.h>
#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#include <kinformer/apiserver.h>
#include <kinformer/builtin_resources.h>
#include <kinformer/client.h>
#include <kinformer/config.h>
#include <kinformer/factory.h>
#include <kinformer/health.h>

#include "support/test.h"

#define TOKEN "t0ken-that-nobody-may-see"
enum { PATIENCE_MS = 60000 };

typedef struct world {
    ki_log log;
    ki_client *client;
    ki_factory *factory;
    ki_informer *pods;
    pthread_mutex_t lock; /* of the rest */
    char logged[32768];   /* WARNING and above */
    unsigned failures;
    uint64_t attempt;
    ki_failure_class failure_class;
    char url[128];
    char message[KI_ERROR_MESSAGE_SIZE];
} world;

static void write_log(const ki_log_record *record, void *user)
{
    world *w = user;
    char line[2048];
    int len =
        snprintf(line, sizeof(line), "%s %s:", ki_log_level_name(record->level), record->message);
    for (size_t i = 0; i < record->field_count && len < (int)sizeof(line) - 1; i++) {
        len += snprintf(line + len, sizeof(line) - (size_t)len, " %s=%.*s", record->fields[i].key,
                        KI_STR_ARG(record->fields[i].value));
    }
    pthread_mutex_lock(&w->lock);
    assert_null(strstr(line, TOKEN));
    if (record->level <= KI_LOG_WARNING) {
        size_t used = strlen(w->logged);
        (void)snprintf(w->logged + used, sizeof(w->logged) - used, "%s\n", line);
    }
    pthread_mutex_unlock(&w->lock);
}

static void on_watch_error(ki_informer *informer, const ki_watch_failure *failure, void *user)
{
    world *w = user;
    (void)informer;
    pthread_mutex_lock(&w->lock);
    w->failures++;
    w->attempt = failure->attempt;
    w->failure_class = failure->failure_class;
    (void)snprintf(w->url, sizeof(w->url), "%s", failure->url);
    (void)snprintf(w->message, sizeof(w->message), "%.255s", failure->error->message);
    assert_null(strstr(w->message, TOKEN));
    pthread_mutex_unlock(&w->lock);
}

static void configure(const ki_resource *resource, ki_informer_options *options, void *user)
{
    (void)resource;
    options->on_watch_error = on_watch_error;
    options->watch_error_user = user;
}

static void must(int r, const ki_error *error)
{
    if (r < 0) {
        fail_msg("%s: %s", ki_error_name(r), error->message);
    }
}

static void begin(world *w, const char *server)
{
    char text[1024];
    ki_config *config = NULL;
    ki_error error = KI_ERROR_INIT;
    *w = (world){.log = {.write = write_log, .level = KI_LOG_DEBUG, .user = w}};
    pthread_mutex_init(&w->lock, NULL);
    (void)snprintf(text, sizeof(text),
                   "{apiVersion: v1, kind: Config, current-context: c,"
                   "clusters: [{name: c, cluster: {server: '%s'}}],"
                   "contexts: [{name: c, context: {cluster: c, user: u}}],"
                   "users: [{name: u, user: {token: " TOKEN "}}]}",
                   server);
    must(ki_config_load(KI_OPTIONS(ki_config_options, .text = ki_str_from(text)), &config, &error),
         &error);
    must(ki_client_new(KI_OPTIONS(ki_client_options, .config = config, .log = &w->log), &w->client,
                       &error),
         &error);
    ki_config_unref(config);
    must(ki_client_factory(w->client,
                           KI_OPTIONS(ki_factory_options, .configure = configure, .user = w),
                           &w->factory, &error),
         &error);
    must(ki_factory_informer(w->factory, KI_CORE_V1_PODS, NULL, &w->pods, &error), &error);
    must(ki_factory_start(w->factory, &error), &error);
}

static void end(world *w)
{
    (void)ki_factory_unref(w->factory);
    ki_client_close(w->client);
    pthread_mutex_destroy(&w->lock);
}

static unsigned failures(world *w)
{
    pthread_mutex_lock(&w->lock);
    unsigned count = w->failures;
    pthread_mutex_unlock(&w->lock);
    return count;
}

static bool has_logged(world *w, const char *text)
{
    pthread_mutex_lock(&w->lock);
    bool found = strstr(w->logged, text) != NULL;
    pthread_mutex_unlock(&w->lock);
    return found;
}

static void nap(void)
{
    (void)nanosleep(&(struct timespec){.tv_nsec = 20000000}, NULL);
}

static void expect_failures(world *w, unsigned count)
{
    for (int ms = 0; failures(w) < count; ms += 20) {
        if (ms > PATIENCE_MS) {
            fail_msg("only %u failures were reported", failures(w));
        }
        nap();
    }
}

/* A port of loopback that nobody listens on. */
static unsigned free_port(void)
{
    struct sockaddr_in address = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    socklen_t size = sizeof(address);
    int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    assert_true(fd >= 0);
    assert_int_equal(bind(fd, (struct sockaddr *)&address, size), 0);
    assert_int_equal(getsockname(fd, (struct sockaddr *)&address, &size), 0);
    (void)close(fd);
    return ntohs(address.sin_port);
}

/* Reports of two attempts, the reason in the wait's error, and one line in the log. */
static void expect_reports(world *w, const char *url)
{
    ki_error error = KI_ERROR_INIT;
    expect_failures(w, 2);
    pthread_mutex_lock(&w->lock);
    assert_true(w->attempt >= 2);
    assert_int_equal(w->failure_class, KI_FAILURE_CONNECTION);
    assert_string_equal(w->url, url);
    assert_non_null(
        strstr(w->logged, "warning request failed: name=pods operation=streaming list"));
    assert_non_null(strstr(w->logged, url));
    assert_non_null(strstr(w->logged, "retry_in="));
    pthread_mutex_unlock(&w->lock);
    assert_int_equal(ki_factory_wait_for_sync(w->factory, 1, &error), -ETIMEDOUT);
    pthread_mutex_lock(&w->lock);
    assert_non_null(strstr(error.message, "pods not synced: timed out: streaming list "));
    assert_non_null(strstr(error.message, w->message));
    assert_null(strstr(error.message, TOKEN));
    pthread_mutex_unlock(&w->lock);
    ki_health health = KI_OPTIONS_INIT(ki_health);
    assert_int_equal(ki_informer_get_health(w->pods, &health, NULL), 0);
    assert_int_equal(health.reason_class, KI_FAILURE_CONNECTION);
    assert_true(health.failures >= 2);
}

static void a_refused_connection_is_reported_and_so_is_its_end(void **state)
{
    (void)state;
    char address[64];
    char server[96];
    char url[128];
    world w;
    ki_error error = KI_ERROR_INIT;
    (void)snprintf(address, sizeof(address), "127.0.0.1:%u", free_port());
    (void)snprintf(server, sizeof(server), "http://%s", address);
    (void)snprintf(url, sizeof(url), "%s/api/v1/pods", server);
    begin(&w, server);
    expect_reports(&w, url);
    assert_true(has_logged(&w, "code=ECONNREFUSED"));
    assert_false(has_logged(&w, "recovered"));

    ki_apiserver_options options = KI_OPTIONS_INIT(ki_apiserver_options);
    options.listen = address;
    ki_apiserver *api = NULL;
    must(ki_apiserver_new(&options, &api, &error), &error);
    must(ki_factory_wait_for_sync(w.factory, PATIENCE_MS, &error), &error);
    assert_true(has_logged(&w, "warning recovered: name=pods"));
    end(&w);
    (void)ki_apiserver_unref(api);
}

static void an_unknown_host_is_reported(void **state)
{
    (void)state;
    world w;
    begin(&w, "https://no-such-host.invalid:6443");
    expect_reports(&w, "https://no-such-host.invalid:6443/api/v1/pods");
    assert_true(has_logged(&w, "code=EHOSTUNREACH"));
    end(&w);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_refused_connection_is_reported_and_so_is_its_end),
        cmocka_unit_test(an_unknown_host_is_reported),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
