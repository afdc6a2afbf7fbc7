/* SPDX-License-Identifier: Apache-2.0 */
/* The transport on libcurl: creation, the task that drives it, and destruction. Invariant: libcurl
 * is entered by the task alone, and by ki__curl_free() when the task does not run. */
#include "client/curl/curl_transport.h"

#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <string.h>
#include <unistd.h>

#include <kinformer/version.h>

#include "base/alloc.h"
#include "base/assert.h"
#include "base/error.h"
#include "base/time_units.h"
#include "client/curl/curl_state.h"

enum { TEXT_MAX = 4096, ROUNDS = 16 };

/* ---- the task ---- */

/* Ends every call and restarts with a new multi handle, after a resource could not be provided. */
static void restart(ki__curl *curl)
{
    KI__LIST_FOR_EACH (link, &curl->calls) {
        ki__curl_call *call = KI__CONTAINER_OF(link, ki__curl_call, link);
        if (call->added) {
            (void)curl_multi_remove_handle(curl->multi, call->easy);
            call->added = false;
            ki__curl_call_end(call);
            if (call->failure.code == 0) {
                (void)ki__error_set(&call->failure, curl->broken, "cannot poll the connections: %s",
                                    ki_error_text(curl->broken));
            }
            ki__curl_call_todo(call);
        }
    }
    ki__curl_close_multi(curl);
    curl->broken = ki__curl_open_multi(curl);
    if (curl->broken < 0) {
        ki__timer_set_after(&curl->timer, KI__SECOND_NS);
    }
}

static void take_results(ki__curl *curl)
{
    const CURLMsg *message;
    int left = 0;
    while ((message = curl_multi_info_read(curl->multi, &left)) != NULL) {
        char *opaque = NULL;
        CURLcode code = curl_easy_getinfo(message->easy_handle, CURLINFO_PRIVATE, &opaque);
        ki_assert(code == CURLE_OK && opaque != NULL && message->msg == CURLMSG_DONE);
        ki__curl_call *call = (ki__curl_call *)(void *)opaque;
        call->result = message->data.result;
        ki__curl_call_end(call);
        ki__curl_call_todo(call);
    }
}

static void wake_waiting(ki__curl *curl)
{
    if (!atomic_exchange(&curl->auth_ready, false)) {
        return;
    }
    KI__LIST_FOR_EACH (link, &curl->calls) {
        ki__curl_call *call = KI__CONTAINER_OF(link, ki__curl_call, link);
        if (call->state == KI__CURL_WAITING) {
            ki__curl_call_todo(call);
        }
    }
}

/* libcurl resolves names on a thread, and threads of a library must not receive signals. */
static void block_signals(sigset_t *ret_before)
{
    sigset_t all;
    (void)sigfillset(&all);
    (void)pthread_sigmask(SIG_SETMASK, &all, ret_before);
}

static void drive(ki__curl *curl)
{
    sigset_t before;
    if (curl->multi == NULL) {
        return;
    }
    block_signals(&before);
    ki__curl_sockets_run(curl);
    (void)pthread_sigmask(SIG_SETMASK, &before, NULL);
    take_results(curl);
}

static void step_all(ki__curl *curl)
{
    ki__list *link;
    for (size_t i = 0; i < ROUNDS && curl->multi != NULL && !curl->freed &&
                       (link = ki__list_pop_front(&curl->todo)) != NULL;
         i++) {
        ki__curl_call_step(KI__CONTAINER_OF(link, ki__curl_call, todo_link));
    }
    if (!ki__list_is_empty(&curl->todo) && curl->multi != NULL) {
        ki_engine_task_post(curl->task); /* lets other tasks run */
    }
}

static void destroy(ki__curl *curl);

static void run(void *user)
{
    ki__curl *curl = user;
    curl->working = true;
    wake_waiting(curl);
    drive(curl);
    if (curl->broken < 0 && !curl->freed) {
        restart(curl);
    }
    step_all(curl);
    curl->working = false;
    if (curl->freed) {
        destroy(curl);
    }
}

static void on_timer(ki__timer *timer)
{
    ki__curl *curl = KI__CONTAINER_OF(timer, ki__curl, timer);
    curl->timer_due = true;
    ki_engine_task_post(curl->task);
}

/* ---- creation ---- */

/* The platform in the User-Agent, in Go's terms, which API server logs use. */
#if defined(__x86_64__)
#define ARCHITECTURE "amd64"
#elif defined(__aarch64__)
#define ARCHITECTURE "arm64"
#elif defined(__riscv)
#define ARCHITECTURE "riscv64"
#elif defined(__powerpc64__)
#define ARCHITECTURE "ppc64le"
#elif defined(__s390x__)
#define ARCHITECTURE "s390x"
#elif defined(__i386__)
#define ARCHITECTURE "386"
#elif defined(__arm__)
#define ARCHITECTURE "arm"
#else
#define ARCHITECTURE "other"
#endif

static int global_result;

/* libcurl counts references, which is thread-safe since 7.84. */
static void init_libcurl(void)
{
    CURLcode code = curl_global_init(CURL_GLOBAL_DEFAULT);
    const curl_version_info_data *info = curl_version_info(CURLVERSION_NOW);
    if (code != CURLE_OK) {
        global_result = -ENOMEM;
    } else if ((info->features & CURL_VERSION_SSL) == 0 || info->version_num < 0x075700) {
        global_result = KI_ERR_UNSUPPORTED;
    }
}

static void set_defaults(ki__curl_options *o)
{
    o->connect_timeout_ns = o->connect_timeout_ns != 0 ? o->connect_timeout_ns : 30 * KI__SECOND_NS;
    o->idle_timeout_ns = o->idle_timeout_ns != 0 ? o->idle_timeout_ns : 120 * KI__SECOND_NS;
    o->dead_after_ns = o->dead_after_ns != 0 ? o->dead_after_ns : 20 * KI__SECOND_NS;
    o->max_header_bytes = o->max_header_bytes != 0 ? o->max_header_bytes : 64 << 10;
    o->max_headers = o->max_headers != 0 ? o->max_headers : 200;
    o->max_body_bytes = o->max_body_bytes != 0 ? o->max_body_bytes : UINT64_C(4) << 30;
}

static int set_user_agent(ki__curl *curl, const char *program, ki_error *error)
{
    const char *const parts[] = {program != NULL ? program : "",
                                 program != NULL && program[0] != '\0' ? " " : "", "kinformer/",
                                 ki_version(), " (linux/" ARCHITECTURE ")"};
    int r = 0;
    for (const char *c = parts[0]; *c != '\0'; c++) {
        if (*c < ' ' || *c >= 0x7f) {
            return ki__error_set(error, -EINVAL, "user_agent: must be printable ASCII");
        }
    }
    for (size_t i = 0; r == 0 && i < sizeof(parts) / sizeof(parts[0]); i++) {
        r = ki_buf_add_text(&curl->user_agent, parts[i]);
    }
    return r < 0 ? ki__error_set(error, r, "user_agent: %s", ki_error_text(r)) : 0;
}

static int fill(ki__curl *curl, const ki__curl_options *o, ki_error *error)
{
    int r = ki__curl_target_parse(&curl->target, curl->alloc, o, error);
    if (r == 0) {
        r = ki__curl_certs_new(curl->alloc, &o->tls, curl->target.https, &curl->certs, error);
    }
    if (r == 0) {
        r = set_user_agent(curl, o->user_agent, error);
    }
    if (r < 0) {
        return r;
    }
    r = ki_buf_add_text(&curl->unix_socket, o->unix_socket);
    if (r == 0 && o->resolve != NULL) {
        curl->resolve = curl_slist_append(NULL, o->resolve);
        r = curl->resolve != NULL ? 0 : -ENOMEM;
    }
    if (r == 0) {
        r = ki__timer_init(&curl->timer, curl->engine, on_timer);
    }
    if (r == 0) {
        r = ki__timer_init(&curl->silence, curl->engine, ki__curl_probe_on_timer);
    }
    if (r == 0) {
        r = ki__curl_open_multi(curl);
    }
    if (r < 0) {
        return ki__error_set(error, r, "cannot create a transport: %s", ki_error_text(r));
    }
    return ki_engine_task_new(curl->engine, run, curl, &curl->task, error);
}

static void forget_text(ki__curl_options *o)
{
    o->url = NULL;
    o->tls = (ki__curl_tls){0};
    o->user_agent = NULL;
    o->proxy = NULL;
    o->unix_socket = NULL;
    o->resolve = NULL;
}

int ki__curl_new(const ki__curl_options *options, ki__curl **ret_curl, ki_error *error)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    if (options == NULL || options->loop == NULL || options->url == NULL) {
        return ki__error_set(error, -EINVAL, "transport: loop and url must be set");
    }
    (void)pthread_once(&once, init_libcurl);
    if (global_result < 0) {
        return ki__error_set(error, global_result, "cannot initialize libcurl: %s",
                             ki_error_text(global_result));
    }
    ki_engine *engine = ki_loop_engine(options->loop);
    const ki_alloc *alloc = ki__engine_alloc(engine);
    ki__curl *curl = ki__alloc_zero(alloc, sizeof(*curl));
    if (curl == NULL) {
        return ki__error_code(error, -ENOMEM);
    }
    curl->alloc = alloc;
    curl->loop = options->loop;
    curl->engine = ki_engine_ref(engine);
    curl->log = ki__engine_log(engine);
    curl->pid = getpid();
    curl->warnings.key = ki__engine_hash_key(engine);
    curl->options = *options;
    set_defaults(&curl->options);
    forget_text(&curl->options);
    ki_buf_init(&curl->user_agent, alloc, TEXT_MAX);
    ki_buf_init(&curl->unix_socket, alloc, TEXT_MAX);
    ki__list_init(&curl->calls);
    ki__list_init(&curl->todo);
    ki__list_init(&curl->sockets);
    ki__list_init(&curl->ready);
    int r = fill(curl, options, error);
    if (r < 0) {
        destroy(curl);
        return r;
    }
    *ret_curl = curl;
    return 0;
}

/* ---- destruction ---- */

static void destroy(ki__curl *curl)
{
    ki_engine *engine = curl->engine;
    KI__LIST_FOR_EACH (link, &curl->calls) {
        ki__curl_call_free(KI__CONTAINER_OF(link, ki__curl_call, link));
    }
    ki__curl_close_multi(curl);
    (void)ki_engine_task_unref(curl->task);
    ki__timer_done(&curl->timer);
    ki__timer_done(&curl->silence);
    ki__curl_target_done(&curl->target);
    ki__curl_certs_unref(curl->certs);
    ki_buf_done(&curl->user_agent);
    ki_buf_done(&curl->unix_socket);
    ki__free(curl->alloc, curl->room);
    curl_slist_free_all(curl->resolve);
    ki__free(curl->alloc, curl);
    (void)ki_engine_unref(engine);
}

void ki__curl_free(ki__curl *curl)
{
    if (curl == NULL || curl->freed) {
        return;
    }
    /* In a child of fork() the connections are the parent's: closing them properly would end the
     * parent's sessions. */
    if (curl->pid != getpid()) {
        return;
    }
    curl->freed = true;
    KI__LIST_FOR_EACH (link, &curl->calls) {
        ki__curl_call *call = KI__CONTAINER_OF(link, ki__curl_call, link);
        if (call->state != KI__CURL_CLOSED) {
            ki__curl_call_set_state(call, KI__CURL_CLOSED);
        }
    }
    if (!curl->working) {
        destroy(curl);
    }
}

/* ---- interface ---- */

ki_str ki__curl_host(const ki__curl *curl)
{
    return ki_buf_str(&curl->target.authority);
}

ki_transport ki__curl_table(ki__curl *curl)
{
    return (ki_transport){
        .size = sizeof(ki_transport),
        .start = ki__curl_call_start,
        .cancel = ki__curl_call_cancel,
        .pause = ki__curl_call_pause,
        .url = ki_buf_text(&curl->target.url),
        .user = curl,
    };
}

int ki__curl_set_tls(ki__curl *curl, const ki__curl_tls *tls, ki_error *error)
{
    ki__curl_certs *certs = NULL;
    int r = ki__curl_certs_new(curl->alloc, tls, curl->target.https, &certs, error);
    if (r < 0) {
        return r;
    }
    if (!ki_str_eq(ki_buf_str(&certs->server_name), ki_buf_str(&curl->certs->server_name))) {
        ki__curl_certs_unref(certs); /* URLs of requests already contain it */
        return ki__error_set(error, -EINVAL, "the TLS server name cannot be changed");
    }
    ki__curl_certs_unref(curl->certs);
    curl->certs = certs;
    KI__LIST_FOR_EACH (link, &curl->calls) {
        ki__curl_call *call = KI__CONTAINER_OF(link, ki__curl_call, link);
        if (call->kind == KI__CURL_STREAM && call->easy != NULL) {
            ki__curl_call_fail(call, -ECONNRESET, "certificates were replaced; reconnecting");
        }
    }
    return 0;
}

void ki__curl_auth_ready(ki__curl *curl)
{
    atomic_store(&curl->auth_ready, true);
    ki_engine_task_post(curl->task);
}
