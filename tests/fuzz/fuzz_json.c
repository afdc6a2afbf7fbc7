/* SPDX-License-Identifier: Apache-2.0 */
/* Any bytes as a JSON object. What is accepted must be readable through every function, and must be
 * the same again after being written and read. */
#include <kinformer/object.h>

static void must(bool condition)
{
    if (!condition) {
        __builtin_trap();
    }
}

static void read_scalar(const ki_value *value, ki_buf *text)
{
    ki_str view;
    int64_t integer;
    double real;
    bool flag;
    ki_buf_clear(text);
    ki_type type = ki_value_type(value);
    if (type == KI_TYPE_STRING) {
        must(ki_value_copy_string(value, text) == 0);
        must(ki_value_equals(value, ki_buf_str(text)));
        if (ki_value_string(value, &view) == 0) {
            must(ki_str_eq(view, ki_buf_str(text)));
        }
    } else if (type == KI_TYPE_NUMBER) {
        must(ki_value_number_text(value, &view) == 0 && view.len != 0);
        if (ki_value_int64(value, &integer) == 0) {
            must(ki_value_double(value, &real) == 0 && (double)integer == real);
        }
    } else if (type == KI_TYPE_BOOL) {
        must(ki_value_bool(value, &flag) == 0);
    } else {
        must(type == KI_TYPE_NULL);
    }
}

/* Walks everything; returns how many values there are. */
static size_t walk(ki_value root, ki_buf *text)
{
    static ki_iter stack[1024];
    size_t depth = 0;
    size_t count = 1;
    must(ki_value_iter(&root, &stack[depth++]) == 0);
    while (depth != 0) {
        ki_value key;
        ki_value value;
        if (ki_iter_next(&stack[depth - 1], &key, &value) == 0) {
            depth--;
            continue;
        }
        count++;
        if (key.ops != NULL) {
            read_scalar(&key, text);
            ki_value found;
            must(ki_value_member(&stack[depth - 1].container, ki_buf_str(text), &found) == 0);
        }
        if (ki_value_iter(&value, &stack[depth]) == 0) {
            depth++;
        } else {
            read_scalar(&value, text);
        }
    }
    return count;
}

/* The map that a path of members leads to. */
static bool find_labels(const ki_object *object, ki_value *ret_labels)
{
    ki_value root = ki_object_root(object);
    ki_value metadata;
    return ki_value_member(&root, ki_str_from("metadata"), &metadata) == 0 &&
           ki_value_member(&metadata, ki_str_from("labels"), ret_labels) == 0;
}

/* Labels have a short way of their own: it must lead where the long one does. */
static void read_labels(const ki_object *object, ki_buf *text)
{
    ki_value labels = ki_object_labels(object);
    ki_value same;
    ki_iter iter;
    if (ki_value_iter(&labels, &iter) < 0 || !find_labels(object, &same)) {
        return;
    }
    ki_value key;
    ki_value value;
    while (ki_iter_next(&iter, &key, &value) > 0) {
        ki_buf_clear(text);
        must(ki_value_copy_string(&key, text) == 0);
        ki_value shortly;
        ki_value slowly;
        must(ki_value_member(&labels, ki_buf_str(text), &shortly) == 0);
        must(ki_value_member(&same, ki_buf_str(text), &slowly) == 0);
        must(shortly.bytes == slowly.bytes);
        must(ki_buf_add_char(text, 'x') == 0);
        int r = ki_value_member(&labels, ki_buf_str(text), &shortly);
        must(ki_value_member(&same, ki_buf_str(text), &slowly) == r);
        must(r < 0 || shortly.bytes == slowly.bytes);
    }
}

static void read_accessors(const ki_object *object)
{
    must(strlen(ki_object_key(object)) >= strlen(ki_object_name(object)));
    (void)ki_object_generation(object);
    (void)ki_object_creation_time(object);
    (void)ki_object_deletion_time(object);
    ki_owner owner;
    (void)!ki_object_controller(object, &owner);
    ki_value label;
    (void)!ki_object_label(object, ki_str_from("app"), &label);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t len)
{
    ki_object *object;
    ki_error error = KI_ERROR_INIT;
    int r = ki_object_from_json((const char *)bytes, len, NULL, &object, &error);
    if (r < 0) {
        must(error.code == r && error.message[0] != '\0' && error.offset <= len);
        return 0;
    }
    ki_buf text;
    ki_buf written;
    ki_buf_init(&text, NULL, SIZE_MAX);
    ki_buf_init(&written, NULL, SIZE_MAX);
    read_accessors(object);
    read_labels(object, &text);
    size_t count = walk(ki_object_root(object), &text);
    must(ki_object_write_json(object, &written) == 0);
    ki_object *again;
    must(ki_object_from_json(written.data, written.len, NULL, &again, NULL) == 0);
    must(walk(ki_object_root(again), &text) == count);
    must(strcmp(ki_object_key(object), ki_object_key(again)) == 0);
    must(ki_object_creation_time(object) == ki_object_creation_time(again));
    ki_object_unref(again);
    ki_object_unref(object);
    ki_buf_done(&text);
    ki_buf_done(&written);
    return 0;
}
