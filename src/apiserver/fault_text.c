/* SPDX-License-Identifier: Apache-2.0 */
/* Parses the text in one pass: rules end at ';' and at line ends, words at ','. A single table maps
 * each word to its value parser and its destination. */
#include "apiserver/fault_text.h"

#include <errno.h>

#include "base/alloc.h"
#include "base/ascii.h"
#include "base/digits.h"
#include "base/error.h"
#include "base/time_units.h"
#include "object/text/duration.h"

#define HOURS_MAX 24

typedef struct reader {
    ki_str text;
    ki__api_fault_set *set;
    ki__api_rule *rule;
    bool does; /* the rule has an effect */
    ki_error *error;
} reader;

static int refuse(const reader *r, ki_str at, const char *why)
{
    size_t offset = (size_t)(at.ptr - r->text.ptr);
    return ki__error_at(r->error, KI_ERR_INVALID, r->text, offset, "faults: \"%.*s\": %s",
                        (int)(at.len < 60 ? at.len : 60), at.ptr, why);
}

/* ---- values ---- */

static bool read_ms(ki_str value, uint64_t *ret_ms)
{
    int64_t ns;
    if (ki__duration_read(value, &ns) < 0 || ns < 0 ||
        (uint64_t)ns > HOURS_MAX * 3600 * KI__SECOND_NS) {
        return false;
    }
    *ret_ms = ((uint64_t)ns + KI__MS_NS - 1) / KI__MS_NS;
    return true;
}

/* "10%", "0.5%" or "0.25" as parts per million. */
static bool read_rate(ki_str value, uint32_t *ret_rate)
{
    bool percent = value.len != 0 && value.ptr[value.len - 1] == '%';
    uint64_t unit = percent ? 10000 : 1000000;
    uint64_t rate = 0;
    size_t digits = 0;
    bool point = false;
    for (size_t i = 0; i < value.len - (percent ? 1 : 0); i++) {
        unsigned digit = (unsigned)(value.ptr[i] - '0');
        if (value.ptr[i] == '.' && !point) {
            point = true;
            continue;
        }
        if (digit > 9 || rate > 1000000) {
            return false;
        }
        unit = point ? unit / 10 : unit;
        rate = point ? rate + digit * unit : rate * 10 + digit * unit;
        digits++;
    }
    *ret_rate = (uint32_t)rate;
    return digits != 0 && rate <= 1000000;
}

static bool read_verbs(ki_str value, uint32_t *ret_verbs)
{
    static const char *const names[KI__API_VERB_MAX] = {
        "get", "list", "watch", "create", "update", "patch", "delete", "deletecollection"};
    uint32_t verbs = 0;
    while (value.ptr != NULL) {
        const char *plus = memchr(value.ptr, '+', value.len);
        ki_str name = ki_str_make(value.ptr, plus != NULL ? (size_t)(plus - value.ptr) : value.len);
        size_t i = 0;
        while (i < KI__API_VERB_MAX && !ki_str_eq_text(name, names[i])) {
            i++;
        }
        if (i == KI__API_VERB_MAX) {
            return false;
        }
        verbs |= 1u << i;
        value =
            plus != NULL ? ki_str_make(plus + 1, value.len - name.len - 1) : ki_str_make(NULL, 0);
    }
    *ret_verbs = verbs;
    return verbs != 0;
}

static bool read_code(ki_str value, int *ret_code)
{
    uint64_t code;
    if (!ki__digits_read(value, &code) || code < 400 || code > 599) {
        return false;
    }
    *ret_code = (int)code;
    return true;
}

static bool read_seconds(ki_str value, uint32_t *ret_seconds)
{
    uint64_t seconds;
    if (!ki__digits_read(value, &seconds) || seconds > 86400) {
        return false;
    }
    *ret_seconds = (uint32_t)seconds;
    return true;
}

/* The resource name stays in the copy of the text, NUL-terminated in place. */
static bool read_resource(const reader *r, ki_str value)
{
    char *name = r->set->names + (value.ptr - r->text.ptr);
    name[value.len] = '\0';
    r->rule->resource = name;
    return value.len != 0;
}

/* ---- words ---- */

static int take_flag(reader *r, ki_str word)
{
    ki__api_plan *plan = &r->rule->plan;
    const struct {
        const char *name;
        bool *flag;
    } flags[] = {
        {"refuse", &plan->refuse},
        {"expire", &plan->expire},
        {"stale", &plan->stale},
        {"no-end-bookmark", &plan->no_end_bookmark},
        {"plain-end-bookmark", &plan->plain_end_bookmark},
        {"in-stream", &plan->in_stream},
        {"bare-deletes", &plan->bare_deletes},
        {"unknown-field", &plan->unknown_field},
    };
    for (size_t i = 0; i < sizeof(flags) / sizeof(flags[0]); i++) {
        if (ki_str_eq_text(word, flags[i].name)) {
            *flags[i].flag = true;
            r->does = r->does || flags[i].flag != &plan->in_stream;
            return 0;
        }
    }
    return refuse(r, word, "unknown fault");
}

/* Parses the effect of a rule. 1 if the name is known. */
static int take_effect(reader *r, ki_str name, ki_str value, bool *ret_ok)
{
    ki__api_plan *plan = &r->rule->plan;
    uint64_t ms = 0;
    if (ki_str_eq_text(name, "latency")) {
        *ret_ok = read_ms(value, &plan->latency_ms);
    } else if (ki_str_eq_text(name, "status")) {
        *ret_ok = read_code(value, &plan->http_code);
    } else if (ki_str_eq_text(name, "cut")) {
        plan->cut = true;
        *ret_ok = value.len != 0 && ki__digits_read(value, &plan->cut_after);
    } else if (ki_str_eq_text(name, "drop")) {
        *ret_ok = read_ms(value, &plan->drop_after_ms) && plan->drop_after_ms != 0;
    } else if (ki_str_eq_text(name, "lag")) {
        *ret_ok = read_ms(value, &ms);
        r->set->lag_ns = ms * KI__MS_NS;
    } else {
        return 0;
    }
    r->does = true;
    return 1;
}

static int take_word(reader *r, ki_str word)
{
    const char *equals = memchr(word.ptr, '=', word.len);
    if (equals == NULL) {
        return take_flag(r, word);
    }
    ki_str name = ki_str_make(word.ptr, (size_t)(equals - word.ptr));
    ki_str value = ki_str_make(equals + 1, word.len - name.len - 1);
    ki__api_rule *rule = r->rule;
    bool ok = false;
    if (take_effect(r, name, value, &ok) == 0) {
        if (ki_str_eq_text(name, "retry-after")) {
            ok = read_seconds(value, &rule->plan.retry_after_s);
        } else if (ki_str_eq_text(name, "verb")) {
            ok = read_verbs(value, &rule->verbs);
        } else if (ki_str_eq_text(name, "resource")) {
            ok = read_resource(r, value);
        } else if (ki_str_eq_text(name, "rate")) {
            ok = read_rate(value, &rule->rate);
        } else if (ki_str_eq_text(name, "times")) {
            ok = value.len != 0 && ki__digits_read(value, &rule->times);
        } else if (ki_str_eq_text(name, "skip")) {
            ok = value.len != 0 && ki__digits_read(value, &rule->skip);
        } else {
            return refuse(r, word, "unknown fault");
        }
    }
    return ok ? 0 : refuse(r, word, "invalid value");
}

/* ---- rules ---- */

/* Splits at the first of two separators; the remainder stays in *rest, whose pointer is NULL at the
 * end. */
static ki_str cut(ki_str *rest, char separator, char other)
{
    size_t len = 0;
    while (len < rest->len && rest->ptr[len] != separator && rest->ptr[len] != other) {
        len++;
    }
    ki_str part = ki_str_make(rest->ptr, len);
    *rest = len < rest->len ? ki_str_make(rest->ptr + len + 1, rest->len - len - 1)
                            : ki_str_make(NULL, 0);
    return ki__trim(part, " \t\r");
}

static int take_rule(reader *r, ki_str line)
{
    ki__api_rules *rules = &r->set->rules;
    if (rules->count == KI__API_RULES_MAX) {
        return ki__error_set(r->error, KI_ERR_LIMIT, "faults: more than %d rules",
                             (int)KI__API_RULES_MAX);
    }
    r->rule = &rules->rules[rules->count++];
    *r->rule = (ki__api_rule){.rate = 1000000};
    r->does = false;
    int result = 0;
    ki_str rest = line;
    while (rest.ptr != NULL && result == 0) {
        ki_str word = cut(&rest, ',', ',');
        result = word.len != 0 ? take_word(r, word) : refuse(r, line, "empty item");
    }
    if (result == 0 && !r->does) {
        return refuse(r, line, "no fault named");
    }
    return result;
}

static int read_rules(reader *r)
{
    int result = 0;
    ki_str rest = r->text;
    while (rest.ptr != NULL && result == 0) {
        ki_str line = cut(&rest, ';', '\n');
        if (line.len != 0 && line.ptr[0] != '#') {
            result = take_rule(r, line);
        }
    }
    return result;
}

static char *copy(const ki_alloc *alloc, ki_str text)
{
    char *block = ki__alloc(alloc, text.len + 1);
    if (block != NULL) {
        memcpy(block, text.ptr, text.len);
        block[text.len] = '\0';
    }
    return block;
}

int ki__api_fault_set_read(ki_str text, uint64_t seed, const ki_alloc *alloc,
                           ki__api_fault_set *ret_set, ki_error *error)
{
    text = text.ptr != NULL ? text : ki_str_from("");
    if (text.len > KI__API_FAULT_TEXT_MAX) {
        return ki__error_set(error, KI_ERR_LIMIT, "faults: text too long");
    }
    if (memchr(text.ptr, '\0', text.len) != NULL) {
        return ki__error_set(error, KI_ERR_INVALID, "faults: text contains NUL");
    }
    alloc = ki__alloc_or_default(alloc);
    ki__api_fault_set set = {.alloc = alloc, .rules.random = seed};
    set.text = copy(alloc, text);
    set.names = copy(alloc, text);
    set.rules.rules = ki__alloc_array(alloc, KI__API_RULES_MAX, sizeof(ki__api_rule));
    int r = -ENOMEM;
    if (set.text != NULL && set.names != NULL && set.rules.rules != NULL) {
        reader reading = {.text = text, .set = &set, .error = error};
        r = read_rules(&reading);
    } else {
        (void)ki__error_code(error, -ENOMEM);
    }
    if (r < 0) {
        ki__api_fault_set_done(&set);
        return r;
    }
    *ret_set = set;
    return 0;
}

void ki__api_fault_set_done(ki__api_fault_set *set)
{
    if (set->alloc != NULL) {
        ki__free(set->alloc, set->text);
        ki__free(set->alloc, set->names);
        ki__free(set->alloc, set->rules.rules);
        *set = (ki__api_fault_set){0};
    }
}
