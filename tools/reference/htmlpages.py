# SPDX-License-Identifier: Apache-2.0
"""The reference as HTML: a page for each header, an index by name, and one style sheet. Nothing is
fetched from elsewhere, and no script is needed."""
import html
import re

from reference import manpages, model
from reference.contract import squeeze

STYLE = """\
:root { color-scheme: light dark; --text: #1b1f24; --back: #ffffff; --soft: #f4f6f8;
  --line: #d5dae0; --link: #0a58a6; --dim: #57606a; }
@media (prefers-color-scheme: dark) {
  :root { --text: #e4e8ec; --back: #14171a; --soft: #1e2327; --line: #39414a; --link: #7ab8ff;
    --dim: #9aa5b1; }
}
* { box-sizing: border-box; }
body { margin: 0 auto; max-width: 52rem; padding: 1rem; color: var(--text);
  background: var(--back); font: 1rem/1.5 system-ui, sans-serif; overflow-wrap: anywhere; }
a { color: var(--link); text-decoration: none; }
a:hover, a:focus { text-decoration: underline; }
code, pre { font-family: ui-monospace, "DejaVu Sans Mono", Menlo, Consolas, monospace;
  font-size: 0.875em; }
pre { background: var(--soft); border: 1px solid var(--line); border-radius: 4px;
  padding: 0.6rem 0.75rem; overflow-x: auto; overflow-wrap: normal; line-height: 1.4; }
h1 { font-size: 1.5rem; } h2 { font-size: 1.2rem; margin-top: 2.5rem; }
h3 { font-size: 1rem; margin: 2rem 0 0.5rem; }
section { border-top: 1px solid var(--line); margin-top: 2rem; }
section h3 { margin-top: 1rem; } section:target h3 { background: var(--soft); }
pre.code { white-space: pre-wrap; overflow-wrap: anywhere; }
table { border-collapse: collapse; }
td, th { border-top: 1px solid var(--line); padding: 0.25rem 0.75rem 0.25rem 0; text-align: left;
  vertical-align: top; }
td:first-child { overflow-wrap: break-word; }
dl { margin: 0.5rem 0; } dt { margin-top: 0.5rem; } dd { margin: 0 0 0 1.25rem; }
dd > p { margin: 0 0 0.5rem; }
dl.fields { display: grid; grid-template-columns: 5.5rem minmax(0, 1fr); gap: 0.25rem 0.5rem; }
dl.fields > dt { margin: 0; color: var(--dim); } dl.fields > dd { margin: 0; }
@media (max-width: 36rem) {
  .errors { grid-column: 1 / -1; } .errors td { display: block; padding: 0; }
  .errors td + td { border: 0; padding: 0 0 0.4rem 1.25rem; }
}
nav, .dim { color: var(--dim); }
ul.names { list-style: none; padding: 0; columns: 16rem; column-gap: 2rem; }
"""
LABELS = (("Owner", "Owner", {}), ("Thread", "Threads", manpages.THREADS),
          ("Blocks", "Blocking", manpages.BLOCKS), ("Since", "Since", {}))
_TOKEN = re.compile(r"`([^`]*)`|<?((?:kinformer/)?(?:parts/)?[a-z_]+\.h)\b>?"
                    r"|\b(ki_[a-z]\w*|KI_[A-Z]\w*)")


def page_name(header):
    """parts/store.h and store.h may both exist."""
    if header.path == model.UMBRELLA:
        return "index.html"
    return header.include.replace("kinformer/", "", 1).replace("/", "_")[:-2] + ".html"


class Writer:
    def __init__(self, library, version):
        self.library = library
        self.version = version
        self.headers = {}
        for header in library.headers:
            for name in (header.include, header.include.replace("kinformer/", "", 1),
                         header.stem + ".h"):
                self.headers.setdefault(name, header)

    def target(self, name):
        """Where a name is described; None if it is nowhere."""
        item = self.library.items.get(name) or self.library.constants.get(name)
        if item is None:
            return None
        header = item if isinstance(item, model.Header) else item.header
        return f"{page_name(header)}#{name}"

    def link(self, name, text=None):
        target = self.target(name)
        text = html.escape(text or name, quote=False)
        return f'<a href="{target}">{text}</a>' if target else text

    def inline(self, text):
        parts, place = [], 0
        text = squeeze(text)
        for match in _TOKEN.finditer(text):
            parts.append(html.escape(text[place:match.start()], quote=False))
            place = match.end()
            header = self.headers.get(match[2])
            if match[1] is not None:
                parts.append(f"<code>{self.link(match[1])}</code>")
            elif header is not None:
                parts.append(f'<a href="{page_name(header)}">'
                             f"<code>{html.escape(match[0])}</code></a>")
            elif match[3] is not None:
                parts.append(f"<code>{self.link(match[3])}</code>")
            else:
                parts.append(html.escape(match[0], quote=False))
        return "".join(parts + [html.escape(text[place:], quote=False)])

    def code(self, text):
        """Code in which known names are links."""
        return re.sub(r"\b(?:ki_[a-z]\w*|KI_[A-Z]\w*)", lambda match: self.link(match[0]),
                      html.escape(text, quote=False))

    def blocks(self, blocks):
        out = []
        for block in blocks:
            if block.kind == "pre":
                out.append("<pre>" + self.code("\n".join(block.text)) + "</pre>")
            elif block.kind == "list":
                rows = "".join(f"<li>{self.inline(row)}</li>" for row in block.text)
                out.append(f"<ul>{rows}</ul>")
            else:
                out.append(f"<p>{self.inline(block.text)}</p>")
        return "\n".join(out)

    def errors(self, item):
        found = item.errors()
        rows = "".join(f"<tr><td><code>{html.escape(one.codes)}</code></td>"
                       f"<td>{self.inline(one.text)}</td></tr>" for one in found if one.codes)
        table = f"<table><tbody>{rows}</tbody></table>" if rows else ""
        rest = " ".join(f"<p>{self.inline(one.text[:1].upper() + one.text[1:])}</p>"
                        for one in found if not one.codes)
        return f'<dt class="errors">Errors</dt><dd class="errors">{table}{rest}</dd>' \
            if found else ""

    def fields(self, item):
        rows = self.errors(item)
        for label, title, words in LABELS:
            text = item.field(label)
            if text:
                text = words.get(text.rstrip("."), text)
                text = text if text.startswith("ki_") else text[:1].upper() + text[1:]
                rows += f"<dt>{title}</dt><dd>{self.inline(text)}</dd>"
        return f'<dl class="fields">{rows}</dl>' if rows else ""

    def members(self, item):
        if not item.members or item.is_private:
            return ""
        rows = ""
        for member in item.members:
            if member.group is not None:
                rows += f"</dl>{self.blocks(member.group.blocks)}<dl>"
            if item.kind == "enum":
                value = f" = {html.escape(member.value)}" if member.value else ""
                rows += f'<dt id="{member.name}"><code>{member.name}{value}</code></dt>'
            elif member.about is not None:
                rows += f"<dt><code>{self.code(member.code)}</code></dt>"
            if member.about is not None:
                rows += f"<dd>{self.blocks(member.about.blocks)}</dd>"
        return f"<dl>{rows}</dl>" if rows else ""

    def synopsis(self, item):
        if item.functions:
            return "\n".join(self.wrapped(function) for function in item.functions)
        if item.kind == "struct" and item.is_private:
            return f"typedef struct {item.name} {item.name};"
        if item.code == "enum":
            return "enum { " + ", ".join(one.name for one in item.members) + " };"
        return self.code(item.code)

    def wrapped(self, function):
        """A signature, one parameter in a line if it is long."""
        text = function.signature()
        if len(text) > 76 and len(function.params) > 1:
            start = text.split("(")[0] + "("
            text = start + "\n    " + ",\n    ".join(one for one, _ in function.params) + ");"
        return self.code(text)

    def entry(self, item):
        names = item.names + item.links
        place = "" if item.code == "enum" else f' id="{names[0]}"'
        anchors = "".join(f'<span id="{name}"></span>' for name in names[1:])
        notes = "".join(f"<dt><code>{name}</code></dt><dd>{self.inline(note)}</dd>"
                        for name, note in item.notes())
        same = item.same_as()
        before = f'<p class="dim">See {self.link(same.name)} above.</p>' if same else ""
        return (f"<section{place}>{anchors}"
                f"<h3>{', '.join(f'<code>{name}</code>' for name in names)}</h3>\n"
                f'<pre class="code">{self.synopsis(item)}</pre>'
                f"\n{self.blocks(item.description())}\n"
                f"{self.blocks(item.context())}{f'<dl>{notes}</dl>' if notes else ''}{before}\n"
                f"{self.members(item)}{self.fields(item)}</section>\n")

    def frame(self, title, body):
        return (f'<!DOCTYPE html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
                f'<meta name="viewport" content="width=device-width, initial-scale=1">\n'
                f"<title>{html.escape(title)}</title>\n"
                f'<link rel="stylesheet" href="style.css">\n</head>\n<body>\n'
                f'<nav><a href="index.html">kinformer {self.version}</a> · '
                f'<a href="names.html">all names</a></nav>\n{body}</body>\n</html>\n')

    def header_page(self, header):
        body = f"<h1><code>&lt;{html.escape(header.include)}&gt;</code></h1>\n"
        if header.to_include != header.include:
            body += f'<p class="dim">Included by <code>&lt;{header.to_include}&gt;</code>.</p>\n'
        body += self.blocks(header.head.blocks if header.head else [])
        rows = [(label, squeeze(header.head.fields[label])) for label in
                ("Thread", "Blocks", "Since") if header.head and label in header.head.fields]
        body += '<dl class="fields">' + "".join(f"<dt>{label}</dt><dd>{self.inline(text)}</dd>"
                                 for label, text in rows) + "</dl>\n" if rows else ""
        group = None
        for item in header.items:
            title = item.group.title if item.group else ""
            if title and item.group is not group:
                body += f"<h2>{self.inline(title[:1].upper() + title[1:])}</h2>\n"
            group = item.group
            body += self.entry(item)
        if header.constants:
            rows = "".join(f'<li id="{name}"><code>{name}</code></li>'
                           for name, _ in header.constants)
            body += f'<h2>Constants</h2>\n<ul class="names">{rows}</ul>\n'
        return self.frame(header.include, body)

    def index(self):
        body = "<h1>kinformer: reference</h1>\n"
        umbrella = next((one for one in self.library.headers if one.path == model.UMBRELLA), None)
        if umbrella is not None and umbrella.head:
            body += self.blocks(umbrella.head.blocks)
        for title, headers in tiers(self.library):
            rows = "".join(
                f'<dt><a href="{page_name(one)}"><code>{one.include}</code></a></dt>'
                f"<dd>{self.inline(one.summary())}</dd>\n" for one in headers)
            body += f"<h2>{self.inline(title)}</h2>\n<dl>\n{rows}</dl>\n"
        return self.frame("kinformer: reference", body)

    def names(self):
        names = sorted(set(self.library.items) | set(self.library.constants), key=str.lower)
        rows = "".join(f"<li><code>{self.link(name)}</code></li>\n" for name in names)
        return self.frame("kinformer: names", f"<h1>All names</h1>\n<ul class=\"names\">\n"
                                              f"{rows}</ul>\n")

    def pages(self):
        """{file: text}"""
        found = {"style.css": STYLE, "index.html": self.index(), "names.html": self.names()}
        for header in self.library.headers:
            if header.items or header.constants:
                found[page_name(header)] = self.header_page(header)
        return found


def tiers(library):
    """The headers in their tiers, as (title, headers)."""
    shown = [one for one in library.headers if one.items or one.constants]
    server = [one for one in shown if one.stem == "apiserver"]
    monitor = [one for one in shown if one.stem == "monitor_server"]
    parts = [one for one in shown if one.is_part]
    rest = [one for one in shown if one not in server + monitor + parts]
    common = [one for one in rest if one.umbrella]
    named = [one for one in rest if not one.umbrella]
    rows = (("Applications: <kinformer/kinformer.h>", common),
            ("More for applications, included by name: <kinformer/...>", named),
            ("Building blocks: <kinformer/parts/...>", parts),
            ("The embedded API server: <kinformer/apiserver.h>", server),
            ("The monitor server: <kinformer/monitor_server.h>", monitor))
    return [(title, headers) for title, headers in rows if headers]
