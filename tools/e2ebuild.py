# SPDX-License-Identifier: Apache-2.0
"""Shared by the tools that run programs on a real server: builds our programs and the servers, and
prepares a process whose children have fixed addresses and are ended with it."""
import os
import shutil
import signal
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
TESTS = ROOT / "tests" / "e2e"
JOBS = str(os.cpu_count() or 1)
SAME_ADDRESSES = "KI_E2E_SAME_ADDRESSES"


def fix_addresses():
    """Restarts with fixed addresses: without them, sanitizers of gcc 12 fail occasionally."""
    if SAME_ADDRESSES in os.environ or shutil.which("setarch") is None:
        return
    prefix = ["setarch", "-R"]
    if subprocess.run([*prefix, "true"], stderr=subprocess.DEVNULL, check=False).returncode == 0:
        os.environ[SAME_ADDRESSES] = "yes"
        os.execvp(prefix[0], [*prefix, sys.executable, *sys.argv])


def build(preset, targets):
    """Builds our programs and the servers. Returns whether that worked."""
    configure = ["cmake", "--preset", preset, "--log-level=WARNING"]
    compile_ours = ["cmake", "--build", "--preset", preset, "-j", JOBS, "--target", *targets]
    for command in (configure, compile_ours):
        run = subprocess.run(command, cwd=ROOT, text=True, errors="replace", check=False,
                             stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
        if run.returncode != 0:
            print(run.stdout[-10000:])
            return False
    return subprocess.run([ROOT / "tools" / "e2e-servers"], check=False,
                          stdout=subprocess.DEVNULL).returncode == 0


class Terminated(KeyboardInterrupt):
    """SIGTERM. unittest records every other exception, SystemExit included, as a failure of the
    running test and continues with the next one."""


def leave(number, frame):
    """Ends the program on SIGTERM, so that everything is cleaned up."""
    del number, frame
    raise Terminated


def run(main):
    """Runs a program. Its servers and files are removed by exit handlers, however it ends."""
    try:
        sys.exit(main())
    except Terminated:
        sys.exit(128 + signal.SIGTERM)


def begin(preset, targets):
    """Does all of this. Returns whether the programs exist and tests/e2e can be imported."""
    if preset != "dev":
        fix_addresses()
    signal.signal(signal.SIGTERM, leave)
    sys.path.insert(0, str(TESTS))
    os.environ["KI_E2E_BUILD"] = str(ROOT / "build" / preset)
    return build(preset, targets)
