# SPDX-License-Identifier: Apache-2.0
"""Informers of kinformer and of client-go side by side on one real server, while its objects change
all the time and harm is done to it and to the ways there. The server's etcd has what really
happened; histories.py compares the events with that. The example controller runs beside
them."""
import time

import churn
import e2e
import etcd
import histories
import objects
import processes
import teams
from chaos import Chaos
from cluster import Cluster
from informers import Informers, client_go

WIDGETS = "example.com/v1/widgets/Widget"
RESOURCES = {"configmaps": "v1/configmaps", "pods": "v1/pods", "example.com/widgets": WIDGETS}
# As oracle_client.c reads them.
INFORMERS = (
    "v1/configmaps,protobuf,stream,-,-",
    "v1/configmaps,json,pages,shop,-",
    "v1/configmaps,json,stream,-,pick=yes",
    "v1/pods,protobuf,pages,-,-",
    "v1/pods,protobuf,stream,-,pick=yes",
    f"{WIDGETS},json,stream,-,-",
    f"{WIDGETS},json,pages,-,pick=yes",
)
SETTLE_S = 150
RULES = {"kinformer": histories.KINFORMER, "client-go": histories.CLIENT_GO}
# The recorder reads what is stored.
SERVER_FLAGS = ("--storage-media-type", "application/json")


def view(log, informer):
    resource, _, _, name_space, labels = informer.split(",")
    return log.view(resource, None if name_space == "-" else name_space,
                    {} if labels == "-" else dict([labels.split("=")]))


def present(steps):
    """{key: (uid, version)} of what is there in the end."""
    return {key: (last[-1][1], str(last[-1][0])) for key, last in steps.items()
            if last[-1][1] is not None}


class Oracle:
    def __init__(self, seed=1, per_second=40, clients=tuple(RULES), controller=True):
        self.seed = seed
        self.per_second = per_second
        self.names = clients
        self.has_controller = controller
        self.cluster = Cluster(SERVER_FLAGS)
        self.clients = {}
        self.settled = {}  # who: seconds after the last change
        self.recorder = self.chaos = self.churn = self.controller = None

    # ---- from start to end ----

    def __enter__(self):
        self.cluster.__enter__()
        try:
            teams.prepare(self.cluster)
            self.cluster.apply(objects.widget_definition())
            self.cluster.kubectl("wait", "--for=condition=Established", "crd/widgets.example.com")
            self.recorder = etcd.Recorder(etcd.Etcd(self.cluster.etcd_port), RESOURCES)
            self.recorder.__enter__()
            self.chaos = Chaos(self.cluster, (*self.names, "controller"))
            self.start()
        except BaseException:
            self.__exit__(None, None, None)
            raise
        return self

    def __exit__(self, kind, error, trace):
        if self.churn is not None:
            self.churn.__exit__(kind, error, trace)
        for client in (*self.clients.values(), self.controller):
            if client is not None:
                client.close()
        if self.chaos is not None:
            self.chaos.close()
        if self.recorder is not None:
            self.recorder.__exit__(kind, error, trace)
        self.cluster.__exit__(kind, error, trace)

    def start(self):
        for name in self.names:
            program = e2e.program("oracle_client") if name == "kinformer" else client_go()
            self.clients[name] = Informers(program, self.kubeconfig(name), INFORMERS,
                                           self.log(name))
        more = []
        if self.has_controller:
            self.controller = teams.Controller(self.kubeconfig("controller"),
                                               self.log("controller"))
            more = [teams.Writer(self.cluster, self.seed, self.per_second / 8)]
        self.churn = churn.Churn(self.cluster, self.seed, self.per_second, more)
        self.churn.__enter__()

    def kubeconfig(self, name):
        """For a client behind a proxy of its own."""
        return self.cluster.write_kubeconfig(
            f"of-{name}", {"client-certificate": self.cluster.path("admin.crt"),
                           "client-key": self.cluster.path("admin.key")},
            f"https://127.0.0.1:{self.chaos.proxies[name].port}")

    def log(self, name):
        return self.cluster.path(f"{name}.log")

    def wait_for_sync(self):
        for client in self.clients.values():
            client.wait_for_sync()

    # ---- the end of a history ----

    def settle(self):
        """No more changes, and all have heard of all. Returns what is wrong, as texts."""
        self.churn.__exit__(None, None, None)
        begin = time.monotonic()
        end = begin + SETTLE_S
        unfinished = self.finish_controller(end)
        self.settled["controller"] = time.monotonic() - begin
        self.recorder.finish()
        if unfinished:
            return unfinished
        for name, client in self.clients.items():
            for informer in INFORMERS:
                wanted = present(view(self.recorder.log, informer))
                try:
                    client.wait(lambda c=client, i=informer, w=wanted: c.known[i] == w,
                                "notified of all objects", max(1, end - time.monotonic()))
                except AssertionError as error:
                    return [f"{name}: {informer}: {error}", *self.wrong()]
            self.settled[name] = time.monotonic() - begin
        return self.wrong()

    def finish_controller(self, end):
        """Until it has done all that is to be done. It writes nothing after that."""
        if self.controller is None:
            return []
        while (left := teams.wrong(self.cluster)) and time.monotonic() < end:
            time.sleep(0.5)
        if not self.controller.stop():
            left.append("it does not stop")
        return [f"the controller: {text}" for text in left]

    def wrong(self):
        found = []
        for name, client in self.clients.items():
            if client.ended:
                return [f"{name} has ended with {client.process.poll()}"]
            health = client.health()
            cache, _ = client.dump()
            for informer in INFORMERS:
                steps = view(self.recorder.log, informer)
                complaints = histories.check(steps, client.histories.get(informer, []),
                                             health[informer]["syncs"], RULES[name])
                if cache[informer] != present(steps):
                    complaints.append("the cache is not what the server has")
                found += [f"{name}: {informer}: {text}" for text in complaints]
        return found + self.wrong_log()

    def wrong_log(self):
        """What the server itself answers is what its etcd has."""
        found = []
        for informer in INFORMERS:
            resource, *_, name_space, labels = informer.split(",")
            if (name_space, labels) == ("-", "-"):
                plural = "widgets.example.com" if resource == WIDGETS else resource.split("/")[1]
                listed = {f"{m['namespace']}/{m['name']}": (m["uid"], m["resourceVersion"])
                          for m in (item["metadata"] for item in self.cluster.get(plural))}
                if listed != present(view(self.recorder.log, informer)):
                    found.append(f"{resource}: the server does not answer what its etcd has")
        return found

    # ---- what to say of it ----

    def progress(self):
        """In a few words."""
        return ", ".join([f"{self.recorder.count} changes",
                          *(f"{name} {client.count()}" for name, client in self.clients.items())])

    def logs(self):
        """The last words of all."""
        return "".join([self.cluster.logs(),
                        *(processes.tail(self.log(name)) for name in self.chaos.proxies)])

    def summary(self):
        lines = [f"{self.recorder.count} changes by {self.churn.count()} requests, "
                 f"{self.churn.count('refused')} refused, {self.churn.count('failed')} failed; "
                 + ", ".join(f"{what} {count}" for what, count in self.chaos.counts.items())]
        for name, client in self.clients.items():
            lines.append(f"{name}: received {client.count()} events")
            lines += [f"  {informer}: " + " ".join(f"{k}={v}" for k, v in health.items())
                      for informer, health in client.health().items()]
        lines.append("settled after " + ", ".join(f"{seconds:.0f} s: {name}" for name, seconds
                                                  in self.settled.items()))
        if self.controller is not None:
            lines.append(f"the controller: {self.controller.said}")
        return "\n".join(lines)
