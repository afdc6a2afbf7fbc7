#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""`kinformer watch` against a scripted API server."""
import json
import re
import subprocess
import time

import cli_testing
from cli_testing import Case

HOSTILE = "x\x1b[2J\x9b31m\u202e\r\ny"
CONTROLS = re.compile("[\x00-\x09\x0b-\x1f\x7f-\x9f\u202a-\u202e]")


class Watch(Case):
    def test_events_and_what_changed(self):
        self.pod("web")
        run = self.start("watch", "pods")
        head, line = run.until("shop/web")
        self.assertEqual(head.split(), ["AGE", "KIND", "NAME", "WHAT"])
        self.assertRegex(line, r"^\+ +<unknown> +Pod +shop/web +0/1  Pending  0\n$")
        self.pod("web", image="b", status={"phase": "Running"})
        line = run.until("~")[0]
        self.assertRegex(line, r"^~ .* Pod +shop/web +"
                               r"spec\.containers\[name=main\]\.image: a -> b, "
                               r"status\.phase: Pending -> Running\n$")
        self.server.delete("pods", "shop", "web")
        self.assertRegex(run.until("- ")[0], r"^- .* shop/web ")
        self.assertEqual(run.end(), (0, [], []))

    def test_json_is_one_event_a_line(self):
        self.pod("web")
        run = self.start("watch", "po", "-o", "json")
        event = json.loads(run.until("web")[0])
        self.assertEqual((event["type"], event["initial"]), ("ADDED", True))
        self.assertEqual(event["object"]["metadata"]["name"], "web")
        self.assertEqual(event["object"]["kind"], "Pod")
        self.pod("web", image="b")
        event = json.loads(run.until("web")[0])
        self.assertEqual((event["type"], event["initial"]), ("MODIFIED", False))
        self.assertEqual(event["old"]["spec"]["containers"][0]["image"], "a")
        self.assertEqual(event["object"]["spec"]["containers"][0]["image"], "b")
        self.server.delete("pods", "shop", "web")
        event = json.loads(run.until("web")[0])
        self.assertEqual(event["type"], "DELETED")
        self.assertNotIn("old", event)
        self.assertEqual(run.end()[0], 0)

    def test_other_formats(self):
        self.pod("web")
        self.server.put("deployments", "shop", "d")
        code, out, _ = self.call("watch", "pods,deploy", "-o", "name", "--until-synced")
        self.assertEqual((code, sorted(out.split())), (0, ["deployment.apps/d", "pod/web"]))
        code, out, _ = self.call("watch", "pods", "-o", "jsonpath={.metadata.name}:{.spec.x}",
                                 "--until-synced")
        self.assertEqual((code, out), (0, "web:\n"))
        code, out, _ = self.call("watch", "pods", "--until-synced", "-o",
                                 "custom-columns=N:.metadata.name,I:.spec.containers[*].image")
        self.assertEqual((code, out), (0, "N     I\nweb   a\n"))
        self.assertEqual(self.call("watch", "pods", "-o", "none", "--until-synced"), (0, "", ""))

    def test_selection(self):
        self.pod("a", app="web")
        self.pod("b", app="sql")
        self.pod("c", namespace="other")
        names = lambda *words: sorted(
            self.call("watch", "pods", "-o", "name", "--until-synced", *words)[1].split())
        self.assertEqual(names(), ["pod/a", "pod/b"])
        self.assertEqual(names("-A"), ["pod/a", "pod/b", "pod/c"])
        self.assertEqual(names("-nother"), ["pod/c"])
        self.assertEqual(names("-l", "app=sql"), ["pod/b"])
        self.call("watch", "pods", "--field-selector", "status.phase=Running", "--until-synced")
        self.assertIn("fieldSelector=status.phase%3DRunning", self.server.asked[-1])

    def test_shards(self):
        pods = {f"pod/p{i}" for i in range(20)}
        for pod in pods:
            self.pod(pod[4:])
        parts = [set(self.call("watch", "pods", "-o", "name", "--until-synced",
                               f"--shard={i}/3")[1].split()) for i in range(3)]
        self.assertEqual(set.union(*parts), pods)
        self.assertEqual(sum(map(len, parts)), len(pods))
        self.assertIn("shardSelector=shardRange%28object.metadata.uid", self.server.asked[-1])
        for wrong in ("3/3", "1", "/3", "1/", "-1/3", "1/3x", "a/b", "0/0", "1/99999999999"):
            code, out, err = self.call("watch", "pods", f"--shard={wrong}")
            self.assertEqual((code, out), (1, ""), wrong)
            self.assertIn("--shard: expected INDEX/COUNT", err)

    def test_keep_and_drop(self):
        self.pod("web", image="a")
        words = ("watch", "pods", "--until-synced", "--keep", ".status.phase,.spec.x")
        code, out, _ = self.call(*words, "-o", "json")
        pod = json.loads(out)["object"]
        self.assertEqual((code, pod["status"], pod.get("spec")), (0, {"phase": "Pending"}, {}))
        code, out, _ = self.call(*words, "-o", "custom-columns=N:.metadata.name,P:.status.phase,"
                                 "I:.spec.containers[*].image,X:.spec.x")
        self.assertEqual((code, out.split("\n")[1].split()),
                         (0, ["web", "Pending", "<not", "kept>", "<none>"]))
        code, out, _ = self.call(*words, "-o", "jsonpath={.status.phase} {.spec.containers}")
        self.assertEqual((code, out), (0, "Pending <not kept>\n"))
        code, out, _ = self.call("watch", "pods", "--until-synced", "--drop=usual", "-o", "json")
        self.assertIn("containers", json.loads(out)["object"]["spec"])
        code, _, err = self.call("watch", "pods", "--keep", ".spec.containers[0]")
        self.assertNotEqual(code, 0)
        self.assertIn(".spec.containers[0]: only names and [*] are allowed", err)
        code, _, err = self.call("get", "pods", "--keep", ".spec")
        self.assertIn("--keep and --drop: not for tables", err)
        code, out, _ = self.call("get", "pods", "web", "--keep", ".status.phase", "-o", "json")
        self.assertNotIn("spec", json.loads(out))
        self.pod("web", image="b") # from now on its metadata has the same order
        run = self.start("watch", "pods", "--keep", ".status.phase")
        run.until("shop/web")
        self.pod("web", image="c")
        self.pod("web", image="c", status={"phase": "Running"})
        self.assertRegex(run.until("~")[0], r"shop/web +status\.phase: Pending -> Running\n$")
        self.assertEqual(run.end(), (0, [], []))

    def test_custom_resources_and_only_changes(self):
        self.server.put("widgets", "shop", "w", spec={"size": 1, "tags": ["a"]})
        run = self.start("watch", "wd", "--watch-only", "--no-headers")
        while self.server.watches == 0:
            time.sleep(0.01)
        self.server.put("widgets", "shop", "w", spec={"size": 2, "tags": ["a", "b"]})
        line = run.until("shop/w")[0]
        self.assertRegex(line, r"^~ .* Widget +shop/w +spec\.size: 1 -> 2, "
                               r'spec\.tags: \["a"\] -> \["a","b"\]\n$')

    def test_hostile_objects_do_nothing_to_a_terminal(self):
        self.pod(HOSTILE, app=HOSTILE, image=HOSTILE)
        for output in ([], ["-o", "wide"], ["-o", "json"], ["-o", "name"],
                       ["-o", "jsonpath={.metadata.labels}{.metadata.name}"],
                       ["-o", "custom-columns=A:.metadata.labels,B:.metadata.name"]):
            code, out, err = self.call("watch", "pods", "--until-synced", *output)
            self.assertEqual(code, 0)
            self.assertIsNone(CONTROLS.search(out + err), repr(out + err))
            self.assertLessEqual(out.count("\n"), 2)
        run = self.start("watch", "pods")
        run.until("+")
        self.pod(HOSTILE, app=HOSTILE + "2", image="\x07")
        self.assertIsNone(CONTROLS.search(run.until("~")[0]))

    def test_a_lost_connection_is_survived_and_reported(self):
        self.pod("a")
        run = self.start("watch", "pods", "--stats=json")
        run.until("shop/a")
        self.server.cut()
        self.assertIn("pods: connection lost", run.until_error("pods")[0])
        self.assertRegex(run.until_error("pods")[0], r"pods: reconnected after \d+\.\d s\n$")
        self.pod("b")
        run.until("+")
        self.assertRegex(run.until_error("pods")[0], r"pods: synced after \d+\.\d s\n$")
        self.server.stop()
        run.until_error("connection lost")
        self.server.delete("pods", "shop", "a")
        self.server.listen()
        run.until_error("pods: synced after")
        run.until("- ")
        code, _, err = run.end()
        self.assertEqual(code, 0)
        stats = json.loads(err[-1])
        self.assertEqual((stats["objects"], stats["relists"]), (1, 0))
        self.assertGreaterEqual(stats["reconnects"], 2)

    def test_expired_history_is_relisted(self):
        self.pod("a")
        self.pod("b")
        run = self.start("watch", "pods", "-o", "json")
        run.until('"b"')
        self.server.stop()
        run.until_error("connection lost")
        self.server.delete("pods", "shop", "a")
        self.pod("b", image="new")
        self.server.forget()
        self.server.listen()
        run.until_error("relisted, 1 objects")
        events = [json.loads(run.out.get(timeout=cli_testing.WAIT)) for _ in range(2)]
        events = {event["type"]: event for event in events}
        self.assertTrue(events["DELETED"]["finalStateUnknown"])
        self.assertEqual(events["MODIFIED"]["object"]["spec"]["containers"][0]["image"], "new")
        self.assertEqual(run.end()[0], 0)

    def test_a_watch_that_is_accepted_is_no_proof_of_being_current(self):
        self.pod("a")
        run = self.start("watch", "pods")
        run.until("shop/a")
        self.server.stop()
        run.until_error("connection lost")
        self.server.listen()
        run.until_error("reconnected")
        time.sleep(1)
        self.assertTrue(run.err.empty())
        self.pod("a", image="b")
        self.assertIn("pods: synced after", run.until_error("pods")[0])

    def test_a_failure_is_reported_again_when_its_class_changes(self):
        self.pod("a")
        run = self.start("watch", "pods")
        run.until("shop/a")
        self.server.stop()
        run.until_error("pods: connection lost: ")
        self.server.refused["pods"] = (403, "Forbidden", "not yours")
        self.server.listen()
        self.assertRegex(run.until_error("not yours")[-1],
                         r"pods: (watch|list|streaming list) failed: not yours; retrying\n$")
        self.server.refused["pods"] = (401, "Unauthorized", "who are you")
        run.until_error("failed: who are you; retrying")
        del self.server.refused["pods"]
        run.until_error("pods: synced after")

    def test_a_version_that_is_not_served_any_more_is_named(self):
        self.server.put("widgets", "shop", "w")
        run = self.start("watch", "widgets.example.com")
        run.until("shop/w")
        self.server.stop()
        run.until_error("connection lost")
        self.server.groups = dict(self.server.groups)
        self.server.groups["example.com"] = self.server.groups["example.com"][1:]
        self.server.listen()
        said = run.until_error("no longer serves")
        self.assertEqual(said, ["kinformer: widgets.example.com: the server no longer serves "
                                "example.com/v1; available: v1beta1; retrying\n"])
        self.assertEqual(run.end()[0], 0)

    def test_a_fallback_is_not_reported(self):
        self.pod("a")
        self.server.streams = False
        self.assertEqual(self.call("get", "pods", "-o", "name"), (0, "pod/a\n", ""))
        self.assertTrue(any("sendInitialEvents" in line for line in self.server.asked))
        run = self.start("watch", "pods", "--no-headers")
        run.until("shop/a")
        self.pod("b")
        run.until("shop/b")
        self.assertEqual(run.end(), (0, [], []))

    def test_the_reason_behind_a_fallback_is_reported(self):
        self.server.streams = False
        self.server.list_failure = (500, "InternalError", "etcd is asleep")
        code, _, err = self.call("get", "pods", "--request-timeout=2s")
        self.assertEqual(code, 5)
        self.assertIn("pods: not synced yet: etcd is asleep; retrying", err)
        self.assertIn("not synced in time: pods: etcd is asleep\n", err)
        self.assertNotIn("sendInitialEvents", err)

    def test_a_refusal_names_its_resource(self):
        self.server.streams = False
        self.server.list_failure = (400, "BadRequest", "no such parameter")
        self.assertEqual(self.call("get", "pods"), (1, "", "kinformer: pods: no such parameter\n"))
        self.server.list_failure = (400, "BadRequest", "pods are not listed here")
        self.assertEqual(
            self.call("get", "pods"), (1, "", "kinformer: pods are not listed here\n")
        )

    def test_a_watch_is_synced_only_if_the_server_can_serve_it(self):
        self.pod("a")
        self.server.late = True
        run = self.start("watch", "pods")
        run.until("shop/a")
        self.server.stop()
        run.until_error("connection lost")
        self.server.delete("pods", "shop", "a")
        self.server.forget()
        self.server.listen()
        said = run.until_error("synced after")
        self.assertIn("relisted, 0 objects", said[-1])
        run.until("- ")
        code, _, err = run.end()
        self.assertEqual((code, err), (0, []))

    def test_stats(self):
        self.pod("a")
        code, _, err = self.call("watch", "pods", "-o", "none", "--until-synced", "--stats=json")
        stats = json.loads(err)
        self.assertEqual((code, stats["objects"], stats["relists"]), (0, 1, 0))
        for name in ("bytes", "memoryBytes", "peakMemoryBytes", "cpuSeconds"):
            self.assertGreater(stats[name], 0, name)
        self.assertGreaterEqual(stats["syncSeconds"], 0)
        code, _, err = self.call("watch", "pods", "-o", "none", "--until-synced", "--stats")
        self.assertEqual(code, 0)
        self.assertIn("objects     1\n", err)

    def test_a_reader_that_leaves_is_no_failure(self):
        for i in range(200):
            self.pod(f"p{i}")
        words = [cli_testing.PROGRAM, "watch", "pods", "-o", "json", "--kubeconfig",
                 self.server.kubeconfig]
        with subprocess.Popen(words, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as process:
            self.assertIn(b"ADDED", process.stdout.readline())
            process.stdout.close()
            self.pod("late")
            self.assertEqual(process.wait(timeout=cli_testing.WAIT), 0)
            self.assertEqual(process.stderr.read(), b"")


class Failures(Case):
    def test_not_known(self):
        code, out, err = self.call("watch", "podz")
        self.assertEqual((code, out), (3, ""))
        self.assertIn("did you mean pods?", err)

    def test_not_watchable(self):
        code, _, err = self.call("watch", "tokenreviews")
        self.assertEqual(code, 1)
        self.assertIn("cannot be listed and watched", err)

    def test_forbidden(self):
        self.server.refused["pods"] = (403, "Forbidden", "pods is \x1bforbidden")
        code, _, err = self.call("watch", "pods")
        self.assertEqual(code, 4)
        self.assertIn("pods is", err)
        self.assertIsNone(CONTROLS.search(err))

    def test_a_long_message_arrives_whole(self):
        message = "this webhook explains itself at length; " * 100 + "the end"
        self.server.refused["pods"] = (403, "Forbidden", message)
        self.assertEqual(self.call("watch", "pods"), (4, "", f"kinformer: pods: {message}\n"))

    def test_unauthorized(self):
        self.server.refused["pods"] = (401, "Unauthorized", "who are you")
        self.assertEqual(self.call("watch", "pods")[0], 4)

    def test_no_connection(self):
        self.server.stop()
        code, _, err = self.call("watch", "pods")
        self.assertEqual(code, 5)
        self.assertIn("127.0.0.1", err)
        self.server.listen()

    def test_no_answer_in_time(self):
        self.server.refused["pods"] = (503, "ServiceUnavailable", "later")
        code, _, err = self.call("watch", "pods", "--until-synced", "--request-timeout=1s")
        self.assertEqual(code, 5)
        self.assertIn("not synced in time: pods: later\n", err)

    def test_silence_is_described(self):
        self.server.mute = True
        code, _, err = self.call("get", "pods", "--request-timeout=1s")
        self.assertEqual(code, 5)
        self.assertRegex(err, "not synced in time: pods: no objects arrived from http://127")

    def test_usage(self):
        for words in (["watch"], ["watch", "pods", "--nope"], ["watch", "pods", "-o", "xml"],
                      ["watch", "pods", "--stats=xml"], ["watch", "pods", "--color=blue"],
                      ["nonsense"], []):
            code, _, err = self.call(*words, kubeconfig=False)
            self.assertEqual(code, 2, words)
            if words:
                self.assertIn("kinformer: ", err)

    def test_a_plugin_that_fails_is_reported_once_and_by_name(self):
        with open(self.server.kubeconfig, encoding="utf-8") as file:
            text = file.read()
        plugin = ("{exec: {apiVersion: client.authentication.k8s.io/v1, command: /bin/false, "
                  "interactiveMode: Never}}")
        with open(self.server.kubeconfig, "w", encoding="utf-8") as file:
            file.write(text.replace("user: {}", f"user: {plugin}"))
        code, _, err = self.call("get", "pods", "--allow-exec=any")
        self.assertEqual(code, 1)
        self.assertEqual(len(err.splitlines()), 1, err)
        self.assertRegex(err, "^kinformer: [a-z]+: exec plugin failed: .*/bin/false\n$")

    def test_options_are_named_as_they_are_typed(self):
        for words in (["--namespace", "a/b"], ["--certificate-authority", "/nope"],
                      ["--client-certificate", "/nope", "--client-key", "/nope"],
                      ["--server", "gopher://x"], ["--token", "a\nb"], ["--context", "nope"],
                      ["--user", "nope"], ["--cluster", "nope"]):
            code, _, err = self.call("get", "pods", *words)
            self.assertEqual(code, 1, err)
            self.assertTrue(err.startswith(f"kinformer: {words[0]}: "), err)
            self.assertNotIn("_", err)

    def test_help_is_there_for_all(self):
        code, out, _ = self.call("help", kubeconfig=False)
        self.assertEqual(code, 0)
        commands = re.findall(r"^  ([a-z-]+) ", out.split("Commands:")[1].split("Examples:")[0],
                              re.MULTILINE)
        self.assertIn("watch", commands)
        for command in commands:
            code, out, err = self.call(command, "--help", kubeconfig=False)
            self.assertEqual((code, err), (0, ""))
            self.assertRegex(out, "Examples:\n  .*kinformer ")
            self.assertIn("Exit codes:", out)
            self.assertLessEqual(max(map(len, out.splitlines())), 100)


if __name__ == "__main__":
    cli_testing.main()
