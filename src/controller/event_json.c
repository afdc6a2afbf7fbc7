/* SPDX-License-Identifier: Apache-2.0 */
/* Events as JSON: of events.k8s.io/v1, and of core/v1 as servers without that have them. The count
 * of the former is in `series`, the only part that the server accepts changes of. */
#include <string.h>

#include <kinformer/json.h>
#include <kinformer/time.h>

#include "base/error.h"
#include "controller/recorder.h"

static const char combined_prefix[] = "(combined from similar events): ";

/* How many bytes of `text` fit without splitting a character. */
static size_t fitting(const char *text, size_t most)
{
    size_t len = strlen(text);
    if (len <= most) {
        return len;
    }
    len = most;
    while (len > 0 && ((unsigned char)text[len] & 0xc0) == 0x80) {
        len--;
    }
    return len;
}

static void add_note(ki_json *json, const char *member, const ki__event_message *m)
{
    char note[KI__EVENT_NOTE_MAX];
    size_t prefix = m->combined ? sizeof(combined_prefix) - 1 : 0;
    memcpy(note, combined_prefix, prefix);
    size_t len = fitting(m->event->note, sizeof(note) - prefix);
    memcpy(note + prefix, m->event->note, len);
    ki_json_str(json, member, ki_str_make(note, prefix + len));
}

static void add_text(ki_json *json, const char *member, const char *text)
{
    if (text[0] != '\0') {
        ki_json_string(json, member, text);
    }
}

static void add_reference(ki_json *json, const char *member, const ki__event_object *o)
{
    if (o->name[0] == '\0') {
        return;
    }
    ki_json_begin_map(json, member);
    add_text(json, "apiVersion", o->api_version);
    add_text(json, "kind", o->kind);
    add_text(json, "namespace", o->name_space);
    ki_json_string(json, "name", o->name);
    add_text(json, "uid", o->uid);
    add_text(json, "resourceVersion", o->resource_version);
    ki_json_end(json);
}

static void add_series(ki_json *json, const ki__event_message *m)
{
    ki_json_begin_map(json, "series");
    ki_json_uint64(json, "count", m->count);
    ki_json_micro_time(json, "lastObservedTime", m->event->time_ns);
    ki_json_end(json);
}

static void add_legacy(ki_json *json, const ki__event_message *m)
{
    ki_json_time(json, "firstTimestamp", m->first_ns);
    ki_json_time(json, "lastTimestamp", m->event->time_ns);
    ki_json_uint64(json, "count", m->count);
    ki_json_begin_map(json, "source");
    ki_json_string(json, "component", m->controller);
    ki_json_end(json);
    ki_json_string(json, "reportingComponent", m->controller);
}

static void write_event(ki_json *json, const ki__event_message *m)
{
    const ki__event *e = m->event;
    ki_json_begin_map(json, NULL);
    ki_json_string(json, "apiVersion", m->legacy ? "v1" : "events.k8s.io/v1");
    ki_json_string(json, "kind", "Event");
    ki_json_begin_map(json, "metadata");
    ki_json_string(json, "name", m->name);
    ki_json_string(json, "namespace", m->name_space);
    ki_json_end(json);
    add_reference(json, m->legacy ? "involvedObject" : "regarding", &e->regarding);
    add_reference(json, "related", &e->related);
    ki_json_string(json, "type", e->type == KI_EVENT_WARNING ? "Warning" : "Normal");
    ki_json_string(json, "reason", e->reason);
    ki_json_string(json, "action", e->action);
    add_note(json, m->legacy ? "message" : "note", m);
    ki_json_string(json, "reportingInstance", m->instance);
    if (m->legacy) {
        add_legacy(json, m);
    } else {
        ki_json_string(json, "reportingController", m->controller);
        ki_json_micro_time(json, "eventTime", m->first_ns);
        if (m->count > 1) {
            add_series(json, m);
        }
    }
    ki_json_end(json);
}

int ki__event_object_make(const ki__event_message *message, const ki_alloc *alloc,
                          ki_object **ret_object, ki_error *error)
{
    ki_json_options options = KI_OPTIONS_INIT(ki_json_options);
    ki_json *json = NULL;
    options.alloc = alloc;
    options.replace_invalid_utf8 = true;
    int r = ki_json_new(&options, &json, error);
    if (r < 0) {
        return r;
    }
    write_event(json, message);
    r = ki_json_object(json, ret_object, error);
    (void)ki_json_unref(json);
    return r;
}

int ki__event_patch_make(const ki__event_message *message, ki_json *json, ki_str *ret_patch,
                         ki_error *error)
{
    ki_json_begin_map(json, NULL);
    if (message->legacy) {
        ki_json_uint64(json, "count", message->count);
        ki_json_time(json, "lastTimestamp", message->event->time_ns);
        add_note(json, "message", message);
    } else {
        add_series(json, message);
    }
    ki_json_end(json);
    return ki_json_text(json, ret_patch, error);
}
