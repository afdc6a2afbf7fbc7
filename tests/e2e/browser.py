# SPDX-License-Identifier: Apache-2.0
"""Debian's Chromium without a window, driven through its DevTools protocol over a pair of pipes."""
import base64
import json
import os
import select
import shutil
import tempfile
import time

import processes

PROGRAM = "chromium"
FLAGS = ["--headless=new", "--remote-debugging-pipe", "--no-first-run", "--disable-gpu",
         "--disable-dev-shm-usage", "--disable-extensions", "--disable-background-networking",
         "--disable-component-update", "--mute-audio", "--hide-scrollbars"]


class Browser:
    """One tab. Commands are those of the protocol."""

    def __init__(self):
        self.folder = tempfile.mkdtemp(prefix="kinformer-browser.")
        self.process = None
        self.received = b""
        self.number = 0
        self.session = None
        self.events = []

    def __enter__(self):
        theirs_in, self.write_fd = os.pipe()
        self.read_fd, theirs_out = os.pipe()
        flags = [*FLAGS, f"--user-data-dir={self.folder}/profile"]
        if os.geteuid() == 0:
            flags.append("--no-sandbox")  # which root cannot have
        # The browser expects its ends as descriptors 3 and 4.
        script = f"exec 3<&{theirs_in} 4>&{theirs_out}; exec \"$@\""
        with open(os.path.join(self.folder, "log"), "wb") as log:
            self.process = processes.spawn(
                ["sh", "-c", script, "sh", PROGRAM, *flags, "about:blank"], stderr=log,
                stdout=log, pass_fds=(theirs_in, theirs_out),
                env={**os.environ, "HOME": self.folder})
        os.close(theirs_in)
        os.close(theirs_out)
        target = self.command("Target.createTarget", url="about:blank")["targetId"]
        self.session = self.command("Target.attachToTarget", targetId=target,
                                    flatten=True)["sessionId"]
        for domain in ("Page", "Runtime", "Network", "Log"):
            self.command(f"{domain}.enable")
        return self

    def __exit__(self, kind, error, trace):
        try:
            session, self.session = self.session, None
            if session is not None and kind is None:
                self.command("Browser.close")
                self.process.wait(timeout=10)
        except (OSError, RuntimeError, TimeoutError):
            pass
        processes.kill(self.process)
        os.close(self.write_fd)
        os.close(self.read_fd)
        shutil.rmtree(self.folder, ignore_errors=True)

    def message(self, seconds):
        end = time.monotonic() + seconds
        while b"\0" not in self.received:
            left = end - time.monotonic()
            if left <= 0 or not select.select([self.read_fd], [], [], left)[0]:
                raise TimeoutError("the browser does not respond")
            more = os.read(self.read_fd, 1 << 20)
            if not more:
                raise RuntimeError(processes.tail(os.path.join(self.folder, "log")))
            self.received += more
        text, self.received = self.received.split(b"\0", 1)
        return json.loads(text)

    def command(self, method, **parameters):
        self.number += 1
        command = {"id": self.number, "method": method, "params": parameters}
        if self.session is not None:
            command["sessionId"] = self.session
        os.write(self.write_fd, json.dumps(command).encode() + b"\0")
        while True:
            message = self.message(60)
            if message.get("id") == self.number:
                if "error" in message:
                    raise RuntimeError(f"{method}: {message['error']}")
                return message["result"]
            self.events.append(message)

    def evaluate(self, expression):
        """The value of a JavaScript expression in the page."""
        result = self.command("Runtime.evaluate", expression=expression, returnByValue=True,
                              awaitPromise=True)
        if "exceptionDetails" in result:
            raise RuntimeError(f"{expression}: {result['exceptionDetails']}")
        return result["result"].get("value")

    def wait(self, expression, seconds=30):
        """Until the expression is true. Returns how long that took."""
        begin = time.monotonic()
        while time.monotonic() - begin < seconds:
            if self.evaluate(expression):
                return time.monotonic() - begin
            time.sleep(0.1)
        text = self.evaluate("document.body.innerText")
        raise AssertionError(f"not in {seconds} s: {expression}\n{text[:3000]}")

    def open(self, url):
        self.command("Page.navigate", url=url)
        self.wait("document.readyState === 'complete' && location.href !== 'about:blank'")

    def scripts(self, enabled):
        self.command("Emulation.setScriptExecutionDisabled", value=not enabled)

    def look(self, width, height, scheme="light"):
        """The size of the window and the colour scheme."""
        self.command("Emulation.setDeviceMetricsOverride", width=width, height=height,
                     deviceScaleFactor=1, mobile=width < 500)
        self.command("Emulation.setEmulatedMedia",
                     features=[{"name": "prefers-color-scheme", "value": scheme}])

    def press(self, key):
        for kind in ("keyDown", "keyUp"):
            self.command("Input.dispatchKeyEvent", type=kind, key=key, code=key,
                         windowsVirtualKeyCode={"Tab": 9, "Enter": 13}[key],
                         text="\r" if key == "Enter" and kind == "keyDown" else "")

    def picture(self, path):
        data = self.command("Page.captureScreenshot", format="png")["data"]
        with open(path, "wb") as file:
            file.write(base64.b64decode(data))

    def requested(self):
        """The addresses that were requested so far."""
        return [event["params"]["request"]["url"] for event in self.events
                if event.get("method") == "Network.requestWillBeSent"]

    def complaints(self):
        """Errors of scripts, and what the content security policy refused."""
        return [json.dumps(event["params"]) for event in self.events
                if event.get("method") == "Runtime.exceptionThrown"
                or (event.get("method") == "Log.entryAdded"
                    and event["params"]["entry"]["source"] in ("security", "violation"))]
