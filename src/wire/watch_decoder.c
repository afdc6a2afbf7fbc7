/* SPDX-License-Identifier: Apache-2.0 */
/* The encoding-independent part of the watch decoder: completes an event once its type and its
 * object are known. */
#include "wire/watch_decoder.h"

#include <errno.h>

#include <kinformer/projection.h>
#include <kinformer/status.h>

#include "base/error.h"
#include "wire/watch_parts.h"

void ki__watch_decoder_init(ki__watch_decoder *decoder, const ki__wire_options *options)
{
    *decoder = (ki__watch_decoder){.type = KI_WATCH_EVENT_MAX};
    ki__intake_init(&decoder->intake, options);
    if (options->encoding == KI_ENCODING_JSON) {
        ki__watch_json_init(decoder);
    }
}

void ki__watch_decoder_done(ki__watch_decoder *decoder)
{
    decoder->object = ki_object_unref(decoder->object);
    ki__intake_done(&decoder->intake);
}

static int give_failure(const ki__watch_decoder *decoder, ki_error *error)
{
    if (error != NULL) {
        ki__error_copy(error, &decoder->failure);
    }
    return decoder->failure.code;
}

int ki__watch_decoder_feed(ki__watch_decoder *decoder, const char *bytes, size_t len,
                           size_t *ret_taken, ki__watch_event *ret_event, ki_error *error)
{
    *ret_taken = 0;
    if (decoder->failure.code != 0) {
        return give_failure(decoder, error);
    }
    ki_error failure;
    ki__error_init(&failure);
    bytes = bytes != NULL ? bytes : "";
    int r = decoder->intake.encoding == KI_ENCODING_JSON
                ? ki__watch_json_feed(decoder, bytes, len, ret_taken, ret_event, &failure)
                : ki__watch_proto_feed(decoder, bytes, len, ret_taken, ret_event, &failure);
    if (r < 0) {
        decoder->failure = failure;
        return give_failure(decoder, error);
    }
    return r;
}

int ki__watch_decoder_finish(ki__watch_decoder *decoder, ki_error *error)
{
    if (decoder->failure.code != 0) {
        return give_failure(decoder, error);
    }
    ki_error failure;
    ki__error_init(&failure);
    int r = decoder->intake.encoding == KI_ENCODING_JSON
                ? ki__watch_json_finish(decoder, &failure)
                : ki__watch_proto_finish(decoder, &failure);
    if (r < 0) {
        decoder->failure = failure;
        return give_failure(decoder, error);
    }
    return 0;
}

/* ---- for the JSON and protobuf parts ---- */

void ki__watch_begin(ki__watch_decoder *decoder)
{
    decoder->type = KI_WATCH_EVENT_MAX;
    decoder->seen = 0;
    decoder->why.code = 0;
    decoder->inside = true;
    decoder->noted = false;
    ki__intake_note_none(&decoder->intake);
}

void ki__watch_fail(ki__watch_decoder *decoder, const ki_error *why)
{
    if (decoder->why.code == 0) {
        ki__error_copy(&decoder->why, why);
    }
}

void ki__watch_see(ki__watch_decoder *decoder, ki__watch_member member)
{
    if (member != KI__WATCH_OTHER && (decoder->seen >> member & 1) != 0) {
        ki_error why;
        ki__error_init(&why);
        (void)ki__error_set(&why, KI_ERR_INVALID, "watch event: duplicate field");
        ki__watch_fail(decoder, &why);
    }
    decoder->seen |= 1U << member;
}

/* Whether the event is one of an object: bookmarks, which have an annotation, and Status are
 * read as a whole. */
static bool has_projection(const ki__watch_decoder *decoder)
{
    return decoder->type <= KI_WATCH_EVENT_DELETED;
}

int ki__watch_take_object(ki__watch_decoder *decoder, const ki__piece *piece, uint64_t start,
                          uint64_t end, ki_error *error)
{
    ki__intake *intake = &decoder->intake;
    ki_str bytes;
    int r =
        ki__gather_take(&intake->gathered, piece, start, end, intake->options.max_bytes, &bytes);
    if (r == 0 && decoder->why.code == 0) {
        ki_object *object = NULL;
        r = ki__intake_read(intake, bytes, !has_projection(decoder), &object, &decoder->why, error);
        if (r < 0) {
            return r;
        }
        decoder->object = object; /* was NULL: a second object invalidates the event */
    }
    if (r == 0 && decoder->why.code != 0 && decoder->object == NULL && !decoder->noted) {
        r = ki__intake_note_bytes(intake, bytes);
        decoder->noted = true;
    }
    ki__gather_clear(&intake->gathered);
    return r < 0 ? ki__error_code(error, r) : 0;
}

int ki__watch_fail_size(ki__watch_decoder *decoder, ki_error *error)
{
    ki__intake *intake = &decoder->intake;
    (void)ki__error_set(error, KI_ERR_LIMIT, "watch event larger than %zu bytes",
                        intake->options.max_bytes);
    bool object = (decoder->seen >> KI__WATCH_OBJECT & 1) != 0;
    if (object && ki__intake_note_bytes(intake, ki_buf_str(&intake->gathered)) == 0 &&
        intake->key.len != 0) {
        ki__error_add(error, ki_str_from(": "));
        ki__error_add(error, ki_buf_str(&intake->key));
    }
    error->offset = (size_t)decoder->event_start;
    return KI_ERR_LIMIT;
}

/* ---- the end of an event ---- */

/* Whether the event can be reported; if not, `why` is set. */
static bool is_good(ki__watch_decoder *decoder)
{
    ki_error *why = &decoder->why;
    if (why->code != 0) {
        return false;
    }
    if (decoder->object == NULL) {
        (void)ki__error_set(why, KI_ERR_INVALID, "watch event without an object");
    } else if (decoder->type == KI_WATCH_EVENT_MAX) {
        (void)ki__error_set(why, KI_ERR_INVALID, "watch event of an unknown type");
    } else if (decoder->type != KI_WATCH_EVENT_BOOKMARK) {
        (void)ki__intake_check(&decoder->intake, decoder->object, why);
    } else if (ki_object_resource_version(decoder->object)[0] == '\0') {
        (void)ki__error_set(why, KI_ERR_INVALID, "bookmark without resourceVersion");
    }
    return why->code == 0;
}

/* An ERROR event always yields an error, whatever its object is. */
static void end_error(ki__watch_decoder *decoder, ki__watch_event *ret_event)
{
    ki_error *error = &ret_event->item.error;
    ki_object *status = decoder->object;
    decoder->object = NULL;
    if (status == NULL || ki_status_to_error(status, error) >= 0 || !ki__error_is_status(error)) {
        const char *why = decoder->why.code != 0 ? decoder->why.message : "no Status";
        (void)ki__error_set(error, KI_ERR_INVALID, "undecodable ERROR event: %s", why);
        status = ki_object_unref(status);
    }
    ret_event->item.object = status;
    ret_event->item.key = "";
    ret_event->item.resource_version = "";
}

static int end_failed(ki__watch_decoder *decoder, ki__watch_event *ret_event, ki_error *error)
{
    ki_object *object = decoder->object;
    decoder->object = NULL;
    int r = object != NULL ? ki__intake_note_object(&decoder->intake, object) : 0;
    (void)ki_object_unref(object);
    if (r < 0) {
        return ki__error_code(error, r);
    }
    ki__intake_skipped(&decoder->intake, &decoder->why, &ret_event->item);
    return 1;
}

/* If the type came after the object, the whole object was read. */
static int project_late(ki__watch_decoder *decoder, ki_error *error)
{
    const ki_projection *projection = decoder->intake.options.projection;
    ki_object *object = decoder->object;
    if (projection == NULL || !has_projection(decoder) || ki_object_is_partial(object)) {
        return 0;
    }
    int r = ki_object_project(object, projection, &decoder->object, error);
    if (r >= 0) {
        (void)ki_object_unref(object);
    }
    return r;
}

int ki__watch_end(ki__watch_decoder *decoder, ki__watch_event *ret_event, ki_error *error)
{
    ki_object *object = decoder->object;
    decoder->inside = false;
    ret_event->type = decoder->type;
    if (decoder->type == KI_WATCH_EVENT_ERROR) {
        end_error(decoder, ret_event);
        return 1;
    }
    if (object != NULL &&
        ki__wire_is_table(ki_object_api_version(object), ki_object_kind(object))) {
        return ki__wire_refuse_table(error);
    }
    if (!is_good(decoder)) {
        return end_failed(decoder, ret_event, error);
    }
    int r = project_late(decoder, error);
    if (r < 0) {
        return r;
    }
    ret_event->item.object = decoder->object;
    decoder->object = NULL;
    ret_event->item.key = "";
    ret_event->item.resource_version = "";
    ret_event->item.error.code = 0;
    return 1;
}
