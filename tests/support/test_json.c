/* SPDX-License-Identifier: Apache-2.0 */
#include "support/test_json.h"

#include <stdio.h>

#include "support/test.h"

typedef struct generator {
    ki_buf *out;
    uint64_t *random;
    unsigned budget; /* values left */
} generator;

static uint64_t draw(generator *g, uint64_t limit)
{
    return test_random(g->random) % limit;
}

static void add(generator *g, const char *text)
{
    assert_int_equal(ki_buf_add_text(g->out, text), 0);
}

static void add_space(generator *g)
{
    static const char *const spaces[] = {" ", "\n", "\t", "\r\n", "  ", "\n    "};
    if (draw(g, 8) == 0) {
        add(g, spaces[draw(g, 6)]);
    }
}

static void add_character(generator *g)
{
    static const char *const special[] = {"\\\"",
                                          "\\\\",
                                          "\\/",
                                          "\\b",
                                          "\\f",
                                          "\\n",
                                          "\\r",
                                          "\\t",
                                          "\\u0041",
                                          "\\u00e9",
                                          "\\u20ac",
                                          "\\ud83d\\ude00",
                                          "\\uFFFF",
                                          "\xc3\xa9",
                                          "\xe2\x82\xac",
                                          "\xf0\x9f\x98\x80",
                                          "\x7f",
                                          "\xef\xbf\xbf",
                                          "{",
                                          "}",
                                          "[",
                                          "]",
                                          ",",
                                          ":",
                                          "'",
                                          "\\u0001",
                                          "\\u001f",
                                          "/"};
    if (draw(g, 6) == 0) {
        add(g, special[draw(g, sizeof(special) / sizeof(special[0]))]);
    } else {
        char c = (char)('a' + draw(g, 26));
        assert_int_equal(ki_buf_add_char(g->out, c), 0);
    }
}

static void add_string(generator *g)
{
    uint64_t len = draw(g, 10) == 0 ? draw(g, 200) : draw(g, 20);
    add(g, "\"");
    for (uint64_t i = 0; i < len; i++) {
        add_character(g);
    }
    add(g, "\"");
}

static void add_name(generator *g)
{
    static const char *const names[] = {"\"a\"", "\"b\"", "\"name\"", "\"\\u0061\"", "\"\""};
    if (draw(g, 10) == 0) {
        add(g, names[draw(g, 5)]); /* a few names that meet each other */
    } else {
        add_string(g);
    }
}

static void add_number(generator *g)
{
    char text[64];
    uint64_t shape = draw(g, 6);
    int64_t number = (int64_t)test_random(g->random);
    int small = (int)draw(g, 1000) - 500;
    int power = (int)draw(g, 600) - 300;
    switch (shape) {
    case 0:
        (void)snprintf(text, sizeof(text), "%lld", (long long)number);
        break;
    case 1:
        (void)snprintf(text, sizeof(text), "%d", small);
        break;
    case 2:
        (void)snprintf(text, sizeof(text), "%d.%03u", small, (unsigned)draw(g, 1000));
        break;
    case 3:
        (void)snprintf(text, sizeof(text), "%d.%u%c%+d", (int)draw(g, 10), (unsigned)draw(g, 1000),
                       draw(g, 2) != 0 ? 'e' : 'E', power);
        break;
    case 4:
        (void)snprintf(text, sizeof(text), "%de%d", small, power / 20);
        break;
    default:
        (void)snprintf(text, sizeof(text), "%s", draw(g, 2) != 0 ? "0" : "-0");
        break;
    }
    add(g, text);
}

static void add_scalar(generator *g)
{
    switch (draw(g, 8)) {
    case 0:
        add(g, "true");
        break;
    case 1:
        add(g, "false");
        break;
    case 2:
        add(g, "null");
        break;
    case 3:
    case 4:
        add_number(g);
        break;
    default:
        add_string(g);
        break;
    }
}

enum { DEPTH_MAX = 40 };

typedef struct container {
    bool map;
    unsigned count;
} container;

static void open_container(generator *g, container *stack, size_t *depth, bool map)
{
    stack[(*depth)++] = (container){.map = map};
    add(g, map ? "{" : "[");
}

static void add_item(generator *g, container *stack, size_t *depth)
{
    container *top = &stack[*depth - 1];
    add(g, top->count++ != 0 ? "," : "");
    add_space(g);
    if (top->map) {
        add_name(g);
        add_space(g);
        add(g, ":");
        add_space(g);
    }
    g->budget--;
    if (*depth < DEPTH_MAX && draw(g, 3) == 0) {
        open_container(g, stack, depth, draw(g, 2) != 0);
    } else {
        add_scalar(g);
    }
    add_space(g);
}

static void add_container(generator *g, bool map)
{
    container stack[DEPTH_MAX];
    size_t depth = 0;
    add_space(g);
    open_container(g, stack, &depth, map);
    while (depth != 0) {
        if (g->budget == 0 || draw(g, depth == 1 ? 50 : 6) == 0) {
            depth--;
            add(g, stack[depth].map ? "}" : "]");
            add_space(g);
        } else {
            add_item(g, stack, &depth);
        }
    }
}

void test_json_random(ki_buf *out, uint64_t *random, unsigned budget)
{
    generator g = {.out = out, .random = random, .budget = budget};
    if (draw(&g, 8) == 0) {
        add_scalar(&g);
    } else {
        add_container(&g, draw(&g, 2) != 0);
    }
}

void test_json_random_map(ki_buf *out, uint64_t *random, unsigned budget)
{
    generator g = {.out = out, .random = random, .budget = budget};
    add_container(&g, true);
}
