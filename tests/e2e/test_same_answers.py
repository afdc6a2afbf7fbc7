# SPDX-License-Identifier: Apache-2.0
"""The same requests to a real kube-apiserver and to the embedded one: codes, reasons, details and
shapes of the answers must be equal. What differs on purpose is in DIFFERS, and must still differ.

Sentences, uids, times and versions are not compared; of objects, which members they have at the top
and in their metadata; test_same_apply.py looks at managedFields."""
import json
import unittest
from urllib.parse import quote

import objects
from asking import BothServers

MAPS = "/api/v1/namespaces/default/configmaps"
ALL = "/api/v1/configmaps"
DEPLOYMENTS = "/apis/apps/v1/namespaces/default/deployments"
WIDGETS = "/apis/example.com/v1/namespaces/default/widgets"
JSON = {"Content-Type": "application/json"}
MERGE = {"Content-Type": "application/merge-patch+json"}
JSON_PATCH = {"Content-Type": "application/json-patch+json"}
STRATEGIC = {"Content-Type": "application/strategic-merge-patch+json"}
TABLE = {"Accept": "application/json;as=Table;v=v1;g=meta.k8s.io"}
PARTIAL = {"Accept": "application/json;as=PartialObjectMetadataList;v=v1;g=meta.k8s.io"}
STREAM = ("watch=1&sendInitialEvents=true&resourceVersionMatch=NotOlderThan"
          "&allowWatchBookmarks=true&timeoutSeconds=1")
OPTIONS = {"kind": "DeleteOptions", "apiVersion": "v1"}


def config_map(name, **more):
    return {"kind": "ConfigMap", "apiVersion": "v1", "metadata": {"name": name}, **more}


# (a name, method, path, body, headers), in this order.
SCRIPT = [
    ("create", "POST", MAPS, config_map("a", data={"k": "v"}), JSON),
    ("create-2", "POST", MAPS, config_map("b", data={"k": "v"}), JSON),
    ("create-3", "POST", MAPS, {"metadata": {"name": "c", "labels": {"x": "y"}}}, JSON),
    ("create-twice", "POST", MAPS, config_map("a"), JSON),
    ("create-without-name", "POST", MAPS, {"metadata": {}}, JSON),
    ("create-generate-name", "POST", MAPS, {"metadata": {"generateName": "gen-"}}, JSON),
    ("create-bad-name", "POST", MAPS, config_map("Not_A_Name"), JSON),
    ("create-with-version", "POST", MAPS, {"metadata": {"name": "v", "resourceVersion": "5"}},
     JSON),
    ("create-other-kind", "POST", MAPS, {**config_map("k"), "kind": "Secret"}, JSON),
    ("create-other-namespace", "POST", MAPS,
     {"metadata": {"name": "k", "namespace": "kube-system"}}, JSON),
    ("create-no-such-namespace", "POST", "/api/v1/namespaces/none/configmaps", config_map("a"),
     JSON),
    ("create-dry-run", "POST", MAPS + "?dryRun=All", config_map("dry"), JSON),
    ("create-dry-run-wrong", "POST", MAPS + "?dryRun=Some", config_map("dry"), JSON),
    ("create-wrong-type", "POST", MAPS, config_map("t", data=5), JSON),
    ("create-strict", "POST", MAPS + "?fieldValidation=Strict", config_map("t", dataa={}), JSON),
    ("create-not-json", "POST", MAPS, "{", JSON),
    ("create-yaml", "POST", MAPS, "a: b", {"Content-Type": "text/csv"}),
    ("get", "GET", MAPS + "/a", None, {}),
    ("get-none", "GET", MAPS + "/none", None, {}),
    ("get-no-resource", "GET", "/api/v1/nothings", None, {}),
    ("get-no-group", "GET", "/apis/none.example/v1/pods", None, {}),
    ("get-bad-version", "GET", MAPS + "/a?resourceVersion=x", None, {}),
    ("get-not-acceptable", "GET", MAPS + "/a", None, {"Accept": "text/html"}),
    ("list", "GET", MAPS + "?labelSelector=x", None, {}),
    ("list-pages", "GET", MAPS + "?limit=2", None, {}),
    ("list-selected", "GET", MAPS + "?labelSelector=x%3Dy", None, {}),
    ("list-by-field", "GET", ALL + "?fieldSelector=metadata.name%3Da", None, {}),
    ("list-bad-label", "GET", MAPS + "?labelSelector=" + quote("x in ("), None, {}),
    ("list-bad-field", "GET", MAPS + "?fieldSelector=nope", None, {}),
    ("list-bad-limit", "GET", MAPS + "?limit=x", None, {}),
    ("list-bad-token", "GET", MAPS + "?continue=x&limit=2", None, {}),
    ("list-match-alone", "GET", MAPS + "?resourceVersionMatch=Exact", None, {}),
    ("list-match-wrong", "GET", MAPS + "?resourceVersionMatch=Nope&resourceVersion=1", None, {}),
    ("list-exact-zero", "GET", MAPS + "?resourceVersionMatch=Exact&resourceVersion=0", None, {}),
    ("list-send-initial", "GET", MAPS + "?sendInitialEvents=true", None, {}),
    ("list-to-come", "GET", MAPS + "?resourceVersion=99999999999", None, {}),
    ("list-table", "GET", MAPS, None, TABLE),
    ("list-metadata", "GET", MAPS, None, PARTIAL),
    ("watch-stream", "GET", MAPS + "?" + STREAM, None, {}),
    ("watch-no-match", "GET", MAPS + "?watch=1&sendInitialEvents=true", None, {}),
    ("watch-match-alone", "GET", MAPS + "?watch=1&resourceVersionMatch=NotOlderThan", None, {}),
    ("watch-bad-version", "GET", MAPS + "?watch=1&resourceVersion=x", None, {}),
    ("put", "PUT", MAPS + "/a", config_map("a", data={"k": "w"}), JSON),
    ("put-none", "PUT", DEPLOYMENTS + "/none", {"metadata": {"name": "none"}}, JSON),
    ("put-other-name", "PUT", MAPS + "/a", config_map("b"), JSON),
    ("put-old", "PUT", MAPS + "/a", {"metadata": {"name": "a", "resourceVersion": "1"}}, JSON),
    ("put-collection", "PUT", MAPS, config_map("b"), JSON),
    ("patch-merge", "PATCH", MAPS + "/a", {"data": {"x": "1"}}, MERGE),
    ("patch-json", "PATCH", MAPS + "/a", [{"op": "add", "path": "/data/y", "value": "2"}],
     JSON_PATCH),
    ("patch-json-test", "PATCH", MAPS + "/a", [{"op": "test", "path": "/data/y", "value": "3"}],
     JSON_PATCH),
    ("patch-json-nowhere", "PATCH", MAPS + "/a", [{"op": "remove", "path": "/nothing"}],
     JSON_PATCH),
    ("patch-strategic", "PATCH", MAPS + "/a", {"metadata": {"finalizers": ["a.b/c"]}}, STRATEGIC),
    ("patch-none", "PATCH", MAPS + "/none", {}, MERGE),
    ("patch-plain", "PATCH", MAPS + "/a", {}, JSON),
    ("delete-with-finalizer", "DELETE", MAPS + "/a", None, {}),
    ("patch-add-finalizer-late", "PATCH", MAPS + "/a", {"metadata": {"finalizers": ["d.e/f"]}},
     MERGE),
    ("delete-wrong-uid", "DELETE", MAPS + "/b", {**OPTIONS, "preconditions": {"uid": "x"}}, JSON),
    ("delete", "DELETE", MAPS + "/b", None, {}),
    ("delete-none", "DELETE", MAPS + "/b", None, {}),
    ("delete-all", "DELETE", MAPS + "?labelSelector=x%3Dy", None, {}),
    ("no-method", "POST", MAPS + "/a", config_map("a"), JSON),
    ("deployment", "POST", DEPLOYMENTS, objects.deployment("d", "default"), JSON),
    ("scale", "GET", DEPLOYMENTS + "/d/scale", None, {}),
    ("scale-patch", "PATCH", DEPLOYMENTS + "/d/scale", {"spec": {"replicas": 3}}, MERGE),
    ("status-patch", "PATCH", DEPLOYMENTS + "/d/status", {"status": {"replicas": 2}}, MERGE),
    ("strategic-custom", "PATCH", WIDGETS + "/w", {"spec": {"size": 5}}, STRATEGIC),
    ("custom-put-without-version", "PUT", WIDGETS + "/w", objects.widget("w", "default", 4), JSON),
    ("custom-get", "GET", WIDGETS + "/w", None, {}),
    ("custom-list", "GET", WIDGETS, None, {}),
    ("custom-table", "GET", WIDGETS, None, TABLE),
    ("custom-field", "GET", WIDGETS + "?fieldSelector=spec.size%3D3", None, {}),
    ("review", "POST", "/apis/authorization.k8s.io/v1/selfsubjectaccessreviews",
     {"spec": {"nonResourceAttributes": {"path": "/", "verb": "get"}}}, JSON),
    ("api", "GET", "/api", None, {}),
    ("api-v1", "GET", "/api/v1", None, {}),
    ("apis-apps", "GET", "/apis/apps", None, {}),
    ("apis-none", "GET", "/apis/none", None, {}),
]

# What is known not to be equal, and why.
DIFFERS = {
    "get-no-group": "a real server answers with plain text, not with a Status",
    "apis-none": "the same",
    "patch-add-finalizer-late": "a real server lists the one cause twice",
    "review": "a real server lists managedFields of what it does not store",
    "custom-list": "a real server has an empty continue here",
}

def shape_of_status(body):
    details = body.get("details", {})
    causes = sorted((c.get("reason", ""), c.get("field", "")) for c in details.get("causes", []))
    return (body.get("status"), body.get("reason"), body.get("code"), details.get("name"),
            details.get("group"), details.get("kind"), causes)


def shape_of_object(body):
    metadata = set(body.get("metadata", {}))
    return (body.get("kind"), body.get("apiVersion"), sorted(set(body) - {"status"}),
            sorted(metadata))


def shape_of_list(body):
    items = body.get("items") or []
    names = [item["metadata"]["name"] for item in items]
    kinds = sorted({str(item.get("kind")) for item in items})
    return (body["kind"], body["apiVersion"], sorted(set(body["metadata"])),
            [name for name in names if not name.startswith(("gen-", "kube-root"))], kinds)


def shape_of_table(body):
    columns = [(c["name"], c["type"], c["priority"]) for c in body["columnDefinitions"]]
    return body["kind"], columns, sorted({row["object"]["kind"] for row in body["rows"]})


def shape(status, text):
    """What of an answer is compared."""
    if "\n{" in text.strip():  # a watch
        events = [json.loads(line) for line in text.splitlines()]
        return status, sorted({(event["type"], event["object"]["kind"]) for event in events})
    if not text.startswith("{"):
        return status, "plain text"
    body = json.loads(text)
    kind = body.get("kind", "")
    if kind == "Status":
        return status, shape_of_status(body)
    if kind == "Table":
        return status, shape_of_table(body)
    if kind.endswith("List") and "items" in body:
        return status, shape_of_list(body)
    if kind.startswith("API"):
        return status, sorted(body)
    return status, shape_of_object(body)


class SameAnswers(BothServers):
    def setUp(self):
        self.define(objects.widget_definition())
        self.kubectl("create", "-f", "-", text=json.dumps(objects.widget("w", "default", 3)))

    def test_the_script(self):
        for name, *request in SCRIPT:
            real = shape(*self.real.ask(*request))
            ours = shape(*self.ours.ask(*request))
            with self.subTest(name):
                if name in DIFFERS:
                    self.assertNotEqual(ours, real, "it does not differ any more")
                else:
                    self.assertEqual(ours, real)


if __name__ == "__main__":
    unittest.main()
