/* SPDX-License-Identifier: Apache-2.0 */
/* Any bytes as what an exec plugin wrote, and as PEM. What is accepted must be fit for use, and an
 * error must have nothing of the bytes in it: it is one of a few texts with numbers. */
#include <stdlib.h>
#include <string.h>

#include "client/auth/exec_credential.h"
#include "client/auth/pem.h"
#include "client/config/config.h"
#include "object/json/json_skip.h"

#define V1 "client.authentication.k8s.io/v1"

static void must(bool condition)
{
    if (!condition) {
        __builtin_trap();
    }
}

/* The text of the error for the same failure, whatever the bytes are. */
static void check_error(int r, const ki_error *error)
{
    static const char *const texts[] = {
        "output is not JSON: line ",
        "output is not a JSON object",
        "output: token ",
        "output: clientCertificateData ",
        "output: clientKeyData ",
        "output: expirationTimestamp ",
        "output: kind is not ExecCredential",
        "output: apiVersion is not " V1 " as configured",
        "output: status.expirationTimestamp is not a time",
        "output: certificate and key must be given together",
        "output: neither a token nor a certificate",
        "output: token has characters that are not allowed in an HTTP header",
        "output: status is missing",
    };
    bool known = false;
    must(error->code == r);
    for (size_t i = 0; !known && i < sizeof(texts) / sizeof(texts[0]); i++) {
        known = strncmp(error->message, texts[i], strlen(texts[i])) == 0;
    }
    must(known);
}

static void read_credential(ki_str bytes)
{
    char *text = calloc(1, bytes.len + KI__JSON_PADDING);
    ki__exec_credential credential;
    ki__secrets secrets;
    ki_error error = KI_ERROR_INIT;
    must(text != NULL);
    memcpy(text, bytes.ptr, bytes.len);
    ki__secrets_init(&secrets, NULL);
    int r =
        ki__exec_credential_read(ki_str_make(text, bytes.len), V1, &secrets, &credential, &error);
    free(text);
    if (r < 0) {
        check_error(r, &error);
    } else {
        must(credential.token.len != 0 || credential.certificate.len != 0);
        must((credential.certificate.len != 0) == (credential.key.len != 0));
        must(ki__config_is_header_value(credential.token));
        must(strlen(credential.token.ptr) == credential.token.len);
        must(strlen(credential.key.ptr) == credential.key.len);
    }
    ki__secrets_done(&secrets);
}

/* The bytes without anything behind them, so that reading too far is seen. */
static void read_pem(ki_str bytes)
{
    char *text = malloc(bytes.len != 0 ? bytes.len : 1);
    const char *problem = NULL;
    must(text != NULL);
    memcpy(text, bytes.ptr, bytes.len);
    ki_str whole = ki_str_make(text, bytes.len);
    int r = ki__pem_check_pair(whole, whole, NULL, &problem);
    must((r == 0) == (problem == NULL));
    problem = NULL;
    r = ki__pem_check_ca(whole, NULL, &problem);
    must((r == 0) == (problem == NULL));
    free(text);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t len)
{
    ki_str text = ki_str_make(len != 0 ? (const char *)bytes : "", len);
    read_credential(text);
    read_pem(text);
    return 0;
}
