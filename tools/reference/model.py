# SPDX-License-Identifier: Apache-2.0
"""The declarations of the public headers with their contracts, from which the pages are written.

A contract comment applies to the declarations right below it, up to a blank line or the next
comment. A plain comment applies to all that follow, up to the next plain one; its prose, if no
blank line separates it from a declaration, for these declarations only. Fields that neither has
come from the head of the header. A page shows nothing that is in none of these places; what must
be there and is not, is a complaint with file and line.
"""
import re
from dataclasses import dataclass, field
from typing import Optional

from reference import contract as contracts
from reference.contract import Contract, squeeze

INCLUDE = "include/"
UMBRELLA = "include/kinformer/kinformer.h"
PARTS = "include/kinformer/parts/"
NAME = re.compile(r"\b(?:ki_[a-z]\w*[a-z0-9]|KI_[A-Z]\w*[A-Z0-9])\b")
PROPER = ("Kubernetes", "Status", "Secret", "Secrets", "ConfigMap", "JSON")
# First sentences that say little without their function, and what replaces them in lists.
SUMMARIES = {"References": "Take and release references"}


@dataclass
class Function:
    name: str
    returns: str
    params: list  # (text, name); the name of "..." is ""
    line: int
    note: str = ""  # the comment behind it
    is_data: bool = False

    def signature(self):
        if self.is_data:
            return f"extern {self.returns};"
        glue = "" if self.returns.endswith("*") else " "
        inside = ", ".join(text for text, _ in self.params) or "void"
        return f"{self.returns}{glue}{self.name}({inside});"


@dataclass
class Member:
    code: str
    name: str
    about: Optional[Contract] = None
    group: Optional[Contract] = None  # precedes this member and applies to those that follow
    value: str = ""  # of a constant


@dataclass
class Item:
    """One entry of a header: functions that share a contract, a type, or a macro."""
    kind: str  # function, struct, enum, callback, opaque, alias or macro
    name: str
    line: int
    code: str = ""
    own: Optional[Contract] = None
    group: Optional[Contract] = None
    group_prose: bool = False
    functions: list = field(default_factory=list)
    members: list = field(default_factory=list)
    links: list = field(default_factory=list)  # other names that lead here
    previous: object = None  # the functions before, which "The same" refers to
    header: object = None

    @property
    def names(self):
        return [function.name for function in self.functions] or [self.name]

    @property
    def is_private(self):
        """Whether a program should not look at the members."""
        text = " ".join(block.text for block in self.own.blocks if block.kind == "para") \
            if self.own else ""
        return "members are private" in squeeze(text)

    @property
    def has_page(self):
        return self.kind != "opaque" and (self.kind != "macro" or bool(self.description()))

    @property
    def is_alone(self):
        """Whether its comment is a whole contract, beside that of the group."""
        return bool(self.own and self.own.since and self.group and self.group.since)

    def field(self, label):
        """Owner, Thread, Blocks or Since: of the nearest comment that says it."""
        if self.kind != "function" and label != "Since":
            return ""
        for part in (self.own, self.group, self.header.head):
            if part is not None and label in part.fields:
                return squeeze(part.fields[label])
        return self.header.prose_field(label)

    def errors(self):
        own = self.own.errors() if self.own else []
        if own and not self.own.besides or not any(one.returns == "int" for one in self.functions):
            return own
        for part in (None if self.is_alone else self.group, self.header.head):
            if part is not None and "Errors" in part.fields:
                return own + part.errors()
        return own + (self.same_as().errors() if own and self.same_as() else [])

    def description(self):
        """The blocks of prose that are its own."""
        if self.own is not None and self.own.blocks:
            return self.own.blocks
        if self.kind == "function" and self.functions[0].note and len(self.functions) == 1:
            return [contracts.Block("para", self.functions[0].note)]
        return []

    def notes(self):
        """What comments behind single functions say besides, as (name, text)."""
        is_description = len(self.functions) == 1 and not (self.own and self.own.blocks)
        return [(one.name, one.note) for one in self.functions if one.note and not is_description]

    def context(self):
        """The blocks of its group."""
        is_for_it = self.kind == "function" and self.group is not None and self.group_prose
        return self.group.blocks if is_for_it and not self.is_alone else []

    def same_as(self):
        """The entry before, if this one says that it does the same."""
        blocks = self.description()
        text = blocks[0].text if blocks and blocks[0].kind == "para" else ""
        is_same = re.match(r"The same\b(?! as `?ki_)", text) and self.kind == "function"
        return self.previous if is_same else None

    def summary(self):
        """One line, without a period at the end."""
        blocks = self.description() or self.context()
        text = blocks[0].text if blocks and blocks[0].kind == "para" else ""
        if not text and self.group is not None and self.kind == "function":
            text = self.group.title
        text = next(iter(contracts.sentences(text)), "")
        same = self.same_as()
        if same is not None:
            text = re.sub(r"^The same\b", f"As {same.name}()", text)
        return shorten(SUMMARIES.get(text.rstrip("."), text))


@dataclass
class Header:
    path: str
    head: Optional[Contract] = None
    items: list = field(default_factory=list)
    constants: list = field(default_factory=list)  # undocumented macros: (name, value)
    umbrella: bool = False  # whether kinformer.h includes it

    @property
    def include(self):
        return self.path[len(INCLUDE):]

    @property
    def stem(self):
        return self.path.rsplit("/", 1)[1][:-2]

    @property
    def page(self):
        return self.include[:-2].replace("/", "_")

    @property
    def is_part(self):
        return self.path.startswith(PARTS)

    @property
    def to_include(self):
        return UMBRELLA[len(INCLUDE):] if self.umbrella and not self.is_part else self.include

    def summary(self):
        blocks = self.head.blocks if self.head else []
        text = blocks[0].text if blocks else self.stem
        return shorten(next(iter(contracts.sentences(text)), ""))

    def prose_field(self, label):
        """What the head says in a sentence of all functions, where it has no field for it."""
        pattern = {"Thread": r"\b(functions?\b.*\bthreads?|belongs to one thread)\b",
                   "Blocks": r"\bfunctions?\b.*\bblocks?\b"}.get(label)
        blocks = self.head.blocks if self.head and pattern else []
        if label == "Blocks" and re.search(r"\bnever blocks?\b|\b[Nn]o function blocks\b", " ".join(
                squeeze(block.text) for block in blocks if block.kind == "para")):
            return "no."
        found = [sentence for block in blocks if block.kind == "para"
                 for sentence in contracts.sentences(block.text) if re.search(pattern, sentence)]
        return " ".join(found)


@dataclass
class Library:
    headers: list
    items: dict  # name: Item, links included
    constants: dict  # name of a constant: the header or item that has it
    complaints: list

    def functions(self):
        return [function for header in self.headers for item in header.items
                for function in item.functions]

    def users(self, name):
        """The functions that take or return a type."""
        word = re.compile(rf"\b{name}\b")
        return [function.name for function in self.functions()
                if word.search(function.signature())]


def _is_outside(text):
    """Whether all quotes and brackets in the text are closed."""
    return text.count("`") % 2 == 0 and text.count('"') % 2 == 0 and \
        text.count("(") == text.count(")")


def shorten(text, limit=100):
    """Up to `limit` characters, cut where the sentence pauses."""
    text = squeeze(text)
    text = text[:-1] if text.endswith((".", ":", ";")) and not text.endswith("..") else text
    if len(text) <= limit:
        return text
    for pause in (r";(?= )", r":(?= )", r"(?= \()", r",(?= )"):
        places = [match.start() for match in re.finditer(pause, text[:limit])
                  if match.start() >= 25 and _is_outside(text[:match.start()])]
        if places:
            return text[:places[-1]].rstrip()
    return text[:text.rfind(" ", 0, limit)] + " ..."


def decapitalise(text):
    """As the words after a dash: without a capital, unless it belongs to the word."""
    word = text.split(" ", 1)[0].rstrip(",:")
    if len(word) > 1 and word[1:] == word[1:].lower() and word not in PROPER or word == "A":
        return text[:1].lower() + text[1:]
    return text
