#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""`kinformer top --advise`, and the memory that `top` shows."""
import json
import re

import cli_testing
from cli_testing import Case, on_terminal

CONTROLS = re.compile("[\x00-\x09\x0b-\x1f\x7f-\x9f\u202a-\u202e]")
KEEP = ".metadata.labels['app'],.data.a"


class OnServer(cli_testing.Served):
    """Objects of a built-in kind, which arrive as protobuf."""

    def serve_maps(self, count):
        items = []
        for i in range(count):
            item = self.config_map(f"m{i:05}", a="1", b="x" * 900, c=f"{i}-" * 20)
            item["metadata"]["labels"] = {"app": "web", "pod-template": f"{i:09}"}
            item["metadata"]["annotations"] = {"example.com/a": "y" * 300}
            items.append(item)
        whole = {"apiVersion": "v1", "kind": "List", "items": items}
        self.serve("--load", self.write("maps.json", json.dumps(whole)))

    def advise(self, *words):
        code, out, err = self.call("top", "--advise", "cm", *words)
        self.assertEqual((code, err), (0, ""))
        return out

    def top_until(self, pattern, *words):
        """The first line of `top` with this; it is killed if there is none."""
        run = self.start("top", "cm", "--interval=200ms", *words)
        while True:
            line = run.until("configmaps")[-1]
            if re.search(pattern, line):
                self.assertEqual(run.end()[0], 0)
                return line

    def test_fields_and_options_are_measured(self):
        self.serve_maps(300)
        found, = json.loads(self.advise("-o", "json", "--keep", KEEP, "--drop", ".data.b"))
        self.assertEqual((found["resource"], found["objects"], found["measuredObjects"],
                          found["encoding"]), ("configmaps", 300, 300, "protobuf"))
        self.assertEqual(sum(field["bytes"] for field in found["fields"]), found["bytes"])
        self.assertEqual(found["fields"][0]["path"], ".data.b")
        self.assertEqual(found["fields"][0]["values"], 300)
        self.assertEqual(found["fields"][0]["bytes"], 300 * (900 + 9))  # tags and lengths
        self.assertIn(".metadata.annotations['example.com/a']",
                      [field["path"] for field in found["fields"]])
        sizes = {option["option"]: option["totalBytes"] for option in found["options"]}
        packed = {name for name in sizes if name.endswith("--packed")}
        self.assertEqual(set(sizes) - packed,
                         {"", "--drop=usual", "--drop=.data.b",
                          f"--keep={KEEP} --drop=.data.b"})
        self.assertIn(len(packed), (0, 4))  # without libzstd, none
        whole = sizes[""]
        self.assertGreaterEqual(whole, found["bytes"])
        # 900 bytes, and what is around them; memory of objects is rounded in steps of 1/64
        self.assertAlmostEqual(whole - sizes["--drop=.data.b"], 300 * 910, delta=300 * 40)
        self.assertLess(sizes[f"--keep={KEEP} --drop=.data.b"], whole / 3)
        for option in found["options"]:
            self.assertEqual(option["dictionaryBytes"] != 0, option["packed"])
            self.assertEqual(option["totalBytes"],
                             option["objectBytes"] + option["dictionaryBytes"])
        objects = {option["option"]: option["objectBytes"] for option in found["options"]}
        if packed:
            self.assertLess(objects["--packed"], whole / 2)

    def test_what_is_measured_is_what_a_cache_then_needs(self):
        self.serve_maps(300)
        found, = json.loads(self.advise("-o", "json", "--keep", KEEP))
        sizes = {option["option"]: option["objectBytes"] for option in found["options"]}
        for option in sizes:
            words = [word for word in option.split(" ") if word]
            line = self.top_until("objects=300 .* queue_bytes=0 ", *words)
            needed = int(re.search(r" object_bytes=(\d+) ", line).group(1))
            # a store does not count the strings behind the bytes of an object, nor rounding
            self.assertLessEqual(needed, sizes[option], option)
            self.assertGreater(needed, sizes[option] - 300 * 80, option)

    def test_text_is_stable_and_fits(self):
        self.serve_maps(120)
        out = self.advise("--keep", ".data.a")
        self.assertEqual(out, self.advise("--keep", ".data.a"))
        lines = out.splitlines()
        self.assertEqual(lines[0], "configmaps: 120 objects, received as protobuf")
        self.assertLessEqual(max(map(len, lines)), 80)
        rows = [re.match(r" *([\d.]+)% +[\d.]+ [kM]?B +[\d.]+ [kM]?B  (\S.*)$", line)
                for line in lines]
        rows = [(float(row.group(1)), row.group(2)) for row in rows if row]
        split = rows.index((100.0, "whole objects"))
        shares = [share for share, _ in rows[:split]]
        self.assertAlmostEqual(sum(shares), 100, delta=1)
        self.assertEqual(shares, sorted(shares, reverse=True))
        self.assertEqual(rows[0][1], ".data.b")
        self.assertIn("--keep=.data.a", [name for _, name in rows[split:]])

    def test_of_very_many_objects_a_sample_is_measured(self):
        self.serve_maps(10500)
        out = self.advise()
        self.assertIn("\nmeasured: a sample of 10,000; numbers for all are extrapolated\n", out)
        found, = json.loads(self.advise("-o", "json"))
        self.assertEqual((found["objects"], found["measuredObjects"]), (10500, 10000))
        whole = found["options"][0]
        self.assertAlmostEqual(whole["totalBytes"], whole["objectBytes"] * 1.05, delta=2)

    def test_nothing_to_measure(self):
        self.serve()
        self.assertEqual(self.advise(), "configmaps: 0 objects: nothing to measure\n")
        found, = json.loads(self.advise("-o", "json"))
        self.assertEqual((found["objects"], found["fields"]), (0, []))

    def test_a_cache_over_its_limit_is_shown(self):
        self.serve_maps(300)
        line = self.top_until(" over_limit=true ", "--max-bytes=100k")
        self.assertRegex(line, r" reason=\"max_bytes of the factory: ")
        seen, code = on_terminal("top", "cm", "--interval=200ms", "--max-bytes=100k",
                                 "--kubeconfig", self.kubeconfig, columns=80,
                                 until=b"over limit", signals=(b"q",))
        self.assertEqual(code, 0)
        self.assertIn("\x1b[31mover limit\x1b[0m", seen)
        self.assertIn("limit 100.0 kB\r\n", seen)
        line = self.top_until("state=watching objects=300 ", "--max-bytes=10Mi")
        self.assertNotIn("over_limit", line)

    def test_memory_of_caches_is_shown(self):
        self.serve_maps(300)
        line = self.top_until("state=watching objects=300 .* queue_bytes=0 ")
        found = {name: int(number) for name, number in re.findall(r"(\w+)=(\d+)(?= )", line)}
        self.assertEqual(found["memory"], found["object_bytes"] + found["index_bytes"] +
                         found["version_bytes"] + found["queue_bytes"])
        self.assertGreater(found["object_bytes"], 300 * 1200)
        self.assertGreater(found["index_bytes"], 0)
        row = r"configmaps +[\d.]+ kB +[\d.]+ kB +0 B +0 B +[\d.]+ kB +-\r\n"
        seen, code = on_terminal("top", "cm", "ns", "--interval=200ms", "--kubeconfig",
                                 self.kubeconfig, columns=80, until=b" kB         -\r\n",
                                 signals=(b"q",))
        self.assertEqual(code, 0)
        self.assertRegex(seen, "MEMORY +OBJECTS +INDEXES +READERS +QUEUES +TOTAL +SNAPSHOT\r\n")
        self.assertRegex(seen, row)
        self.assertRegex(seen, r"all +[\d.]+ kB ")


class OnJson(Case):
    """Objects of a custom resource, which arrive as JSON."""

    def test_names_of_fields_are_escaped(self):
        self.server.put("widgets", "shop", "w",
                        spec={"\x1b[31mred\u202e\n'x": "y" * 500, "list": [{"a": 1}] * 50})
        code, out, err = self.call("top", "--advise", "widgets")
        self.assertEqual((code, err), (0, ""))
        self.assertIn("widgets.example.com: 1 object, received as JSON\n", out)
        self.assertIsNone(CONTROLS.search(out))
        self.assertIn(r".spec['\x1b[31mred\u202e\n\'x']", out)
        self.assertIn(".spec.list[*].a\n", out)
        code, out, _ = self.call("top", "--advise", "widgets", "-o", "json")
        self.assertIsNone(CONTROLS.search(out))
        found, = json.loads(out)
        paths = [field["path"] for field in found["fields"]]
        self.assertIn(".spec['\x1b[31mred\u202e\\n\\'x']", paths)
        self.assertEqual(sum(field["bytes"] for field in found["fields"]), found["bytes"])

    def test_several_resources(self):
        self.pod("a")
        self.server.put("widgets", "shop", "w")
        code, out, _ = self.call("top", "--advise", "pods,widgets", "-o", "json")
        self.assertEqual(code, 0)
        self.assertEqual([found["resource"] for found in json.loads(out)],
                         ["pods", "widgets.example.com"])

    def test_the_command_line_is_checked(self):
        for words, text in ((["--advise"], "--advise: RESOURCE missing"),
                            (["--advise", "pods", "-o", "yaml"], "--output: must be json"),
                            (["pods", "-o", "json"], "--output: must be json, with --advise"),
                            (["--advise", "pods", "--keep", ".a["], ".a["),
                            (["pods", "--max-bytes=1.5G"], "a number of bytes such as"),
                            (["pods", "--max-bytes=1T"], "a number of bytes such as")):
            code, out, err = self.call("top", *words)
            self.assertEqual((code, out), (2, ""), words)
            self.assertIn(text, err)


if __name__ == "__main__":
    cli_testing.main()
