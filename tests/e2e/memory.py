# SPDX-License-Identifier: Apache-2.0
"""What a process takes, sampled while it runs, and whether that grows."""
import os
import re
import statistics
import threading
import time
from typing import NamedTuple

FIELDS = {"Rss": "rss", "Private_Dirty": "dirty"}
WINDOW_S = 60


class Sample(NamedTuple):
    seconds: float
    rss: int
    dirty: int
    fds: int
    threads: int


class Line(NamedTuple):
    """A straight line through samples: how much it rises in an hour, and how sure that is."""
    slope: float
    error: float  # of the slope, one standard deviation
    level: float  # the mean


def read(process, seconds):
    """A sample of a process; OSError if it has ended."""
    with open(f"/proc/{process}/smaps_rollup", encoding="ascii") as file:
        sizes = {FIELDS[name]: int(kilobytes) * 1024 for name, kilobytes
                 in re.findall(r"^(\w+): +(\d+) kB", file.read(), re.M) if name in FIELDS}
    return Sample(seconds=seconds, fds=len(os.listdir(f"/proc/{process}/fd")),
                  threads=len(os.listdir(f"/proc/{process}/task")), **sizes)


class Sampler:
    def __init__(self, process, every_s=2):
        self.process = process
        self.every_s = every_s
        self.samples = []
        self.stop = threading.Event()
        self.begin = time.monotonic()
        self.thread = threading.Thread(target=self.run, daemon=True)

    def __enter__(self):
        self.thread.start()
        return self

    def __exit__(self, kind, error, trace):
        self.stop.set()
        self.thread.join()

    def run(self):
        while not self.stop.wait(self.every_s):
            try:
                self.samples.append(read(self.process, time.monotonic() - self.begin))
            except OSError:
                return


def second_half(samples):
    """What came after the start."""
    middle = (samples[0].seconds + samples[-1].seconds) / 2
    return [sample for sample in samples if sample.seconds >= middle]


def line(points):
    """The line of least squares through [(seconds, value)]."""
    times = [seconds / 3600 for seconds, _ in points]
    values = [value for _, value in points]
    slope, at_zero = statistics.linear_regression(times, values)
    rest = sum((v - slope * t - at_zero) ** 2 for t, v in zip(times, values))
    spread = sum((t - statistics.fmean(times)) ** 2 for t in times)
    error = (rest / max(1, len(points) - 2) / spread) ** 0.5
    return Line(slope, error, statistics.fmean(values))


def windows(samples, what):
    """The least of each minute: what comes and goes in between does not grow, and samples that
    follow each other closely say the same thing many times."""
    found = {}
    for sample in samples:
        found.setdefault(sample.seconds // WINDOW_S, []).append(getattr(sample, what))
    return [(window * WINDOW_S, min(values)) for window, values in found.items()]


def growth(samples, what):
    """How a field goes in the second half."""
    return line(windows(second_half(samples), what))


def grows(found, limit):
    """Whether it certainly rises by more than this in an hour."""
    return found.slope - 2 * found.error > limit
