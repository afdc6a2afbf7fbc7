/* SPDX-License-Identifier: Apache-2.0 */
/* A source in front of another: all goes through, and what is asked can be changed. */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "cache/informer/tweaked_source.h"
#include "support/test.h"

static char trace[256];

static void note(const char *what, const char *detail)
{
    size_t len = strlen(trace);
    int more = snprintf(trace + len, sizeof(trace) - len, "%s %s; ", what, detail);
    assert_true(more > 0 && len + (size_t)more < sizeof(trace));
}

static int list(const ki_list_options *options, const ki_source_sink *sink, void *user,
                void **ret_call, ki_error *error)
{
    (void)sink;
    (void)error;
    note("list", options->label_selector);
    *ret_call = user;
    return 3;
}

static int watch(const ki_list_options *options, const ki_source_sink *sink, void *user,
                 void **ret_call, ki_error *error)
{
    (void)sink;
    (void)error;
    note("watch", options->label_selector);
    *ret_call = user;
    return KI_ERR_UNSUPPORTED;
}

static void cancel(void *call, void *user)
{
    note("cancel", call == user ? "mine" : "another's");
}

static void hold(void *call, bool paused, void *user)
{
    note(paused ? "pause" : "resume", call == user ? "mine" : "another's");
}

static void destroy(void *user)
{
    note("destroy", user);
}

static void tweak(const ki_resource *resource, ki_list_options *options, void *user)
{
    assert_ptr_equal(resource, KI_CORE_V1_PODS);
    assert_string_equal(options->label_selector, "before");
    options->label_selector = user;
}

static ki_source inner_of(char *name)
{
    return (ki_source){
        .list = list,
        .watch = watch,
        .cancel = cancel,
        .pause = hold,
        .no_streaming_list = true,
        .metadata_only = true,
        .user = name,
        .destroy = destroy,
    };
}

static void everything_goes_through(void **state)
{
    (void)state;
    static char name[] = "inner";
    static char after[] = "after";
    test_alloc alloc;
    test_alloc_init(&alloc);
    trace[0] = '\0';
    ki_source source = inner_of(name);
    assert_int_equal(ki__tweak_source(&source, &alloc.table, KI_CORE_V1_PODS, tweak, after), 0);
    assert_true(source.no_streaming_list);
    assert_true(source.metadata_only);
    ki_list_options options = KI_OPTIONS_INIT(ki_list_options);
    options.label_selector = "before";
    ki_source_sink sink = {0};
    void *call = NULL;
    assert_int_equal(source.list(&options, &sink, source.user, &call, NULL), 3);
    assert_ptr_equal(call, name);
    assert_int_equal(source.watch(&options, &sink, source.user, &call, NULL), KI_ERR_UNSUPPORTED);
    assert_string_equal(options.label_selector, "before"); /* a copy was changed */
    source.pause(call, true, source.user);
    source.pause(call, false, source.user);
    source.cancel(call, source.user);
    source.destroy(source.user);
    assert_string_equal(trace, "list after; watch after; pause mine; resume mine; cancel mine; "
                               "destroy inner; ");
    test_alloc_done(&alloc);
}

static void what_may_be_missing_may_be_missing(void **state)
{
    (void)state;
    test_alloc alloc;
    test_alloc_init(&alloc);
    trace[0] = '\0';
    ki_source source = inner_of(NULL);
    source.pause = NULL;
    source.no_streaming_list = false;
    source.metadata_only = false;
    source.destroy = NULL;
    assert_int_equal(ki__tweak_source(&source, &alloc.table, KI_CORE_V1_PODS, tweak, NULL), 0);
    assert_null(source.pause);
    assert_false(source.no_streaming_list);
    assert_false(source.metadata_only);
    source.destroy(source.user);
    assert_string_equal(trace, "");
    test_alloc_done(&alloc);
}

static void without_memory_the_source_stays_as_it_is(void **state)
{
    (void)state;
    test_alloc alloc;
    test_alloc_init(&alloc);
    alloc.fail_at = 1;
    ki_source source = inner_of(NULL);
    assert_int_equal(ki__tweak_source(&source, &alloc.table, KI_CORE_V1_PODS, tweak, NULL),
                     -ENOMEM);
    assert_ptr_equal(source.list, list);
    test_alloc_done(&alloc);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(everything_goes_through),
        cmocka_unit_test(what_may_be_missing_may_be_missing),
        cmocka_unit_test(without_memory_the_source_stays_as_it_is),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
