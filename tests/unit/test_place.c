/* SPDX-License-Identifier: Apache-2.0 */
/* Callbacks that are left by longjmp(), as an exception would leave them: the next call logs it.
 * Each test does so in a child, since nothing can be tidied up after it. */
#include <setjmp.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include <kinformer/loop.h>
#include <kinformer/parts/engine.h>

#include "base/place.h"
#include "cache/informer/registration.h"
#include "support/objects.h"
#include "support/test.h"

static jmp_buf way_out;
static unsigned logged;

static void on_log(const ki_log_record *record, void *user)
{
    const char *component = user;
    logged += strcmp(record->component, component) == 0 &&
              strstr(record->message, "exited by an exception or longjmp()") != NULL &&
              record->level == KI_LOG_ERROR;
}

static ki_engine *make_engine(const ki_log *log)
{
    ki_engine_options options = KI_OPTIONS_INIT(ki_engine_options);
    ki_engine *engine = NULL;
    options.clock = ki_clock_system();
    options.random = ki_random_system();
    options.log = log;
    return ki_engine_new(&options, &engine, NULL) == 0 ? engine : NULL;
}

/* ---- an engine ---- */

static ki_engine *engine_of_task;
static size_t nested; /* what running it inside returned */

static void jump(void *user)
{
    (void)user;
    nested = ki_engine_run(engine_of_task, 0); /* from inside: nothing is wrong yet */
    longjmp(way_out, 1);
}

static bool engine_says_so(void)
{
    static const char component[] = "engine";
    ki_log log = {.write = on_log, .user = (void *)(uintptr_t)component, .level = KI_LOG_ERROR};
    ki_engine_task *task = NULL;
    engine_of_task = make_engine(&log);
    if (engine_of_task == NULL ||
        ki_engine_task_new(engine_of_task, jump, NULL, &task, NULL) != 0) {
        return false;
    }
    ki_engine_task_post(task);
    if (setjmp(way_out) == 0) {
        return ki_engine_run(engine_of_task, 0) == 77; /* never comes back */
    }
    bool before = logged == 0 && nested == 0;
    bool same = ki_engine_run(engine_of_task, 0) == 0 && ki_engine_run(engine_of_task, 0) == 0;
    return before && same && logged == 1; /* once */
}

/* ---- a handler ---- */

static void jump_in_add(const ki_object *object, bool is_initial, void *user)
{
    (void)object;
    (void)is_initial;
    ki_registration **reg = user;
    nested = ki_registration_dispatch(*reg, 0) == KI_ERR_BUSY;
    longjmp(way_out, 1);
}

static void nothing(void *user)
{
    (void)user;
}

static void nothing_removed(ki_registration *registration, void *user)
{
    (void)registration;
    (void)user;
}

static ki_registration *the_registration;

static bool handler_says_so(void)
{
    static const char component[] = "handler";
    ki_log log = {.write = on_log, .user = (void *)(uintptr_t)component, .level = KI_LOG_ERROR};
    ki_engine *engine = make_engine(&log);
    ki_handler handler = {.on_add = jump_in_add, .user = &the_registration};
    ki_handler_options options = KI_OPTIONS_INIT(ki_handler_options);
    options.delivery = KI_DELIVERY_CALLER;
    ki__registration_owner owner = {
        .removed = nothing_removed, .synced = nothing, .over = nothing, .release = nothing};
    ki_object *pod = test_pod(NULL, "ns", "a", 1, "g");
    ki__note note = {.type = (uint8_t)KI__NOTE_ADD, .object = pod};
    ki__applier applier = {.notes = &note, .note_count = 1};
    if (engine == NULL ||
        ki__registration_new(engine, &handler, &options, &owner, &the_registration, NULL) != 0 ||
        ki__registration_reserve_batch(the_registration, &applier, NULL) != 0) {
        return false;
    }
    (void)ki__registration_push_batch(the_registration, &applier, NULL);
    if (setjmp(way_out) == 0) {
        return ki_registration_dispatch(the_registration, 0) == 77; /* never comes back */
    }
    bool before = logged == 0 && nested == 1;
    bool same = ki_registration_dispatch(the_registration, 0) == KI_ERR_BUSY &&
                ki_registration_dispatch(the_registration, 0) == KI_ERR_BUSY;
    return before && same && logged == 1;
}

static void in_a_child(bool (*test)(void))
{
    pid_t child = fork();
    assert_true(child >= 0);
    if (child == 0) {
        _exit(test() ? 0 : 1);
    }
    int status = 0;
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_true(WIFEXITED(status));
    assert_int_equal(WEXITSTATUS(status), 0);
}

static void an_engine_that_was_left_says_so(void **state)
{
    (void)state;
    in_a_child(engine_says_so);
}

static void a_handler_that_was_left_says_so(void **state)
{
    (void)state;
    in_a_child(handler_says_so);
}

static _Thread_local int mine;

__attribute__((noinline)) static ki__place deeper(unsigned depth)
{
    volatile char room[64] = {0};
    room[0] = (char)depth;
    return depth == 0 ? KI__PLACE_HERE(mine) : deeper(depth - 1 + (unsigned)(room[1] != 0));
}

static void a_place_is_left_when_its_frame_is_gone(void **state)
{
    (void)state;
    ki__place here = KI__PLACE_HERE(mine);
    ki__place inside = deeper(3);
    assert_false(ki__place_is_left(here, inside));
    assert_true(ki__place_is_left(inside, here));
    assert_true(ki__place_is_left(here, here));
    inside.thread++; /* on another thread nobody knows */
    assert_false(ki__place_is_left(inside, here));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_place_is_left_when_its_frame_is_gone),
        cmocka_unit_test(an_engine_that_was_left_says_so),
        cmocka_unit_test(a_handler_that_was_left_says_so),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
