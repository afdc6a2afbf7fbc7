# SPDX-License-Identifier: Apache-2.0
"""An API server for the tests of the command: discovery, the store of api_server.py, watches that
can be cut, a history that can be forgotten, and answers that a test wants instead. It runs in the
process of the test."""
import json
import os
import socket
import threading
import time

import api_server
import discovery_data
from api_server import lock
from http_server import Request, head

END = b"0\r\n\r\n"
ROOTS = {"pods": "api/v1", "configmaps": "api/v1", "nodes": "api/v1", "secrets": "api/v1",
         "deployments": "apis/apps/v1", "widgets": "apis/example.com/v1"}
KINDS = {"pods": "Pod", "configmaps": "ConfigMap", "nodes": "Node", "secrets": "Secret",
         "deployments": "Deployment", "widgets": "Widget"}


def failure(code, reason, message):
    return json.dumps({"kind": "Status", "apiVersion": "v1", "status": "Failure",
                       "message": message, "reason": reason, "code": code}).encode()


class Server:
    def __init__(self, folder):
        self.store = api_server.Store()
        self.cuts = 0
        self.watches = 0  # that received all current objects
        self.oldest = 0
        self.late = False  # requests for expired history fail in the stream, a moment later
        self.refused = {}  # resource: (code, reason, message)
        self.groups = discovery_data.GROUPS
        self.list_failure = None  # as above, for lists of any resource
        self.mute = False  # lists and watches get no answer
        self.streams = True  # else it refuses streaming lists, as servers without the gate do
        self.asked = []
        self.connections = set()
        self.listener = None
        self.stopped = True
        self.port = 0
        self.listen()
        self.kubeconfig = os.path.join(folder, f"cli-{os.getpid()}-{self.port}.kubeconfig")
        with open(self.kubeconfig, "w", encoding="utf-8") as file:
            file.write(api_server.CONFIG % self.port)

    # What a test does.

    def put(self, resource, namespace, name, **fields):
        """Makes an object or changes it; what is given comes in place of what was there."""
        root = ROOTS[resource]
        value = {"apiVersion": root.split("/", 1)[1], "kind": KINDS[resource],
                 "metadata": dict(fields.pop("metadata", {})), **fields}
        key = (root, resource, namespace, name)
        with lock:
            if key in self.store.objects:
                value["metadata"]["uid"] = self.store.objects[key]["metadata"]["uid"]
            return self.store.put(key, value)

    def delete(self, resource, namespace, name):
        with lock:
            self.store.delete((ROOTS[resource], resource, namespace, name), {})

    def cut(self):
        """Ends all watches in the middle of a line."""
        with lock:
            self.cuts += 1
            lock.notify_all()

    def forget(self):
        """Watches of the past get 410 from now on."""
        with lock:
            self.oldest = self.store.version
            self.store.history.clear()

    def stop(self):
        """Nobody can connect, and connections break."""
        self.stopped = True
        self.listener.shutdown(socket.SHUT_RDWR)
        self.listener.close()
        with lock:
            for sock in self.connections:
                try:
                    sock.shutdown(socket.SHUT_RDWR)
                except OSError:
                    pass
            self.connections.clear()
            lock.notify_all()

    def listen(self):
        self.stopped = False
        self.listener = socket.socket()
        self.listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        self.listener.bind(("127.0.0.1", self.port))
        self.listener.listen(64)
        self.port = self.listener.getsockname()[1]
        threading.Thread(target=self.accept, args=(self.listener,), daemon=True).start()

    # What it does.

    def accept(self, listener):
        while True:
            try:
                sock, _ = listener.accept()
            except OSError:
                return
            sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            with lock:
                self.connections.add(sock)
            threading.Thread(target=self.serve, args=(sock,), daemon=True).start()

    def serve(self, sock):
        request = Request(sock, "api")
        try:
            while request.read() and self.handle(request) is not False:
                pass
        except OSError:
            pass
        sock.close()
        with lock:
            self.connections.discard(sock)

    def handle(self, request):
        if self.stopped:
            return False
        self.asked.append(f"{request.method} {request.target}")
        if self.discover(request):
            return True
        where = api_server.place(request.path)
        root = where[0].split("/")
        if len(root) == 3 and root[2] not in [name for name, _ in self.groups.get(root[1], [])]:
            request.answer(failure(404, "NotFound", "the server could not find the resource"),
                           "Content-Type: application/json", status="404 Not Found")
            return True
        if where[1] in self.refused:
            code, reason, message = self.refused[where[1]]
            request.answer(failure(code, reason, message), "Content-Type: application/json",
                           status=f"{code} {reason}")
            return True
        if self.mute and where[1]:
            with lock:
                lock.wait_for(lambda: self.stopped)
            return False
        if self.list_failure and not request.query.get("watch"):
            code, reason, message = self.list_failure
            request.answer(failure(code, reason, message), "Content-Type: application/json",
                           status=f"{code} {reason}")
            return True
        if request.query.get("sendInitialEvents") and not self.streams:
            request.answer(failure(422, "Invalid", "sendInitialEvents is forbidden for watch"),
                           "Content-Type: application/json", status="422 Unprocessable Entity")
            return True
        if request.query.get("watch") == "true":
            return self.watch(request, where)
        api_server.handle(request, self.store)
        return True

    def discover(self, request):
        found = discovery_data.legacy_paths(self.groups).get(request.path)
        if found is None:
            return False
        request.answer(json.dumps(found).encode(), "Content-Type: application/json")
        return True

    def watch(self, request, where):
        seen = int(request.query.get("resourceVersion") or 0)
        initial = request.query.get("sendInitialEvents") == "true"
        if seen < self.oldest and not initial and self.late:
            request.send(head("200 OK", "Content-Type: application/json",
                              "Transfer-Encoding: chunked"))
            time.sleep(0.2)
            gone = failure(410, "Expired", "too old resource version").decode()
            request.send(api_server.line("ERROR", gone) + END)
            return True
        if seen < self.oldest and not initial:
            request.answer(failure(410, "Expired", "too old resource version"),
                           "Content-Type: application/json", status="410 Gone")
            return True
        request.send(head("200 OK", "Content-Type: application/json",
                          "Transfer-Encoding: chunked"))
        with lock:
            cuts = self.cuts
            if initial:
                for value in api_server.chosen(self.store, where[0], where[1], where[2],
                                               request.query.get("labelSelector", "")):
                    request.send(api_server.line("ADDED", json.dumps(value)))
                seen = self.store.version
                request.send(api_server.bookmark(seen, True))
            self.watches += 1
            while True:
                for version, kind, key, text in self.store.history:
                    if version > seen and key[:2] == where[:2] and where[2] in ("", key[2]):
                        request.send(api_server.line(kind, text))
                        seen = version
                if self.cuts != cuts:
                    request.send(b'20\r\n{"type":"ADD')
                    return False
                lock.wait(1)
                if request.sock.fileno() < 0:
                    return False
