# SPDX-License-Identifier: Apache-2.0
"""Validation, defaulting and pruning: the same requests to a real kube-apiserver and to the
embedded one. Compared are codes, reasons, details, the set of causes with their messages,
warnings, and all of an object but what no two servers have in common. What differs on purpose is
in DIFFERS."""
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


def prop(kind, **more):
    return {"type": kind, **more}


SPEC = {
    "size": prop("integer", minimum=1, maximum=10, default=3),
    "even": prop("integer", multipleOf=2),
    "below": prop("integer", maximum=5, exclusiveMaximum=True),
    "above": prop("integer", minimum=5, exclusiveMinimum=True),
    "ratio": prop("number", minimum=0.5, maximum=2.5),
    "small": prop("integer", format="int32"),
    "big": prop("integer", format="int64"),
    "color": prop("string", enum=["red", "green"]),
    "level": prop("integer", enum=[1, 2, 3]),
    "code": prop("string", pattern="^[a-z]{2,4}-[0-9]+$"),
    "word": prop("string", minLength=2, maxLength=4),
    "flag": prop("boolean"),
    "when": prop("string", format="date-time"),
    "day": prop("string", format="date"),
    "link": prop("string", format="uri"),
    "v4": prop("string", format="ipv4"),
    "v6": prop("string", format="ipv6"),
    "net": prop("string", format="cidr"),
    "mac": prop("string", format="mac"),
    "id": prop("string", format="uuid"),
    "bytes": prop("string", format="byte"),
    "wait": prop("string", format="duration"),
    "mail": prop("string", format="email"),
    "host": prop("string", format="hostname"),
    "short": prop("string", format="k8s-short-name"),
    "odd": prop("string", format="no-such-format"),
    "port": {"x-kubernetes-int-or-string": True, "anyOf": [{"type": "integer"},
                                                           {"type": "string"}]},
    "maybe": prop("string", nullable=True),
    "never": prop("string"),
    "list": prop("array", minItems=1, maxItems=3, items=prop("string", minLength=1)),
    "set": prop("array", items=prop("string"), **{"x-kubernetes-list-type": "set"}),
    "map": prop("array", items=prop("object", required=["name"], properties={
        "name": prop("string"), "port": prop("integer", default=80)}),
                **{"x-kubernetes-list-type": "map", "x-kubernetes-list-map-keys": ["name"]}),
    "pairs": prop("array", items=prop("object", required=["b", "a"], properties={
        "a": prop("string"), "b": prop("integer")}), **{
            "x-kubernetes-list-type": "map", "x-kubernetes-list-map-keys": ["b", "a"]}),
    "labels": prop("object", additionalProperties=prop("string", maxLength=3), maxProperties=2),
    "few": prop("object", minProperties=1, additionalProperties=prop("integer")),
    "free": prop("object", properties={"known": prop("object", properties={
        "x": prop("string")})}, **{"x-kubernetes-preserve-unknown-fields": True}),
    "any": {"x-kubernetes-preserve-unknown-fields": True},
    "inner": prop("object", properties={"deep": prop("object", default={}, properties={
        "value": prop("string", default="d"), "list": prop("array", items=prop(
            "object", properties={"n": prop("integer", default=7)}))})}),
    "template": prop("object", **{"x-kubernetes-embedded-resource": True,
                                  "x-kubernetes-preserve-unknown-fields": True}),
    "one": prop("object", properties={"a": prop("string"), "b": prop("string")},
                oneOf=[{"required": ["a"]}, {"required": ["b"]}]),
    "some": prop("object", properties={"a": prop("string"), "b": prop("string")},
                 anyOf=[{"required": ["a"]}, {"required": ["b"]}]),
    "all": prop("string", allOf=[{"minLength": 2}, {"pattern": "^x"}]),
    "none": prop("string", **{"not": {"pattern": "^x"}}),
}


def definition(plural, kind, schema, **version):
    return {"apiVersion": "apiextensions.k8s.io/v1", "kind": "CustomResourceDefinition",
            "metadata": {"name": plural + ".example.com"},
            "spec": {"group": "example.com", "scope": "Namespaced",
                     "names": {"plural": plural, "kind": kind, "singular": plural[:-1],
                               "listKind": kind + "List"},
                     "versions": [{"name": "v1", "served": True, "storage": True,
                                   "schema": {"openAPIV3Schema": schema}, **version}]}}


def gadget_definition():
    schema = prop("object", required=["spec"], properties={
        "spec": prop("object", properties=SPEC),
        "status": prop("object", properties={"ready": prop("integer", minimum=0),
                                             "phase": prop("string", default="new")})})
    return definition("gadgets", "Gadget", schema, subresources={"status": {}})


def gadget(name, spec, **more):
    return {"apiVersion": "example.com/v1", "kind": "Gadget", "metadata": {"name": name},
            "spec": spec, **more}


def a_gadget(query="", **spec):
    return post(GADGETS + "?dryRun=All" + query, gadget("g", spec))


def custom_requests():
    bare = gadget("g", {})
    del bare["spec"]
    yield "no-spec", post(GADGETS, bare)
    yield "null-spec", post(GADGETS, gadget("g", None))
    yield "spec-type", post(GADGETS, gadget("g", "x"))
    yield "defaults", a_gadget()
    yield "defaults-deep", a_gadget(inner={})
    yield "defaults-deeper", a_gadget(inner={"deep": {"list": [{}, {"n": 1}]}})
    yield "defaults-null", a_gadget(size=None)
    yield "null-dropped", a_gadget(never=None)
    yield "null-kept", a_gadget(maybe=None)
    yield "null-element", a_gadget(list=[None])
    yield "unknown", a_gadget(nothing=1, inner={"nothing": 2})
    yield "unknown-strict", a_gadget("&fieldValidation=Strict", nothing=1, inner={"nothing": 2})
    yield "unknown-ignore", a_gadget("&fieldValidation=Ignore", nothing=1)
    yield "unknown-wrong", a_gadget("&fieldValidation=Nope", nothing=1)
    yield "unknown-root", post(GADGETS + "?dryRun=All", gadget("g", {}, other={"x": 1}))
    yield "unknown-metadata", post(GADGETS + "?dryRun=All", {
        **gadget("g", {}), "metadata": {"name": "g", "nothing": 1}})
    yield "unknown-preserved", a_gadget(free={"other": {"x": 1}, "known": {"x": "y", "z": 2}})
    yield "unknown-any", a_gadget(any={"a": [1, {"b": None}]})
    yield "unknown-in-list", a_gadget(map=[{"name": "a", "other": 1}])
    yield "type-string", a_gadget(size="5")
    yield "type-integer", a_gadget(word=5)
    yield "type-float", a_gadget(size=2.5)
    yield "type-whole-float", a_gadget(size=2.0)
    yield "type-boolean", a_gadget(flag="true")
    yield "type-list", a_gadget(list={})
    yield "type-map", a_gadget(labels=[])
    yield "type-in-list", a_gadget(list=[1, "a", True])
    yield "type-in-map", a_gadget(labels={"a": 1})
    yield "type-format", a_gadget(when=5)
    yield "minimum", a_gadget(size=0)
    yield "maximum", a_gadget(size=11)
    yield "multiple", a_gadget(even=3)
    yield "exclusive", a_gadget(below=5, above=5)
    yield "exclusive-fine", a_gadget(below=4, above=6)
    yield "number-low", a_gadget(ratio=0.25)
    yield "number-high", a_gadget(ratio=3)
    yield "int32", a_gadget(small=3000000000)
    yield "int64", a_gadget(big=9223372036854775807)
    yield "enum", a_gadget(color="blue")
    yield "enum-number", a_gadget(level=4)
    yield "enum-type", a_gadget(color=5)
    yield "pattern", a_gadget(code="abcde-1")
    yield "pattern-fine", a_gadget(code="abc-12")
    yield "short", a_gadget(word="a")
    yield "long", a_gadget(word="abcde")
    yield "long-unicode", a_gadget(word="\u00e4\u00f6\u00fc\u00df")
    yield "items-none", a_gadget(list=[])
    yield "items-many", a_gadget(list=["a", "b", "c", "d"])
    yield "properties-many", a_gadget(labels={"a": "1", "b": "2", "c": "3"})
    yield "properties-few", a_gadget(few={})
    yield "additional", a_gadget(labels={"a": "long"})
    yield "required", a_gadget(map=[{"port": 1}])
    for field, values in FORMATS.items():
        for i, value in enumerate(values):
            yield f"format-{field}-{i}", a_gadget(**{field: value})
    yield "int-or-string", a_gadget(port="http")
    yield "int-or-string-int", a_gadget(port=80)
    yield "int-or-string-wrong", a_gadget(port=True)
    yield "set-twice", a_gadget(set=["a", "b", "a", "a", "b"])
    yield "map-twice", a_gadget(map=[{"name": "a"}, {"name": "b"}, {"name": "a", "port": 1}])
    yield "pairs-twice", a_gadget(pairs=[{"a": "x", "b": 1}, {"a": "x", "b": 2},
                                         {"b": 1, "a": "x"}])
    yield "one-none", a_gadget(one={})
    yield "one-both", a_gadget(one={"a": "x", "b": "y"})
    yield "one-fine", a_gadget(one={"b": "y"})
    yield "some-none", a_gadget(some={})
    yield "some-fine", a_gadget(some={"a": "x", "b": "y"})
    yield "all-none", a_gadget(all="a")
    yield "all-one", a_gadget(all="ab")
    yield "all-fine", a_gadget(all="xy")
    yield "not", a_gadget(none="xy")
    yield "embedded", a_gadget(template={"spec": {"x": 1}})
    yield "embedded-fine", a_gadget(template={"apiVersion": "v1", "kind": "Pod", "spec": {}})
    yield "embedded-metadata", a_gadget(template={"apiVersion": "v1", "kind": "Pod",
                                                  "metadata": {"labels": {"a": "b c"}}})
    yield "many-errors", a_gadget(size=0, color="x", word="", list=[])
    yield "metadata-and-schema", post(GADGETS, {**gadget("g", {"size": 0}), "metadata": {
        "name": "G", "labels": {"a": "b c"}}})
    yield "create", post(GADGETS, gadget("kept", {"size": 5}, status={"ready": 1}))
    yield "get", ("GET", GADGETS + "/kept", None, {})
    yield "patch-spec", patch(GADGETS + "/kept", {"spec": {"size": 6}})
    yield "patch-wrong", patch(GADGETS + "/kept", {"spec": {"size": 60}})
    yield "patch-remove", patch(GADGETS + "/kept", {"spec": {"size": None}})
    yield "patch-unknown", patch(GADGETS + "/kept", {"spec": {"nothing": 1}})
    yield "patch-labels", patch(GADGETS + "/kept", {"metadata": {"labels": {"a": "b"}}})
    yield "patch-status-in-main", patch(GADGETS + "/kept", {"status": {"ready": 1}})
    yield "patch-status", patch(GADGETS + "/kept/status", {"status": {"ready": 1}})
    yield "patch-status-spec", patch(GADGETS + "/kept/status", {"spec": {"size": 9},
                                                                "status": {"ready": 2}})
    yield "patch-status-wrong", patch(GADGETS + "/kept/status", {"status": {"ready": -1}})
    yield "patch-status-type", patch(GADGETS + "/kept/status", {"status": {"ready": "x"}})
    yield "patch-status-unknown", patch(GADGETS + "/kept/status", {"status": {"other": 1}})
    yield "finalizer-bare", patch(GADGETS + "/kept", {"metadata": {"finalizers": ["bare"]}})
    yield "finalizer-end", patch(GADGETS + "/kept", {"metadata": {"finalizers": None}})


FORMATS = {
    "when": ["2020-01-02T03:04:05Z", "2020-01-02T03:04:05.678+01:00", "2020-01-02 03:04:05Z",
             "2020-13-02T03:04:05Z", "2020-01-02T24:04:05Z", "2020-01-02T03:04:05", "now"],
    "day": ["2020-02-29", "2021-02-29", "2020-1-2"],
    "link": ["http://example.com/a?b=c", "/path", "path", "http://a b/", "mailto:x@y", "%zz", ""],
    "v4": ["1.2.3.4", "1.2.3", "1.2.3.256", "01.02.03.04", "::1"],
    "v6": ["::1", "fe80::1:2", "1:2:3:4:5:6:7:8", "1:2:3", "1.2.3.4", "::ffff:1.2.3.4", "g::1"],
    "net": ["10.0.0.0/8", "10.0.0.0/33", "::/0", "10.0.0.0"],
    "mac": ["01:23:45:67:89:ab", "01-23-45-67-89-AB", "0123.4567.89ab", "01:23:45"],
    "id": ["123e4567-e89b-12d3-a456-426614174000", "123E4567E89B12D3A456426614174000", "123e4567"],
    "bytes": ["YWI=", "YWI", "YW I=", ""],
    "wait": ["1h2m3.5s", "3 days", "soon", "5", "1.5", "22 ns"],
    "mail": ["a@example.com", "A <a@b.c>", "a", "a@", "@b"],
    "host": ["example.com", "a", "a-b", "-a", "a.b.c", "a_b", "example.c0m", "1.example.com"],
    "short": ["abc-1", "Abc", "a.b"],
    "odd": ["anything"],
}


def definition_requests():
    def define(schema, **version):
        return post(CRDS + "?dryRun=All", definition("things", "Thing", schema, **version))

    def a_property(value):
        return define(prop("object", properties={"spec": prop("object", properties={"x": value})}))

    yield "schema-none", post(CRDS + "?dryRun=All", {
        **definition("things", "Thing", {}), "spec": {
            **definition("things", "Thing", {})["spec"],
            "versions": [{"name": "v1", "served": True, "storage": True}]}})
    yield "schema-empty", define({})
    yield "schema-root-type", define(prop("string"))
    yield "schema-no-type", a_property({})
    yield "schema-no-item-type", a_property(prop("array", items={}))
    yield "schema-no-items", a_property(prop("array"))
    yield "schema-wrong-type", a_property(prop("text"))
    yield "schema-pattern", a_property(prop("string", pattern="a(b"))
    yield "schema-pattern-class", a_property(prop("string", pattern="[z-a]"))
    yield "schema-pattern-repeat", a_property(prop("string", pattern="**"))
    yield "schema-pattern-look", a_property(prop("string", pattern="(?=a)"))
    yield "schema-unique", a_property(prop("array", items=prop("string"), uniqueItems=True))
    yield "schema-both", a_property(prop("object", properties={"a": prop("string")},
                                         additionalProperties=prop("string")))
    yield "schema-map-keys", a_property(prop("array", items=prop("object"),
                                             **{"x-kubernetes-list-type": "map"}))


def deletion_requests():
    """Finalizers and deletionTimestamp only: there is no collector beside the real server."""
    for i, (query, body) in enumerate([
            ("", None), ("?propagationPolicy=Background", None),
            ("?propagationPolicy=Foreground", None), ("?propagationPolicy=Orphan", None),
            ("?orphanDependents=true", None), ("?orphanDependents=false", None),
            ("", {"propagationPolicy": "Foreground"}), ("", {"propagationPolicy": "Orphan"}),
            ("", {"orphanDependents": True}), ("", {"propagationPolicy": "Upwards"}),
            ("?propagationPolicy=Upwards", None),
            ("", {"propagationPolicy": "Orphan", "orphanDependents": True}),
            ("?propagationPolicy=Orphan", {"propagationPolicy": "Foreground"})]):
        name = f"delete-{i}"
        options = None if body is None else {"kind": "DeleteOptions", "apiVersion": "v1", **body}
        yield name + "-make", post(MAPS, named(name))
        yield name, ("DELETE", MAPS + "/" + name + query, options, JSON)
        yield name + "-get", ("GET", MAPS + "/" + name, None, {})
        yield name + "-again", ("DELETE", MAPS + "/" + name, None, {})
        yield name + "-background", ("DELETE", MAPS + "/" + name + "?propagationPolicy=Background",
                                     None, {})
        yield name + "-gone", ("GET", MAPS + "/" + name, None, {})
    yield "kept-make", post(MAPS, named("kept", finalizers=["orphan", "a.b/c"]))
    yield "kept", ("DELETE", MAPS + "/kept", None, {})
    yield "kept-foreground", ("DELETE", MAPS + "/kept?propagationPolicy=Foreground", None, {})
    yield "kept-add", patch(MAPS + "/kept", {"metadata": {"finalizers": ["a.b/c", "orphan"]}})
    yield "kept-end", patch(MAPS + "/kept", {"metadata": {"finalizers": None}})


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
    flags = ("--no-garbage-collection",)

    def compare(self, requests):
        for name, request in requests:
            real = shape(*self.real.ask(*request)), self.real.warnings
            ours = shape(*self.ours.ask(*request)), self.ours.warnings
            with self.subTest(name):
                if name in DIFFERS:
                    self.assertNotEqual(ours, real, "it does not differ any more")
                else:
                    self.assertEqual(ours, real)

    def test_custom_resources(self):
        self.define(gadget_definition())
        self.compare(custom_requests())

    def test_deletion(self):
        self.compare(deletion_requests())

    def test_definitions(self):
        self.compare(definition_requests())

    def test_metadata(self):
        self.compare(metadata_requests())


if __name__ == "__main__":
    unittest.main()
