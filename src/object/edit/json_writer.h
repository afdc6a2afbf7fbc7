/* SPDX-License-Identifier: Apache-2.0 */
/* Internals of a ki_json: a document of json_out.h, and the position of each open map and list, for
 * error messages. json_writer.c has the functions of <kinformer/json.h>, except ki_json_format() in
 * json_format.c, which builds on the declarations here. */
#ifndef KI_OBJECT_EDIT_JSON_WRITER_H
#define KI_OBJECT_EDIT_JSON_WRITER_H

#include <stdarg.h>

#include <kinformer/json.h>

#include "object/edit/json_out.h"

/* An open map or list; the first entry is the top level. */
typedef struct ki__json_level {
    uint32_t name_at; /* its name in the text, without quotes, if a member of a map */
    uint32_t name_len;
    uint32_t count; /* values so far */
} ki__json_level;

struct ki_json {
    const ki_alloc *alloc;
    bool replace_invalid_utf8;
    ki_buf buf;
    ki__out out;       /* to buf */
    size_t value_mark; /* text length before the current name or value */
    size_t name_mark;  /* text length before the last name */
    uint32_t name_at;  /* the last name, in the text */
    uint32_t name_len;
    ki__json_level levels[KI__OUT_DEPTH_MAX + 1];
    ki_error failure; /* first error; code 0 if none */
};

/** Whether a value can be appended: false after an error, and for NULL. Appends the name, if not
 *  NULL. Call ki__json_done() after the value. */
bool ki__json_begin(ki_json *json, const char *name);
void ki__json_done(ki_json *json);

/** Records the error, unless there is one, with the position and `why`. */
void ki__json_fail(ki_json *json, int code, const char *why);

/** A string or a name in parts. */
void ki__json_begin_string(ki_json *json);
void ki__json_end_string(ki_json *json);
void ki__json_begin_name(ki_json *json);
void ki__json_end_name(ki_json *json);
void ki__json_add_text(ki_json *json, ki_str text);

/** ki_json_format() with its arguments in a list. */
void ki__json_vformat(ki_json *json, const char *name, const char *text, va_list arguments);

/** Sets `error`, which may be NULL, to `path: why`; the path is that of the current value, or of
 *  the innermost open map or list. Returns `code`. */
typedef enum ki__json_place { KI__JSON_VALUE, KI__JSON_CONTAINER } ki__json_place;
int ki__json_describe(const ki_json *json, ki__json_place place, int code, const char *why,
                      ki_error *error);

#endif
