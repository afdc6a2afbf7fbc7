/* SPDX-License-Identifier: Apache-2.0 */
/* Converts a subtree to JSON in two passes, to measure and to write, so that the text is never
 * reallocated. */
#include <errno.h>

#include "client/config/kubeconfig.h"

typedef struct writer {
    char *out; /* NULL in the measuring pass */
    size_t len;
} writer;

typedef struct level {
    uint32_t node; /* an open list or map */
    uint32_t next; /* next child to write */
    bool value;    /* it is the value of a key */
} level;

static void put(writer *w, const char *bytes, size_t len)
{
    if (w->out != NULL) {
        memcpy(w->out + w->len, bytes, len);
    }
    w->len += len;
}

static void put_string(writer *w, ki_str text)
{
    static const char hex[] = "0123456789abcdef";
    put(w, "\"", 1);
    for (size_t i = 0; i < text.len; i++) {
        unsigned char c = (unsigned char)text.ptr[i];
        if (c == '"' || c == '\\') {
            put(w, "\\", 1);
            put(w, text.ptr + i, 1);
        } else if (c < 0x20) {
            char escape[6] = {'\\', 'u', '0', '0', hex[c >> 4], hex[c & 15]};
            put(w, escape, sizeof(escape));
        } else {
            put(w, text.ptr + i, 1);
        }
    }
    put(w, "\"", 1);
}

/* Whether a number of the core schema is valid JSON: no '+', leading zeros or other bases, digits
 * on both sides of a '.', neither infinite nor NaN. */
static bool is_json_number(ki_str text)
{
    size_t at = text.ptr[0] == '-' ? 1 : 0;
    size_t digits = 0;
    while (at + digits < text.len && text.ptr[at + digits] >= '0' && text.ptr[at + digits] <= '9') {
        digits++;
    }
    if (digits == 0 || (digits > 1 && text.ptr[at] == '0')) {
        return false;
    }
    at += digits;
    if (at < text.len && text.ptr[at] == '.') {
        return at + 1 < text.len && text.ptr[at + 1] >= '0' && text.ptr[at + 1] <= '9';
    }
    return at == text.len || text.ptr[at] == 'e' || text.ptr[at] == 'E';
}

static int put_scalar(writer *w, const ki__yaml_node *node)
{
    switch (ki__yaml_type_of(node)) {
    case KI__YAML_NULL:
        put(w, "null", 4);
        return 0;
    case KI__YAML_BOOL:
        put(w, ki__yaml_is_true(node) ? "true" : "false", ki__yaml_is_true(node) ? 4 : 5);
        return 0;
    case KI__YAML_INT:
    case KI__YAML_FLOAT:
        if (!is_json_number(node->text)) {
            return KI_ERR_UNSUPPORTED;
        }
        put(w, node->text.ptr, node->text.len);
        return 0;
    case KI__YAML_STRING:
        put_string(w, node->text);
    }
    return 0;
}

/* Separator before a child: none before the first, a colon between key and value. */
static void put_separator(writer *w, const ki__yaml *yaml, level *l)
{
    if (l->value) {
        put(w, ":", 1);
    } else if (l->next != ki__yaml_at(yaml, l->node)->child) {
        put(w, ",", 1);
    }
}

static int write_node(writer *w, const ki__yaml *yaml, uint32_t node, uint32_t *ret_line)
{
    level stack[KI__YAML_DEPTH_MAX];
    size_t depth = 0;
    for (;;) {
        const ki__yaml_node *n = ki__yaml_at(yaml, node);
        bool key = depth != 0 && !stack[depth - 1].value &&
                   ki__yaml_at(yaml, stack[depth - 1].node)->kind == KI__YAML_MAPPING;
        if (key) {
            put_string(w, n->text);
        } else if (n->kind != KI__YAML_SCALAR) {
            put(w, n->kind == KI__YAML_MAPPING ? "{" : "[", 1);
            stack[depth++] = (level){.node = node, .next = n->child};
        } else if (put_scalar(w, n) < 0) {
            *ret_line = n->line;
            return KI_ERR_UNSUPPORTED;
        }
        if (n->kind == KI__YAML_SCALAR && depth != 0) {
            stack[depth - 1].value = key;
        }
        while (depth != 0 && stack[depth - 1].next == KI__YAML_NONE) {
            uint32_t closed = stack[--depth].node;
            put(w, ki__yaml_at(yaml, closed)->kind == KI__YAML_MAPPING ? "}" : "]", 1);
            if (depth != 0) {
                stack[depth - 1].value = false;
            }
        }
        if (depth == 0) {
            return 0;
        }
        level *l = &stack[depth - 1];
        put_separator(w, yaml, l);
        node = l->next;
        l->next = ki__yaml_at(yaml, node)->next;
    }
}

int ki__yaml_to_json(const ki__yaml *yaml, uint32_t node, ki__secrets *secrets, ki_str *ret_json,
                     uint32_t *ret_line)
{
    writer w = {.out = NULL};
    int r = write_node(&w, yaml, node, ret_line);
    if (r < 0) {
        return r;
    }
    char *out = ki__secrets_take(secrets, w.len + 1);
    if (out == NULL) {
        return -ENOMEM;
    }
    w = (writer){.out = out};
    (void)write_node(&w, yaml, node, ret_line); /* the first pass succeeded */
    *ret_json = ki_str_make(out, w.len);
    return 0;
}
