# SPDX-License-Identifier: Apache-2.0
"""Results of a run: medians, spreads and goals."""
import collections
import statistics

KINDS = ("curl", "kinformer", "client-go", "kube-rs")
# The same clients with less in memory: the option of each beside its kind. "none" is a client
# without any object: what it needs before the first one.
WHAT = {"kinformer-five": "five", "kinformer-packed": "packed", "client-go-five": "five",
        "kube-rs-five": "five", "kinformer-none": "none", "client-go-none": "none",
        "kube-rs-none": "none"}
MODES = ("stream", "list")
MODE_NAMES = {"stream": "streaming list", "list": "list"}
WHAT_NAMES = {"five": "five fields", "packed": "packed", "none": "no objects"}


def family(kind):
    """Whose program it is."""
    return kind.rsplit("-", 1)[0] if kind in WHAT else kind


def name_of(kind, mode):
    if kind in WHAT:
        return f"{family(kind)}, {WHAT_NAMES[WHAT[kind]]}"
    return f"{kind}, {MODE_NAMES[mode]}"


class Results:
    def __init__(self, lines):
        self.run = next((line for line in lines if line["row"] == "run"), {})
        self.objects = next((line for line in lines if line["row"] == "objects"), {})
        self.values = collections.defaultdict(list)
        for line in lines:
            for name, value in line.items():
                if isinstance(value, (int, float)) and name != "round":
                    self.values[line["row"], line["client"], line["mode"], name].append(value)
                elif isinstance(value, dict):
                    for inner, number in value.items():
                        self.values[line["row"], line["client"], line["mode"], inner].append(number)

    def all(self, row, kind, mode, name):
        return self.values.get((row, kind, mode, name), [])

    def median(self, row, kind, mode, name):
        values = self.all(row, kind, mode, name)
        return statistics.median(values) if values else None

    def clients(self):
        """Those that have rows, in the order of tables."""
        return [(kind, mode) for kind in KINDS for mode in MODES
                if self.all("sync", kind, mode, "cpu_s")]

    def variants(self):
        """Clients with less in memory that have rows."""
        return [(kind, "stream") for kind in WHAT if self.all("sync", kind, "stream", "cpu_s")]

    def per_pod(self, kind, mode, name="rss"):
        """Bytes of memory for each pod: without those of a client that has none."""
        mine = self.median("memory", kind, mode, name)
        base = self.median("memory", f"{family(kind)}-none", "stream", "rss")
        pods = self.objects.get("pods")
        return (mine - base) / pods if mine and base and pods else None

    def share(self, row, name, mode, of=None, kind="kinformer"):
        """What a client needs, by what `of` needs, or by the objects' bytes."""
        mine = self.median(row, kind, mode, name)
        theirs = self.median(row, of, mode, name) if of else self.objects.get("protobuf_bytes")
        return mine / theirs if mine and theirs else None

    def targets(self):
        """Goals: text, limit (None: for comparison only), and value (None: not measured)."""
        found = []
        for mode in MODES:
            name = MODE_NAMES[mode]
            peak = self.median("memory", "kinformer", mode, "peak")
            settled = self.median("memory", "kinformer", mode, "rss")
            found += [
                (f"CPU of the first sync / curl's, {name}", 1.5,
                 self.share("sync", "cpu_s", mode, "curl")),
                (f"CPU of the first sync / client-go's, {name}", 0.5,
                 self.share("sync", "cpu_s", mode, "client-go")),
                (f"settled memory / bytes of the objects, {name}", 1.15,
                 self.share("memory", "rss", mode)),
                (f"peak / settled memory, {name}", 1.05, peak / settled if settled else None)]
        found += [
            ("CPU per replayed event / client-go's", 0.1,
             self.share("replay", "cpu_us_event", "stream", "client-go")),
            ("CPU per replayed event: curl's / client-go's", None,
             self.share("replay", "cpu_us_event", "stream", "client-go", "curl")),
            ("p99 latency / client-go's", 1.0,
             self.share("latency", "p99_ms", "stream", "client-go"))]
        return found + self.memory_targets()

    def ratio(self, row, name, kind, of):
        mine, theirs = (self.median(row, k, "stream", name) for k in (kind, of))
        return mine / theirs if mine and theirs else None

    def memory_targets(self):
        """Goals of memory."""
        five, packed = self.per_pod("kinformer-five", "stream"), self.per_pod("kinformer-packed",
                                                                             "stream")
        theirs = self.per_pod("client-go-five", "stream")
        found = [
            ("KB per pod, five fields", 0.6, five and five / 1e3),
            ("the same / client-go's with a transform", 0.1, five / theirs if theirs and five
             else None),
            ("KB per pod, packed", 1.5, packed and packed / 1e3)]
        for kind in ("kinformer-five", "kinformer-packed"):
            peak, settled = (self.median("memory", kind, "stream", n) for n in ("peak", "rss"))
            found.append((f"peak / settled memory, {WHAT_NAMES[WHAT[kind]]}", 1.05,
                          peak / settled if settled else None))
        found += [
            ("CPU of the first sync, five fields / all fields", 1.0,
             self.ratio("sync", "cpu_s", "kinformer-five", "kinformer")),
            ("CPU of the first sync, packed / plain storage", 1.7,
             self.ratio("sync", "cpu_s", "kinformer-packed", "kinformer")),
            ("CPU of the first sync, packed / client-go's", 0.6,
             self.ratio("sync", "cpu_s", "kinformer-packed", "client-go"))]
        return found if self.variants() else []


# ---- figures as text ----

def figure(value, digits=3):
    """With so many digits that count, and no exponent."""
    if value is None:
        return "-"
    if abs(value) >= 10 ** (digits - 1):
        return f"{value:,.0f}"
    text = f"{value:.{digits}g}"
    return f"{value:.{digits}f}" if "e" in text else text


def spread(values, scale=1.0, digits=3):
    """The median, and from where to where it goes."""
    if not values:
        return "-"
    middle = figure(statistics.median(values) * scale, digits)
    if len(values) < 2:
        return middle
    least, most = (figure(end(values) * scale, digits) for end in (min, max))
    return f"{middle} ({least} to {most})"
