/* SPDX-License-Identifier: Apache-2.0 */
/* The first line is an object. Each further line is a change: a letter that says which, then a
 * path. A failure must have a message; else both patches of the edit, applied to the object, must
 * lead to the object that the edit gives, a path that was set must lead to what was set, and an
 * edit of nothing must change nothing. */
#include <stdlib.h>

#include <kinformer/diff.h>
#include <kinformer/edit.h>
#include <kinformer/merge.h>
#include <kinformer/path.h>

#include "base/utf8.h"
#include "object/edit/json_edit.h"

static void must(bool condition)
{
    if (!condition) {
        __builtin_trap();
    }
}

static bool is_same(const ki_object *a, const ki_object *b)
{
    ki_value left = ki_object_root(a);
    ki_value right = ki_object_root(b);
    bool same = false;
    must(ki__json_same(&left, &right, NULL, &same) == 0);
    return same;
}

static void change_metadata(ki_edit *edit, const ki_object *object, char which, const char *path)
{
    const ki_condition condition = {.type = path, .status = "True", .transition_time_ns = 1};
    switch (which) {
    case 'l':
        ki_edit_set_label(edit, path, path);
        break;
    case 'f':
        ki_edit_add_finalizer(edit, path);
        break;
    case 'g':
        ki_edit_remove_finalizer(edit, path);
        break;
    case 'L':
        ki_edit_remove_label(edit, path);
        break;
    case 'n':
        ki_edit_set_annotation(edit, path, path);
        break;
    case 'N':
        ki_edit_remove_annotation(edit, path);
        break;
    case 'O':
        ki_edit_remove_owner(edit, path);
        break;
    case 'o':
        ki_edit_add_owner(edit, object, path[0] == 'c');
        break;
    case 'c':
        ki_edit_set_condition(edit, &condition);
        break;
    default:
        ki_edit_set_string(edit, path, path);
    }
}

static void change(ki_edit *edit, const ki_object *object, char which, const char *path)
{
    ki_value root = ki_object_root(object);
    switch (which) {
    case 'i':
        ki_edit_set_int64(edit, path, 17);
        break;
    case 'b':
        ki_edit_set_bool(edit, path, true);
        break;
    case 'j':
        ki_edit_set_json(edit, path, ki_str_from(path));
        break;
    case 'v':
        ki_edit_set_value(edit, path, &root);
        break;
    case 'a':
        ki_edit_append_string(edit, path, path);
        break;
    case 'r':
        ki_edit_remove_string(edit, path, "x");
        break;
    case '-':
        ki_edit_remove(edit, path);
        break;
    case 'A':
        ki_edit_append_json(edit, path, ki_str_from("{\"name\":[null]}"));
        break;
    case 'm':
        ki_edit_merge_json(edit, ki_str_from(path));
        break;
    case 'V':
        ki_edit_append_value(edit, path, &root);
        break;
    default:
        change_metadata(edit, object, which, path);
    }
}

/* What the last change has set must be there. An element may lose what it is found by. */
static void check_set(const ki_object *edited, char which, const char *text)
{
    ki_path *path = NULL;
    ki_value value;
    int64_t number;
    if (!ki__utf8_valid(ki_str_from(text))) {
        must(which != 'i');
    } else if (which == 'i' && strchr(text, '=') == NULL) {
        must(ki_path_compile(text, NULL, &path, NULL) == 0);
        must(ki_object_get(edited, path, &value) == 0);
        must(ki_value_int64(&value, &number) == 0 && number == 17);
        ki_path_unref(path);
    } else if (which == 'l') {
        must(ki_object_has_label(edited, text));
    }
}

static void check_patches(const ki_edit *edit, const ki_object *object, const ki_object *edited)
{
    ki_buf patch;
    ki_object *made = NULL;
    ki_buf_init(&patch, NULL, 1 << 26);
    int r = ki_edit_merge_patch(edit, &patch, NULL);
    must(r == 0 || r == 1);
    /* What is named twice is not even the same as itself. */
    bool sane = is_same(object, object) && is_same(edited, edited);
    r = ki_object_merge(object, KI_PATCH_MERGE, ki_buf_str(&patch), NULL, &made, NULL);
    must(r == 0 || r == KI_ERR_LIMIT || r == KI_ERR_INVALID);
    ki_buf_clear(&patch);
    must(r < 0 || !sane || ki_object_merge_patch(made, edited, &patch, NULL) == 0);
    made = ki_object_unref(made);
    ki_buf_clear(&patch);
    r = ki_edit_json_patch(edit, &patch, NULL);
    if (r >= 0) {
        r = ki_object_merge(object, KI_PATCH_JSON, ki_buf_str(&patch), NULL, &made, NULL);
        must(r < 0 || !sane || is_same(made, edited));
    }
    ki_object_unref(made);
    ki_buf_done(&patch);
}

static void run(const ki_object *object, char *lines)
{
    ki_edit *edit = NULL;
    ki_object *edited = NULL;
    ki_error error = KI_ERROR_INIT;
    char which = '\0';
    char *path = lines;
    must(ki_edit_new(object, NULL, &edit, &error) == 0);
    must(ki_edit_object(edit, &edited, NULL) == 0);
    must(is_same(object, edited) || !is_same(object, object));
    edited = ki_object_unref(edited);
    for (char *line = lines, *next; line != NULL && *line != '\0'; line = next) {
        next = strchr(line, '\n');
        if (next != NULL) {
            *next++ = '\0';
        }
        which = *line;
        path = which != '\0' ? line + 1 : line;
        change(edit, object, which, path);
    }
    int r = ki_edit_object(edit, &edited, &error);
    if (r < 0) {
        must(edited == NULL && error.code == r && error.message[0] != '\0');
    } else {
        check_set(edited, which, path);
        check_patches(edit, object, edited);
    }
    ki_object_unref(edited);
    (void)ki_edit_unref(edit);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t len)
{
    char *text = malloc(len + 1);
    ki_object *object = NULL;
    must(text != NULL);
    if (len != 0) {
        memcpy(text, bytes, len);
    }
    text[len] = '\0';
    char *end = memchr(text, '\n', len);
    if (end != NULL && ki_object_from_json(text, (size_t)(end - text), NULL, &object, NULL) == 0) {
        run(object, end + 1);
    }
    ki_object_unref(object);
    free(text);
    return 0;
}
