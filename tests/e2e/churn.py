# SPDX-License-Identifier: Apache-2.0
"""Changes without end: threads that create, change, relabel, delete and recreate objects with a
few names only, so that each name has a rich history. What a request did does not matter to it:
the server may be killed or paused at any time, and the caller records what happened."""
import http.client
import json
import random
import threading
import time

import objects

NAMESPACES = ("default", "shop")
NAMES = 12  # of each resource in each namespace
TIMEOUT_S = 5
THREADS = 2
HOLD = "example.com/hold"


def config_map(name, name_space):
    return {"apiVersion": "v1", "kind": "ConfigMap",
            "metadata": objects.metadata(name, name_space), "data": {"n": "0"}}


# path of the API, path of the resource, a new object, a change of its content
KINDS = (
    ("/api/v1", "configmaps", config_map, lambda n: {"data": {"n": str(n)}}),
    ("/api/v1", "pods", objects.pod, lambda n: {"metadata": {"annotations": {"n": str(n)}}}),
    ("/apis/example.com/v1", "widgets", lambda name, ns: objects.widget(name, ns, 0),
     lambda n: {"spec": {"size": n}}),
)


class Writer:
    """One thread of it."""

    def __init__(self, cluster, seed, per_second):
        self.cluster = cluster
        self.random = random.Random(seed)
        self.pause = 1 / per_second
        self.connection = None
        self.done = {"ok": 0, "refused": 0, "failed": 0}

    def request(self, method, path, body=None, patch=False):
        kind = "application/merge-patch+json" if patch else "application/json"
        try:
            if self.connection is None:
                self.connection = self.cluster.connect(TIMEOUT_S)
            self.connection.request(method, path, None if body is None else json.dumps(body),
                                    {"Content-Type": kind})
            response = self.connection.getresponse()
            response.read()
            self.done["ok" if response.status < 300 else "refused"] += 1
        except (OSError, http.client.HTTPException):
            self.done["failed"] += 1
            self.close()
            time.sleep(0.2)

    def close(self):
        if self.connection is not None:
            self.connection.close()
            self.connection = None

    def step(self, number):
        api, plural, make, change = self.random.choice(KINDS)
        name_space = self.random.choice(NAMESPACES)
        name = f"{plural}-{self.random.randrange(NAMES)}"
        folder = f"{api}/namespaces/{name_space}/{plural}"
        label = {"metadata": {"labels": {"pick": self.random.choice(("yes", "no"))}}}
        what = self.random.choices(("create", "change", "label", "delete", "renew", "hold", "all"),
                                   (30, 30, 15, 15, 6, 3, 0.3))[0]
        if what == "create":
            self.create(folder, make(name, name_space), label)
        elif what == "change":
            self.request("PATCH", f"{folder}/{name}", change(number), patch=True)
        elif what == "label":  # and what held it is gone
            label["metadata"]["finalizers"] = None
            self.request("PATCH", f"{folder}/{name}", label, patch=True)
        elif what == "hold":
            hold = {"metadata": {"finalizers": [HOLD]}}
            self.request("PATCH", f"{folder}/{name}", hold, patch=True)
        elif what in ("delete", "renew"):
            self.request("DELETE", f"{folder}/{name}?gracePeriodSeconds=0")
            if what == "renew":
                self.create(folder, make(name, name_space), label)
        else:
            self.request("DELETE", f"{folder}?gracePeriodSeconds=0")

    def create(self, folder, body, label):
        body["metadata"]["labels"].update(label["metadata"]["labels"])
        self.request("POST", folder, body)

    def run(self, stop):
        number = 0
        while not stop.wait(self.pause * self.random.uniform(0.2, 1.8)):
            self.step(number)
            number += 1
        self.close()


class Churn:
    """`more`: writers besides the usual ones, of which there are so many."""

    def __init__(self, cluster, seed, per_second, more=(), writers=THREADS):
        self.stop = threading.Event()
        self.writers = [*(Writer(cluster, f"{seed}-{i}", per_second / writers)
                          for i in range(writers)), *more]
        self.threads = [threading.Thread(target=writer.run, args=(self.stop,), daemon=True)
                        for writer in self.writers]

    def __enter__(self):
        for thread in self.threads:
            thread.start()
        return self

    def __exit__(self, kind, error, trace):
        self.stop.set()
        for thread in self.threads:
            thread.join()

    def count(self, outcome="ok"):
        return sum(writer.done[outcome] for writer in self.writers)
