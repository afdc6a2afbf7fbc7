/* SPDX-License-Identifier: Apache-2.0 */
/* The target is copied once and decoded in place: decoding never makes it longer, and each
 * separator is replaced by NUL, so every part is a C string in that copy. */
#include "apiserver/route.h"

#include <errno.h>

#include "base/alloc.h"
#include "base/ascii.h"
#include "base/digits.h"

enum { SEGMENTS_MAX = 9 }; /* one more than the longest resource path has */

static int bad(ki__api_failure *failure, const char *what)
{
    return ki__api_fail(failure, 400, KI_REASON_BAD_REQUEST, what, NULL);
}

/* ---- decoding ---- */

/* Percent-decodes `len` bytes in place and NUL-terminates them. False if they are badly encoded or
 * contain a NUL, which no name or value may. */
static bool decode(char *text, size_t len, bool plus_is_space)
{
    char *out = text;
    for (size_t i = 0; i < len; i++) {
        char c = text[i];
        if (c == '%') {
            int high = len - i > 2 ? ki__hex_value(text[i + 1]) : -1;
            int low = len - i > 2 ? ki__hex_value(text[i + 2]) : -1;
            if (high < 0 || low < 0) {
                return false;
            }
            c = (char)(high << 4 | low);
            i += 2;
        } else if (c == '+' && plus_is_space) {
            c = ' ';
        }
        if (c == '\0') {
            return false;
        }
        *out++ = c;
    }
    *out = '\0';
    return true;
}

/* Splits the text at the first `separator`: terminates it there and returns the rest, or NULL. */
static char *cut(char *text, char separator)
{
    char *at = strchr(text, separator);
    if (at == NULL) {
        return NULL;
    }
    *at = '\0';
    return at + 1;
}

/* ---- the path ---- */

/* Splits "/a/b/c" into segments. 0 if there are too many or one is empty. */
static size_t split(char *path, const char *segments[SEGMENTS_MAX])
{
    size_t count = 0;
    while (path != NULL) {
        char *next = cut(path, '/');
        if (count == SEGMENTS_MAX || path[0] == '\0' || !decode(path, strlen(path), false)) {
            return 0;
        }
        segments[count++] = path;
        path = next;
    }
    return count;
}

/* After the version: [namespaces/x/]resource[/name[/subresource]]. */
static bool read_rest(ki__api_route *route, const char *const *segments, size_t count)
{
    if (count >= 3 && strcmp(segments[0], "namespaces") == 0) {
        bool own = strcmp(segments[2], "status") == 0 || strcmp(segments[2], "finalize") == 0;
        if (!own) {
            route->name_space = segments[1];
            segments += 2;
            count -= 2;
        }
    }
    if (count == 0 || count > 3) {
        return false;
    }
    route->is_resource = true;
    route->resource = segments[0];
    route->name = count > 1 ? segments[1] : "";
    route->subresource = count > 2 ? segments[2] : "";
    return true;
}

/* Parses a resource path. Other paths are left to ki__api_do_path(). */
static void read_path(ki__api_route *route, const char *const *segments, size_t count)
{
    if (count >= 3 && strcmp(segments[0], "api") == 0) {
        route->version = segments[1];
        (void)read_rest(route, segments + 2, count - 2);
    } else if (count >= 4 && strcmp(segments[0], "apis") == 0) {
        route->group = segments[1];
        route->version = segments[2];
        (void)read_rest(route, segments + 3, count - 3);
    }
}

static bool has_slash(const ki__api_route *route)
{
    const char *const parts[] = {route->group, route->version,    route->resource,
                                 route->name,  route->name_space, route->subresource};
    for (size_t i = 0; i < sizeof(parts) / sizeof(parts[0]); i++) {
        if (strchr(parts[i], '/') != NULL) {
            return true;
        }
    }
    return false;
}

/* ---- the query ---- */

/* Booleans as in kube-apiserver: all values but "false" and "0" are true, including "". */
static bool is_true(const char *value)
{
    static const char no[] = "false";
    size_t i = 0;
    while (i < sizeof(no) - 1 && (value[i] | 0x20) == no[i]) {
        i++;
    }
    return !(i == sizeof(no) - 1 && value[i] == '\0') && strcmp(value, "0") != 0;
}

static bool read_int64(const char *value, int64_t *ret_number)
{
    uint64_t number;
    bool minus = value[0] == '-';
    if (!ki__digits_read(ki_str_from(value + (minus ? 1 : 0)), &number) || number > INT64_MAX) {
        return false;
    }
    *ret_number = minus ? -(int64_t)number : (int64_t)number;
    return true;
}

typedef struct parameter {
    const char *name;
    const char **text;
    bool *flag;
    ki__api_flag *tristate;
    int64_t *number;
} parameter;

static int take(const parameter *p, const char *value, ki__api_failure *failure)
{
    if (p->text != NULL) {
        *p->text = value;
    } else if (p->flag != NULL) {
        *p->flag = is_true(value);
    } else if (p->tristate != NULL) {
        *p->tristate = is_true(value) ? KI__API_TRUE : KI__API_FALSE;
    } else if (value[0] != '\0' && !read_int64(value, p->number)) {
        return ki__api_fail(failure, 400, KI_REASON_BAD_REQUEST, p->name, ": \"", value,
                            "\" is not a 64-bit integer", NULL);
    }
    return 0;
}

static int read_query(ki__api_route *route, char *query, ki__api_failure *failure)
{
    const parameter known[] = {
        {.name = "watch", .flag = &route->watch},
        {.name = "allowWatchBookmarks", .flag = &route->bookmarks},
        {.name = "sendInitialEvents", .tristate = &route->send_initial},
        {.name = "resourceVersion", .text = &route->rv},
        {.name = "resourceVersionMatch", .text = &route->rv_match},
        {.name = "continue", .text = &route->token},
        {.name = "labelSelector", .text = &route->labels},
        {.name = "fieldSelector", .text = &route->fields},
        {.name = "shardSelector", .text = &route->shard},
        {.name = "dryRun", .text = &route->dry_run},
        {.name = "includeObject", .text = &route->include_object},
        {.name = "fieldValidation", .text = &route->field_validation},
        {.name = "fieldManager", .text = &route->field_manager},
        {.name = "force", .tristate = &route->force},
        {.name = "propagationPolicy", .text = &route->propagation},
        {.name = "orphanDependents", .tristate = &route->orphan_dependents},
        {.name = "limit", .number = &route->limit},
        {.name = "timeoutSeconds", .number = &route->timeout_s},
    };
    uint32_t seen = 0; /* one bit per parameter */
    int r = 0;
    for (size_t count = 0; query != NULL && r == 0 && failure->code == 0; count++) {
        char *next = cut(query, '&');
        char *value = cut(query, '=');
        value = value != NULL ? value : query + strlen(query);
        if (count == KI__API_PARAMETERS_MAX) {
            return bad(failure, "the query has too many parameters");
        }
        if (!decode(query, strlen(query), true) || !decode(value, strlen(value), true)) {
            return bad(failure, "malformed percent-encoding in the query");
        }
        for (size_t i = 0; i < sizeof(known) / sizeof(known[0]); i++) {
            if (strcmp(query, known[i].name) == 0 && (seen & 1u << i) == 0) {
                seen |= 1u << i;
                r = take(&known[i], value, failure);
            }
        }
        query = next;
    }
    return r;
}

/* ---- the target ---- */

static int read_target(ki__api_route *route, char *target, ki__api_failure *failure)
{
    const char *segments[SEGMENTS_MAX];
    char *query = cut(target, '?');
    route->path = target;
    size_t len = strlen(target);
    char *parts = route->block + len + 1 + (query != NULL ? strlen(query) + 1 : 0);
    memcpy(parts, target, len + 1); /* the whole path is kept besides its parts */
    size_t count = target[0] == '/' ? split(parts + 1, segments) : 0;
    read_path(route, segments, count);
    if (route->is_resource && has_slash(route)) {
        return bad(failure, "encoded slash in the path");
    }
    if (!decode(target, len, false)) {
        return bad(failure, "malformed percent-encoding in the path");
    }
    return query != NULL ? read_query(route, query, failure) : 0;
}

int ki__api_route_init(ki__api_route *route, ki_str target, const ki_alloc *alloc,
                       ki__api_failure *failure)
{
    *route = (ki__api_route){
        .path = "",
        .group = "",
        .version = "",
        .resource = "",
        .name_space = "",
        .name = "",
        .subresource = "",
        .rv = "",
        .rv_match = "",
        .token = "",
        .labels = "",
        .fields = "",
        .shard = "",
        .dry_run = "",
        .propagation = "",
        .include_object = "",
        .field_validation = "",
        .field_manager = "",
        .alloc = alloc,
    };
    if (target.len > KI__API_TARGET_MAX) {
        return ki__api_fail(failure, 414, KI_REASON_UNKNOWN, "request target longer than 64 KiB",
                            NULL);
    }
    if (target.len == 0 || memchr(target.ptr, '\0', target.len) != NULL) {
        return bad(failure, "request target is empty or contains NUL");
    }
    route->block = ki__alloc(alloc, 2 * (target.len + 1));
    if (route->block == NULL) {
        return -ENOMEM;
    }
    memcpy(route->block, target.ptr, target.len);
    route->block[target.len] = '\0';
    return read_target(route, route->block, failure);
}

void ki__api_route_done(ki__api_route *route)
{
    ki__free(route->alloc, route->block);
    route->block = NULL;
}
