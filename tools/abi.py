# SPDX-License-Identifier: Apache-2.0
"""Reads the public structs, enums and handles from the headers, for tools/check-abi and
tests/abi/run.
"""
import re
import subprocess
from typing import NamedTuple

import csource

# Plain values, which later versions may not add members to. All other structs begin with `size`.
FIXED = {
    "ki_buf", "ki_bytes", "ki_config_extra", "ki_config_variable", "ki_durations", "ki_http_header",
    "ki_index_iter", "ki_int_or_string", "ki_lister", "ki_lister_iter", "ki_log_field",
    "ki_place", "ki_quantity", "ki_snapshot_iter", "ki_str", "ki_text", "ki_timestamp", "ki_value",
    "ki_value_iter", "ki_work",
}
_STRUCT = re.compile(r"^typedef struct (ki_\w+) \{\n(.*?)^\} \1;", re.DOTALL | re.MULTILINE)


class Struct(NamedTuple):
    name: str
    path: str
    line: int
    members: list  # declarations, without ';'
    end: int  # the offset of its closing brace in the header

    @property
    def sized(self):
        return bool(self.members) and self.members[0] == "size_t size"

    @property
    def last(self):
        return member_name(self.members[-1])


def member_name(declaration):
    """The name that a declaration of a member declares."""
    function = re.search(r"\(\*(\w+)\)", declaration)
    return function[1] if function else re.search(r"(\w+)(?:\[\w+\])*$", declaration)[1]


def structs(path, text):
    """The structs that a header defines."""
    code = csource.strip_comments(text)
    found = []
    for match in _STRUCT.finditer(code):
        parts = (" ".join(part.split()) for part in match[2].split(";"))
        # The members of an anonymous union are members, its braces are not.
        members = [re.sub(r"^(?:union|struct) \{ ", "", part) for part in parts
                   if re.search(r"\w", part)]
        line = code.count("\n", 0, match.start()) + 1
        found.append(Struct(match[1], path, line, members, match.end() - len(match[1]) - 3))
    return found


def read_headers(root=csource.ROOT):
    return csource.hand_written(csource.read_tree(root, ["include"], [".h"]))


def all_structs(headers):
    return [struct for path, text in headers.items() for struct in structs(path, text)]


def include_lines(headers):
    return "".join(f"#include <{path.removeprefix('include/')}>\n" for path in sorted(headers))


def enumerators(headers, compiler="cc"):
    """The names of all values of enums, but for the _MAX ones, whose values change with others."""
    code = subprocess.run([compiler, "-std=c11", "-E", "-P", f"-I{csource.ROOT}/include", "-"],
                          input=include_lines(headers), check=True, text=True,
                          stdout=subprocess.PIPE).stdout
    names = []
    for body in re.findall(r"\benum(?: ki_\w+)? \{(.*?)\}", code, re.DOTALL):
        names += re.findall(r"(?:^|,)\s*(KI_\w+)", body)
    return [name for name in names if not name.endswith("_MAX")]
