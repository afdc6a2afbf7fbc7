/* SPDX-License-Identifier: Apache-2.0 */
/* Certificates for one run of the server: a CA whose key is discarded immediately, and a server
 * certificate signed by it for the names and addresses of this machine. */
#include <arpa/inet.h>
#include <errno.h>
#include <gnutls/gnutls.h>
#include <gnutls/x509.h>

#include "apiserver/http/http_server.h"
#include "base/error.h"
#include "base/secret.h"
#include "base/time_units.h"

#define HOUR_S 3600
#define VALID_S ((int64_t)365 * 24 * HOUR_S)

typedef struct maker {
    gnutls_x509_privkey_t ca_key;
    gnutls_x509_crt_t ca;
    gnutls_x509_privkey_t key;
    gnutls_x509_crt_t certificate;
    int64_t now;
    const ki_random *random;
} maker;

static int make_key(gnutls_x509_privkey_t *ret_key)
{
    int g = gnutls_x509_privkey_init(ret_key);
    unsigned bits = GNUTLS_CURVE_TO_BITS(GNUTLS_ECC_CURVE_SECP256R1);
    return g < 0 ? g : gnutls_x509_privkey_generate(*ret_key, GNUTLS_PK_ECDSA, bits, 0);
}

/* Makes the CA's name unique, so that clients do not confuse the CAs of two servers. */
static int add_mark(gnutls_x509_crt_t crt, const unsigned char serial[16])
{
    static const char hex[] = "0123456789abcdef";
    char text[16];
    for (size_t i = 0; i < sizeof(text); i++) {
        text[i] = hex[i % 2 == 0 ? serial[i / 2] >> 4 : serial[i / 2] & 15];
    }
    return gnutls_x509_crt_set_dn_by_oid(crt, GNUTLS_OID_X520_ORGANIZATIONAL_UNIT_NAME, 0, text,
                                         sizeof(text));
}

/* Fields common to both certificates. */
static int begin(const maker *m, const char *name, gnutls_x509_privkey_t key,
                 gnutls_x509_crt_t *ret_crt)
{
    unsigned char serial[16];
    if (m->random->fill(serial, sizeof(serial), m->random->user) < 0) {
        return GNUTLS_E_RANDOM_FAILED;
    }
    serial[0] = (unsigned char)((serial[0] & 0x7f) | 0x40); /* positive, full length */
    int g = gnutls_x509_crt_init(ret_crt);
    gnutls_x509_crt_t crt = g < 0 ? NULL : *ret_crt;
    g = g < 0 ? g : gnutls_x509_crt_set_version(crt, 3);
    g = g < 0 ? g : gnutls_x509_crt_set_serial(crt, serial, sizeof(serial));
    g = g < 0 ? g : gnutls_x509_crt_set_activation_time(crt, (time_t)(m->now - HOUR_S));
    g = g < 0 ? g : gnutls_x509_crt_set_expiration_time(crt, (time_t)(m->now + VALID_S));
    g = g < 0 ? g
              : gnutls_x509_crt_set_dn_by_oid(crt, GNUTLS_OID_X520_COMMON_NAME, 0, name,
                                              (unsigned)strlen(name));
    g = g < 0 ? g : add_mark(crt, serial);
    g = g < 0 ? g : gnutls_x509_crt_set_key(crt, key);
    unsigned char id[64];
    size_t id_len = sizeof(id);
    g = g < 0 ? g : gnutls_x509_crt_get_key_id(crt, GNUTLS_KEYID_USE_SHA1, id, &id_len);
    return g < 0 ? g : gnutls_x509_crt_set_subject_key_id(crt, id, id_len);
}

static int make_authority(maker *m)
{
    int g = make_key(&m->ca_key);
    g = g < 0 ? g : begin(m, "kinformer embedded API server CA", m->ca_key, &m->ca);
    g = g < 0 ? g : gnutls_x509_crt_set_basic_constraints(m->ca, 1, 0);
    g = g < 0 ? g : gnutls_x509_crt_set_key_usage(m->ca, GNUTLS_KEY_KEY_CERT_SIGN);
    return g < 0 ? g : gnutls_x509_crt_sign2(m->ca, m->ca, m->ca_key, GNUTLS_DIG_SHA256, 0);
}

static int add_name(gnutls_x509_crt_t crt, const char *name)
{
    unsigned char number[16];
    if (inet_pton(AF_INET, name, number) == 1) {
        return gnutls_x509_crt_set_subject_alt_name(crt, GNUTLS_SAN_IPADDRESS, number, 4,
                                                    GNUTLS_FSAN_APPEND);
    }
    if (inet_pton(AF_INET6, name, number) == 1) {
        return gnutls_x509_crt_set_subject_alt_name(crt, GNUTLS_SAN_IPADDRESS, number, 16,
                                                    GNUTLS_FSAN_APPEND);
    }
    return gnutls_x509_crt_set_subject_alt_name(crt, GNUTLS_SAN_DNSNAME, name,
                                                (unsigned)strlen(name), GNUTLS_FSAN_APPEND);
}

/* Subject alternative names. */
static int add_names(gnutls_x509_crt_t crt, const ki_apiserver *server)
{
    char host[KI__HTTPD_URL_MAX];
    ki__httpd_host_of(server->address.url, host);
    bool known = false;
    int g = 0;
    for (const char *const *name = ki__http_own_names; *name != NULL && g >= 0; name++) {
        g = add_name(crt, *name);
        known = known || strcmp(*name, host) == 0;
    }
    g = g < 0 || known ? g : add_name(crt, host);
    const char *end = server->allowed_hosts.data + server->allowed_hosts.len;
    for (const char *at = server->allowed_hosts.data; at != end && g >= 0; at += strlen(at) + 1) {
        g = add_name(crt, at);
    }
    return g;
}

static int make_certificate(maker *m, const ki_apiserver *server)
{
    int g = make_key(&m->key);
    g = g < 0 ? g : begin(m, "kinformer embedded API server", m->key, &m->certificate);
    g = g < 0 ? g : add_names(m->certificate, server);
    g = g < 0 ? g : gnutls_x509_crt_set_basic_constraints(m->certificate, 0, -1);
    g = g < 0 ? g : gnutls_x509_crt_set_key_usage(m->certificate, GNUTLS_KEY_DIGITAL_SIGNATURE);
    g = g < 0 ? g
              : gnutls_x509_crt_set_key_purpose_oid(m->certificate, GNUTLS_KP_TLS_WWW_SERVER, 0);
    return g < 0 ? g
                 : gnutls_x509_crt_sign2(m->certificate, m->ca, m->ca_key, GNUTLS_DIG_SHA256, 0);
}

/* Takes ownership of GnuTLS output. */
static int take(int g, gnutls_datum_t *datum, ki_buf *out)
{
    if (g < 0) {
        return g;
    }
    int r = ki_buf_add(out, datum->data, datum->size);
    ki__wipe(datum->data, datum->size);
    gnutls_free(datum->data);
    return r < 0 ? GNUTLS_E_MEMORY_ERROR : 0;
}

static int export_all(const maker *m, ki__http_identity *identity)
{
    gnutls_datum_t datum = {0};
    int g =
        take(gnutls_x509_crt_export2(m->ca, GNUTLS_X509_FMT_PEM, &datum), &datum, &identity->ca);
    g = g < 0 ? g
              : take(gnutls_x509_crt_export2(m->certificate, GNUTLS_X509_FMT_PEM, &datum), &datum,
                     &identity->certificate);
    return g < 0 ? g
                 : take(gnutls_x509_privkey_export2(m->key, GNUTLS_X509_FMT_PEM, &datum), &datum,
                        &identity->key);
}

int ki__http_make_identity(const ki_apiserver *server, ki__http_identity *identity, ki_error *error)
{
    const ki_clock *clock = ki__engine_clock(server->engine);
    maker m = {
        .now = clock->realtime_ns(clock->user) / (int64_t)KI__SECOND_NS,
        .random = ki__engine_entropy(server->engine),
    };
    int g = make_authority(&m);
    g = g < 0 ? g : make_certificate(&m, server);
    g = g < 0 ? g : export_all(&m, identity);
    gnutls_x509_crt_deinit(m.certificate);
    gnutls_x509_crt_deinit(m.ca);
    gnutls_x509_privkey_deinit(m.key);
    gnutls_x509_privkey_deinit(m.ca_key);
    if (g < 0) {
        int r = g == GNUTLS_E_MEMORY_ERROR ? -ENOMEM : -EIO;
        return ki__error_set(error, r, "cannot create a certificate: %s", gnutls_strerror(g));
    }
    return 0;
}
