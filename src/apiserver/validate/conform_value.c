/* SPDX-License-Identifier: Apache-2.0 */
/* Validates one value against one node. As in kube-apiserver, a value of a wrong type still gets
 * the checks for its actual type. */
#include <errno.h>

#include <kinformer/error.h>

#include "apiserver/validate/conform_parts.h"
#include "apiserver/validate/formats.h"
#include "apiserver/validate/metadata.h"
#include "apiserver/validate/name_rules.h"
#include "base/digits.h"
#include "base/utf8.h"
#include "object/edit/json_edit.h"
#include "object/edit/json_out.h"
#include "object/value.h"

#define LARGEST 1.7976931348623157e308

/* Classification of a value for the checks. */
typedef struct kind {
    const char *name;   /* type name in schemas */
    const char *format; /* for numbers */
    unsigned int bit;
    bool whole;   /* a number without fraction that fits an int64 */
    bool literal; /* written as an integer */
    int64_t integer;
    double number;
    ki_str digits; /* as written */
} kind;

static kind number_kind(const ki_value *value)
{
    kind k = {"number", "float64", .bit = KI__STRUCTURAL_NUMBER};
    bool read = ki_value_number_text(value, &k.digits) == 0;
    if (ki_value_double(value, &k.number) < 0) { /* out of range */
        k.number = read && k.digits.len != 0 && k.digits.ptr[0] == '-' ? -LARGEST : LARGEST;
    }
    k.whole = ki_value_int64(value, &k.integer) == 0;
    k.literal = k.whole;
    for (size_t i = 0; i < k.digits.len; i++) {
        char c = k.digits.ptr[i];
        k.literal = k.literal && c != '.' && c != 'e' && c != 'E';
    }
    if (k.literal) {
        k.name = "integer";
        k.format = "int64";
        k.bit = KI__STRUCTURAL_INTEGER;
    }
    return k;
}

static kind kind_of(const ki_value *value)
{
    switch (ki_value_type(value)) {
    case KI_TYPE_BOOL:
        return (kind){"boolean", "", .bit = KI__STRUCTURAL_BOOLEAN};
    case KI_TYPE_NUMBER:
        return number_kind(value);
    case KI_TYPE_STRING:
        return (kind){"string", "", .bit = KI__STRUCTURAL_STRING};
    case KI_TYPE_LIST:
        return (kind){"array", "", .bit = KI__STRUCTURAL_ARRAY};
    case KI_TYPE_MAP:
        return (kind){"object", "", .bit = KI__STRUCTURAL_OBJECT};
    case KI_TYPE_NONE:
    case KI_TYPE_NULL:
    case KI_TYPE_MAX:
        break;
    }
    return (kind){"null", "", .bit = 0};
}

/* ---- types ---- */

/* Sets w->shown. */
static int show_text(ki__conform_walk *w, ki_str text)
{
    ki_buf_clear(&w->shown);
    ki__out out = ki__out_to(&w->shown);
    ki__out_quoted(&out, text);
    return out.error;
}

static int show_value(ki__conform_walk *w, const ki_value *value)
{
    ki_buf_clear(&w->shown);
    ki__out out = ki__out_to(&w->shown);
    ki__invalid_show(value, &out);
    return out.error;
}

/* `must be of type integer: "string"` */
static int add_type(ki__conform_walk *w, ki_str type, ki_str found)
{
    ki_buf rest;
    ki_buf_init(&rest, w->alloc, KI__INVALID_BYTES_MAX);
    ki__out out = ki__out_to(&rest);
    ki__out_fail(&out, show_text(w, found));
    ki__out_text(&out, "must be of type ");
    ki__out_str(&out, type);
    ki__out_text(&out, ": ");
    ki__out_str(&out, ki_buf_str(&w->shown));
    int r = out.error;
    r = r < 0 ? r : ki__conform_add_in_body(w, KI__INVALID_TYPE, ki_buf_str(&w->shown), rest.data);
    ki_buf_done(&rest);
    return r;
}

static ki_str type_name(const ki__structural_node *n)
{
    static const struct {
        unsigned int bits;
        const char *name;
    } names[] = {
        {KI__STRUCTURAL_INTEGER | KI__STRUCTURAL_STRING, "integer,string"},
        {KI__STRUCTURAL_OBJECT, "object"},
        {KI__STRUCTURAL_ARRAY, "array"},
        {KI__STRUCTURAL_STRING, "string"},
        {KI__STRUCTURAL_INTEGER, "integer"},
        {KI__STRUCTURAL_NUMBER, "number"},
        {KI__STRUCTURAL_BOOLEAN, "boolean"},
    };
    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
        if (names[i].bits == n->types) {
            return ki_str_from(names[i].name);
        }
    }
    return ki_str_from("");
}

static int check_type(ki__conform_walk *w, const ki__structural_node *n, const kind *k,
                      uint32_t *matches)
{
    if (n->types == 0 && n->format.len == 0) {
        return 0;
    }
    *matches += k->bit != 0 ? 1 : 0;
    if (k->bit == 0) { /* null */
        bool fine = n->types == 0 || n->nullable;
        *matches += fine ? 1 : 0;
        return fine ? 0 : add_type(w, type_name(n), ki_str_from("null"));
    }
    bool numeric = (n->types & (KI__STRUCTURAL_INTEGER | KI__STRUCTURAL_NUMBER)) != 0;
    bool number = k->bit == KI__STRUCTURAL_INTEGER || k->bit == KI__STRUCTURAL_NUMBER;
    bool fits = (n->types & k->bit) != 0 ||
                (k->whole && (n->types & KI__STRUCTURAL_INTEGER) != 0) ||
                (number && k->literal && (n->types & KI__STRUCTURAL_NUMBER) != 0);
    bool text = k->bit == KI__STRUCTURAL_STRING || k->bit == KI__STRUCTURAL_ARRAY;
    if (!text && n->format.len != 0 && !fits) {
        return add_type(w, n->format, ki_str_from(k->format));
    }
    if ((text && n->format.len != 0 && !numeric) || fits) {
        *matches += 1;
        return 0;
    }
    return add_type(w, type_name(n), ki_str_from(k->name));
}

/* ---- strings ---- */

static int64_t count_characters(ki_str text)
{
    int64_t count = 0;
    while (text.len != 0) {
        size_t len = ki__utf8_length(text);
        len = len != 0 ? len : 1;
        text = ki_str_make(text.ptr + len, text.len - len);
        count++;
    }
    return count;
}

/* "should be at least 2 chars long" and the like. */
static int add_count(ki__conform_walk *w, ki_str shown, const char *before, int64_t number,
                     const char *after)
{
    ki_buf rest;
    ki_buf_init(&rest, w->alloc, 256);
    ki__out out = ki__out_to(&rest);
    ki__out_text(&out, before);
    ki__out_i64(&out, number);
    ki__out_text(&out, after);
    int r = out.error;
    r = r < 0 ? r : ki__conform_add_in_body(w, KI__INVALID_VALUE, shown, rest.data);
    ki_buf_done(&rest);
    return r;
}

/* "may not be more than 1 byte" and the like. */
static int add_maximum(ki__conform_walk *w, ki__invalid_reason reason, ki_str shown,
                       const char *before, int64_t max, const char *unit)
{
    ki_buf_clear(&w->detail);
    ki__out out = ki__out_to(&w->detail);
    ki__out_text(&out, before);
    ki__out_i64(&out, max);
    ki__out_texts(&out, unit, max == 1 ? "" : "s", NULL);
    return out.error < 0 ? out.error : ki__conform_add(w, reason, shown, w->detail.data);
}

static int check_pattern(ki__conform_walk *w, const ki__structural_node *n, ki_str text)
{
    int r = ki__pattern_match(n->pattern, text, &w->steps);
    if (r != 0) {
        return r < 0 ? r : 0;
    }
    ki_buf rest;
    ki_buf_init(&rest, w->alloc, KI__INVALID_BYTES_MAX);
    ki__out out = ki__out_to(&rest);
    ki__out_fail(&out, show_text(w, text));
    ki__out_text(&out, "should match '");
    ki__out_str(&out, n->pattern_text);
    ki__out_char(&out, '\'');
    r = out.error;
    r = r < 0 ? r : ki__conform_add_in_body(w, KI__INVALID_VALUE, ki_buf_str(&w->shown), rest.data);
    ki_buf_done(&rest);
    return r;
}

static int check_string(ki__conform_walk *w, const ki__structural_node *n, const ki_value *value)
{
    ki_buf_clear(&w->text);
    int r = ki_value_copy_string(value, &w->text);
    ki_str text = ki_buf_str(&w->text);
    if (r < 0) {
        return r;
    }
    int64_t count = n->min_length >= 0 || n->max_length >= 0 ? count_characters(text) : 0;
    if (n->max_length >= 0 && count > n->max_length) {
        r = add_maximum(w, KI__INVALID_TOO_LONG, (ki_str){0}, "may not be more than ",
                        n->max_length, " byte");
    } else if (n->min_length >= 0 && count < n->min_length) {
        r = show_text(w, text);
        r = r < 0 ? r
                  : add_count(w, ki_buf_str(&w->shown), "should be at least ", n->min_length,
                              " chars long");
    } else if (n->pattern != NULL) {
        r = check_pattern(w, n, text);
    }
    bool is_text = n->types == 0 || n->types == KI__STRUCTURAL_STRING;
    if (r == 0 && n->format.len != 0 && is_text && !ki__format_matches(n->format, text)) {
        r = add_type(w, n->format, text);
    }
    return r;
}

/* ---- numbers ---- */

/* `text` precedes the bound in the message. */
static int add_bound(ki__conform_walk *w, const kind *k, const char *text,
                     const ki__structural_bound *bound)
{
    ki_buf rest;
    ki_buf_init(&rest, w->alloc, 1024);
    ki__out out = ki__out_to(&rest);
    ki__out_text(&out, text);
    if (k->literal) {
        ki__out_i64(&out, bound->integer);
    } else {
        ki__out_str(&out, bound->text);
    }
    int r = out.error;
    r = r < 0 ? r : ki__conform_add_in_body(w, KI__INVALID_VALUE, k->digits, rest.data);
    ki_buf_done(&rest);
    return r;
}

/* Whether a number is close enough to an integer, by kube-apiserver's rule. */
static bool is_integral(double number)
{
    double limit = 9007199254740991.0;
    if (number > limit || number < -limit) {
        return true;
    }
    double rest = number - (double)(int64_t)number;
    return rest < 1e-9 && rest > -1e-9;
}

static bool is_multiple(const kind *k, const ki__structural_bound *factor)
{
    if (k->literal && factor->integer > 0) {
        return k->integer % factor->integer == 0;
    }
    if (factor->number <= 0) {
        return true;
    }
    return is_integral(factor->number < 1 ? 1 / factor->number * k->number
                                          : k->number / factor->number);
}

static bool is_above(const kind *k, const ki__structural_bound *maximum)
{
    if (k->literal) {
        return maximum->exclusive ? k->integer >= maximum->integer : k->integer > maximum->integer;
    }
    return maximum->exclusive ? k->number >= maximum->number : k->number > maximum->number;
}

static bool is_below(const kind *k, const ki__structural_bound *minimum)
{
    if (k->literal) {
        return minimum->exclusive ? k->integer <= minimum->integer : k->integer < minimum->integer;
    }
    return minimum->exclusive ? k->number <= minimum->number : k->number < minimum->number;
}

/* Checks integers against the range of their format. */
static int check_range(ki__conform_walk *w, const ki__structural_node *n, const kind *k)
{
    bool small = ki_str_eq_text(n->format, "int32");
    if (n->types != KI__STRUCTURAL_INTEGER ||
        (k->whole && (!small || (k->integer >= INT32_MIN && k->integer <= INT32_MAX)))) {
        return 0;
    }
    ki_buf_clear(&w->detail);
    ki__out out = ki__out_to(&w->detail);
    ki__out_texts(&out, "Checked value must be of type integer ",
                  n->format.len != 0 ? "with format " : "(default format)", NULL);
    ki__out_str(&out, n->format);
    ki__out_text(&out, " in ");
    ki__out_str(&out, ki__conform_name(w));
    return out.error < 0 ? out.error : ki__conform_add_loose(w, w->detail.data);
}

static int check_number(ki__conform_walk *w, const ki__structural_node *n, const kind *k)
{
    int r = check_range(w, n, k);
    if (r == 0 && n->multiple_of.set && !is_multiple(k, &n->multiple_of)) {
        r = add_bound(w, k, "should be a multiple of ", &n->multiple_of);
    }
    if (r == 0 && n->minimum.set && is_below(k, &n->minimum)) {
        r = add_bound(w, k,
                      n->minimum.exclusive ? "should be greater than "
                                           : "should be greater than or equal to ",
                      &n->minimum);
    }
    if (r == 0 && n->maximum.set && is_above(k, &n->maximum)) {
        r = add_bound(w, k,
                      n->maximum.exclusive ? "should be less than "
                                           : "should be less than or equal to ",
                      &n->maximum);
    }
    return r;
}

/* ---- enumerations ---- */

static bool is_same_number(const ki_value *a, const ki_value *b)
{
    double x;
    double y;
    int64_t i;
    int64_t j;
    if (ki_value_int64(a, &i) == 0 && ki_value_int64(b, &j) == 0) {
        return i == j;
    }
    return ki_value_double(a, &x) == 0 && ki_value_double(b, &y) == 0 && !(x < y) && !(x > y);
}

static int is_one(ki__conform_walk *w, const ki_value *value, const ki_value *allowed,
                  bool *ret_same)
{
    ki_type type = ki_value_type(value);
    *ret_same = false;
    if (type != ki_value_type(allowed) || type == KI_TYPE_NULL) { /* null never matches */
        return 0;
    }
    if (type == KI_TYPE_NUMBER) {
        *ret_same = is_same_number(value, allowed);
        return 0;
    }
    return ki__json_same(value, allowed, w->alloc, ret_same);
}

/* A value of any type in quotes. */
static void write_allowed(const ki_value *allowed, const ki_alloc *alloc, ki__out *out)
{
    ki_buf text;
    ki_buf_init(&text, alloc, KI__INVALID_BYTES_MAX);
    ki__out plain = ki__out_to(&text);
    if (ki_value_type(allowed) == KI_TYPE_STRING) {
        ki__out_content(&plain, allowed);
    } else {
        ki__invalid_show_json(allowed, &plain);
    }
    ki__out_fail(out, plain.error);
    ki__out_quoted(out, ki_buf_str(&text));
    ki_buf_done(&text);
}

static int add_not_supported(ki__conform_walk *w, const ki__structural_node *n,
                             const ki_value *value)
{
    ki_value_iter iter;
    ki_value allowed;
    const char *comma = "";
    ki_buf_clear(&w->detail);
    ki__out out = ki__out_to(&w->detail);
    ki__out_fail(&out, show_value(w, value));
    ki__out_text(&out, "supported values: ");
    ki__out_fail(&out, ki_value_iter_begin(&n->enumeration, &iter));
    while (out.error == 0 && ki_value_iter_next(&iter, NULL, &allowed) > 0) {
        ki__out_text(&out, comma);
        write_allowed(&allowed, w->alloc, &out);
        comma = ", ";
    }
    return out.error < 0 ? out.error
                         : ki__conform_add(w, KI__INVALID_NOT_SUPPORTED, ki_buf_str(&w->shown),
                                           w->detail.data);
}

static int check_enumeration(ki__conform_walk *w, const ki__structural_node *n,
                             const ki_value *value)
{
    ki_value_iter iter;
    ki_value allowed;
    bool any = false;
    if (ki_value_type(&n->enumeration) != KI_TYPE_LIST ||
        ki_value_iter_begin(&n->enumeration, &iter) < 0) {
        return 0;
    }
    const char *before = n->enumeration.bytes;
    while (ki_value_iter_next(&iter, NULL, &allowed) > 0) {
        bool same;
        int r = ki__conform_take(w, 1 + (size_t)((const char *)allowed.bytes - before) / 16);
        before = allowed.bytes;
        r = r < 0 ? r : is_one(w, value, &allowed, &same);
        if (r < 0 || same) {
            return r;
        }
        any = true;
    }
    return any ? add_not_supported(w, n, value) : 0;
}

/* ---- sizes ---- */

static int check_size(ki__conform_walk *w, size_t count, int64_t min, int64_t max,
                      const char *items)
{
    int r = 0;
    char room[KI__DIGITS_SIZE];
    ki_str shown = ki__digits(count, room);
    if (min >= 0 && (int64_t)count < min) {
        r = add_count(w, shown, "should have at least ", min, items);
    }
    if (r == 0 && max >= 0 && (int64_t)count > max) {
        r = add_maximum(w, KI__INVALID_TOO_MANY, shown, "must have at most ", max, " item");
    }
    return r;
}

int ki__conform_value(ki__conform_walk *w, const ki__structural_node *n, const ki_value *value,
                      uint32_t *matches)
{
    kind k = kind_of(value);
    int r = check_type(w, n, &k, matches);
    if (r == 0) {
        r = check_enumeration(w, n, value);
    }
    if (r < 0 || k.bit == 0) {
        return r;
    }
    /* Checks that apply: this one, alternatives, enum, and the one of the type. */
    *matches += 5;
    switch (ki_value_type(value)) {
    case KI_TYPE_STRING:
        *matches += n->format.len != 0 ? 1 : 0;
        return check_string(w, n, value);
    case KI_TYPE_NUMBER:
        *matches += 1;
        return check_number(w, n, &k);
    case KI_TYPE_LIST:
        *matches += 1;
        return check_size(w, ki_value_count(value), n->min_items, n->max_items, " items");
    case KI_TYPE_MAP:
        return check_size(w, ki_value_count(value), n->min_properties, n->max_properties,
                          " properties");
    default:
        *matches -= 1; /* none for booleans */
        return 0;
    }
}

/* ---- embedded objects ---- */

static int add_at(ki__conform_walk *w, const char *name, ki__invalid_reason reason, ki_str shown,
                  const char *detail)
{
    ki__out out = ki__out_to(&w->path);
    ki__out_texts(&out, w->path.len != 0 ? "." : "", name, NULL);
    int r = out.error < 0 ? out.error : ki__conform_add(w, reason, shown, detail);
    ki__buf_truncate(&w->path, out.start);
    return r;
}

static int check_meta_text(ki__conform_walk *w, const ki_value *object, const char *name)
{
    ki_value value = ki__value_child(object, name);
    ki_type type = ki_value_type(&value);
    if (type == KI_TYPE_NONE) {
        return add_at(w, name, KI__INVALID_REQUIRED, (ki_str){0}, "");
    }
    if (type == KI_TYPE_STRING && !ki_value_equals(&value, ki_str_from(""))) {
        return 0;
    }
    int r = show_value(w, &value);
    return r < 0 ? r
                 : add_at(w, name, KI__INVALID_VALUE, ki_buf_str(&w->shown),
                          type == KI_TYPE_STRING ? "must not be empty" : "must be a string");
}

int ki__conform_embedded(ki__conform_walk *w, const ki_value *object)
{
    ki_value metadata = ki__value_child(object, "metadata");
    size_t count = w->errors->count;
    int r = check_meta_text(w, object, "apiVersion");
    r = r < 0 ? r : check_meta_text(w, object, "kind");
    if (r < 0 || ki_value_type(&metadata) != KI_TYPE_MAP) {
        return r;
    }
    ki__out out = ki__out_to(&w->path);
    ki__out_texts(&out, w->path.len != 0 ? "." : "", "metadata", NULL);
    r = out.error < 0 ? out.error
                      : ki__metadata_check_common(&metadata, w->path.data, false, w->errors);
    ki__buf_truncate(&w->path, out.start);
    w->failures += w->errors->count - count;
    return r;
}
