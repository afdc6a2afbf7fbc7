/* SPDX-License-Identifier: Apache-2.0 */
/* What the two halves of the path parser share: the steps (path_parse.c) and the filters
 * (path_parse_filter.c). Filters hold steps but steps in a filter hold no filters, so nothing here
 * recurses. */
#ifndef KI_OBJECT_PATH_PATH_PARSE_H
#define KI_OBJECT_PATH_PATH_PARSE_H

#include "object/path/path.h"

typedef struct ki__path_parser {
    ki_path *path; /* under construction */
    size_t at;     /* the next byte of its text; a NUL stands at the end */
    uint8_t *tail; /* where the index of the next step goes */
    ki_error *error;
} ki__path_parser;

static inline char ki__path_peek(const ki__path_parser *parser)
{
    return parser->path->text.ptr[parser->at];
}

/** Skips blanks and gives the byte behind them. */
char ki__path_skip_blanks(ki__path_parser *parser);

/** KI_ERR_SYNTAX at the given place. */
int ki__path_fail(const ki__path_parser *parser, size_t at, const char *message);

/** KI_ERR_SYNTAX at the next byte: `what` was expected, something else was found. */
int ki__path_expected(const ki__path_parser *parser, const char *what);

/** A new step, in no chain yet. */
int ki__path_add_step(ki__path_parser *parser, ki__path_kind kind, ki__path_step **ret_step);

/** Puts a step at the end of the chain under construction. */
void ki__path_link(ki__path_parser *parser, ki__path_step *step);

/** A string in single or double quotes, which begins at the next byte. */
int ki__path_parse_quoted(ki__path_parser *parser, ki_str *ret_text);

/** Whether a filter begins at the next byte. */
bool ki__path_at_filter(const ki__path_parser *parser);

/** A bare word up to one of the bytes in `ends`, a blank or the end; no escapes. */
int ki__path_parse_word(ki__path_parser *parser, const char *ends, ki_str *ret_text);

/** Whether a filter in its short form begins at the next byte: [key=value]. */
bool ki__path_at_keyed(const ki__path_parser *parser);

/** One step other than a filter, which begins at the next byte with '.' or '['. */
int ki__path_parse_step(ki__path_parser *parser);

/** A filter, which begins at the next byte with '['. */
int ki__path_parse_filter(ki__path_parser *parser);
/** The same in its short form. */
int ki__path_parse_keyed(ki__path_parser *parser);

#endif
