/* SPDX-License-Identifier: Apache-2.0 */
/* Builds a tree from libyaml's events. Invariants: no recursion, neither here nor when the tree is
 * freed; tag and anchor of an event are checked before anything else; libyaml gets the masked text
 * only, and its error messages are constants. */
#include "client/config/yaml_reader.h"

#include <errno.h>
#include <string.h>
#include <yaml.h>

#include "base/alloc.h"
#include "base/error.h"
#include "base/sort.h"
#include "base/utf8.h"
#include "client/config/yaml_mask.h"

enum { FEW_KEYS = 12 }; /* compared pairwise */

/* A position in the text: libyaml counts characters, we need bytes. */
typedef struct place {
    size_t characters;
    size_t bytes;
} place;

typedef struct open_node {
    uint32_t node;
    uint32_t last; /* last child, or none */
} open_node;

typedef struct reader {
    ki__yaml *yaml;
    ki_str text;
    char *masked;
    char letter;
    place at;
    open_node stack[KI__YAML_DEPTH_MAX];
    size_t depth;
    size_t max_depth;
    uint32_t documents;
    ki_error *error;
} reader;

static int fail(ki_error *error, int code, yaml_mark_t mark, const char *what)
{
    int r = ki__error_set(error, code, "%s", what);
    if (error != NULL) {
        error->line = mark.line < UINT32_MAX ? (uint32_t)mark.line + 1 : UINT32_MAX;
        error->column = mark.column < UINT32_MAX ? (uint32_t)mark.column + 1 : UINT32_MAX;
        error->offset = mark.index;
    }
    return r;
}

static int no_memory(reader *r)
{
    return ki__error_code(r->error, -ENOMEM);
}

/* Advances to a later character. */
static bool advance(reader *r, size_t characters)
{
    if (characters < r->at.characters) {
        return false;
    }
    while (r->at.characters < characters && r->at.bytes < r->text.len) {
        ki_str rest = ki_str_make(r->text.ptr + r->at.bytes, r->text.len - r->at.bytes);
        r->at.bytes += ki__utf8_length(rest); /* the text is valid */
        r->at.characters++;
    }
    return r->at.characters == characters;
}

/* The length of the line break at the start of `text`, or 0: those recognized by libyaml. */
static size_t break_length(ki_str text)
{
    if (text.ptr[0] == '\n' || text.ptr[0] == '\r') {
        return 1;
    }
    if (text.len >= 2 && memcmp(text.ptr, "\xc2\x85", 2) == 0) {
        return 2;
    }
    bool separator = text.len >= 3 && (memcmp(text.ptr, "\xe2\x80\xa8", 3) == 0 ||
                                       memcmp(text.ptr, "\xe2\x80\xa9", 3) == 0);
    return separator ? 3 : 0;
}

/* The part of the text that contains a scalar. */
static bool source_of(reader *r, const yaml_event_t *event, size_t *ret_from, size_t *ret_to)
{
    if (!advance(r, event->start_mark.index)) {
        return false;
    }
    size_t from = r->at.bytes;
    if (!advance(r, event->end_mark.index)) {
        return false;
    }
    size_t to = r->at.bytes;
    yaml_scalar_style_t style = event->data.scalar.style;
    if (style == YAML_LITERAL_SCALAR_STYLE || style == YAML_FOLDED_SCALAR_STYLE) {
        /* A block scalar header may end with a comment. */
        while (from < to && break_length(ki_str_make(r->text.ptr + from, to - from)) == 0) {
            from++;
        }
    }
    *ret_from = from;
    *ret_to = to;
    return true;
}

static int copy_value(reader *r, const yaml_event_t *event, ki_str *ret_text)
{
    size_t len = event->data.scalar.length;
    char *value = ki__secrets_copy(&r->yaml->secrets,
                                   ki_str_make((const char *)event->data.scalar.value, len));
    if (value == NULL) {
        return no_memory(r);
    }
    size_t from;
    size_t to;
    if (len != 0 && (!source_of(r, event, &from, &to) ||
                     !ki__yaml_unmask(ki_str_make(r->text.ptr + from, to - from), r->masked + from,
                                      r->letter, value, len))) {
        return fail(r->error, KI_ERR_SYNTAX, event->start_mark, "invalid scalar");
    }
    *ret_text = ki_str_make(value, len);
    return 0;
}

/* Whether the next node of the open container is a key. */
static bool expects_key(const reader *r)
{
    if (r->depth == 0) {
        return false;
    }
    const ki__yaml_node *parent = &r->yaml->nodes[r->stack[r->depth - 1].node];
    return parent->kind == KI__YAML_MAPPING && parent->count % 2 == 0;
}

static void link_to_parent(reader *r, uint32_t node)
{
    if (r->depth == 0) {
        r->yaml->root = node;
        return;
    }
    open_node *open = &r->stack[r->depth - 1];
    ki__yaml_node *parent = &r->yaml->nodes[open->node];
    if (open->last == KI__YAML_NONE) {
        parent->child = node;
    } else {
        r->yaml->nodes[open->last].next = node;
    }
    open->last = node;
    parent->count++;
}

static int add_node(reader *r, const ki__yaml_node *node, yaml_mark_t mark, uint32_t *ret_number)
{
    ki__yaml *yaml = r->yaml;
    if (yaml->count == KI__YAML_NODES_MAX) {
        return fail(r->error, KI_ERR_LIMIT, mark, "too many values");
    }
    void *nodes = yaml->nodes;
    if (ki__array_reserve(yaml->alloc, &nodes, &yaml->cap, yaml->count + 1, sizeof(*node)) < 0) {
        return no_memory(r);
    }
    yaml->nodes = nodes;
    uint32_t number = (uint32_t)yaml->count++;
    yaml->nodes[number] = *node;
    yaml->nodes[number].line = (uint32_t)mark.line + 1; /* fits: texts are limited */
    yaml->nodes[number].column = (uint32_t)mark.column + 1;
    link_to_parent(r, number);
    *ret_number = number;
    return 0;
}

static int check_properties(reader *r, const yaml_event_t *event, const yaml_char_t *anchor,
                            const yaml_char_t *tag)
{
    if (anchor != NULL) {
        return fail(r->error, KI_ERR_UNSUPPORTED, event->start_mark,
                    "anchors and aliases are not allowed");
    }
    if (tag != NULL) {
        return fail(r->error, KI_ERR_UNSUPPORTED, event->start_mark, "tags are not allowed");
    }
    return 0;
}

static int on_scalar(reader *r, const yaml_event_t *event)
{
    int result = check_properties(r, event, event->data.scalar.anchor, event->data.scalar.tag);
    if (result < 0) {
        return result;
    }
    ki__yaml_node node = {
        .kind = KI__YAML_SCALAR,
        .quoted = event->data.scalar.style != YAML_PLAIN_SCALAR_STYLE,
    };
    result = copy_value(r, event, &node.text);
    if (result < 0) {
        return result;
    }
    if (expects_key(r)) {
        if (!node.quoted && ki_str_eq_text(node.text, "<<")) {
            return fail(r->error, KI_ERR_UNSUPPORTED, event->start_mark,
                        "merge keys are not allowed");
        }
        if (ki__yaml_is_null(&node)) {
            return fail(r->error, KI_ERR_TYPE, event->start_mark, "key is missing");
        }
    }
    uint32_t number;
    return add_node(r, &node, event->start_mark, &number);
}

static int on_start(reader *r, const yaml_event_t *event, ki__yaml_kind kind)
{
    bool mapping = kind == KI__YAML_MAPPING;
    int result = check_properties(
        r, event, mapping ? event->data.mapping_start.anchor : event->data.sequence_start.anchor,
        mapping ? event->data.mapping_start.tag : event->data.sequence_start.tag);
    if (result < 0) {
        return result;
    }
    if (expects_key(r)) {
        return fail(r->error, KI_ERR_UNSUPPORTED, event->start_mark, "keys must be strings");
    }
    if (r->depth == r->max_depth) {
        return fail(r->error, KI_ERR_DEPTH, event->start_mark, "nested too deep");
    }
    uint32_t number;
    result = add_node(r, &(ki__yaml_node){.kind = kind}, event->start_mark, &number);
    if (result >= 0) {
        r->stack[r->depth++] = (open_node){.node = number};
    }
    return result;
}

static int compare_keys(const void *a, const void *b)
{
    const ki__yaml_node *left = *(const ki__yaml_node *const *)a;
    const ki__yaml_node *right = *(const ki__yaml_node *const *)b;
    int order = ki_str_cmp(left->text, right->text);
    return order != 0 ? order : (left < right ? -1 : 1);
}

/* A duplicate among `count` keys, which may get sorted; or NULL. */
static const ki__yaml_node *find_twice(const ki__yaml_node **keys, size_t count)
{
    if (count > FEW_KEYS) {
        ki__sort(keys, count, sizeof(*keys), compare_keys);
    }
    for (size_t i = 1; i < count; i++) {
        for (size_t k = count > FEW_KEYS ? i - 1 : 0; k < i; k++) {
            if (ki_str_eq(keys[k]->text, keys[i]->text)) {
                return keys[i];
            }
        }
    }
    return NULL;
}

static int check_keys(reader *r, const ki__yaml_node *mapping)
{
    const ki__yaml *yaml = r->yaml;
    size_t count = mapping->count / 2;
    const ki__yaml_node *few[FEW_KEYS];
    const ki__yaml_node **keys = few;
    if (count > FEW_KEYS) {
        keys = ki__alloc_array(yaml->alloc, count, sizeof(*keys));
        if (keys == NULL) {
            return no_memory(r);
        }
    }
    size_t at = 0;
    uint32_t key = mapping->child;
    while (key != KI__YAML_NONE) {
        keys[at++] = &yaml->nodes[key];
        key = yaml->nodes[yaml->nodes[key].next].next;
    }
    const ki__yaml_node *twice = find_twice(keys, at);
    if (keys != few) {
        ki__free(yaml->alloc, keys);
    }
    if (twice != NULL) {
        yaml_mark_t mark = {.line = twice->line - 1, .column = twice->column - 1};
        return fail(r->error, KI_ERR_INVALID, mark, "duplicate key");
    }
    return 0;
}

static int on_end(reader *r)
{
    const ki__yaml_node *node = &r->yaml->nodes[r->stack[--r->depth].node];
    return node->kind == KI__YAML_MAPPING ? check_keys(r, node) : 0;
}

static int on_event(reader *r, const yaml_event_t *event)
{
    switch (event->type) {
    case YAML_DOCUMENT_START_EVENT:
        if (r->documents++ != 0) {
            return fail(r->error, KI_ERR_UNSUPPORTED, event->start_mark, "more than one document");
        }
        return 0;
    case YAML_ALIAS_EVENT:
        return check_properties(r, event, event->data.alias.anchor, NULL);
    case YAML_SCALAR_EVENT:
        return on_scalar(r, event);
    case YAML_SEQUENCE_START_EVENT:
        return on_start(r, event, KI__YAML_SEQUENCE);
    case YAML_MAPPING_START_EVENT:
        return on_start(r, event, KI__YAML_MAPPING);
    case YAML_SEQUENCE_END_EVENT:
    case YAML_MAPPING_END_EVENT:
        return on_end(r);
    case YAML_NO_EVENT:
    case YAML_STREAM_START_EVENT:
    case YAML_STREAM_END_EVENT:
    case YAML_DOCUMENT_END_EVENT:
        break;
    }
    return 0;
}

/* libyaml's error; its message contains no part of the text. */
static int parser_failure(reader *r, const yaml_parser_t *parser)
{
    if (parser->error == YAML_MEMORY_ERROR) {
        return no_memory(r);
    }
    const char *what = parser->problem != NULL ? parser->problem : "not YAML";
    if (parser->error == YAML_READER_ERROR) {
        return ki__error_at(r->error, KI_ERR_ENCODING, r->text, parser->problem_offset, "%s", what);
    }
    if (parser->context != NULL && strcmp(parser->context, "while scanning a directive") == 0) {
        return fail(r->error, KI_ERR_UNSUPPORTED, parser->context_mark,
                    "directives are not allowed");
    }
    return fail(r->error, KI_ERR_SYNTAX, parser->problem_mark, what);
}

static int parse(reader *r)
{
    yaml_parser_t parser;
    if (yaml_parser_initialize(&parser) == 0) {
        return no_memory(r);
    }
    yaml_parser_set_encoding(&parser, YAML_UTF8_ENCODING);
    yaml_parser_set_input_string(&parser, (const unsigned char *)r->masked, r->text.len);
    int result = 0;
    bool more = true;
    while (result >= 0 && more) {
        yaml_event_t event;
        if (yaml_parser_parse(&parser, &event) == 0) {
            result = parser_failure(r, &parser);
            break;
        }
        more = event.type != YAML_STREAM_END_EVENT;
        result = on_event(r, &event);
        yaml_event_delete(&event);
    }
    yaml_parser_delete(&parser);
    return result;
}

/* The text without a byte order mark. */
static ki_str skip_mark(ki_str text)
{
    bool marked = text.len >= 3 && memcmp(text.ptr, "\xef\xbb\xbf", 3) == 0;
    return marked ? ki_str_make(text.ptr + 3, text.len - 3) : text;
}

static int check_text(ki_str text, char letter, ki_error *error)
{
    for (size_t i = 0; i < text.len;) {
        size_t len = ki__utf8_length(ki_str_make(text.ptr + i, text.len - i));
        if (len == 0) {
            return ki__error_at(error, KI_ERR_ENCODING, text, i, "not UTF-8");
        }
        i += len;
    }
    if (text.len >= UINT32_MAX || letter == '\0') {
        return ki__error_set(error, KI_ERR_UNSUPPORTED,
                             "the text is too large, or has too many escapes");
    }
    return 0;
}

int ki__yaml_read(ki_str text, size_t max_depth, const ki_alloc *alloc, ki__yaml *ret_yaml,
                  ki_error *error)
{
    text = skip_mark(text);
    alloc = ki__alloc_or_default(alloc);
    char letter = ki__yaml_mask_letter(text);
    int r = check_text(text, letter, error);
    if (r < 0) {
        return r;
    }
    ki__yaml yaml = {.alloc = alloc};
    ki__secrets_init(&yaml.secrets, alloc);
    reader state = {
        .yaml = &yaml,
        .text = text,
        .letter = letter,
        .max_depth = max_depth < KI__YAML_DEPTH_MAX ? max_depth : KI__YAML_DEPTH_MAX,
        .error = error,
    };
    state.masked = ki__alloc(alloc, text.len);
    void *nodes = NULL;
    if (state.masked == NULL ||
        ki__array_reserve(alloc, &nodes, &yaml.cap, 1, sizeof(*yaml.nodes)) < 0) {
        r = no_memory(&state);
    } else {
        yaml.nodes = nodes;
        yaml.nodes[yaml.count++] = (ki__yaml_node){.quoted = false};
        ki__yaml_mask(text, letter, state.masked);
        r = parse(&state);
    }
    ki__free(alloc, state.masked);
    if (r < 0) {
        ki__yaml_done(&yaml);
        return r;
    }
    *ret_yaml = yaml;
    return 0;
}

void ki__yaml_done(ki__yaml *yaml)
{
    ki__free(yaml->alloc, yaml->nodes);
    yaml->nodes = NULL;
    yaml->count = 0;
    yaml->cap = 0;
    ki__secrets_done(&yaml->secrets);
}
