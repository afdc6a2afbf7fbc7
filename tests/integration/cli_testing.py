# SPDX-License-Identifier: Apache-2.0
"""What the tests of the command share: a server, and the program under test with its lines.

Usage of each test_cli_*.py: test_cli_x.py <kinformer> <scratch folder> [names of tests]
"""
import json
import os
import pty
import queue
import subprocess
import sys
import termios
import tempfile
import threading
import time
import unittest
import urllib.request

import cli_server

PROGRAM, FOLDER = "", ""
WAIT = 60


class Run:
    """A command that runs; its lines can be waited for."""

    def __init__(self, *words, env=None, before=None):
        self.process = subprocess.Popen(
            [PROGRAM, *words], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
            stderr=subprocess.PIPE, env={**os.environ, **(env or {})}, preexec_fn=before)
        self.out, self.err = queue.Queue(), queue.Queue()
        self.threads = [threading.Thread(target=self.read, args=pair, daemon=True)
                        for pair in ((self.process.stdout, self.out),
                                     (self.process.stderr, self.err))]
        for thread in self.threads:
            thread.start()

    @staticmethod
    def read(stream, lines):
        for line in stream:
            lines.put(line.decode())
        lines.put(None)

    def until(self, text, lines=None):
        """The lines up to the one that has this text."""
        seen = []
        end = time.monotonic() + WAIT
        while time.monotonic() < end:
            try:
                line = (lines or self.out).get(timeout=0.2)
            except queue.Empty:
                continue
            if line is None:
                break
            seen.append(line)
            if text in line:
                return seen
        raise AssertionError(f"no {text!r} in {seen}")

    def until_error(self, text):
        return self.until(text, self.err)

    def end(self):
        """Ends it as a person would: the exit code, and what it said after what was read."""
        self.process.terminate()
        code = self.process.wait(timeout=WAIT)
        return code, self.rest(self.out), self.rest(self.err)

    def finish(self):
        """Whatever it does, that is over; first in order, so that it ends its own children."""
        if self.process.poll() is None:
            self.process.terminate()
            try:
                self.process.wait(timeout=WAIT / 2)
            except subprocess.TimeoutExpired:
                self.process.kill()
        self.process.wait()
        for thread in self.threads:
            thread.join()
        self.process.stdout.close()
        self.process.stderr.close()

    @staticmethod
    def rest(lines):
        found = []
        while True:
            line = lines.get(timeout=WAIT)
            if line is None:
                return found
            found.append(line)


def takes_keys(fd):
    """Whether keys come one by one on this terminal, without echo."""
    return termios.tcgetattr(fd)[3] & (termios.ICANON | termios.ECHO) == 0


def is_as_before(fd):
    both = termios.ICANON | termios.ECHO
    return termios.tcgetattr(fd)[3] & both == both


def on_terminal(*words, until=b"\0", seconds=WAIT, columns=100, rows=24, signals=(15,)):
    """Runs a command on a terminal of its own until it ends. Each time it has printed `until` again
    it gets the next of the signals; bytes are typed. What the terminal got, and the exit code."""
    pid, fd = pty.fork()
    if pid == 0:
        os.environ["TERM"] = "xterm"
        os.environ.pop("NO_COLOR", None)
        subprocess.run(["stty", "cols", str(columns), "rows", str(rows)], check=False)
        os.execv(PROGRAM, [PROGRAM, *words])
    seen, sent = b"", 0
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        try:
            piece = os.read(fd, 65536)
        except OSError:
            break
        seen += piece
        if sent < len(signals) and seen.count(until) > sent:
            if isinstance(signals[sent], bytes):
                assert takes_keys(fd)
                os.write(fd, signals[sent])
            else:
                os.kill(pid, signals[sent])
            sent += 1
        if not piece:
            break
    _, status = os.waitpid(pid, 0)
    assert is_as_before(fd)
    os.close(fd)
    return seen.decode(), os.waitstatus_to_exitcode(status)


def embedded_server_is_built():
    return "\n  apiserver " in subprocess.run([PROGRAM, "help"], capture_output=True, text=True,
                                              check=True).stdout


class Case(unittest.TestCase):
    def setUp(self):
        self.server = cli_server.Server(FOLDER)
        self.runs = []

    def tearDown(self):
        for run in self.runs:
            run.finish()
        self.server.stop()

    def start(self, *words, env=None):
        run = Run(*words, "--kubeconfig", self.server.kubeconfig, env=env)
        self.runs.append(run)
        return run

    def call(self, *words, env=None, kubeconfig=True):
        """Runs a command to its end: exit code, what it printed, what it said."""
        where = ["--kubeconfig", self.server.kubeconfig] if kubeconfig else []
        done = subprocess.run([PROGRAM, *words, *where], stdin=subprocess.DEVNULL, timeout=WAIT,
                              capture_output=True, env={**os.environ, **(env or {})}, check=False)
        return done.returncode, done.stdout.decode(), done.stderr.decode()

    def pod(self, name, namespace="shop", app="web", image="a", **fields):
        fields.setdefault("status", {"phase": "Pending"})
        return self.server.put("pods", namespace, name, metadata={"labels": {"app": app}},
                               spec={"containers": [{"name": "main", "image": image}]}, **fields)


class Served(unittest.TestCase):
    """Commands on the embedded server."""

    def setUp(self):
        if not embedded_server_is_built():
            self.skipTest("the embedded server was not built")
        self.folder = tempfile.TemporaryDirectory(dir=FOLDER)
        self.addCleanup(self.folder.cleanup)
        self.kubeconfig = os.path.join(self.folder.name, "config")
        self.runs = []
        self.url = ""

    def tearDown(self):
        for run in self.runs:
            run.finish()

    def start(self, *words):
        run = Run(*words, env={"KUBECONFIG": self.kubeconfig})
        self.runs.append(run)
        return run

    def serve(self, *words):
        run = self.start("apiserver", "--kubeconfig-out", self.kubeconfig, *words)
        self.url = run.until("http")[0].strip()
        return run

    def call(self, *words, env=None, text=None):
        done = subprocess.run([PROGRAM, *words], capture_output=True, input=text,
                              env={**os.environ, "KUBECONFIG": self.kubeconfig, **(env or {})},
                              timeout=WAIT, check=False, text=True)
        return done.returncode, done.stdout, done.stderr

    def write(self, name, content):
        path = os.path.join(self.folder.name, name)
        with open(path, "w", encoding="utf-8") as file:
            file.write(content)
        return path

    def ask(self, method, path, value=None, kind="application/json"):
        body = None if value is None else \
            value.encode() if isinstance(value, str) else json.dumps(value).encode()
        request = urllib.request.Request(self.url + path, data=body, method=method,
                                         headers={"Content-Type": kind})
        with urllib.request.urlopen(request, timeout=WAIT) as answer:
            return answer.read()

    def config_map(self, name, **data):
        return {"apiVersion": "v1", "kind": "ConfigMap",
                "metadata": {"name": name, "namespace": "default"}, "data": data}


def main():
    global PROGRAM, FOLDER
    PROGRAM, FOLDER = sys.argv[1:3]
    os.makedirs(FOLDER, exist_ok=True)
    unittest.main(module="__main__", argv=[sys.argv[0], *sys.argv[3:]])
