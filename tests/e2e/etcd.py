# SPDX-License-Identifier: Apache-2.0
"""The etcd below a server, by its JSON gateway: compaction, and a recorder of all that is written,
which is the truth that informers are held to. It needs a kube-apiserver that stores JSON."""
import base64
import http.client
import json
import socket
import threading
import time

from histories import Log

PREFIX = "/registry/"
LAST = PREFIX + "kinformer-last"  # a key of ours, and of no resource
PATIENCE_S = 60


def encode(text):
    return base64.b64encode(text.encode()).decode()


def whole(prefix):
    """The range of the keys with this prefix, as etcd's API requires it."""
    return {"key": encode(prefix), "range_end": encode(prefix[:-1] + chr(ord(prefix[-1]) + 1))}


class Etcd:
    def __init__(self, port):
        self.port = port

    def connect(self, timeout):
        return http.client.HTTPConnection("127.0.0.1", self.port, timeout=timeout)

    def ask(self, path, body):
        connection = self.connect(PATIENCE_S)
        try:
            connection.request("POST", path, json.dumps(body))
            response = connection.getresponse()
            answer = json.loads(response.read())
            if response.status != 200:
                raise RuntimeError(f"etcd: {path}: {answer}")
            return answer
        finally:
            connection.close()

    def put(self, key, value):
        """Returns the version."""
        answer = self.ask("/v3/kv/put", {"key": encode(key), "value": encode(value)})
        return int(answer["header"]["revision"])

    def version(self):
        answer = self.ask("/v3/kv/range", {"key": encode(LAST), "count_only": True})
        return int(answer["header"]["revision"])

    def compact(self, keep):
        """Forgets all but the last versions. Returns from where on they are kept."""
        version = self.version() - keep
        if version > 0:
            try:
                self.ask("/v3/kv/compaction", {"revision": version})
            except RuntimeError as error:
                if "compacted" not in str(error):  # that much was forgotten before
                    raise
        return version


class Recorder:
    """Writes down what is written to some resources: {first part of their keys: name}."""

    def __init__(self, etcd, resources):
        self.etcd = etcd
        self.resources = resources
        self.log = Log()
        self.changed = threading.Condition()
        self.version = 0  # up to which all was seen
        self.count = 0
        self.error = None
        self.connection = etcd.connect(None)
        self.thread = threading.Thread(target=self.run, daemon=True)

    def __enter__(self):
        request = {"create_request": {**whole(PREFIX), "start_revision": "1"}}
        self.connection.request("POST", "/v3/watch", json.dumps(request))
        self.thread.start()
        return self

    def __exit__(self, kind, error, trace):
        try:
            self.connection.sock.shutdown(socket.SHUT_RDWR)
        except OSError:
            pass
        self.thread.join()
        self.connection.close()

    def run(self):
        try:
            with self.connection.getresponse() as response:
                while line := response.readline():
                    self.read(json.loads(line))
        except (OSError, ValueError, KeyError, http.client.HTTPException) as error:
            self.error = error

    def read(self, answer):
        result = answer["result"]
        if result.get("canceled"):
            raise ValueError(f"the watch of etcd was ended: {result}")
        with self.changed:
            for event in result.get("events", ()):
                self.note(event)
            self.changed.notify_all()

    def note(self, event):
        kv = event["kv"]
        path = base64.b64decode(kv["key"]).decode().removeprefix(PREFIX)
        self.version = int(kv["mod_revision"])
        for prefix, resource in self.resources.items():
            if path.startswith(prefix + "/"):
                self.count += 1
                key = path.removeprefix(prefix + "/")
                if event.get("type") == "DELETE":
                    self.log.note(resource, key, self.version)
                else:
                    metadata = json.loads(base64.b64decode(kv["value"]))["metadata"]
                    self.log.note(resource, key, self.version, metadata["uid"],
                                  metadata.get("labels"))

    def finish(self):
        """Until all that was written so far is in the log."""
        version = self.etcd.put(LAST, "")
        end = time.monotonic() + PATIENCE_S
        with self.changed:
            while self.version < version:
                if self.error is not None or time.monotonic() > end:
                    raise RuntimeError(f"the recorder is behind: {self.error}")
                self.changed.wait(1)
