# SPDX-License-Identifier: Apache-2.0
"""The picture: bars, one panel for each thing that was measured. Shorter is better in all."""
from results import family, figure, name_of

PANELS = [
    ("CPU of the first sync, s", "sync", "cpu_s", 1.0),
    ("settled memory, MB", "memory", "rss", 1e-6),
    ("CPU of a replayed event, µs", "replay", "cpu_us_event", 1.0),
    ("latency from write to handler, p99, ms", "latency", "p99_ms", 1.0),
    ("CPU of a relist, nothing changed, s", "relist", "cpu_s", 1.0),
    ("stripped program, MB", "size", "bytes", 1e-6),
]
COLOURS = {"curl": "#8a8f98", "kinformer": "#1f77b4", "client-go": "#3aa0a0", "kube-rs": "#c4623a"}
COLUMNS, WIDTH, GAP = 2, 480, 20
LABEL, VALUE, BAR, STEP, HEAD = 165, 60, 14, 20, 30


def bars_of(results, row, name, scale):
    if row == "size":
        pairs = [(kind, "") for kind in ("kinformer", "client-go", "kube-rs")]
    else:
        pairs = results.clients()
        if row == "memory":
            pairs += [pair for pair in results.variants() if not pair[0].endswith("-none")]
    found = []
    for kind, mode in pairs:
        value = results.median(row, kind, mode, name)
        if value is not None:
            label = name_of(kind, mode) if mode else kind
            found.append((label, family(kind), value * scale))
    if row == "memory" and results.objects:
        found.insert(0, ("the objects' bytes", "curl", results.objects["protobuf_bytes"] * scale))
    return found


def panel(title, bars, left, top):
    most = max(value for _, _, value in bars)
    room = WIDTH - LABEL - VALUE
    lines = [f'<text x="{left}" y="{top + 14}" font-weight="bold">{title}</text>']
    for number, (label, kind, value) in enumerate(bars):
        y = top + HEAD + number * STEP
        length = max(1, round(room * value / most))
        lines += [f'<text x="{left + LABEL - 6}" y="{y + 11}" text-anchor="end">{label}</text>',
                  f'<rect x="{left + LABEL}" y="{y}" width="{length}" height="{BAR}"',
                  f' fill="{COLOURS[kind]}"/>',
                  f'<text x="{left + LABEL + length + 5}" y="{y + 11}">{figure(value)}</text>']
    return lines


def draw(results):
    panels = [(title, bars_of(results, row, name, scale)) for title, row, name, scale in PANELS]
    return page([(title, bars) for title, bars in panels if bars])


def page(panels):
    """All panels, each a title and bars: label, whose colour, value."""
    lines, top = [], GAP
    for first in range(0, len(panels), COLUMNS):
        line = panels[first:first + COLUMNS]
        for column, (title, bars) in enumerate(line):
            lines += panel(title, bars, GAP + column * (WIDTH + GAP), top)
        top += HEAD + max(len(bars) for _, bars in line) * STEP + GAP
    width = GAP + COLUMNS * (WIDTH + GAP)
    head = ['<!-- SPDX-License-Identifier: Apache-2.0 -->',
            f'<svg xmlns="http://www.w3.org/2000/svg" width="{width}" height="{top}"',
            ' font-family="sans-serif" font-size="12" fill="#202428">',
            f'<rect width="{width}" height="{top}" fill="#ffffff"/>']
    return "\n".join([*head, *lines, "</svg>"]) + "\n"
