# SPDX-License-Identifier: Apache-2.0
"""Unified diffs: read them, apply them exactly, write them.

Stricter than patch(1): a hunk applies only where its old text is found, and only if the file has it
once. Line numbers are not used, so a patch survives changes elsewhere in the file.
"""
import re
import subprocess
import tempfile
from pathlib import Path
from typing import NamedTuple

CONTEXT = 2  # lines before and after a change; more where the old text would be ambiguous
CONTEXT_MAX = 12
_HUNK = re.compile(r"^@@ -\d+(?:,(\d+))? \+\d+(?:,(\d+))? @@")


class PatchError(Exception):
    """A patch that cannot be read or does not apply."""


class Hunk(NamedTuple):
    lines: tuple  # (mark, text), the mark being " ", "-" or "+"

    def side(self, mark):
        """The text before ("-") or after ("+") the change."""
        return [text for which, text in self.lines if which in (" ", mark)]

    def without_context(self, count):
        """The same change with up to `count` lines of context less at each end."""
        changes = [i for i, line in enumerate(self.lines) if line[0] != " "]
        first = min(count, changes[0])
        last = min(count, len(self.lines) - 1 - changes[-1])
        return Hunk(self.lines[first:len(self.lines) - last])


def _parse_hunk(header, lines):
    """Takes the lines of one hunk off the front of `lines`."""
    left = {"-": int(header[1] or 1), "+": int(header[2] or 1)}
    result = []
    while left["-"] > 0 or left["+"] > 0:
        line = lines.pop(0) if lines else "end of file"
        mark, text = line[:1] or " ", line[1:]  # editors strip the space of an empty line
        if mark not in " -+":
            raise PatchError(f"hunk is shorter than its header says, at: {line}")
        for side in "-+" if mark == " " else mark:
            left[side] -= 1
        result.append((mark, text))
    if min(left.values()) < 0:
        raise PatchError(f"hunk is longer than its header says, at: {result[-1][1]}")
    if all(mark == " " for mark, _ in result):
        raise PatchError("hunk without a change")
    return Hunk(tuple(result))


def parse(text):
    """{path: hunks}. Text outside of hunks, as git writes it, is skipped."""
    files, path = {}, None
    lines = text.splitlines()
    while lines:
        line = lines.pop(0)
        header = _HUNK.match(line)
        if line.startswith("--- ") and lines and lines[0].startswith("+++ "):
            path = line[4:].split("\t")[0].removeprefix("a/")
            if lines.pop(0)[4:].split("\t")[0].removeprefix("b/") != path:
                raise PatchError(f"{path}: new and deleted files are not supported")
            files[path] = []
        elif header and path is not None:
            files[path].append(_parse_hunk(header, lines))
        elif line[:1] in ("+", "-", "@", " ") and line.strip():
            raise PatchError(f"outside of a hunk: {line}")
    if not files or not all(files.values()):
        raise PatchError("no hunks")
    return files


def _find(lines, old):
    """Where the only occurrence of `old` begins."""
    places = [i for i in range(len(lines) - len(old) + 1) if lines[i:i + len(old)] == old]
    if len(places) != 1:
        first = next((text for text in old if len(text.strip()) > 1), "")
        times = "not in the file" if not places else f"in the file {len(places)} times"
        raise PatchError(f"hunk near '{first.strip()}' is {times}")
    return places[0]


def apply(text, hunks, fuzz=0):
    """The text after the change. With `fuzz`, as many outer lines of context may differ."""
    lines = text.splitlines()
    changes = []
    for hunk in hunks:
        shorter = hunk.without_context(fuzz)
        old = shorter.side("-")
        changes.append((_find(lines, old), len(old), shorter.side("+")))
    changes.sort(reverse=True)
    for (start, _, _), (before, length, _) in zip(changes, changes[1:]):
        if before + length > start:
            raise PatchError("hunks overlap")
    for start, length, new in changes:
        lines[start:start + length] = new
    return "\n".join(lines) + "\n"


def render(path, old, new):
    """The diff from `old` to `new`, with as little context as applies."""
    with tempfile.TemporaryDirectory() as name:
        before, after = Path(name) / "before", Path(name) / "after"
        before.write_text(old, encoding="utf-8")
        after.write_text(new, encoding="utf-8")
        for context in range(CONTEXT, CONTEXT_MAX + 1):
            diff = subprocess.run(
                ["diff", "-p", f"-U{context}", "--suppress-blank-empty", "--label", f"a/{path}",
                 "--label", f"b/{path}", str(before), str(after)],
                stdout=subprocess.PIPE, text=True, check=False).stdout
            try:
                if apply(old, parse(diff)[path]) == new:
                    return diff
            except PatchError:
                pass
    raise PatchError(f"{path}: no difference, or one at an ambiguous place")
