# SPDX-License-Identifier: Apache-2.0
"""Work for the controllers of examples/website: creates, changes, deletes Websites, damages their
children, and writes the status of Deployments. Computes the state that the server must reach."""
import os
import signal
import subprocess

import churn
import e2e
import processes
from cluster import ROOT

FOLDER = ROOT / "examples" / "website"
MANAGED = ("app.kubernetes.io/managed-by", "website-controller")
HASH = "example.com/hash"
CHILD = "-site"  # ends the names of children
NAMES = tuple(f"site-{i}" for i in range(10))
SITES = "/apis/example.com/v1/namespaces/default/websites"
CONFIGS = "/api/v1/namespaces/default/configmaps"
DEPLOYMENTS = "/apis/apps/v1/namespaces/default/deployments"
STOP_S = 60


def website(name, html, replicas):
    return {"apiVersion": "example.com/v1", "kind": "Website",
            "metadata": {"name": name, "namespace": "default"},
            "spec": {"html": html, "replicas": replicas}}


def hash_of(text):
    """FNV-1a."""
    found = 0xcbf29ce484222325
    for byte in text.encode():
        found = (found ^ byte) * 0x100000001b3 % 2**64
    return str(found)


class Writer(churn.Writer):
    """Changes Websites, and damages their children."""

    def step(self, number):
        name = self.random.choice(NAMES)
        spec = {"html": f"<p>{number}</p>", "replicas": self.random.randrange(5)}
        what = self.random.choices(("create", "change", "delete", "spoil", "drop", "ready"),
                                   (25, 25, 10, 15, 10, 15))[0]
        if what == "create":
            self.request("POST", SITES, website(name, **spec))
        elif what == "change":
            self.request("PATCH", f"{SITES}/{name}", {"spec": spec}, patch=True)
        elif what == "delete":
            self.request("DELETE", f"{SITES}/{name}")
        elif what == "spoil":
            self.request("PATCH", f"{CONFIGS}/{name}{CHILD}", {
                "metadata": {"labels": None}, "data": {"index.html": "x", "y": "z"}}, patch=True)
            self.request("PATCH", f"{DEPLOYMENTS}/{name}{CHILD}", {
                "metadata": {"ownerReferences": None}, "spec": {"replicas": 7}}, patch=True)
        elif what == "drop":
            self.request("DELETE", f"{self.random.choice((CONFIGS, DEPLOYMENTS))}/{name}{CHILD}")
        else:
            self.request("PATCH", f"{DEPLOYMENTS}/{name}{CHILD}/status",
                         {"status": {"replicas": 4, "readyReplicas": self.random.randrange(5)}},
                         patch=True)


class Controller:
    """One of the programs: "website" or "website_cpp"."""

    def __init__(self, name, kubeconfig, log, **environment):
        with open(log, "ab") as errors:
            self.process = processes.spawn(
                [e2e.program(f"../examples/website/{name}")], stdin=subprocess.DEVNULL,
                stdout=errors, stderr=errors,
                env={**os.environ, "KUBECONFIG": kubeconfig, **environment})

    def stop(self):
        """In order. Returns whether it can."""
        self.process.send_signal(signal.SIGTERM)
        try:
            return self.process.wait(STOP_S) == 0
        except subprocess.TimeoutExpired:
            return False

    def close(self):
        processes.kill(self.process)


def prepare(cluster):
    cluster.kubectl("apply", "-f", str(FOLDER / "crd.yaml"), "-f", str(FOLDER / "deploy.yaml"))
    cluster.kubectl("wait", "--for=condition=Established", "--timeout=30s",
                    "crd/websites.example.com")


def items(cluster, resource):
    return {item["metadata"]["name"]: item for item in cluster.get(resource)
            if item["metadata"]["namespace"] == "default"}


def wrong(cluster):
    """Differences from the state that the controller must reach, as texts."""
    sites = items(cluster, "websites.example.com")
    children = [items(cluster, resource) for resource in ("configmaps", "deployments.apps")]
    # A child without an owner is not deleted: it was damaged while its Website was deleted.
    found = [f"{name}: {kind[name + CHILD]['kind']} without a Website" for kind in children
             for name in NAMES if name not in sites
             and kind.get(name + CHILD, {"metadata": {}})["metadata"].get("ownerReferences")]
    for name, site in sites.items():
        config, deployment = (kind.get(name + CHILD) for kind in children)
        if config is None or deployment is None:
            found.append(f"{name}: has no children")
        elif actual(site, config, deployment) != expected(site, deployment):
            found.append(f"{name}: {actual(site, config, deployment)}")
    return found


def expected(site, deployment):
    spec = site["spec"]
    ready = deployment.get("status", {}).get("readyReplicas", 0)
    return {"data": {"index.html": spec["html"]}, "replicas": spec["replicas"],
            "hash": hash_of(spec["html"]), "image": spec.get("image", "nginx:1.29"),
            "owners": [site["metadata"]["uid"]] * 2, "managed": [MANAGED[1]] * 2,
            "finalizers": ["example.com/website"], "readyReplicas": ready,
            "observed": site["metadata"]["generation"],
            "message": f"{ready} of {spec['replicas']} replicas ready"}


def actual(site, config, deployment):
    template = deployment["spec"]["template"]
    metadata = [child["metadata"] for child in (config, deployment)]
    status = site.get("status", {})
    return {"data": config.get("data"), "replicas": deployment["spec"]["replicas"],
            "hash": template["metadata"].get("annotations", {}).get(HASH),
            "image": template["spec"]["containers"][0]["image"],
            "owners": [owner["uid"] for m in metadata for owner in m.get("ownerReferences", [])],
            "managed": [m.get("labels", {}).get(MANAGED[0]) for m in metadata],
            "finalizers": site["metadata"].get("finalizers"),
            "readyReplicas": status.get("readyReplicas"),
            "observed": status.get("observedGeneration"),
            "message": (status.get("conditions") or [{}])[0].get("message")}
