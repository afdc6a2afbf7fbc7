/* SPDX-License-Identifier: Apache-2.0 */
/* Three versions of one options struct; the library is always at the second. */
#include <errno.h>
#include <string.h>

#include <kinformer/defs.h>

#include "base/options.h"
#include "support/test.h"

struct options_1 {
    size_t size;
    uint64_t resync_ms;
};

struct options_2 {
    size_t size;
    uint64_t resync_ms;
    const char *name;
    uint64_t queue_max;
};

struct options_3 {
    size_t size;
    uint64_t resync_ms;
    const char *name;
    uint64_t queue_max;
    uint64_t newest;
};

static int read_options(struct options_2 *ours, const void *theirs)
{
    return ki__options_read(ours, sizeof(*ours), sizeof(struct options_1), theirs);
}

static void dirty(struct options_2 *ours)
{
    memset(ours, 0x5a, sizeof(*ours));
}

static void check(const struct options_2 *ours, uint64_t resync_ms, const char *name,
                  uint64_t queue_max)
{
    assert_int_equal(ours->size, sizeof(*ours));
    assert_int_equal(ours->resync_ms, resync_ms);
    assert_ptr_equal(ours->name, name);
    assert_int_equal(ours->queue_max, queue_max);
}

static void no_struct_means_all_defaults(void **state)
{
    (void)state;
    struct options_2 ours;
    dirty(&ours);
    assert_int_equal(read_options(&ours, NULL), 0);
    check(&ours, 0, NULL, 0);
}

static void struct_of_the_same_version_is_copied(void **state)
{
    (void)state;
    static const char name[] = "pods";
    struct options_2 ours;
    dirty(&ours);
    assert_int_equal(
        read_options(&ours, KI_OPTIONS(struct options_2, .resync_ms = 7, .name = name)), 0);
    check(&ours, 7, name, 0);
}

static void older_struct_lacks_what_came_later(void **state)
{
    (void)state;
    struct options_2 ours;
    dirty(&ours);
    assert_int_equal(read_options(&ours, KI_OPTIONS(struct options_1, .resync_ms = 7)), 0);
    check(&ours, 7, NULL, 0);
}

/* Someone who compiled against 0.1 and set no size; what lies behind the struct is not read. */
static void size_of_zero_is_the_first_version(void **state)
{
    (void)state;
    struct {
        struct options_1 theirs;
        unsigned char behind[64];
    } memory = {.theirs = {.resync_ms = 9}};
    memset(memory.behind, 0xff, sizeof(memory.behind));
    struct options_2 ours;
    dirty(&ours);
    assert_int_equal(read_options(&ours, &memory.theirs), 0);
    check(&ours, 9, NULL, 0);
}

static void newer_struct_is_accepted_while_new_members_are_unset(void **state)
{
    (void)state;
    struct options_2 ours;
    dirty(&ours);
    assert_int_equal(read_options(&ours, KI_OPTIONS(struct options_3, .queue_max = 5)), 0);
    check(&ours, 0, NULL, 5); /* and of our size, so that it can be handed on */
}

static void refusal_touches_nothing(void **state)
{
    (void)state;
    static const struct {
        size_t size;
        uint64_t newest;
        int result;
    } cases[] = {
        {sizeof(struct options_3), 1, -E2BIG},
        {sizeof(struct options_3), UINT64_C(1) << 63, -E2BIG},
        {1, 0, -EINVAL},
        {sizeof(size_t) - 1, 0, -EINVAL},
        {4097, 0, -EINVAL},
        {SIZE_MAX, 0, -EINVAL},
        {SIZE_MAX / 2, 1, -EINVAL},
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct options_3 theirs = {.size = cases[i].size, .newest = cases[i].newest};
        struct options_2 ours;
        struct options_2 untouched;
        dirty(&ours);
        dirty(&untouched);
        assert_int_equal(read_options(&ours, &theirs), cases[i].result);
        assert_memory_equal(&ours, &untouched, sizeof(ours));
    }
}

static void struct_smaller_than_the_first_is_refused(void **state)
{
    (void)state;
    const struct options_1 theirs = {.size = sizeof(theirs) - 1, .resync_ms = 1};
    struct options_2 ours;
    ki_error error = KI_ERROR_INIT;
    assert_int_equal(read_options(&ours, &theirs), -EINVAL);
    assert_int_equal(ki__options_check(&theirs, sizeof(theirs), "ki_x", "ret_x", &error), -EINVAL);
    assert_string_equal(error.message, "ki_x: unsupported size; was the struct initialised?");
    assert_int_equal(ki__options_check(NULL, sizeof(theirs), "ki_x", "ret_x", &error), -EINVAL);
    assert_string_equal(error.message, "ret_x: must not be NULL");
    assert_int_equal(ki__options_check(&(size_t){0}, sizeof(theirs), "ki_x", "ret_x", NULL), 0);
}

static void what_is_given_fits_the_struct_of_the_caller(void **state)
{
    (void)state;
    const struct options_2 ours = {
        .size = sizeof(ours), .resync_ms = 1, .name = "a", .queue_max = 2};
    size_t first = sizeof(struct options_1);
    struct options_3 theirs;
    memset(&theirs, 0x5a, sizeof(theirs));
    theirs.size = 0; /* the first version */
    assert_int_equal(ki__options_give(&theirs, &ours, sizeof(ours), first), 0);
    assert_int_equal(theirs.size, 0);
    assert_int_equal(theirs.resync_ms, 1);
    assert_int_equal(theirs.queue_max, UINT64_C(0x5a5a5a5a5a5a5a5a));
    theirs.size = sizeof(struct options_2);
    assert_int_equal(ki__options_give(&theirs, &ours, sizeof(ours), first), 0);
    assert_string_equal(theirs.name, "a");
    assert_int_equal(theirs.newest, UINT64_C(0x5a5a5a5a5a5a5a5a));
    theirs.size = sizeof(theirs);
    assert_int_equal(ki__options_give(&theirs, &ours, sizeof(ours), first), 0);
    assert_int_equal(theirs.queue_max, 2);
    assert_int_equal(theirs.newest, 0); /* nothing that we know of */
    theirs.size = 1;
    assert_int_equal(ki__options_give(&theirs, &ours, sizeof(ours), first), -EINVAL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(no_struct_means_all_defaults),
        cmocka_unit_test(struct_of_the_same_version_is_copied),
        cmocka_unit_test(older_struct_lacks_what_came_later),
        cmocka_unit_test(size_of_zero_is_the_first_version),
        cmocka_unit_test(newer_struct_is_accepted_while_new_members_are_unset),
        cmocka_unit_test(refusal_touches_nothing),
        cmocka_unit_test(struct_smaller_than_the_first_is_refused),
        cmocka_unit_test(what_is_given_fits_the_struct_of_the_caller),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
