/* SPDX-License-Identifier: Apache-2.0 */
/* The syntax of Kubernetes names. Each check reports the position and the violated rule, so that
 * callers can point at it. */
#ifndef KI_OBJECT_NAMES_H
#define KI_OBJECT_NAMES_H

#include <kinformer/str.h>

enum {
    KI__LABEL_VALUE_MAX = 63,
    KI__LABEL_NAME_MAX = 63,    /* of a key, without the prefix */
    KI__DNS_LABEL_MAX = 63,     /* RFC 1123 */
    KI__DNS_SUBDOMAIN_MAX = 253 /* RFC 1123 */
};
/* The longest label key: prefix, slash and name. */
enum { KI__LABEL_KEY_MAX = KI__DNS_SUBDOMAIN_MAX + 1 + KI__LABEL_NAME_MAX };

/** Why a name is invalid. */
typedef struct ki__names_fault {
    size_t offset;    /* of the first invalid byte; the length if something is missing */
    const char *rule; /* the violated rule; static string */
} ki__names_fault;

/* Whether the name is valid. If not, *ret_fault, which may be NULL, is set. */

/** A label key: a name, or a DNS subdomain, '/' and a name. */
bool ki__names_label_key(ki_str key, ki__names_fault *ret_fault);

/** A label value: empty, or letters, digits, '-', '_' and '.', starting and ending with a letter or
 *  digit. */
bool ki__names_label_value(ki_str value, ki__names_fault *ret_fault);

/** An RFC 1123 label: lower case letters, digits and '-', starting and ending with a letter or
 *  digit. */
bool ki__names_dns_label(ki_str name, ki__names_fault *ret_fault);

/** An RFC 1123 subdomain: labels separated by '.'. Only the total length is limited. */
bool ki__names_dns_subdomain(ki_str name, ki__names_fault *ret_fault);

#endif
