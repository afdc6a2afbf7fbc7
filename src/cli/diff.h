/* SPDX-License-Identifier: Apache-2.0 */
/* Which fields differ between two states of an object. */
#ifndef KI_CLI_DIFF_H
#define KI_CLI_DIFF_H

#include <kinformer/diff.h>

/** Calls `tell` for each difference. metadata.resourceVersion and metadata.managedFields are left
 *  out. Paths and values have what the object has in them: they are not fit to be shown as they
 *  are. False if it stopped at a limit: there are more. */
bool cli_diff(const ki_object *before, const ki_object *after,
              void (*tell)(const ki_diff_change *change, void *user), void *user);

#endif
