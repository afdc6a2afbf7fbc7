/* SPDX-License-Identifier: Apache-2.0 */
/* One checker for all kinds of names, which differ in allowed characters, maximum length and
 * separator. Behaves like apimachinery's api/validate/content. */
#include "object/names.h"

#define RULE_LABEL_NAME \
    "letters, digits, '-', '_' and '.' are allowed, with a letter or digit at each end"
#define RULE_DNS_LABEL \
    "lower case letters, digits and '-' are allowed, with a letter or digit at each end"
#define RULE_DNS_SUBDOMAIN                                                                    \
    "lower case letters, digits, '-' and '.' are allowed, with a letter or digit at each end" \
    " and beside each '.'"

/* Character classes, as bits. */
enum { END = 1, MIDDLE = 2, DNS_END = 4, DNS_MIDDLE = 8 };

static unsigned int classes(char c)
{
    if ((c >= 'a' && c <= 'z') || (c >= '0' && c <= '9')) {
        return END | MIDDLE | DNS_END | DNS_MIDDLE;
    }
    if (c >= 'A' && c <= 'Z') {
        return END | MIDDLE;
    }
    if (c == '-') {
        return MIDDLE | DNS_MIDDLE;
    }
    return c == '_' || c == '.' ? MIDDLE : 0;
}

/* A kind of name. */
typedef struct kind {
    unsigned int end;    /* class of the first and last byte */
    unsigned int middle; /* class of the bytes in between */
    bool dots;           /* may consist of parts separated by '.' */
    size_t max;
    const char *rule;
    const char *rule_max;
} kind;

static const kind label_name = {
    .end = END,
    .middle = MIDDLE,
    .max = KI__LABEL_NAME_MAX,
    .rule = RULE_LABEL_NAME,
    .rule_max = "longer than 63 bytes",
};
static const kind dns_label = {
    .end = DNS_END,
    .middle = DNS_MIDDLE,
    .max = KI__DNS_LABEL_MAX,
    .rule = RULE_DNS_LABEL,
    .rule_max = "longer than 63 bytes",
};
static const kind dns_subdomain = {
    .end = DNS_END,
    .middle = DNS_MIDDLE,
    .dots = true,
    .max = KI__DNS_SUBDOMAIN_MAX,
    .rule = RULE_DNS_SUBDOMAIN,
    .rule_max = "longer than 253 bytes",
};

static bool fault(ki__names_fault *ret_fault, size_t offset, const char *rule)
{
    if (ret_fault != NULL) {
        *ret_fault = (ki__names_fault){.offset = offset, .rule = rule};
    }
    return false;
}

static bool joins(const kind *k, ki_str name, size_t i)
{
    return k->dots && name.ptr[i] == '.';
}

static bool check(const kind *k, ki_str name, ki__names_fault *ret_fault)
{
    if (name.len == 0) {
        return fault(ret_fault, 0, "at least one letter or digit is required");
    }
    for (size_t i = 0; i < name.len; i++) {
        if (i == k->max) {
            return fault(ret_fault, i, k->rule_max);
        }
        bool first = i == 0 || joins(k, name, i - 1);
        bool last = i + 1 == name.len || joins(k, name, i + 1);
        if (!first && !last && joins(k, name, i)) {
            continue;
        }
        if ((classes(name.ptr[i]) & (first || last ? k->end : k->middle)) == 0) {
            return fault(ret_fault, i, k->rule);
        }
    }
    return true;
}

bool ki__names_dns_label(ki_str name, ki__names_fault *ret_fault)
{
    return check(&dns_label, name, ret_fault);
}

bool ki__names_dns_subdomain(ki_str name, ki__names_fault *ret_fault)
{
    return check(&dns_subdomain, name, ret_fault);
}

bool ki__names_label_value(ki_str value, ki__names_fault *ret_fault)
{
    return value.len == 0 || check(&label_name, value, ret_fault);
}

bool ki__names_label_key(ki_str key, ki__names_fault *ret_fault)
{
    const char *slash = key.len != 0 ? memchr(key.ptr, '/', key.len) : NULL;
    if (slash == NULL) {
        return check(&label_name, key, ret_fault);
    }
    size_t prefix_len = (size_t)(slash - key.ptr);
    if (!check(&dns_subdomain, ki_str_make(key.ptr, prefix_len), ret_fault)) {
        return false;
    }
    size_t start = prefix_len + 1;
    ki__names_fault f;
    if (check(&label_name, ki_str_make(key.ptr + start, key.len - start), &f)) {
        return true;
    }
    size_t offset = start + f.offset;
    bool another_slash = offset < key.len && key.ptr[offset] == '/';
    return fault(ret_fault, offset, another_slash ? "only one '/' is allowed" : f.rule);
}
