/* SPDX-License-Identifier: Apache-2.0 */
/* Differences between two states of an object. */
#ifndef KI_CLI_DIFF_H
#define KI_CLI_DIFF_H

#include <kinformer/diff.h>

/** Calls `tell` for each differing field, except metadata.resourceVersion and
 *  metadata.managedFields. Paths and values are unescaped: escape them before printing. False if a
 *  limit was reached and there are more. */
bool cli_diff(const ki_object *before, const ki_object *after,
              void (*on_change)(const ki_diff_change *change, void *user), void *user);

#endif
