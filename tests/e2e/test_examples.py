# SPDX-License-Identifier: Apache-2.0
"""Examples that write, and that ask what a server has, on a real one."""
import json
import os
import subprocess

import e2e
import objects
from cluster import Cluster

SECONDS = 60
TEAM = "example.com/team"
DEPLOY = os.path.join(os.path.dirname(__file__), "../../examples/namespace_config/deploy.yaml")


class Watcher:
    """An example that prints until its input ends."""

    def __init__(self, name, kubeconfig, *words):
        self.process = subprocess.Popen(
            [e2e.program(f"../examples/{name}"), *words], stdin=subprocess.PIPE,
            stdout=subprocess.PIPE, text=True, env={**os.environ, "KUBECONFIG": kubeconfig})

    def until(self, text):
        for line in self.process.stdout:
            if text in line:
                return line.rstrip()
        raise AssertionError(f"it ended without {text!r}")

    def end(self):
        rest, _ = self.process.communicate(timeout=SECONDS)
        return self.process.returncode, rest.splitlines()


class Examples(e2e.Case):
    @classmethod
    def make_cluster(cls):
        return Cluster()

    def run_example(self, name, *words, user="admin"):
        done = subprocess.run([e2e.program(f"../examples/{name}"), *words], text=True,
                              env={**os.environ, "KUBECONFIG": self.cluster.kubeconfig(user)},
                              timeout=SECONDS, capture_output=True, check=False)
        self.assertEqual(done.stderr, "")
        return done.returncode, done.stdout.splitlines()

    def test_objects_are_written(self):
        self.cluster.apply(objects.namespace("shop"))
        code, lines = self.run_example("write_objects")
        self.assertEqual(code, 0)
        what, data = lines[4].split(": ", 1)
        self.assertEqual([*lines[:4], what, *lines[5:]],
                         ["sky grey: created, attempt 1", "sky blue: patched, attempt 2",
                          "sky blue: unchanged, attempt 1", "labelled: summer", "applied",
                          "deleted"])
        self.assertEqual(json.loads(data), {"sky": "blue", "sea": "green", "sun": "yellow"})

    def test_record_events(self):
        self.cluster.apply(objects.namespace("shop"),
                           {"apiVersion": "v1", "kind": "ConfigMap",
                            "metadata": {"name": "settings", "namespace": "shop"}})
        code, lines = self.run_example("record_events")
        self.assertEqual((code, lines), (0, ["events: 2 created, 2 counted, 0 failed"]))
        text = self.cluster.kubectl("describe", "configmap", "settings", "-n", "shop")
        controller = "example.com/settings-controller"
        self.assertRegex(text, rf"Normal +Loaded .*{controller}.* read 3 settings")
        self.assertRegex(text, rf"Warning +Invalid .*\(x3 over .*{controller}.* color: not a color")

    def known_to_kubectl(self):
        """What each name means, as kubectl shows it; names of several resources are left out."""
        meanings = {}
        for line in self.cluster.kubectl("api-resources", "--no-headers").splitlines():
            *names, version, namespaced, kind = line.split()
            group, _, _ = version.rpartition("/")
            scope = "namespaced" if namespaced == "true" else "cluster-scoped"
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
            self.assertIn("widgets in example.com/v1, kind Widget, namespaced", line)

    def watcher(self, name, *words):
        watcher = Watcher(name, self.cluster.kubeconfig(), *words)
        self.addCleanup(watcher.process.kill)
        return watcher

    def test_pods_are_followed(self):
        self.cluster.apply(objects.namespace("followed"))
        pods, agent = self.watcher("pods_watcher"), self.watcher("node_agent", "node-7")
        pod = objects.pod("web", "followed")
        pod["spec"]["nodeName"] = "node-7"
        self.cluster.apply(pod, objects.pod("db", "followed"))
        for name in ("web", "db"):
            pods.until(f"followed/{name}")
        self.assertEqual(agent.until("followed/"), "+ followed/web without an address")
        self.cluster.kubectl("delete", "pod", "web", "-n", "followed", "--force",
                             "--grace-period=0")
        pods.until("- followed/web")
        agent.until("- followed/web")
        self.assertEqual([pods.end(), agent.end()], [(0, []), (0, [])])

    def test_a_custom_resource_may_come_late(self):
        self.cluster.kubectl("delete", "crd", "--ignore-not-found", "widgets.example.com")
        watcher = self.watcher("custom_resource")
        watcher.until("not served yet")
        self.cluster.apply(objects.widget_definition())
        self.cluster.kubectl("wait", "--for=condition=Established", "--timeout=30s",
                             "crd/widgets.example.com")
        self.cluster.apply({"apiVersion": "example.com/v1", "kind": "Widget",
                            "metadata": {"name": "wheel", "namespace": "default"},
                            "spec": {"size": 3}})
        self.assertEqual(watcher.until("wheel"),
                         "+ default/wheel size 3, colours 0, ready Unknown")
        self.assertEqual(watcher.end(), (0, []))

    def team_namespace(self, name, team):
        namespace = objects.namespace(name)
        namespace["metadata"]["labels"] = {TEAM: team}
        return namespace

    def test_the_controller_may_do_what_it_does(self):
        """With the account of its manifest, and what that allows."""
        self.cluster.kubectl("apply", "-f", DEPLOY)
        admin = {"client-certificate": self.cluster.path("admin.crt"),
                 "client-key": self.cluster.path("admin.key")}
        account = "system:serviceaccount:namespace-config:namespace-config"
        self.cluster.write_kubeconfig("account", {**admin, "as": account})
        spaces = [self.team_namespace(name, "red") for name in ("bank", "mine")]
        self.cluster.apply(*spaces)
        code, lines = self.run_example("namespace_config/namespace_config", "--once",
                                       user="account")
        self.assertEqual((code, lines), (0, ["created 2, updated 0, deleted 0"]))
        self.cluster.kubectl("patch", "cm", "team", "-n", "mine", "--type=merge", "-p",
                             '{"data": {"team": "x", "more": "y"}}')
        self.cluster.kubectl("label", "ns", "bank", f"{TEAM}-")
        code, lines = self.run_example("namespace_config/namespace_config", "--once",
                                       user="account")
        self.assertEqual((code, lines), (0, ["created 0, updated 1, deleted 1"]))
        data = {config["metadata"]["namespace"]: config["data"]
                for config in self.cluster.get("configmaps")
                if config["metadata"]["name"] == "team"}
        self.assertEqual(data, {"mine": {"namespace": "mine", "team": "red", "members": "mine"}})
