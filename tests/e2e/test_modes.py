# SPDX-License-Identifier: Apache-2.0
"""Every way to ask for objects, on servers of different kinds: by streaming and by pages, in both
encodings, all objects or some, whole or metadata only; and what each does when the server has
forgotten where it was."""
import itertools
import signal
import time
import unittest
from urllib.parse import parse_qs, urlsplit

import e2e
import objects
from cluster import Cluster

RESOURCES = {"v1/pods": ("/api/v1", "pods"),
             "apps/v1/deployments": ("/apis/apps/v1", "deployments"),
             "example.com/v1/widgets/Widget": ("/apis/example.com/v1", "widgets")}
PAGE = 4
COMPACTION_S = 3
DELETED = {"x": "in-0", "y": "out-0", "z": "in-2"}  # by which change
PARTIAL = ("PartialObjectMetadata", "meta.k8s.io/v1")


class Part:
    """Which objects an informer asks for."""

    def __init__(self, flags, has, asks):
        self.flags = flags
        self.has = has  # whether it has an object with this metadata
        self.asks = asks  # whether a request, its path and query, asks for it


PARTS = {
    "all": Part((), lambda m: True,
                lambda path, query: "namespaces" not in path and "fieldSelector" not in query
                and "labelSelector" not in query),
    "namespace": Part(("--namespace", "shop"), lambda m: m["namespace"] == "shop",
                      lambda path, query: "/namespaces/shop/" in path),
    "labels": Part(("--labels", "app in (in),!hidden"),
                   lambda m: m["labels"]["app"] == "in" and "hidden" not in m["labels"],
                   lambda path, query: query["labelSelector"] == ["app in (in),!hidden"]),
    "fields": Part(("--fields", "metadata.name!=in-1"), lambda m: m["name"] != "in-1",
                   lambda path, query: query["fieldSelector"] == ["metadata.name!=in-1"]),
    "metadata": Part(("--metadata",), lambda m: True, lambda path, query: True),
}
WAYS = {"streaming": (), "pages": ("--pages", "--page-size", str(PAGE))}
ENCODINGS = {"protobuf": (), "json": ("--json",)}


def key_of(item):
    return f"{item['metadata']['namespace']}/{item['metadata']['name']}"


class Modes:
    """The tests, for classes that choose the server."""
    flags = ()
    can_stream = True

    @classmethod
    def make_cluster(cls):
        return Cluster(cls.flags)

    @classmethod
    def prepare(cls):
        cls.cluster.apply(objects.namespace("shop"))
        cls.cluster.define(objects.widget_definition())
        cls.make(*(f"in-{i}" for i in range(PAGE)), *(f"out-{i}" for i in range(PAGE)))

    @classmethod
    def make(cls, *names):
        cls.cluster.apply(*(item for i, name in enumerate(names)
                            for item in cls.of_each(name, "shop" if i % 2 else "default")))

    @staticmethod
    def of_each(name, name_space):
        return (objects.pod(name, name_space), objects.deployment(name, name_space),
                objects.widget(name, name_space, 1))

    def server(self):
        """{resource: {key: object}}."""
        found = {}
        for resource, (path, name) in RESOURCES.items():
            answer = self.cluster.request("GET", f"{path}/{name}")
            kind = {"kind": answer["kind"].removesuffix("List"), "apiVersion": answer["apiVersion"]}
            found[resource] = {key_of(item): {**item, **kind} for item in answer["items"]}
        return found

    def start_all(self):
        """{(part, way, encoding): client}."""
        return {mode: self.client(self.cluster.kubeconfig(), RESOURCES,
                                  ("--agent", "-".join(mode), *PARTS[mode[0]].flags,
                                   *WAYS[mode[1]], *ENCODINGS[mode[2]]))
                for mode in itertools.product(PARTS, WAYS, ENCODINGS)}

    def assert_all_current(self, clients):
        server = self.server()
        for mode, client in clients.items():
            for resource, items in server.items():
                wanted = {key: (item["metadata"]["uid"], item["metadata"]["resourceVersion"])
                          for key, item in items.items() if PARTS[mode[0]].has(item["metadata"])}
                client.wait_for_version(resource, wanted)
            self.assertEqual(client.complaints, [], mode)

    def assert_content(self, clients):
        server = self.server()
        for mode, client in clients.items():
            for (resource, key), item in client.whole_objects().items():
                wanted = server[resource][key]
                if mode[0] == "metadata":
                    wanted = {"kind": PARTIAL[0], "apiVersion": PARTIAL[1],
                              "metadata": wanted["metadata"]}
                self.assertEqual(item, wanted, mode)

    def assert_encodings(self, clients):
        for mode, client in clients.items():
            custom = mode[2] if mode[0] == "metadata" else "json"
            self.assertEqual(list(client.dump()[1].values()), [{mode[2]}, {mode[2]}, {custom}],
                             mode)

    def assert_requested(self, mode):
        """What the server's own log says of a client before its first watch."""
        part, way, _ = mode
        for resource in ("pods", "deployments", "widgets"):
            asked = [r for r in self.cluster.requests("-".join(mode))
                     if r["objectRef"]["resource"] == resource]
            places = [urlsplit(r["requestURI"]) for r in asked]
            queries = [parse_qs(place.query) for place in places]
            for place, query in zip(places, queries):
                self.assertTrue(PARTS[part].asks(place.path, query), place)
            streams = [r["responseStatus"]["code"] for r, q in zip(asked, queries)
                       if q.get("sendInitialEvents") == ["true"]]
            lists = [q for r, q in zip(asked, queries) if r["verb"] == "list"]
            self.assert_way(way, streams, lists)

    def assert_way(self, way, streams, lists):
        if way == "pages":
            self.assertEqual(streams, [])
            self.assertTrue(lists)
            self.assertTrue(all(q["limit"] == [str(PAGE)] for q in lists), lists)
        elif self.can_stream:
            self.assertEqual((streams, lists), ([200], []))
        else:  # it was asked once, said no, and was believed
            self.assertEqual((streams, len(lists)), ([422], 1))

    def change(self, name):
        """Makes some of each, has them go from one part into another, and deletes others."""
        self.make(f"in-{name}-1", f"in-{name}-2", f"out-{name}")
        for path, resource in RESOURCES.values():
            here, there = (f"{path}/namespaces/{place}/{resource}" for place in ("default", "shop"))
            self.label(f"{here}/in-{name}-1", app="out")
            self.label(f"{there}/in-{name}-2", hidden="yes")
            self.label(f"{here}/out-{name}", app="in")
            self.cluster.request("DELETE", f"{here}/{DELETED[name]}?gracePeriodSeconds=0")

    def label(self, path, **labels):
        self.cluster.request("PATCH", path, {"metadata": {"labels": labels}},
                             "application/merge-patch+json")

    def test_all_modes(self):
        clients = self.start_all()
        for client in clients.values():
            client.wait_for_sync()
        self.assert_all_current(clients)
        self.assert_encodings(clients)
        for mode, client in clients.items():
            self.assert_requested(mode)
            self.assertEqual(client.errors, [], mode)
        self.change("x")
        self.assert_all_current(clients)
        self.assert_content(clients)
        self.assert_encodings(clients)
        self.fall_behind(clients)
        for client in clients.values():
            client.quit()

    def fall_behind(self, clients):
        """Clients lose their watches, and what happens meanwhile is forgotten before they are
        back."""
        for client in clients.values():
            client.process.send_signal(signal.SIGSTOP)
        self.change("y")
        self.cluster.restart_apiserver()
        self.change("z")
        self.forget()
        for client in clients.values():
            client.process.send_signal(signal.SIGCONT)
        self.assert_all_current(clients)
        self.assert_encodings(clients)
        for mode, client in clients.items():
            for resource, health in client.health().items():
                self.assertEqual(health["relists"], 1, (mode, resource))

    def forget(self):
        """The server's cache begins with what it found at its start."""


class Usual(Modes, e2e.Case):
    """A server as it comes."""


class WithoutStreamingLists(Modes, e2e.Case):
    flags = ("--feature-gates=WatchList=false",)
    can_stream = False


class WithoutCache(Modes, e2e.Case):
    """Everything comes from etcd, which forgets soon. A cache that is small cannot be had: of the
    sizes that a server can be given it heeds none but 0."""
    flags = ("--watch-cache=false", f"--etcd-compaction-interval={COMPACTION_S}s")

    def forget(self):
        time.sleep(2 * COMPACTION_S + 1)


if __name__ == "__main__":
    unittest.main()
