/* SPDX-License-Identifier: Apache-2.0 */
/* The current position of a ki_json as a path for error messages: spec.containers[2].name. Names
 * are taken from the text written so far. The path is built from its end, so that truncation keeps
 * the innermost, most informative part. */
#include "base/ascii.h"
#include "base/digits.h"
#include "base/error.h"
#include "object/edit/json_writer.h"

enum { PATH_SIZE = 384, NAME_SHOWN = 96 };

typedef struct path {
    char text[PATH_SIZE];
    size_t at; /* start of the path */
    bool is_cut;
} path;

static void prepend(path *p, ki_str text)
{
    if (p->is_cut || text.len > p->at) {
        p->is_cut = true;
        return;
    }
    p->at -= text.len;
    memcpy(p->text + p->at, text.ptr, text.len);
}

static bool is_plain(ki_str name)
{
    bool plain = name.len != 0;
    for (size_t i = 0; plain && i < name.len; i++) {
        char c = name.ptr[i];
        plain = ki__is_letter(c) || ki__is_digit(c) || c == '_' || c == '-';
    }
    return plain;
}

/* `name` is raw, with escapes. */
static void prepend_name(path *p, ki_str name, bool is_first)
{
    if (name.len <= NAME_SHOWN && is_plain(name)) {
        prepend(p, name);
        prepend(p, ki_str_from(is_first ? "" : "."));
        return;
    }
    prepend(p, ki_str_from(name.len <= NAME_SHOWN ? "\"]" : "...\"]"));
    prepend(p, ki_str_make(name.ptr, name.len <= NAME_SHOWN ? name.len : NAME_SHOWN));
    prepend(p, ki_str_from("[\""));
}

static void prepend_index(path *p, uint32_t index)
{
    char room[KI__DIGITS_SIZE];
    prepend(p, ki_str_from("]"));
    prepend(p, ki__digits(index, room));
    prepend(p, ki_str_from("["));
}

/* Prepends the step from the container at `level` to a value in it; nothing if it does not fit. */
static void prepend_step(path *p, const ki_json *json, uint32_t level, uint32_t name_at,
                         uint32_t name_len, uint32_t index)
{
    size_t before = p->at;
    if (level != 0 && ki__out_is_map(&json->out, level)) {
        prepend_name(p, ki_str_make(json->buf.data + name_at, name_len), level == 1);
    } else if (level != 0) {
        prepend_index(p, index);
    }
    if (p->is_cut) {
        p->at = before;
    }
}

static ki_str path_to(const ki_json *json, ki__json_place place, path *p)
{
    uint32_t depth = json->out.depth;
    bool in_map = depth != 0 && ki__out_is_map(&json->out, depth);
    p->at = PATH_SIZE;
    p->is_cut = false;
    if (place == KI__JSON_VALUE && (!in_map || ki__out_is_named(&json->out))) {
        prepend_step(p, json, depth, json->name_at, json->name_len, json->levels[depth].count);
    }
    for (uint32_t level = depth; level != 0; level--) {
        const ki__json_level *open = &json->levels[level];
        prepend_step(p, json, level - 1, open->name_at, open->name_len,
                     json->levels[level - 1].count - 1);
    }
    return ki_str_make(p->text + p->at, PATH_SIZE - p->at);
}

int ki__json_describe(const ki_json *json, ki__json_place place, int code, const char *why,
                      ki_error *error)
{
    path p;
    ki_str where = path_to(json, place, &p);
    (void)ki__error_set(error, code, "%s", p.is_cut ? "..." : "");
    ki__error_add(error, where);
    ki__error_add(error, ki_str_from(where.len != 0 ? ": " : ""));
    ki__error_add(error, ki_str_from(why));
    return code;
}
