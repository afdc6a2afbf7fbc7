/* SPDX-License-Identifier: Apache-2.0 */
#include "apiserver/patch/last_applied.h"

#include <errno.h>

#include <kinformer/error.h>

#include "object/edit/json_edit.h"
#include "object/value.h"

#define TEXT_MAX ((size_t)256 << 10) /* limit of all annotations in kube-apiserver */
#define OBJECT_MAX ((size_t)1 << 30)

static const char *const path[] = {"metadata", "annotations",
                                   "kubectl.kubernetes.io/last-applied-configuration"};

static bool find(const ki_object *object, ki_value *ret_value)
{
    ki_value value = ki_object_root(object);
    for (size_t i = 0; i < sizeof(path) / sizeof(path[0]); i++) {
        value = ki__value_child(&value, path[i]);
    }
    *ret_value = value;
    return ki_value_type(&value) == KI_TYPE_STRING;
}

int ki__last_applied_read(const ki_object *object, const ki_alloc *alloc, ki_object **ret_last)
{
    ki_value value;
    ki_buf text;
    ki_object_options options = {.size = sizeof(options), .alloc = alloc};
    *ret_last = NULL;
    if (!find(object, &value)) {
        return 0;
    }
    ki_buf_init(&text, alloc, OBJECT_MAX);
    int r = ki_value_copy_string(&value, &text);
    r = r < 0 ? r : ki_object_from_json(ki_buf_text(&text), text.len, &options, ret_last, NULL);
    ki_buf_done(&text);
    return r == -ENOMEM ? r : 0;
}

int ki__last_applied_write(const ki_object *config, const ki_alloc *alloc, ki_object **object)
{
    ki_value old;
    ki_buf plain;
    ki_buf json;
    ki_buf text;
    ki_object *made = NULL;
    ki_object_options options = {.size = sizeof(options), .alloc = alloc, .max_bytes = OBJECT_MAX};
    if (!find(*object, &old)) {
        return 0;
    }
    ki_buf_init(&plain, alloc, OBJECT_MAX);
    ki_buf_init(&json, alloc, OBJECT_MAX);
    ki_buf_init(&text, alloc, OBJECT_MAX);
    int r = ki__json_remove(config, path, 3, &plain);
    r = r < 0 ? r : ki_buf_add_char(&plain, '\n');
    r = r < 0 ? r : ki_buf_add_json_string(&json, ki_buf_str(&plain));
    if (r == 0 && json.len > TEXT_MAX) {
        r = ki__json_remove(*object, path, 3, &text);
    } else {
        r = r < 0 ? r : ki__json_set(*object, path, 3, ki_buf_str(&json), &text);
    }
    r = r < 0 ? r : ki_object_from_json(text.data, text.len, &options, &made, NULL);
    ki_buf_done(&plain);
    ki_buf_done(&json);
    ki_buf_done(&text);
    if (r == 0) {
        ki_object_unref(*object);
        *object = made;
    }
    return r;
}
