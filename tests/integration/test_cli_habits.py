#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What users of kubectl expect of `get` and its options, on the embedded server."""
import json
import queue
import re

import cli_testing
from cli_testing import Served

NASTY = {"plain": "a", "yes": "yes", "n": "1e3", "null": "null", "lines": "a\n b\n\n",
         "blank": " a", "colon": "a: b # c", "esc": "\x1b[2J\u202e", "smile": "\U0001f600",
         "time": "2024-01-02T03:04:05Z", "empty": "", "cr": "a\r\nb", "dash": "- x",
         "ip": "10.0.0.1", "quote": "it's \"x\" \\ y"}


class Yaml(Served):
    def put(self, name, data):
        self.ask("POST", "/api/v1/namespaces/default/configmaps", self.config_map(name, **data))

    def get_json(self, *words):
        code, out, err = self.call("get", *words, "-o", "json")
        self.assertEqual((code, err), (0, ""))
        return json.loads(out)

    def test_reads_back_as_the_same_object(self):
        """Also by the server's own YAML reader."""
        self.serve()
        self.put("a", NASTY)
        self.put("b", NASTY)
        for words in (("cm",), ("cm", "a")):
            code, out, err = self.call("get", *words, "-o", "yaml")
            self.assertEqual((code, err), (0, ""))
            self.assertNotIn("\x1b", out)
            path = self.write("back.yaml", out.replace("name: a\n", "name: c\n"))
            self.serve("--load", path)
            self.assertEqual(self.get_json("cm", "c")["data"], NASTY)
            self.serve()
            self.put("a", NASTY)
            self.put("b", NASTY)

    def test_a_list_has_the_form_of_kubectl(self):
        self.serve()
        self.assertEqual(self.call("get", "cm", "-n", "none", "-o", "yaml"), (
            0, 'apiVersion: v1\nitems: []\nkind: List\nmetadata:\n  resourceVersion: ""\n', ""))
        self.put("a", {"k": "v"})
        out = self.call("get", "cm", "a", "-o", "yaml")[1]
        self.assertTrue(out.startswith("apiVersion: v1\n") or out.startswith("kind: "), out)
        listed = self.call("get", "cm", "-o", "yaml")[1]
        self.assertTrue(listed.startswith("apiVersion: v1\nitems:\n- "))
        self.assertTrue(listed.endswith('kind: List\nmetadata:\n  resourceVersion: ""\n'))
        self.assertIn("\n  data:\n    k: v\n", listed)


DEFINITION = {
    "apiVersion": "apiextensions.k8s.io/v1", "kind": "CustomResourceDefinition",
    "metadata": {"name": "shirts.example.com"},
    "spec": {"group": "example.com", "scope": "Namespaced",
             "names": {"plural": "shirts", "singular": "shirt", "kind": "Shirt",
                       "shortNames": ["sh"], "categories": ["all", "clothes"]},
             "versions": [{"name": "v1", "served": True, "storage": True,
                           "schema": {"openAPIV3Schema": {
                               "type": "object", "x-kubernetes-preserve-unknown-fields": True}},
                           "additionalPrinterColumns": [
                               {"name": "Color", "type": "string", "jsonPath": ".spec.color"},
                               {"name": "Size", "type": "integer", "jsonPath": ".spec.size",
                                "priority": 1}]}]}}


class CommandLine(Served):
    def test_options_may_stand_before_the_command(self):
        self.serve("--any-namespace")
        self.ask("POST", "/api/v1/namespaces/shop/configmaps", {
            "apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "a"}})
        expected = (0, "configmap/a\n", "")
        for words in (("-n", "shop", "get", "cm"), ("-nshop", "get", "cm"),
                      ("--namespace=shop", "get", "cm"), ("--namespace", "shop", "get", "cm"),
                      ("--kubeconfig", self.kubeconfig, "-A", "get", "cm"),
                      ("-A", "get", "-n", "other", "cm")):
            self.assertEqual(self.call(*words, "-o", "name"), expected, words)
        for words, text in ((("-o", "name", "get", "cm"), "unknown option -o"),
                            (("--nope", "get"), "unknown option --nope"),
                            (("-n", "shop", "gte", "cm"), 'did you mean "get"?'),
                            (("-n",), "-n")):
            code, _, err = self.call(*words)
            self.assertEqual(code, 2)
            self.assertIn(text, err)
        self.assertEqual(self.call("-h")[0], 0)
        self.assertIn("Commands:", self.call("--help")[1])
        self.assertEqual(self.call("-n", "shop")[0], 2)
        self.assertIn("get RESOURCE", self.call("-h", "get")[1])

    def test_api_resources(self):
        self.serve("--load", self.write("crd.json", json.dumps(DEFINITION)))
        code, out, err = self.call("api-resources")
        self.assertEqual((code, err), (0, ""))
        lines = [line.split() for line in out.splitlines()]
        self.assertEqual(lines[0], ["NAME", "SHORTNAMES", "APIVERSION", "NAMESPACED", "KIND"])
        self.assertIn(["deployments", "deploy", "apps/v1", "true", "Deployment"], lines)
        self.assertIn(["nodes", "no", "v1", "false", "Node"], lines)
        self.assertIn(["shirts", "sh", "example.com/v1", "true", "Shirt"], lines)
        wide = self.call("api-resources", "-o", "wide", "--api-group", "example.com")[1]
        self.assertEqual(wide.splitlines()[1].split()[-2:], [
            "create,delete,deletecollection,get,list,patch,update,watch", "all,clothes"])
        names = self.call("api-resources", "-o", "name", "--namespaced=false")[1].split()
        self.assertIn("nodes", names)
        self.assertIn("customresourcedefinitions.apiextensions.k8s.io", names)
        self.assertNotIn("pods", names)
        self.assertEqual(self.call("api-resources", "-o", "name", "--categories", "clothes")[1],
                         "shirts.example.com\n")
        self.assertNotIn("Deployment ", self.call("api-resources", "--api-group", "")[1])
        creates = self.call("api-resources", "-o", "name", "--verbs", "list,watch")[1].split()
        self.assertIn("pods", creates)
        self.assertNotIn("tokenreviews.authentication.k8s.io", creates)
        for wrong in (("-o", "json"), ("--namespaced=maybe",), ("--sort-by", "age"), ("pods",)):
            self.assertEqual(self.call("api-resources", *wrong)[0], 2, wrong)


class Tables(Served):
    def setUp(self):
        super().setUp()
        self.serve("--any-namespace", "--load", self.write(
            "objects.json", "\n".join(map(json.dumps, self.objects()))))

    @staticmethod
    def named(api_version, kind, name, **fields):
        metadata = {"name": name, "namespace": "default", **fields.pop("metadata", {})}
        return {"apiVersion": api_version, "kind": kind, "metadata": metadata, **fields}

    def pod(self, name, memory="1Gi", **fields):
        container = {"name": "main", "image": "i", "resources": {"requests": {"memory": memory}}}
        return self.named("v1", "Pod", name, spec={"containers": [container]}, **fields)

    def objects(self):
        yield DEFINITION
        yield self.pod("p10", "500Mi", metadata={"labels": {"app": "web", "x.io/tier": "front"}})
        yield self.pod("p2", "1Gi", metadata={"labels": {"app": "sql"}},
                       status={"phase": "Running"})
        yield self.named("v1", "Service", "web", spec={"ports": [{"port": 80}]})
        yield self.named("apps/v1", "Deployment", "web", spec={
            "replicas": 2, "selector": {"matchLabels": {"app": "web"}},
            "template": {"metadata": {"labels": {"app": "web"}},
                         "spec": {"containers": [{"name": "a", "image": "i"}]}}})
        yield self.named("example.com/v1", "Shirt", "one", spec={"color": "blue", "size": 3})

    def rows(self, *words):
        """The words of each line; the age, which is never the same, is AGE."""
        code, out, err = self.call("get", *words)
        self.assertEqual((code, err), (0, ""))
        return [re.sub(r" +", " ", re.sub(r"\b\d+s\b", "AGE", line)).strip()
                for line in out.splitlines()]

    def test_columns_are_those_of_the_server(self):
        self.assertEqual(self.rows("pods"), [
            "NAME READY STATUS RESTARTS AGE", "p10 0/1 Pending 0 AGE", "p2 0/1 Running 0 AGE"])
        self.assertEqual(self.rows("svc"), [
            "NAME TYPE CLUSTER-IP EXTERNAL-IP PORT(S) AGE",
            "web ClusterIP <none> <none> 80/TCP AGE"])
        self.assertEqual(self.rows("pods", "p2", "-o", "wide"), [
            "NAME READY STATUS RESTARTS AGE IP NODE NOMINATED NODE READINESS GATES",
            "p2 0/1 Running 0 AGE <none> <none> <none> <none>"])

    def test_columns_of_custom_resources(self):
        self.assertEqual(self.rows("sh"), ["NAME COLOR", "one blue"])
        self.assertEqual(self.rows("sh", "-o", "wide"), ["NAME COLOR SIZE", "one blue 3"])

    def test_several_resources_have_their_kind_in_front(self):
        pods = ["NAME READY STATUS RESTARTS AGE", "pod/p10 0/1 Pending 0 AGE",
                "pod/p2 0/1 Running 0 AGE", ""]
        service = ["NAME TYPE CLUSTER-IP EXTERNAL-IP PORT(S) AGE",
                   "service/web ClusterIP <none> <none> 80/TCP AGE"]
        deployment = ["NAME READY UP-TO-DATE AVAILABLE AGE", "deployment.apps/web 0/2 0 0 AGE"]
        shirt = ["NAME COLOR", "shirt.example.com/one blue"]
        self.assertEqual(self.rows("pods,svc"), pods + service)
        self.assertEqual(self.rows("pods,cm,svc"), pods + service)
        self.assertEqual(self.rows("pod/p2", "deploy/web"), [pods[0], pods[2], ""] + deployment)
        self.assertEqual(self.rows("pod/p2", "pods/p10"),
                         [line.replace("pod/", "") for line in pods[:3]])
        self.assertEqual(self.rows("pods", "p2", "--show-kind"), [pods[0], pods[2]])
        self.assertEqual(self.rows("all"), pods + service + [""] + deployment + [""] + shirt)
        self.assertEqual(self.rows("clothes"), ["NAME COLOR", "one blue"])
        code, out, err = self.call("get", "pod/p2", "deploy/none", "-o", "name")
        self.assertEqual((code, out), (3, "pod/p2\n"))
        self.assertIn('deployments.apps "none" not found', err)
        self.assertEqual(self.call("get", "cm,secrets"), (0, "", "kinformer: no resources found\n"))

    def test_labels(self):
        head = "NAME READY STATUS RESTARTS AGE"
        self.assertEqual(self.rows("pods", "-L", "app,x.io/tier"), [
            head + " APP TIER", "p10 0/1 Pending 0 AGE web front", "p2 0/1 Running 0 AGE sql"])
        self.assertEqual(self.rows("pods", "-Lapp", "--show-labels")[1:], [
            "p10 0/1 Pending 0 AGE web app=web,x.io/tier=front",
            "p2 0/1 Running 0 AGE sql app=sql"])
        self.assertEqual(self.rows("svc", "--show-labels")[1].split()[-1], "<none>")

    def test_sort_by(self):
        def order(path, *words):
            return [line.split()[0] for line in self.rows("pods", "--sort-by", path, *words)[1:]]
        self.assertEqual(order(".metadata.name"), ["p2", "p10"])
        self.assertEqual(order("{.metadata.labels.app}"), ["p2", "p10"])
        memory = "spec.containers[0].resources.requests.memory"
        self.assertEqual(order(memory), ["p10", "p2"])
        self.assertEqual(order(".metadata.labels.x\\.io/tier"), ["p2", "p10"])
        out = self.call("get", "pods", "-o", "name", "--sort-by", "metadata.name")[1]
        self.assertEqual(out, "pod/p2\npod/p10\n")
        code, out, err = self.call("get", "pods", "--sort-by", ".none")
        self.assertEqual((code, out), (1, ""))
        self.assertIn("no object has a value at .none", err)
        self.assertEqual(self.call("get", "pods", "--sort-by", ".a[")[0], 2)

    def test_where_and_labels_work_on_tables(self):
        self.assertEqual(self.rows("pods", "--where", ".status.phase=Running")[1:],
                         ["p2 0/1 Running 0 AGE"])
        self.assertEqual(self.rows("pods", "--by-label", "app")[1:],
                         ["p2 0/1 Running 0 AGE sql", "p10 0/1 Pending 0 AGE web"])

    def test_lists_come_in_pages(self):
        maps = [self.config_map(f"m{i:04}") for i in range(1200)]
        path = self.write("many.json", "\n".join(map(json.dumps, maps)))
        self.runs[0].end()
        self.serve("--load", path)
        code, out, err = self.call("get", "cm", "--no-headers")
        self.assertEqual((code, err), (0, ""))
        self.assertEqual([line.split()[0] for line in out.splitlines()],
                         [f"m{i:04}" for i in range(1200)])

    def test_a_watch_appends_rows(self):
        run = self.start("get", "pods", "-w")
        self.assertEqual([line.split()[0] for line in run.until("p2 ")], ["NAME", "p10", "p2"])
        pods = "/api/v1/namespaces/default/pods"
        self.ask("POST", pods, self.pod("p3"))
        self.assertEqual(run.until("p3 ")[0].split()[:3], ["p3", "0/1", "Pending"])
        self.ask("POST", "/kinformer/cut")
        self.ask("PATCH", pods + "/p3/status", {"status": {"phase": "Failed"}},
                 "application/merge-patch+json")
        self.assertEqual(run.until("p3 ")[0].split()[:3], ["p3", "0/1", "Failed"])
        self.ask("DELETE", pods + "/p3?gracePeriodSeconds=0")
        run.until("p3 ")
        self.assertEqual(run.end()[0], 0)

    def test_a_watch_of_changes_only_with_events(self):
        run = self.start("get", "cm,sh", "--watch-only", "--output-watch-events", "-v")
        maps = "/api/v1/namespaces/default/configmaps"
        shirts = "/apis/example.com/v1/namespaces/default/shirts"
        seen, i = [], 0
        while not seen:  # until it watches
            self.ask("POST", maps, self.config_map(f"a{i}"))
            i += 1
            try:
                seen.append(run.out.get(timeout=0.2))
            except queue.Empty:
                pass
        self.assertEqual(seen[0].split(), ["EVENT", "NAME", "DATA", "AGE"])
        self.assertRegex(run.until("ADDED")[0], r"^ADDED +configmap/a\d+ +0 ")
        self.ask("POST", shirts, self.named("example.com/v1", "Shirt", "two"))
        self.assertEqual([line.split()[0] for line in run.until("shirt.")][-2:], ["EVENT", "ADDED"])
        self.ask("DELETE", shirts + "/two")
        self.assertIn("DELETED", run.until("shirt.")[-1])
        self.assertEqual(run.end()[0], 0)

    def test_a_watch_in_other_formats(self):
        for words, first, second in (
                (("-o", "name"), ["pod/p10\n"], "pod/p2\n"),
                (("-o", "jsonpath={.metadata.name}"), ["p10\n"], "p2\n"),
                (("-o", "custom-columns=N:.metadata.name"), ["N\n", "p10\n"], "p2\n"),
                (("-o", "yaml"), None, "---\n")):
            run = self.start("get", "pods", "-w", *words)
            lines = run.until(second)
            if first is not None:
                self.assertEqual(lines[:-1], first)
            self.assertEqual(run.end()[0], 0)
        run = self.start("get", "pods", "p2", "-w", "-o", "json", "--output-watch-events")
        event = json.loads("".join(self.lines_of_json(run)))
        self.assertEqual((event["type"], event["object"]["metadata"]["name"]), ("ADDED", "p2"))
        self.assertEqual(run.end()[0], 0)
        self.assertEqual(self.call("get", "pods", "-w", "--sort-by", ".a")[0], 2)
        self.assertEqual(self.call("get", "pods", "none", "-w")[0], 3)

    @staticmethod
    def lines_of_json(run):
        """One indented object."""
        while True:
            line = run.until("")[0]
            yield line
            if line == "}\n":
                return


if __name__ == "__main__":
    cli_testing.main()
