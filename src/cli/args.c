/* SPDX-License-Identifier: Apache-2.0 */
/* The command line parser. It is independent of commands: tables describe the options. */
#include "cli/args.h"

#include <stdlib.h>
#include <string.h>

#include "cli/report_failure.h"

enum { NAME_MAX_LEN = 63, NAMES_MAX = 128 };

typedef struct reading {
    const cli_option_set *sets;
    size_t set_count;
    const char *const *next; /* the next word */
    cli_words *operands;
    ki_error *error;
} reading;

void cli_words_add(cli_words *words, const char *word)
{
    const char **items = realloc(words->items, (words->count + 2) * sizeof(*items));
    if (items == NULL) {
        cli_fail_memory();
    }
    items[words->count++] = word;
    items[words->count] = NULL;
    words->items = items;
}

void cli_words_done(cli_words *words)
{
    free(words->items);
    *words = (cli_words){0};
}

/* ---- values ---- */

static bool is_digit(char c)
{
    return c >= '0' && c <= '9';
}

/* Parses a number at *text; advances *text. */
static int read_number(const char **text, uint64_t *ret_number)
{
    uint64_t number = 0;
    if (!is_digit(**text)) {
        return KI_ERR_INVALID;
    }
    for (; is_digit(**text); (*text)++) {
        number = number * 10 + (uint64_t)(**text - '0');
        if (number > UINT32_MAX) {
            return KI_ERR_INVALID;
        }
    }
    *ret_number = number;
    return 0;
}

/* Parses a unit at *text, in milliseconds; advances *text. 0 if there is none. */
static uint64_t read_unit(const char **text)
{
    static const struct {
        const char *name;
        uint64_t ms;
    } units[] = {{"ms", 1}, {"s", 1000}, {"m", 60 * 1000}, {"h", 3600 * 1000}};
    for (size_t i = 0; i < sizeof(units) / sizeof(units[0]); i++) {
        size_t len = strlen(units[i].name);
        if (strncmp(*text, units[i].name, len) == 0) {
            *text += len;
            return units[i].ms;
        }
    }
    return 0;
}

int cli_args_duration(const char *text, uint32_t *ret_ms)
{
    uint64_t sum = 0;
    do {
        uint64_t number;
        int r = read_number(&text, &number);
        if (r < 0) {
            return r;
        }
        uint64_t unit = *text == '\0' && sum == 0 ? 1000 : read_unit(&text);
        sum += number * unit;
        if (unit == 0 || sum >= UINT32_MAX) {
            return KI_ERR_INVALID;
        }
    } while (*text != '\0');
    *ret_ms = (uint32_t)sum;
    return 0;
}

static int set_flag(bool *flag, const char *value)
{
    if (value == NULL || strcmp(value, "true") == 0 || strcmp(value, "1") == 0) {
        *flag = true;
    } else if (strcmp(value, "false") == 0 || strcmp(value, "0") == 0) {
        *flag = false;
    } else {
        return KI_ERR_INVALID;
    }
    return 0;
}

static int set_number(uint32_t *number, const char *value)
{
    uint64_t read;
    if (value == NULL || read_number(&value, &read) < 0 || *value != '\0') {
        return KI_ERR_INVALID;
    }
    *number = (uint32_t)read;
    return 0;
}

/* Parses a number of bytes with a suffix as in Kubernetes. */
static int set_bytes(uint64_t *bytes, const char *value)
{
    static const struct {
        const char *name;
        uint64_t bytes;
    } suffixes[] = {{"", 1},         {"k", 1000},     {"M", 1000000}, {"G", 1000000000},
                    {"Ki", 1 << 10}, {"Mi", 1 << 20}, {"Gi", 1 << 30}};
    uint64_t number;
    if (value == NULL || read_number(&value, &number) < 0) {
        return KI_ERR_INVALID;
    }
    for (size_t i = 0; i < sizeof(suffixes) / sizeof(suffixes[0]); i++) {
        if (strcmp(value, suffixes[i].name) == 0) {
            *bytes = number * suffixes[i].bytes; /* both are below 2^32 */
            return 0;
        }
    }
    return KI_ERR_INVALID;
}

static void take_rest(reading *reads, cli_words *words)
{
    for (; *reads->next != NULL; reads->next++) {
        cli_words_add(words, *reads->next);
    }
}

static int set_value(const cli_option *option, void *member, const char *value)
{
    switch (option->type) {
    case CLI_ARG_FLAG:
        return set_flag(member, value);
    case CLI_ARG_COUNT:
        if (value != NULL) {
            return set_number(member, value);
        }
        (*(uint32_t *)member)++;
        return 0;
    case CLI_ARG_TEXT:
        *(const char **)member = value;
        return 0;
    case CLI_ARG_OPTIONAL:
        *(const char **)member = value != NULL ? value : "";
        return 0;
    case CLI_ARG_LIST:
        cli_words_add(member, value);
        return 0;
    case CLI_ARG_NUMBER:
        return set_number(member, value);
    case CLI_ARG_BYTES:
        return set_bytes(member, value);
    case CLI_ARG_DURATION:
        return cli_args_duration(value, member);
    case CLI_ARG_REST:
        cli_words_add(member, value); /* the words after it: see take() */
        return 0;
    case CLI_ARG_MAX:
        break;
    }
    return KI_ERR_INVALID;
}

static bool needs_value(const cli_option *option)
{
    return option->type != CLI_ARG_FLAG && option->type != CLI_ARG_COUNT &&
           option->type != CLI_ARG_OPTIONAL;
}

/* Describes the valid values of an option, for the error message. */
static const char *values_of(const cli_option *option)
{
    switch (option->type) {
    case CLI_ARG_DURATION:
        return "a duration such as 500ms, 10s, 1m30s or 2h";
    case CLI_ARG_NUMBER:
        return "a whole number";
    case CLI_ARG_BYTES:
        return "a number of bytes such as 500000, 64Ki, 200M or 2Gi";
    default:
        return option->value != NULL ? option->value : "true or false";
    }
}

/* Sets an option to the value after '=', or to the next word. */
static int take(reading *reads, const cli_option *option, void *target, const char *value)
{
    bool attached = value != NULL;
    if (!attached && needs_value(option)) {
        if (*reads->next == NULL) {
            return cli_fail(reads->error, KI_ERR_INVALID, "--%s: value missing: %s", option->name,
                            option->value);
        }
        value = *reads->next++;
    }
    int r = set_value(option, (char *)target + option->offset, value);
    if (r < 0) {
        return cli_fail(reads->error, r, "--%s: invalid value \"%s\": must be %s", option->name,
                        value, values_of(option));
    }
    if (option->type == CLI_ARG_REST && !attached) {
        take_rest(reads, (void *)((char *)target + option->offset));
    }
    return 0;
}

/* ---- names ---- */

/* Edit distance: insertions, deletions and changes of letters. */
static size_t distance(const char *a, const char *b)
{
    size_t row[NAME_MAX_LEN + 2];
    size_t a_len = strlen(a);
    size_t b_len = strlen(b);
    if (a_len > NAME_MAX_LEN || b_len > NAME_MAX_LEN) {
        return NAME_MAX_LEN;
    }
    for (size_t j = 0; j <= b_len; j++) {
        row[j] = j;
    }
    for (size_t i = 1; i <= a_len; i++) {
        size_t corner = row[0];
        row[0] = i;
        for (size_t j = 1; j <= b_len; j++) {
            size_t best = corner + (a[i - 1] != b[j - 1] ? 1 : 0);
            best = row[j] + 1 < best ? row[j] + 1 : best;
            best = row[j - 1] + 1 < best ? row[j - 1] + 1 : best;
            corner = row[j];
            row[j] = best;
        }
    }
    return row[b_len];
}

const char *cli_args_nearest(const char *text, const char *const *names)
{
    const char *nearest = NULL;
    size_t least = strlen(text) / 3 + 2; /* this many must match */
    for (; *names != NULL; names++) {
        size_t found = distance(text, *names);
        bool begins = strlen(text) >= 3 && strncmp(text, *names, strlen(text)) == 0;
        if (found < least || (begins && nearest == NULL)) {
            nearest = *names;
            least = found < least ? found : least;
        }
    }
    return nearest;
}

static int unknown_name(const reading *reads, const char *name)
{
    const char *names[NAMES_MAX + 1];
    size_t count = 0;
    for (size_t i = 0; i < reads->set_count; i++) {
        for (size_t j = 0; j < reads->sets[i].count && count < NAMES_MAX; j++) {
            names[count++] = reads->sets[i].options[j].name;
        }
    }
    names[count] = NULL;
    const char *nearest = cli_args_nearest(name, names);
    if (nearest == NULL) {
        return cli_fail(reads->error, KI_ERR_INVALID, "unknown option --%s", name);
    }
    return cli_fail(reads->error, KI_ERR_INVALID, "unknown option --%s; did you mean --%s?", name,
                    nearest);
}

static int read_long(reading *reads, const char *word)
{
    char name[NAME_MAX_LEN + 1];
    const char *equals = strchr(word, '=');
    size_t len = equals != NULL ? (size_t)(equals - word) : strlen(word);
    len = len < sizeof(name) - 1 ? len : sizeof(name) - 1;
    memcpy(name, word, len);
    name[len] = '\0';
    for (size_t i = 0; i < reads->set_count; i++) {
        const cli_option_set *set = &reads->sets[i];
        for (size_t j = 0; j < set->count; j++) {
            if (strcmp(set->options[j].name, name) == 0) {
                return take(reads, &set->options[j], set->target,
                            equals != NULL ? equals + 1 : NULL);
            }
        }
    }
    return unknown_name(reads, name);
}

static const cli_option *find_letter(const reading *reads, char letter, void **ret_target)
{
    for (size_t i = 0; i < reads->set_count; i++) {
        const cli_option_set *set = &reads->sets[i];
        for (size_t j = 0; j < set->count; j++) {
            if (set->options[j].letter == letter) {
                *ret_target = set->target;
                return &set->options[j];
            }
        }
    }
    return NULL;
}

/* -abc: flags up to one with a value, which is the rest of the word, if any. */
static int read_letters(reading *reads, const char *letters)
{
    for (; *letters != '\0'; letters++) {
        void *target = NULL;
        const cli_option *option = find_letter(reads, *letters, &target);
        if (option == NULL) {
            return cli_fail(reads->error, KI_ERR_INVALID, "unknown option -%c", *letters);
        }
        const char *value = NULL;
        if (letters[1] == '=') {
            value = letters + 2;
        } else if (needs_value(option) && letters[1] != '\0') {
            value = letters + 1;
        }
        int r = take(reads, option, target, value);
        if (r < 0 || value != NULL) {
            return r;
        }
    }
    return 0;
}

/* The words after "--": values of the CLI_ARG_REST option, or operands. */
static void take_after_dashes(reading *reads)
{
    for (size_t i = 0; i < reads->set_count; i++) {
        const cli_option_set *set = &reads->sets[i];
        for (size_t j = 0; j < set->count; j++) {
            if (set->options[j].type == CLI_ARG_REST) {
                take_rest(reads, (void *)((char *)set->target + set->options[j].offset));
                return;
            }
        }
    }
    take_rest(reads, reads->operands);
}

static bool is_operand(const char *word)
{
    return word[0] != '-' || word[1] == '\0';
}

static int read_option(reading *reads, const char *word)
{
    return word[1] == '-' ? read_long(reads, word + 2) : read_letters(reads, word + 1);
}

int cli_args_leading(const cli_option_set *sets, size_t set_count, const char *const *argv,
                     size_t *ret_count, ki_error *error)
{
    reading reads = {sets, set_count, argv, NULL, error};
    int r = 0;
    while (r == 0 && *reads.next != NULL && !is_operand(*reads.next) &&
           strcmp(*reads.next, "--") != 0) {
        const char *word = *reads.next++;
        r = read_option(&reads, word);
    }
    *ret_count = (size_t)(reads.next - argv);
    return r;
}

int cli_args_parse(const cli_option_set *sets, size_t set_count, const char *const *argv,
                   cli_words *ret_operands, ki_error *error)
{
    reading reads = {sets, set_count, argv, ret_operands, error};
    int r = 0;
    while (r == 0 && *reads.next != NULL) {
        const char *word = *reads.next++;
        if (is_operand(word)) {
            cli_words_add(ret_operands, word);
        } else if (strcmp(word, "--") == 0) {
            take_after_dashes(&reads);
        } else {
            r = read_option(&reads, word);
        }
    }
    return r;
}
