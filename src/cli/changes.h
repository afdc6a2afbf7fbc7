/* SPDX-License-Identifier: Apache-2.0 */
/* What happened last to each key that waits to be worked on, and the last state of objects that are
 * gone. A key is known until it was worked on with success. */
#ifndef KI_CLI_CHANGES_H
#define KI_CLI_CHANGES_H

#include <kinformer/object.h>
#include <kinformer/str.h>

typedef struct cli_changes {
    void *tree;
    size_t count;
} cli_changes;

typedef enum cli_change_type {
    CLI_CHANGE_NONE, /* nothing is known */
    CLI_CHANGE_ADD,
    CLI_CHANGE_UPDATE,
    CLI_CHANGE_SYNC,
    CLI_CHANGE_DELETE,
    CLI_CHANGE_MAX
} cli_change_type;

/** "add", "update", "sync", "delete". */
const char *cli_change_name(cli_change_type type);

/** Notes what happened. `object` is kept for a deletion only. What is not worked on yet merges: an
 *  addition stays one, whatever changes after it, until a deletion. */
void cli_changes_note(cli_changes *changes, const char *key, cli_change_type type,
                      const ki_object *object);

/** Takes what is known of a key. *ret_object (a reference, or NULL) is the last state of what is
 *  gone. */
cli_change_type cli_changes_take(cli_changes *changes, const char *key, ki_object **ret_object);

/** Puts back what was taken, behind which other things may have happened since. */
void cli_changes_put_back(cli_changes *changes, const char *key, cli_change_type type,
                          const ki_object *object);

void cli_changes_done(cli_changes *changes);

#endif
