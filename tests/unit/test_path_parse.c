/* SPDX-License-Identifier: Apache-2.0 */
/* What is a path and what is not, and where the error points. */
#include <errno.h>
#include <string.h>

#include "support/path.h"
#include "support/test.h"

typedef struct bad_path {
    const char *text;
    size_t offset;
    const char *message; /* a part of it */
} bad_path;

static void check_bad(const bad_path *bad, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        ki_path *path = NULL;
        ki_error error = KI_ERROR_INIT;
        int r = ki_path_compile(bad[i].text, NULL, &path, &error);
        if (r != KI_ERR_SYNTAX) {
            fail_msg("%s: got %s", bad[i].text, ki_error_name(r));
        }
        if (error.offset != bad[i].offset || strstr(error.message, bad[i].message) == NULL) {
            fail_msg("%s: offset %zu: %s", bad[i].text, error.offset, error.message);
        }
        assert_null(path);
        assert_int_equal(error.code, KI_ERR_SYNTAX);
        assert_int_equal(error.line, 1);
        assert_int_equal(error.column, bad[i].offset + 1);
        assert_int_equal(ki_path_compile(bad[i].text, NULL, &path, NULL), KI_ERR_SYNTAX);
    }
}

#define CHECK_BAD(rows) check_bad((rows), sizeof(rows) / sizeof((rows)[0]))

static void steps_that_are_wrong(void **state)
{
    (void)state;
    static const bad_path rows[] = {
        {"", 0, "expected a path, such as '.metadata.name', but the path ends"},
        {"   ", 3, "but the path ends"},
        {"{}", 1, "expected a path, such as '.metadata.name', found '}'"},
        {"{ }", 2, "found '}'"},
        {".a.", 3, "expected a field name or '*', but the path ends"},
        {"{.a.}", 4, "expected a field name or '*', found '}'"},
        {"$.", 2, "expected a field name"},
        {".[0]", 1, "expected a field name or '*', found '['"},
        {".a.[0]", 3, "expected a field name or '*', found '['"},
        {".a..b...", 8, "expected a field name"},
        {"....a", 2, "'..' already covers every depth"},
        {".a....b", 4, "'..' already covers every depth"},
        {"$a", 1, "expected '.', '[' or the end of the path, found 'a'"},
        {"$$.a", 1, "expected '.', '['"},
        {"a b", 2, "expected '.', '[' or the end of the path, found 'b'"},
        {".a'b'", 2, "expected '.', '[' or the end of the path, found '''"},
        {".a*", 2, "found '*'"},
        {".*a", 2, "found 'a'"},
        {".'a'", 1, "expected a field name or '*', found '''"},
        {".a.b\\", 5, "expected a character after '\\'"},
        {".length()", 7, "found '('"},
        {".a,b", 2, "found ','"},
        {".a\nb", 2, "found byte 0x0a"},
        {".a\x7f", 2, "found byte 0x7f"},
        {".a->", 4, "expected a field name or '*', but the path ends"},
        {".a->.b", 4, "expected a field name or '*', found '.'"},
        {".a->[0]", 4, "expected a field name or '*', found '['"},
        {"->b", 1, "expected '.', '[' or the end of the path, found '>'"},
        {".a[0]->b", 5, "found '-'"},
        {".a- >b", 4, "found '>'"},
        {".a\\->b", 4, "found '>'"},
        {".a>b", 2, "found '>'"},
        {".a]", 2, "found ']'"},
        {"(.a)", 0, "found '('"},
        {"\"text\"", 0, "expected a path, found text in quotes"},
        {"{'text'}", 1, "expected a path, found text in quotes"},
        {".a}", 2, "'}' without '{' before the path"},
        {"{.a", 0, "unterminated '{'"},
        {" {.a[0]  ", 1, "unterminated '{'"},
        {"{{.a}}", 1, "not paths"},
    };
    CHECK_BAD(rows);
}

static void templates_are_not_paths(void **state)
{
    (void)state;
    static const bad_path rows[] = {
        {"name: {.a}", 6, "not paths"},
        {"hello {.a}", 6, "not paths"},
        {"kind is {.kind}", 5, "not paths"},
        {"{.a}{.b}", 4, "not paths"},
        {"{.a} {.b}", 5, "not paths"},
        {"{.a}\\n", 4, "not paths"},
        {"{.a} text", 5, "a path is one expression"},
        {"{range .items[*]}{.a}{end}", 1, "range and end are not paths"},
        {"range .items[*]", 0, "not paths"},
        {"{range\t@.items[*]}", 1, "not paths"},
        {"{end}", 1, "not paths"},
        {"{ end }", 2, "not paths"},
    };
    CHECK_BAD(rows);
}

static void brackets_that_are_wrong(void **state)
{
    (void)state;
    static const bad_path rows[] = {
        {".a[", 3, "expected an index, a slice, a name in quotes or '*', but the path ends"},
        {".a[]", 3, "expected an index, a slice, a name in quotes or '*', found ']'"},
        {".a[ ]", 4, "found ']'"},
        {".a[b]", 3, "found 'b'"},
        {".a[b=]", 5, "expected a name or a value, found ']'"},
        {".a[b=c", 6, "expected ']' after the value, but the path ends"},
        {".a[b=c d]", 7, "expected ']' after the value, found 'd'"},
        {".a[b='c]", 5, "unterminated quote"},
        {".a[b==c]", 5, "expected a name or a value, found '='"},
        {".a[0=c]", 4, "expected ',' or ']', found '='"},
        {".a[b=c,d=e]", 6, "expected ']' after the value, found ','"},
        {".a[0", 4, "expected ',' or ']', but the path ends"},
        {".a[0}", 4, "expected ',' or ']', found '}'"},
        {".a[0 1]", 5, "expected ',' or ']', found '1'"},
        {".a[1.5]", 4, "expected ',' or ']', found '.'"},
        {".a[+1]", 3, "found '+'"},
        {".a[-]", 4, "expected a digit, found ']'"},
        {".a[--1]", 4, "expected a digit, found '-'"},
        {".a[9223372036854775808]", 3, "does not fit in 64 bits"},
        {".a[-9223372036854775809]", 3, "does not fit in 64 bits"},
        {".a[1:99999999999999999999]", 5, "does not fit in 64 bits"},
        {".a[::0]", 5, "the step of a slice must be greater than 0"},
        {".a[1:2: -1]", 8, "the step of a slice must be greater than 0"},
        {".a[::1:]", 6, "expected ',' or ']', found ':'"},
        {".a[0,]", 5, "expected an index"},
        {".a[,0]", 3, "expected an index"},
        {".a['b]", 3, "unterminated quote"},
        {".a['b\"]", 3, "unterminated quote"},
        {".a['b\\']", 3, "unterminated quote"},
        {".a['b'", 6, "expected ',' or ']', but the path ends"},
        {".a['b'c]", 6, "expected ',' or ']', found 'c'"},
        {".a['\\q']", 4, "expected \\n, \\r, \\t or a backslash before punctuation"},
        {".a['\\1']", 4, "expected \\n, \\r, \\t"},
        {".a['b\\", 5, "expected \\n, \\r, \\t"},
        {".a[*", 4, "expected ',' or ']'"},
        {".a[**]", 4, "expected ',' or ']', found '*'"},
        {".a[0,?(@.b)]", 5, "a filter must be alone in its brackets"},
        {".a[?(@.b),0]", 9, "expected ']' after the filter, found ','"},
    };
    CHECK_BAD(rows);
}

static void filters_that_are_wrong(void **state)
{
    (void)state;
    static const bad_path rows[] = {
        {".a[?", 4, "expected '(' after '?', but the path ends"},
        {".a[?@.b]", 4, "expected '(' after '?', found '@'"},
        {".a[?()]", 5, "expected '@', text in quotes, a number, true or false, found ')'"},
        {".a[?(", 5, "but the path ends"},
        {".a[?(@.b", 8, "expected ==, !=, <, <=, >, >=, &&, || or ')', but the path ends"},
        {".a[?(@.b)", 9, "expected ']' after the filter"},
        {".a[?(@.b]", 8, "found ']'"},
        {".a[?(b==1)]", 5, "expected '@', text in quotes, a number, true or false, found 'b'"},
        {".a[?(null==@.b)]", 5, "found 'n'"},
        {".a[?($.b==1)]", 5, "must begin with '@'"},
        {".a[?(@.b==$.c)]", 10, "must begin with '@'"},
        {".a[?(!@.b)]", 5, "'!' and parentheses are not supported"},
        {".a[?((@.b))]", 5, "'!' and parentheses are not supported"},
        {".a[?(@.b=1)]", 8, "expected ==, !=, <, <=, >, >=, &&, || or ')', found '='"},
        {".a[?(@.b!1)]", 8, "expected =="},
        {".a[?(@.b=~'x')]", 8, "regular expressions are not supported"},
        {".a[?(@.b===1)]", 10, "found '='"},
        {".a[?(@.b<>1)]", 9, "found '>'"},
        {".a[?(@.b==)]", 10, "expected '@', text in quotes, a number, true or false, found ')'"},
        {".a[?(@.b=='x)]", 10, "unterminated quote"},
        {".a[?(@.b=='x'y)]", 13, "expected &&, || or ')', found 'y'"},
        {".a[?(@.b==1 2)]", 12, "expected &&, || or ')', found '2'"},
        {".a[?(@.b==1x)]", 11, "expected &&, || or ')', found 'x'"},
        {".a[?(@.b==truely)]", 14, "expected &&, || or ')', found 'l'"},
        {".a[?(@.b==01)]", 10, "expected a number"},
        {".a[?(@.b==1.)]", 10, "expected a number"},
        {".a[?(@.b==1e)]", 10, "expected a number"},
        {".a[?(@.b==-)]", 10, "expected a number"},
        {".a[?(@.b==+-1)]", 10, "expected a number"},
        {".a[?(@.b==1e999)]", 10, "does not fit in a double"},
        {".a[?(1==1)]", 8, "one side of a comparison must be a path"},
        {".a[?('x')]", 8, "expected an operator after the literal, found ')'"},
        {".a[?(true)]", 9, "expected an operator after the literal"},
        {".a[?(@.b<true)]", 8, "true and false can be compared with == and != only"},
        {".a[?(false>=@.b)]", 10, "true and false can be compared with == and != only"},
        {".a[?(@[*]==@[*])]", 11, "only one side of a comparison may match several values"},
        {".a[?(@..b == @..c)]", 13, "only one side of a comparison may match several values"},
        {".a[?(@.b[?(@.c)])]", 8, "nested filters are not supported"},
        {".a[?(@[ ?(@.c)])]", 6, "nested filters are not supported"},
        {".a[?(@.b&@.c)]", 8, "expected &&, || or ')', found '&'"},
        {".a[?(@.b|@.c)]", 8, "expected &&, || or ')', found '|'"},
        {".a[?(@.b&&)]", 10, "expected '@'"},
        {".a[?(@.b||)]", 10, "expected '@'"},
        {".a[?(&&@.b)]", 5, "expected '@'"},
        {".a[?(@.b.)]", 9, "expected a field name or '*', found ')'"},
        {".a[?(@.b[)]", 9, "expected an index"},
        {".a[?(@.b.c d)]", 11, "expected ==, !="},
        {".a[?(@.'b')]", 7, "expected a field name"},
    };
    CHECK_BAD(rows);
}

/* A path of `count` times `part`. */
static int compile_repeated(const char *part, size_t count, ki_error *error)
{
    char text[8192];
    size_t len = 0;
    for (size_t i = 0; i < count; i++) {
        memcpy(text + len, part, strlen(part));
        len += strlen(part);
    }
    text[len] = '\0';
    ki_path *path;
    int r = ki_path_compile(text, NULL, &path, error);
    if (r == 0) {
        assert_string_equal(ki_path_text(path), text);
        ki_path_unref(path);
    }
    return r;
}

static void limits_of_a_path(void **state)
{
    (void)state;
    ki_error error = KI_ERROR_INIT;
    assert_int_equal(compile_repeated("a", 4096, NULL), 0);
    assert_int_equal(compile_repeated("a", 4097, &error), KI_ERR_LIMIT);
    assert_int_equal(error.offset, 4096);
    assert_int_equal(compile_repeated(".a", 64, NULL), 0);
    assert_int_equal(compile_repeated(".a", 65, &error), KI_ERR_LIMIT);
    assert_non_null(strstr(error.message, "64 steps"));
    assert_int_equal(compile_repeated("..a", 32, NULL), 0);
    assert_int_equal(compile_repeated("..a", 33, NULL), KI_ERR_LIMIT);
    assert_int_equal(compile_repeated("[0]", 64, NULL), 0);
    assert_int_equal(compile_repeated("[0]", 65, NULL), KI_ERR_LIMIT);
    assert_int_equal(compile_repeated("[*]", 64, NULL), 0);
    assert_int_equal(compile_repeated("['a','b']", 21, NULL), 0); /* three steps each */
    assert_int_equal(compile_repeated("['a','b']", 22, NULL), KI_ERR_LIMIT);
    assert_int_equal(compile_repeated("[?(@)]", 64, NULL), 0);
    assert_int_equal(compile_repeated("[?(@)]", 65, NULL), KI_ERR_LIMIT);
    assert_int_equal(compile_repeated("[?(@.a)]", 32, NULL), 0);
    assert_int_equal(compile_repeated("[?(@.a)]", 33, NULL), KI_ERR_LIMIT);
    assert_int_equal(compile_repeated("[?(@||@)]", 32, NULL), 0);
    assert_int_equal(compile_repeated("[?(@||@)]", 33, &error), KI_ERR_LIMIT);
    assert_non_null(strstr(error.message, "64 conditions"));
    assert_int_equal(compile_repeated(".", 4096, NULL), KI_ERR_SYNTAX);
    assert_int_equal(compile_repeated("[", 4096, NULL), KI_ERR_SYNTAX);
    assert_int_equal(compile_repeated("\\", 4096, NULL), 0); /* 2048 backslashes */
    assert_int_equal(compile_repeated("\\", 4095, NULL), KI_ERR_SYNTAX);
    assert_int_equal(ki_path_compile(NULL, NULL, &(ki_path *){NULL}, &error), -EINVAL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(steps_that_are_wrong),    cmocka_unit_test(templates_are_not_paths),
        cmocka_unit_test(brackets_that_are_wrong), cmocka_unit_test(filters_that_are_wrong),
        cmocka_unit_test(limits_of_a_path),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
