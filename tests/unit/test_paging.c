/* SPDX-License-Identifier: Apache-2.0 */
/* The rules of a list in pages; test_pager and test_reflector_list drive them through a source. */
#include <errno.h>
#include <string.h>

#include <kinformer/status.h>

#include "support/test.h"
#include "wire/paging.h"

typedef struct fixture {
    test_alloc alloc;
    ki__paging paging;
    ki_error error;
} fixture;

static void begin(fixture *f, const ki_list_options *options, bool may_restart)
{
    test_alloc_init(&f->alloc);
    f->error = KI_ERROR_INIT;
    ki__paging_init(&f->paging, &f->alloc.table, (ki__hash_key){1, 2});
    ki__paging_begin(&f->paging, options, may_restart);
}

static void end(fixture *f)
{
    ki__paging_done(&f->paging);
    test_alloc_done(&f->alloc);
}

static ki__paging_verdict take(fixture *f, const char *version, const char *token)
{
    const ki_list_meta meta = {.resource_version = version, .continue_token = token};
    f->error = KI_ERROR_INIT;
    return ki__paging_take(&f->paging, &meta, &f->error);
}

static ki__paging_verdict refuse(fixture *f, int http_code, const char *reason)
{
    const ki_error error = {.code = KI_ERR_STATUS,
                            .http_code = http_code,
                            .reason = ki_reason_from(ki_str_from(reason))};
    return ki__paging_fail(&f->paging, &error);
}

static ki_list_options some_options(void)
{
    ki_list_options options = KI_OPTIONS_INIT(ki_list_options);
    options.label_selector = "app=web";
    options.resource_version = "5";
    options.resource_version_match = "Exact";
    options.limit = 10;
    return options;
}

static void later_pages_carry_the_token_alone(void **state)
{
    (void)state;
    const ki_list_options options = some_options();
    fixture f;
    begin(&f, &options, true);
    assert_memory_equal(&f.paging.first, &options, sizeof(options));
    assert_string_equal(ki__paging_options(&f.paging).resource_version, "5");
    ki__paging_note_key(&f.paging, "a");
    char token[] = "t1";
    assert_int_equal(take(&f, "7", token), KI__PAGING_NEXT);
    token[0] = 'x'; /* it was copied */
    ki_list_options next = ki__paging_options(&f.paging);
    assert_string_equal(next.continue_token, "t1");
    assert_string_equal(next.resource_version, "");
    assert_string_equal(next.resource_version_match, "");
    assert_string_equal(next.label_selector, "app=web");
    assert_int_equal(next.limit, 10);
    assert_int_equal(take(&f, "7", NULL), KI__PAGING_COMPLETE);
    ki__paging_end(&f.paging);
    assert_string_equal(f.paging.version, "7");
    assert_int_equal(f.paging.count, 2);
    end(&f);
}

static void an_expired_token_restarts_once(void **state)
{
    (void)state;
    const ki_list_options options = some_options();
    fixture f;
    begin(&f, &options, true);
    assert_int_equal(refuse(&f, 410, "Expired"),
                     KI__PAGING_FAILED); /* the first page has no token */
    assert_int_equal(take(&f, "7", "t1"), KI__PAGING_NEXT);
    assert_int_equal(refuse(&f, 500, "InternalError"), KI__PAGING_FAILED);
    assert_int_equal(refuse(&f, 410, "Expired"), KI__PAGING_RESTART);
    ki_list_options next = ki__paging_options(&f.paging);
    assert_string_equal(next.resource_version, "5");
    assert_string_equal(next.resource_version_match, "Exact");
    assert_string_equal(next.continue_token, "");
    assert_int_equal(next.limit, 0);
    /* A server that pages it nevertheless; the same token may come again. */
    assert_int_equal(take(&f, "9", "t1"), KI__PAGING_NEXT);
    assert_int_equal(ki__paging_options(&f.paging).limit, 0);
    assert_int_equal(refuse(&f, 410, "Expired"), KI__PAGING_FAILED);
    assert_int_equal(f.paging.count, 2);
    end(&f);
}

static void pages_of_two_versions_are_not_combined(void **state)
{
    (void)state;
    const ki_list_options options = some_options();
    fixture f;
    begin(&f, &options, true);
    assert_int_equal(take(&f, "7", "t1"), KI__PAGING_NEXT);
    assert_int_equal(take(&f, "8", "t2"), KI__PAGING_RESTART);
    assert_int_equal(take(&f, "8", "t1"), KI__PAGING_NEXT);
    assert_int_equal(take(&f, "9", ""), KI__PAGING_FAILED);
    assert_int_equal(f.error.code, KI_ERR_STALE);
    end(&f);

    begin(&f, &options, false);
    assert_int_equal(take(&f, "7", "t1"), KI__PAGING_NEXT);
    assert_int_equal(refuse(&f, 410, "Gone"), KI__PAGING_FAILED);
    assert_int_equal(take(&f, "8", ""), KI__PAGING_FAILED);
    assert_int_equal(f.error.code, KI_ERR_STALE);
    assert_string_equal(f.error.message, "inconsistent pages: resourceVersion 8, first page had 7");
    end(&f);
}

static void lengths_have_limits(void **state)
{
    (void)state;
    static char text[KI__TOKEN_MAX + 2];
    const ki_list_options options = some_options();
    fixture f;
    memset(text, '1', sizeof(text) - 1);
    char *version = text + sizeof(text) - 1 - KI__VERSION_MAX;
    begin(&f, &options, true);
    assert_int_equal(take(&f, version - 1, ""), KI__PAGING_FAILED);
    assert_int_equal(f.error.code, KI_ERR_LIMIT);
    assert_int_equal(take(&f, version, text + 1), KI__PAGING_NEXT);
    assert_string_equal(ki__paging_options(&f.paging).continue_token, text + 1);
    assert_int_equal(take(&f, version, text), KI__PAGING_FAILED);
    assert_int_equal(f.error.code, KI_ERR_LIMIT);
    end(&f);
}

static void repeated_tokens_end_the_list(void **state)
{
    (void)state;
    const ki_list_options options = some_options();
    fixture f;
    begin(&f, &options, true);
    assert_int_equal(take(&f, "7", "t1"), KI__PAGING_NEXT);
    assert_int_equal(take(&f, "7", "t1"), KI__PAGING_FAILED);
    assert_int_equal(f.error.code, KI_ERR_INVALID);
    end(&f);
}

static void without_memory_for_a_token_the_list_fails(void **state)
{
    (void)state;
    const ki_list_options options = some_options();
    fixture f;
    begin(&f, &options, true);
    f.alloc.fail_at = 1;
    assert_int_equal(take(&f, "7", "t1"), KI__PAGING_FAILED);
    assert_int_equal(f.error.code, -ENOMEM);
    end(&f);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(later_pages_carry_the_token_alone),
        cmocka_unit_test(an_expired_token_restarts_once),
        cmocka_unit_test(pages_of_two_versions_are_not_combined),
        cmocka_unit_test(lengths_have_limits),
        cmocka_unit_test(repeated_tokens_end_the_list),
        cmocka_unit_test(without_memory_for_a_token_the_list_fails),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
