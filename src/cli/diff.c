/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/diff.h"

#include "cli/report_failure.h"

bool cli_diff(const ki_object *before, const ki_object *after,
              void (*on_change)(const ki_diff_change *change, void *user), void *user)
{
    static const char *const skip[] = {"metadata.resourceVersion", "metadata.managedFields"};
    const ki_diff_options options = {
        .size = sizeof(options),
        .skip = skip,
        .skip_count = sizeof(skip) / sizeof(skip[0]),
    };
    ki_diff *diff = NULL;
    if (ki_object_diff(before, after, &options, &diff, NULL) < 0) {
        cli_fail_memory();
    }
    for (size_t i = 0; i < ki_diff_count(diff); i++) {
        on_change(ki_diff_at(diff, i), user);
    }
    bool complete = ki_diff_is_complete(diff);
    (void)ki_diff_unref(diff);
    return complete;
}
