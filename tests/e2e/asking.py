# SPDX-License-Identifier: Apache-2.0
"""A real kube-apiserver and the embedded one, to be asked the same."""
import http.client
import json
import ssl
import unittest
from urllib.parse import urlsplit

from cluster import Cluster
from embedded import Embedded


class Asked:
    """A server that is asked."""

    def __init__(self, url, context=None):
        self.place = urlsplit(url).netloc
        self.context = context
        self.warnings = []  # of the last answer

    def ask(self, method, path, body, headers):
        """(status, text)"""
        connection = (http.client.HTTPSConnection(self.place, context=self.context, timeout=60)
                      if self.context else http.client.HTTPConnection(self.place, timeout=60))
        try:
            text = body if isinstance(body, (str, type(None))) else json.dumps(body)
            connection.request(method, path, body=text, headers=headers)
            response = connection.getresponse()
            self.warnings = sorted(response.headers.get_all("Warning") or [])
            return response.status, response.read().decode()
        finally:
            connection.close()


class BothServers(unittest.TestCase):
    maxDiff = None
    flags = ()  # of the embedded server

    @classmethod
    def setUpClass(cls):
        cls.cluster = cls.enterClassContext(Cluster())
        cls.embedded = cls.enterClassContext(Embedded(*cls.flags))
        context = ssl.create_default_context(cafile=cls.cluster.path("ca.crt"))
        context.load_cert_chain(cls.cluster.path("admin.crt"), cls.cluster.path("admin.key"))
        cls.real = Asked(f"https://127.0.0.1:{cls.cluster.port}", context)
        cls.ours = Asked(cls.embedded.url)

    def kubectl(self, *words, **options):
        """On both."""
        for kubectl in (self.cluster.kubectl, self.embedded.kubectl):
            kubectl(*words, **options)

    def define(self, definition):
        """Makes both serve a custom resource."""
        self.kubectl("apply", "-f", "-", text=json.dumps(definition))
        self.kubectl("wait", "--for=condition=Established",
                     "crd/" + definition["metadata"]["name"])
