/* SPDX-License-Identifier: Apache-2.0 */
/* The command line, with the syntax of kubectl: --name value, --name=value, -n value, -nvalue,
 * several letters in one, options and operands in any order, and "--" before operands that look
 * like options. Options are described by tables, which help and completion use as well. */
#ifndef KI_CLI_ARGS_H
#define KI_CLI_ARGS_H

#include <kinformer/defs.h>
#include <kinformer/error.h>

/** Words of the command line, borrowed from it. `items` ends with NULL, unless it is NULL. */
typedef struct cli_words {
    const char **items;
    size_t count;
} cli_words;

typedef enum cli_arg_type {
    CLI_ARG_FLAG,     /* bool: --name, --name=false */
    CLI_ARG_COUNT,    /* uint32_t: how often it is there */
    CLI_ARG_TEXT,     /* const char * */
    CLI_ARG_OPTIONAL, /* const char *: "" for --name alone; a value needs the '=' */
    CLI_ARG_LIST,     /* cli_words: one more each time */
    CLI_ARG_NUMBER,   /* uint32_t */
    CLI_ARG_DURATION, /* uint32_t, milliseconds: 500ms, 10s, 1m30s, 2h; a number alone is seconds */
    CLI_ARG_REST,     /* cli_words: --name WORD... takes all words to the end, whatever they look
                         like; --name=WORD takes one; the words after "--" belong to it as well */
    CLI_ARG_MAX
} cli_arg_type;

typedef struct cli_option {
    const char *name;
    char letter; /* 0: none */
    cli_arg_type type;
    size_t offset;     /* of the member that it sets */
    const char *value; /* what its value is called in the help; NULL: it has none */
    const char *help;
} cli_option;

/** A table, and the struct that its offsets are in. */
typedef struct cli_option_set {
    const cli_option *options;
    size_t count;
    void *target;
} cli_option_set;

/** Reads the words `argv`, which end with NULL. What is no option is added to `ret_operands`.
 *  Errors: KI_ERR_INVALID  with what is wrong, for a person. What was read before it is set. */
KI_NODISCARD int cli_args_parse(const cli_option_set *sets, size_t set_count,
                                const char *const *argv, cli_words *ret_operands, ki_error *error);

/** Reads the options before the first operand; *ret_count is how many words they are.
 *  Errors: as cli_args_parse(). */
KI_NODISCARD int cli_args_leading(const cli_option_set *sets, size_t set_count,
                                  const char *const *argv, size_t *ret_count, ki_error *error);

void cli_words_add(cli_words *words, const char *word);
void cli_words_done(cli_words *words);

/** A number of milliseconds, as CLI_ARG_DURATION.  Errors: KI_ERR_INVALID. */
KI_NODISCARD int cli_args_duration(const char *text, uint32_t *ret_ms);

/** The one of `names` (NULL at the end) that is spelt most nearly so; NULL if none is near. */
const char *cli_args_nearest(const char *text, const char *const *names);

#endif
