/* SPDX-License-Identifier: Apache-2.0 */
/* Selects objects of a cache. */
#include "cli/select.h"

#include <stdlib.h>
#include <string.h>

#include <kinformer/index.h>
#include <kinformer/lister.h>
#include <kinformer/store.h>

#include "cli/report_failure.h"
#include "cli/text.h"

#define LABEL_INDEX "by-label"

/* ---- options ---- */

static char *copy_of(const char *text)
{
    char *copy = strdup(text);
    if (copy == NULL) {
        cli_fail_memory();
    }
    return copy;
}

static int read_condition(cli_selection *s, const char *text, ki_error *error)
{
    if (s->condition_count == CLI_CONDITIONS_MAX) {
        return cli_fail(error, KI_ERR_LIMIT, "--where: more than %d", CLI_CONDITIONS_MAX);
    }
    cli_condition *c = &s->conditions[s->condition_count++];
    c->text = copy_of(text);
    char *equals = strrchr(c->text, '='); /* a filter in the path may contain others */
    if (equals == NULL || equals == c->text) {
        return cli_fail(error, KI_ERR_INVALID, "--where: expected PATH=VALUE, not \"%s\"", text);
    }
    *equals = '\0';
    c->value = equals + 1;
    return ki_path_compile(c->text, NULL, &c->path, error);
}

int cli_selection_parse(cli_selection *s, const cli_words *where, const char *by_label,
                        ki_error *error)
{
    int r = 0;
    for (size_t i = 0; r == 0 && i < where->count; i++) {
        r = read_condition(s, where->items[i], error);
    }
    if (r == 0 && by_label != NULL) {
        s->label = copy_of(by_label);
        char *equals = strchr(s->label, '=');
        if (equals != NULL) {
            *equals = '\0';
            s->label_value = equals + 1;
        }
    }
    return r;
}

void cli_selection_done(cli_selection *s)
{
    for (size_t i = 0; i < s->condition_count; i++) {
        (void)ki_path_unref(s->conditions[i].path);
        free(s->conditions[i].text);
    }
    free(s->label);
    *s = (cli_selection){0};
}

/* ---- indexes ---- */

int cli_selection_prepare(const cli_selection *s, cli_target *target, ki_error *error)
{
    ki_index index = {0};
    int r = 0;
    for (size_t i = 0; r == 0 && i < s->condition_count; i++) {
        /* The path is the index name; a repeated path shares one index. */
        int made = ki_index_by_path(s->conditions[i].text, s->conditions[i].path, NULL, &index);
        r = cli_session_add_index(target, made, &index, error);
        r = r == KI_ERR_EXISTS ? 0 : r;
    }
    if (r == 0 && s->label != NULL) {
        int made = ki_index_by_label(LABEL_INDEX, s->label, NULL, &index);
        r = cli_session_add_index(target, made, &index, error);
    }
    return r;
}

/* ---- objects ---- */

void cli_found_add(cli_found *found, const ki_object *object)
{
    if (found->count == found->cap) {
        size_t cap = found->cap != 0 ? found->cap * 2 : 64;
        ki_object **items = realloc(found->items, cap * sizeof(*items));
        if (items == NULL) {
            cli_fail_memory();
        }
        found->items = items;
        found->cap = cap;
    }
    found->items[found->count++] = ki_object_ref(object);
}

void cli_found_done(cli_found *found)
{
    for (size_t i = 0; i < found->count; i++) {
        (void)ki_object_unref(found->items[i]);
    }
    free(found->items);
    *found = (cli_found){0};
}

static bool meets(const cli_condition *c, const ki_object *object)
{
    ki_path_iter *iter = NULL;
    ki_value root = ki_object_root(object);
    ki_value value;
    ki_buf text;
    bool does = false;
    if (ki_path_iter_begin(c->path, &root, &iter) < 0) {
        cli_fail_memory();
    }
    cli_text_init(&text);
    while (!does && ki_path_iter_next(iter, &value) > 0) {
        ki_buf_clear(&text);
        cli_put_value(&text, &value, true);
        does = ki_str_eq_text(ki_buf_str(&text), c->value);
    }
    ki_buf_done(&text);
    (void)ki_path_iter_end(iter);
    return does;
}

static bool has_label(const cli_selection *s, const ki_object *object)
{
    return s->label == NULL ||
           (s->label_value != NULL ? ki_object_label_is(object, s->label, s->label_value)
                                   : ki_object_has_label(object, s->label));
}

bool cli_selection_has(const cli_selection *s, const cli_words *names, const ki_object *object)
{
    for (size_t i = 0; i < s->condition_count; i++) {
        if (!meets(&s->conditions[i], object)) {
            return false;
        }
    }
    bool named = names->count == 0;
    for (size_t i = 0; !named && i < names->count; i++) {
        named = strcmp(names->items[i], ki_object_name(object)) == 0;
    }
    return named && has_label(s, object);
}

/* ---- lookup ---- */

/* Criteria and destination. */
typedef struct finding {
    const cli_selection *selection;
    const cli_words *names;
    cli_found *found;
} finding;

static int by_key(const void *a, const void *b)
{
    return strcmp(ki_object_key(*(ki_object *const *)a), ki_object_key(*(ki_object *const *)b));
}

static void take_walk(const finding *f, ki_snapshot_iter *iter)
{
    const ki_object *object;
    cli_found *found = f->found;
    size_t from = found->count;
    while (ki_snapshot_iter_next(iter, &object) > 0) {
        if (cli_selection_has(f->selection, f->names, object)) {
            cli_found_add(found, object);
        }
    }
    if (found->count > from) {
        qsort(found->items + from, found->count - from, sizeof(*found->items), by_key);
    }
}

static int by_text(const void *a, const void *b)
{
    return ki_str_cmp(*(const ki_str *)a, *(const ki_str *)b);
}

/* Iterates over all values of the label. */
static void take_groups(const finding *f, ki_snapshot *snapshot)
{
    ki_str *values = NULL;
    size_t count = 0;
    ki_index_iter groups;
    ki_str value;
    int r = ki_index_iter_begin(snapshot, LABEL_INDEX, &groups);
    while (r == 0 && ki_index_iter_next(&groups, &value, NULL) > 0) {
        ki_str *more = realloc(values, (count + 1) * sizeof(*values));
        if (more == NULL) {
            cli_fail_memory();
        }
        values = more;
        values[count++] = value;
    }
    if (count != 0) {
        qsort(values, count, sizeof(*values), by_text);
    }
    for (size_t i = 0; i < count; i++) {
        ki_snapshot_iter iter;
        if (ki_snapshot_iter_by_index(snapshot, LABEL_INDEX, values[i], &iter) == 0) {
            take_walk(f, &iter);
        }
    }
    free(values);
}

void cli_selection_find(const cli_selection *s, const cli_words *names, const cli_target *target,
                        cli_found *found)
{
    const finding f = {s, names, found};
    ki_snapshot *snapshot = ki_store_snapshot(ki_informer_store(target->informer));
    ki_snapshot_iter iter = ki_snapshot_iter_begin(snapshot);
    int r = 0;
    if (s->label != NULL && s->label_value == NULL) {
        take_groups(&f, snapshot);
        (void)ki_snapshot_unref(snapshot);
        return;
    }
    if (s->label != NULL) {
        r = ki_snapshot_iter_by_index(snapshot, LABEL_INDEX, ki_str_from(s->label_value), &iter);
    } else if (s->condition_count != 0) {
        const cli_condition *c = &s->conditions[0];
        r = ki_snapshot_iter_by_index(snapshot, c->text, ki_str_from(c->value), &iter);
    }
    if (r == 0) {
        take_walk(&f, &iter);
    }
    (void)ki_snapshot_unref(snapshot);
}
