# SPDX-License-Identifier: Apache-2.0
"""The floor: curl asks for what a client asks for and throws it away."""
import http.client
import json
import os
import ssl
import subprocess
import time
import urllib.parse
from pathlib import Path

from clients import AGENTS, POLL_S, ClientError, processes, wait_until_idle

PODS = "/api/v1/pods"
PROTOBUF = "application/vnd.kubernetes.protobuf"
METADATA = "application/json;as=PartialObjectMetadataList;g=meta.k8s.io;v=v1"
PAGE = 500
PER_NAMESPACE = 500  # as the writer fills them
WATCH_S = 300
WATCH = {"watch": "true", "allowWatchBookmarks": "true", "timeoutSeconds": "600"}
STREAM = {**WATCH, "sendInitialEvents": "true", "resourceVersionMatch": "NotOlderThan"}


def base(cluster, path=PODS):
    return f"https://127.0.0.1:{cluster.port}{path}"


def command(cluster, accept, *more):
    return ["curl", "--silent", "--show-error", "--fail", "--cacert", cluster.path("ca.crt"),
            "--cert", cluster.path("admin.crt"), "--key", cluster.path("admin.key"),
            "--user-agent", AGENTS["curl"], "--header", f"Accept: {accept}", *more]


def size(cluster, accept, path=PODS):
    """Bytes of a whole list, not compressed."""
    run = subprocess.run(command(cluster, accept, "--output", "/dev/null", "--write-out",
                                 "%{size_download}", base(cluster, path)),
                         check=True, text=True, stdout=subprocess.PIPE, timeout=300)
    return int(run.stdout)


def pages(cluster):
    """The addresses of all pages, one of which leads to the next."""
    context = ssl.create_default_context(cafile=cluster.path("ca.crt"))
    context.load_cert_chain(cluster.path("admin.crt"), cluster.path("admin.key"))
    connection = http.client.HTTPSConnection("127.0.0.1", cluster.port, context=context, timeout=60)
    found, token = [], ""
    while True:
        query = {"limit": PAGE, **({"continue": token} if token else {})}
        path = f"{PODS}?{urllib.parse.urlencode(query)}"
        found.append(f"https://127.0.0.1:{cluster.port}{path}")
        connection.request("GET", path, headers={"Accept": METADATA})
        token = json.load(connection.getresponse())["metadata"].get("continue", "")
        if not token:
            connection.close()
            return found


def run_list(cluster):
    """The pages that kinformer asks for, on one connection, compressed as there."""
    config = cluster.write("curl.config", "".join(
        f'url = "{url}"\noutput = "/dev/null"\n' for url in pages(cluster)))
    words = command(cluster, PROTOBUF, "--http1.1", "--compressed", "--config", config)
    return run_to_end(words)


def run_to_end(words):
    start = time.monotonic()
    process = processes.spawn(words, stdin=subprocess.DEVNULL)
    _, status, usage = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode != 0:
        raise ClientError(f"curl ended with {process.returncode}")
    return {"cpu_s": usage.ru_utime + usage.ru_stime, "wall_s": time.monotonic() - start}


def run_stream(cluster, size_of_list):
    """The watch that begins with all objects."""
    return run_open_end(cluster, STREAM, size_of_list)


def run_watch(cluster, version, size_of_list):
    """The watch of all changes since a version, of as many objects as a list has."""
    return run_open_end(cluster, {**WATCH, "resourceVersion": version}, size_of_list)


def bytes_written(pid):
    for line in Path(f"/proc/{pid}/io").read_text(encoding="ascii").splitlines():
        if line.startswith("wchar:"):
            return int(line.split()[1])
    raise ClientError(f"/proc/{pid}/io has no wchar")


def wait_for_bytes(process, at_least):
    end = time.monotonic() + WATCH_S
    while process.poll() is None and bytes_written(process.pid) < at_least:
        if time.monotonic() > end:
            raise ClientError(f"curl has {bytes_written(process.pid)} of {at_least} bytes")
        time.sleep(POLL_S)
    if process.returncode is not None:
        raise ClientError(f"curl ended with {process.returncode}")


def run_open_end(cluster, query, at_least):
    """A watch has no end; it is over when all has come, and nothing comes any more. In a watch an
    object takes some bytes more than in a list."""
    words = command(cluster, PROTOBUF + ";stream=watch", "--http2", "--output", "/dev/null",
                    f"{base(cluster)}?{urllib.parse.urlencode(query)}")
    start = time.monotonic()
    process = processes.spawn(words, stdin=subprocess.DEVNULL)
    try:
        wait_for_bytes(process, at_least)
        last, cpu = wait_until_idle(process.pid, WATCH_S)
        return {"cpu_s": cpu, "wall_s": last - start, "bytes": bytes_written(process.pid)}
    finally:
        processes.kill(process)
