/* SPDX-License-Identifier: Apache-2.0 */
/* Compiled and one-time paths, and the getters that read an object through a path. */
#include "object/path/path.h"

#include <errno.h>
#include <string.h>

#include "base/alloc.h"
#include "base/error.h"
#include "object/value.h"

/* Upper bound for the steps of `text`: each starts with a dot or a bracket, except possibly the
 * first; a comma adds a member and perhaps the union around it; [key=value] is a filter with a step
 * in it; -> is [*] and a dot. */
static uint8_t steps_at_most(ki_str text)
{
    size_t count = 1;
    for (size_t i = 0; i < text.len; i++) {
        char c = text.ptr[i];
        count += c == '.' || c == '[' || c == '=' ? 1 : c == ',' || c == '>' ? 2 : 0;
    }
    return (uint8_t)(count < KI__PATH_STEPS_MAX ? count : KI__PATH_STEPS_MAX);
}

static uint8_t terms_at_most(ki_str text)
{
    size_t count = 0;
    for (size_t i = 0; i < text.len; i++) {
        char c = text.ptr[i];
        count += c == '?' || c == '&' || c == '|' || c == '=';
    }
    return (uint8_t)(count < KI__PATH_TERMS_MAX ? count : KI__PATH_TERMS_MAX);
}

/* A path with capacity for everything in `text`, in one block: the strictest alignment first, the
 * bytes of the text and of the names last. */
static ki_path *path_new(ki_str text, const ki_alloc *alloc)
{
    uint8_t step_cap = steps_at_most(text);
    uint8_t term_cap = terms_at_most(text);
    size_t size = sizeof(ki_path) + step_cap * sizeof(ki__path_step) +
                  term_cap * sizeof(ki__path_term) + 2 * text.len + 1;
    ki_path *path = ki__alloc_zero(alloc, size);
    if (path == NULL) {
        return NULL;
    }
    path->alloc = alloc;
    path->step_cap = step_cap;
    path->term_cap = term_cap;
    path->steps = (ki__path_step *)(path + 1);
    path->terms = (ki__path_term *)(path->steps + step_cap);
    char *copy = (char *)(path->terms + term_cap);
    if (text.len != 0) {
        memcpy(copy, text.ptr, text.len);
    }
    path->text = ki_str_make(copy, text.len); /* NUL-terminated: the block is zeroed */
    path->names = copy + text.len + 1;
    ki__refs_init(&path->refs);
    return path;
}
_Static_assert(_Alignof(ki_path) >= _Alignof(ki__path_step), "steps follow the path");
_Static_assert(sizeof(ki_path) % _Alignof(ki__path_step) == 0, "steps follow the path");
_Static_assert(sizeof(ki__path_step) % _Alignof(ki__path_term) == 0, "terms follow the steps");

int ki_path_compile(const char *text, const ki_alloc *alloc, ki_path **ret_path, ki_error *error)
{
    KI__REQUIRE(text, error);
    KI__REQUIRE(ret_path, error);
    ki_str source = ki_str_make(text, text != NULL ? strnlen(text, KI__PATH_BYTES_MAX + 1) : 0);
    if (source.len > KI__PATH_BYTES_MAX) {
        return ki__error_at(error, KI_ERR_LIMIT, source, KI__PATH_BYTES_MAX,
                            "path longer than %d bytes", KI__PATH_BYTES_MAX);
    }
    ki_path *path = path_new(source, ki__alloc_or_default(alloc));
    if (path == NULL) {
        return ki__error_code(error, -ENOMEM);
    }
    int r = ki__path_parse(path, error);
    if (r < 0) {
        ki__free(path->alloc, path);
        return r;
    }
    *ret_path = path;
    return 0;
}

ki_path *ki_path_ref(const ki_path *path)
{
    if (path == NULL) {
        return NULL;
    }
    ki_path *shared = (ki_path *)(uintptr_t)path; /* everything but the count is constant */
    ki__refs_take(&shared->refs);
    return shared;
}

ki_path *ki_path_unref(const ki_path *path)
{
    if (path == NULL) {
        return NULL;
    }
    ki_path *shared = (ki_path *)(uintptr_t)path;
    if (ki__refs_drop(&shared->refs)) {
        ki__free(shared->alloc, shared);
    }
    return NULL;
}

const char *ki_path_text(const ki_path *path)
{
    return path->text.ptr;
}

/* ---- one-time paths: entirely on the stack ---- */

#define ONCE_BYTES_MAX 512
#define ONCE_TERMS_MAX 16

ki_value ki_value_at(const ki_value *value, const char *path)
{
    ki__path_step steps[KI__PATH_STEPS_MAX];
    ki__path_term terms[ONCE_TERMS_MAX];
    char names[ONCE_BYTES_MAX];
    ki_value found = {0};
    ki_str text = ki_str_make(path, path != NULL ? strnlen(path, ONCE_BYTES_MAX + 1) : 0);
    if (value == NULL || text.len == 0 || text.len > ONCE_BYTES_MAX) {
        return found;
    }
    ki_path once = {
        .alloc = ki__alloc_or_default(NULL),
        .text = text,
        .steps = steps,
        .step_cap = steps_at_most(text),
        .terms = terms,
        .term_cap = terms_at_most(text),
        .names = names,
    };
    if (once.term_cap > ONCE_TERMS_MAX) {
        return found;
    }
    memset(steps, 0, once.step_cap * sizeof(steps[0]));
    memset(terms, 0, once.term_cap * sizeof(terms[0]));
    if (ki__path_parse(&once, NULL) >= 0) {
        int r = ki_path_first(&once, value, &found);
        return r < 0 ? ki__value_none(r) : found;
    }
    return found;
}

ki_value ki_object_at(const ki_object *object, const char *path)
{
    if (object == NULL) {
        return (ki_value){0};
    }
    ki_value root = ki_object_root(object);
    return ki_value_at(&root, path);
}

int64_t ki_object_int64_or(const ki_object *object, const char *path, int64_t otherwise)
{
    ki_value value = ki_object_at(object, path);
    return ki_value_int64_or(&value, otherwise);
}

double ki_object_double_or(const ki_object *object, const char *path, double otherwise)
{
    ki_value value = ki_object_at(object, path);
    return ki_value_double_or(&value, otherwise);
}

bool ki_object_bool_or(const ki_object *object, const char *path, bool otherwise)
{
    ki_value value = ki_object_at(object, path);
    return ki_value_bool_or(&value, otherwise);
}

const char *ki_object_string_or(const ki_object *object, const char *path, const char *otherwise,
                                char *text, size_t size)
{
    ki_value value = ki_object_at(object, path);
    return ki_value_string_or(&value, otherwise, text, size);
}

bool ki_object_equals(const ki_object *object, const char *path, const char *text)
{
    ki_value value = ki_object_at(object, path);
    return ki_value_equals_text(&value, text);
}

/* ---- getters ---- */

int ki_object_get(const ki_object *object, const ki_path *path, ki_value *ret_value)
{
    KI__REQUIRE(object, NULL);
    KI__REQUIRE(path, NULL);
    KI__REQUIRE(ret_value, NULL);
    ki_value root = ki_object_root(object);
    return ki_path_first(path, &root, ret_value);
}

int ki_object_get_string(const ki_object *object, const ki_path *path, char *text, size_t size)
{
    KI__REQUIRE(object, NULL);
    KI__REQUIRE(path, NULL);
    KI__REQUIRE(text, NULL);
    ki_value value;
    int r = ki_object_get(object, path, &value);
    return r < 0 ? r : ki_value_get_string(&value, text, size);
}

int ki_object_get_int64(const ki_object *object, const ki_path *path, int64_t *ret_number)
{
    KI__REQUIRE(object, NULL);
    KI__REQUIRE(path, NULL);
    KI__REQUIRE(ret_number, NULL);
    ki_value value;
    int r = ki_object_get(object, path, &value);
    return r < 0 ? r : ki_value_int64(&value, ret_number);
}

int ki_object_get_double(const ki_object *object, const ki_path *path, double *ret_number)
{
    KI__REQUIRE(object, NULL);
    KI__REQUIRE(path, NULL);
    KI__REQUIRE(ret_number, NULL);
    ki_value value;
    int r = ki_object_get(object, path, &value);
    return r < 0 ? r : ki_value_double(&value, ret_number);
}

int ki_object_get_bool(const ki_object *object, const ki_path *path, bool *ret_flag)
{
    KI__REQUIRE(object, NULL);
    KI__REQUIRE(path, NULL);
    KI__REQUIRE(ret_flag, NULL);
    ki_value value;
    int r = ki_object_get(object, path, &value);
    return r < 0 ? r : ki_value_bool(&value, ret_flag);
}

bool ki_object_has(const ki_object *object, const ki_path *path)
{
    ki_value value;
    return ki_object_get(object, path, &value) >= 0;
}
