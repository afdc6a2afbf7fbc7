/* SPDX-License-Identifier: Apache-2.0 */
/* Every way in which a list or a watch goes wrong, over real sockets, and what is asked next. Each
 * row is an informer with a transport of its own in a world of its own; all of them run at once, by
 * HTTP/1.1 and again by HTTP/2. docs/transport.md says which row of which table is which. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "support/following.h"

enum { SCRIPT_MAX = 12, ASKED_MAX = 16, PATIENCE_MS = 60000, WAIT_MS = 700 };

/* All begin with one pod, "a", at version 11. */
typedef struct row {
    const char *name;
    const char *script[SCRIPT_MAX]; /* "KIND ACTION ..."; the rest is served as usual */
    const char *asked[ASKED_MAX];   /* in order; '>': after a pause, of a second or a backoff */
    int errors;                     /* failed attempts; -1: does not matter */
    bool streaming;
    bool only_two; /* HTTP/2 */
    uint64_t idle_ms;
    size_t max_object;
} row;

#define TOO_LARGE "Timeout cause=ResourceVersionTooLarge"
#define LIST "list limit=500"
#define STREAM "stream"
#define WATCH "watch rv=11"
#define RELIST "list rv=11"

static const row rows[] = {
    /* ---- lists ---- */
    {.name = "list-410",
     .script = {"watch event 410 Expired", "list normal", "list status 410 Expired"},
     .asked = {LIST, WATCH, ">" RELIST, "list limit=500", WATCH},
     .errors = 1},
    {.name = "list-429",
     .script = {"list status 429 TooManyRequests"},
     .asked = {LIST, ">" LIST, WATCH},
     .errors = 1},
    {.name = "list-429-after",
     .script = {"list status 429 TooManyRequests header=1"},
     .asked = {LIST, ">" LIST, WATCH},
     .errors = 1},
    {.name = "list-429-ever",
     .script =
         {"list status 429 TooManyRequests header=0", "list status 429 TooManyRequests header=0",
          "list status 429 TooManyRequests header=0", "list status 429 TooManyRequests header=0",
          "list status 429 TooManyRequests header=0", "list status 429 TooManyRequests header=0",
          "list status 429 TooManyRequests header=0", "list status 429 TooManyRequests header=0",
          "list status 429 TooManyRequests header=0", "list status 429 TooManyRequests header=0",
          "list status 429 TooManyRequests header=0"},
     .asked = {LIST, ">" LIST, ">" LIST, ">" LIST, ">" LIST, ">" LIST, ">" LIST, ">" LIST, ">" LIST,
               ">" LIST, ">" LIST, ">" LIST, WATCH},
     .errors = 11},
    {.name = "list-500",
     .script = {"list status 500 InternalError"},
     .asked = {LIST, ">" LIST, WATCH},
     .errors = 1},
    {.name = "list-500-after",
     .script = {"list status 500 InternalError header=1"},
     .asked = {LIST, ">" LIST, WATCH},
     .errors = 1},
    {.name = "list-503-after",
     .script = {"list status 503 ServiceUnavailable header=1"},
     .asked = {LIST, ">" LIST, WATCH},
     .errors = 1},
    {.name = "list-504-large",
     .script = {"watch event 500 InternalError", "list normal", "list status 504 " TOO_LARGE},
     .asked = {LIST, WATCH, ">" RELIST, "list limit=500", WATCH},
     .errors = 1},
    {.name = "list-401",
     .script = {"list status 401 Unauthorized"},
     .asked = {LIST, ">" LIST, WATCH},
     .errors = 1},
    {.name = "list-403",
     .script = {"list status 403 Forbidden"},
     .asked = {LIST, ">" LIST, WATCH},
     .errors = 1},
    {.name = "list-404",
     .script = {"list status 404 NotFound"},
     .asked = {LIST, ">" LIST, WATCH},
     .errors = 1},
    {.name = "list-422",
     .script = {"list status 422 Invalid"},
     .asked = {LIST, ">" LIST, WATCH},
     .errors = 1},
    {.name = "list-eof", .script = {"list eof"}, .asked = {LIST, ">" LIST, WATCH}, .errors = 1},
    {.name = "list-reset", .script = {"list reset"}, .asked = {LIST, ">" LIST, WATCH}, .errors = 1},
    /* ---- requests to watch ---- */
    {.name = "watch-410",
     .script = {"watch status 410 Expired"},
     .asked = {LIST, WATCH, ">" RELIST, WATCH},
     .errors = 1},
    {.name = "watch-429",
     .script = {"watch status 429 TooManyRequests"},
     .asked = {LIST, WATCH, ">" WATCH},
     .errors = 1},
    {.name = "watch-429-after",
     .script = {"watch status 429 TooManyRequests header=1"},
     .asked = {LIST, WATCH, ">" WATCH},
     .errors = 1},
    {.name = "watch-500",
     .script = {"watch status 500 InternalError"},
     .asked = {LIST, WATCH, ">" RELIST, WATCH},
     .errors = 1},
    {.name = "watch-500-after",
     .script = {"watch status 500 InternalError header=1"},
     .asked = {LIST, WATCH, ">" WATCH},
     .errors = 1},
    {.name = "watch-503-after",
     .script = {"watch status 503 Unavailable header=1"},
     .asked = {LIST, WATCH, ">" WATCH},
     .errors = 1},
    {.name = "watch-504-large",
     .script = {"watch status 504 " TOO_LARGE},
     .asked = {LIST, WATCH, ">" RELIST, WATCH},
     .errors = 1},
    {.name = "watch-401",
     .script = {"watch status 401 Unauthorized"},
     .asked = {LIST, WATCH, ">" RELIST, WATCH},
     .errors = 1},
    {.name = "watch-403",
     .script = {"watch status 403 Forbidden"},
     .asked = {LIST, WATCH, ">" RELIST, WATCH},
     .errors = 1},
    {.name = "watch-404",
     .script = {"watch status 404 NotFound"},
     .asked = {LIST, WATCH, ">" RELIST, WATCH},
     .errors = 1},
    {.name = "watch-422",
     .script = {"watch status 422 Invalid"},
     .asked = {LIST, WATCH, ">" RELIST, WATCH},
     .errors = 1},
    {.name = "watch-eof",
     .script = {"watch eof", "watch eof"},
     .asked = {LIST, WATCH, WATCH, ">" WATCH},
     .errors = 2},
    {.name = "watch-reset",
     .script = {"watch reset", "watch reset"},
     .asked = {LIST, WATCH, WATCH, ">" WATCH},
     .errors = 2},
    {.name = "watch-short",
     .script = {"watch short"},
     .asked = {LIST, WATCH, ">" RELIST, WATCH},
     .errors = 1},
    /* ---- in the stream of a watch ---- */
    {.name = "in-410",
     .script = {"watch event 410 Expired"},
     .asked = {LIST, WATCH, ">" RELIST, WATCH},
     .errors = 1},
    {.name = "in-429",
     .script = {"watch event 429 TooManyRequests"},
     .asked = {LIST, WATCH, ">" WATCH},
     .errors = 1},
    {.name = "in-500",
     .script = {"watch event 500 InternalError"},
     .asked = {LIST, WATCH, ">" RELIST, WATCH},
     .errors = 1},
    {.name = "in-504-large",
     .script = {"watch event 504 " TOO_LARGE},
     .asked = {LIST, WATCH, ">" RELIST, WATCH},
     .errors = 1},
    {.name = "in-401",
     .script = {"watch event 401 Unauthorized"},
     .asked = {LIST, WATCH, ">" RELIST, WATCH},
     .errors = 1},
    {.name = "in-403",
     .script = {"watch event 403 Forbidden"},
     .asked = {LIST, WATCH, ">" RELIST, WATCH},
     .errors = 1},
    {.name = "in-404",
     .script = {"watch event 404 NotFound"},
     .asked = {LIST, WATCH, ">" RELIST, WATCH},
     .errors = 1},
    {.name = "in-422",
     .script = {"watch event 422 Invalid"},
     .asked = {LIST, WATCH, ">" RELIST, WATCH},
     .errors = 1},
    {.name = "in-end", .script = {"watch live 1300 end"}, .asked = {LIST, WATCH, ">" WATCH}},
    {.name = "in-cut", .script = {"watch live 1300 cut"}, .asked = {LIST, WATCH, ">" WATCH}},
    {.name = "in-reset", .script = {"watch live 1300 reset"}, .asked = {LIST, WATCH, ">" WATCH}},
    {.name = "in-silence",
     .script = {"watch live 100 silent"},
     .asked = {LIST, WATCH, ">" WATCH},
     .idle_ms = 1500},
    {.name = "in-goaway",
     .script = {"watch live 1300 goaway"},
     .asked = {LIST, WATCH, ">" WATCH},
     .only_two = true},
    {.name = "in-rst",
     .script = {"watch live 1300 rst"},
     .asked = {LIST, WATCH, ">" WATCH},
     .only_two = true},
    {.name = "in-garbage",
     .script = {"watch raw nonsense"},
     .asked = {LIST, WATCH, ">" RELIST, WATCH},
     .errors = -1},
    {.name = "in-type",
     .script = {"watch raw {\"type\":\"WHAT\",\"object\":{\"kind\":\"Pod\"}}"},
     .asked = {LIST, WATCH, ">" RELIST, WATCH},
     .errors = -1},
    {.name = "in-huge",
     .script = {"watch huge 100000"},
     .asked = {LIST, WATCH, ">" RELIST, WATCH},
     .errors = -1,
     .max_object = 50000},
    /* ---- streaming lists ---- */
    {.name = "stream-410",
     .script = {"stream status 410 Expired"},
     .asked = {STREAM, STREAM},
     .streaming = true},
    {.name = "stream-429",
     .script = {"stream status 429 TooManyRequests"},
     .asked = {STREAM, ">" STREAM},
     .errors = 1,
     .streaming = true},
    {.name = "stream-429-after",
     .script = {"stream status 429 TooManyRequests header=1"},
     .asked = {STREAM, ">" STREAM},
     .errors = 1,
     .streaming = true},
    {.name = "stream-500",
     .script = {"stream status 500 InternalError"},
     .asked = {STREAM, LIST, WATCH},
     .streaming = true},
    {.name = "stream-500-after",
     .script = {"stream status 500 InternalError header=1"},
     .asked = {STREAM, ">" STREAM},
     .errors = 1,
     .streaming = true},
    {.name = "stream-504-large",
     .script = {"stream status 504 " TOO_LARGE},
     .asked = {STREAM, STREAM},
     .streaming = true},
    {.name = "stream-401",
     .script = {"stream status 401 Unauthorized"},
     .asked = {STREAM, ">" STREAM},
     .errors = 1,
     .streaming = true},
    {.name = "stream-403",
     .script = {"stream status 403 Forbidden"},
     .asked = {STREAM, LIST, WATCH},
     .streaming = true},
    {.name = "stream-404",
     .script = {"stream status 404 NotFound"},
     .asked = {STREAM, ">" STREAM},
     .errors = 1,
     .streaming = true},
    {.name = "stream-422",
     .script = {"stream status 422 Invalid"},
     .asked = {STREAM, LIST, WATCH},
     .streaming = true},
    {.name = "stream-eof",
     .script = {"stream eof"},
     .asked = {STREAM, ">" STREAM},
     .errors = 1,
     .streaming = true},
    {.name = "stream-reset",
     .script = {"stream reset"},
     .asked = {STREAM, ">" STREAM},
     .errors = 1,
     .streaming = true},
    {.name = "stream-short",
     .script = {"stream short"},
     .asked = {STREAM, LIST, WATCH},
     .streaming = true},
    {.name = "stream-cut",
     .script = {"stream initial"},
     .asked = {STREAM, STREAM},
     .errors = 1,
     .streaming = true},
    {.name = "stream-in-410",
     .script = {"stream event 410 Expired"},
     .asked = {STREAM, STREAM},
     .streaming = true},
    {.name = "stream-in-500",
     .script = {"stream event 500 InternalError"},
     .asked = {STREAM, LIST, WATCH},
     .streaming = true},
    {.name = "stream-later",
     .script = {"stream live 1300 cut"},
     .asked = {STREAM, ">" WATCH},
     .streaming = true},
};

enum { ROWS = sizeof(rows) / sizeof(rows[0]) };

typedef struct running {
    const row *row;
    ki__curl *curl;
    following f;
    bool two; /* by HTTP/2 */
    bool done;
    bool wrong; /* that was printed */
} running;

static test_server server;
static ki_buf ca;

static int start_server(void **state)
{
    (void)state;
    test_server_start(&server, "fault_server.py", TEST_SCRATCH_DIR "/transport_rows");
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

static void begin(running *one, const row *what, transporting *t, bool two, const char *when)
{
    char name[40];
    snprintf(name, sizeof(name), "%s-%s%s", two ? "two" : "one", what->name, when);
    *one = (running){.row = what, .two = two};
    (void)test_server_do(&server, "add %s a", name);
    for (size_t i = 0; i < SCRIPT_MAX && what->script[i] != NULL; i++) {
        (void)test_server_do(&server, "script %s %s", name, what->script[i]);
    }
    (void)test_server_do(&server, "bookmarks %s 300", name);
    ki__curl_options options = {0};
    options.tls.ca = two ? ki_buf_str(&ca) : ki_str_make(NULL, 0);
    transporting_open(t, &options, two ? "https" : "http",
                      test_server_port(&server, two ? "h2" : "plain"));
    one->curl = t->curl;
    t->curl = NULL;
    const following_options how = {.name_space = name,
                                   .no_streaming = !what->streaming,
                                   .max_object_bytes = what->max_object,
                                   .watch_idle_ms = what->idle_ms};
    following_open(&one->f, t, one->curl, &how);
}

/* Compares one request with what it should be. */
static bool is_asked(const char *wanted, const char *word, size_t len)
{
    bool pause = wanted[0] == '>';
    char *text = NULL;
    long gap = strtol(word, &text, 10);
    size_t rest = len - (size_t)(text + 1 - word);
    wanted += pause ? 1 : 0;
    return strlen(wanted) == rest && memcmp(wanted, text + 1, rest) == 0 &&
           (!pause || gap >= WAIT_MS);
}

/* Whether the server received all expected requests. Complains about unexpected ones. */
static bool is_done(running *one)
{
    char log[FOLLOWING_LOG];
    const char *const *asked = one->row->asked;
    size_t i = 0;
    test_server_ask(&server, log, sizeof(log), "log %s", one->f.name_space);
    for (const char *word = log; *word != '\0'; i++) {
        size_t len = strcspn(word, "|");
        const char *wanted = i < ASKED_MAX && asked[i] != NULL ? asked[i] : "nothing";
        if (!is_asked(wanted, word, len)) {
            print_error("%s: not \"%s\": %s\n", one->f.name_space, wanted, log);
            one->wrong = true;
            return true;
        }
        word += word[len] == '|' ? len + 1 : len;
    }
    return asked[i] == NULL;
}

static void run_all(transporting *t, running *all, size_t count)
{
    size_t left = count;
    for (int ms = 0; ms < PATIENCE_MS && left != 0; ms += 300) {
        transporting_for(t, 300);
        left = 0;
        for (size_t i = 0; i < count; i++) {
            all[i].done = all[i].done || is_done(&all[i]);
            left += all[i].done ? 0 : 1;
        }
    }
    for (size_t i = 0; i < count; i++) {
        if (!all[i].done) {
            char log[FOLLOWING_LOG];
            test_server_ask(&server, log, sizeof(log), "log %s", all[i].f.name_space);
            print_error("%s: requested %s only\n", all[i].f.name_space, log);
            all[i].wrong = true;
        }
    }
}

/* It follows on, and nothing else was requested meanwhile. */
static void check(running *one)
{
    if (one->wrong) {
        return;
    }
    following_expect(&one->f, "a=11 b=12 ");
    one->wrong = !is_done(one) || one->wrong;
    if (one->row->errors >= 0 && one->f.errors != (unsigned)one->row->errors) {
        print_error("%s: received %u errors\n", one->f.name_space, one->f.errors);
        one->wrong = true;
    }
}

static void finish(running *one)
{
    following_stop(&one->f);
    ki__curl_free(one->curl);
}

/* On a busy machine so many at once may meet a deadline of their own; alone it is met or not. */
static bool is_wrong_alone(const running *before, transporting *t)
{
    running one;
    begin(&one, before->row, t, before->two, "-again");
    run_all(t, &one, 1);
    (void)test_server_do(&server, "add %s b", one.f.name_space);
    check(&one);
    finish(&one);
    return one.wrong;
}

static void every_failure_leads_to_its_next_request(void **state)
{
    (void)state;
    static running all[2 * ROWS];
    transporting t;
    size_t count = 0;
    transporting_begin(&t);
    for (size_t i = 0; i < 2 * ROWS; i++) {
        const row *what = &rows[i / 2];
        bool two = i % 2 == 1;
        if (two || !what->only_two) {
            begin(&all[count++], what, &t, two, "");
        }
    }
    run_all(&t, all, count);
    for (size_t i = 0; i < count; i++) {
        (void)test_server_do(&server, "add %s b", all[i].f.name_space);
    }
    size_t wrong = 0;
    for (size_t i = 0; i < count; i++) {
        check(&all[i]);
        finish(&all[i]);
    }
    for (size_t i = 0; i < count; i++) {
        wrong += all[i].wrong && is_wrong_alone(&all[i], &t) ? 1 : 0;
    }
    transporting_end(&t);
    assert_int_equal(wrong, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_failure_leads_to_its_next_request),
    };
    return cmocka_run_group_tests(tests, start_server, stop_server);
}
