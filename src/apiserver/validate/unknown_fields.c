/* SPDX-License-Identifier: Apache-2.0 */
/* Finds fields that a built-in kind does not have, such as misspelled names, by the schema tables:
 * fieldValidation=Strict rejects them. */
#include <errno.h>

#include "apiserver/verbs/write_common.h"
#include "base/alloc.h"
#include "object/edit/json_out.h"
#include "object/proto/schema.h"

enum { LEVELS_MAX = 64, NAME_SIZE = 256 };

typedef struct level {
    ki_value_iter iter;
    const ki__schema_message *message; /* of each element, if this is a list or a map of messages */
    bool of_message;                   /* this value is a message: its members are fields */
    bool list;
    size_t index;  /* of the current element */
    ki_value name; /* of the current member */
} level;

/* "spec.containers[0].imagee" */
static void write_path(const level *levels, size_t depth, ki__out *out)
{
    for (size_t i = 0; i < depth; i++) {
        if (levels[i].list) {
            ki__out_index(out, levels[i].index - 1);
        } else {
            ki__out_text(out, out->buf->len != 0 ? "." : "");
            ki__out_content(out, &levels[i].name);
        }
    }
}

static int fail(ki__api_exchange *x, const level *levels, size_t depth)
{
    ki_buf path;
    ki_buf_init(&path, x->alloc, 4096);
    ki__out out = ki__out_to(&path);
    write_path(levels, depth, &out);
    int r = out.error == KI_ERR_LIMIT ? 0 : out.error;
    r = r < 0 ? r
              : ki__api_fail_kind(x, "strict decoding error: unknown field \"", ki_buf_text(&path),
                                  "\"");
    ki_buf_done(&path);
    return r;
}

/* Descends into a value that may have fields. Type mismatches are reported elsewhere. */
static void open_value(level *levels, size_t *depth, const ki_value *value,
                       const ki__schema_message *message, bool of_message)
{
    if (*depth < LEVELS_MAX && ki_value_iter_begin(value, &levels[*depth].iter) == 0) {
        level *top = &levels[(*depth)++];
        top->message = message;
        top->list = ki_value_type(value) == KI_TYPE_LIST;
        top->of_message = of_message && !top->list;
        top->index = 0;
    }
}

static int step(ki__api_exchange *x, level *levels, size_t *depth)
{
    level *top = &levels[*depth - 1];
    ki_value value;
    if (ki_value_iter_next(&top->iter, &top->name, &value) <= 0) {
        (*depth)--;
        return 0;
    }
    top->index++;
    if (!top->of_message) {
        open_value(levels, depth, &value, top->message, true);
        return 0;
    }
    bool type = *depth == 1 && (ki_value_equals(&top->name, ki_str_from("kind")) ||
                                ki_value_equals(&top->name, ki_str_from("apiVersion")));
    char name[NAME_SIZE]; /* longer than any field name */
    const ki__schema_field *field = ki_value_get_string(&top->name, name, sizeof(name)) >= 0
                                        ? ki__schema_field_by_name(top->message, ki_str_from(name))
                                        : NULL;
    if (field == NULL) {
        return type ? 0 : fail(x, levels, *depth);
    }
    if (field->type == KI__SCHEMA_MESSAGE) {
        bool many = (field->flags & (KI__SCHEMA_REPEATED | KI__SCHEMA_MAP)) != 0;
        open_value(levels, depth, &value, &ki__schema_messages[field->message], !many);
    }
    return 0;
}

int ki__api_check_fields(ki__api_exchange *x, const ki_object *object)
{
    const ki_resource *resource = x->type->resource;
    bool strict = strcmp(x->route.field_validation, "Strict") == 0 || ki__api_is_apply(x);
    const ki__schema_message *message =
        x->type->builtin && strict
            ? ki__schema_of_kind(ki_str_from(ki_resource_api_version(resource)),
                                 ki_str_from(ki_resource_kind(resource)))
            : NULL;
    if (message == NULL) {
        return 0;
    }
    level *levels = ki__alloc_array(x->alloc, LEVELS_MAX, sizeof(*levels));
    if (levels == NULL) {
        return -ENOMEM;
    }
    ki_value root = ki_object_root(object);
    size_t depth = 0;
    int r = 0;
    open_value(levels, &depth, &root, message, true);
    while (depth != 0 && r == 0 && x->failure.code == 0) {
        r = step(x, levels, &depth);
    }
    ki__free(x->alloc, levels);
    return r;
}
