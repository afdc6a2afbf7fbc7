/* SPDX-License-Identifier: Apache-2.0 */
/* Informers of any resources of a real server, for a driver to look at: prints what the handlers
 * receive on standard output, answers commands on standard input, and logs to standard error.
 *
 *   sync_client [options] <resource> ...
 *     --kubeconfig <file>     the server and who we are
 *     --json                  JSON only; else protobuf where it is known
 *     --metadata              metadata only
 *     --pages                 list in pages, not by streaming
 *     --page-size <n>
 *     --namespace <name>
 *     --labels <selector>     --fields <selector>
 *     --agent <name>          the program's name in the User-Agent
 *     --exec                  the kubeconfig may name a plugin
 *     --http <1.1 or 2>       all by this; else lists by 1.1 and watches by 2
 *     --fast                  no client-side rate limit
 *     --all                   every resource that the server lets list and watch, in all versions
 *   A resource is "v1/pods", "apps/v1/deployments", or of a custom one
 *   "example.com/v1/widgets/Widget".
 *
 * It prints, one line each, words parted by blanks; what is odd in a key is percent-encoded:
 *     resource <resource>    for each one of --all, then "discovered"
 *     + <resource> <key> <uid> <version> initial|live
 *     ~ <resource> <key> <uid> <version> <version before>
 *     - <resource> <key> <uid> <version> known|unknown
 *     synced <resource>
 *     error <resource> <http code> <reason or name of the code>    a list or watch that failed
 * Commands:
 *     dump     "= <resource> <key> <uid> <version> json|protobuf" for each object, then "dumped"
 *     json     "# <resource> <key> <object as JSON>" for each object, then "written"
 *     protobuf "% <resource> <key> <bytes> <their CRC-32>" of each object as protobuf, where its
 * kind has that, then "encoded" health   "health <resource> name=value ..." for each resource, then
 * "healthy" path <resource> <key in hex> <path in hex>
 *              "@ <number of values> <type> <content> <JSON in hex>" of the first value, where the
 *              content is: of a string its bytes in hex, of a list or map the number of elements
 *              (and no JSON)
 *     end      "ended", when all before it was answered
 *     quit     (or the end of input) stops everything; the last line is "stopped" */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <kinformer/buf.h>
#include <kinformer/config.h>
#include <kinformer/discovery.h>
#include <kinformer/encoding.h>
#include <kinformer/health.h>
#include <kinformer/kinformer.h>
#include <kinformer/lister_iter.h>
#include <kinformer/parts/shared_informer.h>
#include <kinformer/parts/source.h>
#include <kinformer/status.h>

#include "sync_client_paths.h"
#include "telling.h"

enum {
    MAX_RESOURCES = 200,
    LINE = 256,
    COMMAND = 16384,
    MAX_KEY = 512,
    STOP_MS = 10000,
    MAX_JSON = 16 << 20
};

typedef struct arguments {
    const char *kubeconfig;
    const char *name_space;
    const char *labels;
    const char *fields;
    const char *agent;
    const char *http;
    uint32_t page_size;
    bool json;
    bool metadata;
    bool pages;
    bool exec;
    bool fast;
    bool all;
} arguments;

typedef struct watched {
    char name[LINE]; /* as it was given */
    const ki_resource *resource;
    ki_informer *informer;
} watched;

typedef struct program {
    arguments args;
    watched watched[MAX_RESOURCES];
    size_t count;
    ki_client *client;
    ki_factory *factory;
} program;

/* ---- output ---- */

static void tell(const char *text)
{
    puts(text);
    fflush(stdout);
}

/* Names may have blanks in them, as those of roles do. */
static const char *key_text(const ki_object *object, char text[3 * MAX_KEY])
{
    size_t len = 0;
    for (const char *c = ki_object_key(object); *c != '\0' && len < 3 * MAX_KEY - 4; c++) {
        if (*c <= ' ' || *c == '%' || *c == 127) {
            len += (size_t)snprintf(text + len, 4, "%%%02X", (unsigned)(unsigned char)*c);
        } else {
            text[len++] = *c;
        }
    }
    text[len] = '\0';
    return text;
}

static void tell_object(char what, const watched *w, const ki_object *object, const char *more)
{
    char key[3 * MAX_KEY];
    /* One call, so that lines of different threads do not mix. */
    printf("%c %s %s %s %s %s\n", what, w->name, key_text(object, key), ki_object_uid(object),
           ki_object_resource_version(object), more);
    fflush(stdout);
}

static void on_add(const ki_object *object, bool is_initial, void *user)
{
    tell_object('+', user, object, is_initial ? "initial" : "live");
}

static void on_update(const ki_object *old_object, const ki_object *object, void *user)
{
    tell_object('~', user, object, ki_object_resource_version(old_object));
}

static void on_delete(const ki_object *object, bool final_state_unknown, void *user)
{
    tell_object('-', user, object, final_state_unknown ? "unknown" : "known");
}

static void on_synced(void *user)
{
    const watched *w = user;
    printf("synced %s\n", w->name);
    fflush(stdout);
}

static void on_watch_error(ki_informer *informer, const ki_watch_failure *failure, void *user)
{
    const watched *w = user;
    const ki_error *error = failure->error;
    (void)informer;
    const char *reason = ki_reason_text(error->reason);
    printf("error %s %d %s\n", w->name, error->http_code,
           reason[0] != '\0' ? reason : ki_error_name(error->code));
    fflush(stdout);
    fprintf(stderr, "%s: %s\n", w->name, error->message);
}

/* ---- commands ---- */

static void tell_state(const watched *w, const ki_object *object)
{
    bool json = ki_object_encoding(object) == KI_ENCODING_JSON;
    tell_object('=', w, object, json ? "json" : "protobuf");
}

static void tell_json(const watched *w, const ki_object *object)
{
    char key[3 * MAX_KEY];
    ki_buf json;
    ki_buf_init(&json, NULL, MAX_JSON);
    if (ki_object_write_json(object, &json) < 0) {
        fprintf(stderr, "%s cannot be written\n", ki_object_key(object));
    } else {
        printf("# %s %s %.*s\n", w->name, key_text(object, key), (int)ki_buf_str(&json).len,
               ki_buf_str(&json).ptr);
    }
    ki_buf_done(&json);
}

static void tell_protobuf(const watched *w, const ki_object *object)
{
    char key[3 * MAX_KEY];
    ki_buf bytes;
    ki_buf_init(&bytes, NULL, MAX_JSON);
    if (ki_object_write_protobuf(object, &bytes, NULL) == 0) {
        printf("%% %s %s %zu %08lx\n", w->name, key_text(object, key), ki_buf_str(&bytes).len,
               (unsigned long)checksum(ki_buf_str(&bytes)));
    }
    ki_buf_done(&bytes);
}

static void for_each_object(program *p, void (*function)(const watched *w, const ki_object *object),
                            const char *last)
{
    for (size_t i = 0; i < p->count; i++) {
        ki_lister lister = ki_informer_lister(p->watched[i].informer);
        ki_lister_iter iter = ki_lister_iter_begin(&lister, NULL, NULL);
        const ki_object *object;
        while (ki_lister_iter_next(&iter, &object) > 0) {
            function(&p->watched[i], object);
        }
        ki_lister_iter_end(&iter);
    }
    tell(last);
}

static const watched *find_named(const program *p, const char *name)
{
    for (size_t i = 0; i < p->count; i++) {
        if (strcmp(p->watched[i].name, name) == 0) {
            return &p->watched[i];
        }
    }
    return NULL;
}

static void tell_health(program *p)
{
    for (size_t i = 0; i < p->count; i++) {
        ki_error reason = KI_ERROR_INIT;
        ki_health h = KI_OPTIONS_INIT(ki_health);
        if (ki_informer_get_health(p->watched[i].informer, &h, &reason) < 0) {
            continue;
        }
        const ki_health *r = &h;
        printf("health %s state=%d next=%d answered=%d http=%d synced=%d objects=%zu streams=%llu "
               "lists=%llu watches=%llu"
               " syncs=%llu relists=%llu reconnects=%llu fallbacks=%llu backoffs=%llu events=%llu"
               " bookmarks=%llu skipped=%llu anomalies=%llu epoch_changes=%llu merged=%llu\n",
               p->watched[i].name, (int)r->state, (int)r->next, r->accepted, reason.http_code,
               h.synced, h.objects, (unsigned long long)r->streams, (unsigned long long)r->lists,
               (unsigned long long)r->watches, (unsigned long long)r->syncs,
               (unsigned long long)r->relists, (unsigned long long)r->reconnects,
               (unsigned long long)r->fallbacks, (unsigned long long)r->backoffs,
               (unsigned long long)r->events, (unsigned long long)r->bookmarks,
               (unsigned long long)(r->skipped + h.skipped), (unsigned long long)r->anomalies,
               (unsigned long long)r->epoch_changes, (unsigned long long)h.merged);
    }
    tell("healthy");
}

static void obey_path(program *p, char *line)
{
    char key[COMMAND];
    char path[COMMAND];
    char *words[4] = {NULL};
    char *rest = line;
    for (size_t i = 0; i < 4; i++) {
        words[i] = strsep(&rest, " \n");
    }
    const watched *w = words[1] != NULL ? find_named(p, words[1]) : NULL;
    if (w == NULL || !unhex(words[2], key, sizeof(key)) || !unhex(words[3], path, sizeof(path))) {
        fprintf(stderr, "not understood: path\n");
        return;
    }
    ki_object *object = NULL;
    ki_lister lister = ki_informer_lister(w->informer);
    int r = ki_lister_get_key(&lister, key, &object, NULL);
    flockfile(stdout); /* handlers print events meanwhile */
    if (r == 0) {
        r = tell_path(object, path);
    }
    if (r < 0) {
        printf("@ 0 %s 0 \n", ki_error_name(r));
    }
    funlockfile(stdout);
    ki_object_unref(object);
}

static void obey(program *p)
{
    char line[COMMAND];
    while (fgets(line, sizeof(line), stdin) != NULL && strcmp(line, "quit\n") != 0) {
        if (strcmp(line, "dump\n") == 0) {
            for_each_object(p, tell_state, "dumped");
        } else if (strcmp(line, "json\n") == 0) {
            for_each_object(p, tell_json, "written");
        } else if (strcmp(line, "protobuf\n") == 0) {
            for_each_object(p, tell_protobuf, "encoded");
        } else if (strcmp(line, "health\n") == 0) {
            tell_health(p);
        } else if (strncmp(line, "path ", 5) == 0) {
            obey_path(p, line);
        } else if (strcmp(line, "end\n") == 0) {
            tell("ended");
        } else {
            fprintf(stderr, "no such command: %s", line);
        }
    }
}

/* ---- arguments ---- */

static int add_resource(program *p, const char *name, ki_error *error)
{
    if (p->count == MAX_RESOURCES) {
        return -E2BIG;
    }
    watched *w = &p->watched[p->count++];
    snprintf(w->name, sizeof(w->name), "%s", name);
    return telling_resource(w->name, &w->resource, error);
}

/* An option that takes a value: where it goes. */
static const char **text_option(arguments *args, const char *name)
{
    const struct {
        const char *name;
        const char **text;
    } table[] = {
        {"--kubeconfig", &args->kubeconfig}, {"--namespace", &args->name_space},
        {"--labels", &args->labels},         {"--fields", &args->fields},
        {"--agent", &args->agent},           {"--http", &args->http},
    };
    for (size_t i = 0; i < sizeof(table) / sizeof(table[0]); i++) {
        if (strcmp(table[i].name, name) == 0) {
            return table[i].text;
        }
    }
    return NULL;
}

static bool *flag_option(arguments *args, const char *name)
{
    const struct {
        const char *name;
        bool *flag;
    } table[] = {
        {"--json", &args->json}, {"--metadata", &args->metadata}, {"--pages", &args->pages},
        {"--exec", &args->exec}, {"--fast", &args->fast},         {"--all", &args->all},
    };
    for (size_t i = 0; i < sizeof(table) / sizeof(table[0]); i++) {
        if (strcmp(table[i].name, name) == 0) {
            return table[i].flag;
        }
    }
    return NULL;
}

static int read_arguments(program *p, int argc, char **argv, ki_error *error)
{
    int r = 0;
    for (int i = 1; i < argc && r == 0; i++) {
        const char **text = text_option(&p->args, argv[i]);
        bool *flag = flag_option(&p->args, argv[i]);
        if (flag != NULL) {
            *flag = true;
        } else if (text != NULL && i + 1 < argc) {
            *text = argv[++i];
        } else if (strcmp(argv[i], "--page-size") == 0 && i + 1 < argc) {
            p->args.page_size = (uint32_t)strtoul(argv[++i], NULL, 10);
        } else if (argv[i][0] == '-') {
            r = -EINVAL;
        } else {
            r = add_resource(p, argv[i], error);
        }
        if (r < 0) {
            fprintf(stderr, "not understood: %s\n", argv[i]);
        }
    }
    return r;
}

/* ---- informers ---- */

static watched *find_watched(program *p, const ki_resource *resource)
{
    for (size_t i = 0; i < p->count; i++) {
        if (p->watched[i].resource == resource) {
            return &p->watched[i];
        }
    }
    return NULL;
}

static int make_source(const ki_resource *resource, const char *name_space, void *user,
                       ki_source *ret_source, ki_error *error)
{
    program *p = user;
    return ki_source_http_new(
        KI_OPTIONS(ki_source_http_options, .engine = ki_client_engine(p->client),
                   .transport = ki_client_transport(p->client), .resource = resource,
                   .name_space = name_space, .json_only = p->args.json,
                   .metadata_only = p->args.metadata),
        ret_source, error);
}

static void configure(const ki_resource *resource, ki_informer_options *options, void *user)
{
    program *p = user;
    options->no_streaming = p->args.pages;
    options->page_size = p->args.page_size;
    options->label_selector = p->args.labels;
    options->field_selector = p->args.fields;
    options->on_watch_error = on_watch_error;
    options->watch_error_user = find_watched(p, resource);
}

static int add_informer(program *p, watched *w, ki_error *error)
{
    int r = ki_factory_informer(p->factory, w->resource, NULL, &w->informer, error);
    if (r < 0) {
        return r;
    }
    ki_handler handler = {
        .on_add = on_add, .on_update = on_update, .on_delete = on_delete, .user = w};
    return ki_informer_add_handler(
        w->informer, &handler, KI_OPTIONS(ki_handler_options, .on_synced = on_synced, .user = w),
        NULL, error);
}

/* The usual factory of the client, or one whose sources ask for something else. */
static int make_factory(program *p, ki_error *error)
{
    ki_factory_options options = KI_OPTIONS_INIT(ki_factory_options);
    options.name_space = p->args.name_space;
    options.configure = configure;
    options.user = p;
    if (!p->args.json && !p->args.metadata) {
        return ki_client_factory(p->client, &options, &p->factory, error);
    }
    options.engine = ki_client_engine(p->client);
    options.make_source = make_source;
    return ki_factory_new(&options, &p->factory, error);
}

/* Every resource that the server lets list and watch. */
static int discover(program *p, ki_error *error)
{
    ki_discovery *discovery = NULL;
    int r = ki_client_discover(p->client, 0, &discovery, error);
    const ki_resource *resource;
    uint32_t verbs = 0;
    for (size_t i = 0; r == 0 && (resource = ki_discovery_at(discovery, i, &verbs)) != NULL; i++) {
        if ((verbs & (KI_CAN_LIST | KI_CAN_WATCH)) != (KI_CAN_LIST | KI_CAN_WATCH)) {
            continue;
        }
        if (p->count == MAX_RESOURCES) {
            r = -E2BIG;
            break;
        }
        watched *w = &p->watched[p->count++];
        w->resource = ki_resource_ref(resource);
        snprintf(w->name, sizeof(w->name), "%s/%s", ki_resource_api_version(resource),
                 ki_resource_name(resource));
        printf("resource %s\n", w->name);
    }
    ki_discovery_unref(discovery);
    tell("discovered");
    return r;
}

static int add_informers(program *p, ki_error *error)
{
    int r = make_factory(p, error);
    for (size_t i = 0; i < p->count && r == 0; i++) {
        r = add_informer(p, &p->watched[i], error);
    }
    return r == 0 ? ki_factory_start(p->factory, error) : r;
}

/* ---- the connection ---- */

static ki_client_http http_of(const char *text)
{
    if (text == NULL) {
        return KI_CLIENT_HTTP_AUTO;
    }
    return strcmp(text, "2") == 0 ? KI_CLIENT_HTTP_2 : KI_CLIENT_HTTP_1_1;
}

static int connect_to_server(program *p, ki_error *error)
{
    ki_config *config = NULL;
    int r = ki_config_load(
        KI_OPTIONS(ki_config_options, .path = p->args.kubeconfig, .log = &telling_log), &config,
        error);
    if (r == 0) {
        r = ki_client_new(KI_OPTIONS(ki_client_options, .config = config, .log = &telling_log,
                                     .user_agent = p->args.agent, .http = http_of(p->args.http),
                                     .qps = p->args.fast ? -1 : 0,
                                     .exec_policy = p->args.exec ? KI_EXEC_ALLOW : KI_EXEC_DENY),
                          &p->client, error);
    }
    ki_config_unref(config);
    return r;
}

/* Whether all informers came to their end in time. */
static bool stop_informers(program *p)
{
    if (p->factory == NULL) {
        return true;
    }
    ki_factory_stop(p->factory);
    for (int ms = 0; ms < STOP_MS && !ki_factory_is_stopped(p->factory); ms++) {
        nanosleep(&(struct timespec){.tv_nsec = 1000000}, NULL);
    }
    bool stopped = ki_factory_is_stopped(p->factory);
    p->factory = ki_factory_unref(p->factory);
    return stopped;
}

static bool stop(program *p)
{
    bool stopped = stop_informers(p);
    p->client = ki_client_close(p->client);
    for (size_t i = 0; i < p->count; i++) {
        ki_resource_unref(p->watched[i].resource);
    }
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
    if (r == 0 && p.args.all) {
        r = discover(&p, &error);
    }
    if (r == 0) {
        r = add_informers(&p, &error);
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
    tell("stopped");
    return r < 0 ? 1 : 0;
}
