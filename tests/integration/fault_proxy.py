# SPDX-License-Identifier: Apache-2.0
"""A proxy of TCP connections that does them harm. Each has a listener of its own, and:

  delay MS      every piece comes so much later
  split         what the server sends comes byte by byte
  cut N         after N bytes of the server the connection ends, both ways
  reset N       the same by a reset
  half N        after N bytes of the server nothing more comes from it: half closed
  hole up|down|both   bytes of the client, the server, or both are swallowed; TCP is alive
  dead          the client's packets are dropped: nothing is acknowledged, nothing comes
  none          as it came

A harm of bytes is done to connections that begin later, a hole and death to those that are there
only: new connections get through. end() ends those that are there."""
import ctypes
import socket
import struct
import threading
import time

SO_ATTACH_FILTER = 26


def drop_all(sock):
    """The kernel drops whatever comes for this socket, before TCP sees it."""
    code = ctypes.create_string_buffer(struct.pack("HBBI", 6, 0, 0, 0))  # return 0
    sock.setsockopt(socket.SOL_SOCKET, SO_ATTACH_FILTER,
                    struct.pack("HP", 1, ctypes.addressof(code)))


class Link:
    """One connection. `what` and `arg` are the harm done to its bytes; `ended` is called with it
    when both ways have come to their end."""

    def __init__(self, client, server, what, arg, ended):
        self.client, self.server = client, server
        self.what, self.arg = what, arg
        self.holes = set()
        self.ended = ended
        self.ways = 2
        self.lock = threading.Lock()

    def start(self):
        for way in (self.up, self.down):
            threading.Thread(target=self.run, args=(way,), daemon=True).start()

    def run(self, way):
        try:
            way()
        except OSError:
            self.close()
        with self.lock:
            self.ways -= 1
            if self.ways > 0:
                return
        for sock in (self.client, self.server):
            sock.close()
        self.ended(self)

    def close(self):
        for sock in (self.client, self.server):
            try:
                sock.shutdown(socket.SHUT_RDWR)
            except OSError:
                pass

    def up(self):
        while data := self.client.recv(65536):
            if self.what == "delay":
                time.sleep(self.arg / 1000)
            if "up" not in self.holes:
                self.server.sendall(data)
        if "up" not in self.holes:
            self.server.shutdown(socket.SHUT_WR)

    def down(self):
        done = 0
        while data := self.server.recv(65536):
            if "down" in self.holes:
                continue
            if self.what == "delay":
                time.sleep(self.arg / 1000)
            if self.what in ("cut", "reset", "half"):
                data = data[:self.arg - done]
            if self.what == "split":
                for byte in data:
                    self.client.sendall(bytes([byte]))
            else:
                self.client.sendall(data)
            done += len(data)
            if self.what in ("cut", "reset", "half") and done >= self.arg:
                return self.harm()
        if "down" not in self.holes:
            self.client.shutdown(socket.SHUT_WR)
        return None

    def harm(self):
        if self.what == "half":
            return self.half_close()
        if self.what == "reset":
            time.sleep(0.05)  # what was sent is to arrive first
            return self.reset()
        return self.close()

    def die(self):
        self.holes |= {"up", "down"}
        try:
            drop_all(self.client)
        except OSError:
            pass  # it is over

    def half_close(self):
        """Nothing more comes from the server; the client may still write."""
        try:
            self.client.shutdown(socket.SHUT_WR)
        except OSError:
            self.close()

    def reset(self):
        try:
            self.client.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
            self.client.shutdown(socket.SHUT_RD)  # else the thread that reads keeps it open
            time.sleep(0.05)
            self.client.close()
            self.server.shutdown(socket.SHUT_RDWR)
        except OSError:
            self.close()


class Proxy:
    def __init__(self, target):
        self.target = target  # a port
        self.what, self.arg = "none", 0
        self.links = set()
        self.accepted = 0
        self.port = 0
        self.open()

    def open(self):
        self.listener = socket.socket()
        self.listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        self.listener.bind(("127.0.0.1", self.port))
        self.listener.listen(64)
        self.port = self.listener.getsockname()[1]
        threading.Thread(target=self.accept, args=(self.listener,), daemon=True).start()

    def accept(self, listener):
        while True:
            try:
                client, _ = listener.accept()
            except OSError:
                return
            try:
                server = socket.create_connection(("127.0.0.1", self.target))
            except OSError:  # nobody is there, and so is this
                client.close()
                continue
            for sock in (client, server):
                sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            self.accepted += 1
            link = Link(client, server, self.what, self.arg, self.links.discard)
            self.links.add(link)
            link.start()

    def refuse(self):
        """Nobody listens any more, and what there was is over."""
        self.listener.shutdown(socket.SHUT_RDWR)
        self.listener.close()
        for link in list(self.links):
            link.close()

    def end(self, how="cut"):
        """What there is, is over: cut, reset, or half closed by the server. Who has fallen into a
        hole or is dead hears nothing of it."""
        ways = {"cut": Link.close, "reset": Link.reset, "half": Link.half_close}
        for link in list(self.links):
            if not link.holes:
                ways[how](link)

    def fault(self, what, arg="0"):
        if what == "hole":
            for link in list(self.links):
                link.holes |= {"up", "down"} if arg == "both" else {arg}
        elif what == "dead":
            for link in list(self.links):
                link.die()
        else:
            self.what, self.arg = what, int(arg)
