/* SPDX-License-Identifier: Apache-2.0 */
/* The rules for names, keys and values of metadata, with what a real server says of those that
 * break them. object/names.h knows the same rules for readers; here each broken rule is an error.
 */
#ifndef KI_APISERVER_VALIDATE_NAME_RULES_H
#define KI_APISERVER_VALIDATE_NAME_RULES_H

#include "apiserver/validate/invalid.h"

typedef enum ki__name_rule {
    KI__NAME_SUBDOMAIN,  /* of DNS, RFC 1123 */
    KI__NAME_LABEL,      /* of DNS, RFC 1123 */
    KI__NAME_1035_LABEL, /* of DNS, RFC 1035: begins with a letter */
    KI__NAME_PATH,       /* whatever can be one segment of a path */
} ki__name_rule;

/** The rule for the names of a resource. */
ki__name_rule ki__name_rule_of(const ki__api_type *type);

/** Adds an error for each rule that a name breaks. `prefix`: more will be appended to it. */
int ki__name_check(ki__name_rule rule, ki_str name, bool prefix, const char *field,
                   ki__invalid *errors);

/** The same for a key of labels, or another qualified name. `value` is what is shown. */
int ki__name_check_key(ki_str key, ki_str value, const char *field, ki__invalid *errors);

/** The same for the value of a label. */
int ki__name_check_label_value(ki_str value, const char *field, ki__invalid *errors);

/** Whether the text has the characters of a name by a rule, whatever its length. */
bool ki__name_matches(ki__name_rule rule, ki_str name);

#endif
