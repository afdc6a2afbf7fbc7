# SPDX-License-Identifier: Apache-2.0
"""Tables and the picture. docs/benchmarks.md has words around a part that is written here."""
import json
import re

import picture
from clients import ROOT
from results import figure, name_of, spread

PAGE = ROOT / "docs" / "benchmarks.md"
PICTURE = ROOT / "docs" / "benchmarks.svg"
RAW = ROOT / "docs" / "benchmarks.json"
MB = 1e-6


def table(head, rows):
    lines = [head, ["---"] * len(head), *rows]
    return "".join(f"| {' | '.join(line)} |\n" for line in lines)


def times(value, digits=2):
    return "-" if value is None else f"{value:.{digits}f}"


def by_curl(results, row, name, kind, mode, curl_mode):
    mine = results.median(row, kind, mode, name)
    floor = results.median(row, "curl", curl_mode, name)
    return times(mine / floor if mine and floor else None)


def first_contact(results):
    rows = []
    for kind, mode in results.clients():
        rows.append([name_of(kind, mode), spread(results.all("sync", kind, mode, "cpu_s")),
                     by_curl(results, "sync", "cpu_s", kind, mode, mode),
                     spread(results.all("sync", kind, mode, "wall_s")),
                     figure(results.median("sync", kind, mode, "server_cpu_s"))])
    return table(["first sync", "CPU, s", "/ curl's", "time, s", "CPU of the server, s"], rows)


def memory(results):
    rows = []
    objects = results.objects.get("protobuf_bytes")
    for kind, mode in results.clients():
        settled = results.median("memory", kind, mode, "rss")
        if settled is None:
            continue
        rows.append([name_of(kind, mode),
                     spread(results.all("memory", kind, mode, "rss"), MB),
                     times(settled / objects if objects else None),
                     spread(results.all("memory", kind, mode, "peak"), MB),
                     spread(results.all("memory", kind, mode, "collected_rss"), MB),
                     spread(results.all("replay", kind, mode, "rss"), MB),
                     spread(results.all("relist", kind, mode, "peak"), MB)])
    return table(["memory", "settled, MB", "/ bytes of objects", "peak, MB", "collected, MB",
                  "after a change of all, MB", "peak of a relist, MB"], rows)


def less_memory(results):
    """Clients that keep less of each object, or the same in less memory."""
    rows = []
    for kind, mode in results.clients() + results.variants():
        settled = results.median("memory", kind, mode, "rss")
        if settled is None or mode != "stream":
            continue
        per_pod = results.per_pod(kind, mode)
        peak = results.median("memory", kind, mode, "peak")
        rows.append([name_of(kind, mode), spread(results.all("sync", kind, mode, "cpu_s")),
                     spread(results.all("sync", kind, mode, "wall_s")),
                     spread(results.all("memory", kind, mode, "rss"), MB),
                     "-" if per_pod is None or kind.endswith("-none") else figure(per_pod / 1e3),
                     times(peak / settled),
                     spread(results.all("memory", kind, mode, "collected_rss"), MB)])
    return table(["kept in memory", "first sync: CPU, s", "time, s", "settled, MB", "KB per pod",
                  "peak / settled", "collected, MB"], rows) if results.variants() else ""


def changes(results):
    rows = []
    for kind, mode in results.clients():
        if not results.all("replay", kind, mode, "events_s"):
            continue
        rows.append([name_of(kind, mode),
                     spread(results.all("replay", kind, mode, "cpu_us_event")),
                     by_curl(results, "replay", "cpu_us_event", kind, mode, "stream"),
                     spread(results.all("replay", kind, mode, "events_s")),
                     spread(results.all("latency", kind, mode, "p50_ms")),
                     spread(results.all("latency", kind, mode, "p99_ms")),
                     spread(results.all("relist", kind, mode, "cpu_s")),
                     spread(results.all("relist", kind, mode, "wall_s"))])
    return table(["changes", "CPU per event, µs", "/ curl's", "events/s", "latency p50, ms",
                  "latency p99, ms", "relist: CPU, s", "relist: time, s"], rows)


def programs(results):
    rows = [[kind, spread(results.all("size", kind, "", "bytes"), MB)]
            for kind in ("kinformer", "client-go", "kube-rs")
            if results.all("size", kind, "", "bytes")]
    return table(["stripped program", "MB"], rows)


def targets(results):
    rows = []
    for text, limit, value in results.targets():
        if limit is None:
            rows.append([text, "", times(value), ""])
            continue
        reached = "-" if value is None else "yes" if value <= limit else "**no**"
        rows.append([text, f"at most {limit:g}", times(value), reached])
    return table(["goal", "", "measured", "met"], rows)


def facts(results):
    run, objects = results.run, results.objects
    pods = objects.get("pods", 0)
    json_bytes = objects.get("json_bytes", 0) / max(pods, 1)
    lines = [f"Produced by `{run.get('command', '')}` on {run.get('date', '')}: {pods:,} pods, "
             f"{objects.get('protobuf_bytes', 0) / max(pods, 1):,.0f} bytes of protobuf"
             f"{f' and {json_bytes:,.0f} of JSON' if json_bytes else ''} each, "
             f"rounds: {run.get('rounds', 0)}. Medians; in parentheses minimum and "
             "maximum."]
    lines += ["", *(f"- {line}" for line in run.get("machine", []))]
    if run.get("load", 0) > 0.5:
        lines.append(f"- **The machine was busy when it began: load {run['load']:.1f}**")
    return "\n".join(lines) + "\n"


def text(results):
    parts = [facts(results), first_contact(results), memory(results), less_memory(results),
             changes(results), programs(results), targets(results)]
    return "\n".join(part for part in parts if part)


def scale_targets(results):
    packed = results.median("memory", "kinformer-packed", "stream", "rss")
    limit, pods = 260, results.objects.get("pods", 0)
    reached = "-" if packed is None else "yes" if packed * MB <= limit else "**no**"
    return table(["goal", "", "measured", "met"],
                 [[f"{pods:,} pods packed, resident, MB", f"at most {limit}",
                   figure(packed * MB if packed else None), reached]])


def scale_text(results):
    parts = [facts(results), less_memory(results)]
    aimed = [(text, limit, value) for text, limit, value in results.memory_targets()
             if value is not None]
    parts.append(table(["goal", "", "measured", "met"], [
        [text, f"at most {limit:g}", times(value), "yes" if value <= limit else "**no**"]
        for text, limit, value in aimed]))
    if results.median("memory", "kinformer-packed", "stream", "rss"):
        parts.append(scale_targets(results))
    return "\n".join(parts)


def put_block(name, block):
    """Replaces what stands between the marks of this name in the page."""
    begin, end = f"<!-- {name}: begin -->", f"<!-- {name}: end -->"
    page = PAGE.read_text(encoding="utf-8")
    between = re.compile(f"{re.escape(begin)}.*?{re.escape(end)}", re.DOTALL)
    if not between.search(page):
        raise SystemExit(f"{PAGE} has no place for {name}")
    page = between.sub(lambda _: f"{begin}\n{block}{end}", page)
    PAGE.write_text(page, encoding="utf-8")


def write(results, lines):
    """Puts the results into the page, and the picture and the raw lines beside it."""
    put_block("results", text(results))
    PICTURE.write_text(picture.draw(results), encoding="utf-8")
    RAW.write_text("[\n" + ",\n".join(json.dumps(line) for line in lines) + "\n]\n",
                   encoding="ascii")
