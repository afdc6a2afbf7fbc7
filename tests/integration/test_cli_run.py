#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""`kinformer run` against a scripted API server."""
import json
import os
import signal
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

    def control(self, *words):
        run = Run("run", *words, env=self.env)
        self.runs.append(run)
        return run

    def run_once(self, *words):
        return self.call("run", "pods", "--once", *words, env=self.env, kubeconfig=False)

    def path(self, name):
        return os.path.join(self.folder.name, name)

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
                  f'while [ ! -e {self.path("go")} ]; do sleep 0.02; done; '
                  f'echo end >>{self.path("log")}')
        run = self.control("pods", "--workers", "4", "--exec", "sh", "-c", script)
        self.wait_for(lambda: len(self.lines("log")) == 1)
        for i in range(1, 10):
            self.pod("web", image=str(i))
        time.sleep(0.3)
        self.assertEqual(self.lines("log"), ["begin"])
        open(self.path("go"), "w", encoding="utf-8").close()
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
        self.assertIn("shop/web: sh ended with 1; again later after 1 failure\n", err)
        self.assertIn("after 3 failures", err)

    def test_a_key_can_be_left_alone(self):
        self.pod("web")
        code, out, err = self.run_once("--max-retries=2", "--exec", "sh", "-c", "echo x; exit 7")
        self.assertEqual((code, out), (1, "x\n" * 3))
        self.assertIn("sh ended with 7; left alone after 3 failures", err)

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

    def test_input_that_nobody_reads_and_output_without_end_do_no_harm(self):
        self.pod("web", status={"message": "x" * 2000000})
        self.assertEqual(self.run_once("--exec", "true"), (0, "", ""))
        code, out, _ = self.run_once("--exec", "sh", "-c", "head -c 3000000 /dev/zero")
        self.assertEqual((code, len(out)), (0, 1 << 20))

    def test_a_run_that_takes_too_long_is_ended_with_its_children(self):
        self.pod("web")
        code, _, err = self.run_once("--timeout=200ms", "--max-retries=1", "--exec", "sh", "-c",
                                     f"sleep 1000 & echo $! >>{self.path('pids')}; wait")
        self.assertEqual(code, 1)
        self.assertIn("took too long", err)
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

    def test_resync_runs_for_all_again(self):
        self.pod("web")
        run = self.control("pods", "--resync=1s", "--exec", "sh", "-c", "echo $KINFORMER_EVENT")
        run.until("add")
        run.until("sync")

    def test_hostile_names_are_data(self):
        name = "$(touch pwned);`id`\n\x1b[2J"
        self.pod(name)
        code, out, err = self.run_once("--max-retries=1", "--exec", "sh", "-c",
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
