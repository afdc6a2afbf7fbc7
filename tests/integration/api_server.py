#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""A small API server, JSON over plain HTTP, for the tests of the client: it keeps objects of any
resource, lists, watches, writes and deletes them, notes what it was asked, and answers what a test
tells it instead, if it does. Commands come on standard input, one a line:

  answer {"status": 429, "headers": {"Retry-After": "1"}, "body": "...", "delay": 0.1,
          "do": "hang" | "reset" | "close" | "cut"}    the answer to the next request that has none
  forget          what was asked and what was to be answered
  asked           prints what was asked since the last time, ending with a line of "."

Usage: api_server.py <folder>
       api_server.py --run <folder> <program>    with KUBECONFIG set to a file that leads here
"""
import base64
import json
import os
import socket
import subprocess
import sys
import threading
import time
from urllib.parse import unquote

from http_server import Request, chunk, head, reset

lock = threading.Condition()
answers = []
asked = []
SHOWN = ("Accept", "Content-Type", "Authorization", "User-Agent", "Impersonate-User")


class Refused(Exception):
    def __init__(self, code, reason, message):
        super().__init__(message)
        self.code, self.reason = code, reason


class Store:
    """Objects by path, and everything that happened to them."""

    def __init__(self):
        self.version = 100
        self.objects, self.history = {}, []

    def note(self, kind, key, value):
        self.version += 1
        value["metadata"]["resourceVersion"] = str(self.version)
        self.history.append((self.version, kind, key, json.dumps(value)))
        lock.notify_all()

    def get(self, key):
        if key not in self.objects:
            raise Refused(404, "NotFound", f"{key[1]} \"{key[3]}\" not found")
        return self.objects[key]

    def put(self, key, value):
        kind = "MODIFIED" if key in self.objects else "ADDED"
        meta = value.setdefault("metadata", {})
        meta["name"] = key[3]
        if key[2]:
            meta["namespace"] = key[2]
        meta.setdefault("uid", f"uid-{key[3]}-{self.version}")
        self.note(kind, key, value)
        self.objects[key] = value
        return value

    def create(self, key, value):
        if key in self.objects:
            raise Refused(409, "AlreadyExists", f"{key[1]} \"{key[3]}\" already exists")
        return self.put(key, value)

    def update(self, key, value):
        old = self.get(key)
        version = value.get("metadata", {}).get("resourceVersion")
        if version and version != old["metadata"]["resourceVersion"]:
            raise Refused(409, "Conflict", "the object has been modified")
        value["metadata"]["uid"] = old["metadata"]["uid"]
        return self.put(key, value)

    def delete(self, key, options):
        old = self.get(key)
        for name, want in options.get("preconditions", {}).items():
            if old["metadata"].get(name) != want:
                raise Refused(409, "Conflict", f"the {name} is another")
        self.note("DELETED", key, old)
        del self.objects[key]
        return {"kind": "Status", "apiVersion": "v1", "status": "Success",
                "details": {"name": key[3], "kind": key[1]}}


def merge(into, patch):
    for name, value in patch.items():
        if value is None:
            into.pop(name, None)
        elif isinstance(value, dict):
            merge(into.setdefault(name, {}), value)
        else:
            into[name] = value
    return into


def place(path):
    """(group and version, resource, namespace, name, subresource) of a path."""
    parts = [unquote(part) for part in path.strip("/").split("/")]
    root, parts = (parts[:2], parts[2:]) if parts[0] == "api" else (parts[:3], parts[3:])
    namespace = ""
    if len(parts) > 2 and parts[0] == "namespaces":
        namespace, parts = parts[1], parts[2:]
    parts += [""] * 3
    return "/".join(root), parts[0], namespace, parts[1], parts[2]


def chosen(store, group, resource, namespace, selector=""):
    labels = dict(part.split("=") for part in selector.split(",")) if selector else {}
    return [value for key, value in sorted(store.objects.items())
            if key[:2] == (group, resource) and namespace in ("", key[2])
            and labels.items() <= value["metadata"].get("labels", {}).items()]


def list_objects(request, store, where):
    """A continue token is a number: "<version>:<first>"."""
    found = chosen(store, where[0], where[1], where[2], request.query.get("labelSelector", ""))
    version, first = str(store.version), 0
    if "continue" in request.query:
        version, first = request.query["continue"].split(":")
        first = int(first)
    limit = request.number("limit") or len(found)
    meta = {"resourceVersion": version}
    if first + limit < len(found):
        meta["continue"] = f"{version}:{first + limit}"
        meta["remainingItemCount"] = len(found) - first - limit
    kind = found[0]["kind"] if found else "Pod"
    return {"kind": kind + "List", "apiVersion": found[0]["apiVersion"] if found else "v1",
            "metadata": meta, "items": found[first:first + limit]}


def line(kind, text):
    return chunk(b'{"type":"%s","object":%s}\n' % (kind.encode(), text.encode()))


def bookmark(version, ends_initial):
    meta = {"resourceVersion": str(version)}
    if ends_initial:
        meta["annotations"] = {"k8s.io/initial-events-end": "true"}
    return line("BOOKMARK", json.dumps({"kind": "Pod", "apiVersion": "v1", "metadata": meta}))


def watch(request, store, where):
    request.send(head("200 OK", "Content-Type: application/json", "Transfer-Encoding: chunked"))
    seen = request.number("resourceVersion") if request.query.get("resourceVersion") else 0
    with lock:
        if request.query.get("sendInitialEvents") == "true":
            for value in chosen(store, where[0], where[1], where[2]):
                request.send(line("ADDED", json.dumps(value)))
            seen = store.version
            request.send(bookmark(seen, True))
        while True:
            for version, kind, key, text in store.history:
                if version > seen and key[:2] == where[:2] and where[2] in ("", key[2]):
                    request.send(line(kind, text))
                    seen = version
            lock.wait()


def write(request, store, where):
    key, method = where[:4], request.method
    value = json.loads(request.body) if request.body else {}
    if method == "DELETE":
        if where[3]:
            return store.delete(key, value)
        for other in [k for k in store.objects if k[:2] == key[:2] and key[2] in ("", k[2])]:
            store.delete(other, {})
        return {"kind": "Status", "apiVersion": "v1", "status": "Success"}
    if method == "POST":
        key = key[:3] + (value["metadata"]["name"],)
        return store.create(key, value)
    if method == "PUT":
        return store.update(key, value)
    if "apply" in request.headers.get("content-type", "") and key not in store.objects:
        return store.create(key, value)
    return store.update(key, merge(json.loads(json.dumps(store.get(key))), value))


def handle(request, store):
    where = place(request.path)
    if request.method == "GET" and request.query.get("watch") == "true":
        watch(request, store, where)
        return
    status = "200 OK"
    with lock:
        try:
            if request.method != "GET":
                value = write(request, store, where)
                status = "201 Created" if request.method == "POST" else status
            elif where[3]:
                value = store.get(where[:4])
            else:
                value = list_objects(request, store, where)
        except Refused as refused:
            value = {"kind": "Status", "apiVersion": "v1", "status": "Failure",
                     "message": str(refused), "reason": refused.reason, "code": refused.code}
            status = f"{refused.code} {refused.reason}"
        body = json.dumps(value).encode()
    request.answer(body, "Content-Type: application/json", status=status)


def answer_as_requested(request, answer):
    """Answers as a test wants it; False ends the connection."""
    time.sleep(answer.get("delay", 0))
    headers = {"Content-Type": "application/json", **answer.get("headers", {})}
    body = base64.b64decode(answer["base64"]) if "base64" in answer \
        else answer.get("body", "").encode()
    body = body * answer.get("times", 1)
    lines = [f"{name}: {value}" for name, value in headers.items() if value is not None]
    whole = head(f"{answer.get('status', 200)} Said", *lines, length=len(body)) + body
    what = answer.get("do")
    if what == "hang":
        time.sleep(3600)
    if what == "reset":
        return reset(request.sock) is None and False
    if what == "close":
        return False
    if what == "cut":
        request.send(whole[:len(whole) - max(1, len(body) // 2)])
        return False
    request.send(whole)
    return True


def note(request):
    shown = [f"{name}: {request.headers[name.lower()]}" for name in SHOWN
             if name.lower() in request.headers]
    body = request.body.decode("latin-1")
    if request.body.startswith(b"k8s\0"):
        body = "protobuf " + request.body.hex()
    asked.append("\n".join([f"{request.method} {request.target}", *shown, body]).rstrip("\n"))


def serve(sock, store):
    request = Request(sock, "api")
    try:
        while request.read():
            with lock:
                note(request)
                answer = answers.pop(0) if answers else None
            if answer is None:
                handle(request, store)
            elif answer_as_requested(request, answer) is False:
                break
        sock.close()
    except OSError:
        pass


def start(store):
    listener = socket.socket()
    listener.bind(("127.0.0.1", 0))
    listener.listen(128)

    def accept():
        while True:
            sock, _ = listener.accept()
            sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            threading.Thread(target=serve, args=(sock, store), daemon=True).start()

    threading.Thread(target=accept, daemon=True).start()
    return listener.getsockname()[1]


def command(text):
    with lock:
        if text.startswith("answer "):
            answers.append(json.loads(text[len("answer "):]))
        elif text == "forget":
            answers.clear()
            asked.clear()
        elif text == "asked":
            print("\n\n".join(asked))
            asked.clear()
        print(".", flush=True)


CONFIG = """apiVersion: v1
kind: Config
current-context: here
clusters: [{name: here, cluster: {server: "http://127.0.0.1:%d"}}]
contexts: [{name: here, context: {cluster: here, user: me, namespace: shop}}]
users: [{name: me, user: {}}]
"""


def pod(name, app):
    return {"kind": "Pod", "apiVersion": "v1", "metadata": {"labels": {"app": app}},
            "spec": {"containers": [{"name": "main", "image": app}]}}


def run(folder, program):
    """Runs a program against a server that has a few pods."""
    os.makedirs(folder, exist_ok=True)
    store = Store()
    with lock:
        for name, app in (("front", "web"), ("back", "web"), ("db", "sql")):
            store.put(("api/v1", "pods", "shop", name), pod(name, app))
    path = os.path.join(folder, f"{os.path.basename(program)}.kubeconfig")
    with open(path, "w", encoding="utf-8") as file:
        file.write(CONFIG % start(store))
    result = subprocess.run([program], env={**os.environ, "KUBECONFIG": path}, check=False)
    sys.stdout.flush()
    os._exit(result.returncode & 0xff)


def main():
    if sys.argv[1] == "--run":
        run(sys.argv[2], sys.argv[3])
    print("api", start(Store()), flush=True)
    print("ready 0", flush=True)
    for text in sys.stdin:
        command(text.rstrip("\n"))
    os._exit(0)


if __name__ == "__main__":
    main()
