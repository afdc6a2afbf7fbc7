/* SPDX-License-Identifier: Apache-2.0 */
/* Reading files, and joining paths. */
#include <errno.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "client/config/file.h"
#include "support/configs.h"

static int read_text(const char *path, size_t max, char *out, size_t size, ki__file_info *info)
{
    ki__secrets secrets;
    ki__secrets_init(&secrets, NULL);
    ki_str text = {NULL, 0};
    int r = ki__file_read(path, max, &secrets, &text, info);
    if (r >= 0) {
        assert_true(text.len < size);
        assert_int_equal(text.ptr[text.len], '\0');
        memcpy(out, text.ptr, text.len + 1);
    }
    ki__secrets_done(&secrets);
    return r;
}

static void who_may_write_a_file_is_seen(void **state)
{
    (void)state;
    test_folder folder;
    test_folder_init(&folder);
    test_folder_write(&folder, "f", "x");
    const char *path = test_folder_path(&folder, "f");
    char text[8];
    ki__file_info info;
    assert_int_equal(chmod(path, 0600), 0);
    assert_int_equal(read_text(path, 5, text, sizeof(text), &info), 0);
    assert_false(info.group_write || info.others_write || info.foreign);
    assert_int_equal(chmod(path, 0620), 0);
    assert_int_equal(read_text(path, 5, text, sizeof(text), &info), 0);
    assert_true(info.group_write && !info.others_write && !info.foreign);
    if (geteuid() == 0) {
        assert_int_equal(chown(path, 12345, (gid_t)-1), 0);
        assert_int_equal(read_text(path, 5, text, sizeof(text), &info), 0);
        assert_true(info.foreign);
    }
    test_folder_done(&folder);
}

static void a_file_is_read_up_to_its_limit(void **state)
{
    (void)state;
    test_folder folder;
    test_folder_init(&folder);
    test_folder_write(&folder, "f", "12345");
    test_folder_write(&folder, "empty", "");
    char text[32];
    ki__file_info info;
    assert_int_equal(read_text(test_folder_path(&folder, "f"), 5, text, sizeof(text), &info), 0);
    assert_string_equal(text, "12345");
    assert_int_equal(read_text(test_folder_path(&folder, "f"), 4, text, sizeof(text), &info),
                     KI_ERR_LIMIT);
    assert_int_equal(read_text(test_folder_path(&folder, "empty"), 0, text, sizeof(text), &info),
                     0);
    assert_string_equal(text, "");
    assert_false(info.others_read || info.others_write);
    assert_int_equal(chmod(test_folder_path(&folder, "f"), 0604), 0);
    assert_int_equal(ki__file_check(test_folder_path(&folder, "f"), 5, &info), 0);
    assert_true(info.others_read && !info.others_write);
    assert_int_equal(ki__file_check(test_folder_path(&folder, "f"), 4, &info), KI_ERR_LIMIT);
    test_folder_done(&folder);
}

static void only_regular_files_are_read(void **state)
{
    (void)state;
    test_folder folder;
    test_folder_init(&folder);
    char text[8];
    ki__file_info info;
    assert_int_equal(mkfifo(test_folder_path(&folder, "fifo"), 0600), 0);
    assert_int_equal(symlink("loop", test_folder_path(&folder, "loop")), 0);
    test_folder_write(&folder, "sub/x", "");
    static const struct {
        const char *name;
        int code;
    } cases[] = {{"fifo", KI_ERR_INVALID}, {"sub", -EISDIR},      {"loop", -ELOOP},
                 {"missing", -ENOENT},     {"sub/x/y", -ENOTDIR}, {"", -EISDIR}};
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        const char *path = test_folder_path(&folder, cases[i].name);
        assert_int_equal(read_text(path, 100, text, sizeof(text), &info), cases[i].code);
        assert_int_equal(ki__file_check(path, 100, &info), cases[i].code);
        assert_true(ki__file_error_text(cases[i].code)[0] != '\0');
    }
    assert_int_equal(read_text("/dev/zero", 100, text, sizeof(text), &info), KI_ERR_INVALID);
    test_folder_done(&folder);
}

/* Files of /proc say that they are empty. */
static void a_file_may_be_longer_than_it_says(void **state)
{
    (void)state;
    ki__file_info info;
    char text[65536];
    int r = read_text("/proc/self/smaps", sizeof(text) - 1, text, sizeof(text), &info);
    assert_true(r == 0 || r == KI_ERR_LIMIT || r == -ENOENT);
    r = read_text("/proc/self/smaps", 1000, text, sizeof(text), &info);
    assert_true(r == KI_ERR_LIMIT || r == -ENOENT);
}

static void nothing_is_left_open(void **state)
{
    (void)state;
    int before = dup(0);
    assert_true(before >= 0);
    close(before);
    only_regular_files_are_read(state);
    a_file_is_read_up_to_its_limit(state);
    int after = dup(0);
    close(after);
    assert_int_equal(before, after);
}

static void paths_are_joined_by_their_text(void **state)
{
    (void)state;
    static const struct {
        const char *folder;
        const char *path;
        const char *joined;
    } cases[] = {
        {"/a/b", "c", "/a/b/c"},  {"/a/b/", "./c/", "/a/b/c"},
        {"/a/b", "../c", "/a/c"}, {"/a", "../../c", "/c"},
        {"/", "..", "/"},         {"/a//b", "c//d/../e", "/a/b/c/e"},
        {"/", "", "/"},           {"/a", "..c", "/a/..c"},
        {"/a", "...", "/a/..."},  {"/a/../b/.", "c", "/b/c"},
    };
    ki__secrets secrets;
    ki__secrets_init(&secrets, NULL);
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        assert_string_equal(ki__file_join(cases[i].folder, ki_str_from(cases[i].path), &secrets),
                            cases[i].joined);
    }
    ki__secrets_done(&secrets);
}

static void the_folder_of_a_file_is_absolute(void **state)
{
    (void)state;
    ki__secrets secrets;
    ki__secrets_init(&secrets, NULL);
    char here[4096];
    assert_non_null(getcwd(here, sizeof(here)));
    const char *folder = NULL;
    assert_int_equal(ki__file_folder("/a/b/c", &secrets, &folder), 0);
    assert_string_equal(folder, "/a/b");
    assert_int_equal(ki__file_folder("/c", &secrets, &folder), 0);
    assert_string_equal(folder, "/");
    assert_int_equal(ki__file_folder("c", &secrets, &folder), 0);
    assert_string_equal(folder, here);
    assert_int_equal(ki__file_folder("x/../c", &secrets, &folder), 0);
    assert_string_equal(folder, here);
    ki__secrets_done(&secrets);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(who_may_write_a_file_is_seen),
        cmocka_unit_test(a_file_is_read_up_to_its_limit),
        cmocka_unit_test(only_regular_files_are_read),
        cmocka_unit_test(a_file_may_be_longer_than_it_says),
        cmocka_unit_test(nothing_is_left_open),
        cmocka_unit_test(paths_are_joined_by_their_text),
        cmocka_unit_test(the_folder_of_a_file_is_absolute),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
