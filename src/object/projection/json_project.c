/* SPDX-License-Identifier: Apache-2.0 */
/* Projects JSON while it is validated, in one pass. Only maps and lists of which a part is kept are
 * entered, so the stack is bounded by the depth of the projection; everything else is one scan,
 * copied or not. The output is never longer than the input. */
#include "base/assert.h"
#include "object/json/json_scan.h"
#include "object/json/json_string.h"
#include "object/projection/keep_tree.h"

typedef struct frame {
    const ki__keep_node *node;
    bool map;
    bool any; /* something was written into it */
} frame;

typedef struct project {
    ki__json_scan scan;
    char *out;
    size_t depth;
    frame frames[KI__KEEP_DEPTH_MAX + 1];
} project;

static void put_char(project *w, char c)
{
    *w->out++ = c;
}

static void put(project *w, const char *from, const char *to)
{
    memcpy(w->out, from, (size_t)(to - from));
    w->out += to - from;
}

static const ki__keep_node *member_of(const ki__keep_node *node, ki_str raw)
{
    if (!ki__json_raw_is_encoded(raw)) {
        return ki__keep_member(node, raw);
    }
    for (uint32_t i = 0; i < node->count; i++) {
        if (ki__json_raw_equals(raw, node->children[i].name)) {
            return node->children[i].node;
        }
    }
    return node->rest;
}

static const char *open(project *w, const char *p, const ki__keep_node *node)
{
    bool map = *p == '{';
    ki_assert(w->depth <= KI__KEEP_DEPTH_MAX);
    w->frames[w->depth++] = (frame){.node = node, .map = map};
    put_char(w, map ? '{' : '[');
    return ki__json_scan_open(&w->scan, p);
}

/* The member or element at `p`; returns the position after it, or inside if it was entered. */
static const char *project_child(project *w, const char *p)
{
    frame *f = &w->frames[w->depth - 1];
    const ki__keep_node *node = f->node->rest;
    ki_str name = ki_str_make(p, 0);
    if (f->map) {
        p = ki__json_scan_name(&w->scan, p, &name);
        if (p == NULL) {
            return NULL;
        }
        node = member_of(f->node, name);
    }
    if (node == &ki__keep_none) {
        return ki__json_scan_value(&w->scan, p);
    }
    if (f->any) {
        put_char(w, ',');
    }
    f->any = true;
    if (f->map) {
        put(w, name.ptr - 1, name.ptr + name.len + 1);
        put_char(w, ':');
    }
    if (node != NULL && p != w->scan.end && (*p == '{' || *p == '[')) {
        return open(w, p, node);
    }
    const char *after = ki__json_scan_value(&w->scan, p);
    if (after != NULL) {
        put(w, p, after);
    }
    return after;
}

/* Closes all that end at `p`; returns the position of the next child, or the end of all. */
static const char *close_ended(project *w, const char *p, bool more)
{
    while (p != NULL && !more) {
        put_char(w, w->frames[--w->depth].map ? '}' : ']');
        p = ki__json_scan_close(&w->scan, p);
        if (w->depth == 0) {
            break;
        }
        p = ki__json_scan_next(&w->scan, p, &more);
    }
    return p;
}

static bool is_end(const project *w, const char *p)
{
    return p != w->scan.end && *p == (w->frames[w->depth - 1].map ? '}' : ']');
}

static const char *project_container(project *w, const char *p, const ki__keep_node *node)
{
    p = open(w, p, node);
    size_t depth = 0; /* of the child before: if greater, the child was entered */
    while (p != NULL && w->depth != 0) {
        bool more = true;
        if (w->depth != depth) {
            depth = w->depth;
            more = !is_end(w, p);
        }
        if (more) {
            p = project_child(w, p);
            if (p == NULL || w->depth != depth) {
                continue;
            }
            p = ki__json_scan_next(&w->scan, p, &more);
        }
        p = close_ended(w, p, more);
        depth = w->depth;
    }
    return p;
}

int ki__json_project(ki_str text, uint32_t max_depth, const ki__keep_node *node, char *out,
                     size_t *ret_len)
{
    project w;
    w.out = out;
    w.depth = 0;
    ki__json_scan_init(&w.scan, text, max_depth, NULL);
    const char *p = ki__json_scan_space(&w.scan, w.scan.start);
    if (p != w.scan.end && (*p == '{' || *p == '[')) {
        p = project_container(&w, p, node);
    } else {
        const char *start = p;
        p = ki__json_scan_value(&w.scan, p);
        if (p != NULL) {
            put(&w, start, p);
        }
    }
    if (p == NULL || ki__json_scan_end(&w.scan, p) == NULL) {
        return w.scan.code;
    }
    *ret_len = (size_t)(w.out - out);
    return 0;
}
