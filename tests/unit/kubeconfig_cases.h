/* SPDX-License-Identifier: Apache-2.0 */
/* Kubeconfigs in memory, and what comes of them: as test_config_expect() has it. */
#ifndef TESTS_UNIT_KUBECONFIG_CASES_H
#define TESTS_UNIT_KUBECONFIG_CASES_H

#include <stddef.h>

/* The usual frame: context c, cluster c with these fields, user u with those. */
#define KUBECONFIG(cluster, user)             \
    "apiVersion: v1\n"                        \
    "kind: Config\n"                          \
    "current-context: c\n"                    \
    "contexts:\n"                             \
    "- name: c\n"                             \
    "  context: {cluster: c, user: u}\n"      \
    "clusters:\n"                             \
    "- name: c\n"                             \
    "  cluster: {" cluster "}\n" /* line 9 */ \
    "users:\n"                                \
    "- name: u\n"                             \
    "  user: {" user "}\n" /* line 12 */

#define H "server: 'https://h'"
#define FRAME "namespace=default context=c cluster=c user=u"
#define OK "server=https://h " FRAME
#define V1 "apiVersion: client.authentication.k8s.io/v1"
#define EXEC(fields) KUBECONFIG(H, "exec: {" fields "}")

static const struct {
    const char *text;
    const char *expected;
} cases[] = {
    /* Nothing. */
    {"", "KI_ERR_NOT_FOUND no configuration: neither a context nor a server is set"},
    {"{}", "KI_ERR_NOT_FOUND no configuration: neither a context nor a server is set"},
    {"null", "KI_ERR_NOT_FOUND no configuration: neither a context nor a server is set"},
    {"apiVersion: v1\nkind: Config\nclusters: null\nusers: []\ncontexts: ~\ncurrent-context: ''",
     "KI_ERR_NOT_FOUND no configuration: neither a context nor a server is set"},

    /* What it is. */
    {"apiVersion: v2", "KI_ERR_UNSUPPORTED kubeconfig:1: apiVersion: must be v1"},
    {"kind: Pod", "KI_ERR_UNSUPPORTED kubeconfig:1: kind: must be Config"},
    {"[]", "KI_ERR_TYPE kubeconfig:1: must be a map"},
    {"text", "KI_ERR_TYPE kubeconfig:1: must be a map"},
    {"a: b: c", "KI_ERR_SYNTAX kubeconfig:1: mapping values are not allowed in this context"},
    {"\n\nclusters: !!seq []", "KI_ERR_UNSUPPORTED kubeconfig:3: tags are not allowed"},

    /* Servers. */
    {KUBECONFIG(H, ""), OK},
    {KUBECONFIG("server: 'https://h:6443/a//b/'", ""), "server=https://h:6443 prefix=/a/b " FRAME},
    {KUBECONFIG("server: 'HTTPS://H/'", ""), "server=https://H " FRAME},
    {KUBECONFIG("server: 'https://[::1]:6443?x=y'", ""), "server=https://[::1]:6443 " FRAME},
    {KUBECONFIG("server: h", "token: t"), "server=http://h " FRAME},
    {KUBECONFIG("server: 'h:8080'", ""), "server=http://h:8080 " FRAME},
    {KUBECONFIG("", ""), "KI_ERR_INVALID kubeconfig:8: cluster \"c\": server: is missing"},
    {KUBECONFIG("server: ''", ""),
     "KI_ERR_INVALID kubeconfig:9: cluster \"c\": server: is missing"},
    {KUBECONFIG("server: 'ftp://h'", ""),
     "KI_ERR_INVALID kubeconfig:9: cluster \"c\": server: URL scheme is not supported"},
    {KUBECONFIG("server: 'socks5://h'", ""),
     "KI_ERR_INVALID kubeconfig:9: cluster \"c\": server: URL scheme is not supported"},
    {KUBECONFIG("server: 'https://u:p@h'", ""),
     "KI_ERR_INVALID kubeconfig:9: cluster \"c\": server: URL must not contain a user or password"},
    {KUBECONFIG("server: 'https://h:0'", ""), "KI_ERR_INVALID kubeconfig:9: cluster \"c\": server: "
                                              "port is not a number from 1 to 65535"},
    {KUBECONFIG("server: 12", ""),
     "KI_ERR_TYPE kubeconfig:9: clusters[0].cluster.server: must be a string; put it in quotes"},

    /* TLS. */
    {KUBECONFIG(H ", certificate-authority-data: Q0E=, tls-server-name: n", ""),
     OK " ca=CA server-name=n"},
    {KUBECONFIG(H ", insecure-skip-tls-verify: true", ""), OK " insecure"},
    {KUBECONFIG(H ", insecure-skip-tls-verify: false, certificate-authority-data: Q0E=", ""),
     OK " ca=CA"},
    {KUBECONFIG(H ", insecure-skip-tls-verify: true, certificate-authority-data: Q0E=", ""),
     "KI_ERR_INVALID kubeconfig:9: cluster \"c\": certificate-authority-data: "
     "certificate-authority and insecure-skip-tls-verify are mutually exclusive"},
    {KUBECONFIG(H ", insecure-skip-tls-verify: 'true'", ""),
     "KI_ERR_TYPE kubeconfig:9: clusters[0].cluster.insecure-skip-tls-verify: must be true or"
     " false"},
    {KUBECONFIG(H ", insecure-skip-tls-verify: yes", ""),
     "KI_ERR_TYPE kubeconfig:9: clusters[0].cluster.insecure-skip-tls-verify: must be true or"
     " false"},
    {KUBECONFIG(H ", certificate-authority: /x, certificate-authority-data: Q0E=", ""),
     "KI_ERR_INVALID kubeconfig:9: cluster \"c\": certificate-authority-data: mutually exclusive "
     "with certificate-authority"},
    {KUBECONFIG(H ", certificate-authority: /no/such", ""),
     "ENOENT kubeconfig:9: cluster \"c\": certificate-authority: no such file or directory"
     " (/no/such)"},
    {KUBECONFIG(H ", certificate-authority-data: '?'", ""),
     "KI_ERR_INVALID kubeconfig:9: clusters[0].cluster.certificate-authority-data: must be base64"},
    {KUBECONFIG(H ", certificate-authority-data: ''", ""), OK},
    {KUBECONFIG(H ", tls-server-name: \"a\\nb\"", ""),
     "KI_ERR_INVALID kubeconfig:9: cluster \"c\": tls-server-name: must not contain control "
     "characters"},
    {KUBECONFIG("server: 'http://h', certificate-authority-data: Q0E=, tls-server-name: n,"
                " insecure-skip-tls-verify: true",
                "token: t, client-certificate-data: QQ==, client-key-data: QQ=="),
     "server=http://h " FRAME},

    /* Proxies and the rest of a cluster. */
    {KUBECONFIG(H ", proxy-url: 'http://u:p@proxy:3128', disable-compression: true", ""),
     OK " proxy=http://u:p@proxy:3128 no-compression"},
    {KUBECONFIG(H ", proxy-url: 'socks5://p:1'", ""), OK " proxy=socks5://p:1"},
    {KUBECONFIG(H ", proxy-url: 'ftp://p'", ""),
     "KI_ERR_INVALID kubeconfig:9: cluster \"c\": proxy-url: URL scheme is not supported"},
    {KUBECONFIG(H ", proxy-url: 'p:1'", ""),
     "KI_ERR_INVALID kubeconfig:9: cluster \"c\": proxy-url: must be an http, https or socks5 URL"},
    {KUBECONFIG(H ", proxy-url: 'http://'", ""),
     "KI_ERR_INVALID kubeconfig:9: cluster \"c\": proxy-url: invalid host"},
    {KUBECONFIG(H ", unknown: [1, {a: b}], Server: 3", ""), OK},

    /* Tokens and passwords. */
    {KUBECONFIG(H, "token: t.o-k_e/n="), OK " token=t.o-k_e/n="},
    {KUBECONFIG(H, "token: null"), OK},
    {KUBECONFIG(H, "token: \"a\\u0000b\""),
     "KI_ERR_INVALID kubeconfig:12: users[0].user.token: must not contain NUL"},
    {KUBECONFIG(H, "token: \"a\\r\\nb\""),
     "KI_ERR_INVALID kubeconfig:12: user \"u\": token: must not contain control characters"},
    {KUBECONFIG(H, "token: 12345"),
     "KI_ERR_TYPE kubeconfig:12: users[0].user.token: must be a string; put it in quotes"},
    {KUBECONFIG(H, "token: true"),
     "KI_ERR_TYPE kubeconfig:12: users[0].user.token: must be a string; put it in quotes"},
    {KUBECONFIG(H, "token: [a]"),
     "KI_ERR_TYPE kubeconfig:12: users[0].user.token: must be a string"},
    {KUBECONFIG(H, "token: t, token: t"), "KI_ERR_INVALID kubeconfig:12: duplicate key"},
    {KUBECONFIG(H, "username: me, password: pw"), OK " username=me password=pw"},
    {KUBECONFIG(H, "username: 'a:b', password: pw"),
     "KI_ERR_INVALID kubeconfig:12: user \"u\": username: must not contain ':'"},
    {KUBECONFIG(H, "password: pw"), OK " password=pw"},
    {KUBECONFIG(H, "token: t, username: me"), "KI_ERR_INVALID kubeconfig:12: user \"u\": token: "
                                              "token and username/password are mutually exclusive"},
    {KUBECONFIG(H, "token: t, password: pw"), "KI_ERR_INVALID kubeconfig:12: user \"u\": token: "
                                              "token and username/password are mutually exclusive"},
    {KUBECONFIG(H, "tokenFile: /t, username: me"),
     "KI_ERR_INVALID kubeconfig:12: user \"u\": tokenFile: tokenFile and username are mutually "
     "exclusive"},
    {KUBECONFIG(H, "tokenFile: /no/such"),
     "ENOENT kubeconfig:12: user \"u\": tokenFile: no such file or directory"},
    {KUBECONFIG(H, "token: t, tokenFile: /no/such"), OK " token=t token-file=/no/such"},
    {KUBECONFIG("server: 'http://127.0.0.1'", "token: t, username: ''"),
     "server=http://127.0.0.1 " FRAME},

    /* Certificates. */
    {KUBECONFIG(H, "client-certificate-data: Q0VSVA==, client-key-data: S0VZ"),
     OK " cert=CERT key=KEY"},
    {KUBECONFIG(H, "client-certificate-data: Q0VSVA=="),
     "KI_ERR_INVALID kubeconfig:12: user \"u\": client-certificate-data: client-certificate "
     "requires client-key"},
    {KUBECONFIG(H, "client-key-data: S0VZ"), OK},
    {KUBECONFIG(H, "client-certificate: /c, client-certificate-data: QQ==, client-key-data: QQ=="),
     "KI_ERR_INVALID kubeconfig:12: user \"u\": client-certificate-data: mutually exclusive with "
     "client-certificate"},
    {KUBECONFIG(H, "client-certificate-data: QQ==, client-key: /k, client-key-data: QQ=="),
     "KI_ERR_INVALID kubeconfig:12: user \"u\": client-key-data: mutually exclusive with "
     "client-key"},
    {KUBECONFIG(H, "client-certificate-data: QQ==, client-key: /no/such"),
     "ENOENT kubeconfig:12: user \"u\": client-key: no such file or directory (/no/such)"},

    /* Acting as others. */
    {KUBECONFIG(H, "as: me, as-uid: u1, as-groups: [a, 'b c'],"
                   " as-user-extra: {scopes: [x, y], 'a/b': []}"),
     OK " as=me as-uid=u1 as-groups=[a|b c] scopes=[x|y]"},
    {KUBECONFIG("server: 'http://h'", "as: me, token: t"), "server=http://h " FRAME " as=me"},
    {KUBECONFIG(H, "as-uid: u1"), "KI_ERR_INVALID kubeconfig:11: user \"u\": as: as-uid, as-groups "
                                  "and as-user-extra require as"},
    {KUBECONFIG(H, "as-groups: [g]"), "KI_ERR_INVALID kubeconfig:11: user \"u\": as: as-uid, "
                                      "as-groups and as-user-extra require as"},
    {KUBECONFIG(H, "as-user-extra: {a: [b]}"), "KI_ERR_INVALID kubeconfig:11: user \"u\": as: "
                                               "as-uid, as-groups and as-user-extra require as"},
    {KUBECONFIG(H, "as-groups: [], as-user-extra: {}"), OK},
    {KUBECONFIG(H, "as: me, as-groups: [\"a\\nb\"]"),
     "KI_ERR_INVALID kubeconfig:12: user \"u\": as: groups and extra must not contain control "
     "characters"},
    {KUBECONFIG(H, "as: me, as-groups: g"),
     "KI_ERR_TYPE kubeconfig:12: users[0].user.as-groups: must be a list of strings"},
    {KUBECONFIG(H, "as: me, as-groups: [1]"),
     "KI_ERR_TYPE kubeconfig:12: users[0].user.as-groups: must be a string; put it in quotes"},
    {KUBECONFIG(H, "as: me, as-user-extra: {a: b}"),
     "KI_ERR_TYPE kubeconfig:12: users[0].user.as-user-extra: must be a list of strings"},
    {KUBECONFIG(H, "as: me, as-user-extra: [a]"),
     "KI_ERR_TYPE kubeconfig:12: users[0].user.as-user-extra: must be a map"},

    /* Exec plugins. */
    {EXEC(V1 ", command: x, interactiveMode: Never"), OK " exec=x version=v1 interactive=never"},
    {EXEC("apiVersion: client.authentication.k8s.io/v1beta1, command: /bin/x, args: [a b, '', $x],"
          " env: [{name: A, value: b}, {name: C}], provideClusterInfo: true"),
     OK " exec=/bin/x version=v1beta1 args=[a b||$x] A=b interactive=if-available cluster-info"},
    {EXEC(V1 ", command: x, interactiveMode: Always, installHint: \"get it\\e[1m\\n\\u202ehere\""),
     OK " exec=x version=v1 interactive=always hint=get itU+001B[1m\nU+202Ehere"},
    {EXEC(V1 ", interactiveMode: Never"),
     "KI_ERR_INVALID kubeconfig:12: user \"u\": exec.command: is missing"},
    {EXEC("command: x"), "KI_ERR_INVALID kubeconfig:12: user \"u\": exec.apiVersion: is missing"},
    {EXEC("command: x, apiVersion: client.authentication.k8s.io/v1alpha1"),
     "KI_ERR_UNSUPPORTED kubeconfig:12: user \"u\": exec.apiVersion: must be"
     " client.authentication.k8s.io/v1 or /v1beta1"},
    {EXEC(V1 ", command: x"),
     "KI_ERR_INVALID kubeconfig:12: user \"u\": exec.interactiveMode: is missing"},
    {EXEC(V1 ", command: x, interactiveMode: never"),
     "KI_ERR_INVALID kubeconfig:12: user \"u\": exec.interactiveMode: must be Never, IfAvailable or"
     " Always"},
    {EXEC(V1 ", command: x, interactiveMode: Never, env: [{value: b}]"),
     "KI_ERR_INVALID kubeconfig:12: user \"u\": exec.env: name is missing"},
    {EXEC(V1 ", command: x, interactiveMode: Never, env: [{name: 'a=b'}]"),
     "KI_ERR_INVALID kubeconfig:12: user \"u\": exec.env: name must not contain '='"},
    {EXEC(V1 ", command: x, interactiveMode: Never, env: [{name: a, value: 1}]"),
     "KI_ERR_TYPE kubeconfig:12: users[0].user.exec.env[0].value: must be a string; put it in"
     " quotes"},
    {EXEC(V1 ", command: x, interactiveMode: Never, env: {a: b}"),
     "KI_ERR_TYPE kubeconfig:12: users[0].user.exec.env: must be a list"},
    {EXEC(V1 ", command: x, interactiveMode: Never, env: [a]"),
     "KI_ERR_TYPE kubeconfig:12: users[0].user.exec.env[0]: must be a map"},
    {KUBECONFIG(H, "exec: null"), OK},
    {KUBECONFIG(H ", extensions: [{name: other, extension: 1}, {name:"
                  " client.authentication.k8s.io/exec, extension: {a: [1, b]}}]",
                "exec: {" V1 ", command: x, interactiveMode: Never}"),
     OK " exec=x version=v1 interactive=never config={\"a\":[1,\"b\"]}"},
    {KUBECONFIG(H ", extensions: [{name: client.authentication.k8s.io/exec, extension: 0x1}]",
                "exec: {" V1 ", command: x, interactiveMode: Never}"),
     "KI_ERR_UNSUPPORTED kubeconfig:9: cluster \"c\": extensions: number cannot be represented in "
     "JSON"},
    {KUBECONFIG(H ", extensions: [{name: a}, {name: a}]", ""),
     "KI_ERR_INVALID kubeconfig:9: clusters[0].cluster.extensions[1].name: duplicate name in this "
     "list"},
    {KUBECONFIG(H, "auth-provider: {name: oidc, config: {a: b}}"),
     "KI_ERR_UNSUPPORTED kubeconfig:12: user \"u\": auth-provider: auth providers are not "
     "supported; use exec"},

    /* Contexts and names. */
    {"current-context: x", "KI_ERR_NOT_FOUND kubeconfig:1: current-context: no context"
                           " \"x\""},
    {"current-context: c\ncontexts: [{name: c, context: {cluster: x}}]",
     "KI_ERR_NOT_FOUND kubeconfig:2: context \"c\": cluster: no cluster \"x\""},
    {"current-context: c\ncontexts: [{name: c, context: {user: x}}]",
     "KI_ERR_NOT_FOUND kubeconfig:2: context \"c\": user: no user \"x\""},
    {"current-context: c\ncontexts: [{name: c}]",
     "KI_ERR_INVALID kubeconfig:2: context \"c\": cluster: is missing"},
    {"current-context: c\ncontexts: [{name: c, context: {cluster: c, namespace: shop}}]\n"
     "clusters: [{name: c, cluster: {" H "}}]",
     "server=https://h namespace=shop context=c cluster=c"},
    {"current-context: c\ncontexts: [{name: c, context: {cluster: c, namespace: No_Name}}]\n"
     "clusters: [{name: c, cluster: {" H "}}]",
     "KI_ERR_INVALID kubeconfig:2: context \"c\": namespace: not a valid namespace name"},
    {"{\"current-context\": \"c\", \"contexts\": [{\"name\": \"c\", \"context\": {\"cluster\":"
     " \"\\u00e4\"}}],\t\"clusters\": [{\"name\": \"\xc3\xa4\", \"cluster\": {\"server\":"
     " \"https:\\/\\/h\"}}]}",
     "server=https://h namespace=default context=c cluster=\xc3\xa4"},
    {"clusters: [{name: a}, {name: b}, {name: a}]",
     "KI_ERR_INVALID kubeconfig:1: clusters[2].name: duplicate name in this list"},
    {"users: [{user: {}}, {name: ''}]",
     "KI_ERR_INVALID kubeconfig:1: users[1].name: duplicate name in this list"},
    {"users: {a: b}", "KI_ERR_TYPE kubeconfig:1: users: must be a list"},
    {"users: [a]", "KI_ERR_TYPE kubeconfig:1: users[0]: must be a map"},
    {"users: [{name: a, user: b}]", "KI_ERR_TYPE kubeconfig:1: users[0].user: must be a map"},
    {"contexts: [{name: 1}]",
     "KI_ERR_TYPE kubeconfig:1: contexts[0].name: must be a string; put it in quotes"},
    {"preferences: {colors: 1}", "KI_ERR_TYPE kubeconfig:1: preferences.colors: must be true or"
                                 " false"},
};

#define CASES (sizeof(cases) / sizeof(cases[0]))

#endif
