# SPDX-License-Identifier: Apache-2.0
"""Just enough of HTTP/2 for the tests of the transport. Requests are not decoded: their headers are
compressed, and what is to be done depends on the order of streams on a connection and on the name
of the socket. Every answer is a stream of the stream's number, written again and again."""
import os
import struct
import threading
import time

DATA, HEADERS, RST, SETTINGS, PING, GOAWAY, WINDOW, CONTINUATION = 0, 1, 3, 4, 6, 7, 8, 9
END_STREAM, END_HEADERS, ACK = 1, 4, 1


def frame(kind, flags, stream, payload=b""):
    return struct.pack(">I", len(payload))[1:] + bytes([kind, flags]) + \
        struct.pack(">I", stream) + payload


def literal(name, value):
    """A header without compression; both must be short."""
    return b"\x00" + bytes([len(name)]) + name + bytes([len(value)]) + value


OK = b"\x88"  # :status 200, from the static table


class Connection:
    gone = False

    def __init__(self, sock, name):
        self.sock = sock
        self.name = name
        self.lock = threading.Lock()
        self.windows = {0: 65535}
        self.initial = 65535
        self.room = threading.Condition()
        self.open = set()
        self.closed = False

    def read_exactly(self, count):
        data = b""
        while len(data) < count:
            more = self.sock.recv(count - len(data))
            if not more:
                raise OSError("end")
            data += more
        return data

    def send(self, *frames):
        with self.lock:
            self.sock.sendall(b"".join(frames))

    def data(self, stream, payload, end=False):
        """Waits for room in both windows. False if the stream is not wanted any more."""
        payload = memoryview(payload)
        while len(payload) != 0:
            with self.room:
                while stream in self.open and not self.closed and (
                        self.windows[0] <= 0 or self.windows.get(stream, 0) <= 0):
                    self.room.wait(1)
                if stream not in self.open or self.closed:
                    return False
                size = min(len(payload), 16384, self.windows[0], self.windows[stream])
                self.windows[0] -= size
                self.windows[stream] -= size
            last = end and size == len(payload)
            self.send(frame(DATA, END_STREAM if last else 0, stream, bytes(payload[:size])))
            payload = payload[size:]
        return True

    def answer(self, stream, order):
        """What streams get: by the order in which they came on this connection."""
        try:
            self.ANSWERS[self.name](self, stream, order)
        except OSError:
            pass

    def ticks(self, stream, order):
        """Its number, ten times a second, for ever."""
        self.send(frame(HEADERS, END_HEADERS, stream, OK + literal(b"x-order", b"%d" % order)))
        while self.data(stream, b"%d " % order):
            time.sleep(0.02)

    def flood(self, stream, order):
        """The first stream gets 64 MiB as fast as it can, the others tick."""
        if order != 1:
            return self.ticks(stream, order)
        self.send(frame(HEADERS, END_HEADERS, stream, OK))
        for i in range(1024):
            if not self.data(stream, (b"%08d" % i) * 8192):
                return None
        self.send(frame(DATA, END_STREAM, stream))
        return None

    def second_silent(self, stream, order):
        if order != 2:
            return self.ticks(stream, order)
        return self.send(frame(HEADERS, END_HEADERS, stream, OK))

    def going(self, stream, order):
        """The first connection serves one stream and goes away when there are three; the others are
        for another connection, which does as usual."""
        if order == 1 or Connection.gone:
            return self.ticks(stream, order)
        if order == 3:
            Connection.gone = True
            self.send(frame(GOAWAY, 0, 0, struct.pack(">II", 1, 0)))
        return None

    ANSWERS = {"h2-silent": second_silent, "h2": ticks, "h2-one": ticks, "h2-window": flood,
               "h2-goaway": going}

    def on_settings(self, flags, payload):
        if flags & ACK:
            return
        for at in range(0, len(payload), 6):
            key, value = struct.unpack(">HI", payload[at:at + 6])
            if key == 4:
                self.initial = value
        self.send(frame(SETTINGS, ACK, 0))

    def on_request(self, stream, order, flags, payload):
        threading.Thread(target=self.answer, args=(stream, order), daemon=True).start()

    def on_window(self, stream, payload):
        with self.room:
            size = struct.unpack(">I", payload)[0] & 0x7fffffff
            self.windows[stream] = self.windows.get(stream, self.initial) + size
            self.room.notify_all()

    def run(self):
        self.read_exactly(24)
        limit = 1 if self.name == "h2-one" else 100
        self.send(frame(SETTINGS, 0, 0, struct.pack(">HI", 3, limit)))
        order = 0
        while True:
            start = self.read_exactly(9)
            length = int.from_bytes(start[:3], "big")
            kind, flags = start[3], start[4]
            stream = struct.unpack(">I", start[5:])[0]
            payload = self.read_exactly(length)
            if kind == SETTINGS:
                self.on_settings(flags, payload)
            elif kind == WINDOW:
                self.on_window(stream, payload)
            elif kind == PING and not flags & ACK:
                self.send(frame(PING, ACK, 0, payload))
            elif kind == HEADERS:
                order += 1
                self.windows.setdefault(stream, self.initial)
                self.open.add(stream)
                self.on_request(stream, order, flags, payload)
            elif kind == RST:
                with self.room:
                    self.open.discard(stream)
                    self.room.notify_all()
            elif kind == GOAWAY:
                return

    def end(self):
        with self.room:
            self.closed = True
            self.room.notify_all()


def serve(sock, name):
    connection = Connection(sock, name)
    try:
        connection.run()
    finally:
        connection.end()
