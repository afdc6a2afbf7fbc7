/* SPDX-License-Identifier: Apache-2.0 */
/* Asking a server for what it has, and keeping it: against an asker that answers when the test says
 * so, on a clock that advances when the test says so. */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "client/discovery/discovery_cache.h"
#include "client/discovery/discovery_read.h"
#include "support/discovering.h"
#include "support/fake_clock.h"
#include "support/test.h"

enum { QUESTIONS_MAX = 256, WAITERS_MAX = 64 };

typedef struct question {
    char path[128];
    bool aggregated; /* was requested */
    bool at_once;
    bool open;
    ki_call_done done;
    void *user;
} question;

typedef struct fixture {
    test_alloc alloc;
    fake_clock clock;
    ki_engine *engine;
    ki__discovery_cache cache;
    question questions[QUESTIONS_MAX];
    size_t asked;
    size_t ended;  /* before they were answered */
    int refs;      /* of the asker */
    size_t refuse; /* the question that cannot be asked, from 1 */
    bool legacy;
    const char *broken; /* a path, and how it fails */
    int http_code;
    int code;
} fixture;

/* ---- the asker ---- */

static int get(const char *path, const char *accept, bool at_once, ki_call_done done,
               void *done_user, void *user, ki_call **ret_call, ki_error *error)
{
    fixture *f = user;
    if (f->refuse == f->asked + 1) {
        error->code = KI_ERR_STOPPED;
        return KI_ERR_STOPPED;
    }
    assert_true(f->asked < QUESTIONS_MAX);
    question *q = &f->questions[f->asked++];
    *q = (question){.at_once = at_once, .open = true, .done = done, .user = done_user};
    assert_true(strlen(path) < sizeof(q->path));
    memcpy(q->path, path, strlen(path) + 1);
    q->aggregated = strcmp(accept, KI__DISCOVERY_ACCEPT) == 0;
    assert_true(q->aggregated || strcmp(accept, "application/json") == 0);
    *ret_call = (ki_call *)q;
    return 0;
}

static void end_call(ki_call *call, bool is_done, void *user)
{
    fixture *f = user;
    question *q = (question *)call;
    assert_int_equal(q->open, !is_done);
    q->open = false;
    f->ended += !is_done;
}

static void take(void *user)
{
    ((fixture *)user)->refs++;
}

static void drop(void *user)
{
    fixture *f = user;
    assert_true(f->refs > 0);
    f->refs--;
}

static int fill(void *bytes, size_t len, void *user)
{
    (void)user;
    memset(bytes, 7, len);
    return 0;
}

static int begin(fixture *f, const ki_alloc *alloc)
{
    static const ki_random random = {.fill = fill};
    *f = (fixture){0};
    test_alloc_init(&f->alloc);
    fake_clock_init(&f->clock);
    ki_engine_options options = KI_OPTIONS_INIT(ki_engine_options);
    options.alloc = alloc != NULL ? alloc : &f->alloc.table;
    options.clock = &f->clock.table;
    options.random = &random;
    int r = ki_engine_new(&options, &f->engine, NULL);
    if (r < 0) {
        return r;
    }
    const ki__discovery_requester asker = {
        .get = get, .end = end_call, .ref = take, .unref = drop, .user = f};
    assert_int_equal(ki__discovery_cache_init(&f->cache, f->engine, &asker), 0);
    return 0;
}

static void end(fixture *f)
{
    assert_int_equal(f->refs, 0);
    ki__discovery_cache_done(&f->cache);
    for (size_t i = 0; i < f->asked; i++) {
        assert_false(f->questions[i].open);
    }
    (void)ki_engine_unref(f->engine);
    test_alloc_done(&f->alloc);
}

static void run(fixture *f)
{
    while (ki_engine_run(f->engine, 0) != 0) {
    }
}

static size_t count_open(const fixture *f)
{
    size_t count = 0;
    for (size_t i = 0; i < f->asked; i++) {
        count += f->questions[i].open;
    }
    return count;
}

static question *open_question(fixture *f, const char *path)
{
    for (size_t i = 0; i < f->asked; i++) {
        if (f->questions[i].open && strcmp(f->questions[i].path, path) == 0) {
            return &f->questions[i];
        }
    }
    fail_msg("%s was not requested", path);
    return NULL;
}

/* The file that has the answer: "/apis/apps/v1" is in "legacy_apis_apps_v1". */
static void name_file(const fixture *f, const char *path, char *out, size_t size)
{
    (void)snprintf(out, size, "%s%s", f->legacy ? "legacy_" : "", path + 1);
    for (char *c = out; *c != '\0'; c++) {
        *c = *c == '/' ? '_' : *c;
    }
}

static void answer_text(question *q, const char *text)
{
    ki_response answer = {.http_code = 200, .body = ki_str_from(text)};
    q->open = false;
    q->done((ki_call *)q, &answer, NULL, q->user);
}

static void answer_error(question *q, int code, int http_code)
{
    ki_error error = {.code = code, .http_code = http_code, .message = "as the test says"};
    ki_response answer = {.http_code = http_code};
    q->open = false;
    q->done((ki_call *)q, &answer, &error, q->user);
}

static void answer(fixture *f, question *q)
{
    char name[160];
    ki_buf body;
    if (strcmp(q->path, "/apis/custom.metrics.k8s.io/v1beta1") == 0) {
        answer_error(q, KI_ERR_STATUS, 503);
        return;
    }
    if (f->broken != NULL && strcmp(q->path, f->broken) == 0) {
        if (f->code == 0) {
            answer_text(q, "oops");
        } else {
            answer_error(q, f->code, f->http_code);
        }
        return;
    }
    name_file(f, q->path, name, sizeof(name));
    test_discovery_file(name, &body);
    answer_text(q, ki_buf_text(&body));
    ki_buf_done(&body);
}

/* Answers all there is, the last first, until nobody asks any more. */
static void answer_all(fixture *f)
{
    for (bool any = true; any;) {
        any = false;
        run(f);
        for (size_t i = f->asked; i-- > 0;) {
            if (f->questions[i].open) {
                any = true;
                answer(f, &f->questions[i]);
            }
        }
    }
}

/* ---- callers ---- */

typedef struct hearer {
    fixture *f;
    size_t times;
    ki_discovery *discovery;
    ki_error error;
    int again; /* asks once more, inside */
} hearer;

static int ask(hearer *h, uint64_t max_age_ns);

static void on_answer(const ki_discovery *discovery, const ki_error *error, void *user)
{
    hearer *h = user;
    assert_true((discovery == NULL) == (error != NULL));
    h->times++;
    (void)ki_discovery_unref(h->discovery);
    h->discovery = ki_discovery_ref(discovery);
    h->error = error != NULL ? *error : KI_ERROR_INIT;
    if (h->again > 0) {
        h->again--;
        assert_int_equal(ask(h, 10 * S_NS), 0);
    }
}

static int ask(hearer *h, uint64_t max_age_ns)
{
    uint64_t now = ki__engine_now(h->f->engine);
    return ki__discovery_cache_request(&h->f->cache, now > max_age_ns ? now - max_age_ns : 0, true,
                                       on_answer, h);
}

static void ask_now(hearer *h, fixture *f)
{
    h->f = f;
    assert_int_equal(ask(h, 0), 0);
}

static void forget(hearer *h)
{
    h->discovery = ki_discovery_unref(h->discovery);
}

/* ---- asking ---- */

static void aggregated_discovery_takes_two_requests(void **state)
{
    (void)state;
    fixture f;
    hearer h = {0};
    assert_int_equal(begin(&f, NULL), 0);
    ask_now(&h, &f);
    assert_int_equal(f.asked, 0); /* not from inside */
    run(&f);
    assert_int_equal(f.asked, 2);
    question *api = open_question(&f, "/api");
    question *apis = open_question(&f, "/apis");
    assert_true(api->aggregated && apis->aggregated);
    assert_false(api->at_once || apis->at_once);
    answer(&f, apis);
    assert_int_equal(h.times, 0);
    answer(&f, api);
    assert_int_equal(h.times, 0); /* not inside the end of a request */
    run(&f);
    assert_int_equal(h.times, 1);
    assert_ptr_equal(ki_discovery_at(h.discovery, 7, NULL), KI_CORE_V1_PODS);
    assert_int_equal(f.asked, 2);
    forget(&h);
    end(&f);
}

static void legacy_group_versions_are_requested_eight_at_a_time(void **state)
{
    (void)state;
    fixture f;
    hearer h = {0};
    assert_int_equal(begin(&f, NULL), 0);
    f.legacy = true;
    ask_now(&h, &f);
    run(&f);
    answer(&f, open_question(&f, "/apis"));
    assert_int_equal(count_open(&f), 1);
    answer(&f, open_question(&f, "/api"));
    assert_int_equal(count_open(&f), KI__DISCOVERY_PARALLEL);
    for (size_t i = 2; i < f.asked; i++) {
        assert_true(f.questions[i].at_once && !f.questions[i].aggregated);
    }
    size_t most = 0;
    for (size_t i = 2; i < f.asked; i++) {
        most = count_open(&f) > most ? count_open(&f) : most;
        answer(&f, &f.questions[i]);
    }
    run(&f);
    assert_int_equal(most, KI__DISCOVERY_PARALLEL);
    assert_int_equal(f.asked, 2 + 17);
    assert_int_equal(h.times, 1);
    assert_non_null(h.discovery);
    assert_string_equal(ki_discovery_failure_at(h.discovery, 0), "custom.metrics.k8s.io/v1beta1");
    assert_null(ki_discovery_failure_at(h.discovery, 1));
    const ki_resource *resource = NULL;
    assert_int_equal(ki_discovery_find(h.discovery, "hpa", &resource, NULL), 0);
    assert_string_equal(ki_resource_version(resource), "v2");
    forget(&h);
    end(&f);
}

static void one_group_version_that_fails_is_named_and_the_rest_is_there(void **state)
{
    (void)state;
    static const struct {
        int code;
        int http_code;
    } failures[] = {
        {KI_ERR_STATUS, 503}, {KI_ERR_STATUS, 404}, {KI_ERR_STATUS, 403},
        {KI_ERR_STATUS, 500}, {-ETIMEDOUT, 0},      {0, 0} /* no JSON */,
    };
    for (size_t i = 0; i < sizeof(failures) / sizeof(failures[0]); i++) {
        fixture f;
        hearer h = {0};
        assert_int_equal(begin(&f, NULL), 0);
        f.legacy = true;
        f.broken = "/apis/autoscaling/v2";
        f.code = failures[i].code;
        f.http_code = failures[i].http_code;
        ask_now(&h, &f);
        answer_all(&f);
        assert_non_null(h.discovery);
        assert_string_equal(ki_discovery_failure_at(h.discovery, 0), "autoscaling/v2");
        assert_string_equal(ki_discovery_failure_at(h.discovery, 1),
                            "custom.metrics.k8s.io/v1beta1");
        const ki_resource *resource = NULL;
        assert_int_equal(ki_discovery_find(h.discovery, "hpa", &resource, NULL), 0);
        assert_string_equal(ki_resource_version(resource), "v1"); /* what is left */
        forget(&h);
        end(&f);
    }
}

static void what_concerns_all_ends_the_whole(void **state)
{
    (void)state;
    static const struct {
        bool legacy;
        const char *path;
        int code;
        int http_code;
        int expected;
    } failures[] = {
        {true, "/apis/batch/v1", -ECONNREFUSED, 0, -ECONNREFUSED},
        {true, "/apis/batch/v1", KI_ERR_STOPPED, 0, KI_ERR_STOPPED},
        {true, "/apis/batch/v1", -ENOMEM, 0, -ENOMEM},
        {false, "/api", KI_ERR_STATUS, 403, KI_ERR_STATUS},
        {false, "/apis", KI_ERR_STATUS, 503, KI_ERR_STATUS},
        {false, "/api", -ETIMEDOUT, 0, -ETIMEDOUT},
        {false, "/apis", 0, 0, KI_ERR_SYNTAX},
    };
    for (size_t i = 0; i < sizeof(failures) / sizeof(failures[0]); i++) {
        fixture f;
        hearer h = {0};
        assert_int_equal(begin(&f, NULL), 0);
        f.legacy = failures[i].legacy;
        f.broken = failures[i].path;
        f.code = failures[i].code;
        f.http_code = failures[i].http_code;
        ask_now(&h, &f);
        answer_all(&f);
        assert_int_equal(h.times, 1);
        assert_null(h.discovery);
        assert_int_equal(h.error.code, failures[i].expected);
        assert_int_equal(h.error.http_code, failures[i].http_code);
        assert_true(h.error.message[0] != '\0');
        assert_null(ki__discovery_cache_known(&f.cache, 0));
        end(&f);
    }
}

static void a_server_may_have_only_one_of_the_two_lists(void **state)
{
    (void)state;
    for (int i = 0; i < 2; i++) {
        fixture f;
        hearer h = {0};
        assert_int_equal(begin(&f, NULL), 0);
        ask_now(&h, &f);
        run(&f);
        answer_error(open_question(&f, i == 0 ? "/api" : "/apis"), KI_ERR_STATUS, 404);
        answer(&f, open_question(&f, i == 0 ? "/apis" : "/api"));
        run(&f);
        const ki_resource *resource = NULL;
        assert_int_equal(ki_discovery_find(h.discovery, "pods.v1.", &resource, NULL),
                         i == 0 ? KI_ERR_NOT_FOUND : 0);
        forget(&h);
        end(&f);
    }
    fixture f;
    hearer h = {0};
    assert_int_equal(begin(&f, NULL), 0);
    ask_now(&h, &f);
    run(&f);
    answer_error(open_question(&f, "/api"), KI_ERR_STATUS, 404);
    answer_error(open_question(&f, "/apis"), KI_ERR_STATUS, 404);
    run(&f);
    assert_int_equal(h.error.code, KI_ERR_STATUS);
    end(&f);
}

static void requests_that_cannot_be_sent_are_reported(void **state)
{
    (void)state;
    for (size_t refuse = 1; refuse <= 12; refuse++) {
        fixture f;
        hearer h = {0};
        assert_int_equal(begin(&f, NULL), 0);
        f.legacy = true;
        f.refuse = refuse;
        ask_now(&h, &f);
        answer_all(&f);
        assert_int_equal(h.times, 1);
        assert_int_equal(h.error.code, KI_ERR_STOPPED);
        assert_int_equal(count_open(&f), 0);
        end(&f);
    }
}

/* ---- keeping ---- */

static void concurrent_callers_share_one_reading(void **state)
{
    (void)state;
    fixture f;
    hearer h[WAITERS_MAX] = {0};
    assert_int_equal(begin(&f, NULL), 0);
    for (size_t i = 0; i < WAITERS_MAX; i++) {
        ask_now(&h[i], &f);
    }
    answer_all(&f);
    assert_int_equal(f.asked, 2);
    for (size_t i = 0; i < WAITERS_MAX; i++) {
        assert_int_equal(h[i].times, 1);
        assert_ptr_equal(h[i].discovery, h[0].discovery);
    }
    for (size_t i = 0; i < WAITERS_MAX; i++) {
        forget(&h[i]);
    }
    end(&f);
}

static void a_fresh_request_during_a_reading_gets_the_next(void **state)
{
    (void)state;
    fixture f;
    hearer first = {0};
    hearer modest = {0};
    hearer eager = {0};
    assert_int_equal(begin(&f, NULL), 0);
    ask_now(&first, &f);
    run(&f);
    fake_clock_advance(&f.clock, S_NS);
    modest.f = &f;
    assert_int_equal(ask(&modest, 2 * S_NS), 0);
    ask_now(&eager, &f);
    run(&f);
    assert_int_equal(f.asked, 2);
    answer(&f, open_question(&f, "/api"));
    answer(&f, open_question(&f, "/apis"));
    run(&f);
    assert_int_equal(first.times, 1);
    assert_int_equal(modest.times, 1);
    assert_int_equal(eager.times, 0);
    answer_all(&f);
    assert_int_equal(f.asked, 4);
    assert_int_equal(eager.times, 1);
    assert_ptr_not_equal(eager.discovery, first.discovery);
    forget(&first);
    forget(&modest);
    forget(&eager);
    end(&f);
}

static void what_is_known_serves_until_it_is_too_old(void **state)
{
    (void)state;
    fixture f;
    hearer h = {0};
    assert_int_equal(begin(&f, NULL), 0);
    assert_null(ki__discovery_cache_known(&f.cache, 0));
    ask_now(&h, &f);
    answer_all(&f);
    fake_clock_advance(&f.clock, 10 * S_NS);
    assert_int_equal(ask(&h, 10 * S_NS), 0);
    assert_int_equal(h.times, 1); /* not from inside */
    run(&f);
    assert_int_equal(h.times, 2);
    assert_int_equal(f.asked, 2);
    fake_clock_advance(&f.clock, 1);
    assert_int_equal(ask(&h, 10 * S_NS), 0);
    answer_all(&f);
    assert_int_equal(f.asked, 4);
    uint64_t now = ki__engine_now(f.engine);
    assert_null(ki__discovery_cache_known(&f.cache, now + 1));
    const ki_discovery *known = ki__discovery_cache_known(&f.cache, now);
    assert_ptr_equal(known, h.discovery);
    ki_discovery_unref(known);
    forget(&h);
    end(&f);
}

static void its_age_counts_from_when_the_reading_began(void **state)
{
    (void)state;
    fixture f;
    hearer h = {0};
    assert_int_equal(begin(&f, NULL), 0);
    ask_now(&h, &f);
    run(&f);
    uint64_t began = ki__engine_now(f.engine);
    fake_clock_advance(&f.clock, 30 * S_NS);
    answer_all(&f);
    assert_null(ki__discovery_cache_known(&f.cache, began + 1));
    forget(&h);
    end(&f);
}

static void a_failed_reading_leaves_what_was_known(void **state)
{
    (void)state;
    fixture f;
    hearer h = {0};
    assert_int_equal(begin(&f, NULL), 0);
    ask_now(&h, &f);
    answer_all(&f);
    fake_clock_advance(&f.clock, S_NS);
    f.broken = "/apis";
    f.code = KI_ERR_STATUS;
    f.http_code = 500;
    ask_now(&h, &f);
    answer_all(&f);
    assert_int_equal(h.error.http_code, 500);
    const ki_discovery *known = ki__discovery_cache_known(&f.cache, 0);
    assert_non_null(known);
    ki_discovery_unref(known);
    end(&f);
}

static void asking_again_inside_is_allowed_and_does_not_hold_the_loop(void **state)
{
    (void)state;
    fixture f;
    hearer h = {.again = 100};
    assert_int_equal(begin(&f, NULL), 0);
    ask_now(&h, &f);
    run(&f);
    answer(&f, open_question(&f, "/api"));
    answer(&f, open_question(&f, "/apis"));
    assert_int_equal(ki_engine_run(f.engine, 1), 1);
    assert_int_equal(h.times, 1);
    assert_int_equal(ki_engine_run(f.engine, 1), 1);
    assert_int_equal(h.times, 2);
    run(&f);
    assert_int_equal(h.times, 101);
    assert_int_equal(f.asked, 2);
    forget(&h);
    end(&f);
}

static void who_withdraws_hears_nothing_and_the_last_one_ends_the_reading(void **state)
{
    (void)state;
    fixture f;
    hearer one = {0};
    hearer two = {0};
    assert_int_equal(begin(&f, NULL), 0);
    ask_now(&one, &f);
    ask_now(&two, &f);
    run(&f);
    ki__discovery_cache_withdraw(&f.cache, &one);
    ki__discovery_cache_withdraw(&f.cache, &one); /* nothing more */
    assert_int_equal(f.ended, 0);
    ki__discovery_cache_withdraw(&f.cache, &two);
    assert_int_equal(f.ended, 2);
    assert_int_equal(f.refs, 0);
    ask_now(&one, &f); /* and it starts over */
    answer_all(&f);
    assert_int_equal(f.asked, 4);
    assert_int_equal(one.times, 1);
    assert_int_equal(two.times, 0);
    ask_now(&two, &f); /* withdrawn before the task ran */
    ki__discovery_cache_withdraw(&f.cache, &two);
    forget(&one);
    end(&f);
}

static void a_stop_ends_the_reading_and_is_reported_to_all(void **state)
{
    (void)state;
    for (int begun = 0; begun < 2; begun++) {
        fixture f;
        hearer one = {0};
        hearer two = {0};
        const ki_error error = {.code = KI_ERR_STOPPED, .message = "stopped"};
        assert_int_equal(begin(&f, NULL), 0);
        ask_now(&one, &f);
        ask_now(&two, &f);
        if (begun != 0) {
            run(&f);
        }
        assert_true(ki__discovery_cache_close(&f.cache, &error));
        assert_int_equal(f.ended, begun != 0 ? 2 : 0);
        assert_int_equal(one.times, 0);
        ki__discovery_cache_notify(&f.cache);
        assert_int_equal(one.times, 1);
        assert_int_equal(two.times, 1);
        assert_int_equal(two.error.code, KI_ERR_STOPPED);
        assert_int_equal(f.refs, 0);
        assert_int_equal(ask(&one, 0), KI_ERR_STOPPED);
        assert_int_equal(f.refs, 0);
        assert_false(ki__discovery_cache_close(&f.cache, &error));
        run(&f);
        assert_int_equal(one.times, 1);
        end(&f);
    }
}

static void withdraw_other(const ki_discovery *discovery, const ki_error *error, void *user)
{
    hearer *h = user;
    on_answer(discovery, error, h);
    ki__discovery_cache_withdraw(&h->f->cache, h + 1);
}

static void a_callback_may_withdraw_the_next(void **state)
{
    (void)state;
    fixture f;
    hearer h[3] = {0};
    assert_int_equal(begin(&f, NULL), 0);
    h[0].f = &f;
    assert_int_equal(ki__discovery_cache_request(&f.cache, 0, true, withdraw_other, &h[0]), 0);
    ask_now(&h[1], &f);
    ask_now(&h[2], &f);
    answer_all(&f);
    assert_int_equal(h[0].times, 1);
    assert_int_equal(h[1].times, 0);
    assert_int_equal(h[2].times, 1);
    forget(&h[0]);
    forget(&h[2]);
    end(&f);
}

static void a_callback_may_withdraw_all_others(void **state)
{
    (void)state;
    fixture f;
    hearer h[2] = {0};
    assert_int_equal(begin(&f, NULL), 0);
    h[0].f = &f;
    assert_int_equal(ki__discovery_cache_request(&f.cache, 0, true, withdraw_other, &h[0]), 0);
    ask_now(&h[1], &f);
    answer_all(&f);
    assert_int_equal(h[0].times, 1);
    assert_int_equal(h[1].times, 0);
    forget(&h[0]);
    end(&f);
}

/* ---- no memory ---- */

static int use(const ki_alloc *alloc, void *user)
{
    fixture f;
    hearer h = {.f = &f};
    int r = begin(&f, alloc);
    if (r < 0) {
        test_alloc_done(&f.alloc);
        return r;
    }
    f.legacy = *(const bool *)user;
    r = ask(&h, 0);
    if (r == 0) {
        answer_all(&f);
        assert_int_equal(h.times, 1);
        r = h.error.code;
    }
    forget(&h);
    end(&f);
    return r;
}

static void out_of_memory_at_any_place_is_reported(void **state)
{
    (void)state;
    bool legacy = false;
    test_alloc_sweep(use, &legacy);
    legacy = true;
    test_alloc_sweep(use, &legacy);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(aggregated_discovery_takes_two_requests),
        cmocka_unit_test(legacy_group_versions_are_requested_eight_at_a_time),
        cmocka_unit_test(one_group_version_that_fails_is_named_and_the_rest_is_there),
        cmocka_unit_test(what_concerns_all_ends_the_whole),
        cmocka_unit_test(a_server_may_have_only_one_of_the_two_lists),
        cmocka_unit_test(requests_that_cannot_be_sent_are_reported),
        cmocka_unit_test(concurrent_callers_share_one_reading),
        cmocka_unit_test(a_fresh_request_during_a_reading_gets_the_next),
        cmocka_unit_test(what_is_known_serves_until_it_is_too_old),
        cmocka_unit_test(its_age_counts_from_when_the_reading_began),
        cmocka_unit_test(a_failed_reading_leaves_what_was_known),
        cmocka_unit_test(asking_again_inside_is_allowed_and_does_not_hold_the_loop),
        cmocka_unit_test(who_withdraws_hears_nothing_and_the_last_one_ends_the_reading),
        cmocka_unit_test(a_stop_ends_the_reading_and_is_reported_to_all),
        cmocka_unit_test(a_callback_may_withdraw_the_next),
        cmocka_unit_test(a_callback_may_withdraw_all_others),
        cmocka_unit_test(out_of_memory_at_any_place_is_reported),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
