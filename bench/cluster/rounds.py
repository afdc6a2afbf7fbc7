# SPDX-License-Identifier: Apache-2.0
"""What is measured. A round has two parts. First each client is alone with the server: it syncs and
comes to rest. Then all are synced. Those that stream receive changes at a steady rate. All are
stopped (SIGSTOP), each object is changed once, and each client in turn resumes; then the same with
a server that has restarted and does not know the version at which the client stopped."""
import json
import os
import sys
import time

import curl
from clients import AGENTS, Client, ClientError, Writer, cpu_s, memory, wait_until_idle
from cluster import AUDIT_POLICY, Cluster
from results import WHAT

SYNC_S = 300
RATE = 200
RESUME_S = 300
OTHER_CHANGES = 20
RELIST_IDLE_S = 2.0


def say(text):
    print(text, file=sys.stderr, flush=True)


AUDIT = [{"level": "Metadata", "verbs": ["list", "watch"],
          "resources": [{"group": "", "resources": ["pods"]}]}, {"level": "None"}]


class Server(Cluster):
    """etcd holds all versions of all rounds; the log has lists and watches of pods only; and
    a server keeps events for as long as a request may take, so that a slow machine can replay."""

    def __init__(self, garbage_percent=None):
        super().__init__(["--request-timeout", "285s"])
        self.garbage_percent = garbage_percent  # of the API server: less memory, more time

    def prepare(self):
        super().prepare()
        self.write("audit-policy.json", json.dumps(dict(AUDIT_POLICY, rules=AUDIT)))

    def spawn(self, program, flags):
        if program == "etcd":
            flags = [*flags, "--quota-backend-bytes", str(8 << 30)]
        return super().spawn(program, flags)

    def environment(self, program):
        if program == "kube-apiserver" and self.garbage_percent:
            return {**os.environ, "GOGC": str(self.garbage_percent)}
        return super().environment(program)

    @property
    def etcd_url(self):
        return f"http://127.0.0.1:{self.etcd_port}"


def percentile(values, share):
    return sorted(values)[min(len(values) - 1, int(len(values) * share))]


class Bench:
    def __init__(self, cluster, options, record):
        self.cluster = cluster
        self.options = options
        self.record = record  # takes the members of a line
        self.round = 0
        self.version = 0
        self.list_bytes = 0
        self.clients = []
        self.writer = None

    def tell(self, row, kind, mode, **values):
        self.record({"round": self.round, "row": row, "client": kind, "mode": mode, **values})
        shown = ", ".join(f"{name} {value:.4g}" if isinstance(value, float) else f"{name} {value}"
                          for name, value in values.items() if not isinstance(value, dict))
        say(f"  {self.round} {row} {kind} {mode}: {shown}")

    # ---- the server ----

    def fill(self):
        say(f"filling the server with {self.options.pods:,} pods")
        start = time.monotonic()
        self.writer = Writer(self.cluster.kubeconfig(), self.cluster.path("writer.log"))
        command = f"fill {self.options.pods}"
        if self.options.scale:
            command = f"load {self.options.pods} {self.cluster.etcd_url}"
        self.version, _ = self.writer.do(command, 1800)
        say(f"  that took {time.monotonic() - start:.0f} s")
        if self.options.scale:
            # A list of everything is too long for one response.
            some = min(self.options.pods, curl.PER_NAMESPACE)
            size = curl.size(self.cluster, curl.PROTOBUF, "/api/v1/namespaces/team-0/pods")
            self.list_bytes = size * self.options.pods // some
            self.tell("objects", "server", "", pods=self.options.pods,
                      protobuf_bytes=self.list_bytes)
            return
        self.list_bytes = curl.size(self.cluster, curl.PROTOBUF)
        self.tell("objects", "server", "", pods=self.options.pods, protobuf_bytes=self.list_bytes,
                  json_bytes=curl.size(self.cluster, "application/json"))

    # ---- first contact ----

    def floor(self):
        if self.wanted("curl", "list"):
            self.tell("sync", "curl", "list", **curl.run_list(self.cluster))
        if self.wanted("curl", "stream"):
            self.tell("sync", "curl", "stream", **curl.run_stream(self.cluster, self.list_bytes))

    def wanted(self, kind, mode):
        return (kind, mode) in self.options.clients

    def sync(self, kind, mode):
        server = cpu_s(self.cluster.apiserver.pid)
        client = Client(kind, mode, self.cluster.kubeconfig(),
                        self.cluster.path(f"{kind}-{mode}.log"))
        self.clients.append(client)
        count, _ = client.expect("synced", SYNC_S)[0].split()
        wall, cpu = time.monotonic() - client.start, cpu_s(client.pid)
        server = cpu_s(self.cluster.apiserver.pid) - server
        expected = 0 if WHAT.get(kind) == "none" else self.options.pods
        if int(count) != expected:
            raise ClientError(f"{client.name} has {count} objects, not {expected}")
        self.tell("sync", kind, mode, cpu_s=cpu, wall_s=wall, server_cpu_s=server)
        return client

    def settle(self, client):
        time.sleep(self.options.settle)
        found = memory(client.pid)
        own = client.own_memory()
        if own.pop("collected", False):
            own["collected_rss"] = memory(client.pid)["rss"]
        self.tell("memory", client.kind, client.mode, **found, own=own)

    # ---- changes ----

    def latency(self, clients):
        """All receive the same changes, so that none has a better moment of the server."""
        count = int(RATE * self.options.seconds)
        self.version, lines = self.writer.do(f"rate {RATE} {count}", 600)
        writes = [tuple(map(int, line.split())) for line in lines]
        for client in clients:
            client.until(self.version, RESUME_S)
            self.latency_of(client, client.marks(), writes)

    def latency_of(self, client, heard, writes):
        asked = [(heard[version] - begin) / 1e6 for version, begin, _ in writes if version in heard]
        answered = [(heard[version] - end) / 1e6 for version, _, end in writes if version in heard]
        if len(asked) < len(writes) * 0.99:
            raise ClientError(f"{client.name} received {len(asked)} of {len(writes)} changes")
        self.tell("latency", client.kind, client.mode, p50_ms=percentile(asked, 0.5),
                  p99_ms=percentile(asked, 0.99), worst_ms=max(asked),
                  p50_after_answer_ms=percentile(answered, 0.5),
                  p99_after_answer_ms=percentile(answered, 0.99), events=len(asked))

    def replay(self):
        old = self.version
        start = time.monotonic()
        self.version, _ = self.writer.do("change", 1800)
        say(f"  {self.options.pods:,} changes in {time.monotonic() - start:.0f} s")
        if self.wanted("curl", "stream"):
            found = curl.run_watch(self.cluster, old, self.list_bytes)
            self.tell("replay", "curl", "stream", events=self.options.pods,
                      cpu_us_event=found["cpu_s"] * 1e6 / self.options.pods,
                      events_s=self.options.pods / found["wall_s"], **found)
        for client in self.clients:
            self.replay_one(client)

    def replay_one(self, client):
        requests = len(self.lists(client))
        cpu, start = cpu_s(client.pid), time.time_ns()
        client.resume()
        events, end = client.until(self.version, RESUME_S)
        cpu = cpu_s(client.pid) - cpu
        events -= client.events
        wait_until_idle(client.pid, RESUME_S)
        client.pause()
        if events < self.options.pods * 0.99:
            raise ClientError(f"{client.name} received {events} changes only")
        lists = len(self.lists(client)) - requests
        # One that listed instead of watching has done something else.
        self.tell("replay" if lists == 0 else "replay by a list", client.kind, client.mode,
                  events=events, cpu_us_event=cpu * 1e6 / events,
                  events_s=events / ((end - start) / 1e9), cpu_s=cpu,
                  wall_s=(end - start) / 1e9, rss=memory(client.pid)["rss"], lists=lists)

    def lists(self, client):
        """Its lists, streaming ones included, by the server's log."""
        return [entry for entry in self.cluster.requests(AGENTS[client.kind])
                if entry["verb"] == "list" or "sendInitialEvents" in entry["requestURI"]]

    # ---- a server that has restarted ----

    def relist(self):
        self.version, _ = self.writer.do(f"other {OTHER_CHANGES}", 60)
        self.cluster.restart_apiserver()
        time.sleep(self.options.settle)
        for client in self.clients:
            self.relist_one(client)

    def relist_one(self, client):
        requests = len(self.lists(client))
        cpu, start = cpu_s(client.pid), time.monotonic()
        client.resume()
        end = start + RESUME_S
        while len(self.lists(client)) == requests:
            if time.monotonic() > end:
                raise ClientError(f"{client.name} does not list again")
            time.sleep(0.2)
        last, now = wait_until_idle(client.pid, RESUME_S, RELIST_IDLE_S)
        found = memory(client.pid)
        self.tell("relist", client.kind, client.mode, cpu_s=now - cpu, wall_s=last - start,
                  rss=found["rss"], peak=found["peak"],
                  lists=len(self.lists(client)) - requests)
        client.pause()

    # ---- a round ----

    def one_round(self, number):
        self.round = number
        clients = [pair for pair in self.options.clients if pair[0] != "curl"]
        turn = number % len(clients) if clients else 0
        clients = clients[turn:] + clients[:turn]
        try:
            self.floor()
            for kind, mode in clients:
                self.one_alone(kind, mode)
            if self.options.rows:
                self.all_together([pair for pair in clients if pair[0] not in WHAT])
        finally:
            self.close_clients()

    def one_alone(self, kind, mode):
        client = self.sync(kind, mode)
        self.settle(client)
        self.close_clients()

    def all_together(self, clients):
        self.floor()
        streaming = [self.sync(kind, mode) for kind, mode in clients if mode == "stream"]
        if "latency" in self.options.rows and streaming:
            self.latency(streaming)
        if "replay" not in self.options.rows and "relist" not in self.options.rows:
            return
        for kind, mode in clients:
            if mode != "stream":
                self.sync(kind, mode)
        for client in self.clients:
            wait_until_idle(client.pid, RESUME_S)
            client.events = client.count()
        for client in self.clients:
            client.pause()
        if "replay" in self.options.rows:
            self.replay()
        if "relist" in self.options.rows:
            self.relist()

    def close_clients(self):
        for client in self.clients:
            client.close()
        self.clients = []

    def close(self):
        if self.writer is not None:
            self.writer.close()
