# SPDX-License-Identifier: Apache-2.0
"""Certificates for the tests, made by the openssl command, and the TLS contexts that show them."""
import os
import ssl
import subprocess

CONFIG = """
[req]
distinguished_name = dn
prompt = no
[dn]
CN = unused
[ca]
basicConstraints = critical, CA:TRUE
keyUsage = critical, keyCertSign, cRLSign
subjectKeyIdentifier = hash
[sub_ca]
basicConstraints = critical, CA:TRUE, pathlen:0
keyUsage = critical, keyCertSign, cRLSign
[bound_ca]
basicConstraints = critical, CA:TRUE
keyUsage = critical, keyCertSign, cRLSign
nameConstraints = critical, permitted;DNS:inside.test
[client]
basicConstraints = CA:FALSE
extendedKeyUsage = clientAuth
[leaf]
basicConstraints = CA:FALSE
extendedKeyUsage = serverAuth
subjectAltName = ${ENV::SAN}
[leaf_no_san]
basicConstraints = CA:FALSE
extendedKeyUsage = serverAuth
"""

LOCAL = "IP:127.0.0.1,DNS:localhost"


class Maker:
    def __init__(self, folder):
        self.folder = folder
        with open(self.path("openssl.cnf"), "w", encoding="ascii") as file:
            file.write(CONFIG)

    def path(self, name):
        return os.path.join(self.folder, name)

    def openssl(self, *words, san="DNS:unused"):
        subprocess.run(["openssl", *words], check=True, env={**os.environ, "SAN": san},
                       stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)

    def key(self, name):
        path = self.path(f"{name}.key")
        if not os.path.exists(path):
            self.openssl("ecparam", "-name", "prime256v1", "-genkey", "-noout", "-out", path)
        return path

    def key_of(self, name, command, *words):
        self.openssl(command, "-out", self.path(f"{name}.key"), *words)

    def root(self, name):
        self.openssl("req", "-new", "-x509", "-key", self.key(name), "-subj", f"/CN={name}",
                     "-days", "30", "-config", self.path("openssl.cnf"), "-extensions", "ca",
                     "-out", self.path(f"{name}.crt"))

    def signed(self, name, by, extensions, san="DNS:unused", subject=None, days="30"):
        request = self.path(f"{name}.csr")
        self.openssl("req", "-new", "-key", self.key(name), "-subj", f"/CN={subject or name}",
                     "-config", self.path("openssl.cnf"), "-out", request, san=san)
        self.openssl("x509", "-req", "-in", request, "-CA", self.path(f"{by}.crt"), "-CAkey",
                     self.key(by), "-CAcreateserial", "-days", days, "-extfile",
                     self.path("openssl.cnf"), "-extensions", extensions,
                     "-out", self.path(f"{name}.crt"), san=san)

    def self_signed(self, name, san):
        self.openssl("req", "-new", "-x509", "-key", self.key(name), "-subj", f"/CN={name}",
                     "-days", "30", "-config", self.path("openssl.cnf"), "-extensions", "leaf",
                     "-out", self.path(f"{name}.crt"), san=san)

    def chain(self, name, *parts):
        with open(self.path(f"{name}.chain"), "w", encoding="ascii") as out:
            for part in parts:
                with open(self.path(f"{part}.crt"), encoding="ascii") as file:
                    out.write(file.read())


def make(folder):
    m = Maker(folder)
    m.root("ca")
    m.root("other-ca")
    m.signed("sub-ca", "ca", "sub_ca")
    m.signed("bound-ca", "ca", "bound_ca")
    m.signed("good", "ca", "leaf", LOCAL)
    m.signed("wrong-ca", "other-ca", "leaf", LOCAL)
    m.self_signed("self-signed", LOCAL)
    m.signed("expired", "ca", "leaf", LOCAL, days="-1")
    m.signed("wrong-name", "ca", "leaf", "DNS:elsewhere.test")
    m.signed("only-name", "ca", "leaf", "DNS:api.test")
    m.signed("wildcard", "ca", "leaf", "DNS:*.cluster.test")
    m.signed("only-dns", "ca", "leaf", "DNS:localhost")
    m.signed("only-cn", "ca", "leaf_no_san", subject="localhost")
    m.signed("ip-as-dns", "ca", "leaf", "DNS:127.0.0.1")
    m.signed("below", "sub-ca", "leaf", LOCAL)
    m.signed("out-of-bounds", "bound-ca", "leaf", "DNS:localhost,IP:127.0.0.1")
    m.signed("by-leaf", "good", "leaf", LOCAL)
    m.signed("for-clients", "ca", "client")
    m.signed("client", "ca", "client", subject="alice")
    m.signed("client2", "ca", "client", subject="bob")
    m.signed("client-other", "other-ca", "client", subject="mallory")
    m.key_of("client-rsa", "genrsa", "-traditional", "2048")
    m.key_of("longer-rsa", "genrsa", "-traditional", "3072")
    m.key_of("longer", "genpkey", "-algorithm", "EC", "-pkeyopt", "ec_paramgen_curve:P-384")
    m.key_of("client-ed25519", "genpkey", "-algorithm", "ed25519")
    m.signed("client-rsa", "ca", "client")
    m.signed("client-ed25519", "ca", "client")
    for name in ("client", "client-rsa"):
        m.openssl("pkcs8", "-topk8", "-nocrypt", "-in", m.path(f"{name}.key"), "-out",
                  m.path(f"{name}.pkcs8"))
    m.openssl("ec", "-in", m.path("client.key"), "-conv_form", "compressed", "-out",
              m.path("client.compressed"))
    m.openssl("pkcs8", "-topk8", "-passout", "pass:x", "-in", m.path("client.key"), "-out",
              m.path("client.encrypted"))
    m.openssl("ec", "-aes128", "-passout", "pass:x", "-in", m.path("client.key"), "-out",
              m.path("client.old-encrypted"))
    m.chain("below", "below", "sub-ca")
    m.chain("out-of-bounds", "out-of-bounds", "bound-ca")
    m.chain("by-leaf", "by-leaf", "good")
    m.chain("both-ca", "other-ca", "ca")
    return m


SHOWN = ["good", "wrong-ca", "self-signed", "expired", "wrong-name", "only-name", "wildcard",
         "only-dns", "only-cn", "ip-as-dns", "below", "out-of-bounds", "by-leaf", "for-clients"]


def context(m, name, chain=True):
    c = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    file = m.path(f"{name}.chain")
    if not chain or not os.path.exists(file):
        file = m.path(f"{name}.crt")
    c.load_cert_chain(file, m.path(f"{name}.key"))
    return c


def contexts(folder):
    """(name of the socket, context) for each kind of server."""
    m = make(folder)
    for name in SHOWN:
        yield name, context(m, name)
    yield "below-alone", context(m, "below", chain=False)
    old = context(m, "good")
    old.minimum_version = ssl.TLSVersion.TLSv1
    old.maximum_version = ssl.TLSVersion.TLSv1_1
    old.set_ciphers("ALL:@SECLEVEL=0")
    yield "tls-1.1", old
    for name, version in (("tls-1.2", ssl.TLSVersion.TLSv1_2), ("tls-1.3", ssl.TLSVersion.TLSv1_3)):
        c = context(m, "good")
        c.minimum_version = c.maximum_version = version
        yield name, c
    mutual = context(m, "good")
    mutual.verify_mode = ssl.CERT_REQUIRED
    mutual.load_verify_locations(m.path("ca.crt"))
    yield "mutual", mutual
    for name in ("h2", "h2-one", "h2-window", "h2-silent", "h2-goaway"):
        c = context(m, "good")
        c.set_alpn_protocols(["h2", "http/1.1"])
        yield name, c
