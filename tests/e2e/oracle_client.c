/* SPDX-License-Identifier: Apache-2.0 */
/* Informers of one client, each of another kind, for comparing with those of client-go
 * (servers/informer/main.go takes the same arguments and says the same):
 *
 *   oracle_client --kubeconfig <file> <informer> ...
 *   An informer is "<resource>,json|protobuf,pages|stream,<namespace>,<label selector>", "-" for
 *   none of the last two; a resource "v1/pods", or "example.com/v1/widgets/Widget". Its name in
 *   the output is this whole word.
 *
 * It prints, one line each, words parted by blanks:
 *     + <informer> <key> <uid> <version> initial|live
 *     ~ <informer> <key> <uid> <version> <uid before>/<version before>
 *     - <informer> <key> <uid> <version> known|unknown
 *     synced <informer>
 * Commands:
 *     dump     "= <informer> <key> <uid> <version> json|protobuf" for each object, then "dumped"
 *     health   "health <informer> name=value ..." for each informer, then "healthy"
 *     quit     (or the end of input) stops everything; the last line is "stopped" */
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include <kinformer/config.h>
#include <kinformer/encoding.h>
#include <kinformer/health.h>
#include <kinformer/kinformer.h>
#include <kinformer/lister_iter.h>
#include <kinformer/parts/shared_informer.h>
#include <kinformer/parts/source.h>

#include "telling.h"

enum {
    MAX_INFORMERS = 32,
    LINE = 512,
    PAGE = 7,
    STOP_MS = 10000,
    /* So large that nothing is ever merged: each step is to be compared. */
    QUEUE_LIMIT = 1 << 24,
};

typedef struct follower {
    char name[LINE]; /* as it was given */
    char text[LINE]; /* the same, cut into the parts below */
    char *parts[5];  /* resource, encoding, way, namespace, labels */
    const ki_resource *resource;
    ki_informer *informer;
} follower;

typedef struct program {
    const char *kubeconfig;
    follower followers[MAX_INFORMERS];
    size_t count;
    ki_client *client;
} program;

/* ---- output ---- */

static void tell_object(char what, const follower *f, const ki_object *object, const char *more)
{
    /* One call, so that lines of different threads do not mix. */
    printf("%c %s %s %s %s %s\n", what, f->name, ki_object_key(object), ki_object_uid(object),
           ki_object_resource_version(object), more);
    fflush(stdout);
}

static void on_add(const ki_object *object, bool is_initial, void *user)
{
    tell_object('+', user, object, is_initial ? "initial" : "live");
}

static void on_update(const ki_object *old_object, const ki_object *object, void *user)
{
    char before[LINE];
    snprintf(before, sizeof(before), "%s/%s", ki_object_uid(old_object),
             ki_object_resource_version(old_object));
    tell_object('~', user, object, before);
}

static void on_delete(const ki_object *object, bool final_state_unknown, void *user)
{
    tell_object('-', user, object, final_state_unknown ? "unknown" : "known");
}

static void on_synced(void *user)
{
    const follower *f = user;
    printf("synced %s\n", f->name);
    fflush(stdout);
}

static void on_watch_error(ki_informer *informer, const ki_watch_failure *failure, void *user)
{
    const follower *f = user;
    (void)informer;
    fprintf(stderr, "%s: %s\n", f->name, failure->error->message);
}

/* ---- commands ---- */

static void dump(const follower *f)
{
    ki_lister lister = ki_informer_lister(f->informer);
    ki_lister_iter iter = ki_lister_iter_begin(&lister, NULL, NULL);
    const ki_object *object;
    while (ki_lister_iter_next(&iter, &object) > 0) {
        bool json = ki_object_encoding(object) == KI_ENCODING_JSON;
        tell_object('=', f, object, json ? "json" : "protobuf");
    }
    ki_lister_iter_end(&iter);
}

static void tell_health(const follower *f)
{
    ki_health h = KI_OPTIONS_INIT(ki_health);
    if (ki_informer_get_health(f->informer, &h, NULL) < 0) {
        return;
    }
    const ki_health *r = &h;
    printf("health %s syncs=%llu reconnects=%llu fallbacks=%llu skipped=%llu anomalies=%llu"
           " epoch_changes=%llu target_errors=%llu merged=%llu\n",
           f->name, (unsigned long long)r->syncs, (unsigned long long)r->reconnects,
           (unsigned long long)r->fallbacks, (unsigned long long)(r->skipped + h.skipped),
           (unsigned long long)r->anomalies, (unsigned long long)r->epoch_changes,
           (unsigned long long)r->target_errors, (unsigned long long)h.merged);
}

static void for_each(program *p, void (*function)(const follower *f), const char *last)
{
    for (size_t i = 0; i < p->count; i++) {
        function(&p->followers[i]);
    }
    puts(last);
    fflush(stdout);
}

static void obey(program *p)
{
    char line[LINE];
    while (fgets(line, sizeof(line), stdin) != NULL && strcmp(line, "quit\n") != 0) {
        if (strcmp(line, "dump\n") == 0) {
            for_each(p, dump, "dumped");
        } else if (strcmp(line, "health\n") == 0) {
            for_each(p, tell_health, "healthy");
        }
    }
}

/* ---- arguments ---- */

static int add_follower(program *p, const char *word, ki_error *error)
{
    if (p->count == MAX_INFORMERS) {
        return -E2BIG;
    }
    follower *f = &p->followers[p->count++];
    snprintf(f->name, sizeof(f->name), "%s", word);
    snprintf(f->text, sizeof(f->text), "%s", word);
    char *rest = f->text;
    for (size_t i = 0; i < 5; i++) {
        f->parts[i] = strsep(&rest, ",");
        if (f->parts[i] == NULL) {
            return -EINVAL;
        }
    }
    return rest != NULL ? -EINVAL : telling_resource(f->parts[0], &f->resource, error);
}

static int read_arguments(program *p, int argc, char **argv, ki_error *error)
{
    int r = argc > 3 && strcmp(argv[1], "--kubeconfig") == 0 ? 0 : -EINVAL;
    for (int i = 3; i < argc && r == 0; i++) {
        r = add_follower(p, argv[i], error);
        if (r < 0) {
            fprintf(stderr, "not understood: %s\n", argv[i]);
        }
    }
    p->kubeconfig = argc > 2 ? argv[2] : NULL;
    return r;
}

/* ---- informers ---- */

static int connect_to_server(program *p, ki_error *error)
{
    ki_config *config = NULL;
    int r = ki_config_load(
        KI_OPTIONS(ki_config_options, .path = p->kubeconfig, .log = &telling_log), &config, error);
    if (r == 0) {
        r = ki_client_new(KI_OPTIONS(ki_client_options, .config = config, .log = &telling_log),
                          &p->client, error);
    }
    ki_config_unref(config);
    return r;
}

static const char *text_or_none(const char *part)
{
    return strcmp(part, "-") == 0 ? NULL : part;
}

static int make_informer(program *p, follower *f, ki_error *error)
{
    ki_source source = {0};
    int r = ki_source_http_new(
        KI_OPTIONS(ki_source_http_options, .engine = ki_client_engine(p->client),
                   .transport = ki_client_transport(p->client), .resource = f->resource,
                   .name_space = text_or_none(f->parts[3]),
                   .json_only = strcmp(f->parts[1], "json") == 0),
        &source, error);
    if (r < 0) {
        return r;
    }
    bool pages = strcmp(f->parts[2], "pages") == 0;
    r = ki_informer_new(KI_OPTIONS(ki_informer_options, .engine = ki_client_engine(p->client),
                                   .source = &source, .resource = f->resource, .name = f->name,
                                   .label_selector = text_or_none(f->parts[4]),
                                   .no_streaming = pages, .page_size = PAGE,
                                   .on_watch_error = on_watch_error, .watch_error_user = f),
                        &f->informer, error);
    if (r < 0) {
        source.destroy(source.user);
    }
    return r;
}

static int follow(program *p, follower *f, ki_error *error)
{
    int r = make_informer(p, f, error);
    if (r < 0) {
        return r;
    }
    ki_handler handler = {
        .on_add = on_add, .on_update = on_update, .on_delete = on_delete, .user = f};
    r = ki_informer_add_handler(f->informer, &handler,
                                KI_OPTIONS(ki_handler_options, .queue_limit = QUEUE_LIMIT,
                                           .on_synced = on_synced, .user = f),
                                NULL, error);
    return r == 0 ? ki_informer_start(f->informer, error) : r;
}

static bool all_stopped(const program *p)
{
    for (size_t i = 0; i < p->count; i++) {
        if (p->followers[i].informer != NULL && !ki_informer_is_stopped(p->followers[i].informer)) {
            return false;
        }
    }
    return true;
}

/* Whether all informers came to their end in time. */
static bool stop(program *p)
{
    for (size_t i = 0; i < p->count; i++) {
        if (p->followers[i].informer != NULL) {
            ki_informer_stop(p->followers[i].informer);
        }
    }
    for (int ms = 0; ms < STOP_MS && !all_stopped(p); ms++) {
        nanosleep(&(struct timespec){.tv_nsec = 1000000}, NULL);
    }
    bool stopped = all_stopped(p);
    for (size_t i = 0; i < p->count; i++) {
        ki_informer_unref(p->followers[i].informer);
        ki_resource_unref(p->followers[i].resource);
    }
    p->client = ki_client_close(p->client);
    return stopped;
}

int main(int argc, char **argv)
{
    static program p;
    ki_error error = KI_ERROR_INIT;
    int r = read_arguments(&p, argc, argv, &error);
    if (r == 0) {
        r = connect_to_server(&p, &error);
    }
    for (size_t i = 0; i < p.count && r == 0; i++) {
        r = follow(&p, &p.followers[i], &error);
    }
    if (r == 0) {
        obey(&p);
    } else {
        fprintf(stderr, "%s: %s\n", ki_error_name(r), error.message);
    }
    if (!stop(&p)) {
        fprintf(stderr, "it does not stop\n");
        return 2;
    }
    puts("stopped");
    return r < 0 ? 1 : 0;
}
