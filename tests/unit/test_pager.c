/* SPDX-License-Identifier: Apache-2.0 */
/* The pager: which pages it asks for, what it makes of them, and when it starts again. */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include <kinformer/parts/pager.h>

#include "support/fake_source.h"
#include "support/test.h"
#include "support/world.h"

typedef struct fixture {
    test_alloc alloc;
    test_world world;
    ki_engine *engine;
    fake_source source;
    ki_pager_options options;
    ki_list_options list;
    ki_pager *pager;
    char heard[512]; /* names of objects as they come, and the list at the end */
    size_t ends;
    ki_error error; /* of the end; code 0 if it was good */
    bool has_status;
    uint32_t pages;
    void (*hook)(struct fixture *f); /* called in on_object and on_end */
    size_t reports;
} fixture;

static void hear(fixture *f, const char *text)
{
    size_t len = strlen(f->heard);
    int added = snprintf(f->heard + len, sizeof(f->heard) - len, "%s ", text);
    assert_true(added > 0 && (size_t)added < sizeof(f->heard) - len);
}

static void on_object(ki_pager *pager, const ki_object *object, void *user)
{
    fixture *f = user;
    assert_ptr_equal(pager, f->pager);
    hear(f, ki_object_name(object));
    if (f->hook != NULL) {
        f->hook(f);
    }
}

static void on_end(ki_pager *pager, const ki_pager_result *result, void *user)
{
    fixture *f = user;
    assert_ptr_equal(pager, f->pager);
    f->ends++;
    f->pages = result->pages;
    f->has_status = result->status != NULL;
    f->error = result->error != NULL ? *result->error : (ki_error){0};
    assert_true((result->list == NULL) == (result->error != NULL));
    if (result->list != NULL) {
        for (size_t i = 0; i < result->list->object_count; i++) {
            hear(f, ki_object_name(result->list->objects[i]));
        }
        for (size_t i = 0; i < result->list->unread_count; i++) {
            hear(f, "?");
        }
        hear(f, "@");
        hear(f, result->list->resource_version);
    }
    if (f->hook != NULL) {
        f->hook(f);
    }
}

static void on_report(const ki_report *report, void *user)
{
    assert_string_equal(report->component, "pager");
    ((fixture *)user)->reports++;
}

static void begin(fixture *f)
{
    memset(f, 0, sizeof(*f));
    test_alloc_init(&f->alloc);
    test_world_init(&f->world);
    ki_engine_options options = test_world_engine_options(&f->world, &f->alloc.table);
    options.on_report = on_report;
    options.report_user = f;
    assert_int_equal(ki_engine_new(&options, &f->engine, NULL), 0);
    fake_source_init(&f->source, f->engine, &f->world);
    f->list = KI_OPTIONS_INIT(ki_list_options);
    f->options = KI_OPTIONS_INIT(ki_pager_options);
    f->options.engine = f->engine;
    f->options.source = &f->source.table;
    f->options.list = &f->list;
    f->options.on_end = on_end;
    f->options.user = f;
}

static const fake_request *settle(fixture *f)
{
    test_world_settle(f->engine);
    return fake_last(&f->source);
}

static const fake_request *start(fixture *f)
{
    assert_int_equal(ki_pager_start(&f->options, &f->pager, NULL), 0);
    return settle(f);
}

static void expect(fixture *f, const char *heard)
{
    test_world_settle(f->engine);
    assert_string_equal(f->heard, heard);
    f->heard[0] = '\0';
}

static void end(fixture *f)
{
    f->pager = ki_pager_unref(f->pager);
    test_world_settle(f->engine);
    assert_false(f->source.open);
    assert_int_equal(f->source.destroyed, 0); /* it is only lent */
    fake_source_done(&f->source);
    (void)ki_engine_unref(f->engine);
    test_alloc_done(&f->alloc);
}

static void page(fixture *f, const char *name, const char *token)
{
    fake_event(&f->source, KI_WATCH_EVENT_ADDED, fake_pod(name, 1));
    fake_end_list(&f->source, "7", token);
    test_world_settle(f->engine);
}

static void it_needs_engine_source_and_someone_to_tell(void **state)
{
    (void)state;
    fixture f;
    begin(&f);
    ki_pager_options o = f.options;
    o.engine = NULL;
    assert_int_equal(ki_pager_start(&o, &f.pager, NULL), -EINVAL);
    o = f.options;
    o.source = NULL;
    assert_int_equal(ki_pager_start(&o, &f.pager, NULL), -EINVAL);
    o = f.options;
    o.on_end = NULL;
    assert_int_equal(ki_pager_start(&o, &f.pager, NULL), -EINVAL);
    o = f.options;
    o.size = 3;
    assert_int_equal(ki_pager_start(&o, &f.pager, NULL), -EINVAL);
    f.list.size = 3;
    assert_int_equal(ki_pager_start(&f.options, &f.pager, NULL), -EINVAL);
    static char text[(256 << 10) + 2];
    memset(text, 'x', sizeof(text) - 1);
    f.list = KI_OPTIONS_INIT(ki_list_options);
    f.list.label_selector = text;
    assert_int_equal(ki_pager_start(&f.options, &f.pager, NULL), KI_ERR_LIMIT);
    assert_null(ki_pager_ref(NULL));
    end(&f);
}

static void a_single_page_is_given_as_it_is(void **state)
{
    (void)state;
    fixture f;
    begin(&f);
    f.options.list = NULL;
    const fake_request *request = start(&f);
    assert_false(request->watch);
    assert_int_equal(request->limit, 500);
    assert_string_equal(request->version, "");
    page(&f, "a", "");
    expect(&f, "a @ 7 ");
    assert_int_equal(f.pages, 1);
    assert_int_equal(f.ends, 1);
    end(&f);
}

static void later_pages_have_the_token_but_neither_version_nor_match(void **state)
{
    (void)state;
    fixture f;
    begin(&f);
    f.list.resource_version = "5";
    f.list.resource_version_match = "Exact";
    f.list.label_selector = "app=web";
    f.list.field_selector = "x=y";
    f.list.limit = 10;
    const fake_request *request = start(&f);
    assert_string_equal(request->version, "5");
    assert_string_equal(request->match, "Exact");
    assert_int_equal(request->limit, 10);
    page(&f, "a", "t1");
    page(&f, "b", "t2");
    request = fake_last(&f.source);
    assert_string_equal(request->token, "t2");
    assert_string_equal(request->version, "");
    assert_string_equal(request->match, "");
    assert_string_equal(request->labels, "app=web");
    assert_string_equal(request->fields, "x=y");
    assert_int_equal(request->limit, 10);
    page(&f, "c", "");
    expect(&f, "a b c @ 7 ");
    assert_int_equal(f.pages, 3);
    end(&f);
}

static void it_can_continue_from_a_token(void **state)
{
    (void)state;
    fixture f;
    begin(&f);
    f.list.continue_token = "mine";
    assert_string_equal(start(&f)->token, "mine");
    page(&f, "c", "");
    expect(&f, "c @ 7 ");
    end(&f);
}

static void an_expired_later_page_means_one_full_list(void **state)
{
    (void)state;
    fixture f;
    begin(&f);
    f.list.resource_version = "5";
    f.list.resource_version_match = "NotOlderThan";
    (void)start(&f);
    page(&f, "a", "t1");
    fake_end_status(&f.source, 410, "Expired", "too old");
    const fake_request *request = settle(&f);
    assert_int_equal(request->limit, 0);
    assert_string_equal(request->version, "5");
    assert_string_equal(request->match, "NotOlderThan");
    assert_string_equal(request->token, "");
    page(&f, "b", "");
    expect(&f, "b @ 7 ");
    assert_int_equal(f.pages, 2); /* both came */
    end(&f);
}

static void an_expired_first_page_is_an_error(void **state)
{
    (void)state;
    fixture f;
    begin(&f);
    (void)start(&f);
    fake_end_status(&f.source, 410, "Expired", "too old");
    expect(&f, "");
    assert_int_equal(f.error.http_code, 410);
    assert_true(f.has_status);
    assert_int_equal(f.source.count, 1);
    end(&f);
}

static void the_full_list_can_be_refused(void **state)
{
    (void)state;
    fixture f;
    begin(&f);
    f.options.no_full_list = true;
    (void)start(&f);
    page(&f, "a", "t1");
    fake_end_status(&f.source, 410, "Expired", "too old");
    expect(&f, "");
    assert_int_equal(f.error.http_code, 410);
    end(&f);
}

static void objects_one_by_one_know_no_full_list(void **state)
{
    (void)state;
    fixture f;
    begin(&f);
    f.options.on_object = on_object;
    (void)start(&f);
    page(&f, "a", "t1");
    expect(&f, "a ");
    fake_event(&f.source, KI_WATCH_EVENT_ADDED, fake_pod("b", 1));
    expect(&f, "b "); /* as it comes, not when the page is complete */
    fake_end_status(&f.source, 410, "Expired", "too old");
    expect(&f, "");
    assert_int_equal(f.error.http_code, 410);
    end(&f);
}

static void objects_one_by_one_end_with_an_empty_list(void **state)
{
    (void)state;
    fixture f;
    begin(&f);
    f.options.on_object = on_object;
    (void)start(&f);
    page(&f, "a", "t1");
    page(&f, "b", "");
    expect(&f, "a b @ 7 ");
    end(&f);
}

static void pages_of_two_versions_are_not_put_together(void **state)
{
    (void)state;
    fixture f;
    begin(&f);
    (void)start(&f);
    page(&f, "a", "t1");
    fake_event(&f.source, KI_WATCH_EVENT_ADDED, fake_pod("b", 1));
    fake_end_list(&f.source, "8", "");
    assert_int_equal(settle(&f)->limit, 0); /* all at once */
    page(&f, "c", "");
    expect(&f, "c @ 7 ");
    end(&f);
    begin(&f);
    f.options.no_full_list = true;
    (void)start(&f);
    page(&f, "a", "t1");
    fake_end_list(&f.source, "8", "");
    expect(&f, "");
    assert_int_equal(f.error.code, KI_ERR_STALE);
    end(&f);
}

static void a_token_that_leads_nowhere_is_an_error(void **state)
{
    (void)state;
    fixture f;
    begin(&f);
    (void)start(&f);
    page(&f, "a", "t1");
    page(&f, "b", "t1");
    expect(&f, "");
    assert_int_equal(f.error.code, KI_ERR_INVALID);
    end(&f);
}

static void a_list_that_goes_in_a_ring_is_an_error(void **state)
{
    (void)state;
    for (int length = 1; length <= 7; length++) {
        fixture f;
        begin(&f);
        (void)start(&f);
        for (int i = 0; i < 100 && f.ends == 0; i++) {
            char token[16];
            (void)snprintf(token, sizeof(token), "t%d", i < 5 ? i : 5 + i % length);
            page(&f, "same", token);
        }
        assert_int_equal(f.error.code, KI_ERR_INVALID);
        assert_true(f.source.count <= (size_t)(5 + 4 * length));
        end(&f);
    }
}

static void empty_pages_end_some_time(void **state)
{
    (void)state;
    fixture f;
    begin(&f);
    (void)start(&f);
    for (int i = 0; i < 1000 && f.ends == 0; i++) {
        char token[16];
        (void)snprintf(token, sizeof(token), "t%d", i);
        fake_end_list(&f.source, "7", token);
        test_world_settle(f.engine);
    }
    assert_int_equal(f.error.code, KI_ERR_LIMIT);
    assert_int_equal(f.source.count, 100);
    end(&f);
}

/* New tokens, and always the same objects behind them, or the same that cannot be read. */
static void pages_without_a_new_key_end_some_time(void **state)
{
    (void)state;
    for (int unread = 0; unread < 2; unread++) {
        fixture f;
        begin(&f);
        (void)start(&f);
        for (int i = 0; i < 1000 && f.ends == 0; i++) {
            char token[16];
            (void)snprintf(token, sizeof(token), "t%d", i);
            if (unread != 0) {
                fake_skipped(&f.source, KI_WATCH_EVENT_ADDED, i % 2 ? "default/bad" : "", "1",
                             KI_ERR_SYNTAX);
            }
            page(&f, i % 3 ? "a" : "b", token);
        }
        assert_int_equal(f.error.code, KI_ERR_LIMIT);
        assert_true(f.source.count <= 105);
        end(&f);
    }
}

static void pages_with_one_new_key_among_old_ones_lead_on(void **state)
{
    (void)state;
    fixture f;
    begin(&f);
    f.options.on_object = on_object;
    (void)start(&f);
    for (int i = 0; i < 1200; i++) {
        char name[16];
        char token[16];
        (void)snprintf(name, sizeof(name), "n%d", i / 5); /* four of five pages are as the last */
        (void)snprintf(token, sizeof(token), "t%d", i);
        fake_event(&f.source, KI_WATCH_EVENT_ADDED, fake_pod("same", 1));
        page(&f, name, i == 1199 ? "" : token);
        f.heard[0] = '\0';
    }
    assert_int_equal(f.ends, 1);
    assert_int_equal(f.error.code, 0);
    assert_int_equal(f.pages, 1200);
    end(&f);
}

static void any_failure_is_reported(void **state)
{
    (void)state;
    const int codes[] = {-ECONNREFUSED, -ENOMEM, KI_ERR_SYNTAX};
    for (size_t i = 0; i < 3; i++) {
        for (int at_once = 0; at_once <= 1; at_once++) {
            fixture f;
            begin(&f);
            f.source.refuse = at_once != 0 ? codes[i] : 0;
            (void)start(&f);
            if (at_once == 0) {
                fake_end_error(&f.source, codes[i]);
            }
            expect(&f, "");
            assert_int_equal(f.error.code, codes[i]);
            assert_int_equal(f.ends, 1);
            end(&f);
        }
    }
}

static void the_next_page_may_be_refused_at_once(void **state)
{
    (void)state;
    fixture f;
    begin(&f);
    (void)start(&f);
    f.source.refuse = -ECONNREFUSED;
    page(&f, "a", "t1");
    expect(&f, "");
    assert_int_equal(f.error.code, -ECONNREFUSED);
    end(&f);
}

static void a_list_that_ends_without_metadata_is_an_error(void **state)
{
    (void)state;
    fixture f;
    begin(&f);
    (void)start(&f);
    fake_end_watch(&f.source);
    expect(&f, "");
    assert_int_equal(f.error.code, KI_ERR_INVALID);
    end(&f);
}

static void skipped_objects_are_reported_and_named(void **state)
{
    (void)state;
    fixture f;
    begin(&f);
    (void)start(&f);
    fake_skipped(&f.source, KI_WATCH_EVENT_ADDED, "default/z", "", KI_ERR_SYNTAX);
    page(&f, "a", "");
    expect(&f, "a ? @ 7 ");
    assert_int_equal(f.reports, 1);
    end(&f);
}

static void too_many_objects_are_an_error(void **state)
{
    (void)state;
    fixture f;
    begin(&f);
    f.options.max_objects = 1;
    (void)start(&f);
    fake_event(&f.source, KI_WATCH_EVENT_ADDED, fake_pod("a", 1));
    fake_event(&f.source, KI_WATCH_EVENT_ADDED, fake_pod("b", 1));
    expect(&f, "");
    assert_int_equal(f.error.code, KI_ERR_LIMIT);
    assert_int_equal(f.source.cancels, 1);
    end(&f);
}

static void it_pauses(void **state)
{
    (void)state;
    fixture f;
    begin(&f);
    (void)start(&f);
    ki_pager_pause(f.pager, true);
    (void)settle(&f);
    assert_true(f.source.paused);
    page(&f, "a", "t1");
    assert_true(f.source.paused); /* also for the next page */
    ki_pager_pause(f.pager, false);
    (void)settle(&f);
    assert_false(f.source.paused);
    page(&f, "b", "");
    expect(&f, "a b @ 7 ");
    ki_pager_pause(f.pager, true); /* too late, and no harm */
    (void)settle(&f);
    end(&f);
}

/* ---- cancelling ---- */

static void cancel(fixture *f)
{
    ki_pager_cancel(f->pager);
}

static void cancel_and_let_go(fixture *f)
{
    ki_pager_cancel(f->pager);
    (void)ki_pager_unref(f->pager);
}

static void it_is_cancelled_anywhere(void **state)
{
    (void)state;
    for (int where = 0; where < 4; where++) {
        fixture f;
        begin(&f);
        assert_int_equal(ki_pager_start(&f.options, &f.pager, NULL), 0);
        if (where > 0) {
            (void)settle(&f);
        }
        if (where > 1) {
            page(&f, "a", "t1");
        }
        if (where > 2) {
            page(&f, "b", "");
            f.heard[0] = '\0';
        }
        ki_pager_cancel(f.pager);
        ki_pager_cancel(f.pager);
        test_world_settle(f.engine);
        assert_int_equal(f.ends, where > 2);
        end(&f);
    }
}

static void it_is_cancelled_from_inside(void **state)
{
    (void)state;
    for (int let_go = 0; let_go <= 1; let_go++) {
        fixture f;
        begin(&f);
        f.options.on_object = on_object;
        f.hook = let_go != 0 ? cancel_and_let_go : cancel;
        (void)start(&f);
        fake_event(&f.source, KI_WATCH_EVENT_ADDED, fake_pod("a", 1));
        fake_event(&f.source, KI_WATCH_EVENT_ADDED, fake_pod("b", 1));
        fake_skipped(&f.source, KI_WATCH_EVENT_ADDED, "default/z", "", KI_ERR_SYNTAX);
        fake_end_list(&f.source, "7", "");
        expect(&f, "a ");
        assert_int_equal(f.ends, 0);
        assert_int_equal(f.reports, 0);
        if (let_go != 0) {
            f.pager = NULL;
        }
        end(&f);
        begin(&f);
        f.hook = let_go != 0 ? cancel_and_let_go : cancel;
        (void)start(&f);
        page(&f, "a", "");
        expect(&f, "a @ 7 ");
        assert_int_equal(f.ends, 1);
        if (let_go != 0) {
            f.pager = NULL;
        }
        end(&f);
    }
}

static void it_lives_until_the_end_by_itself(void **state)
{
    (void)state;
    fixture f;
    begin(&f);
    (void)start(&f);
    (void)ki_pager_unref(f.pager);
    page(&f, "a", "t1");
    page(&f, "b", "");
    expect(&f, "a b @ 7 ");
    f.pager = NULL;
    end(&f);
}

/* ---- without memory ---- */

static int list_three_pages(const ki_alloc *alloc, void *user)
{
    (void)user;
    fixture *f = test_calloc(1, sizeof(*f));
    begin(f);
    (void)ki_engine_unref(f->engine);
    f->engine = NULL;
    ki_engine_options options = test_world_engine_options(&f->world, alloc);
    int r = ki_engine_new(&options, &f->engine, NULL);
    if (r == 0) {
        fake_source_init(&f->source, f->engine, &f->world);
        f->options.engine = f->engine;
        f->options.source = &f->source.table;
        r = ki_pager_start(&f->options, &f->pager, NULL);
    }
    if (r == 0) {
        for (int i = 0; i < 3; i++) {
            test_world_settle(f->engine);
            if (f->ends == 0) {
                fake_skipped(&f->source, KI_WATCH_EVENT_ADDED, "default/z", "", KI_ERR_SYNTAX);
                page(f, "a", i == 0 ? "t1" : i == 1 ? "t2" : "");
            }
        }
        assert_int_equal(f->ends, 1);
        r = f->error.code;
        f->pager = ki_pager_unref(f->pager);
    }
    fake_source_done(&f->source);
    (void)ki_engine_unref(f->engine);
    test_alloc_done(&f->alloc);
    test_free(f);
    return r;
}

static void every_allocation_may_fail(void **state)
{
    (void)state;
    test_alloc_sweep(list_three_pages, NULL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(it_needs_engine_source_and_someone_to_tell),
        cmocka_unit_test(a_single_page_is_given_as_it_is),
        cmocka_unit_test(later_pages_have_the_token_but_neither_version_nor_match),
        cmocka_unit_test(it_can_continue_from_a_token),
        cmocka_unit_test(an_expired_later_page_means_one_full_list),
        cmocka_unit_test(an_expired_first_page_is_an_error),
        cmocka_unit_test(the_full_list_can_be_refused),
        cmocka_unit_test(objects_one_by_one_know_no_full_list),
        cmocka_unit_test(objects_one_by_one_end_with_an_empty_list),
        cmocka_unit_test(pages_of_two_versions_are_not_put_together),
        cmocka_unit_test(a_token_that_leads_nowhere_is_an_error),
        cmocka_unit_test(a_list_that_goes_in_a_ring_is_an_error),
        cmocka_unit_test(empty_pages_end_some_time),
        cmocka_unit_test(pages_without_a_new_key_end_some_time),
        cmocka_unit_test(pages_with_one_new_key_among_old_ones_lead_on),
        cmocka_unit_test(any_failure_is_reported),
        cmocka_unit_test(the_next_page_may_be_refused_at_once),
        cmocka_unit_test(a_list_that_ends_without_metadata_is_an_error),
        cmocka_unit_test(skipped_objects_are_reported_and_named),
        cmocka_unit_test(too_many_objects_are_an_error),
        cmocka_unit_test(it_pauses),
        cmocka_unit_test(it_is_cancelled_anywhere),
        cmocka_unit_test(it_is_cancelled_from_inside),
        cmocka_unit_test(it_lives_until_the_end_by_itself),
        cmocka_unit_test(every_allocation_may_fail),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
