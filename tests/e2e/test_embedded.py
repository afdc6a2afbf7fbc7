# SPDX-License-Identifier: Apache-2.0
"""A real kubectl on the embedded API server: what docs/embedded-apiserver.md says that works."""
import json
import subprocess
import time
import unittest

import objects
from embedded import Embedded
from informers import Informers, client_go

DEPLOYMENT = """
apiVersion: apps/v1
kind: Deployment
metadata: {name: web, labels: {app: web}}
spec:
  replicas: 2
  selector: {matchLabels: {app: web}}
  template:
    metadata: {labels: {app: web}}
    spec:
      containers:
      - {name: a, image: "front:1", ports: [{containerPort: 80}]}
      - {name: b, image: "back:1", env: [{name: X, value: "1"}]}
---
apiVersion: v1
kind: Service
metadata: {name: web}
spec: {selector: {app: web}, ports: [{port: 80, name: http}]}
"""
IMAGES = "-o=jsonpath={.spec.replicas} {.spec.template.spec.containers[*].image}"


class Kubectl(unittest.TestCase):
    def setUp(self):
        self.server = self.enterContext(Embedded())
        self.kubectl = self.server.kubectl

    def lines(self, *words):
        return [line.split() for line in self.kubectl(*words).splitlines()]

    def test_apply_again_and_changed(self):
        self.assertIn("created", self.kubectl("apply", "-f", "-", text=DEPLOYMENT))
        again = self.kubectl("apply", "-f", "-", text=DEPLOYMENT)
        self.assertEqual(again.count("unchanged"), 2)
        changed = DEPLOYMENT.replace("front:1", "front:2").replace("replicas: 2", "replicas: 5")
        self.assertIn("deployment.apps/web configured",
                      self.kubectl("apply", "-f", "-", text=changed))
        self.assertEqual(self.kubectl("get", "deploy", "web", IMAGES), "5 front:2 back:1")
        without = "".join(line for line in changed.splitlines(True) if "back:1" not in line)
        self.kubectl("apply", "-f", "-", text=without)
        self.assertEqual(self.kubectl("get", "deploy", "web", IMAGES), "5 front:2")
        diff = self.server.run("diff", "-f", "-", text=DEPLOYMENT)
        self.assertEqual(diff.returncode, 1)
        self.assertIn("+        image: back:1", diff.stdout)

    def test_misspelt_fields_are_refused(self):
        wrong = DEPLOYMENT.replace("image: \"front", "imagee: \"front")
        run = self.server.run("apply", "-f", "-", text=wrong)
        self.assertEqual(run.returncode, 1)
        self.assertIn('unknown field "spec.template.spec.containers[0].imagee"', run.stderr)
        self.kubectl("apply", "--validate=false", "-f", "-", text=wrong)

    def apply(self, text, *words):
        return self.server.run("apply", "--server-side", *words, "-f", "-", text=text)

    def test_server_side_apply_has_owners_and_conflicts(self):
        self.assertIn("serverside-applied", self.apply(DEPLOYMENT).stdout)
        other = DEPLOYMENT.replace("back:1", "back:2")
        run = self.apply(other, "--field-manager=other")
        self.assertEqual(run.returncode, 1)
        self.assertIn('conflict with "kubectl": .spec.template.spec.containers[name="b"].image',
                      run.stderr)
        self.assertEqual(self.kubectl("get", "deploy", "web", IMAGES), "2 front:1 back:1")
        self.apply(other, "--field-manager=other", "--force-conflicts")
        self.assertEqual(self.kubectl("get", "deploy", "web", IMAGES), "2 front:1 back:2")
        shown = self.kubectl("get", "deploy", "web", "-o", "yaml", "--show-managed-fields")
        self.assertIn("manager: other", shown)
        self.assertIn('k:{"containerPort":80,"protocol":"TCP"}:', shown)
        self.assertNotIn("managedFields", self.kubectl("get", "deploy", "web", "-o", "yaml"))
        without = "".join(line for line in DEPLOYMENT.splitlines(True) if "replicas" not in line)
        self.assertEqual(self.apply(without).returncode, 1)  # back:1 is a conflict now
        self.apply(without.replace("back:1", "back:2"))
        self.assertEqual(self.kubectl("get", "deploy", "web", IMAGES), "2 front:1 back:2")
        self.apply(without.replace("back:1", "back:2"), "--field-manager=other")
        self.assertEqual(self.kubectl("get", "deploy", "web", IMAGES), " front:1 back:2")

    def test_server_side_apply_after_the_other_one(self):
        self.kubectl("apply", "-f", "-", text=DEPLOYMENT)
        run = self.apply(DEPLOYMENT.replace("front:1", "front:2"))
        self.assertEqual((run.returncode, run.stderr), (0, ""))
        self.assertEqual(self.kubectl("get", "deploy", "web", IMAGES), "2 front:2 back:1")
        managers = "-o=jsonpath={.metadata.managedFields[*].operation}"
        self.assertEqual(self.kubectl("get", "deploy", "web", managers), "Apply Apply")
        self.kubectl("apply", "-f", "-", text=DEPLOYMENT)
        self.assertEqual(self.kubectl("get", "deploy", "web", IMAGES), "2 front:1 back:1")

    def test_server_side_diff_and_dry_run(self):
        self.apply(DEPLOYMENT)
        changed = DEPLOYMENT.replace("front:1", "front:2")
        diff = self.server.run("diff", "--server-side", "-f", "-", text=changed)
        self.assertEqual(diff.returncode, 1)
        self.assertIn("+      - image: front:2", diff.stdout)
        self.assertIn("(server dry run)", self.apply(changed, "--dry-run=server").stdout)
        self.assertEqual(self.kubectl("get", "deploy", "web", IMAGES), "2 front:1 back:1")

    def test_yaml_is_read(self):
        headers = {"Content-Type": "application/apply-patch+yaml"}
        path = "/api/v1/namespaces/default/configmaps"
        text = "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: y}\ndata:\n  a: |\n    1\n"
        status, body = self.server.request("PATCH", path + "/y?fieldManager=m", text, headers)
        self.assertEqual((status, body["data"]), (201, {"a": "1\n"}))
        headers = {"Content-Type": "application/yaml"}
        status, body = self.server.request("POST", path, text.replace("y}", "z}"), headers)
        self.assertEqual((status, body["metadata"]["name"]), (201, "z"))
        status, body = self.server.request("POST", path, "a: [", headers)
        self.assertEqual((status, body["reason"]), (400, "BadRequest"))

    def test_patch_edit_label_scale(self):
        self.kubectl("apply", "-f", "-", text=DEPLOYMENT)
        self.kubectl("patch", "deploy", "web", "-p", json.dumps(
            {"spec": {"template": {"spec": {"containers": [{"name": "b", "image": "back:3"}]}}}}))
        self.kubectl("patch", "deploy", "web", "--type=json", "-p",
                     '[{"op": "replace", "path": "/spec/replicas", "value": 7}]')
        self.kubectl("patch", "svc", "web", "--type=merge", "-p",
                     '{"spec": {"type": "NodePort"}}')
        self.kubectl("set", "image", "deploy/web", "a=front:9")
        self.assertEqual(self.kubectl("get", "deploy", "web", IMAGES), "7 front:9 back:3")
        self.kubectl("edit", "deploy", "web", EDITOR="sed -i s/front:9/front:10/")
        self.kubectl("scale", "deploy", "web", "--replicas=4")
        self.assertEqual(self.kubectl("get", "deploy", "web", IMAGES), "4 front:10 back:3")
        self.kubectl("label", "deploy", "web", "tier=front")
        self.kubectl("annotate", "deploy", "web", "note=yes")
        self.assertEqual(len(self.lines("get", "deploy", "-l", "tier=front", "--no-headers")), 1)
        self.assertIn("restarted", self.kubectl("rollout", "restart", "deploy/web"))
        self.assertEqual(self.server.run("patch", "deploy", "web", "--type=json", "-p",
                                         '[{"op": "remove", "path": "/nothing"}]').returncode, 1)

    def test_get_prints_the_columns_of_a_real_server(self):
        self.kubectl("apply", "-f", "-", text=DEPLOYMENT)
        self.kubectl("run", "one", "--image=x")
        self.kubectl("create", "configmap", "c", "--from-literal=a=b")
        self.kubectl("create", "secret", "generic", "s", "--from-literal=a=b")
        self.assertEqual(self.lines("get", "deploy")[0],
                         ["NAME", "READY", "UP-TO-DATE", "AVAILABLE", "AGE"])
        self.assertEqual(self.lines("get", "deploy")[1][:4], ["web", "0/2", "0", "0"])
        self.assertEqual(self.lines("get", "pods")[0],
                         ["NAME", "READY", "STATUS", "RESTARTS", "AGE"])
        self.assertEqual(self.lines("get", "pods")[1][:4], ["one", "0/1", "Pending", "0"])
        self.assertEqual(self.lines("get", "svc")[1][:5],
                         ["web", "ClusterIP", "<none>", "<none>", "80/TCP"])
        self.assertEqual(self.lines("get", "cm")[1][:2], ["c", "1"])
        self.assertEqual(self.lines("get", "secret")[1][:3], ["s", "Opaque", "1"])
        self.assertEqual(self.lines("get", "ns", "default")[1][:2], ["default", "Active"])
        self.assertIn("deployment.apps/web", self.kubectl("get", "all"))
        self.assertIn("front:1,back:1", self.kubectl("get", "deploy", "-o", "wide"))
        self.assertEqual(self.kubectl("get", "pods", "-o", "name", "--field-selector",
                                      "metadata.name=one", "-A"), "pod/one\n")
        self.assertIn("Image:", self.kubectl("describe", "pod", "one"))
        self.assertIn("Selector:", self.kubectl("describe", "deploy", "web"))

    def test_watch_prints_changes(self):
        words = [self.server.kubectl_program, "--kubeconfig", self.server.path("kubeconfig"),
                 "--cache-dir", self.server.path("cache"), "get", "pods", "-w", "-o", "name"]
        with subprocess.Popen(words, stdout=subprocess.PIPE, text=True) as watch:
            try:
                time.sleep(0.5)
                for name in ("one", "two"):
                    self.kubectl("run", name, "--image=x")
                self.assertEqual([watch.stdout.readline() for _ in range(2)],
                                 ["pod/one\n", "pod/two\n"])
            finally:
                watch.kill()

    def test_delete_and_namespaces(self):
        self.kubectl("create", "ns", "shop")
        self.kubectl("run", "one", "--image=x", "-n", "shop")
        self.kubectl("delete", "ns", "shop", "--timeout=20s")
        self.assertEqual(self.kubectl("get", "pods", "-A", "-o", "name"), "")
        self.assertEqual(self.server.run("run", "one", "--image=x", "-n", "shop").returncode, 1)
        self.kubectl("create", "configmap", "a")
        self.kubectl("create", "configmap", "b")
        self.kubectl("delete", "configmap", "a", "--cascade=foreground")
        self.kubectl("delete", "configmap", "--all")
        self.assertEqual(self.kubectl("get", "cm", "-o", "name"), "")

    def test_dependents_go_with_their_owner(self):
        for policy, left in (("background", ""), ("foreground", ""), ("orphan",
                                                                      "configmap/child\n")):
            self.kubectl("create", "configmap", "owner")
            uid = self.kubectl("get", "cm", "owner", "-o", "jsonpath={.metadata.uid}")
            self.kubectl("create", "-f", "-", text=json.dumps({
                "apiVersion": "v1", "kind": "ConfigMap", "metadata": {
                    "name": "child", "ownerReferences": [{
                        "apiVersion": "v1", "kind": "ConfigMap", "name": "owner", "uid": uid,
                        "blockOwnerDeletion": True}]}}))
            self.kubectl("delete", "cm", "owner", "--cascade=" + policy, "--timeout=20s")
            self.assertEqual(self.kubectl("get", "cm", "-o", "name"), left)
            self.kubectl("delete", "cm", "--all")

    def test_custom_resources(self):
        self.kubectl("apply", "-f", "-", text=json.dumps(objects.widget_definition()))
        self.kubectl("wait", "--for=condition=Established", "crd/widgets.example.com",
                     "--timeout=10s")
        self.kubectl("apply", "-f", "-", text=json.dumps(objects.widget("w", "default", 3)))
        self.kubectl("patch", "widget", "w", "--type=merge", "-p",
                     '{"spec": {"size": 4, "more": 1}}')
        self.assertEqual(self.kubectl("get", "widgets", "-o", "jsonpath={.items[0].spec}"),
                         '{"size":4}')
        refused = self.server.run("patch", "widget", "w", "--type=merge", "-p",
                                  '{"spec": {"size": "x"}}')
        self.assertIn("spec.size in body must be of type integer", refused.stderr)
        self.assertIn("widgets", self.kubectl("api-resources", "--api-group=example.com"))
        self.kubectl("explain", "widget")
        self.kubectl("delete", "crd", "widgets.example.com")
        self.assertEqual(self.server.run("get", "widgets").returncode, 1)

    def test_what_the_server_says_of_itself(self):
        self.assertIn("Server Version: v1.36", self.kubectl("version"))
        self.assertIn("apps/v1", self.kubectl("api-versions").split())
        self.assertIn("deployments", self.kubectl("api-resources"))
        self.assertIn("replicas\t<integer>", self.kubectl("explain", "deployment.spec"))
        self.assertEqual(self.kubectl("get", "--raw", "/readyz"), "ok")
        self.assertEqual(self.kubectl("auth", "can-i", "create", "pods").strip(), "yes")

    def test_what_is_not_there_is_said_clearly(self):
        self.kubectl("run", "one", "--image=x")
        for words in (("logs", "one"), ("exec", "one", "--", "ls"), ("get", "nothing"),
                      ("top", "pods")):
            run = self.server.run(*words)
            self.assertEqual(run.returncode, 1, words)
            self.assertTrue(run.stderr.strip(), words)


class Secure(unittest.TestCase):
    def test_kubectl_trusts_the_kubeconfig(self):
        with Embedded("--tls", "--token", "a-token") as server:
            self.assertTrue(server.url.startswith("https://"))
            self.assertIn("namespace/default", server.kubectl("get", "ns", "-o", "name"))
            run = server.run("get", "ns", "--token", "another")
            self.assertEqual(run.returncode, 1)
            self.assertIn("Unauthorized", run.stderr)


class ClientGo(unittest.TestCase):
    def pods(self, server):
        _, body = server.request("GET", "/api/v1/pods")
        return {f"default/{m['name']}": (m["uid"], m["resourceVersion"])
                for m in (item["metadata"] for item in body["items"])}

    def change(self, server, count):
        pods = "/api/v1/namespaces/default/pods"
        headers = {"Content-Type": "application/json"}
        for i in range(count):
            body = json.dumps(objects.pod(f"pod-{i}", "default"))
            if server.request("POST", pods, body, headers)[0] == 409:
                server.request("DELETE" if i % 3 == 0 else "PUT", f"{pods}/pod-{i}",
                               body.replace("registry", "other") if i % 3 else None,
                               headers if i % 3 else {})

    def follow(self, informer):
        with Embedded() as server:
            self.change(server, 20)
            client = Informers(client_go(), server.path("kubeconfig"), [informer],
                               server.path("client-go.log"))
            try:
                client.wait_for_sync()
                for harm in (None, "cut", "expire", "drop-watches"):
                    self.change(server, 30)
                    if harm is not None:
                        server.request("POST", f"/kinformer/{harm}")
                    self.change(server, 25)
                    client.wait_for_version(informer, self.pods(server))
                    self.assertEqual(client.dump()[0], {informer: self.pods(server)})
            finally:
                client.close()

    def test_an_informer_follows_in_json(self):
        self.follow("v1/pods,json,stream,-,-")

    def test_an_informer_follows_in_protobuf(self):
        self.follow("v1/pods,protobuf,stream,-,-")

    def test_an_informer_follows_by_lists(self):
        self.follow("v1/pods,json,pages,-,-")


if __name__ == "__main__":
    unittest.main()
