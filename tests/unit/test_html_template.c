/* SPDX-License-Identifier: Apache-2.0 */
/* Templates: sections, filters, what is escaped, malformed templates, and lack of memory. */
#include <errno.h>
#include <string.h>

#include <kinformer/object.h>

#include "monitor_server/html_template.h"
#include "monitor_server/monitor_pages.h"
#include "support/test.h"

/* JSON with ' for ". Returns the result; the text is in `out`. */
static int render(const char *template, const char *json, const ki_alloc *alloc, ki_buf *out)
{
    char text[2000];
    ki_object *object = NULL;
    ki_object_options options = KI_OPTIONS_INIT(ki_object_options);
    size_t len = strlen(json);
    assert_true(len < sizeof(text));
    for (size_t i = 0; i <= len; i++) {
        text[i] = json[i] == '\'' ? '"' : json[i];
    }
    options.alloc = alloc;
    int r = ki_object_from_json(text, len, &options, &object, NULL);
    if (r < 0) {
        return r;
    }
    ki_value root = ki_object_root(object);
    r = ki__html_render(ki_str_from(template), &root, out);
    ki_object_unref(object);
    return r;
}

static void check(const char *template, const char *json, const char *want)
{
    ki_buf out;
    ki_buf_init(&out, NULL, 1 << 20);
    assert_int_equal(ki_buf_add_text(&out, "before "), 0);
    int r = render(template, json, NULL, &out);
    if (r < 0 || out.len < 7 || strcmp(out.data + 7, want) != 0) {
        fail_msg("%s with %s: %d: %s", template, json, r, ki_buf_text(&out));
    }
    ki_buf_done(&out);
}

static void members_and_sections(void **state)
{
    (void)state;
    check("a {{x}} b", "{'x':'1'}", "a 1 b");
    check("{{x}}", "{}", "");
    check("{{x}}", "{'x':null}", "");
    check("{{x}}", "{'x':[1,{}]}", "[1,{}]");
    check("{{#l}}<{{n}}{{o}}>{{/l}}", "{'o':'!','l':[{'n':1},{'n':2,'o':'?'}]}", "<1!><2?>");
    check("{{#l}}{{.}},{{/l}}", "{'l':['a','b']}", "a,b,");
    check("{{#l}}{{#m}}{{.}}{{/m}};{{/l}}", "{'l':[{'m':[1,2]},{'m':[]},{'m':[3]}]}", "12;;3;");
    check("{{#m}}{{n}}{{/m}}", "{'m':{'n':1},'n':2}", "1");
    check("{{#x}}yes{{/x}}{{^x}}no{{/x}}", "{'x':true}", "yes");
    check("{{#x}}yes{{/x}}{{^x}}no{{/x}}", "{'x':false}", "no");
    check("{{#x}}yes{{/x}}{{^x}}no{{/x}}", "{'x':0}", "no");
    check("{{#x}}yes{{/x}}{{^x}}no{{/x}}", "{'x':''}", "no");
    check("{{#x}}yes{{/x}}{{^x}}no{{/x}}", "{'x':[]}", "no");
    check("{{#x}}yes{{/x}}{{^x}}no{{/x}}", "{}", "no");
    check("{{#x}}{{#x}}in{{/x}}out{{/x}}.", "{'x':0}", ".");
}

static void filters(void **state)
{
    (void)state;
    check("{{x|count}}", "{'x':1234567}", "1,234,567");
    check("{{x|count}}", "{'x':1000}", "1,000");
    check("{{x|count}}", "{'x':999}", "999");
    check("{{x|count}}", "{'x':-5}", "0");
    check("{{x|bytes}}", "{'x':999}", "999 B");
    check("{{x|bytes}}", "{'x':1234}", "1.2 kB");
    check("{{x|bytes}}", "{'x':56789000}", "56 MB");
    check("{{x|ms}}", "{'x':0}", "0 ms");
    check("{{x|ms}}", "{'x':1500}", "1.5 s");
    check("{{x|ms}}", "{'x':61000}", "61 s");
    check("{{x|ms}}", "{'x':600000}", "10 min");
    check("{{x|ms}}", "{'x':86400000}", "24 h");
    check("{{x|ms}}", "{'x':null}", "never");
    check("{{x|age}} {{y|age}}", "{'x':null,'y':0}", "never 0 ms ago");
    check("{{x|url}}", "{'x':'a b/\\u00fc?'}", "a%20b%2F%C3%BC%3F");
    check("{{x|max}}", "{'x':[1,3000,2]}", "3,000");
    check("{{x|points}}", "{'x':[0,5,10]}", "0,100 0,100 1,50 2,0 2,100");
    check("{{x|points}}", "{'x':[]}", "0,100 0,100");
}

static void everything_is_escaped(void **state)
{
    (void)state;
    check("{{x}}", "{'x':'<b>&\\u0022\\u0027'}", "&lt;b&gt;&amp;&quot;&#39;");
    check("{{x|attr}}", "{'x':'\\u0022 onload=\\u0022'}", "&quot; onload=&quot;");
    check("{{x}}", "{'x':'a\\u202Eb'}", "a<span class=\"code\">U+202E</span>b");
    check("{{x|attr}}", "{'x':'a\\u202Eb'}",
          "a\xef\xbf\xbd"
          "b");
    check("{{x}}", "{'x':'\\u0000\\u001b\\n'}",
          "<span class=\"code\">U+0000</span><span class=\"code\">U+001B</span>\n");
    check("{{x}}", "{'x':'{{y}}','y':'no'}", "{{y}}");
    check("{{x}}", "{'x':'\xc3\xbc\xe2\x82\xac\xf0\x9f\x98\x80'}",
          "\xc3\xbc\xe2\x82\xac\xf0\x9f\x98\x80");
    check("{{x}}", "{'x':'\\u200b\\u2066\\ufeff'}",
          "<span class=\"code\">U+200B</span><span class=\"code\">U+2066</span>"
          "<span class=\"code\">U+FEFF</span>");
    ki_buf out;
    ki_buf_init(&out, NULL, 100);
    assert_int_equal(ki__html_escape(ki_str_from("\xff<"), &out), 0);
    assert_string_equal(ki_buf_text(&out), "\xef\xbf\xbd&lt;");
    ki_buf_done(&out);
}

static void malformed_templates_are_errors(void **state)
{
    (void)state;
    static const char *const templates[] = {
        "{{x",          "{{}}",       "{{#x}}",       "{{/x}}",
        "{{#x}}{{/y}}", "{{x|none}}", "{{#y}}{{#z}}", "{{#x}}{{x",
    };
    for (size_t i = 0; i < sizeof(templates) / sizeof(templates[0]); i++) {
        ki_buf out;
        ki_buf_init(&out, NULL, 100);
        assert_int_equal(ki_buf_add_text(&out, "before"), 0);
        if (render(templates[i], "{'x':1}", NULL, &out) != KI_ERR_INVALID) {
            fail_msg("%s", templates[i]);
        }
        assert_string_equal(ki_buf_text(&out), "before");
        ki_buf_done(&out);
    }
}

static void our_templates_are_well_formed(void **state)
{
    (void)state;
    const ki_str *const templates[] = {&ki__page_main, &ki__page_objects, &ki__page_message};
    for (size_t i = 0; i < 3; i++) {
        ki_buf out;
        ki_buf_init(&out, NULL, 1 << 20);
        assert_int_equal(render(templates[i]->ptr, "{'isList':true,'isObject':true}", NULL, &out),
                         0);
        assert_null(strstr(ki_buf_text(&out), "{{"));
        assert_non_null(strstr(ki_buf_text(&out), "</p>"));
        ki_buf_done(&out);
    }
}

static int scenario(const ki_alloc *alloc, void *user)
{
    ki_buf out;
    (void)user;
    ki_buf_init(&out, alloc, 1 << 20);
    int r = render("{{#l}}{{x}}{{x|url}}{{x|attr}}{{y}}{{/l}}",
                   "{'y':{'a':[1,2,3]},'l':[{'x':'a\\u0041'},{'x':'b'}]}", alloc, &out);
    assert_true(r < 0 || strstr(ki_buf_text(&out), "bbb{&quot;a&quot;:[1,2,3]}") != NULL);
    ki_buf_done(&out);
    return r;
}

static void lack_of_memory(void **state)
{
    (void)state;
    test_alloc_sweep(scenario, NULL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(members_and_sections),
        cmocka_unit_test(filters),
        cmocka_unit_test(everything_is_escaped),
        cmocka_unit_test(malformed_templates_are_errors),
        cmocka_unit_test(our_templates_are_well_formed),
        cmocka_unit_test(lack_of_memory),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
