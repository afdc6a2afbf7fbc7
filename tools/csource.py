# SPDX-License-Identifier: Apache-2.0
"""Shared by the checks: reads the tree, splits C into tokens, and has the main function of a check.

A check is a function from {path: text} to a list of complaints. It never opens a file itself, so
its self-test can pass small trees: one that must be accepted, and some that must be rejected.
"""
import re
import sys
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).resolve().parent.parent
C_SUFFIXES = (".c", ".h", ".cc", ".cpp", ".hpp")

# In this order: comments and literals first, so that nothing inside them is taken for code.
_TOKEN = re.compile(r"""
      (?P<comment>/\*.*?\*/|//[^\n]*)
    | (?P<string>"(?:\\.|[^"\\\n])*"|'(?:\\.|[^'\\\n])*')
    | (?P<name>[A-Za-z_]\w*)
    | (?P<number>\.?\d(?:[eEpP][+-]|[\w.])*)
    | (?P<punct>->|\.\.\.|\S)
    """, re.VERBOSE | re.DOTALL)
_DIRECTIVE = re.compile(r"^[ \t]*#(?:\\\n|[^\n])*", re.MULTILINE)
_INCLUDE = re.compile(r'^[ \t]*#[ \t]*include[ \t]*([<"])([^>"\n]+)[>"]')


class Token(NamedTuple):
    kind: str  # name, number, string or punct
    text: str
    line: int  # from 1


class Include(NamedTuple):
    path: str
    system: bool  # <path> rather than "path"
    line: int


def _blank(text):
    return re.sub(r"[^\n]", " ", text)


def strip_comments(text):
    """The text with comments made blank, every line still in its place."""
    def keep_code(match):
        return _blank(match[0]) if match["comment"] is not None else match[0]
    return _TOKEN.sub(keep_code, text)


def comments(text):
    """The comments, as (offset, text)."""
    return [(match.start(), match[0]) for match in _TOKEN.finditer(text) if match["comment"]]


def strip_directives(text):
    """The text with # lines made blank; its comments must be blank already."""
    return _DIRECTIVE.sub(lambda match: _blank(match[0]), text)


def tokens(text, directives=True):
    """The tokens of C text, without comments; with directives=False also without # lines."""
    text = strip_comments(text)
    if not directives:
        text = strip_directives(text)
    found = []
    line, place = 1, 0
    for match in _TOKEN.finditer(text):
        line += text.count("\n", place, match.start())
        place = match.start()
        found.append(Token(match.lastgroup, match[0], line))
    return found


def includes(text):
    """The files that the text includes."""
    found = []
    for line, code in enumerate(strip_comments(text).splitlines(), 1):
        match = _INCLUDE.match(code)
        if match:
            found.append(Include(match[2], match[1] == "<", line))
    return found


class Function(NamedTuple):
    name: str
    first_line: int  # of the name
    last_line: int  # of the closing brace


def functions(text):
    """The functions that the text defines."""
    found = []
    depth = 0
    head = []  # the tokens at file scope since the last ; or }
    name = None
    for token in tokens(text, directives=False):
        if token.text == "{":
            if depth == 0:
                name = _function_name(head)
            depth += 1
        elif token.text == "}":
            depth -= 1
            if depth == 0:
                if name is not None:
                    found.append(Function(name.text, name.line, token.line))
                head, name = [], None
        elif depth == 0:
            if token.text == ";":
                head = []
            else:
                head.append(token)
    return found


def _function_name(head):
    """The name in `static int name(...)`; None if the brace does not begin a function."""
    if not head or head[-1].text != ")" or any(token.text == "=" for token in head):
        return None
    name, depth = None, 0
    for token, following in zip(head, head[1:]):
        if depth == 0 and token.kind == "name" and following.text == "(":
            name = token if token.text != "__attribute__" else name
        depth += {"(": 1, ")": -1}.get(token.text, 0)
    return name


def calls(text):
    """The names that are called as functions, as tokens. What the text defines itself is not among
    them, nor are members (x->read(...)) and declarations of function pointers."""
    own = {function.name for function in functions(text)}
    found = tokens(text)
    result = []
    for before, token, after in zip([None, *found], found, found[1:]):
        is_member = before is not None and before.text in (".", "->")
        if token.kind == "name" and after.text == "(" and not is_member and token.text not in own:
            result.append(token)
    return result


def read_tree(root, folders, suffixes):
    """{path: text} of the files under the folders that exist, paths relative and with slashes."""
    tree = {}
    for folder in folders:
        for path in sorted((root / folder).rglob("*")):
            if path.is_file() and path.name.endswith(tuple(suffixes)):
                tree[path.relative_to(root).as_posix()] = path.read_text(encoding="utf-8")
    return tree


# A name of typed views, such as ki_core_v1_Pod_spec or KI_CORE_V1_PodPhase_Running.
VIEW_NAME = re.compile(r"(?:ki_[a-z]+_v|KI_[A-Z]+_V)\d\w*?_[A-Z][A-Za-z0-9]*[a-z]\w*")


def hand_written(tree):
    """Without the headers of typed views, which are generated and consist of macros."""
    return {path: text for path, text in tree.items()
            if not path.startswith("include/kinformer/api/")}


def self_test(check, accepted, refused):
    """Whether the check accepts one tree and refuses each of the others for the right reason.
    `refused` is a list of (tree, part of the complaint)."""
    ok = True
    for complaint in check(accepted):
        print(f"self-test: rejected a valid tree: {complaint}")
        ok = False
    for tree, reason in refused:
        complaints = check(tree)
        if not any(reason in complaint for complaint in complaints):
            print(f"self-test: expected {reason!r} for {tree}, got {complaints}")
            ok = False
    return ok


def main(check, read, accepted, refused):
    """The frame of a check: `check-x --self-test` looks at itself, else `check-x` at the tree that
    read(), given the arguments if there are any, returns."""
    if sys.argv[1:] == ["--self-test"]:
        sys.exit(0 if self_test(check, accepted, refused) else 1)
    tree = read(*sys.argv[1:])
    if not tree:
        sys.exit("nothing to check")
    complaints = check(tree)
    for complaint in complaints:
        print(complaint)
    sys.exit(1 if complaints else 0)
