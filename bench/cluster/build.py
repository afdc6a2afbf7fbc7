# SPDX-License-Identifier: Apache-2.0
"""Builds what is measured, into build/bench/cluster, each program stripped."""
import os
import re
import shutil
import subprocess
from pathlib import Path

from clients import OUT, ROOT

HERE = Path(__file__).resolve().parent
BUILD = ROOT / "build" / "bench"
GO_NEEDED = (1, 26)
GO_TEXT = ".".join(map(str, GO_NEEDED))


class BuildError(Exception):
    pass


def run(*command, **how):
    done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
                          check=False, **how)
    if done.returncode != 0:
        raise BuildError(f"{' '.join(map(str, command))}\n{done.stdout[-5000:]}")
    return done.stdout


def find(name, *folders):
    """A program on PATH or in one of the folders."""
    path = os.pathsep.join([os.environ.get("PATH", ""), *map(os.path.expanduser, folders)])
    return shutil.which(name, path=path)


def find_go():
    go = find("go", "/usr/local/go/bin")
    version = go and re.search(r"go(\d+)\.(\d+)", run(go, "version"))
    return go if version and tuple(map(int, version.groups())) >= GO_NEEDED else None


def find_cargo():
    return find("cargo", "~/.cargo/bin")


def servers():
    """etcd and kube-apiserver, as the end-to-end tests have them."""
    run(ROOT / "tools" / "e2e-servers")


def kinformer():
    run("cmake", "--preset", "release", "-B", BUILD, "-DKI_BENCH=ON", "--log-level=WARNING",
        cwd=ROOT)
    run("cmake", "--build", BUILD, "--target", "bench_cluster_client", cwd=ROOT)
    run("strip", "-o", OUT / "kinformer", BUILD / "bench" / "bench_cluster_client")


def go_programs(go):
    run(go, "build", "-trimpath", "-ldflags=-s -w", "-o", f"{OUT}{os.sep}", "./...",
        cwd=HERE / "go")


def kube_rs(cargo):
    target = BUILD / "rust"
    run(cargo, "build", "--release", "--locked", "--target-dir", target, cwd=HERE / "rust")
    run("strip", "-o", OUT / "kube-rs", target / "release" / "kube-rs")


def sizes():
    """Bytes of the stripped programs that are there."""
    names = {"kinformer": "kinformer", "client-go": "informer", "kube-rs": "kube-rs"}
    return {client: (OUT / name).stat().st_size for client, name in names.items()
            if (OUT / name).exists()}


def versions():
    """What is compared, in one line."""
    go = (HERE / "go" / "go.mod").read_text(encoding="ascii")
    rust = (HERE / "rust" / "Cargo.lock").read_text(encoding="ascii")
    server = (ROOT / "tests" / "e2e" / "servers" / "go.mod").read_text(encoding="ascii")
    found = [
        "kube-apiserver " + re.search(r"k8s.io/kubernetes (v\S+)", server)[1],
        "etcd " + re.search(r"go.etcd.io/etcd/server/v3 (v\S+)", server)[1],
        "client-go " + re.search(r"k8s.io/client-go (v\S+)", go)[1],
        "kube-rs " + re.search(r'name = "kube"\nversion = "(\S+)"', rust)[1],
        " ".join(run("curl", "--version").split()[:2] + run("curl", "--version").split()[3:5])]
    return ", ".join(found)
