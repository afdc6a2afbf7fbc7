/* SPDX-License-Identifier: Apache-2.0 */
/* Rules for names, keys and values of metadata, with kube-apiserver's error messages.
 * object/names.h implements the same rules for clients; here each violation is a separate error. */
#ifndef KI_APISERVER_VALIDATE_NAME_RULES_H
#define KI_APISERVER_VALIDATE_NAME_RULES_H

#include "apiserver/validate/invalid.h"

typedef enum ki__name_rule {
    KI__NAME_SUBDOMAIN,  /* DNS subdomain, RFC 1123 */
    KI__NAME_LABEL,      /* DNS label, RFC 1123 */
    KI__NAME_1035_LABEL, /* DNS label, RFC 1035: begins with a letter */
    KI__NAME_PATH,       /* any valid path segment */
} ki__name_rule;

/** The rule for names of a resource. */
ki__name_rule ki__name_rule_of(const ki__api_type *type);

/** Adds an error for each violation in a name. `prefix`: a suffix will be appended to it. */
int ki__name_check(ki__name_rule rule, ki_str name, bool prefix, const char *field,
                   ki__invalid *errors);

/** The same for a label key, or another qualified name. `value` is printed. */
int ki__name_check_key(ki_str key, ki_str value, const char *field, ki__invalid *errors);

/** The same for a label value. */
int ki__name_check_label_value(ki_str value, const char *field, ki__invalid *errors);

/** Whether the text has valid characters for a rule; length is not checked. */
bool ki__name_matches(ki__name_rule rule, ki_str name);

#endif
