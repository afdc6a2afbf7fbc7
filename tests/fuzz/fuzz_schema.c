/* SPDX-License-Identifier: Apache-2.0 */
/* The first line is a schema, the rest an object. What pruning and defaulting make of the object
 * must not change if it is done again, and validating it must end and say the same twice. */
#include <stdint.h>
#include <string.h>

#include <kinformer/encoding.h>
#include <kinformer/error.h>

#include "apiserver/validate/coerce.h"
#include "apiserver/validate/conform.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { MAX_BYTES = 1 << 20 };

static void must(bool condition)
{
    if (!condition) {
        __builtin_trap();
    }
}

static size_t conform(const ki__structural *schema, const ki_object *object, const ki_object *old)
{
    ki__invalid errors;
    ki_value value = ki_object_root(object);
    ki_value before = old != NULL ? ki_object_root(old) : (ki_value){0};
    ki__invalid_init(&errors, NULL);
    int r = ki__conform(schema, KI__STRUCTURAL_ROOT, &value, &before, "", &errors);
    must(r == 0 || r == KI_ERR_LIMIT);
    size_t count = r == 0 ? errors.count : SIZE_MAX;
    ki__invalid_done(&errors);
    return count;
}

/* 0, or -1 if the object cannot be made: it is too large or too deep then. */
static int coerce(const ki__structural *schema, ki_object *object, ki_object **ret_object)
{
    ki__unknown unknown;
    ki__unknown_init(&unknown, NULL);
    int r = ki__coerce(schema, object, MAX_BYTES, &unknown, ret_object);
    must(r == 0 || r == KI_ERR_LIMIT);
    const char *last = NULL;
    for (size_t i = 0; i <= unknown.count; i++) {
        last = ki__unknown_next(&unknown, last);
        if (last == NULL) {
            break;
        }
        must(i < unknown.count);
    }
    ki__unknown_done(&unknown);
    return r == 0 ? 0 : -1;
}

static void look_at(const ki__structural *schema, ki_object *object)
{
    ki_object *meant;
    ki_object *again;
    if (coerce(schema, object, &meant) == 0) {
        if (coerce(schema, meant, &again) == 0) {
            ki_str first = ki_object_bytes(meant);
            ki_str second = ki_object_bytes(again);
            must(ki_str_eq(first, second));
            ki_object_unref(again);
        }
        size_t count = conform(schema, meant, NULL);
        must(count == conform(schema, meant, NULL));
        must(count == SIZE_MAX || conform(schema, meant, object) <= count);
        size_t same = conform(schema, meant, meant);
        must(same == 0 || same == SIZE_MAX || count > 900);
        ki_object_unref(meant);
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    const char *bytes = (const char *)data;
    const char *end = size != 0 ? memchr(bytes, '\n', size) : NULL;
    ki_object *definition;
    ki_object *object;
    ki__structural *schema;
    if (end == NULL ||
        ki_object_from_json(bytes, (size_t)(end - bytes), NULL, &definition, NULL) < 0) {
        return 0;
    }
    ki_value root = ki_object_root(definition);
    int r = ki__structural_new(definition, &root, NULL, &schema);
    must(r == 0 || r == KI_ERR_LIMIT);
    if (r == 0 &&
        ki_object_from_json(end + 1, size - (size_t)(end - bytes) - 1, NULL, &object, NULL) == 0) {
        look_at(schema, object);
        ki_object_unref(object);
    }
    if (r == 0) {
        ki__structural_free(schema);
    }
    ki_object_unref(definition);
    return 0;
}
