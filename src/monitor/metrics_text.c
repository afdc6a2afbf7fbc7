/* SPDX-License-Identifier: Apache-2.0 */
/* Both formats differ little: OpenMetrics names a counter without _total in its head, has units,
 * writes bounds as floating-point numbers, and ends with a mark. Times of creation (_created) are
 * optional there and not written: they would double the number of series. */
#include "monitor/metrics_text.h"

#include <string.h>

#include "base/digits.h"
#include "base/time_units.h"

/* ---- text ---- */

/* Seconds without zeros at the end. */
static void add_seconds(ki__metrics_out *out, uint64_t ns)
{
    if (ns == UINT64_MAX) {
        ki__out_text(&out->text, "+Inf");
        return;
    }
    ki__out_u64(&out->text, ns / KI__SECOND_NS);
    uint64_t rest = ns % KI__SECOND_NS;
    if (rest != 0) {
        char room[KI__DIGITS_SIZE];
        ki_str digits = ki__digits(rest + KI__SECOND_NS, room); /* with all zeros in front */
        while (digits.ptr[digits.len - 1] == '0') {
            digits.len--;
        }
        room[digits.ptr - room] = '.';
        ki__out_str(&out->text, digits);
    }
}

/* ---- families ---- */

static bool ends_in(ki_str text, const char *end)
{
    size_t len = strlen(end);
    return text.len > len && memcmp(text.ptr + text.len - len, end, len) == 0;
}

static ki_str family_name(const ki__metrics_out *out)
{
    ki_str name = ki_str_from(out->metric->text);
    if (out->open && out->metric->type == KI__COUNTER && ends_in(name, "_total")) {
        name.len -= strlen("_total");
    }
    return name;
}

static void add_head_line(ki__metrics_out *out, const char *what, const char *text)
{
    ki__out_text(&out->text, what);
    ki__out_str(&out->text, family_name(out));
    ki__out_texts(&out->text, " ", text, "\n", NULL);
}

static void add_head(ki__metrics_out *out)
{
    static const char *const types[] = {
        [KI__COUNTER] = "counter",
        [KI__GAUGE] = "gauge",
        [KI__HISTOGRAM] = "histogram",
    };
    static const char *const units[] = {"seconds", "bytes"};
    add_head_line(out, "# HELP ", out->metric->text + strlen(out->metric->text) + 1);
    add_head_line(out, "# TYPE ", types[out->metric->type]);
    for (size_t i = 0; out->open && i < sizeof(units) / sizeof(units[0]); i++) {
        if (ends_in(family_name(out), units[i])) {
            add_head_line(out, "# UNIT ", units[i]);
        }
    }
    out->has_head = true;
}

static void need_head(ki__metrics_out *out)
{
    if (!out->has_head) {
        add_head(out);
    }
}

void ki__metric_begin(ki__metrics_out *out, const ki__metric *metric)
{
    out->metric = metric;
    out->has_head = false;
}

/* Everything of a sample before its value. */
static void add_name(ki__metrics_out *out, const char *suffix, ki_str labels, const char *label,
                     const char *text)
{
    need_head(out);
    ki__out_text(&out->text, out->metric->text);
    ki__out_text(&out->text, suffix);
    if (labels.len != 0 || label != NULL) {
        ki__out_char(&out->text, '{');
        ki__out_str(&out->text, labels);
        if (label != NULL) {
            ki__out_texts(&out->text, labels.len != 0 ? "," : "", label, "=\"", text, "\"", NULL);
        }
        ki__out_char(&out->text, '}');
    }
    ki__out_text(&out->text, " ");
}

void ki__metric_count_by(ki__metrics_out *out, ki_str labels, const char *label, const char *text,
                         uint64_t value)
{
    add_name(out, "", labels, label, text);
    ki__out_u64(&out->text, value);
    ki__out_char(&out->text, '\n');
}

void ki__metric_count(ki__metrics_out *out, ki_str labels, uint64_t value)
{
    ki__metric_count_by(out, labels, NULL, NULL, value);
}

void ki__metric_seconds(ki__metrics_out *out, ki_str labels, uint64_t ns)
{
    add_name(out, "", labels, NULL, NULL);
    add_seconds(out, ns);
    ki__out_char(&out->text, '\n');
}

/* ---- histograms ---- */

static void add_bucket(ki__metrics_out *out, ki_str labels, const char *bound_text,
                       uint64_t bound_ns, uint64_t count)
{
    ki__out_text(&out->text, out->metric->text);
    ki__out_text(&out->text, "_bucket{");
    ki__out_str(&out->text, labels);
    ki__out_text(&out->text, labels.len != 0 ? ",le=\"" : "le=\"");
    if (bound_text != NULL) {
        ki__out_text(&out->text, bound_text);
    } else {
        add_seconds(out, bound_ns);
    }
    bool whole = bound_text != NULL ? strspn(bound_text, "0123456789") == strlen(bound_text)
                                    : bound_ns % KI__SECOND_NS == 0 && bound_ns != UINT64_MAX;
    ki__out_text(&out->text, out->open && whole ? ".0\"} " : "\"} ");
    ki__out_u64(&out->text, count);
    ki__out_text(&out->text, "\n");
}

void ki__metric_histogram(ki__metrics_out *out, ki_str labels, const uint64_t *bounds_ns,
                          const char *const *bounds_text, size_t count, const uint64_t *cells)
{
    uint64_t sum = 0;
    need_head(out);
    for (size_t i = 0; i <= count; i++) {
        sum += cells[i];
        add_bucket(out, labels, bounds_text != NULL && i < count ? bounds_text[i] : NULL,
                   i < count && bounds_ns != NULL ? bounds_ns[i] : UINT64_MAX, sum);
    }
    add_name(out, "_sum", labels, NULL, NULL);
    add_seconds(out, cells[count + 1]);
    ki__out_text(&out->text, "\n");
    add_name(out, "_count", labels, NULL, NULL);
    ki__out_u64(&out->text, sum);
    ki__out_text(&out->text, "\n");
}

int ki__metrics_end(ki__metrics_out *out)
{
    if (out->open) {
        ki__out_text(&out->text, "# EOF\n");
    }
    return ki__out_commit(&out->text);
}
