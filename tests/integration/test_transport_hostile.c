/* SPDX-License-Identifier: Apache-2.0 */
/* HTTP/2 servers that mean harm, all at once: none of them makes the transport crash, hang or take
 * memory, each stream ends in time with an error that says what it was, and the others on the
 * loop continue. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "support/transporting.h"

#define MS UINT64_C(1000000)

enum { PATIENCE_MS = 60000, MEMORY_MAX_KB = 100 << 10 };

/* What libcurl takes for the end of the answer when the connection breaks HTTP/2's rules after it
 * has begun; the reader of the body knows better. */
static const char *const may_be_whole[] = {
    "rst-flood",       "padding-too-long",   "frame-too-long", "deaf-ping-flood",
    "data-of-another", "data-after-the-end", "priority-flood", "padding-flood",
};

/* Those of which there is one thing only to say. */
static const struct {
    const char *name;
    int code;
} exact[] = {
    {"many-headers", KI_ERR_LIMIT},    {"interim-flood", -EPROTO},
    {"continuation-flood", -EPROTO},   {"empty-continuation-flood", -EPROTO},
    {"header-bomb", -EPROTO},          {"trailer-bomb", -EPROTO},
    {"no-stream-allowed", -ETIMEDOUT},
};

static bool is_typed(int code)
{
    static const int codes[] = {-EPROTO, -ECONNRESET, -EPIPE, -ETIMEDOUT, KI_ERR_LIMIT};
    for (size_t i = 0; i < sizeof(codes) / sizeof(codes[0]); i++) {
        if (code == codes[i]) {
            return true;
        }
    }
    return false;
}

static bool is_right(const char *name, const exchange *e)
{
    for (size_t i = 0; i < sizeof(exact) / sizeof(exact[0]); i++) {
        if (strcmp(name, exact[i].name) == 0) {
            return !e->complete && e->error.code == exact[i].code;
        }
    }
    for (size_t i = 0; e->complete && i < sizeof(may_be_whole) / sizeof(may_be_whole[0]); i++) {
        if (strcmp(name, may_be_whole[i]) == 0) {
            return true;
        }
    }
    return !e->complete && is_typed(e->error.code);
}

/* The most memory that there ever was. */
static long peak_kb(void)
{
    char line[128];
    long kb = 0;
    FILE *file = fopen("/proc/self/status", "r");
    assert_non_null(file);
    while (fgets(line, sizeof(line), file) != NULL) {
        if (strncmp(line, "VmHWM:", 6) == 0) {
            kb = strtol(line + 6, NULL, 10);
        }
    }
    fclose(file);
    return kb;
}

typedef struct attack {
    const char *name;
    size_t port; /* which of the server's */
    ki__curl *curl;
    exchange e;
} attack;

static test_server server;
static ki_buf ca;

static int start_server(void **state)
{
    (void)state;
    test_server_start(&server, "hostile_http2.py", TEST_SCRATCH_DIR "/transport_hostile");
    test_server_file(&server, "ca.crt", &ca);
    return 0;
}

static int stop_server(void **state)
{
    (void)state;
    ki_buf_done(&ca);
    test_server_stop(&server);
    return 0;
}

static void begin(attack *a, transporting *t, size_t i)
{
    ki__curl_options options = {.tls = {.ca = ki_buf_str(&ca)}};
    a->name = server.names[i];
    a->port = i;
    transporting_open(t, &options, "https", server.ports[i]);
    a->curl = t->curl; /* the exchange takes it from there when it starts */
    exchange_init(&a->e, t, "/", "");
    a->e.request.stream = true;
    a->e.request.idle_timeout_ms = 5000;
    exchange_start(&a->e);
    transporting_until(t, &a->e.started);
    t->curl = NULL;
}

static void finish(attack *a)
{
    exchange_done(&a->e);
    ki__curl_free(a->curl);
}

/* On a busy machine a server may be gone before its last word was read; alone it is not. */
static bool is_right_alone(const attack *before, transporting *t)
{
    attack a;
    begin(&a, t, before->port);
    transporting_until(t, &a.e.ended);
    bool right = is_right(a.name, &a.e);
    if (!right) {
        print_error("%s: %s: %s\n", a.name, ki_error_name(a.e.error.code), a.e.error.message);
    }
    finish(&a);
    return right;
}

static void harm_is_kept_within_bounds(void **state)
{
    (void)state;
    static attack all[SERVER_PORTS];
    transporting t;
    size_t wrong = 0;
    transporting_begin(&t);
    long before = peak_kb();
    size_t count = 0;
    for (size_t i = 0; i < server.count; i++) {
        if (strncmp(server.names[i], "long-", 5) != 0) {
            begin(&all[count++], &t, i);
        }
    }
    assert_string_equal(all[0].name, "good");
    for (size_t i = 1; i < count; i++) {
        transporting_until(&t, &all[i].e.ended);
        wrong += !is_right(all[i].name, &all[i].e) && !is_right_alone(&all[i], &t);
        assert_true(all[i].e.body.len <= 5);
    }
    size_t ticks = all[0].e.body.len;
    for (int i = 0; i < 4000 && all[0].e.body.len < ticks + 10; i++) {
        transporting_for(&t, 10);
    }
    assert_true(all[0].e.body.len >= ticks + 10);
    assert_false(all[0].e.ended);
    print_message("%zu servers, %ld kB more\n", count, peak_kb() - before);
#ifndef __SANITIZE_ADDRESS__ /* which keeps what is freed */
    assert_true(peak_kb() - before < MEMORY_MAX_KB);
#endif
    for (size_t i = 0; i < count; i++) {
        finish(&all[i]);
    }
    transporting_end(&t);
    assert_int_equal(wrong, 0);
}

/* Ten seconds of PINGs, all of which libcurl answers without a word to anybody. */
static void a_flood_does_not_hold_the_loop(void **state)
{
    (void)state;
    attack a;
    transporting t;
    size_t i = 0;
    while (strcmp(server.names[i], "long-ping-flood") != 0) {
        i++;
    }
    transporting_begin(&t);
    begin(&a, &t, i);
    transporting_until(&t, &a.e.ended);
    assert_true(a.e.error.code == -EPROTO || a.e.error.code == -ETIMEDOUT);
    assert_in_range(t.longest_ms, 0, 5000);
    finish(&a);
    transporting_end(&t);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_flood_does_not_hold_the_loop),
        cmocka_unit_test(harm_is_kept_within_bounds),
    };
    return cmocka_run_group_tests(tests, start_server, stop_server);
}
