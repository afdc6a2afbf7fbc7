# SPDX-License-Identifier: Apache-2.0
"""The controllers of examples/website, in C and in C++, on a real server: with the account of their
manifest, with the defaults that the server sets, and for a minute of changes and harm."""
import time

import chaos
import churn
import e2e
import processes
import sites
from chaos import Chaos
from cluster import Cluster

SECONDS = 60
SETTLE_S = 150
PER_SECOND = 20
QUIET_S = 3  # long enough for a loop to show
WRITES = ("create", "update", "patch", "delete", "deletecollection")
PROGRAMS = ("website", "website_cpp")
READY = '{.status.conditions[?(@.type=="Ready")].status}'


class Websites(e2e.Case):
    @classmethod
    def make_cluster(cls):
        return Cluster()

    @classmethod
    def prepare(cls):
        sites.prepare(cls.cluster)

    def tearDown(self):
        """Nothing is left for the next test, also after a failure."""
        patch = '{"metadata": {"finalizers": null}}'
        for name in sites.items(self.cluster, "websites.example.com"):
            self.cluster.kubectl("patch", "website", name, "--type=merge", "-p", patch)
        self.cluster.kubectl("delete", "websites,configmaps,deployments", "--all")

    def start(self, program, kubeconfig):
        log = self.cluster.path(f"{program}.log")
        self.logs.append(log)
        controller = sites.Controller(program, kubeconfig, log)
        self.addCleanup(controller.close)
        return controller

    def account(self):
        """A kubeconfig of the account in deploy.yaml."""
        return self.cluster.write_kubeconfig("account", {
            "client-certificate": self.cluster.path("admin.crt"),
            "client-key": self.cluster.path("admin.key"),
            "as": "system:serviceaccount:website-controller:website-controller"},
            name_space="website-controller")

    def wait_until(self, condition, what, seconds=SECONDS):
        end = time.monotonic() + seconds
        while not condition():
            self.assertLess(time.monotonic(), end, f"never: {what}")
            time.sleep(0.1)

    def wait_for(self, what, path, expected):
        get = ("get", *what.split(), "--ignore-not-found", f"-o=jsonpath={path}")
        self.wait_until(lambda: self.cluster.kubectl(*get) == expected, (what, path, expected))

    def wait_until_right(self, seconds=SECONDS):
        end = time.monotonic() + seconds
        while (left := sites.wrong(self.cluster)) and time.monotonic() < end:
            time.sleep(0.5)
        self.assertEqual(left, [])

    def patch(self, what, body, *words):
        self.cluster.kubectl("patch", *what.split(), "--type=merge", "-p", body, *words)

    def writes(self):
        """Without those of the election."""
        return sum(1 for request in self.cluster.requests("website-controller")
                   if request["verb"] in WRITES and request["objectRef"]["resource"] != "leases")

    def expect_no_writes(self):
        """Once the last ones are in the log."""
        before = self.writes()
        time.sleep(QUIET_S)
        self.assertIn(self.writes() - before, (0, 1))
        before = self.writes()
        self.cluster.kubectl("annotate", "--overwrite", "website", "shop",
                             f"time={time.time()}")
        time.sleep(QUIET_S)
        self.assertEqual(self.writes(), before)

    def live(self, program):
        """From the first to the last day of a Website."""
        controller = self.start(program, self.account())
        self.cluster.kubectl("apply", "-f", str(sites.FOLDER / "shop.yaml"))
        self.wait_until_right()
        self.patch("deployment shop-site", '{"status": {"observedGeneration": 1, "replicas": 2, '
                   '"readyReplicas": 2}}', "--subresource=status")
        self.wait_for("website shop", READY, "True")
        self.expect_no_writes()
        line = self.cluster.kubectl("get", "websites", "--no-headers").split()
        self.assertEqual(line[:-1], ["shop", "2", "2", "Serving"])
        self.patch("website shop", '{"spec": {"html": "New", "image": "x:2", "replicas": 3}}')
        self.wait_for("website shop", READY, "False")
        self.wait_until_right()
        self.patch("configmap shop-site", '{"metadata": {"labels": null}, "data": {"more": "x"}}')
        self.patch("deployment shop-site", '{"spec": {"replicas": 9}}')
        self.wait_until_right()
        self.cluster.kubectl("delete", "configmap,deployment", "shop-site")
        self.wait_until_right()
        self.cluster.kubectl("delete", "website", "shop")
        self.assertEqual(self.cluster.kubectl("get", "configmap,deployment", "shop-site",
                                              "--ignore-not-found"), "")
        self.assertTrue(controller.stop())
        with open(self.cluster.path(f"{program}.log"), encoding="utf-8") as log:
            self.assertNotIn("orbidden", log.read())

    def test_a_website_in_c(self):
        self.live("website")

    def test_a_website_in_cpp(self):
        self.live("website_cpp")

    def test_one_takes_over_from_the_other(self):
        """Both make the same of a Website: no pod is replaced."""
        self.cluster.kubectl("apply", "-f", str(sites.FOLDER / "shop.yaml"))
        for program in ("website", "website_cpp", "website"):
            controller = self.start(program, self.account())
            self.wait_until_right()
            self.expect_no_writes()
            self.assertTrue(controller.stop())
        self.wait_for("deployment shop-site", "{.metadata.generation}", "1")

    def survive(self, program):
        """Changes and harm, and then the state that should be there."""
        harm = Chaos(self.cluster, [program])
        self.addCleanup(harm.close)
        kubeconfig = self.cluster.write_kubeconfig(
            f"of-{program}", {"client-certificate": self.cluster.path("admin.crt"),
                              "client-key": self.cluster.path("admin.key")},
            f"https://127.0.0.1:{harm.proxies[program].port}")
        controller = self.start(program, kubeconfig)
        writer = sites.Writer(self.cluster, program, PER_SECOND)
        with churn.Churn(self.cluster, 1, 1, [writer], writers=0):
            harm.run(chaos.SHORT)
        self.assertGreater(writer.done["ok"], 100)
        self.assertGreater(len(sites.items(self.cluster, "websites.example.com")), 0)
        self.wait_until_right(SETTLE_S)
        self.assertTrue(controller.stop(), processes.tail(self.cluster.path(f"{program}.log")))

    def test_chaos_in_c(self):
        self.survive("website")

    def test_chaos_in_cpp(self):
        self.survive("website_cpp")
