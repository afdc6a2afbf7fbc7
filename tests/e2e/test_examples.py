# SPDX-License-Identifier: Apache-2.0
"""Examples that write, and that ask what a server has, on a real one."""
import json
import os
import subprocess

import e2e
import objects
from cluster import Cluster


class Examples(e2e.Case):
    @classmethod
    def make_cluster(cls):
        return Cluster()

    def run_example(self, name, *words):
        done = subprocess.run([e2e.program(f"../examples/{name}"), *words], text=True, timeout=60,
                              env={**os.environ, "KUBECONFIG": self.cluster.kubeconfig()},
                              capture_output=True, check=False)
        self.assertEqual(done.stderr, "")
        return done.returncode, done.stdout.splitlines()

    def test_objects_are_written(self):
        self.cluster.apply(objects.namespace("shop"))
        code, lines = self.run_example("write_objects")
        self.assertEqual(code, 0)
        self.assertEqual([lines[0], lines[-1]], ["changed, attempt 2", "deleted"])
        data = {what: json.loads(text) for what, text in (line.split(": ", 1)
                                                          for line in lines[1:-1])}
        self.assertEqual(data, {"patched": {"sky": "blue", "sea": "deep"},
                                "applied": {"sky": "blue", "sea": "deep", "sun": "yellow"}})

    def known_to_kubectl(self):
        """What each name means, as kubectl shows it; names of several resources are left out."""
        meanings = {}
        for line in self.cluster.kubectl("api-resources", "--no-headers").splitlines():
            *names, version, namespaced, kind = line.split()
            group, _, _ = version.rpartition("/")
            scope = "in namespaces" if namespaced == "true" else "of the cluster"
            meaning = f"{names[0]} in {version}, kind {kind}, {scope}"
            spellings = [names[0], kind, *(names[1].split(",") if len(names) > 1 else ())]
            if group:
                spellings.append(f"{names[0]}.{group}")
                spellings.append(f"{names[0]}.{version.rpartition('/')[2]}.{group}")
            for spelling in spellings:
                meanings.setdefault(spelling, set()).add(meaning)
        return {name: meaning.pop() for name, meaning in meanings.items() if len(meaning) == 1}

    def test_names_mean_what_kubectl_means(self):
        known = self.known_to_kubectl()
        self.assertGreater(len(known), 150)
        code, lines = self.run_example("resolve", *known)
        self.assertEqual(code, 0)
        self.assertEqual(lines[:-1], [f"{name}: {meaning}" for name, meaning in known.items()])

    def test_a_custom_resource_is_found_once_it_is_there(self):
        code, lines = self.run_example("resolve", "widgets")
        self.assertEqual(code, 1)
        self.assertIn("widgets", lines[0])
        self.cluster.apply(objects.widget_definition())
        self.cluster.kubectl("wait", "--for=condition=Established", "--timeout=30s",
                             "crd/widgets.example.com")
        code, lines = self.run_example("resolve", "widgets", "Widget", "widgets.v1.example.com")
        self.assertEqual(code, 0)
        for line in lines[:-1]:
            self.assertIn("widgets in example.com/v1, kind Widget, in namespaces", line)
