# SPDX-License-Identifier: Apache-2.0
"""The example controller, examples/namespace_config, has something to do: namespaces change their
teams, and another client spoils its ConfigMaps. What it should have made of that in the end."""
import os
import signal
import subprocess

import churn
import e2e
import objects
import processes

TEAM = "example.com/team"
MANAGED = ("app.kubernetes.io/managed-by", "namespace-config")
NAMESPACES = (*(f"team-{i}" for i in range(6)), *churn.NAMESPACES)
TEAMS = ("red", "green", "blue", None)
STOP_S = 60


class Writer(churn.Writer):
    """A client that spoils ConfigMaps."""

    def step(self, number):
        name = self.random.choice(NAMESPACES)
        config_map = f"/api/v1/namespaces/{name}/configmaps/team"
        what = self.random.choices(("team", "data", "label", "delete"), (50, 20, 10, 20))[0]
        if what == "team":
            label = {"metadata": {"labels": {TEAM: self.random.choice(TEAMS)}}}
            self.request("PATCH", f"/api/v1/namespaces/{name}", label, patch=True)
        elif what == "data":
            self.request("PATCH", config_map, {"data": {"team": f"none-{number}"}}, patch=True)
        elif what == "label":
            self.request("PATCH", config_map, {"metadata": {"labels": {MANAGED[0]: None}}},
                         patch=True)
        else:
            self.request("DELETE", config_map)


class Controller:
    """The program."""

    def __init__(self, kubeconfig, log):
        with open(log, "ab") as errors:
            self.process = processes.spawn(
                [e2e.program("../examples/namespace_config/namespace_config")], text=True,
                stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=errors,
                env={**os.environ, "KUBECONFIG": kubeconfig})
        self.said = ""

    def stop(self):
        """In order. Returns whether it can."""
        self.process.send_signal(signal.SIGTERM)
        try:
            self.said = self.process.communicate(timeout=STOP_S)[0].strip()
        except subprocess.TimeoutExpired:
            return False
        return self.process.returncode == 0

    def close(self):
        processes.kill(self.process)
        self.process.stdout.close()


def prepare(cluster):
    cluster.apply(*(objects.namespace(name) for name in NAMESPACES))


def wrong(cluster):
    """What is not as the controller should have made it, as texts."""
    teams = {item["metadata"]["name"]: item["metadata"].get("labels", {}).get(TEAM)
             for item in cluster.get("namespaces")}
    found = {item["metadata"]["namespace"]: item for item in cluster.get("configmaps")
             if item["metadata"]["name"] == "team"}
    return [text for name, team in teams.items()
            for text in wrong_in(name, team, members(teams, team), found.get(name))]


def members(teams, team):
    return ",".join(sorted(name for name, other in teams.items() if other == team))


def wrong_in(name, team, names, config_map):
    labels = {} if config_map is None else config_map["metadata"].get("labels", {})
    managed = labels.get(MANAGED[0]) == MANAGED[1]
    if not team:
        return [f"{name}: has a ConfigMap and no team"] if managed else []
    wanted = {"namespace": name, "team": team, "members": names}
    if not managed or config_map.get("data") != wanted:
        return [f"{name}: {config_map} instead of {wanted}"]
    return []
