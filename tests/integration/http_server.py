#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""A server for the tests of the transport. The path of a request says what becomes of it, so one
process serves them all. It prints "name port" for each of its sockets, then "ready", and ends when
its standard input does.

Usage: http_server.py <folder for certificates and the Unix socket>
"""
import gzip
import os
import socket
import ssl
import struct
import sys
import threading
import time
import zlib
from urllib.parse import parse_qs, urlsplit

import certificates
import http2

connections = 0
count_lock = threading.Lock()


def head(status="200 OK", *lines, length=None):
    text = [f"HTTP/1.1 {status}", *lines]
    if length is not None:
        text.append(f"Content-Length: {length}")
    return ("\r\n".join(text) + "\r\n\r\n").encode()


def chunk(data):
    return b"%x\r\n%s\r\n" % (len(data), data)


def reset(sock):
    raw = socket.socket(fileno=os.dup(sock.fileno()))
    raw.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
    raw.close()
    sock.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
    socket.socket.close(sock) if not isinstance(sock, ssl.SSLSocket) else os.close(sock.detach())


def bomb(size):
    packer = zlib.compressobj(9, zlib.DEFLATED, 31)
    return packer.compress(b"\0" * size) + packer.flush()


class Request:
    def __init__(self, sock, name):
        self.sock = sock
        self.name = name
        self.rest = b""

    def read(self):
        """The next request; False at the end of the connection."""
        data = self.rest
        while b"\r\n\r\n" not in data:
            more = self.sock.recv(65536)
            if not more:
                return False
            data += more
            if data[0] == 0x16:  # TLS; what Go's servers do
                self.send(head("400 Bad Request", length=0))
                return False
        text, self.rest = data.split(b"\r\n\r\n", 1)
        lines = text.decode("latin-1").split("\r\n")
        self.line, self.lines = lines[0], lines[1:]
        self.method, self.target, _ = lines[0].split(" ")
        parts = urlsplit(self.target)
        self.path = parts.path
        self.query = {key: values[0] for key, values in parse_qs(parts.query).items()}
        self.headers = {line.split(":")[0].lower(): line.split(":", 1)[1].strip()
                        for line in self.lines}
        length = int(self.headers.get("content-length", 0))
        while len(self.rest) < length:
            self.rest += self.sock.recv(65536)
        self.body, self.rest = self.rest[:length], self.rest[length:]
        return True

    def number(self, key, default=0):
        return int(self.query.get(key, default))

    def send(self, data):
        self.sock.sendall(data)

    def answer(self, body, *lines, status="200 OK"):
        self.send(head(status, *lines, length=len(body)) + body)


def echo(request):
    text = [request.line, *request.lines, "", request.body.decode("latin-1")]
    request.answer("\n".join(text).encode(), "Content-Type: text/plain")


def who(request):
    """The client, by certificate and by header. `need`: what the header must be, else 401."""
    subject = ""
    if isinstance(request.sock, ssl.SSLSocket) and request.sock.getpeercert():
        subject = dict(pair for part in request.sock.getpeercert()["subject"] for pair in part)
        subject = subject["commonName"]
    header = request.headers.get("authorization", "")
    refused = "need" in request.query and header != request.query["need"]
    request.answer(f"{subject}|{header}|".encode(),
                   status="401 Unauthorized" if refused else "200 OK")


def whole(request):
    return head("200 OK", "Content-Type: text/plain", length=40) + b"0123456789" * 4


def cut(request):
    data = whole(request)
    if "chunked" in request.query:
        data = head("200 OK", "Transfer-Encoding: chunked")
        data += chunk(b"0123456789") * 4 + b"0\r\n\r\n"
    request.send(data[:request.number("after")])
    return False


def pieces(request):
    for byte in whole(request):
        request.send(bytes([byte]))
        time.sleep(0.0005)


def stream(request):
    """Pieces of `size` bytes, `count` of them, then nothing more, or the end."""
    request.send(head("200 OK", "Transfer-Encoding: chunked"))
    for i in range(request.number("count", 1)):
        piece = (b"%08d" % i) * (request.number("size", 8) // 8)
        request.send(chunk(piece))
        time.sleep(request.number("ms") / 1000)
    if "hang" in request.query:
        time.sleep(60)
    request.send(b"0\r\n\r\n")


def hang(request):
    request.send(whole(request)[:request.number("after")])
    time.sleep(60)


def many_headers(request):
    value = "v" * request.number("bytes", 10)
    lines = [f"X-{i}: {value}" for i in range(request.number("count", 1))]
    request.answer(b"ok", *lines)


def interim(request):
    for _ in range(request.number("count", 1)):
        request.send(head("103 Early Hints", "Link: </x>"))
    request.answer(b"ok")


def packed(request):
    text = b"0123456789" * 1000
    body = gzip.compress(text)
    if "members" in request.query:  # empty ones, too
        step = len(text) // request.number("members")
        body = b"".join(gzip.compress(text[at:at + step]) + gzip.compress(b"")
                        for at in range(0, len(text), step))
    if "cut" in request.query:
        body = body[:-request.number("cut")]
    if "trailing" in request.query:
        body += b"trailing"
    encoding = request.query.get("as", "gzip")
    if "layers" in request.query:
        body = gzip.compress(body)
    if "broken" in request.query:
        body = body[:10] + b"\xff" * 500
    request.answer(body, f"Content-Encoding: {encoding}")


def transfer_packed(request):
    request.send(head("200 OK", "Transfer-Encoding: gzip, chunked") +
                 chunk(gzip.compress(b"hello")) + b"0\r\n\r\n")


def gzip_bomb(request):
    body = bomb(request.number("bytes"))
    request.answer(body, "Content-Encoding: gzip")


RAW = {
    "garbage": b"\x00\x01\x02\x03 what is this\r\n\r\n" * 10,
    "old": b"<html>HTTP/0.9</html>",
    "status": b"HTTP/1.1 7 x\r\n\r\n",
    "folded": head("200 OK", "A: b", " folded", length=0),
    "nameless": head("200 OK", ": b", length=0),
    "colonless": head("200 OK", "what is this", length=0),
    "length": head("200 OK", "Content-Length: -5"),
    "chunks": head("200 OK", "Transfer-Encoding: chunked") + b"zz\r\nhello\r\n",
    "nothing": b"",
}


def raw(request):
    request.send(RAW[request.query["what"]])
    return False


def redirect(request):
    request.answer(b"moved", "Location: /echo", status=f"{request.query['status']} Moved")


def status(request):
    request.answer(b"{}", "Content-Type: application/json", 'Warning: 299 - "old API"',
                   'Warning: 110 - "stale", 299 host:1 "say \\"no\\"\x1b[2J" "a date"',
                   'Warning: 299 not well formed', 'warning: 299 - "old API"',
                   status=f"{request.query['code']} Said So")


def warn(request):
    """Warnings that nobody has seen before."""
    first = request.number("from")
    request.answer(b"{}", *(f'Warning: 299 - "number {first + i}"' for i in range(100)))


def count(request):
    request.answer(str(connections).encode())


def trailers(request):
    request.send(head("200 OK", "Transfer-Encoding: chunked", "Trailer: X-T") +
                 chunk(b"hello") + b"0\r\nX-T: " + b"t" * request.number("bytes", 5) + b"\r\n\r\n")


PATHS = {"/echo": echo, "/who": who, "/cut": cut, "/pieces": pieces, "/stream": stream,
         "/hang": hang,
         "/headers": many_headers, "/interim": interim, "/packed": packed, "/bomb": gzip_bomb,
         "/transfer-packed": transfer_packed, "/raw": raw, "/redirect": redirect,
         "/status": status, "/warn": warn, "/count": count, "/trailers": trailers}


def tunnel(request):
    """CONNECT: what a proxy does. /proxied shows the last of these requests."""
    global proxied
    proxied = "\n".join([request.line, *request.lines])
    if "127.0.0.1:1" in request.target.split(" ")[0] and request.target.endswith(":1"):
        request.send(head("403 Forbidden", length=0))
        return False
    host, port = request.target.rsplit(":", 1)
    if host.endswith(".test"):
        host = "127.0.0.1"
    other = socket.create_connection((host.strip("[]"), int(port)))
    request.send(head("200 OK"))
    threading.Thread(target=copy, args=(other, request.sock), daemon=True).start()
    copy(request.sock, other)
    return False


proxied = ""


def copy(source, sink):
    try:
        while data := source.recv(65536):
            sink.sendall(data)
        sink.shutdown(socket.SHUT_WR)
    except OSError:
        pass


def serve(request):
    """Answers requests; each handler that returns False ends the connection."""
    while request.read():
        if request.method == "CONNECT":
            return tunnel(request)
        path = request.path.removeprefix("/prefix")
        if path.startswith("http"):  # asked as a proxy
            path = "/echo"
        if path == "/reset":
            request.send(whole(request)[:request.number("after")])
            time.sleep(0.05)
            return reset(request.sock)
        if path == "/proxied":
            request.answer(proxied.encode())
        elif PATHS.get(path, echo)(request) is False:
            return None
    return None


def connection(sock, name, context):
    global connections
    with count_lock:
        connections += 1
    try:
        sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    except OSError:
        pass
    try:
        if context is not None:
            sock = context.wrap_socket(sock, server_side=True)
            if sock.selected_alpn_protocol() == "h2":
                return http2.serve(sock, name)
        serve(Request(sock, name))
    except (OSError, ValueError, KeyError):
        pass
    finally:
        try:
            sock.close()
        except OSError:
            pass
    return None


def accept(listener, name, context):
    while True:
        sock, _ = listener.accept()
        threading.Thread(target=connection, args=(sock, name, context), daemon=True).start()


def listen(name, context=None, family=socket.AF_INET, address=("127.0.0.1", 0)):
    listener = socket.socket(family)
    listener.bind(address)
    listener.listen(128)
    port = listener.getsockname()[1] if family != socket.AF_UNIX else 0
    threading.Thread(target=accept, args=(listener, name, context), daemon=True).start()
    print(name, port, flush=True)


def main():
    folder = sys.argv[1]
    os.makedirs(folder, exist_ok=True)
    listen("plain")
    if socket.has_ipv6:
        try:
            listen("plain6", family=socket.AF_INET6, address=("::1", 0))
        except OSError:
            print("plain6 0", flush=True)
    path = os.path.join(folder, "socket")
    if os.path.exists(path):
        os.unlink(path)
    listen("unix", family=socket.AF_UNIX, address=path)
    for name, context in certificates.contexts(folder):
        listen(name, context)
    print("ready 0", flush=True)
    sys.stdin.read()
    os._exit(0)


if __name__ == "__main__":
    main()
