/* SPDX-License-Identifier: Apache-2.0 */
/* --sort-by: kubectl's order, a stable sort. */
#include <stdlib.h>
#include <string.h>

#include "cli/report_failure.h"
#include "cli/select.h"
#include "cli/text.h"

typedef enum key_type { KEY_NONE, KEY_BOOL, KEY_NUMBER, KEY_TEXT } key_type;

typedef struct key {
    ki_object *object;
    size_t place; /* original position */
    key_type type;
    double number;
    bool is_quantity; /* `text` is the quantity `number` */
    char *text;
    size_t len;
} key;

/* ---- text ---- */

static bool is_digit(char c)
{
    return c >= '0' && c <= '9';
}

/* Number of digits without leading zeros; advances *at past the zeros. */
static size_t digits(ki_str text, size_t *at)
{
    size_t count = 0;
    while (*at < text.len && text.ptr[*at] == '0') {
        (*at)++;
    }
    while (*at + count < text.len && is_digit(text.ptr[*at + count])) {
        count++;
    }
    return count;
}

int cli_natural_order(ki_str a, ki_str b)
{
    size_t i = 0;
    size_t j = 0;
    while (i < a.len && j < b.len) {
        if (!is_digit(a.ptr[i]) || !is_digit(b.ptr[j])) {
            int order = (unsigned char)a.ptr[i++] - (unsigned char)b.ptr[j++];
            if (order != 0) {
                return order;
            }
            continue;
        }
        size_t a_count = digits(a, &i);
        size_t b_count = digits(b, &j);
        if (a_count != b_count) {
            return a_count < b_count ? -1 : 1;
        }
        int order = a_count != 0 ? memcmp(a.ptr + i, b.ptr + j, a_count) : 0;
        if (order != 0) {
            return order;
        }
        i += a_count;
        j += b_count;
    }
    bool a_ends = i == a.len;
    return a_ends == (j == b.len) ? ki_str_cmp(a, b) : a_ends ? -1 : 1;
}

/* The factor of a suffix; 0 if it is unknown. */
static double suffix_factor(const char *suffix)
{
    static const struct {
        const char *text;
        double factor;
    } suffixes[] = {
        {"", 1},        {"n", 1e-9},    {"u", 1e-6},    {"m", 1e-3},
        {"k", 1e3},     {"M", 1e6},     {"G", 1e9},     {"T", 1e12},
        {"P", 1e15},    {"E", 1e18},    {"Ki", 0x1p10}, {"Mi", 0x1p20},
        {"Gi", 0x1p30}, {"Ti", 0x1p40}, {"Pi", 0x1p50}, {"Ei", 0x1p60},
    };
    for (size_t i = 0; i < sizeof(suffixes) / sizeof(suffixes[0]); i++) {
        if (strcmp(suffixes[i].text, suffix) == 0) {
            return suffixes[i].factor;
        }
    }
    return 0;
}

/* Digits with at most one dot, and an exponent followed by digits. */
static size_t number_length(const char *text)
{
    size_t at = *text == '-' || *text == '+' ? 1 : 0;
    size_t first = at;
    bool any = false;
    for (bool dot = false; is_digit(text[at]) || (text[at] == '.' && !dot); at++) {
        dot = dot || text[at] == '.';
        any = any || is_digit(text[at]);
    }
    if (!any || at == first) {
        return 0;
    }
    if (text[at] == 'e' || text[at] == 'E') {
        size_t sign = text[at + 1] == '-' || text[at + 1] == '+' ? 1 : 0;
        size_t end = at + 1 + sign;
        while (is_digit(text[end])) {
            end++;
        }
        at = end > at + 1 + sign ? end : at;
    }
    return at;
}

bool cli_read_quantity(ki_str text, double *ret_number)
{
    char copy[64];
    if (text.len == 0 || text.len >= sizeof(copy) || memchr(text.ptr, '\0', text.len) != NULL) {
        return false;
    }
    memcpy(copy, text.ptr, text.len);
    copy[text.len] = '\0';
    size_t len = number_length(copy);
    double factor = suffix_factor(copy + len);
    if (len == 0 || factor == 0) {
        return false;
    }
    copy[len] = '\0';
    *ret_number = strtod(copy, NULL) * factor; /* only LC_CTYPE is localized */
    return true;
}

/* ---- keys ---- */

static void read_key(key *k, const ki_path *path)
{
    ki_value root = ki_object_root(k->object);
    ki_value value;
    bool flag = false;
    k->type = KEY_NONE;
    if (ki_path_first(path, &root, &value) < 0) {
        return;
    }
    switch (ki_value_type(&value)) {
    case KI_TYPE_NUMBER:
        k->type = ki_value_double(&value, &k->number) == 0 ? KEY_NUMBER : KEY_NONE;
        break;
    case KI_TYPE_BOOL:
        k->type = ki_value_bool(&value, &flag) == 0 ? KEY_BOOL : KEY_NONE;
        k->number = flag ? 1 : 0;
        break;
    case KI_TYPE_NONE:
    case KI_TYPE_NULL:
    case KI_TYPE_MAX:
        break;
    case KI_TYPE_STRING:
    case KI_TYPE_LIST:
    case KI_TYPE_MAP: {
        ki_buf text;
        cli_text_init(&text);
        cli_put_value(&text, &value, true);
        k->type = KEY_TEXT;
        k->text = strndup(ki_buf_text(&text), text.len);
        if (k->text == NULL) {
            cli_fail_memory();
        }
        k->len = strlen(k->text);
        k->is_quantity = cli_read_quantity(ki_str_from(k->text), &k->number);
        ki_buf_done(&text);
        break;
    }
    }
}

static int by_number(double a, double b)
{
    return a < b ? -1 : a > b;
}

static int order_of(const key *a, const key *b)
{
    if (a->type != b->type) {
        return (int)a->type - (int)b->type;
    }
    switch (a->type) {
    case KEY_BOOL:
    case KEY_NUMBER:
        return by_number(a->number, b->number);
    case KEY_TEXT:
        if (a->is_quantity && b->is_quantity) {
            return by_number(a->number, b->number);
        }
        return cli_natural_order(ki_str_make(a->text, a->len), ki_str_make(b->text, b->len));
    case KEY_NONE:
        break;
    }
    return 0;
}

static int compare(const void *left, const void *right)
{
    const key *a = left;
    const key *b = right;
    int order = order_of(a, b);
    if (order == 0) {
        order = a->place < b->place ? -1 : a->place > b->place;
    }
    return order;
}

/* Text is compared as quantities only if all values are quantities, to keep the order
 * consistent. */
static void unify(key *keys, size_t count)
{
    bool all = true;
    for (size_t i = 0; i < count; i++) {
        all = all && (keys[i].type != KEY_TEXT || keys[i].is_quantity);
    }
    for (size_t i = 0; i < count; i++) {
        keys[i].is_quantity = keys[i].is_quantity && all;
    }
}

int cli_found_sort(cli_found *found, const ki_path *path, ki_error *error)
{
    if (found->count == 0) {
        return 0;
    }
    key *keys = calloc(found->count, sizeof(*keys));
    if (keys == NULL) {
        cli_fail_memory();
    }
    bool any = false;
    for (size_t i = 0; i < found->count; i++) {
        keys[i] = (key){.object = found->items[i], .place = i};
        read_key(&keys[i], path);
        any = any || keys[i].type != KEY_NONE;
    }
    unify(keys, found->count);
    qsort(keys, found->count, sizeof(*keys), compare);
    for (size_t i = 0; i < found->count; i++) {
        found->items[i] = keys[i].object;
        free(keys[i].text);
    }
    free(keys);
    return any ? 0
               : cli_fail(error, KI_ERR_NOT_FOUND, "--sort-by: no object has a value at %s",
                          ki_path_text(path));
}
