/* SPDX-License-Identifier: Apache-2.0 */
#include "telling.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include <kinformer/resource_table.h>

enum { NAME = 512 };

static void write_log(const ki_log_record *record, void *user)
{
    (void)user;
    struct timespec now;
    clock_gettime(CLOCK_REALTIME, &now);
    flockfile(stderr);
    fprintf(stderr, "%lld.%03ld %s %s: %s", (long long)now.tv_sec, now.tv_nsec / 1000000,
            ki_log_level_name(record->level), record->component, record->message);
    for (size_t i = 0; i < record->field_count; i++) {
        fprintf(stderr, " %s=%.*s", record->fields[i].key, (int)record->fields[i].value.len,
                record->fields[i].value.ptr);
    }
    fputc('\n', stderr);
    funlockfile(stderr);
}

const ki_log telling_log = {.write = write_log, .level = KI_LOG_DEBUG};

/* Cuts "group/version/plural/Kind" in place. Returns the number of parts. */
static size_t cut(char *text, char *parts[4])
{
    size_t count = 0;
    char *rest = text;
    while (rest != NULL && count < 4) {
        parts[count++] = rest;
        rest = strchr(rest, '/');
        if (rest != NULL) {
            *rest++ = '\0';
        }
    }
    return rest == NULL ? count : 0;
}

int telling_resource(const char *name, const ki_resource **ret_resource, ki_error *error)
{
    char text[NAME];
    char *parts[4];
    snprintf(text, sizeof(text), "%s", name);
    size_t count = cut(text, parts);
    if (count == 4) {
        ki_resource *resource = NULL;
        int r =
            ki_resource_new(KI_OPTIONS(ki_resource_options, .group = parts[0], .version = parts[1],
                                       .resource = parts[2], .kind = parts[3]),
                            &resource, error);
        *ret_resource = resource;
        return r;
    }
    if (count == 3) {
        *ret_resource = ki_resource_builtin(parts[0], parts[1], parts[2]);
    } else if (count == 2) {
        *ret_resource = ki_resource_builtin("", parts[0], parts[1]);
    }
    return *ret_resource == NULL ? -EINVAL : 0;
}
