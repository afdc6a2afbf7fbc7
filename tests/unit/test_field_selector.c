/* SPDX-License-Identifier: Apache-2.0 */
/* Field selectors. What is accepted, what it prints and matches and the name it requires, and what
 * is rejected, was checked against k8s.io/apimachinery v0.37.2 (fields.ParseSelector, String,
 * Matches and RequiresExactMatch) with a Go program over these very tables; where an error is, is
 * our own. */
#include <stdio.h>
#include <stdlib.h>

#include <kinformer/field_selector.h>
#include <kinformer/object.h>
#include <kinformer/selector.h>

#include "object/selector/field_selector.h"
#include "support/test.h"

/* The Go program had the same as sets of fields. */
static const char *const objects[] = {
    "{\"kind\":\"Pod\",\"metadata\":{\"name\":\"n1\",\"namespace\":\"ns\",\"uid\":\"u-1\"},"
    "\"spec\":{\"nodeName\":\"node-1\",\"hostNetwork\":true,\"priority\":5},"
    "\"status\":{\"phase\":\"Running\"}}",
    "{\"metadata\":{\"name\":\"n2\"},"
    "\"spec\":{\"nodeName\":\"\",\"hostNetwork\":false,\"priority\":-1},"
    "\"status\":{\"phase\":\"a,b=c\\\\d\"}}",
    ("{\"metadata\":{\"name\":\"n1\",\"namespace\":\"other\",\"labels\":{\"a\":\"b\"}},"
     "\"status\":{\"phase\":\"Pending\"},\"spec\":{\"nodeName\":\" node-1 \"}}"),
};
enum { OBJECTS = sizeof(objects) / sizeof(objects[0]) };

typedef struct accept_case {
    const char *text;
    const char *printed;
    const char *matches; /* of each object: 1 or . */
    const char *name;    /* what it requires of metadata.name; NULL: nothing */
} accept_case;

static const accept_case accepted[] = {
    {"", "", "111", NULL},
    {",", "", "111", NULL},
    {",,,", "", "111", NULL},
    {"metadata.name=n1", "metadata.name=n1", "1.1", "n1"},
    {"metadata.name==n1", "metadata.name=n1", "1.1", "n1"},
    {"metadata.name!=n1", "metadata.name!=n1", ".1.", NULL},
    {"metadata.name=n2", "metadata.name=n2", ".1.", "n2"},
    {"metadata.name=", "metadata.name=", "...", ""},
    {"metadata.name!=", "metadata.name!=", "111", NULL},
    {"metadata.namespace=ns", "metadata.namespace=ns", "1..", NULL},
    {"metadata.namespace!=ns", "metadata.namespace!=ns", ".11", NULL},
    {"metadata.namespace=", "metadata.namespace=", ".1.", NULL},
    {"metadata.namespace!=", "metadata.namespace!=", "1.1", NULL},
    {"metadata.uid=u-1", "metadata.uid=u-1", "1..", NULL},
    {"metadata.uid=", "metadata.uid=", ".11", NULL},
    {"kind=Pod", "kind=Pod", "1..", NULL},
    {"kind!=Pod", "kind!=Pod", ".11", NULL},
    {"kind=", "kind=", ".11", NULL},
    {"spec.nodeName=node-1", "spec.nodeName=node-1", "1..", NULL},
    {"spec.nodeName!=node-1", "spec.nodeName!=node-1", ".11", NULL},
    {"spec.nodeName=", "spec.nodeName=", ".1.", NULL},
    {"spec.nodeName!=", "spec.nodeName!=", "1.1", NULL},
    {"spec.nodeName= node-1 ", "spec.nodeName= node-1 ", "..1", NULL},
    {" spec.nodeName=node-1", " spec.nodeName=node-1", "...", NULL},
    {"spec.nodeName =node-1", "spec.nodeName =node-1", "...", NULL},
    {"spec.nodeName==", "spec.nodeName=", ".1.", NULL},
    {"spec.hostNetwork=true", "spec.hostNetwork=true", "1..", NULL},
    {"spec.hostNetwork=false", "spec.hostNetwork=false", ".1.", NULL},
    {"spec.hostNetwork!=true", "spec.hostNetwork!=true", ".11", NULL},
    {"spec.hostNetwork=True", "spec.hostNetwork=True", "...", NULL},
    {"spec.hostNetwork=", "spec.hostNetwork=", "..1", NULL},
    {"spec.priority=5", "spec.priority=5", "1..", NULL},
    {"spec.priority=-1", "spec.priority=-1", ".1.", NULL},
    {"spec.priority=05", "spec.priority=05", "...", NULL},
    {"spec.priority!=5", "spec.priority!=5", ".11", NULL},
    {"spec.priority=", "spec.priority=", "..1", NULL},
    {"status.phase=Running", "status.phase=Running", "1..", NULL},
    {"status.phase!=Running", "status.phase!=Running", ".11", NULL},
    {"status.phase=Running,metadata.name=n1", "metadata.name=n1,status.phase=Running", "1..", "n1"},
    {"metadata.name=n1,status.phase!=Running", "metadata.name=n1,status.phase!=Running", "..1",
     "n1"},
    {"status.phase!=Running,status.phase!=Pending", "status.phase!=Pending,status.phase!=Running",
     ".1.", NULL},
    {"metadata.name=n1,metadata.name=n2", "metadata.name=n1,metadata.name=n2", "...", "n1"},
    {"metadata.name!=n1,metadata.name=n2", "metadata.name!=n1,metadata.name=n2", ".1.", "n2"},
    {",metadata.name=n1,", "metadata.name=n1", "1.1", "n1"},
    {"metadata.name=n1,,status.phase=Running", "metadata.name=n1,status.phase=Running", "1..",
     "n1"},
    {",,spec.priority=5,,kind=Pod,,", "kind=Pod,spec.priority=5", "1..", NULL},
    {"status.phase=a\\,b\\=c\\\\d", "status.phase=a\\,b\\=c\\\\d", ".1.", NULL},
    {"status.phase!=a\\,b\\=c\\\\d", "status.phase!=a\\,b\\=c\\\\d", "1.1", NULL},
    {"status.phase==a\\,b\\=c\\\\d", "status.phase=a\\,b\\=c\\\\d", ".1.", NULL},
    {"status.phase=a\\,b", "status.phase=a\\,b", "...", NULL},
    {"status.phase=\\\\", "status.phase=\\\\", "...", NULL},
    {"status.phase=\\,", "status.phase=\\,", "...", NULL},
    {"status.phase=\\=", "status.phase=\\=", "...", NULL},
    {"status.phase=\\=\\=", "status.phase=\\=\\=", "...", NULL},
    {"status.phase==\\=x", "status.phase=\\=x", "...", NULL},
    {"status.phase=\\\\\\,\\=", "status.phase=\\\\\\,\\=", "...", NULL},
    {"a=\\\\,b=\\,", "a=\\\\,b=\\,", "...", NULL},
    {"nope=", "nope=", "111", NULL},
    {"nope!=", "nope!=", "...", NULL},
    {"nope=x", "nope=x", "...", NULL},
    {"nope!=x", "nope!=x", "111", NULL},
    {"nope.nope=", "nope.nope=", "111", NULL},
    {"metadata.name.more=", "metadata.name.more=", "111", NULL},
    {"metadata.name.more!=x", "metadata.name.more!=x", "111", NULL},
    {"metadata.nope.more=", "metadata.nope.more=", "111", NULL},
    {"a..b=", "a..b=", "111", NULL},
    {".=", ".=", "111", NULL},
    {"..=x", "..=x", "...", NULL},
    {"=", "", "111", NULL},
    {"==", "", "111", NULL},
    {"!=", "", "111", NULL},
    {"=x", "=x", "...", NULL},
    {"!=x", "!=x", "111", NULL},
    {"=,=x", "=x", "...", NULL},
    {"!x=y", "!x=y", "...", NULL},
    {"a!b=c", "a!b=c", "...", NULL},
    {"a!!=b", "a!!=b", "111", NULL},
    {"a=!b", "a=!b", "...", NULL},
    {"a!=!b", "a!=!b", "111", NULL},
    {"a=b!", "a=b!", "...", NULL},
    {"a<b=c", "a<b=c", "...", NULL},
    {"a>1=2", "a>1=2", "...", NULL},
    {"a in (b)=c", "a in (b)=c", "...", NULL},
    {"a(b)=(c)", "a(b)=(c)", "...", NULL},
    {"a=b c", "a=b c", "...", NULL},
    {"a= ", "a= ", "...", NULL},
    {"a=\tb\n", "a=\tb\n", "...", NULL},
    {"a=\303\251", "a=\303\251", "...", NULL},
    {"\303\251=a", "\303\251=a", "...", NULL},
    {"a=\"b\"", "a=\"b\"", "...", NULL},
    {"a=b;c", "a=b;c", "...", NULL},
    {"a=b/c:d", "a=b/c:d", "...", NULL},
    {"metadata.labels=x", "metadata.labels=x", "...", NULL},
    {"metadata.annotations.a=b", "metadata.annotations.a=b", "...", NULL},
    {"a\\=b", "a\\=b", "...", NULL},
    {"a\\==b", "a\\=b", "...", NULL},
    {"a\\,b=c", "a\\,b=c", "...", NULL},
    {"a\\\\=b", "a\\\\=b", "...", NULL},
    {"\\=", "\\=", "111", NULL},
    {"\\!=x", "\\!=x", "111", NULL},
    {"a\\!=\\,", "a\\!=\\,", "111", NULL},
    {"b=1,a=1", "a=1,b=1", "...", NULL},
    {"a=2,a=1", "a=1,a=2", "...", NULL},
    {"a!=1,a=1", "a!=1,a=1", "...", NULL},
    {"a=1,a!=1", "a!=1,a=1", "...", NULL},
    {"a-b=1,a=1,a.b=1,ab=1", "a-b=1,a.b=1,a=1,ab=1", "...", NULL},
    {"a=1,a=1", "a=1,a=1", "...", NULL},
    {"a==1,a==1", "a=1,a=1", "...", NULL},
    {"B=1,a=1", "B=1,a=1", "...", NULL},
    {"b=1,a=1,c!=2,a!=0", "a!=0,a=1,b=1,c!=2", "...", NULL},
    {"a==b", "a=b", "...", NULL},
    {"a==b,c==d", "a=b,c=d", "...", NULL},
    {"c==d,a==b", "a=b,c=d", "...", NULL},
    {"c==d,a!=b", "a!=b,c=d", "...", NULL},
};

typedef struct reject_case {
    const char *text;
    size_t offset;
} reject_case;

static const reject_case rejected[] = {
    {"a", 1},         {"a.b", 3},        {"a,b=c", 1},     {"a=b,c", 5},     {"a=b,,c", 6},
    {" ", 1},         {"a!", 2},         {"a! ", 3},       {"a>1", 3},       {"a in (b)", 8},
    {"!a", 2},        {"a\\", 2},        {"\\", 1},        {"a\\,b", 4},     {"a=b, ", 5},
    {"a,,", 1},       {"a=b=c", 3},      {"a===", 3},      {"a===b", 3},     {"a!==b", 3},
    {"a=b=", 3},      {"a=b==", 3},      {"a=b!=c", 4},    {"a=b,c=d=e", 7}, {"a!=b=c", 4},
    {"a==b!=c", 5},   {"a=\\", 2},       {"a=b\\", 3},     {"a=b\\n", 3},    {"a=\\b", 2},
    {"a=\\!", 2},     {"a=\\ ", 2},      {"a=\\\\\\", 4},  {"a=\\,\\x", 4},  {"a=b\\\303\251", 3},
    {"a=\\\"", 2},    {"a=\\\n", 2},     {"a=b,c=\\d", 6}, {"a==\\d", 3},    {"a!=\\d", 3},
    {"a=b\\,c=d", 6}, {"a=\\\\\\==", 6},
};

static ki_object *object_of(const char *json)
{
    ki_object *object = NULL;
    assert_int_equal(ki_object_from_json(json, strlen(json), NULL, &object, NULL), 0);
    return object;
}

static ki_field_selector *parse_valid(const char *text)
{
    ki_field_selector *selector = NULL;
    ki_error error = KI_ERROR_INIT;
    if (ki_field_selector_parse(text, NULL, &selector, &error) != 0) {
        fail_msg("%s: at %zu: %s", text, error.offset, error.message);
    }
    return selector;
}

static void check_printed(const ki_field_selector *selector, const char *source,
                          const char *expected)
{
    ki_buf out;
    ki_buf_init(&out, NULL, 1 << 20);
    assert_int_equal(ki_field_selector_print(selector, &out), 0);
    if (strcmp(ki_buf_text(&out), expected) != 0) {
        fail_msg("%s: printed %s, expected %s", source, ki_buf_text(&out), expected);
    }
    ki_buf_done(&out);
}

static bool matches(const char *text, const char *json)
{
    ki_field_selector *selector = parse_valid(text);
    ki_object *object = object_of(json);
    bool answer = ki_field_selector_matches(selector, object);
    ki_object_unref(object);
    ki_field_selector_unref(selector);
    return answer;
}

static void check_accepted(const char *text, const accept_case *expected)
{
    ki_field_selector *selector = parse_valid(text);
    check_printed(selector, text, expected->printed);
    ki_str name;
    int r = ki_field_selector_requires(selector, "metadata.name", &name);
    assert_int_equal(r, expected->name != NULL ? 0 : KI_ERR_NOT_FOUND);
    if (r == 0) {
        assert_str(name, expected->name);
    }
    assert_int_equal(ki_field_selector_is_everything(selector), expected->printed[0] == '\0');
    ki_field_selector_unref(selector);
    assert_int_equal(strlen(expected->matches), OBJECTS);
    for (size_t i = 0; i < OBJECTS; i++) {
        if (matches(text, objects[i]) != (expected->matches[i] == '1')) {
            fail_msg("%s: object %zu: expected %c", text, i, expected->matches[i]);
        }
    }
}

static void accepted_texts_print_and_match_as_the_reference(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof(accepted) / sizeof(accepted[0]); i++) {
        check_accepted(accepted[i].text, &accepted[i]);
        check_accepted(accepted[i].printed, &accepted[i]);
    }
}

static void check_rejected(ki_str text, int code, size_t offset)
{
    ki_field_selector *selector = NULL;
    ki_error error = KI_ERROR_INIT;
    int r = ki__field_selector_parse(text, NULL, &selector, &error);
    if (r != code || error.code != code || error.offset != offset || error.line == 0 ||
        error.message[0] == '\0') {
        fail_msg("%.*s: gave %s at %zu (%s), expected %s at %zu", KI_STR_ARG(text),
                 r < 0 ? ki_error_name(r) : "0", error.offset, error.message, ki_error_name(code),
                 offset);
    }
    assert_null(selector);
    assert_int_equal(ki__field_selector_parse(text, NULL, &selector, NULL), code);
}

static void rejected_texts_point_at_the_place(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof(rejected) / sizeof(rejected[0]); i++) {
        check_rejected(ki_str_from(rejected[i].text), KI_ERR_SYNTAX, rejected[i].offset);
    }
}

/* The reference sorts terms by their source, where == comes before any value: it would print the
 * last three as they stand. */
static void terms_sort_the_same_however_they_are_spelt(void **state)
{
    (void)state;
    static const char *const texts[] = {"a=1,a=2", "a=2,a=1", "a==1,a==2", "a==2,a=1",
                                        "a==2,a==1,"};
    for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++) {
        ki_field_selector *selector = parse_valid(texts[i]);
        check_printed(selector, texts[i], "a=1,a=2");
        ki_field_selector_unref(selector);
    }
}

static void any_bytes_may_stand_in_paths_and_values(void **state)
{
    (void)state;
    char text[] = "a\0b=c\0d\xff\\,";
    size_t len = sizeof(text) - 1;
    ki_field_selector *selector = NULL;
    assert_int_equal(ki__field_selector_parse(ki_str_make(text, len), NULL, &selector, NULL), 0);
    ki_buf out;
    ki_buf_init(&out, NULL, 100);
    assert_int_equal(ki_field_selector_print(selector, &out), 0);
    assert_int_equal(out.len, len);
    assert_memory_equal(out.data, text, len);
    ki_buf_done(&out);
    ki_str value;
    assert_int_equal(ki_field_selector_requires(selector, "a", &value), KI_ERR_NOT_FOUND);
    ki_field_selector_unref(selector);
}

static void requires_tells_only_what_a_term_demands(void **state)
{
    (void)state;
    ki_field_selector *selector = parse_valid("a=1,b!=2,c=x\\,y,c=z,d=");
    ki_str value;
    assert_int_equal(ki_field_selector_requires(selector, "a", &value), 0);
    assert_str(value, "1");
    assert_int_equal(ki_field_selector_requires(selector, "b", &value), KI_ERR_NOT_FOUND);
    assert_str(value, "1"); /* untouched */
    assert_int_equal(ki_field_selector_requires(selector, "c", &value), 0);
    assert_str(value, "x,y");
    assert_int_equal(ki_field_selector_requires(selector, "d", &value), 0);
    assert_str(value, "");
    assert_int_equal(ki_field_selector_requires(selector, "e", &value), KI_ERR_NOT_FOUND);
    assert_int_equal(ki_field_selector_requires(selector, "", &value), KI_ERR_NOT_FOUND);
    ki_field_selector_unref(selector);
}

static void fields_are_found_by_path_whatever_their_type(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        const char *json;
        bool matches;
    } cases[] = {
        {"a.b.c=d", "{\"a\":{\"b\":{\"c\":\"d\"}}}", true},
        {"a.b.c=d", "{\"a\":{\"b.c\":\"d\"}}", false},
        {"a.b=d", "{\"a.b\":\"d\"}", false},
        {"a.b=d", "{\"a\":[{\"b\":\"d\"}]}", false},
        {"a=d\\,", "{\"a\":\"\\u0064\\u002c\"}", true},
        {"\xc3\xa9=x", "{\"\\u00e9\":\"x\"}", true},
        {"a=1.50", "{\"a\":1.50}", true},
        {"a=1.5", "{\"a\":1.50}", false},
        {"a=-0", "{\"a\":-0}", true},
        {"a=12345678901234567890123", "{\"a\":12345678901234567890123}", true},
        {"a=true", "{\"a\":true}", true},
        {"a=true", "{\"a\":\"true\"}", true},
        {"a!=false", "{\"a\":true}", true},
        {"a=", "{\"a\":null}", true},
        {"a=null", "{\"a\":null}", false},
        {"a=", "{\"a\":{}}", true},
        {"a=", "{\"a\":[1]}", true},
        {"a!=", "{\"a\":{}}", false},
        {"a=", "{\"a\":0}", false},
        {"a=", "{\"a\":false}", false},
        {"a=", "{\"a\":\"\"}", true},
        {"a.=x", "{\"a\":{\"\":\"x\"}}", true},
        {".a=x", "{\"\":{\"a\":\"x\"}}", true},
        {"=x", "{\"\":\"x\"}", true},
        {"s.a=x", "{\"s\":{\"a\":\"x\",\"a\":\"y\"}}", true}, /* the first counts */
        {"metadata.name=a\\\\b", "{\"metadata\":{\"name\":\"a\\\\b\"}}", true},
        {"metadata.namespace=n", "{\"metadata\":{\"namespace\":\"\\u006e\"}}", true},
        {"metadata.labels.app=web", "{\"metadata\":{\"labels\":{\"app\":\"web\"}}}", true},
        {"metadata.labels.a.b=web", "{\"metadata\":{\"labels\":{\"a.b\":\"web\"}}}", false},
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        if (matches(cases[i].text, cases[i].json) != cases[i].matches) {
            fail_msg("%s: %s: expected %d", cases[i].text, cases[i].json, cases[i].matches);
        }
    }
}

static void text_is_limited_to_64_kib(void **state)
{
    (void)state;
    char *text = malloc(65537);
    assert_non_null(text);
    memset(text, 'v', 65537);
    memcpy(text, "a=", 2);
    ki_field_selector *selector = NULL;
    assert_int_equal(ki__field_selector_parse(ki_str_make(text, 65536), NULL, &selector, NULL), 0);
    ki_field_selector_unref(selector);
    selector = NULL;
    check_rejected(ki_str_make(text, 65537), KI_ERR_LIMIT, 65536);
    for (size_t i = 0; i < 65536; i += 4) {
        memcpy(text + i, "b==,", 4);
    }
    assert_int_equal(ki__field_selector_parse(ki_str_make(text, 65536), NULL, &selector, NULL), 0);
    ki_str value;
    assert_int_equal(ki_field_selector_requires(selector, "b", &value), 0);
    ki_field_selector_unref(selector);
    free(text);
}

static void everything_needs_no_memory(void **state)
{
    (void)state;
    test_alloc alloc;
    test_alloc_init(&alloc);
    ki_field_selector *selector = NULL;
    assert_int_equal(ki_field_selector_parse(",", &alloc.table, &selector, NULL), 0);
    assert_true(ki_field_selector_is_everything(selector));
    assert_null(ki_field_selector_unref(selector));
    assert_null(ki_field_selector_unref(selector));
    assert_ptr_equal(ki_field_selector_ref(selector), selector);
    assert_null(ki_field_selector_ref(NULL));
    assert_null(ki_field_selector_unref(NULL));
    assert_int_equal(alloc.calls, 0);
    test_alloc_done(&alloc);
}

static void the_last_unref_frees(void **state)
{
    (void)state;
    test_alloc alloc;
    test_alloc_init(&alloc);
    ki_field_selector *selector = NULL;
    ki_str text = ki_str_from("a=b,c=\\,,d!=e");
    assert_int_equal(ki__field_selector_parse(text, &alloc.table, &selector, NULL), 0);
    assert_int_equal(alloc.calls, 1); /* one block */
    assert_ptr_equal(ki_field_selector_ref(selector), selector);
    assert_null(ki_field_selector_unref(selector));
    assert_int_equal(alloc.live_blocks, 1);
    check_printed(selector, "shared", "a=b,c=\\,,d!=e");
    assert_null(ki_field_selector_unref(selector));
    test_alloc_done(&alloc);
}

static void print_appends_or_leaves_all_as_it_was(void **state)
{
    (void)state;
    ki_field_selector *selector = parse_valid("a=b,c!=d");
    size_t whole = strlen("x: a=b,c!=d");
    for (size_t max = 3; max <= whole; max++) {
        ki_buf out;
        ki_buf_init(&out, NULL, max);
        assert_int_equal(ki_buf_add_text(&out, "x: "), 0);
        assert_int_equal(ki_field_selector_print(selector, &out), max < whole ? KI_ERR_LIMIT : 0);
        assert_string_equal(ki_buf_text(&out), max < whole ? "x: " : "x: a=b,c!=d");
        ki_buf_done(&out);
    }
    ki_field_selector_unref(selector);
}

static int parse_and_print(const ki_alloc *alloc, void *user)
{
    (void)user;
    ki_field_selector *selector = NULL;
    ki_error error = KI_ERROR_INIT;
    ki_str text = ki_str_from("metadata.name=n1,spec.nodeName!=a\\,bcdefghijklmnopqrstuvwxyz,x=");
    int r = ki__field_selector_parse(text, alloc, &selector, &error);
    if (r < 0) {
        assert_int_equal(error.code, r);
        assert_null(selector);
        return r;
    }
    ki_buf out;
    ki_buf_init(&out, alloc, 1000);
    r = ki_field_selector_print(selector, &out);
    assert_int_equal(out.len, r < 0 ? 0 : text.len);
    ki_buf_done(&out);
    ki_field_selector_unref(selector);
    return r;
}

static void failing_allocations_leave_nothing_behind(void **state)
{
    (void)state;
    test_alloc_sweep(parse_and_print, NULL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(accepted_texts_print_and_match_as_the_reference),
        cmocka_unit_test(rejected_texts_point_at_the_place),
        cmocka_unit_test(terms_sort_the_same_however_they_are_spelt),
        cmocka_unit_test(any_bytes_may_stand_in_paths_and_values),
        cmocka_unit_test(requires_tells_only_what_a_term_demands),
        cmocka_unit_test(fields_are_found_by_path_whatever_their_type),
        cmocka_unit_test(text_is_limited_to_64_kib),
        cmocka_unit_test(everything_needs_no_memory),
        cmocka_unit_test(the_last_unref_frees),
        cmocka_unit_test(print_appends_or_leaves_all_as_it_was),
        cmocka_unit_test(failing_allocations_leave_nothing_behind),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
