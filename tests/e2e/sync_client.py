# SPDX-License-Identifier: Apache-2.0
"""A sync_client process, and a model of its output: each object comes once, changes from what
was delivered last, and goes once."""
import json
import subprocess
import threading
import time
from urllib.parse import unquote

import processes

PATIENCE_S = 90


class SyncClient:
    """sync_client.c describes what it prints and which commands it knows."""

    def __init__(self, program, kubeconfig, resources, log, flags=()):
        self.resources = list(resources)
        self.log = log
        self.changed = threading.Condition()
        self.known = {resource: {} for resource in resources}  # key: (uid, version)
        self.events = []  # (what, resource, key, uid, version, more)
        self.complaints = []
        self.errors = []  # (resource, HTTP code, reason)
        self.synced = set()
        self.discovered = False
        self.answer = None
        self.ended = False
        with open(log, "ab") as errors:
            self.process = processes.spawn(
                [program, "--kubeconfig", kubeconfig, *flags, *resources], text=True,
                stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=errors)
        self.reader = threading.Thread(target=self.read, daemon=True)
        self.reader.start()

    # ---- what it says ----

    def read(self):
        answer = []
        for line in self.process.stdout:
            words = line.rstrip("\n").split(" ", 3 if line.startswith("#") else -1)
            with self.changed:
                if words[0] in ("dumped", "written", "healthy", "ended", "encoded",
                                "stopped"):
                    self.answer, answer = (words[0], answer), []
                elif words[0] in ("=", "#", "@", "%", "health"):
                    answer.append(words[1:])
                elif words[0] == "resource":
                    self.resources.append(words[1])
                    self.known[words[1]] = {}
                elif words[0] == "discovered":
                    self.discovered = True
                elif words[0] == "synced":
                    self.synced.add(words[1])
                elif words[0] == "error":
                    self.errors.append((words[1], int(words[2]), words[3]))
                else:
                    self.note(*words)
                self.changed.notify_all()
        with self.changed:
            self.ended = True
            self.changed.notify_all()

    def note(self, what, resource, key, uid, version, more):
        """Whether the event fits to what was delivered before."""
        key = unquote(key)
        before = self.known[resource].get(key)
        fits = {"+": before is None,
                "~": before == (uid, more),
                "-": before is not None and before[0] == uid}
        if not fits[what]:
            self.complaints.append(f"{what} {resource} {key} {uid} {version} {more} after {before}")
        if what == "-":
            self.known[resource].pop(key, None)
        else:
            self.known[resource][key] = (uid, version)
        self.events.append((what, resource, key, uid, version, more))

    # ---- asking it ----

    def wait(self, condition, what, seconds=PATIENCE_S):
        """Waits for condition(), which is asked whenever a line came."""
        end = time.monotonic() + seconds
        with self.changed:
            while not condition():
                left = end - time.monotonic()
                if self.ended or left <= 0:
                    why = f"it ended with {self.process.poll()}" if self.ended else "too late"
                    raise AssertionError(f"not {what}: {why}")
                self.changed.wait(left)

    def wait_for_discovery(self):
        """Of a client with --all: until self.resources has them."""
        self.wait(lambda: self.discovered, "discovered")

    def wait_for_sync(self):
        self.wait(lambda: self.synced >= set(self.resources), "synced")

    def wait_for_version(self, resource, versions):
        """Until the handler has received exactly these objects, {key: (uid, version)}."""
        self.wait(lambda: self.known[resource] == versions, f"notified of all {resource}")

    def ask(self, command, end):
        with self.changed:
            self.answer = None
        self.process.stdin.write(command + "\n")
        self.process.stdin.flush()
        self.wait(lambda: self.answer is not None and self.answer[0] == end, end)
        return self.answer[1]

    def dump(self):
        """{resource: {key: (uid, version)}} of the caches, and the set of encodings by resource."""
        objects = {resource: {} for resource in self.resources}
        encodings = {resource: set() for resource in self.resources}
        for resource, key, uid, version, encoding in self.ask("dump", "dumped"):
            key = unquote(key)
            assert key not in objects[resource], f"{resource} {key} is there twice"
            objects[resource][key] = (uid, version)
            encodings[resource].add(encoding)
        return objects, encodings

    def whole_objects(self):
        """{(resource, key): what the object is as JSON}."""
        return {(resource, unquote(key)): json.loads(text)
                for resource, key, text in self.ask("json", "written")}

    def read_paths(self, questions):
        """For each (resource, key, path): (number of values, type, content, JSON) of the first."""
        lines = [f"path {resource} {key.encode().hex()} {path.encode().hex()}"
                 for resource, key, path in questions]
        answers = self.ask("\n".join([*lines, "end"]), "ended")
        return [(int(count), type_name, content, bytes.fromhex(text).decode())
                for count, type_name, content, text in answers]

    def protobuf(self):
        """{(resource, key): (number of bytes, checksum)} of what can be protobuf."""
        return {(resource, unquote(key)): (int(size), checksum)
                for resource, key, size, checksum in self.ask("protobuf", "encoded")}

    def health(self):
        """{resource: {name: number}}."""
        return {words[0]: {name: int(value) for name, value in (w.split("=") for w in words[1:])}
                for words in self.ask("health", "healthy")}

    # ---- its end ----

    def quit(self):
        """Has it stop in order, and sees that it can."""
        self.process.stdin.write("quit\n")
        self.process.stdin.close()
        try:
            self.process.wait(PATIENCE_S)
        except subprocess.TimeoutExpired:
            raise AssertionError("it does not stop") from None
        self.reader.join()
        if self.process.returncode != 0 or self.answer is None or self.answer[0] != "stopped":
            raise AssertionError(f"it ended with {self.process.returncode}")

    def close(self):
        processes.kill(self.process)
        self.reader.join()
        self.process.stdout.close()
        self.process.stdin.close()
