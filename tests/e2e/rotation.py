# SPDX-License-Identifier: Apache-2.0
"""Clients whose credentials are replaced under their live watches, each in another way. They are
started and given new credentials at once, so that other tests can pass the minute until the last
of them is noticed."""
import json
import os
import shutil
import stat

from cluster import TOKEN_FILE

PODS = "v1/pods"
EXEC_API = "client.authentication.k8s.io/v1"
# Says who it is by the number of its runs, for a second each time.
PLUGIN = """\
#!/bin/sh
cd {folder} || exit 1
echo run >> {name}.runs
new=old; test $(wc -l < {name}.runs) -gt 1 && new=new
soon=$(date -u -d '+1 second' +%Y-%m-%dT%H:%M:%SZ)
sed s/SOON/$soon/ {name}.$new.json
"""
OLD_TOKEN = "old-secret,old,11\n"
NEW_TOKEN = "new-secret,new,12\n"


class Rotation:
    """start(kubeconfig, flags) starts a client; its agent is the way in."""

    def __init__(self, cluster, start):
        self.cluster = cluster
        self.prepare()
        users = {"certificate": {"client-certificate": cluster.path("rotated.crt"),
                                 "client-key": cluster.path("rotated.key")},
                 "token-file": {"tokenFile": cluster.path("rotated.token")},
                 "plugin-token": self.plugin("plugin-token"),
                 "plugin-certificate": self.plugin("plugin-certificate")}
        self.clients = {
            name: start(cluster.write_kubeconfig(name, user, authority="rotated-ca.crt"),
                        ["--agent", name, "--exec"]) for name, user in users.items()}
        for client in self.clients.values():
            client.wait_for_sync()
        self.rotate()

    # ---- before ----

    @staticmethod
    def prepare_server(cluster):
        """To be called before the server starts: who is known to it."""
        cluster.write("tokens.csv", TOKEN_FILE + OLD_TOKEN + NEW_TOKEN)
        cluster.certificate("old", "old")
        cluster.certificate("new", "new")
        shutil.copy(cluster.path("ca.crt"), cluster.path("rotated-ca.crt"))

    def prepare(self):
        for user in ("old", "new"):
            self.cluster.kubectl("create", "clusterrolebinding", user, "--clusterrole=see-pods",
                                 f"--user={user}")
            self.credential("plugin-token", user, {"token": f"{user}-secret"})
            self.credential("plugin-certificate", user, {
                "clientCertificateData": self.read(f"{user}.crt"),
                "clientKeyData": self.read(f"{user}.key")})
        for end in ("crt", "key"):
            shutil.copy(self.cluster.path(f"old.{end}"), self.cluster.path(f"rotated.{end}"))
        self.cluster.write("rotated.token", "old-secret")

    def read(self, name):
        with open(self.cluster.path(name), encoding="ascii") as file:
            return file.read()

    def credential(self, name, user, status):
        self.cluster.write(f"{name}.{user}.json", json.dumps({
            "apiVersion": EXEC_API, "kind": "ExecCredential",
            "status": {**status, "expirationTimestamp": "SOON"}}))

    def plugin(self, name):
        command = self.cluster.write(
            f"{name}.sh", PLUGIN.format(folder=self.cluster.folder, name=name))
        os.chmod(command, stat.S_IRWXU)
        return {"exec": {"apiVersion": EXEC_API, "command": command, "interactiveMode": "Never"}}

    # ---- the change ----

    def rotate(self):
        """New credentials; and a new authority, which the server does not have yet."""
        maker = self.cluster.maker
        maker.root("next-ca")
        maker.chain("both", "ca", "next-ca")
        os.replace(self.cluster.path("both.chain"), self.cluster.path("rotated-ca.crt"))
        self.cluster.write("rotated.token", "new-secret")
        for end in ("key", "crt"):  # not at once: between the two they do not match
            shutil.copy(self.cluster.path(f"new.{end}"), self.cluster.path(f"rotated.{end}"))

    def end_the_old(self):
        """From now on the old ones are worth nothing, and the server has a certificate of the new
        authority."""
        cluster = self.cluster
        cluster.kubectl("delete", "clusterrolebinding", "old")
        cluster.write("tokens.csv", TOKEN_FILE + NEW_TOKEN)
        cluster.maker.signed("server", "next-ca", "leaf", "IP:127.0.0.1")
        shutil.copy(cluster.path("rotated-ca.crt"), cluster.path("ca.crt"))  # the admin's
        cluster.restart_apiserver()

    def users(self, name):
        """Who a client was to the server, request by request."""
        asked = sorted(self.cluster.requests(name), key=lambda r: r["requestReceivedTimestamp"])
        return [r["user"].get("username") for r in asked]
