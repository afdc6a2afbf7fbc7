# SPDX-License-Identifier: Apache-2.0
"""The embedded API server as a process, and kubectl on it."""
import http.client
import json
import os
import shutil
import subprocess
import tempfile
from urllib.parse import urlsplit

import e2e
import processes
from cluster import server_folder


class Embedded:
    def __init__(self, *flags):
        self.flags = flags
        self.folder = tempfile.mkdtemp(prefix="kinformer-embedded.")
        self.kubectl_program = os.path.join(server_folder(), "kubectl")
        self.process = None
        self.url = None

    def __enter__(self):
        log = open(self.path("log"), "wb")  # pylint: disable=consider-using-with
        with log:
            self.process = processes.spawn(
                [e2e.program("apiserver_serve"), "--kubeconfig", self.path("kubeconfig"),
                 *self.flags], stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=log)
        word, self.url = self.process.stdout.readline().decode().split()
        assert word == "url"
        return self

    def __exit__(self, kind, error, trace):
        self.process.stdin.close()
        code = self.process.wait(timeout=30)
        self.process.stdout.close()
        text = self.logs()
        shutil.rmtree(self.folder, ignore_errors=True)
        if code != 0:
            raise RuntimeError(f"the embedded server ended with {code}: {text}")

    def path(self, name):
        return os.path.join(self.folder, name)

    def logs(self):
        return processes.tail(self.path("log"))

    def run(self, *words, text=None, timeout=60, **environment):
        """Runs kubectl; what it returned and printed."""
        return subprocess.run(
            [self.kubectl_program, "--kubeconfig", self.path("kubeconfig"), "--cache-dir",
             self.path("cache"), *words], input=text, text=True, stdout=subprocess.PIPE,
            stderr=subprocess.PIPE, timeout=timeout, check=False,
            env={**os.environ, "HOME": self.folder, **environment})

    def kubectl(self, *words, **options):
        """The same; what fails is an error."""
        run = self.run(*words, **options)
        if run.returncode != 0:
            raise RuntimeError(f"kubectl {' '.join(words)}: {run.stderr.strip()}")
        return run.stdout

    def request(self, method, path, body=None, headers=()):
        """(status, parsed body)"""
        connection = http.client.HTTPConnection(urlsplit(self.url).netloc, timeout=30)
        try:
            connection.request(method, path, body=body, headers=dict(headers))
            response = connection.getresponse()
            return response.status, json.loads(response.read())
        finally:
            connection.close()
