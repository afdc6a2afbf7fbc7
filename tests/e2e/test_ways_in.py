# SPDX-License-Identifier: Apache-2.0
"""Ways to prove to a real server who we are, besides those of test_first_contact.py, and what
happens when that is not enough at first."""
import json
import os
import time

import e2e
import objects
from cluster import Cluster
from rotation import Rotation

EXEC_API = "client.authentication.k8s.io/v1"
PODS = "v1/pods"
LOOK_S = 75  # certificates in files are looked at once in a minute


class RotatingCluster(Cluster):
    def prepare(self):
        super().prepare()
        Rotation.prepare_server(self)


class WaysIn(e2e.Case):
    @classmethod
    def make_cluster(cls):
        return RotatingCluster()

    @classmethod
    def prepare(cls):
        cls.cluster.apply(objects.pod("a", "default"), objects.pod("b", "default"))
        cls.cluster.kubectl("create", "clusterrole", "see-pods", "--verb=list,watch",
                            "--resource=pods")
        cls.rotation = Rotation(cls.cluster, cls.start_for_class)

    @classmethod
    def start_for_class(cls, kubeconfig, flags):
        client = cls.new_client(kubeconfig, [PODS], flags)
        cls.addClassCleanup(client.close)
        return client

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

    def test_impersonation_that_is_allowed_later(self):
        client = self.start({"token": "admin-secret", "as": "someone"})
        client.wait(lambda: client.errors, "notified of errors")
        self.assertEqual({error[1:] for error in client.errors}, {(403, "Forbidden")})
        self.assertEqual(client.synced, set())
        self.cluster.kubectl("create", "clusterrolebinding", "someone", "--clusterrole=see-pods",
                             "--user=someone")
        self.assert_current(client)
        client.quit()

    def test_acting_as_a_member_of_groups(self):
        """All of it reaches the server, signs that headers do not take included."""
        client = self.start({"token": "admin-secret", "as": "ann", "as-uid": "u-1",
                             "as-groups": ["system:masters", "more"],
                             "as-user-extra": {"Example.com/100% odd": ["a", "b"]}},
                            ["--agent", "acting"])
        self.assert_current(client)
        client.quit()
        self.assertEqual(client.errors, [])
        acted = self.cluster.requests("acting")[0]["impersonatedUser"]
        self.assertEqual(acted, {"username": "ann", "uid": "u-1",
                                 "groups": ["system:masters", "more", "system:authenticated"],
                                 "extra": {"example.com/100% odd": ["a", "b"]}})

    def test_a_namespace_that_is_allowed_later(self):
        flags = ["--namespace", "default"]
        alone, everywhere = (self.client(self.cluster.kubeconfig("reader"), [PODS], f)
                             for f in (flags, []))
        for client in (alone, everywhere):
            client.wait(lambda: client.errors, "notified of errors")
        self.cluster.kubectl("create", "rolebinding", "reader", "--clusterrole=see-pods",
                             "--user=reader")
        self.assert_current(alone)
        alone.quit()
        everywhere.quit()
        self.assertEqual({error[1:] for error in everywhere.errors}, {(403, "Forbidden")})
        self.assertEqual(everywhere.synced, set())

    def test_a_plugin_that_works_later(self):
        """First it fails, then it gives a token that nobody knows, then the right one."""
        user = self.plugin({"token": "unknown"})
        answer = self.cluster.path(f"{self.id()}.json")
        os.rename(answer, answer + ".later")
        client = self.start(user, ["--exec"])
        client.wait(lambda: client.errors, "notified of errors")
        os.rename(answer + ".later", answer)
        client.wait(lambda: client.errors[-1][1] == 401, "given 401")
        self.plugin({"token": "admin-secret"})
        self.assert_current(client)
        client.quit()

    def test_a_token_file_that_is_right_later(self):
        file = self.cluster.write("rotated-token", "admin-secrets\n")
        client = self.start({"tokenFile": file})
        client.wait(lambda: client.errors, "notified of errors")
        self.assertEqual({error[1:] for error in client.errors}, {(401, "Unauthorized")})
        self.cluster.write("rotated-token", "admin-secret\n")
        self.assert_current(client)
        client.quit()

    def test_what_is_replaced_under_a_watch(self):
        """The last one, by its name: meanwhile the others pass the time."""
        rotation = self.rotation
        clients = rotation.clients
        self.logs += [client.log for client in clients.values()]
        self.wait_until(lambda: rotation.users("certificate")[-1] == "new", "used", LOOK_S)
        self.cluster.apply(objects.pod("rotated", "default"))
        for name, client in clients.items():
            self.assert_current(client)
            self.assertEqual(client.errors, [], name)
            self.assertEqual(client.health()[PODS]["syncs"], 1, name)  # nothing listed again
        rotation.end_the_old()
        self.cluster.apply(objects.pod("rotated-more", "default"))
        for name, client in clients.items():
            self.assert_current(client)
            users = rotation.users(name)
            self.assertEqual((users[0], users[-1]), ("old", "new"), name)
            # 403 may come: a server that has just started does not know yet who may do what.
            self.assertNotIn(401, [error[1] for error in client.errors], name)
            client.quit()

    def wait_until(self, condition, what, seconds):
        end = time.monotonic() + seconds
        while not condition():
            self.assertLess(time.monotonic(), end, f"it is not {what}")
            time.sleep(0.5)
