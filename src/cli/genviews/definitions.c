/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/genviews/definitions.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <kinformer/builtin_resources.h>
#include <kinformer/call.h>
#include <kinformer/yaml.h>

#include "cli/report_failure.h"
#include "cli/session.h"
#include "cli/text.h"

enum { PIECE = 65536 };

/* ---- text ---- */

static int parse_object(ki_str json, ki_object **ret_object, ki_error *error)
{
    return ki_object_from_json(
        json.ptr, json.len, KI_OPTIONS(ki_object_options, .max_bytes = CLI_DEFINITIONS_BYTES_MAX),
        ret_object, error);
}

static bool is_definition(const ki_object *object)
{
    return strcmp(ki_object_kind(object), "CustomResourceDefinition") == 0;
}

static int add_json(cli_view_model *model, ki_str json, const char *from, size_t *count,
                    ki_error *error);

/* The items of a List: each is complete. */
static int add_items(cli_view_model *model, const ki_value *items, const char *from, size_t *count,
                     ki_error *error)
{
    ki_value_iter iter;
    ki_value item;
    int r = ki_value_iter_begin(items, &iter);
    while (r == 0 && ki_value_iter_next(&iter, NULL, &item) > 0) {
        ki_value kind = cli_view_member(&item, "kind");
        ki_object *object;
        ki_buf json;
        if (!ki_value_equals_text(&kind, "CustomResourceDefinition")) {
            continue;
        }
        cli_text_init(&json);
        r = ki_value_write_json(&item, &json);
        r = r == 0 ? parse_object(ki_buf_str(&json), &object, error) : r;
        if (r == 0) {
            r = cli_view_model_add(model, object, from, error);
            *count += 1;
            (void)ki_object_unref(object);
        }
        ki_buf_done(&json);
    }
    return r;
}

static int add_json(cli_view_model *model, ki_str json, const char *from, size_t *count,
                    ki_error *error)
{
    ki_object *object;
    int r = parse_object(json, &object, error);
    if (r < 0) {
        return r;
    }
    ki_value items = ki_object_at(object, "items");
    if (is_definition(object)) {
        *count += 1;
        r = cli_view_model_add(model, object, from, error);
    } else if (strcmp(ki_object_kind(object), "List") == 0 &&
               ki_value_type(&items) == KI_TYPE_LIST) {
        r = add_items(model, &items, from, count, error);
    }
    (void)ki_object_unref(object);
    return r;
}

/* Whether a text is one object in JSON, which need not be YAML. */
static bool is_json(ki_str text)
{
    ki_object *object = NULL;
    ki_error ignored = KI_ERROR_INIT;
    if (parse_object(text, &object, &ignored) < 0) {
        return false;
    }
    (void)ki_object_unref(object);
    return true;
}

static int add_documents(cli_view_model *model, ki_str text, const char *from, size_t *count,
                         ki_error *error)
{
    ki_buf json;
    size_t offset = 0;
    int r;
    if (is_json(text)) {
        return add_json(model, text, from, count, error);
    }
    ki_buf_init(&json, NULL, CLI_DEFINITIONS_BYTES_MAX);
    while ((r = ki_yaml_to_json(text, &offset, &json, error)) > 0) {
        r = add_json(model, ki_buf_str(&json), from, count, error);
        if (r < 0) {
            break;
        }
        ki_buf_clear(&json);
    }
    ki_buf_done(&json);
    return r;
}

int cli_definitions_parse(cli_view_model *model, ki_str text, const char *from, ki_error *error)
{
    size_t count = 0;
    int r = add_documents(model, text, from, &count, error);
    if (r < 0 && count == 0) { /* errors of definitions have a place already */
        ki_error why = *error;
        return why.line != 0 ? cli_fail(error, r, "%.100s:%u:%u: %.140s", from, why.line,
                                        why.column, cli_error_text(&why))
                             : cli_fail(error, r, "%.100s: %.140s", from, cli_error_text(&why));
    }
    return r == 0 && count == 0
               ? cli_fail(error, KI_ERR_NOT_FOUND, "%s: no CustomResourceDefinition", from)
               : r;
}

/* ---- files ---- */

/* Reads to the end of the file; 0 or a negative code. */
static int read_all(int fd, ki_buf *out)
{
    for (;;) {
        char *room;
        int r = ki_buf_reserve(out, PIECE, &room);
        if (r < 0) {
            return r;
        }
        ssize_t n = read(fd, room, PIECE);
        if (n < 0 && errno != EINTR) {
            return -errno;
        }
        if (n == 0) {
            return 0;
        }
        ki_buf_commit(out, n > 0 ? (size_t)n : 0);
    }
}

int cli_definitions_read(cli_view_model *model, const char *path, ki_error *error)
{
    ki_buf text;
    bool input = strcmp(path, "-") == 0;
    int fd = input ? STDIN_FILENO : open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0) {
        return cli_fail(error, -errno, "%s: %s", path, strerror(errno));
    }
    ki_buf_init(&text, NULL, CLI_DEFINITIONS_BYTES_MAX);
    int r = read_all(fd, &text);
    if (r < 0) {
        (void)cli_fail(error, r, "%s: %s", path,
                       r == KI_ERR_LIMIT ? "file too large" : strerror(-r));
    } else {
        r = cli_definitions_parse(model, ki_buf_str(&text), input ? "(standard input)" : path,
                                  error);
    }
    if (!input) {
        (void)close(fd);
    }
    ki_buf_done(&text);
    return r;
}

/* ---- a cluster ---- */

typedef struct fetch {
    cli_session *session;
    ki_object *object;
    ki_error error;
    bool is_done;
} fetch;

static void received(ki_call *call, const ki_response *answer, const ki_error *error, void *user)
{
    fetch *f = user;
    (void)call;
    if (error != NULL) {
        f->error = *error;
    } else {
        f->object = ki_object_ref(answer->object);
    }
    f->is_done = true;
    cli_loop_stop(&f->session->events);
}

static int get(cli_session *session, const char *name, ki_object **ret_object, ki_error *error)
{
    fetch f = {.session = session, .error = KI_ERROR_INIT};
    ki_request request = KI_OPTIONS_INIT(ki_request);
    ki_call *call = NULL;
    request.verb = KI_VERB_GET;
    request.resource = KI_APIEXTENSIONS_V1_CUSTOMRESOURCEDEFINITIONS;
    request.name = name;
    int r = ki_client_call(session->client, &request, received, &f, &call, error);
    if (r < 0) {
        return r;
    }
    r = cli_loop_run(&session->events, session->flags->request_timeout_ms);
    if (!f.is_done) {
        ki_call_cancel(call);
        r = r == -ETIMEDOUT ? cli_fail(error, r, "timeout: no response for %s", name)
                            : cli_fail(error, -EINTR, "interrupted by a signal");
    } else if (f.object == NULL) {
        *error = f.error;
        r = error->code;
    } else {
        *ret_object = f.object;
        r = 0;
    }
    (void)ki_call_unref(call);
    return r;
}

/* Once more as JSON, whatever the server sent. */
static int add_fetched(cli_view_model *model, const ki_object *object, const char *from,
                       ki_error *error)
{
    ki_buf json;
    ki_buf_init(&json, NULL, CLI_DEFINITIONS_BYTES_MAX);
    int r = ki_object_write_json(object, &json);
    r = r == 0 ? cli_definitions_parse(model, ki_buf_str(&json), from, error)
               : cli_fail(error, r, "%s: too large", from);
    ki_buf_done(&json);
    return r;
}

int cli_definitions_fetch(cli_view_model *model, const cli_flags *flags, const cli_words *names)
{
    ki_error error = KI_ERROR_INIT;
    cli_session *session = calloc(1, sizeof(*session));
    if (session == NULL) {
        cli_fail_memory();
    }
    int code = cli_session_open(session, flags, NULL, 0);
    for (size_t i = 0; code == CLI_OK && session->discovery != NULL && i < names->count; i++) {
        ki_object *object = NULL;
        int r = get(session, names->items[i], &object, &error);
        if (r < 0) {
            cli_report_error(&error);
            code = cli_exit_code(&error);
        } else if (add_fetched(model, object, "cluster", &error) < 0) {
            cli_report_error(&error);
            code = CLI_FAILED;
        }
        (void)ki_object_unref(object);
    }
    cli_session_close(session);
    free(session);
    return code;
}
