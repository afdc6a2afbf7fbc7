# SPDX-License-Identifier: Apache-2.0
"""The programs that are measured, each as a process that gets its commands line by line, and what
the kernel says of a process."""
import json
import os
import select
import signal
import subprocess
import sys
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent.parent
sys.path.insert(0, str(ROOT / "tests" / "e2e"))
import processes  # noqa: E402  (found by the line above)

from results import WHAT, family  # noqa: E402

OUT = ROOT / "build" / "bench" / "cluster"
IDLE_S = 1.0
POLL_S = 0.01
AGENTS = {"kinformer": "bench-kinformer", "client-go": "bench-client-go",
          "kube-rs": "bench-kube-rs", "curl": "bench-curl"}


class ClientError(Exception):
    pass


# ---- what the kernel knows ----

def cpu_s(pid):
    """Processor time of a living process, all threads, user and system, to the nanosecond."""
    return time.clock_gettime((~pid << 3) | 2)  # the id that clock_getcpuclockid() gives


def memory(pid):
    """Bytes: what is resident, its share of shared pages counted once, and the most ever."""
    found = {}
    for name in ("smaps_rollup", "status"):
        for line in Path(f"/proc/{pid}/{name}").read_text(encoding="ascii").splitlines():
            words = line.split()
            if len(words) >= 3 and words[-1] == "kB":
                found[words[0].rstrip(":")] = int(words[-2]) * 1024
    return {"rss": found["Rss"], "pss": found["Pss"], "anonymous": found["Anonymous"],
            "peak": found["VmHWM"]}


def wait_until_idle(pid, timeout, idle_s=IDLE_S):
    """Waits until a process has not worked for a while. Returns when it last did, and its time."""
    end = time.monotonic() + timeout
    last, last_change = cpu_s(pid), time.monotonic()
    while time.monotonic() - last_change < idle_s:
        time.sleep(POLL_S)
        now = cpu_s(pid)
        # Idle runtimes wake up occasionally.
        if now - last > 0.001:
            last, last_change = now, time.monotonic()
        if time.monotonic() > end:
            raise ClientError(f"process {pid} does not come to rest within {timeout} s")
    return last_change, cpu_s(pid)


# ---- processes that obey ----

class Talker:
    """A process that reads commands and answers in lines."""

    def __init__(self, name, command, log, environment=None):
        self.name = name
        self.log = log
        self.buffer = b""
        self.start = time.monotonic()
        with open(log, "ab") as errors:
            self.process = processes.spawn(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                                           stderr=errors, env={**os.environ, **(environment or {})})
        self.pid = self.process.pid

    def say(self, line):
        self.process.stdin.write(line.encode() + b"\n")
        self.process.stdin.flush()

    def line(self, timeout):
        """The next line that it prints."""
        end = time.monotonic() + timeout
        while b"\n" not in self.buffer:
            left = end - time.monotonic()
            if left <= 0 or not select.select([self.process.stdout], [], [], left)[0]:
                raise ClientError(f"{self.name}: no answer within {timeout} s")
            piece = os.read(self.process.stdout.fileno(), 1 << 20)
            if not piece:
                raise ClientError(f"{self.name} has ended:\n{processes.tail(self.log)}")
            self.buffer += piece
        line, self.buffer = self.buffer.split(b"\n", 1)
        return line.decode()

    def expect(self, word, timeout):
        """The words of the next line after the first, which is `word`; lines before it too."""
        before = []
        end = time.monotonic() + timeout
        while True:
            words = self.line(max(0.001, end - time.monotonic())).split(" ", 1)
            if words[0] == word:
                return (words[1] if len(words) > 1 else ""), before
            before.append(" ".join(words))

    def pause(self):
        self.process.send_signal(signal.SIGSTOP)

    def resume(self):
        self.process.send_signal(signal.SIGCONT)

    def close(self):
        processes.kill(self.process)
        self.process.stdin.close()
        self.process.stdout.close()


class Writer(Talker):
    """Fills the server and changes what is there."""

    def __init__(self, kubeconfig, log):
        super().__init__("writer", [str(OUT / "writer"), kubeconfig,
                                    str(ROOT / "bench" / "data" / "pod.json")], log)

    def do(self, command, timeout):
        """Returns the last resource version, and the lines that were printed."""
        self.say(command)
        version, lines = self.expect("done", timeout)
        return int(version), lines


class Client(Talker):
    """One of the clients that are compared."""

    def __init__(self, kind, mode, kubeconfig, log):
        what = WHAT.get(kind, "whole")
        commands = {
            "kinformer": [str(OUT / "kinformer"), kubeconfig, mode, what],
            "client-go": [str(OUT / "informer"), kubeconfig, what],
            "kube-rs": [str(OUT / "kube-rs"), kubeconfig, mode, what],
        }
        gate = {"KUBE_FEATURE_WatchListClient": "true" if mode == "stream" else "false"}
        super().__init__(f"{kind} {mode}", commands[family(kind)], log, gate)
        self.kind, self.mode = kind, mode
        self.events = 0  # when it was stopped

    def count(self):
        """Events after the first sync."""
        self.say("count")
        return int(self.expect("count", 60)[0])

    def until(self, version, timeout):
        """Waits until its handler has this version. Returns the events so far, and when."""
        self.say(f"until {version}")
        events, ns = self.expect("reached", timeout)[0].split()
        return int(events), int(ns)

    def marks(self):
        """By version, when the handler was called."""
        self.say("marks")
        return {int(version): int(ns) for version, ns in
                (line.split() for line in self.expect("done", 60)[1])}

    def own_memory(self):
        self.say("memory")
        return json.loads(self.expect("memory", 60)[0])
