# SPDX-License-Identifier: Apache-2.0
"""Objects to fill a server with."""


def metadata(name, name_space):
    return {"name": name, "namespace": name_space, "labels": {"app": name.split("-", 1)[0]}}


def namespace(name):
    return {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": name}}


def pod_spec():
    return {"containers": [{"name": "main", "image": "registry.example/app:1",
                            "env": [{"name": "A", "value": "b"}],
                            "resources": {"requests": {"cpu": "100m", "memory": "64Mi"}}}]}


def pod(name, name_space):
    return {"apiVersion": "v1", "kind": "Pod", "metadata": metadata(name, name_space),
            "spec": pod_spec()}


def deployment(name, name_space):
    return {"apiVersion": "apps/v1", "kind": "Deployment", "metadata": metadata(name, name_space),
            "spec": {"replicas": 1, "selector": {"matchLabels": {"app": name}},
                     "template": {"metadata": {"labels": {"app": name}}, "spec": pod_spec()}}}


def widget_definition():
    schema = {"type": "object", "properties": {
        "spec": {"type": "object", "properties": {"size": {"type": "integer"}}}}}
    return {"apiVersion": "apiextensions.k8s.io/v1", "kind": "CustomResourceDefinition",
            "metadata": {"name": "widgets.example.com"},
            "spec": {"group": "example.com", "scope": "Namespaced",
                     "names": {"plural": "widgets", "singular": "widget", "kind": "Widget"},
                     "versions": [{"name": "v1", "served": True, "storage": True,
                                   "schema": {"openAPIV3Schema": schema}}]}}


def widget(name, name_space, size):
    return {"apiVersion": "example.com/v1", "kind": "Widget",
            "metadata": metadata(name, name_space), "spec": {"size": size}}
