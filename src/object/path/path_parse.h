/* SPDX-License-Identifier: Apache-2.0 */
/* Interface between the two parts of the path parser: steps (path_parse.c) and filters
 * (path_parse_filter.c). Filters contain steps, but steps in a filter contain no filters, so there
 * is no recursion. */
#ifndef KI_OBJECT_PATH_PATH_PARSE_H
#define KI_OBJECT_PATH_PATH_PARSE_H

#include "object/path/path.h"

typedef struct ki__path_parser {
    ki_path *path; /* under construction */
    size_t at;     /* next byte of its text, which is NUL-terminated */
    uint8_t *tail; /* where to store the index of the next step */
    ki_error *error;
} ki__path_parser;

static inline char ki__path_peek(const ki__path_parser *parser)
{
    return parser->path->text.ptr[parser->at];
}

/** Skips blanks and returns the byte after them. */
char ki__path_skip_blanks(ki__path_parser *parser);

/** KI_ERR_SYNTAX at the given offset. */
int ki__path_fail(const ki__path_parser *parser, size_t at, const char *message);

/** KI_ERR_SYNTAX at the next byte: expected `what`, found something else. */
int ki__path_expected(const ki__path_parser *parser, const char *what);

/** Adds a step that is not linked yet. */
int ki__path_add_step(ki__path_parser *parser, ki__path_kind kind, ki__path_step **ret_step);

/** Appends a step to the chain under construction. */
void ki__path_link(ki__path_parser *parser, ki__path_step *step);

/** Parses a string in single or double quotes, starting at the next byte. */
int ki__path_parse_quoted(ki__path_parser *parser, ki_str *ret_text);

/** Whether a filter starts at the next byte. */
bool ki__path_at_filter(const ki__path_parser *parser);

/** Parses a bare word up to one of the bytes in `ends`, a blank or the end; no escapes. */
int ki__path_parse_word(ki__path_parser *parser, const char *ends, ki_str *ret_text);

/** Whether a short-form filter starts at the next byte: [key=value]. */
bool ki__path_at_keyed(const ki__path_parser *parser);

/** Parses one step other than a filter, starting with '.' or '['. */
int ki__path_parse_step(ki__path_parser *parser);

/** Parses a filter, starting with '['. */
int ki__path_parse_filter(ki__path_parser *parser);
/** Parses a short-form filter. */
int ki__path_parse_keyed(ki__path_parser *parser);

#endif
