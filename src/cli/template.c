/* SPDX-License-Identifier: Apache-2.0 */
/* Templates: a list of parts, evaluated with a stack of ranges. */
#include "cli/template.h"

#include <stdlib.h>
#include <string.h>

#include <kinformer/path.h>

#include "cli/report_failure.h"
#include "cli/text.h"

enum { PARTS_MAX = 512, RANGES_MAX = 8 };

typedef enum part_type { PART_TEXT, PART_PATH, PART_RANGE, PART_END } part_type;

typedef struct part {
    part_type type;
    size_t from; /* of a text: offset in `texts` */
    size_t len;
    ki_path *path; /* of a path or a range */
    size_t end;    /* of a range: index of its end */
} part;

struct cli_template {
    part parts[PARTS_MAX];
    size_t count;
    size_t open[RANGES_MAX]; /* ranges not closed yet */
    size_t open_count;
    ki_buf texts;
};

/* The next part; NULL if there are too many. */
static part *add(cli_template *t, part_type type, ki_error *error)
{
    if (t->count == PARTS_MAX) {
        (void)cli_fail(error, KI_ERR_LIMIT, "template: more than %d parts", PARTS_MAX);
        return NULL;
    }
    part *p = &t->parts[t->count++];
    *p = (part){.type = type, .from = t->texts.len};
    return p;
}

static int add_text(cli_template *t, ki_str text, ki_error *error)
{
    part *p = add(t, PART_TEXT, error);
    if (p == NULL) {
        return KI_ERR_LIMIT;
    }
    cli_put_str(&t->texts, text);
    p->len = text.len;
    return 0;
}

static int add_path(cli_template *t, part_type type, ki_str text, ki_error *error)
{
    part *p = add(t, type, error);
    if (p == NULL) {
        return KI_ERR_LIMIT;
    }
    char *copy = strndup(text.ptr, text.len);
    if (copy == NULL) {
        cli_fail_memory();
    }
    int r = ki_path_compile(copy, NULL, &p->path, error);
    free(copy);
    return r;
}

/* {"text"} with the common escapes of Go strings. */
static int add_quoted(cli_template *t, ki_str text, ki_error *error)
{
    part *p = add(t, PART_TEXT, error);
    if (p == NULL) {
        return KI_ERR_LIMIT;
    }
    if (text.len < 2 || text.ptr[text.len - 1] != text.ptr[0]) {
        return cli_fail(error, KI_ERR_SYNTAX, "template: unterminated quote");
    }
    for (size_t i = 1; i + 1 < text.len; i++) {
        char c = text.ptr[i];
        if (c == '\\' && i + 2 < text.len) {
            c = text.ptr[++i];
            c = (char)(c == 'n' ? '\n' : c == 't' ? '\t' : c == 'r' ? '\r' : c);
        }
        cli_put_char(&t->texts, c);
    }
    p->len = t->texts.len - p->from;
    return 0;
}

static int begin_range(cli_template *t, ki_str text, ki_error *error)
{
    if (t->open_count == RANGES_MAX) {
        return cli_fail(error, KI_ERR_LIMIT, "template: more than %d nested ranges", RANGES_MAX);
    }
    t->open[t->open_count++] = t->count;
    return add_path(t, PART_RANGE, text, error);
}

static int end_range(cli_template *t, ki_error *error)
{
    if (t->open_count == 0) {
        return cli_fail(error, KI_ERR_SYNTAX, "template: {end} without {range ...}");
    }
    t->parts[t->open[--t->open_count]].end = t->count;
    return add(t, PART_END, error) != NULL ? 0 : KI_ERR_LIMIT;
}

static ki_str trimmed(ki_str text)
{
    while (text.len > 0 && text.ptr[0] == ' ') {
        text = ki_str_make(text.ptr + 1, text.len - 1);
    }
    while (text.len > 0 && text.ptr[text.len - 1] == ' ') {
        text.len--;
    }
    return text;
}

/* The content of a pair of braces. */
static int add_inner(cli_template *t, ki_str text, ki_error *error)
{
    static const char range[] = "range ";
    text = trimmed(text);
    if (text.len > 0 && (text.ptr[0] == '"' || text.ptr[0] == '\'')) {
        return add_quoted(t, text, error);
    }
    if (ki_str_eq_text(text, "end")) {
        return end_range(t, error);
    }
    size_t len = sizeof(range) - 1;
    if (text.len > len && memcmp(text.ptr, range, len) == 0) {
        return begin_range(t, trimmed(ki_str_make(text.ptr + len, text.len - len)), error);
    }
    if (ki_str_eq_text(text, "@") || ki_str_eq_text(text, ".")) {
        return add_path(t, PART_PATH, ki_str_from("$"), error);
    }
    return add_path(t, PART_PATH, text, error);
}

/* The closing brace; braces in quotes are ignored. NULL: there is none. */
static const char *closing(const char *at)
{
    char quote = '\0';
    for (; *at != '\0'; at++) {
        if (quote != '\0') {
            if (*at == '\\' && at[1] != '\0') {
                at++;
            } else if (*at == quote) {
                quote = '\0';
            }
        } else if (*at == '"' || *at == '\'') {
            quote = *at;
        } else if (*at == '}') {
            return at;
        }
    }
    return NULL;
}

static int parse(cli_template *t, const char *text, ki_error *error)
{
    if (strchr(text, '{') == NULL) {
        return add_inner(t, ki_str_from(text), error);
    }
    int r = 0;
    while (r == 0 && *text != '\0') {
        const char *brace = strchr(text, '{');
        size_t len = brace != NULL ? (size_t)(brace - text) : strlen(text);
        if (len != 0) {
            r = add_text(t, ki_str_make(text, len), error);
            text += len;
            continue;
        }
        const char *end = closing(text + 1);
        if (end == NULL) {
            return cli_fail(error, KI_ERR_SYNTAX, "template: { without }");
        }
        r = add_inner(t, ki_str_make(text + 1, (size_t)(end - text - 1)), error);
        text = end + 1;
    }
    if (r == 0 && t->open_count != 0) {
        r = cli_fail(error, KI_ERR_SYNTAX, "template: {range ...} without {end}");
    }
    return r;
}

int cli_template_parse(const char *text, cli_template **ret_template, ki_error *error)
{
    cli_template *t = calloc(1, sizeof(*t));
    if (t == NULL) {
        cli_fail_memory();
    }
    cli_text_init(&t->texts);
    int r = parse(t, text, error);
    if (r < 0) {
        cli_template_free(t);
        return r;
    }
    *ret_template = t;
    return 0;
}

void cli_template_free(cli_template *t)
{
    if (t == NULL) {
        return;
    }
    for (size_t i = 0; i < t->count; i++) {
        (void)ki_path_unref(t->parts[i].path);
    }
    ki_buf_done(&t->texts);
    free(t);
}

/* ---- evaluation ---- */

typedef struct range {
    size_t begin;
    ki_path_iter *iter;
    ki_value value;
} range;

static ki_path_iter *iter_of(const ki_path *path, const ki_value *root)
{
    ki_path_iter *iter = NULL;
    if (ki_path_iter_begin(path, root, &iter) < 0) {
        cli_fail_memory();
    }
    return iter;
}

static void put_path(const ki_path *path, const ki_value *root, bool raw, ki_buf *out)
{
    ki_path_iter *iter = iter_of(path, root);
    ki_value value;
    int r;
    for (bool first = true; (r = ki_path_iter_next(iter, &value)) > 0; first = false) {
        cli_put(out, first ? "" : " ");
        cli_put_value(out, &value, raw);
    }
    cli_put(out, r == KI_ERR_NOT_KEPT ? "<not kept>" : "");
    (void)ki_path_iter_end(iter);
}

void cli_template_put(const cli_template *t, const ki_value *root, bool raw, ki_buf *out)
{
    range ranges[RANGES_MAX + 1];
    size_t depth = 0;
    ranges[0] = (range){.value = *root};
    for (size_t at = 0; at < t->count; at++) {
        const part *p = &t->parts[at];
        range *now = &ranges[depth];
        switch (p->type) {
        case PART_TEXT:
            cli_put_str(out, ki_str_make(t->texts.data + p->from, p->len));
            break;
        case PART_PATH:
            put_path(p->path, &now->value, raw, out);
            break;
        case PART_RANGE:
            ranges[++depth] = (range){.begin = at, .iter = iter_of(p->path, &now->value)};
            now = &ranges[depth];
            at = p->end - 1; /* its end moves to the first value */
            break;
        case PART_END:
            if (ki_path_iter_next(now->iter, &now->value) > 0) {
                at = now->begin;
            } else {
                (void)ki_path_iter_end(now->iter);
                depth--;
            }
            break;
        }
    }
}
