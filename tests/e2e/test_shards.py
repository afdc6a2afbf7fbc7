# SPDX-License-Identifier: Apache-2.0
"""Shards on a real server, with and without the feature gate: each object is in exactly one shard,
and the server and the library cut at the same places."""
import json
import os
import subprocess
import unittest

import e2e
import objects
from cluster import Cluster

OBJECTS = 100
SHARDS = 3


def fnv_1a(text):
    value = 0xcbf29ce484222325
    for byte in text.encode():
        value = (value ^ byte) * 0x100000001b3 % (1 << 64)
    return value


def shard_range(index, count):
    bounds = [f"'0x{i * (1 << 64) // count:016x}'" for i in (index, index + 1)]
    return f"shardRange(object.metadata.uid, {bounds[0]}, {bounds[1]})"


class Shards:
    @classmethod
    def make_cluster(cls):
        return Cluster(cls.flags)

    @classmethod
    def prepare(cls):
        cls.cluster.apply(*(objects.pod(f"p-{i}", "default") for i in range(OBJECTS)))

    def on_server(self):
        """{name: shard} by our own arithmetic."""
        return {pod["metadata"]["name"]: fnv_1a(pod["metadata"]["uid"]) * SHARDS >> 64
                for pod in self.cluster.get("pods") if pod["metadata"]["namespace"] == "default"}

    def kinformer(self, *words):
        command = os.path.normpath(os.path.join(os.path.dirname(e2e.program("")), "..", "src",
                                                "kinformer"))
        done = subprocess.run([command, *words], capture_output=True, text=True, timeout=60,
                              env={**os.environ, "KUBECONFIG": self.cluster.kubeconfig("admin")})
        self.assertEqual(done.returncode, 0, done.stderr)
        return done

    def raw(self, selector):
        """What the server itself selects, and the selector that it says it used."""
        query = "?shardSelector=" + selector.replace(" ", "%20").replace("'", "%27")
        text = self.cluster.kubectl("get", "--raw", "/api/v1/namespaces/default/pods" + query)
        found = json.loads(text)
        return ({pod["metadata"]["name"] for pod in found["items"]},
                found["metadata"].get("shardInfo", {}).get("selector"))

    def test_each_object_is_in_one_shard(self):
        pods = self.on_server()
        self.assertEqual(len(pods), OBJECTS)
        for index in range(SHARDS):
            mine = {name for name, shard in pods.items() if shard == index}
            self.assertTrue(mine)
            for way in (("watch", "--until-synced"), ("get",)):
                done = self.kinformer(*way[:1], "pods", "-n", "default", "-o", "name",
                                      f"--shard={index}/{SHARDS}", "-vv", *way[1:])
                self.assertEqual({line.split("/")[1] for line in done.stdout.split()}, mine)
                self.assertEqual("ignores shard_selector" in done.stderr, not self.filters)

    def test_what_the_server_selects(self):
        pods = self.on_server()
        for index in range(SHARDS):
            selector = shard_range(index, SHARDS)
            names, used = self.raw(selector)
            mine = {name for name, shard in pods.items() if shard == index}
            self.assertEqual(names, mine if self.filters else set(pods))
            self.assertEqual(used, selector if self.filters else None)


class Filtering(Shards, e2e.Case):
    flags = ("--feature-gates=ShardedListAndWatch=true",)
    filters = True


class Ignoring(Shards, e2e.Case):
    flags = ()
    filters = False


if __name__ == "__main__":
    unittest.main()
