/* SPDX-License-Identifier: Apache-2.0 */
/* Programs that are run as plugins, and what bad ones do: whatever it is, it ends in time, and no
 * process, descriptor or memory is left behind. */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "client/auth/exec_plugin.h"
#include "support/configs.h"

#define MS UINT64_C(1000000)

typedef struct fixture {
    test_alloc alloc;
    test_folder folder;
    ki_loop *loop;
    ki__exec_plugin plugin;
    size_t fds;
    char path[256]; /* of the program */
    const char *argv[16];
    const char *environment[16];
    ki__exec_run run;
    bool ended;
    bool done_inside; /* requested */
    int code;         /* what on_end said */
    ki_error error;
    ki_buf output;
} fixture;

static size_t count_descriptors(void)
{
    size_t count = 0;
    DIR *dir = opendir("/proc/self/fd");
    assert_non_null(dir);
    while (readdir(dir) != NULL) {
        count++;
    }
    closedir(dir);
    return count;
}

static void on_end(ki__exec_plugin *plugin, const ki_error *error, ki_str output)
{
    fixture *f = KI__CONTAINER_OF(plugin, fixture, plugin);
    assert_false(f->ended);
    f->ended = true;
    f->code = error != NULL ? error->code : 0;
    f->error = error != NULL ? *error : KI_ERROR_INIT;
    ki_buf_clear(&f->output);
    if (error == NULL) {
        assert_int_equal(ki_buf_add_str(&f->output, output), 0);
        for (size_t i = 0; i < 64; i++) {
            assert_int_equal(output.ptr[output.len + i], 0);
        }
    } else {
        assert_true(error->message[0] != '\0');
    }
    if (f->done_inside) {
        ki__exec_plugin_done(plugin);
    }
}

static void begin(fixture *f)
{
    *f = (fixture){.fds = count_descriptors()};
    test_alloc_init(&f->alloc);
    test_folder_init(&f->folder);
    ki_buf_init(&f->output, NULL, 2 << 20);
    ki_loop_options options = KI_OPTIONS_INIT(ki_loop_options);
    options.alloc = &f->alloc.table;
    assert_int_equal(ki_loop_new(&options, &f->loop, NULL), 0);
    assert_int_equal(ki__exec_plugin_init(&f->plugin, f->loop, on_end), 0);
    f->environment[0] = "PATH=/usr/bin:/bin";
    f->run.timeout_ns = 20000 * MS;
}

/* Nothing is left: no descriptors, no children, no memory. */
static void end(fixture *f)
{
    ki__exec_plugin_done(&f->plugin);
    ki_loop_unref(f->loop);
    ki_buf_done(&f->output);
    test_folder_done(&f->folder);
    test_alloc_done(&f->alloc);
    assert_int_equal(waitpid(-1, NULL, WNOHANG), -1);
    assert_int_equal(errno, ECHILD);
    assert_int_equal(count_descriptors(), f->fds);
}

static void program(fixture *f, const char *text)
{
    test_folder_write(&f->folder, "plugin", text);
    snprintf(f->path, sizeof(f->path), "%s", test_folder_path(&f->folder, "plugin"));
    assert_int_equal(chmod(f->path, 0700), 0);
    f->argv[0] = "plugin";
    f->run.path = f->path;
    f->run.argv = (char *const *)(uintptr_t)f->argv;
    f->run.environment = (char *const *)(uintptr_t)f->environment;
}

static int64_t now_ms(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (int64_t)now.tv_sec * 1000 + now.tv_nsec / 1000000;
}

static void until(fixture *f, const bool *flag, int ms)
{
    int64_t stop = now_ms() + ms;
    while (!*flag && now_ms() < stop) {
        assert_true(ki_loop_dispatch(f->loop) >= 0);
        struct pollfd poll_fd = {.fd = ki_loop_fd(f->loop), .events = POLLIN};
        if (!*flag) {
            (void)poll(&poll_fd, 1, 10);
        }
    }
}

static int start(fixture *f)
{
    f->ended = false;
    return ki__exec_plugin_start(&f->plugin, &f->run, NULL);
}

/* The code that it ended with. */
static int run(fixture *f)
{
    int r = start(f);
    if (r < 0) {
        return r;
    }
    assert_true(ki__exec_plugin_is_running(&f->plugin));
    until(f, &f->ended, 30000);
    assert_true(f->ended);
    assert_false(ki__exec_plugin_is_running(&f->plugin));
    return f->code;
}

static int run_text(const char *text, uint64_t timeout_ns, ki_error *ret_error)
{
    fixture f;
    begin(&f);
    program(&f, text);
    f.run.timeout_ns = timeout_ns;
    int r = run(&f);
    *ret_error = f.error;
    end(&f);
    return r;
}

static void what_it_writes_comes_back(void **state)
{
    (void)state;
    fixture f;
    begin(&f);
    program(&f, "#!/bin/sh\nprintf 'one '\nsleep 0.05\nprintf 'two\\n'\n");
    assert_int_equal(run(&f), 0);
    assert_str(ki_buf_str(&f.output), "one two\n");
    assert_int_equal(run(&f), 0); /* and again */
    assert_str(ki_buf_str(&f.output), "one two\n");
    end(&f);
}

static void arguments_arrive_as_they_are(void **state)
{
    (void)state;
    static const char *const words[] = {
        "plugin",
        "",
        " ",
        "a b\tc",
        "$HOME `id` $(id)",
        ";touch${IFS}/tmp/x;|&<>(){}[]*?!~#%^",
        "'\"\\\\",
        "line\nline\r\n",
        "\xc3\xa4\xe2\x82\xac\xf0\x9f\x98\x80",
        "\xff\xfe",
        "-n",
        "--x=$PATH",
    };
    const size_t count = sizeof(words) / sizeof(words[0]);
    fixture f;
    begin(&f);
    /* Each on its own, with its length, so that nothing can hide. */
    program(&f, "#!/bin/sh\nfor a in \"$@\"; do printf '<%s>' \"$a\"; done\n");
    for (size_t i = 0; i < count; i++) {
        f.argv[i] = words[i];
    }
    assert_int_equal(run(&f), 0);
    ki_buf expected;
    ki_buf_init(&expected, NULL, 4096);
    for (size_t i = 1; i < count; i++) {
        test_add(&expected, "<", 1);
        test_add(&expected, words[i], 1);
        test_add(&expected, ">", 1);
    }
    assert_str(ki_buf_str(&f.output), ki_buf_text(&expected));
    ki_buf_done(&expected);
    end(&f);
}

static void the_environment_is_what_is_given_and_nothing_else(void **state)
{
    (void)state;
    fixture f;
    begin(&f);
    program(&f, "#!/usr/bin/python3\n"
                "import os, sys\n"
                "for k in sorted(os.environb):\n"
                "    if k not in (b'LC_CTYPE',):\n"
                "        sys.stdout.buffer.write(k + b'=' + os.environb[k] + b'|')\n");
    f.environment[1] = "EMPTY=";
    f.environment[2] = "META=$(id);`id`'\"\\ \n*";
    f.environment[3] = "UTF=\xc3\xa4";
    f.environment[4] = "TWO=a=b";
    assert_int_equal(setenv("TEST_NOT_FOR_PLUGINS", "1", 1), 0);
    assert_int_equal(run(&f), 0);
    assert_str(ki_buf_str(&f.output), "EMPTY=|META=$(id);`id`'\"\\ \n*|PATH=/usr/bin:/bin|TWO=a=b|"
                                      "UTF=\xc3\xa4|");
    end(&f);
}

/* Not even those that another library opened without O_CLOEXEC. */
static void no_descriptor_is_inherited(void **state)
{
    (void)state;
    fixture f;
    begin(&f);
    int careless = open("/dev/null", O_RDONLY);
    int high = fcntl(careless, F_DUPFD, 200);
    program(&f, "#!/usr/bin/python3\n"
                "import os\n"
                "names = sorted(int(n) for n in os.listdir('/proc/self/fd'))\n"
                "print([n for n in names if os.path.exists('/proc/self/fd/%d' % n)],\n"
                "      os.readlink('/proc/self/fd/0'), os.readlink('/proc/self/fd/2'))\n");
    assert_int_equal(run(&f), 0);
    assert_str(ki_buf_str(&f.output), "[0, 1, 2] /dev/null /dev/null\n");
    close(careless);
    close(high);
    end(&f);
}

static void signals_are_as_for_a_new_program(void **state)
{
    (void)state;
    fixture f;
    sigset_t blocked;
    sigset_t before;
    begin(&f);
    sigfillset(&blocked);
    assert_int_equal(sigprocmask(SIG_SETMASK, &blocked, &before), 0);
    void (*pipe_before)(int) = signal(SIGPIPE, SIG_IGN);
    program(&f, "#!/bin/sh\ngrep -E '^Sig(Blk|Ign)' /proc/self/status\n");
    assert_int_equal(run(&f), 0);
    char *end_of_blocked = NULL;
    const char *text = ki_buf_text(&f.output);
    assert_memory_equal(text, "SigBlk:\t", 8);
    assert_int_equal(strtoull(text + 8, &end_of_blocked, 16), 0);
    assert_memory_equal(end_of_blocked, "\nSigIgn:\t", 9);
    /* All but the two that glibc keeps for itself. */
    assert_int_equal(strtoull(end_of_blocked + 9, NULL, 16) & ~UINT64_C(0x180000000), 0);
    signal(SIGPIPE, pipe_before);
    assert_int_equal(sigprocmask(SIG_SETMASK, &before, NULL), 0);
    end(&f);
}

static void it_leads_a_process_group_of_its_own(void **state)
{
    (void)state;
    fixture f;
    begin(&f);
    program(&f, "#!/usr/bin/python3\nimport os\nprint(os.getpgrp() == os.getpid())\n");
    assert_int_equal(run(&f), 0);
    assert_str(ki_buf_str(&f.output), "True\n");
    f.run.terminal = true; /* one that reads the terminal has to stay in ours */
    assert_int_equal(run(&f), 0);
    assert_str(ki_buf_str(&f.output), "False\n");
    end(&f);
}

static void reading_its_input_finds_the_end(void **state)
{
    (void)state;
    ki_error error = KI_ERROR_INIT;
    assert_int_equal(run_text("#!/bin/sh\ncat\necho x\n", 20000 * MS, &error), 0);
}

static void bad_ends_are_reported(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        int code;
        const char *says;
    } cases[] = {
        {"#!/bin/sh\necho secret\nexit 1\n", -EACCES, "exit status 1"},
        {"#!/bin/sh\necho secret >&2\nexit 255\n", -EACCES, "exit status 255"},
        {"#!/bin/sh\nkill -SEGV $$\n", -EACCES, "signal 11"},
        {"#!/bin/sh\necho x; kill -KILL $$\n", -EACCES, "signal 9"},
        {"#!/bin/sh\nexit 0\n", KI_ERR_INVALID, "no output"},
        {"#!/no/such/interpreter\n", -ENOENT, ""},
        {"echo no interpreter is named\n", -ENOEXEC, ""}, /* and no shell is tried */
        {"", -ENOEXEC, ""},
        {"\x7f"
         "ELF garbage",
         -ENOEXEC, ""},
        {"#!/bin/sh\nsleep 60\n", -ETIMEDOUT, "timeout"},
        {"#!/bin/sh\ntrap '' TERM INT HUP\nwhile :; do sleep 1; done\n", -ETIMEDOUT, "timeout"},
        {"#!/bin/sh\nexec >&-\nsleep 60\n", -ETIMEDOUT, "timeout"},
        {"#!/bin/sh\nkill -STOP $$\n", -ETIMEDOUT, "timeout"},
        {"#!/bin/sh\nyes\n", KI_ERR_LIMIT, "1 MiB"},
        {"#!/bin/sh\nyes >&2\n", -ETIMEDOUT, "timeout"},
        {"#!/bin/sh\nwhile :; do echo; done\n", -ETIMEDOUT, "timeout"},
        {"#!/bin/sh\nhead -c 1048577 /dev/zero; sleep 60\n", KI_ERR_LIMIT, "1 MiB"},
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        ki_error error = KI_ERROR_INIT;
        int64_t started = now_ms();
        int r = run_text(cases[i].text, 500 * MS, &error);
        if (r == KI_ERR_LIMIT && cases[i].code == -ETIMEDOUT) {
            r = -ETIMEDOUT; /* a machine so fast that it wrote enough */
        }
        if (r != cases[i].code || strstr(error.message, cases[i].says) == NULL ||
            strstr(error.message, "secret") != NULL) {
            fail_msg("case %zu: %d, %s", i, r, error.message);
        }
        assert_true(now_ms() - started < 5000);
    }
}

static void an_unusable_command_fails_at_once(void **state)
{
    (void)state;
    fixture f;
    begin(&f);
    program(&f, "#!/bin/sh\necho x\n");
    assert_int_equal(chmod(f.path, 0600), 0);
    assert_int_equal(start(&f), -EACCES);
    f.run.path = "/no/such/program";
    assert_int_equal(start(&f), -ENOENT);
    f.run.path = "/";
    assert_int_equal(start(&f), -EACCES);
    assert_false(ki__exec_plugin_is_running(&f.plugin));
    f.run.path = f.path; /* and nothing is broken by it */
    assert_int_equal(chmod(f.path, 0700), 0);
    assert_int_equal(run(&f), 0);
    char *large = malloc(4 << 20);
    assert_non_null(large);
    memset(large, 'x', (4 << 20) - 1);
    large[(4 << 20) - 1] = '\0';
    f.argv[1] = large;
    assert_int_equal(start(&f), -E2BIG);
    free(large);
    end(&f);
}

static void a_mebibyte_is_accepted(void **state)
{
    (void)state;
    fixture f;
    begin(&f);
    program(&f, "#!/bin/sh\nhead -c 1048576 /dev/zero | tr '\\0' x\n");
    assert_int_equal(run(&f), 0);
    assert_int_equal(f.output.len, 1 << 20);
    end(&f);
}

static void a_daemon_that_holds_the_pipe_is_not_waited_for(void **state)
{
    (void)state;
    fixture f;
    begin(&f);
    program(&f, "#!/bin/sh\n(trap '' HUP; sleep 3) &\necho $!\n");
    int64_t started = now_ms();
    assert_int_equal(run(&f), 0);
    assert_true(now_ms() - started < 2500);
    pid_t daemon = (pid_t)strtol(ki_buf_text(&f.output), NULL, 10);
    assert_int_equal(kill(daemon, 0), 0); /* and it is left alone */
    kill(daemon, SIGKILL);
    end(&f);
}

/* The children of a plugin that is killed go with it. */
static void children_are_killed_with_it(void **state)
{
    (void)state;
    fixture f;
    char file[256];
    begin(&f);
    snprintf(file, sizeof(file), "%s", test_folder_path(&f.folder, "child"));
    program(&f, "#!/bin/sh\nsleep 77 &\necho $! > \"$1\"\nwait\n");
    f.argv[1] = file;
    f.run.timeout_ns = 500 * MS;
    assert_int_equal(run(&f), -ETIMEDOUT);
    FILE *in = fopen(file, "r");
    char line[32] = "";
    assert_non_null(in);
    assert_non_null(fgets(line, sizeof(line), in));
    fclose(in);
    pid_t child = (pid_t)strtol(line, NULL, 10);
    assert_true(child > 1);
    bool gone = false;
    for (int i = 0; i < 200 && !gone; i++) { /* another process reaps it: a zombie is gone, too */
        char path[64];
        char status[4096] = "";
        snprintf(path, sizeof(path), "/proc/%d/status", (int)child);
        FILE *info = fopen(path, "r");
        gone = info == NULL;
        if (info != NULL) {
            (void)!fread(status, 1, sizeof(status) - 1, info);
            fclose(info);
            gone = strstr(status, "State:\tZ") != NULL || strstr(status, "sleep") == NULL;
        }
        usleep(10000);
    }
    assert_true(gone);
    end(&f);
}

/* Two runs never overlap, not even when the first has been given up. */
static void a_run_that_was_killed_is_waited_for(void **state)
{
    (void)state;
    fixture f;
    begin(&f);
    program(&f, "#!/bin/sh\necho x\nsleep 60\n");
    f.run.timeout_ns = 50 * MS;
    assert_int_equal(run(&f), -ETIMEDOUT);
    int r = start(&f);
    for (int i = 0; i < 500 && r == KI_ERR_BUSY; i++) {
        const bool never = false;
        until(&f, &never, 10);
        r = start(&f);
    }
    assert_int_equal(r, 0);
    end(&f); /* in the middle of a run */
}

static void it_may_be_ended_at_any_moment(void **state)
{
    (void)state;
    for (int ms = 0; ms < 60; ms += 3) {
        fixture f;
        const bool never = false;
        begin(&f);
        program(&f, "#!/bin/sh\nsleep 0.02\necho x\nsleep 0.02\necho x\n");
        assert_int_equal(start(&f), 0);
        until(&f, &never, ms);
        end(&f);
    }
    fixture f;
    begin(&f);
    f.done_inside = true;
    program(&f, "#!/bin/sh\necho x\n");
    assert_int_equal(run(&f), 0);
    end(&f);
    begin(&f);
    f.done_inside = true;
    program(&f, "#!/bin/sh\nyes\n");
    assert_int_equal(run(&f), KI_ERR_LIMIT);
    end(&f);
    begin(&f);
    f.done_inside = true;
    f.run.timeout_ns = 50 * MS;
    program(&f, "#!/bin/sh\nsleep 60\n");
    assert_int_equal(run(&f), -ETIMEDOUT);
    end(&f);
}

/* A program that has its children reaped by the system. */
static void a_program_that_ignores_its_children_gets_the_output(void **state)
{
    (void)state;
    void (*before)(int) = signal(SIGCHLD, SIG_IGN);
    fixture f;
    begin(&f);
    program(&f, "#!/bin/sh\necho x\n");
    assert_int_equal(run(&f), 0);
    assert_str(ki_buf_str(&f.output), "x\n");
    program(&f, "#!/bin/sh\nexit 3\n"); /* what it ended with nobody knows */
    assert_int_equal(run(&f), -ECHILD);
    program(&f, "#!/bin/sh\nsleep 60\n");
    f.run.timeout_ns = 50 * MS;
    assert_int_equal(run(&f), -ETIMEDOUT);
    end(&f);
    signal(SIGCHLD, before);
}

/* One that reaps whatever there is. */
static void a_program_that_reaps_all_children_gets_the_output(void **state)
{
    (void)state;
    fixture f;
    begin(&f);
    program(&f, "#!/bin/sh\necho x\n");
    assert_int_equal(start(&f), 0);
    assert_true(waitpid(-1, NULL, 0) > 0);
    until(&f, &f.ended, 10000);
    assert_true(f.ended);
    assert_int_equal(f.code, 0);
    assert_str(ki_buf_str(&f.output), "x\n");
    end(&f);
}

/* The first three descriptors may be closed in the program. */
static void it_runs_without_standard_descriptors(void **state)
{
    (void)state;
    fixture f;
    begin(&f);
    program(&f, "#!/bin/sh\necho x\n");
    int saved[3];
    for (int i = 0; i < 3; i++) {
        saved[i] = fcntl(i, F_DUPFD_CLOEXEC, 100);
        close(i);
    }
    int r = start(&f);
    until(&f, &f.ended, 10000);
    for (int i = 0; i < 3; i++) {
        dup2(saved[i], i);
        close(saved[i]);
    }
    assert_int_equal(r, 0);
    assert_true(f.ended);
    assert_int_equal(f.code, 0);
    assert_str(ki_buf_str(&f.output), "x\n");
    end(&f);
}

static int sweep(const ki_alloc *alloc, void *user)
{
    (void)user;
    fixture f = {0};
    test_folder_init(&f.folder);
    ki_buf_init(&f.output, NULL, 2 << 20);
    f.environment[0] = "PATH=/usr/bin:/bin";
    f.run.timeout_ns = 20000 * MS;
    program(&f, "#!/bin/sh\nhead -c 100000 /dev/zero\n");
    ki_loop_options options = KI_OPTIONS_INIT(ki_loop_options);
    options.alloc = alloc;
    int r = ki_loop_new(&options, &f.loop, NULL);
    if (r == 0) {
        r = ki__exec_plugin_init(&f.plugin, f.loop, on_end);
        if (r == 0) {
            r = run(&f);
        }
        ki__exec_plugin_done(&f.plugin);
        ki_loop_unref(f.loop);
    }
    ki_buf_done(&f.output);
    test_folder_done(&f.folder);
    return r;
}

static void out_of_memory_is_reported(void **state)
{
    (void)state;
    test_alloc_sweep(sweep, NULL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_it_writes_comes_back),
        cmocka_unit_test(arguments_arrive_as_they_are),
        cmocka_unit_test(the_environment_is_what_is_given_and_nothing_else),
        cmocka_unit_test(no_descriptor_is_inherited),
        cmocka_unit_test(signals_are_as_for_a_new_program),
        cmocka_unit_test(it_leads_a_process_group_of_its_own),
        cmocka_unit_test(reading_its_input_finds_the_end),
        cmocka_unit_test(bad_ends_are_reported),
        cmocka_unit_test(an_unusable_command_fails_at_once),
        cmocka_unit_test(a_mebibyte_is_accepted),
        cmocka_unit_test(a_daemon_that_holds_the_pipe_is_not_waited_for),
        cmocka_unit_test(children_are_killed_with_it),
        cmocka_unit_test(a_run_that_was_killed_is_waited_for),
        cmocka_unit_test(it_may_be_ended_at_any_moment),
        cmocka_unit_test(a_program_that_ignores_its_children_gets_the_output),
        cmocka_unit_test(a_program_that_reaps_all_children_gets_the_output),
        cmocka_unit_test(it_runs_without_standard_descriptors),
        cmocka_unit_test(out_of_memory_is_reported),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
