#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""`kinformer demo`: it prints what happens, fits the terminal, and exits with 0 only if every
cache equals the server."""
import re
import signal
import subprocess
import unittest
import urllib.request

import cli_testing
from cli_testing import Run, on_terminal

QUICK = ["demo", "--seconds", "3", "--objects", "500", "--rate", "200", "--wait", "60s"]
EQUAL = "All 6 caches match the server"
ESCAPES = re.compile(r"\x1b\[[0-9;?]*[A-Za-z]")


class Demo(unittest.TestCase):
    def setUp(self):
        if not cli_testing.embedded_server_is_built():
            self.skipTest("the embedded server was not built")

    def start(self, *words, env=None):
        run = Run(*words, env=env)
        self.addCleanup(run.finish)
        return run

    def wait(self, run):
        """The exit code, and the lines that were not read yet."""
        code = run.process.wait(timeout=2 * cli_testing.WAIT)
        return code, run.rest(run.out), run.rest(run.err)

    @staticmethod
    def post(url, text=""):
        with urllib.request.urlopen(url, data=text.encode(), timeout=cli_testing.WAIT) as answer:
            return answer.read()

    def test_it_prints_what_happens_and_exits_with_0(self):
        # It ignores the configuration of the user.
        run = self.start(*QUICK, env={"KUBECONFIG": "/nonexistent", "HOME": "/nonexistent",
                                      "HTTP_PROXY": "http://127.0.0.1:1",
                                      "http_proxy": "http://127.0.0.1:1"})
        code, out, err = self.wait(run)
        text = "".join(out)
        self.assertEqual((code, err), (0, []), text)
        order = ["server: listening on http://127.0.0.1:", "informers: all 6 synced in ",
                 "cluster: starting changes, 200 per second",
                 "server: closed all connections",
                 "server: ended all watches", "refuses new ones", "with its history expired",
                 "cluster: node-07 failed", "cluster: changes ended", "What happened",
                 EQUAL, " top -A\n", " watch pods -A\n"]
        at = 0
        for words in order:
            self.assertIn(words, text[at:], text)
            at = text.index(words, at)
        self.assertRegex(text, r"informer pods: relisted \d+ objects, delivered \d+ differences")
        self.assertRegex(text, r"pods on node-07: \d+, found in \d+\.\d us; scan of all \d+")
        self.assertRegex(text, r"work queue +[\d,]+ events became \d+ runs")
        self.assertNotIn("\x1b", text)
        self.assertLess(len(out), 150)

    def frames(self, columns, rows):
        seen, code = on_terminal(*QUICK, columns=columns, rows=rows)
        self.assertEqual(code, 0, seen[-3000:])
        self.assertTrue(seen.startswith("\x1b[?1049h"))
        shown, _, after = seen.rpartition("\x1b[?1049l")
        frames = shown.split("\x1b[H")[1:]
        self.assertGreater(len(frames), 5)
        for frame in frames:
            lines = ESCAPES.sub("", frame).split("\r\n")
            self.assertLessEqual(len(lines), rows)
            for line in lines:
                self.assertLessEqual(len(line), columns, line)
        for line in ESCAPES.sub("", after).replace("\r", "").splitlines():
            self.assertLessEqual(len(line), columns, line)
        self.assertIn(EQUAL, after)
        self.assertIn("\x1b[32m", frames[-1])
        return ESCAPES.sub("", frames[-1]), ESCAPES.sub("", after)

    def test_it_fits_a_small_terminal(self):
        last, after = self.frames(80, 24)
        self.assertRegex(last, r"RESOURCE +OBJECTS +ADDED +CHANGED +GONE +STATE +EVENTS OVER TIME")
        self.assertRegex(last, r"podcounts\.example\.com +16 ")
        self.assertIn("server: closed all connections", after)  # the whole story stays to be read

    def test_it_fills_a_large_terminal(self):
        last, _ = self.frames(200, 50)
        self.assertRegex(last, r"GONE +RELISTS +RESUMED +RECEIVED +MEMORY +STATE +EVENTS OVER TIME")
        self.assertIn("informers: all 6 synced", last)

    def test_caches_that_are_behind_are_a_failure(self):
        run = self.start("demo", "--seconds", "6", "--objects", "500", "--wait", "1s")
        url = re.search(r"http://[\d.:]+", run.until("listening on")[-1])[0]
        run.until("with its history expired")
        self.post(url + "/kinformer/faults", "lag=600s")  # watches tell nothing any more
        code, out, _ = self.wait(run)
        text = "".join(out)
        self.assertEqual(code, 1, text)
        self.assertIn("The caches do NOT match the server: of ", text)
        self.assertIn("\nThe first: ", text)
        self.assertNotIn(EQUAL, text)

    def test_a_server_that_cannot_be_read_is_a_failure(self):
        run = self.start("demo", "--seconds", "5", "--objects", "500", "--wait", "1s")
        url = re.search(r"http://[\d.:]+", run.until("listening on")[-1])[0]
        run.until("with its history expired")
        self.post(url + "/kinformer/faults", "status=403,verb=list")
        code, out, _ = self.wait(run)
        self.assertEqual(code, 1, out)
        self.assertIn("Nothing was compared: ", "".join(out))

    def test_who_has_seen_enough_still_learns_how_it_ended(self):
        run = self.start("demo", "--seconds", "600", "--objects", "500", "--wait", "60s")
        run.until("starting changes")
        run.process.send_signal(signal.SIGINT)
        code, out, _ = self.wait(run)
        self.assertEqual(code, 0, out)
        self.assertIn(EQUAL, "".join(out))

    def test_leaving_at_once_leaves_the_terminal_as_it_was(self):
        seen, code = on_terminal("demo", "--seconds", "600", "--objects", "500",
                                 until=b"starting changes")
        self.assertEqual(code, 1)
        self.assertIn("\x1b[?7h\x1b[?25h\x1b[?1049l", seen)
        self.assertIn("Nothing was compared", seen)

    def test_failed_output_is_a_failure(self):
        with open("/dev/full", "w", encoding="utf-8") as full:
            done = subprocess.run([cli_testing.PROGRAM, *QUICK], stdout=full,
                                  stderr=subprocess.PIPE, text=True, timeout=cli_testing.WAIT,
                                  check=False)
        self.assertEqual(done.returncode, 1)
        self.assertIn("cannot write: No space left on device", done.stderr)

    def test_usage(self):
        for words in (["--objects", "5"], ["--rate", "999999"], ["--seconds", "9999"], ["more"]):
            done = subprocess.run([cli_testing.PROGRAM, "demo", *words], capture_output=True,
                                  timeout=cli_testing.WAIT, check=False)
            self.assertEqual(done.returncode, 2, words)


if __name__ == "__main__":
    cli_testing.main()
