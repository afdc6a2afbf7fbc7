/* SPDX-License-Identifier: Apache-2.0 */
/* Standard output and standard error. Both may be the same terminal, so a progress line is cleared
 * before anything else is written. */
#include "cli/term.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <termios.h>
#include <unistd.h>

#include <kinformer/error.h>

static struct {
    bool out_terminal;
    bool error_terminal;
    bool color;
    bool progress;         /* a progress line is displayed */
    bool screen;           /* the alternate screen is active */
    bool keys;             /* unbuffered key input is active */
    int failure;           /* first write error */
    struct termios before; /* original terminal settings, while `keys` */
} term;

static bool use_color(void)
{
    const char *no_color = getenv("NO_COLOR");
    const char *kind = getenv("TERM");
    return term.out_terminal && (no_color == NULL || no_color[0] == '\0') &&
           (kind == NULL || strcmp(kind, "dumb") != 0);
}

int cli_term_init(const char *color)
{
    term.out_terminal = isatty(STDOUT_FILENO) == 1;
    term.error_terminal = isatty(STDERR_FILENO) == 1;
    if (color == NULL || strcmp(color, "auto") == 0) {
        term.color = use_color();
    } else if (strcmp(color, "always") == 0 || strcmp(color, "never") == 0) {
        term.color = strcmp(color, "always") == 0;
    } else {
        return KI_ERR_INVALID;
    }
    return 0;
}

bool cli_term_out_is_terminal(void)
{
    return term.out_terminal;
}

bool cli_term_error_is_terminal(void)
{
    return term.error_terminal;
}

static struct winsize measure(void)
{
    struct winsize size = {.ws_row = 24, .ws_col = 80};
    struct winsize found;
    int fd = term.out_terminal ? STDOUT_FILENO : STDERR_FILENO;
    if (ioctl(fd, TIOCGWINSZ, &found) == 0 && found.ws_col != 0 && found.ws_row != 0) {
        return found;
    }
    return size;
}

size_t cli_term_width(void)
{
    return measure().ws_col;
}

size_t cli_term_height(void)
{
    return measure().ws_row;
}

const char *cli_term_color(cli_color color)
{
    static const char *const codes[] = {
        [CLI_COLOR_NONE] = "",           [CLI_COLOR_GREEN] = "\033[32m",
        [CLI_COLOR_YELLOW] = "\033[33m", [CLI_COLOR_RED] = "\033[31m",
        [CLI_COLOR_DIM] = "\033[2m",     [CLI_COLOR_BOLD] = "\033[1m",
    };
    _Static_assert(sizeof(codes) / sizeof(codes[0]) == CLI_COLOR_MAX, "one for each");
    return term.color ? codes[color] : "";
}

const char *cli_term_plain(void)
{
    return term.color ? "\033[0m" : "";
}

static void write_to(FILE *stream, ki_str text)
{
    if (text.len != 0 && fwrite(text.ptr, 1, text.len, stream) != text.len && term.failure == 0 &&
        stream == stdout) {
        term.failure = errno != 0 ? -errno : -EIO;
    }
}

static void clear_progress(void)
{
    if (term.progress) {
        write_to(stderr, ki_str_from("\r\033[K"));
        (void)fflush(stderr);
        term.progress = false;
    }
}

void cli_term_out(ki_str text)
{
    if (term.out_terminal) {
        clear_progress();
    }
    write_to(stdout, text);
}

int cli_term_flush(void)
{
    if (fflush(stdout) != 0 && term.failure == 0) {
        term.failure = errno != 0 ? -errno : -EIO;
    }
    return term.failure;
}

void cli_term_show(ki_str lines)
{
    size_t left = cli_term_height();
    /* Without wrapping, so that each line stays one line on narrow terminals. Lines are cleared one
     * by one: clearing the whole screen first would flicker. */
    write_to(stdout, ki_str_from(term.screen ? "" : "\033[?1049h\033[?25l\033[?7l"));
    write_to(stdout, ki_str_from("\033[H"));
    term.screen = true;
    while (lines.len > 0 && left > 0) {
        const char *end = memchr(lines.ptr, '\n', lines.len);
        size_t len = end != NULL ? (size_t)(end - lines.ptr) : lines.len;
        size_t taken = end != NULL ? len + 1 : len;
        left--;
        write_to(stdout, ki_str_from("\033[K"));
        write_to(stdout, ki_str_make(lines.ptr, len));
        lines = ki_str_make(lines.ptr + taken, lines.len - taken);
        write_to(stdout, ki_str_from(left > 0 ? "\n" : ""));
    }
    write_to(stdout, ki_str_from(left > 0 ? "\033[J" : ""));
}

static void restore_keys(void)
{
    if (term.keys) {
        (void)tcsetattr(STDIN_FILENO, TCSANOW, &term.before);
        term.keys = false;
    }
}

bool cli_term_take_keys(void)
{
    static bool registered;
    struct termios single;
    if (!term.out_terminal || tcgetpgrp(STDIN_FILENO) != getpgrp() ||
        tcgetattr(STDIN_FILENO, &term.before) < 0) {
        return false;
    }
    if (!registered && atexit(restore_keys) != 0) {
        return false;
    }
    registered = true;
    single = term.before;
    single.c_lflag &= ~(tcflag_t)(ICANON | ECHO);
    single.c_cc[VMIN] = 1;
    single.c_cc[VTIME] = 0;
    term.keys = tcsetattr(STDIN_FILENO, TCSANOW, &single) == 0;
    return term.keys;
}

void cli_term_leave(void)
{
    restore_keys();
    if (term.screen) {
        write_to(stdout, ki_str_from("\033[?7h\033[?25h\033[?1049l"));
        term.screen = false;
    }
}

void cli_term_note(ki_str text)
{
    (void)cli_term_flush(); /* keeps both streams in order; a failure is detected later */
    clear_progress();
    write_to(stderr, text);
    (void)fflush(stderr);
}

void cli_term_progress(ki_str text)
{
    if (!term.error_terminal) {
        return;
    }
    (void)cli_term_flush();
    clear_progress();
    if (text.len != 0) {
        write_to(stderr, text);
        (void)fflush(stderr);
        term.progress = true;
    }
}
