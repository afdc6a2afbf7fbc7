/* SPDX-License-Identifier: Apache-2.0 */
/* Command line parser with kubectl's syntax: --name value, --name=value, -n value, -nvalue,
 * combined letters, options and operands in any order, and "--" before operands that look like
 * options. Options are described by tables, which help and completion also use. */
#ifndef KI_CLI_ARGS_H
#define KI_CLI_ARGS_H

#include <kinformer/defs.h>
#include <kinformer/error.h>

/** Words of the command line, borrowed from it. `items` is NULL-terminated, unless it is NULL. */
typedef struct cli_words {
    const char **items;
    size_t count;
} cli_words;

typedef enum cli_arg_type {
    CLI_ARG_FLAG,     /* bool: --name, --name=false */
    CLI_ARG_COUNT,    /* uint32_t: number of occurrences */
    CLI_ARG_TEXT,     /* const char * */
    CLI_ARG_OPTIONAL, /* const char *: "" for --name alone; a value requires '=' */
    CLI_ARG_LIST,     /* cli_words: one word per occurrence */
    CLI_ARG_NUMBER,   /* uint32_t */
    CLI_ARG_BYTES,    /* uint64_t: 1000000, or with a suffix: 64Ki, 200M, 2Gi */
    CLI_ARG_DURATION, /* uint32_t, milliseconds: 500ms, 10s, 1m30s, 2h; a plain number is seconds */
    CLI_ARG_REST, /* cli_words: --name WORD... takes all remaining words, even those that look like
                     options; --name=WORD takes one; the words after "--" belong to it as well */
    CLI_ARG_MAX
} cli_arg_type;

typedef struct cli_option {
    const char *name;
    char letter; /* 0: none */
    cli_arg_type type;
    size_t offset;     /* of the member that it sets */
    const char *value; /* placeholder for the value in the help; NULL: no value */
    const char *help;
} cli_option;

/** A table, and the struct that its offsets refer to. */
typedef struct cli_option_set {
    const cli_option *options;
    size_t count;
    void *target;
} cli_option_set;

/** Parses the NULL-terminated words `argv`. Operands are added to `ret_operands`.
 *  Errors: KI_ERR_INVALID  with a message for the user. Options parsed before the error are set. */
KI_NODISCARD int cli_args_parse(const cli_option_set *sets, size_t set_count,
                                const char *const *argv, cli_words *ret_operands, ki_error *error);

/** Parses the options before the first operand; *ret_count is their number of words.
 *  Errors: as cli_args_parse(). */
KI_NODISCARD int cli_args_leading(const cli_option_set *sets, size_t set_count,
                                  const char *const *argv, size_t *ret_count, ki_error *error);

void cli_words_add(cli_words *words, const char *word);
void cli_words_done(cli_words *words);

/** Parses a CLI_ARG_DURATION in milliseconds.  Errors: KI_ERR_INVALID. */
KI_NODISCARD int cli_args_duration(const char *text, uint32_t *ret_ms);

/** The most similar of `names` (NULL-terminated); NULL if none is similar. */
const char *cli_args_nearest(const char *text, const char *const *names);

#endif
