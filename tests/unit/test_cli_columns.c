/* SPDX-License-Identifier: Apache-2.0 */
/* Columns, tables and templates. */
#include <locale.h>

#include <kinformer/resource_table.h>

#include "cli/columns.h"
#include "cli/output.h"
#include "cli/template.h"
#include "cli/text.h"
#include "support/test.h"

static ki_buf out;
static ki_object *object;
static ki_error error;

static int setup(void **state)
{
    (void)state;
    cli_text_init(&out);
    error = KI_ERROR_INIT;
    return 0;
}

static int teardown(void **state)
{
    (void)state;
    ki_buf_done(&out);
    object = ki_object_unref(object);
    return 0;
}

/* Text with ' in place of ". */
static void read_object(const char *json)
{
    ki_buf text;
    cli_text_init(&text);
    for (; *json != '\0'; json++) {
        cli_put_char(&text, (char)(*json == '\'' ? '"' : *json));
    }
    object = ki_object_unref(object);
    assert_int_equal(ki_object_from_json(text.data, text.len, NULL, &object, NULL), 0);
    ki_buf_done(&text);
}

static const char *filled(const char *template_text)
{
    cli_template *template = NULL;
    ki_value root = ki_object_root(object);
    ki_buf_clear(&out);
    assert_int_equal(cli_template_parse(template_text, &template, &error), 0);
    cli_template_put(template, &root, false, &out);
    cli_template_free(template);
    return ki_buf_text(&out);
}

static const char *shown(const cli_columns *columns)
{
    cli_table table;
    ki_buf_clear(&out);
    cli_table_init(&table, columns->count);
    cli_columns_head(columns, &table);
    cli_columns_row(columns, object, &table);
    cli_table_print(&table, &out);
    cli_table_done(&table);
    return ki_buf_text(&out);
}

#define POD                                                                                  \
    "{'kind':'Pod','apiVersion':'v1','metadata':{'name':'web','namespace':'shop',"           \
    "'labels':{'app':'x'}},'spec':{'nodeName':'n1','containers':[{'name':'a','image':'i1'}," \
    "{'name':'b','image':'i2'}]},'status':{'phase':'Running','containerStatuses':[{'name':"  \
    "'a','ready':true,'restartCount':2,'state':{'running':{}}},{'name':'b','ready':false,"   \
    "'restartCount':1,'state':{'waiting':{'reason':'CrashLoopBackOff'}}}]}}"

static void templates_have_text_paths_and_ranges(void **state)
{
    (void)state;
    read_object(POD);
    assert_string_equal(filled("{.metadata.name}"), "web");
    assert_string_equal(filled(".metadata.name"), "web");
    assert_string_equal(filled("name={.metadata.name}, {.missing}."), "name=web, .");
    assert_string_equal(filled("{.spec.containers[*].image}"), "i1 i2");
    assert_string_equal(filled("{range .spec.containers[*]}{.name}={.image}{\"\\n\"}{end}"),
                        "a=i1\nb=i2\n");
    assert_string_equal(filled("{range .missing[*]}x{end}y"), "y");
    assert_string_equal(filled("{range .spec.containers[*]}[{range @.name}{@}{end}]{end}"),
                        "[a][b]");
    assert_string_equal(filled("{.metadata.labels}"), "{\"app\":\"x\"}");
    assert_string_equal(filled("{'}'}{.spec.containers[?(@.name==\"b\")].image}"), "}i2");
}

static void templates_that_are_wrong_are_refused(void **state)
{
    (void)state;
    const char *wrong[] = {"{.a", "{range .a}", "{end}", "{'a}", "{.a[}", "{}"};
    cli_template *template = NULL;
    for (size_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++) {
        assert_true(cli_template_parse(wrong[i], &template, &error) < 0);
        assert_null(template);
    }
    ki_buf many;
    cli_text_init(&many);
    test_add(&many, "{range .a}", 9);
    assert_int_equal(cli_template_parse(ki_buf_text(&many), &template, &error), KI_ERR_LIMIT);
    ki_buf_clear(&many);
    test_add(&many, "{.a}", 600);
    assert_int_equal(cli_template_parse(ki_buf_text(&many), &template, &error), KI_ERR_LIMIT);
    ki_buf_done(&many);
}

static void templates_let_no_controls_pass_unless_asked_to(void **state)
{
    (void)state;
    read_object("{'a':'x\\u001b[2J\\n'}");
    assert_string_equal(filled("{.a}"), "x\\x1b[2J\\n");
    cli_template *template = NULL;
    ki_value root = ki_object_root(object);
    ki_buf_clear(&out);
    assert_int_equal(cli_template_parse("{.a}", &template, &error), 0);
    cli_template_put(template, &root, true, &out);
    assert_string_equal(ki_buf_text(&out), "x\033[2J\n");
    cli_template_free(template);
}

static void columns_of_a_person_have_title_and_path(void **state)
{
    (void)state;
    cli_columns columns;
    read_object(POD);
    assert_int_equal(cli_columns_parse("NAME:.metadata.name,IMAGES:.spec.containers[*].image,"
                                       "TWO:.metadata['name','namespace'],NONE:.x",
                                       &columns, &error),
                     0);
    assert_string_equal(shown(&columns), "NAME   IMAGES   TWO        NONE\n"
                                         "web    i1,i2    web,shop   <none>\n");
    cli_columns_done(&columns);
    const char *wrong[] = {"", "NAME", "NAME:", ":.a", "A:.a,", "A:.a,,B:.b", "A:.a["};
    for (size_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++) {
        assert_true(cli_columns_parse(wrong[i], &columns, &error) < 0);
    }
    ki_buf many;
    cli_text_init(&many);
    test_add(&many, "A:.a,", CLI_TABLE_COLUMNS);
    cli_put(&many, "A:.a");
    assert_int_equal(cli_columns_parse(ki_buf_text(&many), &columns, &error), KI_ERR_LIMIT);
    ki_buf_done(&many);
}

static void pods_are_shown_as_kubectl_shows_them(void **state)
{
    (void)state;
    cli_columns columns;
    read_object(POD);
    cli_columns_of(KI_CORE_V1_PODS, true, true, &columns);
    assert_string_equal(
        shown(&columns),
        "NAMESPACE   NAME   READY   STATUS             RESTARTS   AGE         IP       NODE   "
        "NOMINATED NODE   READINESS GATES\n"
        "shop        web    1/2     CrashLoopBackOff   3          <unknown>   <none>   n1     "
        "<none>           <none>\n");
    cli_columns_done(&columns);
    ki_buf_clear(&out);
    cli_put_summary(&out, KI_CORE_V1_PODS, object);
    assert_string_equal(ki_buf_text(&out), "1/2  CrashLoopBackOff  3");
}

static void a_summary_has_only_cells_that_say_something(void **state)
{
    (void)state;
    read_object("{'metadata':{'name':'s'},'spec':{'ports':[{'port':80}]}}");
    cli_put_summary(&out, KI_CORE_V1_SERVICES, object);
    assert_string_equal(ki_buf_text(&out), "ClusterIP  80/TCP");
    ki_buf_clear(&out);
    cli_put_summary(&out, KI_CORE_V1_SERVICEACCOUNTS, object);
    assert_string_equal(ki_buf_text(&out), "");
}

static void cells_of_hostile_objects_are_harmless(void **state)
{
    (void)state;
    cli_columns columns;
    read_object("{'kind':'Pod','apiVersion':'v1','metadata':{'name':'a\\u001b]0;x\\u0007',"
                "'labels':{'l':'\\u009b1m'}},'status':{'reason':'\\u202e\\r'}}");
    cli_columns_of(KI_CORE_V1_PODS, false, false, &columns);
    cli_columns_add_label(&columns, "l");
    const char *text = shown(&columns);
    assert_non_null(strstr(text, "a\\x1b]0;x\\x07"));
    assert_non_null(strstr(text, "\\u202e\\r"));
    assert_non_null(strstr(text, "\\u009b1m"));
    cli_columns_done(&columns);
}

static void every_kind_with_columns_takes_an_object_without_anything(void **state)
{
    (void)state;
    read_object("{'metadata':{'name':'a'},'spec':1,'status':[],'data':null}");
    for (size_t i = 0; ki_resource_builtin_at(i) != NULL; i++) {
        cli_columns columns;
        cli_columns_of(ki_resource_builtin_at(i), true, true, &columns);
        assert_true(strlen(shown(&columns)) > 0);
        cli_columns_done(&columns);
        cli_put_summary(&out, ki_resource_builtin_at(i), object);
    }
}

static void tables_are_aligned_and_only_grow(void **state)
{
    (void)state;
    cli_table table;
    cli_table_init(&table, 2);
    for (int i = 0; i < 2; i++) {
        cli_table_row(&table, CLI_COLOR_NONE);
        cli_put(cli_table_cell(&table), i == 0 ? "日本語" : "a");
        cli_put(cli_table_cell(&table), "x");
        cli_table_end_row(&table);
    }
    cli_table_print(&table, &out);
    assert_string_equal(ki_buf_text(&out), "日本語   x\na        x\n");
    ki_buf_clear(&out);
    cli_table_row(&table, CLI_COLOR_NONE);
    cli_put(cli_table_cell(&table), "b");
    cli_put(cli_table_cell(&table), "0123456789");
    cli_table_end_row(&table);
    cli_table_row(&table, CLI_COLOR_NONE);
    cli_table_end_row(&table);
    table.line_width = 14;
    cli_table_print(&table, &out);
    assert_string_equal(ki_buf_text(&out), "b        0123…\n\n");
    ki_buf_clear(&out);
    cli_put(cli_table_line(&table), "a line that is long");
    cli_table_end_row(&table);
    cli_table_print(&table, &out);
    assert_string_equal(ki_buf_text(&out), "        a lin…\n");
    cli_table_done(&table);
}

static void names_are_those_of_kubectl(void **state)
{
    (void)state;
    read_object(POD);
    cli_put_name(&out, KI_CORE_V1_PODS, object);
    cli_put_char(&out, ' ');
    cli_put_name(&out, KI_APPS_V1_DEPLOYMENTS, object);
    cli_put_char(&out, ' ');
    cli_put_resource(&out, KI_APPS_V1_DEPLOYMENTS);
    assert_string_equal(ki_buf_text(&out), "pod/web deployment.apps/web deployments.apps");
}

static void formats_are_read(void **state)
{
    (void)state;
    cli_output output;
    assert_int_equal(cli_output_parse(NULL, &output, &error), 0);
    assert_int_equal(output.format, CLI_FORMAT_COLUMNS);
    assert_int_equal(cli_output_parse("jsonpath={.a}", &output, &error), 0);
    assert_int_equal(output.format, CLI_FORMAT_JSONPATH);
    cli_output_done(&output);
    assert_int_equal(cli_output_parse("custom-columns=A:.a", &output, &error), 0);
    cli_output_done(&output);
    const char *wrong[] = {"xml", "json=", "jsonpath", "jsonpath={", "custom-columns="};
    for (size_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++) {
        assert_true(cli_output_parse(wrong[i], &output, &error) < 0);
    }
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void)
{
    (void)setlocale(LC_CTYPE, "C.UTF-8");
    const struct CMUnitTest tests[] = {
        TEST(templates_have_text_paths_and_ranges),
        TEST(templates_that_are_wrong_are_refused),
        TEST(templates_let_no_controls_pass_unless_asked_to),
        TEST(columns_of_a_person_have_title_and_path),
        TEST(pods_are_shown_as_kubectl_shows_them),
        TEST(a_summary_has_only_cells_that_say_something),
        TEST(cells_of_hostile_objects_are_harmless),
        TEST(every_kind_with_columns_takes_an_object_without_anything),
        TEST(tables_are_aligned_and_only_grow),
        TEST(names_are_those_of_kubectl),
        TEST(formats_are_read),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
