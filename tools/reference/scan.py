# SPDX-License-Identifier: Apache-2.0
"""Splits a C header into comments, directives and declarations, each with its line.

No preprocessor: branches for C++ are skipped, all others are read. The same function splits the
inside of a struct (terminator ";") and of an enum (terminator ",").
"""
import re
from dataclasses import dataclass
from typing import Optional

import csource

SKIPPED = "\x01"  # the first character of a line that is not for C
_TOKEN = re.compile(r'/\*.*?\*/|//[^\n]*|"(?:\\.|[^"\\\n])*"|\'(?:\\.|[^\'\\\n])*\'|\w+|.',
                    re.DOTALL)
_DIRECTIVE = re.compile(r"#(?:\\\n|/\*.*?\*/|[^\n])*", re.DOTALL)
_COMMENT = re.compile(r"/\*.*?\*/", re.DOTALL)
_MARKER = re.compile(r"KI_(?:BEGIN|END)_DECLS\b")
_MACRO_CALL = re.compile(r"KI_[A-Z0-9_]+\(")
_BODY = re.compile(r"\)\s*\{")


@dataclass
class Comment:
    text: str
    line: int
    blank_before: bool = False

    @property
    def is_contract(self):
        return self.text.startswith("/**")


@dataclass
class Directive:
    text: str
    line: int
    blank_before: bool = False
    trailing: Optional[Comment] = None  # a comment that follows on the same line


@dataclass
class Declaration:
    text: str  # comments inside included; without the terminator
    line: int
    blank_before: bool = False
    trailing: Optional[Comment] = None


def _branch_for_c(line):
    """Whether the branch that a directive opens is read; None if it opens none."""
    match = re.match(r"[ \t]*#[ \t]*(ifdef|ifndef|if)\b(.*)", line)
    if match is None:
        return None
    kind, condition = match[1], match[2].strip()
    if condition in ("__cplusplus", "defined(__cplusplus)", "!defined(__cplusplus)"):
        return (kind == "ifndef") != condition.startswith("!")  # one negation or the other
    return True


def skip_cplusplus(text):
    """The text with a mark before each line that a C compiler does not see, and before the
    directives that say so."""
    code = csource.strip_comments(text).split("\n")
    lines = text.split("\n")
    stack = []  # (this branch is read, it depends on __cplusplus)
    for number, line in enumerate(code):
        branch = _branch_for_c(line)
        marked = any(not read for read, _ in stack)
        if branch is not None:
            by_language = "__cplusplus" in line
            stack.append((branch, by_language))
            marked = marked or by_language
        elif stack and re.match(r"[ \t]*#[ \t]*(else|elif)\b", line):
            read, by_language = stack[-1]
            marked = marked or by_language
            if by_language:
                stack[-1] = (not read, True)
        elif stack and re.match(r"[ \t]*#[ \t]*endif\b", line):
            marked = marked or stack.pop()[1]
        if marked:
            lines[number] = SKIPPED + lines[number]
    return "\n".join(lines)


class _Scanner:
    def __init__(self, text, line, terminator):
        self.text = text
        self.place = 0
        self.line = line
        self.terminator = terminator
        self.newlines = 2  # since the last item
        self.items = []

    def advance(self, end):
        self.line += self.text.count("\n", self.place, end)
        self.place = end

    def skip_space(self):
        while self.place < len(self.text):
            char = self.text[self.place]
            if char == SKIPPED:
                end = self.text.find("\n", self.place)
                self.advance(len(self.text) if end < 0 else end + 1)
            elif char.isspace():
                self.newlines += char == "\n"
                self.advance(self.place + 1)
            else:
                return

    def comment(self, match):
        item = Comment(match[0], self.line, self.newlines >= 2)
        self.advance(match.end())
        last = self.items[-1] if self.items else None
        if self.newlines == 0 and last is not None and not isinstance(last, Comment):
            last.trailing = last.trailing or item
        else:
            self.items.append(item)
        self.newlines = 0

    def directive(self, match):
        item = Directive(match[0], self.line, self.newlines >= 2)
        comment = re.search(r"(?<!\S)/\*(?:(?!\*/).)*\*/\s*$", match[0], re.DOTALL)
        if comment is not None:
            item.text = match[0][:comment.start()].rstrip()
            item.trailing = Comment(comment[0].strip(), self.line)
        self.items.append(item)
        self.advance(match.end())
        self.newlines = 0

    def declaration_end(self):
        """Where the declaration at this place ends, and where the next thing begins."""
        depth = 0
        is_call = self.terminator == ";" and _MACRO_CALL.match(self.text, self.place) is not None
        for token in _TOKEN.finditer(self.text, self.place):
            text = token[0]
            if depth == 0 and text == self.terminator:
                return token.start(), token.end()
            if text in ("(", "{", "["):
                depth += 1
            elif text in (")", "}", "]"):
                depth -= 1
                if depth == 0 and text == "}" and self.terminator == ";":
                    if _BODY.search(csource.strip_comments(self.text[self.place:token.start()])):
                        return token.end(), token.end()
                if depth == 0 and text == ")" and is_call:
                    return token.end(), token.end()
        return len(self.text), len(self.text)

    def declaration(self):
        end, after = self.declaration_end()
        text = self.text[self.place:end]
        if self.terminator == ",":  # the last one of an enum: its comment follows without a comma
            cut = _COMMENT.search(text)
            if cut is not None and text[:cut.start()].strip():
                end = after = self.place + cut.start()
                text = self.text[self.place:end]
        self.items.append(Declaration(text.strip(), self.line, self.newlines >= 2))
        self.advance(after)
        self.newlines = 0

    def run(self):
        while True:
            self.skip_space()
            if self.place >= len(self.text):
                return self.items
            comment = _COMMENT.match(self.text, self.place)
            directive = _DIRECTIVE.match(self.text, self.place)
            marker = _MARKER.match(self.text, self.place)
            if comment:
                self.comment(comment)
            elif directive:
                self.directive(directive)
            elif marker:
                self.advance(marker.end())
            elif self.text[self.place] in ";,":
                self.advance(self.place + 1)
            else:
                self.declaration()


def scan(text, line=1, terminator=";"):
    return _Scanner(text, line, terminator).run()


def scan_header(text):
    return scan(skip_cplusplus(text))
