/* SPDX-License-Identifier: Apache-2.0 */
/* `kinformer top --advise`: bytes by field of live objects, and what `keep`, `drop` and packed
 * storage would leave of their memory. Nothing is estimated: the objects, or a sample of them if
 * there are very many, are really projected and really packed. */
#include "cli/advise.h"

#include <stdlib.h>
#include <string.h>

#include <kinformer/encoding.h>
#include <kinformer/field_sizes.h>
#include <kinformer/json.h>
#include <kinformer/memory.h>
#include <kinformer/parts/store_write.h>
#include <kinformer/projection.h>
#include <kinformer/storage.h>

#include "cli/follow.h"
#include "cli/report_failure.h"
#include "cli/session.h"
#include "cli/text.h"
#include "cli/text_table.h"

enum { SAMPLE = 10000, SHOWN_PERCENT = 1, CHOICES_MAX = 8 };

/* One way to keep objects, and what it needs. */
typedef struct choice {
    const char *keep; /* as on the command line; NULL: none */
    const char *drop;
    bool packed;
    bool unsupported;      /* the library cannot pack */
    uint64_t bytes;        /* memory of the measured objects */
    uint64_t dictionaries; /* and of what does not grow with their number */
} choice;

typedef struct advice {
    cli_session session;
    cli_flags flags; /* without those that are measured */
    bool json;
    choice choices[CHOICES_MAX];
    size_t choice_count;
    ki_json *document; /* with `json` */

    /* The current resource. */
    const cli_target *target;
    const ki_object **objects; /* that are measured */
    size_t measured;
    size_t count; /* all objects */
    ki_field_sizes *sizes;
} advice;

/* ---- measuring ---- */

static void add_choice(advice *a, const char *keep, const char *drop)
{
    for (int packed = 0; packed < 2; packed++) {
        a->choices[a->choice_count++] = (choice){.keep = keep, .drop = drop, .packed = packed != 0};
    }
}

static const char *paths_of(const char *drop)
{
    return drop != NULL && strcmp(drop, "usual") == 0 ? KI_DROP_USUAL : drop;
}

/* Everything, without the usual fields, and the options of the command line. */
static int make_choices(advice *a, const cli_flags *flags, ki_error *error)
{
    ki_projection *projection = NULL;
    int r = ki_projection_new(flags->keep, paths_of(flags->drop), NULL, &projection, error);
    (void)ki_projection_unref(projection);
    add_choice(a, NULL, NULL);
    add_choice(a, NULL, "usual");
    if (flags->drop != NULL && strcmp(flags->drop, "usual") != 0) {
        add_choice(a, NULL, flags->drop);
    }
    if (flags->keep != NULL) {
        add_choice(a, flags->keep, flags->drop);
    }
    return r;
}

/* Packs objects as a store does, and adds up their memory. */
static int measure_packed(choice *c, const ki_object *const *objects, size_t count, ki_error *error)
{
    ki_store_options options = KI_OPTIONS_INIT(ki_store_options);
    ki_store *store = NULL;
    options.storage = KI_STORAGE_PACKED;
    int r = ki_store_new(&options, &store, error);
    if (r == KI_ERR_UNSUPPORTED) {
        c->unsupported = true;
        return 0;
    }
    r = r < 0 ? r : ki_store_replace(store, objects, count, NULL, error);
    if (r == 0) {
        ki_memory memory = KI_OPTIONS_INIT(ki_memory);
        ki_snapshot *snapshot = ki_store_snapshot(store);
        ki_snapshot_iter iter = ki_snapshot_iter_begin(snapshot);
        const ki_object *object;
        while (ki_snapshot_iter_next(&iter, &object) > 0) {
            c->bytes += ki_object_memory(object);
        }
        (void)ki_snapshot_unref(snapshot);
        r = ki_store_get_memory(store, &memory);
        c->dictionaries = memory.packing;
    }
    (void)ki_store_unref(store);
    return r;
}

static int measure(const advice *a, choice *c, ki_error *error)
{
    ki_projection *projection = NULL;
    const ki_object **made = calloc(a->measured + 1, sizeof(const ki_object *));
    if (made == NULL) {
        cli_fail_memory();
    }
    c->bytes = c->dictionaries = 0;
    int r = ki_projection_new(c->keep, paths_of(c->drop), NULL, &projection, error);
    for (size_t i = 0; r == 0 && i < a->measured; i++) {
        ki_object *object = NULL;
        r = ki_object_project(a->objects[i], projection, &object, error);
        made[i] = object;
        c->bytes += r == 0 && !c->packed ? ki_object_memory(object) : 0;
    }
    if (r == 0 && c->packed) {
        r = measure_packed(c, made, a->measured, error);
    }
    for (size_t i = 0; i < a->measured; i++) {
        (void)ki_object_unref(made[i]);
    }
    free((void *)made);
    (void)ki_projection_unref(projection);
    return r;
}

/* Every n-th object if there are too many. */
static void choose_objects(advice *a, const ki_list *list)
{
    a->count = ki_list_count(list);
    a->measured = a->count < SAMPLE ? a->count : SAMPLE;
    a->objects = calloc(a->measured + 1, sizeof(const ki_object *));
    if (a->objects == NULL) {
        cli_fail_memory();
    }
    for (size_t i = 0; i < a->measured; i++) {
        a->objects[i] = ki_list_at(list, i * a->count / a->measured);
    }
}

static int measure_all(advice *a, ki_error *error)
{
    int r = ki_field_sizes_new(NULL, &a->sizes, error);
    for (size_t i = 0; r == 0 && i < a->measured; i++) {
        r = ki_field_sizes_add(a->sizes, a->objects[i], error);
    }
    for (size_t i = 0; r == 0 && i < a->choice_count; i++) {
        r = measure(a, &a->choices[i], error);
    }
    return r;
}

/* Of all objects, from a number for those measured. */
static uint64_t of_all(const advice *a, uint64_t bytes)
{
    return a->measured != 0 ? (uint64_t)((double)bytes * (double)a->count / (double)a->measured)
                            : 0;
}

static uint64_t of_one(const advice *a, uint64_t bytes)
{
    return a->measured != 0 ? bytes / a->measured : 0;
}

static uint64_t total_of(const advice *a, const choice *c)
{
    return of_all(a, c->bytes) + c->dictionaries;
}

static const char *encoding_of(const advice *a)
{
    bool json = a->measured == 0 || ki_object_encoding(a->objects[0]) == KI_ENCODING_JSON;
    return json ? "JSON" : "protobuf";
}

static uint64_t least_shown(const advice *a)
{
    return ki_field_sizes_total(a->sizes) * SHOWN_PERCENT / 100;
}

/* ---- tables ---- */

typedef struct field_rows {
    const advice *advice;
    cli_table *table;
} field_rows;

static void put_sizes(cli_table *table, double share, uint64_t one, uint64_t all)
{
    cli_table_row(table, CLI_COLOR_NONE);
    cli_putf(cli_table_cell(table), "%.1f%%", 100 * share);
    cli_put_bytes(cli_table_cell(table), one);
    cli_put_bytes(cli_table_cell(table), all);
}

static void put_field(const ki_field_size *field, void *user)
{
    field_rows *rows = user;
    const advice *a = rows->advice;
    put_sizes(rows->table, (double)field->bytes / (double)ki_field_sizes_total(a->sizes),
              of_one(a, field->bytes), of_all(a, field->bytes));
    ki_buf *out = cli_table_cell(rows->table);
    cli_put_escaped(out, ki_str_from(field->path));
    cli_put(out, !field->rest ? "" : field->path[0] == '\0' ? "(other fields)" : " (other fields)");
    cli_table_end_row(rows->table);
}

static void put_option(ki_buf *out, const choice *c)
{
    const char *space = "";
    if (c->keep != NULL) {
        cli_put(out, "--keep=");
        cli_put_escaped(out, ki_str_from(c->keep));
        space = " ";
    }
    if (c->drop != NULL) {
        cli_putf(out, "%s--drop=", space);
        cli_put_escaped(out, ki_str_from(c->drop));
        space = " ";
    }
    if (c->packed) {
        cli_putf(out, "%s--packed", space);
        space = " ";
    }
    cli_put(out, space[0] == '\0' ? "whole objects" : "");
}

static void put_choice(const advice *a, cli_table *table, const choice *c)
{
    uint64_t whole = total_of(a, &a->choices[0]);
    uint64_t total = total_of(a, c);
    if (c->unsupported) {
        return;
    }
    put_sizes(table, whole != 0 ? (double)total / (double)whole : 0, of_one(a, c->bytes), total);
    put_option(cli_table_cell(table), c);
    cli_table_end_row(table);
}

static void put_table(cli_table *table, ki_buf *out)
{
    cli_put_char(out, '\n');
    cli_table_print(table, out);
    cli_table_done(table);
}

static void put_note(const advice *a, ki_buf *out)
{
    const choice *packed = &a->choices[1];
    if (packed->unsupported) {
        cli_put(out, "\n--packed is not available: built without libzstd\n");
        return;
    }
    cli_put(out, "\n--packed: ");
    cli_put_bytes(out, packed->dictionaries);
    cli_put(out, " are for libzstd, whatever the number of objects.\n");
}

static int put_text(advice *a, ki_buf *out)
{
    static const cli_heading fields[] = {{"BYTES", false, true, false},
                                         {"EACH", false, true, false},
                                         {"ALL", false, true, false},
                                         {"FIELD", false, false, false}};
    static const cli_heading options[] = {{"MEMORY", false, true, false},
                                          {"EACH", false, true, false},
                                          {"ALL", false, true, false},
                                          {"WITH", false, false, false}};
    size_t width = cli_term_out_is_terminal() ? cli_term_width() : 0;
    cli_table table;
    cli_putf(out, "%s: ", a->target->label);
    cli_put_count(out, a->count);
    cli_put(out, a->count == 1 ? " object" : " objects");
    if (a->count == 0) {
        cli_put(out, ": nothing to measure\n");
        return 0;
    }
    cli_putf(out, ", received as %s\n", encoding_of(a));
    if (a->measured != a->count) {
        cli_put(out, "measured: a sample of ");
        cli_put_count(out, a->measured);
        cli_put(out, "; numbers for all are extrapolated\n");
    }
    cli_table_init_headed(&table, fields, sizeof(fields) / sizeof(fields[0]), width);
    int r = ki_field_sizes_visit(a->sizes, least_shown(a), put_field, &(field_rows){a, &table});
    put_table(&table, out);
    cli_table_init_headed(&table, options, sizeof(options) / sizeof(options[0]), width);
    for (size_t i = 0; i < a->choice_count; i++) {
        put_choice(a, &table, &a->choices[i]);
    }
    put_table(&table, out);
    put_note(a, out);
    cli_put(out, "In programs: keep, drop (KI_DROP_USUAL) and storage (KI_STORAGE_PACKED) of\n"
                 "ki_informer_options. Fields below 1 % count in what contains them.\n");
    return r;
}

/* ---- JSON ---- */

static void put_json_field(const ki_field_size *field, void *user)
{
    const advice *a = user;
    ki_json_begin_map(a->document, NULL);
    ki_json_string(a->document, "path", field->path);
    ki_json_uint64(a->document, "bytes", field->bytes);
    ki_json_uint64(a->document, "values", field->values);
    ki_json_bool(a->document, "otherFields", field->rest);
    ki_json_end(a->document);
}

static void put_json_choice(const advice *a, const choice *c)
{
    ki_buf option;
    if (c->unsupported) {
        return;
    }
    cli_text_init(&option);
    put_option(&option, c);
    bool whole = c->keep == NULL && c->drop == NULL && !c->packed;
    ki_json_begin_map(a->document, NULL);
    ki_json_string(a->document, "option", whole ? "" : ki_buf_text(&option));
    ki_json_string(a->document, "keep", c->keep != NULL ? c->keep : "");
    ki_json_string(a->document, "drop", c->drop != NULL ? paths_of(c->drop) : "");
    ki_json_bool(a->document, "packed", c->packed);
    ki_json_uint64(a->document, "objectBytes", c->bytes);
    ki_json_uint64(a->document, "dictionaryBytes", c->dictionaries);
    ki_json_uint64(a->document, "totalBytes", total_of(a, c));
    ki_json_end(a->document);
    ki_buf_done(&option);
}

/* The fields and the bytes of objects are those of the measured objects, totals those of all. */
static int put_json(advice *a)
{
    ki_json *json = a->document;
    ki_json_begin_map(json, NULL);
    ki_json_string(json, "resource", a->target->label);
    ki_json_uint64(json, "objects", a->count);
    ki_json_uint64(json, "measuredObjects", a->measured);
    ki_json_string(json, "encoding", a->measured != 0 ? encoding_of(a) : "");
    ki_json_uint64(json, "bytes", ki_field_sizes_total(a->sizes));
    ki_json_begin_list(json, "fields");
    int r = ki_field_sizes_visit(a->sizes, least_shown(a), put_json_field, a);
    ki_json_end(json);
    ki_json_begin_list(json, "options");
    for (size_t i = 0; i < a->choice_count; i++) {
        put_json_choice(a, &a->choices[i]);
    }
    ki_json_end(json);
    ki_json_end(json);
    return r;
}

/* ---- the command ---- */

static int advise_on(advice *a, const cli_target *target, ki_buf *out, ki_error *error)
{
    ki_list *list = NULL;
    a->target = target;
    int r = ki_informer_list(target->informer, NULL, NULL, &list, error);
    if (r < 0) {
        return r;
    }
    ki_list_sort(list); /* the same objects each time, so that the output is the same */
    choose_objects(a, list);
    r = measure_all(a, error);
    if (r == 0) {
        r = a->json ? put_json(a) : put_text(a, out);
        r = r < 0 ? cli_fail(error, r, "%s", ki_error_text(r)) : 0;
    }
    a->sizes = ki_field_sizes_unref(a->sizes);
    free((void *)a->objects);
    a->objects = NULL;
    (void)ki_list_unref(list);
    return r;
}

static int print(advice *a, ki_error *error)
{
    ki_buf out;
    int r = a->json ? ki_json_new(NULL, &a->document, error) : 0;
    cli_text_init(&out);
    if (r == 0 && a->json) {
        ki_json_begin_list(a->document, NULL);
    }
    for (size_t i = 0; r == 0 && i < a->session.target_count; i++) {
        cli_put(&out, !a->json && i != 0 ? "\n" : "");
        r = advise_on(a, &a->session.targets[i], &out, error);
    }
    if (r == 0 && a->json) {
        ki_str text;
        ki_json_end(a->document);
        r = ki_json_text(a->document, &text, error);
        if (r == 0) {
            cli_put_json(&out, text, 2);
            cli_put_char(&out, '\n');
        }
    }
    if (r == 0) {
        cli_term_out(ki_buf_str(&out));
    }
    (void)ki_json_unref(a->document);
    ki_buf_done(&out);
    return r;
}

static void on_synced(cli_target *target)
{
    if (cli_session_is_synced(target->session)) {
        cli_session_end(target->session);
    }
}

static void on_tick(void *user)
{
    cli_follow_progress(user);
}

static int advise(advice *a, cli_call *call)
{
    cli_session *session = &a->session;
    ki_handler handler = {0}; /* no callbacks needed */
    ki_error error = KI_ERROR_INIT;
    int code = cli_session_open(session, &a->flags, call->operands.items, call->operands.count);
    if (code != CLI_OK || session->events.signal != 0) {
        return code;
    }
    session->events.on_tick = on_tick;
    session->events.user = session;
    if (cli_session_start(session, &handler, on_synced, &error) < 0) {
        cli_report_error(&error);
        return cli_exit_code(&error);
    }
    code = cli_session_run(session, call->flags.request_timeout_ms);
    if (code != CLI_OK || !cli_session_is_synced(session)) {
        return code;
    }
    if (print(a, &error) < 0) {
        cli_report_error(&error);
        return cli_exit_code(&error);
    }
    return cli_session_result(session, CLI_OK);
}

int cli_advise(cli_call *call, bool json)
{
    advice *a = calloc(1, sizeof(*a));
    ki_error error = KI_ERROR_INIT;
    if (a == NULL) {
        cli_fail_memory();
    }
    a->json = json;
    a->flags = call->flags; /* borrows its lists */
    a->flags.keep = a->flags.drop = NULL;
    a->flags.packed = false;
    a->session.events.epoll_fd = -1;
    a->session.events.signal_fd = -1;
    int r = call->operands.count != 0
                ? make_choices(a, &call->flags, &error)
                : cli_fail(&error, KI_ERR_INVALID, "--advise: RESOURCE missing");
    int code = r < 0 ? cli_usage_error(call->command, &error) : advise(a, call);
    cli_session_close(&a->session);
    free(a);
    return code;
}
