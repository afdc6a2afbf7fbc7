# SPDX-License-Identifier: Apache-2.0
"""Harm done to a server and to the ways that lead there, one after the other. All of it passes: a
server that was killed is started again, and new connections get through."""
import random
import time

import cluster  # noqa: F401  (tells where fault_proxy is)
import etcd
from fault_proxy import Proxy

PAUSE_S = 20
RESTART_S = 1

# For a minute. Each: seconds before it, and what.
SHORT = ((3, "cut"), (2, "reset"), (2, "kill"), (3, "half"), (1, "compact"),
         (3, "compact_and_kill"), (3, "cut"), (3, "hole"), (2, "pause"), (3, "cut"), (2, "dead"))
# For hours: how often each comes, on the average.
OFTEN = {"cut": 10, "reset": 8, "half": 3, "hole": 3, "dead": 2, "compact": 4, "pause": 0.7,
         "kill": 1, "compact_and_kill": 1}


def at_random(seed, seconds, often=None, between=(1, 6)):
    """A plan for so long, the same for the same seed; its end is by the clock."""
    dice = random.Random(seed)
    often = often or OFTEN
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        yield dice.uniform(*between), dice.choices(list(often), list(often.values()))[0]


class Chaos:
    def __init__(self, server, ways):
        self.server = server
        self.etcd = etcd.Etcd(server.etcd_port)
        self.proxies = {way: Proxy(server.port) for way in ways}
        self.counts = {}

    def run(self, plan, tell=lambda text: None):
        for seconds, what in plan:
            time.sleep(seconds)
            tell(what)
            getattr(self, what)()
            self.counts[what] = self.counts.get(what, 0) + 1

    def close(self):
        for proxy in self.proxies.values():
            proxy.refuse()

    # ---- the ways ----

    def cut(self):
        for proxy in self.proxies.values():
            proxy.end()

    def reset(self):
        for proxy in self.proxies.values():
            proxy.end("reset")

    def half(self):
        """Nothing more comes from the server, and the client may still write."""
        for proxy in self.proxies.values():
            proxy.end("half")

    def hole(self):
        """TCP is alive, and nothing gets through."""
        for proxy in self.proxies.values():
            proxy.fault("hole", "both")

    def dead(self):
        """Nothing is acknowledged."""
        for proxy in self.proxies.values():
            proxy.fault("dead")

    # ---- the server ----

    def compact(self, keep=20):
        self.etcd.compact(keep)

    def kill(self):
        self.server.kill_apiserver()
        time.sleep(RESTART_S)
        self.server.start_apiserver()

    def compact_and_kill(self):
        """What the server knew of the past is gone with it, and cannot be read again."""
        self.server.kill_apiserver()
        self.etcd.compact(0)
        self.server.start_apiserver()

    def pause(self):
        self.server.pause_apiserver()
        try:
            time.sleep(PAUSE_S)
        finally:
            self.server.resume_apiserver()
