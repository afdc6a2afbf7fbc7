# SPDX-License-Identifier: Apache-2.0
"""Caches of pods, deployments and a custom resource follow a real server: in both encodings, by
streaming and by pages, through changes that kubectl makes, and through a kill -9 of the server."""
import time
import unittest
from urllib.parse import parse_qs, urlsplit

import e2e
import objects
from cluster import Cluster
from sync_client import PATIENCE_S

RESOURCES = {"v1/pods": "pods", "apps/v1/deployments": "deployments.apps",
             "example.com/v1/widgets/Widget": "widgets.example.com"}
PAGE = 7
MODES = {
    "json-streaming": ("--json",),
    "json-pages": ("--json", "--pages", "--page-size", str(PAGE)),
    "protobuf-streaming": (),
    "protobuf-pages": ("--pages", "--page-size", str(PAGE)),
}


def whole_on_server(cluster):
    """{(resource, key): object} as kubectl gets them."""
    return {(resource, f"{item['metadata']['namespace']}/{item['metadata']['name']}"): item
            for resource, name in RESOURCES.items() for item in cluster.get(name)}


def on_server(cluster):
    """{resource: {key: (uid, version)}} of the same."""
    found = {resource: {} for resource in RESOURCES}
    for (resource, key), item in whole_on_server(cluster).items():
        found[resource][key] = (item["metadata"]["uid"], item["metadata"]["resourceVersion"])
    return found


def fill(cluster):
    """More than two pages of each."""
    cluster.apply(objects.namespace("shop"), objects.widget_definition())
    cluster.kubectl("wait", "--for=condition=Established", "crd/widgets.example.com")
    count = 2 * PAGE + 3
    cluster.apply(*(objects.pod(f"old-{i}", "shop" if i % 2 else "default") for i in range(count)),
                  *(objects.deployment(f"old-{i}", "shop") for i in range(count)),
                  *(objects.widget(f"old-{i}", "default", i) for i in range(count)))


class FirstContact(e2e.Case):
    @classmethod
    def make_cluster(cls):
        return Cluster()

    @classmethod
    def prepare(cls):
        fill(cls.cluster)

    def setUp(self):
        self.round = self.id().rsplit(".", 1)[-1].replace("_", "-")[-40:]

    def start(self, mode, user=None):
        """By certificate or by token: both are ways in."""
        user = user or ("admin" if mode.startswith("json") else "admin-token")
        return self.client(self.cluster.kubeconfig(user), RESOURCES,
                           (*MODES[mode], "--agent", f"{self.round}-{mode}"))

    def assert_current(self, client):
        """What handlers received and what the cache has are both what the server has."""
        server = on_server(self.cluster)
        for resource, versions in server.items():
            client.wait_for_version(resource, versions)
        cache, _ = client.dump()
        self.assertEqual(cache, server)
        self.assertEqual(client.complaints, [])

    def change(self, name):
        """Creates, updates and deletes some of each kind."""
        kubectl, apply = self.cluster.kubectl, self.cluster.apply
        apply(objects.pod(f"{name}-a", "shop"), objects.pod(f"{name}-b", "default"),
              objects.deployment(f"{name}-a", "shop"), objects.deployment(f"{name}-b", "shop"),
              objects.widget(f"{name}-a", "default", 1), objects.widget(f"{name}-b", "shop", 2))
        kubectl("label", "pod", f"{name}-a", "-n", "shop", "seen=yes")
        kubectl("scale", "deployment", f"{name}-a", "-n", "shop", "--replicas=5")
        kubectl("patch", "widget", f"{name}-a", "--type=merge", "-p", '{"spec":{"size":99}}')
        kubectl("delete", "pod", f"{name}-b", "--wait=false")
        kubectl("delete", "deployment", f"{name}-b", "-n", "shop")
        kubectl("delete", "widget", f"{name}-b", "-n", "shop")

    def assert_delivered(self, client, name):
        """Each step of change() was delivered."""
        for resource in RESOURCES:
            steps = [(what, key.split("/")[1])
                    for what, r, key, *_ in client.events if r == resource]
            for step in (("+", f"{name}-a"), ("~", f"{name}-a"),
                         ("+", f"{name}-b"), ("-", f"{name}-b")):
                self.assertIn(step, steps, resource)

    def assert_requested(self, mode):
        """The server's own log says that the requests were those of this mode."""
        asked = self.cluster.requests(f"{self.round}-{mode}")
        queries = [(r["verb"], r["objectRef"]["resource"],
                    parse_qs(urlsplit(r["requestURI"]).query)) for r in asked]
        for resource in ("pods", "deployments", "widgets"):
            lists = [q for verb, r, q in queries if verb == "list" and r == resource]
            streams = [q for verb, r, q in queries if verb == "watch" and r == resource
                       and q.get("sendInitialEvents") == ["true"]]
            if mode.endswith("streaming"):
                self.assertEqual((len(lists), len(streams)), (0, 1), resource)
            else:
                self.assertEqual(streams, [], resource)
                self.assertGreaterEqual(len(lists), 3, resource)
                self.assertTrue(all(q["limit"] == [str(PAGE)] for q in lists), lists)
                self.assertEqual(len([q for q in lists if "continue" in q]), len(lists) - 1, lists)

    def assert_encodings(self, client, mode):
        wanted = "json" if mode.startswith("json") else "protobuf"
        _, encodings = client.dump()
        self.assertEqual(list(encodings.values()), [{wanted}, {wanted}, {"json"}])

    def assert_same_content(self, client):
        """Every object reads as the server's JSON does, whatever the encoding it came in."""
        cache = client.whole_objects()
        for place, item in whole_on_server(self.cluster).items():
            self.assertEqual(cache[place], item, place)

    def follow(self, mode):
        client = self.start(mode)
        client.wait_for_sync()
        self.assert_current(client)
        self.assert_encodings(client, mode)
        self.change(self.round)
        self.assert_current(client)
        self.assert_delivered(client, self.round)
        self.assert_encodings(client, mode)
        self.assert_same_content(client)
        client.quit()
        self.assert_requested(mode)
        self.assertEqual(client.errors, [])

    def test_json_by_streaming(self):
        self.follow("json-streaming")

    def test_json_by_pages(self):
        self.follow("json-pages")

    def test_protobuf_by_streaming(self):
        self.follow("protobuf-streaming")

    def test_protobuf_by_pages(self):
        self.follow("protobuf-pages")

    def test_resumes_after_a_kill_of_the_server(self):
        clients = {mode: self.start(mode) for mode in MODES}
        for client in clients.values():
            client.wait_for_sync()
        self.change("before")
        before = on_server(self.cluster)
        for client in clients.values():
            self.assert_current(client)
        self.cluster.kill_apiserver()
        time.sleep(2)
        for client in clients.values():
            self.assertEqual(client.dump()[0], before)  # what is known stays readable
        self.cluster.start_apiserver()
        self.change("after")  # the clients may not be back yet
        self.cluster.kubectl("delete", "pod", "before-a", "-n", "shop", "--wait=false")
        self.cluster.kubectl("delete", "widget", "before-a")
        for mode, client in clients.items():
            self.assert_current(client)
            self.assert_encodings(client, mode)
        self.change("later")
        for client in clients.values():
            self.assert_current(client)
            self.assert_delivered(client, "later")
            client.quit()

    def test_an_unknown_token_is_reported(self):
        # The server closes connections of clients that it does not know; other requests break.
        self.refused("stranger", (401, "Unauthorized"), (0, "ECONNRESET"))

    def test_a_user_without_permissions_gets_errors(self):
        self.refused("nobody", (403, "Forbidden"))

    def refused(self, user, error, *others):
        client = self.start("protobuf-streaming", user)
        client.wait(lambda: {e[0] for e in client.errors if e[1:] == error} == set(RESOURCES),
                    "notified of errors", PATIENCE_S)
        self.assertLessEqual({e[1:] for e in client.errors}, {error, *others})
        self.assertEqual(client.dump()[0], {resource: {} for resource in RESOURCES})
        self.assertEqual(client.synced, set())
        client.quit()


if __name__ == "__main__":
    unittest.main()
