/* SPDX-License-Identifier: Apache-2.0 */
/* Decodes bytes into objects. One invalid object never fails the whole list or watch: only running
 * out of memory does. */
#include "wire/intake.h"

#include <errno.h>

#include <kinformer/key.h>

#include "base/alloc.h"
#include "base/error.h"
#include "object/key.h"
#include "object/object.h"
#include "wire/gather.h"
#include "wire/peek.h"

enum { BYTES_DEFAULT = 16 << 20, TEXT_MAX = 4096 };

void ki__intake_init(ki__intake *intake, const ki__wire_options *options)
{
    const ki_alloc *alloc = ki__alloc_or_default(options->alloc);
    size_t max_bytes = options->max_bytes != 0 ? options->max_bytes : BYTES_DEFAULT;
    *intake = (ki__intake){
        .encoding = options->encoding,
        .options =
            {
                .size = sizeof(ki_object_options),
                .alloc = alloc,
                .max_bytes = max_bytes,
                .max_depth = options->max_depth,
                .default_kind = options->default_kind,
                .default_api_version = options->default_api_version,
                .projection = options->projection,
            },
        .expected_kind = options->expected_kind,
        .expected_api_version = options->expected_api_version,
    };
    ki_buf_init(&intake->gathered, alloc, SIZE_MAX); /* each gather call has its own limit */
    ki_buf_init(&intake->scratch, alloc, SIZE_MAX);  /* as long as the longest object */
    ki_buf_init(&intake->key, alloc, TEXT_MAX);
    ki_buf_init(&intake->resource_version, alloc, TEXT_MAX);
}

void ki__intake_done(ki__intake *intake)
{
    ki_buf_done(&intake->gathered);
    ki_buf_done(&intake->scratch);
    ki_buf_done(&intake->key);
    ki_buf_done(&intake->resource_version);
}

static bool differs(const char *expected, const char *text)
{
    return expected != NULL && text[0] != '\0' && strcmp(expected, text) != 0;
}

bool ki__intake_is_unexpected(const ki__intake *intake, const char *api_version, const char *kind)
{
    return differs(intake->expected_kind, kind) ||
           differs(intake->expected_api_version, api_version);
}

int ki__intake_read(ki__intake *intake, ki_str bytes, bool whole, ki_object **ret_object,
                    ki_error *ret_why, ki_error *error)
{
    const ki_projection *projection = intake->options.projection;
    intake->options.projection = whole ? NULL : projection;
    int r = ki__object_read(intake->encoding, bytes, &intake->options, &intake->scratch, ret_object,
                            ret_why);
    intake->options.projection = projection;
    ki__gather_clear(&intake->scratch);
    if (r >= 0) {
        ret_why->code = 0;
        return 0;
    }
    if (r > KI_ERR_FIRST) {
        return ki__error_set(error, r, "%s", ret_why->message);
    }
    return 0;
}

int ki__intake_check(const ki__intake *intake, const ki_object *object, ki_error *why)
{
    const char *kind = ki_object_kind(object);
    const char *api_version = ki_object_api_version(object);
    if (ki_object_name(object)[0] == '\0') {
        return ki__error_set(why, KI_ERR_KEY, "object without metadata.name");
    }
    if (ki__key_has_slash(ki_str_from(ki_object_name(object))) ||
        ki__key_has_slash(ki_str_from(ki_object_namespace(object)))) {
        return ki__error_set(why, KI_ERR_KEY, "name or namespace contains '/'");
    }
    if (ki__intake_is_unexpected(intake, api_version, kind)) {
        (void)ki__error_set(why, KI_ERR_TYPE, "unexpected kind: ");
        ki__wire_error_add_kind(why, api_version, kind);
        return KI_ERR_TYPE;
    }
    return 0;
}

int ki__intake_note_bytes(ki__intake *intake, ki_str bytes)
{
    return ki__peek(intake->encoding, bytes, &intake->key, &intake->resource_version);
}

int ki__intake_note_object(ki__intake *intake, const ki_object *object)
{
    ki__intake_note_none(intake);
    ki_str name = ki_str_from(ki_object_name(object));
    ki_str name_space = ki_str_from(ki_object_namespace(object));
    int r = ki_key_join(name_space, name, &intake->key);
    if (r != -ENOMEM) {
        r = ki_buf_add_text(&intake->resource_version, ki_object_resource_version(object));
    }
    return r;
}

void ki__intake_note_none(ki__intake *intake)
{
    ki_buf_clear(&intake->key);
    ki_buf_clear(&intake->resource_version);
}

void ki__intake_skipped(const ki__intake *intake, const ki_error *why, ki__wire_item *ret_item)
{
    *ret_item = (ki__wire_item){
        .key = ki_buf_text(&intake->key),
        .resource_version = ki_buf_text(&intake->resource_version),
    };
    ki__error_copy(&ret_item->error, why);
}

void ki__wire_error_add_kind(ki_error *error, const char *api_version, const char *kind)
{
    ki__error_add(error, ki_str_from(kind));
    ki__error_add(error, ki_str_from(" of "));
    ki__error_add(error, ki_str_from(api_version));
}

bool ki__wire_is_table(const char *api_version, const char *kind)
{
    return strcmp(kind, "Table") == 0 && strncmp(api_version, "meta.k8s.io/", 12) == 0;
}

int ki__wire_refuse_table(ki_error *error)
{
    return ki__error_set(error, KI_ERR_UNSUPPORTED,
                         "the server responded with a Table instead of objects; remove as=Table "
                         "from the Accept header");
}
