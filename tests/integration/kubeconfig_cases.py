# SPDX-License-Identifier: Apache-2.0
"""Kubeconfigs, each a case: loaded by kubectl, whose answers are recorded in
tests/data/kubeconfig/kubectl.json, and by us, who must come to the same.

A case has files (text by name), the variables and flags that kubectl gets, and `stricter`: words of
our error where we refuse on purpose what kubectl takes (it tries localhost:8080 where no server is
named); `looser` marks what we take and kubectl does not. DIR in a text is the folder of the files.
Every server is a port where nobody listens, so that kubectl gets no further than its configuration.
"""
import base64
from dataclasses import dataclass, field

SERVER = "https://127.0.0.1:1"
V1 = "client.authentication.k8s.io/v1"
V1BETA1 = "client.authentication.k8s.io/v1beta1"
PEM = """-----BEGIN CERTIFICATE-----
MIIBcDCCARWgAwIBAgIUIvBL0IDcWd0fJB2C3iqvTYT9rkowCgYIKoZIzj0EAwIw
-----END CERTIFICATE-----
"""


def data(text):
    return base64.b64encode(text.encode()).decode()


@dataclass
class Case:
    name: str
    files: dict
    variables: dict = field(default_factory=lambda: {"KUBECONFIG": "DIR/config"})
    flags: dict = field(default_factory=dict)
    stricter: str = ""
    looser: bool = False


CASES = []


def case(name, files, stricter="", looser=False, variables=None, **flags):
    """Adds a case. `files` is a text for DIR/config, or several by name."""
    files = files if isinstance(files, dict) else {"config": files}
    flags = {key.replace("_", "-"): value for key, value in flags.items()}
    CASES.append(Case(name, files, variables or {"KUBECONFIG": "DIR/config"}, flags, stricter,
                      looser))


def config(cluster="", user="", context="", current="c", server=SERVER):
    """The usual frame: context c of cluster c and user u, with these fields besides."""
    place = f"server: '{server}'" if server is not None else ""
    cluster = ", ".join(part for part in (place, cluster) if part)
    context = ", ".join(part for part in ("cluster: c", "user: u", context) if part)
    return (f"apiVersion: v1\nkind: Config\ncurrent-context: {current}\n"
            f"clusters:\n- name: c\n  cluster: {{{cluster}}}\n"
            f"contexts:\n- name: c\n  context: {{{context}}}\n"
            f"users:\n- name: u\n  user: {{{user}}}\n")


def plugin(fields, version=V1):
    return config(user=f"exec: {{apiVersion: {version}, {fields}}}")


# The frame and its parts.
case("plain", config())
case("namespace", config(context="namespace: shop"))
case("no user fields", config(user=""))
case("token", config(user="token: t1"))
case("token with symbols", config(user="token: 'a.b-c_d~e+f/g='"))
case("token in double quotes", config(user='token: "a\\u0062c"'))
case("basic", config(user="username: me, password: secret"))
case("basic without password", config(user="username: me"))
case("path prefix", config(server=SERVER + "/k8s/clusters/c1"))
case("path prefix with slash", config(server=SERVER + "/k8s/"))
case("IPv6 server", config(server="https://[::1]:1"))
case("upper case scheme", config(server="HTTPS://127.0.0.1:1"))
case("JSON", '{"current-context":"c","clusters":[{"name":"c","cluster":{"server":"' + SERVER +
     '"}}],"contexts":[{"name":"c","context":{"cluster":"c","user":"u"}}],'
     '"users":[{"name":"u","user":{"token":"t"}}]}')
case("without apiVersion and kind", config().replace("apiVersion: v1\nkind: Config\n", ""))
case("unknown fields", config(cluster="color: red", user="shoe: 43"))
case("extensions", config(cluster="extensions: [{name: x, extension: {a: 1}}]"))
case("preferences", config() + "preferences: {colors: true}\n")
case("comments and blank lines", "# head\n\n" + config() + "\n# tail\n")
case("folded text", config().replace(f"server: '{SERVER}'", f"server: '{SERVER}'\n    "))
case("two users, the right one", config(user="token: right") +
     "- name: v\n  user: {token: wrong}\n")
case("names with blanks and signs", config().replace("name: c\n", "name: 'a b/c@d:e'\n").replace(
    "cluster: c,", "cluster: 'a b/c@d:e',").replace("context: c\n", "context: 'a b/c@d:e'\n"))
case("names that look like numbers", config().replace("name: c\n", "name: '12'\n").replace(
    "cluster: c,", "cluster: '12',").replace("current-context: c", "current-context: '12'"))

# TLS.
case("CA data", config(cluster=f"certificate-authority-data: {data(PEM)}"))
case("CA file", {"config": config(cluster="certificate-authority: DIR/ca.pem"), "ca.pem": PEM})
case("CA file, relative", {"config": config(cluster="certificate-authority: ca.pem"),
                           "ca.pem": PEM})
case("CA file, relative, from a subfolder",
     {"sub/config": config(cluster="certificate-authority: ../ca.pem"), "ca.pem": PEM},
     variables={"KUBECONFIG": "DIR/sub/config"})
case("CA file and data", {"config": config(cluster="certificate-authority: ca.pem, "
                                           f"certificate-authority-data: {data(PEM)}"),
                          "ca.pem": PEM})
case("CA file missing", config(cluster="certificate-authority: nothing.pem"))
case("CA data not base64", config(cluster="certificate-authority-data: '!!!'"))
case("insecure", config(cluster="insecure-skip-tls-verify: true"))
case("insecure false", config(cluster="insecure-skip-tls-verify: false"))
case("insecure and CA", config(cluster="insecure-skip-tls-verify: true, "
                               f"certificate-authority-data: {data(PEM)}", user="token: t"))
case("insecure as text", config(cluster="insecure-skip-tls-verify: 'yes'"))
case("tls-server-name", config(cluster="tls-server-name: kube.example"))
case("proxy", config(cluster="proxy-url: 'http://127.0.0.1:2'"))
case("proxy socks5", config(cluster="proxy-url: 'socks5://127.0.0.1:2'"))
case("proxy of another scheme", config(cluster="proxy-url: 'ftp://127.0.0.1:2'"))
case("disable-compression", config(cluster="disable-compression: true"))
case("client certificate files",
     {"config": config(user="client-certificate: c.pem, client-key: k.pem"), "c.pem": PEM,
      "k.pem": "key"})
case("client certificate and key file in data",
     config(user=f"client-certificate-data: {data(PEM)}, client-key-data: {data('key')}"))
case("client certificate without key", config(user=f"client-certificate-data: {data(PEM)}"))
case("client key without certificate", config(user=f"client-key-data: {data('key')}"))
case("client certificate file and data",
     {"config": config(user=f"client-certificate: c.pem, client-certificate-data: {data(PEM)}, "
                       f"client-key-data: {data('key')}"), "c.pem": PEM})
case("client certificate file missing",
     {"config": config(user="client-certificate: no.pem, client-key: k.pem"), "k.pem": "key"})
case("client key file missing",
     {"config": config(user="client-certificate: c.pem, client-key: no.pem"), "c.pem": PEM})

# Users.
case("token file", {"config": config(user="tokenFile: DIR/token"), "token": "from-file"})
case("token file, relative", {"config": config(user="tokenFile: token"), "token": "from-file"})
case("token and token file", {"config": config(user="token: t, tokenFile: token"),
                              "token": "from-file"})
case("token and basic", config(user="token: t, username: me, password: p"))
case("impersonation", config(user="as: jane, as-uid: '7', as-groups: [a, b], "
                             "as-user-extra: {reason: [x, z]}"))
case("impersonation without a user", config(user="as-groups: [a]"))
case("impersonation uid without a user", config(user="as-uid: '7'"))
case("auth provider", config(user="auth-provider: {name: gcp}"),
     stricter="auth providers are not supported")

# Plugins.
case("exec", plugin("command: get-token, args: [a, 'b c'], env: [{name: X, value: z}], "
                    "interactiveMode: Never"))
case("exec v1beta1", plugin("command: get-token", V1BETA1))
case("exec if available", plugin("command: get-token, interactiveMode: IfAvailable"))
case("exec with cluster info", plugin("command: get-token, interactiveMode: Never, "
                                      "provideClusterInfo: true, installHint: 'get it'"))
case("exec relative command", plugin("command: bin/get-token, interactiveMode: Never"))
case("exec without command", plugin("interactiveMode: Never"))
case("exec without version",
     config(user="exec: {command: get-token, interactiveMode: Never}"))
case("exec v1 without mode", plugin("command: get-token"))
case("exec of an unknown mode", plugin("command: get-token, interactiveMode: Sometimes"))
case("exec variable without a name", plugin("command: get-token, interactiveMode: Never, "
                                            "env: [{value: z}]"))
case("exec and token", config(user=f"token: t, exec: {{apiVersion: {V1}, command: get-token, "
                              "interactiveMode: Never}"))
case("exec and auth provider",
     config(user=f"auth-provider: {{name: gcp}}, exec: {{apiVersion: {V1}, command: get-token, "
            "interactiveMode: Never}"))

# What is missing.
case("no such context", config(current="nothing"))
case("no such context by flag", config(), context="nothing")
case("no such cluster", config().replace("cluster: c,", "cluster: d,"),
     stricter="no cluster")
case("no such user", config().replace("user: u", "user: w"), stricter="no user")
case("server missing", config(server=None), stricter="server: is missing")
case("server empty", config(server=""), stricter="server: is missing")
case("empty file", "", stricter="no configuration")  # kubectl tries localhost:8080
case("file missing", {"other": config()}, stricter="no configuration")

# Not a kubeconfig.
case("not YAML", "a: b: c\n")
case("not YAML, a tab", config().replace("  cluster", "\tcluster"))
case("a list", "[]\n")
case("another version", config().replace("apiVersion: v1", "apiVersion: v7"))
case("another kind", config().replace("kind: Config", "kind: Pod"))
case("clusters is a map", config().replace("clusters:\n- name: c\n  cluster",
                                           "clusters:\n  c:\n    cluster"))
case("token is a number", config(user="token: 12345"))
case("server is a list", config().replace(f"'{SERVER}'", f"['{SERVER}']"))
case("bad base64 of a key", config(user=f"client-certificate-data: {data(PEM)}, "
                                   "client-key-data: 'a*b'"))
case("an alias", config(user="token: &t abc, username: *t").replace(", username: *t", ""),
     stricter="anchors and aliases")
case("a plain y is true in YAML 1.1", config(user="token: y"), looser=True)
case("a key twice", config(user="token: a, token: b"), stricter="duplicate key")

# Several files.
A, B = "current-context: a\n", "current-context: b\n"


def part(name, token, server=SERVER):
    return (f"clusters: [{{name: {name}, cluster: {{server: '{server}/{name}'}}}}]\n"
            f"users: [{{name: {name}, user: {{token: {token}}}}}]\n"
            f"contexts: [{{name: {name}, context: {{cluster: {name}, user: {name}}}}}]\n")


BOTH = {"KUBECONFIG": "DIR/one:DIR/two"}
case("merge: both", {"one": A + part("a", "ta"), "two": B + part("b", "tb")}, variables=BOTH)
case("merge: context by flag", {"one": A + part("a", "ta"), "two": B + part("b", "tb")},
     variables=BOTH, context="b")
case("merge: first current-context wins", {"one": part("a", "ta"), "two": B + part("b", "tb")},
     variables=BOTH)
case("merge: first entry wins as a whole",
     {"one": A + part("a", "first"),
      "two": part("a", "second").replace("token: second", "token: second, as: jane")},
     variables=BOTH)
case("merge: cluster and user from different files",
     {"one": A + f"clusters: [{{name: k, cluster: {{server: '{SERVER}'}}}}]\n"
      "contexts: [{name: a, context: {cluster: k, user: me, namespace: n1}}]\n",
      "two": "users: [{name: me, user: {token: t}}]\n"}, variables=BOTH)
case("merge: relative paths of each file",
     {"x/one": A + "contexts: [{name: a, context: {cluster: k, user: me}}]\n"
      f"clusters: [{{name: k, cluster: {{server: '{SERVER}', certificate-authority: ca.pem}}}}]\n",
      "x/ca.pem": PEM, "y/token": "t", "y/two": "users: [{name: me, user: {tokenFile: token}}]\n"},
     variables={"KUBECONFIG": "DIR/x/one:DIR/y/two"})
case("merge: a missing file is skipped", {"two": B + part("b", "tb")}, variables=BOTH)
case("merge: an empty name is skipped", {"two": B + part("b", "tb")},
     variables={"KUBECONFIG": "::DIR/two:"})
case("merge: the same file twice", {"one": A + part("a", "ta")},
     variables={"KUBECONFIG": "DIR/one:DIR/one"})
case("merge: one cannot be read", {"one": "{", "two": B + part("b", "tb")}, variables=BOTH)
case("home", {".kube/config": A + part("a", "ta")}, variables={"HOME": "DIR"})
case("KUBECONFIG before home", {".kube/config": A + part("a", "ta"), "two": B + part("b", "tb")},
     variables={"HOME": "DIR", "KUBECONFIG": "DIR/two"})
case("explicit path before both",
     {".kube/config": A + part("a", "ta"), "two": B + part("b", "tb"), "three": part("d", "td") +
      "current-context: d\n"},
     variables={"HOME": "DIR", "KUBECONFIG": "DIR/two"}, kubeconfig="DIR/three")
case("explicit path missing", {"two": B + part("b", "tb")}, variables={"KUBECONFIG": "DIR/two"},
     kubeconfig="DIR/nothing")
