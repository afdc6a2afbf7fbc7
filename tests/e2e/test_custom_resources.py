# SPDX-License-Identifier: Apache-2.0
"""The life of a custom resource under informers: its definition comes, changes, goes and comes
again, and nobody has to restart anything."""
import signal
import time

import e2e
import objects
from cluster import Cluster

WIDGETS = "example.com/v1/widgets/Widget"
OLD_WIDGETS = "example.com/v1alpha1/widgets/Widget"
BACKOFF = 4  # ki_reflector_state
WATCHING = 3
QUIET_S = 6  # long enough for three tries
DEEP, TOO_DEEP = 50, 200  # lists inside of lists; the limit of the library is 128
BLOCKED = "example.com/%s/blocks/Block"
NOWHERE = {"strategy": "Webhook", "webhook": {
    "conversionReviewVersions": ["v1"],
    "clientConfig": {"service": {"name": "none", "namespace": "default"}}}}


def deep(levels):
    value = []
    for _ in range(levels):
        value = [value]
    return value


def definition_of(names, versions):
    """The definition of widgets under other names, with these versions; the first is stored."""
    definition = objects.widget_definition()
    template = definition["spec"]["versions"][0]
    template["schema"]["openAPIV3Schema"]["x-kubernetes-preserve-unknown-fields"] = True
    definition["metadata"]["name"] = f"{names['plural']}.example.com"
    definition["spec"]["names"] = names
    definition["spec"]["versions"] = [
        {**template, "name": name, "served": served, "storage": i == 0}
        for i, (name, served) in enumerate(versions)]
    return definition


def blocked_definition(conversion):
    names = {"plural": "blocks", "singular": "block", "kind": "Block"}
    definition = definition_of(names, [("v1", True), ("v2", True)])
    definition["spec"]["conversion"] = conversion
    return definition


class CustomResources(e2e.Case):
    @classmethod
    def make_cluster(cls):
        return Cluster()

    @classmethod
    def prepare(cls):
        """A client of a version that the server cannot convert to; it takes its time to say so."""
        cls.cluster.define(blocked_definition(NOWHERE))
        cls.cluster.apply({**objects.widget("x", "default", 1), "kind": "Block"})
        cls.blocked = cls.new_client(cls.cluster.kubeconfig(), [BLOCKED % "v1", BLOCKED % "v2"])
        cls.addClassCleanup(cls.blocked.close)

    def setUp(self):
        self.addCleanup(self.undefine)

    def start(self, resources=(WIDGETS,), flags=()):
        return self.client(self.cluster.kubeconfig(), resources, flags)

    def define(self, *versions):
        """The definition of widgets, with these versions."""
        names = {"plural": "widgets", "singular": "widget", "kind": "Widget"}
        self.cluster.define(definition_of(names, versions or [("v1", True)]))

    def undefine(self):
        self.cluster.kubectl("delete", "crd", "widgets.example.com", "--ignore-not-found")

    def create(self, *names):
        self.cluster.apply(*(objects.widget(name, "default", 1) for name in names))

    def assert_current(self, client, resource=WIDGETS):
        items = self.cluster.get("widgets.example.com")
        versions = {f"default/{m['name']}": (m["uid"], m["resourceVersion"])
                    for m in (item["metadata"] for item in items)}
        client.wait_for_version(resource, versions)
        self.assertEqual(client.dump()[0][resource], versions)
        self.assertEqual(client.complaints, [])

    def wait_for_health(self, client, resource, **wanted):
        end = time.monotonic() + 60
        while time.monotonic() < end:
            health = client.health()[resource]
            if all(health[name] == value for name, value in wanted.items()):
                return health
            time.sleep(0.1)
        self.fail(f"{resource} is {health} and not {wanted}")

    def loud_lines(self, client):
        """The records above the debug level."""
        with open(client.log, encoding="utf-8") as log:
            return [line for line in log if " debug " not in line]

    def test_it_comes_and_goes_and_comes_again(self):
        client = self.start()
        client.wait(lambda: client.errors, "notified of errors")
        self.assertEqual(set(client.errors), {(WIDGETS, 404, "NotFound")})
        self.assertEqual(client.synced, set())
        self.define()
        client.wait_for_sync()
        self.create("a", "b")
        self.cluster.kubectl("patch", "widget", "a", "--type=merge", "-p", '{"spec":{"size":7}}')
        self.assert_current(client)
        lines, errors = len(self.loud_lines(client)), len(client.errors)
        self.undefine()
        client.wait(lambda: not client.known[WIDGETS], "notified of the deletes")
        self.assertEqual([(e[2], e[5]) for e in client.events if e[0] == "-"],
                         [("default/a", "known"), ("default/b", "known")])
        self.wait_for_health(client, WIDGETS, state=BACKOFF, http=404, objects=0, synced=1)
        time.sleep(QUIET_S)
        self.assertEqual(set(client.errors[errors:]), {(WIDGETS, 404, "NotFound")})
        self.assertLessEqual(len(client.errors) - errors, 4)
        self.assertLessEqual(len(self.loud_lines(client)) - lines, 8)
        self.wait_for_health(client, WIDGETS, state=BACKOFF, http=404, objects=0, synced=1)
        self.define()
        self.create("a", "c")
        self.assert_current(client)
        self.wait_for_health(client, WIDGETS, state=WATCHING, http=0, objects=2)
        client.quit()

    def test_it_is_replaced_while_nobody_looks(self):
        """Deletions are delivered, also if only a new list shows them, and what has the name of
        something deleted is something new."""
        self.define()
        self.create("a", "b")
        clients = [self.start(), self.start(flags=["--metadata", "--pages"])]
        for client in clients:
            client.wait_for_sync()
            client.process.send_signal(signal.SIGSTOP)
        self.cluster.restart_apiserver()
        self.undefine()
        self.define()
        self.create("a", "c")
        for client in clients:
            client.process.send_signal(signal.SIGCONT)
            self.assert_current(client)
            events = [(what, key, more) for what, _, key, _, _, more in client.events[2:]]
            self.assertCountEqual(events, [
                ("-", "default/a", "unknown"), ("-", "default/b", "unknown"),
                ("+", "default/a", "live"), ("+", "default/c", "live")])
            client.quit()

    def test_an_object_that_cannot_be_read(self):
        """It is skipped; the others, and what comes later, are not."""
        self.define()
        self.create("a")
        client = self.start()
        client.wait_for_sync()
        self.write("deep", deep(TOO_DEEP))
        self.create("b")
        client.wait(lambda: "default/b" in client.known[WIDGETS], "notified of the other")
        later = self.start()
        later.wait_for_sync()
        for each in (client, later):
            self.assertEqual(set(each.known[WIDGETS]), {"default/a", "default/b"})
            self.assertGreaterEqual(each.health()[WIDGETS]["skipped"], 1)
        self.write("deep", deep(DEEP))
        for each in (client, later):
            self.assert_current(each)
        self.write("deep", deep(TOO_DEEP))
        self.create("c")
        for each in (client, later):
            each.wait(lambda: "default/c" in each.known[WIDGETS], "notified of the other")
        self.cluster.kubectl("delete", "widget", "deep")
        for each in (client, later):
            self.assert_current(each)
            self.assertEqual(each.errors, [])
            each.quit()

    def write(self, name, value):
        item = {**objects.widget(name, "default", 1), "any": value}
        path = "/apis/example.com/v1/namespaces/default/widgets"
        apply = f"{path}/{name}?fieldManager=e2e&force=true"
        self.cluster.request("PATCH", apply, item, "application/apply-patch+yaml")

    def test_unconvertible_objects(self):
        """The last one, by its name: meanwhile the others pass the time."""
        client = self.blocked
        self.logs.append(client.log)
        client.wait(lambda: (BLOCKED % "v2", 500) in [error[:2] for error in client.errors],
                    "given the reason of the failure")
        self.assertEqual(client.synced, {BLOCKED % "v1"})
        self.cluster.define(blocked_definition({"strategy": "None"}))
        client.wait_for_sync()
        self.assertEqual(set(client.known[BLOCKED % "v2"]), {"default/x"})
        client.quit()

    def test_a_version_is_not_served_for_a_while(self):
        self.define(("v1", True), ("v1alpha1", True))
        self.create("a")
        client = self.start([WIDGETS, OLD_WIDGETS])
        client.wait_for_sync()
        for resource in (WIDGETS, OLD_WIDGETS):
            self.assert_current(client, resource)
        known = client.dump()[0][OLD_WIDGETS]
        self.define(("v1", True), ("v1alpha1", False))
        self.wait_for_health(client, OLD_WIDGETS, state=BACKOFF, http=404, objects=1)
        self.create("b")
        self.assert_current(client, WIDGETS)
        self.assertEqual(client.dump()[0][OLD_WIDGETS], known)  # nobody said that they are gone
        self.wait_for_health(client, WIDGETS, state=WATCHING, http=0)
        self.define(("v1", True), ("v1alpha1", True))
        for resource in (WIDGETS, OLD_WIDGETS):
            self.assert_current(client, resource)
        # The change of the definition ends watches of all versions; only one version was missing.
        self.assertEqual({error[0] for error in client.errors if error[1] == 404}, {OLD_WIDGETS})
        with open(client.log, encoding="utf-8") as log:
            self.assertIn("the server no longer serves example.com/v1alpha1; available: v",
                          log.read())
        client.quit()
