#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Plays LIST and WATCH of pods, JSON over TLS, for the tests of the informer over the transport.
What happened is kept in a file, so that a server that was killed resumes where it was.

  POST /do?add=NAME | update=NAME | delete=NAME   changes a pod
  POST /do?cut=1       cuts all watches in the middle of a line
  POST /do?forget=1    forgets the history: watches of the past get 410

Usage: pods_server.py <folder>
"""
import gzip
import json
import os
import socket
import sys
import threading

import certificates
import http_server
from http_server import chunk, head

changed = threading.Condition()
END_OF_INITIAL = {"k8s.io/initial-events-end": "true"}


class State:
    def __init__(self, path):
        self.path = path
        self.port, self.version, self.oldest = 0, 10, 0
        self.pods, self.history = {}, []
        self.cuts = 0
        if os.path.exists(path):
            with open(path, encoding="utf-8") as file:
                self.__dict__.update(json.load(file))

    def save(self):
        with open(self.path + ".new", "w", encoding="utf-8") as file:
            json.dump(self.__dict__, file)
        os.replace(self.path + ".new", self.path)

    def change(self, kind, name):
        self.version += 1
        pod = {"kind": "Pod", "apiVersion": "v1",
               "metadata": {"namespace": "shop", "name": name, "uid": f"uid-{name}",
                            "resourceVersion": str(self.version)},
               "spec": {"containers": [{"name": "main", "image": f"v{self.version}"}]}}
        if kind == "DELETED":
            del self.pods[name]
        else:
            self.pods[name] = pod
        self.history.append([self.version, {"type": kind, "object": pod}])


def do(request, state):
    with changed:
        for key, kind in (("add", "ADDED"), ("update", "MODIFIED"), ("delete", "DELETED")):
            if key in request.query:
                state.change(kind, request.query[key])
        if "forget" in request.query:
            state.history, state.oldest = [], state.version
        if "cut" in request.query:
            state.cuts += 1
        state.save()
        changed.notify_all()
    request.answer(b"{}")


def status(request, code, reason, message):
    body = json.dumps({"kind": "Status", "apiVersion": "v1", "status": "Failure",
                       "reason": reason, "message": message, "code": code}).encode()
    request.answer(body, "Content-Type: application/json", status=f"{code} {reason}")


def list_pods(request, state):
    with changed:
        body = json.dumps({"kind": "PodList", "apiVersion": "v1",
                           "metadata": {"resourceVersion": str(state.version)},
                           "items": list(state.pods.values())}).encode()
    lines = ["Content-Type: application/json"]
    if "gzip" in request.headers.get("accept-encoding", ""):
        body = gzip.compress(body)
        lines.append("Content-Encoding: gzip")
    request.answer(body, *lines)


def bookmark(version, annotations=None):
    return {"type": "BOOKMARK", "object": {
        "kind": "Pod", "apiVersion": "v1",
        "metadata": {"resourceVersion": str(version), "annotations": annotations or {}}}}


def line(event):
    return chunk(json.dumps(event).encode() + b"\n")


def watch_pods(request, state):
    seen = request.number("resourceVersion") if request.query.get("resourceVersion") else 0
    initial = request.query.get("sendInitialEvents") == "true"
    if not initial and seen < state.oldest:
        return status(request, 410, "Expired", "too old resource version")
    request.send(head("200 OK", "Content-Type: application/json", "Transfer-Encoding: chunked"))
    with changed:
        cuts = state.cuts
        if initial:
            seen = state.version
            for pod in state.pods.values():
                request.send(line({"type": "ADDED", "object": pod}))
            request.send(line(bookmark(seen, END_OF_INITIAL)))
        while True:
            for version, event in state.history:
                if version > seen:
                    request.send(line(event))
                    seen = version
            if state.cuts != cuts:
                request.send(chunk(b'{"type":"ADDED","object":{"kind":"Po'))
                return False
            if not changed.wait(0.5):
                request.send(line(bookmark(seen)))


def serve(sock, context, state):
    try:
        request = http_server.Request(context.wrap_socket(sock, server_side=True), "pods")
        while request.read():
            if request.path == "/do":
                do(request, state)
            elif request.query.get("watch") in ("1", "true"):
                if watch_pods(request, state) is False:
                    break
            else:
                list_pods(request, state)
        request.sock.close()
    except OSError:
        pass


def main():
    folder = sys.argv[1]
    os.makedirs(folder, exist_ok=True)
    state = State(os.path.join(folder, "state.json"))
    maker = certificates.Maker(folder)
    if not os.path.exists(maker.path("ca.crt")):
        certificates.make(folder)
    context = certificates.context(maker, "good")
    listener = socket.socket()
    listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    listener.bind(("127.0.0.1", state.port))
    listener.listen(64)
    state.port = listener.getsockname()[1]
    state.save()
    print("pods", state.port, flush=True)
    print("ready 0", flush=True)

    def accept():
        while True:
            sock, _ = listener.accept()
            sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            threading.Thread(target=serve, args=(sock, context, state), daemon=True).start()

    threading.Thread(target=accept, daemon=True).start()
    sys.stdin.read()
    os._exit(0)


if __name__ == "__main__":
    main()
