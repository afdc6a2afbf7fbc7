/* SPDX-License-Identifier: Apache-2.0 */
#include "support/reflecting.h"

#include <stdio.h>
#include <string.h>

static void hear(reflecting *r, const char *text)
{
    size_t len = strlen(r->heard);
    size_t room = sizeof(r->heard) - len;
    int added = snprintf(r->heard + len, room, "%s%s", len != 0 ? " " : "", text);
    assert_true(added > 0 && (size_t)added < room);
}

static void hook(reflecting *r, char at)
{
    if (r->hook_at == at && r->hook != NULL) {
        r->hook(r);
    }
}

/* Records a call, and returns the result to return. */
static int called(reflecting *r, const char *text, ki_error *error)
{
    (void)error; /* a target need not fill it */
    if (r->fail != 0 && (r->fail_at == '\0' || r->fail_at == text[0])) {
        int code = r->fail;
        r->fail = 0;
        return code;
    }
    hear(r, text);
    hook(r, text[0]);
    return 0;
}

static int about(reflecting *r, char what, const ki_object *object, ki_error *error)
{
    char text[128];
    (void)snprintf(text, sizeof(text), "%c%s@%s", what, ki_object_name(object),
                   ki_object_resource_version(object));
    return called(r, text, error);
}

static int add(const ki_object *object, void *user, ki_error *error)
{
    return about(user, '+', object, error);
}

static int update(const ki_object *object, void *user, ki_error *error)
{
    return about(user, '~', object, error);
}

static int removed(const ki_object *object, void *user, ki_error *error)
{
    return about(user, '-', object, error);
}

static int removed_key(const char *key, void *user, ki_error *error)
{
    char text[128];
    (void)snprintf(text, sizeof(text), "-(%s)", key);
    return called(user, text, error);
}

static ki_object *find(const char *key, void *user)
{
    reflecting *r = user;
    bool known = r->known != NULL && strcmp(key, ki_object_key(r->known)) == 0;
    return known ? ki_object_ref(r->known) : NULL;
}

static int replace(const ki_replacement *list, void *user, ki_error *error)
{
    const reflecting *r = user;
    char text[1024] = "=(";
    size_t len = strlen(text);
    for (size_t i = 0; i < list->object_count; i++) {
        const ki_object *object = list->objects[i];
        len += (size_t)snprintf(text + len, sizeof(text) - len, "%s%s@%s%s", i != 0 ? "," : "",
                                ki_object_name(object), ki_object_resource_version(object),
                                object == r->known ? "!" : "");
        assert_true(len < sizeof(text) - 64);
    }
    for (size_t i = 0; i < list->unread_count; i++) {
        len +=
            (size_t)snprintf(text + len, sizeof(text) - len, "?%.*s", KI_STR_ARG(list->unread[i]));
        assert_true(len < sizeof(text) - 64);
    }
    (void)snprintf(text + len, sizeof(text) - len, ")@%s", list->resource_version);
    return called(user, text, error);
}

static int resync(void *user, ki_error *error)
{
    return called(user, "S", error);
}

static int bookmark(const char *resource_version, void *user, ki_error *error)
{
    char text[96];
    (void)snprintf(text, sizeof(text), "B%s", resource_version);
    return called(user, text, error);
}

static void destroy(void *user)
{
    ((reflecting *)user)->destroyed++;
}

static bool should_resync(void *user)
{
    reflecting *r = user;
    hook(r, '?');
    return r->may_resync;
}

static void on_watch_error(ki_reflector *reflector, const ki_watch_failure *failure, void *user)
{
    reflecting *r = user;
    assert_ptr_equal(reflector, r->reflector);
    r->errors++;
    r->error = *failure->error;
    r->failure = *failure;
    r->failure.error = &r->error;
    r->failure.status = NULL; /* which is valid in here only */
    hook(r, 'E');
}

static void on_stopped(ki_reflector *reflector, void *user)
{
    reflecting *r = user;
    assert_ptr_equal(reflector, r->reflector);
    r->stopped++;
    hook(r, 'X');
}

static void on_report(const ki_report *report, void *user)
{
    reflecting *r = user;
    r->reports++;
    r->report_code = report->error->code;
    (void)snprintf(r->report_key, sizeof(r->report_key), "%.*s", (int)report->key.len,
                   report->key.ptr);
    hook(r, '!');
}

/* "W request failed: operation=watch ...", without what is the same in all */
static void write_log(const ki_log_record *record, void *user)
{
    reflecting *r = user;
    if (record->level > r->log_level || strcmp(record->component, "reflector") != 0) {
        return;
    }
    char line[1024];
    int len = snprintf(line, sizeof(line), "%c %s:", "EWID"[record->level], record -> message);
    for (size_t i = 0; i < record->field_count; i++) {
        const ki_log_field *field = &record->fields[i];
        if (strcmp(field->key, "name") != 0) {
            len += snprintf(line + len, sizeof(line) - (size_t)len, " %s=%.*s", field->key,
                            KI_STR_ARG(field->value));
            assert_true(len > 0 && (size_t)len < sizeof(line));
        }
    }
    r->log_lines++;
    (void)snprintf(r->log_line, sizeof(r->log_line), "%s", line);
    hook(r, 'L');
}

void reflecting_init(reflecting *r)
{
    memset(r, 0, sizeof(*r));
    test_alloc_init(&r->alloc);
    test_world_init(&r->world);
    ki_engine_options options = test_world_engine_options(&r->world, &r->alloc.table);
    options.on_report = on_report;
    options.report_user = r;
    options.reports_per_second = 1000;
    r->log = (ki_log){.write = write_log, .level = KI_LOG_DEBUG, .user = r};
    r->log_level = KI_LOG_INFO;
    options.log = &r->log;
    assert_int_equal(ki_engine_new(&options, &r->engine, NULL), 0);
    fake_source_init(&r->source, r->engine, &r->world);
    r->target = (ki_reflector_target){
        .add = add,
        .update = update,
        .remove = removed,
        .remove_key = removed_key,
        .replace = replace,
        .resync = resync,
        .bookmark = bookmark,
        .find = find,
        .user = r,
        .destroy = destroy,
    };
    r->may_resync = true;
    r->options = KI_OPTIONS_INIT(ki_reflector_options);
    r->options.engine = r->engine;
    r->options.source = &r->source.table;
    r->options.target = &r->target;
    r->options.name = "pods";
    r->options.should_resync = should_resync;
    r->options.on_watch_error = on_watch_error;
    r->options.on_stopped = on_stopped;
    r->options.user = r;
}

void reflecting_start(reflecting *r)
{
    assert_int_equal(ki_reflector_new(&r->options, &r->reflector, NULL), 0);
    assert_int_equal(ki_reflector_start(r->reflector), 0);
    reflecting_settle(r);
}

void reflecting_done(reflecting *r)
{
    if (r->reflector != NULL) {
        ki_reflector_stop(r->reflector);
        test_world_settle(r->engine);
        assert_int_equal(r->stopped, 1);
        assert_false(r->source.open);
        assert_true(ki_engine_deadline(r->engine) == UINT64_MAX); /* no timer is left */
        r->reflector = ki_reflector_unref(r->reflector);
        assert_int_equal(r->destroyed, 1);
        assert_int_equal(r->source.destroyed, 1);
    }
    fake_source_done(&r->source);
    (void)ki_engine_unref(r->engine);
    test_alloc_done(&r->alloc);
}

void reflecting_settle(reflecting *r)
{
    test_world_settle(r->engine);
}

void reflecting_advance(reflecting *r, uint64_t ns)
{
    test_world_advance(&r->world, r->engine, ns);
}

void reflecting_expect(reflecting *r, const char *heard)
{
    reflecting_settle(r);
    assert_string_equal(r->heard, heard);
    r->heard[0] = '\0';
}

ki_error reflecting_reason(reflecting *r)
{
    ki_health health = KI_OPTIONS_INIT(ki_health);
    ki_error reason = KI_ERROR_INIT;
    assert_int_equal(ki_reflector_get_health(r->reflector, &health, &reason), 0);
    return reason;
}

ki_health reflecting_health(reflecting *r)
{
    ki_health health = KI_OPTIONS_INIT(ki_health);
    assert_int_equal(ki_reflector_get_health(r->reflector, &health, NULL), 0);
    return health;
}

void reflecting_expect_state(reflecting *r, ki_reflector_state state, const char *version)
{
    reflecting_settle(r);
    char text[64];
    assert_string_equal(ki_reflector_state_name(reflecting_health(r).state),
                        ki_reflector_state_name(state));
    assert_true(ki_reflector_last_sync_resource_version(r->reflector, text, sizeof(text)) >= 0);
    assert_string_equal(text, version);
}

void reflecting_sync(reflecting *r)
{
    reflecting_start(r);
    assert_true(fake_last(&r->source)->initial);
    fake_event(&r->source, KI_WATCH_EVENT_ADDED, fake_pod("a", 1));
    fake_bookmark(&r->source, "10", true);
    reflecting_expect(r, "=(a@1)@10");
    reflecting_expect_state(r, KI_REFLECTOR_WATCHING, "10");
}

void reflecting_sync_by_list(reflecting *r)
{
    r->options.no_streaming = true;
    reflecting_start(r);
    assert_false(fake_last(&r->source)->watch);
    fake_event(&r->source, KI_WATCH_EVENT_ADDED, fake_pod("a", 1));
    fake_end_list(&r->source, "10", "");
    reflecting_expect(r, "=(a@1)@10");
    reflecting_expect_state(r, KI_REFLECTOR_WATCHING, "10");
}
