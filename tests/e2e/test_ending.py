# SPDX-License-Identifier: Apache-2.0
"""SIGTERM ends the end-to-end tests at once, in order. Needs no server."""
import signal
import subprocess
import sys
import unittest
from pathlib import Path

TOOLS = Path(__file__).resolve().parent.parent.parent / "tools"
PROGRAM = """
import atexit, signal, sys, time, unittest
sys.path.insert(0, sys.argv[1])
import e2ebuild

class Slow(unittest.TestCase):
    def test_first(self):
        print("running", flush=True)
        time.sleep(60)

    def test_second(self):
        print("continued", flush=True)

def main():
    atexit.register(print, "removed", flush=True)
    signal.signal(signal.SIGTERM, e2ebuild.leave)
    unittest.defaultTestLoader.loadTestsFromTestCase(Slow).run(unittest.TestResult())
    return 0

e2ebuild.run(main)
"""


class Ending(unittest.TestCase):
    def test_sigterm_ends_the_tests_at_once(self):
        with subprocess.Popen([sys.executable, "-B", "-c", PROGRAM, str(TOOLS)], text=True,
                              stdout=subprocess.PIPE, stderr=subprocess.STDOUT) as process:
            self.assertEqual(process.stdout.readline(), "running\n")
            process.send_signal(signal.SIGTERM)
            rest, _ = process.communicate(timeout=30)
        self.assertEqual(process.returncode, 128 + signal.SIGTERM)
        self.assertEqual(rest, "removed\n")


if __name__ == "__main__":
    unittest.main()
