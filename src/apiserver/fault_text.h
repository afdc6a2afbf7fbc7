/* SPDX-License-Identifier: Apache-2.0 */
/* Fault rules as text, for command lines: "status=500,verb=list,rate=10%; cut=1000".
 * <kinformer/apiserver.h> describes the syntax. */
#ifndef KI_APISERVER_FAULT_TEXT_H
#define KI_APISERVER_FAULT_TEXT_H

#include <kinformer/alloc.h>
#include <kinformer/error.h>
#include <kinformer/str.h>

#include "apiserver/fault.h"

enum { KI__API_RULES_MAX = 64, KI__API_FAULT_TEXT_MAX = 16384 };

typedef struct ki__api_fault_set {
    ki__api_rules rules;
    uint64_t lag_ns; /* of the whole server */
    const ki_alloc *alloc;
    char *text;  /* verbatim */
    char *names; /* a copy that the rules point into */
} ki__api_fault_set;

/** Parses rules. Release with ki__api_fault_set_done() on success.
 *  Errors: KI_ERR_INVALID  with the offset in `error`;  KI_ERR_LIMIT, -ENOMEM. */
int ki__api_fault_set_read(ki_str text, uint64_t seed, const ki_alloc *alloc,
                           ki__api_fault_set *ret_set, ki_error *error);

/** A zeroed set is allowed. */
void ki__api_fault_set_done(ki__api_fault_set *set);

#endif
