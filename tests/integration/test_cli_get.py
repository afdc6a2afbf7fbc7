#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""`kinformer get` against a scripted API server."""
import json

import cli_testing
from cli_testing import Case


class Get(Case):
    def setUp(self):
        super().setUp()
        for i, (app, node) in enumerate((("web", "n1"), ("sql", "n2"), ("web", "n2"))):
            self.server.put("pods", "shop", f"p{i}", metadata={"labels": {"app": app}},
                            spec={"nodeName": node, "priority": i}, status={"phase": "Running"})

    def names(self, *words):
        code, out, _ = self.call("get", "pods", "-o", "name", *words)
        self.assertEqual(code, 0)
        return out.replace("pod/", "").split()

    def test_columns(self):
        self.assertEqual(self.call("get", "pods", "p0"), (0, (
            "NAME   READY   STATUS    RESTARTS   AGE\n"
            "p0     0/0     Running   0          <unknown>\n"), ""))
        code, out, _ = self.call("get", "pods", "-A", "--no-headers")
        self.assertEqual((code, [line.split()[:2] for line in out.splitlines()]),
                         (0, [["shop", "p0"], ["shop", "p1"], ["shop", "p2"]]))

    def test_several_resources(self):
        self.server.put("widgets", "shop", "w")
        code, out, _ = self.call("get", "pods,widgets")
        self.assertEqual(code, 0)
        self.assertEqual(len(out.split("\n\n")), 2)
        self.assertTrue(out.startswith("NAME     READY   "), out)
        self.assertIn("\npod/p0   0/0 ", out)
        self.assertTrue(out.split("\n\n")[1].startswith("NAME                   AGE\n"
                                                        "widget.example.com/w   "), out)

    def test_names(self):
        self.assertEqual(self.names("p2", "p0"), ["p0", "p2"])
        self.assertEqual(self.call("get", "pod/p1", "-o", "name"), (0, "pod/p1\n", ""))
        self.assertIn("fieldSelector=metadata.name%3Dp1", self.server.asked[-1])
        code, out, err = self.call("get", "pods", "p1", "zz", "-o", "name")
        self.assertEqual((code, out), (3, "pod/p1\n"))
        self.assertIn('pods "zz" not found', err)
        for wrong in (("pod/p1", "svc"), ("pods", "svc/x"), ("pod/",), ("/x",), ("pod/a/b",)):
            self.assertEqual(self.call("get", *wrong)[0], 2, wrong)

    def test_nothing(self):
        code, out, err = self.call("get", "cm")
        self.assertEqual((code, out, err), (0, "", "kinformer: no configmaps found\n"))

    def test_where_asks_an_index(self):
        self.assertEqual(self.names("--where", ".spec.nodeName=n2"), ["p1", "p2"])
        self.assertEqual(self.names("--where", ".spec.nodeName=n2", "--where",
                                    ".metadata.labels.app=web"), ["p2"])
        self.assertEqual(self.names("--where", ".spec.nodeName=n2", "--where",
                                    ".spec.nodeName=n1"), [])
        self.assertEqual(self.names("--where", ".spec.priority=1"), ["p1"])
        self.assertEqual(self.names("--where", ".spec.nodeName=none"), [])
        for wrong in ("x", "=x", ".a[=x"):
            self.assertEqual(self.call("get", "pods", "--where", wrong)[0], 2)

    def test_by_label(self):
        self.assertEqual(self.names("--by-label", "app"), ["p1", "p0", "p2"])
        self.assertEqual(self.names("--by-label", "app=web"), ["p0", "p2"])
        self.assertEqual(self.names("--by-label", "app=web", "--where", ".spec.nodeName=n2"),
                         ["p2"])
        self.assertEqual(self.names("--by-label", "missing"), [])
        code, out, _ = self.call("get", "pods", "--by-label", "app")
        self.assertEqual(code, 0)
        self.assertEqual([line.split()[-1] for line in out.splitlines()],
                         ["app", "sql", "web", "web"])

    def test_json(self):
        code, out, _ = self.call("get", "pods", "-o", "json")
        printed = json.loads(out)
        self.assertEqual((code, printed["kind"], len(printed["items"])), (0, "List", 3))
        self.assertEqual(printed["items"][0]["kind"], "Pod")
        code, out, _ = self.call("get", "pods", "p1", "-o", "json")
        self.assertEqual(json.loads(out)["metadata"]["name"], "p1")
        self.assertEqual(json.loads(self.call("get", "cm", "-o", "json")[1])["items"], [])

    def test_jsonpath_is_of_the_list_or_the_object(self):
        text = '{range .items[*]}{.metadata.name}{"\\n"}{end}'
        self.assertEqual(self.call("get", "pods", "-o", "jsonpath=" + text)[1], "p0\np1\np2\n")
        self.assertEqual(self.call("get", "pods", "-o", "jsonpath={.items[*].spec.nodeName}")[1],
                         "n1 n2 n2")
        self.assertEqual(self.call("get", "pods", "p1", "-o", "jsonpath={.spec.nodeName}")[1],
                         "n2")

    def test_custom_columns(self):
        code, out, _ = self.call("get", "pods", "-o", "custom-columns=N:.metadata.name,X:.x")
        self.assertEqual((code, out.splitlines()[1].split()), (0, ["p0", "<none>"]))

    def test_skipped_objects_have_an_exit_code_of_their_own(self):
        self.server.put("pods", "shop", "bad", metadata={"annotations": 5})
        skipped = "kinformer: 1 object could not be decoded and was skipped\n"
        for words in (["get", "pods"], ["get", "pods", "-o", "json"],
                      ["watch", "pods", "--until-synced"], ["run", "pods", "--once", "--exec=cat"]):
            code, out, err = self.call(*words)
            self.assertEqual(code, 6, (words, err))
            self.assertIn("p0", out)
            self.assertNotIn("bad", out)
            self.assertIn("kinformer: pods: shop/bad: ", err)
            self.assertTrue(err.endswith(skipped), err)

    def test_timeout(self):
        self.server.refused["pods"] = (500, "InternalError", "oh no")
        code, _, err = self.call("get", "pods", "--request-timeout", "500ms")
        self.assertEqual(code, 5)
        self.assertIn("oh no", err)


if __name__ == "__main__":
    cli_testing.main()
