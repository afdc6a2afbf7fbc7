/* SPDX-License-Identifier: Apache-2.0 */
/* Field selectors: parsing and reference counts. Accepts what apimachinery's fields.ParseSelector
 * accepts:
 *
 *   selector = [ term ] *( "," [ term ] )
 *   term     = path ( "=" / "==" / "!=" ) value
 *
 * In a value, backslash, comma and = must be escaped with a backslash. A path ends at the first
 * operator, has no escapes and may even be empty; but an escaped comma does not end its term.
 * Blanks are ordinary characters. Terms with nothing on either side of the operator are skipped.
 *
 * Terms are sorted by their printed text. apimachinery sorts them by their source, so that terms
 * with == may come in another order; ours does not depend on the spelling. */
#include "object/selector/field_selector.h"

#include <errno.h>
#include <string.h>

#include <kinformer/field_selector.h>

#include "base/alloc.h"
#include "base/assert.h"
#include "base/error.h"
#include "base/sort.h"
#include "object/edit/json_out.h"

enum { FIELD_SELECTOR_TEXT_MAX = 65536 };

static ki_field_selector everything;

/* A term of the source. */
typedef struct source_term {
    ki_str path;
    ki_str value;  /* escaped */
    size_t offset; /* of the value in the source */
    bool negated;
} source_term;

/* A pass over the source: the first one, without a selector, only validates and counts. */
typedef struct pass {
    ki_str text;
    ki_error *error;
    ki_field_selector *selector;
    size_t terms;
    size_t bytes;
    char *byte_room;
    size_t bytes_max;
} pass;

/* The end of the term that starts at `start`: an unescaped comma or the end of the text. */
static size_t term_end(ki_str text, size_t start)
{
    size_t i = start;
    while (i < text.len && text.ptr[i] != ',') {
        i += text.ptr[i] == '\\' ? 2 : 1;
    }
    return i < text.len ? i : text.len;
}

static int split_term(const pass *p, size_t start, size_t end, source_term *ret_term)
{
    const char *text = p->text.ptr;
    for (size_t i = start; i < end; i++) {
        bool not_equals = text[i] == '!' && i + 1 < end && text[i + 1] == '=';
        if (text[i] != '=' && !not_equals) {
            continue;
        }
        bool wide = not_equals || (i + 1 < end && text[i + 1] == '=');
        size_t value = i + (wide ? 2 : 1);
        *ret_term = (source_term){
            .path = ki_str_make(text + start, i - start),
            .value = ki_str_make(text + value, end - value),
            .offset = value,
            .negated = not_equals,
        };
        return 0;
    }
    return ki__error_at(p->error, KI_ERR_SYNTAX, p->text, end,
                        "expected '=', '==' or '!=' and a value");
}

/* Validates a value and counts its escapes. */
static int check_value(const pass *p, const source_term *term, size_t *ret_escapes)
{
    const char *value = term->value.ptr;
    size_t escapes = 0;
    for (size_t i = 0; i < term->value.len; i++) {
        if (value[i] == '=') {
            return ki__error_at(p->error, KI_ERR_SYNTAX, p->text, term->offset + i,
                                "'=' in a value must be written as '\\='");
        }
        if (value[i] != '\\') {
            continue;
        }
        char next = (char)(i + 1 < term->value.len ? value[i + 1] : '\0');
        if (next != '\\' && next != ',' && next != '=') {
            return ki__error_at(p->error, KI_ERR_SYNTAX, p->text, term->offset + i,
                                "unknown escape: only '\\\\', '\\,' and '\\=' are allowed");
        }
        escapes++;
        i++;
    }
    *ret_escapes = escapes;
    return 0;
}

static ki_str keep(pass *p, ki_str text)
{
    ki_assert(text.len <= p->bytes_max - p->bytes);
    char *place = p->byte_room + p->bytes;
    if (text.len != 0) {
        memcpy(place, text.ptr, text.len);
    }
    p->bytes += text.len;
    return ki_str_make(place, text.len);
}

static ki_str keep_decoded(pass *p, ki_str value)
{
    ki_str kept = ki_str_make(p->byte_room + p->bytes, 0);
    for (size_t i = 0; i < value.len; i++) {
        i += value.ptr[i] == '\\' ? 1 : 0;
        (void)keep(p, ki_str_make(value.ptr + i, 1));
        kept.len++;
    }
    return kept;
}

static ki__field field_of(ki_str path)
{
    if (ki_str_eq_text(path, "metadata.name")) {
        return KI__FIELD_NAME;
    }
    return ki_str_eq_text(path, "metadata.namespace") ? KI__FIELD_NAMESPACE : KI__FIELD_PATH;
}

static void keep_term(pass *p, const source_term *source, bool escaped)
{
    ki_assert(p->terms < p->selector->count);
    ki_str path = keep(p, source->path);
    ki_str op = keep(p, ki_str_from(source->negated ? "!=" : "="));
    ki_str value = keep(p, source->value);
    p->selector->terms[p->terms] = (ki__field_term){
        .text = ki_str_make(path.ptr, path.len + op.len + value.len),
        .path = path,
        .value = escaped ? keep_decoded(p, source->value) : value,
        .field = field_of(path),
        .negated = source->negated,
    };
}

static int add_term(pass *p, size_t start, size_t end)
{
    source_term term = {0};
    int r = split_term(p, start, end, &term);
    if (r < 0) {
        return r;
    }
    size_t escapes = 0;
    r = check_value(p, &term, &escapes);
    if (r < 0) {
        return r;
    }
    if (term.path.len == 0 && term.value.len == 0) {
        return 0; /* empty: no condition, also with != */
    }
    if (p->selector != NULL) {
        keep_term(p, &term, escapes != 0);
    } else {
        p->bytes += term.path.len + (term.negated ? 2 : 1) + term.value.len;
        p->bytes += escapes != 0 ? term.value.len - escapes : 0;
    }
    p->terms++;
    return 0;
}

static int parse(pass *p)
{
    size_t start = 0;
    while (start < p->text.len) {
        size_t end = term_end(p->text, start);
        int r = end > start ? add_term(p, start, end) : 0;
        if (r < 0) {
            return r;
        }
        start = end + 1;
    }
    return 0;
}

static int compare_terms(const void *a, const void *b)
{
    return ki_str_cmp(((const ki__field_term *)a)->text, ((const ki__field_term *)b)->text);
}

/* Ends the first pass and allocates the selector for the second. */
static int make_room(pass *p, const ki_alloc *alloc)
{
    size_t head = sizeof(ki_field_selector) + p->terms * sizeof(ki__field_term);
    alloc = ki__alloc_or_default(alloc);
    p->selector = ki__alloc_zero(alloc, head + p->bytes); /* small, since the text is limited */
    if (p->selector == NULL) {
        return -ENOMEM;
    }
    p->selector->alloc = alloc;
    ki__refs_init(&p->selector->refs);
    p->selector->count = (uint32_t)p->terms;
    p->byte_room = (char *)p->selector + head;
    p->bytes_max = p->bytes;
    p->terms = 0;
    p->bytes = 0;
    return 0;
}

int ki_field_selector_parse(const char *text, const ki_alloc *alloc,
                            ki_field_selector **ret_selector, ki_error *error)
{
    KI__REQUIRE(text, error);
    KI__REQUIRE(ret_selector, error);
    return ki__field_selector_parse(ki_str_from(text), alloc, ret_selector, error);
}

int ki__field_selector_parse(ki_str text, const ki_alloc *alloc, ki_field_selector **ret_selector,
                             ki_error *error)
{
    if (text.len > FIELD_SELECTOR_TEXT_MAX) {
        return ki__error_at(error, KI_ERR_LIMIT, text, FIELD_SELECTOR_TEXT_MAX,
                            "selector longer than %d bytes", FIELD_SELECTOR_TEXT_MAX);
    }
    pass p = {.text = text, .error = error};
    int r = parse(&p);
    if (r < 0) {
        return r;
    }
    if (p.terms == 0) {
        *ret_selector = &everything;
        return 0;
    }
    r = make_room(&p, alloc);
    if (r < 0) {
        return ki__error_code(error, r);
    }
    r = parse(&p);
    ki_assert(r == 0 && p.terms == p.selector->count);
    ki__sort(p.selector->terms, p.terms, sizeof(p.selector->terms[0]), compare_terms);
    *ret_selector = p.selector;
    return 0;
}

/* Only the reference count ever changes, and only here. */
static ki_field_selector *writable(const ki_field_selector *selector)
{
    return (ki_field_selector *)(uintptr_t)selector;
}

ki_field_selector *ki_field_selector_ref(const ki_field_selector *selector)
{
    if (selector != NULL && selector->alloc != NULL) {
        ki__refs_take(&writable(selector)->refs);
    }
    return writable(selector);
}

ki_field_selector *ki_field_selector_unref(const ki_field_selector *selector)
{
    if (selector == NULL || selector->alloc == NULL) {
        return NULL;
    }
    ki_field_selector *mine = writable(selector);
    if (ki__refs_drop(&mine->refs)) {
        ki__free(mine->alloc, mine);
    }
    return NULL;
}

bool ki_field_selector_is_everything(const ki_field_selector *selector)
{
    return selector->count == 0;
}

int ki_field_selector_requires(const ki_field_selector *selector, const char *field,
                               ki_str *ret_value)
{
    KI__REQUIRE(selector, NULL);
    KI__REQUIRE(field, NULL);
    KI__REQUIRE(ret_value, NULL);
    for (uint32_t i = 0; i < selector->count; i++) {
        const ki__field_term *term = &selector->terms[i];
        if (!term->negated && ki_str_eq_text(term->path, field)) {
            *ret_value = term->value;
            return 0;
        }
    }
    return KI_ERR_NOT_FOUND;
}

int ki_field_selector_print(const ki_field_selector *selector, ki_buf *buf)
{
    KI__REQUIRE(selector, NULL);
    KI__REQUIRE(buf, NULL);
    ki__out out = ki__out_to(buf);
    for (uint32_t i = 0; i < selector->count && out.error == 0; i++) {
        ki__out_text(&out, i != 0 ? "," : "");
        ki__out_str(&out, selector->terms[i].text);
    }
    return ki__out_commit(&out);
}
