/* SPDX-License-Identifier: Apache-2.0 */
/* The API servers, what is written to them, and the record of it. The record is never forgotten, so
 * that what a client shows can be compared with any moment of the past. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <kinformer/resource_table.h>

#include "sim/sim.h"

/* ---- names and versions ---- */

uint64_t sim_rv_text(const char *text)
{
    uint64_t number = 0;
    for (; *text >= '0' && *text <= '9'; text++) {
        number = number * 10 + (uint64_t)(*text - '0');
    }
    return number;
}

uint64_t sim_rv(const ki_object *object)
{
    return sim_rv_text(ki_object_resource_version(object));
}

void sim_key_text(int key, char text[static 16])
{
    (void)snprintf(text, 16, "ns%d/k%d", key % 3, key);
}

int sim_key_of(const char *key)
{
    const char *number = strstr(key, "/k");
    char text[16];
    if (number == NULL) {
        return -1;
    }
    uint64_t found = sim_rv_text(number + 2);
    if (found >= SIM_KEYS) {
        return -1;
    }
    sim_key_text((int)found, text);
    return strcmp(text, key) == 0 ? (int)found : -1;
}

bool sim_has_label_a(const ki_object *object)
{
    return ki_object_label_is(object, "app", "a");
}

/* ---- the record ---- */

static void add_version(sim_record *record, uint64_t rv, ki_object *object)
{
    if (record->count == record->cap) {
        record->cap = record->cap != 0 ? record->cap * 2 : 8;
        record->versions = realloc(record->versions, record->cap * sizeof(*record->versions));
    }
    record->versions[record->count++] = (sim_version){.rv = rv, .object = object};
}

void sim_read_log(sim *s)
{
    const ki__api_entry *entry;
    while ((entry = ki__api_model_entry(s->model, s->read_sequence)) != NULL) {
        s->read_sequence++;
        int type = entry->key->type->resource == s->resources[0] ? 0 : 1;
        int key = sim_key_of(entry->key->text);
        bool gone = entry->change == KI__API_DELETED;
        sim_trace(s, "write: type %d %s %s at %llu uid %.8s", type, entry->key->text,
                  gone                                ? "deleted"
                  : entry->change == KI__API_MODIFIED ? "changed"
                                                      : "created",
                  (unsigned long long)entry->rv, ki_object_uid(entry->object));
        add_version(&s->records[type][key], entry->rv, gone ? NULL : ki_object_ref(entry->object));
    }
    for (int i = 0; i < s->server_count && s->healed; i++) {
        ki__api_server_advance(s->servers[i].server, UINT64_MAX);
    }
}

ki_object *sim_record_at(const sim *s, int type, int key, uint64_t rv)
{
    const sim_record *record = &s->records[type][key];
    size_t i = record->count;
    while (i > 0 && record->versions[i - 1].rv > rv) {
        i--;
    }
    return i > 0 ? record->versions[i - 1].object : NULL;
}

/* ---- writing ---- */

int sim_request(sim *s, const char *method, const char *target, const char *body)
{
    const ki__api_header type = {ki_str_from("Content-Type"), ki_str_from("application/json")};
    const ki__api_request r = {
        .method = ki_str_from(method),
        .target = ki_str_from(target),
        .headers = &type,
        .header_count = 1,
        .body = ki_str_from(body),
    };
    ki__api_exchange *x;
    if (ki__api_exchange_new(s->servers[0].server, &r, &x) < 0) {
        sim_violation(s, "setup", "the model of the server has no memory");
    }
    int status = ki__api_exchange_status(x);
    (void)ki__api_exchange_free(x);
    return status;
}

static void make_path(const sim *s, int type, int key, bool whole, char path[static 128])
{
    const ki_resource *r = s->resources[type];
    const char *group = ki_resource_group(r);
    char name[16] = "";
    if (whole) {
        (void)snprintf(name, sizeof(name), "/k%d", key);
    }
    (void)snprintf(path, 128, "/%s%s%s/%s/namespaces/ns%d/%s%s", group[0] != '\0' ? "apis" : "api",
                   group[0] != '\0' ? "/" : "", group, ki_resource_version(r), key % 3,
                   ki_resource_name(r), name);
}

static void make_body(sim *s, int key, bool finalizer, char body[static 512])
{
    char number[16];
    bool poison = key == 0 && s->faults[SIM_POISON];
    (void)snprintf(number, sizeof(number), "%u", ++s->write_number);
    (void)snprintf(body, 512,
                   "{\"metadata\":{\"name\":\"k%d\",\"labels\":{\"app\":\"%s\",\"n\":\"%s\"}%s},"
                   "\"spec\":{\"nodeName\":\"n%u\"}}",
                   key, sim_draw(s, SIM_LOAD, 2) == 0 ? "a" : "b", poison ? "POISON" : number,
                   finalizer ? ",\"finalizers\":[\"sim.example.com/hold\"]" : "",
                   sim_draw(s, SIM_LOAD, 3));
}

void sim_write(sim *s)
{
    int type = sim_draw(s, SIM_LOAD, 4) == 0 ? 1 : 0;
    int key = (int)sim_draw(s, SIM_LOAD, s->key_count);
    char path[128];
    char body[512];
    const ki_object *object = sim_record_at(s, type, key, UINT64_MAX);
    uint32_t kind = sim_draw(s, SIM_LOAD, 8);
    make_body(s, key, sim_once_in(s, SIM_LOAD, 10), body);
    int status;
    if (object == NULL) {
        make_path(s, type, key, false, path);
        status = sim_request(s, "POST", path, body);
    } else if (kind < 3) {
        make_path(s, type, key, true, path);
        status = sim_request(s, "DELETE", path, "");
        if (kind == 0 && sim_record_at(s, type, key, UINT64_MAX) == object) {
            sim_read_log(s);
            make_path(s, type, key, false, path);
            status = sim_request(s, "POST", path, body); /* deleted and recreated, in one moment */
            status = status == 409 ? 200 : status;       /* it has a finalizer */
        }
    } else {
        make_path(s, type, key, true, path);
        status = sim_request(s, "PUT", path, body);
    }
    if (status >= 300 && status != 422) { /* what is being deleted gets no new finalizers */
        sim_violation(s, "setup", "writing to %s gives %d", path, status);
    }
    if (sim_once_in(s, SIM_LOAD, 6)) {
        ki__api_model_skip(s->model, 1 + sim_draw(s, SIM_LOAD, 5));
    }
    sim_count_up(s, SIM_COUNT_WRITES);
    sim_read_log(s);
}

static void on_load(sim *s, void *arg, uint64_t tag)
{
    (void)arg;
    (void)tag;
    if (s->writes_left == 0) {
        return;
    }
    s->writes_left--;
    sim_write(s);
    static const uint64_t gaps[] = {0, 0, SIM_MS, 20 * SIM_MS, SIM_SECOND, 20 * SIM_SECOND};
    uint64_t gap = gaps[sim_draw(s, SIM_LOAD, 6)];
    sim_after(s, gap != 0 ? gap + sim_draw(s, SIM_LOAD, 1000) * (gap / 500) : 0, on_load, NULL, 0);
}

void sim_load_start(sim *s)
{
    sim_after(s, 0, on_load, NULL, 0);
}

/* ---- servers ---- */

static void on_lag(sim *s, void *arg, uint64_t tag)
{
    sim_server *server = arg;
    (void)tag;
    uint64_t applied = ki__api_server_version(server->server);
    uint64_t left = s->model->head - applied;
    if (!sim_is_on(s, SIM_LAG)) {
        return; /* from here on it is up to date with every write */
    }
    if (left != 0 && sim_draw(s, SIM_SERVER, 3) != 0) {
        ki__api_server_advance(server->server,
                               applied + 1 + sim_draw(s, SIM_SERVER, (uint32_t)left));
    }
    sim_after(s, sim_draw_skewed(s, SIM_SERVER, SIM_MS, 40 * SIM_SECOND), on_lag, server, 0);
}

static void start_server(sim *s, int id)
{
    sim_server *server = &s->servers[id];
    static const int64_t bookmarks[] = {0, 0, 3000, KI__API_NEVER};
    ki__api_server_options options = {
        .bookmark_ms = bookmarks[sim_draw(s, SIM_SETUP, 4)],
        .window = s->faults[SIM_WINDOW] ? 1 + sim_draw(s, SIM_SETUP, 12) : 0,
        .lags = s->faults[SIM_LAG],
        .expired_as_response = sim_draw(s, SIM_SETUP, 2) == 0,
        .no_cache = sim_draw(s, SIM_SETUP, 2) == 0,
        .no_inconsistent_token = sim_draw(s, SIM_SETUP, 3) == 0,
        .faults = &server->faults,
    };
    if (s->faults[SIM_NO_STREAM] && sim_draw(s, SIM_SETUP, 3) != 0) {
        options.watch_list =
            sim_draw(s, SIM_SETUP, 2) == 0 ? KI__API_WATCH_LIST_OFF : KI__API_WATCH_LIST_IGNORED;
    }
    server->s = s;
    server->id = id;
    server->faults = (ki__api_faults){.decide = sim_faults_decide, .user = s};
    if (ki__api_server_new(s->model, &options, &server->server) < 0) {
        sim_violation(s, "setup", "no memory for a server");
    }
    if (options.lags) {
        sim_after(s, SIM_MS, on_lag, server, 0);
    }
}

static void on_change(void *user)
{
    sim *s = user;
    s->changed = true;
}

void sim_servers_init(sim *s)
{
    ki_resource_options custom = KI_OPTIONS_INIT(ki_resource_options);
    custom.group = "sim.example.com";
    custom.version = "v1";
    custom.resource = "widgets";
    custom.kind = "Widget";
    ki_resource *widgets;
    ki__api_model_options options = {.clock = &s->clock,
                                     .random = &s->entropy,
                                     .first_version = 1 + sim_draw(s, SIM_SETUP, 200)};
    s->resources[0] = ki_resource_builtin("", "v1", "pods");
    if (ki_resource_new(&custom, &widgets, NULL) < 0 ||
        ki__api_model_new(&options, &s->model) < 0 ||
        ki__api_model_register(s->model, widgets, &(ki__api_type_options){.any_field = true}) < 0) {
        sim_violation(s, "setup", "no memory for the model of the servers");
    }
    s->resources[1] = widgets;
    s->model->on_change = on_change;
    s->model->on_change_user = s;
    s->read_sequence = s->model->sequence;
    for (int i = 0; i < s->server_count; i++) {
        start_server(s, i);
    }
    for (uint32_t i = sim_draw(s, SIM_SETUP, 12); i > 0; i--) {
        sim_write(s);
    }
}

void sim_servers_heal(sim *s)
{
    for (int i = 0; i < s->server_count; i++) {
        s->servers[i].down_until = 0;
        ki__api_server_advance(s->servers[i].server, UINT64_MAX);
    }
}

void sim_server_restart(sim *s, sim_server *server, uint64_t down_ns)
{
    sim_trace(s, "server %d restarts, away for %.3f s", server->id, (double)down_ns / 1e9);
    server->down_until = s->now + down_ns;
    sim_net_reset(s, server);
    ki__api_server_expire(server->server);
}

void sim_servers_done(sim *s)
{
    for (int i = 0; i < s->server_count; i++) {
        (void)ki__api_server_free(s->servers[i].server);
    }
    (void)ki__api_model_free(s->model);
    (void)ki_resource_unref(s->resources[1]);
    for (int type = 0; type < SIM_TYPES; type++) {
        for (int key = 0; key < SIM_KEYS; key++) {
            sim_record *record = &s->records[type][key];
            for (size_t i = 0; i < record->count; i++) {
                (void)ki_object_unref(record->versions[i].object);
            }
            free(record->versions);
        }
    }
}
