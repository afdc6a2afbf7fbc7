/* SPDX-License-Identifier: Apache-2.0 */
/* Metrics of a client: what to include, and all families one after the other. */
#include "monitor/metrics.h"

#include <errno.h>

#include <kinformer/version.h>

#include "base/error.h"
#include "base/time_units.h"
#include "client/client.h"

/* ---- columns ---- */

static void write_value(ki__metrics_out *out, ki_str labels, ki__value_type type, const void *value)
{
    uint64_t number = 0;
    switch (type) {
    case KI__VALUE_BOOL:
        number = *(const bool *)value;
        break;
    case KI__VALUE_SIZE:
        number = *(const size_t *)value;
        break;
    case KI__VALUE_DOUBLE_MS:
        number = (uint64_t)(*(const double *)value * (double)KI__MS_NS);
        break;
    case KI__VALUE_COUNT:
    case KI__VALUE_NS:
    case KI__VALUE_MS:
        number = *(const uint64_t *)value;
        number = type == KI__VALUE_MS ? ki__ms_to_ns(number) : number;
    }
    if (type >= KI__VALUE_MS) {
        ki__metric_seconds(out, labels, number);
    } else {
        ki__metric_count(out, labels, number);
    }
}

void ki__metrics_columns(ki__metrics_out *out, const ki__gathered *g, const ki__column *columns,
                         size_t count, ki__rows rows)
{
    for (size_t c = 0; c < count; c++) {
        ki__metric_begin(out, &columns[c].metric);
        for (size_t i = 0; i < rows.count; i++) {
            const char *row = (const char *)rows.rows + i * rows.size;
            const void *labels = row + rows.labels_at;
            write_value(out, ki__labels_text(g, labels), columns[c].type, row + columns[c].at);
        }
    }
}

/* ---- all ---- */

const char *ki_metrics_content_type(ki_metrics_format format)
{
    static const char *const types[] = {
        [KI_METRICS_PROMETHEUS] = "text/plain; version=0.0.4; charset=utf-8",
        [KI_METRICS_OPENMETRICS] = "application/openmetrics-text; version=1.0.0; charset=utf-8",
    };
    return (size_t)format < KI_METRICS_FORMAT_MAX ? types[format] : "";
}

static void write_build(ki__metrics_out *out)
{
    static const ki__metric build = KI__METRIC(KI__GAUGE, "kinformer_build_info",
                                               "Version of the library; the value is always 1.");
    ki__metric_begin(out, &build);
    ki__metric_count_by(out, ki_str_from(""), "version", ki_version(), 1);
}

static int write_all(const ki__gathered *g, ki_metrics_format format, ki_buf *buf)
{
    ki__metrics_out out = {.text = ki__out_to(buf), .open = format == KI_METRICS_OPENMETRICS};
    write_build(&out);
    ki__metrics_of_requests(&out, g);
    ki__metrics_of_informers(&out, g);
    ki__metrics_of_handlers(&out, g);
    ki__metrics_of_queues(&out, g);
    ki__metrics_of_controllers(&out, g);
    ki__metrics_of_leaders(&out, g);
    ki__metrics_of_recorders(&out, g);
    return ki__metrics_end(&out);
}

int ki_client_write_metrics(ki_client *client, ki_metrics_format format, ki_buf *out,
                            ki_error *error)
{
    KI__REQUIRE(client, error);
    KI__REQUIRE(out, error);
    if ((size_t)format >= KI_METRICS_FORMAT_MAX) {
        return ki__error_set(error, -EINVAL, "format: unknown value");
    }
    KI__REQUIRE_OWN_ENGINE(client->engine, error);
    ki__gathered gathered;
    int r = ki__gather(client, &gathered);
    if (r < 0) {
        return ki__error_code(error, r);
    }
    r = write_all(&gathered, format, out);
    ki__gathered_done(&gathered);
    return r < 0 ? ki__error_set(error, r, "metrics: %s", ki_error_text(r)) : 0;
}

/* ---- what to include ---- */

static int report_joined(bool joined, const char *what, ki_error *error)
{
    return joined ? 0
                  : ki__error_set(error, KI_ERR_EXISTS,
                                  "%s: already included in the metrics of a client", what);
}

int ki_client_monitor_controller(ki_client *client, ki_controller *controller, ki_error *error)
{
    KI__REQUIRE(client, error);
    KI__REQUIRE(controller, error);
    KI__REQUIRE_OWN_ENGINE(client->engine, error);
    bool joined = ki__controller_join(controller, ki__engine_members(client->engine), client);
    return report_joined(joined, "controller", error);
}

int ki_client_monitor_queue(ki_client *client, ki_workqueue *queue, ki_error *error)
{
    KI__REQUIRE(client, error);
    KI__REQUIRE(queue, error);
    KI__REQUIRE_OWN_ENGINE(client->engine, error);
    bool joined = ki__members_join(ki__engine_members(client->engine), &queue->member,
                                   KI__MEMBER_QUEUE, client);
    if (joined) {
        ki__workqueue_measure(queue);
    }
    return report_joined(joined, "queue", error);
}
