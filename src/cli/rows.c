/* SPDX-License-Identifier: Apache-2.0 */
/* Rows of the server's tables: a transport that wraps the client's. Invariant: a call is freed
 * exactly once, by its end or by cancel(); inside one of our callbacks it is freed when that
 * returns. */
#include "cli/rows.h"

#include <stdlib.h>
#include <string.h>

#include "cli/report_failure.h"
#include "cli/text.h"

#define ACCEPT "application/json;as=Table;v=v1;g=meta.k8s.io,application/json"

enum { HEADERS_MAX = 16, BODY_MAX = 256 << 20, DEPTH_MAX = 1024 };

typedef struct row_call {
    cli_rows *rows;
    ki_http_sink sink;
    void *inner;
    bool stream;
    bool passes; /* not a success: pass the response through */
    bool busy;   /* inside a callback */
    bool closed;
    ki_buf body; /* received and not converted yet */
    ki_buf converted;
} row_call;

/* ---- tables ---- */

static ki_value member(const ki_value *map, const char *name)
{
    ki_value found;
    if (ki_value_type(map) != KI_TYPE_MAP || ki_value_member(map, ki_str_from(name), &found) < 0) {
        return (ki_value){0};
    }
    return found;
}

static bool walk(const ki_value *list, ki_value_iter *ret_iter)
{
    return ki_value_type(list) == KI_TYPE_LIST && ki_value_iter_begin(list, ret_iter) == 0;
}

ki_value cli_rows_cell(const ki_object *row, size_t index)
{
    ki_value root = ki_object_root(row);
    ki_value cells = member(&root, CLI_ROW_CELLS);
    ki_value cell;
    if (ki_value_type(&cells) != KI_TYPE_LIST ||
        ki_value_element(&cells, (int64_t)index, &cell) < 0) {
        return (ki_value){0};
    }
    return cell;
}

int64_t cli_rows_place(const ki_object *row)
{
    ki_value root = ki_object_root(row);
    ki_value place = member(&root, CLI_ROW_PLACE);
    int64_t number = 0;
    return ki_value_int64(&place, &number) == 0 ? number : 0;
}

static void drop_columns(cli_rows *rows)
{
    for (size_t i = 0; i < rows->column_count; i++) {
        free(rows->columns[i].title);
    }
    rows->column_count = 0;
}

void cli_rows_done(cli_rows *rows)
{
    drop_columns(rows);
}

/* A title in upper case (ASCII only). */
static char *title_of(const ki_value *definition)
{
    ki_buf text;
    ki_value name = member(definition, "name");
    cli_text_init(&text);
    if (ki_value_type(&name) == KI_TYPE_STRING) {
        cli_put_value(&text, &name, true);
    }
    for (size_t i = 0; i < text.len; i++) {
        char c = text.data[i];
        text.data[i] = (char)(c >= 'a' && c <= 'z' ? c - 'a' + 'A' : c);
    }
    char *title = strdup(ki_buf_text(&text));
    if (title == NULL) {
        cli_fail_memory();
    }
    ki_buf_done(&text);
    return title;
}

static cli_row_column read_column(const ki_value *definition)
{
    ki_value priority = member(definition, "priority");
    ki_value format = member(definition, "format");
    ki_value type = member(definition, "type");
    int64_t number = 0;
    bool wide = ki_value_int64(&priority, &number) == 0 && number != 0;
    return (cli_row_column){
        .title = title_of(definition),
        .wide = wide,
        .is_name = ki_value_equals(&format, ki_str_from("name")) &&
                   ki_value_equals(&type, ki_str_from("string")),
    };
}

static bool is_same(const cli_rows *rows, const cli_row_column *columns, size_t count)
{
    bool same = rows->column_count == count;
    for (size_t i = 0; same && i < count; i++) {
        same = strcmp(rows->columns[i].title, columns[i].title) == 0 &&
               rows->columns[i].wide == columns[i].wide &&
               rows->columns[i].is_name == columns[i].is_name;
    }
    return same;
}

/* Only the first table of a watch has column definitions; later ones keep them. */
static int take_columns(cli_rows *rows, const ki_value *table, ki_error *error)
{
    cli_row_column columns[CLI_TABLE_COLUMNS];
    size_t count = 0;
    int r = 0;
    ki_value definitions = member(table, "columnDefinitions");
    ki_value definition;
    ki_value_iter iter;
    if (!walk(&definitions, &iter)) {
        return 0;
    }
    while (r == 0 && ki_value_iter_next(&iter, NULL, &definition) > 0) {
        if (count == CLI_TABLE_COLUMNS) {
            r = cli_fail(error, KI_ERR_LIMIT, "the server's table has more than %d columns",
                         CLI_TABLE_COLUMNS);
        } else {
            columns[count++] = read_column(&definition);
        }
    }
    if (r < 0 || count == 0 || is_same(rows, columns, count)) {
        for (size_t i = 0; i < count; i++) {
            free(columns[i].title);
        }
        return r;
    }
    drop_columns(rows);
    memcpy(rows->columns, columns, count * sizeof(columns[0]));
    rows->column_count = count;
    rows->changes++;
    return 0;
}

/* The object of a row with its cells. Its kind is left to the decoder, which knows the resource:
 * the kind of bare metadata is PartialObjectMetadata. */
static void put_row(cli_rows *rows, const ki_value *row, ki_buf *out)
{
    ki_value cells = member(row, "cells");
    ki_value object = member(row, "object");
    ki_value_iter iter;
    ki_value key;
    ki_value value;
    cli_putf(out, "{\"" CLI_ROW_PLACE "\":%llu,", (unsigned long long)rows->places++);
    cli_put(out, "\"" CLI_ROW_CELLS "\":");
    cli_put_value_json(out, &cells);
    if (ki_value_type(&object) == KI_TYPE_MAP && ki_value_iter_begin(&object, &iter) == 0) {
        while (ki_value_iter_next(&iter, &key, &value) > 0) {
            if (!ki_value_equals(&key, ki_str_from("kind")) &&
                !ki_value_equals(&key, ki_str_from("apiVersion"))) {
                cli_put_char(out, ',');
                cli_put_value_json(out, &key);
                cli_put_char(out, ':');
                cli_put_value_json(out, &value);
            }
        }
    }
    cli_put_char(out, '}');
}

static bool is_table(const ki_value *object)
{
    ki_value kind = member(object, "kind");
    return ki_value_equals(&kind, ki_str_from("Table"));
}

static int parse(ki_str json, ki_object **ret_object, ki_error *error)
{
    ki_object_options options = KI_OPTIONS_INIT(ki_object_options);
    options.max_bytes = BODY_MAX;
    options.max_depth = DEPTH_MAX;
    return ki_object_from_json(json.len != 0 ? json.ptr : "", json.len, &options, ret_object,
                               error);
}

int cli_rows_convert_list(cli_rows *rows, ki_str json, ki_buf *out, ki_error *error)
{
    ki_object *object = NULL;
    int r = parse(json, &object, error);
    if (r < 0) {
        return r;
    }
    ki_value table = ki_object_root(object);
    if (!is_table(&table)) {
        cli_put_str(out, json);
        (void)ki_object_unref(object);
        return 0;
    }
    r = take_columns(rows, &table, error);
    ki_value metadata = member(&table, "metadata");
    ki_value list = member(&table, "rows");
    ki_value row;
    ki_value_iter iter;
    bool first = true;
    cli_put(out, "{\"kind\":\"List\",\"apiVersion\":\"v1\",\"metadata\":");
    cli_put_value_json(out, &metadata);
    cli_put(out, ",\"items\":[");
    bool any = walk(&list, &iter);
    while (any && ki_value_iter_next(&iter, NULL, &row) > 0) {
        cli_put(out, first ? "" : ",");
        put_row(rows, &row, out);
        first = false;
    }
    cli_put(out, "]}");
    (void)ki_object_unref(object);
    return r;
}

static void put_event(cli_rows *rows, const ki_value *type, const ki_value *row,
                      const ki_value *metadata, ki_buf *out)
{
    cli_put(out, "{\"type\":");
    cli_put_value_json(out, type);
    cli_put(out, ",\"object\":");
    if (row != NULL) {
        put_row(rows, row, out);
    } else {
        cli_put(out, "{\"metadata\":");
        cli_put_value_json(out, metadata);
        cli_put_char(out, '}');
    }
    cli_put(out, "}\n");
}

int cli_rows_convert_event(cli_rows *rows, ki_str json, ki_buf *out, ki_error *error)
{
    ki_object *event = NULL;
    int r = parse(json, &event, error);
    if (r < 0) {
        return r;
    }
    ki_value root = ki_object_root(event);
    ki_value type = member(&root, "type");
    ki_value table = member(&root, "object");
    if (!is_table(&table)) {
        cli_put_str(out, json);
        cli_put_char(out, '\n');
        (void)ki_object_unref(event);
        return 0;
    }
    r = take_columns(rows, &table, error);
    ki_value metadata = member(&table, "metadata");
    ki_value list = member(&table, "rows");
    ki_value row;
    ki_value_iter iter;
    bool any = walk(&list, &iter) && ki_value_iter_next(&iter, NULL, &row) > 0;
    if (!any) { /* a bookmark */
        put_event(rows, &type, NULL, &metadata, out);
    }
    for (; any; any = ki_value_iter_next(&iter, NULL, &row) > 0) {
        put_event(rows, &type, &row, NULL, out);
    }
    (void)ki_object_unref(event);
    return r;
}

/* ---- calls ---- */

static void free_call(row_call *call)
{
    ki_buf_done(&call->body);
    ki_buf_done(&call->converted);
    free(call);
}

static void leave(row_call *call)
{
    call->busy = false;
    if (call->closed) {
        free_call(call);
    }
}

/* Reports the end of the call to its owner. */
static void end_call(row_call *call, const ki_error *error)
{
    call->closed = true;
    call->sink.on_end(error, call->sink.user);
}

static void fail_call(row_call *call, const ki_error *error)
{
    const ki_transport *inner = &call->rows->inner;
    inner->cancel(call->inner, inner->user);
    end_call(call, error);
}

static void give(row_call *call)
{
    if (call->converted.len != 0) {
        call->sink.on_body(ki_buf_str(&call->converted), call->sink.user);
        ki_buf_clear(&call->converted);
    }
}

/* Converts complete lines, each of which is an event. */
static int convert_lines(row_call *call, ki_error *error)
{
    size_t done = 0;
    int r = 0;
    while (r == 0) {
        const char *from = call->body.data + done;
        const char *newline = memchr(from, '\n', call->body.len - done);
        if (newline == NULL) {
            break;
        }
        size_t len = (size_t)(newline - from);
        if (len != 0) {
            r = cli_rows_convert_event(call->rows, ki_str_make(from, len), &call->converted, error);
        }
        done += len + 1;
    }
    memmove(call->body.data, call->body.data + done, call->body.len - done);
    call->body.len -= done;
    return r;
}

static void on_response(int status, const ki_http_header *headers, size_t header_count, void *user)
{
    row_call *call = user;
    call->busy = true;
    call->passes = status < 200 || status > 299;
    call->sink.on_response(status, headers, header_count, call->sink.user);
    leave(call);
}

static void on_body(ki_str bytes, void *user)
{
    row_call *call = user;
    ki_error error = KI_ERROR_INIT;
    call->busy = true;
    if (call->passes) {
        call->sink.on_body(bytes, call->sink.user);
        leave(call);
        return;
    }
    int r = ki_buf_add_str(&call->body, bytes);
    if (r < 0) {
        (void)cli_fail(&error, r, "the server's response is larger than %d bytes", BODY_MAX);
    } else if (call->stream && call->body.len != 0) {
        r = convert_lines(call, &error);
        give(call);
    }
    if (r < 0 && !call->closed) {
        fail_call(call, &error);
    }
    leave(call);
}

static void on_end(const ki_error *error, void *user)
{
    row_call *call = user;
    ki_error wrong = KI_ERROR_INIT;
    call->busy = true;
    if (error == NULL && !call->passes && !call->stream) {
        ki_str json = ki_buf_str(&call->body);
        if (cli_rows_convert_list(call->rows, json, &call->converted, &wrong) < 0) {
            error = &wrong;
        } else {
            give(call);
        }
    }
    if (!call->closed) {
        end_call(call, error);
    }
    leave(call);
}

/* ---- the transport ---- */

static int start(const ki_http_request *request, const ki_http_sink *sink, void *user,
                 void **ret_call, ki_error *error)
{
    cli_rows *rows = user;
    ki_http_header headers[HEADERS_MAX] = {
        {.name = ki_str_from("Accept"), .value = ki_str_from(ACCEPT)}};
    size_t count = 1;
    for (size_t i = 0; i < request->header_count && count < HEADERS_MAX; i++) {
        if (!ki_str_eq_text(request->headers[i].name, "Accept")) {
            headers[count++] = request->headers[i];
        }
    }
    row_call *call = calloc(1, sizeof(*call));
    if (call == NULL) {
        cli_fail_memory();
    }
    *call = (row_call){.rows = rows, .sink = *sink, .stream = request->stream};
    ki_buf_init(&call->body, NULL, BODY_MAX);
    cli_text_init(&call->converted);
    ki_buf query;
    cli_text_init(&query);
    cli_put(&query, request->query);
    if (rows->whole) {
        cli_put(&query, query.len != 0 ? "&includeObject=Object" : "includeObject=Object");
    }
    ki_http_request mine = *request;
    mine.query = ki_buf_text(&query);
    mine.headers = headers;
    mine.header_count = count;
    ki_http_sink ours = {sizeof(ours), on_response, on_body, on_end, call};
    int r = rows->inner.start(&mine, &ours, rows->inner.user, &call->inner, error);
    ki_buf_done(&query);
    if (r < 0) {
        free_call(call);
        return r;
    }
    *ret_call = call;
    return 0;
}

static void cancel(void *opaque, void *user)
{
    const cli_rows *rows = user;
    row_call *call = opaque;
    if (call->closed) {
        return;
    }
    call->closed = true;
    rows->inner.cancel(call->inner, rows->inner.user);
    if (!call->busy) {
        free_call(call);
    }
}

static void hold(void *opaque, bool paused, void *user)
{
    const cli_rows *rows = user;
    const row_call *call = opaque;
    if (rows->inner.pause != NULL) {
        rows->inner.pause(call->inner, paused, rows->inner.user);
    }
}

static void take_ref(void *user)
{
    const cli_rows *rows = user;
    if (rows->inner.ref != NULL) {
        rows->inner.ref(rows->inner.user);
    }
}

static void drop_ref(void *user)
{
    const cli_rows *rows = user;
    if (rows->inner.unref != NULL) {
        rows->inner.unref(rows->inner.user);
    }
}

int cli_rows_source(cli_rows *rows, ki_client *client, const ki_resource *resource,
                    const char *name_space, bool whole, ki_source *ret_source, ki_error *error)
{
    *rows = (cli_rows){.inner = *ki_client_transport(client), .whole = whole};
    const ki_transport transport = {.start = start,
                                    .cancel = cancel,
                                    .pause = hold,
                                    .ref = take_ref,
                                    .unref = drop_ref,
                                    .url = rows->inner.url,
                                    .user = rows};
    ki_source_http_options options = KI_OPTIONS_INIT(ki_source_http_options);
    options.engine = ki_client_engine(client);
    options.transport = &transport;
    options.resource = resource;
    options.name_space = ki_resource_is_namespaced(resource) ? name_space : "";
    options.json_only = true;
    return ki_source_http_new(&options, ret_source, error);
}
