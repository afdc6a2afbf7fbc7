# SPDX-License-Identifier: Apache-2.0
"""Parses the comment of a declaration: prose, and the fields Owner, Thread, Blocks, Errors, Since.

A field begins at the start of a line or after a sentence, and continues in lines that are indented,
or until a line ends with a period. Indented lines elsewhere are preformatted, or a list if they
begin with "- ".
"""
import re
from dataclasses import dataclass, field
from typing import NamedTuple

LABELS = ("Owner", "Thread", "Blocks", "Errors", "Since")
_ONE = "(?:" + "|".join(LABELS) + ")"
_LABEL = re.compile(rf"(?:^|(?<=[.;:)\"*] )|(?<=  ))({_ONE}(?:, {_ONE})*)( \(besides\))?:(?=\s|$)")
_VERSION = re.compile(r"\d+(?:\.\d+)+")
_CODE = r"(?:-E[A-Z0-9]+|-errno|KI_ERR_[A-Z0-9_]+)"
_NEXT = rf"(?:,\s+(?:and |or )?|\s+or\s+|\s+and\s+){_CODE}"
_CODES = re.compile(rf"({_CODE}(?:{_NEXT})*(?:\s+and so on)?)"
                    r"(?:[:,]?\s+|(?=[.;])|$)(.*)", re.DOTALL)
_REMARK = re.compile(r"^(?:as|those|what|whatever|of|the first|any)\b", re.IGNORECASE)
_RULED = re.compile(r"^-{2,}\s*(.*?)\s*-{2,}\s*")
_SENTENCE = re.compile(r'(?<=[.!?])["\')]*\s+(?=[A-Z"`*(<\d]|ki_)|(?<=\.)  +')
_SHORT_TITLE = re.compile(r"^([A-Z][\w,' ]{2,30})\.\s+(?=[A-Z`])")


class Block(NamedTuple):
    kind: str  # para, pre or list
    text: object  # of pre and list: the lines or items


class Error(NamedTuple):
    codes: str  # "" for a remark
    text: str


@dataclass
class Contract:
    line: int = 0
    title: str = ""
    blocks: list = field(default_factory=list)
    fields: dict = field(default_factory=dict)  # label: text
    besides: bool = False  # the errors are added to those of the group or of the one before
    complaints: list = field(default_factory=list)  # (line, text)

    @property
    def since(self):
        return self.fields.get("Since", "")

    def errors(self):
        return parse_errors(self.fields.get("Errors", ""))


def squeeze(text):
    return re.sub(r"\s+", " ", text).strip()


def sentences(text):
    return [part.strip() for part in _SENTENCE.split(squeeze_keep(text)) if part.strip()]


def squeeze_keep(text):
    """As squeeze(), but two blanks after a period stay: they end a sentence whatever follows."""
    return re.sub(r"(?<!\.) +", " ", re.sub(r"\s*\n\s*", " ", text)).strip()


def body_lines(comment):
    """The lines of a comment without its frame, as (indentation beyond the margin, text)."""
    inside = re.sub(r"^/\*\*?|\*/$", "", comment)
    lines = inside.split("\n")
    rows = [(None, lines[0].strip())]
    for line in lines[1:]:
        framed = re.match(r"\s*\*( *)(.*)", line)
        rows.append((len(framed[1]), framed[2].rstrip()) if framed else (None, line.strip()))
    known = [indent for indent, text in rows if indent is not None and text]
    margin = min([*known, 2 if comment.startswith("/**") else 1])
    return [(0 if indent is None else max(0, indent - margin), text) for indent, text in rows]


class _Parser:
    def __init__(self, line):
        self.result = Contract(line)
        self.line = line
        self.labels = []  # of the field that is being read
        self.open_para = False  # whether the last block may continue

    def complain(self, text):
        self.result.complaints.append((self.line, text))

    def unfinished(self):
        """Whether the field that is being read continues in the next line of prose."""
        if not self.labels or self.labels == ["Since"] and self.result.since:
            return False
        return not self.result.fields[self.labels[0]].rstrip().endswith(".")

    def begin_field(self, match):
        self.open_para = False
        self.labels = match[1].split(", ")
        for label in self.labels:
            if label in self.result.fields:
                self.complain(f"`{label}:` twice in one comment")
            self.result.fields[label] = ""
        self.result.besides = self.result.besides or match[2] is not None

    def add_to_field(self, text, newline):
        rest = ""
        if self.labels == ["Since"]:
            version = _VERSION.match(text.strip())
            if text.strip() and version is None:
                self.complain(f"`Since: {text.strip()}` names no release")
            rest = text.strip()[version.end():].lstrip(".") if version else ""
            text = version[0] if version else ""
        elif self.labels[0] in ("Thread", "Blocks") and ".  " in text:
            text, rest = text.split(".  ", 1)
            text += "."
        for label in self.labels:
            old = self.result.fields[label]
            glue = ("\n" if newline else "") if old else ""
            self.result.fields[label] = old + glue + text
        if rest.strip():
            self.labels = []
            self.add_prose(rest.strip())

    def add_prose(self, text):
        blocks = self.result.blocks
        if self.open_para:
            last = blocks[-1]
            if last.kind == "para":
                blocks[-1] = Block("para", last.text + "\n" + text)
                return
            if last.kind == "list" and not re.search(r"[.;:]$", last.text[-1]):
                last.text[-1] += " " + text
                return
        blocks.append(Block("para", text))
        self.open_para = True

    def add_indented(self, indent, text, after_blank):
        blocks = self.result.blocks
        last = blocks[-1] if blocks else None
        if last is not None and last.kind == "list" and self.open_para:
            if text.startswith("- "):
                last.text.append(text[2:])
            else:
                last.text[-1] += " " + text
        elif last is not None and last.kind == "pre" and (self.open_para or after_blank):
            last.text.extend([""] * (not self.open_para) + [" " * indent + text])
        elif text.startswith("- "):
            blocks.append(Block("list", [text[2:]]))
        else:
            blocks.append(Block("pre", [" " * indent + text]))
        self.open_para = True

    def add_line(self, text, newline):
        """A line of prose or of a field, which may have labels inside."""
        place = 0
        for match in _LABEL.finditer(text):
            self.add_part(text[place:match.start()], newline and place == 0)
            self.begin_field(match)
            place = match.end()
        self.add_part(text[place:], newline and place == 0)

    def add_part(self, text, newline):
        if not text.strip():
            return
        if self.labels:
            self.add_to_field(text.rstrip() if newline else text.strip(), newline)
        else:
            self.add_prose(text.strip())

    def run(self, rows):
        after_blank = False
        for indent, text in rows:
            if not text:
                self.labels = []
                self.open_para = False
                after_blank = True
            elif indent >= 2 and self.labels:
                self.add_line(text, True)
            elif indent >= 2:
                self.add_indented(indent, text, after_blank)
            else:
                if self.labels and not self.unfinished() and _LABEL.match(text) is None:
                    self.labels = []
                self.add_line(text, True)
            after_blank = after_blank and not text
            self.line += 1
        return self.finish()

    def finish(self):
        result = self.result
        for label, text in result.fields.items():
            if not text.strip():
                result.complaints.append((result.line, f"`{label}:` is empty"))
        for number, block in enumerate(result.blocks):
            if block.kind == "pre":
                indent = min(len(row) - len(row.lstrip()) for row in block.text if row)
                result.blocks[number] = Block("pre", [row[indent:] for row in block.text])
        return result


def parse(comment, line):
    """The contract in a comment."""
    return _Parser(line).run(body_lines(comment))


def parse_group(comment, line):
    """The same for a comment over several declarations, the beginning of which may be a title:
    "---- by path ----", "Adding." or all of it, if it is short."""
    result = parse(comment, line)
    if not result.blocks or result.blocks[0].kind != "para":
        return result
    text = result.blocks[0].text
    ruled, short = _RULED.match(text), _SHORT_TITLE.match(text)
    if ruled:
        result.title, text = ruled[1], text[ruled.end():]
    elif short and len(short[1].split()) <= 4:
        result.title, text = short[1], text[short.end():]
    elif len(result.blocks) == 1 and len(text) <= 50 and len(text.split()) <= 8:
        result.title, text = text.rstrip("."), ""
    result.blocks[:1] = [Block("para", text)] if text.strip() else []
    return result


def _error_pieces(text):
    """The pieces between semicolons; one that only continues the sentence before is joined."""
    pieces = []
    for part in re.split(r"(?<=;)(\s+|$)", text):
        if part.strip():
            pieces.append(part.strip().rstrip(";").rstrip())
        elif pieces:
            pieces.append(part)  # the space: it separates a new item from the rest of a sentence
    joined = []
    for number in range(0, len(pieces), 2):
        piece = pieces[number]
        space = pieces[number - 1] if number else "\n"
        is_new = _CODES.match(piece) or _REMARK.match(piece) or "\n" in space or len(space) > 1
        if is_new or not joined:
            joined.append(piece)
        else:
            joined[-1] += "; " + piece
    return joined


def parse_errors(text):
    """The codes of an `Errors:` field with what they mean, and remarks without a code."""
    found = []
    for piece in _error_pieces(text):
        match = _CODES.match(piece)
        if match is None:
            found.append(Error("", squeeze(piece)))
            continue
        meaning = squeeze(match[2]).lstrip(":;, ")
        if meaning.startswith("."):
            found.append(Error(squeeze(match[1]), ""))
            if meaning.strip(". "):
                found.append(Error("", meaning.lstrip(". ")))
        else:
            found.append(Error(squeeze(match[1]), meaning))
    return found
