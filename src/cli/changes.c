/* SPDX-License-Identifier: Apache-2.0 */
/* The last change of each key. */
#include "cli/changes.h"

#include <search.h>
#include <stdlib.h>
#include <string.h>

#include "cli/report_failure.h"

typedef struct record {
    char *key;
    cli_change_type type;
    ki_object *object;
} record;

const char *cli_change_name(cli_change_type type)
{
    static const char *const names[] = {"none", "add", "update", "sync", "delete"};
    _Static_assert(sizeof(names) / sizeof(names[0]) == CLI_CHANGE_MAX, "one for each");
    return names[type];
}

static int compare(const void *a, const void *b)
{
    return strcmp(((const record *)a)->key, ((const record *)b)->key);
}

static void free_record(void *node)
{
    record *e = node;
    (void)ki_object_unref(e->object);
    free(e->key);
    free(e);
}

static record *make(cli_changes *changes, const char *key)
{
    record *e = calloc(1, sizeof(*e));
    if (e == NULL) {
        cli_fail_memory();
    }
    e->key = strdup(key);
    if (e->key == NULL || tsearch(e, &changes->tree, compare) == NULL) {
        cli_fail_memory();
    }
    changes->count++;
    return e;
}

/* Merges two changes. */
static cli_change_type merged(cli_change_type first, cli_change_type then)
{
    if (first == CLI_CHANGE_ADD && then != CLI_CHANGE_DELETE) {
        return first;
    }
    if (then == CLI_CHANGE_SYNC && first != CLI_CHANGE_NONE) {
        return first;
    }
    return then;
}

static record *find(const cli_changes *changes, const char *key)
{
    union { /* the lookup does not modify the key */
        const char *from;
        char *to;
    } name = {key};
    record wanted = {.key = name.to};
    record *const *found = tfind(&wanted, &changes->tree, compare);
    return found != NULL ? *found : NULL;
}

static void set(record *e, cli_change_type type, const ki_object *object)
{
    ki_object *kept = type == CLI_CHANGE_DELETE ? ki_object_ref(object) : NULL;
    (void)ki_object_unref(e->object);
    e->type = type;
    e->object = kept;
}

void cli_changes_note(cli_changes *changes, const char *key, cli_change_type type,
                      const ki_object *object)
{
    record *e = find(changes, key);
    if (e == NULL) {
        e = make(changes, key);
    }
    set(e, merged(e->type, type), object);
}

void cli_changes_put_back(cli_changes *changes, const char *key, cli_change_type type,
                          const ki_object *object)
{
    record *e = find(changes, key);
    if (e == NULL) {
        set(make(changes, key), type, object);
    } else {
        set(e, merged(type, e->type), e->object != NULL ? e->object : object);
    }
}

cli_change_type cli_changes_take(cli_changes *changes, const char *key, ki_object **ret_object)
{
    record *e = find(changes, key);
    *ret_object = NULL;
    if (e == NULL) {
        return CLI_CHANGE_NONE;
    }
    cli_change_type type = e->type;
    *ret_object = e->object;
    e->object = NULL;
    (void)tdelete(e, &changes->tree, compare);
    free_record(e);
    changes->count--;
    return type;
}

void cli_changes_done(cli_changes *changes)
{
    tdestroy(changes->tree, free_record);
    changes->tree = NULL;
    changes->count = 0;
}
