/* SPDX-License-Identifier: Apache-2.0 */
/* The last change of each key that waits to be processed, and the last state of deleted objects. An
 * entry is kept until the key was processed successfully. */
#ifndef KI_CLI_CHANGES_H
#define KI_CLI_CHANGES_H

#include <kinformer/object.h>
#include <kinformer/str.h>

typedef struct cli_changes {
    void *tree;
    size_t count;
} cli_changes;

typedef enum cli_change_type {
    CLI_CHANGE_NONE, /* no entry */
    CLI_CHANGE_ADD,
    CLI_CHANGE_UPDATE,
    CLI_CHANGE_SYNC,
    CLI_CHANGE_DELETE,
    CLI_CHANGE_MAX
} cli_change_type;

/** "add", "update", "sync", "delete". */
const char *cli_change_name(cli_change_type type);

/** Records a change. `object` is kept only for a deletion. Unprocessed changes are merged: an
 *  addition remains one until a deletion. */
void cli_changes_note(cli_changes *changes, const char *key, cli_change_type type,
                      const ki_object *object);

/** Takes the entry of a key. *ret_object (a reference, or NULL) is the last state of a deleted
 *  object. */
cli_change_type cli_changes_take(cli_changes *changes, const char *key, ki_object **ret_object);

/** Puts an entry back; it is merged with changes recorded since. */
void cli_changes_put_back(cli_changes *changes, const char *key, cli_change_type type,
                          const ki_object *object);

void cli_changes_done(cli_changes *changes);

#endif
