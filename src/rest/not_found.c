/* SPDX-License-Identifier: Apache-2.0 */
/* Explains why a list or watch got a 404. The server's message does not say whether the group, the
 * version, or the resource is not served; the APIGroup document at /apis/GROUP does. It is fetched
 * before the call ends, and the error message then names the available versions. If the document is
 * undecodable, the error is unchanged.
 *
 * The result is cached for a while, so that a missing resource costs one request per attempt, not
 * two. */
#include <string.h>

#include <kinformer/status.h>

#include "base/error.h"
#include "base/time_units.h"
#include "object/value.h"
#include "rest/http_source.h"

#define KEPT_NS (300 * KI__SECOND_NS)
enum { PATIENCE_MS = 10000 }; /* idle timeout */
enum { GROUP_PATH_MAX = 512, VERSIONS_SHOWN = 8, VERSION_SIZE = 64 };

/* ---- messages ---- */

static const char *does_not_serve(const ki__http_source *source)
{
    return source->served ? "the server no longer serves " : "the server does not serve ";
}

static void report_no_group(ki__http_source *source)
{
    ki_error *why = &source->missing;
    (void)ki__error_set(why, KI_ERR_STATUS, "%sthe API group ", does_not_serve(source));
    ki__error_add(why, ki_str_from(ki_resource_group(source->resource)));
}

static void report_no_resource(ki__http_source *source)
{
    ki_error *why = &source->missing;
    (void)ki__error_set(why, KI_ERR_STATUS, "%s", does_not_serve(source));
    ki__error_add(why, ki_str_from(ki_resource_name(source->resource)));
    ki__error_add(why, ki_str_from(" in "));
    ki__error_add(why, ki_str_from(ki_resource_api_version(source->resource)));
}

/* Starts with "available", continues with each version. */
static void add_version(ki__http_source *source, const char *version, size_t index)
{
    ki_error *why = &source->missing;
    if (index == 0) {
        (void)ki__error_set(why, KI_ERR_STATUS, "%s", does_not_serve(source));
        ki__error_add(why, ki_str_from(ki_resource_api_version(source->resource)));
    }
    ki__error_add(why, ki_str_from(index == 0 ? "; available: " : ", "));
    ki__error_add(why, ki_str_from(version));
}

/* ---- the APIGroup document ---- */

static void read_versions(ki__http_source *source, const ki_object *group)
{
    ki_value root = ki_object_root(group);
    ki_value versions = ki__value_child(&root, "versions");
    const char *ours = ki_resource_version(source->resource);
    ki_value_iter iter;
    ki_value entry;
    size_t count = 0;
    if (ki_value_type(&versions) != KI_TYPE_LIST || ki_value_iter_begin(&versions, &iter) < 0) {
        return;
    }
    while (ki_value_iter_next(&iter, NULL, &entry) > 0 && count < VERSIONS_SHOWN) {
        char version[VERSION_SIZE];
        ki_value name = ki__value_child(&entry, "version");
        if (ki_value_get_string(&name, version, sizeof(version)) <= 0) {
            continue;
        }
        if (strcmp(version, ours) == 0) {
            report_no_resource(source);
            return;
        }
        add_version(source, version, count++);
    }
}

static void read_group(ki__http_source *source, const ki__http_head *head, ki_str body)
{
    ki_object_options options = KI_OPTIONS_INIT(ki_object_options);
    options.alloc = source->alloc;
    ki_object *group = NULL;
    if (head->status == 404) {
        report_no_group(source);
    } else if (ki__http_is_success(head) && head->encoding == KI_ENCODING_JSON &&
               ki_object_from_json(body.ptr, body.len, &options, &group, NULL) == 0) {
        if (strcmp(ki_object_kind(group), "APIGroup") == 0) {
            read_versions(source, group);
        }
        (void)ki_object_unref(group);
    }
}

/* ---- the request ---- */

static int request_groups(ki__http_call *call)
{
    const ki__http_source *source = call->source;
    const ki_transport *transport = &source->transport;
    const ki_http_header header = {.name = ki_str_from("Accept"),
                                   .value = ki_str_from("application/json")};
    ki_error ignored = KI_ERROR_INIT;
    ki_buf path;
    ki_buf_init(&path, source->alloc, GROUP_PATH_MAX);
    int r = ki_buf_add_text(&path, "/apis/");
    if (r == 0) {
        r = ki_buf_add_text(&path, ki_resource_group(source->resource));
    }
    if (r == 0) {
        const ki_http_request request = {
            .size = sizeof(request),
            .method = "GET",
            .path = ki_buf_text(&path),
            .query = "",
            .headers = &header,
            .header_count = 1,
            .idle_timeout_ms = PATIENCE_MS,
        };
        ki_http_sink sink = ki__http_response_sink;
        sink.user = call;
        r = transport->start(&request, &sink, transport->user, &call->exchange, &ignored);
    }
    ki_buf_done(&path);
    return r;
}

/* Ends the call with its error, explained if possible. */
static void conclude(ki__http_call *call)
{
    ki_error error = KI_ERROR_INIT;
    ki__error_copy(&error, &call->not_found);
    ki_object *status = call->not_found_status;
    const ki_error *why = &call->source->missing;
    call->not_found_status = NULL;
    if (why->code != 0) {
        memcpy(error.message, why->message, sizeof(error.message));
    }
    ki__http_end(call, NULL, &error, status);
    (void)ki_object_unref(status);
}

void ki__http_end_not_found(ki__http_call *call, const ki_error *error, const ki_object *status)
{
    ki__http_source *source = call->source;
    uint64_t now = ki__engine_now(source->engine);
    ki__error_copy(&call->not_found, error);
    call->not_found_status = ki_object_ref(status);
    bool known = now < source->missing_until;
    if (known || ki_resource_group(source->resource)[0] == '\0') {
        conclude(call);
        return;
    }
    ki__error_clear(&source->missing);
    ki__http_drop_body(call);
    call->exchange = NULL;
    call->body = KI__HTTP_GROUP;
    ki_buf_init(&call->failure, source->alloc, KI__HTTP_FAILURE_MAX);
    if (request_groups(call) < 0) {
        call->exchange = NULL;
        conclude(call);
    }
}

void ki__http_group_ended(ki__http_call *call, const ki_error *error)
{
    ki__http_source *source = call->source;
    if (error == NULL) {
        read_group(source, &call->head, ki_buf_str(&call->failure));
        source->missing_until = ki__engine_now(source->engine) + KEPT_NS;
    }
    conclude(call);
}
