#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""`kinformer apiserver`, and the other commands on it, with things going wrong on the way."""
import http.client
import json
import os
import re
import subprocess

import cli_testing
from cli_testing import Run

CONTROLS = re.compile("[\x00-\x09\x0b-\x1f\x7f-\x9f\u202a-\u202e]")


class Apiserver(cli_testing.Served):
    def test_objects_come_from_files_and_are_followed(self):
        path = self.write("objects.yaml", "apiVersion: v1\nkind: ConfigMap\n"
                          "metadata: {name: one, namespace: default}\ndata: {a: '1'}\n"
                          "---\napiVersion: v1\nkind: ConfigMap\n"
                          "metadata: {name: two, namespace: default}\n")
        self.serve("--load", path)
        code, out, err = self.call("get", "cm", "-o", "name")
        self.assertEqual((code, out, err), (0, "configmap/one\nconfigmap/two\n", ""))
        run = self.start("watch", "cm", "-o", "wide")
        run.until("default/two")
        self.ask("POST", "/api/v1/namespaces/default/configmaps", self.config_map("three", x="1"))
        run.until("default/three")
        self.ask("PATCH", "/api/v1/namespaces/default/configmaps/one",
                 {"data": {"a": "2", "b": None}}, "application/merge-patch+json")
        self.assertIn("data.a: 1 -> 2", run.until("~")[0])
        self.ask("DELETE", "/api/v1/namespaces/default/configmaps/two")
        self.assertIn("default/two", run.until("- ")[0])
        self.assertEqual(run.end()[0], 0)

    def test_a_watch_survives_what_goes_wrong(self):
        self.serve()
        run = self.start("watch", "cm", "-o", "json", "--stats=json")
        maps = "/api/v1/namespaces/default/configmaps"
        known = {}
        self.ask("POST", maps, self.config_map("first"))
        run.until('"first"')
        self.ask("POST", "/kinformer/faults", "cut=3000,verb=watch,times=3",
                 "text/plain")
        for i in range(60):
            self.ask("POST", maps, self.config_map(f"m{i:02}", x="x" * 100))
            if i % 20 == 10:
                self.ask("POST", "/kinformer/cut")
            if i % 20 == 15:
                self.ask("POST", "/kinformer/expire")
                self.ask("POST", "/kinformer/drop-watches")
        self.ask("DELETE", maps + "/m00")
        self.ask("DELETE", maps + "/first")
        known["first"] = None
        while len(known) < 59 or "first" in known or "m00" in known:
            event = json.loads(run.until("{")[-1])
            name = event["object"]["metadata"]["name"]
            if event["type"] == "DELETED":
                del known[name]
            else:
                known[name] = event["object"]
        run.until_error("synced after")
        code, _, err = run.end()
        self.assertEqual(code, 0)
        self.assertEqual(json.loads(err[-1])["objects"], 59)

    def test_fields_of_a_newer_server_are_in_every_output(self):
        self.serve("--fault", "unknown-field")
        self.ask("POST", "/api/v1/namespaces/default/configmaps", self.config_map("one", a="1"))
        notice = ("kinformer: configmaps: default/one: object has fields without a "
                  "schema; switching from protobuf to JSON\n")
        value = "of a newer API"
        for words in (["get", "cm", "-o", "json"], ["get", "cm", "one", "-o", "yaml"],
                      ["get", "cm", "one", "-o", "jsonpath={.unknownField}"],
                      ["get", "cm", "-o", "custom-columns=X:.unknownField"],
                      ["get", "cm", "-o", "json", "--where", f".unknownField={value}"],
                      ["watch", "cm", "-o", "json", "--until-synced"],
                      ["run", "cm", "--once", "--exec=cat"]):
            code, out, err = self.call(*words)
            self.assertEqual((code, err), (0, notice), words)
            self.assertIn(value, out, words)
        code, out, err = self.call("top", "cm", "--count=1", "--interval=500ms")
        self.assertEqual((code, err), (0, notice))
        self.assertIn("configmaps state=watching objects=1", out)
        self.assertNotIn("reason=", out)

    def test_a_watch_changes_to_json_when_a_newer_server_takes_over(self):
        self.serve()
        maps = "/api/v1/namespaces/default/configmaps"
        self.ask("POST", maps, self.config_map("one", a="1"))
        run = self.start("watch", "cm", "-o", "json")
        run.until('"one"')
        self.ask("POST", "/kinformer/faults", {"faults": ["unknown-field"]})
        self.ask("POST", "/kinformer/cut")
        self.ask("POST", maps, self.config_map("two", a="1"))
        lines = run.until('"two"')
        self.assertEqual(len(lines), 1)
        self.assertEqual(json.loads(lines[0])["object"]["unknownField"], "of a newer API")
        self.ask("DELETE", maps + "/two")
        lines = run.until('"DELETED"')
        self.assertEqual(len(lines), 1)
        self.assertEqual(json.loads(lines[0])["object"]["unknownField"], "of a newer API")
        code, _, err = run.end()
        self.assertEqual((code, sum("without a schema" in line for line in err)), (0, 1), err)

    def test_tls_and_token(self):
        self.serve("--tls", "--token", "secret")
        self.assertTrue(self.url.startswith("https://"))
        self.assertEqual(oct(os.stat(self.kubeconfig).st_mode & 0o777), "0o600")
        code, out, err = self.call("get", "ns", "default", "-o", "name")
        self.assertEqual((code, out, err), (0, "namespace/default\n", ""))
        self.assertEqual(self.call("get", "ns", "--token", "wrong")[0], 4)

    def status_by_name(self, host):
        """Of a request to the server under this name, as a rebound web page sends it."""
        address = self.url.split("//")[1]
        connection = http.client.HTTPConnection(address, timeout=60)
        try:
            connection.request("GET", "/api/v1/secrets", headers={"Host": host})
            return connection.getresponse().status
        finally:
            connection.close()

    def test_other_names_are_refused_unless_allowed(self):
        self.serve("--allow-host", "api.example", "--allow-host", "10.0.0.1")
        found = {host: self.status_by_name(host) for host in
                 ("localhost", "api.example:80", "10.0.0.1", "10.0.0.2", "evil.example")}
        self.assertEqual(found, {"localhost": 200, "api.example:80": 200, "10.0.0.1": 200,
                                 "10.0.0.2": 403, "evil.example": 403})

    def test_a_controller_on_it(self):
        self.serve()
        self.ask("POST", "/api/v1/namespaces/default/configmaps", self.config_map("one"))
        run = self.start("run", "cm", "--exec", "sh", "-c",
                         "echo $KINFORMER_EVENT $KINFORMER_KEY")
        run.until("add default/one")
        self.ask("DELETE", "/api/v1/namespaces/default/configmaps/one")
        run.until("delete default/one")
        self.assertEqual(run.end(), (0, [], []))

    def test_hostile_values_over_protobuf(self):
        self.serve()
        value = self.config_map("one")
        value["data"] = {"k": "x\x1b[2J\u202e\x9b1m\n\x7f"}
        value["metadata"]["annotations"] = {"a": "\x1b]0;owned\x07"}
        self.ask("POST", "/api/v1/namespaces/default/configmaps", value)
        for words in (["-o", "json"], ["-o", "jsonpath={.items[*].data}{.items[*].data.k}"],
                      ["-o", "custom-columns=A:.metadata.annotations,D:.data.k"]):
            code, out, _ = self.call("get", "cm", *words)
            self.assertEqual(code, 0)
            self.assertIsNone(CONTROLS.search(out), repr(out))
        printed = json.loads(self.call("get", "cm", "one", "-o", "json")[1])
        self.assertEqual(printed["data"], value["data"])
        self.assertEqual(self.call("get", "cm", "one", "--raw", "-o", "jsonpath={.data.k}")[1],
                         value["data"]["k"])

    def test_a_kubeconfig_of_a_person_is_left_alone(self):
        theirs = self.write("config", "apiVersion: v1\nkind: Config\n")
        code, _, err = self.call("apiserver", "--kubeconfig-out", theirs)
        self.assertEqual(code, 1)
        self.assertIn(": exists and was not written by kinformer; not overwriting it", err)
        with open(theirs, encoding="utf-8") as file:
            self.assertEqual(file.read(), "apiVersion: v1\nkind: Config\n")

    def test_output_that_cannot_be_written_is_reported(self):
        with open("/dev/full", "wb") as full:
            done = subprocess.run([cli_testing.PROGRAM, "apiserver"], stdout=full,
                                  stderr=subprocess.PIPE, timeout=cli_testing.WAIT, check=False)
        self.assertEqual((done.returncode, done.stderr),
                         (1, b"kinformer: cannot write: No space left on device\n"))

    def path(self, name):
        return os.path.join(self.folder.name, name)

    def refused(self, path):
        code, out, err = self.call("apiserver", "--token", "secret", "--kubeconfig-out", path)
        self.assertEqual((code, out), (1, ""))
        return err

    def test_a_token_is_only_written_where_nobody_else_reads_it(self):
        target = self.write("target", "")
        link = self.path("link")
        os.symlink(target, link)
        self.assertIn("a symbolic link", self.refused(link))
        os.symlink(self.path("nothing"), self.path("dangling"))
        self.assertIn("a symbolic link", self.refused(self.path("dangling")))
        self.assertIn("not a regular file", self.refused(self.path("")))
        os.mkfifo(self.path("fifo"))
        self.assertIn("not a regular file", self.refused(self.path("fifo")))
        if os.geteuid() == 0:
            theirs = self.write("theirs", "")
            os.chown(theirs, 65534, 65534)
            self.assertIn("owned by another user", self.refused(theirs))
            self.assertEqual(os.stat(theirs).st_size, 0)
        self.assertEqual(os.stat(target).st_size, 0)
        self.assertFalse(os.path.exists(self.path("nothing")))

    def test_its_own_kubeconfig_is_replaced_as_a_whole(self):
        path = self.path("own")
        other = self.path("hard-link")
        before = set(os.listdir(self.path("")))
        for token in ("one", "two"):
            run = self.start("apiserver", "--token", token, "--kubeconfig-out", path)
            run.until("http")
            with open(path, encoding="utf-8") as file:
                self.assertIn(f'"token":"{token}"', file.read().replace(" ", ""))
            self.assertEqual(oct(os.stat(path).st_mode & 0o777), "0o600")
            run.end()
            if token == "one":
                os.chmod(path, 0o666)
                os.link(path, other)  # who holds the old file does not see the new token
        with open(other, encoding="utf-8") as file:
            self.assertNotIn("two", file.read())
        self.assertEqual(set(os.listdir(self.path(""))) - before, {"own", "hard-link"})

    def test_load_says_where(self):
        for text, place in (("kind: ConfigMap\napiVersion: v1\nmetadata: {name: a}\n---\n"
                             "data: [\n", ":6:1: "),
                            ("\n# x\nkind: Nothing\napiVersion: v1\n", ":3:1: "),
                            ('{"kind": "ConfigMap",\n "a" 1}', ":2:6: ")):
            path = self.write("load", text)
            code, _, err = self.call("apiserver", "--load", path)
            self.assertEqual(code, 1)
            self.assertTrue(err.startswith(f"kinformer: {path}{place}"), err)

    def test_invalid_arguments_are_reported(self):
        bad = self.write("bad.json", '{"kind": "Nothing", "apiVersion": "v1"}')
        for words in (["--listen", "nowhere"], ["--fault", "nonsense"], ["--load", bad],
                      ["--load", "/no/such/file"]):
            code, out, err = self.call("apiserver", *words)
            self.assertEqual((code, out), (1, ""), words)
            self.assertTrue(err.startswith("kinformer: "), err)
        code, _, err = self.call("apiserver", "--load", "-", text="{")
        self.assertEqual(code, 1)


if __name__ == "__main__":
    cli_testing.main()
