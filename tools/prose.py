# SPDX-License-Identifier: Apache-2.0
"""What people read in a file: a list of (line, text), for check-docs.

Source code consists of comments (also of several lines), string literals (adjacent ones joined) and
names, each as its words: `max_age` and `maxAge` are "max age". Other files are one text.
"""
import re

import csource

SLASH_SUFFIXES = (*csource.C_SUFFIXES, ".go", ".rs")
# Comments and literals first, so that nothing inside them is taken for a name.
_SLASH = re.compile(r"""
      (?P<comment>/\*.*?\*/|//[^\n]*(?:\n[ \t]*//[^\n]*)*)
    | (?P<string>(?:"(?:\\.|[^"\\\n])*"\s*)+|`[^`]*`)
    | '(?:\\.|[^'\\\n])+'
    | (?P<name>[A-Za-z_]\w*)
    """, re.VERBOSE | re.DOTALL)
_PYTHON = re.compile(r"""
      (?P<comment>\#[^\n]*(?:\n[ \t]*\#[^\n]*)*)
    | (?P<string>(?:[rbfRBF]{0,2}(?:\"{3}.*?\"{3}|'{3}.*?'{3}
                   |"(?:\\.|[^"\\\n])*"|'(?:\\.|[^'\\\n])*')\s*)+)
    | (?P<name>[A-Za-z_]\w*)
    """, re.VERBOSE | re.DOTALL)
_COMMENT_MARK = re.compile(r"^[ \t]*(?:/?\*+|//+|#+)", re.MULTILINE)
_STRING_SEAM = re.compile(r"\"\s*[rbfRBF]{0,2}\"|'\s*[rbfRBF]{0,2}'")
_ESCAPE = re.compile(r"\\[a-z]")
_WORD_START = re.compile(r"(?<=[a-z])(?=[A-Z])")


def _keep_lines(match):
    return "\n" * match[0].count("\n")


def _words(kind, text):
    if kind == "comment":
        return _COMMENT_MARK.sub(" ", text)
    if kind == "string":
        return _ESCAPE.sub("  ", _STRING_SEAM.sub(_keep_lines, text))
    return _WORD_START.sub(" ", text).replace("_", " ")


def _pattern(path, text):
    if path.endswith(SLASH_SUFFIXES):
        return _SLASH
    return _PYTHON if path.endswith(".py") or text.startswith("#!/usr/bin/env python") else None


def parts(path, text):
    """The parts of a file; of each name only the first use."""
    pattern = _pattern(path, text)
    if pattern is None:
        return [(1, _COMMENT_MARK.sub(" ", text))]
    found, names = [], set()
    line, place = 1, 0
    for match in pattern.finditer(text):
        kind = match.lastgroup
        if kind is None or match[0] in names:
            continue
        if kind == "name":
            names.add(match[0])
        line += text.count("\n", place, match.start())
        place = match.start()
        found.append((line, _words(kind, match[0])))
    return found
