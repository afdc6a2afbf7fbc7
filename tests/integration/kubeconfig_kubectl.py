# SPDX-License-Identifier: Apache-2.0
"""Loads the kubeconfigs of kubeconfig_cases.py and compares with what kubectl made of them.

Usage: kubeconfig_kubectl.py <config_print> <kubectl.json>
"""
import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path

import kubeconfig_cases

# Our fields, and where kubectl's view has them.
CLUSTER = {"caData": "certificate-authority-data", "caFile": "certificate-authority",
           "tlsServerName": "tls-server-name", "insecure": "insecure-skip-tls-verify",
           "proxy": "proxy-url", "disableCompression": "disable-compression"}
USER = {"certData": "client-certificate-data", "certFile": "client-certificate",
        "keyData": "client-key-data", "keyFile": "client-key", "token": "token",
        "tokenFile": "tokenFile", "username": "username", "password": "password", "as": "as",
        "asUid": "as-uid", "asGroups": "as-groups", "asExtra": "as-user-extra"}
EXEC = {"apiVersion": "apiVersion", "command": "command", "args": "args", "env": "env",
        "interactiveMode": "interactiveMode", "installHint": "installHint",
        "provideClusterInfo": "provideClusterInfo"}

PATHS = {"caFile", "certFile", "keyFile", "tokenFile"}


def placed(text, folder):
    return text.replace("DIR", str(folder))


def write_files(case, folder):
    for name, text in case.files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(placed(text, folder))
        path.chmod(0o600)


def load(program, case):
    """What we make of a case."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        write_files(case, folder)
        variables = {"HOME": "DIR/nobody", **case.variables}
        flags = {"path" if flag == "kubeconfig" else flag: value
                 for flag, value in case.flags.items()}
        arguments = [f"env.{key}={placed(value, folder)}" for key, value in variables.items()]
        arguments += [f"{key}={placed(value, folder)}" for key, value in flags.items()]
        done = subprocess.run([program, *arguments], capture_output=True, text=True, check=True)
        return json.loads(done.stdout.replace(str(folder), "DIR").replace(",}", "}"))


def fields(table, values):
    return {ours: values[theirs] for ours, theirs in table.items() if values.get(theirs)}


def expected(view):
    """kubectl's view, with our names, without what is not set."""
    cluster = view["clusters"][0]["cluster"]
    user = view["users"][0]["user"] if view.get("users") else {}
    want = {**fields(CLUSTER, cluster), **fields(USER, user)}
    want["server"] = cluster["server"]
    want["namespace"] = view["contexts"][0]["context"].get("namespace", "default")
    if "certData" not in want and "certFile" not in want:
        want.pop("keyData", None)  # a key alone is nothing to either
    if user.get("exec"):
        want["exec"] = fields(EXEC, user["exec"])
    return want


def found(config):
    """Our configuration, likewise."""
    got = {name: value for name, value in config.items() if value}
    got["server"] = got["server"] + got.pop("pathPrefix", "")
    got["asExtra"] = {key: values for key, values in got.get("asExtra", {}).items() if key}
    if not got["asExtra"]:
        del got["asExtra"]
    if "exec" in got:
        got["exec"] = {name: value for name, value in got["exec"].items() if value}
        if not got["exec"].get("provideClusterInfo"):
            got["exec"].pop("config", None)
    return got


def resolved(case, path):
    """A path that kubectl shows as it was written: it begins at the folder of the file that has
    it."""
    if path.startswith("DIR/"):
        return path
    folders = [os.path.dirname(name) for name, text in case.files.items() if path in text]
    return os.path.normpath(os.path.join("DIR", folders[0], path))


def server_as_url(url):
    """What kubectl shows as it was written, as a URL of ours: no slash at the end, scheme small."""
    scheme, _, rest = url.partition("://")
    return scheme.lower() + "://" + rest.rstrip("/")


def judge(case, answer, ours):
    """What is wrong, or ""."""
    refused = "error" in answer
    if "error" in ours:
        if refused or (case.stricter and case.stricter in ours["error"]):
            return ""
        return f"we refuse it: {ours['error']}"
    if refused:
        return "" if case.looser else f"kubectl refuses it: {answer['error']}"
    if "view" not in answer or case.stricter:
        return "we should have refused it"
    want, got = expected(answer["view"]), found(ours)
    want["server"] = server_as_url(want["server"])
    for name in PATHS & want.keys():
        want[name] = resolved(case, want[name])
    if "/" in want.get("exec", {}).get("command", ""):
        want["exec"]["command"] = resolved(case, want["exec"]["command"])
    if want == got:
        return ""
    names = [name for name in sorted({*want, *got}) if want.get(name) != got.get(name)]
    return "; ".join(f"{name}: {got.get(name)!r}, kubectl {want.get(name)!r}" for name in names)


def main():
    program, recorded = sys.argv[1:3]
    answers = json.loads(Path(recorded).read_text())["answers"]
    wrong = 0
    for case in kubeconfig_cases.CASES:
        if case.name not in answers:
            problem = "kubectl was not asked: run tools/record-kubectl"
        else:
            problem = judge(case, answers[case.name], load(program, case))
        if problem:
            wrong += 1
            print(f"{case.name}: {problem}")
    print(f"{len(kubeconfig_cases.CASES)} kubeconfigs, {wrong} not as kubectl has them")
    sys.exit(1 if wrong else 0)


if __name__ == "__main__":
    main()
