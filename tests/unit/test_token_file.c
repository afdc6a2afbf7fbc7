/* SPDX-License-Identifier: Apache-2.0 */
/* Token files that are rewritten, vanish, or hold no valid token. */
#include <errno.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "client/auth/token_file.h"
#include "support/configs.h"
#include "support/watched_alloc.h"
#include "support/world.h"

typedef struct fixture {
    test_world world;
    test_folder folder;
    ki_engine *engine;
    ki__token_file file;
    size_t reports;
    char text[256]; /* of the last */
} fixture;

static void on_report(const ki_report *report, void *user)
{
    fixture *f = user;
    f->reports++;
    memcpy(f->text, report->error->message, sizeof(f->text));
    assert_string_equal(report->component, "credentials");
}

static void begin(fixture *f, const ki_alloc *alloc)
{
    *f = (fixture){0};
    test_world_init(&f->world);
    test_folder_init(&f->folder);
    ki_engine_options options = test_world_engine_options(&f->world, alloc);
    options.on_report = on_report;
    options.report_user = f;
    options.reports_per_second = 1000;
    assert_int_equal(ki_engine_new(&options, &f->engine, NULL), 0);
}

static void end(fixture *f)
{
    ki__token_file_done(&f->file);
    ki_engine_unref(f->engine);
    test_folder_done(&f->folder);
}

static int open_file(fixture *f, ki_error *error)
{
    /* The path is borrowed, and test_folder_path() gives it for a while only. */
    static char path[256];
    memcpy(path, test_folder_path(&f->folder, "token"), sizeof(path));
    return ki__token_file_init(&f->file, f->engine, path, error);
}

static void after(fixture *f, uint64_t seconds)
{
    f->world.now += seconds * TEST_SECOND;
}

static void it_is_read_at_once_and_without_white_space(void **state)
{
    (void)state;
    static const char *const texts[] = {"abc.d", "abc.d\n", " \t\r\n abc.d \v\f\n\n"};
    for (size_t i = 0; i < 3; i++) {
        fixture f;
        begin(&f, NULL);
        test_folder_write(&f.folder, "token", texts[i]);
        assert_int_equal(open_file(&f, NULL), 0);
        assert_str(f.file.authorization, "Bearer abc.d");
        end(&f);
    }
}

static void it_is_read_again_when_it_is_50_seconds_old(void **state)
{
    (void)state;
    fixture f;
    begin(&f, NULL);
    test_folder_write(&f.folder, "token", "one");
    assert_int_equal(open_file(&f, NULL), 0);
    test_folder_write(&f.folder, "token", "two");
    after(&f, 49);
    assert_false(ki__token_file_look(&f.file));
    assert_str(f.file.authorization, "Bearer one");
    after(&f, 1);
    assert_true(ki__token_file_look(&f.file));
    assert_str(f.file.authorization, "Bearer two");
    after(&f, 50);
    assert_false(ki__token_file_look(&f.file)); /* read, but the same */
    test_folder_write(&f.folder, "token", "three");
    after(&f, 49);
    assert_false(ki__token_file_look(&f.file));
    assert_int_equal(f.reports, 0);
    end(&f);
}

static void a_refused_one_is_read_again_but_not_in_a_storm(void **state)
{
    (void)state;
    fixture f;
    begin(&f, NULL);
    test_folder_write(&f.folder, "token", "one");
    assert_int_equal(open_file(&f, NULL), 0);
    after(&f, 10);
    test_folder_write(&f.folder, "token", "two");
    assert_false(ki__token_file_look(&f.file));
    ki__token_file_refused(&f.file);
    assert_true(ki__token_file_look(&f.file));
    test_folder_write(&f.folder, "token", "three");
    for (int i = 0; i < 4; i++) {
        ki__token_file_refused(&f.file);
        assert_false(ki__token_file_look(&f.file));
        after(&f, 1);
    }
    after(&f, 1);
    assert_true(ki__token_file_look(&f.file));
    assert_str(f.file.authorization, "Bearer three");
    after(&f, 49);
    test_folder_write(&f.folder, "token", "four");
    assert_false(ki__token_file_look(&f.file)); /* the refusals of before count no more */
    end(&f);
}

static void the_last_good_one_is_kept(void **state)
{
    (void)state;
    fixture f;
    begin(&f, NULL);
    test_folder_write(&f.folder, "token", "one");
    assert_int_equal(open_file(&f, NULL), 0);
    static const char *const bad[] = {"", " \n", "CANARY\nCANARY", "CANARY\x01"};
    for (size_t i = 0; i < 4; i++) {
        test_folder_write(&f.folder, "token", bad[i]);
        after(&f, 50);
        assert_false(ki__token_file_look(&f.file));
        assert_int_equal(f.reports, i + 1);
        assert_null(strstr(f.text, "CANARY"));
        assert_non_null(strstr(f.text, "/token"));
    }
    assert_int_equal(unlink(test_folder_path(&f.folder, "token")), 0);
    after(&f, 4);
    assert_false(ki__token_file_look(&f.file));
    assert_int_equal(f.reports, 4); /* also failures are not tried at once again */
    after(&f, 1);
    assert_false(ki__token_file_look(&f.file));
    assert_int_equal(f.reports, 5);
    assert_str(f.file.authorization, "Bearer one");
    test_folder_write(&f.folder, "token", "two");
    after(&f, 5);
    assert_true(ki__token_file_look(&f.file));
    assert_str(f.file.authorization, "Bearer two");
    end(&f);
}

static void a_file_unreadable_at_first_is_reported(void **state)
{
    (void)state;
    fixture f;
    ki_error error = KI_ERROR_INIT;
    begin(&f, NULL);
    assert_int_equal(open_file(&f, &error), -ENOENT);
    assert_int_equal(f.file.authorization.len, 0);
    assert_int_equal(mkdir(test_folder_path(&f.folder, "token"), 0700), 0);
    assert_int_equal(open_file(&f, &error), -EISDIR);
    assert_int_equal(rmdir(test_folder_path(&f.folder, "token")), 0);
    assert_int_equal(mkfifo(test_folder_path(&f.folder, "token"), 0600), 0);
    assert_int_equal(open_file(&f, &error), KI_ERR_INVALID);
    assert_int_equal(unlink(test_folder_path(&f.folder, "token")), 0);
    ki_buf large;
    ki_buf_init(&large, NULL, 1 << 20);
    test_add(&large, "CANARY", 11000);
    test_folder_write(&f.folder, "token", ki_buf_text(&large));
    ki_buf_done(&large);
    assert_int_equal(open_file(&f, &error), KI_ERR_LIMIT);
    assert_null(strstr(error.message, "CANARY"));
    test_folder_write(&f.folder, "token", "late"); /* and it is tried again */
    after(&f, 5);
    assert_true(ki__token_file_look(&f.file));
    assert_str(f.file.authorization, "Bearer late");
    end(&f);
}

static void no_trace_is_left_in_memory(void **state)
{
    (void)state;
    static const char *const words[] = {"CANARY", NULL};
    watched_alloc watched;
    fixture f;
    watched_alloc_init(&watched, words);
    begin(&f, &watched.table);
    test_folder_write(&f.folder, "token", "CANARY1");
    assert_int_equal(open_file(&f, NULL), 0);
    for (int i = 0; i < 20; i++) {
        test_folder_write(&f.folder, "token",
                          i % 3 == 0   ? "CANARY2"
                          : i % 3 == 1 ? "CANARY\n3"
                                       : "CANARY4");
        after(&f, 50);
        (void)ki__token_file_look(&f.file);
    }
    end(&f);
    assert_true(watched.freed > 20);
    assert_int_equal(watched.found, 0);
}

static void two_thousand_rotations_take_no_more_memory(void **state)
{
    (void)state;
    test_alloc alloc;
    fixture f;
    test_alloc_init(&alloc);
    begin(&f, &alloc.table);
    test_folder_write(&f.folder, "token", "one");
    assert_int_equal(open_file(&f, NULL), 0);
    size_t before = alloc.live_bytes;
    for (int i = 0; i < 2000; i++) {
        test_folder_write(&f.folder, "token", i % 2 == 0 ? "two" : "one");
        after(&f, 50);
        assert_true(ki__token_file_look(&f.file));
    }
    assert_int_equal(alloc.live_bytes, before);
    end(&f);
    test_alloc_done(&alloc);
}

static int sweep(const ki_alloc *alloc, void *user)
{
    fixture *f = user;
    test_world world;
    ki_engine *engine = NULL;
    test_world_init(&world);
    ki_engine_options options = test_world_engine_options(&world, alloc);
    int r = ki_engine_new(&options, &engine, NULL);
    if (r < 0) {
        return r;
    }
    ki__token_file file;
    char path[256];
    memcpy(path, test_folder_path(&f->folder, "token"), sizeof(path));
    r = ki__token_file_init(&file, engine, path, NULL);
    ki__token_file_done(&file);
    ki_engine_unref(engine);
    return r;
}

static void out_of_memory_is_reported(void **state)
{
    (void)state;
    fixture f;
    begin(&f, NULL);
    test_folder_write(&f.folder, "token", "one");
    test_alloc_sweep(sweep, &f);
    end(&f);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(it_is_read_at_once_and_without_white_space),
        cmocka_unit_test(it_is_read_again_when_it_is_50_seconds_old),
        cmocka_unit_test(a_refused_one_is_read_again_but_not_in_a_storm),
        cmocka_unit_test(the_last_good_one_is_kept),
        cmocka_unit_test(a_file_unreadable_at_first_is_reported),
        cmocka_unit_test(no_trace_is_left_in_memory),
        cmocka_unit_test(two_thousand_rotations_take_no_more_memory),
        cmocka_unit_test(out_of_memory_is_reported),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
