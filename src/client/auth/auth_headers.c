/* SPDX-License-Identifier: Apache-2.0 */
/* Authorization headers of a configuration: basic or bearer, and impersonation. Invariant: every
 * value is validated, and secrets are in memory that is wiped. */
#include "client/auth/auth_headers.h"

#include <errno.h>
#include <string.h>

#include "base/error.h"
#include "client/config/config.h"
#include "object/text/base64.h"

static const char BEARER[] = "Bearer ";
static const char BASIC[] = "Basic ";
static const char EXTRA[] = "Impersonate-Extra-";

int ki__auth_bearer(ki__secrets *secrets, ki_str token, ki_str *ret_value)
{
    const size_t prefix = sizeof(BEARER) - 1;
    if (token.len == 0 || token.len > SIZE_MAX / 2 || !ki__config_is_header_value(token)) {
        return KI_ERR_INVALID;
    }
    char *value = ki__secrets_take(secrets, prefix + token.len + 1);
    if (value == NULL) {
        return -ENOMEM;
    }
    memcpy(value, BEARER, prefix);
    memcpy(value + prefix, token.ptr, token.len);
    *ret_value = ki_str_make(value, prefix + token.len);
    return 0;
}

static int make_basic(ki__auth_headers *headers, const ki_config_credentials *credentials)
{
    const size_t prefix = sizeof(BASIC) - 1;
    ki_str user = ki_str_from(credentials->username);
    ki_str password = credentials->password;
    if (password.len > SIZE_MAX / 4 || user.len > SIZE_MAX / 4) {
        return KI_ERR_LIMIT;
    }
    size_t len = user.len + 1 + password.len;
    size_t whole = prefix + ki__base64_length(len);
    char *plain = ki__secrets_take(&headers->secrets, len);
    char *value = ki__secrets_take(&headers->secrets, whole + 1);
    if (plain == NULL || value == NULL) {
        return -ENOMEM;
    }
    memcpy(plain, user.ptr, user.len);
    plain[user.len] = ':';
    if (password.len != 0) {
        memcpy(plain + user.len + 1, password.ptr, password.len);
    }
    memcpy(value, BASIC, prefix);
    (void)ki__base64_encode(ki_str_make(plain, len), value + prefix, whole - prefix);
    headers->authorization = ki_str_make(value, whole);
    return 0;
}

static int make_authorization(ki__auth_headers *headers, const ki_config *config, ki_error *error)
{
    const ki_config_credentials *credentials = ki_config_get_credentials(config);
    int r = 0;
    if (credentials->username[0] != '\0') {
        r = make_basic(headers, credentials);
    } else if (credentials->token.len != 0) {
        r = ki__auth_bearer(&headers->secrets, credentials->token, &headers->authorization);
    }
    return r == KI_ERR_INVALID
               ? ki__error_set(error, r, "token: characters that are not allowed in an HTTP header")
           : r < 0 ? ki__error_code(error, r)
                   : 0;
}

/* ---- impersonation ---- */

/* Characters of a header name, except '%', which starts an escape here. */
static bool is_plain(char c)
{
    static const char marks[] = "!#$&'*+-.^_`|~";
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
           (c != '\0' && strchr(marks, c) != NULL);
}

/* The key as part of a header name, with other bytes percent-encoded as in client-go. */
static char *extra_name(ki__auth_headers *headers, const char *key)
{
    static const char digits[] = "0123456789ABCDEF";
    size_t len = sizeof(EXTRA) - 1;
    size_t key_len = strlen(key);
    char *name =
        key_len < SIZE_MAX / 8 ? ki__secrets_take(&headers->secrets, len + key_len * 3 + 1) : NULL;
    if (name == NULL) {
        return NULL;
    }
    memcpy(name, EXTRA, len);
    for (size_t i = 0; i < key_len; i++) {
        unsigned char c = (unsigned char)key[i];
        if (is_plain(key[i])) {
            name[len++] = key[i];
        } else {
            name[len++] = '%';
            name[len++] = digits[c >> 4];
            name[len++] = digits[c & 15];
        }
    }
    name[len] = '\0';
    return name;
}

static size_t count_headers(const ki_config_impersonation *who)
{
    size_t count = 2 + who->group_count;
    for (size_t i = 0; i < who->extra_count; i++) {
        count += who->extra[i].value_count;
    }
    return count;
}

/* Space was reserved. */
static int add(ki__auth_headers *headers, const char *name, const char *text, ki_error *error)
{
    ki_str value = ki_str_from(text);
    if (!ki__config_is_header_value(value)) {
        return ki__error_set(error, KI_ERR_INVALID,
                             "impersonation: control characters are not allowed in an HTTP header");
    }
    char *copy = ki__secrets_copy(&headers->secrets, value);
    if (copy == NULL) {
        return ki__error_code(error, -ENOMEM);
    }
    headers->list[headers->count++] =
        (ki__auth_header){.name = name, .value = ki_str_make(copy, value.len)};
    return 0;
}

static int add_extra(ki__auth_headers *headers, const ki_config_extra *extra, ki_error *error)
{
    const char *name = extra_name(headers, extra->key);
    int r = name != NULL ? 0 : ki__error_code(error, -ENOMEM);
    for (size_t i = 0; r == 0 && i < extra->value_count; i++) {
        r = add(headers, name, extra->values[i], error);
    }
    return r;
}

static int make_impersonation(ki__auth_headers *headers, const ki_config_impersonation *who,
                              ki_error *error)
{
    if (who->user[0] == '\0') {
        return 0;
    }
    headers->list =
        ki__secrets_take_array(&headers->secrets, count_headers(who), sizeof(*headers->list));
    if (headers->list == NULL) {
        return ki__error_code(error, -ENOMEM);
    }
    int r = add(headers, "Impersonate-User", who->user, error);
    if (r == 0 && who->uid[0] != '\0') {
        r = add(headers, "Impersonate-Uid", who->uid, error);
    }
    for (size_t i = 0; r == 0 && i < who->group_count; i++) {
        r = add(headers, "Impersonate-Group", who->groups[i], error);
    }
    for (size_t i = 0; r == 0 && i < who->extra_count; i++) {
        r = add_extra(headers, &who->extra[i], error);
    }
    return r;
}

int ki__auth_headers_init(ki__auth_headers *headers, const ki_alloc *alloc, const ki_config *config,
                          ki_error *error)
{
    *headers = (ki__auth_headers){0};
    ki__secrets_init(&headers->secrets, alloc);
    int r = make_authorization(headers, config, error);
    return r < 0 ? r : make_impersonation(headers, ki_config_get_impersonation(config), error);
}

void ki__auth_headers_done(ki__auth_headers *headers)
{
    ki__secrets_done(&headers->secrets);
    *headers = (ki__auth_headers){0};
}
