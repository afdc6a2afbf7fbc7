#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Writes the table of built-in resources: include/kinformer/builtin_resources.h and
src/object/builtin_resources.c.

The facts come from what Kubernetes publishes, fetched as Go modules (needs go, clang-format-14):
  - the discovery documents of a kube-apiserver with every API switched on: names, scope and
    short names;
  - the generated typed clients: versions that no server of these releases serves any more, but
    that older servers do. Both sources must agree where they overlap, or nothing is written.

The order is append-only, since it is part of the ABI: what the header has stays where it is, and
new resources go to the end. What disappears from the sources stays in the table.

Usage: gen_resources.py          write both files
       gen_resources.py --check  write nothing; fail if the committed files differ
"""

import json
import pathlib
import re
import subprocess
import sys
import tempfile

KUBERNETES = ["v1.36.3", "v1.37.1"]
LIBRARIES = ["v0.36.3", "v0.37.2"]
TYPED = {
    "k8s.io/client-go": "kubernetes/typed",
    "k8s.io/apiextensions-apiserver": "pkg/client/clientset/clientset/typed",
    "k8s.io/kube-aggregator": "pkg/client/clientset_generated/clientset/typed",
}
# Where the types live, for typed clients whose folder does not tell.
GROUP_SOURCES = {
    "apiextensions": ("k8s.io/apiextensions-apiserver", "pkg/apis/apiextensions/{version}"),
    "apiregistration": ("k8s.io/kube-aggregator", "pkg/apis/apiregistration/{version}"),
}
# Typed clients for what is a subresource of pods on the wire: (group, name).
NOT_RESOURCES = {("policy", "evictions")}
# In these groups the same strategies served resources that now live in other groups.
MOVED_GROUPS = {"extensions"}

ROOT = pathlib.Path(__file__).resolve().parents[2]
HEADER = ROOT / "include/kinformer/builtin_resources.h"
SOURCE = ROOT / "src/object/builtin_resources.c"


def download(modules):
    """Fetches Go modules; gives {"path@version": folder}."""
    with tempfile.TemporaryDirectory() as scratch:
        pathlib.Path(scratch, "go.mod").write_text("module scratch\n")
        out = subprocess.run(["go", "mod", "download", "-json", *modules], cwd=scratch, check=True,
                             stdout=subprocess.PIPE, text=True).stdout
    decoder, folders = json.JSONDecoder(), {}
    while out.strip():
        out = out.lstrip()
        entry, end = decoder.raw_decode(out)
        folders[f"{entry['Path']}@{entry['Version']}"] = pathlib.Path(entry["Dir"])
        out = out[end:]
    return folders


def read_discovery(folder):
    """{(group, version, resource): facts} of one release's discovery documents."""
    found = {}
    for path in sorted((folder / "api/discovery").glob("api*__*.json")):
        document = json.loads(path.read_text())
        if document["kind"] != "APIResourceList":
            continue
        group, _, version = document["groupVersion"].rpartition("/")
        for item in document["resources"]:
            if "/" in item["name"]:
                continue
            found[group, version, item["name"]] = {
                "kind": item["kind"],
                "singular": item["singularName"],
                "namespaced": item["namespaced"],
                "short": tuple(item.get("shortNames", ())),
                "verbs": frozenset(item["verbs"]),
                "served": True,
            }
    return found


def group_name(folders, library, group_folder, version):
    module, path = GROUP_SOURCES.get(group_folder, ("k8s.io/api", group_folder + "/{version}"))
    folder = folders[f"{module}@{library}"] / path.format(version=version)
    match = re.search(r'GroupName = "([^"]*)"', (folder / "register.go").read_text())
    if match is None and module != "k8s.io/api":  # declared one folder up, for all versions
        match = re.search(r'GroupName = "([^"]*)"', (folder.parent / "register.go").read_text())
    return match.group(1)


CLIENT = re.compile(r'gentype\.NewClient\w*\[.*?\]\(\s*"(\w+)",\s*c\.RESTClient\(\),\s*'
                    r'scheme\.ParameterCodec,\s*(namespace|""),\s*func\(\) \*\w+\.(\w+) ', re.S)


def read_typed_clients(folders, library):
    """{(group, version, resource): (kind, namespaced)} of one release's typed clients."""
    found = {}
    for module, typed in TYPED.items():
        for path in sorted((folders[f"{module}@{library}"] / typed).glob("*/v*/*.go")):
            for resource, scope, kind in CLIENT.findall(path.read_text()):
                version = path.parent.name
                group = group_name(folders, library, path.parent.parent.name, version)
                if (group, resource) not in NOT_RESOURCES:
                    found[group, version, resource] = (kind, scope == "namespace")
    return found


def other_version(served, group, resource):
    """The facts of a served version of the same resource, if there is one."""
    for (g, _, name), facts in served.items():
        if name == resource and (g == group or group in MOVED_GROUPS):
            return facts
    return {"short": (), "verbs": frozenset(["list", "watch"])}


def gather():
    modules = [f"k8s.io/kubernetes@{v}" for v in KUBERNETES]
    modules += [f"{m}@{v}" for v in LIBRARIES for m in ["k8s.io/api", *TYPED]]
    folders = download(modules)
    table = {}
    for version in KUBERNETES:  # the newest release has the last word
        table.update(read_discovery(folders[f"k8s.io/kubernetes@{version}"]))
    typed = {}
    for library in LIBRARIES:
        typed.update(read_typed_clients(folders, library))
    served = dict(table)
    for key, (kind, namespaced) in typed.items():
        if key in served:
            facts = served[key]
            if (facts["kind"], facts["namespaced"]) != (kind, namespaced):
                sys.exit(f"{key}: discovery says {facts}, the typed client {kind}, {namespaced}")
            continue
        other = other_version(served, key[0], key[2])
        table[key] = {"kind": kind, "singular": kind.lower(), "namespaced": namespaced,
                      "short": other["short"], "verbs": other["verbs"], "served": False}
    return table


def constant(key):
    group, version, resource = key
    return f"{(group or 'core').split('.')[0]}_{version}_{resource}".upper()


def version_rank(version):
    """v2 before v1 before v1beta1 before v1alpha3: the order in which servers prefer them."""
    major, level, minor = re.fullmatch(r"v(\d+)(?:(alpha|beta)(\d+))?", version).groups()
    return ({None: 0, "beta": 1, "alpha": 2}[level], -int(major), -int(minor or 0))


def committed_rows():
    """The rows of the committed table in their order, as {key: row text}."""
    rows = {}
    if not SOURCE.exists():
        return rows
    text = re.sub(r"\s+", " ", SOURCE.read_text())
    for row, group, version, name in re.findall(
            r'((?:CORE|GROUP)\( ?(?:"([^"]*)", )?"(v[^"]*)", "([^"]*)", [^)]*\)\)),', text):
        rows[group, version, name] = row
    return rows


def ordered(table, old):
    new = sorted((k for k in table if k not in old),
                 key=lambda k: (k[0], version_rank(k[1]), k[2]))
    return [*old, *new]


def note(facts):
    notes = []
    if "list" not in facts["verbs"]:
        notes.append("create only")
    elif "watch" not in facts["verbs"]:
        notes.append("no watch")
    if not facts["served"]:
        notes.append("old")
    return ", ".join(notes)


def row(key, facts):
    group, version, name = key
    where = f'GROUP("{group}", "{version}"' if group else f'CORE("{version}"'
    scope = "true" if facts["namespaced"] else "false"
    short = ", ".join(f'"{s}"' for s in facts["short"])
    names = f"SHORT({short})" if short else "NONE()"
    return f'{where}, "{name}", "{facts["singular"]}", "{facts["kind"]}", {scope}, {names})'


def header_text(keys, table):
    enum, objects, macros = [], [], []
    for key in keys:
        comment = note(table[key]) if key in table else "old"
        name = constant(key)
        enum.append(f"KI_BUILTIN_{name}," + (f" /* {comment} */" if comment else ""))
        objects.append(f"KI_API extern const ki_resource ki_{name.lower()};")
        macros.append(f"#define KI_{name} (&ki_{name.lower()})")
    enum, objects, macros = "\n".join(enum), "\n".join(objects), "\n".join(macros)
    return f"""/* SPDX-License-Identifier: Apache-2.0 */
/* The built-in resources of Kubernetes 1.36 and 1.37 and their client libraries, as constants of
 * type const ki_resource *: KI_CORE_V1_PODS, KI_APPS_V1_DEPLOYMENTS and so on; see
 * <kinformer/resource.h>. They are constant expressions, for static tables too. Generated by
 * tools/gen-resources. Append-only: numbers never change.
 * Notes: "create only" resources cannot be listed or watched, "no watch" ones can only be listed,
 * and "old" ones are only served by older servers. */
#ifndef KINFORMER_BUILTIN_RESOURCES_H
#define KINFORMER_BUILTIN_RESOURCES_H

#include <kinformer/defs.h>

KI_BEGIN_DECLS

typedef struct ki_resource ki_resource;

typedef enum ki_builtin {{
{enum}
KI_BUILTIN_MAX
}} ki_builtin;

/* The objects. Use the constants below.  Since: 0.1 */
{objects}

{macros}

KI_END_DECLS

#endif
"""


def index_text(keys, order):
    return ", ".join(f"{i}" for i in sorted(range(len(keys)), key=order))


def source_text(keys, table, old):
    rows = {k: row(k, table[k]) if k in table else old[k] for k in keys}
    kinds = {k: re.findall(r'"([^"]*)"', rows[k].split(", true")[0].split(", false")[0])[-1]
             for k in keys}
    api_version = {k: f"{k[0]}/{k[1]}" if k[0] else k[1] for k in keys}
    if len({(api_version[k], kinds[k]) for k in keys}) != len(keys):
        sys.exit("two resources share apiVersion and kind")
    if len({constant(k) for k in keys}) != len(keys):
        sys.exit("two resources share a constant")
    body = "\n".join(f"[KI_BUILTIN_{constant(k)}] = {rows[k]}," for k in keys)
    objects = "\n".join(f"const ki_resource ki_{constant(k).lower()} = "
                        f"{{&facts[KI_BUILTIN_{constant(k)}]}};" for k in keys)
    pointers = "\n".join(f"[KI_BUILTIN_{constant(k)}] = &ki_{constant(k).lower()}," for k in keys)
    by_name = index_text(keys, lambda i: keys[i])
    by_kind = index_text(keys, lambda i: (api_version[keys[i]], kinds[keys[i]]))
    return f"""/* SPDX-License-Identifier: Apache-2.0 */
/* The built-in resources. Generated by tools/gen-resources; do not edit. Invariant: row n describes
 * constant n of ki_builtin, and both orders are permutations of the rows. */
#include "object/resource.h"

/* clang-format off */
#define NONE() NULL
#define SHORT(...) ((const char *const[]){{__VA_ARGS__, NULL}})
#define CORE(version, name, singular, kind, namespaced, short_names) \\
    {{"", version, name, singular, kind, version, short_names, namespaced, true}}
#define GROUP(group, version, name, singular, kind, namespaced, short_names) \\
    {{group, version, name, singular, kind, group "/" version, short_names, namespaced, true}}
/* clang-format on */

static const ki__resource_facts facts[KI_BUILTIN_MAX] = {{
{body}
}};

{objects}

const ki_resource *const ki__builtin_resources[KI_BUILTIN_MAX] = {{
{pointers}
}};

const uint16_t ki__builtin_by_name[KI_BUILTIN_MAX] = {{{by_name}}};

const uint16_t ki__builtin_by_kind[KI_BUILTIN_MAX] = {{{by_kind}}};
"""


def formatted(path, text):
    return subprocess.run(["clang-format-14", f"--assume-filename={path}"], input=text, check=True,
                          stdout=subprocess.PIPE, text=True, cwd=ROOT).stdout


def main():
    check = sys.argv[1:] == ["--check"]
    if sys.argv[1:] and not check:
        sys.exit(__doc__)
    table = gather()
    old = committed_rows()
    keys = ordered(table, old)
    outputs = {HEADER: formatted(HEADER, header_text(keys, table)),
               SOURCE: formatted(SOURCE, source_text(keys, table, old))}
    stale = [p for p, text in outputs.items() if not p.exists() or p.read_text() != text]
    if check and stale:
        sys.exit("not as generated: " + ", ".join(str(p.relative_to(ROOT)) for p in stale))
    for path in stale:
        path.write_text(outputs[path])
    unserved = sum(1 for k in keys if k not in table or not table[k]["served"])
    print(f"{len(keys)} resources, {unserved} of them served by older servers only")


if __name__ == "__main__":
    main()
