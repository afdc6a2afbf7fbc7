#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""HTTP/2 servers that mean harm. Each has a socket of its own, named by what it does after the
first request: see the functions. It prints "name port" for each, then "ready", and ends when
its standard input does.

Usage: hostile_http2.py <folder for certificates>
"""
import os
import socket
import struct
import sys
import threading
import time

import certificates
from http2 import (ACK, CONTINUATION, DATA, END_HEADERS, END_STREAM, GOAWAY, HEADERS, OK, PING, RST,
                   SETTINGS, WINDOW, frame, literal)

PRIORITY, PUSH = 2, 5
answers = {}


def hostile(function):
    answers[function.__name__.replace("_", "-")] = function
    return function


def for_ever(sock, data, seconds=1):
    """Until it is not wanted any more; others are to have their turn, so there is an end to it."""
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        sock.sendall(data)


@hostile
def good(sock, stream):
    begin(sock, stream)
    while True:
        sock.sendall(frame(DATA, 0, stream, b"tick "))
        time.sleep(0.05)


def begin(sock, stream):
    sock.sendall(frame(HEADERS, END_HEADERS, stream, OK))


@hostile
def continuation_flood(sock, stream):
    sock.sendall(frame(HEADERS, 0, stream, OK))
    for_ever(sock, frame(CONTINUATION, 0, stream, literal(b"x-a", b"b" * 100)))


@hostile
def empty_continuation_flood(sock, stream):
    sock.sendall(frame(HEADERS, 0, stream, OK))
    for_ever(sock, frame(CONTINUATION, 0, stream) * 100)


@hostile
def header_bomb(sock, stream):
    """One long header, put into the table, then named again and again."""
    value = b"v" * 3900
    block = OK + b"\x40\x01x\x7f" + encode(len(value) - 127) + value + b"\xbe" * 16000
    sock.sendall(frame(HEADERS, END_HEADERS, stream, block[:16384]))


def encode(number):
    out = b""
    while number >= 128:
        out += bytes([number & 127 | 128])
        number >>= 7
    return out + bytes([number])


@hostile
def many_headers(sock, stream):
    block = OK + b"".join(literal(b"x-%d" % i, b"v") for i in range(1000))
    sock.sendall(frame(HEADERS, END_HEADERS, stream, block[:16000]))


@hostile
def trailer_bomb(sock, stream):
    begin(sock, stream)
    sock.sendall(frame(DATA, 0, stream, b"hello"))
    value = b"v" * 3900
    block = b"\x40\x01x\x7f" + encode(len(value) - 127) + value + b"\xbe" * 12000
    sock.sendall(frame(HEADERS, END_HEADERS | END_STREAM, stream, block))


@hostile
def interim_flood(sock, stream):
    for_ever(sock, frame(HEADERS, END_HEADERS, stream, literal(b":status", b"103")))


@hostile
def settings_flood(sock, stream):
    for_ever(sock, frame(SETTINGS, 0, 0) * 100)


@hostile
def settings_many(sock, stream):
    for_ever(sock, frame(SETTINGS, 0, 0, struct.pack(">HI", 0x99, 1) * 2000))


@hostile
def ping_flood(sock, stream):
    begin(sock, stream)
    for_ever(sock, frame(PING, 0, 0, b"12345678") * 100)


@hostile
def long_ping_flood(sock, stream):
    begin(sock, stream)
    for_ever(sock, frame(PING, 0, 0, b"12345678") * 100, 10)


@hostile
def deaf_ping_flood(sock, stream):
    """The same, and nobody reads the answers: see serve()."""
    ping_flood(sock, stream)


@hostile
def deaf_settings_flood(sock, stream):
    settings_flood(sock, stream)


@hostile
def rst_flood(sock, stream):
    begin(sock, stream)
    for_ever(sock, frame(RST, 0, stream + 2, struct.pack(">I", 0)) * 100)


@hostile
def priority_flood(sock, stream):
    begin(sock, stream)
    for_ever(sock, b"".join(frame(PRIORITY, 0, 2 * i + 1, struct.pack(">IB", 2 * i + 3, 1))
                            for i in range(1000)))


@hostile
def unknown_frames(sock, stream):
    begin(sock, stream)
    for_ever(sock, frame(0xfa, 0xff, stream, b"what" * 1000))


@hostile
def empty_data_flood(sock, stream):
    begin(sock, stream)
    for_ever(sock, frame(DATA, 0, stream) * 1000)


@hostile
def padding_flood(sock, stream):
    """Data that is all padding."""
    begin(sock, stream)
    for_ever(sock, frame(DATA, 8, stream, b"\xff" + b"\0" * 255) * 100)


@hostile
def padding_too_long(sock, stream):
    begin(sock, stream)
    sock.sendall(frame(DATA, 8, stream, b"\xff1234"))


@hostile
def frame_too_long(sock, stream):
    begin(sock, stream)
    for_ever(sock, struct.pack(">I", 0xffffff)[1:] + bytes([DATA, 0]) + struct.pack(">I", stream))


@hostile
def settings_of_five(sock, stream):
    sock.sendall(frame(SETTINGS, 0, 0, b"12345"))


@hostile
def settings_of_a_stream(sock, stream):
    sock.sendall(frame(SETTINGS, 0, stream, b""))


@hostile
def ping_of_seven(sock, stream):
    sock.sendall(frame(PING, 0, 0, b"1234567"))


@hostile
def window_of_three(sock, stream):
    sock.sendall(frame(WINDOW, 0, 0, b"123"))


@hostile
def window_by_nothing(sock, stream):
    sock.sendall(frame(WINDOW, 0, 0, struct.pack(">I", 0)))


@hostile
def window_too_large(sock, stream):
    sock.sendall(frame(WINDOW, 0, 0, struct.pack(">I", 0x7fffffff)) * 2)


@hostile
def window_of_settings(sock, stream):
    sock.sendall(frame(SETTINGS, 0, 0, struct.pack(">HI", 4, 0xffffffff)))


@hostile
def frame_size_of_settings(sock, stream):
    sock.sendall(frame(SETTINGS, 0, 0, struct.pack(">HI", 5, 1)))


@hostile
def push(sock, stream):
    sock.sendall(frame(PUSH, END_HEADERS, stream, struct.pack(">I", 2) + OK))


@hostile
def data_first(sock, stream):
    sock.sendall(frame(DATA, 0, stream, b"hello"))


@hostile
def data_of_the_connection(sock, stream):
    sock.sendall(frame(DATA, 0, 0, b"hello"))


@hostile
def data_of_another(sock, stream):
    begin(sock, stream)
    sock.sendall(frame(DATA, 0, stream + 98, b"hello"))


@hostile
def data_after_the_end(sock, stream):
    begin(sock, stream)
    sock.sendall(frame(DATA, END_STREAM, stream, b"hello") + frame(DATA, 0, stream, b"more"))


@hostile
def headers_of_an_even_stream(sock, stream):
    sock.sendall(frame(HEADERS, END_HEADERS, 2, OK))


@hostile
def no_status(sock, stream):
    sock.sendall(frame(HEADERS, END_HEADERS, stream, literal(b"x-a", b"b")))


@hostile
def two_statuses(sock, stream):
    sock.sendall(frame(HEADERS, END_HEADERS, stream, OK + OK))


@hostile
def status_of_letters(sock, stream):
    sock.sendall(frame(HEADERS, END_HEADERS, stream, literal(b":status", b"abc")))


@hostile
def bad_header(sock, stream):
    sock.sendall(frame(HEADERS, END_HEADERS, stream, OK + literal(b"X-Upper\n", b"a\r\nb: c")))


@hostile
def bad_index(sock, stream):
    sock.sendall(frame(HEADERS, END_HEADERS, stream, OK + b"\xff\xff\xff\xff\x7f"))


@hostile
def table_too_large(sock, stream):
    sock.sendall(frame(HEADERS, END_HEADERS, stream, b"\x3f\xff\xff\xff\x07" + OK))


@hostile
def long_length(sock, stream):
    """A content-length that is not kept."""
    sock.sendall(frame(HEADERS, END_HEADERS, stream, OK + literal(b"content-length", b"100")) +
                 frame(DATA, END_STREAM, stream, b"hello"))


@hostile
def calm_down(sock, stream):
    sock.sendall(frame(GOAWAY, 0, 0, struct.pack(">II", stream, 11) + b"x" * 16000))


@hostile
def goaway_always(sock, stream):
    """Nothing was done, ask elsewhere: for ever."""
    sock.sendall(frame(GOAWAY, 0, 0, struct.pack(">II", 0, 0)))


@hostile
def refused_always(sock, stream):
    sock.sendall(frame(RST, 0, stream, struct.pack(">I", 7)))


@hostile
def text(sock, stream):
    for_ever(sock, b"HTTP/1.1 200 OK\r\n\r\nhello\r\n")


@hostile
def noise(sock, stream):
    for_ever(sock, bytes(range(256)) * 64)


@hostile
def no_stream_allowed(sock, stream):
    """See serve()."""


def read_exactly(sock, count):
    data = b""
    while len(data) < count:
        more = sock.recv(count - len(data))
        if not more:
            raise OSError("end")
        data += more
    return data


def drain(sock):
    """Whatever the client answers is not to hold it up."""
    try:
        while sock.recv(65536):
            pass
    except (OSError, ValueError):
        pass


def serve(sock, name, context):
    try:
        sock = context.wrap_socket(sock, server_side=True)
        read_exactly(sock, 24)
        limit = 0 if name == "no-stream-allowed" else 100
        sock.sendall(frame(SETTINGS, 0, 0, struct.pack(">HI", 3, limit)))
        while True:
            start = read_exactly(sock, 9)
            read_exactly(sock, int.from_bytes(start[:3], "big"))
            if start[3] == SETTINGS and not start[4] & ACK:
                sock.sendall(frame(SETTINGS, ACK, 0))
            if start[3] == HEADERS:
                if not name.startswith("deaf"):
                    threading.Thread(target=drain, args=(sock,), daemon=True).start()
                answers[name](sock, struct.unpack(">I", start[5:])[0])
                # Closing at once would send a reset that overtakes what was just sent.
                time.sleep(30)
                return
    except (OSError, ValueError):
        pass
    finally:
        sock.close()


def accept(listener, name, context):
    while True:
        sock, _ = listener.accept()
        threading.Thread(target=serve, args=(sock, name, context), daemon=True).start()


def main():
    folder = sys.argv[1]
    os.makedirs(folder, exist_ok=True)
    threading.stack_size(256 << 10)
    maker = certificates.Maker(folder)
    maker.root("ca")
    maker.signed("good", "ca", "leaf", certificates.LOCAL)
    context = certificates.context(maker, "good")
    context.set_alpn_protocols(["h2"])
    for name in answers:
        listener = socket.socket()
        listener.bind(("127.0.0.1", 0))
        listener.listen(16)
        threading.Thread(target=accept, args=(listener, name, context), daemon=True).start()
        print(name, listener.getsockname()[1], flush=True)
    print("ready 0", flush=True)
    sys.stdin.read()
    os._exit(0)


if __name__ == "__main__":
    main()
