/* SPDX-License-Identifier: Apache-2.0 */
/* Which fields differ between two states of an object. */
#ifndef KI_CLI_DIFF_H
#define KI_CLI_DIFF_H

#include <kinformer/str.h>
#include <kinformer/value.h>

/** One field: where it is, such as spec.containers[name=main].image, and its two values, of which
 *  one is of KI_TYPE_NONE if the field is new or gone. The path has what the object has in it: it
 *  is not fit to be shown as it is. */
typedef struct cli_change {
    ki_str path;
    ki_value before;
    ki_value after;
} cli_change;

/** Tells of each difference, in the order of the new object. Of maps and lists of maps the fields
 *  inside are told; elements of such lists belong together by their name, type or key if all have
 *  one. metadata.resourceVersion and metadata.managedFields are left out.
 *  False if it gave up at a limit: there are more. */
bool cli_diff(const ki_value *before, const ki_value *after,
              void (*tell)(const cli_change *change, void *user), void *user);

#endif
