/* SPDX-License-Identifier: Apache-2.0 */
/* The two text formats of metrics. */
#include <errno.h>
#include <string.h>

#include "monitor/gathered.h"
#include "monitor/metrics_text.h"
#include "support/test.h"

static const ki__metric counter = KI__METRIC(KI__COUNTER, "x_bytes_total", "Bytes.");
static const ki__metric gauge = KI__METRIC(KI__GAUGE, "x_age_seconds", "Age.");
static const ki__metric plain = KI__METRIC(KI__GAUGE, "x", "Plain.");
static const ki__metric histogram = KI__METRIC(KI__HISTOGRAM, "x_time_seconds", "Time.");

static const uint64_t bounds[] = {5000000, 1000000000};
static const char *const texts[] = {"1e-08", "10"};

static int write_all(ki_buf *buf, bool open)
{
    ki__metrics_out out = {.text = ki__out_to(buf), .open = open};
    const uint64_t cells[] = {2, 1, 3, 1234567890};
    ki_str none = ki_str_from("");
    ki__metric_begin(&out, &plain); /* without a sample it is left out */
    ki__metric_begin(&out, &counter);
    ki__metric_count(&out, ki_str_from("a=\"b\""), UINT64_MAX);
    ki__metric_count_by(&out, ki_str_from("a=\"b\""), "c", "d", 0);
    ki__metric_begin(&out, &gauge);
    ki__metric_seconds(&out, none, 0);
    ki__metric_seconds(&out, none, 1);
    ki__metric_seconds(&out, none, UINT64_C(61500000000));
    ki__metric_seconds(&out, none, UINT64_MAX);
    ki__metric_begin(&out, &plain);
    ki__metric_count(&out, none, 7);
    ki__metric_begin(&out, &histogram);
    ki__metric_histogram(&out, none, bounds, NULL, 2, cells);
    ki__metric_histogram(&out, ki_str_from("a=\"b\""), NULL, texts, 2, cells);
    return ki__metrics_end(&out);
}

static void the_prometheus_format(void **state)
{
    (void)state;
    ki_buf buf;
    ki_buf_init(&buf, NULL, 1 << 20);
    assert_int_equal(write_all(&buf, false), 0);
    assert_string_equal(ki_buf_text(&buf), "# HELP x_bytes_total Bytes.\n"
                                           "# TYPE x_bytes_total counter\n"
                                           "x_bytes_total{a=\"b\"} 18446744073709551615\n"
                                           "x_bytes_total{a=\"b\",c=\"d\"} 0\n"
                                           "# HELP x_age_seconds Age.\n"
                                           "# TYPE x_age_seconds gauge\n"
                                           "x_age_seconds 0\n"
                                           "x_age_seconds 0.000000001\n"
                                           "x_age_seconds 61.5\n"
                                           "x_age_seconds +Inf\n"
                                           "# HELP x Plain.\n"
                                           "# TYPE x gauge\n"
                                           "x 7\n"
                                           "# HELP x_time_seconds Time.\n"
                                           "# TYPE x_time_seconds histogram\n"
                                           "x_time_seconds_bucket{le=\"0.005\"} 2\n"
                                           "x_time_seconds_bucket{le=\"1\"} 3\n"
                                           "x_time_seconds_bucket{le=\"+Inf\"} 6\n"
                                           "x_time_seconds_sum 1.23456789\n"
                                           "x_time_seconds_count 6\n"
                                           "x_time_seconds_bucket{a=\"b\",le=\"1e-08\"} 2\n"
                                           "x_time_seconds_bucket{a=\"b\",le=\"10\"} 3\n"
                                           "x_time_seconds_bucket{a=\"b\",le=\"+Inf\"} 6\n"
                                           "x_time_seconds_sum{a=\"b\"} 1.23456789\n"
                                           "x_time_seconds_count{a=\"b\"} 6\n");
    ki_buf_done(&buf);
}

static void openmetrics_differs_in_heads_bounds_and_end(void **state)
{
    (void)state;
    ki_buf buf;
    ki_buf_init(&buf, NULL, 1 << 20);
    assert_int_equal(write_all(&buf, true), 0);
    const char *text = ki_buf_text(&buf);
    const char *const has[] = {
        "# HELP x_bytes Bytes.\n# TYPE x_bytes counter\n# UNIT x_bytes bytes\nx_bytes_total{",
        "# TYPE x_age_seconds gauge\n# UNIT x_age_seconds seconds\n",
        "# TYPE x gauge\nx 7\n",
        "{le=\"0.005\"} 2\n",
        "{le=\"1.0\"} 3\n",
        "{le=\"+Inf\"} 6\n",
        "le=\"1e-08\"} 2\n",
        "le=\"10.0\"} 3\n",
    };
    for (size_t i = 0; i < sizeof(has) / sizeof(has[0]); i++) {
        if (strstr(text, has[i]) == NULL) {
            fail_msg("%s is not in\n%s", has[i], text);
        }
    }
    assert_string_equal(text + strlen(text) - 6, "# EOF\n");
    ki_buf_done(&buf);
}

static void assert_label(const char *text, const char *want)
{
    ki_buf buf;
    ki_buf_init(&buf, NULL, 100);
    ki__out out = ki__out_to(&buf);
    ki__label_value(&out, text);
    assert_int_equal(out.error, 0);
    assert_string_equal(ki_buf_text(&buf), want);
    ki_buf_done(&buf);
}

static void values_of_labels_are_escaped_and_are_utf_8(void **state)
{
    (void)state;
    assert_label("a\\b\"c\nd", "a\\\\b\\\"c\\nd");
    assert_label("\xc3\xbc \xff\xc3", "\xc3\xbc \xef\xbf\xbd\xef\xbf\xbd");
    assert_label("", "");
}

static void a_full_buffer_is_an_error_at_any_place(void **state)
{
    (void)state;
    ki_buf buf;
    ki_buf_init(&buf, NULL, 1 << 20);
    assert_int_equal(write_all(&buf, false), 0);
    size_t len = buf.len;
    ki_buf_done(&buf);
    for (size_t max = 0; max < len; max++) {
        ki_buf_init(&buf, NULL, max);
        int r = write_all(&buf, max % 2 == 0);
        assert_int_equal(r, KI_ERR_LIMIT);
        ki_buf_done(&buf);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_prometheus_format),
        cmocka_unit_test(openmetrics_differs_in_heads_bounds_and_end),
        cmocka_unit_test(values_of_labels_are_escaped_and_are_utf_8),
        cmocka_unit_test(a_full_buffer_is_an_error_at_any_place),
    };
    return cmocka_run_group_tests_name("metrics text", tests, NULL, NULL);
}
