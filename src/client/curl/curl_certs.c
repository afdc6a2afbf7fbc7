/* SPDX-License-Identifier: Apache-2.0 */
/* Sets of certificates. Invariant: secrets are wiped before their memory is freed, on every
 * path. */
#include <errno.h>
#include <string.h>

#include "base/alloc.h"
#include "base/error.h"
#include "client/curl/curl_state.h"

enum { PEM_MAX = 4 << 20, PATH_TEXT_MAX = 4096, NAME_MAX_BYTES = 255 };

void ki__curl_wipe(ki_buf *buf)
{
    if (buf->data != NULL) {
        explicit_bzero(buf->data, buf->cap);
    }
    ki_buf_done(buf);
}

ki__curl_certs *ki__curl_certs_ref(ki__curl_certs *certs)
{
    ki__refs_take(&certs->refs);
    return certs;
}

void ki__curl_certs_unref(ki__curl_certs *certs)
{
    if (certs == NULL || !ki__refs_drop(&certs->refs)) {
        return;
    }
    ki__curl_wipe(&certs->key);
    ki_buf_done(&certs->ca);
    ki_buf_done(&certs->certificate);
    ki_buf_done(&certs->ca_file);
    ki_buf_done(&certs->server_name);
    ki__free(certs->alloc, certs);
}

/* In one allocation, so that growing leaves no copy behind. */
static int copy_whole(ki_buf *buf, ki_str bytes)
{
    char *room;
    if (bytes.len == 0) {
        return 0;
    }
    int r = ki_buf_reserve(buf, bytes.len, &room);
    if (r < 0) {
        return r;
    }
    memcpy(room, bytes.ptr, bytes.len);
    ki_buf_commit(buf, bytes.len);
    return 0;
}

static bool is_server_name(const char *name)
{
    size_t len = strlen(name);
    bool good = len != 0 && len <= NAME_MAX_BYTES;
    for (size_t i = 0; good && i < len; i++) {
        char c = name[i];
        good = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
               c == '.' || c == '-' || c == '_' || c == ':';
    }
    return good;
}

static int check(const ki__curl_tls *tls, bool https, ki_error *error)
{
    bool has_ca = tls->ca.len != 0 || tls->ca_file != NULL;
    bool any = has_ca || tls->certificate.len != 0 || tls->key.len != 0 || tls->insecure;
    if (!https && any) {
        return ki__error_set(error, KI_ERR_INVALID, "TLS options require an https server URL");
    }
    if (tls->insecure && has_ca) {
        return ki__error_set(error, KI_ERR_INVALID,
                             "CA and insecure (skip verification) are mutually exclusive");
    }
    if ((tls->certificate.len != 0) != (tls->key.len != 0)) {
        return ki__error_set(error, KI_ERR_INVALID,
                             "client certificate and client key must be given together");
    }
    if (tls->server_name != NULL && !is_server_name(tls->server_name)) {
        return ki__error_set(error, KI_ERR_INVALID, "TLS server name: not a valid host name");
    }
    return 0;
}

static int copy(ki__curl_certs *certs, const ki__curl_tls *tls)
{
    int r = copy_whole(&certs->ca, tls->ca);
    if (r == 0) {
        r = copy_whole(&certs->certificate, tls->certificate);
    }
    if (r == 0) {
        r = copy_whole(&certs->key, tls->key);
    }
    if (r == 0 && tls->ca.len == 0) {
        r = ki_buf_add_text(&certs->ca_file, tls->ca_file);
    }
    if (r == 0) {
        r = ki_buf_add_text(&certs->server_name, tls->server_name);
    }
    return r;
}

int ki__curl_certs_new(const ki_alloc *alloc, const ki__curl_tls *tls, bool https,
                       ki__curl_certs **ret_certs, ki_error *error)
{
    int r = check(tls, https, error);
    if (r < 0) {
        return r;
    }
    ki__curl_certs *certs = ki__alloc_zero(alloc, sizeof(*certs));
    if (certs == NULL) {
        return ki__error_code(error, -ENOMEM);
    }
    ki__refs_init(&certs->refs);
    certs->alloc = alloc;
    certs->insecure = tls->insecure;
    ki_buf_init(&certs->ca, alloc, PEM_MAX);
    ki_buf_init(&certs->certificate, alloc, PEM_MAX);
    ki_buf_init(&certs->key, alloc, PEM_MAX);
    ki_buf_init(&certs->ca_file, alloc, PATH_TEXT_MAX);
    ki_buf_init(&certs->server_name, alloc, NAME_MAX_BYTES);
    r = copy(certs, tls);
    if (r < 0) {
        ki__curl_certs_unref(certs);
        return ki__error_set(error, r, "cannot store the certificates: %s", ki_error_text(r));
    }
    *ret_certs = certs;
    return 0;
}
