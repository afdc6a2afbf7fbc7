/* SPDX-License-Identifier: Apache-2.0 */
/* Decodes responses. Objects are buffered until complete, lists are decoded incrementally, and a
 * failed response is buffered only as far as needed for its Status. */
#include "rest/request_response.h"

#include <errno.h>

#include <kinformer/status.h>

#include "base/alloc.h"
#include "base/error.h"
#include "base/options.h"
#include "object/object_list.h"

enum {
    OBJECT_MAX_BYTES = 16 << 20,
    RAW_MAX_BYTES = 64 << 20,
    TYPE_MAX_BYTES = 64 << 10,
    OBJECTS_MAX = 5000000
};

struct ki_response_memory {
    const ki_alloc *alloc;
    ki_buf resource_version;
    ki_buf continue_token;
    ki_buf body;
    ki_buf content_type;
};

/* ---- responses ---- */

void ki_response_done(ki_response *response)
{
    if (response == NULL) {
        return;
    }
    struct ki_response_memory *memory = response->memory;
    (void)ki_object_unref(response->object);
    (void)ki_list_unref(response->list);
    if (memory != NULL) {
        ki_buf_done(&memory->resource_version);
        ki_buf_done(&memory->continue_token);
        ki_buf_done(&memory->body);
        ki_buf_done(&memory->content_type);
        ki__free(memory->alloc, memory);
    }
    (void)KI__GIVE(ki_response, response, &(ki_response){0});
}

static int make_memory(ki_response *response, const ki_alloc *alloc)
{
    struct ki_response_memory *memory = ki__alloc(alloc, sizeof(*memory));
    if (memory == NULL) {
        return -ENOMEM;
    }
    memory->alloc = alloc;
    ki_buf_init(&memory->resource_version, alloc, SIZE_MAX);
    ki_buf_init(&memory->continue_token, alloc, SIZE_MAX);
    ki_buf_init(&memory->body, alloc, RAW_MAX_BYTES);
    ki_buf_init(&memory->content_type, alloc, TYPE_MAX_BYTES);
    response->memory = memory;
    return 0;
}

/* ---- the reader ---- */

void ki__reader_init(ki__reader *reader, const ki_alloc *alloc, const ki__built *built,
                     void (*on_unread)(const char *key, const ki_error *error, void *user),
                     void *user)
{
    *reader = (ki__reader){.alloc = alloc, .built = built, .on_unread = on_unread, .user = user};
    ki_buf_init(&reader->content_type, alloc, TYPE_MAX_BYTES);
    ki_buf_init(&reader->bytes, alloc, 0);
    ki__collect_init(&reader->found, alloc, (ki__hash_key){0}, OBJECTS_MAX);
}

void ki__reader_done(ki__reader *reader)
{
    if (reader->state == KI__READER_LIST) {
        ki__list_decoder_done(&reader->list);
    }
    ki__collect_clear(&reader->found);
    ki_buf_done(&reader->bytes);
    ki_buf_done(&reader->content_type);
    reader->state = KI__READER_NOTHING;
}

static void begin_bytes(ki__reader *reader, ki__reader_state state, size_t max)
{
    reader->state = state;
    ki_buf_init(&reader->bytes, reader->alloc, max);
}

static void begin_list(ki__reader *reader)
{
    const ki_resource *resource = reader->built->resource;
    const ki__wire_options options = {
        .encoding = reader->head.encoding,
        .alloc = reader->alloc,
        .default_kind = ki_resource_kind(resource),
        .default_api_version = ki_resource_api_version(resource),
    };
    reader->state = KI__READER_LIST;
    ki__list_decoder_init(&reader->list, &options);
}

int ki__reader_head(ki__reader *reader, int status, const ki_http_header *headers,
                    size_t header_count, ki_error *error)
{
    ki_error other = KI_ERROR_INIT;
    int encoding = ki__http_read_head(status, headers, header_count, &reader->head, &other);
    ki_str type = ki_http_header_find(headers, header_count, "content-type");
    int r = ki_buf_add_str(&reader->content_type, type);
    if (r < 0) {
        return ki__error_code(error, r);
    }
    ki__expect expect = reader->built->expect;
    if (!ki__http_is_success(&reader->head)) {
        begin_bytes(reader, KI__READER_FAILURE, KI__HTTP_FAILURE_MAX);
    } else if (expect == KI__EXPECT_BYTES) {
        begin_bytes(reader, KI__READER_BYTES, RAW_MAX_BYTES);
    } else if (encoding < 0) {
        if (error != NULL) {
            ki__error_copy(error, &other);
        }
        return encoding;
    } else if (expect == KI__EXPECT_LIST || expect == KI__EXPECT_LIST_OR_STATUS) {
        begin_list(reader);
    } else {
        begin_bytes(reader, KI__READER_BYTES, OBJECT_MAX_BYTES);
    }
    return 0;
}

/* ---- the body ---- */

static int take_item(ki__reader *reader, ki__wire_item *item, ki_error *error)
{
    if (item->object == NULL) {
        reader->unread++;
        if (reader->on_unread != NULL) {
            reader->on_unread(item->key, &item->error, reader->user);
        }
        return 0;
    }
    int r = ki__collect_append(&reader->found, item->object);
    item->object = ki_object_unref(item->object);
    return r < 0 ? ki__error_set(error, r, "cannot store the objects of the list: %s",
                                 ki_error_text(r))
                 : 0;
}

/* A successful Status replaces the list if that was not requested. */
static bool is_enough(const ki__reader *reader)
{
    const ki_object *status = ki__list_decoder_status(&reader->list);
    return reader->built->expect == KI__EXPECT_LIST_OR_STATUS && status != NULL &&
           ki_status_to_error(status, NULL) == 0;
}

static int decode(ki__reader *reader, ki_str bytes, ki_error *error)
{
    int r = 1;
    while (r > 0) {
        ki__wire_item item;
        size_t taken = 0;
        r = ki__list_decoder_feed(&reader->list, bytes.ptr, bytes.len, &taken, &item, error);
        bytes = ki_str_make(bytes.ptr + taken, bytes.len - taken);
        if (r > 0 && take_item(reader, &item, error) < 0) {
            return error->code;
        }
    }
    return r < 0 && is_enough(reader) ? 1 : r;
}

/* Does not wait for a longer body: the status code is sufficient, and the body may be endless. */
static int keep_failure(ki__reader *reader, ki_str bytes)
{
    ki_buf *kept = &reader->bytes;
    size_t room = kept->max - kept->len;
    int r = ki_buf_add(kept, bytes.ptr, bytes.len < room ? bytes.len : room);
    return r < 0 || kept->len == kept->max ? 1 : 0;
}

int ki__reader_body(ki__reader *reader, ki_str bytes, ki_error *error)
{
    ki_error own = KI_ERROR_INIT;
    int r = 0;
    switch (reader->state) {
    case KI__READER_NOTHING:
        break;
    case KI__READER_FAILURE:
        r = keep_failure(reader, bytes);
        break;
    case KI__READER_LIST:
        ki__http_look(&reader->head, bytes);
        r = decode(reader, bytes, &own);
        if (r < 0) {
            ki__http_explain(&reader->head, &own);
        }
        break;
    case KI__READER_BYTES:
        r = ki_buf_add_str(&reader->bytes, bytes);
        if (r < 0) {
            (void)ki__error_set(&own, r, "response larger than %zu bytes, or out of memory: %s",
                                reader->bytes.max, ki_error_text(r));
        }
        break;
    }
    if (r < 0 && error != NULL) {
        ki__error_copy(error, &own);
    }
    return r;
}

/* ---- the end ---- */

static int give_bytes(ki__reader *reader, ki_response *response, ki_error *error)
{
    int r = make_memory(response, reader->alloc);
    if (r < 0) {
        return ki__error_code(error, r);
    }
    response->memory->body = reader->bytes;
    response->memory->content_type = reader->content_type;
    ki_buf_init(&reader->bytes, reader->alloc, 0);
    ki_buf_init(&reader->content_type, reader->alloc, 0);
    response->body = ki_buf_str(&response->memory->body);
    response->content_type = ki_buf_str(&response->memory->content_type);
    return 0;
}

static int give_object(ki__reader *reader, ki_response *response, ki_error *error)
{
    const ki__built *built = reader->built;
    ki_str bytes = ki_buf_str(&reader->bytes);
    if (bytes.len == 0) {
        return built->expect == KI__EXPECT_OBJECT_OR_NOTHING
                   ? 0
                   : ki__error_set(error, KI_ERR_TRUNCATED, "the response has no object");
    }
    ki_object_options options = KI_OPTIONS_INIT(ki_object_options);
    options.alloc = reader->alloc;
    options.default_kind = built->whole ? ki_resource_kind(built->resource) : NULL;
    options.default_api_version = built->whole ? ki_resource_api_version(built->resource) : NULL;
    int r = reader->head.encoding == KI_ENCODING_JSON
                ? ki_object_from_json(bytes.ptr, bytes.len, &options, &response->object, error)
                : ki_object_from_protobuf(bytes.ptr, bytes.len, &options, &response->object, error);
    if (r < 0) {
        ki__http_explain_body(bytes, error);
    }
    if (r == 0 && ki_object_is_status(response->object)) {
        r = ki_status_to_error(response->object, error);
    }
    return r;
}

static int give_list(ki__reader *reader, ki_response *response, ki_error *error)
{
    int r = ki__list_decoder_finish(&reader->list, error);
    if (r < 0) {
        response->object = ki_object_ref(ki__list_decoder_status(&reader->list));
        return is_enough(reader) ? 0 : r;
    }
    ki__list_info info = ki__list_decoder_info(&reader->list);
    r = make_memory(response, reader->alloc);
    if (r == 0) {
        r = ki_buf_add_text(&response->memory->resource_version, info.resource_version);
    }
    if (r == 0) {
        r = ki_buf_add_text(&response->memory->continue_token, info.continue_token);
    }
    if (r == 0) {
        r = ki__list_of(reader->alloc, reader->found.objects, reader->found.count, &response->list);
    }
    if (r < 0) {
        return ki__error_code(error, r);
    }
    response->resource_version = ki_buf_text(&response->memory->resource_version);
    response->continue_token = ki_buf_text(&response->memory->continue_token);
    response->remaining = info.remaining_item_count;
    response->unread = reader->unread;
    return 0;
}

static int give_failure(ki__reader *reader, ki_response *response, ki_error *error)
{
    const ki__built *built = reader->built;
    const char *resource =
        built->resource != NULL ? ki_resource_name(built->resource) : ki_buf_text(&built->path);
    response->object =
        ki__http_failure(&reader->head, ki_buf_str(&reader->bytes), ki_buf_text(&built->method),
                         resource, ki_buf_text(&built->name), reader->alloc, error);
    if (built->expect == KI__EXPECT_BYTES) {
        int r = give_bytes(reader, response, NULL);
        (void)r; /* the failure is more important than running out of memory for its text */
    }
    return error->code;
}

int ki__reader_finish(ki__reader *reader, ki_response *ret_response, ki_error *error)
{
    ki_response response = {
        .size = sizeof(response), .http_code = reader->head.status, .remaining = -1};
    ki_error own = KI_ERROR_INIT;
    int r = 0;
    response.resource_version = "";
    response.continue_token = "";
    switch (reader->state) {
    case KI__READER_NOTHING:
        r = ki__error_set(&own, -EPIPE, "connection closed without a response");
        break;
    case KI__READER_BYTES:
        r = reader->built->expect == KI__EXPECT_BYTES ? give_bytes(reader, &response, &own)
                                                      : give_object(reader, &response, &own);
        break;
    case KI__READER_LIST:
        r = give_list(reader, &response, &own);
        break;
    case KI__READER_FAILURE:
        r = give_failure(reader, &response, &own);
        break;
    }
    if (r < 0 && error != NULL) {
        own.http_code = own.http_code != 0 ? own.http_code : reader->head.status;
        ki__error_copy(error, &own);
    }
    *ret_response = response;
    return r < 0 ? r : 0;
}
