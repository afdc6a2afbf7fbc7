/* SPDX-License-Identifier: Apache-2.0 */
/* PEM (RFC 7468) and enough DER (X.690) to find the public key in a certificate (RFC 5280) and in a
 * private key (RFC 8017 for RSA, RFC 5915 for curves, RFC 5958 around them). Invariant: nothing is
 * read outside the text, and decoded data is wiped. */
#include "client/auth/pem.h"

#include <errno.h>
#include <string.h>

#include <kinformer/error.h>

#include "base/secret.h"
#include "object/text/base64.h"

enum { INTEGER = 2, BITS = 3, OCTETS = 4, OID = 6, SEQUENCE = 0x30, CONTEXT_0 = 0xa0 };
enum { CONTEXT_1 = 0xa1 };

/* ---- PEM ---- */

typedef struct block {
    ki_str label;
    ki_str der;
} block;

static const char *find(ki_str text, const char *word)
{
    return text.len != 0 ? memmem(text.ptr, text.len, word, strlen(word)) : NULL;
}

static ki_str after(ki_str text, const char *place)
{
    return ki_str_make(place, text.len - (size_t)(place - text.ptr));
}

static bool ends_with(ki_str text, const char *end)
{
    size_t len = strlen(end);
    return text.len >= len && memcmp(text.ptr + text.len - len, end, len) == 0;
}

/* Decodes the base64 between the BEGIN and END lines. */
static int decode(ki_str body, ki__secrets *secrets, ki_str *ret_der)
{
    char *bytes = ki__secrets_take(secrets, body.len + 1);
    size_t len = 0;
    if (bytes == NULL) {
        return -ENOMEM;
    }
    for (size_t i = 0; i < body.len; i++) {
        char c = body.ptr[i];
        if (c != ' ' && c != '\t' && c != '\r' && c != '\n') {
            bytes[len++] = c;
        }
    }
    int r = ki__base64_decode(ki_str_make(bytes, len), bytes, &len);
    *ret_der = ki_str_make(bytes, len);
    return r;
}

/* The next block of the text: 1, 0 if there is none, KI_ERR_INVALID if it is truncated. */
static int next_block(ki_str *text, ki__secrets *secrets, block *ret_block)
{
    static const char begin[] = "-----BEGIN ";
    static const char end[] = "-----END ";
    const char *at = find(*text, begin);
    if (at == NULL) {
        return 0;
    }
    ki_str rest = after(*text, at + sizeof(begin) - 1);
    const char *dashes = find(rest, "-----");
    if (dashes == NULL) {
        return KI_ERR_INVALID;
    }
    ret_block->label = ki_str_make(rest.ptr, (size_t)(dashes - rest.ptr));
    ki_str body = after(rest, dashes + 5);
    const char *stop = find(body, end);
    if (stop == NULL) {
        return KI_ERR_INVALID;
    }
    *text = after(body, stop + sizeof(end) - 1);
    body.len = (size_t)(stop - body.ptr);
    if (text->len < ret_block->label.len + 5 ||
        memcmp(text->ptr, ret_block->label.ptr, ret_block->label.len) != 0 ||
        memcmp(text->ptr + ret_block->label.len, "-----", 5) != 0) {
        return KI_ERR_INVALID;
    }
    if (find(body, "ENCRYPTED") != NULL) { /* legacy encryption: a header inside the block */
        ret_block->label = ki_str_from("ENCRYPTED PRIVATE KEY");
        ret_block->der = ki_str_make(NULL, 0);
        return 1;
    }
    int r = decode(body, secrets, &ret_block->der);
    return r < 0 ? r : 1;
}

/* The first block whose label has this suffix; results as next_block(). */
static int find_block(ki_str text, const char *label, ki__secrets *secrets, block *ret_block)
{
    int r;
    do {
        r = next_block(&text, secrets, ret_block);
    } while (r == 1 && !ends_with(ret_block->label, label));
    return r;
}

/* ---- DER ---- */

/* Takes the next element of `from`; false if there is none or it is truncated. */
static bool take(ki_str *from, int *ret_tag, ki_str *ret_content)
{
    const unsigned char *bytes = (const unsigned char *)from->ptr;
    if (from->len < 2) {
        return false;
    }
    size_t len = bytes[1];
    size_t head = 2;
    if (len >= 0x80) {
        size_t count = len & 0x7f;
        if (count == 0 || count > 3 || from->len < 2 + count) {
            return false;
        }
        for (len = 0; head < 2 + count; head++) {
            len = len << 8 | bytes[head];
        }
    }
    if (len > from->len - head) {
        return false;
    }
    *ret_tag = bytes[0];
    *ret_content = ki_str_make(from->ptr + head, len);
    *from = ki_str_make(from->ptr + head + len, from->len - head - len);
    return true;
}

static bool take_as(ki_str *from, int tag, ki_str *ret_content)
{
    int found;
    return take(from, &found, ret_content) && found == tag;
}

/* The public key: its algorithm, if known, and its bytes. */
typedef struct half {
    ki_str algorithm; /* an OID; empty if unknown */
    ki_str bytes;     /* RSA modulus or curve point; empty if absent */
} half;

static const char RSA[] = "\x2a\x86\x48\x86\xf7\x0d\x01\x01\x01";
static const char CURVE[] = "\x2a\x86\x48\xce\x3d\x02\x01";

/* From a sequence that begins with the modulus. */
static bool read_modulus(ki_str sequence, half *ret_half)
{
    ret_half->algorithm = ki_str_from(RSA);
    return take_as(&sequence, INTEGER, &ret_half->bytes);
}

static bool read_certificate(ki_str der, half *ret_half)
{
    ki_str certificate;
    ki_str signed_part;
    ki_str info;
    ki_str skipped;
    ki_str algorithm;
    ki_str bits;
    int tag;
    *ret_half = (half){0};
    if (!take_as(&der, SEQUENCE, &certificate) || !take_as(&certificate, SEQUENCE, &signed_part)) {
        return false;
    }
    if (!take(&signed_part, &tag, &skipped) || /* optional version */
        (tag == CONTEXT_0 && !take_as(&signed_part, INTEGER, &skipped))) {
        return false;
    }
    for (size_t i = 0; i < 4; i++) { /* signature, issuer, validity, subject */
        if (!take_as(&signed_part, SEQUENCE, &skipped)) {
            return false;
        }
    }
    if (!take_as(&signed_part, SEQUENCE, &info) || !take_as(&info, SEQUENCE, &algorithm) ||
        !take_as(&algorithm, OID, &ret_half->algorithm) || !take_as(&info, BITS, &bits) ||
        bits.len < 2) {
        return false;
    }
    bits = ki_str_make(bits.ptr + 1, bits.len - 1); /* number of unused bits: 0 */
    if (!ki_str_eq_text(ret_half->algorithm, RSA)) {
        ret_half->bytes = bits;
        return true;
    }
    ki_str sequence;
    return take_as(&bits, SEQUENCE, &sequence) && read_modulus(sequence, ret_half);
}

static bool read_rsa_key(ki_str der, half *ret_half)
{
    ki_str key;
    ki_str version;
    return take_as(&der, SEQUENCE, &key) && take_as(&key, INTEGER, &version) &&
           read_modulus(key, ret_half);
}

/* The point is optional. */
static bool read_curve_key(ki_str der, half *ret_half)
{
    ki_str key;
    ki_str part;
    int tag;
    ret_half->algorithm = ki_str_from(CURVE);
    if (!take_as(&der, SEQUENCE, &key) || !take_as(&key, INTEGER, &part) ||
        !take_as(&key, OCTETS, &part)) {
        return false;
    }
    while (key.len != 0) {
        if (!take(&key, &tag, &part)) {
            return false;
        }
        ki_str bits;
        if (tag == CONTEXT_1 && take_as(&part, BITS, &bits) && bits.len >= 2) {
            ret_half->bytes = ki_str_make(bits.ptr + 1, bits.len - 1);
        }
    }
    return true;
}

static bool read_key(const block *key, half *ret_half)
{
    ki_str der = key->der;
    ki_str whole;
    ki_str part;
    ki_str inner;
    *ret_half = (half){0};
    if (ki_str_eq_text(key->label, "RSA PRIVATE KEY")) {
        return read_rsa_key(der, ret_half);
    }
    if (ki_str_eq_text(key->label, "EC PRIVATE KEY")) {
        return read_curve_key(der, ret_half);
    }
    if (!ki_str_eq_text(key->label, "PRIVATE KEY")) {
        return true; /* an unknown algorithm */
    }
    if (!take_as(&der, SEQUENCE, &whole) || !take_as(&whole, INTEGER, &part) ||
        !take_as(&whole, SEQUENCE, &part) || !take_as(&part, OID, &ret_half->algorithm) ||
        !take_as(&whole, OCTETS, &inner)) {
        return false;
    }
    return ki_str_eq_text(ret_half->algorithm, RSA)     ? read_rsa_key(inner, ret_half)
           : ki_str_eq_text(ret_half->algorithm, CURVE) ? read_curve_key(inner, ret_half)
                                                        : true;
}

/* ---- the checks ---- */

/* The coordinate that both encodings of a point, compressed and uncompressed, contain. */
static ki_str first_coordinate(ki_str point)
{
    size_t len = point.len - 1;
    bool both = point.ptr[0] != 2 && point.ptr[0] != 3;
    return ki_str_make(point.ptr + 1, both ? len / 2 : len);
}

static bool go_together(const half *certificate, const half *key)
{
    if (certificate->algorithm.len != 0 && key->algorithm.len != 0 &&
        !ki_str_eq(certificate->algorithm, key->algorithm)) {
        /* Certificates of RSA keys may restrict them (RSASSA-PSS). */
        return !ki_str_eq_text(certificate->algorithm, CURVE) &&
               !ki_str_eq_text(key->algorithm, CURVE);
    }
    if (certificate->bytes.len == 0 || key->bytes.len == 0) {
        return true;
    }
    if (ki_str_eq_text(certificate->algorithm, CURVE)) {
        return ki_str_eq(first_coordinate(certificate->bytes), first_coordinate(key->bytes));
    }
    return ki_str_eq(certificate->bytes, key->bytes);
}

static const char *pair_problem(ki_str certificate_text, ki_str key_text, ki__secrets *secrets,
                                int *ret_code)
{
    block certificate;
    block key;
    half shown;
    half held;
    *ret_code = find_block(certificate_text, "CERTIFICATE", secrets, &certificate);
    if (*ret_code <= 0) {
        return *ret_code == 0 ? "no PEM certificate found"
                              : "the PEM certificate is truncated or malformed";
    }
    *ret_code = find_block(key_text, "PRIVATE KEY", secrets, &key);
    if (*ret_code <= 0) {
        return *ret_code == 0 ? "no PEM private key found"
                              : "the PEM private key is truncated or malformed";
    }
    if (find(key.label, "ENCRYPTED") != NULL) {
        return "encrypted private keys are not supported";
    }
    if (!read_certificate(certificate.der, &shown)) {
        return "not an X.509 certificate";
    }
    if (!read_key(&key, &held)) {
        return "the private key is malformed";
    }
    return go_together(&shown, &held) ? NULL : "certificate and private key do not match";
}

static int release_secrets(const char *problem, int code, ki__secrets *secrets,
                           const char **ret_problem)
{
    ki__secrets_done(secrets);
    if (problem == NULL) {
        return 0;
    }
    *ret_problem = code == -ENOMEM ? "out of memory" : problem;
    return code == -ENOMEM ? code : KI_ERR_INVALID;
}

int ki__pem_check_pair(ki_str certificate, ki_str key, const ki_alloc *alloc,
                       const char **ret_problem)
{
    ki__secrets secrets;
    int code;
    ki__secrets_init(&secrets, alloc);
    const char *problem = pair_problem(certificate, key, &secrets, &code);
    return release_secrets(problem, code, &secrets, ret_problem);
}

int ki__pem_check_ca(ki_str text, const ki_alloc *alloc, const char **ret_problem)
{
    ki__secrets secrets;
    block found;
    size_t count = 0;
    int code;
    ki__secrets_init(&secrets, alloc);
    while ((code = next_block(&text, &secrets, &found)) == 1) {
        ki_str content;
        if (ends_with(found.label, "CERTIFICATE")) {
            count++;
            if (!take_as(&found.der, SEQUENCE, &content)) {
                code = KI_ERR_INVALID;
                break;
            }
        }
    }
    const char *problem = code < 0     ? "a PEM certificate is truncated or malformed"
                          : count == 0 ? "no PEM certificate found"
                                       : NULL;
    return release_secrets(problem, code, &secrets, ret_problem);
}
