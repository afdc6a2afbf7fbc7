/* SPDX-License-Identifier: Apache-2.0 */
/* The two streams that the command writes to, and the terminal behind them, if there is one. */
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

/** To be called once. `color` is "always", "never", or "auto": on a terminal, unless $NO_COLOR is
 *  set or $TERM is dumb.  Errors: KI_ERR_INVALID  another word. */
int cli_term_init(const char *color);

bool cli_term_out_is_terminal(void);
bool cli_term_error_is_terminal(void);
/** Columns and lines of the terminal now; 80 and 24 if that is not known. */
size_t cli_term_width(void);
size_t cli_term_height(void);
/** What switches a colour on for standard output; "" if there are none. */
const char *cli_term_color(cli_color color);
/** What ends it. */
const char *cli_term_plain(void);

/** Writes to standard output, buffered. */
void cli_term_out(ki_str text);
/** Writes out what is buffered: 0, or -errno; -EPIPE if nobody reads any more. */
int cli_term_flush(void);

/** Fills the screen of the terminal behind standard output with lines, in the place of those
 * before, and cuts what does not fit. The first time the terminal's other screen is taken; leaving
 * it brings back what was there before. */
void cli_term_show(ki_str lines);
/** Undoes cli_term_show() and cli_term_take_keys(). */
void cli_term_leave(void);

/** Has single keys arrive on standard input, without echo, if it and standard output are a terminal
 *  and this process is in its foreground. Ctrl-C and the like stay signals. Whether they do. */
bool cli_term_take_keys(void);

/** Writes whole lines to standard error, at once. A line of progress makes way for them. */
void cli_term_note(ki_str text);
/** Shows a line of progress on the terminal behind standard error, in the place of the one before;
 *  "" takes it away. Without a terminal it does nothing. */
void cli_term_progress(ki_str text);

#endif
