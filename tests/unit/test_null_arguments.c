/* SPDX-License-Identifier: Apache-2.0 */
/* What must not be NULL and is: every public function that returns int gives -EINVAL and a message
 * that names the argument, and one that returns nothing does nothing, before they look at anything
 * else. null_arguments.py finds them in the headers. */
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>

#include <kinformer/apiserver.h>
#include <kinformer/checks.h>
#include <kinformer/kinformer.h>
#include <kinformer/metrics.h>
#include <kinformer/monitor_server.h>
#include <kinformer/projection.h>
#include <kinformer/view.h>

#include "support/test.h"

static void *poison; /* a page that cannot be read */

static void poison_function(void)
{
    fail_msg("called");
}

/* `error` is NULL where a function has none to fill, or is called without. */
static void expect(const char *argument, int r, ki_error *error)
{
    if (r != -EINVAL) {
        fail_msg("%s is NULL, and it returned %d", argument, r);
    }
    if (error != NULL) {
        char message[128];
        (void)snprintf(message, sizeof(message), "%s: must not be NULL", argument);
        assert_int_equal(error->code, -EINVAL);
        assert_string_equal(error->message, message);
        *error = KI_ERROR_INIT;
    }
}

#include "null_calls.h"

static void call_one(void **state)
{
    size_t number = *(const size_t *)*state;
    ki_error error = KI_ERROR_INIT;
    calls[number].call(&error);
    calls[number].call(NULL);
}

int main(void)
{
    enum { COUNT = sizeof(calls) / sizeof(calls[0]) };
    static struct CMUnitTest tests[COUNT];
    static size_t numbers[COUNT];
    poison = mmap(NULL, 4096, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (poison == MAP_FAILED) {
        return 1;
    }
    for (size_t i = 0; i < COUNT; i++) {
        numbers[i] = i;
        tests[i] = (struct CMUnitTest){
            .name = calls[i].name, .test_func = call_one, .initial_state = &numbers[i]};
    }
    return cmocka_run_group_tests_name("NULL arguments", tests, NULL, NULL);
}
