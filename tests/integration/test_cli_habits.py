#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What users of kubectl expect of `get` and its options, on the embedded server."""
import json

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


if __name__ == "__main__":
    cli_testing.main()
