/* SPDX-License-Identifier: Apache-2.0 */
/* Encodes and decodes ExecCredential objects. Invariant: no byte of a plugin's output gets into an
 * error; all of it may be secret. */
#include "client/auth/exec_credential.h"

#include <errno.h>
#include <string.h>

#include "base/error.h"
#include "client/config/config.h"
#include "object/edit/json_out.h"
#include "object/json/json_scan.h"
#include "object/json/json_skip.h"
#include "object/json/json_value.h"
#include "object/json/json_write.h"
#include "object/text/base64.h"
#include "object/text/rfc3339.h"

enum { DEPTH_MAX = 64, NAMES_BYTES = 512 };

/* ---- input ---- */

static void put_member(ki__out *out, const char *name, ki_str value)
{
    if (value.len != 0) {
        ki__put_member_str(out, name, value);
    }
}

static void put_server(ki__out *out, const ki_config *config)
{
    ki_buf url;
    ki_buf_init(&url, out->buf->alloc, out->buf->max);
    ki__out text = ki__out_to(&url);
    ki__out_texts(&text, ki_config_server(config), ki_config_path_prefix(config), NULL);
    ki__out_fail(out, text.error);
    ki__put_member_str(out, "server", ki_buf_str(&url));
    ki_buf_done(&url);
}

static void put_ca(ki__out *out, ki_str ca)
{
    if (ca.len != 0) {
        ki__put_name(out, "certificate-authority-data");
        ki__out_char(out, '"');
        ki__out_base64(out, ca);
        ki__out_char(out, '"');
    }
}

static void put_cluster(ki__out *out, const ki__exec_info *info)
{
    const ki_config *config = info->cluster;
    const ki_config_tls *tls = ki_config_get_tls(config);
    const ki_config_exec *exec = ki_config_get_exec(config);
    ki__put_name(out, "cluster");
    ki__put_map(out);
    put_server(out, config);
    put_member(out, "tls-server-name", ki_str_from(tls->server_name));
    if (tls->insecure) {
        ki__put_name(out, "insecure-skip-tls-verify");
        ki__put_bool(out, true);
    }
    put_ca(out, info->ca);
    put_member(out, "proxy-url", ki_config_proxy_url(config));
    if (ki_config_disable_compression(config)) {
        ki__put_name(out, "disable-compression");
        ki__put_bool(out, true);
    }
    if (exec != NULL && exec->cluster_config.len != 0) {
        ki__put_name(out, "config");
        ki__put_json(out, exec->cluster_config);
    }
    ki__put_end(out);
}

/* An escaped character takes at most six bytes. */
int ki__exec_info_reserve(const ki__exec_info *info, size_t more, ki_buf *out)
{
    char *room;
    size_t plain = more + NAMES_BYTES + strlen(info->api_version);
    size_t escaped = 0;
    if (info->cluster != NULL) {
        const ki_config_exec *exec = ki_config_get_exec(info->cluster);
        plain += ki__base64_length(info->ca.len) + (exec != NULL ? exec->cluster_config.len : 0);
        escaped = strlen(ki_config_server(info->cluster)) +
                  strlen(ki_config_path_prefix(info->cluster)) +
                  strlen(ki_config_get_tls(info->cluster)->server_name) +
                  ki_config_proxy_url(info->cluster).len;
    }
    int r = ki_buf_reserve(out, plain + escaped * 6, &room);
    if (r == 0) {
        ki_buf_commit(out, 0);
    }
    return r;
}

int ki__exec_info_write(const ki__exec_info *info, ki_buf *buf)
{
    ki__out out = ki__out_to(buf);
    ki__out_fail(&out, ki__exec_info_reserve(info, 0, buf));
    ki__put_map(&out);
    ki__put_member(&out, "kind", "ExecCredential");
    ki__put_member(&out, "apiVersion", info->api_version);
    ki__put_name(&out, "spec");
    ki__put_map(&out);
    if (info->cluster != NULL) {
        put_cluster(&out, info);
    }
    ki__put_name(&out, "interactive");
    ki__put_bool(&out, info->interactive);
    ki__put_end(&out);
    ki__put_end(&out);
    return out.error;
}

/* ---- output ---- */

static int fail(ki_error *error, int code, const char *text)
{
    return ki__error_set(error, code, "%s", text);
}

/* Parses the text as a map. */
static int read_root(ki_str output, ki_value *ret_root, ki_error *error)
{
    ki_error failure = KI_ERROR_INIT;
    int r = ki__json_check(output, DEPTH_MAX, &failure);
    if (r < 0) {
        return ki__error_set(error, r, "output is not JSON: line %u, column %u",
                             (unsigned)failure.line, (unsigned)failure.column);
    }
    const char *start = ki__json_skip_space(output.ptr);
    *ret_root = ki__json_value_at(start, output.ptr + output.len);
    return ki_value_type(ret_root) == KI_TYPE_MAP
               ? 0
               : fail(error, KI_ERR_TYPE, "output is not a JSON object");
}

/* A string; "" if absent or null. Must not contain NUL, since it becomes a C string later. */
static int read_text(const ki_value *map, const char *name, ki__secrets *secrets, ki_str *ret_text,
                     ki_error *error)
{
    ki_value value = ki__value_child(map, name);
    ki_type type = ki_value_type(&value);
    if (type == KI_TYPE_NONE || type == KI_TYPE_NULL) {
        *ret_text = ki_str_make("", 0);
        return 0;
    }
    if (type != KI_TYPE_STRING) {
        return ki__error_set(error, KI_ERR_TYPE, "output: %s is not a string", name);
    }
    size_t len = ki__json_value_ops.decode(&value, NULL, 0);
    char *text = ki__secrets_take(secrets, len + 1);
    if (text == NULL) {
        return ki__error_code(error, -ENOMEM);
    }
    (void)ki__json_value_ops.decode(&value, text, len);
    if (memchr(text, '\0', len) != NULL) {
        return ki__error_set(error, KI_ERR_INVALID, "output: %s contains NUL", name);
    }
    *ret_text = ki_str_make(text, len);
    return 0;
}

static int check_version(const ki_value *root, const char *api_version, ki_error *error)
{
    ki_value version = ki__value_child(root, "apiVersion");
    ki_value kind = ki__value_child(root, "kind");
    if (!ki_value_equals(&kind, ki_str_from("ExecCredential"))) {
        return fail(error, KI_ERR_INVALID, "output: kind is not ExecCredential");
    }
    if (!ki_value_equals(&version, ki_str_from(api_version))) {
        return ki__error_set(error, KI_ERR_INVALID, "output: apiVersion is not %s as configured",
                             api_version);
    }
    return 0;
}

static int read_expiry(const ki_value *status, ki__secrets *secrets,
                       ki__exec_credential *credential, ki_error *error)
{
    ki_value value = ki__value_child(status, "expirationTimestamp");
    ki_type type = ki_value_type(&value);
    ki_str text;
    if (type == KI_TYPE_NONE || type == KI_TYPE_NULL) {
        return 0;
    }
    int r = read_text(status, "expirationTimestamp", secrets, &text, error);
    if (r < 0) {
        return r;
    }
    credential->expires = true;
    r = ki__rfc3339_read(text, &credential->expires_at);
    return r < 0 ? fail(error, r, "output: status.expirationTimestamp is not a time") : 0;
}

static int check_parts(const ki__exec_credential *credential, ki_error *error)
{
    if ((credential->certificate.len != 0) != (credential->key.len != 0)) {
        return fail(error, KI_ERR_INVALID, "output: certificate and key must be given together");
    }
    if (credential->token.len == 0 && credential->certificate.len == 0) {
        return fail(error, KI_ERR_INVALID, "output: neither a token nor a certificate");
    }
    if (!ki__config_is_header_value(credential->token)) {
        return fail(error, KI_ERR_INVALID,
                    "output: token has characters that are not allowed in an HTTP header");
    }
    return 0;
}

int ki__exec_credential_read(ki_str output, const char *api_version, ki__secrets *secrets,
                             ki__exec_credential *ret_credential, ki_error *error)
{
    ki__exec_credential credential = {0};
    ki_value root;
    int r = read_root(output, &root, error);
    if (r == 0) {
        r = check_version(&root, api_version, error);
    }
    if (r < 0) {
        return r;
    }
    ki_value status = ki__value_child(&root, "status");
    if (ki_value_type(&status) != KI_TYPE_MAP) {
        return fail(error, KI_ERR_INVALID, "output: status is missing");
    }
    r = read_text(&status, "token", secrets, &credential.token, error);
    if (r == 0) {
        r = read_text(&status, "clientCertificateData", secrets, &credential.certificate, error);
    }
    if (r == 0) {
        r = read_text(&status, "clientKeyData", secrets, &credential.key, error);
    }
    if (r == 0) {
        r = read_expiry(&status, secrets, &credential, error);
    }
    if (r == 0) {
        r = check_parts(&credential, error);
    }
    if (r == 0) {
        *ret_credential = credential;
    }
    return r;
}
