# SPDX-License-Identifier: Apache-2.0
"""Prometheus reads the metrics of a client of a real server, in both formats, and promtool's rules
find nothing to complain of. It reads the alerts and the dashboard of contrib/ as well."""
import json
import os
import re
import subprocess
import unittest

import e2e
import objects
from cluster import ROOT, Cluster

SECONDS = 120
RULES = ROOT / "contrib" / "alerts.yaml"
DASHBOARD = ROOT / "contrib" / "grafana-dashboard.json"
TYPES = {"rules": "rules", "promql": "promql",
         "prometheus": "text/plain; version=0.0.4; charset=utf-8",
         "openmetrics": "application/openmetrics-text; version=1.0.0; charset=utf-8"}
FAMILIES_MIN = 55


def promcheck(text, kind):
    """Returns whether Prometheus accepts the text, and what promcheck printed."""
    program = subprocess.run([ROOT / "tools" / "e2e-servers", "promcheck"], check=True, text=True,
                             stdout=subprocess.PIPE).stdout.strip()
    done = subprocess.run([program, TYPES[kind]], input=text, text=True, check=False,
                          stdout=subprocess.PIPE, stderr=subprocess.STDOUT, timeout=SECONDS)
    return done.returncode == 0, done.stdout


class Judge(unittest.TestCase):
    def test_it_can_say_no(self):
        for kind, text, complaint in (
                ("prometheus", "# HELP x X.\n# TYPE x counter\nx 1\n", "_total"),
                ("prometheus", 'x{a="b} 1\n', "expfmt"),
                ("prometheus", "# HELP x X.\n# TYPE x gauge\nx 1\nx 2\n", "twice"),
                ("promql", "sum by (name) (rate(x[5m])\n", "parse error"),
                ("promql", "rate(x)\n", "expected type range vector"),
                ("rules", "groups: [{name: g, rules: [{alert: A, expr: 'x >'}]}]\n", "parse"),
                ("rules", "groups: [{name: g, rules: [{alert: A, expr: x, annotations: "
                          "{summary: '{{ $labels.name '}}]}]\n", "template"),
                ("openmetrics", "# TYPE x gauge\nx 1\n", "after 1 series"),  # without an end
                ("openmetrics", "# TYPE x_total counter\nx_total 1\n# UNIT x s\n# EOF\n", "unit")):
            accepted, said = promcheck(text, kind)
            self.assertFalse(accepted, said)
            self.assertIn(complaint, said)


class Contrib(unittest.TestCase):
    def test_prometheus_reads_the_alerts(self):
        accepted, said = promcheck(RULES.read_text(encoding="utf-8"), "rules")
        self.assertTrue(accepted, said)
        self.assertEqual(said, f"{RULES.read_text(encoding='utf-8').count('- alert: ')} rules, "
                               "0 complaints\n")

    def test_prometheus_reads_the_dashboard(self):
        panels = json.loads(DASHBOARD.read_text(encoding="utf-8"))["panels"]
        expressions = [re.sub(r"\$__(rate_interval|range)\b", "5m", target["expr"])
                       for panel in panels for target in panel["targets"]]
        self.assertGreaterEqual(len(expressions), len(panels))
        accepted, said = promcheck("\n".join(expressions), "promql")
        self.assertTrue(accepted, said)


class Metrics(e2e.Case):
    @classmethod
    def make_cluster(cls):
        return Cluster()

    @classmethod
    def prepare(cls):
        cls.cluster.apply(objects.namespace("shop"),
                          *(objects.pod(f"pod-{i}", "shop") for i in range(5)))

    def scrape(self, kind):
        env = {**os.environ, "KUBECONFIG": self.cluster.kubeconfig("admin")}
        return subprocess.run([e2e.program("../examples/metrics"), kind], check=True, text=True,
                              env=env, timeout=SECONDS, stdout=subprocess.PIPE).stdout

    def test_prometheus_reads_both_formats(self):
        counts = set()
        for kind in ("prometheus", "openmetrics"):
            text = self.scrape(kind)
            accepted, said = promcheck(text, kind)
            self.assertTrue(accepted, f"{said}\n{text}")
            counts.add(said.split(" ", 1)[0])
            if kind == "prometheus":
                families = int(said.splitlines()[-1].split(", ")[1].split(" ")[0])
                self.assertGreaterEqual(families, FAMILIES_MIN, said)
                self.assertIn('kinformer_informer_objects{name="pods",group="",version="v1",'
                              'resource="pods"} 5\n', text)
        self.assertEqual(len(counts), 1, counts)


if __name__ == "__main__":
    unittest.main()
