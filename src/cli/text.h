/* SPDX-License-Identifier: Apache-2.0 */
/* Text for people: what comes from a cluster is made harmless before it is shown, and sizes, times
 * and ages are spelt as people read them.
 *
 * The functions that append do not fail: a program without memory for its output says so and ends.
 */
#ifndef KI_CLI_TEXT_H
#define KI_CLI_TEXT_H

#include <stdarg.h>

#include <kinformer/buf.h>
#include <kinformer/object.h>
#include <kinformer/str.h>
#include <kinformer/value.h>

/** An empty buffer with a limit that no sane output reaches. */
void cli_text_init(ki_buf *out);

void cli_put(ki_buf *out, const char *text);
void cli_put_str(ki_buf *out, ki_str text);
void cli_put_char(ki_buf *out, char c);
void cli_putf(ki_buf *out, const char *format, ...) KI_PRINTF(2, 3);

/** Appends the escape of one character: \n, \x1b, \u202e, \U000e0001. */
void cli_put_char_escape(ki_buf *out, uint32_t code);

/** Appends text of a stranger so that it does nothing to a terminal: control characters, invisible
 *  ones and those that turn the direction of writing become escapes such as \n, \x1b and \u202e,
 *  bytes that are no UTF-8 become \xff. */
void cli_put_escaped(ki_buf *out, ki_str text);

/** The character at the beginning of a text that is not empty: how many bytes it has; 0 if they
 *  are not UTF-8. */
size_t cli_text_char(ki_str text, uint32_t *ret_code);
/** Controls, invisible characters, and those that change the direction of writing. */
bool cli_text_is_harmful(uint32_t code);

/** The same for JSON text, which must be valid: it stays JSON, of the same meaning. `indent` of 0
 *  puts all in one line. */
void cli_put_json(ki_buf *out, ki_str json, unsigned int indent);

/** An object or a value as JSON, as cli_put_json(). A value of KI_TYPE_NONE is null. */
void cli_put_object(ki_buf *out, const ki_object *object, unsigned int indent);
void cli_put_value_json(ki_buf *out, const ki_value *value);

/** A value as people see it: strings as they are, maps and lists as JSON. Escaped, unless `raw`. */
void cli_put_value(ki_buf *out, const ki_value *value, bool raw);

/** A string in quotes, as JSON has it. */
void cli_put_quoted(ki_buf *out, ki_str text);

/** How many columns of a terminal it takes. */
size_t cli_text_width(ki_str text);

/** Cuts what takes more than `columns` and puts "…" at its end. `from` is where it begins in `out`.
 */
void cli_text_cut(ki_buf *out, size_t from, size_t columns);

/** Such as "12s", "5m30s", "3h", "4d2h", as kubectl shows ages; below 0 is 0s. */
void cli_put_age(ki_buf *out, int64_t seconds);
/** The age of an object now; "<unknown>" if it does not say when it was made. */
void cli_put_age_of(ki_buf *out, const ki_object *object);
/** Such as "512 B", "3.4 MB". */
void cli_put_bytes(ki_buf *out, uint64_t bytes);
/** Such as "1,234,567". */
void cli_put_count(ki_buf *out, uint64_t number);

#endif
