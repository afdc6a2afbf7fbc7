# SPDX-License-Identifier: Apache-2.0
"""What the end-to-end tests share: a cluster for each class of tests, clients that end with their
test, and the logs of both when a test fails."""
import os
import tempfile
import unittest

import processes
from cluster import ROOT
from sync_client import SyncClient


def program(name):
    """A program of the build that is tested; tools/run-e2e says which one that is."""
    build = os.environ.get("KI_E2E_BUILD", str(ROOT / "build" / "dev"))
    return os.path.join(build, "tests", name)


class Case(unittest.TestCase):
    """A subclass gives make_cluster() and may fill it in prepare()."""
    cluster = None
    logs = ()

    @classmethod
    def setUpClass(cls):
        cls.cluster = cls.enterClassContext(cls.make_cluster())
        cls.prepare()

    @classmethod
    def prepare(cls):
        pass

    def run(self, result=None):
        self.logs = []
        count = len(result.failures) + len(result.errors)
        super().run(result)
        if len(result.failures) + len(result.errors) > count and self.cluster is not None:
            print(self.cluster.logs(), *(processes.tail(log) for log in self.logs), sep="")
        return result

    @classmethod
    def new_client(cls, kubeconfig, resources, flags=()):
        """A sync_client, to be closed by the caller."""
        descriptor, log = tempfile.mkstemp(prefix="client-", suffix=".log", dir=cls.cluster.folder)
        os.close(descriptor)
        return SyncClient(program("sync_client"), kubeconfig, resources, log, flags)

    def client(self, kubeconfig, resources, flags=()):
        """One that ends with the test; the end of its log is printed if the test fails."""
        client = self.new_client(kubeconfig, resources, flags)
        self.logs.append(client.log)
        self.addCleanup(client.close)
        return client
