# SPDX-License-Identifier: Apache-2.0
"""`kinformer get` and `kubectl get` on a real server: the same rows and cells. Ages and the
widths of columns are not compared."""
import difflib
import os
import re
import subprocess
import time
import unittest

import e2e
import processes
from cluster import ROOT, Cluster

MANIFESTS = ROOT / "tests" / "e2e" / "manifests"
FILES = ("core", "cluster", "workloads", "volumes", "gadgets")  # in this order
EVERYTHING = ("--runtime-config=api/all=true", "--feature-gates=AllAlpha=true,AllBeta=true")
BATCH = 40  # resources in one command
# Objects of these are written by the server itself all the time.
RESTLESS = {"leases.coordination.k8s.io", "events", "events.events.k8s.io",
            "apiservices.apiregistration.k8s.io"}
# Rows with one cell more than there are columns: kubectl shows it below the title of a label.
TOO_LONG = {"ipaddresses.networking.k8s.io"}


def plain(text):
    """Ages are never the same; with them goes the width of their column."""
    lines = []
    for line in text.splitlines():
        line = re.sub(r"\b(?:\d+[ydhms]){1,2}\b", "AGE", line)
        lines.append(re.sub(r" {2,}", "  ", line).rstrip())
    return lines


class SameTables(e2e.Case):
    maxDiff = None

    @staticmethod
    def make_cluster():
        return Cluster(EVERYTHING)

    @classmethod
    def prepare(cls):
        kubectl = cls.cluster.kubectl
        for name in FILES:
            kubectl("create", "-f", str(MANIFESTS / f"{name}.yaml"))
            if name == "cluster":
                kubectl("wait", "--for=create", "crd", "--all")
                kubectl("wait", "--for=condition=Established", "crd", "--all")
        kubectl("apply", "--server-side", "--force-conflicts", "--field-manager=kubelet",
                "--subresource=status", "-f", str(MANIFESTS / "status.yaml"))

    @classmethod
    def kubectl_words(cls, *words):
        return [os.path.join(cls.cluster.programs, "kubectl"), "--kubeconfig",
                cls.cluster.kubeconfig(), "--cache-dir", cls.cluster.path("cache"), *words]

    def commands(self, *words):
        build = os.environ.get("KI_E2E_BUILD", str(ROOT / "build" / "dev"))
        ours = [os.path.join(build, "src", "kinformer"), *words, "--kubeconfig",
                self.cluster.kubeconfig()]
        return self.kubectl_words(*words), ours

    def run_both(self, *words):
        """What both print, and how they end."""
        found = [subprocess.run(command, capture_output=True, text=True, timeout=120, check=False)
                 for command in self.commands(*words)]
        return [(plain(run.stdout), run.returncode) for run in found]

    def assert_same(self, *words):
        (theirs, their_code), (ours, our_code) = self.run_both(*words)
        diff = "\n".join(difflib.unified_diff(theirs, ours, "kubectl", "kinformer", n=0))
        self.assertEqual((diff, their_code), ("", our_code), f"{words}\n{diff}")
        return theirs

    def resources(self):
        words = self.kubectl_words("api-resources", "--verbs=list,watch", "-o", "name")
        out = subprocess.run(words, capture_output=True, text=True, check=True, timeout=60).stdout
        names = sorted(set(out.split()) - RESTLESS - TOO_LONG)
        return [",".join(names[i:i + BATCH]) for i in range(0, len(names), BATCH)]

    def test_every_resource(self):
        batches = self.resources()
        self.assertGreater(len(batches), 1)
        for names in batches:
            for words in ((), ("-o", "wide"), ("-L", "app,kubernetes.io/metadata.name"),
                          ("--show-labels", "--no-headers"), ("-o", "name")):
                lines = self.assert_same("get", names, "-A", *words)
                self.assertGreater(len(lines), 20)

    def test_one_resource(self):
        for words in (("pods", "-A"), ("ns",), ("ns", "default"), ("ns/default",), ("svc", "-A"),
                      ("ns/default", "svc/kubernetes"), ("nodes", "-o", "wide"), ("crd",),
                      ("ns", "--sort-by", ".metadata.name"), ("ns", "--show-kind"),
                      ("ns", "--sort-by", "{.metadata.resourceVersion}"),
                      ("ns", "-o", "custom-columns=N:.metadata.name,P:.status.phase"),
                      ("all", "-A"), ("all", "-A", "-o", "wide")):
            self.assert_same("get", *words)

    def watch_both(self):
        """A watch of ConfigMaps by both: the processes, and the files that they write to."""
        words = ("get", "cm", "-n", "default", "-w", "-L", "x")
        found = []
        for name, command in zip(("kubectl", "kinformer"), self.commands(*words)):
            path = self.cluster.path(f"{name}-watch.txt")
            with open(path, "wb") as out:
                process = processes.spawn(command, stdout=out, stderr=subprocess.STDOUT)
            self.addCleanup(process.wait)
            self.addCleanup(process.kill)
            found.append(path)
        return found

    def wait_for(self, path, text):
        end = time.monotonic() + 60
        while time.monotonic() < end:
            with open(path, encoding="utf-8") as file:
                lines = plain(file.read())
            if any(text in line for line in lines):
                return lines
            time.sleep(0.1)
        self.fail(f"no {text} in {lines}")

    def test_watch(self):
        kubectl = self.cluster.kubectl
        kubectl("create", "cm", "first", "-n", "default")
        both = self.watch_both()
        for path in both:
            self.wait_for(path, "first")
        for i in range(3):
            kubectl("create", "cm", f"m{i}", "-n", "default", "--from-literal=a=b")
        kubectl("label", "cm", "m1", "-n", "default", "x=y")
        kubectl("delete", "cm", "m0", "-n", "default")
        kubectl("create", "cm", "last", "-n", "default")
        theirs, ours = (self.wait_for(path, "last") for path in both)
        self.assertEqual(theirs, ours)
        self.assertEqual([line.split()[0] for line in ours if not line.startswith("kube-")],
                         ["NAME", "first", "m0", "m1", "m2", "m1", "m0", "last"])

    @staticmethod
    def in_order(line):
        """Servers name verbs in any order."""
        return [sorted(word.split(",")) for word in line.split()]

    def test_api_resources(self):
        for words in ((), ("-o", "wide"), ("-o", "name"), ("--namespaced=false",),
                      ("--namespaced",), ("--api-group", "apps"), ("--api-group", ""),
                      ("--verbs", "list,watch"), ("--categories", "all"), ("--sort-by", "kind"),
                      ("--sort-by", "name", "--no-headers")):
            theirs, ours = self.run_both("api-resources", *words)
            self.assertEqual(*([self.in_order(line) for line in side[0]]
                               for side in (theirs, ours)))
            self.assertEqual(ours[1], 1)  # an API service has no server, which kubectl passes over


if __name__ == "__main__":
    unittest.main()
