# SPDX-License-Identifier: Apache-2.0
"""Manual pages: one for each contract, type and documented macro, one for each header; names that
share a page are links to it."""
import re
import textwrap

from reference import model
from reference.contract import squeeze
from reference.model import decapitalise

WIDTH = 71  # of a synopsis: 78 columns without the margin
SECTION = "kinformer library"
# Headers of other libraries.
MODULES = {"apiserver": "kinformer-apiserver", "monitor_server": "kinformer-http"}
THREADS = {"any": "Any thread, also several at once.",
           "one-at-a-time": "Any thread, but not two at once on the same thing: locking is the "
                            "caller's."}
BLOCKS = {"no": "Does not block.", "yes": "May block."}
RETURNS = ("Functions that return \\fIint\\fR return 0 or more on success and a negative code on "
           "failure. Outputs (\\fIret_x\\fR) are set on success only, unless stated otherwise.")
NULLS = "an argument that must not be NULL is NULL."
_TOKEN = re.compile(r"`([^`]*)`|<?((?:kinformer/)?(?:parts/)?[a-z_]+\.h)\b>?"
                    r"|\b(ki_[a-z]\w*|KI_[A-Z]\w*)(\(\))?")


def escape(text, verbatim=False):
    """Text as troff prints it, character by character."""
    text = text.replace("\\", "\\e")
    if verbatim:
        text = text.replace("-", "\\-")
        for char, name in (("'", "aq"), ("`", "ga"), ("^", "ha"), ("~", "ti")):
            text = text.replace(char, f"\\({name}")
    else:
        text = re.sub(r"(?<![A-Za-z])-|-(?![A-Za-z])", r"\\-", text)
    return "".join(char if ord(char) < 128 else f"\\[u{ord(char):04X}]" for char in text)


def guard(line):
    """A line of text that does not look like a request."""
    return "\\&" + line if line.startswith((".", "'")) else line


def joined(lines):
    """The text of a page; a paragraph right after a heading needs no request."""
    kept = [line for before, line in zip(["", *lines], lines)
            if line != ".PP" or not before.startswith((".SH", ".SS", ".PP"))]
    return "\n".join(kept) + "\n"


class Writer:
    """Writes the pages of a library. `date` and `version` are shown in their footers."""

    def __init__(self, library, version, date):
        self.library = library
        self.version = version
        self.date = date
        self.headers = {}
        for header in library.headers:
            for name in (header.include, header.include.replace("kinformer/", "", 1),
                         header.stem + ".h"):
                self.headers.setdefault(name, header)

    def inline(self, text, own=()):
        """A paragraph with its names marked; those with a page of their own refer to it."""
        parts, place = [], 0
        text = squeeze(text)
        for match in _TOKEN.finditer(text):
            parts.append(escape(text[place:match.start()]))
            place = match.end()
            name = match[3]
            header = self.headers.get(match[2])
            if match[1] is not None:
                parts.append(f"\\fI{escape(match[1], True)}\\fR")
            elif header is not None and header.path != model.UMBRELLA:
                parts.append(f"\\fB{header.page}\\fR(3)")
            elif name is None:
                parts.append(escape(match[0]))
            elif self.page_of(name) and name not in own and text[place:place + 1] != "(":
                parts.append(f"\\fB{name}\\fR(3)")
            else:
                parts.append(f"\\fB{name}\\fR{match[4] or ''}")
        return "".join(parts + [escape(text[place:])])

    def page_of(self, name):
        item = self.library.items.get(name)
        return item is not None and item.has_page

    def paragraph(self, text, own=()):
        return self.fill(self.inline(text, own))

    @staticmethod
    def fill(marked):
        lines = textwrap.wrap(marked, 90, break_long_words=False, break_on_hyphens=False)
        return [guard(line) for line in lines]

    def blocks(self, blocks, own=()):
        """Blocks of prose; the first has no space before it."""
        out = []
        for number, block in enumerate(blocks):
            if block.kind == "pre":
                out += [".PP", ".nf", ".in +2n"] if max(map(len, block.text)) <= 68 else \
                       [".PP", ".nf", ".in 2n"]
                out += [guard(escape(row, True)) for row in block.text] + [".in", ".fi"]
            elif block.kind == "list":
                for row in block.text:
                    out += [".IP \\(bu 2"] + self.paragraph(row, own)
            else:
                out += ([".PP"] if number else []) + self.paragraph(block.text, own)
        return out

    def head(self, page, names, summary):
        names = ", ".join(names)
        return [".\\\" SPDX-License-Identifier: Apache-2.0",
                ".\\\" Written by tools/gen-reference from the public headers: do not edit.",
                f".TH {page} 3 \"{self.date}\" \"kinformer {self.version}\" \"{SECTION}\"",
                ".ad l", ".nh", ".SH NAME",
                f"{names} \\- {escape(decapitalise(summary).replace('`', ''))}"]

    @staticmethod
    def library_lines(header):
        module = MODULES.get(header.stem, "kinformer")
        return [".SH LIBRARY",
                f"{module} (\\fBpkg\\-config \\-\\-cflags \\-\\-libs {escape(module, True)}\\fR)"]

    @staticmethod
    def synopsis(header, code):
        return [".SH SYNOPSIS", ".nf", f".B #include <{header.to_include}>", ".PP", *code, ".fi"]

    def signature(self, function):
        """A declaration, its parameters in italics, broken where the line is too long."""
        if function.is_data:
            return [f".B {function.signature()}"]
        start = function.signature().split("(")[0] + "("
        params = [text for text, _ in function.params] or ["void"]
        rows, row = [], start
        indent = len(start) if len(start) + max(map(len, params)) + 2 <= WIDTH else 8
        for number, text in enumerate(params):
            piece = text + (", " if number + 1 < len(params) else ");")
            if len(row + piece.rstrip()) > WIDTH and row.strip() and row != start:
                rows.append(row.rstrip())
                row = " " * indent
            row += piece
        rows.append(row)
        names = {name for _, name in function.params if name}
        return [f"\\fB{self.italics(row, names)}\\fR" for row in rows]

    @staticmethod
    def italics(row, names):
        def mark(match):
            return f"\\fI{match[0]}\\fB"
        if not names:
            return escape(row, True)
        pattern = "|".join(sorted(names, key=len, reverse=True))
        return re.sub(rf"\b(?:{pattern})\b(?=\s*[,)\[])", mark, escape(row, True))

    def title(self, item):
        if item.summary():
            return item.summary()
        users = [name for name in self.library.users(item.name) if name not in item.names]
        kind = {"struct": "struct", "enum": "constants", "macro": "macro"}.get(item.kind, "type")
        if item.name.endswith("_options"):
            kind = "options"
        return f"{kind} of {users[0]}()" if users else f"{kind} of <{item.header.include}>"

    def description(self, item):
        own = item.names
        out = [".SH DESCRIPTION"]
        blocks = list(item.description())
        out += self.blocks(blocks, own)
        if item.context():
            out += ([".PP"] if len(out) > 1 else []) + self.blocks(item.context(), own)
        for name, note in item.notes():
            out += [".TP", f".B {name}()"] + self.paragraph(note, own)
        same = item
        while (same := same.same_as()) is not None:
            out += [".PP", f"The description of \\fB{same.name}\\fR(3), which this refers to:",
                    ".RS 4"] + self.blocks(same.description(), own) + [".RE"]
        if not item.functions:
            users = [name for name in self.library.users(item.name)]
            if users:
                rows = ", ".join(f"\\fB{name}\\fR(3)" for name in users[:12])
                more = " and others" if len(users) > 12 else ""
                out += ([".PP"] if len(out) > 1 else []) + self.fill(f"Used by {rows}{more}.")
            elif len(out) == 1:
                out += self.fill(f"Declared in \\fB{item.header.page}\\fR(3).")
        return out

    def errors(self, item):
        found = item.errors()
        takes_pointers = any(function.returns == "int" and
                             any("*" in text for text, _ in function.params)
                             for function in item.functions)
        if not found:
            return []
        out = [".SH RETURN VALUE"] + self.fill(RETURNS) + [".SH ERRORS"]
        for error in found:
            if error.codes:
                out += self.labelled(error.codes, self.paragraph(error.text, item.names))
        for error in found:
            if not error.codes:
                out += [".PP"] + self.paragraph(error.text[:1].upper() + error.text[1:] +
                                                ("" if error.text.endswith(".") else "."))
        if takes_pointers:
            out += [".PP", f"\\fB\\-EINVAL\\fR also means that {NULLS}"]
        return out

    def fields(self, item):
        out = []
        for label, title, words in (("Owner", "OWNERSHIP", {}), ("Thread", "THREADS", THREADS),
                                    ("Blocks", "BLOCKING", BLOCKS), ("Since", "SINCE", {})):
            text = item.field(label)
            if not text:
                continue
            text = words.get(text.rstrip("."), text)
            text = text[:1].upper() + text[1:] if not text.startswith("ki_") else text
            text = f"kinformer {text}" if label == "Since" else text
            out += [f".SH {title}"] + self.paragraph(text, item.names)
        return out

    def see_also(self, item):
        texts = [block.text if isinstance(block.text, str) else " ".join(block.text)
                 for part in (item.own, item.group if item.context() else None)
                 if part is not None for block in part.blocks]
        texts += list((item.own.fields if item.own else {}).values())
        texts += [function.signature() for function in item.functions]
        found = []
        for match in model.NAME.finditer(" ".join(texts)):
            if self.page_of(match[0]) and match[0] not in item.names and match[0] not in found:
                found.append(match[0])
        entries = [one for one in item.header.items if one.functions]
        if item in entries:
            place = entries.index(item)
            near = entries[max(0, place - 1):place] + entries[place + 1:place + 2]
            found += [one.name for one in near if one.name not in found]
        return self.references(found[:16], [item.header.page])

    @staticmethod
    def references(names, pages=()):
        rows = sorted(names) + sorted(pages)
        lines = [f".BR {name} (3)," for name in rows] + [".BR kinformer (7)"]
        return [".SH SEE ALSO", *lines]

    def members(self, item):
        if not item.members or item.is_private:
            return []
        rows = [member for member in item.members if item.kind == "enum" or member.about or
                member.group]
        out = [".SH " + ("CONSTANTS" if item.kind == "enum" else "MEMBERS")] if rows else []
        for member in rows:
            if member.group is not None:
                out += [".PP"] + self.blocks(member.group.blocks)
            if item.kind == "enum":
                label = member.name + (f" = {member.value}" if member.value else "")
            else:
                label = member.code if len(member.code) <= WIDTH else member.name
            if member.about is None and item.kind != "enum":
                continue
            text = self.blocks(member.about.blocks) if member.about else []
            out += self.labelled(label, text)
        return out

    @staticmethod
    def labelled(label, text):
        """A label and its description; a long label gets its own line."""
        marked = f"\\fB{escape(label, True)}\\fR"
        if len(label) > 60:
            return [".PP", ".nf", marked, ".fi"] + ([".RS 7", *text, ".RE"] if text else [])
        return [".TP", marked, *(text or ["\\&"])]

    def type_code(self, item):
        if item.kind == "struct" and item.is_private:
            return [f".B typedef struct {item.name} {item.name};"]
        code = item.code
        if item.kind == "enum" and code == "enum":
            code = "enum { " + ", ".join(member.name for member in item.members) + " };"
        if item.kind in ("callback", "alias") and len(code) > WIDTH:
            code = "\n".join(textwrap.wrap(code, WIDTH, subsequent_indent=" " * 8,
                                           break_on_hyphens=False))
        return [f"\\fB{escape(row, True)}\\fR" for row in code.split("\n")]

    def page(self, item):
        code = []
        for function in item.functions:
            code += self.signature(function)
        code = code or self.type_code(item)
        names = item.names + (item.links if item.kind == "macro" else [])
        out = self.head(item.name, names, self.title(item))
        out += self.library_lines(item.header) + self.synopsis(item.header, code)
        out += self.description(item) + self.members(item) + self.errors(item)
        return joined(out + self.fields(item) + self.see_also(item))

    def listing(self, items):
        out = []
        for item in items:
            names = ", ".join(f"\\fB{name}\\fR(3)" for name in item.names)
            out += [".TP", names] + self.paragraph(self.title(item), self.library.items)
        return out

    def header_page(self, header):
        opaque = [item for item in header.items if item.kind == "opaque"]
        out = self.head(header.page, [header.page] + [item.name for item in opaque],
                        header.summary())
        code = [f".B {item.code}" for item in opaque]
        if header.to_include != header.include:
            code = [f"/* which includes <{header.include}> */", *code]
        out += self.library_lines(header) + self.synopsis(header, code)
        out += [".SH DESCRIPTION"] + self.blocks(header.head.blocks if header.head else [])
        for item in opaque:
            if item.description():
                out += [".TP", f".B {item.name}"] + self.blocks(item.description())
        out += self.sections(header)
        for label, title in (("Thread", "THREADS"), ("Blocks", "BLOCKING"), ("Since", "SINCE")):
            text = squeeze(header.head.fields.get(label, "")) if header.head else ""
            if text:
                out += [f".SH {title}"] + self.paragraph(text[:1].upper() + text[1:])
        others = [one.page for one in self.library.headers if one is not header and one.items and
                  header.head and re.search(rf"\b{one.stem}\.h\b", str(header.head.blocks))]
        return joined(out + self.references([], others))

    def sections(self, header):
        out, group = [], None
        functions = [item for item in header.items if item.functions]
        out += [".SH FUNCTIONS"] if functions else []
        for item in functions:
            title = item.group.title if item.group else ""
            if title and item.group is not group:
                out += [f".SS {self.inline(title[:1].upper() + title[1:])}"]
            group = item.group
            out += self.listing([item])
        for title, kinds in (("TYPES", ("struct", "enum", "callback", "alias")),
                             ("MACROS", ("macro",))):
            found = [item for item in header.items if item.kind in kinds and item.has_page]
            out += [f".SH {title}", *self.listing(found)] if found else []
        if header.constants:
            out += [".SH CONSTANTS", ".nf"]
            out += [f"\\fB{escape(name, True)}\\fR" for name, _ in header.constants] + [".fi"]
        return out

    def pages(self):
        """{file: text}"""
        found = {}
        for header in self.library.headers:
            if not header.items and not header.constants:
                continue
            found[f"{header.page}.3"] = self.header_page(header)
            for item in header.items:
                if item.kind == "opaque":
                    found[f"{item.name}.3"] = f".so man3/{header.page}.3\n"
                elif item.has_page:
                    found[f"{item.name}.3"] = self.page(item)
                    for name in item.names[1:] + item.links:
                        found[f"{name}.3"] = f".so man3/{item.name}.3\n"
        return found
