# SPDX-License-Identifier: Apache-2.0
"""A control plane for tests: one real etcd and one real kube-apiserver on loopback, with all that
they need, in a temporary folder. tools/e2e-servers builds the programs.

    with Cluster() as cluster:
        cluster.kubectl("create", "namespace", "shop")

Users, each with a kubeconfig of that name in cluster.kubeconfig(name):
    admin         may do everything; shows a client certificate
    admin-token   the same by token
    reader        known by token, and may do what a test allows it
    nobody        known by token, and must never be allowed anything
    stranger      has a token that the server does not know
Several clusters may run at once.
"""
import atexit
import http.client
import json
import os
import shutil
import signal
import ssl
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import processes

ROOT = Path(__file__).resolve().parent.parent.parent
sys.path.insert(0, str(ROOT / "tests" / "integration"))
import certificates  # noqa: E402  (found by the line above)

START_S = 120
STARTS = 3  # a port may be taken between the look for a free one and its use
TOKENS = {"admin-token": "admin-secret", "reader": "reader-secret", "nobody": "nobody-secret",
          "stranger": "no-secret-of-this-server"}
TOKEN_FILE = """\
admin-secret,admin-token,1,system:masters
reader-secret,reader,2
nobody-secret,nobody,3
"""
AUDIT_POLICY = {"apiVersion": "audit.k8s.io/v1", "kind": "Policy",
                "omitStages": ["RequestReceived"]}


class StartError(Exception):
    pass


def server_folder():
    """Where the programs are; tools/e2e-servers builds them."""
    folder = subprocess.run([ROOT / "tools" / "e2e-servers", "--path"], check=True, text=True,
                            stdout=subprocess.PIPE).stdout.strip()
    if not os.path.isdir(folder):
        raise StartError("the servers are not built: run tools/e2e-servers")
    return folder


class Cluster:
    def __init__(self, apiserver_flags=(), audit_level="Metadata"):
        self.programs = server_folder()
        self.apiserver_flags = list(apiserver_flags)
        self.folder = tempfile.mkdtemp(prefix="kinformer-e2e.")
        self.etcd = None
        self.apiserver = None
        self.port = self.etcd_port = self.peer_port = None
        self.maker = certificates.Maker(self.folder)
        self.audit_level = audit_level
        self.connection = None  # of request()
        atexit.register(self.close)  # nobody else is asked when the tests are interrupted

    # ---- from start to end ----

    def __enter__(self):
        try:
            self.prepare()
            for attempt in range(STARTS):
                try:
                    self.start()
                    return self
                except StartError:
                    if attempt == STARTS - 1:
                        raise
                    self.stop_processes()
        except BaseException:
            print(self.logs(), file=sys.stderr)
            self.close()
            raise
        return None

    def __exit__(self, kind, error, trace):
        self.close()

    def start(self):
        self.etcd_port, self.peer_port, self.port = (processes.free_port() for _ in range(3))
        for user in ("admin", *TOKENS):
            self.write_kubeconfig(user)
        self.start_etcd()
        self.start_apiserver()

    def stop_processes(self):
        processes.kill(self.apiserver)
        processes.kill(self.etcd)
        shutil.rmtree(self.path("etcd"), ignore_errors=True)

    def close(self):
        self.disconnect()
        self.stop_processes()
        shutil.rmtree(self.folder, ignore_errors=True)

    def path(self, name):
        return os.path.join(self.folder, name)

    def write(self, name, text):
        path = self.path(name)
        with open(path, "w", encoding="ascii", opener=lambda p, f: os.open(p, f, 0o600)) as file:
            file.write(text)
        return path

    def logs(self):
        """The last words of the servers."""
        return "".join(processes.tail(self.path(name), lines)
                       for name, lines in (("etcd.log", 3), ("kube-apiserver.log", 15)))

    # ---- what they need ----

    def prepare(self):
        self.maker.root("ca")
        self.maker.signed("server", "ca", "leaf", certificates.LOCAL)
        self.certificate("admin", "admin", "system:masters")
        self.maker.openssl("genrsa", "-out", self.path("service-account.key"), "2048")
        self.write("tokens.csv", TOKEN_FILE)
        policy = dict(AUDIT_POLICY, rules=[{"level": self.audit_level}])
        self.write("audit-policy.json", json.dumps(policy))

    def certificate(self, name, user, group=None):
        """Makes <name>.crt and <name>.key, which prove to the server who `user` is."""
        subject = user if group is None else f"{user}/O={group}"
        self.maker.signed(name, "ca", "client", subject=subject)

    def write_kubeconfig(self, name, user=None, server=None, authority="ca.crt",
                         name_space=None):
        """A kubeconfig; `user` is what it says of the user, if not what Cluster knows of it."""
        if user is None and name == "admin":
            user = {"client-certificate": self.path("admin.crt"),
                    "client-key": self.path("admin.key")}
        elif user is None:
            user = {"token": TOKENS[name]}
        cluster = {"server": server or f"https://127.0.0.1:{self.port}",
                   "certificate-authority": self.path(authority)}
        return self.write(f"{name}.kubeconfig", json.dumps({
            "apiVersion": "v1", "kind": "Config", "current-context": "e2e",
            "clusters": [{"name": "e2e", "cluster": cluster}],
            "users": [{"name": name, "user": user}],
            "contexts": [{"name": "e2e", "context": {
                "cluster": "e2e", "user": name,
                **({"namespace": name_space} if name_space else {})}}],
        }, indent=1) + "\n")

    def kubeconfig(self, name="admin"):
        return self.path(f"{name}.kubeconfig")

    # ---- the servers ----

    def spawn(self, program, flags):
        with open(self.path(f"{program}.log"), "ab") as log:
            return processes.spawn([os.path.join(self.programs, program), *flags], cwd=self.folder,
                                   stdin=subprocess.DEVNULL, stdout=log, stderr=log,
                                   env=self.environment(program))

    def environment(self, program):  # pylint: disable=unused-argument
        """The environment of a program; None: ours."""
        return None

    def start_etcd(self):
        clients = f"http://127.0.0.1:{self.etcd_port}"
        peers = f"http://127.0.0.1:{self.peer_port}"
        self.etcd = self.spawn("etcd", [
            "--data-dir", self.path("etcd"), "--unsafe-no-fsync",
            "--listen-client-urls", clients, "--advertise-client-urls", clients,
            "--listen-peer-urls", peers, "--initial-advertise-peer-urls", peers,
            "--initial-cluster", f"default={peers}"])

    def start_apiserver(self):
        """Starts it and waits until it is ready; on the port it had, if it had one."""
        self.apiserver = self.spawn("kube-apiserver", [
            "--etcd-servers", f"http://127.0.0.1:{self.etcd_port}",
            "--bind-address", "127.0.0.1", "--secure-port", str(self.port),
            "--tls-cert-file", self.path("server.crt"),
            "--tls-private-key-file", self.path("server.key"),
            "--client-ca-file", self.path("ca.crt"), "--token-auth-file", self.path("tokens.csv"),
            "--service-account-issuer", "https://kinformer.test",
            "--service-account-key-file", self.path("service-account.key"),
            "--service-account-signing-key-file", self.path("service-account.key"),
            "--service-cluster-ip-range", "10.0.0.0/24",
            "--authorization-mode", "RBAC",
            # Nobody makes service accounts here, and nobody could reach a loopback endpoint.
            "--disable-admission-plugins", "ServiceAccount", "--endpoint-reconciler-type", "none",
            "--audit-policy-file", self.path("audit-policy.json"),
            "--audit-log-path", self.path("audit.log"),
            *self.apiserver_flags])
        self.wait_until_ready()

    def wait_until_ready(self):
        end = time.monotonic() + START_S
        while time.monotonic() < end:
            for name, process in (("etcd", self.etcd), ("kube-apiserver", self.apiserver)):
                if process.poll() is not None:
                    raise StartError(f"{name} ended with {process.returncode}")
            if self.is_ready():
                return
            time.sleep(0.1)
        raise StartError(f"kube-apiserver was not ready within {START_S} s")

    def connect(self, timeout):
        """A connection of the admin's."""
        context = ssl.create_default_context(cafile=self.path("ca.crt"))
        context.load_cert_chain(self.path("admin.crt"), self.path("admin.key"))
        return http.client.HTTPSConnection("127.0.0.1", self.port, context=context, timeout=timeout)

    def disconnect(self):
        if self.connection is not None:
            self.connection.close()
            self.connection = None

    def is_ready(self):
        connection = self.connect(5)
        try:
            connection.request("GET", "/readyz")
            return connection.getresponse().status == 200
        except (OSError, http.client.HTTPException):
            return False
        finally:
            connection.close()

    def kill_apiserver(self):
        """kill -9."""
        processes.kill(self.apiserver)
        self.disconnect()

    def restart_apiserver(self):
        self.kill_apiserver()
        self.start_apiserver()

    def pause_apiserver(self):
        """It neither answers nor goes away."""
        self.apiserver.send_signal(signal.SIGSTOP)

    def resume_apiserver(self):
        self.apiserver.send_signal(signal.SIGCONT)

    # ---- asking ----

    def kubectl(self, *words, user="admin", text=None, timeout=60):
        """Runs kubectl and returns what it printed. `text` is its input."""
        run = subprocess.run(
            [os.path.join(self.programs, "kubectl"), "--kubeconfig", self.kubeconfig(user),
             "--cache-dir", self.path("kubectl-cache"), *words],
            input=text, text=True, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
            timeout=timeout, check=False, env={**os.environ, "HOME": self.folder})
        if run.returncode != 0:
            raise RuntimeError(f"kubectl {' '.join(words)}: {run.stderr.strip()}")
        return run.stdout

    def apply(self, *objects):
        """Creates objects, or brings them to this state."""
        body = {"apiVersion": "v1", "kind": "List", "items": objects}
        return self.kubectl("apply", "-f", "-", text=json.dumps(body))

    def define(self, definition):
        """Creates or changes a custom resource, and waits until the server has it."""
        self.apply(definition)
        path = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions/"
        end = time.monotonic() + START_S
        while time.monotonic() < end:
            status = self.request("GET", path + definition["metadata"]["name"]).get("status", {})
            conditions = {c["type"]: c["status"] for c in status.get("conditions") or []}
            if conditions.get("Established") == "True":
                return
            time.sleep(0.05)
        raise RuntimeError(f"{definition['metadata']['name']} is never established")

    def get(self, resource):
        """All objects of a resource, in all namespaces."""
        return json.loads(self.kubectl("get", resource, "--all-namespaces", "-o", "json",
                                       "--show-managed-fields"))["items"]

    def request(self, method, path, body=None, content_type="application/json",
                accept="application/json"):
        """Asks the server as kubectl would, many times as fast. Returns the answer's JSON."""
        self.connection = self.connection or self.connect(60)
        headers = {"Content-Type": content_type, "Accept": accept, "User-Agent": "e2e"}
        self.connection.request(method, path, json.dumps(body) if body else None, headers)
        response = self.connection.getresponse()
        text = response.read()
        if response.status >= 300:
            raise RuntimeError(f"{method} {path}: {response.status} {text[:500]}")
        return json.loads(text)

    def requests(self, user_agent):
        """What clients whose User-Agent begins so have asked, by the server's own audit log."""
        found = {}  # a watch has an entry for its start and one for its end
        with open(self.path("audit.log"), encoding="utf-8") as log:
            for line in log:
                try:
                    entry = json.loads(line)
                except ValueError:
                    continue  # the server was killed while it wrote
                if entry.get("userAgent", "").startswith(user_agent):
                    found[entry["auditID"]] = entry
        return list(found.values())
