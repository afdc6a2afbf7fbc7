#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""A server of pods that answers on command, over HTTP/1.1 ("plain", "tls") and HTTP/2 ("h2"),
notes what it is asked, and has proxies that do harm. Each namespace is a world of its own, so that
many tests may use it at once. A line on standard input is a command, answered with a line:

  add|update|delete NAMESPACE NAME    changes a pod; the answer is its version
  bookmarks NAMESPACE MS              sends a bookmark so often
  script NAMESPACE KIND ACTION ...    what the next request of the kind (list, stream, watch) gets
  forget NAMESPACE                    watches of the past get 410
  log NAMESPACE                       what was asked: "MS request|MS request", with the time since
                                      the one before
  cut NAMESPACE                       ends the connections of its streams
  proxy NAME plain|tls|h2             a new proxy; the answer is its port
  fault NAME ...                      see fault_proxy.py
  refuse|accept NAME                  closes its listener, and opens it again
  accepted NAME                       how many connections it had
  grow NAMESPACE NAME BYTES COUNT     updates it so often, with an annotation of that size
  sent NAMESPACE                      bytes that its streams sent so far
  asked PORT                          how often OPTIONS * was asked of that port
  harm PORT COUNT                     so often, that breaks the connection

Actions: see Answer. Usage: fault_server.py <folder>
"""
import json
import os
import socket
import struct
import sys
import threading
import time
from collections import defaultdict, deque
from urllib.parse import parse_qs, urlsplit

import certificates
import fault_proxy
import hpack
import http2
import http_server
from http_server import chunk, head

changed = threading.Condition()
END_OF_INITIAL = {"k8s.io/initial-events-end": "true"}


class World:
    def __init__(self, name):
        self.name = name
        self.version, self.oldest = 10, 0
        self.pods, self.history = {}, []
        self.script = defaultdict(deque)
        self.log, self.last = [], time.monotonic()
        self.bookmarks = 0
        self.cuts = self.sent = 0

    def change(self, kind, name, size=0):
        self.version += 1
        pod = {"kind": "Pod", "apiVersion": "v1",
               "metadata": {"namespace": self.name, "name": name, "uid": f"uid-{name}",
                            "resourceVersion": str(self.version)},
               "spec": {"containers": [{"name": "main", "image": f"v{self.version}"}]}}
        if size:
            pod["metadata"]["annotations"] = {"x": "x" * size}
        if kind == "DELETED":
            del self.pods[name]
        else:
            self.pods[name] = pod
        self.history.append((self.version, {"type": kind, "object": pod}))
        return self.version

    def note(self, kind, query):
        words = [kind]
        for key, short in (("resourceVersion", "rv"), ("limit", "limit"), ("continue", "from")):
            if query.get(key):
                words.append(f"{short}={query[key]}")
        now = time.monotonic()
        self.log.append(f"{int((now - self.last) * 1000)} {' '.join(words)}")
        self.last = now


worlds = {}


def world_of(name):
    with changed:
        return worlds.setdefault(name, World(name))


def status_object(code, reason, more):
    details = {}
    if "cause" in more:
        details["causes"] = [{"reason": more["cause"]}]
    if "after" in more:
        details["retryAfterSeconds"] = int(more["after"])
    return {"kind": "Status", "apiVersion": "v1", "metadata": {}, "status": "Failure",
            "reason": reason, "message": more.get("message", "on command"), "code": int(code),
            "details": details}


def bookmark(version, annotations=None):
    return {"type": "BOOKMARK", "object": {
        "kind": "Pod", "apiVersion": "v1",
        "metadata": {"resourceVersion": str(version), "annotations": annotations or {}}}}


class Http1:
    """An exchange over HTTP/1.1."""

    def __init__(self, request):
        self.request = request

    def answer(self, code, body, *lines):
        self.request.answer(body, "Content-Type: application/json", *lines, status=f"{code} Test")

    def begin(self):
        self.request.send(head("200 OK", "Content-Type: application/json",
                               "Transfer-Encoding: chunked"))

    def write(self, data):
        self.request.send(chunk(data))

    def end(self):
        self.request.send(b"0\r\n\r\n")

    def close(self):
        self.request.sock.shutdown(socket.SHUT_RDWR)

    def reset(self):
        http_server.reset(self.request.sock)
        raise OSError("reset")

    def is_gone(self):
        return False


class Http2:
    """An exchange over HTTP/2."""

    def __init__(self, connection, stream):
        self.connection, self.stream = connection, stream

    def answer(self, code, body, *lines):
        block = http2.OK if code == 200 else http2.literal(b":status", b"%d" % code)
        for line in ("content-type: application/json", *lines):
            name, value = line.split(": ", 1)
            block += http2.literal(name.lower().encode(), value.encode())
        self.connection.send(http2.frame(http2.HEADERS, http2.END_HEADERS, self.stream, block))
        self.write(body)
        self.end()

    def begin(self):
        block = http2.OK + http2.literal(b"content-type", b"application/json")
        self.connection.send(http2.frame(http2.HEADERS, http2.END_HEADERS, self.stream, block))

    def write(self, data):
        if not self.connection.data(self.stream, data):
            raise OSError("not wanted any more")

    def end(self):
        self.connection.send(http2.frame(http2.DATA, http2.END_STREAM, self.stream))

    def rst(self, code=2):
        self.connection.send(http2.frame(http2.RST, 0, self.stream, struct.pack(">I", code)))

    def goaway(self, code=0):
        """Goes gracefully: what was begun is served on, nothing new is taken."""
        self.connection.send(http2.frame(http2.GOAWAY, 0, 0,
                                         struct.pack(">II", self.stream, code)))

    def close(self):
        self.connection.sock.shutdown(socket.SHUT_RDWR)

    def reset(self):
        sock = self.connection.sock
        sock.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        sock.shutdown(socket.SHUT_RD)  # who reads it closes it
        raise OSError("reset")

    def is_gone(self):
        return self.stream not in self.connection.open or self.connection.closed


class Answer:
    """Lists and watches of a world. Each method do_X is an action of a script."""

    def __init__(self, exchange, world, kind, query):
        self.exchange, self.world, self.kind, self.query = exchange, world, kind, query
        self.piece = 0

    def run(self):
        with changed:
            self.world.note(self.kind, self.query)
            script = self.world.script[self.kind]
            action = script.popleft() if script else ["normal"]
        more = dict(word.split("=", 1) for word in action[1:] if "=" in word)
        words = [word for word in action[1:] if "=" not in word]
        return getattr(self, "do_" + action[0])(*words, **more)

    def do_normal(self, **more):
        if self.kind == "list":
            return self.list_all()
        return self.stream(float("inf"), "end")

    def do_status(self, code, reason, **more):
        """An answer of that code, with a Status; header=S: a Retry-After of so many seconds."""
        lines = [f"Retry-After: {more['header']}"] if "header" in more else []
        body = json.dumps(status_object(code, reason, more)).encode()
        return self.exchange.answer(int(code), body, *lines)

    def do_eof(self, **more):
        """The connection ends without an answer."""
        self.exchange.close()
        return False

    def do_reset(self, **more):
        self.exchange.reset()

    def do_event(self, code, reason, **more):
        """A stream whose first event is an error."""
        self.exchange.begin()
        self.event({"type": "ERROR", "object": status_object(code, reason, more)})
        self.exchange.end()

    def do_raw(self, *words, **more):
        """A stream of these bytes that stays open."""
        self.exchange.begin()
        self.write((" ".join(words) + "\n").encode())
        self.wait(5)

    def do_huge(self, size, **more):
        """An event of so many bytes."""
        pod = {"type": "ADDED", "object": {
            "kind": "Pod", "apiVersion": "v1",
            "metadata": {"name": "huge", "namespace": self.world.name, "resourceVersion": "99",
                         "annotations": {"x": "x" * int(size)}}}}
        self.exchange.begin()
        self.event(pod)
        self.wait(5)

    def do_short(self, **more):
        """A stream that is over at once."""
        self.exchange.begin()
        self.exchange.end()

    def do_initial(self, **more):
        """A streaming list that is cut before its end."""
        self.exchange.begin()
        for pod in list(self.world.pods.values()):
            self.event({"type": "ADDED", "object": pod})
        self.exchange.close()
        return False

    def do_live(self, ms, how, **more):
        """As usual for a while, then: end, cut, reset, rst, goaway, silent."""
        return self.stream(time.monotonic() + int(ms) / 1000, how)

    def do_chop(self, size, **more):
        """As usual, in pieces of that size."""
        self.piece = int(size)
        return self.do_normal()

    # How it is done.

    def list_all(self):
        with changed:
            body = json.dumps({"kind": "PodList", "apiVersion": "v1",
                               "metadata": {"resourceVersion": str(self.world.version)},
                               "items": list(self.world.pods.values())}).encode()
        return self.exchange.answer(200, body)

    def write(self, data):
        step = self.piece or len(data)
        for at in range(0, len(data), step):
            self.exchange.write(data[at:at + step])
        self.world.sent += len(data)

    def event(self, event):
        self.write(json.dumps(event).encode() + b"\n")

    def wait(self, seconds):
        with changed:
            changed.wait(seconds)

    def initial(self):
        with changed:
            seen, pods = self.world.version, list(self.world.pods.values())
        for pod in pods:
            self.event({"type": "ADDED", "object": pod})
        self.event(bookmark(seen, END_OF_INITIAL))
        return seen

    def stream(self, end, how):
        seen = int(self.query.get("resourceVersion") or 0)
        if self.kind == "watch" and seen < self.world.oldest:
            return self.do_status("410", "Expired")
        cuts = self.world.cuts
        self.exchange.begin()
        if self.kind == "stream":
            seen = self.initial()
        beat = time.monotonic() + self.world.bookmarks / 1000
        while time.monotonic() < end and self.world.cuts == cuts and not self.exchange.is_gone():
            with changed:
                news = [(v, e) for v, e in self.world.history if v > seen]
                if not news:
                    changed.wait(min(0.2, max(0, end - time.monotonic())))
            for version, event in news:
                self.event(event)
                seen = version
            if self.world.bookmarks and time.monotonic() >= beat:
                self.event(bookmark(seen))
                beat = time.monotonic() + self.world.bookmarks / 1000
        return self.over(how if self.world.cuts == cuts else "cut", end)

    def over(self, how, end):
        if how == "goaway":
            self.exchange.goaway()
            return self.stream_on()
        if how == "silent":
            return time.sleep(60)
        if how == "cut":
            self.write(b'{"type":"ADDED","object":{"kind":"Po')
            self.exchange.close()
            return False
        return getattr(self.exchange, how)()

    def stream_on(self):
        """After a GOAWAY: two more bookmarks, and a proper end."""
        for _ in range(2):
            time.sleep(0.1)
            self.event(bookmark(self.world.version))
        self.exchange.end()


def answer(exchange, path, query):
    parts = path.split("/")  # /api/v1/namespaces/NAME/pods
    kind = "list"
    if query.get("watch") in ("1", "true"):
        kind = "stream" if query.get("sendInitialEvents") == "true" else "watch"
    if len(parts) != 6:
        return exchange.answer(404, b"{}")
    return Answer(exchange, world_of(parts[4]), kind, query).run()


def serve_http1(sock):
    request = http_server.Request(sock, "pods")
    while request.read():
        if answer(Http1(request), request.path, request.query) is False:
            break


class Pods(http2.Connection):
    """HTTP/2."""

    def __init__(self, sock):
        super().__init__(sock, "pods")
        self.decoder = hpack.Decoder()

    def on_request(self, stream, order, flags, payload):
        at = 1 if flags & 8 else 0
        end = len(payload) - (payload[0] if flags & 8 else 0)
        at += 5 if flags & 32 else 0
        headers = self.decoder.read(payload[at:end])
        threading.Thread(target=self.serve, args=(stream, headers), daemon=True).start()

    def serve(self, stream, headers):
        parts = urlsplit(headers[":path"])
        query = {key: values[0] for key, values in parse_qs(parts.query).items()}
        exchange = Http2(self, stream)
        try:
            if parts.path == "*":
                port = headers[":authority"].rsplit(":", 1)[1]
                asked[port] += 1
                if asked[port] <= harms[port]:
                    exchange.close()
                else:
                    exchange.answer(200, b"")
            else:
                answer(exchange, parts.path, query)
        except OSError:
            pass


asked = defaultdict(int)
harms = defaultdict(int)


def serve(sock, context):
    try:
        if context is not None:
            sock = context.wrap_socket(sock, server_side=True)
        if context is not None and sock.selected_alpn_protocol() == "h2":
            connection = Pods(sock)
            try:
                connection.run()
            finally:
                connection.end()
        else:
            serve_http1(sock)
    except (OSError, ValueError):
        pass
    finally:
        try:
            sock.close()
        except OSError:
            pass


def accept(listener, context):
    while True:
        sock, _ = listener.accept()
        sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        threading.Thread(target=serve, args=(sock, context), daemon=True).start()


ports = {}
proxies = {}


def listen(name, context=None):
    listener = socket.socket()
    listener.bind(("127.0.0.1", 0))
    listener.listen(256)
    ports[name] = listener.getsockname()[1]
    threading.Thread(target=accept, args=(listener, context), daemon=True).start()
    print(name, ports[name], flush=True)


KINDS = {"add": "ADDED", "update": "MODIFIED", "delete": "DELETED"}


def command(words):
    what, name, more = words[0], words[1], words[2:]
    if what == "proxy":
        proxies[name] = fault_proxy.Proxy(ports[more[0]])
        return proxies[name].port
    if what in ("fault", "refuse", "accept", "accepted"):
        proxy = proxies[name]
        if what == "accepted":
            return proxy.accepted
        {"fault": proxy.fault, "refuse": proxy.refuse, "accept": proxy.open}[what](*more)
        return "ok"
    if what == "asked":
        return asked[name]
    if what == "harm":
        harms[name] = int(more[0])
        return "ok"
    world = world_of(name)
    with changed:
        changed.notify_all()
        if what in KINDS:
            return world.change(KINDS[what], more[0])
        if what == "script":
            world.script[more[0]].append(more[1:])
        elif what == "bookmarks":
            world.bookmarks = int(more[0])
        elif what == "forget":
            world.history, world.oldest = [], world.version
        elif what == "cut":
            world.cuts += 1
        elif what == "grow":
            for _ in range(int(more[2])):
                world.change("MODIFIED", more[0], int(more[1]))
        elif what == "sent":
            return world.sent
        elif what == "log":
            return "|".join(world.log)
        else:
            return "what?"
    return "ok"


def main():
    folder = sys.argv[1]
    os.makedirs(folder, exist_ok=True)
    threading.stack_size(256 << 10)
    maker = certificates.Maker(folder)
    maker.root("ca")
    maker.signed("good", "ca", "leaf", certificates.LOCAL)
    listen("plain")
    listen("tls", certificates.context(maker, "good"))
    two = certificates.context(maker, "good")
    two.set_alpn_protocols(["h2", "http/1.1"])
    listen("h2", two)
    print("ready 0", flush=True)
    for line in sys.stdin:
        print(command(line.split()), flush=True)
    os._exit(0)


if __name__ == "__main__":
    main()
