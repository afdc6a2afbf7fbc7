/* SPDX-License-Identifier: Apache-2.0 */
/* The command's output streams, and the terminal they are connected to, if any. */
#ifndef KI_CLI_TERM_H
#define KI_CLI_TERM_H

#include <kinformer/defs.h>
#include <kinformer/str.h>

typedef enum cli_color {
    CLI_COLOR_NONE,
    CLI_COLOR_GREEN,
    CLI_COLOR_YELLOW,
    CLI_COLOR_RED,
    CLI_COLOR_DIM,
    CLI_COLOR_BOLD,
    CLI_COLOR_MAX
} cli_color;

/** Call once. `color` is "always", "never", or "auto": on a terminal, unless $NO_COLOR is set or
 *  $TERM is dumb.  Errors: KI_ERR_INVALID  another word. */
int cli_term_init(const char *color);

bool cli_term_out_is_terminal(void);
bool cli_term_error_is_terminal(void);
/** Current columns and lines of the terminal; 80 and 24 if unknown. */
size_t cli_term_width(void);
size_t cli_term_height(void);
/** The escape sequence of a color for standard output; "" if colors are off. */
const char *cli_term_color(cli_color color);
/** The sequence that resets it. */
const char *cli_term_plain(void);

/** Writes to standard output, buffered. */
void cli_term_out(ki_str text);
/** Flushes the buffer: 0, or -errno; -EPIPE if the reader is gone. */
int cli_term_flush(void);

/** Replaces the screen content of the terminal on standard output by these lines, truncated to fit.
 *  The first call switches to the alternate screen; leaving restores the previous content. */
void cli_term_show(ki_str lines);
/** Undoes cli_term_show() and cli_term_take_keys(). */
void cli_term_leave(void);

/** Enables unbuffered key input without echo, if standard input and output are a terminal and this
 *  process is in the foreground. Ctrl-C etc. remain signals. Whether it is enabled. */
bool cli_term_take_keys(void);

/** Writes whole lines to standard error, unbuffered. A progress line is cleared first. */
void cli_term_note(ki_str text);
/** Shows a progress line on the terminal of standard error, replacing the previous one; "" clears
 *  it. No effect without a terminal. */
void cli_term_progress(ki_str text);

#endif
