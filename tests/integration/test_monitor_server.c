/* SPDX-License-Identifier: Apache-2.0 */
/* The monitor server: every path, both formats of metrics, pages, objects, Secrets, and what is
 * escaped.  threads: yes */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <kinformer/value.h>

#include "support/monitoring.h"

#define HTML "Accept: text/html\r\n"

static ki_monitor_server_options with_objects(void)
{
    ki_monitor_server_options options = KI_OPTIONS_INIT(ki_monitor_server_options);
    options.objects = true;
    return options;
}

static void metrics_come_in_the_format_that_is_accepted(void **state)
{
    (void)state;
    static const struct {
        const char *accept;
        const char *type;
    } cases[] = {
        {"", "text/plain; version=0.0.4"},
        {"Accept: */*\r\n", "text/plain; version=0.0.4"},
        {"Accept: application/openmetrics-text;version=1.0.0\r\n", "application/openmetrics-text"},
        {"Accept: application/openmetrics-text;version=1.0.0;q=0.5,text/plain;q=0.3\r\n",
         "application/openmetrics-text"},
        {"Accept: application/openmetrics-text;q=0.2, text/plain;q=0.3\r\n", "text/plain"},
        {"Accept: application/openmetrics-text;q=0, */*\r\n", "text/plain"},
    };
    monitoring m;
    monitoring_begin(&m, NULL);
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        assert_int_equal(monitoring_get(&m, "/metrics", cases[i].accept), 200);
        monitoring_has(&m, cases[i].type);
        monitoring_has(&m, "kinformer_informer_objects{");
        bool open = strstr(cases[i].type, "openmetrics") != NULL;
        assert_int_equal(strstr(monitoring_body(&m), "# EOF\n") != NULL, open);
    }
    monitoring_end(&m);
}

static void checks_have_reasons(void **state)
{
    (void)state;
    ki_check_options checks = KI_OPTIONS_INIT(ki_check_options);
    ki_monitor_server_options options = KI_OPTIONS_INIT(ki_monitor_server_options);
    checks.max_bytes = 1; /* fails */
    options.checks = &checks;
    monitoring m;
    monitoring_begin(&m, &options);
    assert_int_equal(monitoring_get(&m, "/healthz", ""), 200);
    assert_string_equal(monitoring_body(&m), "ok\n");
    assert_int_equal(monitoring_get(&m, "/healthz?verbose", ""), 200);
    monitoring_has(&m, "[+]loop\n");
    monitoring_has(&m, "healthz check passed\n");
    assert_int_equal(monitoring_get(&m, "/readyz", ""), 503);
    monitoring_has(&m, "[-]memory: ");
    monitoring_has(&m, "readyz check failed\n");
    monitoring_lacks(&m, "[+]");
    assert_int_equal(monitoring_get(&m, "/readyz?verbose=1", ""), 503);
    monitoring_has(&m, "[+]informer pods\n");
    assert_int_equal(monitoring_get(&m, "/debug/", HTML), 200);
    monitoring_has(&m, "not ready");
    monitoring_has(&m, "bytes of informers (limit 1)");
    monitoring_end(&m);
}

/* The number of a member of the informer at this position. */
static int64_t number(const monitoring *m, int position, const char *member)
{
    ki_object *object = NULL;
    const char *body = monitoring_body(m);
    char path[100];
    assert_int_equal(ki_object_from_json(body, strlen(body), NULL, &object, NULL), 0);
    snprintf(path, sizeof(path), "informers[%d].%s", position, member);
    int64_t found = ki_object_int64_or(object, path, -1);
    ki_object_unref(object);
    return found;
}

static void the_state_is_json(void **state)
{
    (void)state;
    monitoring m;
    monitoring_begin(&m, NULL);
    assert_int_equal(monitoring_get(&m, "/debug/informers.json", ""), 200);
    monitoring_has(&m, "Content-Type: application/json\r\n");
    assert_int_equal(number(&m, 0, "objects"), 2);
    assert_int_equal(number(&m, 2, "objects"), 1);
    monitoring_has(&m, "\"state\":\"watching\"");
    monitoring_has(&m, "\"ready\":true");
    monitoring_lacks(&m, "correct-horse");
    monitoring_end(&m);
}

static void the_oldest_snapshot_is_shown(void **state)
{
    (void)state;
    monitoring m;
    ki_informer *pods = NULL;
    monitoring_begin(&m, NULL);
    ki_informer_options options = KI_OPTIONS_INIT(ki_informer_options);
    options.track_readers = true;
    assert_int_equal(ki_client_informer(m.client, KI_CORE_V1_PODS, &options, &pods, NULL), 0);
    assert_int_equal(ki_client_start(m.client, NULL), 0);
    assert_int_equal(ki_informer_wait_for_sync(pods, 30000, NULL), 0);
    ki_snapshot *snapshot = ki_store_snapshot(ki_informer_store(pods));
    assert_int_equal(monitoring_get(&m, "/debug/informers.json", ""), 200);
    monitoring_has(&m, "\"oldestSnapshot\":{\"heldMs\":");
    monitoring_has(&m, "\"threadName\":\"test_monitor_se\"");
    monitoring_has(&m, "\"caller\":\"test_monitor_server+0x");
    (void)ki_snapshot_unref(snapshot);
    assert_int_equal(monitoring_get(&m, "/debug/informers.json", ""), 200);
    monitoring_lacks(&m, "oldestSnapshot");
    (void)ki_informer_unref(pods);
    monitoring_end(&m);
}

static void memory_is_shown_by_field(void **state)
{
    (void)state;
    monitoring m;
    monitoring_begin(&m, NULL);
    assert_int_equal(monitoring_get(&m, "/debug/informers.json", ""), 200);
    monitoring_has(&m, "\"field\":\"metadata (names, times)\"");
    monitoring_has(&m, "\"field\":\"stringData\""); /* of the Secret: not the names in it */
    monitoring_lacks(&m, "\"field\":\"stringData.");
    monitoring_lacks(&m, "\"field\":\"metadata\"");
    monitoring_lacks(&m, "\"field\":\"\"");
    monitoring_has(&m, "\"overLimit\":false");
    assert_true(number(&m, 0, "indexBytes") > 0);
    assert_int_equal(number(&m, 0, "memoryBytes"),
                     number(&m, 0, "objectBytes") + number(&m, 0, "indexBytes") +
                         number(&m, 0, "versionBytes") + number(&m, 0, "queueBytes"));
    monitoring_end(&m);
}

static void the_page_works_without_scripts(void **state)
{
    (void)state;
    monitoring m;
    monitoring_begin(&m, NULL);
    assert_int_equal(monitoring_get(&m, "/debug/", HTML), 200);
    monitoring_has(&m, "Content-Type: text/html; charset=utf-8\r\n");
    monitoring_has(&m, "default-src 'none'; script-src 'self'; style-src 'self'");
    monitoring_has(&m, "Cache-Control: no-store\r\n");
    monitoring_has(&m, "X-Content-Type-Options: nosniff\r\n");
    monitoring_has(&m, "frame-ancestors 'none'");
    monitoring_has(&m, "<dd data-value=\"objects\">2</dd>");
    monitoring_has(&m, "watching");
    monitoring_has(&m, "</html>");
    monitoring_lacks(&m, "{{");
    monitoring_lacks(&m, "<script>"); /* none inline */
    monitoring_lacks(&m, " style=");
    monitoring_lacks(&m, " onclick=");
    assert_int_equal(monitoring_get(&m, "/debug/page.css", ""), 200);
    monitoring_has(&m, "text/css");
    assert_int_equal(monitoring_get(&m, "/debug/page.js", ""), 200);
    monitoring_has(&m, "text/javascript");
    assert_int_equal(monitoring_get(&m, "/debug/icon.svg", ""), 200);
    assert_int_equal(monitoring_get(&m, "/", ""), 303);
    monitoring_has(&m, "Location: /debug/\r\n");
    assert_int_equal(monitoring_get(&m, "/nothing", ""), 404);
    monitoring_end(&m);
}

static void changes_are_shown_once_the_page_was_opened(void **state)
{
    (void)state;
    ki_monitor_server_options options = with_objects();
    monitoring m;
    monitoring_begin(&m, &options);
    monitoring_get(&m, "/debug/", HTML);
    monitoring_has(&m, "No changes since the page was opened.");
    monitoring_load(&m, "apiVersion: v1\nkind: Pod\n"
                        "metadata: {name: web, namespace: default, labels: {app: shop}}\n");
    monitoring_until(&m, "/debug/", HTML, "<ins>shop</ins>");
    monitoring_has(&m, "<code>metadata.labels.app</code> <del>web</del>");
    monitoring_get(&m, "/debug/?filter=SHOP", HTML);
    monitoring_has(&m, "<ins>shop</ins>");
    monitoring_has(&m, "value=\"SHOP\"");
    monitoring_get(&m, "/debug/?filter=no+such", HTML);
    monitoring_lacks(&m, "<ins>shop</ins>");
    monitoring_has(&m, "No change contains this text.");
    /* Values and names of fields count, not the names of members in our own JSON. */
    monitoring_load(&m, "apiVersion: v1\nkind: Pod\nmetadata: {name: web, namespace: default, "
                        "annotations: {note: word}}\n");
    monitoring_until(&m, "/debug/", HTML, "metadata.annotations");
    monitoring_get(&m, "/debug/?filter=informer", HTML);
    monitoring_has(&m, "No change contains this text.");
    monitoring_get(&m, "/debug/?filter=%22note%22:", HTML);
    monitoring_has(&m, "metadata.annotations");
    monitoring_get(&m, "/debug/?filter=default/WEB", HTML);
    monitoring_has(&m, "metadata.annotations");
    monitoring_get(&m, "/debug/?filter=labels.app", HTML);
    monitoring_has(&m, "<ins>shop</ins>");
    /* The informer has no more handlers than before. */
    monitoring_get(&m, "/metrics", "");
    monitoring_lacks(&m, "handler=\"monitor\"");
    monitoring_end(&m);
}

static void values_are_hidden_by_default(void **state)
{
    (void)state;
    monitoring m;
    monitoring_begin(&m, NULL);
    monitoring_get(&m, "/debug/", HTML);
    monitoring_load(&m, "apiVersion: v1\nkind: Pod\n"
                        "metadata: {name: web, namespace: default, labels: {app: shop}}\n");
    monitoring_until(&m, "/debug/", HTML, "<code>metadata.labels.app</code>");
    monitoring_lacks(&m, "shop");
    assert_int_equal(monitoring_get(&m, "/debug/objects/pods", ""), 403);
    assert_int_equal(monitoring_get(&m, "/debug/objects/pods", HTML), 403);
    assert_int_equal(monitoring_get(&m, "/debug/objects/pods/default/web", ""), 403);
    monitoring_lacks(&m, "shop");
    monitoring_end(&m);
}

static void secrets_are_never_shown(void **state)
{
    (void)state;
    static const char *const targets[] = {
        "/debug/objects/secrets",
        "/debug/objects/secrets/default/vault-key",
        "/debug/objects/secrets?limit=5",
        "/debug/objects/secre%74s",
        "/debug/events?page=/debug/objects/secrets",
    };
    ki_monitor_server_options options = with_objects();
    monitoring m;
    monitoring_begin(&m, &options);
    monitoring_get(&m, "/debug/", HTML);
    for (size_t i = 0; i < 4; i++) {
        assert_int_equal(monitoring_get(&m, targets[i], ""), 403);
        assert_int_equal(monitoring_get(&m, targets[i], HTML), 403);
        monitoring_lacks(&m, "vault-key");
    }
    char text[200];
    int len =
        snprintf(text, sizeof(text), "GET %s HTTP/1.1\r\nHost: localhost\r\n\r\n", targets[4]);
    monitoring_raw(&m, text, (size_t)len, 1000);
    monitoring_has(&m, "Secrets are not shown");
    monitoring_load(&m, "apiVersion: v1\nkind: Secret\n"
                        "metadata: {name: vault-key, namespace: default}\n"
                        "stringData: {password: battery-staple}\n");
    monitoring_until(&m, "/debug/", HTML, "<b>secrets</b>");
    monitoring_lacks(&m, "YmF0dGVyeS1zdGFwbGU=");
    monitoring_lacks(&m, "battery");
    monitoring_lacks(&m, "data.password");
    monitoring_end(&m);
}

static void objects_are_listed(void **state)
{
    (void)state;
    ki_monitor_server_options options = with_objects();
    monitoring m;
    monitoring_begin(&m, &options);
    assert_int_equal(monitoring_get(&m, "/debug/objects/pods", ""), 200);
    monitoring_has(&m, "{\"apiVersion\":\"v1\",\"kind\":\"List\",\"items\":[");
    monitoring_has(&m, "\"name\":\"db\"");
    monitoring_has(&m, "\"name\":\"web\"");
    monitoring_get(&m, "/debug/objects/pods?labelSelector=app%3Dweb", "");
    monitoring_lacks(&m, "\"name\":\"db\"");
    monitoring_get(&m, "/debug/objects/pods?namespace=other", "");
    monitoring_has(&m, "\"items\":[]");
    monitoring_get(&m, "/debug/objects/pods?limit=1", HTML);
    monitoring_has(&m, "1 shown; there are more");
    assert_int_equal(monitoring_get(&m, "/debug/objects/pods?limit=0", ""), 400);
    assert_int_equal(monitoring_get(&m, "/debug/objects/pods?limit=x", ""), 400);
    assert_int_equal(monitoring_get(&m, "/debug/objects/pods?limit=1001", ""), 400);
    assert_int_equal(monitoring_get(&m, "/debug/objects/pods?labelSelector=%3D%3D", HTML), 400);
    assert_int_equal(monitoring_get(&m, "/debug/objects/nothing", ""), 404);
    assert_int_equal(monitoring_get(&m, "/debug/objects/pods/default/none", ""), 404);
    assert_int_equal(monitoring_get(&m, "/debug/objects/pods/default/none", HTML), 404);
    assert_int_equal(monitoring_get(&m, "/debug/objects/pods/a/b/c", ""), 404);
    assert_int_equal(monitoring_get(&m, "/debug/objects/pods/default/web", ""), 200);
    monitoring_has(&m, "\"kind\":\"Pod\"");
    monitoring_end(&m);
}

static void an_object_shows_what_changed_since_it_was_opened(void **state)
{
    (void)state;
    ki_monitor_server_options options = with_objects();
    monitoring m;
    monitoring_begin(&m, &options);
    assert_int_equal(monitoring_get(&m, "/debug/objects/pods/default/web", HTML), 303);
    monitoring_has(&m, "Location: /debug/objects/pods/default/web?opened=1\r\n");
    const char *page = "/debug/objects/pods/default/web?opened=1";
    assert_int_equal(monitoring_get(&m, page, HTML), 200);
    monitoring_has(&m, "<p class=\"none\">None.</p>");
    monitoring_has(&m, "&quot;kind&quot;: &quot;Pod&quot;");
    monitoring_load(&m, "apiVersion: v1\nkind: Pod\n"
                        "metadata: {name: web, namespace: default, labels: {app: shop}}\n");
    monitoring_until(&m, page, HTML, "<code>metadata.labels.app</code> <del>web</del>");
    monitoring_has(&m, "<ins>shop</ins>");
    monitoring_has(&m, "<details class=\"step\">");
    assert_int_equal(monitoring_get(&m, "/debug/objects/pods/default/web?opened=99", HTML), 303);
    monitoring_has(&m, "?opened=2\r\n");
    assert_int_equal(monitoring_get(&m, "/debug/objects/pods/default/web?opened=2", HTML), 200);
    monitoring_has(&m, "<p class=\"none\">None.</p>");
    monitoring_lacks(&m, "<details class=\"step\">"); /* that was before */
    /* The number is of that object, and not of one that does not exist. */
    assert_int_equal(monitoring_get(&m, "/debug/objects/pods/default/no?opened=1", HTML), 404);
    monitoring_end(&m);
}

static void updates_of_a_page_are_events(void **state)
{
    (void)state;
    static const char text[] =
        "GET /debug/events?page=%2Fdebug%2F HTTP/1.1\r\nHost: localhost\r\n\r\n";
    static const char head[] = "HEAD /debug/events HTTP/1.1\r\nHost: localhost\r\n"
                               "Connection: close\r\n\r\n";
    monitoring m;
    monitoring_begin(&m, NULL);
    assert_false(monitoring_raw(&m, text, sizeof(text) - 1, 3500));
    monitoring_has(&m, "Content-Type: text/event-stream\r\n");
    monitoring_has(&m, "event: page\n");
    const char *first = strstr(ki_buf_text(&m.response), "event: page\n");
    assert_non_null(strstr(first + 1, "event: page\n")); /* more than one */
    assert_true(monitoring_raw(&m, head, sizeof(head) - 1, 10000));
    assert_int_equal(m.status, 200);
    monitoring_end(&m);
}

/* Names cannot be anything, but values of annotations can. */
static void untrusted_values_are_escaped(void **state)
{
    (void)state;
    ki_monitor_server_options options = with_objects();
    monitoring m;
    monitoring_begin(&m, &options);
    monitoring_get(&m, "/debug/", HTML);
    monitoring_load(&m, "apiVersion: v1\nkind: Pod\nmetadata:\n  name: web\n  namespace: default\n"
                        "  annotations:\n    a: \"</p><script>alert(1)</script>\"\n"
                        "    b: \"abc\\u202Edef\"\n    c: \"' onload='x\"\n    d: \"{{#x}}\"\n");
    monitoring_until(&m, "/debug/", HTML, "metadata.annotations");
    monitoring_lacks(&m, "<script>alert");
    monitoring_lacks(&m, "\xe2\x80\xae");
    monitoring_lacks(&m, "' onload='");
    monitoring_get(&m, "/debug/objects/pods/default/web", HTML);
    monitoring_get(&m, "/debug/objects/pods/default/web?opened=1", HTML);
    monitoring_has(&m, "&lt;script&gt;alert(1)");
    monitoring_has(&m, "abc<span class=\"code\">U+202E</span>def");
    monitoring_has(&m, "{{#x}}");
    monitoring_lacks(&m, "<script>alert");
    monitoring_lacks(&m, "\xe2\x80\xae");
    monitoring_get(&m, "/debug/?filter=%22%3E%3Cscript%3Ealert(1)%3C/script%3E", HTML);
    monitoring_lacks(&m, "<script>alert");
    monitoring_get(&m, "/debug/objects/%3Cscript%3Ealert(1)", HTML);
    monitoring_lacks(&m, "<script>alert");
    monitoring_end(&m);
}

static void large_values_are_truncated(void **state)
{
    (void)state;
    ki_monitor_server_options options = with_objects();
    monitoring m;
    monitoring_begin(&m, &options);
    monitoring_get(&m, "/debug/", HTML);
    ki_buf yaml;
    ki_buf_init(&yaml, NULL, SIZE_MAX);
    test_add(&yaml,
             "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: big, namespace: default}\n"
             "data: {a: \"",
             1);
    test_add(&yaml, "0123456789", 100000);
    test_add(&yaml, "\"}\n", 1);
    monitoring_load(&m, "apiVersion: v1\nkind: ConfigMap\n"
                        "metadata: {name: big, namespace: default}\ndata: {a: small}\n");
    monitoring_until(&m, "/debug/", HTML, "big");
    monitoring_load(&m, ki_buf_text(&yaml));
    monitoring_until(&m, "/debug/", HTML, "... (1000000 bytes)");
    assert_true(m.response.len < 100000);
    monitoring_get(&m, "/debug/objects/configmaps/default/big", HTML);
    monitoring_get(&m, "/debug/objects/configmaps/default/big?opened=1", HTML);
    monitoring_has(&m, ", truncated");
    assert_true(m.response.len < 600000);
    ki_buf_done(&yaml);
    monitoring_end(&m);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(metrics_come_in_the_format_that_is_accepted),
        cmocka_unit_test(checks_have_reasons),
        cmocka_unit_test(the_state_is_json),
        cmocka_unit_test(the_oldest_snapshot_is_shown),
        cmocka_unit_test(memory_is_shown_by_field),
        cmocka_unit_test(the_page_works_without_scripts),
        cmocka_unit_test(changes_are_shown_once_the_page_was_opened),
        cmocka_unit_test(values_are_hidden_by_default),
        cmocka_unit_test(secrets_are_never_shown),
        cmocka_unit_test(objects_are_listed),
        cmocka_unit_test(an_object_shows_what_changed_since_it_was_opened),
        cmocka_unit_test(updates_of_a_page_are_events),
        cmocka_unit_test(untrusted_values_are_escaped),
        cmocka_unit_test(large_values_are_truncated),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
