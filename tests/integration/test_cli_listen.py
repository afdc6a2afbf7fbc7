#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""`--listen` of the commands: metrics, health and the page over HTTP."""
import http.client
import json
import os
import socket
import stat
import urllib.error
import urllib.request

import cli_testing
from cli_testing import Served, WAIT


def get(url, token=None):
    """Status and body of a GET."""
    request = urllib.request.Request(url, headers={"Authorization": f"Bearer {token}"} if token
                                     else {})
    try:
        with urllib.request.urlopen(request, timeout=WAIT) as response:
            return response.status, response.read().decode()
    except urllib.error.HTTPError as error:
        return error.code, error.read().decode()


def get_from_socket(path, target):
    connection = http.client.HTTPConnection("localhost", timeout=WAIT)
    connection.sock = socket.socket(socket.AF_UNIX)
    connection.sock.connect(path)
    connection.request("GET", target)
    response = connection.getresponse()
    body = response.read().decode()
    connection.close()
    return response.status, body


class Listen(Served):
    def listen(self, *words):
        """The address that a command prints, without the path of the page."""
        self.serve()
        self.ask("POST", "/api/v1/namespaces/default/configmaps", self.config_map("a", key="red"))
        run = self.start(*words)
        line = [line for line in run.until_error("serving ") if "serving " in line][0]
        return run, line.split("serving ")[1].strip().removesuffix("/debug/")

    def check_serves(self, url):
        self.assertEqual(get(url + "/healthz")[0], 200)
        status, metrics = get(url + "/metrics")
        self.assertEqual(status, 200)
        self.assertIn('resource="configmaps"', metrics)
        self.assertIn('data-informer="configmaps"', get(url + "/debug/")[1])

    def test_watch(self):
        run, url = self.listen("watch", "configmaps", "-A", "--listen", "127.0.0.1:0")
        run.until("default/a")
        self.check_serves(url)
        self.assertEqual(get(url + "/readyz"), (200, "ok\n"))
        self.assertEqual(get(url + "/debug/objects/configmaps")[0], 403)
        self.assertEqual(run.end()[0], 0)

    def test_top(self):
        run, url = self.listen("top", "configmaps", "-A", "--listen", "127.0.0.1:0")
        run.until("configmaps")
        self.check_serves(url)
        self.assertEqual(run.end()[0], 0)

    def test_run(self):
        run, url = self.listen("run", "configmaps", "-A", "--listen", "127.0.0.1:0", "--exec",
                               "echo", "reconciled")
        run.until("reconciled")
        self.check_serves(url)
        self.assertIn('workqueue_adds_total{name="run"', get(url + "/metrics")[1])
        self.assertEqual(run.end()[0], 0)

    def test_objects_are_served_on_request(self):
        run, url = self.listen("watch", "configmaps,secrets", "-A", "--listen", "127.0.0.1:0",
                               "--serve-objects")
        run.until("default/a")
        status, body = get(url + "/debug/objects/configmaps?namespace=default&limit=10")
        self.assertEqual(status, 200)
        self.assertIn("a", [item["metadata"]["name"] for item in json.loads(body)["items"]])
        self.assertEqual(get(url + "/debug/objects/secrets")[0], 403)

    def test_a_socket_for_its_owner_only(self):
        path = os.path.join(self.folder.name, "socket")
        run, url = self.listen("watch", "configmaps", "-A", "--listen", "unix:" + path)
        self.assertEqual(url, "unix:" + path)
        run.until("default/a")
        self.assertEqual(stat.S_IMODE(os.stat(path).st_mode), 0o600)
        self.assertEqual(get_from_socket(path, "/readyz"), (200, "ok\n"))
        self.assertEqual(run.end()[0], 0)
        self.assertFalse(os.path.exists(path))

    def test_other_machines_need_a_token(self):
        self.serve()
        code, _, err = self.call("watch", "configmaps", "--listen", "0.0.0.0:0")
        self.assertEqual(code, 1)
        self.assertIn("--listen: other machines can reach 0.0.0.0:0: add --listen-token", err)
        run = self.start("watch", "configmaps", "-A", "--listen", "0.0.0.0:0", "--listen-token",
                         "sesame")
        port = run.until_error("serving ")[-1].strip().removesuffix("/debug/").rsplit(":", 1)[1]
        url = f"http://127.0.0.1:{port}"
        self.assertEqual(get(url + "/metrics")[0], 401)
        self.assertEqual(get(url + "/metrics", "other")[0], 401)
        self.assertEqual(get(url + "/metrics", "sesame")[0], 200)

    def test_addresses_that_cannot_be_used(self):
        self.serve()
        taken = socket.create_server(("127.0.0.1", 0))
        self.addCleanup(taken.close)
        for address, reason in ((f"127.0.0.1:{taken.getsockname()[1]}", "in use"),
                                ("nowhere", "nowhere")):
            with self.subTest(address=address):
                code, _, err = self.call("watch", "configmaps", "--listen", address)
                self.assertEqual(code, 1)
                self.assertIn(reason, err)


if __name__ == "__main__":
    cli_testing.main()
