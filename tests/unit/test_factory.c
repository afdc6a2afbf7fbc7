/* SPDX-License-Identifier: Apache-2.0 */
/* The factory: one informer for each resource, started and stopped together. */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include <kinformer/factory.h>
#include <kinformer/parts/shared_informer.h>
#include <kinformer/parts/source.h>
#include <kinformer/parts/watch_event.h>

#include "base/engine.h"
#include "support/fake_transport.h"
#include "support/objects.h"
#include "support/test.h"
#include "support/world.h"

/* A source that lists one object at once, and then watches in silence. */
typedef struct quiet {
    struct fixture *f;
    const ki_alloc *alloc;
    const char *name; /* of the resource */
    ki__timer timer;
    ki_source_sink sink;
    bool listing;
} quiet;

typedef struct fixture {
    test_alloc alloc;
    test_world world;
    ki_engine *engine;
    ki_factory *factory;
    int sources;
    int destroyed;
    int made; /* calls of make_source */
    int fail; /* what make_source returns */
    char name_space[32];
    char selector[32]; /* the label selector of the last request */
    const char *tweak_to;
    bool silent;         /* lists never end */
    const char *refused; /* the name of a resource whose lists are forbidden */
} fixture;

static void answer(ki__timer *timer)
{
    quiet *q = KI__CONTAINER_OF(timer, quiet, timer);
    ki_object *object = test_pod(NULL, "ns", "a", 1, "g");
    q->listing = false;
    ki_list_meta meta = {.resource_version = "5", .continue_token = "", .remaining = -1};
    q->sink.on_event(KI_WATCH_EVENT_ADDED, object, NULL, q->sink.user);
    q->sink.on_end(&meta, NULL, NULL, q->sink.user);
    (void)ki_object_unref(object);
}

static void note_selector(fixture *f, const ki_list_options *options)
{
    ki_str selector = ki_str_from(options->label_selector);
    assert_true(selector.len < sizeof(f->selector));
    if (selector.len != 0) {
        memcpy(f->selector, selector.ptr, selector.len);
    }
    f->selector[selector.len] = '\0';
}

static int quiet_list(const ki_list_options *options, const ki_source_sink *sink, void *user,
                      void **ret_call, ki_error *error)
{
    quiet *q = user;
    note_selector(q->f, options);
    if (q->f->refused != NULL && strcmp(q->f->refused, q->name) == 0) {
        *error = (ki_error){.code = KI_ERR_STATUS,
                            .http_code = 403,
                            .reason = KI_REASON_FORBIDDEN,
                            .message = "you may not list these"};
        return KI_ERR_STATUS;
    }
    q->sink = *sink;
    q->listing = true;
    if (!q->f->silent) {
        ki__timer_set_after(&q->timer, 0);
    }
    *ret_call = q;
    return 0;
}

static int quiet_watch(const ki_list_options *options, const ki_source_sink *sink, void *user,
                       void **ret_call, ki_error *error)
{
    (void)error;
    (void)sink;
    note_selector(((quiet *)user)->f, options);
    *ret_call = user;
    return 0;
}

static void quiet_cancel(void *call, void *user)
{
    (void)user;
    ki__timer_cancel(&((quiet *)call)->timer);
}

static void quiet_destroy(void *user)
{
    quiet *q = user;
    q->f->destroyed++;
    ki__timer_done(&q->timer);
    q->alloc->free(q, q->alloc->user);
}

static int make_source(const ki_resource *resource, const char *name_space, void *user,
                       ki_source *ret_source, ki_error *error)
{
    (void)error;
    fixture *f = user;
    f->made++;
    (void)snprintf(f->name_space, sizeof(f->name_space), "%s", name_space);
    if (f->fail < 0) {
        return f->fail;
    }
    const ki_alloc *alloc = ki__engine_alloc(f->engine);
    quiet *q = alloc->alloc(sizeof(*q), alloc->user);
    if (q == NULL) {
        return -ENOMEM;
    }
    *q = (quiet){.f = f, .alloc = alloc, .name = ki_resource_name(resource)};
    int r = ki__timer_init(&q->timer, f->engine, answer);
    if (r < 0) {
        alloc->free(q, alloc->user);
        return r;
    }
    f->sources++;
    *ret_source = (ki_source){
        .list = quiet_list,
        .watch = quiet_watch,
        .cancel = quiet_cancel,
        .no_streaming_list = true,
        .user = q,
        .destroy = quiet_destroy,
    };
    return 0;
}

static void tweak(const ki_resource *resource, ki_list_options *options, void *user)
{
    (void)resource;
    options->label_selector = ((fixture *)user)->tweak_to;
}

static void configure(const ki_resource *resource, ki_informer_options *options, void *user)
{
    (void)user;
    if (strcmp(ki_resource_name(resource), "nodes") == 0) {
        options->label_selector = "only=nodes";
        options->resync_ms = 1234;
    }
}

static ki_factory_options options_of(fixture *f)
{
    ki_factory_options options = KI_OPTIONS_INIT(ki_factory_options);
    options.engine = f->engine;
    options.make_source = make_source;
    options.configure = configure;
    options.user = f;
    return options;
}

static void begin_engine(fixture *f)
{
    *f = (fixture){0};
    test_alloc_init(&f->alloc);
    test_world_init(&f->world);
    ki_engine_options options = test_world_engine_options(&f->world, &f->alloc.table);
    assert_int_equal(ki_engine_new(&options, &f->engine, NULL), 0);
}

static void begin(fixture *f)
{
    begin_engine(f);
    ki_factory_options options = options_of(f);
    assert_int_equal(ki_factory_new(&options, &f->factory, NULL), 0);
}

static void end(fixture *f)
{
    f->factory = ki_factory_unref(f->factory);
    test_world_settle(f->engine);
    assert_int_equal(f->destroyed, f->sources);
    (void)ki_engine_unref(f->engine);
    test_alloc_done(&f->alloc);
}

static ki_informer *informer_of(fixture *f, const ki_resource *resource)
{
    ki_informer *informer = NULL;
    assert_int_equal(ki_factory_informer(f->factory, resource, NULL, &informer, NULL), 0);
    return informer;
}

static ki_resource *widgets_of(const char *group)
{
    ki_resource_options options = KI_OPTIONS_INIT(ki_resource_options);
    options.group = group;
    options.version = "v1";
    options.resource = "widgets";
    options.kind = "Widget";
    ki_resource *resource = NULL;
    assert_int_equal(ki_resource_new(&options, &resource, NULL), 0);
    return resource;
}

static ki_resource *widgets(void)
{
    return widgets_of("example.com");
}

static void everyone_gets_the_same_informer_of_a_resource(void **state)
{
    (void)state;
    fixture f;
    begin(&f);
    ki_informer *pods = informer_of(&f, KI_CORE_V1_PODS);
    assert_ptr_equal(informer_of(&f, KI_CORE_V1_PODS), pods);
    assert_ptr_not_equal(informer_of(&f, KI_CORE_V1_NODES), pods);
    assert_string_equal(ki_informer_name(pods), "pods");
    ki_resource *one = widgets();
    ki_resource *two = widgets(); /* the same, said twice */
    assert_ptr_equal(informer_of(&f, one), informer_of(&f, two));
    assert_int_equal(f.sources, 3);
    ki_resource *others = widgets_of("example.org");
    assert_ptr_not_equal(informer_of(&f, others), informer_of(&f, one));
    (void)ki_resource_unref(others);
    (void)ki_resource_unref(one);
    (void)ki_resource_unref(two);
    end(&f);
}

static void starting_again_starts_what_is_new(void **state)
{
    (void)state;
    fixture f;
    begin(&f);
    ki_informer *pods = informer_of(&f, KI_CORE_V1_PODS);
    assert_int_equal(ki_factory_wait_for_sync(f.factory, 0, NULL), 0); /* nothing was started */
    assert_int_equal(ki_factory_start(f.factory, NULL), 0);
    ki_error error = KI_ERROR_INIT;
    assert_int_equal(ki_factory_wait_for_sync(f.factory, 0, &error), -ETIMEDOUT);
    assert_non_null(strstr(error.message, "pods"));
    test_world_settle(f.engine);
    assert_int_equal(ki_factory_wait_for_sync(f.factory, 0, NULL), 0);
    assert_true(ki_informer_has_synced(pods));
    ki_informer *nodes = informer_of(&f, KI_CORE_V1_NODES);
    assert_int_equal(ki_factory_start(f.factory, NULL), 0);
    assert_int_equal(ki_informer_wait_for_sync(nodes, 0, &error), -ETIMEDOUT);
    test_world_settle(f.engine);
    assert_true(ki_informer_has_synced(nodes));
    assert_int_equal(ki_informer_wait_for_sync(nodes, 0, NULL), 0);
    assert_int_equal(ki_factory_start(f.factory, NULL), 0);
    end(&f);
}

/* The reason of the one that is furthest behind: not of the first, which has only handlers to wait
 * for, nor of the last, which has not failed yet. */
static void a_wait_in_vain_says_why(void **state)
{
    (void)state;
    fixture f;
    begin(&f);
    ki_handler handler = {0};
    ki_handler_options by_hand = KI_OPTIONS_INIT(ki_handler_options);
    by_hand.delivery = KI_DELIVERY_CALLER;
    ki_informer *pods = informer_of(&f, KI_CORE_V1_PODS);
    assert_int_equal(ki_informer_add_handler(pods, &handler, &by_hand, NULL, NULL), 0);
    assert_int_equal(ki_factory_start(f.factory, NULL), 0);
    test_world_settle(f.engine);
    ki_error error = KI_ERROR_INIT;
    assert_int_equal(ki_factory_wait_for_sync(f.factory, 0, &error), -ETIMEDOUT);
    assert_string_equal(error.message,
                        "pods not synced: timed out: a handler has not processed the initial list");
    ki_informer *nodes = informer_of(&f, KI_CORE_V1_NODES);
    (void)informer_of(&f, KI_CORE_V1_SERVICES);
    f.refused = "nodes";
    f.silent = true;
    assert_int_equal(ki_factory_start(f.factory, NULL), 0);
    test_world_settle(f.engine);
    assert_int_equal(ki_factory_wait_for_sync(f.factory, 0, &error), -ETIMEDOUT);
    assert_string_equal(error.message, "3 of 3 informers not synced; nodes not synced: timed out: "
                                       "list failed: you may not list these");
    assert_int_equal(error.code, -ETIMEDOUT);
    assert_int_equal(error.http_code, 403);
    assert_int_equal(error.reason, KI_REASON_FORBIDDEN);
    test_world_advance(&f.world, f.engine, 10 * TEST_SECOND);
    assert_int_equal(ki_informer_wait_for_sync(nodes, 0, &error), -ETIMEDOUT);
    assert_string_equal(error.message, "nodes not synced: timed out: list keeps failing: you may "
                                       "not list these");
    f.refused = NULL;
    f.silent = false;
    test_world_advance(&f.world, f.engine, 240 * TEST_SECOND);
    assert_int_equal(ki_informer_wait_for_sync(nodes, 0, &error), 0);
    end(&f);
}

static int waited;

static void wait_for_ever(void *user)
{
    waited = ki_factory_wait_for_sync(((fixture *)user)->factory, UINT32_MAX, NULL);
}

static void waiting_for_ever_is_long_with_any_clock(void **state)
{
    (void)state;
    fixture f;
    begin(&f);
    f.world.now = 0;
    f.silent = true;
    (void)informer_of(&f, KI_CORE_V1_PODS);
    assert_int_equal(ki_factory_start(f.factory, NULL), 0);
    ki_engine_task *task = NULL;
    assert_int_equal(ki_engine_task_new(f.engine, wait_for_ever, &f, &task, NULL), 0);
    ki_engine_task_post(task);
    test_world_settle(f.engine);
    assert_int_equal(waited, KI_ERR_BUSY); /* it would have waited; here it cannot */
    ki_engine_task_unref(task);
    end(&f);
}

static void what_could_not_be_started_is_started_by_the_next_call(void **state)
{
    (void)state;
    fixture f;
    begin(&f);
    ki_informer *pods = informer_of(&f, KI_CORE_V1_PODS);
    ki_informer *nodes = informer_of(&f, KI_CORE_V1_NODES);
    f.alloc.fail_at = f.alloc.calls + 1;
    assert_int_equal(ki_factory_start(f.factory, NULL), -ENOMEM);
    test_world_settle(f.engine);
    assert_false(ki_informer_has_synced(pods));
    assert_true(ki_informer_has_synced(nodes));
    assert_int_equal(ki_factory_start(f.factory, NULL), 0);
    test_world_settle(f.engine);
    assert_true(ki_informer_has_synced(pods));
    end(&f);
}

static int to_group_t(const ki_object *object, ki_object **ret_object, void *user)
{
    (void)user;
    *ret_object = test_pod(NULL, "ns", ki_object_name(object), 1, "t");
    return 0;
}

static void count_sync(const ki_object *object, void *user)
{
    assert_true(ki_object_label_is(object, "group", "t"));
    ++*(int *)user;
}

static void its_informers_transform_and_resync_as_it_says(void **state)
{
    (void)state;
    fixture f;
    begin_engine(&f);
    ki_factory_options options = options_of(&f);
    options.transform = to_group_t;
    options.resync_ms = 5000;
    assert_int_equal(ki_factory_new(&options, &f.factory, NULL), 0);
    int syncs = 0;
    ki_handler handler = {.on_sync = count_sync, .user = &syncs};
    assert_int_equal(
        ki_informer_add_handler(informer_of(&f, KI_CORE_V1_PODS), &handler, NULL, NULL, NULL), 0);
    assert_int_equal(ki_factory_start(f.factory, NULL), 0);
    test_world_advance(&f.world, f.engine, 16 * TEST_SECOND);
    assert_int_equal(syncs, 3);
    end(&f);
}

static void an_informer_may_be_started_by_hand(void **state)
{
    (void)state;
    fixture f;
    begin(&f);
    assert_int_equal(ki_informer_start(informer_of(&f, KI_CORE_V1_PODS), NULL), 0);
    assert_int_equal(ki_factory_start(f.factory, NULL), 0);
    end(&f);
}

static void a_stopped_factory_stays_stopped(void **state)
{
    (void)state;
    fixture f;
    begin(&f);
    ki_informer *pods = informer_of(&f, KI_CORE_V1_PODS);
    assert_int_equal(ki_factory_start(f.factory, NULL), 0);
    assert_false(ki_factory_is_stopped(f.factory));
    ki_factory_stop(f.factory);
    ki_factory_stop(f.factory);
    test_world_settle(f.engine);
    assert_true(ki_factory_is_stopped(f.factory));
    assert_true(ki_informer_is_stopped(pods));
    ki_informer *informer = NULL;
    assert_int_equal(ki_factory_informer(f.factory, KI_CORE_V1_PODS, NULL, &informer, NULL),
                     KI_ERR_STOPPED);
    assert_int_equal(ki_factory_informer(f.factory, KI_CORE_V1_NODES, NULL, &informer, NULL),
                     KI_ERR_STOPPED);
    assert_int_equal(ki_factory_start(f.factory, NULL), KI_ERR_STOPPED);
    assert_int_equal(ki_factory_wait_for_sync(f.factory, 0, NULL), KI_ERR_STOPPED);
    end(&f);
}

static void an_informer_ends_with_its_last_user_and_not_before(void **state)
{
    (void)state;
    fixture f;
    begin(&f);
    ki_informer *pods = informer_of(&f, KI_CORE_V1_PODS);
    (void)informer_of(&f, KI_CORE_V1_PODS);
    assert_int_equal(ki_factory_start(f.factory, NULL), 0);
    test_world_settle(f.engine);
    ki_factory_release(f.factory, pods);
    test_world_settle(f.engine);
    assert_false(ki_informer_is_stopped(pods));
    (void)ki_informer_ref(pods);
    ki_factory_release(f.factory, pods);
    ki_factory_release(f.factory, NULL);
    test_world_settle(f.engine);
    assert_true(ki_informer_is_stopped(pods));
    (void)ki_informer_unref(pods);
    assert_int_equal(f.destroyed, 1);
    (void)informer_of(&f, KI_CORE_V1_PODS); /* a new one */
    assert_int_equal(f.sources, 2);
    end(&f);
}

static void the_namespace_is_for_what_lives_in_one(void **state)
{
    (void)state;
    fixture f;
    begin_engine(&f);
    ki_factory_options options = options_of(&f);
    options.name_space = "blue";
    assert_int_equal(ki_factory_new(&options, &f.factory, NULL), 0);
    (void)informer_of(&f, KI_CORE_V1_PODS);
    assert_string_equal(f.name_space, "blue");
    memset(f.name_space, 0, sizeof(f.name_space));
    (void)informer_of(&f, KI_CORE_V1_NODES);
    assert_string_equal(f.name_space, "");
    end(&f);
}

static void options_and_requests_can_be_changed(void **state)
{
    (void)state;
    fixture f;
    begin_engine(&f);
    ki_factory_options options = options_of(&f);
    assert_int_equal(ki_factory_new(&options, &f.factory, NULL), 0);
    (void)informer_of(&f, KI_CORE_V1_NODES);
    assert_int_equal(ki_factory_start(f.factory, NULL), 0);
    test_world_settle(f.engine);
    assert_string_equal(f.selector, "only=nodes");
    (void)ki_factory_unref(f.factory);
    options.tweak = tweak;
    f.tweak_to = "tweaked=yes";
    assert_int_equal(ki_factory_new(&options, &f.factory, NULL), 0);
    (void)informer_of(&f, KI_CORE_V1_NODES);
    assert_int_equal(ki_factory_start(f.factory, NULL), 0);
    test_world_settle(f.engine);
    assert_string_equal(f.selector, "tweaked=yes");
    end(&f);
}

static void bad_options_and_failures_are_reported(void **state)
{
    (void)state;
    fixture f;
    begin(&f);
    ki_factory *factory = NULL;
    ki_factory_options options = options_of(&f);
    options.engine = NULL;
    assert_int_equal(ki_factory_new(&options, &factory, NULL), -EINVAL);
    options = options_of(&f);
    options.make_source = NULL;
    assert_int_equal(ki_factory_new(&options, &factory, NULL), -EINVAL);
    ki_transport transport = {0};
    options = options_of(&f);
    options.transport = &transport;
    assert_int_equal(ki_factory_new(&options, &factory, NULL), -EINVAL);
    char name[300];
    memset(name, 'n', sizeof(name) - 1);
    name[sizeof(name) - 1] = '\0';
    options = options_of(&f);
    options.name_space = name;
    assert_int_equal(ki_factory_new(&options, &factory, NULL), -EINVAL);
    f.fail = KI_ERR_UNSUPPORTED;
    ki_informer *informer = NULL;
    assert_int_equal(ki_factory_informer(f.factory, KI_CORE_V1_PODS, NULL, &informer, NULL),
                     KI_ERR_UNSUPPORTED);
    assert_null(informer);
    assert_null(ki_factory_ref(NULL));
    assert_null(ki_factory_unref(NULL));
    end(&f);
}

static void options_make_an_informer_of_its_own(void **state)
{
    (void)state;
    fixture f;
    begin(&f);
    ki_informer *pods = informer_of(&f, KI_CORE_V1_PODS);
    ki_informer *own = NULL;
    ki_informer_options options = KI_OPTIONS_INIT(ki_informer_options);
    assert_int_equal(ki_factory_informer(f.factory, KI_CORE_V1_PODS, &options, &own, NULL), 0);
    assert_ptr_not_equal(own, pods);
    assert_ptr_equal(informer_of(&f, KI_CORE_V1_PODS), pods);
    assert_int_equal(ki_factory_start(f.factory, NULL), 0);
    test_world_settle(f.engine);
    assert_int_equal(ki_factory_wait_for_sync(f.factory, 0, NULL), 0);
    assert_true(ki_informer_has_synced(own));
    (void)ki_informer_ref(own);
    ki_informer_stop(own);
    assert_int_equal(ki_factory_wait_for_sync(f.factory, 0, NULL), 0);
    assert_int_equal(ki_factory_start(f.factory, NULL), 0);
    (void)ki_informer_unref(own); /* only the run holds it now */
    test_world_settle(f.engine);
    assert_int_equal(f.destroyed, 1);
    end(&f);
}

static void a_transport_is_kept_until_the_informers_have_stopped(void **state)
{
    (void)state;
    fixture f;
    begin(&f);
    fake_transport transport;
    fake_transport_init(&transport, f.engine, &f.world);
    ki_factory_options options = options_of(&f);
    options.make_source = NULL;
    options.transport = &transport.table;
    ki_factory *factory = NULL;
    ki_informer *informer = NULL;
    assert_int_equal(ki_factory_new(&options, &factory, NULL), 0);
    assert_int_equal(transport.users, 1);
    assert_int_equal(ki_factory_informer(factory, KI_CORE_V1_PODS, NULL, &informer, NULL), 0);
    assert_int_equal(transport.users, 2);
    (void)ki_informer_ref(informer);
    (void)ki_factory_unref(factory);
    test_world_settle(f.engine);
    assert_int_equal(transport.users, 0); /* it never ran, and cannot any more */
    (void)ki_informer_unref(informer);
    assert_int_equal(ki_factory_new(&options, &factory, NULL), 0);
    assert_int_equal(ki_factory_informer(factory, KI_CORE_V1_PODS, NULL, &informer, NULL), 0);
    (void)ki_informer_ref(informer);
    assert_int_equal(ki_factory_start(factory, NULL), 0);
    test_world_settle(f.engine);
    (void)ki_factory_unref(factory);
    assert_int_equal(transport.users, 1);
    test_world_settle(f.engine);
    assert_int_equal(transport.users, 0);
    (void)ki_informer_unref(informer);
    test_world_settle(f.engine);
    fake_transport_done(&transport);
    end(&f);
}

static void the_factory_chooses_what_is_requested(void **state)
{
    (void)state;
    static const struct {
        bool json_only;
        bool metadata_only;
        const char *has;
        const char *has_not;
    } cases[] = {
        {false, false, "application/vnd.kubernetes.protobuf", "PartialObjectMetadata"},
        {true, false, "application/json", "protobuf"},
        {false, true, "as=PartialObjectMetadata", NULL},
        {true, true, "as=PartialObjectMetadata", "protobuf"},
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        fixture f;
        begin(&f);
        fake_transport transport;
        fake_transport_init(&transport, f.engine, &f.world);
        ki_factory_options options = options_of(&f);
        options.make_source = NULL;
        options.transport = &transport.table;
        options.json_only = cases[i].json_only;
        options.metadata_only = cases[i].metadata_only;
        ki_factory *factory = NULL;
        ki_informer *informer = NULL;
        assert_int_equal(ki_factory_new(&options, &factory, NULL), 0);
        assert_int_equal(ki_factory_informer(factory, KI_CORE_V1_PODS, NULL, &informer, NULL), 0);
        assert_int_equal(ki_factory_start(factory, NULL), 0);
        test_world_settle(f.engine);
        const char *accept = fake_transport_last(&transport)->accept;
        assert_non_null(strstr(accept, cases[i].has));
        assert_true(cases[i].has_not == NULL || strstr(accept, cases[i].has_not) == NULL);
        (void)ki_factory_unref(factory);
        test_world_settle(f.engine);
        fake_transport_done(&transport);
        end(&f);
    }
}

static int scenario(const ki_alloc *alloc, void *user)
{
    (void)user;
    fixture f = {0};
    test_world_init(&f.world);
    ki_engine_options engine_options = test_world_engine_options(&f.world, alloc);
    int r = ki_engine_new(&engine_options, &f.engine, NULL);
    if (r < 0) {
        return r;
    }
    ki_factory_options options = options_of(&f);
    options.tweak = tweak;
    r = ki_factory_new(&options, &f.factory, NULL);
    const ki_resource *resources[] = {KI_CORE_V1_PODS, KI_CORE_V1_NODES};
    for (size_t i = 0; r == 0 && i < 2; i++) {
        ki_informer *informer;
        r = ki_factory_informer(f.factory, resources[i], NULL, &informer, NULL);
    }
    if (r == 0) {
        r = ki_factory_start(f.factory, NULL);
        if (r == -ENOMEM) { /* the others were started, and this one can be */
            int again = ki_factory_start(f.factory, NULL);
            assert_true(again == 0 || again == -ENOMEM);
        }
    }
    if (r == 0) {
        r = ki_factory_wait_for_sync(f.factory, 0, NULL);
        r = r == -ETIMEDOUT ? 0 : r;
    }
    (void)ki_factory_unref(f.factory);
    test_world_settle(f.engine);
    assert_int_equal(f.destroyed, f.sources);
    (void)ki_engine_unref(f.engine);
    return r;
}

static void every_allocation_may_fail(void **state)
{
    (void)state;
    test_alloc_sweep(scenario, NULL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(everyone_gets_the_same_informer_of_a_resource),
        cmocka_unit_test(starting_again_starts_what_is_new),
        cmocka_unit_test(a_wait_in_vain_says_why),
        cmocka_unit_test(waiting_for_ever_is_long_with_any_clock),
        cmocka_unit_test(what_could_not_be_started_is_started_by_the_next_call),
        cmocka_unit_test(its_informers_transform_and_resync_as_it_says),
        cmocka_unit_test(an_informer_may_be_started_by_hand),
        cmocka_unit_test(a_stopped_factory_stays_stopped),
        cmocka_unit_test(an_informer_ends_with_its_last_user_and_not_before),
        cmocka_unit_test(the_namespace_is_for_what_lives_in_one),
        cmocka_unit_test(options_and_requests_can_be_changed),
        cmocka_unit_test(bad_options_and_failures_are_reported),
        cmocka_unit_test(options_make_an_informer_of_its_own),
        cmocka_unit_test(a_transport_is_kept_until_the_informers_have_stopped),
        cmocka_unit_test(the_factory_chooses_what_is_requested),
        cmocka_unit_test(every_allocation_may_fail),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
