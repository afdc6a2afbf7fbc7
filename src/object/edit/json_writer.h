/* SPDX-License-Identifier: Apache-2.0 */
/* The inside of a ki_json: a document of json_out.h, and where each open map and list stands in it,
 * for the place that errors name. json_writer.c has the functions of <kinformer/json.h>, except
 * ki_json_format() in json_format.c, which is built on what is declared here. */
#ifndef KI_OBJECT_EDIT_JSON_WRITER_H
#define KI_OBJECT_EDIT_JSON_WRITER_H

#include <kinformer/json.h>

#include "object/edit/json_out.h"

/* A map or list that is open; the first stands for the top level. */
typedef struct ki__json_level {
    uint32_t name_at; /* its name in the text, without quotes, if it is a member of a map */
    uint32_t name_len;
    uint32_t count; /* values so far */
} ki__json_level;

struct ki_json {
    const ki_alloc *alloc;
    bool replace_invalid_utf8;
    ki_buf buf;
    ki__out out;       /* to buf */
    size_t value_mark; /* the length of the text before the name or value in progress */
    size_t name_mark;  /* the same before the last name */
    uint32_t name_at;  /* the last name, in the text */
    uint32_t name_len;
    ki__json_level levels[KI__OUT_DEPTH_MAX + 1];
    ki_error failure; /* the first; its code is 0 before */
};

/** Whether a value can be appended: false after a failure, and for NULL. Appends the name, if it is
 *  not NULL. ki__json_done() must follow the value. */
bool ki__json_begin(ki_json *json, const char *name);
void ki__json_done(ki_json *json);

/** Records the failure, unless there is one, with the place and `why`. */
void ki__json_fail(ki_json *json, int code, const char *why);

/** A string, or a name, in parts. */
void ki__json_begin_string(ki_json *json);
void ki__json_end_string(ki_json *json);
void ki__json_begin_name(ki_json *json);
void ki__json_end_name(ki_json *json);
void ki__json_add_text(ki_json *json, ki_str text);

/** Writes `path: why` to `error`, which may be NULL; the path leads to the value in progress, or to
 *  the innermost open map or list. Returns `code`. */
typedef enum ki__json_place { KI__JSON_VALUE, KI__JSON_CONTAINER } ki__json_place;
int ki__json_describe(const ki_json *json, ki__json_place place, int code, const char *why,
                      ki_error *error);

#endif
