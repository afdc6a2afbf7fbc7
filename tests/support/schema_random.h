/* SPDX-License-Identifier: Apache-2.0 */
/* Random objects of a custom resource that are valid by its schema. */
#ifndef TESTS_SUPPORT_SCHEMA_RANDOM_H
#define TESTS_SUPPORT_SCHEMA_RANDOM_H

#include <kinformer/json.h>

#include "apiserver/validate/structural.h"

/** Appends a random value of a schema node to a writer. It is valid, except that rules which refer
 *  to several values (oneOf and the like) are not considered. */
void schema_random_value(ki_json *json, const ki__structural *schema, uint32_t node,
                         uint64_t *state);

/** Creates a random object of a kind that is valid, by the check of the embedded API server. */
ki_object *schema_random_object(const ki__structural *schema, const char *api_version,
                                const char *kind, uint64_t *state);

#endif
