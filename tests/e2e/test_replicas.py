# SPDX-License-Identifier: Apache-2.0
"""Two replicas of examples/website, one in C and one in C++, on a real server, while leaders are
stopped (SIGSTOP), killed and cut off and the server restarts. By the server's audit log, each
replica writes only while it holds the Lease; in the end the desired state is there."""
import datetime
import signal
import time
import urllib.error
import urllib.request

import churn
import e2e
import processes
import sites
from cluster import Cluster
from fault_proxy import Proxy

PROGRAMS = ("website", "website_cpp")
TOKEN = "of-the-monitor"
LEASE_S = 15
LONG_S = LEASE_S + 4  # until another replica has taken over
WAIT_S = 60
SETTLE_S = 150
PER_SECOND = 20
WRITES = ("create", "update", "patch", "delete")
OURS = ("websites", "configmaps", "deployments")


def when(text):
    return datetime.datetime.fromisoformat(text.replace("Z", "+00:00"))


class Replica:
    """A program with its own user, connection and log. It is started again after a kill."""

    def __init__(self, cluster, program):
        self.user = f"replica-{program}".replace("_", "-")
        self.program = program
        self.proxy = Proxy(cluster.port)
        self.log = cluster.path(f"{self.user}.log")
        cluster.certificate(self.user, self.user, "system:masters")
        self.kubeconfig = cluster.write_kubeconfig(
            self.user, {"client-certificate": cluster.path(f"{self.user}.crt"),
                        "client-key": cluster.path(f"{self.user}.key")},
            f"https://127.0.0.1:{self.proxy.port}")
        self.monitor = f"127.0.0.1:{processes.free_port()}"
        self.start()

    def start(self):
        self.controller = sites.Controller(self.program, self.kubeconfig, self.log,
                                           MONITOR_LISTEN=self.monitor, MONITOR_TOKEN=TOKEN)

    def probe(self, path, token=None):
        """The status code of the monitor server; 0: no response."""
        headers = {"Authorization": f"Bearer {token}"} if token else {}
        try:
            request = urllib.request.Request(f"http://{self.monitor}{path}", headers=headers)
            with urllib.request.urlopen(request, timeout=10) as response:
                return response.status
        except urllib.error.HTTPError as error:
            return error.code
        except OSError:
            return 0

    def signal(self, number):
        self.controller.process.send_signal(number)

    def close(self):
        self.proxy.refuse()
        self.controller.close()


class Replicas(e2e.Case):
    @classmethod
    def make_cluster(cls):
        return Cluster()

    @classmethod
    def prepare(cls):
        sites.prepare(cls.cluster)

    def setUp(self):
        self.replicas = []
        for program in PROGRAMS:
            replica = Replica(self.cluster, program)
            self.addCleanup(replica.close)
            self.replicas.append(replica)
            self.logs.append(replica.log)

    def tearDown(self):
        patch = '{"metadata": {"finalizers": null}}'
        for name in sites.items(self.cluster, "websites.example.com"):
            self.cluster.kubectl("patch", "website", name, "--type=merge", "-p", patch)
        self.cluster.kubectl("delete", "websites,configmaps,deployments,leases", "--all")

    # ---- who leads, and who wrote ----

    def entries(self):
        """Accepted writes of the replicas, in the order in which the server received them."""
        users = {replica.user for replica in self.replicas}
        found = [entry for entry in self.cluster.requests("website-controller")
                 if entry["user"]["username"] in users and entry["verb"] in WRITES
                 and entry.get("responseStatus", {}).get("code", 500) < 300]
        return sorted(found, key=lambda entry: when(entry["requestReceivedTimestamp"]))

    def terms(self, entries):
        """(user, time of its first write of the Lease, time by which the next user has it)"""
        terms = []
        for entry in entries:
            if entry["objectRef"]["resource"] != "leases":
                continue
            user = entry["user"]["username"]
            if not terms or terms[-1][0] != user:
                if terms:
                    terms[-1][2] = when(entry["stageTimestamp"])
                terms.append([user, when(entry["requestReceivedTimestamp"]), None])
        return terms

    def check_writers(self):
        """How many writes there were; each was received in a term of its writer."""
        entries = self.entries()
        terms = self.terms(entries)
        count = 0
        for entry in entries:
            if entry["objectRef"]["resource"] not in OURS:
                continue
            count += 1
            user, at = entry["user"]["username"], when(entry["requestReceivedTimestamp"])
            self.assertTrue(any(user == by and begin <= at and (end is None or at <= end)
                                for by, begin, end in terms),
                            f"{user} wrote {entry['requestURI']} at {at}; terms: {terms}")
        return count, len(terms)

    def leader(self):
        """The replica that has renewed the Lease last."""
        terms = self.terms(self.entries())
        return next(r for r in self.replicas if terms and r.user == terms[-1][0])

    def other(self, replica):
        return self.replicas[1 - self.replicas.index(replica)]

    def wait_until(self, condition, what, seconds=WAIT_S):
        end = time.monotonic() + seconds
        while not condition():
            self.assertLess(time.monotonic(), end, f"never: {what}")
            time.sleep(0.2)

    def wait_until_led(self, by=None):
        def led():
            terms = self.terms(self.entries())
            return bool(terms) and (by is None or terms[-1][0] == by.user)
        self.wait_until(led, f"led by {by.user if by else 'anyone'}")

    def wait_until_right(self, seconds=WAIT_S):
        end = time.monotonic() + seconds
        while (left := sites.wrong(self.cluster)) and time.monotonic() < end:
            time.sleep(0.5)
        self.assertEqual(left, [])

    def stop_all(self):
        for replica in self.replicas:
            self.assertTrue(replica.controller.stop(), processes.tail(replica.log))

    # ---- the tests ----

    def test_a_stopped_leader_is_replaced_and_does_not_write(self):
        self.wait_until_led()
        leader = self.leader()
        self.cluster.kubectl("apply", "-f", str(sites.FOLDER / "shop.yaml"))
        self.wait_until_right()
        leader.signal(signal.SIGSTOP)
        begin = time.monotonic()
        self.cluster.kubectl("patch", "website", "shop", "--type=merge", "-p",
                             '{"spec": {"html": "while it was stopped"}}')
        self.wait_until_led(self.other(leader))
        self.assertLess(time.monotonic() - begin, LEASE_S + 5)
        self.wait_until_right()
        leader.signal(signal.SIGCONT)
        before = self.writes_of(leader)
        self.cluster.kubectl("patch", "website", "shop", "--type=merge", "-p",
                             '{"spec": {"html": "after it was stopped"}}')
        self.wait_until_right()
        time.sleep(3)
        self.assertEqual(self.writes_of(leader), before)
        self.check_writers()
        events = self.cluster.kubectl("get", "events", "-o=jsonpath={.items[*].reason}").split()
        self.assertEqual(events.count("Created"), 2)
        self.stop_all()

    def test_probes_of_both_replicas(self):
        """Both are ready: the one that waits has synced caches."""
        self.wait_until_led()
        for replica in self.replicas:
            self.wait_until(lambda replica=replica: replica.probe("/readyz") == 200, "ready")
            self.assertEqual(replica.probe("/healthz"), 200)
            self.assertEqual(replica.probe("/metrics"), 401)
            self.assertEqual(replica.probe("/metrics", TOKEN), 200)
        self.stop_all()

    def writes_of(self, replica):
        return sum(1 for entry in self.entries() if entry["user"]["username"] == replica.user)

    def harm(self, what):
        leader = self.leader()
        if what == "stop":
            leader.signal(signal.SIGSTOP)
            time.sleep(LONG_S)
            leader.signal(signal.SIGCONT)
        elif what == "kill":
            leader.controller.close()
            time.sleep(LONG_S)
            leader.start()
        elif what == "cut off":
            leader.proxy.refuse()
            time.sleep(LONG_S)
            leader.proxy.open()
        elif what == "break":
            leader.proxy.end("reset")
        else:
            self.cluster.restart_apiserver()

    def test_chaos(self):
        self.wait_until_led()
        writer = sites.Writer(self.cluster, "replicas", PER_SECOND)
        with churn.Churn(self.cluster, 1, 1, [writer], writers=0):
            for what in ("stop", "break", "cut off", "restart", "kill", "restart", "stop"):
                time.sleep(3)
                self.harm(what)
        self.assertGreater(writer.done["ok"], 300)
        self.assertGreater(len(sites.items(self.cluster, "websites.example.com")), 0)
        self.wait_until_right(SETTLE_S)
        writes, terms = self.check_writers()
        self.assertGreater(writes, 200)
        self.assertGreaterEqual(terms, 4)
        self.stop_all()
