#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""`kinformer gen-views`: where definitions come from, what the header depends on, names, limits,
and what is refused. Whether headers compile: tests/checks/gen_views_compile.py; what their
functions read: tests/unit/test_crd_views.c."""
import json
import os
import re
import stat
import sys
import threading
import unittest

import cli_testing

TESTS = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
sys.path.insert(0, os.path.join(TESTS, "support"))
import crd_cases  # pylint: disable=wrong-import-position
from crd_cases import TEXT, definition, list_of, map_of

DATA = os.path.join(TESTS, "data", "crds")
WEBSITE = {"html": TEXT, "replicas": {"type": "integer", "format": "int32", "default": 1}}


class GenViews(cli_testing.Served):
    def put(self, name, value):
        return self.write(name, value if isinstance(value, str) else json.dumps(value))

    def header(self, *words):
        code, out, err = self.call("gen-views", *words)
        self.assertEqual((code, err), (0, ""))
        return out

    def refused(self, value, message, code=1):
        """A definition, or the properties of one, leads to this message, and to no header."""
        if isinstance(value, dict) and "kind" not in value:
            value = definition(value)
        path = self.put("bad.yaml", value)
        output = os.path.join(self.folder.name, "bad.h")
        result = self.call("gen-views", "--output", output, path)
        self.assertEqual(result[:2], (code, ""), result)
        self.assertIn(message, result[2])
        self.assertEqual(len(result[2].splitlines()), 1, result[2])
        self.assertFalse(os.path.exists(output))
        self.assertEqual([name for name in os.listdir(self.folder.name) if "bad.h" in name], [])

    # ---- where definitions come from ----

    def test_files_standard_input_and_the_cluster_give_the_same_header(self):
        path = os.path.join(DATA, "gateway-httproute.yaml")
        header = self.header(path)
        with open(path, encoding="utf-8") as file:
            text = file.read()
        code, out, _ = self.call("gen-views", "-", text=text)
        self.assertEqual((code, out), (0, header))
        self.serve("--load", path)
        self.assertEqual(
            self.header("--from-cluster", "httproutes.gateway.networking.k8s.io"), header)
        code, out, _ = self.call("get", "crd", "-o", "json")
        self.assertEqual(code, 0)
        self.assertEqual(self.header(self.put("list.json", out)), header)
        self.assertEqual(self.header(self.put("object.json", json.loads(out)["items"][0])
                                     if "items" in json.loads(out) else
                                     self.put("object.json", out)), header)

    def test_every_definition_of_the_cluster_gives_the_header_of_its_file(self):
        paths = [os.path.join(DATA, name) for name in sorted(os.listdir(DATA))]
        names = []
        for path in paths:
            with open(path, encoding="utf-8") as file:
                names.append(re.search(r"^  name: (\S+)$", file.read(), re.MULTILINE)[1])
        self.serve(*[word for path in paths for word in ("--load", path)])
        fetched = self.header(*[word for name in names for word in ("--from-cluster", name)])
        self.assertEqual(fetched, self.header(*paths))

    def test_failures_of_the_cluster_have_their_exit_codes(self):
        self.serve()
        code, out, err = self.call("gen-views", "--from-cluster", "none.example.com")
        self.assertEqual((code, out), (3, ""))
        self.assertIn("none.example.com", err)
        code, out, _ = self.call("gen-views", "--from-cluster", "none.example.com",
                                 "--server=http://127.0.0.1:1")
        self.assertEqual((code, out), (5, ""))

    def test_other_objects_of_a_file_are_skipped(self):
        header = self.header(self.put("one.json", definition(WEBSITE)))
        text = "# a file\n---\n---\nkind: Namespace\napiVersion: v1\nmetadata: {name: a}\n---\n" + \
            json.dumps(definition(WEBSITE)) + "\n---\n"
        self.assertEqual(self.header(self.put("many.yaml", text)), header)

    # ---- what the header depends on ----

    def test_the_order_of_definitions_and_fields_does_not_matter(self):
        paths = [os.path.join(DATA, name) for name in sorted(os.listdir(DATA))]
        header = self.header(*paths)
        self.assertEqual(self.header(*reversed(paths)), header)
        self.assertEqual(self.header(*paths), header)
        one = self.put("one.json", definition(WEBSITE))
        other = self.put("other.json", definition(dict(reversed(WEBSITE.items()))))
        self.assertEqual(self.header(one), self.header(other))

    def test_descriptions_and_restrictions_do_not_matter(self):
        plain = self.put("plain.json", definition(WEBSITE))
        more = self.put("more.json", definition(
            {name: {**schema, "description": crd_cases.EVIL, "title": "x", "nullable": True,
                    "maxLength": 3, "x-kubernetes-validations": [{"rule": "true"}]}
             for name, schema in WEBSITE.items()}, description=crd_cases.EVIL))
        self.assertEqual(self.header(plain), self.header(more))

    def test_all_served_versions_are_in_the_header(self):
        value = definition(WEBSITE)
        versions = value["spec"]["versions"]
        versions.append({**versions[0], "name": "v1beta1"})
        versions.append({**versions[0], "name": "v1alpha1", "served": False})
        header = self.header(self.put("a.json", value))
        self.assertIn('KI_VIEW_KIND(ki_example_com_v1_Website, "example.com/v1", "Website")',
                      header)
        self.assertIn("ki_example_com_v1beta1_WebsiteSpec", header)
        self.assertNotIn("v1alpha1", header)

    # ---- names ----

    def test_the_prefix_replaces_the_group_and_the_guard_can_be_chosen(self):
        path = self.put("a.json", definition(WEBSITE))
        header = self.header(path, "--prefix", "web", "--guard", "MY_GUARD_H")
        self.assertIn("KI_VIEW_TYPE(ki_web_v1_WebsiteSpec)", header)
        self.assertIn("namespace web_v1\n", header)
        self.assertIn("#define MY_GUARD_H\n", header)
        self.assertNotIn("example_com", header)
        for words in (["--prefix", "a-b"], ["--prefix", ""], ["--prefix", "1a"],
                      ["--prefix", "a" * 65], ["--guard", "a b"], ["--guard", "1"]):
            code, out, err = self.call("gen-views", path, *words)
            self.assertEqual((code, out), (2, ""), words)
            self.assertIn(words[0] + ": ", err)

    def test_names_follow_the_rules(self):
        def line(properties, wanted):
            self.assertIn(wanted, self.header(self.put("a.json", definition(properties))))
        for name, wanted in {"$ref": 'TEXT_AS(ref, 0, "$ref")', "a-b": 'TEXT_AS(a_b, 0, "a-b")',
                             "3d": 'TEXT_AS(x3d, 0, "3d")', "list": 'TEXT_AS(list_, 0, "list")',
                             "é": 'TEXT_AS(field, 0, "\\303\\251")', "default": "TEXT(default, 0)",
                             "class": "TEXT(class, 0)", "EOF": 'TEXT_AS(EOF_, 0, "EOF")',
                             "ki_x": 'TEXT_AS(xki_x, 0, "ki_x")'}.items():
            line({name: TEXT}, "KI_VIEW_" + wanted)
        line({"a-b": TEXT, "a_b": TEXT}, 'TEXT_AS(a_b_2, 0, "a-b")')
        line({"a-b": TEXT, "a_b": TEXT, "a.b": TEXT}, 'TEXT_AS(a_b_3, 0, "a.b")')
        line({"get_x": TEXT, "x": TEXT}, 'TEXT_AS(get_x_2, 0, "get_x")')
        line({"value": TEXT, "value_": TEXT}, 'TEXT_AS(value__2, 0, "value_")')
        inner = {"type": "object", "properties": {"c": {"type": "object",
                                                        "properties": {"d": TEXT}}}}
        line({"b": inner, "bC": inner}, "KI_VIEW_TYPE(ki_example_com_v1_WebsiteSpecBC2)")

    def test_groups_that_become_the_same_name_share_it(self):
        header = self.header(self.put("a.json", definition(WEBSITE, group="a.b")),
                             self.put("b.json", definition(WEBSITE, group="a-b")))
        self.assertIn('KI_VIEW_KIND(ki_a_b_v1_Website, "a-b/v1", "Website")', header)
        self.assertIn('KI_VIEW_KIND(ki_a_b_v1_Website2, "a.b/v1", "Website")', header)

    def test_words_of_cpp_are_those_of_the_macros(self):
        root = os.path.dirname(TESTS)
        with open(os.path.join(root, "src/cli/genviews/view_names.c"), encoding="utf-8") as file:
            known = re.search(r"cpp_words\[\] = \{(.*?)\n\}", file.read(), re.DOTALL)[1]
        with open(os.path.join(root, "include/kinformer/cpp/view_macros.inc"),
                  encoding="utf-8") as file:
            macros = re.findall(r"#define KI_CPP_WORD_(\w+) ~, (\w+)_\n", file.read())
        words = re.findall(r'"(\w+)"', known)
        self.assertEqual(words, sorted(words))
        self.assertEqual([(word, word) for word in words], sorted(macros))

    # ---- the file ----

    def test_the_file_is_replaced_at_once(self):
        path = self.put("a.json", definition(WEBSITE))
        header = self.header(path)
        output = self.write("a.h", "old")
        old = os.umask(0o027)
        try:
            self.assertEqual(self.header(path, "--output", output), "")
        finally:
            os.umask(old)
        with open(output, encoding="utf-8") as file:
            self.assertEqual(file.read(), header)
        self.assertEqual(stat.S_IMODE(os.stat(output).st_mode), 0o640)
        code, _, err = self.call("gen-views", path, "--output", os.path.join(output, "x.h"))
        self.assertEqual(code, 1)
        self.assertIn("x.h: Not a directory", err)

    def test_a_reader_never_sees_a_part_of_it(self):
        path = os.path.join(DATA, "prometheus-prometheus.yaml")
        header = self.header(path)
        output = self.write("a.h", header)
        seen, done = set(), threading.Event()

        def read():
            while not done.is_set():
                with open(output, encoding="utf-8") as file:
                    seen.add(file.read())
        reader = threading.Thread(target=read)
        reader.start()
        for _ in range(20):
            self.header(path, "--output", output)
        done.set()
        reader.join()
        self.assertEqual(seen, {header})

    # ---- what is refused ----

    def test_schemas_that_cannot_be_expressed_are_refused_with_their_place(self):
        place = "bad.yaml: websites.example.com v1: spec."
        for schema, why in (
                ({}, "type: missing"), ({"type": "strng"}, "type: must be string, integer"),
                ({"type": ["string", "null"]}, "type: must be string, integer"),
                ({"type": "array"}, "items: missing"),
                ({"type": "array", "items": [TEXT]}, "items: must be one schema"),
                ({"$ref": "#/x"}, "$ref: references are not supported"),
                (3, "not a schema"), (list_of(list_of(7)), "items: must be one schema"),
                ({"type": "object", "properties": [1]}, "properties: must be a map"),
                ({**map_of(TEXT), "properties": {"a": TEXT}},
                 "properties and additionalProperties are mutually exclusive"),
                (map_of(False), "additionalProperties: must be a schema or true"),
                (map_of(7), "additionalProperties: must be a schema or true"),
                ({**TEXT, "default": 1}, "default: must be a string"),
                ({"type": "boolean", "default": "x"}, "default: must be true or false"),
                ({"type": "integer", "default": 1.5}, "default: must be an integer"),
                ({"type": "integer", "default": 2**63}, "default: must be an integer"),
                ({"type": "integer", "format": "int32", "default": 2**31},
                 "default: exceeds 32 bits"),
                ({"type": "number", "default": "x"}, "default: must be a number")):
            self.refused({"f": schema}, place + "f: " + why)
            self.refused({"a": list_of({"type": "object", "properties": {"f": schema}})},
                         place + "a[].f: " + why)
        self.refused({"a": map_of({"type": "object", "properties": {"f": {}}})},
                     place + "a[*].f: type: missing")

    def test_definitions_that_are_none_are_refused(self):
        def changed(**spec):
            value = definition(WEBSITE)
            value["spec"].update(spec)
            return value
        start = "bad.yaml: websites.example.com: "
        self.refused(changed(group="a b"), start + "spec.group: not a DNS name")
        self.refused(changed(group='"; int x; "'), start + "spec.group: not a DNS name")
        self.refused(changed(names={"kind": "a b"}), start + "spec.names.kind: not a name")
        self.refused(changed(names={}), start + "spec.names.kind: not a name")
        self.refused(changed(versions=None), start + "spec.versions: missing")
        self.refused(changed(versions=[]), start + "spec.versions: none is served")
        self.refused(changed(versions=[{"name": "v*/"}]), "invalid or missing name")
        self.refused(changed(versions=[{"name": "v1"}]), "v1: openAPIV3Schema: missing")
        self.refused(changed(versions=[{"name": "v1", "schema": {"openAPIV3Schema": TEXT}}]),
                     "v1: type: must be object")
        self.refused({**definition(WEBSITE), "apiVersion": "apiextensions.k8s.io/v1beta1"},
                     "apiVersion: must be apiextensions.k8s.io/v1")
        self.refused("kind: Pod\napiVersion: v1\nmetadata: {name: a}\n",
                     "bad.yaml: no CustomResourceDefinition")
        self.refused("", "bad.yaml: no CustomResourceDefinition")
        self.refused("a: [\n", "bad.yaml:2:1: ")
        self.refused("\n\n---\na: &x 1\n", "bad.yaml:4:")
        path = self.put("a.json", definition(WEBSITE))
        code, _, err = self.call("gen-views", path, path)
        self.assertEqual((code, err.count("defined twice")), (1, 1))
        self.assertEqual(self.call("gen-views")[0], 2)
        code, _, err = self.call("gen-views", os.path.join(self.folder.name, "none.yaml"))
        self.assertEqual(code, 1)
        self.assertIn("none.yaml: No such file", err)

    def test_what_grows_has_limits(self):
        self.refused({"a" * 10000: TEXT}, "name: empty, too long, or with NUL")
        self.refused({"": TEXT}, "name: empty, too long, or with NUL")
        self.refused({"a\x00b": TEXT}, "name: empty, too long, or with NUL")
        self.refused({f"f{i}": TEXT for i in range(50001)}, "too many fields")
        self.refused({"-" * i: TEXT for i in range(1, 200)}, "too many fields with similar names")
        self.refused({"f": {**TEXT, "enum": ["-" * i for i in range(1, 200)]}},
                     "too many similar values of enum")
        schema = TEXT
        for _ in range(20):
            schema = {"type": "object", "properties": {"a" * 100: schema}}
        self.refused({"f": schema}, "name of its type: too long")
        schema = TEXT
        for _ in range(70):
            schema = {"type": "object", "properties": {"a": schema}}
        self.refused({"f": schema}, "nested too deep")

    def test_messages_about_untrusted_names_are_harmless(self):
        code, _, err = self.call("gen-views", self.put("a.json", definition(
            {"\x1b[31m\n\u202e" + "x" * 60: {}})))
        self.assertEqual(code, 1)
        self.assertNotRegex(err.removesuffix("\n"), "[\x00-\x1f\u202e]")


if __name__ == "__main__":
    cli_testing.main()
