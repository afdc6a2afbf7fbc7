# SPDX-License-Identifier: Apache-2.0
"""Child processes that never outlive the tests, and ports that stay free while a server is down."""
import os
import random
import socket
import subprocess

# Below the range that outgoing connections take theirs from: nobody sits down on the port of a
# server that was killed.
PORTS = range(20000, 32000)
# The kernel kills the child when its parent ends, however that happens.
DIES_WITH_PARENT = ["setpriv", "--pdeathsig", "KILL"]


def spawn(command, **options):
    """A process in a session of its own, so that a Ctrl-C is the tests' to deal with."""
    return subprocess.Popen([*DIES_WITH_PARENT, *command], start_new_session=True, **options)


def kill(process):
    """kill -9, also if it is stopped, and waits for the end."""
    if process is not None and process.poll() is None:
        process.kill()
        process.wait()


def free_port():
    """A port of loopback that nobody listens on."""
    for port in random.sample(PORTS, 100):
        with socket.socket() as probe:
            probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            try:
                probe.bind(("127.0.0.1", port))
            except OSError:
                continue
            return port
    raise OSError("no free port")


def tail(path, lines=25):
    """The end of a log, to be printed."""
    try:
        with open(path, encoding="utf-8", errors="replace") as file:
            text = "".join(file.readlines()[-lines:])
    except OSError as error:
        text = f"{error}\n"
    return f"--- the end of {os.path.basename(path)}:\n{text}"
