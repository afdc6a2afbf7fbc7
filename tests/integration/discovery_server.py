#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Plays the discovery of an API server. It reads commands from its standard input, a line each, and
answers each with lines on its standard output, of which the last is ".":

  mode v2 | v2beta1 | legacy | html    what it speaks
  fail PATH CODE                       answers so there
  hang PATH                            never answers there
  slow MS                              waits so long before each answer
  add                                  has a custom resource more, gizmos.later.example.com
  asked                                tells method, path and Accept of all that it was asked, and
                                       how many requests it had at the same time at most

Usage: discovery_server.py <ignored>
       discovery_server.py --run <folder> <program>    with KUBECONFIG set to a file that leads here
"""
import json
import os
import socket
import subprocess
import sys
import threading
import time

import api_server
import discovery_data
import http_server

JSON = "Content-Type: application/json"


class State:
    def __init__(self):
        self.lock = threading.Lock()
        self.mode, self.slow = "v2", 0
        self.fails, self.hangs = {}, set()
        self.groups = dict(discovery_data.GROUPS)
        self.asked, self.now, self.most = [], 0, 0


state = State()


def failure(code):
    return json.dumps({"kind": "Status", "apiVersion": "v1", "status": "Failure", "code": code,
                       "reason": "ServiceUnavailable", "message": "no server"}).encode()


def answer_of(path, accept):
    """Status code, header and body."""
    if path in state.fails:
        return state.fails[path], JSON, failure(state.fails[path])
    if state.mode == "html":
        return 200, "Content-Type: text/html", b"<html>log in first</html>"
    kind = f"application/json;g=apidiscovery.k8s.io;v={state.mode};as=APIGroupDiscoveryList"
    if kind in accept.split(",") and path in ("/api", "/apis"):
        groups = state.groups if path == "/apis" else {"": discovery_data.CORE}
        document = discovery_data.aggregated(groups, state.mode)
        return 200, f"Content-Type: {kind}", json.dumps(document).encode()
    document = discovery_data.legacy_paths(state.groups).get(path)
    if document is None:
        return 503, JSON, failure(503)
    return 200, JSON, json.dumps(document).encode()


def handle(request):
    with state.lock:
        state.asked.append(f"{request.method} {request.path} {request.headers.get('accept')}")
        state.now += 1
        state.most = max(state.most, state.now)
        code, line, body = answer_of(request.path, request.headers.get("accept", ""))
        wait = 3600 if request.path in state.hangs else state.slow / 1000
    time.sleep(wait)
    with state.lock:
        state.now -= 1
    request.answer(body, line, status=f"{code} Said So")


def serve(sock):
    try:
        request = http_server.Request(sock, "api")
        while request.read():
            handle(request)
        sock.close()
    except OSError:
        pass


def accept(listener):
    while True:
        sock, _ = listener.accept()
        sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        threading.Thread(target=serve, args=(sock,), daemon=True).start()


def command(words):
    if words[0] == "mode":
        state.mode = words[1]
    elif words[0] == "fail":
        state.fails[words[1]] = int(words[2])
    elif words[0] == "hang":
        state.hangs.add(words[1])
    elif words[0] == "slow":
        state.slow = int(words[1])
    elif words[0] == "add":
        state.groups["later.example.com"] = [("v1", [
            ("gizmos", "gizmo", "Gizmo", True, "giz", discovery_data.ALL, "")])]
    elif words[0] == "asked":
        for line in sorted(state.asked):
            print(line)
        print("most", state.most)
        state.asked, state.most = [], 0
    print(".", flush=True)


def start():
    listener = socket.socket()
    listener.bind(("127.0.0.1", 0))
    listener.listen(64)
    threading.Thread(target=accept, args=(listener,), daemon=True).start()
    return listener.getsockname()[1]


def run(folder, program):
    os.makedirs(folder, exist_ok=True)
    path = os.path.join(folder, f"{os.path.basename(program)}.kubeconfig")
    with open(path, "w", encoding="utf-8") as file:
        file.write(api_server.CONFIG % start())
    result = subprocess.run([program], env={**os.environ, "KUBECONFIG": path}, check=False)
    sys.stdout.flush()
    os._exit(result.returncode & 0xff)


def main():
    if sys.argv[1] == "--run":
        run(sys.argv[2], sys.argv[3])
    print("api", start())
    print("ready 0", flush=True)
    for line in sys.stdin:
        with state.lock:
            command(line.split())
    os._exit(0)


if __name__ == "__main__":
    main()
