/* SPDX-License-Identifier: Apache-2.0 */
/* Skipped objects, until they are reported. */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "base/error.h"
#include "cache/informer/skipped_objects.h"
#include "support/test.h"

static void report(const char *component, ki_str key, const ki_error *error, void *user)
{
    char *text = user;
    size_t len = strlen(text);
    assert_string_equal(component, "store");
    (void)snprintf(text + len, 200 - len, "%.*s:%d:%d:%s ", KI_STR_ARG(key), error->code,
                   error->http_code, error->message);
}

static int add_two(const ki_alloc *alloc, void *user)
{
    ki__skipped_objects asides = {0};
    ki_error error = KI_ERROR_INIT;
    (void)ki__error_set(&error, -EIO, "one");
    error.http_code = 500;
    int r = ki__skipped_objects_add(&asides, alloc, ki_str_from("ns/a"), &error);
    (void)ki__error_set(&error, -EPERM, "two");
    if (r == 0) {
        r = ki__skipped_objects_add(&asides, alloc, ki_str_make(NULL, 0), &error);
    }
    ki_error_hook hook = {.report = report, .user = user};
    ki__skipped_objects_end(&asides, alloc, r == 0 && user != NULL ? &hook : NULL);
    ki__skipped_objects_end(&asides, alloc, NULL); /* there are none any more */
    return r;
}

static void each_is_reported_once_in_order(void **state)
{
    (void)state;
    char text[200] = "";
    test_alloc alloc;
    test_alloc_init(&alloc);
    assert_int_equal(add_two(&alloc.table, text), 0);
    test_alloc_done(&alloc);
    char want[64];
    (void)snprintf(want, sizeof(want), "ns/a:%d:500:one :%d:0:two ", -EIO, -EPERM);
    assert_string_equal(text, want);
}

static void every_allocation_may_fail(void **state)
{
    (void)state;
    test_alloc_sweep(add_two, NULL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_is_reported_once_in_order),
        cmocka_unit_test(every_allocation_may_fail),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
