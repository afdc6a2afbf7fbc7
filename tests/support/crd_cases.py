# SPDX-License-Identifier: Apache-2.0
"""Definitions for the tests of gen-views: small ones, and one with names, descriptions, defaults
and values that try to get into the header as code."""
import itertools


def definition(properties, group="example.com", kind="Website", version="v1", **schema):
    root = {"type": "object", "properties": {"spec": {"type": "object", "properties": properties}}}
    return {
        "apiVersion": "apiextensions.k8s.io/v1", "kind": "CustomResourceDefinition",
        "metadata": {"name": f"{kind.lower()}s.{group}"},
        "spec": {
            "group": group, "scope": "Namespaced",
            "names": {"kind": kind, "plural": kind.lower() + "s", "singular": kind.lower(),
                      "listKind": kind + "List"},
            "versions": [{"name": version, "served": True, "storage": True,
                          "schema": {"openAPIV3Schema": {**root, **schema}}}]}}


TEXT = {"type": "string"}
EVIL = '*/ int INJECTED; /* \n#include "INJECTED"\n#define INJECTED\n"; int INJECTED; //\\'
# Words of C and C++, macros, names of generated functions, and names that other names become.
NAMES = """
default linux unix errno assert stdin stdout NULL EOF bool int class namespace template operator
new delete this value value_ get of exists typed view_base text Late ki_Late R ki detail std
int32_t ki_value KI_T KI_VIEW_TEXT list map edit list_count map_get edit_x has_x get_x x set_x
x_json set_x_json remove_x copy_x add_x a-b a_b a.b a/b $ref $schema _x __x 3scale 日本 é 😀 ---
true false and or not xor INT_MAX DEBUG if else while for return goto switch case static extern
const volatile register sizeof typedef struct union enum signed unsigned short long float double
char void auto inline restrict typeof asm _Bool Bool Generic noexcept static_assert size_t
int64_t view number name f ret wanted key has set put remove copy add ki_example_v1_Bad
KI_CPP_NAME edit_of edit_new of_ typed_edit place child self at str field_text edit_base
plain_text N B time flag given
""".split()
EVIL_NAMES = [
    '"', "\\", "*/ int INJECTED; /*", '\n#include "/etc/passwd"\n', "a\\\nb", "??/", "%s%n",
    "x); int INJECTED(void) { return 0; } (", "\x1b[31m", "#define INJECTED 1", "/*",
    "//", "\u2028", "\u202e", '"); system("INJECTED"); ("', 'R"(x)"', "a" * 255,
    "INJECTED", "\t", "'", "é" * 127]


def keyed(key):
    return {"type": "array", "x-kubernetes-list-type": "map", "x-kubernetes-list-map-keys": [key],
            "items": {"type": "object", "required": [key], "properties": {key: TEXT, "text": TEXT}}}


def list_of(items):
    return {"type": "array", "items": items}


def map_of(values):
    return {"type": "object", "additionalProperties": values}


SHAPES = [
    TEXT, {"type": "integer", "format": "int32"}, {"type": "integer"}, {"type": "number"},
    {"type": "boolean"}, {**TEXT, "format": "date-time"}, {**TEXT, "format": "byte"},
    {"x-kubernetes-int-or-string": True}, {"x-kubernetes-preserve-unknown-fields": True},
    {"x-kubernetes-int-or-string": True, "pattern": "[KMGTPE]i [numkMGTPE] INJECTED"},
    {"type": "object", "properties": {"a": TEXT}}, list_of(TEXT), map_of(TEXT), keyed("name"),
    keyed("linux"), keyed("a b"), list_of({"type": "object", "properties": {"b": TEXT}}),
    map_of(list_of({"type": "object", "properties": {"b": {"type": "boolean"}}})),
    list_of(list_of(TEXT)), list_of(map_of(TEXT)), list_of(list_of({"type": "number"})),
    list_of({"type": "number"}), map_of({"x-kubernetes-int-or-string": True}),
    {**TEXT, "default": EVIL}, {**TEXT, "default": "a" * 1000}, {**TEXT, "default": "a" * 5000},
    {"type": "integer", "default": -2**63}, {"type": "integer", "default": 2**63 - 1},
    {"type": "integer", "format": "int32", "default": -2**31},
    {"type": "number", "default": 1.5e300}, {"type": "boolean", "default": True},
    {**TEXT, "enum": ["", '"', "*/", "\n#include <x>", "a b", "a-b", "=", "!=", "日本", "INJECTED",
                      EVIL, "\x00", "a" * 300]},
]


def hostile():
    """Each name with several of the shapes."""
    shapes = itertools.cycle(SHAPES)
    parts = {f"t{i}": {"type": "object", "description": EVIL, "properties": {
        name: {**next(shapes), "description": EVIL, "title": EVIL}
        for name in NAMES[i:] + EVIL_NAMES}} for i in range(len(SHAPES))}
    for name in EVIL_NAMES:
        parts.setdefault(name[:100], {"type": "object", "properties": {
            name[:100]: {"type": "object", "properties": {"x": TEXT}}}})
    return definition(parts, group="3example.com", kind="Bad", description=EVIL)
