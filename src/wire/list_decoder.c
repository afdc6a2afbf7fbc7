/* SPDX-License-Identifier: Apache-2.0 */
/* The encoding-independent part of the list decoder. */
#include "wire/list_decoder.h"

#include <errno.h>

#include <kinformer/status.h>

#include "base/error.h"
#include "wire/list_parts.h"

void ki__list_decoder_init(ki__list_decoder *decoder, const ki__wire_options *options)
{
    *decoder = (ki__list_decoder){.remaining_item_count = -1};
    ki__intake_init(&decoder->intake, options);
    const ki_alloc *alloc = decoder->intake.options.alloc;
    for (size_t i = 0; i < KI__LIST_TEXT_MAX; i++) {
        ki_buf_init(&decoder->text[i], alloc, KI__LIST_METADATA_BYTES_MAX);
    }
    ki_buf_init(&decoder->scratch, alloc, SIZE_MAX);
    if (options->encoding == KI_ENCODING_JSON) {
        ki__list_json_init(decoder);
    } else {
        ki__list_proto_init(decoder);
    }
}

void ki__list_decoder_done(ki__list_decoder *decoder)
{
    ki__intake_done(&decoder->intake);
    for (size_t i = 0; i < KI__LIST_TEXT_MAX; i++) {
        ki_buf_done(&decoder->text[i]);
    }
    ki_buf_done(&decoder->scratch);
    decoder->status = ki_object_unref(decoder->status);
}

static int give_failure(const ki__list_decoder *decoder, ki_error *error)
{
    if (error != NULL) {
        ki__error_copy(error, &decoder->failure);
    }
    return decoder->failure.code;
}

int ki__list_decoder_feed(ki__list_decoder *decoder, const char *bytes, size_t len,
                          size_t *ret_taken, ki__wire_item *ret_item, ki_error *error)
{
    *ret_taken = 0;
    if (decoder->failure.code != 0) {
        return give_failure(decoder, error);
    }
    ki_error failure;
    ki__error_init(&failure);
    bytes = bytes != NULL ? bytes : "";
    int r = decoder->intake.encoding == KI_ENCODING_JSON
                ? ki__list_json_feed(decoder, bytes, len, ret_taken, ret_item, &failure)
                : ki__list_proto_feed(decoder, bytes, len, ret_taken, ret_item, &failure);
    if (r < 0) {
        decoder->failure = failure;
        return give_failure(decoder, error);
    }
    return r;
}

int ki__list_decoder_finish(ki__list_decoder *decoder, ki_error *error)
{
    if (decoder->failure.code != 0) {
        return give_failure(decoder, error);
    }
    ki_error failure;
    ki__error_init(&failure);
    int r = decoder->intake.encoding == KI_ENCODING_JSON ? ki__list_json_finish(decoder, &failure)
                                                         : ki__list_proto_finish(decoder, &failure);
    if (r < 0) {
        decoder->failure = failure;
        return give_failure(decoder, error);
    }
    return 0;
}

ki__list_info ki__list_decoder_info(const ki__list_decoder *decoder)
{
    return (ki__list_info){
        .kind = ki__list_get_text(decoder, KI__LIST_KIND),
        .api_version = ki__list_get_text(decoder, KI__LIST_API_VERSION),
        .resource_version = ki__list_get_text(decoder, KI__LIST_RESOURCE_VERSION),
        .continue_token = ki__list_get_text(decoder, KI__LIST_CONTINUE),
        .remaining_item_count = decoder->remaining_item_count,
    };
}

const ki_object *ki__list_decoder_status(const ki__list_decoder *decoder)
{
    return decoder->status;
}

/* ---- for the JSON and protobuf parts ---- */

static size_t text_max(ki__list_text which)
{
    return which == KI__LIST_CONTINUE ? KI__LIST_METADATA_BYTES_MAX : KI__LIST_TEXT_BYTES_MAX;
}

int ki__list_set_text(ki__list_decoder *decoder, ki__list_text which, ki_str text, ki_error *error)
{
    ki_buf *buf = &decoder->text[which];
    if (text.len > text_max(which)) {
        return ki__error_set(error, KI_ERR_LIMIT, "list: metadata string too long: %zu bytes",
                             text.len);
    }
    if (text.len != 0 && memchr(text.ptr, '\0', text.len) != NULL) {
        return ki__error_set(error, KI_ERR_INVALID, "list: metadata string contains NUL");
    }
    ki_buf_clear(buf);
    int r = ki_buf_add_str(buf, text);
    return r < 0 ? ki__error_code(error, r) : 0;
}

/* Length of the kind without the suffix "List"; 0 if it has none. */
static size_t item_kind_len(const ki__list_decoder *decoder)
{
    const ki_buf *kind = &decoder->text[KI__LIST_KIND];
    bool list = kind->len > 4 && memcmp(kind->data + kind->len - 4, "List", 4) == 0;
    return list ? kind->len - 4 : 0;
}

bool ki__list_kind_is_list(const ki__list_decoder *decoder)
{
    return item_kind_len(decoder) != 0 ||
           ki_str_eq_text(ki_buf_str(&decoder->text[KI__LIST_KIND]), "List");
}

bool ki__list_is_status(const ki__list_decoder *decoder)
{
    const char *api_version = ki__list_get_text(decoder, KI__LIST_API_VERSION);
    return strcmp(ki__list_get_text(decoder, KI__LIST_KIND), "Status") == 0 &&
           (strcmp(api_version, "v1") == 0 || strcmp(api_version, "meta.k8s.io/v1") == 0);
}

int ki__list_identify(ki__list_decoder *decoder, ki_error *error)
{
    const char *kind = ki__list_get_text(decoder, KI__LIST_KIND);
    const char *api_version = ki__list_get_text(decoder, KI__LIST_API_VERSION);
    if (ki__wire_is_table(api_version, kind)) {
        return ki__wire_refuse_table(error);
    }
    size_t len = item_kind_len(decoder);
    if (len == 0) {
        return 0; /* items have their own kind, or the options do */
    }
    int r = ki__list_set_text(decoder, KI__LIST_ITEM_KIND, ki_str_make(kind, len), error);
    if (r < 0) {
        return r;
    }
    const char *item_kind = ki__list_get_text(decoder, KI__LIST_ITEM_KIND);
    if (ki__intake_is_unexpected(&decoder->intake, api_version, item_kind)) {
        (void)ki__error_set(error, KI_ERR_TYPE, "unexpected kind of list: ");
        ki__wire_error_add_kind(error, api_version, kind);
        return KI_ERR_TYPE;
    }
    decoder->intake.options.default_kind = item_kind;
    if (api_version[0] != '\0') {
        decoder->intake.options.default_api_version = api_version;
    }
    return 0;
}

int ki__list_refuse(const ki__list_decoder *decoder, ki_error *error)
{
    const char *kind = ki__list_get_text(decoder, KI__LIST_KIND);
    if (kind[0] == '\0') {
        return ki__error_set(error, KI_ERR_INVALID, "the response is not a list: kind is missing");
    }
    (void)ki__error_set(error, KI_ERR_INVALID, "the response is not a list but a ");
    ki__wire_error_add_kind(error, ki__list_get_text(decoder, KI__LIST_API_VERSION), kind);
    return KI_ERR_INVALID;
}

/* Decodes one complete item: sets *ret_object, or records its key and the reason. */
static int read_item(ki__intake *intake, ki_str bytes, ki_object **ret_object, ki_error *ret_why,
                     ki_error *error)
{
    ki_object *object = NULL;
    int r = ki__intake_read(intake, bytes, false, &object, ret_why, error);
    if (r < 0) {
        return r;
    }
    if (ret_why->code != 0) {
        r = ki__intake_note_bytes(intake, bytes);
    } else if (ki__intake_check(intake, object, ret_why) < 0) {
        r = ki__intake_note_object(intake, object);
        object = ki_object_unref(object);
    }
    *ret_object = object;
    return r < 0 ? ki__error_code(error, r) : 0;
}

static int pass_item(ki__intake *intake, ki_str bytes, uint64_t len, ki_error *ret_why,
                     ki_error *error)
{
    (void)ki__error_set(ret_why, KI_ERR_LIMIT, "item too large: %llu bytes, limit %zu",
                        (unsigned long long)len, intake->options.max_bytes);
    int r = ki__intake_note_bytes(intake, bytes);
    return r < 0 ? ki__error_code(error, r) : 0;
}

int ki__list_item(ki__list_decoder *decoder, const ki__piece *piece, uint64_t start, uint64_t end,
                  ki__wire_item *ret_item, ki_error *error)
{
    ki__intake *intake = &decoder->intake;
    size_t max = intake->options.max_bytes;
    ki_object *object = NULL;
    ki_error why;
    ki__error_init(&why);
    ki_str bytes;
    int r = ki__gather_take(&intake->gathered, piece, start, end, max, &bytes);
    if (r < 0) {
        return ki__error_code(error, r);
    }
    r = end - start <= max ? read_item(intake, bytes, &object, &why, error)
                           : pass_item(intake, bytes, end - start, &why, error);
    ki__gather_clear(&intake->gathered);
    if (r < 0) {
        return r;
    }
    if (object != NULL) {
        ret_item->object = object;
        ret_item->key = "";
        ret_item->resource_version = "";
        ret_item->error.code = 0;
    } else {
        ki__intake_skipped(intake, &why, ret_item);
    }
    return 1;
}

int ki__list_take_status(ki__list_decoder *decoder, ki_str bytes, ki_error *error)
{
    ki_error why = KI_ERROR_INIT;
    decoder->intake.options.default_kind = ki__list_get_text(decoder, KI__LIST_KIND);
    decoder->intake.options.default_api_version = ki__list_get_text(decoder, KI__LIST_API_VERSION);
    int r = ki__intake_read(&decoder->intake, bytes, true, &decoder->status, &why, error);
    if (r < 0) {
        return r;
    }
    if (why.code != 0) {
        return ki__error_set(error, why.code, "Status instead of the list: %s", why.message);
    }
    r = ki_status_to_error(decoder->status, error);
    return r < 0 ? r : ki__list_refuse(decoder, error); /* a Status of success, but no list */
}
