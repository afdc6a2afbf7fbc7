/* SPDX-License-Identifier: Apache-2.0 */
/* What the programs of the end-to-end tests share. */
#ifndef TESTS_E2E_TELLING_H
#define TESTS_E2E_TELLING_H

#include <kinformer/kinformer.h>

/** Every record as a line with its time on standard error. */
extern const ki_log telling_log;

/** The resource that "v1/pods", "apps/v1/deployments" or "example.com/v1/widgets/Widget" means; to
 *  be released. -EINVAL: none. */
int telling_resource(const char *name, const ki_resource **ret_resource, ki_error *error);

#endif
