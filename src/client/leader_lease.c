/* SPDX-License-Identifier: Apache-2.0 */
/* Leader election on a client: the Lease on the API server. Requests bypass the rate limit of the
 * client, so that a busy program does not lose its Lease. A watch makes takeovers fast; without the
 * permission to watch, the election polls. */
#include <errno.h>
#include <string.h>
#include <unistd.h>

#include <kinformer/buf.h>
#include <kinformer/builtin_resources.h>
#include <kinformer/config.h>
#include <kinformer/parts/source.h>

#include "base/alloc.h"
#include "base/error.h"
#include "base/log.h"
#include "base/options.h"
#include "base/process.h"
#include "client/request.h"
#include "controller/leader.h"
#include "rest/http.h"

enum { HOST_MAX = 64, SUFFIX_BYTES = 8, SELECTOR_MAX = 512, PATH_MAX_BYTES = 4096 };

/* Inside the loop only. */
typedef struct lease_client {
    ki_client *client; /* held */
    ki_leader *leader; /* owns this */
    ki__stop_hook stop_hook;
    ki_call *call;    /* in progress, or NULL */
    ki_source source; /* of the watch */
    void *watch;      /* in progress, or NULL */
    bool no_watch;    /* not permitted: the election polls */
    char selector[SELECTOR_MAX];
} lease_client;

/* ---- requests ---- */

static void on_done(ki_call *call, const ki_response *answer, const ki_error *error, void *user)
{
    lease_client *c = user;
    (void)call;
    c->call = ki_call_unref(c->call);
    ki__leader_on_answer(c->leader, error == NULL ? answer->object : NULL, error);
}

static int send(ki__lease_verb verb, const ki_object *lease, void *user, ki_error *error)
{
    static const ki_verb verbs[KI__LEASE_VERB_MAX] = {
        [KI__LEASE_GET] = KI_VERB_GET,
        [KI__LEASE_CREATE] = KI_VERB_CREATE,
        [KI__LEASE_UPDATE] = KI_VERB_UPDATE,
    };
    lease_client *c = user;
    ki_request request = KI_OPTIONS_INIT(ki_request);
    request.verb = verbs[verb];
    request.resource = KI_COORDINATION_V1_LEASES;
    request.name_space = c->leader->name_space;
    request.name = verb == KI__LEASE_CREATE ? NULL : c->leader->name; /* otherwise in the object */
    request.object = lease;
    request.json = true;
    request.no_retry = true; /* the election has a schedule of its own */
    request.timeout_ms = c->leader->options.renew_deadline_ms / 2;
    return ki__call_start(c->client, &request, true, on_done, c, &c->call, error);
}

static void cancel(void *user)
{
    lease_client *c = user;
    ki_call_cancel(c->call);
    c->call = ki_call_unref(c->call);
}

/* ---- the watch: if it ends, the next response begins another ---- */

static void on_event(ki_watch_event_type type, const ki_object *object, const ki_error *error,
                     void *user)
{
    lease_client *c = user;
    (void)error; /* on_end follows */
    if (type == KI_WATCH_EVENT_ADDED || type == KI_WATCH_EVENT_MODIFIED) {
        ki__leader_on_lease(c->leader, object);
    } else if (type == KI_WATCH_EVENT_DELETED) {
        ki__leader_on_lease(c->leader, NULL);
    }
}

static void on_skipped(ki_watch_event_type type, const char *key, const char *resource_version,
                       const ki_error *error, void *user)
{
    (void)type;
    (void)key;
    (void)resource_version;
    (void)error; /* the next GET reports it */
    (void)user;
}

static void on_alive(size_t bytes, void *user)
{
    (void)bytes;
    (void)user;
}

static void note_failure(lease_client *c, const ki_error *error)
{
    c->no_watch = error->http_code == 401 || error->http_code == 403;
    KI__LOG(ki__engine_log(c->client->engine), KI_LOG_DEBUG, "leader", "watch failed",
            {"lease", ki_str_from(c->leader->name)}, {"error", ki_str_from(error->message)});
}

static void on_watch_end(const ki_list_meta *meta, const ki_error *error, const ki_object *status,
                         void *user)
{
    lease_client *c = user;
    (void)meta;
    (void)status;
    c->watch = NULL;
    if (error != NULL) {
        note_failure(c, error);
    }
}

static void watch(const char *resource_version, void *user)
{
    lease_client *c = user;
    if (c->watch != NULL || c->no_watch) {
        return;
    }
    ki_error error = KI_ERROR_INIT;
    ki_list_options list = KI_OPTIONS_INIT(ki_list_options);
    list.field_selector = c->selector;
    list.resource_version = resource_version;
    const ki_source_sink sink = {.size = sizeof(sink),
                                 .on_event = on_event,
                                 .on_skipped = on_skipped,
                                 .on_alive = on_alive,
                                 .on_end = on_watch_end,
                                 .user = c};
    int r = c->source.watch(&list, &sink, c->source.user, &c->watch, &error);
    if (r < 0) {
        note_failure(c, &error);
    }
}

static int open_source(lease_client *c, const char *name_space, ki_error *error)
{
    ki_source_http_options options = KI_OPTIONS_INIT(ki_source_http_options);
    options.engine = c->client->engine;
    options.transport = &c->client->transport;
    options.resource = KI_COORDINATION_V1_LEASES;
    options.name_space = name_space;
    return ki_source_http_new(&options, &c->source, error);
}

/* ---- life ---- */

static void on_ended(void *user)
{
    lease_client *c = user;
    ki__loop_remove_stop_hook(c->client->loop, &c->stop_hook);
    if (c->watch != NULL) {
        c->source.cancel(c->watch, c->source.user);
        c->watch = NULL;
    }
    ki__loop_changed(c->client->loop);
}

static void on_loop_stop(ki__stop_hook *hook)
{
    lease_client *c = KI__CONTAINER_OF(hook, lease_client, stop_hook);
    ki__leader_abort(c->leader);
}

static void destroy(void *user)
{
    lease_client *c = user;
    ki_client *client = c->client;
    c->source.destroy(c->source.user);
    ki__free(client->alloc, c);
    ki__client_release(client);
}

/* "host_0123456789abcdef": unique, and it names the pod. */
static int make_identity(ki_client *client, char *identity, ki_error *error)
{
    static const char hex[] = "0123456789abcdef";
    unsigned char suffix[SUFFIX_BYTES];
    if (gethostname(identity, HOST_MAX) < 0 || identity[0] == '\0') {
        memcpy(identity, "host", sizeof("host"));
    }
    identity[HOST_MAX - 1] = '\0';
    const ki_random *random = ki__engine_entropy(client->engine);
    int r = random->fill(suffix, sizeof(suffix), random->user);
    if (r < 0) {
        return ki__error_set(error, r, "identity: no random data");
    }
    char *end = identity + strlen(identity);
    *end++ = '_';
    for (size_t i = 0; i < sizeof(suffix); i++) {
        *end++ = hex[suffix[i] >> 4];
        *end++ = hex[suffix[i] & 15];
    }
    *end = '\0';
    return 0;
}

static int check_name(const ki_client *client, const ki_leader_options *o, ki_error *error)
{
    ki_buf path;
    ki_buf_init(&path, client->alloc, PATH_MAX_BYTES);
    int r = ki__http_path(KI_COORDINATION_V1_LEASES, o->name_space, o->name, "", &path, error);
    ki_buf_done(&path);
    return r;
}

static void set_selector(lease_client *c, const char *name)
{
    ki_buf out = {.data = c->selector, .cap = sizeof(c->selector), .max = sizeof(c->selector) - 1};
    int r = ki_buf_add_text(&out, "metadata.name=");
    r = r < 0 ? r : ki_buf_add_text(&out, name);
    c->no_watch = r < 0; /* the name is longer than any that a server accepts */
}

static int make(ki_client *client, const ki_leader_options *o, lease_client *c,
                ki_leader **ret_leader, ki_error *error)
{
    int r = check_name(client, o, error);
    if (r == 0) {
        r = open_source(c, o->name_space, error);
    }
    if (r < 0) {
        return r;
    }
    const ki__lease_api api = {.send = send,
                               .cancel = cancel,
                               .watch = watch,
                               .ended = on_ended,
                               .destroy = destroy,
                               .user = c};
    r = ki__leader_new(client->engine, o, &api, &c->leader, error);
    if (r < 0) {
        c->source.destroy(c->source.user);
        return r;
    }
    set_selector(c, o->name);
    *ret_leader = c->leader;
    return 0;
}

int ki_leader_new(ki_client *client, const ki_leader_options *options, ki_leader **ret_leader,
                  ki_error *error)
{
    KI__REQUIRE(client, error);
    KI__REQUIRE(options, error);
    KI__REQUIRE(ret_leader, error);
    KI__REQUIRE_OWN_ENGINE(client->engine, error);
    ki_leader_options o;
    char identity[HOST_MAX + 2 * SUFFIX_BYTES + 2];
    int r = KI__TAKE(ki_leader_options, &o, options, error);
    if (r == 0 && o.name == NULL) {
        r = ki__error_set(error, -EINVAL, "name: must be set to the name of the Lease");
    }
    if (r == 0 && o.identity == NULL) {
        r = make_identity(client, identity, error);
        o.identity = identity;
    }
    if (r < 0) {
        return r;
    }
    if (ki__loop_is_stopped(client->loop)) {
        return ki__error_set(error, KI_ERR_STOPPED, "the client's loop is stopped");
    }
    o.name_space = o.name_space != NULL ? o.name_space : ki_config_namespace(client->config);
    lease_client *c = ki__alloc_zero(client->alloc, sizeof(*c));
    if (c == NULL) {
        return ki__error_code(error, -ENOMEM);
    }
    c->client = client;
    ki__list_init(&c->stop_hook.link);
    c->stop_hook.run = on_loop_stop;
    r = make(client, &o, c, ret_leader, error);
    if (r < 0) {
        ki__free(client->alloc, c);
        return r;
    }
    ki__members_set_owner(&c->leader->member, client);
    ki__client_hold(client);
    ki__loop_add_stop_hook(client->loop, &c->stop_hook);
    return 0;
}

static bool is_ended(const void *arg)
{
    return atomic_load(&((const ki_leader *)arg)->ended);
}

static void do_nothing(void *arg)
{
    (void)arg;
}

ki_leader *ki_leader_close(ki_leader *leader)
{
    if (leader != NULL && !ki__is_inherited(leader->process)) {
        const lease_client *c = leader->api.user;
        ki_leader_stop(leader);
        int r = ki__loop_wait(c->client->loop, is_ended, leader);
        if (r == 0) {
            ki__loop_call(c->client->loop, do_nothing, NULL); /* its last step is over, too */
        } /* otherwise inside the loop, or it is stopped: it ends without this thread */
    }
    return ki_leader_unref(leader);
}
