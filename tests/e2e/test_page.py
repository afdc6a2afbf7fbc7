# SPDX-License-Identifier: Apache-2.0
"""The page of the monitor server in a real browser, of `kinformer` on the embedded API server.

As a program, it makes the pictures of docs/: test_page.py FOLDER KINFORMER"""
import json
import os
import re
import subprocess
import sys
import time
import unittest
import urllib.error
import urllib.request

import e2e
import processes
from browser import Browser

SHOWN = "document.querySelector('[data-informer=\"%s\"] [data-value=%s]').innerText"


class Serving:
    """An embedded API server, and a command that serves the page of its caches."""

    def __init__(self, *command):
        self.command = command

    def __enter__(self):
        kinformer = os.path.join(os.path.dirname(e2e.program("")), "..", "src", "kinformer")
        self.kinformer = os.path.normpath(kinformer)
        self.server = processes.spawn(
            [self.kinformer, "apiserver", "--listen", "127.0.0.1:0", "--any-namespace"],
            stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
        self.api = self.address(self.server)
        self.command = processes.spawn(
            [self.kinformer, *self.command, "-s", self.api, "--listen", "127.0.0.1:0",
             "--serve-objects"],
            stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True,
            env={**os.environ, "KUBECONFIG": "", "HOME": "/nonexistent"})
        self.page = self.address(self.command, "serving ")
        return self

    def __exit__(self, *_):
        for process in (self.command, self.server):
            processes.kill(process)
            (process.stdout or process.stderr).close()

    @staticmethod
    def address(process, word=""):
        lines = []
        for line in process.stdout or process.stderr:
            lines.append(line)
            found = re.search(word + r".*?(http://[\d.]+:\d+)", line)
            if found:
                return found[1]
        raise RuntimeError("".join(lines))

    def ask(self, method, path, body=None, kind="application/json"):
        data = body if body is None or isinstance(body, bytes) else json.dumps(body).encode()
        request = urllib.request.Request(self.api + path, data, {"Content-Type": kind},
                                         method=method)
        with urllib.request.urlopen(request, timeout=30) as response:
            return response.read()

    def put(self, name, annotations=None, labels=None, data=None):
        path = "/api/v1/namespaces/default/configmaps"
        body = {"apiVersion": "v1", "kind": "ConfigMap",
                "metadata": {"name": name, "annotations": annotations or {},
                             "labels": labels or {}}, "data": data or {}}
        try:
            self.ask("POST", path, body)
        except urllib.error.HTTPError as error:
            if error.code != 409:
                raise
            self.ask("PUT", f"{path}/{name}", body)

    def state(self):
        with urllib.request.urlopen(self.page + "/debug/informers.json", timeout=30) as response:
            return json.load(response)


class Page(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.serving = cls.enterClassContext(
            Serving("watch", "configmaps,secrets,pods", "-A", "-o", "none"))

    def setUp(self):
        self.browser = self.enterContext(Browser())

    def open(self, path="/debug/"):
        self.browser.open(self.serving.page + path)

    def wait(self, expression, seconds=30):
        return self.browser.wait(expression, seconds)

    def check_clean(self):
        """Nothing was refused, and nothing requested from anybody else."""
        self.assertEqual(self.browser.complaints(), [])
        others = [url for url in self.browser.requested()
                  if not url.startswith((self.serving.page, "about:"))]
        self.assertEqual(others, [])

    def test_numbers_are_those_of_the_api(self):
        self.open()
        for i in range(3):
            self.serving.put(f"number-{i}")
        count = len(json.loads(self.serving.ask("GET", "/api/v1/configmaps"))["items"])
        self.assertGreaterEqual(count, 3)
        self.wait(f"{SHOWN % ('configmaps', 'objects')} === '{count}'")
        state = self.serving.state()
        for informer in state["informers"]:
            shown = self.browser.evaluate(SHOWN % (informer["path"], "objects"))
            self.assertEqual(shown.replace(",", ""), str(informer["objects"]))
        with urllib.request.urlopen(self.serving.page + "/metrics") as response:
            metrics = response.read().decode()
        sample = re.search(r'kinformer_informer_objects\{[^}]*resource="configmaps"[^}]*\} (\d+)',
                           metrics)
        self.assertEqual(sample[1], str(count))
        self.wait("document.getElementById('connection').innerText === 'live'")
        self.check_clean()

    def test_a_cut_connection_is_visible_and_recovers(self):
        self.open()
        state = "document.querySelector('[data-informer=configmaps]').className"
        self.wait(f"{state} === 'card ok'")
        self.serving.ask("POST", "/kinformer/faults", b"refuse", "text/plain")
        self.serving.ask("POST", "/kinformer/cut", b"", "text/plain")
        took = self.wait(f"{state} === 'card bad'", 30)
        self.wait("document.querySelector('[data-informer=configmaps] .failure') !== null")
        self.serving.ask("DELETE", "/kinformer/faults")
        again = self.wait(f"{state} === 'card ok'", 60)
        self.assertLess(took, 30)
        print(f"    visible after {took:.1f} s, recovered {again:.1f} s after the fault")
        self.check_clean()

    def test_untrusted_text_stays_text(self):
        self.open()
        self.wait("document.getElementById('connection').innerText === 'live'")
        self.serving.put("untrusted")
        texts = {"a": "</p><script>window.hit = 1</script><img src=x onerror='window.hit=2'>",
                 "b": "abc\u202edef", "c": "x" * 250000, "d": "\" onmouseover=\"window.hit=3",
                 "e": "javascript:window.hit=4"}
        self.serving.put("untrusted", texts, data={"large": "y" * 1000000})
        self.wait("document.body.innerText.includes('<script>window.hit')")
        body = self.browser.evaluate("document.querySelector('main').innerText")
        self.assertNotIn("\u202e", body)
        self.assertIn("U+202E", body)
        self.assertLess(len(body), 100000)
        self.open("/debug/objects/configmaps/default/untrusted")
        self.wait("document.querySelector('pre') !== null")
        self.assertLess(self.browser.evaluate("document.documentElement.outerHTML.length"), 900000)
        self.open("/debug/?filter=%22%3E%3Cscript%3Ewindow.hit=5%3C/script%3E")
        time.sleep(1)
        self.assertIsNone(self.browser.evaluate("window.hit"))
        self.check_clean()

    def test_changes_are_live_and_can_be_filtered(self):
        self.open()
        self.wait("document.getElementById('connection').innerText === 'live'")
        self.serving.put("filtered", {"colour": "red"})
        self.serving.put("filtered", {"colour": "green"})
        self.wait("document.querySelector('.changes').innerText.includes('green')")
        self.browser.evaluate("const f = document.getElementById('filter'); f.focus(); f.value = "
                              "'no such change'; f.dispatchEvent(new Event('input', "
                              "{bubbles: true})); 0")
        self.wait("!document.querySelector('.changes').innerText.includes('green')")
        self.assertEqual(self.browser.evaluate("document.activeElement.id"), "filter")
        self.assertEqual(self.browser.evaluate("document.getElementById('filter').value"),
                         "no such change")

    def test_from_an_informer_to_what_changed_in_an_object(self):
        self.serving.put("walked", {"colour": "red"}, {"app": "walk"})
        self.open()
        self.wait("document.querySelector('[data-informer=configmaps] h3 a') !== null")
        self.browser.evaluate("document.querySelector('[data-informer=configmaps] h3 a').click()")
        self.wait("document.getElementById('labels') !== null")
        self.browser.evaluate("document.getElementById('labels').value = 'app=walk'; "
                              "document.querySelector('form').submit()")
        self.wait("document.querySelectorAll('.list tbody tr').length === 1")
        self.browser.evaluate("document.querySelector('.list tbody a').click()")
        self.wait("location.search.startsWith('?opened=')")
        self.wait("document.getElementById('connection').innerText === 'live'")
        self.serving.put("walked", {"colour": "green"}, {"app": "walk"})
        self.wait("document.getElementById('differences').innerText.includes('green')")
        self.check_clean()

    def test_a_hidden_page_needs_no_connection(self):
        self.open()
        self.wait("document.getElementById('connection').innerText === 'live'")
        hide = ("Object.defineProperty(document, 'hidden', {value: %s, configurable: true}); "
                "document.dispatchEvent(new Event('visibilitychange')); source.readyState")
        self.assertEqual(self.browser.evaluate(hide % "true"), 2)  # closed
        self.serving.put("while-hidden")
        self.assertNotEqual(self.browser.evaluate(hide % "false"), 2)
        self.wait("document.querySelector('.changes').innerText.includes('while-hidden')")

    def test_without_scripts(self):
        self.serving.put("plain")
        self.browser.scripts(False)
        self.browser.command("Page.navigate", url=self.serving.page + "/debug/")
        time.sleep(2)
        tree = self.browser.command("DOM.getDocument", depth=-1)
        html = self.browser.command("DOM.getOuterHTML", nodeId=tree["root"]["nodeId"])["outerHTML"]
        self.assertIn('data-informer="configmaps"', html)
        self.assertIn('http-equiv="refresh"', html)
        self.assertIn("reload to update", html)

    def test_small_screens_and_keyboards(self):
        for width in (360, 1280):
            for scheme in ("light", "dark"):
                with self.subTest(width=width, scheme=scheme):
                    self.browser.look(width, 800, scheme)
                    self.open()
                    self.wait("document.getElementById('connection').innerText === 'live'")
                    wide = self.browser.evaluate("document.documentElement.scrollWidth")
                    self.assertLessEqual(wide, width)
        reached = []
        for _ in range(40):
            self.browser.press("Tab")
            reached.append(self.browser.evaluate(
                "document.activeElement.id || document.activeElement.innerText"))
        for wanted in ("Skip to the content", "metrics", "configmaps", "filter"):
            self.assertIn(wanted, reached)


def pictures(folder, kinformer):
    """The page of the demo, in two widths and both colour schemes."""
    demo = processes.spawn([kinformer, "demo", "--seconds", "120", "--seed", "7", "--rate", "60"],
                           stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    try:
        page = Serving.address(demo, "page: ")
        with Browser() as browser:
            browser.open(page + "/debug/")
            time.sleep(40)
            for name, width, height, scheme in (("monitor", 1280, 1000, "light"),
                                                ("monitor-dark", 1280, 1000, "dark"),
                                                ("monitor-360", 360, 800, "light"),
                                                ("monitor-360-dark", 360, 800, "dark")):
                browser.look(width, height, scheme)
                time.sleep(3)
                browser.picture(os.path.join(folder, f"{name}.png"))
    finally:
        processes.kill(demo)


if __name__ == "__main__":
    pictures(*sys.argv[1:])
