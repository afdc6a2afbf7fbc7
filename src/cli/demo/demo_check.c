/* SPDX-License-Identifier: Apache-2.0 */
/* Compares a cache with the server. */
#include "cli/demo/demo_check.h"

#include <stdio.h>

#include "cli/diff.h"
#include "cli/text.h"

/* The differences of two objects with the same key. */
typedef struct finding {
    ki_buf text; /* the first field that differs */
    bool found;
} finding;

bool demo_check_is_equal(const demo_check *check)
{
    return check->missing + check->extra + check->replaced + check->stale + check->different == 0;
}

static void note(demo_check *check, size_t *count, const char *label, const ki_object *object,
                 const char *what)
{
    ki_buf text;
    ++*count;
    if (check->first[0] != '\0') {
        return;
    }
    cli_text_init(&text);
    cli_putf(&text, "%s ", label);
    cli_put_escaped(&text, ki_str_from(ki_object_key(object)));
    cli_putf(&text, ": %s", what);
    (void)snprintf(check->first, sizeof(check->first), "%s", ki_buf_text(&text));
    ki_buf_done(&text);
}

static void take_change(const ki_diff_change *change, void *user)
{
    finding *f = user;
    if (!f->found) {
        f->found = true;
        cli_put_escaped(&f->text, ki_str_from(change->path));
    }
}

static void compare_content(const char *label, const ki_object *mine, const ki_object *theirs,
                            demo_check *check)
{
    finding f = {.found = false};
    cli_text_init(&f.text);
    if (!cli_diff(mine, theirs, take_change, &f) && !f.found) {
        f.found = true; /* the comparison was incomplete */
        cli_put(&f.text, "too large to compare");
    }
    if (f.found) {
        ki_buf what;
        cli_text_init(&what);
        cli_putf(&what, "the content differs: %.100s", ki_buf_text(&f.text));
        note(check, &check->different, label, theirs, ki_buf_text(&what));
        ki_buf_done(&what);
    }
    ki_buf_done(&f.text);
}

static void compare_one(const char *label, const ki_object *mine, const ki_object *theirs,
                        demo_check *check)
{
    if (mine == NULL) {
        note(check, &check->missing, label, theirs, "missing in the cache");
    } else if (strcmp(ki_object_uid(mine), ki_object_uid(theirs)) != 0) {
        note(check, &check->replaced, label, theirs, "the cache has another object with this name");
    } else if (strcmp(ki_object_resource_version(mine), ki_object_resource_version(theirs)) != 0) {
        note(check, &check->stale, label, theirs, "the cache has another version");
    } else {
        compare_content(label, mine, theirs, check);
    }
}

static bool has_key(const ki_list *sorted, const char *key)
{
    size_t from = 0;
    size_t to = ki_list_count(sorted);
    while (from < to) {
        size_t middle = from + (to - from) / 2;
        int order = strcmp(ki_object_key(ki_list_at(sorted, middle)), key);
        if (order == 0) {
            return true;
        }
        from = order < 0 ? middle + 1 : from;
        to = order < 0 ? to : middle;
    }
    return false;
}

void demo_check_compare(const char *label, ki_list *server, const ki_snapshot *cache,
                        demo_check *check)
{
    const ki_object *object;
    ki_snapshot_iter iter = ki_snapshot_iter_begin(cache);
    check->objects += ki_list_count(server);
    for (size_t i = 0; (object = ki_list_at(server, i)) != NULL; i++) {
        compare_one(label, ki_snapshot_get(cache, ki_object_key(object)), object, check);
    }
    ki_list_sort(server);
    while (ki_snapshot_iter_next(&iter, &object) > 0) {
        if (!has_key(server, ki_object_key(object))) {
            note(check, &check->extra, label, object, "not on the server");
        }
    }
}

int demo_check_read(ki_client *client, const ki_resource *resource, ki_response *ret_response,
                    ki_error *error)
{
    ki_request request = KI_OPTIONS_INIT(ki_request);
    request.verb = KI_VERB_LIST;
    request.resource = resource;
    request.json = true;
    return ki_client_do(client, &request, ret_response, error);
}
