# SPDX-License-Identifier: Apache-2.0
"""Ways to prove to a real server who we are, besides those of test_first_contact.py, and what
happens when that is not enough at first."""
import json
import os

import e2e
import objects
from cluster import Cluster

EXEC_API = "client.authentication.k8s.io/v1"
PODS = "v1/pods"


class WaysIn(e2e.Case):
    @classmethod
    def make_cluster(cls):
        return Cluster()

    @classmethod
    def prepare(cls):
        cls.cluster.apply(objects.pod("a", "default"), objects.pod("b", "default"))

    def start(self, user, flags=()):
        """A client whose kubeconfig says this of its user."""
        return self.client(self.cluster.write_kubeconfig(self.id(), user), [PODS], flags)

    def assert_current(self, client):
        pods = {f"{m['namespace']}/{m['name']}": (m["uid"], m["resourceVersion"])
                for m in (item["metadata"] for item in self.cluster.get("pods"))}
        client.wait_for_sync()
        client.wait_for_version(PODS, pods)
        self.assertEqual(client.complaints, [])

    def plugin(self, status):
        """What a kubeconfig says of a plugin that gives these credentials."""
        text = json.dumps({"apiVersion": EXEC_API, "kind": "ExecCredential", "status": status})
        answer = self.cluster.write(f"{self.id()}.json", text)
        command = self.cluster.write(f"{self.id()}.sh", f"#!/bin/sh\nexec cat {answer}\n")
        os.chmod(command, 0o700)
        return {"exec": {"apiVersion": EXEC_API, "command": command, "interactiveMode": "Never"}}

    def read(self, name):
        with open(self.cluster.path(name), encoding="ascii") as file:
            return file.read()

    def test_a_plugin_gives_a_token(self):
        client = self.start(self.plugin({"token": "admin-secret"}), ["--exec"])
        self.assert_current(client)
        client.quit()
        self.assertEqual(client.errors, [])

    def test_a_plugin_gives_a_certificate(self):
        client = self.start(self.plugin({"clientCertificateData": self.read("admin.crt"),
                                         "clientKeyData": self.read("admin.key")}), ["--exec"])
        self.assert_current(client)
        client.quit()
        self.assertEqual(client.errors, [])

    def test_a_plugin_is_not_run_unasked(self):
        client = self.start(self.plugin({"token": "admin-secret"}))
        self.assertEqual(client.process.wait(30), 1)
        self.assertIn("KI_ERR_DENIED", self.read(os.path.basename(client.log)))

    def test_acting_as_somebody_who_is_allowed_later(self):
        client = self.start({"token": "admin-secret", "as": "someone"})
        client.wait(lambda: client.errors, "told of errors")
        self.assertEqual({error[1:] for error in client.errors}, {(403, "Forbidden")})
        self.assertEqual(client.synced, set())
        kubectl = self.cluster.kubectl
        kubectl("create", "clusterrole", "see-pods", "--verb=list,watch", "--resource=pods")
        kubectl("create", "clusterrolebinding", "one", "--clusterrole=see-pods", "--user=someone")
        self.assert_current(client)
        client.quit()

    def test_a_token_file_that_is_right_later(self):
        file = self.cluster.write("rotated-token", "admin-secrets\n")
        client = self.start({"tokenFile": file})
        client.wait(lambda: client.errors, "told of errors")
        self.assertEqual({error[1:] for error in client.errors}, {(401, "Unauthorized")})
        self.cluster.write("rotated-token", "admin-secret\n")
        self.assert_current(client)
        client.quit()
