/* SPDX-License-Identifier: Apache-2.0 */
/* Applies and makes patches, for `gen-schema patches`, which lets apimachinery judge the results.
 * Reads three lines for each: what to do, an object, and a patch or another object; writes one:
 * "ok " and the result, or "no " and why not. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <kinformer/diff.h>
#include <kinformer/edit.h>
#include <kinformer/merge.h>

enum { OUT_MAX = 64 << 20 };

/* The edit that turns `before` into `after`, one member at a time. */
static int edit(const ki_object *before, const ki_object *after, ki_buf *out, ki_error *error)
{
    ki_edit *edit = NULL;
    ki_value left = ki_object_root(before);
    ki_value right = ki_object_root(after);
    ki_value key;
    ki_value value;
    ki_value_iter iter;
    ki_str name;
    int r = ki_edit_new(before, NULL, &edit, error);
    r = r < 0 ? r : ki_value_iter_begin(&right, &iter);
    while (r == 0 && ki_value_iter_next(&iter, &key, &value) > 0 &&
           ki_value_string(&key, &name) == 0) {
        char path[256];
        (void)snprintf(path, sizeof(path), "['%.*s']", KI_STR_ARG(name));
        ki_edit_set_value(edit, path, &value);
    }
    r = r < 0 ? r : ki_value_iter_begin(&left, &iter);
    while (r == 0 && ki_value_iter_next(&iter, &key, &value) > 0 &&
           ki_value_string(&key, &name) == 0) {
        char path[256];
        (void)snprintf(path, sizeof(path), "['%.*s']", KI_STR_ARG(name));
        if (ki_value_member(&right, name, &value) < 0) {
            ki_edit_remove(edit, path);
        }
    }
    r = r < 0 ? r : ki_edit_json_patch(edit, out, error);
    (void)ki_edit_unref(edit);
    return r < 0 ? r : 0;
}

static int apply(const ki_object *object, ki_patch_type type, const char *patch, ki_buf *out,
                 ki_error *error)
{
    ki_object *merged = NULL;
    int r = ki_object_merge(object, type, ki_str_from(patch), NULL, &merged, error);
    r = r < 0 ? r : ki_object_write_json(merged, out);
    ki_object_unref(merged);
    return r;
}

static int make(const ki_object *object, const char *how, const char *text, ki_buf *out,
                ki_error *error)
{
    ki_object *after = NULL;
    int r = ki_object_from_json(text, strlen(text), NULL, &after, error);
    if (r == 0) {
        r = strcmp(how, "edit") == 0 ? edit(object, after, out, error)
                                     : ki_object_merge_patch(object, after, out, error);
    }
    ki_object_unref(after);
    return r < 0 ? r : 0;
}

static void answer(const char *how, const char *text, const char *patch)
{
    static const char *const names[] = {
        [KI_PATCH_MERGE] = "merge", [KI_PATCH_STRATEGIC] = "strategic", [KI_PATCH_JSON] = "json"};
    ki_error error = KI_ERROR_INIT;
    ki_object *object = NULL;
    ki_buf out;
    ki_buf_init(&out, NULL, OUT_MAX);
    int r = ki_object_from_json(text, strlen(text), NULL, &object, &error);
    if (r == 0) {
        ki_patch_type type = KI_PATCH_MERGE;
        while (type != KI_PATCH_MAX && strcmp(how, names[type]) != 0) {
            type++;
        }
        r = type != KI_PATCH_MAX ? apply(object, type, patch, &out, &error)
                                 : make(object, how, patch, &out, &error);
    }
    if (r == 0) {
        (void)printf("ok %.*s\n", KI_STR_ARG(ki_buf_str(&out)));
    } else {
        for (char *p = error.message; *p != '\0'; p++) {
            *p = *p == '\n' ? ' ' : *p;
        }
        (void)printf("no %d %s\n", r, error.message);
    }
    ki_object_unref(object);
    ki_buf_done(&out);
}

static bool read_line(char **line, size_t *size)
{
    ssize_t len = getline(line, size, stdin);
    if (len > 0 && (*line)[len - 1] == '\n') {
        (*line)[len - 1] = '\0';
    }
    return len > 0;
}

int main(void)
{
    char *how = NULL;
    char *object = NULL;
    char *patch = NULL;
    size_t sizes[3] = {0};
    while (read_line(&how, &sizes[0]) && read_line(&object, &sizes[1]) &&
           read_line(&patch, &sizes[2])) {
        answer(how, object, patch);
    }
    free(how);
    free(object);
    free(patch);
    return fflush(stdout) == 0 && feof(stdin) != 0 ? 0 : 1;
}
