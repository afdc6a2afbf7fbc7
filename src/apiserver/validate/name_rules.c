/* SPDX-License-Identifier: Apache-2.0 */
#include "apiserver/validate/name_rules.h"

#include "object/names.h"

#define LABEL_FMT "[a-z0-9]([-a-z0-9]*[a-z0-9])?"
#define SUBDOMAIN_FMT LABEL_FMT "(\\." LABEL_FMT ")*"
#define PART_FMT "([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]"
#define PART_TEXT                                                                             \
    "must consist of alphanumeric characters, '-', '_' or '.', and must start and end with "  \
    "an alphanumeric character (e.g. 'MyName',  or 'my.name',  or '123-abc', regex used for " \
    "validation is '" PART_FMT "')"
#define SUBDOMAIN_TEXT                                                                        \
    "a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '-' " \
    "or '.', and must start and end with an alphanumeric character (e.g. 'example.com', "     \
    "regex used for validation is '" SUBDOMAIN_FMT "')"
#define LABEL_TEXT                                                                           \
    "a lowercase RFC 1123 label must consist of lower case alphanumeric characters or '-', " \
    "and must start and end with an alphanumeric character (e.g. 'my-name',  or '123-abc', " \
    "regex used for validation is '" LABEL_FMT "')"
#define LABEL_1035_TEXT                                                                       \
    "a DNS-1035 label must consist of lower case alphanumeric characters or '-', start with " \
    "an alphabetic character, and end with an alphanumeric character (e.g. 'my-name',  or "   \
    "'abc-123', regex used for validation is '[a-z]([-a-z0-9]*[a-z0-9])?')"
#define LABEL_VALUE_TEXT                                                                     \
    "a valid label must be an empty string or consist of alphanumeric characters, '-', '_' " \
    "or '.', and must start and end with an alphanumeric character (e.g. 'MyValue',  or "    \
    "'my_value',  or '12345', regex used for validation is '(" PART_FMT ")?')"
#define MAX_63 "must be no more than 63 "
#define MAX_253 "must be no more than 253 "

/* Built-in resources whose names are not DNS subdomains. */
static const struct {
    const char *group;
    const char *resource; /* NULL: all resources of the group */
    ki__name_rule rule;
} exceptions[] = {
    {"", "namespaces", KI__NAME_LABEL},
    {"", "services", KI__NAME_LABEL}, /* RFC 1035 before Kubernetes 1.36 */
    {"apps", "statefulsets", KI__NAME_LABEL},
    {"rbac.authorization.k8s.io", NULL, KI__NAME_PATH},
    {"policy", NULL, KI__NAME_PATH},
    {"apiregistration.k8s.io", NULL, KI__NAME_PATH},
    {"apiextensions.k8s.io", NULL, KI__NAME_PATH}, /* compared with spec.names instead */
    {"certificates.k8s.io", "clustertrustbundles", KI__NAME_PATH},
    {"networking.k8s.io", "ipaddresses", KI__NAME_PATH},
    {"internal.apiserver.k8s.io", NULL, KI__NAME_PATH},
};

ki__name_rule ki__name_rule_of(const ki__api_type *type)
{
    const char *group = ki_resource_group(type->resource);
    const char *name = ki_resource_name(type->resource);
    for (size_t i = 0; type->builtin && i < sizeof(exceptions) / sizeof(exceptions[0]); i++) {
        if (strcmp(exceptions[i].group, group) == 0 &&
            (exceptions[i].resource == NULL || strcmp(exceptions[i].resource, name) == 0)) {
            return exceptions[i].rule;
        }
    }
    return KI__NAME_SUBDOMAIN;
}

/* ---- characters ---- */

static bool is_lower(char c)
{
    return c >= 'a' && c <= 'z';
}

static bool is_lower_or_digit(char c)
{
    return is_lower(c) || (c >= '0' && c <= '9');
}

static bool is_alphanumeric(char c)
{
    return is_lower_or_digit(c) || (c >= 'A' && c <= 'Z');
}

static bool matches_label(ki_str name)
{
    if (name.len == 0 || !is_lower_or_digit(name.ptr[0]) ||
        !is_lower_or_digit(name.ptr[name.len - 1])) {
        return false;
    }
    for (size_t i = 0; i < name.len; i++) {
        if (!is_lower_or_digit(name.ptr[i]) && name.ptr[i] != '-') {
            return false;
        }
    }
    return true;
}

static bool matches_subdomain(ki_str name)
{
    size_t start = 0;
    for (size_t i = 0; i <= name.len; i++) {
        if (i == name.len || name.ptr[i] == '.') {
            if (!matches_label(ki_str_make(name.ptr + start, i - start))) {
                return false;
            }
            start = i + 1;
        }
    }
    return true;
}

/* Whether it has the characters of the name part of a qualified name; length is not checked. */
static bool matches_part(ki_str name)
{
    if (name.len == 0 || !is_alphanumeric(name.ptr[0]) ||
        !is_alphanumeric(name.ptr[name.len - 1])) {
        return false;
    }
    for (size_t i = 0; i < name.len; i++) {
        char c = name.ptr[i];
        if (!is_alphanumeric(c) && c != '-' && c != '_' && c != '.') {
            return false;
        }
    }
    return true;
}

bool ki__name_matches(ki__name_rule rule, ki_str name)
{
    switch (rule) {
    case KI__NAME_SUBDOMAIN:
        return matches_subdomain(name);
    case KI__NAME_LABEL:
        return matches_label(name);
    case KI__NAME_1035_LABEL:
        return matches_label(name) && is_lower(name.ptr[0]);
    case KI__NAME_PATH:
        break;
    }
    return true;
}

/* ---- errors ---- */

static int add(ki__invalid *errors, const char *field, ki_str value, const char *detail)
{
    return ki__invalid_add_text(errors, KI__INVALID_VALUE, field, value, detail);
}

static int check_path(ki_str name, bool prefix, const char *field, ki__invalid *errors)
{
    if (!prefix && ki_str_eq_text(name, ".")) {
        return add(errors, field, name, "may not be '.'");
    }
    if (!prefix && ki_str_eq_text(name, "..")) {
        return add(errors, field, name, "may not be '..'");
    }
    int r = 0;
    if (name.len != 0 && memchr(name.ptr, '/', name.len) != NULL) {
        r = add(errors, field, name, "may not contain '/'");
    }
    if (r == 0 && name.len != 0 && memchr(name.ptr, '%', name.len) != NULL) {
        r = add(errors, field, name, "may not contain '%'");
    }
    return r;
}

static int check_dns(ki__name_rule rule, ki_str name, ki_str shown, const char *field,
                     ki__invalid *errors)
{
    bool subdomain = rule == KI__NAME_SUBDOMAIN;
    int r = 0;
    if (name.len > (subdomain ? (size_t)KI__DNS_SUBDOMAIN_MAX : (size_t)KI__DNS_LABEL_MAX)) {
        r = add(errors, field, shown, subdomain ? MAX_253 "characters" : MAX_63 "characters");
    }
    if (r < 0 || ki__name_matches(rule, name)) {
        return r;
    }
    bool dots = rule == KI__NAME_LABEL && matches_subdomain(name);
    return add(errors, field, shown,
               subdomain                     ? SUBDOMAIN_TEXT
               : dots                        ? "must not contain dots"
               : rule == KI__NAME_1035_LABEL ? LABEL_1035_TEXT
                                             : LABEL_TEXT);
}

int ki__name_check(ki__name_rule rule, ki_str name, bool prefix, const char *field,
                   ki__invalid *errors)
{
    if (rule == KI__NAME_PATH) {
        return check_path(name, prefix, field, errors);
    }
    if (!prefix || name.len < 2 || name.ptr[name.len - 1] != '-') {
        return check_dns(rule, name, name, field, errors);
    }
    /* A prefix may end with a dash: as in kube-apiserver, the last two characters count as one
     * letter. */
    ki_buf masked;
    ki_buf_init(&masked, errors->alloc, name.len);
    int r = ki_buf_add(&masked, name.ptr, name.len - 2);
    r = r < 0 ? r : ki_buf_add_char(&masked, 'a');
    r = r < 0 ? r : check_dns(rule, ki_buf_str(&masked), name, field, errors);
    ki_buf_done(&masked);
    return r;
}

static int check_prefix(ki_str prefix, ki_str value, const char *field, ki__invalid *errors)
{
    if (prefix.len == 0) {
        return add(errors, field, value, "prefix part must be non-empty");
    }
    int r = 0;
    if (prefix.len > KI__DNS_SUBDOMAIN_MAX) {
        r = add(errors, field, value, "prefix part " MAX_253 "bytes");
    }
    if (r == 0 && !matches_subdomain(prefix)) {
        r = add(errors, field, value, "prefix part " SUBDOMAIN_TEXT);
    }
    return r;
}

int ki__name_check_key(ki_str key, ki_str value, const char *field, ki__invalid *errors)
{
    const char *slash = key.len != 0 ? memchr(key.ptr, '/', key.len) : NULL;
    ki_str name = key;
    int r = 0;
    if (slash != NULL) {
        size_t prefix = (size_t)(slash - key.ptr);
        name = ki_str_make(slash + 1, key.len - prefix - 1);
        if (name.len != 0 && memchr(name.ptr, '/', name.len) != NULL) {
            return add(errors, field, value,
                       "a valid label key " PART_TEXT " with an optional DNS subdomain prefix and "
                       "'/' (e.g. 'example.com/MyName')");
        }
        r = check_prefix(ki_str_make(key.ptr, prefix), value, field, errors);
    }
    if (r == 0 && name.len == 0) {
        r = add(errors, field, value, "name part must be non-empty");
    }
    if (r == 0 && name.len > KI__LABEL_NAME_MAX) {
        r = add(errors, field, value, "name part " MAX_63 "bytes");
    }
    if (r == 0 && !matches_part(name)) {
        r = add(errors, field, value, "name part " PART_TEXT);
    }
    return r;
}

int ki__name_check_label_value(ki_str value, const char *field, ki__invalid *errors)
{
    int r = 0;
    if (value.len > KI__LABEL_VALUE_MAX) {
        r = add(errors, field, value, MAX_63 "bytes");
    }
    if (r == 0 && value.len != 0 && !matches_part(value)) {
        r = add(errors, field, value, LABEL_VALUE_TEXT);
    }
    return r;
}
