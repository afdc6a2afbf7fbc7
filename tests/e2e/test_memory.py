# SPDX-License-Identifier: Apache-2.0
"""memory.py distinguishes growth from what goes up and down. Needs no server."""
import os
import random
import unittest

from memory import Sample, growth, grows, line, read

HOUR = 3600
MIB = 1 << 20


def samples(rss, count=900, every_s=2):
    return [Sample(i * every_s, int(rss(i * every_s)), 0, 10, 3) for i in range(count)]


class Growth(unittest.TestCase):
    def setUp(self):
        self.dice = random.Random(1)

    def noise(self):
        return self.dice.gauss(0, 200_000)

    def test_a_line(self):
        found = line([(0, 5), (HOUR / 2, 6), (HOUR, 7)])
        self.assertAlmostEqual(found.slope, 2)
        self.assertAlmostEqual(found.error, 0)
        self.assertAlmostEqual(found.level, 6)

    def test_what_is_flat_does_not_grow(self):
        self.assertFalse(grows(growth(samples(lambda t: 8 * MIB), "rss"), 0.01))
        found = growth(samples(lambda t: 8 * MIB + self.noise()), "rss")
        self.assertFalse(grows(found, MIB))
        self.assertLess(found.error, MIB / 2)

    def test_what_comes_and_goes_does_not_grow(self):
        found = growth(samples(lambda t: 8 * MIB + (MIB if t % 50 > 10 and t > 1000 else 0)), "rss")
        self.assertEqual(found.slope, 0)

    def test_the_start_does_not_count(self):
        found = growth(samples(lambda t: 8 * MIB * (0.5 if t < 300 else 1)), "rss")
        self.assertFalse(grows(found, MIB))

    def test_what_leaks_grows(self):
        found = growth(samples(lambda t: 8 * MIB + 3 * MIB * t / HOUR + self.noise()), "rss")
        self.assertTrue(grows(found, MIB))
        self.assertAlmostEqual(found.slope / MIB, 3, delta=1)

    def test_this_process(self):
        sample = read(os.getpid(), 1)
        self.assertGreater(sample.rss, MIB)
        self.assertGreater(sample.fds, 2)
        self.assertGreaterEqual(sample.threads, 1)


if __name__ == "__main__":
    unittest.main()
