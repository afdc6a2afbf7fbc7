# SPDX-License-Identifier: Apache-2.0
"""docs/api.md: every function of the library on one page, a line each, by tier and header."""
import re

from reference.htmlpages import tiers

INTRODUCTION = """\
# The API on one page

<!-- Written by `tools/gen-reference --api-page` from the public headers: do not edit. -->

Every public function, with one line from its contract. The whole contract is in the header, in the
manual pages (`man ki_version`, after `make install`) and in the HTML reference (`make docs`).

There are three groups of headers. `<kinformer/kinformer.h>` includes what most applications need.
The other headers in `<kinformer/>` are for applications, too; a program includes those that it uses
by name. The headers in `<kinformer/parts/>` are building blocks for programs that put the library
together in their own way; they are included by name as well.
"""


def cell(text):
    """Text in a table."""
    return text.replace("|", "\\|").replace("<", "&lt;").replace("*", "\\*")


def call(function):
    if function.is_data:
        return function.name
    return f"{function.name}({', '.join(name or text for text, name in function.params)})"


def summary(function, item):
    """Of the function itself, where its comment says something."""
    return function.note if re.search(r"\w", function.note) else item.summary()


def header_part(header):
    lines = [f"### [{header.include}](../{header.path})", "", cell(header.summary()) + ".", ""]
    types = [item.name for item in header.items
             if item.kind not in ("function", "macro") and not item.name.startswith("KI_")]
    if types:
        lines += ["Types: " + ", ".join(f"`{name}`" for name in types) + ".", ""]
    macros = [name for item in header.items if item.kind == "macro"
              for name in item.names + item.links]
    if macros:
        lines += ["Macros: " + ", ".join(f"`{name}`" for name in macros) + ".", ""]
    rows = [(function, item) for item in header.items for function in item.functions]
    if rows:
        lines += ["| function | |", "|---|---|"]
    for function, item in rows:
        lines.append(f"| `{call(function)}` | {cell(summary(function, item))} |")
    return lines + ([""] if rows else [])


def page(library):
    lines = [INTRODUCTION]
    for title, headers in tiers(library):
        count = sum(len(item.functions) for header in headers for item in header.items)
        plural = "s" if len(headers) != 1 else ""
        lines += [f"## {title.replace('<', '`<').replace('>', '>`')}", "",
                  f"{count} functions in {len(headers)} header{plural}.", ""]
        for header in sorted(headers, key=lambda one: one.stem):
            lines += header_part(header)
    return "\n".join(lines).rstrip() + "\n"
