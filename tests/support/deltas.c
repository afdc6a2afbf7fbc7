/* SPDX-License-Identifier: Apache-2.0 */
#include "support/deltas.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "support/objects.h"
#include "support/test.h"

enum { LIST_MAX = 64 };

void test_say(test_log *log, const char *text)
{
    size_t len = strlen(text);
    assert_true(log->len + len < sizeof(log->text));
    memcpy(log->text + log->len, text, len + 1);
    log->len += len;
}

void test_said(test_log *log, const char *expected)
{
    size_t len = log->len;
    while (len > 0 && log->text[len - 1] == ' ') {
        log->text[--len] = '\0';
    }
    assert_string_equal(log->text, expected);
    log->len = 0;
    log->text[0] = '\0';
}

ki_object *test_thing(const ki_alloc *alloc, const char *spec)
{
    char json[256];
    size_t name = strcspn(spec, "@");
    const char *version = spec[name] != '\0' ? spec + name + 1 : "";
    size_t version_len = strcspn(version, "/");
    const char *uid = version[version_len] != '\0' ? version + version_len + 1 : "";
    int len = snprintf(json, sizeof(json),
                       "{'metadata':{'name':'%.*s','resourceVersion':'%.*s','uid':'%s%.*s'}}",
                       (int)name, spec, (int)version_len, version, uid[0] != '\0' ? uid : "u",
                       uid[0] != '\0' ? 0 : (int)name, spec);
    assert_true(len > 0 && (size_t)len < sizeof(json));
    return test_object(alloc, json);
}

static int put_object(ki_queue *queue, const ki_alloc *alloc, const char *spec)
{
    ki_object *object = test_thing(alloc, spec + 1);
    if (object == NULL) {
        return -ENOMEM;
    }
    int r = spec[0] == '+'   ? ki_queue_add(queue, object, NULL)
            : spec[0] == '~' ? ki_queue_update(queue, object, NULL)
                             : ki_queue_delete(queue, object, NULL);
    ki_object_unref(object);
    return r;
}

/* "a@1,b@2;c,d#5": objects, keys that were not read, version. */
static int put_list(ki_queue *queue, const ki_alloc *alloc, char *text)
{
    const ki_object *objects[LIST_MAX];
    ki_str unread[LIST_MAX];
    ki_replacement all = {.objects = objects, .unread = unread};
    char *version = strchr(text, '#');
    if (version != NULL) {
        *version = '\0';
        all.resource_version = version + 1;
    }
    char *rest = strchr(text, ';');
    if (rest != NULL) {
        *rest++ = '\0';
    }
    int r = 0;
    for (char *next = text; r == 0 && next != NULL && *next != '\0';) {
        char *end = strchr(next, ',');
        if (end != NULL) {
            *end++ = '\0';
        }
        assert_true(all.object_count < LIST_MAX);
        objects[all.object_count] = test_thing(alloc, next);
        r = objects[all.object_count] != NULL ? 0 : -ENOMEM;
        all.object_count += r == 0;
        next = end;
    }
    while (rest != NULL && *rest != '\0') {
        size_t len = strcspn(rest, ",");
        unread[all.unread_count++] = ki_str_make(rest, len);
        rest += len + (rest[len] == ',');
    }
    if (r == 0) {
        r = ki_queue_replace(queue, &all, NULL);
    }
    for (size_t i = 0; i < all.object_count; i++) {
        ki_object_unref(objects[i]);
    }
    return r;
}

int test_put(ki_queue *queue, const ki_alloc *alloc, const char *spec)
{
    char text[1024];
    size_t len = strlen(spec);
    assert_true(len > 0 && len < sizeof(text));
    memcpy(text, spec, len + 1);
    switch (spec[0]) {
    case '=':
        return put_list(queue, alloc, text + 1);
    case '!':
        return ki_queue_resync(queue, NULL);
    case '#':
        return ki_queue_bookmark(queue, spec + 1, NULL);
    default:
        if (spec[len - 1] == '?') {
            return ki_queue_delete_key(queue, ki_str_make(spec + 1, len - 2), NULL);
        }
        return put_object(queue, alloc, spec);
    }
}

void test_put_all(ki_queue *queue, const char *specs)
{
    while (*specs != '\0') {
        char spec[512];
        size_t len = strcspn(specs, " ");
        assert_true(len < sizeof(spec));
        memcpy(spec, specs, len);
        spec[len] = '\0';
        assert_int_equal(test_put(queue, NULL, spec), 0);
        specs += len + (specs[len] == ' ');
    }
}

static void say_object(test_log *log, const ki_object *object)
{
    test_say(log, ki_object_key(object));
    test_say(log, "@");
    test_say(log, ki_object_resource_version(object));
}

static void say_list(test_log *log, const ki_replacement *all)
{
    test_say(log, " [");
    for (size_t i = 0; i < all->object_count; i++) {
        test_say(log, i > 0 ? " " : "");
        say_object(log, all->objects[i]);
    }
    for (size_t i = 0; i < all->unread_count; i++) {
        char text[64];
        (void)snprintf(text, sizeof(text), "; %.*s", KI_STR_ARG(all->unread[i]));
        test_say(log, text);
    }
    test_say(log, "] ");
    test_say(log, all->resource_version != NULL ? all->resource_version : "-");
}

static void say_delta(test_log *log, const ki_delta *delta)
{
    test_say(log, ki_delta_type_name(delta->type));
    if (delta->type == KI_DELTA_REPLACED_ALL) {
        say_list(log, delta->replaced);
    } else if (delta->type == KI_DELTA_BOOKMARK) {
        test_say(log, " ");
        test_say(log, delta->resource_version);
    } else if (delta->object != NULL) {
        test_say(log, " ");
        say_object(log, delta->object);
    } else if (delta->type == KI_DELTA_DELETED) {
        test_say(log, " ");
        test_say(log, delta->key);
    }
    test_say(log, delta->final_state_unknown ? "?" : "");
}

int test_log_deltas(const ki_deltas *deltas, void *user)
{
    test_log *log = user;
    log->calls++;
    test_say(log, deltas->is_initial ? "*{" : "{");
    for (size_t i = 0; i < deltas->count; i++) {
        test_say(log, i > 0 ? ", " : "");
        say_delta(log, ki_deltas_at(deltas, i));
    }
    test_say(log, "} ");
    return log->answer;
}

void test_pops(ki_queue *queue, size_t max_keys, const char *expected)
{
    test_log log = {.len = 0};
    while (ki_queue_poll(queue, max_keys, test_log_deltas, &log) > 0) {
    }
    test_said(&log, expected);
}

/* Handlers */

static void log_add(const ki_object *object, bool is_initial, void *user)
{
    test_log *log = user;
    log->calls++;
    test_say(log, "+");
    say_object(log, object);
    test_say(log, is_initial ? "! " : " ");
}

static void log_update(const ki_object *old_object, const ki_object *object, void *user)
{
    test_log *log = user;
    log->calls++;
    assert_string_equal(ki_object_key(old_object), ki_object_key(object));
    test_say(log, "~");
    say_object(log, old_object);
    test_say(log, ">");
    test_say(log, ki_object_resource_version(object));
    test_say(log, " ");
}

static void log_delete(const ki_object *object, bool final_state_unknown, void *user)
{
    test_log *log = user;
    log->calls++;
    test_say(log, "-");
    say_object(log, object);
    test_say(log, final_state_unknown ? "? " : " ");
}

static void log_sync(const ki_object *object, void *user)
{
    test_log *log = user;
    log->calls++;
    test_say(log, "=");
    say_object(log, object);
    test_say(log, " ");
}

static void log_destroy(void *user)
{
    test_log *log = user;
    log->destroyed++;
}

ki_handler test_log_handler(test_log *log)
{
    return (ki_handler){
        .on_add = log_add,
        .on_update = log_update,
        .on_delete = log_delete,
        .on_sync = log_sync,
        .user = log,
        .destroy = log_destroy,
    };
}
