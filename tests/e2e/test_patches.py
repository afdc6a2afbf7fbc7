# SPDX-License-Identifier: Apache-2.0
"""Patches lead to the same objects as those of apimachinery. Needs Go, and no server."""
import os
import re
import subprocess
import unittest
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent.parent
PAIRS = 12000


class Patches(unittest.TestCase):
    def test_results_are_those_of_apimachinery(self):
        go = subprocess.run([ROOT / "tools" / "e2e-servers", "go"], check=True, text=True,
                            stdout=subprocess.PIPE).stdout.strip()
        build = Path(os.environ.get("KI_E2E_BUILD", str(ROOT / "build" / "dev")))
        run = subprocess.run([go, "run", ".", "patches", "--count", str(PAIRS),
                              str(build / "tests" / "patch_print")],
                             cwd=ROOT / "tools" / "gen-schema", text=True, errors="replace",
                             check=False, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                             env={**os.environ, "GOTOOLCHAIN": "local", "GOWORK": "off"})
        self.assertEqual(run.returncode, 0, run.stdout[-10000:])
        self.assertIn(f"{PAIRS} pairs, 0 different", run.stdout)
        # Most pairs must be compared in earnest, and many must be invalid.
        for how, applied, refused in (("strategic", 2000, 400), ("json", 900, 600),
                                      ("merge", 800, 20), ("diff", 800, 0), ("edit", 800, 0)):
            with self.subTest(how):
                self.assertGreater(self.count(run.stdout, how, "both apply"), applied)
                if refused != 0:
                    self.assertGreater(self.count(run.stdout, how, "both refuse"), refused)

    @staticmethod
    def count(text, how, outcome):
        found = re.search(rf"^{how} +(\d+)  {outcome}", text, re.MULTILINE)
        return int(found.group(1)) if found else 0


if __name__ == "__main__":
    unittest.main()
