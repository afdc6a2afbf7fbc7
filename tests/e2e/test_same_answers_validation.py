# SPDX-License-Identifier: Apache-2.0
"""Validation, defaulting and pruning: the same requests to a real kube-apiserver and to the
embedded one. Compared are codes, reasons, details, the set of causes with their messages, and all
of an object but what no two servers have in common. What differs on purpose is in DIFFERS."""
import json
import re
import unittest

from asking import BothServers

MAPS = "/api/v1/namespaces/default/configmaps"
SPACES = "/api/v1/namespaces"
ROLES = "/apis/rbac.authorization.k8s.io/v1/namespaces/default/roles"
SERVICES = "/api/v1/namespaces/default/services"
SETS = "/apis/apps/v1/namespaces/default/statefulsets"
BUDGETS = "/apis/policy/v1/namespaces/default/poddisruptionbudgets"
NODES = "/api/v1/nodes"
GADGETS = "/apis/example.com/v1/namespaces/default/gadgets"
CRDS = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions"
JSON = {"Content-Type": "application/json"}
MERGE = {"Content-Type": "application/merge-patch+json"}
LONG = "x" * 64
OWNER = {"apiVersion": "v1", "kind": "ConfigMap", "name": "o", "uid": "u"}


def named(name, **metadata):
    return {"metadata": {"name": name, **metadata}}


def post(path, body):
    return ("POST", path, body, JSON)


def patch(path, body):
    return ("PATCH", path, body, MERGE)


def a_map(**metadata):
    return post(MAPS, named("m", **metadata))


def service(name):
    return post(SERVICES, {**named(name), "spec": {"ports": [{"port": 80}]}})


def metadata_requests():
    yield "name-upper", post(MAPS, named("Upper"))
    yield "name-end", post(MAPS, named("a-"))
    yield "name-dots", post(MAPS, named("a..b"))
    yield "name-long", post(MAPS, named("a" * 254))
    yield "name-long-and-wrong", post(MAPS, named("A" * 254))
    yield "name-empty", post(MAPS, named(""))
    yield "name-unicode", post(MAPS, named("h\u00e4\u00df\u0001\"\\"))
    yield "generate-wrong", post(MAPS, {"metadata": {"generateName": "A_"}})
    yield "generate-dot", post(MAPS, {"metadata": {"generateName": "a.b-"}})
    yield "generate-dash", post(MAPS, {"metadata": {"generateName": "-"}})
    yield "generate-and-name", post(MAPS, named("g", generateName="B"))
    yield "namespace-dots", post(SPACES, named("a.b"))
    yield "namespace-upper", post(SPACES, named("A"))
    yield "namespace-long", post(SPACES, named("a" * 64))
    yield "namespace-long-dots", post(SPACES, named("a" * 63 + ".b"))
    yield "service-digit", service("1a")
    yield "service-dots", service("a.b")
    yield "service-upper", service("A")
    yield "stateful-set-dots", post(SETS, {**named("a.b"), "spec": {
        "selector": {"matchLabels": {"a": "b"}}, "serviceName": "x", "template": {
            "metadata": {"labels": {"a": "b"}},
            "spec": {"containers": [{"name": "c", "image": "i"}]}}}})
    yield "role-colon", post(ROLES, named("system:a"))
    yield "role-upper", post(ROLES, named("A_b"))
    yield "role-slash", post(ROLES, named("a/b%c"))
    yield "role-dot", post(ROLES, named("."))
    yield "role-dots", post(ROLES, named(".."))
    yield "budget-upper", post(BUDGETS, {**named("Up_per"), "spec": {"selector": {}}})
    yield "node-upper", post(NODES, named("Node"))
    yield "node-namespace", post(NODES, named("n1", namespace="default"))
    yield "role-namespace", post(ROLES, named("r1", namespace="kube-system"))
    yield "label-key-empty", a_map(labels={"": "v"})
    yield "label-key-prefix-empty", a_map(labels={"/a": "v"})
    yield "label-key-name-empty", a_map(labels={"a/": "v"})
    yield "label-key-slashes", a_map(labels={"a/b/c": "v"})
    yield "label-key-prefix-upper", a_map(labels={"A.b/c": "v"})
    yield "label-key-long", a_map(labels={LONG: "v"})
    yield "label-key-prefix-long", a_map(labels={"a" * 254 + "/b": "v"})
    yield "label-key-wrong", a_map(labels={"-a": "v"})
    yield "label-value-long", a_map(labels={"a": LONG})
    yield "label-value-wrong", a_map(labels={"a": "b c"})
    yield "label-value-end", a_map(labels={"a": "b."})
    yield "label-value-empty", post(MAPS, named("label-value-empty", labels={"a": ""}))
    yield "labels-many", a_map(labels={"a b": "c d", "e/f/g": LONG})
    yield "label-type", a_map(labels={"a": 5})
    yield "annotation-key-upper", post(MAPS, named("annotation", annotations={"A.b/C": "d e"}))
    yield "annotation-key-wrong", a_map(annotations={"A b": "v"})
    yield "annotations-large", a_map(annotations={"a": "x" * (256 << 10)})
    yield "annotations-full", post(MAPS, named("full", annotations={"a": "x" * ((256 << 10) - 1)}))
    yield "owner-empty", a_map(ownerReferences=[{}])
    yield "owner-no-uid", a_map(ownerReferences=[{**OWNER, "uid": ""}])
    yield "owner-no-name", a_map(ownerReferences=[{**OWNER, "name": ""}])
    yield "owner-no-version", a_map(ownerReferences=[{**OWNER, "apiVersion": "apps/"}])
    yield "owner-event", a_map(ownerReferences=[{**OWNER, "kind": "Event"}])
    yield "owner-controllers", a_map(ownerReferences=[
        {**OWNER, "controller": True}, {**OWNER, "name": "p", "uid": "w", "controller": True}])
    yield "finalizer-bare", a_map(finalizers=["bare"])
    yield "finalizer-wrong", a_map(finalizers=["a b/c"])
    yield "finalizer-both", a_map(finalizers=["orphan", "foregroundDeletion"])
    yield "several", post(MAPS, named("A", labels={"a": "b c"}, finalizers=["x"]))
    yield "update-start", post(MAPS, named("u"))
    yield "update-labels", patch(MAPS + "/u", {"metadata": {"labels": {"a": "b c"}}})
    yield "update-annotations", patch(MAPS + "/u", {"metadata": {"annotations": {"a b": ""}}})
    yield "update-owners", patch(MAPS + "/u", {"metadata": {"ownerReferences": [{"uid": "x"}]}})
    yield "update-finalizers", patch(MAPS + "/u", {"metadata": {"finalizers": ["a b"]}})
    yield "update-uid", patch(MAPS + "/u", {"metadata": {"uid": "x"}})
    yield "update-creation", patch(MAPS + "/u",
                                   {"metadata": {"creationTimestamp": "2020-01-01T00:00:00Z"}})
    yield "update-deletion", patch(MAPS + "/u",
                                   {"metadata": {"deletionTimestamp": "2020-01-01T00:00:00Z"}})
    yield "update-grace", patch(MAPS + "/u", {"metadata": {"deletionGracePeriodSeconds": 5}})
    yield "update-generation", patch(MAPS + "/u", {"metadata": {"generation": 5}})
    yield "update-self-link", patch(MAPS + "/u", {"metadata": {"selfLink": "/x"}})
    yield "update-version", patch(MAPS + "/u", {"metadata": {"resourceVersion": "x"}})
    yield "update-finalizer", patch(MAPS + "/u", {"metadata": {"finalizers": ["a.b/c"]}})
    yield "update-delete", ("DELETE", MAPS + "/u", None, {})
    yield "update-add-finalizer", patch(MAPS + "/u", {"metadata": {"finalizers": ["a.b/c", "d/e"]}})
    yield "update-deletion-again", patch(
        MAPS + "/u", {"metadata": {"deletionTimestamp": "2020-01-01T00:00:00Z"}})
    yield "update-grace-again", patch(MAPS + "/u",
                                      {"metadata": {"deletionGracePeriodSeconds": 5}})
    yield "update-end", patch(MAPS + "/u", {"metadata": {"finalizers": None}})


# What is known not to be equal, and why.
DIFFERS = {
    "namespace-long": "a real server labels namespaces with their name, and refuses that as well",
    "namespace-long-dots": "the same",
}

GENERATED = re.compile('("(?:A_|-))[b-z0-9]{5}(?=\\\\?")')
# Of metadata, what no two servers have in common.
OWN = ("uid", "resourceVersion", "creationTimestamp", "deletionTimestamp", "managedFields")


def shape_of_status(body):
    details = body.get("details", {})
    causes = {(c.get("reason", ""), c.get("field", ""), c.get("message", ""))
              for c in details.get("causes", [])}
    return (body.get("status"), body.get("reason"), body.get("code"), details.get("name"),
            details.get("group"), details.get("kind"), sorted(causes),
            body.get("message") if body.get("reason") == "Invalid" and len(causes) == 1 else "")


def shape(status, text):
    """What of an answer is compared."""
    text = GENERATED.sub(r"\1?????", text)
    if not text.startswith("{"):
        return status, "plain text"
    body = json.loads(text)
    if body.get("kind") == "Status":
        return status, shape_of_status(body)
    metadata = body.get("metadata", {})
    if metadata.get("generateName"):
        metadata["name"] = ""
    if body.get("apiVersion", "").partition("/")[0] != "example.com":
        body = {name: body[name] for name in ("kind", "apiVersion", "metadata")}
    for name in OWN:
        if name in metadata:
            metadata[name] = ""
    return status, body


class SameValidation(BothServers):
    def compare(self, requests):
        for name, request in requests:
            real = shape(*self.real.ask(*request))
            ours = shape(*self.ours.ask(*request))
            with self.subTest(name):
                if name in DIFFERS:
                    self.assertNotEqual(ours, real, "it does not differ any more")
                else:
                    self.assertEqual(ours, real)

    def test_metadata(self):
        self.compare(metadata_requests())


if __name__ == "__main__":
    unittest.main()
