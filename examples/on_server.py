#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Runs an example on the embedded API server, while a file of steps says what happens meanwhile:

  load FILE                                  objects that the server has from the beginning
  POST, PATCH or DELETE, a path and JSON     a request to the server
  start                                      starts the program, with $KUBECONFIG set
  until TEXT                                 waits for a line with it
  wait PATH TEXT                             waits until the response to a GET has the text
  wait PATH                                  waits until it is 404
  stop                                       sends SIGTERM

Lines that begin with a blank belong to the one before, and those with # are for readers. At the
end the input of the program ends, and so should the program; what it printed is printed.

Usage: on_server.py <kinformer> <steps> <program> [words]
"""
import os
import signal
import subprocess
import sys
import tempfile
import time
import urllib.error
import urllib.request

SECONDS = 60


def read_steps(path):
    with open(path, encoding="utf-8") as file:
        lines = [line for line in file.read().splitlines() if not line.startswith("#")]
    return "\n".join(lines).replace("\n ", " ").splitlines()


def request(url, method, path, text):
    kind = "application/merge-patch+json" if method == "PATCH" else "application/json"
    asked = urllib.request.Request(url + path, text.encode(), {"Content-Type": kind}, method=method)
    with urllib.request.urlopen(asked, timeout=SECONDS) as answer:
        answer.read()


def wait(url, path, text):
    end = time.monotonic() + SECONDS
    found = None
    while time.monotonic() < end:
        try:
            with urllib.request.urlopen(url + path, timeout=SECONDS) as answer:
                found = answer.read().decode()
        except urllib.error.HTTPError as error:
            found = "" if error.code == 404 else None
        if found == "" if not text else found and text in found:
            return
        time.sleep(0.05)
    sys.exit(f"{path} never became {text!r}: {found}")


def print_until(process, text):
    for line in process.stdout:
        print(line, end="", flush=True)
        if text in line:
            return
    sys.exit(f"the program ended before it printed {text!r}")


def run(url, steps, words):
    process = None
    for step in steps:
        word, _, rest = step.partition(" ")
        if word == "start":
            process = subprocess.Popen(words, stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                                       text=True)
        elif word == "until":
            print_until(process, rest)
        elif word == "stop":
            process.send_signal(signal.SIGTERM)
        else:
            path, _, text = rest.partition(" ")
            if word == "wait":
                wait(url, path, text)
            else:
                request(url, word, path, text)
    rest, _ = process.communicate(timeout=SECONDS)
    print(rest, end="")
    return process.returncode


def main():
    kinformer, path, *words = sys.argv[1:]
    steps = read_steps(path)
    files = [os.path.join(os.path.dirname(path), step.removeprefix("load "))
             for step in steps if step.startswith("load ")]
    steps = [step for step in steps if not step.startswith("load ")]
    with tempfile.TemporaryDirectory() as folder:
        os.environ["KUBECONFIG"] = os.path.join(folder, "config")
        server = subprocess.Popen([kinformer, "apiserver", "--kubeconfig-out",
                                   os.environ["KUBECONFIG"], *(f"--load={f}" for f in files)],
                                  stdout=subprocess.PIPE, text=True)
        try:
            url = server.stdout.readline().split()[-1]
            return run(url, steps, words)
        finally:
            server.terminate()
            server.wait()


sys.exit(main())
