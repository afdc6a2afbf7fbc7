# SPDX-License-Identifier: Apache-2.0
"""Informers in a process of their own, of kinformer (oracle_client.c) or of client-go
(servers/informer), which take the same arguments and print the same."""
import os
import subprocess

import histories
from cluster import ROOT
from sync_client import SyncClient

# So that it notices a dead connection as soon as kinformer does.
CLIENT_GO_ENVIRONMENT = {"HTTP2_READ_IDLE_TIMEOUT_SECONDS": "10",
                         "HTTP2_PING_TIMEOUT_SECONDS": "10"}


def client_go():
    """The path of its program, for processes that this one starts."""
    os.environ.update(CLIENT_GO_ENVIRONMENT)
    return subprocess.run([ROOT / "tools" / "e2e-servers", "informer"], check=True, text=True,
                          stdout=subprocess.PIPE).stdout.strip()


class Informers(SyncClient):
    """A client that only records the events."""

    def __init__(self, *arguments):
        self.histories = {}
        super().__init__(*arguments)

    def note(self, what, resource, key, uid, version, more):
        if what == "~":
            old_uid, old_version = more.split("/")
            more = (old_uid, int(old_version))
        elif what == "-":
            more = more == "known"
        self.histories.setdefault(resource, []).append(
            histories.Event(what, key, uid, int(version), more))
        if what == "-":
            self.known[resource].pop(key, None)
        else:
            self.known[resource][key] = (uid, version)

    def close(self):
        try:
            super().close()
        except BrokenPipeError:
            pass  # it had ended before

    def count(self):
        return sum(len(history) for history in self.histories.values())
