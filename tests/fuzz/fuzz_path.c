/* SPDX-License-Identifier: Apache-2.0 */
/* The first line is a path, the rest a document; a pod stands in where it is none. The first value
 * must be the first of the walk, every value must lie in the document, a walk must come to an end,
 * and it must give the same values as the plain recursive reading of the same steps below. */
#include <stdlib.h>

#include <kinformer/encoding.h>
#include <kinformer/path.h>

#include "object/path/path.h"

static const char pod[] =
    "{\"apiVersion\":\"v1\",\"kind\":\"Pod\",\"metadata\":{\"name\":\"web-0\",\"labels\":{"
    "\"app\":\"web\",\"a.b/c\":\"d\"}},\"spec\":{\"nodeName\":\"n1\",\"priority\":7,"
    "\"containers\":[{\"name\":\"a\",\"image\":\"x:1\",\"ports\":[{\"port\":80},{\"port\":443}]},"
    "{\"name\":\"b\",\"image\":\"y:2\",\"args\":[\"-v\",\"2\",\"a\\nb\"]}]},\"status\":{\"phase\":"
    "\"Running\",\"conditions\":[{\"type\":\"Ready\",\"status\":\"True\",\"n\":1.5},{\"type\":"
    "\"Other\",\"status\":\"False\",\"n\":null}],\"grid\":[[1,2],[3,[4,5]],[]]}}";

static void must(bool condition)
{
    if (!condition) {
        __builtin_trap();
    }
}

static bool same(const ki_value *a, const ki_value *b)
{
    return a->bytes == b->bytes && ki_value_type(a) == ki_value_type(b);
}

/* ---- the same, plainly ---- */

#define VALUES_MAX 4096
#define VISITS_MAX 20000

typedef struct values {
    ki_value at[VALUES_MAX];
    size_t count;
} values;

static size_t visits; /* over VISITS_MAX: given up */

static void visit(const ki_path *path, uint8_t at, const ki_value *value, values *out);

static bool term_holds(const ki_path *path, const ki__path_term *term, const ki_value *element)
{
    values *sides = calloc(2, sizeof(*sides));
    must(sides != NULL);
    visit(path, term->left, element, &sides[0]);
    bool holds = term->op == KI__PATH_EXISTS && sides[0].count != 0;
    bool literal = term->literal.type != KI_TYPE_NONE;
    if (term->op != KI__PATH_EXISTS && !literal) {
        visit(path, term->right, element, &sides[1]);
        must(sides[1].count <= 1);
    }
    for (size_t i = 0; term->op != KI__PATH_EXISTS && i < sides[0].count; i++) {
        ki__path_operand left;
        ki__path_operand right = term->literal;
        ki__path_operand_from(&sides[0].at[i], &left);
        if (!literal && sides[1].count != 0) {
            ki__path_operand_from(&sides[1].at[0], &right);
        }
        if (literal || sides[1].count != 0) {
            holds = holds || ki__path_compare((ki__path_op)term->op, &left, &right, NULL) > 0;
        }
    }
    free(sides);
    return holds;
}

static bool filter_holds(const ki_path *path, uint8_t term, const ki_value *element)
{
    for (bool all = true;; term++) {
        const ki__path_term *t = &path->terms[term];
        all = all && term_holds(path, t, element);
        if (all && !t->and_next) {
            return true;
        }
        if (t->last) {
            return false;
        }
        all = all || !t->and_next; /* a new alternative begins */
    }
}

static void visit_children(const ki_path *path, const ki__path_step *step, uint8_t next,
                           const ki_value *value, values *out)
{
    ki_value_iter iter;
    ki_value child;
    bool list = ki_value_type(value) == KI_TYPE_LIST;
    if ((step->kind != KI__PATH_ALL && !list) || ki_value_iter_begin(value, &iter) < 0) {
        return;
    }
    size_t count = ki_value_count(value);
    int64_t from = step->from < 0 ? step->from + (int64_t)count : step->from;
    int64_t to = step->to < 0 ? step->to + (int64_t)count : step->to;
    from = from < 0 ? 0 : from;
    for (int64_t i = 0; ki_value_iter_next(&iter, NULL, &child) > 0; i++) {
        bool chosen = step->kind == KI__PATH_ALL;
        if (step->kind == KI__PATH_SLICE) {
            chosen = i >= from && i < to && (i - from) % step->by == 0;
        } else if (step->kind == KI__PATH_FILTER) {
            chosen = filter_holds(path, step->inner, &child);
        }
        if (chosen) {
            visit(path, next, &child, out);
        }
    }
}

static void descend(const ki_path *path, uint8_t next, const ki_value *value, values *out)
{
    ki_value_iter iter;
    ki_value child;
    visit(path, next, value, out);
    if (visits <= VISITS_MAX && ki_value_iter_begin(value, &iter) == 0) {
        while (ki_value_iter_next(&iter, NULL, &child) > 0) {
            descend(path, next, &child, out);
        }
    }
}

/* Takes one step, and then those from `next` on. */
static void take(const ki_path *path, const ki__path_step *step, uint8_t next,
                 const ki_value *value, values *out)
{
    ki_value found;
    switch ((ki__path_kind)step->kind) {
    case KI__PATH_FIELD:
        if (ki_value_member(value, step->name, &found) == 0) {
            visit(path, next, &found, out);
        }
        break;
    case KI__PATH_INDEX:
        if (ki_value_element(value, step->from, &found) == 0) {
            visit(path, next, &found, out);
        }
        break;
    case KI__PATH_UNION:
        for (uint8_t i = step->inner; i != KI__PATH_NONE; i = path->steps[i].next) {
            take(path, &path->steps[i], next, value, out);
        }
        break;
    case KI__PATH_DESCEND:
        descend(path, next, value, out);
        break;
    case KI__PATH_SLICE:
    case KI__PATH_ALL:
    case KI__PATH_FILTER:
        visit_children(path, step, next, value, out);
        break;
    }
}

static void visit(const ki_path *path, uint8_t at, const ki_value *value, values *out)
{
    if (++visits > VISITS_MAX) {
        return;
    }
    if (at != KI__PATH_NONE) {
        take(path, &path->steps[at], path->steps[at].next, value, out);
    } else if (out->count < VALUES_MAX) {
        out->at[out->count++] = *value;
    } else {
        visits = VISITS_MAX + 1;
    }
}

/* ---- the walk ---- */

static void walk(const ki_path *path, const ki_object *object)
{
    ki_value root = ki_object_root(object);
    ki_str bytes = ki_object_bytes(object);
    ki_value first;
    ki_value value;
    ki_path_iter *iter;
    static values plain;
    plain.count = 0;
    visits = 0;
    visit(path, path->first, &root, &plain);
    bool known = visits <= VISITS_MAX;
    int r = ki_path_first(path, &root, &first);
    must(ki_object_has(object, path) == (r == 0));
    must(ki_path_iter_begin(path, &root, &iter) == 0);
    int s = ki_path_iter_next(iter, &value);
    must(r == 0 ? s == 1 && same(&first, &value) : s == (r == KI_ERR_NOT_FOUND ? 0 : r) && s <= 0);
    size_t count = 0;
    for (; s > 0; s = ki_path_iter_next(iter, &value)) {
        const char *place = value.bytes;
        must(place >= bytes.ptr && place < bytes.ptr + bytes.len);
        must(!known || (count < plain.count && same(&value, &plain.at[count])));
        count++;
    }
    must(!known || s != 0 || count == plain.count);
    must(s == 0 || s == KI_ERR_LIMIT);
    must(count <= ((size_t)1 << 20) + 4 * bytes.len);
    must(ki_path_iter_next(iter, &value) == s);
    ki_path_iter_end(iter);
}

static ki_object *make_object(const char *bytes, size_t len)
{
    ki_object *object;
    if (ki_object_from_json(bytes, len, NULL, &object, NULL) < 0) {
        must(ki_object_from_json(pod, sizeof(pod) - 1, NULL, &object, NULL) == 0);
    }
    return object;
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t len)
{
    char *text = malloc(len + 1);
    must(text != NULL);
    if (len != 0) {
        memcpy(text, bytes, len);
    }
    text[len] = '\0';
    char *end = strchr(text, '\n');
    char *rest = end != NULL ? end + 1 : text + len;
    if (end != NULL) {
        *end = '\0';
    }
    ki_path *path;
    ki_error error = KI_ERROR_INIT;
    int r = ki_path_compile(text, NULL, &path, &error);
    if (r < 0) {
        must(r == KI_ERR_SYNTAX || r == KI_ERR_LIMIT);
        must(error.code == r && error.message[0] != '\0' && error.offset <= strlen(text));
    } else {
        must(strcmp(ki_path_text(path), text) == 0);
        ki_object *object = make_object(rest, (size_t)(text + len - rest));
        walk(path, object);
        ki_path_unref(path);
        ki_object_unref(object);
    }
    free(text);
    return 0;
}
