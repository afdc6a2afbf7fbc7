#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What an API server has, for tests of discovery: one table, in the three forms that servers
speak. Run as a program it writes them to the files that the unit tests read.

Usage: discovery_data.py <folder>
"""
import json
import os
import sys

ALL = "create delete deletecollection get list patch update watch"
READ = "get list"

# group: [(version, [(resource, singular, kind, namespaced, short names, verbs, subresources)])].
# Groups and versions are in the order of the server; a version with None has no server behind it.
CORE = [("v1", [
    ("bindings", "binding", "Binding", True, "", "create", ""),
    ("componentstatuses", "componentstatus", "ComponentStatus", False, "cs", READ, ""),
    ("configmaps", "configmap", "ConfigMap", True, "cm", ALL, ""),
    ("endpoints", "endpoints", "Endpoints", True, "ep", ALL, ""),
    ("events", "event", "Event", True, "ev", ALL, ""),
    ("namespaces", "namespace", "Namespace", False, "ns",
     "create delete get list patch update watch", "finalize status"),
    ("nodes", "node", "Node", False, "no", ALL, "proxy status"),
    ("pods", "pod", "Pod", True, "po", ALL, "attach binding eviction exec log status"),
    ("replicationcontrollers", "replicationcontroller", "ReplicationController", True, "rc", ALL,
     "scale status"),
    ("secrets", "secret", "Secret", True, "", ALL, ""),
    ("serviceaccounts", "serviceaccount", "ServiceAccount", True, "sa", ALL, "token"),
    ("services", "service", "Service", True, "svc", ALL, "proxy status"),
])]

HPA = ("horizontalpodautoscalers", "horizontalpodautoscaler", "HorizontalPodAutoscaler", True,
       "hpa", ALL, "status")
WIDGET = ("widgets", "widget", "Widget", True, "wd wdg", ALL, "status scale")
GROUPS = {
    "apiregistration.k8s.io": [("v1", [
        ("apiservices", "apiservice", "APIService", False, "", ALL, "status")])],
    "apps": [("v1", [
        ("controllerrevisions", "controllerrevision", "ControllerRevision", True, "", ALL, ""),
        ("daemonsets", "daemonset", "DaemonSet", True, "ds", ALL, "status"),
        ("deployments", "deployment", "Deployment", True, "deploy", ALL, "scale status"),
        ("replicasets", "replicaset", "ReplicaSet", True, "rs", ALL, "scale status"),
        ("statefulsets", "statefulset", "StatefulSet", True, "sts", ALL, "scale status")])],
    "events.k8s.io": [("v1", [("events", "event", "Event", True, "ev", ALL, "")])],
    "authentication.k8s.io": [("v1", [
        ("tokenreviews", "tokenreview", "TokenReview", False, "", "create", "")])],
    "autoscaling": [("v2", [HPA]), ("v1", [HPA])],
    "batch": [("v1", [
        ("cronjobs", "cronjob", "CronJob", True, "cj", ALL, "status"),
        ("jobs", "job", "Job", True, "", ALL, "status")])],
    "networking.k8s.io": [("v1", [
        ("ingressclasses", "ingressclass", "IngressClass", False, "", ALL, ""),
        ("ingresses", "ingress", "Ingress", True, "ing", ALL, "status"),
        ("networkpolicies", "networkpolicy", "NetworkPolicy", True, "netpol", ALL, "")])],
    "storage.k8s.io": [("v1", [
        ("csinodes", "csinode", "CSINode", False, "", ALL, ""),
        ("storageclasses", "storageclass", "StorageClass", False, "sc", ALL, "")])],
    "apiextensions.k8s.io": [("v1", [
        ("customresourcedefinitions", "customresourcedefinition", "CustomResourceDefinition",
         False, "crd crds", ALL, "status")])],
    "stable.example.com": [("v1", [
        ("crontabs", "crontab", "CronTab", True, "ct", ALL, ""),
        # A short name of a built-in resource, and a name that is another's short name.
        ("podracers", "podracer", "PodRacer", True, "po", ALL, ""),
        ("sc", "sc", "ScreenCast", True, "", ALL, "")])],
    "example.com": [
        ("v1", [WIDGET]),
        ("v1beta1", [WIDGET, ("gadgets", "gadget", "Gadget", False, "", ALL, "")])],
    "other.example.com": [("v2", [
        ("widgets", "widget", "Widget", True, "", READ, ""),
        # The kind is not the singular in other letters.
        ("mice", "mouse", "ComputerMouse", True, "", ALL, "")])],
    "metrics.k8s.io": [("v1beta1", [
        ("nodes", "", "NodeMetrics", False, "", READ, ""),
        ("pods", "", "PodMetrics", True, "", READ, "")])],
    "custom.metrics.k8s.io": [("v1beta1", None)],
}


def kind_of(group, version, kind):
    return {"group": group, "version": version, "kind": kind}


def aggregated_resource(group, version, row):
    resource, singular, kind, namespaced, short, verbs, subresources = row
    document = {"resource": resource, "responseKind": kind_of(group, version, kind),
            "scope": "Namespaced" if namespaced else "Cluster", "singularResource": singular,
            "verbs": verbs.split()}
    if short:
        document["shortNames"] = short.split()
    if subresources:
        document["subresources"] = [
            {"subresource": name, "responseKind": kind_of(group, version, kind),
             "verbs": ["get", "patch", "update"]} for name in subresources.split()]
    return document


def aggregated(groups, version="v2"):
    items = []
    for group, versions in groups.items():
        document = [{"version": name, "freshness": "Stale"} if rows is None else
                {"version": name, "freshness": "Current",
                 "resources": [aggregated_resource(group, name, row) for row in rows]}
                for name, rows in versions]
        metadata = {"creationTimestamp": None}
        if group:
            metadata["name"] = group
        items.append({"metadata": metadata, "versions": document})
    return {"kind": "APIGroupDiscoveryList", "apiVersion": f"apidiscovery.k8s.io/{version}",
            "metadata": {}, "items": items}


def api_versions():
    return {"kind": "APIVersions", "versions": [name for name, _ in CORE],
            "serverAddressByClientCIDRs": [
                {"clientCIDR": "0.0.0.0/0", "serverAddress": "10.0.0.1:6443"}]}


def api_group_list(groups):
    """The versions of each group turned round, so that the preferred one is not the first."""
    document = []
    for group, versions in groups.items():
        names = [{"groupVersion": f"{group}/{name}", "version": name} for name, _ in versions]
        document.append({"name": group, "versions": names[::-1], "preferredVersion": names[0]})
    return {"kind": "APIGroupList", "apiVersion": "v1", "groups": document}


def api_resource_list(group, version, rows):
    resources = []
    for resource, singular, kind, namespaced, short, verbs, subresources in rows:
        document = {"name": resource, "singularName": singular, "namespaced": namespaced,
                "kind": kind, "verbs": verbs.split(), "storageVersionHash": "xPOwRZ+Yhw8="}
        if short:
            document["shortNames"] = short.split()
        resources.append(document)
        resources += [{"name": f"{resource}/{name}", "singularName": "", "namespaced": namespaced,
                       "kind": kind, "verbs": ["get", "patch", "update"]}
                      for name in subresources.split()]
    return {"kind": "APIResourceList", "apiVersion": "v1",
            "groupVersion": f"{group}/{version}" if group else version, "resources": resources}


def legacy_paths(groups):
    """Each path of legacy discovery, and what it answers; None: it fails."""
    paths = {"/api": api_versions(), "/apis": api_group_list(groups)}
    for prefix, of in (("/api", {"": CORE}), ("/apis", groups)):
        for group, versions in of.items():
            for version, rows in versions:
                path = "/".join(part for part in (prefix, group, version) if part)
                paths[path] = None if rows is None else api_resource_list(group, version, rows)
    return paths


def write(folder, name, document):
    with open(os.path.join(folder, name + ".json"), "w", encoding="utf-8") as file:
        json.dump(document, file, separators=(",", ":"))
        file.write("\n")


def main():
    folder = sys.argv[1]
    write(folder, "api", aggregated({"": CORE}))
    write(folder, "apis", aggregated(GROUPS))
    for path, document in legacy_paths(GROUPS).items():
        if document is not None:
            write(folder, "legacy" + path.replace("/", "_"), document)


if __name__ == "__main__":
    main()
