/* SPDX-License-Identifier: Apache-2.0 */
/* Text output: escapes data from the cluster for terminals, and formats sizes, times and ages.
 *
 * The functions that append do not fail: the program exits with a message if it runs out of
 * memory. */
#ifndef KI_CLI_TEXT_H
#define KI_CLI_TEXT_H

#include <stdarg.h>

#include <kinformer/buf.h>
#include <kinformer/object.h>
#include <kinformer/str.h>
#include <kinformer/value.h>

/** An empty buffer with a limit beyond any reasonable output. */
void cli_text_init(ki_buf *out);

void cli_put(ki_buf *out, const char *text);
void cli_put_str(ki_buf *out, ki_str text);
void cli_put_char(ki_buf *out, char c);
void cli_putf(ki_buf *out, const char *format, ...) KI_PRINTF(2, 3);

/** Appends the escape of one character: \n, \x1b, \u202e, \U000e0001. */
void cli_put_char_escape(ki_buf *out, uint32_t code);

/** Appends untrusted text, escaped for terminals: control characters, invisible characters and
 *  those that change the writing direction become escapes such as \n, \x1b and \u202e; invalid
 *  UTF-8 becomes \xff. */
void cli_put_escaped(ki_buf *out, ki_str text);

/** Decodes the first character of a nonempty text: returns its length; 0 for invalid UTF-8. */
size_t cli_text_char(ki_str text, uint32_t *ret_code);
/** Whether a character is a control, invisible, or changes the writing direction. */
bool cli_text_is_harmful(uint32_t code);

/** The same for valid JSON text: the result is equivalent JSON. `indent` 0 puts it on one line. */
void cli_put_json(ki_buf *out, ki_str json, unsigned int indent);

/** Appends an object or a value as JSON, as cli_put_json(). KI_TYPE_NONE is null. */
void cli_put_object(ki_buf *out, const ki_object *object, unsigned int indent);
void cli_put_value_json(ki_buf *out, const ki_value *value);

/** Appends a value in readable form: strings verbatim, maps and lists as JSON. Escaped, unless
 *  `raw`. */
void cli_put_value(ki_buf *out, const ki_value *value, bool raw);

/** Appends a string in quotes, as in JSON. */
void cli_put_quoted(ki_buf *out, ki_str text);

/** Width in terminal columns. */
size_t cli_text_width(ki_str text);

/** Truncates the text from `from` in `out` to `columns`, ending with "…". */
void cli_text_cut(ki_buf *out, size_t from, size_t columns);

/** Appends an age in kubectl's format: "12s", "5m30s", "3h", "4d2h"; negative ages are 0s. */
void cli_put_age(ki_buf *out, int64_t seconds);
/** Appends the current age of an object; "<unknown>" if it has no creation time. */
void cli_put_age_of(ki_buf *out, const ki_object *object);
/** Such as "512 B", "3.4 MB". */
void cli_put_bytes(ki_buf *out, uint64_t bytes);
/** Such as "1,234,567". */
void cli_put_count(ki_buf *out, uint64_t number);

#endif
