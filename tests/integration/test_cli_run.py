#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""`kinformer run` against a scripted API server."""
import json
import os
import resource
import signal
import subprocess
import tempfile
import time

import cli_testing
from cli_testing import Case, Run


class Controller(Case):
    def setUp(self):
        super().setUp()
        self.env = {"KUBECONFIG": self.server.kubeconfig}
        self.folder = tempfile.TemporaryDirectory(dir=cli_testing.FOLDER)
        self.addCleanup(self.folder.cleanup)

    def control(self, *words, before=None):
        run = Run("run", *words, env=self.env, before=before)
        self.runs.append(run)
        return run

    def run_once(self, *words):
        return self.call("run", "pods", "--once", *words, env=self.env, kubeconfig=False)

    def path(self, name):
        return os.path.join(self.folder.name, name)

    def until_exists(self, name):
        """Of a script: waits for a file, at most until the test is over."""
        return (f"while [ ! -e {self.path(name)} ] && [ -d {self.folder.name} ]; "
                "do sleep 0.02; done")

    def touch(self, name):
        open(self.path(name), "w", encoding="utf-8").close()

    def lines(self, name):
        if not os.path.exists(self.path(name)):
            return []
        with open(self.path(name), encoding="utf-8") as file:
            return file.read().splitlines()

    def wait_for(self, condition):
        end = time.monotonic() + cli_testing.WAIT
        while not condition():
            self.assertLess(time.monotonic(), end)
            time.sleep(0.01)

    def test_the_object_comes_on_standard_input_and_the_rest_in_the_environment(self):
        self.pod("web")
        script = "cat; echo $KINFORMER_EVENT $KINFORMER_KEY $KINFORMER_NAMESPACE " \
                 "$KINFORMER_NAME $KINFORMER_RESOURCE $KINFORMER_RETRIES"
        code, out, err = self.run_once("--exec", "sh", "-c", script)
        self.assertEqual((code, err), (0, ""))
        first, second = out.splitlines()
        self.assertEqual(json.loads(first)["metadata"]["name"], "web")
        self.assertEqual(second, "add shop/web shop web pods 0")

    def test_events(self):
        run = self.control("pods", "--exec", "sh", "-c",
                           'echo "$KINFORMER_EVENT" $(grep -o \'"image":"."\')')
        self.pod("web")
        run.until('add "image":"a"')
        self.pod("web", image="b")
        run.until('update "image":"b"')
        self.server.delete("pods", "shop", "web")
        run.until('delete "image":"b"')
        self.assertEqual(run.end(), (0, [], []))

    def test_one_run_a_key_at_a_time_and_changes_merge(self):
        self.pod("web", image="0")
        script = (f'echo begin >>{self.path("log")}; cat >>{self.path("seen")}; '
                  f'{self.until_exists("go")}; '
                  f'echo end >>{self.path("log")}')
        run = self.control("pods", "--workers", "4", "--exec", "sh", "-c", script)
        self.wait_for(lambda: len(self.lines("log")) == 1)
        for i in range(1, 10):
            self.pod("web", image=str(i))
        time.sleep(0.3)
        self.assertEqual(self.lines("log"), ["begin"])
        self.touch("go")
        self.wait_for(lambda: len(self.lines("log")) == 4)
        self.assertEqual(self.lines("log"), ["begin", "end"] * 2)
        last = json.loads(self.lines("seen")[-1])
        self.assertEqual(last["spec"]["containers"][0]["image"], "9")
        self.assertEqual(run.end()[0], 0)

    def test_workers_run_at_the_same_time(self):
        for name in "abc":
            self.pod(name)
        # Each waits until all three have begun.
        script = (f'echo x >>{self.path("log")}; '
                  f'while [ $(wc -l <{self.path("log")}) -lt 3 ]; do sleep 0.02; done')
        code, _, err = self.run_once("-w3", "--exec", "sh", "-c", script)
        self.assertEqual((code, err), (0, ""))

    def test_failures_come_again_and_the_event_stays(self):
        self.pod("web")
        script = 'echo "$KINFORMER_EVENT $KINFORMER_RETRIES"; [ "$KINFORMER_RETRIES" = 3 ]'
        code, out, err = self.run_once("--exec", "sh", "-c", script)
        self.assertEqual((code, out.splitlines()), (0, [f"add {i}" for i in range(4)]))
        self.assertIn("shop/web: sh exited with 1; retrying after 1 failed run\n", err)
        self.assertIn("after 3 failed runs", err)

    def test_a_key_is_given_up_after_so_many_failed_runs(self):
        self.pod("web")
        for limit in (1, 3):
            code, out, err = self.run_once(f"--max-retries={limit}", "--exec", "sh", "-c",
                                           "echo x; exit 7")
            self.assertEqual((code, out), (1, "x\n" * limit))
            self.assertIn(f"sh exited with 7; giving up after {limit} failed run", err)

    def test_a_deletion_that_failed_comes_again_with_the_last_state(self):
        self.pod("web")
        script = ('[ "$KINFORMER_EVENT" != delete ] || { echo "$KINFORMER_RETRIES" '
                  '$(grep -c containers); [ "$KINFORMER_RETRIES" = 2 ]; } && echo ok')
        run = self.control("pods", "--exec", "sh", "-c", script)
        run.until("ok")
        self.server.delete("pods", "shop", "web")
        self.assertEqual([line for line in run.until("2 1") if "ok" not in line],
                         ["0 1\n", "1 1\n", "2 1\n"])

    def test_a_run_can_ask_to_come_again(self):
        self.pod("web")
        script = (f'echo x >>{self.path("log")}; [ $(wc -l <{self.path("log")}) = 3 ] || '
                  'echo \'{"retryAfterSeconds": 0.2}\'')
        began = time.monotonic()
        code, out, err = self.run_once("--exec", "sh", "-c", script)
        self.assertEqual((code, out, err), (0, "", ""))
        self.assertGreaterEqual(time.monotonic() - began, 0.4)
        self.assertEqual(len(self.lines("log")), 3)

    def test_input_that_nobody_reads_does_no_harm(self):
        self.pod("web", status={"message": "x" * 2000000})
        self.assertEqual(self.run_once("--exec", "true"), (0, "", ""))

    def test_all_output_arrives(self):
        self.pod("web")
        code, out, err = self.run_once("--exec", "head", "-c", "20000000", "/dev/zero")
        self.assertEqual((code, len(out), err), (0, 20000000, ""))

    def test_output_arrives_while_the_command_runs_once_there_is_much_of_it(self):
        self.pod("web")
        run = self.control("pods", "--exec", "sh", "-c", "yes line | head -c 2000000; echo; "
                           f"echo last; {self.until_exists('go')}")
        run.until("last")
        self.touch("go")

    def test_lines_of_parallel_runs_are_not_mixed(self):
        for name in "abcd":
            self.pod(name)
        line = "x" * 5000
        script = f'yes "$KINFORMER_NAME {line} $KINFORMER_NAME" | head -n 400'
        code, out, err = self.run_once("-w4", "--exec", "sh", "-c", script)
        self.assertEqual((code, err), (0, ""))
        lines = out.splitlines()
        self.assertEqual(sorted(set(lines)), [f"{name} {line} {name}" for name in "abcd"])
        self.assertEqual(len(lines), 1600)

    def test_a_line_that_is_too_long_is_split_when_another_run_prints_and_that_is_reported(self):
        self.pod("a")
        self.pod("b")
        # b prints and ends while a is in the middle of a line.
        script = ('case $KINFORMER_NAME in '
                  f'a) head -c 2000000 /dev/zero | tr "\\0" a; touch {self.path("half")}; '
                  f'{self.until_exists("ended")}; echo a;; '
                  f'b) {self.until_exists("half")}; echo b;; '
                  'esac')
        run = self.control("pods", "-w2", "--once", "--exec", "sh", "-c", script)
        said = run.until_error("split")[-1]
        self.assertIn("shop/a: a line of output longer than 1048576 bytes was split", said)
        self.touch("ended")
        self.assertEqual(run.process.wait(timeout=cli_testing.WAIT), 0)
        lines = run.rest(run.out)
        self.assertEqual([line[0] for line in lines], ["a", "b", "a"])
        self.assertEqual(sum(map(len, lines)), 2000000 + len("\nb\na\n"))

    def test_a_run_that_takes_too_long_is_ended_with_its_children(self):
        self.pod("web")
        code, _, err = self.run_once("--timeout=200ms", "--max-retries=2", "--exec", "sh", "-c",
                                     f"sleep 1000 & echo $! >>{self.path('pids')}; wait")
        self.assertEqual(code, 1)
        self.assertIn("timed out", err)
        pids = [int(line) for line in self.lines("pids")]
        self.assertEqual(len(pids), 2)
        self.wait_for(lambda: not any(self.is_alive(pid) for pid in pids))

    @staticmethod
    def is_alive(pid):
        try:
            with open(f"/proc/{pid}/stat", encoding="utf-8") as file:
                return file.read().rsplit(")", 1)[1].split()[0] != "Z"
        except OSError:
            return False

    def test_signals_end_runs_in_order(self):
        self.pod("web")
        script = f"trap 'echo ended >>{self.path('log')}; exit 0' TERM; echo begun; " \
                 f"touch {self.path('begun')}; while :; do sleep 0.02; done"
        run = self.control("pods", "--exec", "sh", "-c", script)
        self.wait_for(lambda: os.path.exists(self.path("begun")))
        code, out, _ = run.end() # a shell may say that its own child was ended
        self.assertEqual((code, out), (0, ["begun\n"]))
        self.assertEqual(self.lines("log"), ["ended"])

    def test_a_second_signal_does_not_wait(self):
        self.pod("web")
        run = self.control("pods", "--exec", "sh", "-c", f"trap '' TERM; "
                           f"touch {self.path('begun')}; while :; do sleep 0.02; done")
        self.wait_for(lambda: os.path.exists(self.path("begun")))
        run.process.send_signal(signal.SIGINT)
        time.sleep(0.3)
        self.assertIsNone(run.process.poll())
        began = time.monotonic()
        run.process.send_signal(signal.SIGINT)
        self.assertEqual(run.process.wait(timeout=cli_testing.WAIT), 0)
        self.assertLess(time.monotonic() - began, 8)

    def test_runs_end_in_order_also_when_nobody_reads_the_output(self):
        self.pod("a")
        self.pod("b")
        script = ('case $KINFORMER_NAME in '
                  f'a) trap "echo ended >>{self.path("log")}; exit 0" TERM; '
                  f'touch {self.path("begun")}; while :; do sleep 0.02; done;; '
                  f'b) {self.until_exists("go")}; echo b;; '
                  'esac')
        words = [cli_testing.PROGRAM, "run", "pods", "-w2", "--exec", "sh", "-c", script]
        with subprocess.Popen(words, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL,
                              env={**os.environ, **self.env}) as process:
            self.wait_for(lambda: os.path.exists(self.path("begun")))
            process.stdout.close()
            self.touch("go")
            self.assertEqual(process.wait(timeout=cli_testing.WAIT), 0)
        self.assertEqual(self.lines("log"), ["ended"])

    def test_it_works_if_sigchld_was_ignored_at_the_start(self):
        self.pod("web")
        words = [cli_testing.PROGRAM, "run", "pods", "--once", "--exec", "sh", "-c", "echo hi"]
        done = subprocess.run(words, env={**os.environ, **self.env}, timeout=cli_testing.WAIT,
                              capture_output=True, check=False,
                              preexec_fn=lambda: signal.signal(signal.SIGCHLD, signal.SIG_IGN))
        self.assertEqual((done.returncode, done.stdout, done.stderr), (0, b"hi\n", b""))

    def test_a_lack_of_descriptors_is_a_failed_run(self):
        count = 40
        for i in range(count):
            self.pod(f"p{i}")
        script = f'{self.until_exists("go")}; echo x >>{self.path("log")}'
        limit = lambda: resource.setrlimit(resource.RLIMIT_NOFILE, (32, 32))
        run = self.control("pods", "--once", f"--workers={count}", "--exec", "sh", "-c", script,
                           before=limit)
        said = run.until_error("Too many open files")[-1]
        self.assertRegex(said, "shop/p[0-9]+: cannot create a pipe: Too many open files; "
                               "retrying after 1 failed run\n")
        self.assertIsNone(run.process.poll())
        self.touch("go")
        self.assertEqual(run.process.wait(timeout=cli_testing.WAIT), 0)
        self.assertEqual(len(self.lines("log")), count)

    def test_the_command_is_one_word_after_an_equals_sign_or_all_after_two_dashes(self):
        self.pod("web")
        code, out, err = self.call("run", "pods", "--exec=env", "--once", env=self.env,
                                   kubeconfig=False)
        self.assertEqual((code, err), (0, ""))
        self.assertIn("KINFORMER_KEY=shop/web\n", out)
        self.assertEqual(self.run_once("--", "sh", "-c", "echo $1", "--once", "-A"),
                         (0, "-A\n", ""))

    def test_resync_runs_for_all_again(self):
        self.pod("web")
        run = self.control("pods", "--resync=1s", "--exec", "sh", "-c", "echo $KINFORMER_EVENT")
        run.until("add")
        run.until("sync")

    def test_hostile_names_are_data(self):
        name = "$(touch pwned);`id`\n\x1b[2J"
        self.pod(name)
        code, out, err = self.run_once("--max-retries=2", "--exec", "sh", "-c",
                                       'printf %s "$KINFORMER_NAME"; exit 1')
        self.assertEqual((code, out), (1, name * 2))
        self.assertNotIn("\x1b", err)
        self.assertEqual(len(err.splitlines()), 2)
        self.assertFalse(os.path.exists("pwned"))

    def test_wrong_calls(self):
        for words in (["pods"], ["pods", "--exec"], ["pods,cm", "--exec", "x"],
                      ["pods", "--workers=1000", "--exec", "x"],
                      ["pods", "--resync=1ms", "--exec", "x"]):
            self.assertEqual(self.call("run", *words, env=self.env, kubeconfig=False)[0], 2)
        self.pod("web")
        code, _, err = self.run_once("--exec", "/no/such/command")
        self.assertEqual(code, 1)
        self.assertIn("cannot run /no/such/command: No such file or directory", err)


if __name__ == "__main__":
    cli_testing.main()
