/* SPDX-License-Identifier: Apache-2.0 */
/* Tables of a server as lists and events of rows, and the order of --sort-by. */
#include <stdio.h>
#include <string.h>

#include "cli/columns.h"
#include "cli/rows.h"
#include "cli/select.h"
#include "cli/text.h"
#include "support/test.h"

#define COLUMNS                                                                          \
    "'columnDefinitions':[{'name':'Name','type':'string','format':'name','priority':0}," \
    "{'name':'Ready','type':'string','format':'','priority':0},"                         \
    "{'name':'Node','type':'string','priority':1}],"

typedef struct fixture {
    cli_rows rows;
    ki_buf in;
    ki_buf out;
    ki_error error;
} fixture;

static int setup(void **state)
{
    static fixture f;
    f = (fixture){.error = KI_ERROR_INIT};
    cli_text_init(&f.in);
    cli_text_init(&f.out);
    *state = &f;
    return 0;
}

static int teardown(void **state)
{
    fixture *f = *state;
    cli_rows_done(&f->rows);
    ki_buf_done(&f->in);
    ki_buf_done(&f->out);
    return 0;
}

/* JSON with ' in the place of ". */
static ki_str quoted(fixture *f, const char *json)
{
    ki_buf_clear(&f->in);
    ki_buf_clear(&f->out);
    for (; *json != '\0'; json++) {
        cli_put_char(&f->in, (char)(*json == '\'' ? '"' : *json));
    }
    return ki_buf_str(&f->in);
}

static const char *list(fixture *f, const char *json)
{
    assert_int_equal(cli_rows_convert_list(&f->rows, quoted(f, json), &f->out, &f->error), 0);
    return ki_buf_text(&f->out);
}

static const char *event(fixture *f, const char *json)
{
    assert_int_equal(cli_rows_convert_event(&f->rows, quoted(f, json), &f->out, &f->error), 0);
    return ki_buf_text(&f->out);
}

static void a_table_becomes_a_list_of_rows(void **state)
{
    fixture *f = *state;
    assert_string_equal(
        list(f, "{'kind':'Table','metadata':{'resourceVersion':'5','continue':'x'}," COLUMNS
                "'rows':[{'cells':['a','1/1',null],'object':{'kind':'PartialObjectMetadata',"
                "'apiVersion':'meta.k8s.io/v1','metadata':{'name':'a'}}},"
                "{'cells':[],'object':null}]}"),
        "{\"kind\":\"List\",\"apiVersion\":\"v1\",\"metadata\":{\"resourceVersion\":\"5\","
        "\"continue\":\"x\"},\"items\":[{\"kinformer.place\":0,\"kinformer.cells\":[\"a\",\"1/"
        "1\",null],"
        "\"metadata\":{\"name\":\"a\"}},{\"kinformer.place\":1,\"kinformer.cells\":[]}]}");
    assert_int_equal(f->rows.column_count, 3);
    assert_string_equal(f->rows.columns[1].title, "READY");
    assert_true(f->rows.columns[0].is_name);
    assert_false(f->rows.columns[1].wide);
    assert_true(f->rows.columns[2].wide);
    assert_int_equal(f->rows.changes, 1);
    (void)list(f, "{'kind':'Table',"
                  "'columnDefinitions':[{'name':'Name'}],'rows':null}");
    assert_int_equal(f->rows.changes, 2);
    assert_int_equal(f->rows.column_count, 1);
}

static void other_lists_pass_as_they_are(void **state)
{
    fixture *f = *state;
    const char *json = "{'kind':'PodList','items':[{'metadata':{'name':'a'}}]}";
    (void)list(f, json);
    assert_string_equal(ki_buf_text(&f->out), ki_buf_text(&f->in));
    assert_int_equal(f->rows.column_count, 0);
    assert_true(cli_rows_convert_list(&f->rows, quoted(f, "<html>"), &f->out, &f->error) < 0);
    assert_true(cli_rows_convert_list(&f->rows, quoted(f, ""), &f->out, &f->error) < 0);
}

static void events_have_one_row_each(void **state)
{
    fixture *f = *state;
    assert_string_equal(event(f, "{'type':'ADDED','object':{'kind':'Table'," COLUMNS
                                 "'rows':[{'cells':['a'],'object':{'metadata':{'name':'a'}}}]}}"),
                        "{\"type\":\"ADDED\",\"object\":{\"kinformer.place\":0,\"kinformer.cells\":"
                        "[\"a\"],\"metadata\":"
                        "{\"name\":\"a\"}}}\n");
    /* Later ones have no definitions. */
    (void)event(f, "{'type':'MODIFIED','object':{'kind':'Table','columnDefinitions':null,"
                   "'rows':[{'cells':['a'],'object':{'metadata':{'name':'a'}}}]}}");
    assert_int_equal(f->rows.column_count, 3);
    assert_int_equal(f->rows.changes, 1);
    assert_string_equal(event(f, "{'type':'BOOKMARK','object':{'kind':'Table',"
                                 "'metadata':{'resourceVersion':'9'},'rows':[]}}"),
                        "{\"type\":\"BOOKMARK\",\"object\":{\"metadata\":"
                        "{\"resourceVersion\":\"9\"}}}\n");
    (void)event(f, "{'type':'ERROR','object':{'kind':'Status','code':410}}");
    cli_put_char(&f->in, '\n');
    assert_string_equal(ki_buf_text(&f->out), ki_buf_text(&f->in));
    assert_true(cli_rows_convert_event(&f->rows, quoted(f, "{"), &f->out, &f->error) < 0);
}

static void too_many_columns_are_refused(void **state)
{
    fixture *f = *state;
    ki_buf json;
    cli_text_init(&json);
    cli_put(&json, "{'kind':'Table','columnDefinitions':[{'name':'a'}");
    for (int i = 0; i < CLI_TABLE_COLUMNS; i++) {
        cli_put(&json, ",{'name':'a'}");
    }
    cli_put(&json, "]}");
    assert_int_equal(
        cli_rows_convert_list(&f->rows, quoted(f, ki_buf_text(&json)), &f->out, &f->error),
        KI_ERR_LIMIT);
    ki_buf_done(&json);
}

static void cells_are_one_line(void **state)
{
    fixture *f = *state;
    ki_object *row = NULL;
    cli_columns columns;
    cli_table table;
    ki_str json = quoted(f, "{'kinformer.cells':['n','a\\nb',7,null,'\\u001b'],"
                            "'metadata':{'name':'n'}}");
    assert_int_equal(ki_object_from_json(json.ptr, json.len, NULL, &row, &f->error), 0);
    assert_int_equal(cli_rows_convert_list(
                         &f->rows,
                         ki_str_from("{\"kind\":\"Table\",\"columnDefinitions\":[{\"name\":\"N\","
                                     "\"format\":\"name\",\"type\":\"string\"},{\"name\":\"a\"},"
                                     "{\"name\":\"b\"},{\"name\":\"c\"},{\"name\":\"d\"}]}"),
                         &f->out, &f->error),
                     0);
    cli_columns_of_rows(&f->rows, false, false, &columns);
    cli_columns_show_kind(&columns, KI_APPS_V1_DEPLOYMENTS);
    cli_table_init(&table, columns.count);
    cli_columns_row(&columns, row, &table);
    ki_buf_clear(&f->out);
    cli_table_print(&table, &f->out);
    assert_string_equal(ki_buf_text(&f->out), "deployment.apps/n   a...   7      \\x1b\n");
    cli_table_done(&table);
    cli_columns_done(&columns);
    (void)ki_object_unref(row);
}

/* ---- order ---- */

static void text_is_in_natural_order(void **state)
{
    (void)state;
    static const char *const sorted[] = {"",    "a",    "a1b", "a2",  "a02b",
                                         "a10", "a10b", "ab",  "b-9", "b-10"};
    for (size_t i = 0; i < sizeof(sorted) / sizeof(sorted[0]); i++) {
        for (size_t j = 0; j < sizeof(sorted) / sizeof(sorted[0]); j++) {
            int order = cli_natural_order(ki_str_from(sorted[i]), ki_str_from(sorted[j]));
            assert_int_equal(order < 0 ? -1 : order > 0, i < j ? -1 : i > j);
        }
    }
}

static void quantities_are_numbers(void **state)
{
    (void)state;
    double number = 0;
    assert_true(cli_read_quantity(ki_str_from("1Gi"), &number) && number == 0x1p30);
    assert_true(cli_read_quantity(ki_str_from("500m"), &number) && number == 500 * 1e-3);
    assert_true(cli_read_quantity(ki_str_from("-1.5e3"), &number) && number == -1500);
    assert_true(cli_read_quantity(ki_str_from("2E"), &number) && number == 2e18);
    static const char *const wrong[] = {"", "Gi", "1gi", "1 Gi", "1Gi ", "a1", "1.2.3", "+", "e3"};
    for (size_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++) {
        assert_false(cli_read_quantity(ki_str_from(wrong[i]), &number));
    }
}

#define TEST(f) cmocka_unit_test_setup_teardown(f, setup, teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(a_table_becomes_a_list_of_rows),
        TEST(other_lists_pass_as_they_are),
        TEST(events_have_one_row_each),
        TEST(too_many_columns_are_refused),
        TEST(cells_are_one_line),
        TEST(text_is_in_natural_order),
        TEST(quantities_are_numbers),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
