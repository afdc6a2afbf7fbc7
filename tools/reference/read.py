# SPDX-License-Identifier: Apache-2.0
"""Reads the public headers into the model. Everything that cannot be parsed is reported."""
import re

import csource
from reference import contract as contracts
from reference import model
from reference.contract import squeeze
from reference.model import Function, Header, Item, Library, Member
from reference.scan import Comment, Directive, scan, scan_header

_ATTRIBUTES = re.compile(r"\b(?:KI_API|KI_NODISCARD|extern|static|inline)\b"
                         r"|\bKI_(?:PRINTF|DEPRECATED)\([^)]*\)")
_IGNORED = re.compile(r"(?:_Static_assert|static_assert)\b|KI_[A-Z0-9_]+\(|(?:struct|union) \w+$"
                      r"|static inline [^(]*\bki__\w+\s*\(")
# The objects behind the constants of built-in resources have no pages: programs use the constants.
_RESOURCE = re.compile(r"KI_API extern const ki_resource ki_\w+$")
_DEFINE = re.compile(r"#\s*define\s+(\w+)(\(([^)]*)\))?\s*(.*)", re.DOTALL)
_DIRECTIVES = re.compile(r"^[ \t]*#(?:\\\n|[^\n])*", re.MULTILINE)
_ROW = re.compile(r"\bX\(((?:\"(?:\\.|[^\"\\])*\"|[^()\"])*)\)")
_HAS_WORDS = re.compile(r"[A-Za-z]{2}|\"")


def split_list(text, separator=","):
    """The parts of a list at commas that are in no brackets and no string."""
    parts, depth, start = [], 0, 0
    for match in re.finditer(r'"(?:\\.|[^"\\])*"|[()\[\]{},]', text):
        depth += {"(": 1, "[": 1, "{": 1, ")": -1, "]": -1, "}": -1}.get(match[0], 0)
        if match[0] == separator and depth == 0:
            parts.append(text[start:match.start()].strip())
            start = match.end()
    last = text[start:].strip()
    return parts + ([last] if last else [])


def parameter_name(text):
    pointer = re.search(r"\(\s*\*\s*(\w+)\s*\)", text)
    if pointer:
        return pointer[1]
    plain = re.search(r"(\w+)\s*(?:\[[^\]]*\]\s*)*$", text)
    return plain[1] if plain and text != "void" else ""


def parse_function(text, line):
    """A function or a variable of KI_API, or an inline function; None if it is neither."""
    code = squeeze(_ATTRIBUTES.sub(" ", csource.strip_comments(text).split("{")[0]))
    match = re.match(r"(.*?)\b(ki_\w+)\s*\((.*)\)$", code)
    if match:
        params = [(squeeze(part), parameter_name(part)) for part in split_list(match[3])]
        return Function(match[2], match[1].strip(), [one for one in params if one[0] != "void"],
                        line)
    data = re.match(r".*?\b(ki_\w+)\s*(?:\[[^\]]*\]\s*)*$", code)
    return Function(data[1], code, [], line, is_data=True) if data and "(" not in code else None


def comment_text(comment):
    """The text of a comment behind a declaration."""
    if comment is None:
        return ""
    rows = contracts.body_lines(comment.text)
    return squeeze(" ".join(text for _, text in rows))


class Reader:
    """Reads one header."""

    def __init__(self, path, text):
        self.header = Header(path)
        self.text = text
        self.complaints = []
        self.pending = None  # a contract comment without its declaration so far
        self.group = None
        self.group_comment = None
        self.group_prose = False
        self.attached = False  # the group comment immediately precedes the next declaration
        self.entry = None  # functions, or macros, that the next bare declaration may join
        self.macros = {}  # name: (parameters, body)
        self.undefined = set()

    def complain(self, line, text):
        self.complaints.append(f"{self.header.path}:{line}: {text}")

    def contract(self, comment, parse=contracts.parse):
        parsed = parse(comment.text, comment.line)
        for line, text in parsed.complaints:
            self.complain(line, text)
        return parsed

    def run(self):
        items = scan_header(self.text)
        guard = next((number for number, item in enumerate(items)
                      if isinstance(item, Directive)), len(items))
        heads = [item for item in items[:guard] if "SPDX-License" not in item.text]
        if not heads:
            self.complain(1, "no comment at the head says what this header is for")
        else:
            self.header.head = self.contract(heads[0])
        self.undefined = set(re.findall(r"#\s*undef\s+(\w+)", self.text))
        for item in items[guard:]:
            self.item(item)
        self.drop_pending()
        return self.header

    def drop_pending(self):
        if self.pending is not None:
            self.complain(self.pending.line, "this comment belongs to no declaration")
        self.pending = None

    def item(self, item):
        if isinstance(item, Comment):
            self.comment(item)
        elif isinstance(item, Directive):
            self.directive(item)
        else:
            self.declaration(item)

    def comment(self, comment):
        self.entry = None
        self.drop_pending()
        if comment.is_contract:
            self.end_attached(comment)
            self.pending = self.contract(comment)
        else:
            self.group = self.contract(comment, contracts.parse_group)
            self.group_comment = comment
            self.group_prose = self.attached = True

    def end_attached(self, item):
        """A blank line ends what a comment right before declarations says of them."""
        if item.blank_before and self.attached:
            self.attached = False
            is_detached = self.header.items and self.header.items[-1].group is self.group
            self.group_prose = not is_detached

    def take(self, item, kind, name, **more):
        """A new item of the header, with the comments that are for it."""
        new = Item(kind, name, item.line, own=self.pending, group=self.group,
                   group_prose=self.group_prose, header=self.header, **more)
        if self.pending is not None and item.blank_before:
            self.complain(self.pending.line, "a blank line separates this comment from "
                                             f"the declaration of {name}")
        self.pending = None
        self.header.items.append(new)
        return new

    def adopt_group(self, item):
        """A plain comment right above a type or a macro belongs to it only."""
        if self.pending is None and self.attached and not item.blank_before:
            self.pending = contracts.parse(self.group_comment.text, self.group_comment.line)
            self.group, self.group_prose, self.attached = None, False, False

    def directive(self, item):
        match = _DEFINE.match(item.text)
        if match is None or match[1].startswith(("KINFORMER_", "KI__")):
            return
        name, params, body = match[1], match[3], match[4].replace("\\\n", "\n")
        known = name in self.macros
        self.macros[name] = (params, body)
        if known or name in self.undefined:
            self.pending = None
            return
        self.end_attached(item)
        self.adopt_group(item)
        self.macro(item, name, params, body)

    def macro(self, item, name, params, body):
        above, self.entry = self.entry, None
        code = squeeze(f"#define {name}" + (f"({params})" if params is not None else " " + body))
        if params == "X" and _ROW.search(body):
            self.pending = None  # the enum that is made of it shows the rows
        elif self.pending is not None:
            self.entry = self.take(item, "macro", name, code=code)
        elif comment_text(item.trailing):
            self.take(item, "macro", name, code=code).own = \
                contracts.parse(item.trailing.text, item.line)
        elif above is not None and above.kind == "macro" and not item.blank_before:
            above.code += "\n" + code
            above.links.append(name)
            self.entry = above
        elif body.strip() and params is None and "__attribute__" not in body:
            self.header.constants.append((name, squeeze(body)))

    def declaration(self, item):
        text = squeeze(csource.strip_comments(item.text))
        self.end_attached(item)
        if _RESOURCE.match(text):
            return
        if text.startswith("KI_API") or text.startswith("static inline") and \
                not _IGNORED.match(text):
            self.function(item)
            return
        self.entry = None
        if text.startswith(("typedef", "enum {", "enum ki_", "struct ki_")) and text[-1] != ")" \
                and "{" in text or text.startswith("typedef"):
            self.adopt_group(item)
            self.type(item, text)
        elif not _IGNORED.match(text):
            self.complain(item.line, f"not understood: {text[:60]}")

    def function(self, item):
        function = parse_function(item.text, item.line)
        if function is None:
            self.complain(item.line, f"no function and no variable: {squeeze(item.text)[:60]}")
            return
        function.note = comment_text(item.trailing)
        is_described = _HAS_WORDS.search(function.note)  # not by a mark such as (*)
        joins = self.entry is not None and self.entry.functions and not item.blank_before and \
            (self.entry.own is not None or not is_described)
        if joins:
            self.entry.functions.append(function)
            return
        previous = next((one for one in reversed(self.header.items) if one.functions), None)
        entry = self.take(item, "function", function.name, functions=[function],
                          previous=previous)
        self.entry = None if entry.own is None and is_described else entry

    def type(self, item, text):
        name = re.search(r"(\w+)$", text)
        callback = re.match(r"typedef [^{]*?\(\*\s*(ki_\w+)\)\s*\(", text)
        body = re.search(r"\{(.*)\}", item.text, re.DOTALL)
        line = item.line + item.text[:body.start(1)].count("\n") if body else item.line
        if re.match(r"(typedef )?enum\b", text) and body:
            members = self.constants(body[1], line)
            name = re.search(r"\}\s*(\w+)$", text) or re.match(r"enum (\w+)", text)
            new = self.take(item, "enum", name[1] if name else members[0].name, members=members)
            new.code = f"typedef enum {name[1]} {name[1]};" if name else "enum"
            maps = re.findall(r"\b(KI_\w+_MAP)\(", text)
            new.links = [one for one in maps if one in self.macros]
        elif body:
            new = self.take(item, "struct", name[1], members=self.members(body[1], line))
            new.code = "\n".join(line.rstrip() for line in struct_code(item.text))
        elif callback:
            self.take(item, "callback", callback[1], code=text + ";")
        elif re.match(r"typedef (struct|union) (\w+) \2$", text):
            self.take(item, "opaque", name[1], code=text + ";")
        elif name:
            self.take(item, "alias", name[1], code=text + ";")
        else:
            self.complain(item.line, f"not understood: {text[:60]}")

    def members(self, body, line):
        """The members of a struct, each with its comment."""
        found = []
        about = group = None
        for item in scan(body, line):
            if isinstance(item, Comment) and item.is_contract:
                about = self.contract(item)
            elif isinstance(item, Comment):
                group = self.contract(item)
            elif not isinstance(item, Directive):
                code = squeeze(csource.strip_comments(item.text))
                if about is None and item.trailing is not None:
                    about = contracts.parse(item.trailing.text, item.line)
                found.append(Member(code, parameter_name(code), about, group))
                about = group = None
        return found

    def constants(self, body, line):
        """The constants of an enum, those of an X-map included."""
        found = []
        about = None
        for match in _DIRECTIVES.finditer(body):
            define = _DEFINE.match(match[0].strip())
            if define:
                self.macros[define[1]] = (define[3], define[4])
        body = _DIRECTIVES.sub("", body)
        for item in scan(body, line, ","):
            if isinstance(item, Comment):
                trails = found and not item.blank_before and not item.is_contract
                if trails and found[-1].about is None:
                    found[-1].about = contracts.parse(item.text, item.line)
                elif item.is_contract:
                    about = self.contract(item)
            else:
                found += self.constant(squeeze(csource.strip_comments(item.text)), item, about)
                about = None
        if not found:
            self.complain(line, "an enum without constants")
            found = [Member("", "unknown")]
        return found

    def constant(self, code, item, about):
        expansion = re.match(r"(KI_\w+)\((KI_\w+)\)\s*(.*)$", code)
        if expansion and expansion[1] in self.macros and expansion[2] in self.macros:
            found = expand(self.macros[expansion[1]][1], *self.macros[expansion[2]])
            rest = expansion[3]
            return found + ([Member(rest, rest.split(" ")[0])] if rest else [])
        name, _, value = (part.strip() for part in code.partition("="))
        if not re.fullmatch(r"KI_\w+", name):
            self.complain(item.line, f"not a constant: {code[:60]}")
            return []
        if about is None and item.trailing is not None:
            about = contracts.parse(item.trailing.text, item.line)
        return [Member(code, name, about, None, value)]


def expand(rows, params, body):
    """The constants that the rows of an X-map make; texts in a row are what is said of it."""
    names = [one.strip() for one in params.split(",")]
    found = []
    for row in _ROW.finditer(rows):
        values = dict(zip(names, split_list(row[1])))
        code = re.sub(r"\s*##\s*(\w+)", lambda match: values.get(match[1], match[1]), body)
        code = re.sub(r"\w+", lambda match: values.get(match[0], match[0]), code).rstrip(", ")
        name, _, value = (part.strip() for part in code.partition("="))
        texts = [value for value in values.values() if value.startswith('"') and len(value) > 2]
        about = contracts.Contract(blocks=[contracts.Block("para", texts[0])]) if texts else None
        found.append(Member(code, name, about, None, value.strip("()")))
    return found


def struct_code(text):
    """A struct without its comments and blank lines."""
    for line in csource.strip_comments(text + ";").split("\n"):
        if line.strip():
            yield line


def drop_repeated(headers):
    """A header may repeat `typedef struct ki_x ki_x;` of another. It counts where the struct is,
    else in the header of that name, else where it comes first."""
    places = {}
    for header in headers:
        for item in header.items:
            places.setdefault(item.name, []).append(item)
    for name, items in places.items():
        named = [item for item in items if f"ki_{item.header.stem}" == name]
        best = next((item for item in items if item.kind != "opaque"), (named or items)[0])
        for item in items:
            if item.kind == "opaque" and item is not best:
                others = [one for one in item.header.items if one is not item]
                item.header.items = others


def add_names(library, header):
    """Adds the names of a header; duplicates are reported."""
    for item in header.items:
        for name in item.names + item.links:
            if name in library.items:
                library.complaints.append(f"{header.path}:{item.line}: {name} is declared twice")
            library.items[name] = item
        for member in item.members if item.kind == "enum" else []:
            library.constants[member.name] = item
    for name, _ in header.constants:
        library.constants[name] = header


def check_items(header):
    """Parts of a page that the header lacks."""
    for item in header.items:
        if not item.functions:
            continue
        for function in item.functions:
            if not (item.description() or item.own is None and item.context() or function.note):
                yield f"{header.path}:{function.line}: nothing says what {function.name} does"
        if not item.field("Since"):
            yield f"{header.path}:{item.line}: {item.name} does not say `Since:`"


def check_mentions(path, text, known):
    """Names in comments must be those of something public. Those of typed views are made by
    macros."""
    for start, comment in csource.comments(text):
        for match in model.NAME.finditer(comment):
            if match[0] not in known and not csource.VIEW_NAME.fullmatch(match[0]):
                line = text.count("\n", 0, start + match.start()) + 1
                yield f"{path}:{line}: mentions {match[0]}, which no public header declares"


def read(tree):
    """The library that the headers in {path: text} declare."""
    library = Library([], {}, {}, [])
    included = {model.INCLUDE + one.path for one in
                csource.includes(tree.get(model.UMBRELLA, ""))} | {model.UMBRELLA}
    while True:  # what kinformer.h includes, however deep
        more = {model.INCLUDE + one.path for path in included if path in tree
                for one in csource.includes(tree[path])} - included
        if not more:
            break
        included |= more
    for path in sorted(tree):
        if path.startswith(model.INCLUDE) and path.endswith(".h"):
            reader = Reader(path, tree[path])
            header = reader.run()
            header.umbrella = path in included
            library.complaints += reader.complaints
            library.headers.append(header)
            library.complaints += check_items(header)
    drop_repeated(library.headers)
    for header in library.headers:
        add_names(library, header)
    known = {name for text in tree.values()
             for name in model.NAME.findall(csource.strip_comments(text))}
    known |= set(library.constants) | set(library.items)
    known |= {name[:place.start()] for name in known for place in re.finditer("_", name)}
    for path, text in sorted(tree.items()):
        library.complaints += check_mentions(path, text, known)
    return library
