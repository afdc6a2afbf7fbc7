/* SPDX-License-Identifier: Apache-2.0 */
/* Label selectors: reference counts, building and printing. Invariant: the printed text of a
 * selector is within the limit of ki_selector_parse(), and parses to an equal selector. */
#include "object/selector/selector.h"

#include <errno.h>
#include <string.h>

#include <kinformer/label_selector.h>

#include "base/alloc.h"
#include "base/assert.h"
#include "base/error.h"
#include "base/sort.h"
#include "object/edit/json_out.h"

static ki_selector everything;
static ki_selector nothing = {.nothing = true};

/* How each operator is printed: text before the key, after it, and after the values. */
static const struct {
    const char *before;
    const char *after;
    const char *end;
} spelling[KI__OP_MAX] = {
    [KI__OP_EXISTS] = {"", "", ""},          [KI__OP_NOT_EXISTS] = {"!", "", ""},
    [KI__OP_EQUALS] = {"", "=", ""},         [KI__OP_DOUBLE_EQUALS] = {"", "==", ""},
    [KI__OP_NOT_EQUALS] = {"", "!=", ""},    [KI__OP_IN] = {"", " in (", ")"},
    [KI__OP_NOT_IN] = {"", " notin (", ")"}, [KI__OP_GREATER] = {"", ">", ""},
    [KI__OP_LESS] = {"", "<", ""},
};

ki_selector *ki__selector_nothing(void)
{
    return &nothing;
}

const ki_selector *ki_selector_everything(void)
{
    return &everything;
}

const ki_selector *ki_selector_nothing(void)
{
    return &nothing;
}

/* Only the reference count ever changes, and only here. */
static ki_selector *writable(const ki_selector *selector)
{
    return (ki_selector *)(uintptr_t)selector;
}

ki_selector *ki_selector_ref(const ki_selector *selector)
{
    if (selector != NULL && selector->alloc != NULL) {
        ki__refs_take(&writable(selector)->refs);
    }
    return writable(selector);
}

ki_selector *ki_selector_unref(const ki_selector *selector)
{
    if (selector == NULL || selector->alloc == NULL) {
        return NULL;
    }
    ki_selector *mine = writable(selector);
    if (ki__refs_drop(&mine->refs)) {
        ki__free(mine->alloc, mine);
    }
    return NULL;
}

bool ki_selector_is_everything(const ki_selector *selector)
{
    return selector->count == 0 && !selector->nothing;
}

bool ki_selector_is_nothing(const ki_selector *selector)
{
    return selector->nothing;
}

static void print_requirement(const ki__requirement *requirement, ki__out *out)
{
    ki__out_text(out, spelling[requirement->op].before);
    ki__out_str(out, requirement->key);
    ki__out_text(out, spelling[requirement->op].after);
    for (uint32_t i = 0; i < requirement->value_count; i++) {
        ki__out_text(out, i != 0 ? "," : "");
        ki__out_str(out, requirement->values[i]);
    }
    ki__out_text(out, spelling[requirement->op].end);
}

int ki_selector_print(const ki_selector *selector, ki_buf *buf)
{
    KI__REQUIRE(selector, NULL);
    KI__REQUIRE(buf, NULL);
    if (selector->nothing) {
        return KI_ERR_UNSUPPORTED;
    }
    ki__out out = ki__out_to(buf);
    for (uint32_t i = 0; i < selector->count && out.error == 0; i++) {
        ki__out_text(&out, i != 0 ? "," : "");
        print_requirement(&selector->requirements[i], &out);
    }
    return ki__out_commit(&out);
}

static int count_printed(ki__selector_builder *builder, size_t len)
{
    if (len > KI__SELECTOR_TEXT_MAX - builder->printed) {
        return KI_ERR_LIMIT;
    }
    builder->printed += len;
    return 0;
}

static ki_str keep(ki__selector_builder *builder, ki_str text)
{
    ki_assert(text.len <= builder->bytes_max - builder->bytes);
    char *place = builder->byte_room + builder->bytes;
    if (text.len != 0) {
        memcpy(place, text.ptr, text.len);
    }
    return ki_str_make(place, text.len);
}

static ki__requirement *last(const ki__selector_builder *builder)
{
    ki_assert(builder->requirements != 0);
    return &builder->selector->requirements[builder->requirements - 1];
}

int ki__selector_builder_add(ki__selector_builder *builder, ki_str key, ki__operator op)
{
    size_t len = key.len + strlen(spelling[op].before) + strlen(spelling[op].after) +
                 strlen(spelling[op].end) + (builder->requirements != 0 ? 1 : 0);
    int r = count_printed(builder, len);
    if (r < 0) {
        return r;
    }
    if (builder->selector != NULL) {
        ki_assert(builder->requirements < builder->selector->count);
        builder->selector->requirements[builder->requirements] = (ki__requirement){
            .key = keep(builder, key),
            .values = builder->value_room + builder->values,
            .index = (uint32_t)builder->requirements,
            .op = op,
        };
    }
    builder->requirements++;
    builder->bytes += key.len;
    builder->more_values = false;
    return 0;
}

int ki__selector_builder_add_label(ki__selector_builder *builder, ki_str key)
{
    int r = ki__selector_builder_add(builder, key, KI__OP_EQUALS);
    if (r >= 0 && builder->selector != NULL) {
        last(builder)->label = true;
    }
    return r;
}

int ki__selector_builder_add_value(ki__selector_builder *builder, ki_str value)
{
    int r = count_printed(builder, value.len + (builder->more_values ? 1 : 0));
    if (r < 0) {
        return r;
    }
    if (builder->selector != NULL) {
        ki_assert(builder->values < builder->values_max);
        builder->value_room[builder->values] = keep(builder, value);
        last(builder)->value_count++;
    }
    builder->values++;
    builder->bytes += value.len;
    builder->more_values = true;
    return 0;
}

static int compare_values(const void *a, const void *b)
{
    return ki_str_cmp(*(const ki_str *)a, *(const ki_str *)b);
}

static int compare_requirements(const void *a, const void *b)
{
    const ki__requirement *x = a;
    const ki__requirement *y = b;
    int r = ki_str_cmp(x->key, y->key);
    return r != 0 ? r : (x->index > y->index) - (x->index < y->index);
}

void ki__selector_builder_end(ki__selector_builder *builder, bool distinct)
{
    if (builder->selector == NULL) {
        return;
    }
    ki__requirement *requirement = last(builder);
    uint32_t count = requirement->value_count;
    ki_str *values = builder->value_room + (builder->values - count);
    ki__sort(values, count, sizeof(*values), compare_values);
    uint32_t kept = 0;
    for (uint32_t i = 0; i < count; i++) {
        if (!distinct || kept == 0 || !ki_str_eq(values[kept - 1], values[i])) {
            values[kept++] = values[i];
        }
    }
    requirement->value_count = kept;
    builder->values -= count - kept;
    if (requirement->op == KI__OP_GREATER || requirement->op == KI__OP_LESS) {
        bool integer = kept == 1 && ki__selector_read_int64(values[0], &requirement->number);
        ki_assert(integer);
    }
}

/* Ends the first pass and allocates the selector for the second. */
static int builder_alloc(ki__selector_builder *builder, const ki_alloc *alloc)
{
    ki_assert(builder->selector == NULL);
    size_t head = sizeof(ki_selector) + builder->requirements * sizeof(ki__requirement);
    size_t size = head + builder->values * sizeof(ki_str) + builder->bytes;
    alloc = ki__alloc_or_default(alloc);
    ki_selector *selector = ki__alloc_zero(alloc, size); /* small, since the text is limited */
    if (selector == NULL) {
        return -ENOMEM;
    }
    selector->alloc = alloc;
    ki__refs_init(&selector->refs);
    selector->count = (uint32_t)builder->requirements;
    ki_str *values = (ki_str *)(void *)((char *)selector + head);
    *builder = (ki__selector_builder){
        .selector = selector,
        .value_room = values,
        .byte_room = (char *)(values + builder->values),
        .values_max = builder->values,
        .bytes_max = builder->bytes,
    };
    return 0;
}

/* Whether `b` is a duplicate of the label `a` of the map: the first one counts. */
static bool repeats(const ki__requirement *a, const ki__requirement *b)
{
    return a->label && b->label && ki_str_eq(a->key, b->key);
}

static ki_selector *builder_finish(ki__selector_builder *builder)
{
    ki_selector *selector = builder->selector;
    ki_assert(selector != NULL && builder->requirements == selector->count);
    ki__sort(selector->requirements, selector->count, sizeof(selector->requirements[0]),
             compare_requirements);
    uint32_t kept = 0;
    for (uint32_t i = 0; i < selector->count; i++) {
        if (kept == 0 || !repeats(&selector->requirements[kept - 1], &selector->requirements[i])) {
            selector->requirements[kept++] = selector->requirements[i];
        }
    }
    selector->count = kept;
    builder->selector = NULL;
    return selector;
}

int ki__selector_build(ki__selector_fill fill, const void *source, const ki_alloc *alloc,
                       ki_selector **ret_selector, ki_error *error)
{
    ki__selector_builder builder = {0};
    int r = fill(source, &builder, error);
    if (r < 0) {
        return r;
    }
    if (builder.requirements == 0) {
        *ret_selector = &everything;
        return 0;
    }
    r = builder_alloc(&builder, alloc);
    if (r < 0) {
        return ki__error_code(error, r);
    }
    r = fill(source, &builder, error);
    if (r < 0) {
        ki__free(builder.selector->alloc, builder.selector);
        return r;
    }
    *ret_selector = builder_finish(&builder);
    return 0;
}

bool ki__selector_read_int64(ki_str text, int64_t *ret_number)
{
    bool negative = text.len != 0 && text.ptr[0] == '-';
    size_t i = negative || (text.len != 0 && text.ptr[0] == '+') ? 1 : 0;
    if (i == text.len) {
        return false;
    }
    uint64_t limit = (uint64_t)INT64_MAX + (negative ? 1 : 0);
    uint64_t number = 0;
    for (; i < text.len; i++) {
        unsigned int digit = (unsigned int)(unsigned char)text.ptr[i] - '0';
        if (digit > 9 || number > (limit - digit) / 10) {
            return false;
        }
        number = number * 10 + digit;
    }
    /* Negating as unsigned also handles INT64_MIN. */
    *ret_number = (int64_t)(negative ? 0 - number : number);
    return true;
}

const char *ki__selector_show(ki_str text, char out[KI__SHOWN_SIZE])
{
    size_t n = text.len < KI__SHOWN_SIZE - 4 ? text.len : KI__SHOWN_SIZE - 4;
    for (size_t i = 0; i < n; i++) {
        char c = text.ptr[i];
        out[i] = (char)(c >= ' ' && c <= '~' ? c : '?');
    }
    memcpy(out + n, n < text.len ? "..." : "", n < text.len ? 4 : 1);
    return out;
}
